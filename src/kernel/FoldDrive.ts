/**
 * A `FoldDrive` is how a run's state knows who took it over last, and that somebody wants it to end.
 *
 * @internal
 */
import type * as DriveEvent from "./DriveEvent.ts"
import * as Law from "./Law.ts"
import type * as State from "./State.ts"

export const step = (state: State.State, event: DriveEvent.DriveEvent): State.State => {
  if (event._tag === "CancelAsked") return { ...state, cancelled: true }
  const next: State.State = { ...state, claims: event.ordinal }
  return event.ordinal === (state.claims ?? 0) + 1 ? next : Law.broken(next, "Take-overs are counted without a gap.")
}
