/**
 * A `ChildEvent` is what happened with a run that a call of this run started. Which run is whose child is said by ids on both
 * records, and by nothing else.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Limits from "./Limits.ts"
import * as Usage from "./Usage.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })
const iteration = Schema.Positive.pipe(Schema.int())
const call = { iteration, toolCallId: Schema.NonEmptyString, toolName: Schema.String, runId: Schema.NonEmptyString }

/** The call that a run was started by. */
export const Parent = Schema.Struct({
  runId: Schema.NonEmptyString,
  iteration,
  toolCallId: Schema.NonEmptyString
})
export type Parent = typeof Parent.Type

/** A run is about to be started for a call. `limits` are its share of what was left, and its own if they are less. */
const ChildStarted = Schema.TaggedStruct("ChildStarted", { ...call, limits: Limits.Limits })
export type ChildStarted = typeof ChildStarted.Type

/** What a child has spent, that of its own children included. */
export const Spent = Schema.Struct({
  passes: Schema.NonNegativeInt,
  toolCalls: Schema.NonNegativeInt,
  unmetered: Schema.NonNegativeInt,
  children: Schema.NonNegativeInt,
  bytes: optional(Schema.NonNegativeInt),
  usage: Usage.Usage,
  models: Schema.Array(
    Schema.Struct({ provider: optional(Schema.String), model: optional(Schema.String), usage: Usage.Usage })
  )
})
export type Spent = typeof Spent.Type

/** Where a child stands when its call is settled, and what it has spent by then. */
const ChildSettled = Schema.TaggedStruct("ChildSettled", {
  ...call,
  status: Schema.Literal("answered", "stopped", "failed", "open"),
  spent: Spent
})
export type ChildSettled = typeof ChildSettled.Type

export const ChildEvent = Schema.Union(ChildStarted, ChildSettled)
export type ChildEvent = typeof ChildEvent.Type
