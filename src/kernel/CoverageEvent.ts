/**
 * A `CoverageEvent` is what the result of a call declared of where it looked.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Something that was, was not, or cannot be looked at, and why. */
export const Entry = Schema.Struct({ what: Schema.String, why: optional(Schema.String) })
export type Entry = typeof Entry.Type

const entries = optional(Schema.Array(Entry))
const common = {
  iteration: Schema.Positive.pipe(Schema.int()),
  toolCallId: Schema.NonEmptyString,
  toolName: Schema.String,
  checked: entries,
  notChecked: entries,
  cannotCover: entries
}

/** The tool looked for something and found nothing. An empty list is absent. */
export const AbsenceDeclared = Schema.TaggedStruct("AbsenceDeclared", {
  ...common,
  lookedFor: optional(Schema.String),
  tryInstead: optional(Schema.String)
})
export type AbsenceDeclared = typeof AbsenceDeclared.Type

/** The tool found something, and said what of it was looked at. */
export const CoverageDeclared = Schema.TaggedStruct("CoverageDeclared", common)
export type CoverageDeclared = typeof CoverageDeclared.Type

export const CoverageEvent = Schema.Union(AbsenceDeclared, CoverageDeclared)
export type CoverageEvent = typeof CoverageEvent.Type
