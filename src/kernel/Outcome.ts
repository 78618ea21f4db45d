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
import type * as WaitEvent from "./WaitEvent.ts"
import * as Standing from "./Waiting.ts"

interface PendingCall {
  /** The pass whose reply made the call. */
  readonly iteration: number
  readonly toolCallId: string
  readonly toolName: string
}

/**
 * A call that runs only if a person approves it: `Agent.decide` with its ticket and `argsDigest`. `args` are its arguments as
 * decoded and written out again; `rule` is the rule that asked, or else the tool's annotation did.
 */
export interface PendingApproval extends PendingCall {
  readonly kind: "approval"
  readonly ticket: string
  readonly argsDigest: string
  readonly args: unknown
  readonly rule?: WaitEvent.RuleRef
}

/** A call whose outcome only a person can find out: `Agent.resolve`. */
export interface PendingUnknown extends PendingCall {
  readonly kind: "unknown"
  readonly reason: Refusal.Refusal
}

/** What a person is asked for. */
export type Pending = PendingApproval | PendingUnknown

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
  /** The limit that the run had come to, of a closing answer (`budget.closing`). */
  readonly stoppedEarly?: Refusal.Refusal
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

const commonOf = (runId: string, state: State.State): Common => {
  const { grounding, spent } = state
  return {
    runId,
    pending: Standing.pending(state),
    usage: spent.usage,
    passes: spent.passes,
    findings: state.findings?.ledger.rows ?? [],
    presented: state.artifacts?.presented ?? [],
    ...(grounding === undefined ? {} : { grounding })
  }
}

/** The outcome of a run that waits for a person. */
export const waiting = (runId: string, state: State.State): Waiting => ({
  ...commonOf(runId, state),
  status: "waiting"
})

/** The outcome of a run that has ended. A run that failed is a stop with the reason of its failure. */
export const of = <A>(runId: string, state: State.State, ended: Event.RunEnded, value: A): Outcome<A> => {
  const { usage, passes } = ended
  const common = { ...commonOf(runId, state), usage, passes }
  if (ended.status !== "answered" || state.answered === undefined) {
    return { ...common, status: "stopped", reason: ended.reason ?? Refusal.traceEnded }
  }
  const { content: answer, stoppedEarly } = state.answered
  return { ...common, status: "answered", answer, value, ...(stoppedEarly === undefined ? {} : { stoppedEarly }) }
}
