/**
 * `Custody` is where several processes could drive a run: who drives takes it over on the record first, and one that is
 * interrupted leaves it as it stands, for the next.
 *
 * @internal
 */
import * as Context from "effect/Context"
import type * as DriveEvent from "../kernel/DriveEvent.ts"
import type * as State from "../kernel/State.ts"

/** `by` is the name of the process. */
export interface Holder {
  readonly by: string
  /** Whether somebody wants the run to end: then it is not left as it stands, nor are the runs that it started. */
  readonly isCancelled?: () => boolean
}

/** Without it a run is driven by one process alone, and ends when that is interrupted. */
export class Custody extends Context.Reference<Custody>()("wherefore/programs/Custody", {
  defaultValue: (): Holder | undefined => undefined
}) {}

/** What whoever goes on with a run puts on its record before anything else. */
export const claim = (holder: Holder | undefined, state: State.State): ReadonlyArray<DriveEvent.RunClaimed> =>
  holder === undefined || state.started === undefined
    ? []
    : [{ _tag: "RunClaimed", by: holder.by, ordinal: (state.claims ?? 0) + 1 }]
