/**
 * An `AgentManifest` is what the record of a run says of the agent that it was started with.
 *
 * @internal
 */
import type * as Event from "../kernel/Event.ts"
import type * as Agent from "./Agent.ts"
import * as AgentSkills from "./AgentSkills.ts"

export const of = (
  { answer, checks, claims, coverage, findings, limits, repertoire, window }: Agent.Agent<unknown>,
  artifacts: Event.Artifacts | undefined
): Event.Manifest => ({
  limits,
  ...(artifacts === undefined ? {} : { artifacts }),
  ...(findings === undefined ? {} : { findings }),
  ...(coverage === undefined ? {} : { coverage }),
  ...(window === undefined ? {} : { window }),
  checks: { posture: checks, ...(claims === undefined ? {} : { claims }) },
  ...(answer.asking === undefined ? {} : { answer: answer.asking.manifest }),
  ...(repertoire === undefined ? {} : { skills: AgentSkills.manifest(repertoire) })
})
