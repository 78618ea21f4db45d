/**
 * A `Call` is one tool call of a reply on its way to its settlement. Here stand the gates that need no service: each
 * call either may run, or is settled by a refusal.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Answering from "./Answering.ts"
import * as ApprovalRefusal from "./ApprovalRefusal.ts"
import * as Budget from "./Budget.ts"
import * as CallArguments from "./CallArguments.ts"
import * as CallOutcome from "./CallOutcome.ts"
import type * as Event from "./Event.ts"
import type * as Message from "./Message.ts"
import * as Present from "./Present.ts"
import * as Refusal from "./Refusal.ts"
import * as Repertoire from "./Repertoire.ts"
import * as SkillCall from "./SkillCall.ts"
import type * as SkillEvent from "./SkillEvent.ts"
import * as State from "./State.ts"
import * as Waiting from "./Waiting.ts"

/** What is to become of a call. `started` calls are on the record already: an earlier process ran them and was lost. */
export type Planned =
  | {
      readonly _tag: "Run"
      readonly call: Message.ToolCall
      readonly args: unknown
      readonly owner?: CallOutcome.Owner
      readonly replay: Event.ReplayClass
      readonly started: boolean
      /** What it returns, if it is a call of our own tools, which nothing else runs. */
      readonly own?: { readonly served: string; readonly verdict: SkillEvent.Judged }
    }
  | {
      readonly _tag: "Settle"
      readonly call: Message.ToolCall
      readonly outcome: Message.Settlement
      readonly refusal: Refusal.Refusal
      readonly verdict?: SkillEvent.Judged
    }

const refuse = (call: Message.ToolCall, refusal: Refusal.Refusal): Planned => ({
  _tag: "Settle",
  call,
  outcome: "refused",
  refusal
})

/** The key of a call, for a service that honours idempotency keys: no other call of any run has it. */
export const key = (runId: string, iteration: number, toolCallId: string): string =>
  JSON.stringify([runId, iteration, toolCallId])

/** What an earlier process left behind: run it again if its class allows it, else nobody knows what it did. */
const recover = (
  state: State.State,
  known: CallArguments.Known,
  call: Message.ToolCall,
  started: State.Started
): Planned => {
  if (CallOutcome.isFramework(call.toolName)) {
    const judged = judge(state, known, call)
    return judged._tag === "Run" ? { ...judged, started: true } : judged
  }
  // Of one that may be reconciled its tool is asked first.
  if (started.replay !== "never") {
    const { args, owner, replay } = started
    return { _tag: "Run", call, args, ...(owner === undefined ? {} : { owner }), replay, started: true }
  }
  const how = "was running when its process was lost"
  const { toolCallId } = call
  const named = key(state.started?.runId ?? "", state.iteration, toolCallId)
  const sent = { toolCallId, key: named, sentAt: `at event #${started.seq}` }
  const refusal = Refusal.toolOutcomeUnknown(call.toolName, sent, how)
  return { _tag: "Settle", call, outcome: "unknown", refusal }
}

const declined = (state: State.State, call: Message.ToolCall): Planned => {
  const note = Waiting.askOf(state, call.toolCallId)?.decided?.note
  const refusal = ApprovalRefusal.declined(call.toolName, call.toolCallId, note)
  return { _tag: "Settle", call, outcome: "denied", refusal }
}

/**
 * The calls to settle next, in order: up to and including the first that may change something, so that it runs alone;
 * calls that only read run together. None, if all that are open wait for a person.
 */
export const plan = (state: State.State, known: CallArguments.Known): ReadonlyArray<Planned> => {
  const planned: Array<Planned> = []
  for (const call of State.unsettled(state)) {
    const standing = Waiting.standing(state, call.toolCallId)
    if (standing === "waits") continue
    const started = state.startedCalls.find(({ toolCallId }) => toolCallId === call.toolCallId)
    const next =
      standing === "denied"
        ? declined(state, call)
        : started === undefined
          ? judge(state, known, call)
          : recover(state, known, call, started)
    if (next._tag === "Run" && next.replay !== "pure") {
      // It runs alone: after the reads before it are settled, or now.
      if (planned.some(({ _tag }) => _tag === "Run")) return planned
      return [...planned, next]
    }
    planned.push(next)
    // What was started alone is settled alone: a resumed run keeps the order of one that was never stopped.
    if (started !== undefined && next._tag === "Settle") return planned
  }
  return planned
}

/** Why one more call may not start, `more` calls of the reply having started after those that the state counts. */
export const unaffordable = (state: State.State, limits: Event.Limits, more: number): Refusal.Refusal | undefined =>
  Budget.toolCall(limits, { ...state.spent, toolCalls: state.spent.toolCalls + more })

/** A tool can be called once it was offered in the run, on this wire or an earlier one: parking only stops offering it. */
const callable = (
  state: State.State,
  { skills, tools }: CallArguments.Known,
  toolName: string
): Event.ToolDeclared | undefined =>
  state.tools.some(({ declared }) => declared.name === toolName)
    ? (tools.find(({ name }) => name === toolName) ??
      skills?.framework.find(({ name }) => name === toolName) ??
      skills?.tools.get(toolName))
    : undefined

const callsBefore = (
  { transcript }: State.State,
  { toolCallId }: Message.ToolCall
): ReadonlyArray<Message.ToolCall> => {
  const calls = transcript.open?.calls ?? []
  return calls.slice(
    0,
    calls.findIndex((call) => call.toolCallId === toolCallId)
  )
}

/**
 * Whether the reply ended before the arguments did. An object that closes is whole; but nothing at all may be a beginning,
 * and some providers write `{}` for it.
 */
const isCut = (state: State.State, call: Message.ToolCall, isMalformed: boolean): boolean => {
  if (call.cut !== undefined) return true
  if (state.openReply?.stopReason !== "length") return false
  const isLast = state.transcript.open?.calls.at(-1)?.toolCallId === call.toolCallId
  return isMalformed || (isLast && /^\s*(?:\{\s*\})?\s*$/.test(call.args))
}

const judge = (state: State.State, known: CallArguments.Known, call: Message.ToolCall): Planned => {
  if (call.duplicateOf !== undefined) return refuse(call, Refusal.duplicateCallId(call.duplicateOf))
  const isAnswer = Answering.isTool(state.started, call.toolName)
  if (state.closing !== undefined && !isAnswer) return refuse(call, state.closing.reason)
  const { skills } = known
  const tool = callable(state, known, call.toolName)
  if (tool === undefined) {
    const offered = state.selection.tools.map(({ tool: { name } }) => name)
    return refuse(call, Refusal.unknownTool(call.toolName, offered))
  }
  if (isAnswer && (state.transcript.open?.calls.length ?? 1) > 1) {
    return refuse(call, Refusal.answerNotAlone(call.toolName))
  }
  const args = Either.map(CallArguments.read(call.args), (own) =>
    state.findings === undefined ? own : CallArguments.findings(known, call.toolName, own).args
  )
  if (isCut(state, call, Either.isLeft(args))) {
    const atLimit = state.openReply?.stopReason === "length"
    const limit = atLimit ? state.marks.at(-1)?.parameters.maxOutputTokens : undefined
    return {
      _tag: "Settle",
      call,
      outcome: "truncated",
      refusal: Refusal.replyTruncated(call.toolName, limit, atLimit)
    }
  }
  if (Either.isLeft(args)) return refuse(call, Refusal.argumentsMalformed(call.toolName, args.left))
  const { replay } = tool.annotations
  const run = { _tag: "Run", call, args: args.right, replay, started: false } as const
  if (skills === undefined || Present.isTool(state.started, call.toolName)) return run
  if (!CallOutcome.isFramework(call.toolName)) {
    const owner = Repertoire.ownerOf(skills, state.skills, call.toolName)
    return owner === undefined ? run : { ...run, owner }
  }
  const verdict = SkillCall.judge(skills, state.skills, state.iteration, call, callsBefore(state, call), {
    ...args.right
  })
  if (verdict._tag === "Accepted") return { ...run, own: { served: verdict.served, verdict: verdict.event } }
  const { event, outcome, refusal } = verdict
  return { _tag: "Settle", call, outcome, refusal, ...(event === undefined ? {} : { verdict: event }) }
}

/** The verdict of a call, unless it is on the record already. */
export const verdictOf = (state: State.State, planned: Planned): ReadonlyArray<SkillEvent.Judged> => {
  const verdict = planned._tag === "Run" ? planned.own?.verdict : planned.verdict
  return verdict === undefined || state.skills.judged.includes(planned.call.toolCallId) ? [] : [verdict]
}

/** The settlement of a call that was refused, or lost. */
export const settlement = (iteration: number, planned: Planned & { readonly _tag: "Settle" }): Event.ToolSettled => ({
  _tag: "ToolSettled",
  iteration,
  toolCallId: planned.call.toolCallId,
  toolName: planned.call.toolName,
  outcome: planned.outcome,
  served: Refusal.served(planned.refusal, planned.outcome),
  error: planned.refusal
})
