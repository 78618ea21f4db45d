/**
 * A `MapCheck` is what is wrong with a skill map as it is written, found before anything runs on it.
 *
 * @internal
 */
import * as CallOutcome from "./CallOutcome.ts"
import * as Entry from "./Entry.ts"
import * as Guard from "./Guard.ts"
import * as Json from "./Json.ts"
import * as SafeId from "./SafeId.ts"
import type * as SkillMap from "./SkillMap.ts"
import type * as SkillMapError from "./SkillMapError.ts"

type Problems = ReadonlyArray<SkillMapError.SkillMapProblem>

const problem = (
  kind: SkillMapError.Kind,
  where: string,
  what: string,
  next: string
): SkillMapError.SkillMapProblem => ({
  kind,
  where,
  what,
  next
})

const blank = (id: string, where: string): Problems =>
  id.trim() === "" ? [problem("BlankId", where, "The id is blank.", "Give it an id with at least one character.")] : []

/** Every occurrence of an id after its first. */
const duplicates = (ids: ReadonlyArray<string>, place: (at: number) => string): Problems => {
  const seen = new Set<string>()
  return ids.flatMap((id, at) => {
    if (!seen.has(id)) {
      seen.add(id)
      return []
    }
    return [problem("DuplicateId", place(at), `${SafeId.print(id)} is there already.`, "Give each an id of its own.")]
  })
}

const toolName = (name: string, where: string): Problems => {
  const rename = "Rename the tool."
  if (CallOutcome.isFramework(name)) {
    return [problem("ToolNameRefused", where, `${name} is a tool of the framework.`, rename)]
  }
  return name.trim() === "" || name.includes("/")
    ? [problem("ToolNameRefused", where, `A tool cannot be named ${SafeId.print(name)}.`, rename)]
    : []
}

const skills = ({ skills }: SkillMap.SkillMap): Problems => {
  if (skills.length === 0) return [problem("NoMembers", "/skills", "The map has no skill.", "Add at least one skill.")]
  const owners = new Map<string, { readonly id: string; readonly schema: unknown }>()
  return [
    ...skills.flatMap(({ id }, at) => blank(id, `/skills/${at}/id`)),
    ...duplicates(
      skills.map(({ id }) => id),
      (at) => `/skills/${at}/id`
    ),
    ...skills.flatMap(({ id, tools }, at) => [
      ...duplicates(
        tools.map(({ name }) => name),
        (tool) => `/skills/${at}/tools/${tool}/name`
      ),
      ...tools.flatMap(({ name, schema }, tool) => {
        const where = `/skills/${at}/tools/${tool}`
        const owner = owners.get(name)
        if (owner === undefined) owners.set(name, { id, schema })
        if (owner === undefined || Json.equal(owner.schema, schema)) return toolName(name, `${where}/name`)
        const what = `${SafeId.print(id)} and ${SafeId.print(owner.id)} both have a tool ${SafeId.print(name)}, with different schemas.`
        return [problem("ToolConflict", `${where}/schema`, what, "Give both the same schema, or rename one.")]
      })
    ])
  ]
}

const idsOf = ({ skills }: SkillMap.SkillMap): ReadonlySet<string> => new Set(skills.map(({ id }) => id))

const target = (ids: ReadonlySet<string>, id: string, where: string): Problems =>
  ids.has(id)
    ? []
    : [problem("UnknownTarget", where, `The map has no skill ${SafeId.print(id)}.`, "Name a skill of the map.")]

const entries = (map: SkillMap.SkillMap): Problems => {
  if (map.entries.length === 0 && map.skills.length > 0) {
    return [problem("NoEntries", "/entries", "The map has no entry.", "Add an entry for the skill it starts with.")]
  }
  const ids = idsOf(map)
  return map.entries.flatMap((entry, at) => {
    const where = `/entries/${at}`
    const texts = (["keywords", "phrases", "tags"] as const).flatMap((kind) =>
      (entry[kind] ?? []).map((text, n) => ({ kind, text, where: `${where}/${kind}/${n}` }))
    )
    return [
      ...target(ids, entry.skillId, `${where}/skillId`),
      ...texts.flatMap(({ kind, text, where }) => {
        const empty = kind === "tags" ? text === "" : !Entry.hasWord(text)
        if (empty) {
          return [problem("EntryNeverMatches", where, "It holds no letter or digit.", "Write a word that people use.")]
        }
        return text.length <= Entry.longest
          ? []
          : [problem("EntryNeverMatches", where, `It is longer than ${Entry.longest} characters.`, "Shorten it.")]
      }),
      ...(entry.pattern === undefined
        ? []
        : [
            problem(
              "PatternRefused",
              `${where}/pattern`,
              "A pattern is not run: a backtracking engine can take exponential time on what a person types.",
              "Use keywords, phrases or tags, or let the application match and give a tag."
            )
          ])
    ]
  })
}

const routes = (map: SkillMap.SkillMap): Problems => {
  const ids = idsOf(map)
  return map.routes.flatMap((route, at) => {
    const where = `/routes/${at}`
    const faults = (route.when ?? []).flatMap((condition, n) => {
      const fault = Guard.malformed(condition)
      if (fault === undefined) return []
      const next = "Write it as a field, a comparison and a JSON value."
      return [problem("GuardMalformed", `${where}/when/${n}`, `The condition cannot be judged: ${fault}.`, next)]
    })
    const field = faults.length === 0 ? Guard.contradiction(route.when ?? []) : undefined
    const isCaused = route.tool !== undefined || (route.when ?? []).length > 0
    return [
      ...target(ids, route.from, `${where}/from`),
      ...target(ids, route.to, `${where}/to`),
      ...(route.tool !== undefined && route.tool.trim() === ""
        ? [problem("ToolNameRefused", `${where}/tool`, "The tool's name is blank.", "Name a tool, or leave it out.")]
        : []),
      ...(isCaused
        ? []
        : [
            problem(
              "RouteWithoutCause",
              where,
              "Any call at all would take this route.",
              "Name a tool, or guard it by an outcome or a field."
            )
          ]),
      ...faults,
      ...(field === undefined
        ? []
        : [
            problem(
              "GuardNeverPasses",
              `${where}/when`,
              `No call can pass the guard: its conditions on ${field === "" ? "the result" : SafeId.print(field)} exclude each other.`,
              "Drop one of them, or declare two routes."
            )
          ])
    ]
  })
}

/** Skills that no way from an entry comes to. */
const unreachable = (map: SkillMap.SkillMap): Problems => {
  const next = new Map(map.skills.map(({ id }) => [id, new Array<string>()]))
  for (const { from, to } of map.routes) next.get(from)?.push(to)
  const seen = new Set(map.entries.map(({ skillId }) => skillId))
  for (const id of seen) for (const to of next.get(id) ?? []) seen.add(to)
  return map.entries.length === 0
    ? []
    : map.skills.flatMap(({ id }, at) =>
        seen.has(id)
          ? []
          : [
              problem(
                "Unreachable",
                `/skills/${at}`,
                `Nothing leads to ${SafeId.print(id)}.`,
                "Add an entry or a route to it, or register it as an open skill."
              )
            ]
      )
}

/** All problems of a map, in the order of its parts. */
export const all = (map: SkillMap.SkillMap): Problems => [
  ...blank(map.id, "/id"),
  ...skills(map),
  ...entries(map),
  ...routes(map),
  ...unreachable(map)
]
