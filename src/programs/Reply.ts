/**
 * A `Reply` is what a model's answer, or its failure, comes to as an event.
 *
 * @internal
 */
import * as Data from "effect/Data"
import type * as Event from "../kernel/Event.ts"
import * as Message from "../kernel/Message.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as Refusal from "../kernel/Refusal.ts"
import * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as LLM from "../services/LLM.ts"
import * as AppendSize from "./AppendSize.ts"

/** What came of a reply that is not whole. */
export type Partial = Pick<Event.ModelFailed, "partialChars" | "usage">

export const partial = ({ content, usage }: LLM.Draft): Partial => ({
  ...(content === "" ? {} : { partialChars: content.length }),
  ...(usage === undefined ? {} : { usage })
})

/** What ended a pass without a reply, as its event names it. */
interface Unanswered extends Problem.Problem {
  readonly reason: string
}

/** The budget has no room for another attempt. */
export class OverBudget extends Data.TaggedError("OverBudget")<{ readonly reason: Refusal.Refusal }> {}

export const layerDied: Unanswered = {
  reason: "Died",
  code: "WF-RUN-005",
  what: "The layer of the model died of a defect.",
  next: "Find the defect in the application's log and mend the layer; then follow the run up.",
  outcome: "unknown",
  retry: "never"
}

export const tooLong = (chars: number): LLM.LLMError =>
  LLM.failure("Protocol", {
    what: "The model's reply is longer than a record can hold.",
    expected: `at most ${AppendSize.maxEventChars} characters of JSON`,
    found: `${chars}`,
    next: "Set maxOutputTokens, or ask for less at once.",
    retry: "never"
  })

/** What the body held, in few words if it is what was assembled. */
const sent = ({ tools }: Wire.Wire, { toolNames }: LLM.Reply): Pick<Event.ModelReplied, "sentTools"> => {
  if (toolNames === undefined) return {}
  const isSame = toolNames.length === tools.length && tools.every(({ tool }, at) => tool.name === toolNames[at])
  return { sentTools: isSame ? "as-assembled" : toolNames }
}

export const asked = ({ id, provider }: LLM.Asked) => ({ provider, model: id })

/** Who was to answer, as far as the record says: a run that is resumed may ask another model than the one it called. */
interface Called {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

/** The reply with who gave it, where that is not who the record says was asked. */
export const signed = (reply: LLM.Reply, called: Called = {}, model?: LLM.Asked): LLM.Reply =>
  reply.by !== undefined || model === undefined || (model.provider === called.provider && model.id === called.model)
    ? reply
    : { ...reply, by: model }

/** An attempt that failed, as its part tells it. `attempt` counts from 1. */
export const retried = (
  iteration: number,
  attempt: number,
  { delayMs, error, next, partialChars, usage }: LLM.Part & { readonly _tag: "Retried" },
  of?: "summary"
): Event.ModelRetried => ({
  _tag: "ModelRetried",
  iteration,
  attempt,
  ...(of === undefined ? {} : { of }),
  reason: error.reason,
  problem: Problem.of(error),
  delayMs,
  ...(next === undefined ? {} : { next: asked(next) }),
  ...(partialChars === undefined ? {} : { partialChars }),
  ...(usage === undefined ? {} : { usage: Usage.counted(usage) })
})

export const replied = (
  wire: Wire.Wire,
  reply: LLM.Reply,
  durationMs: number,
  isTaken: (toolCallId: string) => boolean
): Event.ModelReplied => ({
  _tag: "ModelReplied",
  iteration: wire.iteration,
  content: reply.content,
  ...(reply.reasoning === undefined ? {} : { reasoning: reply.reasoning }),
  toolCalls: Message.identify(wire.iteration, reply.toolCalls, isTaken),
  ...(reply.seal === undefined ? {} : { seal: reply.seal }),
  ...(reply.by === undefined ? {} : { by: asked(reply.by) }),
  ...(Object.keys(reply.usage).length === 0 ? {} : { usage: reply.usage }),
  stopReason: reply.stopReason,
  ...sent(wire, reply),
  durationMs
})

/** What was not applied took nothing. */
export const failed = (iteration: number, error: Unanswered, { usage, ...partial }: Partial): Event.ModelFailed => ({
  _tag: "ModelFailed",
  iteration,
  reason: error.reason,
  problem: Problem.of(error),
  ...partial,
  ...(usage === undefined || error.outcome === "not-applied" ? {} : { usage })
})
