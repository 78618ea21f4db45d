/**
 * A `Steering` is how an application engages and releases the skill maps of a run while it goes on: from a handler, from
 * a button, from anywhere in the process that drives the run. Neither moves a cursor, and both are on the record.
 *
 *     const steering = yield* Steering.make
 *     const outcome = Agent.run(agent, "…", { steering })
 *     // elsewhere, while it runs:
 *     yield* Steering.release(steering, "refunds")
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Problem from "../kernel/Problem.ts"
import * as Refusal from "../kernel/Refusal.ts"
import * as SkillCall from "../kernel/SkillCall.ts"
import type * as SkillEvent from "../kernel/SkillEvent.ts"
import * as Wheel from "./Wheel.ts"

/** The map was left as it is. `refusal` is the value that the model would be shown. */
export class SteeringRefused extends Schema.TaggedError<SteeringRefused>()("SteeringRefused", {
  mapId: Schema.String,
  refusal: Refusal.Refusal,
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

export type { Steering } from "./Wheel.ts"

/** A wheel for one run at a time: it steers the run that it was given to last, while that run goes on. */
export const make: Effect.Effect<Wheel.Steering> = Effect.sync(Wheel.make)

const notDriven: Refusal.Refusal = {
  tag: "NotDriven",
  law: "Only a run that goes on can be steered.",
  code: "WF-SKILL-008",
  what: "No run was being driven with this steering when it was used.",
  next: "Give it to Agent.run, resume or followUp as `steering`, and use it while that goes on.",
  outcome: "not-applied",
  retry: "never"
}

const judge = (
  { spec: { skills }, state }: Wheel.Driven,
  verb: SkillEvent.MapSteered["verb"],
  mapId: string
): Either.Either<SkillEvent.MapSteered, Refusal.Refusal> => {
  const { ended, iteration, skills: stand } = state()
  if (skills === undefined || ended !== undefined) return Either.left(notDriven)
  const event = { _tag: "MapSteered", iteration, mapId, verb, by: "app" } as const
  if (verb === "engage") {
    return Either.map(SkillCall.engageable(skills, stand, mapId), (memberId) => ({ ...event, memberId }))
  }
  const refusal = SkillCall.unreleasable(skills, stand, mapId)
  return refusal === undefined ? Either.right(event) : Either.left(refusal)
}

// Nothing comes between the verdict and the event: the next pass is not decided in the meantime.
const ask = (self: Wheel.Steering, verb: SkillEvent.MapSteered["verb"], mapId: string) =>
  Effect.suspend((): Effect.Effect<void, SteeringRefused> => {
    const driven = Wheel.driven(self)
    const judged = driven === undefined ? Either.left(notDriven) : judge(driven, verb, mapId)
    if (Either.isLeft(judged)) {
      return new SteeringRefused({ mapId, refusal: judged.left, ...Problem.of(judged.left) })
    }
    driven?.happen([judged.right])
    return Effect.void
  })

/**
 * Asks for a map to ride: explicit evidence, judged by the next pass. A map without a cursor takes part from then on, and
 * sends nothing until its cursor comes to a skill. It is on the record with the next append.
 */
export const engage = (self: Wheel.Steering, mapId: string): Effect.Effect<void, SteeringRefused> =>
  ask(self, "engage", mapId)

/** Parks a map from the next pass on, whatever it rests on. A map that is parked or may not be parked is refused. */
export const release = (self: Wheel.Steering, mapId: string): Effect.Effect<void, SteeringRefused> =>
  ask(self, "release", mapId)
