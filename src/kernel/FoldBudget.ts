/**
 * A `FoldBudget` is how events change what a run has spent, and whether it is closing.
 *
 * @internal
 */
import type * as BudgetEvent from "./BudgetEvent.ts"
import type * as Event from "./Event.ts"
import * as FoldSaid from "./FoldSaid.ts"
import * as Law from "./Law.ts"
import type * as State from "./State.ts"
import * as Repetition from "./Repetition.ts"
import * as TokenCount from "./TokenCount.ts"

/** The state with the bytes of the event that was folded last, in a run that limits them. */
const counted = (state: State.State, event: Event.Event): State.State => {
  if (state.started?.manifest.limits.bytes === undefined) return state
  const bytes = (state.spent.bytes ?? 0) + TokenCount.bytesOf(JSON.stringify(event))
  return { ...state, spent: { ...state.spent, bytes } }
}

/** What follows from any event, once it is folded. */
export const after = (before: State.State, state: State.State, event: Event.Event): State.State => {
  const repetition = Repetition.after(before, state, event)
  return counted(repetition === undefined || repetition === state.repetition ? state : { ...state, repetition }, event)
}

/** The state after an event of the budget. */
export const step = (state: State.State, event: BudgetEvent.BudgetEvent): State.State => {
  if (event._tag === "RunResumed") return state
  if (event._tag === "CallRepeated") {
    return { ...FoldSaid.hear(state, event.content, "reminded", "runtime"), repetition: Repetition.tell(state) }
  }
  const { content, iteration, reason } = event
  if (state.closing !== undefined || iteration !== state.iteration + 1) {
    return Law.broken(state, "A run closes once, with the pass to come.")
  }
  return { ...FoldSaid.hear(state, content, "reminded", "runtime"), closing: { reason, iteration } }
}
