/**
 * A `Moment` is a day, or a part of one, as texts spell it: `May 21, 2024`, `21st of May`, `May 2024`, `2024-05-21`,
 * `05/21/2024`, `2024-05-21T13:30:00Z`. Here stands which spellings are of one day.
 *
 * @internal
 */
import * as Spelling from "./Spelling.ts"

/** Two digits each but the year, which has four. At least two of the three are there. */
export interface Day {
  readonly year?: string
  readonly month: string
  readonly day?: string
}

/** A day that is spelled out, or the first and the last of some days, where it stands. */
export interface Spelled {
  readonly days: ReadonlyArray<Day>
  readonly start: number
  readonly end: number
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
const month =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?"
const number = "(\\d{1,2})(?:st|nd|rd|th)?"
const year = "(?:,? (\\d{4}))?"
/** No letter, no digit, and no mark that goes on with a digit. */
const edge = "(?![A-Za-z\\d]|[:.,/-]\\d)"
const until = `(?:[-–]${number})?`
const spelled = new RegExp(
  `(?<![A-Za-z\\d])(?:(${month}) ${number}${until}${edge}${year}${edge}|${number}${until} (?:of )?(${month})${edge}${year}${edge}|(${month}),? (\\d{4})${edge})`,
  "gi"
)
/** As `21-May-2024`, `21/May/2024` and `2024-May-21`. */
const joined = new RegExp(
  `(?<![A-Za-z\\d])(?:(\\d{1,2})([/-])(${month})\\2(\\d{4})|(\\d{4})-(${month})-(\\d{1,2}))${edge}`,
  "gi"
)

const monthOf = (name: string): string => String(months.indexOf(name.slice(0, 3).toLowerCase()) + 1).padStart(2, "0")

/** A leap year, so that a day without a year can be the 29th of February. */
const anyYear = "2000"

const dayOf = (year: string | undefined, month: string, day: string | undefined): Day | undefined => {
  const padded = day?.padStart(2, "0")
  if (padded !== undefined && Spelling.dayOf(year ?? anyYear, month, padded) === undefined) return undefined
  return { ...(year === undefined ? {} : { year }), month, ...(padded === undefined ? {} : { day: padded }) }
}

/** The days that a text spells out with the name of a month. */
export const find = (text: string): ReadonlyArray<Spelled> => {
  const found: Array<Spelled> = []
  const add = (match: RegExpExecArray, ...days: ReadonlyArray<Day | undefined>): void => {
    const real = days.filter((day) => day !== undefined)
    if (real.length < days.length) return
    found.push({ days: real, start: match.index, end: match.index + match[0].length })
  }
  for (const match of text.matchAll(spelled)) {
    const [, first, day, until, firstYear, lastDay, lastUntil, last, lastYear, only, onlyYear] = match
    const month = monthOf(first ?? last ?? only ?? "")
    const year = firstYear ?? lastYear ?? onlyYear
    const end = until ?? lastUntil
    add(match, dayOf(year, month, day ?? lastDay), ...(end === undefined ? [] : [dayOf(year, month, end)]))
  }
  for (const match of text.matchAll(joined)) {
    const [, day, , month, year, firstYear, middle, lastDay] = match
    add(match, dayOf(year ?? firstYear, monthOf(month ?? middle ?? ""), day ?? lastDay))
  }
  return found
}

const hour = /(?<![\w:.])(\d{1,2}) ?([ap])\.?m(?![A-Za-z\d_])/gi

/** The full hours that a text says without their minutes, as `11am`, each as `HH:00`, and where they stand. */
export const hoursAt = (
  text: string
): ReadonlyArray<{ readonly hour: string; readonly start: number; readonly end: number }> =>
  Array.from(text.matchAll(hour)).flatMap(({ 0: own, 1: hours = "", 2: half, index: start }) =>
    Spelling.keys(`${hours}:00 ${half}m`).flatMap(({ by, value }) =>
      by.includes("clock time") ? [{ hour: value, start, end: start + own.length }] : []
    )
  )

/** As `hoursAt`, without the places. */
export const hours = (text: string): ReadonlyArray<string> => hoursAt(text).map(({ hour }) => hour)

const inDigits = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/

const monthInDigits = /^((?:1[89]|20|21)\d\d)-(0[1-9]|1[0-2])$/

/** Each day of the calendar that a text in digits can be read as: the day before the month, or after it. Or a month. */
export const readings = (value: string): ReadonlyArray<Day> => {
  if (!/^\d{1,4}[./-]\d/.test(value)) return []
  const [isMonth, ofYear = "", month = ""] = monthInDigits.exec(value) ?? []
  if (isMonth !== undefined) return [{ year: ofYear, month }]
  const [isDate, left = "", , right = "", year = ""] = inDigits.exec(value) ?? []
  const all = isDate === undefined ? [Spelling.keys(value)] : []
  const dates =
    isDate === undefined
      ? all.flatMap((keys) => keys.map((key) => key.value))
      : [Spelling.dayOf(year, left, right), Spelling.dayOf(year, right, left)]
  return dates.flatMap((date) => {
    const [isDay, year = "", month = "", day = ""] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date ?? "") ?? []
    return isDay === undefined || Spelling.dayOf(year, month, day) === undefined ? [] : [{ year, month, day }]
  })
}

const stamp = /^(\d{4}-\d{2}-\d{2})[t_](\d{2}:\d{2}(?::\d{2})?)(?:\.\d+)?(?:z|[+-]\d{2}:?\d{2})?$/

/** The day and the time of day of a timestamp, in its own zone. */
export const stamped = (value: string): { readonly date: string; readonly time: string } | undefined => {
  const [isStamp, date = "", time = ""] = stamp.exec(value) ?? []
  return isStamp === undefined ? undefined : { date, time }
}

/** A time of day without its seconds, if it has some. */
export const minute = (time: string): string | undefined => /^(\d{2}:\d{2}):\d{2}$/.exec(time)?.[1]

/** The keys under which a source of a day knows it and its parts. A year of its own is a part only of a day that has one. */
export const keys = ({ day, month, year }: Day): ReadonlyArray<string> => [
  ...(day === undefined ? [] : [`--${month}-${day}`]),
  ...(year === undefined ? [`~${month}-${day}`] : [year, `${year}-${month}`]),
  ...(year === undefined || day === undefined ? [] : [`${year}-${month}-${day}`])
]

/** Whether sources know a day. A year that the source of a day leaves out may be told by another one. */
export const isKnown = (known: ReadonlySet<string>, { day, month, year }: Day): boolean => {
  if (day === undefined) return known.has(`${year}-${month}`)
  if (year === undefined) return known.has(`--${month}-${day}`)
  return known.has(`${year}-${month}-${day}`) || (known.has(`~${month}-${day}`) && known.has(year))
}
