/**
 * A `BudgetEvent` is what a run's limits brought about, beside its end.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Refusal from "./Refusal.ts"

const iteration = Schema.Positive.pipe(Schema.int())

/** The run had come to a limit, and the model is asked for its answer, without tools: `content` is what it reads. */
export const ClosingAsked = Schema.TaggedStruct("ClosingAsked", {
  iteration,
  reason: Refusal.Refusal,
  content: Schema.String
})
export type ClosingAsked = typeof ClosingAsked.Type

/**
 * The run is driven again, `idleMs` after the entry before: that time is not driving. Written where wall time is limited.
 */
const RunResumed = Schema.TaggedStruct("RunResumed", {
  idleMs: Schema.NonNegative.pipe(Schema.finite())
})

/**
 * A call came to the same for the third time, or more often, with nothing new in between, and the model is told: `content` is
 * what it reads. The fingerprints are digests of the arguments with the tool's name, and of what the model was served.
 */
const CallRepeated = Schema.TaggedStruct("CallRepeated", {
  iteration,
  toolCallId: Schema.NonEmptyString,
  toolName: Schema.String,
  occurrences: Schema.Positive.pipe(Schema.int()),
  argsFingerprint: Schema.NonEmptyString,
  resultFingerprint: Schema.NonEmptyString,
  content: Schema.String
})
export type CallRepeated = typeof CallRepeated.Type

export const BudgetEvent = Schema.Union(ClosingAsked, RunResumed, CallRepeated)
export type BudgetEvent = typeof BudgetEvent.Type
