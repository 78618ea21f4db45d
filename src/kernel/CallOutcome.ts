/**
 * A `CallOutcome` is what one tool call came to, as the laws read it: whose tool it was, whether it ran, and what the
 * model was served for it. Notes and cuts that decorate the served text change no decision.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Message from "./Message.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Who contributed a tool or a piece, stamped when it was resolved. The agent itself owns what has neither. */
export const Owner = Schema.Struct({
  mapId: optional(Schema.NonEmptyString),
  memberId: optional(Schema.NonEmptyString)
})
export type Owner = typeof Owner.Type

/** A result that is kept as an artifact; the model was served its ticket. */
export const PlacedToolResult = Schema.Struct({
  placed: Schema.Literal(true),
  ref: Schema.NonEmptyString,
  kind: Schema.NonEmptyString,
  mediaType: Schema.NonEmptyString,
  bytes: Schema.NonNegativeInt,
  reason: Schema.String
})
export type PlacedToolResult = typeof PlacedToolResult.Type

/** A value inside a result, by its JSON pointer (RFC 6901). */
export const Field = Schema.Struct({ pointer: Schema.String, value: Schema.Unknown })
export type Field = typeof Field.Type

/**
 * `fields` are the values that the guards of the mounted maps judge, read from the result before anything decorated or
 * placed it: without them a guard falls back to the served text of a result that was not placed.
 */
export const CallOutcome = Schema.Struct({
  toolCallId: Schema.NonEmptyString,
  toolName: Schema.String,
  owner: Owner,
  outcome: Message.Settlement,
  served: Schema.String,
  placed: optional(PlacedToolResult),
  fields: optional(Schema.Array(Field))
})
export type CallOutcome = typeof CallOutcome.Type

/** The tools that are ours. They belong to no map, and their names are taken. */
export const frameworkTools = ["read_skill", "list_skills", "release_map", "present", "skip_step"] as const

const framework: ReadonlySet<string> = new Set(frameworkTools)

export const isFramework = (toolName: string): boolean => framework.has(toolName)

/** The outcomes of a call that ran. */
export const Ran = Schema.Literal("ran-ok", "absent", "ran-error")
export type Ran = typeof Ran.Type

export const hasRun = Schema.is(Ran)

/** It ran and did what it does: it returned, or looked and found nothing. */
export const succeeded = (outcome: Message.Settlement): boolean => outcome === "ran-ok" || outcome === "absent"
