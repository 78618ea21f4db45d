/**
 * A `FindingLine` is one line of the findings piece: words of the library, which stand as they are, and texts of a model
 * or a tool, which are literals. What is cut to keep the line short is counted outside the quotes.
 *
 * @internal
 */
import * as Artifact from "./Artifact.ts"
import type * as FindingRow from "./FindingRow.ts"
import * as Json from "./Json.ts"
import * as Either from "effect/Either"
import * as SafeId from "./SafeId.ts"

/** A line is longer only if plain ids alone make it so: those are never cut. */
const width = 240
const idWidth = 64
/** What a literal gets at least, its count of what was cut included. */
const least = 32

/** `max` is in code points. */
interface Literal {
  readonly text: string
  readonly max: number
}

export type Part = string | Literal

/** An id, a kind, a name. */
export const id = (text: string): Part => (SafeId.print(text) === text ? text : { text, max: idWidth })

export const words = (text: string): Part => ({ text, max: width })

/** A list or an object is the literal of its JSON, so that it can be cut like a text. */
export const value = (of: unknown): ReadonlyArray<Part> => {
  if (typeof of === "string") return [words(of)]
  const written = Either.getOrElse(Json.canonical(of), () => "null")
  return typeof of === "object" && of !== null ? ["json ", words(written)] : [written]
}

/** Where something is from. A ref that has not the shape of one is left out. */
export const source = ({ ref, toolCallId, unknownId }: FindingRow.Standing): ReadonlyArray<Part> => [
  "tool:",
  id(toolCallId),
  ...(Artifact.isRef(ref) ? [` | artifact:${ref}`] : []),
  ...(unknownId === true ? [" (unknown id)"] : [])
]

/** The literal in at most `budget` characters, if its count alone is not longer. */
const fit = ({ max, text }: Literal, budget: number): string => {
  const points = Array.from(text)
  const cut = (count: number): string => {
    const left = points.length - count
    return `${SafeId.literal(points.slice(0, count).join(""), max)}${left > 0 ? ` (+${left} characters)` : ""}`
  }
  const whole = Math.min(points.length, max)
  if (whole <= budget && cut(whole).length <= budget) return cut(whole)
  let low = 0
  let high = Math.min(whole, budget)
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (cut(middle).length <= budget) low = middle
    else high = middle - 1
  }
  return cut(low)
}

/** The line. What its literals may take is shared so that short ones are whole before a long one is. */
export const render = (parts: ReadonlyArray<Part>): string => {
  const literals = parts.filter((part) => typeof part !== "string")
  let left = width - parts.reduce((sum, part) => sum + (typeof part === "string" ? part.length : 0), 0)
  const byNeed = literals
    .map((literal) => ({ literal, need: fit(literal, Number.POSITIVE_INFINITY).length }))
    .sort((one, other) => one.need - other.need)
  const printed = new Map<Part, string>()
  for (const [at, { literal }] of byNeed.entries()) {
    const text = fit(literal, Math.max(least, Math.floor(left / (byNeed.length - at))))
    printed.set(literal, text)
    left -= text.length
  }
  return parts.map((part) => printed.get(part) ?? (typeof part === "string" ? part : "")).join("")
}

/** A line that ends in a list, of which it shows what fits and at least `floor`. */
export const list = (
  head: ReadonlyArray<Part>,
  items: ReadonlyArray<ReadonlyArray<Part>>,
  separator: string,
  floor: number
): string => {
  const first = (count: number): string => {
    const shown = items.slice(0, count).flatMap((item, at) => (at === 0 ? item : [separator, ...item]))
    const left = items.length - count
    return render([...head, ...shown, ...(left > 0 ? [`${separator}+${left} more`] : [])])
  }
  let line = first(floor)
  for (let count = floor + 1; count <= items.length; count++) {
    const longer = first(count)
    if (longer.length > width) break
    line = longer
  }
  return line
}
