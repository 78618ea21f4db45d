/**
 * An `AgentReview` says what is wrong with the definition of an agent, all of it at once.
 *
 * @internal
 */
import type * as Tool from "@effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Artifact from "../kernel/Artifact.ts"
import * as CallOutcome from "../kernel/CallOutcome.ts"
import * as ClaimCheck from "../kernel/ClaimCheck.ts"
import * as Event from "../kernel/Event.ts"
import type * as Piece from "../kernel/Piece.ts"
import * as Printable from "../kernel/Printable.ts"
import * as AgentArtifacts from "./AgentArtifacts.ts"
import * as AgentBudget from "./AgentBudget.ts"
import * as AgentError from "./AgentError.ts"
import * as ArgumentsFrom from "./ArgumentsFrom.ts"
import * as Dispatch from "./Dispatch.ts"
import * as Echoes from "./Echoes.ts"
import * as AppendSize from "./AppendSize.ts"
import * as Wants from "./Wants.ts"

const repeated = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  Array.from(new Set(names.filter((name, index) => names.indexOf(name) !== index)))

/** Pieces of a wire that the runtime names itself. */
const ownIds = /^(message|reply|result|carried|tool|skill|wherefore):/

const toolName = /^[a-zA-Z0-9_-]{1,64}$/

/** Everything that keeps a definition from being run, each in a sentence. */
export const review = (
  name: string,
  pieces: ReadonlyArray<Piece.Piece>,
  tools: ReadonlyArray<Tool.Any>,
  limits: Event.Limits,
  concurrency: number,
  maxResultChars: number,
  parameters: Event.Parameters
): ReadonlyArray<string> => [
  ...(name.trim() === "" ? ["The agent has no name."] : []),
  ...pieces.filter(({ id }) => id.trim() === "").map((_, index) => `Piece ${index} has no id.`),
  ...repeated(pieces.map(({ id }) => id)).map((id) => `Two pieces have the id ${Printable.quote(id)}.`),
  ...pieces
    .filter(({ text }) => Printable.wellFormed(text) !== text)
    .map(({ id }) => `Piece ${Printable.quote(id)} holds a lone surrogate.`),
  ...tools
    .filter((tool) => !toolName.test(tool.name))
    .map((tool) => `Tool ${Printable.quote(tool.name)} must have a name of 1 to 64 letters, digits, "_" and "-".`),
  ...tools
    .filter(({ name }) => CallOutcome.isFramework(name))
    .map(({ name }) => `Tool ${Printable.quote(name)} has a name that is kept for a tool of the framework.`),
  ...repeated(tools.map(({ name }) => name)).map((name) => `Two tools have the name ${Printable.quote(name)}.`),
  ...AgentBudget.problems(limits),
  ...pieces
    .filter(({ id }) => ownIds.test(id))
    .map(({ id }) => `Piece ${Printable.quote(id)} has an id that begins as those of the runtime do.`),
  ...pieces
    .filter(({ text }) => text.length > AppendSize.maxAppendChars)
    .map(({ id }) => `Piece ${Printable.quote(id)} is longer than ${AppendSize.maxAppendChars} characters.`),
  ...tools.flatMap((tool) =>
    Either.match(Dispatch.definition(tool), {
      onLeft: (why) => [`Tool ${Printable.quote(tool.name)} cannot be described to a model: ${why}`],
      onRight: ({ description = "", schema }) => [
        ...(Printable.wellFormed(description) === description
          ? []
          : [`Tool ${Printable.quote(tool.name)} has a description with a lone surrogate.`]),
        ...Echoes.problems(tool, schema),
        ...Wants.problems(tool, schema)
      ]
    })
  ),
  ...ArgumentsFrom.problems(tools),
  ...(Printable.wellFormed(name) === name ? [] : ["The agent's name holds a lone surrogate."]),
  ...(Schema.is(Event.Parameters)(parameters) ? [] : ["parameters must be finite numbers and strings."]),
  ...(Number.isInteger(maxResultChars) && maxResultChars >= 0 && maxResultChars <= AppendSize.maxAppendChars
    ? []
    : [`maxResultChars must be a whole number from 0 to ${AppendSize.maxAppendChars}.`]),
  ...(Number.isInteger(concurrency) && concurrency > 0 ? [] : ["concurrency must be a whole number from 1."])
]

/** The claims that say something. What is wrong with the others is a problem of the agent's. */
export const claims = (
  declared: ReadonlyArray<ClaimCheck.Declared> | undefined
): { readonly claims?: readonly [ClaimCheck.DeclaredClaim, ...Array<ClaimCheck.DeclaredClaim>] } => {
  const [first, ...rest] = (declared ?? []).filter(isClaim)
  return first === undefined ? {} : { claims: [first, ...rest] }
}

const isClaim = Schema.is(ClaimCheck.DeclaredClaim)

export const claimProblems = (
  declared: ReadonlyArray<ClaimCheck.Declared> | undefined,
  hasAnswerSchema: boolean
): ReadonlyArray<string> =>
  declared === undefined
    ? []
    : ClaimCheck.review(declared, hasAnswerSchema).map(
        ({ next, what, where }) => `claims${where === "" ? "" : ` at ${where}`}: ${what} ${next}`
      )

/** Refuses a run of an agent whose definition, or whose input, is not sound. */
export const validate = (
  agent: { readonly name: string; readonly problems: ReadonlyArray<string> },
  input: string,
  { scope, tags = [] }: { readonly scope?: Artifact.Scope; readonly tags?: ReadonlyArray<string> } = {}
) => {
  const problems = [
    ...agent.problems,
    ...AgentArtifacts.scopeProblems(scope),
    ...(input.trim() === "" ? ["The input is empty."] : []),
    ...tags.filter((tag) => Printable.wellFormed(tag) !== tag).map(() => "A tag holds a lone surrogate.")
  ]
  return problems.length === 0 ? Effect.void : AgentError.invalid(agent.name, problems)
}
