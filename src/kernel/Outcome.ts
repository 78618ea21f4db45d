/**
 * An `Outcome` is what a run came to. A limit is a stop with everything that was learned, not an error.
 *
 * @since 0.1.0
 */
import type * as ArtifactState from "./ArtifactState.ts"
import type * as Event from "./Event.ts"
import type * as FindingRow from "./FindingRow.ts"
import type * as GroundingEvent from "./GroundingEvent.ts"
import * as Refusal from "./Refusal.ts"
import type * as State from "./State.ts"
import type * as Usage from "./Usage.ts"

/** A call whose outcome only a person can find out. */
export interface Pending {
  readonly toolCallId: string
  readonly toolName: string
  readonly reason: Refusal.Refusal
}

interface Common {
  readonly runId: string
  readonly pending: ReadonlyArray<Pending>
  /** What the model's replies took, as far as it was reported. */
  readonly usage: Usage.Usage
  readonly passes: number
  /** The ledger of findings, in the order of its rows; empty while findings are off. */
  readonly findings: ReadonlyArray<FindingRow.Row>
  /** The artifacts that were shown to the person, in order. What of each is here stays when it has expired. */
  readonly presented: ReadonlyArray<ArtifactState.Presented>
  /** The last judgement of the names and numbers of an answer, if the agent asks for one. */
  readonly grounding?: GroundingEvent.GroundingJudged
}

/** `value` is the answer by the agent's schema, decoded, and `answer` then its JSON. */
export interface Answered<out A = undefined> extends Common {
  readonly status: "answered"
  readonly answer: string
  readonly value: A
  readonly reason?: never
}

/** A limit, an interruption, or the failure that an earlier process ended with. */
export interface Stopped extends Common {
  readonly status: "stopped"
  readonly answer?: never
  readonly value?: never
  readonly reason: Refusal.Refusal
}

/** A person is asked for something first: `pending` says what. */
export interface Waiting extends Common {
  readonly status: "waiting"
  readonly answer?: never
  readonly value?: never
  readonly reason?: never
}

export type Outcome<A = undefined> = Answered<A> | Waiting | Stopped

/** The outcome of a run that has ended. A run that failed is a stop with the reason of its failure. */
export const of = <A>(runId: string, state: State.State, ended: Event.RunEnded, value: A): Outcome<A> => {
  const { usage, passes } = ended
  const { grounding, lost: pending } = state
  const findings = state.findings?.ledger.rows ?? []
  const presented = state.artifacts?.presented ?? []
  const common = {
    runId,
    pending,
    usage,
    passes,
    findings,
    presented,
    ...(grounding === undefined ? {} : { grounding })
  }
  return ended.status === "answered" && state.answered !== undefined
    ? { ...common, status: "answered", answer: state.answered.content, value }
    : { ...common, status: "stopped", reason: ended.reason ?? Refusal.traceEnded }
}
