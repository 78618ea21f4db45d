/**
 * A `SkillMapError` is why a skill map, or a set of them, cannot be mounted: everything that is wrong with it, each with
 * its place in the definition.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Problem from "./Problem.ts"

export const Kind = Schema.Literal(
  "BlankId",
  "DuplicateId",
  "NoMembers",
  "NoEntries",
  "UnknownTarget",
  "Unreachable",
  "EntryNeverMatches",
  "PatternRefused",
  "RouteWithoutCause",
  "GuardMalformed",
  "GuardNeverPasses",
  "ToolNameRefused",
  "ToolConflict",
  "NoMap",
  "GraceRefused"
)
export type Kind = typeof Kind.Type

/** One fault. `where` is a JSON pointer into what was given. */
export const SkillMapProblem = Problem.fault(Kind)
export type SkillMapProblem = typeof SkillMapProblem.Type

export class SkillMapError extends Schema.TaggedError<SkillMapError>()("SkillMapError", {
  ...Problem.fields,
  problems: Schema.NonEmptyArray(SkillMapProblem)
}) {
  override get message(): string {
    return Problem.renderAll(this)
  }
}

/** `name` says what was to be mounted, printable. */
export const make = (name: string, problems: readonly [SkillMapProblem, ...Array<SkillMapProblem>]): SkillMapError =>
  new SkillMapError({
    code: "WF-MAP-001",
    what: `${name} cannot be mounted: it has ${problems.length} ${problems.length === 1 ? "fault" : "faults"}.`,
    where: problems[0].where === "" ? "the whole definition" : problems[0].where,
    next: problems[0].next,
    outcome: "not-applied",
    retry: "never",
    problems
  })
