/**
 * A `Waiting` is what a run waits for from a person: approvals of calls, and what became of calls that were lost. Other
 * calls of the same reply go on meanwhile; what they come to is kept until the calls before them are settled, so that the
 * conversation has all results in the order of their calls.
 *
 *     ApprovalAsked ──▶ waits ──ApprovalDecided approve──▶ approved ──ToolCalled──▶ …
 *                         │                                   └── changed by then: ApprovalAsked again
 *                         └────ApprovalDecided deny──▶ denied ──ToolSettled denied
 *
 * @internal
 */
import type * as Event from "./Event.ts"
import * as FoldSaid from "./FoldSaid.ts"
import * as Law from "./Law.ts"
import type * as Outcome from "./Outcome.ts"
import * as State from "./State.ts"
import type * as WaitEvent from "./WaitEvent.ts"

/** An approval that was asked for, with what was decided of it. */
export interface Ask {
  readonly seq: number
  readonly asked: WaitEvent.ApprovalAsked
  readonly decided?: WaitEvent.ApprovalDecided
}

/** A settlement that came before that of an earlier call. */
export interface Early {
  readonly seq: number
  readonly event: Event.ToolSettled
}

export interface Waiting {
  /** All approvals of the run, in order. */
  readonly asks: ReadonlyArray<Ask>
  /** Settlements of the open reply that are not in the conversation yet. */
  readonly early: ReadonlyArray<Early>
  /** What persons found of lost calls. */
  readonly resolved: ReadonlyArray<WaitEvent.CallResolved>
  /** What the model is to be told when the open reply is closed. */
  readonly untold: ReadonlyArray<{ readonly seq: number; readonly told: string }>
}

export const none: Waiting = { asks: [], early: [], resolved: [], untold: [] }

const of = ({ waiting = none }: State.State): Waiting => waiting

/** The newest approval that was asked for of a call of the open reply. */
export const askOf = (state: State.State, toolCallId: string): Ask | undefined =>
  of(state).asks.findLast(({ asked }) => asked.iteration === state.iteration && asked.toolCallId === toolCallId)

/** Whether a call of the open reply may go on: `free` ones need no approval as far as the record says. */
export const standing = (state: State.State, toolCallId: string): "free" | "waits" | "approved" | "denied" => {
  const ask = askOf(state, toolCallId)
  if (ask === undefined) return "free"
  if (ask.decided === undefined) return "waits"
  return ask.decided.verdict === "approve" ? "approved" : "denied"
}

/** Whether a settlement comes before that of a call which waits, or has waited. */
export const isEarly = (state: State.State, toolCallId: string): boolean => {
  const calls = State.unsettled(state)
  const at = calls.findIndex((call) => call.toolCallId === toolCallId)
  if (at < 0) return false
  const before = calls.slice(0, at)
  const first = state.transcript.open?.calls[state.transcript.open.settled.length]
  return first?.toolCallId !== toolCallId && before.every((call) => askOf(state, call.toolCallId) !== undefined)
}

/** The state with a settlement that is kept until its turn. */
export const keep = (state: State.State, event: Event.ToolSettled): State.State => {
  const waiting = of(state)
  return { ...state, waiting: { ...waiting, early: [...waiting.early, { seq: state.seq - 1, event }] } }
}

/** The kept settlement whose turn it is, and the state without it. */
export const next = (state: State.State): { readonly early: Early; readonly state: State.State } | undefined => {
  const { open } = state.transcript
  const first = open?.calls[open.settled.length]
  const waiting = of(state)
  const early = waiting.early.find(({ event }) => event.toolCallId === first?.toolCallId)
  if (early === undefined) return undefined
  return { early, state: { ...state, waiting: { ...waiting, early: waiting.early.filter((one) => one !== early) } } }
}

/** The model hears what was found while calls were open. */
export const tell = (state: State.State): State.State => {
  const waiting = of(state)
  if (waiting.untold.length === 0 || state.transcript.open !== undefined) return state
  const before: State.State = { ...state, waiting: { ...waiting, untold: [] } }
  return waiting.untold.reduce<State.State>(
    (told, one) => FoldSaid.hear(told, one.told, "reminded", "runtime", one.seq),
    before
  )
}

/** What a call came to is not known. */
export const lose = (state: State.State, event: Event.ToolSettled): State.State => {
  const { error: reason, iteration, outcome, toolCallId, toolName } = event
  const isOpen = State.unsettled(state).some((call) => call.toolCallId === toolCallId)
  if (outcome !== "unknown" || reason === undefined || !isOpen) return state
  return { ...state, lost: [...state.lost, { kind: "unknown", iteration, toolCallId, toolName, reason }] }
}

const ask = (state: State.State, asked: WaitEvent.ApprovalAsked): State.State => {
  const isOpen = State.unsettled(state).some(({ toolCallId }) => toolCallId === asked.toolCallId)
  const isStarted = state.startedCalls.some(({ toolCallId }) => toolCallId === asked.toolCallId)
  if (!isOpen || isStarted || asked.iteration !== state.iteration) {
    return Law.broken(state, "Approval is asked of a call that is open and has not started.")
  }
  if (standing(state, asked.toolCallId) === "waits" || standing(state, asked.toolCallId) === "denied") {
    return Law.broken(state, "Approval of a call is asked for once, unless an approval became stale.")
  }
  const waiting = of(state)
  return { ...state, waiting: { ...waiting, asks: [...waiting.asks, { seq: state.seq - 1, asked }] } }
}

const decide = (state: State.State, decided: WaitEvent.ApprovalDecided): State.State => {
  const found = askOf(state, decided.toolCallId)
  const isOpen = State.unsettled(state).some(({ toolCallId }) => toolCallId === decided.toolCallId)
  const isBound =
    found?.asked.ticket === decided.ticket &&
    found.asked.argsDigest === decided.argsDigest &&
    found.asked.seen === decided.seen &&
    found.asked.iteration === decided.iteration
  if (!isOpen || !isBound || found.decided !== undefined) {
    return Law.broken(state, "A decision is of a call that waits for it, once.")
  }
  const waiting = of(state)
  const asks = waiting.asks.map((one) => (one === found ? { ...found, decided } : one))
  return { ...state, waiting: { ...waiting, asks } }
}

const isOf =
  ({ iteration, toolCallId }: { readonly iteration: number; readonly toolCallId: string }) =>
  (one: { readonly iteration: number; readonly toolCallId: string }): boolean =>
    one.iteration === iteration && one.toolCallId === toolCallId

const resolve = (state: State.State, event: WaitEvent.CallResolved): State.State => {
  const found = state.lost.findLast(isOf(event))
  if (found === undefined) return Law.broken(state, "A person resolves a call that was lost, once.")
  const waiting = of(state)
  return tell({
    ...state,
    lost: state.lost.filter((one) => one !== found),
    waiting: {
      ...waiting,
      resolved: [...waiting.resolved, event],
      untold: [...waiting.untold, { seq: state.seq - 1, told: event.told }]
    }
  })
}

/** The state after the event. */
export const step = (state: State.State, event: WaitEvent.WaitEvent): State.State => {
  switch (event._tag) {
    case "ApprovalAsked":
      return ask(state, event)
    case "ApprovalDecided":
      return decide(state, event)
    case "CallProbed":
      return state.startedCalls.some(({ toolCallId }) => toolCallId === event.toolCallId)
        ? state
        : Law.broken(state, "Only a call that was started is probed.")
    case "CallResolved":
      return resolve(state, event)
  }
}

/** Whether the next pass waits for a person to find out what became of a call, which the model has not read of yet. */
export const isHeld = (state: State.State): boolean =>
  state.started?.manifest.unknown !== "tell" && state.lost.some(({ iteration }) => iteration === state.iteration)

/** What persons are asked for, oldest first. */
export const pending = (state: State.State): ReadonlyArray<Outcome.Pending> => {
  const open = State.unsettled(state).map(({ toolCallId }) => toolCallId)
  const approvals = of(state).asks.flatMap(({ asked, decided }): ReadonlyArray<Outcome.Pending> => {
    const isOpen = asked.iteration === state.iteration && open.includes(asked.toolCallId)
    if (!isOpen || decided !== undefined) return []
    const { args, argsDigest, iteration, rule, ticket, toolCallId, toolName } = asked
    const asking = rule === undefined ? {} : { rule }
    return [{ kind: "approval", iteration, toolCallId, toolName, ticket, argsDigest, args, ...asking }]
  })
  return [...approvals, ...state.lost]
}

/** Whether nothing goes on in a run until a person has said something. */
export const isWaiting = (state: State.State): boolean => {
  if (state.ended !== undefined || state.started === undefined) return false
  if (state.transcript.open === undefined) return state.calling === undefined && isHeld(state)
  return State.unsettled(state).every(({ toolCallId }) => standing(state, toolCallId) === "waits")
}
