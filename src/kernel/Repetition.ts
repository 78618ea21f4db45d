/**
 * A `Repetition` is how often the calls of a run came to the same again, with nothing new in between: another result, a
 * word of the person, a change of what rides, a finding, or results that left the conversation.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Answering from "./Answering.ts"
import * as BudgetRefusal from "./BudgetRefusal.ts"
import type * as BudgetEvent from "./BudgetEvent.ts"
import * as Digest from "./Digest.ts"
import type * as Event from "./Event.ts"
import * as Json from "./Json.ts"
import * as Notice from "./Notice.ts"
import * as Printable from "./Printable.ts"
import type * as Refusal from "./Refusal.ts"
import type * as State from "./State.ts"

/** A call and what it came to. The calls of one reply count once: the model has not read the first result yet. */
interface Same {
  readonly call: string
  readonly served: string
  readonly toolCallId: string
  readonly toolName: string
  readonly iteration: number
  readonly count: number
}

/** `told` is the pass after which the model was told; `stalled` is what came once more after that. */
export interface Repetition {
  readonly known: ReadonlyArray<Same>
  readonly told?: number
  readonly stalled?: Same
}

/** So often a call may come to the same before the model is told. */
const most = 3

/** So many calls are remembered, the latest. */
const remembered = 64

const none: Repetition = { known: [] }

const callOf = (state: State.State, { toolCallId, toolName }: Event.ToolSettled): string => {
  const started = state.startedCalls.find((one) => one.toolCallId === toolCallId)
  const asked = state.transcript.open?.calls.find((one) => one.toolCallId === toolCallId)
  const args = started === undefined ? undefined : Either.getOrUndefined(Json.canonical(started.args))
  return JSON.stringify([toolName, args ?? asked?.args ?? ""])
}

const isCounted = (state: State.State, { outcome, toolName }: Event.ToolSettled): boolean =>
  outcome !== "aborted" &&
  outcome !== "unknown" &&
  !Answering.isTool(state.started, toolName) &&
  state.tools.find(({ declared }) => declared.name === toolName)?.declared.annotations.repeats !== true

const renewed = ({ known }: Repetition): Repetition => ({ known: known.map((one) => ({ ...one, count: 0 })) })

const settled = (before: State.State, event: Event.ToolSettled): Repetition | undefined => {
  const now = before.repetition ?? none
  if (!isCounted(before, event)) return before.repetition
  const { iteration, served, toolCallId, toolName } = event
  const call = callOf(before, event)
  const at = now.known.findIndex((one) => one.call === call && one.served === served)
  const was = now.known[at]
  if (was === undefined) {
    const first = { call, served, toolCallId, toolName, iteration, count: 1 }
    return { known: [...renewed(now).known, first].slice(-remembered) }
  }
  if (was.iteration === iteration) return now
  const again = { ...was, toolCallId, iteration, count: was.count + 1 }
  const isStalled = now.told !== undefined && iteration > now.told && again.count >= most
  return { ...now, known: now.known.with(at, again), ...(isStalled ? { stalled: again } : {}) }
}

const filed = ({ findings }: State.State): number => findings?.ledger.rows.length ?? 0

const isNew = (before: State.State, state: State.State, event: Event.Event): boolean => {
  switch (event._tag) {
    case "MessageReceived":
    case "ApprovalDecided":
    case "CallResolved":
    case "MapEngaged":
    case "MapParked":
    case "WindowTrimmed":
    case "FindingsCollapsed":
      return true
    case "CursorMoved":
      return event.to !== event.from
    default:
      return filed(state) > filed(before)
  }
}

/** What of it there is once an event is folded. */
export const after = (before: State.State, state: State.State, event: Event.Event): Repetition | undefined => {
  if (event._tag === "ToolSettled") return settled(before, event)
  const { repetition } = state
  return repetition !== undefined && isNew(before, state, event) ? renewed(repetition) : repetition
}

/** The model was told. */
export const tell = ({ iteration, repetition = none }: State.State): Repetition => ({ ...repetition, told: iteration })

/** What the model is to be told, if it came to the same too often and was not told so. */
export const due = ({ iteration, repetition = none }: State.State): BudgetEvent.CallRepeated | undefined => {
  const same = repetition.told === undefined ? repetition.known.find(({ count }) => count >= most) : undefined
  if (same === undefined) return undefined
  const { call, count, served, toolCallId, toolName } = same
  const content = Notice.of("the same again", [
    `${Printable.quote(toolName)} was called ${count} times with the same arguments and came to the same result, and nothing new came in between.`,
    "Try other arguments or another tool, or give the answer that what is there allows. If it comes once more, the run ends."
  ])
  return {
    _tag: "CallRepeated",
    iteration,
    toolCallId,
    toolName,
    occurrences: count,
    argsFingerprint: Digest.of(call),
    resultFingerprint: Digest.of(served),
    content
  }
}

/** Why the run ends that learns nothing new, if it does. */
export const over = ({ repetition }: State.State): Refusal.Refusal | undefined =>
  repetition?.stalled === undefined
    ? undefined
    : BudgetRefusal.noProgress(repetition.stalled.toolName, repetition.stalled.count)
