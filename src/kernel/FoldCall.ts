/**
 * A `FoldCall` is how a call of the open reply changes the state of a run, from its start to its settlement.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Answering from "./Answering.ts"
import type * as Event from "./Event.ts"
import * as FoldSaid from "./FoldSaid.ts"
import * as Law from "./Law.ts"
import type * as Message from "./Message.ts"
import * as SkillState from "./SkillState.ts"
import * as State from "./State.ts"
import * as Transcript from "./Transcript.ts"
import * as Waiting from "./Waiting.ts"
import type * as Wire from "./Wire.ts"

/** A call begins to run. */
export const start = (state: State.State, event: Event.ToolCalled): State.State => {
  const { args, owner, replay, toolCallId, toolName } = event
  const open = state.transcript.open
  const waiting = open?.calls.slice(open.settled.length).some((one) => one.toolCallId === toolCallId) === true
  if (!waiting) return Law.broken(state, "Only a call of the open reply can be started.")
  if (state.startedCalls.some((one) => one.toolCallId === toolCallId))
    return Law.broken(state, "A call is started once.")
  const standing = Waiting.standing(state, toolCallId)
  if (standing === "waits" || standing === "denied")
    return Law.broken(state, "A call that needs an approval starts after it.")
  return {
    ...state,
    startedCalls: [
      ...state.startedCalls,
      { toolCallId, seq: state.seq - 1, args, ...(owner === undefined ? {} : { owner }), replay }
    ],
    spent: { ...state.spent, toolCalls: state.spent.toolCalls + (Answering.isTool(state.started, toolName) ? 0 : 1) }
  }
}

/** A call has come to something. */
export const settle = (before: State.State, event: Event.ToolSettled): State.State => {
  const state = Waiting.lose(before, event)
  if (Waiting.isEarly(before, event.toolCallId)) return Waiting.keep(state, event)
  let settled = settleInTurn(state, event, state.seq - 1)
  // A settlement that waited for this one is in turn now.
  for (let next = Waiting.next(settled); next !== undefined; next = Waiting.next(settled)) {
    settled = settleInTurn(next.state, next.early.event, next.early.seq)
  }
  return Waiting.tell(settled)
}

const settleInTurn = (state: State.State, event: Event.ToolSettled, seq: number): State.State => {
  const { error, fields, outcome, placed, served, toolCallId, toolName } = event
  const message: Message.Tool = { role: "tool", toolCallId, toolName, outcome, content: served }
  const settled = Transcript.settle(state.transcript, message)
  if (Either.isLeft(settled))
    return Law.broken(state, `A call has exactly one settlement, in order: ${settled.left.what}`)
  const started = state.startedCalls.find((one) => one.toolCallId === toolCallId)
  // A tool's own error is quoted; every other text of an error is ours, and so is a ticket.
  const isOurs = State.isOurs(state.started, toolName) || placed !== undefined
  const byRuntime = isOurs || (error !== undefined && error.tag !== "ToolFailed")
  const stored = placed === undefined ? {} : { placed }
  const asked = started?.seq ?? state.openReply?.seq ?? seq
  const next: State.State = {
    ...state,
    transcript: settled.right,
    settledAt: [...state.settledAt, { seq, calledSeq: asked, byRuntime, ...stored }],
    startedCalls: state.startedCalls.filter((one) => one.toolCallId !== toolCallId),
    ...(state.started?.manifest.skills === undefined
      ? {}
      : {
          skills: SkillState.settle(state.skills, {
            toolCallId,
            toolName,
            owner: started?.owner ?? {},
            outcome,
            served,
            ...stored,
            ...(fields === undefined ? {} : { fields })
          })
        }),
    ...(error?.tag === "BudgetExceeded" ? { exhausted: error } : {})
  }
  const answered = Answering.isTool(state.started, toolName) ? answering(next, event, seq, started?.args) : next
  return settled.right.open === undefined ? close(answered) : answered
}

/** A call that gives the answer was taken, or its mistakes are told. */
const answering = (
  state: State.State,
  { error, iteration, outcome }: Event.ToolSettled,
  seq: number,
  args: unknown
): State.State => {
  if (outcome === "ran-ok") {
    const value = Answering.valueIn(state.started, args)
    return { ...state, final: { seq, iteration, content: "", given: { value, by: "call" } } }
  }
  return error === undefined ? state : rejected(state, [error.what])
}

export const rejected = (state: State.State, issues: ReadonlyArray<string>): State.State => ({
  ...state,
  answering: { rejected: (state.answering?.rejected ?? 0) + 1, issues }
})

/** The last settlement closes the unit: the reply and its results become part of the conversation at once. */
const close = (state: State.State): State.State => {
  const unit = state.transcript.units.at(-1)
  const { openReply, ...rest } = state
  if (openReply === undefined || unit?.kind !== "replied") return state
  const [reply, ...results] = Transcript.unitMessages(unit)
  const said = results.flatMap((message, index): ReadonlyArray<FoldSaid.Said> => {
    const at = state.settledAt[index]
    if (at === undefined) return []
    const cause: Wire.Cause = { by: "called", seq: at.calledSeq }
    const origin = at.byRuntime ? "runtime" : FoldSaid.originOf(message)
    const { placed, seq } = at
    return [{ id: `result:${seq}`, origin, seq, cause, message, ...(placed === undefined ? {} : { placed }) }]
  })
  const first = reply === undefined ? [] : [{ ...FoldSaid.replyPlace(state, openReply.seq), message: reply }]
  const closed = FoldSaid.say({ ...rest, settledAt: [] }, [...first, ...said])
  const isOnlyAnswers = unit.settled.every(({ call }) => Answering.isTool(state.started, call.toolName))
  return isOnlyAnswers && closed.final === undefined ? Answering.notTaken(closed, state.messages.length) : closed
}
