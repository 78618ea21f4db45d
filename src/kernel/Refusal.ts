/**
 * A `Refusal` is why something was not done, or not done well, as a value: a stable tag, the law that it protects, and
 * the next legal action. The same value is shown to the model, kept in the record and handed to the developer.
 *
 * Sentences that name the state of the world are in the past tense, since the model reads them again later.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Printable from "./Printable.ts"
import * as Problem from "./Problem.ts"

export const Tag = Schema.Literal(
  "UnknownTool",
  "DuplicateCallId",
  "ArgumentsMalformed",
  "ToolArgsInvalid",
  "ReplyTruncated",
  "BudgetExceeded",
  "UsageUnknown",
  "CostUnknown",
  "NoProgress",
  "ChildRefused",
  "ToolFailed",
  "ToolDied",
  "ToolTimedOut",
  "ToolOutcomeUnknown",
  "ToolOutputInvalid",
  "ToolOutputTooLarge",
  "Interrupted",
  "TraceEnded",
  "ModelFailed",
  "AnswerUngrounded",
  "AnswerInvalid",
  "AnswerNotAlone",
  "ArtifactMissing",
  "ArtifactUnavailable",
  "WantUnmet",
  "SkillHidden",
  "SkillUnreachable",
  "PostureHeld",
  "StaleOffer",
  "StepNotSkipped",
  "MapNotEngaged",
  "MapNotReleased",
  "NotDriven",
  "ApprovalDeclined",
  "PolicyDenied"
)
export type Tag = typeof Tag.Type

const Amount = Schema.Union(Schema.JsonNumber, Schema.String)

/**
 * Which limit of a run was met, what of it was spent, and what more was asked for, as far as that is known. Money is a decimal
 * as text, wall time in milliseconds.
 */
export const Limit = Schema.Struct({
  kind: Schema.Literal("passes", "toolCalls", "tokens", "money", "wallTimeMs", "bytes"),
  limit: Amount,
  spent: Amount,
  next: Schema.optionalWith(Amount, { exact: true })
})
export type Limit = typeof Limit.Type

/** `budget` is there where a limit was met. */
export const Refusal = Schema.Struct({
  tag: Tag,
  law: Schema.String,
  ...Problem.fields,
  budget: Schema.optionalWith(Limit, { exact: true })
})
export type Refusal = typeof Refusal.Type

/** How many known names or issues a refusal lists before it counts the rest. */
const listed = 20

const list = (items: ReadonlyArray<string>): string =>
  items.length <= listed ? items.join(", ") : `${items.slice(0, listed).join(", ")} and ${items.length - listed} more`

const name = (tool: string): string => Printable.quote(tool)

/** What the model reads in place of a result: one JSON object, every foreign name quoted inside it. */
export const served = (refusal: Refusal, outcome: string): string =>
  JSON.stringify({
    outcome,
    reason: refusal.tag,
    what: refusal.what,
    ...(refusal.expected === undefined ? {} : { expected: refusal.expected }),
    ...(refusal.found === undefined ? {} : { found: refusal.found }),
    next: refusal.next
  })

export const unknownTool = (tool: string, known: ReadonlyArray<string>): Refusal => ({
  tag: "UnknownTool",
  law: "Only a tool that is on the wire can be called.",
  code: "WF-TOOL-001",
  what: `There was no tool named ${name(tool)} when this call was made.`,
  next: known.length === 0 ? "No tool was available: answer without one." : `The tools then were: ${list(known)}.`,
  outcome: "not-applied",
  retry: "never"
})

export const duplicateCallId = (toolCallId: string): Refusal => ({
  tag: "DuplicateCallId",
  law: "A call has exactly one settlement.",
  code: "WF-TOOL-002",
  what: `The reply used the call id ${name(toolCallId)} twice; this second call with it was not run.`,
  next: "Call again with an id of its own if the second call was meant.",
  outcome: "not-applied",
  retry: "never"
})

/** The arguments were not one JSON object. `problem` says where and why. */
export const argumentsMalformed = (tool: string, problem: Problem.Problem): Refusal => ({
  tag: "ArgumentsMalformed",
  law: "Nothing a model wrote is trusted as structure.",
  ...Problem.of(problem),
  code: "WF-TOOL-003",
  what: `The arguments of ${name(tool)} could not be read: ${problem.what}`,
  next: "Call the tool again with one JSON object that matches its schema.",
  outcome: "not-applied",
  retry: "never"
})

/** The arguments were JSON and did not fit the tool's schema. `issues` are paths with what was expected there. */
export const toolArgsInvalid = (tool: string, issues: ReadonlyArray<string>): Refusal => ({
  tag: "ToolArgsInvalid",
  law: "A handler only ever sees arguments that its schema accepts.",
  code: "WF-TOOL-004",
  what: `The arguments of ${name(tool)} did not fit its schema: ${list(issues)}.`,
  next: "Call the tool again with arguments that fit.",
  outcome: "not-applied",
  retry: "never"
})

/** `limit` is the `maxOutputTokens` that the model was sent, if it was sent one. */
export const replyTruncated = (tool: string, limit: number | undefined, atLimit = true): Refusal => ({
  tag: "ReplyTruncated",
  law: "Arguments count only when they are complete.",
  code: "WF-TOOL-005",
  what: `The reply ${atLimit ? "reached its token limit" : "ended"} inside the arguments of ${name(tool)}; the call was not run.`,
  ...(limit === undefined
    ? {}
    : { expected: `a reply of at most ${limit} ${word("tokens", limit)} (maxOutputTokens)` }),
  next: atLimit ? "Split the work into smaller calls, or raise maxOutputTokens." : "Make the call again.",
  outcome: "not-applied",
  retry: "never"
})

/** How a limit was met. `next` is what more was asked for, `kept` what is kept for a closing answer; `unit` is a currency. */
export interface Met {
  readonly next?: number | string
  readonly kept?: number | string
  readonly unit?: string
}

/** A limit of the run. `spent` is what the run had used when it asked for more. */
export const budgetExceeded = (
  kind: Limit["kind"],
  limit: number | string,
  spent: number | string,
  { kept, next, unit }: Met = {}
): Refusal => {
  const of = `${limit} ${unit ?? word(kind, Number(limit))}`
  const held = kept === undefined ? "" : `, ${kept} kept for the closing answer`
  const found = next === undefined ? `${spent} spent${held}` : `${spent} spent${held}, ${next} more needed`
  return {
    tag: "BudgetExceeded",
    law: "A budget is enforced before it is spent.",
    code: "WF-RUN-001",
    what:
      next === undefined
        ? `The run's budget of ${of} was used up (${found}).`
        : `The run's budget of ${of} had no room for what was next (${found}).`,
    expected: `at most ${of}`,
    found,
    next: `Raise budget.${kind === "wallTimeMs" ? "wallTime" : kind} of the agent and follow the run up, or work with what it learned.`,
    outcome: "not-applied",
    retry: "after-human",
    budget: { kind, limit, spent, ...(next === undefined ? {} : { next }) }
  }
}

const words = {
  passes: ["pass", "passes"],
  toolCalls: ["tool call", "tool calls"],
  tokens: ["token", "tokens"],
  money: ["of money", "of money"],
  wallTimeMs: ["ms of wall time", "ms of wall time"],
  bytes: ["byte", "bytes"]
} as const

const word = (kind: Limit["kind"], count: number): string => words[kind][count === 1 ? 0 : 1]

export const usageUnknown: Refusal = {
  tag: "UsageUnknown",
  law: "A budget that cannot be kept is not pretended to be.",
  code: "WF-RUN-002",
  what: "The model reported no token usage, so the run's token budget could not be kept.",
  next: "Use a provider that reports usage, or limit passes or wall time in place of tokens.",
  outcome: "not-applied",
  retry: "after-human"
}

/** The handler failed with an error of its own; `shown` is that error as its schema encodes it. */
export const toolFailed = (tool: string, shown: string): Refusal => ({
  tag: "ToolFailed",
  law: "A call cannot fail the run.",
  code: "WF-TOOL-006",
  what: `${name(tool)} failed: ${Printable.quote(shown, 1_000)}`,
  next: "Use what it says, try other arguments, or go on without it.",
  outcome: "unknown",
  retry: "never"
})

export const toolDied = (tool: string): Refusal => ({
  tag: "ToolDied",
  law: "A call cannot fail the run.",
  code: "WF-TOOL-007",
  what: `${name(tool)} stopped with an unexpected error and may have acted before it did.`,
  next: "Go on without it. The details are in the application's log.",
  outcome: "unknown",
  retry: "never"
})

/** A tool that may safely be called again took too long. */
export const toolTimedOut = (tool: string, afterMs: number): Refusal => ({
  tag: "ToolTimedOut",
  law: "A call ends.",
  code: "WF-TOOL-008",
  what: `${name(tool)} gave no result within ${afterMs} ms and was stopped.`,
  next: "It may be called again: it changes nothing, or nothing twice.",
  outcome: "unknown",
  retry: "safe-with-same-key"
})

/** A call as the other side knows it: by its key, and when it was sent, in words. */
export interface Sent {
  readonly toolCallId: string
  readonly key: string
  readonly sentAt?: string
}

/** A tool that may have acted was lost: it took too long, or the process died while it ran. */
export const toolOutcomeUnknown = (tool: string, { key, sentAt, toolCallId }: Sent, how: string): Refusal => ({
  tag: "ToolOutcomeUnknown",
  law: "A side effect is never repeated by guess.",
  code: "WF-TOOL-009",
  what: `${name(tool)} ${how}; it may have acted.`,
  where: [
    `call ${Printable.quote(toolCallId)}`,
    `key ${Printable.clip(Printable.line(key), 512)}`,
    ...(sentAt === undefined ? [] : [`sent ${sentAt}`])
  ].join(", "),
  next: "Find out whether it acted before it is called again.",
  outcome: "unknown",
  retry: "after-human"
})

export const toolOutputInvalid = (tool: string, issues: ReadonlyArray<string>): Refusal => ({
  tag: "ToolOutputInvalid",
  law: "A result is what its schema says, or it is not a result.",
  code: "WF-TOOL-010",
  what: `${name(tool)} ran, and its result was withheld because it did not fit its schema: ${list(issues)}.`,
  next: "The tool may have acted. Go on without its result.",
  outcome: "applied",
  retry: "never"
})

export const toolOutputTooLarge = (tool: string, limit: number, got: number): Refusal => ({
  tag: "ToolOutputTooLarge",
  law: "A wire stays small enough to be read.",
  code: "WF-TOOL-011",
  what: `${name(tool)} ran, and its result of ${got} characters was withheld; the limit is ${limit}.`,
  expected: `at most ${limit} characters`,
  found: `${got}`,
  next: "Call it with arguments that ask for less.",
  outcome: "applied",
  retry: "never"
})

export const interrupted: Refusal = {
  tag: "Interrupted",
  law: "Whatever ends a run, its calls are settled and its end is recorded.",
  code: "WF-RUN-003",
  what: "The run was interrupted.",
  next: "Follow the run up to go on from what it learned.",
  outcome: "not-applied",
  retry: "after-human"
}

/** The call was open when the run was stopped. `started`: it was running and may have acted. */
export const aborted = (tool: string, started: boolean): Refusal => ({
  ...interrupted,
  code: "WF-TOOL-012",
  what: started
    ? `${name(tool)} was stopped while it ran, and may have acted.`
    : `${name(tool)} had not started when the run was stopped.`,
  next: started ? "Find out whether it acted before it is called again." : "It can be called again.",
  outcome: started ? "unknown" : "not-applied"
})

export const traceEnded: Refusal = {
  tag: "TraceEnded",
  law: "What a trace cannot tell is a gap, not a guess.",
  code: "WF-RUN-004",
  what: "The imported trace ends without an answer.",
  next: "Ask why of a pass instead of the answer.",
  outcome: "unknown",
  retry: "never"
}

/** The imported trace ends before it says what became of a call. */
export const untold = (tool: string, toolCallId: string): Refusal => ({
  ...traceEnded,
  code: "WF-TOOL-013",
  what: `The imported trace does not say what became of ${name(tool)}.`,
  where: `call ${Printable.quote(toolCallId)}`,
  next: "Nothing can be said of its result."
})

/** The run ended because the model gave no usable reply. */
export const modelFailed = (problem: Problem.Problem): Refusal => ({
  tag: "ModelFailed",
  law: "Whatever ends a run, its calls are settled and its end is recorded.",
  ...Problem.of(problem)
})

/** The answer was withheld. `values` are those without a source that are told, of `count`. */
export const answerUngrounded = (values: ReadonlyArray<string>, count: number, isUnread: boolean): Refusal => ({
  tag: "AnswerUngrounded",
  law: "An answer on rails has a source for its names and numbers.",
  code: "WF-RUN-013",
  what: `The answer was withheld: ${[
    ...(count > 0 || !isUnread ? [`${count} of its values had no source`] : []),
    ...(isUnread ? ["it is too long to be judged to its end"] : [])
  ].join(", and ")}.`,
  found: values.map((value) => Printable.quote(value)).join(", "),
  next:
    count > 0 || !isUnread
      ? "Give the agent a tool that returns these values, exempt them, or ask for less."
      : "Ask for a shorter answer.",
  outcome: "not-applied",
  retry: "after-human"
})

/** What was given as the answer never fitted its schema. */
export const answerInvalid = (issues: ReadonlyArray<string>, count: number): Refusal => ({
  tag: "AnswerInvalid",
  law: "An answer is what its schema says, or it is no answer.",
  code: "WF-RUN-015",
  what: `No answer fitted its schema: ${count} were given, the last with these mistakes: ${list(issues.map((issue) => Printable.clip(Printable.line(issue), 160)).slice(0, 8))}.`,
  next: "Say in the instructions what the answer must hold, or loosen its schema; the record of the run is whole.",
  outcome: "not-applied",
  retry: "after-human"
})

/** The answer was given together with calls whose results it cannot have known. */
export const answerNotAlone = (tool: string): Refusal => ({
  tag: "AnswerNotAlone",
  law: "An answer follows the results that it rests on.",
  code: "WF-TOOL-014",
  what: `${name(tool)} was called together with other tools, before their results were known, and was not taken.`,
  next: "Call it again, alone, once the results are there.",
  outcome: "not-applied",
  retry: "never"
})
