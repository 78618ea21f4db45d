/**
 * A `CursorMove` is where a map's cursor is in a pass, where it was before, and what put it there.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as CallOutcome from "./CallOutcome.ts"
import * as Guard from "./Guard.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const id = Schema.NonEmptyString

/** How an edge's guard was judged on one call. */
export const GuardEvaluation = Schema.Struct({
  from: id,
  to: id,
  toolCallId: id,
  toolName: Schema.String,
  outcome: CallOutcome.Ran,
  conditions: Schema.Array(Guard.Verdict)
})
export type GuardEvaluation = typeof GuardEvaluation.Type

export const RouteTarget = Schema.Struct({ toolCallId: id, toolName: Schema.String, target: id })
export type RouteTarget = typeof RouteTarget.Type

/** Why a declared entry matched: the person's own words, or the tag; `keyword` is the declared word or phrase. */
export const Witness = Schema.Struct({ text: id, keyword: optional(id) })
export type Witness = typeof Witness.Type

/**
 * `by` is one of `entry`, `route`, `model-pick`, `tool-proposal`, `intent`, `continuity`, `decider`, `stay`, `none`, or
 * the word of a map kind that is yet to come. Without `to` there is no cursor. `guard` is of the edge that fired,
 * `guardsClosed` are those that refused; in `conflict` later results of the batch named other targets.
 */
export const CursorMove = Schema.Struct({
  from: optional(id),
  to: optional(id),
  by: id,
  witness: optional(Witness),
  guard: optional(GuardEvaluation),
  guardsClosed: optional(Schema.Array(GuardEvaluation)),
  conflict: optional(Schema.Struct({ winner: RouteTarget, losers: Schema.Array(RouteTarget) }))
})
export type CursorMove = typeof CursorMove.Type

/** Values of maps by their id: an own key is a map that has one. */
export interface ByMap<A> {
  readonly [mapId: string]: A
}

/** What a map has. An id may be any text, so only own keys count. */
export const get = <A>(values: ByMap<A>, mapId: string): A | undefined =>
  Object.hasOwn(values, mapId) ? values[mapId] : undefined
