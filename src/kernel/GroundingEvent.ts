/**
 * A `GroundingEvent` is the verdict on one would-be answer, and what followed from it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

export const shapes = ["declared", "date", "time", "number", "identifier"] as const

/** What a value looks like. `declared`: it matches a shape of the application's. */
export const Shape = Schema.Literal(...shapes)
export type Shape = typeof Shape.Type

/** A value as the answer spells it, at most 64 characters of it. */
export const Unsupported = Schema.Struct({ value: Schema.String, shape: Shape })
export type Unsupported = typeof Unsupported.Type

/** How much a value without a source may stop: nothing, an answer once, or an answer for good. */
export const Posture = Schema.Literal("assist", "guard", "rails")
export type Posture = typeof Posture.Type

/** `revision-asked`: the model looks again, with its tools. `refused`: there is an error instead of the answer. */
export const Action = Schema.Literal("grounded", "flagged", "revision-asked", "refused")
export type Action = typeof Action.Type

/**
 * One a judgement, before `Answered`. `more` counts unsupported values that are not listed, `truncated` says that not all
 * sources could be read or, if it is `unread`, not all of the answer. `afterRevision`: the one revision of the run was spent before. `asked` is what the model reads
 * that is to look again.
 */
export const GroundingJudged = Schema.TaggedStruct("GroundingJudged", {
  iteration: Schema.Positive.pipe(Schema.int()),
  posture: Posture,
  candidates: Schema.NonNegativeInt,
  unsupported: Schema.Array(Unsupported),
  more: optional(Schema.Positive.pipe(Schema.int())),
  action: Action,
  afterRevision: Schema.Boolean,
  truncated: optional(Schema.Literal(true)),
  unread: optional(Schema.Literal(true)),
  asked: optional(Schema.String)
})
export type GroundingJudged = typeof GroundingJudged.Type
