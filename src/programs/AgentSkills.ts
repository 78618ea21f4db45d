/**
 * The skills of an agent, from its definition: what they bring to a run, or what is wrong with them.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as CursorMove from "../kernel/CursorMove.ts"
import * as Engagement from "../kernel/Engagement.ts"
import type * as Event from "../kernel/Event.ts"
import type * as Gate from "../kernel/Gate.ts"
import * as Json from "../kernel/Json.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Repertoire from "../kernel/Repertoire.ts"
import * as SafeId from "../kernel/SafeId.ts"
import type * as Skill from "../kernel/Skill.ts"
import * as SkillMap from "../kernel/SkillMap.ts"
import * as SkillState from "../kernel/SkillState.ts"
import * as AppendSize from "./AppendSize.ts"

export interface Options {
  readonly maps?: ReadonlyArray<SkillMap.SkillMap>
  readonly skills?: ReadonlyArray<Skill.Skill>
  readonly engagement?: { readonly renewalGrace?: number } | false
  readonly posture?: Gate.Posture
  readonly mayName?: (skillId: string) => boolean
}

interface Made {
  readonly repertoire?: Repertoire.Repertoire
  readonly problems: ReadonlyArray<string>
}

/** What is wrong with a skill, whatever it is in. `where` names it in a sentence. */
const skillProblems = (
  skill: Skill.Skill,
  where: string,
  tools: ReadonlyMap<string, Event.ToolDeclared>
): ReadonlyArray<string> => [
  ...skill.tools.flatMap(({ name, schema }) => {
    const known = tools.get(name)
    const tool = SafeId.print(name)
    if (known === undefined) return [`${where} has a tool ${tool} that is not in the agent's toolkit.`]
    return Json.equal(known.schema, schema)
      ? []
      : [`${where} and the agent's toolkit have different schemas of ${tool}.`]
  }),
  ...(skill.steps ?? [])
    .filter(({ toolName }) => !skill.tools.some(({ name }) => name === toolName))
    .map(({ toolName }) => `${where} has a step that calls ${SafeId.print(toolName)}, which is no tool of it.`),
  ...([skill.id, skill.instructions, skill.description ?? ""].every((text) => Printable.wellFormed(text) === text)
    ? []
    : [`${where} holds a lone surrogate.`]),
  ...(skill.instructions.length > AppendSize.maxAppendChars
    ? [`${where} has instructions longer than ${AppendSize.maxAppendChars} characters.`]
    : [])
]

type Tools = ReadonlyArray<{ readonly declared: Event.ToolDeclared }>

/** What the agent's skills come to. `own` are all tools of its toolkit, and `offered` are the same as models are told of them. */
export const make = (options: Options, own: Tools, offered: Tools): Made => {
  const { engagement = {}, maps = [], mayName, posture, skills: open = [] } = options
  if (maps.length === 0 && open.length === 0) {
    return { problems: options.maps === undefined ? [] : ["maps is empty: give the agent a map, or leave it out."] }
  }
  const { renewalGrace = Engagement.defaultGrace } = engagement === false ? {} : engagement
  const mounted = maps.length === 0 ? undefined : SkillMap.mount(maps, renewalGrace)
  const tools = new Map(own.map(({ declared }) => [declared.name, declared]))
  const members = new Set(maps.flatMap(({ skills }) => skills.map(({ id }) => id)))
  const openIds = open.map(({ id }) => id)
  const problems = [
    ...(mounted !== undefined && Either.isLeft(mounted)
      ? mounted.left.problems.map(({ next, what, where }) => `${where}: ${what} ${next}`)
      : []),
    ...maps
      .filter(({ id }) => id.includes("/") || id === "__proto__" || Printable.wellFormed(id) !== id)
      .map(({ id }) => `The map ${SafeId.print(id)} must have another id: it may not hold "/" or a lone surrogate.`),
    ...maps.flatMap(({ id, skills }) =>
      skills.flatMap((skill) =>
        skillProblems(skill, `The skill ${SafeId.print(skill.id)} of the map ${SafeId.print(id)}`, tools)
      )
    ),
    ...Array.from(members)
      .filter((id) => maps.filter(({ skills }) => skills.some((skill) => skill.id === id)).length > 1)
      .map((id) => `The skill ${SafeId.print(id)} is in two maps: give each an id of its own.`),
    ...maps
      .filter((map) => Either.isLeft(Json.canonical(map)))
      .map(({ id }) => `The map ${SafeId.print(id)} holds something that is no JSON, or a lone surrogate.`),
    ...open
      .filter(({ steps = [] }) => steps.length > 0)
      .map(({ id }) => `The skill ${SafeId.print(id)} has steps, which only a skill of a map can have.`),
    ...open.flatMap((skill) => skillProblems(skill, `The skill ${SafeId.print(skill.id)}`, tools)),
    ...openIds
      .filter((id, at) => id.trim() === "" || id.includes("/") || members.has(id) || openIds.indexOf(id) !== at)
      .map((id) => `The skill ${SafeId.print(id)} must have an id of its own, that no map uses, without "/".`)
  ]
  if (problems.length > 0) return { problems }
  const plan = mounted === undefined || engagement === false || Either.isLeft(mounted) ? undefined : mounted.right
  const policy: Gate.Policy = {
    ...(mayName === undefined ? {} : { mayName }),
    ...(posture === undefined ? {} : { posture })
  }
  const repertoire = Repertoire.make({
    maps,
    open,
    policy,
    tools: offered.map(({ declared }) => declared),
    ...(plan === undefined ? {} : { plan })
  })
  return { repertoire, problems: [] }
}

/** The skills, as the record of a run names them. */
export const manifest = ({ maps, open, plan }: Repertoire.Repertoire): Event.Skills => ({
  maps: plan?.maps ?? maps.map(SkillMap.mounted),
  ...(plan === undefined ? {} : { renewalGrace: plan.renewalGrace }),
  open: open.map(({ id }) => id)
})

/** The places of an earlier run that a follow-up takes over: those on skills that its maps still have. */
export const places = (
  repertoire: Repertoire.Repertoire | undefined,
  state: SkillState.SkillState
): Pick<Event.RunStarted, "cursors" | "steps"> => {
  const kept = (repertoire?.maps ?? []).flatMap(({ id, skills }) => {
    const at = CursorMove.get(state.cursors, id)
    return at !== undefined && skills.some((skill) => skill.id === at) ? [[id, at] as const] : []
  })
  const steps = kept.flatMap(([id]) => {
    const place = SkillState.stepOf(state, id)
    return place === undefined ? [] : [[id, place] as const]
  })
  return {
    ...(kept.length === 0 ? {} : { cursors: Object.fromEntries(kept) }),
    ...(steps.length === 0 ? {} : { steps: Object.fromEntries(steps) })
  }
}
