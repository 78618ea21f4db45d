/**
 * A `SkillMap` is a graph of skills: ways in, routes between them, and a cursor that a run moves along them. It is
 * plain data, checked once when it is made.
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as CallOutcome from "./CallOutcome.ts"
import * as Engagement from "./Engagement.ts"
import * as Entry from "./Entry.ts"
import * as Guard from "./Guard.ts"
import * as MapCheck from "./MapCheck.ts"
import * as Route from "./Route.ts"
import * as SafeId from "./SafeId.ts"
import * as Skill from "./Skill.ts"
import * as SkillMapError from "./SkillMapError.ts"

export { reachable, resolve } from "./Cursor.ts"
export { toMermaid } from "./Diagram.ts"
export { acceptedPick, offer, offerVersion, pick } from "./Gate.ts"

/** `nonParkable`: its pieces and tools ride whenever it takes part. */
export const SkillMap = Schema.Struct({
  id: Schema.String,
  entries: Schema.Array(Entry.Entry),
  skills: Schema.Array(Skill.Skill),
  routes: Schema.Array(Route.Route),
  nonParkable: Schema.optionalWith(Schema.Boolean, { exact: true })
})
export type SkillMap = typeof SkillMap.Type

/** The map, or everything that is wrong with it. */
export const make = (definition: SkillMap): Either.Either<SkillMap, SkillMapError.SkillMapError> => {
  const { entries, id, nonParkable, routes, skills } = definition
  const problems = MapCheck.all(definition)
  return Arr.isNonEmptyReadonlyArray(problems)
    ? Either.left(SkillMapError.make(`The skill map ${SafeId.print(id)}`, problems))
    : Either.right({ id, entries, skills, routes, ...(nonParkable === undefined ? {} : { nonParkable }) })
}

/** The map as the lease sees it. */
export const mounted = ({ entries, id, nonParkable, skills }: SkillMap): Engagement.MountedMap => ({
  id,
  memberIds: skills.map((skill) => skill.id),
  toolNames: Arr.dedupe(skills.flatMap(({ tools }) => tools.map(({ name }) => name))),
  entryIds: Arr.dedupe(entries.map(({ skillId }) => skillId)),
  ...(nonParkable === undefined ? {} : { nonParkable })
})

const problemsOf = (
  maps: ReadonlyArray<SkillMap>,
  renewalGrace: number
): ReadonlyArray<SkillMapError.SkillMapProblem> => {
  const isGrace = Number.isInteger(renewalGrace) && renewalGrace >= 1
  return [
    ...(maps.length > 0
      ? []
      : [{ kind: "NoMap" as const, where: "/maps", what: "There is no map.", next: "Mount at least one." }]),
    ...(isGrace
      ? []
      : [
          {
            kind: "GraceRefused" as const,
            where: "/renewalGrace",
            what: "The grace is no whole number of passes, of at least 1.",
            next: `Leave it out for ${Engagement.defaultGrace}, or give such a number.`
          }
        ]),
    ...maps.flatMap((map, at) => [
      ...MapCheck.all(map).map((problem) => ({ ...problem, where: `/maps/${at}${problem.where}` })),
      ...(maps.findIndex(({ id }) => id === map.id) === at
        ? []
        : [
            {
              kind: "DuplicateId" as const,
              where: `/maps/${at}/id`,
              what: `A map ${SafeId.print(map.id)} is mounted already.`,
              next: "Give each an id of its own."
            }
          ])
    ])
  ]
}

/** The plan of the lease for the maps of an agent, or why there can be none. */
export const mount = (
  maps: ReadonlyArray<SkillMap>,
  renewalGrace: number = Engagement.defaultGrace
): Either.Either<Engagement.EngagementPlan, SkillMapError.SkillMapError> => {
  const problems = problemsOf(maps, renewalGrace)
  return Arr.isNonEmptyReadonlyArray(problems)
    ? Either.left(SkillMapError.make("The engagement", problems))
    : Either.right({ maps: maps.map(mounted), renewalGrace })
}

/**
 * The values in a tool's result that the routes of these maps judge, to be kept with the call's outcome; nothing if none
 * judges one. `served` is the result as text: a text itself, in which `""` is all of it and other pointers lead into the
 * JSON that it may be, or else JSON. What a record could not hold is left out, so that no guard finds it.
 */
export const fieldsOf = (
  maps: ReadonlyArray<SkillMap>,
  toolName: string,
  served: string,
  isText: boolean
): ReadonlyArray<CallOutcome.Field> | undefined => {
  const judged = maps
    .flatMap(({ routes }) => routes.filter(({ tool = toolName }) => tool === toolName).flatMap(({ when = [] }) => when))
    .filter(({ field }) => field !== "outcome")
  if (judged.length === 0) return undefined
  const whole = judged.filter(({ field }) => isText && field === "")
  const parsed = Either.try((): unknown => JSON.parse(served))
  const inside = judged.filter(({ field }) => !isText || field !== "")
  return [...Guard.fieldsOf(whole, served), ...(Either.isLeft(parsed) ? [] : Guard.fieldsOf(inside, parsed.right))]
}
