/**
 * A `SourcePart` is a value by which a part of another one is spoken of: the day of a timestamp, the number in an id, a day
 * whose month a text spells out. It is weak: a piece that holds the whole value outranks it.
 *
 * @internal
 */
import * as Moment from "./Moment.ts"
import * as Value from "./Value.ts"

export interface SourcePart {
  /** What holds the part, as it stands in the text. */
  readonly token: Value.Token
  /** The part, normalised. */
  readonly value: string
  readonly by: Name
}

export type Name =
  | "part of a date"
  | "part of a timestamp"
  | "part of an id"
  | "part of an address"
  | "day in words"
  | "day in words, without its year"
  | "hour in words"
  | "number and unit"

export const names: ReadonlySet<string> = new Set<string>([
  "part of a date",
  "part of a timestamp",
  "part of an id",
  "part of an address",
  "day in words",
  "day in words, without its year",
  "hour in words",
  "number and unit"
] satisfies ReadonlyArray<Name>)

/** The key under which a day is found whose year is not told beside it. */
const anyYear = (month: string, day: string): string => `~${month}-${day}`

const inDigits = /^\d{4}-(\d{2})-(\d{2})$/
const counted = /^(\d{1,6})-(minute|hour|day|week|month|year)s?$/
const counts = /(?<![\w.,-])(\d{1,6})[ -](minute|hour|day|week|month|year)s?(?![\w-])/gi

/** The key of a number with the unit of time after it, as `24 hours` and `24-hour`. */
const countOf = (digits: string, unit: string): string => `~${digits} ${unit.toLowerCase()}`

/** The keys under which a part may be held that is asked for as `value`. */
export const keysOf = (value: string): ReadonlyArray<string> => {
  const [, digits, unit] = counted.exec(value) ?? []
  if (digits !== undefined && unit !== undefined) return [value, countOf(digits, unit)]
  const [, month, day] = inDigits.exec(value) ?? []
  return month === undefined || day === undefined ? [value] : [value, anyYear(month, day)]
}

const year = /^(\d{4})-\d{2}-\d{2}(?!\d)/
const numbered = /[_-](\d{4,})(?=$|[_-])/g
const address = /^([a-z0-9._%+-]{4,64})@[a-z0-9.-]+\.[a-z]{2,}$/

const ofToken = (token: Value.Token): ReadonlyArray<SourcePart> => {
  const { value } = token
  if (!/\d/.test(value)) return []
  const stamped = Moment.stamped(value)
  const minute = stamped === undefined ? undefined : (Moment.minute(stamped.time) ?? stamped.time)
  const local = address.exec(value)?.[1]
  const isDated = year.test(value)
  const ids = isDated ? [] : Array.from(value.matchAll(numbered)).map(([, digits = ""]) => digits)
  const part = (value: string | undefined, by: Name): ReadonlyArray<SourcePart> =>
    value === undefined ? [] : [{ token, value, by }]
  return [
    ...part(year.exec(value)?.[1], "part of a date"),
    ...part(stamped?.date, "part of a timestamp"),
    ...part(minute, "part of a timestamp"),
    ...part(local, "part of an address"),
    ...ids.flatMap((digits) => part(digits, "part of an id"))
  ]
}

/** A day in words, as its text stands. */
const inWords = (text: string): ReadonlyArray<SourcePart> => {
  if (!/\d/.test(text)) return []
  const days = Moment.find(text).flatMap(({ days, end, start }) =>
    days.flatMap(({ day, month, year }): ReadonlyArray<SourcePart> => {
      if (day === undefined) return []
      const own = text.slice(start, end)
      const token = { text: own, value: own.toLowerCase(), start, end }
      return year === undefined
        ? [{ token, value: anyYear(month, day), by: "day in words, without its year" }]
        : [{ token, value: `${year}-${month}-${day}`, by: "day in words" }]
    })
  )
  const hours = Moment.hoursAt(text).map(({ end, hour, start }): SourcePart => {
    const own = text.slice(start, end)
    return { token: { text: own, value: own.toLowerCase(), start, end }, value: hour, by: "hour in words" }
  })
  const spans = Array.from(text.matchAll(counts)).map(
    ({ 0: own, 1: digits = "", 2: unit = "", index: start }): SourcePart => {
      const token = { text: own, value: own.toLowerCase(), start, end: start + own.length }
      return { token, value: countOf(digits, unit), by: "number and unit" }
    }
  )
  return [...days, ...hours, ...spans]
}

/** The parts of a text, and of its tokens. */
export const of = (text: string, tokens: ReadonlyArray<Value.Token>): ReadonlyArray<SourcePart> => [
  ...tokens.flatMap(ofToken),
  ...inWords(text)
]
