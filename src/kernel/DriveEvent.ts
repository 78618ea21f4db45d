/**
 * A `DriveEvent` is who drives a run, where several processes could: who took it over, and that somebody wants it to end.
 *
 * @internal
 */
import * as Schema from "effect/Schema"

/**
 * `by` has taken over a run that others drove before: whoever did appends behind this and is refused. `ordinal` counts the
 * take-overs of the run from 1. Written where runs are durable.
 */
export const RunClaimed = Schema.TaggedStruct("RunClaimed", {
  by: Schema.NonEmptyString,
  ordinal: Schema.Positive.pipe(Schema.int())
})
export type RunClaimed = typeof RunClaimed.Type

/** Somebody wants the run to end: whoever drives it settles what is open, and ends it. */
const CancelAsked = Schema.TaggedStruct("CancelAsked", { by: Schema.NonEmptyString })

export const DriveEvent = Schema.Union(RunClaimed, CancelAsked)
export type DriveEvent = typeof DriveEvent.Type
