/**
 * A `Wheel` is what a run that is being driven holds out to those who steer it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as MutableRef from "effect/MutableRef"
import type * as Event from "../kernel/Event.ts"
import type * as Run from "../kernel/Run.ts"
import type * as State from "../kernel/State.ts"

/** A run that is being driven in this process. */
export interface Driven {
  readonly spec: Pick<Run.Spec, "skills">
  readonly state: () => State.State
  readonly happen: (events: ReadonlyArray<Event.Event>) => void
}

/** What an application holds: it steers the run that it was given to last, while that run goes on. */
export interface Steering {
  readonly wheel: MutableRef.MutableRef<Driven | undefined>
}

export const make = (): Steering => ({ wheel: MutableRef.make<Driven | undefined>(undefined) })

export const driven = ({ wheel }: Steering): Driven | undefined => MutableRef.get(wheel)

/** The effect, whose run is steered while it goes on. */
export const attached = <A, E, R>({ wheel }: Steering, run: Driven, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => MutableRef.set(wheel, run)),
    () => effect,
    () => Effect.sync(() => MutableRef.update(wheel, (now) => (now === run ? undefined : now)))
  )
