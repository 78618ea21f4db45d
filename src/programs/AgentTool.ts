/**
 * An `AgentTool` is an agent as a tool of another: each call is a run with a record of its own, which both records link to
 * the other by id.
 *
 * @internal
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type * as ChildEvent from "../kernel/ChildEvent.ts"
import * as Children from "../kernel/Children.ts"
import type * as Event from "../kernel/Event.ts"
import type * as Outcome from "../kernel/Outcome.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as AgentError from "./AgentError.ts"
import type * as AgentOptions from "./AgentOptions.ts"
import * as ArtifactLoan from "./ArtifactLoan.ts"
import * as Child from "./Child.ts"
import * as LoadedRun from "./LoadedRun.ts"
import * as Replay from "./Replay.ts"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

/**
 * What the run came to. `answer` is there if it has one, `value` if its agent has a schema for answers. `why` is the limit that
 * it had come to, or that a person is waited for.
 */
export const Result = Schema.Struct({
  runId: Schema.String,
  status: Schema.Literal("answered", "stopped", "waiting"),
  answer: optional(Schema.String),
  value: optional(Schema.Unknown),
  why: optional(Schema.String)
})
export type Result = typeof Result.Type

/** The run has no outcome. Its record says what it did. */
export class ChildFailed extends Schema.TaggedError<ChildFailed>()("ChildFailed", {
  runId: Schema.String,
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

export interface Options<Name extends string, Parameters extends Schema.Struct.Fields> {
  readonly name: Name
  readonly description: string
  readonly parameters: Parameters
  /** What the agent is asked. */
  readonly input: (parameters: Schema.Struct.Type<Parameters>) => string
  /** It only reads: several calls of one reply run at once, and share what is left. Otherwise one runs after another. */
  readonly readonly?: boolean
}

/** How a run of the agent is begun and gone on with. */
export interface Runs<R, A> {
  readonly begin: (
    limits: Event.Limits,
    input: string,
    options: AgentOptions.ChildOptions
  ) => Effect.Effect<Outcome.Outcome<A>, AgentError.AgentError, R>
  readonly resume: (limits: Event.Limits, runId: string) => Effect.Effect<Outcome.Outcome<A>, AgentError.AgentError, R>
}

const resultOf = (outcome: Outcome.Outcome<unknown>): Result => {
  const { runId, status } = outcome
  switch (outcome.status) {
    case "answered": {
      const { answer, stoppedEarly, value } = outcome
      return {
        runId,
        status,
        answer,
        ...(value === undefined ? {} : { value }),
        ...(stoppedEarly === undefined ? {} : { why: stoppedEarly.what })
      }
    }
    case "stopped":
      return { runId, status, why: outcome.reason.what }
    case "waiting":
      return { runId, status, why: "It waits for a person." }
  }
}

const failed = (runId: string, error: AgentError.AgentError): ChildFailed =>
  new ChildFailed({ runId, ...Problem.of(error), where: `run ${Printable.quote(runId)}` })

const foreign = (runId: string): ChildFailed =>
  new ChildFailed({
    runId,
    code: "WF-RUN-019",
    what: `The run ${Printable.quote(runId)} was not started by this call, and is not taken for its child.`,
    next: "Find out who wrote that run; go on without it.",
    outcome: "not-applied",
    retry: "never"
  })

const unbound = (): ChildFailed =>
  new ChildFailed({
    runId: "",
    code: "WF-RUN-020",
    what: "A tool that runs an agent was called outside of a run.",
    next: "Give the tool to an agent.",
    outcome: "not-applied",
    retry: "never"
  })

const isParent = (state: Event.RunStarted | undefined, parent: ChildEvent.Parent): boolean =>
  state?.parent?.runId === parent.runId &&
  state.parent.iteration === parent.iteration &&
  state.parent.toolCallId === parent.toolCallId

const statusOf = (ended: Event.RunEnded | undefined): ChildEvent.ChildSettled["status"] => ended?.status ?? "open"

/** The run as its record has it, or nothing if there is none. */
const loaded = (runId: string) =>
  Effect.map(LoadedRun.load(runId), ({ state }) => state).pipe(
    Effect.catchIf(
      (error) => error.reason === "RunNotFound",
      () => Effect.succeed(undefined)
    )
  )

/** Runs the child of a call, or goes on with it if the call is run again. */
const child = <R, A>(
  runs: Runs<R, A>,
  begetting: Child.Begetting,
  input: string,
  scope: AgentOptions.ChildOptions["scope"]
) => {
  const { limits, parent, runId, tell } = begetting
  // Whatever became of it: what it has spent is the parent's to count.
  const report = Effect.ignoreLogged(
    Effect.map(loaded(runId), (state) => {
      if (state?.started?.parent !== undefined && isParent(state.started, parent)) {
        tell(statusOf(state.ended), Children.spentOf(state))
      }
    })
  )
  return Effect.gen(function* () {
    const started = (yield* loaded(runId))?.started
    if (started !== undefined && !isParent(started, parent)) return yield* foreign(runId)
    const outcome =
      started === undefined
        ? yield* runs.begin(limits, input, { runId, parent, ...(scope === undefined ? {} : { scope }) })
        : yield* runs.resume(limits, runId)
    return resultOf(outcome)
  }).pipe(
    Effect.mapError((error) => (error instanceof ChildFailed ? error : failed(runId, error))),
    Effect.ensuring(report)
  )
}

/** A tool that runs an agent, and the layer of its handler. */
export interface AgentTool<Name extends string, Parameters extends Schema.Struct.Fields, R> {
  readonly tool: Tool.Tool<
    Name,
    {
      readonly parameters: Schema.Struct<Parameters>
      readonly success: typeof Result
      readonly failure: typeof ChildFailed
      readonly failureMode: "error"
    }
  >
  readonly layer: Layer.Layer<Tool.Handler<Name>, never, R>
}

export function make<const Name extends string, Parameters extends Schema.Struct.Fields, R, A>(
  limits: Event.Limits,
  options: Options<Name, Parameters>,
  runs: Runs<R, A>
): AgentTool<Name, Parameters, R>
export function make(
  limits: Event.Limits,
  { description, input, name, parameters, readonly }: Options<string, Schema.Struct.Fields>,
  runs: Runs<unknown, unknown>
) {
  const tool = Tool.make(name, { description, parameters, success: Result, failure: ChildFailed })
    .annotate(Replay.Replay, readonly === true ? "pure" : "idempotent")
    .annotate(Child.Limited, limits)
  const build = Effect.map(Effect.context<unknown>(), (context) => ({
    [name]: (given: Schema.Struct.Type<Schema.Struct.Fields>) =>
      Effect.gen(function* () {
        const begetting = yield* Child.Enclosing
        if (begetting === undefined) return yield* unbound()
        const scope = yield* ArtifactLoan.Enclosing
        return yield* Effect.provide(child(runs, begetting, input(given), scope), context)
      })
  }))
  return { tool, layer: Toolkit.make(tool).toLayer(build) }
}
