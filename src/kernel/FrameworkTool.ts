/**
 * A `FrameworkTool` is a tool of ours about skills: to pick one, to give a map back, to skip a step. Its definition is
 * the same in every pass of a run, so that what it names can be cached; what can be picked now is said elsewhere.
 *
 * @internal
 */
import * as Declared from "./Declared.ts"
import type * as Event from "./Event.ts"
import type * as Repertoire from "./Repertoire.ts"
import * as SafeId from "./SafeId.ts"
import type * as Skill from "./Skill.ts"
import type * as SkillMap from "./SkillMap.ts"

const declare = (name: string, description: string, properties: object, required: ReadonlyArray<string>) =>
  Declared.tool(
    { name, description, schema: { type: "object", properties, required, additionalProperties: false } },
    { replay: "pure", by: "runtime" }
  )

/** A description of an application is one line here, however it was written. */
const line = (description: string): string => SafeId.literal(description.replace(/\s+/gu, " ").trim(), 400)

/** Whether a map's id may be named: one of its skills may, and no hidden skill has the same id. */
export const mayNameMap =
  ({ maps, policy: { mayName = () => true } }: Pick<Repertoire.Repertoire, "maps" | "policy">) =>
  (mapId: string): boolean =>
    maps.some(({ id, skills }) => id === mapId && skills.some((skill) => mayName(skill.id))) &&
    (mayName(mapId) || !maps.some(({ skills }) => skills.some(({ id }) => id === mapId)))

/** The tools for these skills, as far as a role may know of them. */
export const declared = (
  maps: ReadonlyArray<SkillMap.SkillMap>,
  open: ReadonlyArray<Skill.Skill>,
  mayName: (id: string) => boolean = () => true
): ReadonlyArray<Event.ToolDeclared> => {
  const all = [...maps.flatMap(({ skills }) => skills), ...open]
  const skills = all.filter(({ id }, at) => mayName(id) && all.findIndex((skill) => skill.id === id) === at)
  const catalogue = skills.map(({ description, id }) =>
    description === undefined ? `- ${SafeId.print(id)}` : `- ${SafeId.print(id)}: ${line(description)}`
  )
  const pick = declare(
    "read_skill",
    [
      "Loads a skill: its instructions and tools come with the next request.",
      "A notice says which can be loaded now; another pick is refused, with the reason. The skills are:",
      ...catalogue
    ].join("\n"),
    { id: { type: "string", enum: skills.map(({ id }) => id), description: "The skill's id." } },
    ["id"]
  )
  const mapIds = maps.map(({ id }) => id).filter(mayNameMap({ maps, policy: { mayName } }))
  const release = declare(
    "release_map",
    "Gives back a map of skills that is of no more use: its instructions and tools are no longer sent. Its place is kept.",
    { mapId: { type: "string", enum: mapIds, description: "The map's id." } },
    ["mapId"]
  )
  const skip = declare(
    "skip_step",
    "Leaves out the step at hand of a skill, for a reason that goes on the record.",
    {
      reason: { type: "string", description: "Why the step is not needed." },
      skillId: { type: "string", description: "Whose step, if several skills have one at hand." }
    },
    ["reason"]
  )
  const hasSteps = maps.some((map) => map.skills.some(({ steps = [] }) => steps.length > 0))
  return [...(skills.length > 0 ? [pick] : []), ...(mapIds.length > 0 ? [release] : []), ...(hasSteps ? [skip] : [])]
}
