/**
 * A `Run` is one task from its start to its terminal event: passes of asking the model and settling the calls it makes.
 *
 *     RunStarted ──▶ CallModel ──ModelReplied──▶ RunTools ──ToolSettled──▶ CallModel …
 *                        │                          (each call of the reply, in order)
 *                        │              └── calls that need a person ──▶ AwaitDecision
 *                        ├──ModelReplied, no calls──▶ Finish answered
 *                        ├──ModelFailed──▶ Finish failed
 *                        └── a limit ──▶ Finish stopped
 *
 * Where a window has a summary made of what leaves, it is asked for before the pass: `Summarize`, and then `CallModel`.
 *
 * Nothing here does work or reads a clock. A program asks `decide` what to do, appends the events of the decision, does
 * what the command says, appends what happened, and folds both with `step`.
 *
 * @since 0.1.0
 */
import { dual } from "effect/Function"
import * as Answering from "./Answering.ts"
import * as Boundary from "./Boundary.ts"
import * as Budget from "./Budget.ts"
import * as Call from "./Call.ts"
import * as CheckState from "./CheckState.ts"
import * as Closing from "./Closing.ts"
import * as Declared from "./Declared.ts"
import type * as Event from "./Event.ts"
import * as FindingPass from "./FindingPass.ts"
import * as Fold from "./Fold.ts"
import * as GroundingSource from "./GroundingSource.ts"
import type * as Piece from "./Piece.ts"
import * as Problem from "./Problem.ts"
import * as Refusal from "./Refusal.ts"
import type * as Repertoire from "./Repertoire.ts"
import * as Repetition from "./Repetition.ts"
import * as Riding from "./Riding.ts"
import * as SkillPass from "./SkillPass.ts"
import * as State from "./State.ts"
import * as SummaryWire from "./SummaryWire.ts"
import * as TokenCount from "./TokenCount.ts"
import * as Waiting from "./Waiting.ts"
import * as WindowPass from "./WindowPass.ts"
import * as WindowState from "./WindowState.ts"
import * as Wire from "./Wire.ts"

/** What an agent brings to a decision. `elapsedMs` is the time for which the run has been driven, as the program's clock says. */
export interface Spec {
  /** The agent's own texts and tools, in order, as `declarePiece` and `declareTool` make them. Skills come after them. */
  readonly pieces: ReadonlyArray<Event.PieceDeclared>
  readonly tools: ReadonlyArray<Event.ToolDeclared>
  readonly skills?: Repertoire.Repertoire
  readonly parameters: Event.Parameters
  readonly limits: Event.Limits
  /** A run that learns nothing new ends, where it is `watched`. */
  readonly progress?: "watched" | "unwatched"
  /** Answers are not judged without it. */
  readonly grounding?: GroundingSource.Judging
  /** Counts what is sent, where a window or a budget goes by tokens; without one, their bytes are counted. */
  readonly counter?: TokenCount.Counter
  readonly elapsedMs: number
  readonly provider?: string
  readonly model?: string
}

/** What a program should do next, once the decision's events are on the record. */
export type Command =
  | { readonly _tag: "CallModel"; readonly wire: Wire.Wire }
  /** The model is asked for a summary of what is to leave the conversation. */
  | { readonly _tag: "Summarize"; readonly wire: Wire.Wire }
  | { readonly _tag: "RunTools"; readonly iteration: number; readonly calls: ReadonlyArray<Call.Planned> }
  /** The last reply is to be read by the schema of answers. */
  | { readonly _tag: "ReadAnswer"; readonly iteration: number; readonly content: string }
  /** What the answer, decoded, says of the claims is to be read. */
  | { readonly _tag: "ReadClaims"; readonly iteration: number; readonly value: unknown }
  /** Nothing can be done until a person has said something: `Waiting.pending` says what of. */
  | { readonly _tag: "AwaitDecision" }
  | { readonly _tag: "Finish"; readonly ended: Event.RunEnded }

export interface Decision {
  readonly events: ReadonlyArray<Event.Event>
  readonly command: Command
}

export const initial: State.State = State.initial

/** The state after an event. Total: an event that breaks a law is kept as a violation, so a fold cannot fail. */
export const step: {
  (event: Event.Event): (state: State.State) => State.State
  (state: State.State, event: Event.Event): State.State
} = dual(2, Fold.step)

/** The state after all events. */
export const fold = (events: Iterable<Event.Event>): State.State => {
  let state = initial
  for (const event of events) state = Fold.step(state, event)
  return state
}

/** A piece as the record declares it. */
export const declarePiece = (piece: Piece.Piece, origin: Event.Origin = "app"): Event.PieceDeclared =>
  Declared.piece(piece, origin)

/** A tool definition as the record declares it. */
export const declareTool = (tool: Wire.ToolPiece["tool"], replay: Event.ReplayClass): Event.ToolDeclared =>
  Declared.tool(tool, { replay })

const end = (
  state: State.State,
  status: Event.Status,
  elapsedMs: number,
  reason: Refusal.Refusal | undefined
): Event.RunEnded => ({
  _tag: "RunEnded",
  status,
  ...(reason === undefined ? {} : { reason }),
  usage: state.spent.usage,
  passes: state.spent.passes,
  durationMs: elapsedMs
})

const finish = (state: State.State, events: ReadonlyArray<Event.Event>, ended: Event.RunEnded): Decision => ({
  events: [...events, ...CheckState.close(state), ended],
  command: { _tag: "Finish", ended }
})

const summarize = (state: State.State): Extract<Command, { readonly _tag: "Summarize" }> => {
  const asking = WindowState.asking(state)
  const wire = asking === undefined ? Wire.project(state) : SummaryWire.project(asking)
  return { _tag: "Summarize", wire }
}

/** What of a `Spec` says what a call of the model takes. */
interface Asking extends Pick<Spec, "limits" | "counter"> {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

/** What a call of the model is reckoned to take. */
const needOf = (spec: Asking, state: State.State, wire: Wire.Wire): Budget.Need | undefined => {
  const { limits, model, provider } = spec
  if (limits.tokens === undefined && limits.money === undefined) return undefined
  const { maxOutputTokens: output } = wire.parameters
  return {
    input: WindowPass.reckon(spec.counter ?? TokenCount.estimate, state, wire),
    ...(output === undefined ? {} : { output }),
    asked: { provider, model }
  }
}

/** Why a pass, or a call of it with this wire, may not be made, if it may not. */
const over = (spec: Spec, state: State.State, wire: Wire.Wire): Refusal.Refusal | undefined =>
  Budget.pass(Closing.limitsOf(spec.limits, state), state.spent, spec.elapsedMs, needOf(spec, state, wire))

/** Why no further attempt of the call with this wire may be made, of whom the record says is turned to, if none may. */
export const again = (spec: Asking, state: State.State, wire: Wire.Wire): Refusal.Refusal | undefined => {
  const { asked, trying = asked } = state.spent
  const limits = Closing.limitsOf(spec.limits, state)
  return Budget.more(limits, state.spent, needOf({ ...spec, ...trying }, state, wire))
}

/** Why no pass may follow the state, as far as can be said before it is composed. */
const limited = (spec: Spec, state: State.State): Refusal.Refusal | undefined => {
  if (state.closing !== undefined) return state.closing.reason
  return over(spec, state, { ...Wire.project(state), parameters: spec.parameters })
}

/** The run ends here: after a closing answer, if one was kept for. */
const stop = (spec: Spec, state: State.State, reason: Refusal.Refusal): Decision => {
  const asked = Closing.ask(spec.limits, state, reason)
  const closing = asked === undefined ? reason : compose(spec, Fold.step(state, asked))
  return asked === undefined || "tag" in closing
    ? finish(state, [], end(state, "stopped", spec.elapsedMs, state.closing?.reason ?? reason))
    : { events: [asked, ...closing.events], command: closing.command }
}

/** The next pass, unless there is no room for it in the budget. */
const ask = (spec: Spec, state: State.State): Decision => {
  const composed = compose(spec, state)
  return "tag" in composed ? stop(spec, state, composed) : composed
}

const compose = (spec: Spec, before: State.State): Decision | Refusal.Refusal => {
  const pass = spec.skills === undefined ? undefined : SkillPass.decide(spec.skills, before)
  const { pieces = [], skipped = [], tools = [] } = pass ?? {}
  const offered = Closing.tools(before, [...spec.tools, ...tools])
  const riding = { pieces: [...spec.pieces, ...pieces], tools: offered, skipped }
  const chosen = [...(pass?.decisions ?? []), ...Riding.select(riding, before)]
  const ridden = chosen.reduce(Fold.step, before)
  const window = WindowPass.decide(spec.counter ?? TokenCount.estimate, ridden, spec)
  if (window.summarizes) {
    // What else is decided is decided again once the summary is there.
    const asking = window.events.reduce<State.State>(Fold.step, before)
    const command = summarize(asking)
    return over(spec, ridden, command.wire) ?? { events: window.events, command }
  }
  const left = window.events.reduce<State.State>(Fold.step, ridden)
  const served = FindingPass.served(left)
  const state = served.reduce(Fold.step, left)
  const selected = [...chosen, ...window.events, ...served]
  const wire: Wire.Wire = { ...Wire.project(state), parameters: spec.parameters }
  const refused = over(spec, state, wire)
  if (refused !== undefined) return refused
  const { selection } = state
  const last = state.marks.at(-1)
  const reselected = last?.selection !== selection
  const { model, parameters, provider } = spec
  const called: Event.ModelCalled = {
    _tag: "ModelCalled",
    iteration: wire.iteration,
    wireHash: Wire.combine(Wire.rolled(state), parameters),
    ...(provider === undefined || provider === last?.provider ? {} : { provider }),
    ...(model === undefined || model === last?.model ? {} : { model }),
    ...(last !== undefined && Wire.sameParameters(parameters, last.parameters) ? {} : { parameters }),
    ...(reselected ? { systemChars: wire.system.reduce((sum, { text }) => sum + text.length, 0) } : {}),
    messagesCount: wire.messages.length,
    ...(reselected ? { toolsCount: wire.tools.length } : {}),
    ...(pass === undefined || pass.offerVersion === before.skills.offerVersion
      ? {}
      : { offerVersion: pass.offerVersion })
  }
  return { events: [...selected, ...CheckState.composed(state), called], command: { _tag: "CallModel", wire } }
}

/** Faults of the last reply are written with whatever is decided on it. */
const report = (state: State.State): ReadonlyArray<Event.Event> =>
  state.ended === undefined ? (state.checks?.owed ?? []) : []

/**
 * What to do next: the first rule that applies. Pure and total. Whatever the model says, a run that is stepped with what
 * its commands bring about ends, as long as its passes are limited.
 */
export const decide = (spec: Spec, state: State.State): Decision => {
  const found = report(state)
  if (found.length === 0) return next(spec, state)
  const { command, events } = next(spec, found.reduce(Fold.step, state))
  return { events: [...found, ...events], command }
}

const answeredWith = (state: State.State, final: State.Final): Event.Answered => ({
  _tag: "Answered",
  iteration: final.iteration,
  content: Boundary.compose(state, final),
  ...(final.given === undefined ? {} : { value: final.given.value }),
  ...(state.closing === undefined ? {} : { stoppedEarly: state.closing.reason })
})

/** A reply that is not an answer yet, in a run whose answers have a schema. */
const unread = (spec: Spec, state: State.State, final: State.Final): Decision => {
  const { content, iteration } = final
  if (state.marks.at(-1)?.parameters.answerSchema !== undefined) {
    return {
      events: FindingPass.ofAnswer(state, final, spec.grounding?.options),
      command: { _tag: "ReadAnswer", iteration, content }
    }
  }
  const rejected = Answering.notCalled(iteration)
  const { command, events } = next(spec, Fold.step(state, rejected))
  return { events: [rejected, ...events], command }
}

/** What becomes of the reply that would be the answer. A judgement that is on the record is not made again. */
const answer = (spec: Spec, before: State.State, final: State.Final): Decision => {
  const { iteration } = final
  const { elapsedMs, grounding } = spec
  const held = before.grounding?.iteration === iteration ? before.grounding : undefined
  const isJudged = held !== undefined || before.answered !== undefined || Answering.judgedOf(final).trim() === ""
  const isLimited = grounding !== undefined && limited(spec, before) !== undefined
  const fresh = grounding === undefined || isJudged ? [] : [GroundingSource.judge(grounding, before, final, isLimited)]
  const state = fresh.reduce<State.State>(Fold.step, before)
  const judgement = held ?? fresh[0]
  if (judgement?.action === "revision-asked") {
    const { command, events } = ask(spec, state)
    return { events: [...fresh, ...events], command }
  }
  if (judgement?.action === "refused") {
    const { more = 0, unread = false, unsupported } = judgement
    const values = unsupported.map(({ value }) => value)
    const reason = Refusal.answerUngrounded(values, values.length + more, unread)
    return finish(state, fresh, end(state, "failed", elapsedMs, reason))
  }
  if (state.answered === undefined && final.given !== undefined && CheckState.isUnread(state)) {
    return { events: fresh, command: { _tag: "ReadClaims", iteration, value: final.given.value } }
  }
  const answered =
    state.answered === undefined
      ? [...FindingPass.ofAnswer(state, final, spec.grounding?.options), answeredWith(state, final)]
      : []
  const given = answered.reduce<State.State>(Fold.step, state)
  const faults = CheckState.answered(given)
  return finish(given, [...fresh, ...answered, ...faults], end(state, "answered", elapsedMs, undefined))
}

const next = (spec: Spec, state: State.State): Decision => {
  const { calling, elapsedMs, ended, failure, final } = { ...state, elapsedMs: spec.elapsedMs }
  if (ended !== undefined) return { events: [], command: { _tag: "Finish", ended } }
  if (failure !== undefined) {
    return finish(state, [], end(state, "failed", elapsedMs, Refusal.modelFailed(failure.problem)))
  }
  if (state.transcript.open !== undefined) {
    const events = FindingPass.ofCalls(state, spec, spec.grounding?.options)
    const calls = Call.plan(state, spec)
    if (calls.length === 0) return { events, command: { _tag: "AwaitDecision" } }
    return { events, command: { _tag: "RunTools", iteration: state.iteration, calls } }
  }
  if (calling === undefined && Waiting.isHeld(state)) return { events: [], command: { _tag: "AwaitDecision" } }
  if (WindowState.asking(state) !== undefined) return { events: [], command: summarize(state) }
  if (calling !== undefined) return { events: [], command: { _tag: "CallModel", wire: Wire.project(state, calling) } }
  if (final !== undefined) {
    if (state.started?.manifest.answer !== undefined && final.given === undefined) return unread(spec, state, final)
    const reminded = spec.skills === undefined ? undefined : SkillPass.remind(spec.skills, state)
    if (reminded !== undefined && limited(spec, state) === undefined) {
      const { command, events } = ask(spec, Fold.step(state, reminded))
      return { events: [reminded, ...events], command }
    }
    return answer(spec, state, final)
  }
  if (state.closing !== undefined && Closing.isOver(state)) return stop(spec, state, state.closing.reason)
  const unanswered = Answering.over(state)
  if (unanswered !== undefined) return finish(state, [], end(state, "failed", elapsedMs, unanswered))
  const met = state.exhausted ?? Budget.pass(Closing.limitsOf(spec.limits, state), state.spent, elapsedMs)
  if (state.closing !== undefined) return ask(spec, state)
  const isWatched = spec.progress === "watched"
  const stopped = met ?? (isWatched ? Repetition.over(state) : undefined)
  if (stopped !== undefined) return stop(spec, state, stopped)
  const repeated = isWatched ? Repetition.due(state) : undefined
  if (repeated === undefined) return ask(spec, state)
  const { command, events } = ask(spec, Fold.step(state, repeated))
  return { events: [repeated, ...events], command }
}

/**
 * The events that end a run now, whatever it was doing: calls that had `finished` keep what they came to, which are the
 * events under their ids; every other open call is settled `aborted`, after what it had `brought`, then the run ends.
 * `partial` is what had come of a reply.
 */
export const abort = (
  state: State.State,
  reason: Refusal.Refusal,
  elapsedMs: number,
  finished: ReadonlyMap<string, ReadonlyArray<Event.Event>> = new Map(),
  partial: Pick<Event.ModelFailed, "partialChars" | "usage"> = {},
  brought: ReadonlyMap<string, ReadonlyArray<Event.Event>> = new Map()
): ReadonlyArray<Event.Event> => {
  if (state.ended !== undefined || state.started === undefined) return []
  const failed: ReadonlyArray<Event.Event> =
    state.calling === undefined
      ? []
      : [{ _tag: "ModelFailed", iteration: state.calling, reason: reason.tag, problem: Problem.of(reason), ...partial }]
  const summary = WindowState.asking(state)
  const taken = partial.usage === undefined ? {} : { usage: partial.usage }
  const unsummarized: ReadonlyArray<Event.Event> =
    summary === undefined
      ? []
      : [
          {
            _tag: "SummaryFailed",
            iteration: summary.iteration,
            reason: reason.tag,
            problem: Problem.of(reason),
            ...taken
          }
        ]
  const settled = State.unsettled(state).flatMap((call): ReadonlyArray<Event.Event> => {
    const started = state.startedCalls.some(({ toolCallId }) => toolCallId === call.toolCallId)
    const refusal = Refusal.aborted(call.toolName, started)
    return (
      finished.get(call.toolCallId) ?? [
        ...(brought.get(call.toolCallId) ?? []),
        Call.settlement(state.iteration, { _tag: "Settle", call, outcome: "aborted", refusal })
      ]
    )
  })
  const done = [...report(state), ...failed, ...unsummarized, ...settled]
  const after = done.reduce(Fold.step, state)
  return [...done, ...CheckState.close(after), end(after, "stopped", elapsedMs, reason)]
}
