/**
 * A `Replay` class says whether a tool's call may be run again when nobody knows what became of it.
 *
 * - `pure`: it only reads. Such calls of one reply run together, and again after a crash.
 * - `idempotent`: running it again with the same key changes nothing more.
 * - `reconcile`: it may have acted, and there is a way to find out: `Replay.reconcile(tool, probe)`.
 * - `never`: it may have acted. The default for a tool that is not read-only.
 *
 * `run` is another matter: a recorded run, gone through again by the code of now.
 *
 * @since 0.1.0
 */
import * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Event from "../kernel/Event.ts"

export { Drift, events, run } from "./Replaying.ts"
export type { Replayed } from "./Replaying.ts"

/** Annotates a tool: `tool.annotate(Replay.Replay, "idempotent")`. */
export class Replay extends Context.Tag("wherefore/programs/Replay")<Replay, Event.ReplayClass>() {}

/**
 * Inside a handler: the key of this call. It is the same when the call is run again after a crash, and no other call has
 * it; hand it to a service that honours idempotency keys. A JSON array of the run's id, the pass and the call's id.
 */
export class Key extends Context.Reference<Key>()("wherefore/programs/Replay/Key", { defaultValue: () => "" }) {}

/**
 * What a probe found: the call took effect, with what it would have returned; it did not, and is run again; or nobody can
 * tell, and a person is asked.
 */
export type Probed<A> = Data.TaggedEnum<{
  readonly Applied: { readonly result: A }
  readonly NotApplied: {}
  readonly Unknown: {}
}>

interface ProbedDefinition extends Data.TaggedEnum.WithGenerics<1> {
  readonly taggedEnum: Probed<this["A"]>
}

const probed = Data.taggedEnum<ProbedDefinition>()

/** The call took effect. `result` is what its handler would have returned. */
export const applied = <A>(result: A): Probed<A> => probed.Applied({ result })

/** The call did not take effect: it is run again. */
export const notApplied: Probed<never> = probed.NotApplied()

/** Nobody can tell. */
export const unknown: Probed<never> = probed.Unknown()

/** Finds out, from the arguments and the key of a call, whether it took effect. */
export type Probe<in Args, out A> = (args: Args, key: string) => Effect.Effect<Probed<A>, unknown>

/** How a tool of the class `reconcile` is asked what became of a call. Made by `reconcile`. */
export class Probing extends Context.Tag("wherefore/programs/Replay/Probing")<Probing, Probe<unknown, unknown>>() {}

/**
 * The tool with a way to find out whether a call took effect, which was running when its process was lost. The probe is given
 * the arguments as the handler was, and the call's key; one that fails, dies or takes longer than the tool may is as one that
 * cannot tell.
 */
export const reconcile = <
  Name extends string,
  Config extends {
    readonly parameters: Tool.AnyParametersSchema
    readonly success: Schema.Schema.Any
    readonly failure: Schema.Schema.All
    readonly failureMode: Tool.FailureMode
  },
  Requirements
>(
  tool: Tool.Tool<Name, Config, Requirements>,
  probe: Probe<Schema.Schema.Type<Config["parameters"]>, Schema.Schema.Type<Config["success"]>>
): Tool.Tool<Name, Config, Requirements> => {
  const isArgs = Schema.is(tool.parametersSchema)
  const probing: Probe<unknown, unknown> = (args, key) => (isArgs(args) ? probe(args, key) : Effect.succeed(unknown))
  return tool.annotate(Replay, "reconcile").annotate(Probing, probing)
}

/** How to find out what became of a tool's call, if there is a way. */
export const probeOf = (tool: Tool.Any): Probe<unknown, unknown> | undefined =>
  Option.getOrUndefined(Context.getOption(tool.annotations, Probing))

/** The class that a tool declares, or the one that its `Readonly` and `Idempotent` annotations imply. */
export const of = (tool: Tool.Any): Event.ReplayClass => {
  const declared = Context.getOption(tool.annotations, Replay)
  if (Option.isSome(declared)) return declared.value
  if (Context.get(tool.annotations, Tool.Readonly)) return "pure"
  return Context.get(tool.annotations, Tool.Idempotent) ? "idempotent" : "never"
}
