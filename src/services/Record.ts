/**
 * A `Record` is the append-only account of runs: what happened, in order, chained by hash. It is the program's memory.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as Problem from "../kernel/Problem.ts"

/** The record could not do what it was asked. After `WriteFailed` the run is read-only until it is opened again. */
export class RecordError extends Schema.TaggedError<RecordError>()("RecordError", {
  reason: Schema.Literal(
    "InvalidRunId",
    "RunNotFound",
    "Corrupt",
    "UnsupportedFormat",
    "WriteFailed",
    "Full",
    "Unavailable",
    "TooLarge",
    "InvalidInput"
  ),
  ...Problem.fields,
  /** The run and the entry that it is about, where there is one. */
  runId: Schema.optionalWith(Schema.String, { exact: true }),
  seq: Schema.optionalWith(Schema.NonNegativeInt, { exact: true })
}) {
  override get message(): string {
    return Problem.render(this)
  }
  get isRetryable(): boolean {
    return this.retry !== "never" && this.retry !== "after-human"
  }
}

/** Someone else appended first. Nothing was written: read again, and decide again. */
export class RecordConflict extends Schema.TaggedError<RecordConflict>()("RecordConflict", {
  ...Problem.fields,
  runId: Schema.String,
  expectedSeq: Schema.NonNegativeInt,
  actualSeq: Schema.NonNegativeInt
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

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
