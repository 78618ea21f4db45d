/**
 * A `Value` is a name or a number inside a text: how it is found there, and when it needs a source. Nothing here judges
 * what a sentence means; it is all linear in the text.
 *
 * @since 0.1.0
 */
import * as Json from "./Json.ts"
import * as Spelling from "./Spelling.ts"

export { type Key, keys, match, type Normalisation, normalise } from "./Spelling.ts"

/**
 * A value where it stands: `text` is `source.slice(start, end)`, in UTF-16 code units, still with its `$`, `#`, `@`, `+`
 * and `%` and without the punctuation after it. `value` is `normalise(text)`.
 */
export interface Token {
  readonly text: string
  readonly value: string
  readonly start: number
  readonly end: number
}

const marks = new Set(Array.from(":_-/.,%+@#$", (mark) => mark.charCodeAt(0)))
const isPart = (code: number): boolean => Spelling.isDigit(code) || Spelling.isLetter(code) || marks.has(code)

const afternoon = /^[ap](?:m|\.m)(?![a-z0-9_])/i
const time = /^\d{1,2}:\d\d(?::\d\d)?$/

/** Where a time of day ends that is followed by one space and AM or PM. */
const halfDayEnd = (text: string, start: number, end: number): number => {
  const space = text.charCodeAt(end)
  if (space !== 32 && space !== 0xa0 && space !== 0x202f) return end
  if (end - start > 8 || !time.test(text.slice(start, end))) return end
  const half = afternoon.exec(text.slice(end + 1, end + 5))
  return half === null ? end : end + 1 + half[0].length
}

/**
 * The values of a text, in order. A token is a run of `A–Z a–z 0–9 : _ - / . , % + @ # $` with a letter or a digit in
 * it, without the `.` and `:` at its end. A comma splits it unless it separates thousands. A time of day takes in the
 * AM, PM, a.m. or p.m. that follows after one space.
 */
export const tokens = (text: string, options: { readonly limit?: number } = {}): ReadonlyArray<Token> => {
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  const found: Array<Token> = []
  for (let at = 0; at < text.length && found.length < limit;) {
    const start = at
    let named = false
    for (; ; at++) {
      const code = text.charCodeAt(at)
      if (!isPart(code) || (code === 44 && !Spelling.isThousands(text, at, start))) break
      named ||= Spelling.isDigit(code) || Spelling.isLetter(code)
    }
    let end = at
    while (end > start && (text.charCodeAt(end - 1) === 46 || text.charCodeAt(end - 1) === 58)) end--
    if (named) {
      if (end === at) end = halfDayEnd(text, start, end)
      const own = text.slice(start, end)
      found.push({ text: own, value: Spelling.normalise(own), start, end })
    }
    at = Math.max(at + 1, end)
  }
  return found
}

/**
 * `exempt` and `shapes` are matched against the whole of a token, as written or normalised, whatever their flags `g`
 * and `y` say; tokens over 256 characters match none.
 */
export interface Options {
  readonly exempt?: ReadonlyArray<RegExp>
  readonly shapes?: ReadonlyArray<RegExp>
  readonly minDigits?: number
  readonly limit?: number
}

const longestShape = 256

/** Whether one of the patterns matches the whole of a token, as written or normalised. */
export const matcher = (patterns: ReadonlyArray<RegExp>): ((token: Pick<Token, "text" | "value">) => boolean) => {
  const whole = patterns.map(({ flags, source }) => new RegExp(`^(?:${source})$`, flags.replace(/[gy]/g, "")))
  return ({ text, value }) =>
    text.length <= longestShape && whole.some((pattern) => pattern.test(text) || pattern.test(value))
}

const bareNumber = /^-?\d+(?:\.\d+)?$/

/** The first rule that applies. What it gives is the value to look for. */
const candidate = (
  token: Token,
  isExempt: (token: Token) => boolean,
  isShape: (token: Token) => boolean,
  minDigits: number
): string | undefined => {
  const { value } = token
  if (isExempt(token)) return undefined
  if (isShape(token)) return value
  if (!/\d/.test(value)) return undefined
  if (/^\d{1,2}\/\d{1,2}$/.test(value)) return undefined
  const number = bareNumber.test(value) ? value : Spelling.numberOf(token.text, value)
  if (number !== undefined) {
    const plain = Spelling.withoutZeros(number)
    return plain.replace(/\D/g, "").length >= minDigits ? plain : undefined
  }
  return value.length >= 4 && /[a-z:_\-/.@]/.test(value) ? value : undefined
}

/**
 * The values of an answer that need a source, distinct by value, each where it first appears. Of the first `limit`
 * tokens (20,000) it leaves out: what is exempt; unless a shape says otherwise, what has no digit, fractions such as
 * `3/4`, numbers of fewer than `minDigits` (4) digits, zeros at the end of a fraction not counted, and other tokens
 * of fewer than four characters or without a letter and any of `: _ - / . @`. A number with a unit is judged on its
 * number, which is then its `value`. Dates and times of day need no shape: they are found by their punctuation.
 */
export const extract = (text: string, options: Options = {}): ReadonlyArray<Token> => {
  const isExempt = matcher(options.exempt ?? [])
  const isShape = matcher(options.shapes ?? [])
  const found = new Map<string, Token>()
  for (const token of tokens(text, { limit: options.limit ?? 20_000 })) {
    const value = candidate(token, isExempt, isShape, options.minDigits ?? 4)
    if (value !== undefined && !found.has(value)) found.set(value, value === token.value ? token : { ...token, value })
  }
  return Array.from(found.values())
}

/** A value inside a JSON value. `start` and `end` count in the leaf, as text; `pointer` leads to it. */
export interface Found extends Token {
  readonly part: "key" | "value"
  readonly pointer: string
}

/** The values of a JSON value, in order: every key and scalar but `null`, first as a whole, then its tokens. */
export const fromJson = (value: unknown, options: { readonly limit?: number } = {}): ReadonlyArray<Found> => {
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  const found: Array<Found> = []
  for (const { part, pointer, value: leaf } of Json.leaves(value)) {
    if (found.length >= limit) return found
    if (leaf === null) continue
    const text = String(leaf)
    const whole: Token = { text, value: Spelling.normalise(text), start: 0, end: text.length }
    if (whole.value !== "") found.push({ ...whole, part, pointer })
    for (const token of tokens(text, { limit: limit - found.length })) {
      if (token.text !== text) found.push({ ...token, part, pointer })
    }
  }
  return found
}
