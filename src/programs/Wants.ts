/**
 * `Wants` are the arguments of a tool that name artifacts: the model writes a ticket's ref, and the handler is given what is
 * stored. A call whose refs are not there, or of another kind, is refused before it runs.
 *
 * @since 0.1.0
 */
import type * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Printable from "../kernel/Printable.ts"
import type * as Wanted from "../kernel/Wanted.ts"

/**
 * Annotates a tool with the kind that each such argument is to have: `tool.annotate(Wants.Wants, { table: "table/csv" })`.
 * Kinds are compared as they are. The tickets are `Artifacts.wanted`, and what the call stores has them as its parents.
 */
export class Wants extends Context.Tag("wherefore/programs/Wants")<Wants, { readonly [argument: string]: string }>() {}

/**
 * The schema of such an argument, whatever is stored. An argument that is a `Schema.String` takes a stored text and nothing
 * else.
 */
export const Data: Schema.Schema<unknown, string> = Schema.transform(
  Schema.String.annotations({ description: "The ref of an artifact." }),
  Schema.Unknown,
  { strict: true, decode: (ref) => ref, encode: String }
)

const declaredBy = (tool: Tool.Any): { readonly [argument: string]: string } | undefined =>
  Option.getOrUndefined(Context.getOption(tool.annotations, Wants))

const propertyOf = (schema: unknown, name: string): unknown => {
  const properties = Predicate.hasProperty(schema, "properties") ? schema.properties : undefined
  const found = Predicate.isRecord(properties) ? properties[name] : undefined
  const ref = Predicate.hasProperty(found, "$ref") ? found.$ref : undefined
  if (typeof ref !== "string") return found
  const named = ref.startsWith("#/$defs/") ? ref.slice("#/$defs/".length) : ""
  const definitions = Predicate.hasProperty(schema, "$defs") ? schema.$defs : undefined
  return Predicate.isRecord(definitions) ? definitions[named] : undefined
}

const isRequired = (schema: unknown, name: string): boolean =>
  Predicate.hasProperty(schema, "required") && Array.isArray(schema.required) && schema.required.includes(name)

/** What a tool wants, whose parameters have this JSON Schema. */
export const of = (tool: Tool.Any, schema: unknown): ReadonlyArray<Wanted.Want> =>
  Object.entries(declaredBy(tool) ?? {}).map(([argument, kind]) => ({
    argument,
    kind,
    required: isRequired(schema, argument)
  }))

/** What is wrong with the annotation of a tool whose parameters have this JSON Schema. */
export const problems = (tool: Tool.Any, schema: unknown): ReadonlyArray<string> => {
  const declared = declaredBy(tool)
  if (declared === undefined) return []
  const name = Printable.quote(tool.name)
  const entries = Object.entries(declared)
  if (entries.length === 0) return [`Tool ${name} wants nothing: name an argument, or leave Wants out.`]
  return entries.flatMap(([argument, kind]) => {
    const named = Printable.quote(argument)
    const property = propertyOf(schema, argument)
    return [
      ...(typeof kind === "string" && kind.trim() !== "" && Printable.wellFormed(kind) === kind
        ? []
        : [`Tool ${name} wants an artifact of a blank kind in ${named}: name the kind.`]),
      ...(property === undefined
        ? [`Tool ${name} wants an artifact in ${named}, which is no argument of it.`]
        : Predicate.hasProperty(property, "type") && property.type === "string"
          ? []
          : [`Tool ${name} wants an artifact in ${named}, which is no text: give it the schema Wants.Data.`])
    ]
  })
}
