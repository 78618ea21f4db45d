/**
 * A `State` is where a run stands: the fold of its events so far. It is never stored; the events are.
 *
 * @since 0.1.0
 */
import * as Answering from "./Answering.ts"
import type * as ArtifactState from "./ArtifactState.ts"
import * as Budget from "./Budget.ts"
import type * as CheckState from "./CheckState.ts"
import type * as Coverage from "./Coverage.ts"
import type * as Event from "./Event.ts"
import type * as GroundingEvent from "./GroundingEvent.ts"
import type * as Message from "./Message.ts"
import type * as Outcome from "./Outcome.ts"
import * as Present from "./Present.ts"
import * as CallOutcome from "./CallOutcome.ts"
import type * as Children from "./Children.ts"
import type * as Refusal from "./Refusal.ts"
import type * as Repetition from "./Repetition.ts"
import * as SkillState from "./SkillState.ts"
import * as Transcript from "./Transcript.ts"
import type * as Waiting from "./Waiting.ts"
import type * as WindowWire from "./WindowWire.ts"
import * as Wire from "./Wire.ts"

/** A call of the open reply that has passed every gate and not yet settled. */
export interface Started {
  readonly toolCallId: string
  readonly seq: number
  readonly args: unknown
  readonly owner?: CallOutcome.Owner
  readonly replay: Event.ReplayClass
}

/** An event that broke a law of the run. The fold goes on; `verify` reports it. */
export interface Violation {
  readonly seq: number
  readonly law: string
}

/** A piece or a tool that the run has declared, with the event that did: the text or the definition declared last is the last one. */
export interface Declared<A> {
  readonly seq: number
  readonly declared: A
}

/** What would be the answer. `given` is what fits the schema of answers, of a run that has one. */
export interface Final {
  readonly seq: number
  readonly iteration: number
  readonly content: string
  readonly given?: { readonly value: unknown; readonly by: "call" | "text" }
}

export interface State extends Wire.Source {
  /** How many events have been folded: the sequence number of the next one. */
  readonly seq: number
  readonly started?: Event.RunStarted
  /** What the person said last in this run, and the event that says so. */
  readonly heard?: { readonly content: string; readonly seq: number }
  readonly transcript: Transcript.Transcript
  /** The sequence numbers of what the open unit was told by, to name its pieces when it closes. */
  readonly openReply?: { readonly seq: number; readonly iteration: number; readonly stopReason?: Event.StopReason }
  readonly settledAt: ReadonlyArray<{
    readonly seq: number
    readonly calledSeq: number
    readonly byRuntime: boolean
    readonly placed?: CallOutcome.PlacedToolResult
  }>
  readonly startedCalls: ReadonlyArray<Started>
  /** The pass whose model call has no reply yet. */
  readonly calling?: number
  readonly spent: Budget.Spent
  /** A call was refused for lack of budget: the next pass may not start. */
  readonly exhausted?: Refusal.Refusal
  /** Which calls came to the same again. Absent while none was settled. */
  readonly repetition?: Repetition.Repetition
  /** The runs that calls of this one started, in order. */
  readonly children?: ReadonlyArray<Children.Child>
  /** The run had come to a limit, and is asked for its answer in this pass. */
  readonly closing?: { readonly reason: Refusal.Refusal; readonly iteration: number }
  /** The last reply that called nothing, while nothing was said after it. */
  readonly final?: Final
  /** How often what was given as the answer did not fit the schema of answers, and how it did not the last time. */
  readonly answering?: { readonly rejected: number; readonly issues: ReadonlyArray<string> }
  /** Where answers that were not taken stand in the conversation, each with what was said of it: those that a later one is in place of, and the last. */
  readonly notTaken?: { readonly superseded: ReadonlyArray<WindowWire.Range>; readonly last?: WindowWire.Range }
  /** What the provider counted for a wire, the last time that it did. */
  readonly metered?: { readonly iteration: number; readonly tokens: number }
  readonly failure?: Event.ModelFailed
  readonly answered?: Event.Answered
  readonly ended?: Event.RunEnded
  /** Calls settled `unknown` that nobody has found out about: they may have acted. */
  readonly lost: ReadonlyArray<Outcome.PendingUnknown>
  readonly pieces: ReadonlyArray<Declared<Event.PieceDeclared>>
  readonly tools: ReadonlyArray<Declared<Event.ToolDeclared>>
  /** What calls did with artifacts. Absent while none did. */
  readonly artifacts?: ArtifactState.ArtifactState
  /** What the results of calls declared of where they looked, in order. Absent while nothing was. */
  readonly coverage?: ReadonlyArray<Coverage.DeclaredCoverage>
  /** The last judgement of a would-be answer, and whether the one revision of the run was asked for. */
  readonly grounding?: GroundingEvent.GroundingJudged
  readonly revised?: true
  readonly skills: SkillState.SkillState
  /** Absent in a run that keeps no account of its checks. */
  readonly checks?: CheckState.CheckState
  /** What the run has waited for from persons. Absent while it has not. */
  readonly waiting?: Waiting.Waiting
  /** How often the run was taken over, and whether somebody wants it to end. */
  readonly claims?: number
  readonly cancelled?: true
  readonly violations: ReadonlyArray<Violation>
}

export const initial: State = {
  seq: 0,
  iteration: 0,
  transcript: Transcript.empty,
  settledAt: [],
  startedCalls: [],
  messages: [],
  messagesHash: "",
  selection: Wire.emptySelection,
  marks: [],
  spent: Budget.nothing,
  pieces: [],
  tools: [],
  skills: SkillState.initial,
  lost: [],
  violations: []
}

/** Whether a tool is ours in a run: a foreign trace may have tools of the same names. */
export const isOurs = (started: Event.RunStarted | undefined, toolName: string): boolean =>
  (started?.manifest.skills !== undefined && CallOutcome.isFramework(toolName)) ||
  Present.isTool(started, toolName) ||
  Answering.isTool(started, toolName)

/** The calls of the open reply that have no settlement, in order. */
export const unsettled = (state: State): ReadonlyArray<Message.ToolCall> => {
  const open = state.transcript.open
  const left = open === undefined ? [] : open.calls.slice(open.settled.length)
  const early = state.waiting?.early ?? []
  if (early.length === 0) return left
  const settled = new Set(early.map(({ event }) => event.toolCallId))
  return left.filter(({ toolCallId }) => !settled.has(toolCallId))
}
