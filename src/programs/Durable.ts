/**
 * A `Durable` run outlives the process that drives it: what it has done is on its record, and an engine of workflows, in
 * memory, over one database, or shared by the runners of a cluster, has somebody go on with it.
 *
 * It is imported by its own path, `wherefore/Durable`, and is not in the index of the package: it needs `@effect/workflow`,
 * `@effect/cluster` and `@effect/rpc`, which a program without durable runs need not have.
 *
 * @subpath
 * @since 0.1.0
 */
import * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Decision from "../kernel/Decision.ts"
import type * as Outcome from "../kernel/Outcome.ts"
import * as Printable from "../kernel/Printable.ts"
import * as ArtifactStore from "../services/ArtifactStore.ts"
import * as LLM from "../services/LLM.ts"
import type * as Record from "../services/Record.ts"
import type * as Agent from "./Agent.ts"
import type * as AgentDecisions from "./AgentDecisions.ts"
import type * as AgentOptions from "./AgentOptions.ts"
import * as DurableCalls from "./DurableCalls.ts"
import * as DurableError from "./DurableError.ts"
import * as DurableRun from "./DurableRun.ts"
import * as RunId from "./RunId.ts"

export type { Address, Options as ClusterOptions } from "./DurableCluster.ts"
export { layer as layerCluster, layerSingle } from "./DurableCluster.ts"
export { DurableError } from "./DurableError.ts"

export interface StartOptions extends Omit<AgentOptions.RunOptions, "steering"> {}

/** What a person says of a call that the run waits for. */
export type Signal = Decision.Approval | Decision.Resolution

type Told = AgentDecisions.Decided
type SignalFailure = DurableError.DurableError | Decision.DecisionRefused | Record.RecordError | Record.RecordConflict

export class Durable extends Context.Tag("wherefore/programs/Durable")<
  Durable,
  {
    /** The names of the agents that are hosted here. */
    readonly agents: ReadonlyArray<string>
    readonly start: (
      agentName: string,
      input: string,
      options?: StartOptions
    ) => Effect.Effect<string, Agent.InvalidAgent | DurableError.DurableError | Record.RecordError>
    readonly signal: (runId: string, decision: Signal) => Effect.Effect<Told, SignalFailure>
    readonly await: (
      runId: string,
      options?: AwaitOptions
    ) => Effect.Effect<Outcome.Outcome<unknown>, DurableError.DurableError | Record.RecordError>
    readonly cancel: (
      runId: string,
      by: string
    ) => Effect.Effect<void, DurableError.DurableError | Record.RecordError | Record.RecordConflict>
  }
>() {}

/** `until: "ended"` waits through what persons are asked for. Without it, a run that waits for a person is `waiting`. */
export type AwaitOptions = DurableCalls.AwaitOptions

/**
 * Starts a run of the agent of that name, and gives its id once the start is durable: somebody will drive it. Two starts with
 * one id are one run.
 */
export const start = (agentName: string, input: string, options?: StartOptions) =>
  Effect.flatMap(Durable, (durable) => durable.start(agentName, input, options))

/** Puts on the record what a person says of a call (`Agent.decide`, `Agent.resolve`), and wakes the run for it. */
export const signal = (runId: string, decision: Signal) =>
  Effect.flatMap(Durable, (durable) => durable.signal(runId, decision))

const awaited = (runId: string, options?: AwaitOptions) =>
  Effect.flatMap(Durable, (durable) => durable.await(runId, options))

/**
 * What a run came to, as its record has it, once it has ended or waits for a person. `value` is the answer by the agent's
 * schema, encoded. Fails with `NotBegun` if for a minute nobody begins with it.
 */
export { awaited as await }

/**
 * Ends a run, and those that it started, as soon as whoever drives it hears of it, which takes a second or two: the call of
 * the model that is under way is cut, and what is open is settled. One that has ended stays as it is.
 */
export const cancel = (runId: string, by: string) => Effect.flatMap(Durable, (durable) => durable.cancel(runId, by))

/** An engine that ends with the layer, for tests and for programs that need no more. */
export const layerMemory: Layer.Layer<WorkflowEngine.WorkflowEngine> = WorkflowEngine.layerMemory

type Hosted = Agent.Agent<unknown, unknown>

/** What the runs of an agent need. */
export type Needs<A> = A extends Agent.Agent<infer R, infer _> ? R : never

export interface Options<Agents extends ReadonlyArray<Hosted>> {
  /** The agents whose runs are driven here. */
  readonly agents: Agents
  /** The name of this process in records; one is made up without it. */
  readonly name?: string
}

const problemsOf = (agents: ReadonlyArray<Hosted>): ReadonlyArray<string> => {
  const names = agents.map(({ name }) => name)
  return [
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `Two agents have the name ${Printable.quote(name)}.`),
    ...agents.flatMap(({ name, problems }) => problems.map((one) => `Agent ${Printable.quote(name)}: ${one}`))
  ]
}

/** Hosts agents: their durable runs are driven here, as far as the engine gives them to this process. */
export function layer<const Agents extends ReadonlyArray<Hosted>>(
  options: Options<Agents>
): Layer.Layer<
  Durable,
  DurableError.DurableError,
  WorkflowEngine.WorkflowEngine | Agent.Services | Needs<Agents[number]>
>
export function layer(
  options: Options<ReadonlyArray<Hosted>>
): Layer.Layer<Durable, DurableError.DurableError, unknown> {
  const { agents: hosted } = options
  const agents = new Map(hosted.map((agent) => [agent.name, agent]))
  const calls = Layer.effect(
    Durable,
    Effect.gen(function* () {
      const problems = problemsOf(hosted)
      if (problems.length > 0) return yield* DurableError.invalidAgents(problems)
      const services = yield* Effect.context<WorkflowEngine.WorkflowEngine | Record.Record>()
      return Durable.of({ agents: Array.from(agents.keys()), ...DurableCalls.make(agents, services) })
    })
  )
  const driving = Layer.unwrapEffect(
    Effect.gen(function* () {
      // What is missing is missed now, and not by each run.
      yield* Effect.all([LLM.LLM, ArtifactStore.ArtifactStore])
      const context = yield* Effect.context<unknown>()
      const by = options.name ?? (yield* RunId.make)
      return DurableRun.workflow.toLayer((task) =>
        Effect.mapInputContext(DurableRun.execute({ agents, by }, task), (own: Context.Context<never>) =>
          Context.merge(context, own)
        )
      )
    })
  )
  return Layer.provideMerge(driving, calls)
}
