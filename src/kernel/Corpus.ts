/**
 * A `Corpus` is all values that have a source in a run, under each spelling by which they are known.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Derived from "./Derived.ts"
import * as Json from "./Json.ts"
import * as Moment from "./Moment.ts"
import * as Numeral from "./Numeral.ts"
import * as Sources from "./Sources.ts"
import * as Spelling from "./Spelling.ts"
import * as Unit from "./Unit.ts"
import * as Value from "./Value.ts"

export interface Corpus {
  readonly values: ReadonlySet<string>
  /** Days and their parts, as `Moment.keys` has them. */
  readonly days: ReadonlySet<string>
  readonly numbers: Derived.Sourced
  /** There was more than could be read. */
  readonly truncated: boolean
}

/** What is evidence, but for all that `echoed` knows in one of its spellings. */
export interface Evidence {
  readonly value: unknown
  readonly echoed?: Corpus
}

/** A text inside a value that is JSON itself is read as such, this many times. */
const depth = 4

const nested = (leaf: unknown): unknown => {
  if (typeof leaf !== "string" || !/^\s*[{[]/.test(leaf)) return undefined
  return Either.getOrUndefined(Json.parse(leaf, Sources.limits))
}

const host = /^(?:www\.)?([a-z\d]*[a-z]\d*)\.[a-z]{2,}$/i
const version = /^v(\d+\.\d+\.\d[\w.-]*)$/i
const plainNumber = /^-?\d+(?:\.\d+)?$/

/**
 * The parts of a value by which it is also spoken of: those between `/`, `:`, `#` and `@`; numbers of four digits or more
 * between `_` and `-`, as `7504069` of `certificate_7504069`; the line in `#L1474`; what a mask leaves, as in `...7447`;
 * the name in a host, as `shop24` of `www.shop24.com`; the numbers of `v1.2.3`.
 */
const partsOf = ({ text, value }: Value.Token): ReadonlyArray<string> => {
  if (plainNumber.test(value)) return []
  const parts = text.split(/[/:#@]/)
  const digits = parts.flatMap((part) => part.split(/[_-]/)).map((part) => part.replace(/^(?:L|\.+)(?=\d)/, ""))
  const names = parts.flatMap((part) => [host, version].flatMap((pattern) => pattern.exec(part)?.[1] ?? []))
  return [...(parts.length > 1 ? parts : []), ...names, ...digits.filter((part) => /^\d{4,}$/.test(part))]
}

/** The keys under which a value is known: none without the sign that it has. */
const keysOf = (text: string): ReadonlyArray<string> =>
  Spelling.keys(text).flatMap(({ by, value }) => (by.includes("sign dropped") ? [] : [value]))

/** A value with the sign that stands before it, and what stands around it. */
export const said = (text: string, { end, start, text: own, value }: Value.Token): Unit.Said & { value: string } => {
  const before = text.slice(Math.max(0, start - 40), start)
  const around = { before, after: text.slice(end, end + 24) }
  const isSigned = before.endsWith("−") && plainNumber.test(value)
  return isSigned ? { ...around, text: `-${own}`, value: `-${value}` } : { ...around, text: own, value }
}

const alone = (text: string): Unit.Said => ({ text, before: "", after: "" })

/** The corpus of values and texts. Of each of the two at most `limit` tokens are read. */
export const make = (evidence: ReadonlyArray<Evidence>, texts: ReadonlyArray<string>, limit: number): Corpus => {
  const values = new Set<string>()
  const days = new Set<string>()
  const plain = new Set<number>()
  const amounts = new Map<Unit.Kind, Set<number>>()
  let truncated = false
  let left = limit
  let echoed: Corpus | undefined
  let seen = new Set<string>()

  const addKey = (key: string): void => {
    if (echoed?.values.has(key) !== true) values.add(key)
  }
  const addDay = (day: Moment.Day): void => {
    for (const key of Moment.keys(day)) if (echoed?.days.has(key) !== true) days.add(key)
  }
  const addNumber = (number: number, unit?: Unit.Unit): void => {
    const own = String(number)
    if (echoed !== undefined && Derived.isKnown(echoed.numbers, alone(own), own)) return
    plain.add(number)
    const add = (kind: Unit.Kind, amount: number): void => {
      const all = amounts.get(kind) ?? new Set()
      amounts.set(kind, all.add(amount))
    }
    if (!Number.isInteger(number)) add("ratio", number)
    for (const size of unit?.sizes ?? []) if (unit !== undefined) add(unit.kind, number * size)
  }
  const addForm = (text: string): void => {
    for (const key of keysOf(text)) {
      addKey(key)
      const minute = Moment.minute(key)
      if (minute !== undefined) addKey(minute)
    }
  }
  /** A number once for each of what it counts, which is not the same at each place. */
  const addCount = (one: ReturnType<typeof said>, field: string | undefined): void => {
    const value = plainNumber.test(one.value) ? one.value : Spelling.numberOf(one.text, one.value)
    const number = Number(value ?? (Numeral.scientific(one.value) === undefined ? undefined : one.value))
    if (Number.isNaN(number)) return
    const unit = Unit.of(one, field)
    addNumber(number, unit)
    if (number > 0 && Derived.isLess(one)) addNumber(-number, unit)
  }
  const addToken = (text: string, token: Value.Token, field: string | undefined): void => {
    const one = said(text, token)
    if (echoed !== undefined && isKnown(echoed, one)) return
    if (!/\d/.test(token.value)) {
      addKey(token.value)
      return
    }
    addCount(one, field)
    if (seen.has(one.text)) return
    seen.add(one.text)
    addForm(one.text)
    for (const part of partsOf(token)) addKey(Value.normalise(part))
    const stamped = Moment.stamped(token.value)
    if (stamped !== undefined) addForm(stamped.time)
    for (const day of Moment.readings(stamped?.date ?? token.value)) addDay(day)
  }
  /** `whole` is a leaf, which counts as a value of its own unless it is a single token. */
  const addText = (text: string, whole?: string, field?: string): void => {
    if (left <= 0) {
      truncated ||= text.trim() !== ""
      return
    }
    const found = Value.tokens(text, { limit: left + 1 })
    if (whole !== undefined && found[0]?.text !== whole) {
      addKey(Value.normalise(whole))
      left -= 1
    }
    truncated ||= found.length > left
    for (const token of found.slice(0, left)) addToken(text, token, found.length === 1 ? field : undefined)
    left -= found.length
    if (!/\d/.test(text)) return
    for (const { days: spelled } of Moment.find(text)) for (const day of spelled) addDay(day)
    for (const hour of Moment.hours(text)) addKey(hour)
    for (const { isMoney, number } of Derived.inFull(text)) addNumber(number, isMoney ? Unit.money : undefined)
    for (const number of Numeral.sourced(text)) {
      addKey(number)
      addNumber(Number(number))
    }
  }
  const addValue = (value: unknown, level: number): void => {
    for (const { pointer, value: leaf } of Json.leaves(value)) {
      if (leaf === null) continue
      const text = String(leaf)
      const inner = level < depth ? nested(leaf) : undefined
      if (inner !== undefined) addValue(inner, level + 1)
      else addText(Sources.readable(text), text, Unit.fieldOf(pointer))
    }
  }

  for (const one of evidence) {
    if (one.echoed !== echoed) seen = new Set()
    echoed = one.echoed
    addValue(one.value, 0)
  }
  if (echoed !== undefined) seen = new Set()
  echoed = undefined
  left = limit
  for (const text of texts) addText(Sources.readable(text))
  const inOrder = (numbers: Iterable<number>): ReadonlyArray<number> => Array.from(numbers).sort((a, b) => a - b)
  const ordered = Array.from(amounts, ([kind, all]) => [kind, inOrder(all)] as const)
  return { values, days, numbers: { plain: inOrder(plain), amounts: new Map(ordered) }, truncated }
}

/** Whether a value has a source: in one of its spellings, or as a day or a time that sources know by another one. */
export const has = ({ days, values }: Corpus, text: string, value: string): boolean => {
  if (values.has(value)) return true
  if (keysOf(text).some((key) => values.has(key))) return true
  if (/^\d{4}$/.test(value)) return days.has(value)
  const stamped = Moment.stamped(value)
  if (stamped !== undefined && !keysOf(stamped.time).some((key) => values.has(key))) return false
  return Moment.readings(stamped?.date ?? value).some((day) => Moment.isKnown(days, day))
}

/** As `has`, or as a number that follows from a sourced one. */
export const isKnown = (corpus: Corpus, one: Unit.Said & { readonly value: string }): boolean => {
  const { text, value } = one
  if (has(corpus, text, value)) return true
  const exact = Numeral.scientific(value)
  if (exact !== undefined) {
    return Derived.isKnown(corpus.numbers, { ...one, text: exact.digits }, exact.digits, exact.power)
  }
  const number = plainNumber.test(value) ? value : Spelling.numberOf(text, value)
  return number !== undefined && Derived.isKnown(corpus.numbers, one, number)
}
