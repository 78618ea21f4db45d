/**
 * A `Child` is a run that a call of another run starts, as the one that drives that call sees it.
 *
 * @internal
 */
import type * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type * as ChildEvent from "../kernel/ChildEvent.ts"
import * as Children from "../kernel/Children.ts"
import * as Call from "../kernel/Call.ts"
import type * as Event from "../kernel/Event.ts"
import type * as State from "../kernel/State.ts"

/** Annotates a tool that runs an agent: the limits of that. */
export class Limited extends Context.Tag("wherefore/programs/Child/Limited")<Limited, Event.Limits>() {}

/** The limits of the agent that a tool runs, if it runs one. */
export const of = (tool: Tool.Any): { readonly child?: Event.Limits } =>
  Option.match(Context.getOption(tool.annotations, Limited), { onNone: () => ({}), onSome: (child) => ({ child }) })

/** Inside of a call that may start a run: which run that is, and what it may spend. */
export interface Begetting {
  readonly parent: ChildEvent.Parent
  readonly runId: string
  readonly limits: Event.Limits
  /** What it came to, for the record of the call's run. */
  readonly tell: (status: ChildEvent.ChildSettled["status"], spent: ChildEvent.Spent) => void
}

export class Enclosing extends Context.Reference<Enclosing>()("wherefore/programs/Child/Enclosing", {
  defaultValue: (): Begetting | undefined => undefined
}) {}

/** A call that is about to run, of a tool that runs an agent with these limits. */
export interface Beginning {
  readonly toolCallId: string
  readonly toolName: string
  readonly own: Event.Limits
}

/** The intents of the children of a batch, those left out that the record holds. What is left is shared among them. */
export const started = (
  state: State.State,
  limits: Event.Limits,
  elapsedMs: number,
  iteration: number,
  calls: ReadonlyArray<Beginning>
): ReadonlyArray<ChildEvent.ChildStarted> => {
  const fresh = calls.filter(({ toolCallId }) => Children.of(state, iteration, toolCallId) === undefined)
  return fresh.map(({ own, toolCallId, toolName }) => ({
    _tag: "ChildStarted",
    iteration,
    toolCallId,
    toolName,
    runId: Children.idOf(Call.key(state.started?.runId ?? "", iteration, toolCallId)),
    limits: Children.share(limits, state, elapsedMs, fresh.length, own)
  }))
}
