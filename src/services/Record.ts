/**
 * A `Record` is the append-only account of runs: what happened, in order, chained by hash. It is the program's memory.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import type { RecordConflict, RecordError } from "./RecordError.ts"
import * as RecordFile from "./RecordFile.ts"
import * as RecordMemory from "./RecordMemory.ts"

export { RecordConflict, RecordError } from "./RecordError.ts"
export type { Options as FileOptions } from "./RecordFile.ts"
export { RecoveredTail } from "./RecordFile.ts"
export type { Anchor, Verified } from "./RecordProof.ts"
export { TailNotProvable, Tampered, verify } from "./RecordProof.ts"
export type { Reading } from "./RecordReading.ts"
export { fromText } from "./RecordReading.ts"

export interface RunSummary {
  readonly runId: string
  readonly agent: string
  readonly input: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly lastAt: number
  /** How many entries the run has. */
  readonly entries: number
  /** Absent while the run is open. */
  readonly status?: Event.Status
}

export class Record extends Context.Tag("wherefore/services/Record")<
  Record,
  {
    /**
     * Appends all events or none, the first at `expectedSeq` (0 starts a run). Returns the sequence number and the hash
     * of the last one once they are as durable as the layer promises.
     *
     * Interrupted before it has begun to write, it has written nothing. Once it has begun it ends, and the interrupt is
     * heard after; whoever has to know wraps it in `Effect.uninterruptible`, or appends again at the same place: a
     * conflict says that it was written.
     */
    readonly append: (
      runId: string,
      expectedSeq: number,
      events: ReadonlyArray<Event.Event>
    ) => Effect.Effect<{ readonly seq: number; readonly hash: string }, RecordError | RecordConflict>
    /** The entries from `from` up to but not including `to`, each verified against the chain before it is given. */
    readonly read: (
      runId: string,
      options?: { readonly from?: number; readonly to?: number }
    ) => Stream.Stream<Event.Entry, RecordError>
    /** What is there from `from` on, then what is appended, without a gap; ends after the run's terminal event. */
    readonly tail: (runId: string, options?: { readonly from?: number }) => Stream.Stream<Event.Entry, RecordError>
    /** The runs, newest first. `cursor` is present iff there are more. */
    readonly list: (options?: {
      readonly cursor?: string
      readonly limit?: number
    }) => Effect.Effect<{ readonly runs: ReadonlyArray<RunSummary>; readonly cursor?: string }, RecordError>
  }
>() {}

/** Keeps the record in memory; it ends with the layer. */
export const layerMemory: Layer.Layer<Record> = Layer.sync(Record, () => Record.of(RecordMemory.make()))

/**
 * Keeps each run as a file of JSON lines, `<directory>/<runId>.ndjson`. An append is acknowledged when it survives a loss
 * of power, or, with `durability: "process-crash"`, the end of the process. Several processes can share the directory, on
 * one machine: of those who append at one place, one wins.
 *
 * What a crash left of an append that was never acknowledged is removed by the next append to that run, logged as a
 * warning, and told to `onRecovered`. A run that is damaged elsewhere can be read up to the damage, and not appended to.
 */
export const layerFile = (options: RecordFile.Options): Layer.Layer<Record, RecordError> =>
  Layer.scoped(Record, RecordFile.make(options))
