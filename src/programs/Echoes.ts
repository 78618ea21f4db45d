/**
 * `Echoes` are the arguments of a tool that its result repeats. The model wrote their values itself: that they come back
 * is no evidence of them.
 *
 * @since 0.1.0
 */
import type * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Printable from "../kernel/Printable.ts"

/** Annotates a tool: `tool.annotate(Echoes.Echoes, ["orderId"])`. Read where an agent judges its answers (`grounding`). */
export class Echoes extends Context.Tag("wherefore/programs/Echoes")<Echoes, ReadonlyArray<string>>() {}

export const of = (tool: Tool.Any): ReadonlyArray<string> =>
  Option.getOrElse(Context.getOption(tool.annotations, Echoes), () => [])

/** What is wrong with the annotation of a tool whose parameters have this JSON Schema. */
export const problems = (tool: Tool.Any, schema: unknown): ReadonlyArray<string> => {
  const properties = Predicate.hasProperty(schema, "properties") ? schema.properties : undefined
  const known = Predicate.isRecord(properties) ? Object.keys(properties) : []
  return of(tool)
    .filter((name) => !known.includes(name))
    .map((name) => {
      const told =
        known.length === 0 ? "It has none." : `It has ${known.map((one) => Printable.quote(one)).join(", ")}.`
      return `Tool ${Printable.quote(tool.name)} echoes ${Printable.quote(name)}, which is no argument of it. ${told}`
    })
}
