/**
 * A `Summary` is what a model's reply to the request for one comes to. One that is not there, says nothing, or is no
 * shorter than what it is of, is none: the run goes on without it.
 *
 * @internal
 */
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as Usage from "../kernel/Usage.ts"
import type * as WindowEvent from "../kernel/WindowEvent.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as LLM from "../services/LLM.ts"
import * as Reply from "./Reply.ts"

/** A summary has at most so many characters; what is cut is counted in it. */
const longest = 16_000

interface Failure extends Problem.Problem {
  readonly reason: string
}

const unusable = (reason: string, code: string, what: string): Failure => ({
  reason,
  code,
  what,
  next: "Raise summaryTokens, or change the instructions of the window.",
  outcome: "not-applied",
  retry: "never"
})

/** What was not applied took nothing. */
export const failed = (
  iteration: number,
  { reason, ...error }: Failure,
  usage: Usage.Usage | undefined
): WindowEvent.SummaryFailed => ({
  _tag: "SummaryFailed",
  iteration,
  reason,
  problem: Problem.of(error),
  ...(usage === undefined || error.outcome === "not-applied" ? {} : { usage })
})

/** The event of a reply. One that cannot be used took what it took. */
export const replied = (
  { iteration, messages }: Wire.Wire,
  reply: LLM.Reply,
  durationMs: number
): WindowEvent.SummaryReplied | WindowEvent.SummaryFailed => {
  const usage = Object.keys(reply.usage).length === 0 ? {} : { usage: reply.usage }
  const content = Printable.clip(reply.content.trim(), longest)
  const most = messages.reduce((sum, { message }) => sum + message.content.length, 0)
  if (content === "") {
    return { ...failed(iteration, unusable("Empty", "WF-WIN-001", "The model gave no summary."), undefined), ...usage }
  }
  if (content.length >= most) {
    const what = "The summary is not shorter than what it is of."
    return { ...failed(iteration, unusable("NotShorter", "WF-WIN-002", what), undefined), ...usage }
  }
  return {
    _tag: "SummaryReplied",
    iteration,
    content,
    ...(reply.by === undefined ? {} : { by: Reply.asked(reply.by) }),
    ...usage,
    durationMs
  }
}
