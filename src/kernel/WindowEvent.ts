/**
 * A `WindowEvent` is what is recorded of parts of the conversation that are not sent any more: which they are, why they
 * left, and, where a model wrote a summary in their place, the call that it took.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Problem from "./Problem.ts"
import * as Usage from "./Usage.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const iteration = Schema.Positive.pipe(Schema.int())
const whole = Schema.Positive.pipe(Schema.int())

/** The last `units` closed units are sent: what the person said, or a reply with the results of its calls. */
export const KeepLast = Schema.TaggedStruct("KeepLast", { units: whole })

/** A wire of more than `tokens` is cut to at most `downTo`. */
export const TokenBudget = Schema.TaggedStruct("TokenBudget", { tokens: whole, downTo: whole })

/** As `TokenBudget`, with a summary of at most `summaryTokens` in place of what left. */
export const SummarizeOldest = Schema.TaggedStruct("SummarizeOldest", {
  tokens: whole,
  downTo: whole,
  summaryTokens: whole,
  /** What the model reads that writes the summary. */
  instructions: Schema.NonEmptyString
})

/** How much of the conversation is sent. */
export const Strategy = Schema.Union(KeepLast, TokenBudget, SummarizeOldest)
export type Strategy = typeof Strategy.Type

/** A call whose result left. */
export const Dropped = Schema.Struct({ toolCallId: Schema.NonEmptyString, toolName: Schema.String })
export type Dropped = typeof Dropped.Type

/**
 * Tokens of a wire. `provider`: what the provider counted for the last reply, spread over the texts in proportion to the
 * counts of `name`. Otherwise `name` alone counted.
 */
export const Count = Schema.Struct({
  by: Schema.Literal("provider", "tokenizer", "estimate"),
  name: Schema.NonEmptyString,
  before: Schema.NonNegativeInt,
  after: Schema.NonNegativeInt,
  limit: Schema.NonNegativeInt
})
export type Count = typeof Count.Type

/** A summary that the run before this one had. */
export const CarriedSummary = Schema.Struct({
  from: Schema.Struct({ runId: Schema.NonEmptyString, seq: Schema.NonNegativeInt }),
  content: Schema.String
})
export type CarriedSummary = typeof CarriedSummary.Type

/**
 * Closed units left, each named by the id of its first message: from this pass on they are not sent. `superseded`: an
 * answer that was not taken, with what was said of it, once a later one was given. `carried`: they had left in the run that
 * this one follows up. `dropped` are the results among them. `summary`: whether a model wrote one in their place.
 */
export const WindowTrimmed = Schema.TaggedStruct("WindowTrimmed", {
  iteration,
  by: Schema.Literal("KeepLast", "TokenBudget", "SummarizeOldest", "superseded", "carried"),
  units: Schema.NonEmptyArray(Schema.NonEmptyString),
  dropped: Schema.Array(Dropped),
  /** Characters of what left. */
  chars: Schema.NonNegativeInt,
  tokens: optional(Count),
  summary: optional(Schema.Literal("made", "failed")),
  carried: optional(CarriedSummary)
})
export type WindowTrimmed = typeof WindowTrimmed.Type

/**
 * A model is asked for a summary of the units, and of the summary before it, if there is one. `provider` and `model` are
 * written where they are not those of the last pass.
 */
export const SummaryAsked = Schema.TaggedStruct("SummaryAsked", {
  iteration,
  wireHash: Schema.NonEmptyString,
  provider: optional(Schema.String),
  model: optional(Schema.String),
  units: Schema.NonEmptyArray(Schema.NonEmptyString),
  tokens: optional(Count)
})
export type SummaryAsked = typeof SummaryAsked.Type

/** `by` is who wrote it, if not who was asked. */
export const SummaryReplied = Schema.TaggedStruct("SummaryReplied", {
  iteration,
  content: Schema.NonEmptyString,
  by: optional(Schema.Struct({ provider: Schema.String, model: Schema.String })),
  usage: optional(Usage.Usage),
  durationMs: optional(Schema.NonNegative.pipe(Schema.finite()))
})
export type SummaryReplied = typeof SummaryReplied.Type

/** There is no summary: the units leave without one, and the run goes on. */
export const SummaryFailed = Schema.TaggedStruct("SummaryFailed", {
  iteration,
  reason: Schema.NonEmptyString,
  problem: Problem.Problem,
  usage: optional(Usage.Usage)
})
export type SummaryFailed = typeof SummaryFailed.Type

export const WindowEvent = Schema.Union(WindowTrimmed, SummaryAsked, SummaryReplied, SummaryFailed)
export type WindowEvent = typeof WindowEvent.Type
