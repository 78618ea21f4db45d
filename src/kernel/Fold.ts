/**
 * A `Fold` is how one event changes the state of a run. What it hashes is the event's own; the lists of
 * messages and passes are copied as they grow.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Answering from "./Answering.ts"
import * as ArtifactEvent from "./ArtifactEvent.ts"
import * as Boundary from "./Boundary.ts"
import * as Budget from "./Budget.ts"
import * as CheckState from "./CheckState.ts"
import * as Children from "./Children.ts"
import * as CoverageEvent from "./CoverageEvent.ts"
import type * as Event from "./Event.ts"
import type * as FindingEvent from "./FindingEvent.ts"
import * as FindingState from "./FindingState.ts"
import * as FoldArtifact from "./FoldArtifact.ts"
import * as FoldBudget from "./FoldBudget.ts"
import * as FoldCall from "./FoldCall.ts"
import * as FoldDrive from "./FoldDrive.ts"
import * as FoldSaid from "./FoldSaid.ts"
import * as FoldSelection from "./FoldSelection.ts"
import type * as GroundingEvent from "./GroundingEvent.ts"
import * as Json from "./Json.ts"
import * as Law from "./Law.ts"
import type * as Message from "./Message.ts"
import * as SkillState from "./SkillState.ts"
import * as State from "./State.ts"
import * as Transcript from "./Transcript.ts"
import * as Usage from "./Usage.ts"
import * as Waiting from "./Waiting.ts"
import * as WindowState from "./WindowState.ts"
import * as Wire from "./Wire.ts"

/** The state with what its checks have come to, if it keeps them. */
const withChecks = (state: State.State, checks: CheckState.CheckState | undefined): State.State =>
  checks === undefined ? state : { ...state, checks }

/** What findings change is how the conversation is sent, too. */
const find = (state: State.State, event: FindingEvent.FindingEvent): State.State => {
  if (state.findings === undefined) return Law.broken(state, "Findings are filed in a run that has them on.")
  const findings = FindingState.step(state.findings, event, { messages: state.messages, seq: state.seq - 1 })
  const next = { ...state, findings, messagesHash: findings.rolls.at(-1) ?? "" }
  if (state.window === undefined) return next
  return findings.served === state.findings.served
    ? { ...next, messagesHash: state.messagesHash }
    : WindowState.rehash(next)
}

const carry = (state: State.State, event: Event.MessageCarried): State.State => {
  const { from, message } = event
  const next =
    message.role === "tool"
      ? Transcript.settle(state.transcript, message)
      : Transcript.append(state.transcript, message)
  if (Either.isLeft(next))
    return Law.broken(state, `A carried message must continue the conversation: ${next.left.what}`)
  const seq = state.seq - 1
  const cause: Wire.Cause = { by: "carried", seq }
  return FoldSaid.say({ ...state, transcript: next.right }, [
    { id: `carried:${seq}`, origin: event.origin ?? FoldSaid.originOf(message), seq, cause, from, message }
  ])
}

const call = (state: State.State, event: Event.ModelCalled): State.State => {
  const before = state.marks.at(-1)
  const parameters = event.parameters ?? before?.parameters ?? {}
  const provider = event.provider ?? before?.provider
  const model = event.model ?? before?.model
  const { messages, selection } = state
  const findings = Wire.now(state)
  const skills = SkillState.commit(state.skills, event.offerVersion)
  const mark: Wire.Mark = {
    iteration: event.iteration,
    seq: state.seq - 1,
    messages: messages.length,
    selection,
    parameters,
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    skills,
    ...(findings === undefined ? {} : { findings }),
    ...(state.window === undefined ? {} : { window: state.window.view }),
    recordedHash: event.wireHash,
    projectedHash: Wire.combine(Wire.rolled(state), parameters)
  }
  const { final: _, ...open } = state
  const next: State.State = {
    ...withChecks(open, CheckState.call(state)),
    iteration: event.iteration,
    calling: event.iteration,
    skills,
    ...(state.findings === undefined ? {} : { findings: FindingState.commit(state.findings) }),
    marks: [...state.marks, mark],
    spent: Budget.called(state.spent, { provider, model })
  }
  if (event.iteration !== state.iteration + 1) return Law.broken(next, "Passes are counted from 1 without a gap.")
  if (state.transcript.open !== undefined) return Law.broken(next, "No pass starts while calls are open.")
  return next
}

const reply = (state: State.State, event: Event.ModelReplied): State.State => {
  const seq = state.seq - 1
  const { content, iteration, reasoning = "", seal, stopReason, toolCalls } = event
  const sealed = seal === undefined ? {} : { sealed: { ...seal, reasoning } }
  const message: Message.Assistant = { role: "assistant", content, toolCalls, ...sealed }
  const appended = Transcript.append(state.transcript, message)
  const { calling, ...rest } = state
  const tokens = Usage.sent(event.usage ?? Usage.none)
  const heard: State.State = {
    ...withChecks(rest, CheckState.reply(state, iteration, event.sentTools)),
    ...(tokens === undefined ? {} : { metered: { iteration, tokens } }),
    spent: Budget.replied(state.spent, event.usage, event.by)
  }
  if (Either.isLeft(appended)) return Law.broken(heard, "A reply comes when no call is open.")
  const next = { ...heard, transcript: appended.right }
  const told: State.State =
    toolCalls.length > 0
      ? { ...next, openReply: { seq, iteration, ...(stopReason === undefined ? {} : { stopReason }) } }
      : {
          ...FoldSaid.say(next, [{ ...FoldSaid.replyPlace(state, seq), message }]),
          final: { seq, iteration, content }
        }
  return calling === iteration ? told : Law.broken(told, "A reply answers the pass that called the model.")
}

const fail = (state: State.State, event: Event.ModelFailed): State.State => {
  const { calling, ...rest } = state
  const next: State.State = {
    ...withChecks(rest, CheckState.reply(state, event.iteration, undefined)),
    failure: event,
    spent: Budget.failed(state.spent, event.usage)
  }
  return calling === event.iteration ? next : Law.broken(next, "A failure ends the pass that called the model.")
}

const begin = (state: State.State, event: Event.RunStarted): State.State => {
  if (state.seq !== 1) return Law.broken(state, "A run starts once, with its first event.")
  const { cursors, steps = {} } = event
  const skills = cursors === undefined ? state.skills : { ...state.skills, cursors, steps }
  const { findings } = event.manifest
  const on = findings === undefined ? {} : { findings: FindingState.open(findings) }
  const started = withChecks({ ...state, started: event, skills, ...on }, CheckState.begin(event))
  return event.followUpOf === undefined && event.input !== "" ? FoldSaid.hear(started, event.input, "asked") : started
}

/** The model that is to look again hears it in our words. */
const judged = (state: State.State, event: GroundingEvent.GroundingJudged): State.State => {
  const next: State.State = { ...state, grounding: event }
  if (event.action !== "revision-asked") return next
  return FoldSaid.hear({ ...Answering.supersede(next), revised: true }, event.asked ?? "", "reminded", "runtime")
}

/** The answer is the last reply, with the boundary that the run asks for, or what fits the schema. */
const answer = (state: State.State, event: Event.Answered): State.State => {
  const { final } = state
  const next = { ...Answering.supersede(state), answered: event }
  const isSaid = final?.iteration === event.iteration && Boundary.compose(state, final) === event.content
  const isGiven = final?.given === undefined ? event.value === undefined : Json.equal(final.given.value, event.value)
  if (!isSaid || !isGiven) return Law.broken(next, "An answer is what the last reply said.")
  return final.given === undefined ? Boundary.tell(next, event.content, state.seq - 1) : next
}

/** The state after an event. */
export const step = (before: State.State, event: Event.Event): State.State =>
  FoldBudget.after(before, apply({ ...before, seq: before.seq + 1 }, event), event)

const apply = (state: State.State, event: Event.Event): State.State => {
  if (state.ended !== undefined) return Law.broken(state, "Nothing follows the terminal event.")
  if (state.seq === 1 && event._tag !== "RunStarted") return Law.broken(state, "A record starts with RunStarted.")
  if (ArtifactEvent.isArtifactEvent(event)) return FoldArtifact.step(state, event)
  switch (event._tag) {
    case "RunStarted":
      return begin(state, event)
    case "MessageCarried":
      return carry(state, event)
    case "MessageReceived":
      return FoldSaid.hear(state, event.content, "received")
    case "PieceDeclared":
      return FoldSelection.declarePiece(state, event)
    case "ToolDeclared":
      return FoldSelection.declareTool(state, event)
    case "PiecesSelected":
      return FoldSelection.select(state, event)
    case "ModelCalled":
      return call(state, event)
    case "ModelReplied":
      return reply(state, event)
    case "ModelRetried":
      return { ...state, spent: Budget.tried(state.spent, event.usage, event.next) }
    case "ModelFailed":
      return fail(state, event)
    case "ToolCalled":
      return FoldCall.start(state, event)
    case "ToolSettled":
      return FoldCall.settle(FoldArtifact.placed(state, event), event)
    case "Answered":
      return answer(state, event)
    case "RunEnded":
      return state.transcript.open === undefined
        ? { ...state, ended: event }
        : Law.broken({ ...state, ended: event }, "A run ends with every call settled.")
    case "StepReminded": {
      const skills = SkillState.step(state.skills, event)
      return FoldSaid.hear({ ...state, skills }, event.content, "reminded", "runtime")
    }
    case "CursorMoved":
    case "RouteConflicted":
    case "StepReached":
    case "MapEngaged":
    case "MapParked":
    case "MapsIdled":
    case "SkillSuperseded":
      return event.iteration === state.iteration + 1
        ? { ...state, skills: SkillState.step(state.skills, event) }
        : Law.broken(state, "A decision is of the pass that it is made for.")
    case "SkillPicked":
    case "SkillRefused":
    case "StepSkipped":
    case "MapSteered":
      return { ...state, skills: SkillState.step(state.skills, event) }
    case "FindingDeclared":
    case "FindingRejected":
    case "FindingConflicted":
    case "ContingencyFiled":
    case "UnsettledFiled":
    case "FindingsServed":
    case "FindingsCollapsed":
      return find(state, event)
    case "AbsenceDeclared":
    case "CoverageDeclared":
      return { ...state, coverage: [...(state.coverage ?? []), CoverageEvent.read(event)] }
    case "GroundingJudged":
      return judged(state, event)
    case "AnswerRead": {
      const { final } = state
      const given = { value: Answering.valueIn(state.started, event.value), by: "text" as const }
      return final?.iteration === event.iteration && final.given === undefined
        ? { ...state, final: { ...final, given } }
        : Law.broken(state, "What is read as the answer is the last reply.")
    }
    case "AnswerRejected":
      return Answering.notTaken(
        FoldSaid.hear(FoldCall.rejected(state, event.issues), event.asked, "reminded", "runtime"),
        state.messages.length - 1
      )
    case "ClosingAsked":
    case "RunResumed":
    case "CallRepeated":
      return FoldBudget.step(state, event)
    case "ChildStarted":
    case "ChildSettled":
      return Children.step(state, event)
    case "RunClaimed":
    case "CancelAsked":
      return FoldDrive.step(state, event)
    case "WindowTrimmed":
    case "SummaryAsked":
    case "SummaryReplied":
    case "SummaryFailed":
      return WindowState.step(state, event)
    case "ApprovalAsked":
    case "ApprovalDecided":
    case "CallProbed":
    case "CallResolved":
      return Waiting.step(state, event)
    case "SemanticsDeclared":
    case "ClaimsRead":
      return withChecks(state, state.checks && CheckState.claim(state.checks, event))
    case "FaultFound":
      return withChecks(state, state.checks && CheckState.fault(state.checks, event))
    case "ChecksFiled":
      return state.checks?.filed === undefined
        ? withChecks(state, state.checks && { ...state.checks, filed: event })
        : Law.broken(state, "Checks are filed once.")
  }
}
