/**
 * A `Problem` is what each of our errors and refusals says: what went wrong, where, what was expected, what was found,
 * what to do next, whether anything was applied, and whether trying again can help.
 *
 * It never holds the offending value, only its kind and size, and it is safe to print anywhere.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Printable from "./Printable.ts"

/** Whether the thing that was asked for happened. `unknown` says in `next` how to find out. */
export const Outcome = Schema.Literal("not-applied", "applied", "unknown")
export type Outcome = typeof Outcome.Type

/** Whether trying again can help. Numbers are milliseconds. */
export const Retry = Schema.Union(
  Schema.Literal("never", "safe-with-same-key", "after-human"),
  Schema.Struct({ afterMs: Schema.NonNegativeInt })
)
export type Retry = typeof Retry.Type

const text = Schema.optionalWith(Schema.String, { exact: true })

/** The fields that every error and refusal has. `code` is stable; the sentences may change. */
export const fields = {
  code: Schema.String,
  what: Schema.String,
  where: text,
  expected: text,
  found: text,
  next: Schema.String,
  outcome: Outcome,
  retry: Retry
}

export const Problem = Schema.Struct(fields)
export type Problem = typeof Problem.Type

/** The fields of a problem, and no others, of something that has more. */
export const of = ({ code, expected, found, next, outcome, retry, what, where }: Problem): Problem => ({
  code,
  what,
  ...(where === undefined ? {} : { where }),
  ...(expected === undefined ? {} : { expected }),
  ...(found === undefined ? {} : { found }),
  next,
  outcome,
  retry
})

const maxText = 2_000

/** The whole problem in one printable line of at most 2,000 characters. The first sentence is enough for a log. */
export const render = (problem: Problem): string => {
  const where = problem.where === undefined ? "" : ` At ${problem.where}.`
  const expected = problem.expected === undefined ? "" : ` Expected ${problem.expected}`
  const found = problem.found === undefined ? "" : `${expected === "" ? " Found" : ", found"} ${problem.found}`
  const pair = expected + found
  return Printable.clip(
    Printable.line(`${problem.what}${where}${pair}${pair === "" ? "" : "."} ${problem.next}`),
    maxText
  )
}

/** One of several faults in what was given. `where` is a JSON pointer into it. */
export const fault = <K extends readonly [string, ...Array<string>]>(kind: Schema.Literal<K>) =>
  Schema.Struct({ kind, where: Schema.String, what: Schema.String, next: Schema.String })

/** A problem with all its faults, a line each. */
export const renderAll = (
  problem: Problem & { readonly problems: ReadonlyArray<{ readonly where: string; readonly what: string }> }
): string => [render(problem), ...problem.problems.map(({ what, where }) => `${where}: ${what}`)].join("\n")

/** What kind of thing a value is, and how large, without showing it. */
export const kindOf = (value: unknown): string => {
  if (value === null) return "null"
  if (value === undefined) return "nothing"
  if (typeof value === "string") return `string of length ${value.length}`
  if (Array.isArray(value)) return `array of ${value.length}`
  if (typeof value === "object") return `object with ${Object.keys(value).length} keys`
  return typeof value
}
