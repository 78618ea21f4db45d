/**
 * An `Event` is one thing that happened in a run, or was decided in it. Events are for ever: a later version of this
 * library adds cases and optional fields, and changes none.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as AnswerEvent from "./AnswerEvent.ts"
import * as Artifact from "./Artifact.ts"
import * as ArtifactEvent from "./ArtifactEvent.ts"
import * as BudgetEvent from "./BudgetEvent.ts"
import * as DriveEvent from "./DriveEvent.ts"
import * as CallOutcome from "./CallOutcome.ts"
import * as ChildEvent from "./ChildEvent.ts"
import * as CheckEvent from "./CheckEvent.ts"
import * as ClaimCheck from "./ClaimCheck.ts"
import * as ClaimEvent from "./ClaimEvent.ts"
import * as CoverageEvent from "./CoverageEvent.ts"
import * as FindingEvent from "./FindingEvent.ts"
import * as GroundingEvent from "./GroundingEvent.ts"
import * as Lease from "./Lease.ts"
import * as Limit from "./Limits.ts"
import * as Listing from "./Listing.ts"
import * as Message from "./Message.ts"
import * as Problem from "./Problem.ts"
import * as Refusal from "./Refusal.ts"
import * as Seal from "./Seal.ts"
import * as SkillEvent from "./SkillEvent.ts"
import * as Usage from "./Usage.ts"
import * as WaitEvent from "./WaitEvent.ts"
import * as WindowEvent from "./WindowEvent.ts"

/** The version of the record's format. A reader refuses what is newer. */
export const format = 1

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const iteration = Schema.Positive.pipe(Schema.int())
const milliseconds = Schema.NonNegative.pipe(Schema.finite())
const call = { iteration, toolCallId: Schema.NonEmptyString, toolName: Schema.String }

/** Whether a call may be run again when nobody knows what became of it. */
export const ReplayClass = Schema.Literal("pure", "idempotent", "reconcile", "never")
export type ReplayClass = typeof ReplayClass.Type

/** Who wrote a text that the model reads. */
export const Origin = Schema.Literal("person", "app", "model", "tool", "runtime")
export type Origin = typeof Origin.Type

/** Whether a text is the person's or the application's: what it says needs no other source. */
export const isAuthor = (origin: Origin): boolean => origin === "person" || origin === "app"

/** Limits of a run. Absent means unlimited; wall time is in milliseconds. */
export const Limits = Limit.Limits
export type Limits = Limit.Limits

/** What a foreign trace does not tell, so that a chain through it ends in a gap. */
export const Untold = Schema.Literal("tool-schemas", "model", "parameters", "usage", "times", "outcomes", "attachments")
export type Untold = typeof Untold.Type

/** The skills of an agent: the maps as the lease sees them, and those in no map. Without a grace no map is ever parked. */
export const Skills = Schema.Struct({
  maps: Schema.Array(Lease.MountedMap),
  renewalGrace: optional(Schema.Positive.pipe(Schema.int())),
  open: Schema.Array(Schema.NonEmptyString)
})
export type Skills = typeof Skills.Type

/** What the answer is asked to say of the findings. */
export const Ask = Schema.Literal("none", "quote-facts")
export type Ask = typeof Ask.Type

/** Which judged results are sent as tickets. `judged`: noise and what is ruled out. `ledger-only`: facts too. */
export const CollapseMode = Schema.Literal("off", "judged", "ledger-only")
export type CollapseMode = typeof CollapseMode.Type

/** Findings are on in the run. */
export const Findings = Schema.Struct({ ask: Ask, collapse: CollapseMode })
export type Findings = typeof Findings.Type

/** What tools declare of where they looked is told after the answer. */
export const Coverage = Schema.Struct({ inAnswer: Schema.Literal(true) })
export type Coverage = typeof Coverage.Type

/**
 * The answer has a schema. `corrections`: so often one that does not fit is sent back. `inside`: the property that holds it,
 * where it is no object itself.
 */
export const Answer = Schema.Struct({ corrections: Schema.NonNegativeInt, inside: optional(Schema.NonEmptyString) })
export type Answer = typeof Answer.Type

/**
 * What a run has to do with artifacts. `scope`: whose they are, if they are not its own alone, of the conversation that is
 * its id. `present`: the model can show them to the person. `placement`: a result of more characters than that is stored,
 * and its ticket sent in its place.
 */
export const Artifacts = Schema.Struct({
  scope: optional(Artifact.Scope),
  present: optional(Schema.Literal(true)),
  placement: optional(Schema.Struct({ maxInlineChars: Schema.Positive.pipe(Schema.int()) }))
})
export type Artifacts = typeof Artifacts.Type

/** What a run was started with. `importedFrom` names the foreign format that it was read from. */
export const Manifest = Schema.Struct({
  limits: Limits,
  skills: optional(Skills),
  findings: optional(Findings),
  coverage: optional(Coverage),
  answer: optional(Answer),
  window: optional(WindowEvent.Strategy),
  checks: optional(
    Schema.Struct({ posture: CheckEvent.Posture, claims: optional(Schema.NonEmptyArray(ClaimCheck.DeclaredClaim)) })
  ),
  artifacts: optional(Artifacts),
  /** A run goes on from a call whose outcome nobody knows. Without it, a person is waited for. */
  unknown: optional(Schema.Literal("tell")),
  importedFrom: optional(Schema.String),
  untold: optional(Schema.Array(Untold))
})
export type Manifest = typeof Manifest.Type

/**
 * An empty `input` was not said: in an imported conversation the model may speak first. `cursors` and
 * `steps` are the places in skill maps that a follow-up takes over; `tags` are the application's words for this run, which can match entries of a map.
 */
export const RunStarted = Schema.TaggedStruct("RunStarted", {
  runId: Schema.NonEmptyString,
  agent: Schema.String,
  manifest: Manifest,
  input: Schema.String,
  followUpOf: optional(Schema.NonEmptyString),
  parent: optional(ChildEvent.Parent),
  cursors: optional(Schema.Record({ key: Schema.String, value: Schema.NonEmptyString })),
  steps: optional(
    Schema.Record({
      key: Schema.String,
      value: Schema.Struct({ skillId: Schema.NonEmptyString, step: Schema.NonNegativeInt })
    })
  ),
  tags: optional(Schema.Array(Schema.String))
})
export type RunStarted = typeof RunStarted.Type

/** A message of the run that this one follows up. `from` is where it was first recorded, `origin` who wrote it, if that does not follow from its role. */
export const MessageCarried = Schema.TaggedStruct("MessageCarried", {
  from: Schema.Struct({ runId: Schema.NonEmptyString, seq: Schema.NonNegativeInt }),
  message: Message.Message,
  origin: optional(Origin)
})
export type MessageCarried = typeof MessageCarried.Type

/** The person said something more while the run was open, as in an imported conversation. */
export const MessageReceived = Schema.TaggedStruct("MessageReceived", { content: Schema.String })
export type MessageReceived = typeof MessageReceived.Type

/** A text that a wire can hold, once, before the first wire that holds it. `owner` is the skill whose instructions it is. */
export const PieceDeclared = Schema.TaggedStruct("PieceDeclared", {
  hash: Schema.NonEmptyString,
  id: Schema.NonEmptyString,
  slot: Schema.Literal("system"),
  origin: Origin,
  owner: optional(CallOutcome.Owner),
  text: Schema.String
})
export type PieceDeclared = typeof PieceDeclared.Type

/** A tool definition that a wire can hold, once. `schema` is JSON Schema; `owners` are the skills that contribute it. */
export const ToolDeclared = Schema.TaggedStruct("ToolDeclared", {
  hash: Schema.NonEmptyString,
  name: Schema.NonEmptyString,
  description: optional(Schema.String),
  schema: Schema.Unknown,
  owners: optional(Schema.Array(CallOutcome.Owner)),
  annotations: Schema.Struct({
    replay: ReplayClass,
    by: optional(Schema.Literal("runtime")),
    /** Tools whose results its arguments are taken from. */
    argumentsFrom: optional(Schema.Array(Schema.NonEmptyString)),
    /** Fields of its results that list ids, and what reads one. */
    lists: optional(Schema.Array(Listing.Listed)),
    /** Its calls are expected to come to the same again. */
    repeats: optional(Schema.Literal(true))
  })
})
export type ToolDeclared = typeof ToolDeclared.Type

/**
 * Which pieces and tools ride from this pass on, by id and name, in order. Written when the selection changes. A piece
 * rides with the text that was declared last under its id, or with the one that `texts` names by its hash. `skipped` are
 * pieces that would ride if their map were not parked.
 */
export const PiecesSelected = Schema.TaggedStruct("PiecesSelected", {
  iteration,
  activeIds: Schema.Array(Schema.NonEmptyString),
  toolNames: Schema.Array(Schema.NonEmptyString),
  texts: optional(Schema.Array(Schema.Struct({ id: Schema.NonEmptyString, hash: Schema.NonEmptyString }))),
  skipped: optional(Schema.Array(Schema.Struct({ id: Schema.NonEmptyString, reason: Schema.Literal("parked") })))
})
export type PiecesSelected = typeof PiecesSelected.Type

/** Sampling parameters of a model call; what is absent was left to the provider. */
export const Parameters = Schema.Struct({
  temperature: optional(Schema.JsonNumber),
  topP: optional(Schema.JsonNumber),
  maxOutputTokens: optional(Schema.NonNegativeInt),
  seed: optional(Schema.Int),
  stopSequences: optional(Schema.Array(Schema.String)),
  /** JSON Schema that the reply was asked to be JSON of, by the provider's own means. */
  answerSchema: optional(Schema.Unknown)
})
export type Parameters = typeof Parameters.Type

/**
 * The model is asked. All but the hash and the number of messages is written when it differs from the pass before; what
 * no pass has written is unknown.
 */
export const ModelCalled = Schema.TaggedStruct("ModelCalled", {
  iteration,
  wireHash: Schema.NonEmptyString,
  provider: optional(Schema.String),
  model: optional(Schema.String),
  parameters: optional(Parameters),
  systemChars: optional(Schema.NonNegativeInt),
  messagesCount: Schema.NonNegativeInt,
  toolsCount: optional(Schema.NonNegativeInt),
  /** Identifies the cursors and the parked maps on which picks are offered. */
  offerVersion: optional(Schema.NonEmptyString)
})
export type ModelCalled = typeof ModelCalled.Type

/** Why a model stopped writing. */
export const StopReason = Schema.Literal("stop", "length", "tool-calls", "content-filter", "error", "other")
export type StopReason = typeof StopReason.Type

/** A model, and who has it. */
const Asked = Schema.Struct({ provider: Schema.String, model: Schema.String })

/**
 * An attempt of a call failed, and the call was made again after `delayMs`: of `next`, if that is another model. `attempt`
 * counts from 1 in its call; `partialChars` counts the text that arrived and was let go. `of` is absent for the reply of a pass.
 */
export const ModelRetried = Schema.TaggedStruct("ModelRetried", {
  iteration,
  attempt: Schema.Positive.pipe(Schema.int()),
  of: optional(Schema.Literal("summary")),
  reason: Schema.String,
  problem: Problem.Problem,
  delayMs: milliseconds,
  next: optional(Asked),
  partialChars: optional(Schema.NonNegativeInt),
  usage: optional(Usage.Usage)
})
export type ModelRetried = typeof ModelRetried.Type

/** `seal` is what the provider that wrote the reply wants back with it; `by` is who answered, if not who was asked first. */
export const ModelReplied = Schema.TaggedStruct("ModelReplied", {
  iteration,
  content: Schema.String,
  reasoning: optional(Schema.String),
  toolCalls: Schema.Array(Message.ToolCall),
  seal: optional(Seal.Seal),
  by: optional(Asked),
  usage: optional(Usage.Usage),
  stopReason: optional(StopReason),
  /** The tools in the body that was sent, read back from it. Absent if it could not be. */
  sentTools: optional(Schema.Union(Schema.Literal("as-assembled"), Schema.Array(Schema.String))),
  durationMs: optional(milliseconds)
})
export type ModelReplied = typeof ModelReplied.Type

/** The model gave no usable reply. `partialChars` counts the text that arrived before the failure. */
export const ModelFailed = Schema.TaggedStruct("ModelFailed", {
  iteration,
  reason: Schema.String,
  problem: Problem.Problem,
  partialChars: optional(Schema.NonNegativeInt),
  usage: optional(Usage.Usage)
})
export type ModelFailed = typeof ModelFailed.Type

/**
 * A call passed every gate and is about to run: the intent is on the record before the effect. `owner` is the skill whose
 * tool it is; without one it is the agent's.
 */
export const ToolCalled = Schema.TaggedStruct("ToolCalled", {
  ...call,
  args: Schema.Unknown,
  owner: optional(CallOutcome.Owner),
  replay: ReplayClass
})
export type ToolCalled = typeof ToolCalled.Type

/**
 * What a call came to, and the exact text that the model is served for it: the ticket of its result, if that was `placed`.
 * `fields` are the values that routes judge.
 */
export const ToolSettled = Schema.TaggedStruct("ToolSettled", {
  ...call,
  outcome: Message.Settlement,
  served: Schema.String,
  placed: optional(CallOutcome.PlacedToolResult),
  fields: optional(Schema.Array(CallOutcome.Field)),
  error: optional(Refusal.Refusal),
  durationMs: optional(milliseconds)
})
export type ToolSettled = typeof ToolSettled.Type

/**
 * `value` is the answer by the run's schema, encoded; `content` is then its JSON. `stoppedEarly` is why no more was done for
 * it, where it is the closing answer of a run that had come to a limit.
 */
export const Answered = Schema.TaggedStruct("Answered", {
  iteration,
  content: Schema.String,
  value: optional(Schema.Unknown),
  stoppedEarly: optional(Refusal.Refusal)
})
export type Answered = typeof Answered.Type

/** `answered`: there is an answer. `stopped`: a limit, an interruption or the end of a trace. `failed`: an error. */
export const Status = Schema.Literal("answered", "stopped", "failed")
export type Status = typeof Status.Type

/** The one terminal event. Usage and passes are those of the run so far, whatever ended it. */
export const RunEnded = Schema.TaggedStruct("RunEnded", {
  status: Status,
  reason: optional(Refusal.Refusal),
  usage: Usage.Usage,
  passes: Schema.NonNegativeInt,
  durationMs: optional(milliseconds)
})
export type RunEnded = typeof RunEnded.Type

export const Event = Schema.Union(
  RunStarted,
  MessageCarried,
  MessageReceived,
  PieceDeclared,
  ToolDeclared,
  PiecesSelected,
  ModelCalled,
  ModelReplied,
  ModelRetried,
  ModelFailed,
  ToolCalled,
  ToolSettled,
  Answered,
  RunEnded,
  ...SkillEvent.SkillEvent.members,
  ...FindingEvent.FindingEvent.members,
  ...CoverageEvent.CoverageEvent.members,
  ...ClaimEvent.ClaimEvent.members,
  GroundingEvent.GroundingJudged,
  ...CheckEvent.CheckEvent.members,
  AnswerEvent.AnswerRead,
  AnswerEvent.AnswerRejected,
  ...ArtifactEvent.ArtifactEvent.members,
  ...WindowEvent.WindowEvent.members,
  ...WaitEvent.WaitEvent.members,
  ...BudgetEvent.BudgetEvent.members,
  ...ChildEvent.ChildEvent.members,
  ...DriveEvent.DriveEvent.members
)
export type Event = typeof Event.Type

/** An event's place in the record: `at` is milliseconds since the epoch, `hash` chains it to all before it. */
export const Entry = Schema.Struct({
  runId: Schema.NonEmptyString,
  seq: Schema.NonNegativeInt,
  at: Schema.NonNegativeInt,
  event: Event,
  hash: Schema.NonEmptyString
})
export type Entry = typeof Entry.Type
