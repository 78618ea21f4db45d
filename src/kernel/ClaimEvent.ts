/**
 * A `ClaimEvent` is what claims are compared with: what a result settled of the entities that are claimed about, and what
 * an answer says of them.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ClaimCheck from "./ClaimCheck.ts"

const iteration = Schema.Positive.pipe(Schema.int())
const { entity, field, measuredAt, value } = ClaimCheck.ClaimLedgerRow.fields

/** The result of a call settled these, of what the agent claims anything about. */
export const SemanticsDeclared = Schema.TaggedStruct("SemanticsDeclared", {
  iteration,
  toolCallId: Schema.NonEmptyString,
  toolName: Schema.String,
  rows: Schema.Array(Schema.Struct({ entity, field, value, measuredAt }))
})
export type SemanticsDeclared = typeof SemanticsDeclared.Type

/** What the answer, decoded, says of each claim, in their order. A field that it leaves out has no `value`. */
export const ClaimsRead = Schema.TaggedStruct("ClaimsRead", {
  iteration,
  values: Schema.Array(Schema.Struct({ value: Schema.optionalWith(Schema.Unknown, { exact: true }) }))
})
export type ClaimsRead = typeof ClaimsRead.Type

export const ClaimEvent = Schema.Union(SemanticsDeclared, ClaimsRead)
export type ClaimEvent = typeof ClaimEvent.Type
