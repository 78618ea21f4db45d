/**
 * The artifacts of an agent's runs: whose they are.
 *
 * @internal
 */
import * as Artifact from "../kernel/Artifact.ts"
import type * as Event from "../kernel/Event.ts"

/** What a record says of the artifacts of its run. */
export const manifest = (scope: Artifact.Scope | undefined): Event.Artifacts | undefined => {
  if (scope === undefined) return undefined
  const { conversationId, principal = "", tenant = "" } = scope
  return {
    scope: {
      conversationId,
      ...(tenant === "" ? {} : { tenant }),
      ...(principal === "" ? {} : { principal })
    }
  }
}

/** Whose artifacts a run works with: an anonymous one with its own. */
export const scopeOf = (runId: string, started: Event.RunStarted | undefined): Artifact.Scope =>
  started?.manifest.artifacts?.scope ?? { conversationId: runId }

/** What is wrong with a scope. Its values are told to nobody. */
export const scopeProblems = (scope: Artifact.Scope | undefined): ReadonlyArray<string> => {
  if (scope === undefined) return []
  const fault = Artifact.scopeFault(scope)
  if (fault !== undefined) return [`${fault} must be a text without half a surrogate pair.`]
  return scope.conversationId.trim() === "" ? ["scope.conversationId is blank: name the session, or leave it out."] : []
}
