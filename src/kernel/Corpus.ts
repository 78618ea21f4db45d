/**
 * A `Corpus` is all values that have a source in a run, under each spelling by which they are known.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Derived from "./Derived.ts"
import * as Json from "./Json.ts"
import * as Moment from "./Moment.ts"
import * as Sources from "./Sources.ts"
import * as Spelling from "./Spelling.ts"
import * as Value from "./Value.ts"

export interface Corpus {
  readonly values: ReadonlySet<string>
  /** Days and their parts, as `Moment.keys` has them. */
  readonly days: ReadonlySet<string>
  readonly numbers: Derived.Sourced
  /** There was more than could be read. */
  readonly truncated: boolean
}

/** A text inside a value that is JSON itself is read as such, this many times. */
const depth = 4

const nested = (leaf: unknown): unknown => {
  if (typeof leaf !== "string" || !/^\s*[{[]/.test(leaf)) return undefined
  return Either.getOrUndefined(Json.parse(leaf, Sources.limits))
}

const host = /^(?:www\.)?([a-z\d]*[a-z]\d*)\.[a-z]{2,}$/i

/**
 * The parts of a value by which it is also spoken of: those between `/`, `:`, `#` and `@`; numbers of four digits or more
 * between `_` and `-`, as `7504069` of `certificate_7504069`; the line in `#L1474`; what a mask leaves, as in `...7447`;
 * the name in a host, as `shop24` of `www.shop24.com`.
 */
const partsOf = (text: string): ReadonlyArray<string> => {
  const parts = text.split(/[/:#@]/)
  const digits = parts.flatMap((part) => part.split(/[_-]/)).map((part) => part.replace(/^(?:L|\.+)(?=\d)/, ""))
  const names = parts.flatMap((part) => host.exec(part)?.[1] ?? [])
  return [...(parts.length > 1 ? parts : []), ...names, ...digits.filter((part) => /^\d{4,}$/.test(part))]
}

const plainNumber = /^-?\d+(?:\.\d+)?$/

/** The corpus of values and texts. Of each of the two at most `limit` tokens are read. */
export const make = (evidence: ReadonlyArray<unknown>, texts: ReadonlyArray<string>, limit: number): Corpus => {
  const values = new Set<string>()
  const days = new Set<string>()
  const numbers = new Set<number>()
  let truncated = false
  let left = limit

  const addDay = (day: Moment.Day): void => {
    for (const key of Moment.keys(day)) days.add(key)
  }
  const addForm = (text: string): void => {
    for (const { value } of Value.keys(text)) {
      values.add(value)
      if (plainNumber.test(value)) numbers.add(Math.abs(Number(value)))
    }
  }
  const seen = new Set<string>()
  const addToken = (token: Value.Token): void => {
    if (seen.has(token.text)) return
    seen.add(token.text)
    if (!/\d/.test(token.value)) {
      values.add(token.value)
      return
    }
    addForm(token.text)
    for (const part of partsOf(token.text)) values.add(Value.normalise(part))
    const stamped = Moment.stamped(token.value)
    if (stamped !== undefined) addForm(stamped.time)
    for (const day of Moment.readings(stamped?.date ?? token.value)) addDay(day)
  }
  /** `whole` is a leaf, which counts as a value of its own unless it is a single token. */
  const addText = (text: string, whole?: string): void => {
    if (left <= 0) {
      truncated ||= text.trim() !== ""
      return
    }
    const found = Value.tokens(text, { limit: left + 1 })
    if (whole !== undefined && found[0]?.text !== whole) {
      values.add(Value.normalise(whole))
      left -= 1
    }
    truncated ||= found.length > left
    for (const token of found.slice(0, left)) addToken(token)
    left -= found.length
    if (!/\d/.test(text)) return
    for (const day of Moment.find(text)) addDay(day)
    for (const hour of Moment.hours(text)) values.add(hour)
    for (const number of Derived.inFull(text)) numbers.add(number)
  }
  const addValue = (value: unknown, level: number): void => {
    for (const { value: leaf } of Json.leaves(value)) {
      if (leaf === null) continue
      const text = String(leaf)
      const inner = level < depth ? nested(leaf) : undefined
      if (inner !== undefined) addValue(inner, level + 1)
      else addText(Sources.readable(text), text)
    }
  }

  for (const value of evidence) addValue(value, 0)
  left = limit
  for (const text of texts) addText(Sources.readable(text))
  return { values, days, numbers: Array.from(numbers).sort((a, b) => a - b), truncated }
}

/** Whether a value has a source: in one of its spellings, or as a day or a time that sources know by another one. */
export const has = ({ days, values }: Corpus, text: string, value: string): boolean => {
  if (values.has(value)) return true
  if (Spelling.keys(text).some((key) => values.has(key.value))) return true
  if (/^\d{4}$/.test(value)) return days.has(value)
  const stamped = Moment.stamped(value)
  if (stamped !== undefined && !Spelling.keys(stamped.time).some((key) => values.has(key.value))) return false
  return Moment.readings(stamped?.date ?? value).some((day) => Moment.isKnown(days, day))
}
