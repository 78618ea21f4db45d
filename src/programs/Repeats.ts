/**
 * `Repeats` annotates a tool whose calls are expected to come to the same again, such as one that asks whether something is
 * done yet. They are no sign of a run that makes no progress.
 *
 * @since 0.1.0
 */
import type * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"

/** Annotates a tool: `tool.annotate(Repeats.Repeats, true)`. */
export class Repeats extends Context.Tag("wherefore/programs/Repeats")<Repeats, boolean>() {}

/** The annotation as the record holds it. */
export const of = (tool: Tool.Any): { readonly repeats?: true } =>
  Option.contains(Context.getOption(tool.annotations, Repeats), true) ? { repeats: true } : {}
