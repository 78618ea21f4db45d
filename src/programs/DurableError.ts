/**
 * A `DurableError` says why a durable run could not be started, told something, or gone on with.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"

/**
 * `UnknownAgent`: no agent of that name is hosted here. `InvalidAgents`: those that were given cannot be hosted together.
 * `InvalidRunId`: the run cannot be called so. `OtherRun`: the id is that of another task.
 * `NotBegun`: nobody has begun with the run yet. `RunBroken`: nobody can go on with it. `EngineAway`: the engine could not be
 * asked, or its answer did not come.
 */
const Reason = Schema.Literal(
  "UnknownAgent",
  "InvalidAgents",
  "InvalidRunId",
  "OtherRun",
  "NotBegun",
  "RunBroken",
  "EngineAway"
)
type Reason = typeof Reason.Type

export class DurableError extends Schema.TaggedError<DurableError>()("DurableError", {
  reason: Reason,
  runId: Schema.optionalWith(Schema.String, { exact: true }),
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
  get isRetryable(): boolean {
    return this.reason === "NotBegun" || this.reason === "EngineAway"
  }
}

const codes: { readonly [R in Reason]: string } = {
  UnknownAgent: "WF-DUR-001",
  InvalidAgents: "WF-DUR-002",
  InvalidRunId: "WF-DUR-003",
  OtherRun: "WF-DUR-004",
  NotBegun: "WF-DUR-005",
  RunBroken: "WF-DUR-006",
  EngineAway: "WF-DUR-007"
}

type Details = Pick<Problem.Problem, "what" | "next"> &
  Partial<Pick<Problem.Problem, "where" | "expected" | "found" | "retry" | "outcome">> & { readonly runId?: string }

const make = (reason: Reason, details: Details): DurableError =>
  new DurableError({ reason, code: codes[reason], outcome: "not-applied", retry: "never", ...details })

const at = (runId: string) => ({ runId, where: `run ${Printable.quote(runId)}` })

export const unknownAgent = (name: string, known: ReadonlyArray<string>): DurableError =>
  make("UnknownAgent", {
    what: `No agent is named ${Printable.quote(name, 64)} here.`,
    expected: `one of ${known
      .slice(0, 20)
      .map((one) => Printable.quote(one))
      .join(", ")}`,
    next: "Correct the name, or host the agent: Durable.layer({ agents })."
  })

export const invalidAgents = (problems: ReadonlyArray<string>): DurableError =>
  make("InvalidAgents", {
    what: problems.slice(0, 20).join(" "),
    where: "agents",
    next: "Correct the definitions; each agent needs a name of its own."
  })

export const invalidRunId = (runId: unknown): DurableError =>
  make("InvalidRunId", {
    what: "This is no run id.",
    where: "runId",
    expected: "1 to 64 of a-z, 0-9, _ and -, the first a letter or a digit",
    found: `${Problem.kindOf(runId)} that does not fit`,
    next: "Use another run id."
  })

export const otherRun = (runId: string): DurableError =>
  make("OtherRun", {
    ...at(runId),
    what: `The run ${Printable.quote(runId)} has another agent or another input.`,
    next: "Use another id, or await that run."
  })

export const notBegun = (runId: string): DurableError =>
  make("NotBegun", {
    ...at(runId),
    what: `Nobody has begun with the run ${Printable.quote(runId)}.`,
    next: "See whether it was started, and whether a runner that hosts its agent is up; then ask again.",
    retry: { afterMs: 1_000 }
  })

/** Trying again cannot help: what stopped it says why. */
export const broken = (runId: string, why: Problem.Problem): DurableError =>
  make("RunBroken", {
    ...at(runId),
    what: `Nobody can go on with the run ${Printable.quote(runId)}: ${why.what}`,
    next: why.next,
    outcome: why.outcome,
    retry: "after-human"
  })

/** What was asked of the engine may have been done. Asked again, it is done once. */
export const engineAway = (runId: string): DurableError =>
  make("EngineAway", {
    ...at(runId),
    what: `The engine could not be asked for the run ${Printable.quote(runId)}: its database did not answer.`,
    next: "See that the database is up, then ask again: what was asked for is done once.",
    outcome: "unknown",
    retry: { afterMs: 1_000 }
  })
