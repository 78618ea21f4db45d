/**
 * A `Child` is a run that a call of another run starts, as the one that drives that call sees it.
 *
 * @internal
 */
import type * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import type * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import type * as ChildEvent from "../kernel/ChildEvent.ts"
import * as Children from "../kernel/Children.ts"
import * as Call from "../kernel/Call.ts"
import type * as Event from "../kernel/Event.ts"
import type * as Message from "../kernel/Message.ts"
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

/** What a call's handler is given of the run that it is to start. */
export const begetting = (
  runId: string,
  { iteration, toolCallId, toolName }: ArtifactEvent.Call,
  child: Children.Child | undefined,
  tell: (event: ChildEvent.ChildSettled) => void
): Begetting | undefined =>
  child === undefined
    ? undefined
    : {
        parent: { runId, iteration, toolCallId },
        runId: child.runId,
        limits: child.limits,
        tell: (status, spent) =>
          tell({ _tag: "ChildSettled", iteration, toolCallId, toolName, runId: child.runId, status, spent })
      }

/**
 * The intents of the children of a batch of calls, those left out that the record holds. What is left is shared among them.
 * `ownOf` has the limits of the agent that a call runs, if it runs one.
 */
export const started = (
  state: State.State,
  limits: Event.Limits,
  elapsedMs: number,
  iteration: number,
  calls: ReadonlyArray<Message.ToolCall>,
  ownOf: (call: Message.ToolCall) => Event.Limits | undefined
): ReadonlyArray<ChildEvent.ChildStarted> => {
  const fresh = calls.flatMap((call) => {
    const own = Children.of(state, iteration, call.toolCallId) === undefined ? ownOf(call) : undefined
    return own === undefined ? [] : [{ call, own }]
  })
  return fresh.map(({ call: { toolCallId, toolName }, own }) => ({
    _tag: "ChildStarted",
    iteration,
    toolCallId,
    toolName,
    runId: Children.idOf(Call.key(state.started?.runId ?? "", iteration, toolCallId)),
    limits: Children.share(limits, state, elapsedMs, fresh.length, own)
  }))
}
