/**
 * A `CoverageError` is why a tool's declaration of what it looked at was refused, where its author made it: every fault,
 * each with its place in the declaration.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Problem from "./Problem.ts"

export const Kind = Schema.Literal(
  "NotADeclaration",
  "UnknownField",
  "BlankText",
  "NothingChecked",
  "NothingDeclared",
  "NotAList",
  "NotAnEntry",
  "BlankEntry",
  "BlankWhy",
  "WhyMissing"
)
export type Kind = typeof Kind.Type

/** One fault. `where` is a JSON pointer into the declaration. */
export const CoverageProblem = Problem.fault(Kind)
export type CoverageProblem = typeof CoverageProblem.Type

export class CoverageError extends Schema.TaggedError<CoverageError>()("CoverageError", {
  ...Problem.fields,
  problems: Schema.NonEmptyArray(CoverageProblem)
}) {
  override get message(): string {
    return Problem.renderAll(this)
  }
}

export const make = (problems: readonly [CoverageProblem, ...Array<CoverageProblem>]): CoverageError => {
  const [first] = problems
  return new CoverageError({
    code: "WF-COV-001",
    what:
      problems.length === 1
        ? `What the tool covered was not declared: ${first.what}`
        : `What the tool covered was not declared: the declaration has ${problems.length} faults.`,
    where: first.where === "" ? "the whole declaration" : first.where,
    next: first.next,
    outcome: "not-applied",
    retry: "never",
    problems
  })
}
