/**
 * A `Replay` class says whether a tool's call may be run again when nobody knows what became of it.
 *
 * - `pure`: it only reads. Such calls of one reply run together, and again after a crash.
 * - `idempotent`: running it again with the same key changes nothing more.
 * - `reconcile`: it may have acted, and there is a way to find out.
 * - `never`: it may have acted. The default for a tool that is not read-only.
 *
 * @since 0.1.0
 */
import * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type * as Event from "../kernel/Event.ts"

/** Annotates a tool: `tool.annotate(Replay.Replay, "idempotent")`. */
export class Replay extends Context.Tag("wherefore/programs/Replay")<Replay, Event.ReplayClass>() {}

/**
 * Inside a handler: the key of this call. It is the same when the call is run again after a crash, and no other call has
 * it; hand it to a service that honours idempotency keys. A JSON array of the run's id, the pass and the call's id.
 */
export class Key extends Context.Reference<Key>()("wherefore/programs/Replay/Key", { defaultValue: () => "" }) {}

/** The class that a tool declares, or the one that its `Readonly` and `Idempotent` annotations imply. */
export const of = (tool: Tool.Any): Event.ReplayClass => {
  const declared = Context.getOption(tool.annotations, Replay)
  if (Option.isSome(declared)) return declared.value
  if (Context.get(tool.annotations, Tool.Readonly)) return "pure"
  return Context.get(tool.annotations, Tool.Idempotent) ? "idempotent" : "never"
}
