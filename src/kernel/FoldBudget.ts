/**
 * A `FoldBudget` is how events change what a run has spent, and whether it is closing.
 *
 * @internal
 */
import type * as BudgetEvent from "./BudgetEvent.ts"
import type * as Event from "./Event.ts"
import * as Law from "./Law.ts"
import type * as State from "./State.ts"
import * as TokenCount from "./TokenCount.ts"

/** The state with the bytes of the event that was folded last, in a run that limits them. */
export const counted = (state: State.State, event: Event.Event): State.State => {
  if (state.started?.manifest.limits.bytes === undefined) return state
  const bytes = (state.spent.bytes ?? 0) + TokenCount.bytesOf(JSON.stringify(event))
  return { ...state, spent: { ...state.spent, bytes } }
}

/** The state in which the run is asked for its closing answer. */
export const close = (state: State.State, { iteration, reason }: BudgetEvent.ClosingAsked): State.State =>
  state.closing === undefined && iteration === state.iteration + 1
    ? { ...state, closing: { reason, iteration } }
    : Law.broken(state, "A run closes once, with the pass to come.")
