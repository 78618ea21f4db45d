/**
 * An `Outcome` is what a run came to. A limit is a stop with everything that was learned, not an error.
 *
 * @since 0.1.0
 */
import type * as Event from "./Event.ts"
import type * as Refusal from "./Refusal.ts"
import type * as State from "./State.ts"
import type * as Usage from "./Usage.ts"

/** A call whose outcome only a person can find out. */
export interface Pending {
  readonly toolCallId: string
  readonly toolName: string
  readonly reason: Refusal.Refusal
}

export interface Outcome {
  readonly runId: string
  readonly status: "answered" | "waiting" | "stopped"
  /** Present iff the status is `answered`. */
  readonly answer?: string
  /** Why the run stopped. */
  readonly reason?: Refusal.Refusal
  readonly pending: ReadonlyArray<Pending>
  /** What the model's replies took, as far as it was reported. */
  readonly usage: Usage.Usage
  readonly passes: number
}

/** The outcome of a run that has ended. A run that failed is a stop with the reason of its failure. */
export const of = (runId: string, state: State.State, ended: Event.RunEnded): Outcome => ({
  runId,
  status: ended.status === "answered" ? "answered" : "stopped",
  ...(state.answered === undefined ? {} : { answer: state.answered.content }),
  ...(ended.reason === undefined ? {} : { reason: ended.reason }),
  pending: state.lost,
  usage: ended.usage,
  passes: ended.passes
})
