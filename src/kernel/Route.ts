/**
 * A `Route` is a declared edge of a skill map: from one skill to another, when a tool returns or a call comes to an
 * outcome, if its guard is open.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Guard from "./Guard.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Without `tool` it reads the calls of all tools. Without a condition on `outcome` it reads the calls that succeeded. */
export const Route = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  tool: optional(Schema.String),
  when: optional(Schema.Array(Guard.Condition))
})
export type Route = typeof Route.Type

const success: Guard.Condition = { field: "outcome", op: "in", value: ["ran-ok", "absent"] }

/** All that has to hold, what is not written included. */
export const conditions = ({ when = [] }: Route): ReadonlyArray<Guard.Condition> =>
  when.some(({ field }) => field === "outcome") ? when : [success, ...when]
