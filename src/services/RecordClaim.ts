/**
 * A `RecordClaim` is an append at a place that others may want as well: tried where the run is believed to end, and again
 * where it turns out to end, as long as the place is still free.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Printable from "../kernel/Printable.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordInput from "./RecordInput.ts"
import * as Wakeup from "./Wakeup.ts"

/** What an append gives back: the sequence number and the hash of its last entry. */
export interface Appended {
  readonly seq: number
  readonly hash: string
}

/** `busy`: others are writing. `behind`: others have written. */
export type Attempt = Appended | "busy" | "behind"

/** The end of a run, as its layer knows it. */
export interface Place {
  readonly runId: string
  /** The next entry's number, as far as is known. */
  readonly seq: () => number
  /** Why nothing can be appended any more. */
  readonly broken: () => RecordError.RecordError | undefined
  /** Finds out what others have written. */
  readonly catchUp: Effect.Effect<void, RecordError.RecordError>
  /** Writes at the end that is known, at this time in milliseconds since the epoch. */
  readonly attempt: (at: number) => Effect.Effect<Attempt, RecordError.RecordError>
}

const afterFailure = ({ reason, runId }: RecordError.RecordError) =>
  RecordError.failure(reason, {
    what: "An append to this run failed before, and none can follow it.",
    ...(runId === undefined ? {} : { where: `run ${Printable.quote(runId)}`, runId })
  })

/** How often others are waited for, some five seconds in all. */
const patience = 120

const busy = (runId: string) =>
  RecordError.failure("Unavailable", {
    what: `Another process is holding run ${Printable.quote(runId)}.`,
    next: "Try again in a second; if it stays so, see whether a process that writes this run is stopped.",
    runId
  })

const write = (
  place: Place,
  expectedSeq: number,
  fresh: boolean,
  tries: number
): Effect.Effect<Appended, RecordError.RecordError | RecordError.RecordConflict> =>
  Effect.suspend(() => {
    const broken = place.broken()
    if (broken !== undefined) return afterFailure(broken)
    const seq = place.seq()
    if (expectedSeq < seq || (fresh && expectedSeq > seq)) return RecordError.conflict(place.runId, expectedSeq, seq)
    if (tries === patience) return busy(place.runId)
    const again = (fresh: boolean) => write(place, expectedSeq, fresh, tries + 1)
    if (expectedSeq > seq) return Effect.zipRight(place.catchUp, again(true))
    return Effect.flatMap(RecordInput.now, (at) =>
      Effect.flatMap(place.attempt(at), (done) => {
        if (done === "busy") return Effect.zipRight(Wakeup.pause(Math.min(50, 2 ** tries)), again(false))
        return done === "behind" ? Effect.zipRight(place.catchUp, again(true)) : Effect.succeed(done)
      })
    )
  })

/** Appends at `expectedSeq`, or says who has. */
export const append = (
  place: Place,
  expectedSeq: number
): Effect.Effect<Appended, RecordError.RecordError | RecordError.RecordConflict> => write(place, expectedSeq, false, 0)
