/**
 * A `WaitEvent` is what a run waits for from outside, and what it was told: that a call needs a person's approval and what
 * the person decided, and what was found of a call that nobody knew the outcome of.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const iteration = Schema.Positive.pipe(Schema.int())
const call = { iteration, toolCallId: Schema.NonEmptyString, toolName: Schema.String }

/** A rule of the agent, by its place from 0 and its name. */
export const RuleRef = Schema.Struct({ index: Schema.NonNegativeInt, name: optional(Schema.NonEmptyString) })
export type RuleRef = typeof RuleRef.Type

/**
 * A call is to run only after a person has said so. `ticket` is the digest of all that the approval is bound to: the run,
 * the call, `argsDigest` of `args` in canonical JSON, `toolDigest` of the tool's definition, and `seen`, the hash of the wire
 * that the model had when it made the call. `args` are the arguments as decoded and written out again. `rule` asked for it,
 * or else the tool's own annotation. `replaces` is the ticket of an approval that had become stale.
 */
export const ApprovalAsked = Schema.TaggedStruct("ApprovalAsked", {
  ...call,
  ticket: Schema.NonEmptyString,
  argsDigest: Schema.NonEmptyString,
  args: Schema.Unknown,
  seen: Schema.NonEmptyString,
  toolDigest: Schema.NonEmptyString,
  rule: optional(RuleRef),
  replaces: optional(Schema.NonEmptyString)
})
export type ApprovalAsked = typeof ApprovalAsked.Type

export const Verdict = Schema.Literal("approve", "deny")
export type Verdict = typeof Verdict.Type

/** What a person decided of the call that a ticket names. */
export const ApprovalDecided = Schema.TaggedStruct("ApprovalDecided", {
  ...call,
  ticket: Schema.NonEmptyString,
  verdict: Verdict,
  argsDigest: Schema.NonEmptyString,
  seen: Schema.NonEmptyString,
  by: Schema.NonEmptyString,
  note: optional(Schema.String)
})
export type ApprovalDecided = typeof ApprovalDecided.Type

/** What the tool's own probe found of a call that was running when its process was lost. */
export const CallProbed = Schema.TaggedStruct("CallProbed", {
  ...call,
  verdict: Schema.Literal("applied", "not-applied", "unknown")
})
export type CallProbed = typeof CallProbed.Type

export const Found = Schema.Literal("applied", "not-applied")
export type Found = typeof Found.Type

/** What a person found of a call that was settled `unknown`. `told` is what the model reads of it. */
export const CallResolved = Schema.TaggedStruct("CallResolved", {
  ...call,
  verdict: Found,
  by: Schema.NonEmptyString,
  because: Schema.NonEmptyString,
  told: Schema.String
})
export type CallResolved = typeof CallResolved.Type

export const WaitEvent = Schema.Union(ApprovalAsked, ApprovalDecided, CallProbed, CallResolved)
export type WaitEvent = typeof WaitEvent.Type
