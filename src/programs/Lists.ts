/**
 * `Lists` declares which fields of a tool's results list ids, and which tools read one of them, so that `Why` can say what was
 * listed and never read.
 *
 * @since 0.1.0
 */
import type * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type * as Listing from "../kernel/Listing.ts"

/**
 * Annotates a tool: `tool.annotate(Lists.Lists, [{ field: "/orders/*", of: "order", readBy: [{ toolName: "get_order",
 * argument: "id" }] }])`.
 */
export class Lists extends Context.Tag("wherefore/programs/Lists")<Lists, ReadonlyArray<Listing.Listed>>() {}

/** The annotation as the record holds it. */
export const of = (tool: Tool.Any): { readonly lists?: ReadonlyArray<Listing.Listed> } =>
  Option.match(Context.getOption(tool.annotations, Lists), {
    onNone: () => ({}),
    onSome: (lists) => (lists.length === 0 ? {} : { lists })
  })
