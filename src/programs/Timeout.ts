/**
 * A `Timeout` is how long a tool's handler may take. A call that takes longer is stopped, and settled.
 *
 * @since 0.1.0
 */
import type * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/** Annotates a tool: `tool.annotate(Timeout.Timeout, "5 seconds")`. */
export class Timeout extends Context.Tag("wherefore/programs/Timeout")<Timeout, Duration.DurationInput>() {}

/** Without an annotation a call may take this long. */
export const standard: Duration.Duration = Duration.minutes(2)

export const of = (tool: Tool.Any): Duration.Duration =>
  Option.match(Context.getOption(tool.annotations, Timeout), { onNone: () => standard, onSome: Duration.decode })
