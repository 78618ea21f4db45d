/**
 * The artifacts of an agent's runs: whose they are.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Artifact from "../kernel/Artifact.ts"
import type * as Event from "../kernel/Event.ts"
import * as Present from "../kernel/Present.ts"
import * as Printable from "../kernel/Printable.ts"
import * as ArtifactStore from "../services/ArtifactStore.ts"
import type * as Dispatch from "./Dispatch.ts"

/** What an agent's runs do with artifacts, beside what its tools do. */
export type Options = Omit<Event.Artifacts, "scope">

/** What is asked for, if anything is. */
export const make = ({
  placement,
  present = false
}: {
  readonly placement?: { readonly maxInlineChars: number }
  readonly present?: boolean
}): { readonly artifacts?: Options } =>
  placement === undefined && !present
    ? {}
    : {
        artifacts: {
          ...(present ? { present } : {}),
          ...(placement === undefined ? {} : { placement: { maxInlineChars: placement.maxInlineChars } })
        }
      }

/** What is wrong with what is asked for. */
export const problems = ({ artifacts }: { readonly artifacts?: Options }): ReadonlyArray<string> => {
  const { maxInlineChars = 1 } = artifacts?.placement ?? {}
  return Number.isSafeInteger(maxInlineChars) && maxInlineChars > 0
    ? []
    : [`placement.maxInlineChars is ${maxInlineChars}; it must be a whole number above 0.`]
}

/** What a record says of the artifacts of its run. */
export const manifest = (
  options: Options = {},
  scope: Artifact.Scope | undefined
): { readonly artifacts?: Event.Artifacts } => {
  if (scope === undefined) return Object.keys(options).length === 0 ? {} : { artifacts: options }
  const { conversationId, principal = "", tenant = "" } = scope
  const own = {
    conversationId,
    ...(tenant === "" ? {} : { tenant }),
    ...(principal === "" ? {} : { principal })
  }
  return { artifacts: { scope: own, ...options } }
}

/** The tools that the model is given for them. */
export const tools = ({ artifacts }: { readonly artifacts?: Options }): ReadonlyArray<Event.ToolDeclared> =>
  artifacts?.present === true ? [Present.declared] : []

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

/** What of an agent needs a store, where there is none. */
export const storeProblems = ({
  artifacts,
  tools
}: {
  readonly artifacts?: Options
  readonly tools: ReadonlyMap<string, Dispatch.Prepared>
}): Effect.Effect<ReadonlyArray<string>, never, ArtifactStore.ArtifactStore> =>
  Effect.map(ArtifactStore.ArtifactStore, ({ isNone = false }) =>
    isNone
      ? [
          ...Array.from(tools.values())
            .filter(({ wants }) => wants.length > 0)
            .map(
              ({ declared }) => `Tool ${Printable.quote(declared.name)} wants artifacts, and there is no store of them.`
            ),
          ...(artifacts?.placement === undefined
            ? []
            : ["placement is on, and there is no store of artifacts to place results in."]),
          ...(artifacts?.present === true ? ["present is on, and there is no store of artifacts."] : [])
        ]
      : []
  )
