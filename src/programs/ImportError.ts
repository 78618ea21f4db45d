/**
 * An `ImportError` says why a foreign trace could not be read as a run, and where in it.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Problem from "../kernel/Problem.ts"

/** The trace could not be read; nothing of it was used. `path` is a JSON pointer into it, `""` the whole. */
export class ImportError extends Schema.TaggedError<ImportError>()("ImportError", {
  path: Schema.String,
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

/** What a failure says; the rest is the same for all of them. */
export type Details = Pick<Problem.Problem, "code" | "what" | "next"> & Partial<Problem.Problem>

export const failure = (path: string, details: Details): ImportError =>
  new ImportError({
    path,
    ...(path === "" ? {} : { where: path }),
    outcome: "not-applied",
    retry: "never",
    ...details
  })

/** Something in the trace is not of the kind that it has to be. */
export const misfit = (path: string, expected: string, found: unknown): ImportError =>
  failure(path, {
    code: "WF-IMP-003",
    what: `The trace has ${Problem.kindOf(found)} where it needs ${expected}.`,
    expected,
    found: Problem.kindOf(found),
    next: found === undefined ? "Add what is missing." : "Correct it."
  })
