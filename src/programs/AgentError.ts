/**
 * An `AgentError` is what can go wrong with a run as a whole.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as CheckLedger from "../kernel/CheckLedger.ts"
import * as Fault from "../kernel/Fault.ts"
import * as GroundingEvent from "../kernel/GroundingEvent.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as Refusal from "../kernel/Refusal.ts"
import type * as State from "../kernel/State.ts"
import type * as LLM from "../services/LLM.ts"
import * as Record from "../services/Record.ts"
import type * as FencedOut from "./FencedOut.ts"

/** The definition or the input of a run is not one that can be run. Nothing was recorded. */
export class InvalidAgent extends Schema.TaggedError<InvalidAgent>()("InvalidAgent", {
  /** Everything that is wrong with it. */
  problems: Schema.Array(Schema.String),
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** A run that has not ended cannot be followed up. */
export class RunOpen extends Schema.TaggedError<RunOpen>()("RunOpen", {
  runId: Schema.String,
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** There is a run with that id already. Nothing was recorded. */
export class RunExists extends Schema.TaggedError<RunExists>()("RunExists", {
  runId: Schema.String,
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** A run in `dev` whose checks cannot be relied on. It has ended, and its record is whole. */
export class ChecksBlind extends Schema.TaggedError<ChecksBlind>()("ChecksBlind", {
  runId: Schema.String,
  blind: Schema.Array(
    Schema.Struct({ check: Fault.Kind, seam: Fault.Seam, reason: Schema.Literal("missed-canary", "filed-nothing") })
  ),
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** An answer on rails had values without a source, and was withheld. The run has ended, and its record is whole. */
export class AnswerUngrounded extends Schema.TaggedError<AnswerUngrounded>()("AnswerUngrounded", {
  runId: Schema.String,
  unsupported: Schema.Array(GroundingEvent.Unsupported),
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** No answer fitted the schema that the agent has for answers. The run has ended, and its record is whole. */
export class AnswerInvalid extends Schema.TaggedError<AnswerInvalid>()("AnswerInvalid", {
  runId: Schema.String,
  issues: Schema.Array(Schema.String),
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** Everything that can go wrong with a run. What goes wrong with a tool's call is a settlement, not an error. */
export type AgentError =
  | LLM.LLMError
  | Record.RecordError
  | Record.RecordConflict
  | FencedOut.FencedOut
  | InvalidAgent
  | RunOpen
  | RunExists
  | ChecksBlind
  | AnswerUngrounded
  | AnswerInvalid

export const invalid = (name: string, problems: ReadonlyArray<string>): InvalidAgent =>
  new InvalidAgent({
    problems,
    code: "WF-RUN-010",
    what: problems.slice(0, 20).join(" "),
    where: `agent ${Printable.quote(name)}`,
    next: "Correct the definition, the layers or the input, and run it again.",
    outcome: "not-applied",
    retry: "never"
  })

const exists = (runId: string): RunExists =>
  new RunExists({
    runId,
    code: "WF-RUN-012",
    what: `There is a run ${Printable.quote(runId)} already.`,
    next: "Resume it if it is open, follow it up if it has ended, or use another id.",
    outcome: "not-applied",
    retry: "never"
  })

export const open = (runId: string): RunOpen =>
  new RunOpen({
    runId,
    code: "WF-RUN-011",
    what: `The run ${Printable.quote(runId)} has not ended.`,
    next: "Resume it first; follow it up when it has ended.",
    outcome: "not-applied",
    retry: "never"
  })

const blindness = (runId: string, blind: ReadonlyArray<CheckLedger.Blind>): ChecksBlind =>
  new ChecksBlind({
    runId,
    blind,
    code: "WF-RUN-014",
    what: `Checks cannot be relied on: ${blind.map(({ check, reason, seam }) => `${check} at ${seam} (${reason})`).join(", ")}.`,
    where: `run ${Printable.quote(runId)}`,
    next: "Mend the checks that are named; the record of the run is whole.",
    outcome: "applied",
    retry: "never"
  })

/** A conflict at the first entry is no other writer: the run is there already. */
export const orExists = <A, E, R>(runId: string, started: Effect.Effect<A, E | Record.RecordConflict, R>) =>
  Effect.catchIf(
    started,
    (error): error is Record.RecordConflict => error instanceof Record.RecordConflict && error.expectedSeq === 0,
    () => exists(runId)
  )

/** A run that has ended, unless its answer was withheld, or it was in `dev` and a check was blind. One that failed has failed of something else. */
export const relied = (
  runId: string,
  { answering, checks, ended, grounding }: State.State
): Effect.Effect<void, ChecksBlind | AnswerUngrounded | AnswerInvalid> => {
  const reason = ended?.reason
  if (reason?.tag === "AnswerInvalid") {
    const { issues = [] } = answering ?? {}
    return new AnswerInvalid({ runId, issues, ...Problem.of(reason), where: `run ${Printable.quote(runId)}` })
  }
  if (reason?.tag === "AnswerUngrounded") {
    const { unsupported = [] } = grounding ?? {}
    return new AnswerUngrounded({ runId, unsupported, ...Problem.of(reason), where: `run ${Printable.quote(runId)}` })
  }
  const found = checks?.filed === undefined || ended?.status === "failed" ? [] : CheckLedger.blind(checks.filed)
  return found.length === 0 ? Effect.void : blindness(runId, found)
}

/** The answer of the record does not fit the schema that the agent has for answers today. */
export const unreadable = (runId: string, issues: ReadonlyArray<string>): AnswerInvalid =>
  new AnswerInvalid({
    runId,
    issues,
    ...Problem.of(Refusal.answerInvalid(issues, 1)),
    what: `The answer on the record does not fit the agent's schema: ${issues.slice(0, 8).join(", ")}.`,
    where: `run ${Printable.quote(runId)}`,
    next: "Read the run with the agent that it was made with, or mend the schema."
  })
