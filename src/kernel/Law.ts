/**
 * A `Law` is what is so of every record. The fold goes on where one is broken, and keeps that it was.
 *
 * @internal
 */
import type * as State from "./State.ts"

/** The state with the violation of the event that was folded last. */
export const broken = (state: State.State, law: string): State.State => ({
  ...state,
  violations: [...state.violations, { seq: state.seq - 1, law }]
})
