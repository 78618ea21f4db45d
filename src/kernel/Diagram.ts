/**
 * A `Diagram` is a skill map as Mermaid text: a node for each skill, an arrow for each entry and route.
 *
 * @since 0.1.0
 */
import type * as Guard from "./Guard.ts"
import * as Printable from "./Printable.ts"
import type * as SkillMap from "./SkillMap.ts"

const escape = (character: string): string => `#${character.codePointAt(0)};`

/** Text as Mermaid shows it and never reads it: all but letters, digits and a few marks are written as entities. */
const label = (text: string, max = 120): string =>
  `"${Printable.clip(Printable.wellFormed(text), max).replace(/[^\p{L}\p{N} _.,:/=-]|[-=](?=[-=])/gu, escape)}"`

const value = (of: unknown): string => JSON.stringify(of) ?? "nothing"

const ops: { readonly [op in Guard.Op]: string } = {
  eq: "=",
  ne: "≠",
  gt: ">",
  gte: "≥",
  lt: "<",
  lte: "≤",
  in: "in",
  notIn: "not in"
}

const condition = ({ field, op, value: to }: Guard.Condition): string =>
  `${field === "" ? "result" : field} ${ops[op]} ${value(to)}`

/** The map, in declaration order. An edge to a skill that the map does not have is left out. */
export const toMermaid = (map: SkillMap.SkillMap): string => {
  const nodes = new Map(map.skills.map(({ id }, at) => [id, `s${at}`]))
  const node = (id: string) => nodes.get(id)
  const entries = map.entries.flatMap(({ keywords = [], phrases = [], skillId, tags = [] }) => {
    const to = node(skillId)
    const words = [...keywords, ...phrases, ...tags.map((tag) => `tag ${tag}`)]
    if (to === undefined) return []
    return [words.length === 0 ? `  entry --> ${to}` : `  entry -->|${label(words.join(", "))}| ${to}`]
  })
  const routes = map.routes.flatMap(({ from, to, tool, when = [] }) => {
    const [start, end] = [node(from), node(to)]
    const told = [...(tool === undefined ? [] : [tool]), ...when.map(condition)].join(", ")
    if (start === undefined || end === undefined) return []
    return [told === "" ? `  ${start} --> ${end}` : `  ${start} -->|${label(told)}| ${end}`]
  })
  return [
    "flowchart TD",
    `  entry([${label(map.id)}])`,
    ...map.skills.map(({ id }, at) => `  s${at}[${label(id)}]`),
    ...entries,
    ...routes
  ].join("\n")
}
