/**
 * An `AnswerEvent` is what a would-be answer came to when it was read by the schema that answers have.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const iteration = Schema.Positive.pipe(Schema.int())

/** The reply was JSON of the schema. `value` is it, encoded, without what it declares of findings. */
export const AnswerRead = Schema.TaggedStruct("AnswerRead", { iteration, value: Schema.Unknown })
export type AnswerRead = typeof AnswerRead.Type

/** The reply was no answer. `asked` is what the model reads that is to give one. */
export const AnswerRejected = Schema.TaggedStruct("AnswerRejected", {
  iteration,
  issues: Schema.NonEmptyArray(Schema.String),
  asked: Schema.String
})
export type AnswerRejected = typeof AnswerRejected.Type
