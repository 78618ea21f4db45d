/**
 * An `AgentSpec` is what an agent brings to every decision of its runs.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Run from "../kernel/Run.ts"
import type * as Window from "../kernel/Window.ts"
import type * as Agent from "./Agent.ts"
import * as AgentArtifacts from "./AgentArtifacts.ts"
import * as Tokenizer from "./Tokenizer.ts"

export type AgentSpec = Omit<Run.Spec, "elapsedMs" | "provider" | "model">

/** `recorded` is the window of the run, if the agent has none now. */
export const of = (agent: Agent.Agent<unknown>, recorded: Window.Strategy | undefined): Effect.Effect<AgentSpec> => {
  const { grounding, limits, parameters, pieces, progress, repertoire, tools } = agent
  const own = Array.from(tools.values(), ({ declared }) => declared)
  return Effect.map(Tokenizer.needed(agent.window ?? recorded, limits), (counting) => ({
    pieces,
    tools: [...own.filter(({ name }) => repertoire?.tools.has(name) !== true), ...AgentArtifacts.tools(agent)],
    ...(repertoire === undefined ? {} : { skills: repertoire }),
    parameters,
    limits,
    progress,
    ...counting,
    ...(grounding === undefined ? {} : { grounding })
  }))
}
