/**
 * A `Call` is one tool call of a reply on its way to its settlement. Here stand the gates that need no service: each
 * call either may run, or is settled by a refusal.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Budget from "./Budget.ts"
import type * as Event from "./Event.ts"
import * as Json from "./Json.ts"
import type * as Message from "./Message.ts"
import * as Problem from "./Problem.ts"
import * as Refusal from "./Refusal.ts"
import * as State from "./State.ts"

/** What is to become of a call. `started` calls are on the record already: an earlier process ran them and was lost. */
export type Planned =
  | {
      readonly _tag: "Run"
      readonly call: Message.ToolCall
      readonly args: unknown
      readonly replay: Event.ReplayClass
      readonly started: boolean
    }
  | {
      readonly _tag: "Settle"
      readonly call: Message.ToolCall
      readonly outcome: Message.Settlement
      readonly refusal: Refusal.Refusal
    }

const refuse = (call: Message.ToolCall, refusal: Refusal.Refusal): Planned => ({
  _tag: "Settle",
  call,
  outcome: "refused",
  refusal
})

/** Limits of the arguments of one call. */
const limits = { maxChars: 1_048_576, maxDepth: 64 }

/** The arguments as one JSON object. A tool without parameters may be called with no text at all. */
const read = (text: string): Either.Either<unknown, Problem.Problem> => {
  if (text.trim() === "") return Either.right({})
  const parsed = Json.parse(text, limits)
  if (Either.isLeft(parsed)) return Either.left(parsed.left)
  const value = parsed.right
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return parsed
  return Either.left({
    code: "WF-TOOL-003",
    what: "They are not an object.",
    expected: "one JSON object",
    found: Problem.kindOf(value),
    next: "Send one JSON object.",
    outcome: "not-applied",
    retry: "never"
  })
}

/** The key of a call, for a service that honours idempotency keys: no other call of any run has it. */
export const key = (runId: string, iteration: number, toolCallId: string): string =>
  JSON.stringify([runId, iteration, toolCallId])

/** What an earlier process left behind: run it again if its class allows it, else nobody knows what it did. */
const recover = (state: State.State, call: Message.ToolCall, started: State.Started): Planned => {
  if (started.replay === "pure" || started.replay === "idempotent") {
    return { _tag: "Run", call, args: started.args, replay: started.replay, started: true }
  }
  const how = "was running when its process was lost"
  const { toolCallId } = call
  const named = key(state.started?.runId ?? "", state.iteration, toolCallId)
  const sent = { toolCallId, key: named, sentAt: `at event #${started.seq}` }
  const refusal = Refusal.toolOutcomeUnknown(call.toolName, sent, how)
  return { _tag: "Settle", call, outcome: "unknown", refusal }
}

/**
 * The calls to settle next, in order: up to and including the first that may change something, so that it runs alone;
 * calls that only read run together.
 */
export const plan = (state: State.State, tools: ReadonlyArray<Event.ToolDeclared>): ReadonlyArray<Planned> => {
  const planned: Array<Planned> = []
  for (const call of State.unsettled(state)) {
    const started = state.startedCalls.find(({ toolCallId }) => toolCallId === call.toolCallId)
    const next = started === undefined ? judge(state, tools, call) : recover(state, call, started)
    if (next._tag === "Run" && next.replay !== "pure") {
      // It runs alone: after the reads before it are settled, or now.
      if (planned.some(({ _tag }) => _tag === "Run")) return planned
      return [...planned, next]
    }
    planned.push(next)
    // What was started alone is settled alone: a resumed run keeps the order of one that was never stopped.
    if (started !== undefined && next._tag === "Settle") return planned
  }
  return planned
}

/** Why one more call may not start, `more` calls of the reply having started after those that the state counts. */
export const unaffordable = (state: State.State, limits: Event.Limits, more: number): Refusal.Refusal | undefined =>
  Budget.toolCall(limits, { ...state.spent, toolCalls: state.spent.toolCalls + more })

const judge = (state: State.State, tools: ReadonlyArray<Event.ToolDeclared>, call: Message.ToolCall): Planned => {
  if (call.duplicateOf !== undefined) return refuse(call, Refusal.duplicateCallId(call.duplicateOf))
  const tool = tools.find(({ name }) => name === call.toolName)
  if (tool === undefined) {
    return refuse(
      call,
      Refusal.unknownTool(
        call.toolName,
        tools.map(({ name }) => name)
      )
    )
  }
  const args = read(call.args)
  if (Either.isLeft(args)) {
    if (state.openReply?.stopReason !== "length") {
      return refuse(call, Refusal.argumentsMalformed(call.toolName, args.left))
    }
    const limit = state.marks.at(-1)?.parameters.maxOutputTokens
    return { _tag: "Settle", call, outcome: "truncated", refusal: Refusal.replyTruncated(call.toolName, limit) }
  }
  return { _tag: "Run", call, args: args.right, replay: tool.annotations.replay, started: false }
}

/** The settlement of a call that was refused, or lost. */
export const settlement = (iteration: number, planned: Planned & { readonly _tag: "Settle" }): Event.ToolSettled => ({
  _tag: "ToolSettled",
  iteration,
  toolCallId: planned.call.toolCallId,
  toolName: planned.call.toolName,
  outcome: planned.outcome,
  served: Refusal.served(planned.refusal, planned.outcome),
  error: planned.refusal
})
