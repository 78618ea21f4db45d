/**
 * `Replaying` is a recorded run, gone through again by the code of now: nothing is called, and nothing is written.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as Reprojection from "../kernel/Reprojection.ts"
import * as Record from "../services/Record.ts"
import type * as Agent from "./Agent.ts"
import * as AgentAnswer from "./AgentAnswer.ts"
import * as AgentError from "./AgentError.ts"
import * as AgentSpec from "./AgentSpec.ts"
import * as LoadedRun from "./LoadedRun.ts"

/** `wires` counts the requests that are what they were, those for summaries included; `events` those of the record. */
export interface Replayed {
  readonly runId: string
  readonly events: number
  readonly wires: number
  readonly status: Event.Status | "open"
}

const Side = Schema.Struct({ id: Schema.String, hash: Schema.String, seq: Schema.NonNegativeInt })
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/**
 * A pass is not what it was: the first one that is not. `kind` is as in `Reprojection.PassDrift`; `recorded` and `now` are
 * the first piece that differs, as the record has it and as it would be now.
 */
export class Drift extends Schema.TaggedError<Drift>()("Drift", {
  runId: Schema.String,
  kind: Schema.Literal("changed", "composed", "went"),
  pass: Schema.Positive.pipe(Schema.int()),
  seq: Schema.NonNegativeInt,
  recordedHash: optional(Schema.String),
  projectedHash: optional(Schema.String),
  slot: optional(Schema.Literal("system", "messages", "tools", "parameters")),
  index: optional(Schema.NonNegativeInt),
  recorded: optional(Side),
  now: optional(Side),
  suspects: Schema.Array(Schema.String),
  instead: optional(
    Schema.Literal("CallModel", "Summarize", "RunTools", "ReadAnswer", "ReadClaims", "AwaitDecision", "Finish")
  ),
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

const named = (ids: ReadonlyArray<string>): string => {
  const shown = ids.slice(0, 5).map((id) => Printable.quote(id, 80))
  return ids.length > shown.length ? `${shown.join(", ")} and ${ids.length - shown.length} more` : shown.join(", ")
}

const doing: { readonly [T in NonNullable<Reprojection.PassDrift["instead"]>]: string } = {
  CallModel: "ask the model again",
  Summarize: "ask for a summary",
  RunTools: "run tools",
  ReadAnswer: "read the reply as an answer",
  ReadClaims: "read the claims of the answer",
  AwaitDecision: "wait for a person",
  Finish: "end the run"
}

const saying = (drift: Reprojection.PassDrift): { readonly what: string; readonly next: string } => {
  const { index = 0, instead, kind, now, pass, recorded, slot, suspects } = drift
  if (kind === "went") {
    return {
      what: `At pass ${pass} the code of now would ${doing[instead ?? "Finish"]}, which the run did not.`,
      next: "Replay it with the definition that it was made with, or fork it at this pass."
    }
  }
  if (kind === "changed") {
    const which = suspects.length === 0 ? "" : ` It is one of ${named(suspects)}.`
    const whose = suspects.length === 1 ? ` It is ${named(suspects)}.` : which
    return {
      what: `Pass ${pass} was sent another wire than its events make now.${whose}`,
      next: "Verify the record; if it is whole, read it with the version that wrote it."
    }
  }
  const next =
    "Replay it with the definition that it was made with, or fork it at this pass to see what the change does."
  if (slot === undefined || slot === "parameters") return { what: `Pass ${pass} has other parameters now.`, next }
  const place = `place ${index} of ${slot}`
  if (now === undefined) return { what: `Pass ${pass} has no piece ${named(suspects)} at ${place} any more.`, next }
  if (recorded === undefined) return { what: `Pass ${pass} has a further piece ${named(suspects)} at ${place}.`, next }
  return recorded.id === now.id
    ? { what: `Pass ${pass} has another text of piece ${named([now.id])} at ${place}.`, next }
    : { what: `Pass ${pass} has piece ${named([now.id])} at ${place}, where ${named([recorded.id])} was.`, next }
}

const driftOf = (runId: string, drift: Reprojection.PassDrift): Drift => {
  const { projectedHash, recordedHash } = drift
  return new Drift({
    runId,
    ...drift,
    code: "WF-RPL-001",
    ...saying(drift),
    where: `event #${drift.seq} of run ${Printable.quote(runId)}`,
    ...(recordedHash === undefined ? {} : { expected: recordedHash }),
    ...(projectedHash === undefined ? {} : { found: projectedHash }),
    outcome: "not-applied",
    retry: "never"
  })
}

const replayed = (runId: string, { drift, state, wires }: Reprojection.Reprojected): Effect.Effect<Replayed, Drift> =>
  drift === undefined
    ? Effect.succeed({ runId, events: state.seq, wires, status: state.ended?.status ?? "open" })
    : driftOf(runId, drift)

/** The events of a run by themselves: each wire from what the record holds, by the projection of now. */
export const events = (runId: string, recorded: ReadonlyArray<Event.Event>): Effect.Effect<Replayed, Drift> =>
  Effect.suspend(() => replayed(runId, Reprojection.ofRecord(recorded)))

/**
 * Goes through a recorded run again with the agent: each pass is composed anew from what the record holds up to there, and
 * compared with what was sent. Calls no model and no tool, and writes nothing.
 */
export const run = <R, A>(
  agent: Agent.Agent<R, A>,
  runId: string
): Effect.Effect<Replayed, Drift | AgentError.InvalidAgent | Record.RecordError, Record.Record> =>
  Effect.gen(function* () {
    if (agent.problems.length > 0) return yield* AgentError.invalid(agent.name, agent.problems)
    const recorded = yield* LoadedRun.events(runId)
    const [first] = recorded
    const window = first?._tag === "RunStarted" ? first.manifest.window : undefined
    const { limits: _, ...spec } = yield* AgentSpec.of(agent, window)
    const decider: Reprojection.Decider = ({ answerSchema }) =>
      AgentAnswer.asked(spec, agent.answer.asking, answerSchema !== undefined)
    return yield* replayed(runId, Reprojection.ofAgent(decider, recorded))
  })
