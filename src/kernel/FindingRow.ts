/**
 * A `FindingRow` is one line of a run's ledger of findings: what the model declared of an earlier result, or what
 * follows from that by the record. Rows are only ever added.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Json from "./Json.ts"
import * as Either from "effect/Either"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const id = Schema.NonEmptyString
/** `seq` grows within the run, over all kinds. */
const common = { seq: Schema.NonNegativeInt, iteration: Schema.Positive.pipe(Schema.int()) }

/**
 * What a result is to the model. `fact`: it establishes what is asserted. `open`: it bears on the question, unsettled.
 * `ruled-out`: what the call tested is excluded. `noise`: irrelevant. A result that nobody named has none.
 */
export const StandingWord = Schema.Literal("fact", "open", "ruled-out", "noise")
export type StandingWord = typeof StandingWord.Type

/** Where it was declared: in the arguments of a call, or in the answer. */
export const DeclaredOn = Schema.Union(Schema.Struct({ toolCallId: id }), Schema.Literal("answer"))
export type DeclaredOn = typeof DeclaredOn.Type

const JsonValue = Schema.Unknown.pipe(Schema.filter((value) => Either.isRight(Json.canonical(value))))

/** What a result is said to establish. `value` is any value of the closed JSON domain. */
export const Assertion = Schema.Struct({
  subject: Schema.Struct({ kind: id, id }),
  predicate: id,
  value: JsonValue
})
export type Assertion = typeof Assertion.Type

/** What a call was made for. `predicts` is recorded and never served. The last of a call counts. */
export const Basis = Schema.Struct({
  kind: Schema.Literal("basis"),
  ...common,
  toolCallId: id,
  proposition: optional(id),
  predicts: optional(id)
})
export type Basis = typeof Basis.Type

/**
 * The standing of a result. `unknownId`: no such result was on the wire that the declaration answers. `unechoed` are
 * the assertions of a fact whose value has data in it that does not occur in the result as it was served.
 */
export const Standing = Schema.Struct({
  kind: Schema.Literal("standing"),
  ...common,
  toolCallId: id,
  standing: StandingWord,
  assertions: Schema.Array(Assertion),
  line: optional(id),
  settles: optional(id),
  toolName: optional(Schema.String),
  ref: optional(id),
  unknownId: optional(Schema.Literal(true)),
  unechoed: optional(Schema.Array(Assertion)),
  declaredOn: DeclaredOn
})
export type Standing = typeof Standing.Type

export const Carrier = Schema.Struct({ toolCallId: id, standing: StandingWord })
export type Carrier = typeof Carrier.Type

/** A value was used whose every source is a result that is no fact. Standings are those at the use. */
export const Contingent = Schema.Struct({
  kind: Schema.Literal("contingent"),
  ...common,
  declaredOn: DeclaredOn,
  value: id,
  carriers: Schema.NonEmptyArray(Carrier)
})
export type Contingent = typeof Contingent.Type

export const Item = Schema.Struct({ what: id, why: optional(id) })
export type Item = typeof Item.Type

/** What an absence left open, by its own declaration. */
export const Limits = Schema.Struct({
  notChecked: optional(Schema.Array(Item)),
  cannotCover: optional(Schema.Array(Item)),
  tryInstead: optional(id)
})
export type Limits = typeof Limits.Type

/** A result was ruled out that was served as an absence: its limits stand beside the verdict. */
export const Unsettled = Schema.Struct({
  kind: Schema.Literal("unsettled"),
  ...common,
  toolCallId: id,
  ...Limits.fields
})
export type Unsettled = typeof Unsettled.Type

export const Row = Schema.Union(Basis, Standing, Contingent, Unsettled)
export type Row = typeof Row.Type
