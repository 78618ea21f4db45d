/**
 * An `AgentManifest` is what the record of a run says of the agent that it was started with.
 *
 * @internal
 */
import type * as Artifact from "../kernel/Artifact.ts"
import type * as Event from "../kernel/Event.ts"
import type * as Agent from "./Agent.ts"
import * as AgentArtifacts from "./AgentArtifacts.ts"
import * as AgentSkills from "./AgentSkills.ts"

export const of = (
  { answer, artifacts, checks, claims, coverage, findings, limits, repertoire, unknown, window }: Agent.Agent<unknown>,
  scope: Artifact.Scope | undefined
): Event.Manifest => ({
  limits,
  ...AgentArtifacts.manifest(artifacts, scope),
  ...(findings === undefined ? {} : { findings }),
  ...(coverage === undefined ? {} : { coverage }),
  ...(window === undefined ? {} : { window }),
  ...(unknown === "tell" ? { unknown } : {}),
  checks: { posture: checks, ...(claims === undefined ? {} : { claims }) },
  ...(answer.asking === undefined ? {} : { answer: answer.asking.manifest }),
  ...(repertoire === undefined ? {} : { skills: AgentSkills.manifest(repertoire) })
})
