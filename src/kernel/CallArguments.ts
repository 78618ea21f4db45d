/**
 * `CallArguments` are what a model wrote for a call, read as one JSON object, and without what is not for the tool.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Event from "./Event.ts"
import * as FindingRead from "./FindingRead.ts"
import * as Json from "./Json.ts"
import * as Problem from "./Problem.ts"
import type * as Repertoire from "./Repertoire.ts"

/** The tools that calls are judged by, and the skills that own some of them. */
export interface Known {
  readonly tools: ReadonlyArray<Event.ToolDeclared>
  readonly skills?: Repertoire.Repertoire
}

/** Limits of the arguments of one call. */
const limits = { maxChars: 1_048_576, maxDepth: 64 }

/** The arguments as one JSON object. A tool without parameters may be called with no text at all. */
export const read = (text: string): Either.Either<object, Problem.Problem> => {
  if (text.trim() === "") return Either.right({})
  const parsed = Json.parse(text, limits)
  if (Either.isLeft(parsed)) return Either.left(parsed.left)
  const value = parsed.right
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return Either.right(value)
  return Either.left({
    code: "WF-TOOL-003",
    what: "They are not an object.",
    expected: "one JSON object",
    found: Problem.kindOf(value),
    next: "Send one JSON object.",
    outcome: "not-applied",
    retry: "never"
  })
}

/** The definition of a tool of the agent's. */
export const toolOf = ({ skills, tools }: Known, toolName: string): Event.ToolDeclared | undefined =>
  tools.find(({ name }) => name === toolName) ?? skills?.tools.get(toolName)

/** What the arguments declare, and what is left. A tool that is served without the argument keeps all of them. */
export const findings = (known: Known, toolName: string, args: object): FindingRead.Read<object> => {
  const schema = toolOf(known, toolName)?.schema
  if (schema !== undefined && !FindingRead.isOffered(schema)) {
    return { args, declared: { previous: [] }, rejected: [] }
  }
  const read = FindingRead.read(args)
  return { ...read, args: { ...(typeof read.args === "object" ? read.args : {}) } }
}
