/**
 * A `Summary` is what a model's reply to the request for one comes to. One that is not there, says nothing, or is no
 * shorter than what it is of, is none: the run goes on without it.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as Usage from "../kernel/Usage.ts"
import type * as WindowEvent from "../kernel/WindowEvent.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as LLM from "../services/LLM.ts"

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

const failed = (iteration: number, { reason, ...error }: Failure, usage?: Usage.Usage): WindowEvent.SummaryFailed => ({
  _tag: "SummaryFailed",
  iteration,
  reason,
  problem: Problem.of(error),
  ...(usage === undefined ? {} : { usage })
})

/** The event of what came. `partial` is what was reported of a reply that failed. */
export const settled = (
  { iteration, messages }: Wire.Wire,
  reply: Either.Either<LLM.Reply, Failure>,
  durationMs: number,
  partial: Usage.Usage | undefined
): WindowEvent.SummaryReplied | WindowEvent.SummaryFailed => {
  if (Either.isLeft(reply)) return failed(iteration, reply.left, partial)
  const usage = Object.keys(reply.right.usage).length === 0 ? undefined : reply.right.usage
  const content = Printable.clip(reply.right.content.trim(), longest)
  const most = messages.reduce((sum, { message }) => sum + message.content.length, 0)
  if (content === "") {
    return failed(iteration, unusable("Empty", "WF-WIN-001", "The model gave no summary."), usage)
  }
  if (content.length >= most) {
    const what = "The summary is not shorter than what it is of."
    return failed(iteration, unusable("NotShorter", "WF-WIN-002", what), usage)
  }
  return {
    _tag: "SummaryReplied",
    iteration,
    content,
    ...(usage === undefined ? {} : { usage }),
    durationMs
  }
}
