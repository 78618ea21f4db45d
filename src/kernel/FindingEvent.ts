/**
 * A `FindingEvent` is what a run files on its ledger of findings, and what a wire was served of it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as FindingRead from "./FindingRead.ts"
import * as FindingRow from "./FindingRow.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const id = Schema.NonEmptyString
const iteration = Schema.Positive.pipe(Schema.int())
const count = Schema.NonNegativeInt

/** What a call's arguments declared, as far as it is valid. Never empty. */
export const FindingDeclared = Schema.TaggedStruct("FindingDeclared", {
  iteration,
  declaredOn: FindingRow.DeclaredOn,
  rows: Schema.NonEmptyArray(Schema.Union(FindingRow.Basis, FindingRow.Standing))
})
export type FindingDeclared = typeof FindingDeclared.Type

/** A part of a declaration that was dropped. It changed nothing about the call that carried it. */
export const FindingRejected = Schema.TaggedStruct("FindingRejected", {
  iteration,
  declaredOn: FindingRow.DeclaredOn,
  ...FindingRead.Rejection.fields
})
export type FindingRejected = typeof FindingRejected.Type

/**
 * Current facts give one thing two values. `key` is its kind, its id, the predicate and the epoch; `witnesses` are all
 * results that speak of it, in the order of their rows, and `more` counts those beyond 64. Written once for a key.
 */
export const FindingConflicted = Schema.TaggedStruct("FindingConflicted", {
  iteration,
  key: Schema.Tuple(id, id, id, Schema.Null),
  witnesses: Schema.Array(Schema.Struct({ toolCallId: id, value: Schema.Unknown })),
  more: optional(Schema.Positive.pipe(Schema.int()))
})
export type FindingConflicted = typeof FindingConflicted.Type

/** `overflow`, on the last of a use, counts the values that were not filed. Without a `row` none was. */
export const ContingencyFiled = Schema.TaggedStruct("ContingencyFiled", {
  iteration,
  declaredOn: FindingRow.DeclaredOn,
  row: optional(FindingRow.Contingent),
  overflow: optional(Schema.Positive.pipe(Schema.int()))
})
export type ContingencyFiled = typeof ContingencyFiled.Type

export const UnsettledFiled = Schema.TaggedStruct("UnsettledFiled", { iteration, row: FindingRow.Unsettled })
export type UnsettledFiled = typeof UnsettledFiled.Type

/** What was filed of one use or declaration. */
export const Filed = Schema.Union(FindingDeclared, FindingRejected, FindingConflicted, ContingencyFiled, UnsettledFiled)
export type Filed = typeof Filed.Type

/** How many of each the ledger held, and of the results on the wire how many nobody had named. */
export const Counts = Schema.Struct({
  facts: count,
  open: count,
  ruledOut: count,
  noise: count,
  undeclared: count,
  conflicts: count,
  contingent: count,
  unsettled: count
})
export type Counts = typeof Counts.Type

/** A text that was composed for the wire: its length in UTF-16 code units, and its digest. */
export const Block = Schema.Struct({ chars: count, hash: id })
export type Block = typeof Block.Type

/**
 * The wire of this pass, and of those after it until the next such event, holds these blocks. They follow from the rows
 * before it, so that their text is not on the record. Written when one of them changes.
 */
export const FindingsServed = Schema.TaggedStruct("FindingsServed", {
  iteration,
  piece: optional(Block),
  offer: optional(Block),
  counts: Counts
})
export type FindingsServed = typeof FindingsServed.Type

/**
 * From this pass on tickets ride in place of these results, and `restored` ones ride as they are again. `charsSaved` is what
 * all tickets of the wire save together.
 */
export const FindingsCollapsed = Schema.TaggedStruct("FindingsCollapsed", {
  iteration,
  ids: Schema.Array(id),
  restored: optional(Schema.NonEmptyArray(id)),
  charsSaved: count
})
export type FindingsCollapsed = typeof FindingsCollapsed.Type

/** What a pass was served, said before the model is asked. */
export const Served = Schema.Union(FindingsServed, FindingsCollapsed)
export type Served = typeof Served.Type

export const FindingEvent = Schema.Union(...Filed.members, ...Served.members)
export type FindingEvent = typeof FindingEvent.Type
