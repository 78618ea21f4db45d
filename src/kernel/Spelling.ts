/**
 * A `Spelling` is one way of writing a value, and here stands when two spellings are of one value. Why they are is
 * always sayable: every normalisation has a name.
 *
 * All of it is linear in the text.
 *
 * @internal
 */
import { dual } from "effect/Function"

/**
 * What is changed to make two spellings equal, in order of application:
 *
 * - `punctuation`: space, quotes and opening brackets before, and after it also `. , : ; ! ?` and closing brackets; a
 *   typographic minus before the value becomes `-`.
 * - `currency`: `$` before, also after a minus. `leading mark`: `#`, `@` or `+` before. `percent`: `%` after.
 * - `case`: upper and lower case are one.
 * - `thousands separators`: a comma after a group of at most three digits that does not start with 0, or after such a
 *   comma's group, and before exactly three digits.
 * - `trailing zeros`: `10519.0` is `10519`. Only of plain numbers of at most 15 digits, counting the fraction: an
 *   optional `-`, digits without a leading zero, an optional fraction. All others stay text: `007`, `.5`, `1e3`.
 * - `0x prefix`: of hexadecimal digits. `unit`: a number is also known without a tail of at most five letters and an
 *   optional `/word`, as in `12.5ms` and `30GB/s`. Neither `0xab` nor four capitals in a row, as in `2FBBAH`, are that.
 * - `date`: day, month and year in digits, with the same `.`, `/` or `-` twice, are also known as `YYYY-MM-DD`, if they can
 *   be read in one way only: the year is first, or a part is over 12, or day and month are equal.
 *
 * The last two are weak, as they can join what differs in the world:
 *
 * - `sign dropped`: a number without its minus.
 * - `clock time`: hours 0–23, or 1–12 with AM or PM, and minutes; seconds of `:00` and the day mark of a timetable
 *   (`+1`) are dropped, and so is `Z`, `UTC` or `GMT`. `1:30 PM`, `13:30` and `13:30:00+1` are one.
 */
export type Normalisation = (typeof normalisations)[number]

const normalisations = [
  "punctuation",
  "currency",
  "leading mark",
  "percent",
  "case",
  "thousands separators",
  "trailing zeros",
  "0x prefix",
  "unit",
  "date",
  "sign dropped",
  "clock time"
] as const

/** A form under which a value matches, and what was needed to get to it: nothing, if it is the raw text. */
export interface Key {
  readonly value: string
  readonly by: ReadonlyArray<Normalisation>
  readonly weak: boolean
}

const opening = "'\"`‘’“”«»‹›([{<"
const closing = "'\"`‘’“”«»‹›)]}>.,:;!?"

export const isDigit = (code: number): boolean => code >= 48 && code <= 57
export const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/** Whether the comma at `at` separates thousands, in a token that starts at `from` and whose earlier commas do. */
export const isThousands = (text: string, at: number, from: number): boolean => {
  for (let n = 1; n <= 3; n++) if (!isDigit(text.charCodeAt(at + n))) return false
  if (isDigit(text.charCodeAt(at + 4))) return false
  let first = at
  while (first > from && at - first < 4 && isDigit(text.charCodeAt(first - 1))) first--
  const group = at - first
  if (group < 1 || group > 3) return false
  const before = first > from ? text.charCodeAt(first - 1) : 0
  if (before === 44) return group === 3
  return text.charCodeAt(first) !== 48 && !isLetter(before) && before !== 46 && before !== 95
}

const withoutThousands = (text: string): string => {
  let out = ""
  let kept = 0
  let from = 0
  for (let at = text.indexOf(","); at >= 0; at = text.indexOf(",", at + 1)) {
    if (isThousands(text, at, from)) {
      out += text.slice(kept, at)
      kept = at + 1
    } else from = at + 1
  }
  return out + text.slice(kept)
}

const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/

/** The text without zeros at the end of its fraction, if it is a plain number of at most 15 digits. */
export const withoutZeros = (text: string): string => {
  if (text.length > 17 || !plainNumber.test(text) || text.replace(/\D/g, "").length > 15) return text
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text
}

type Names = ReadonlySet<Normalisation>

const before = (character: string): Normalisation | undefined => {
  if (opening.includes(character) || character.trim() === "") return "punctuation"
  if (character === "$") return "currency"
  return character === "#" || character === "@" || character === "+" ? "leading mark" : undefined
}

const after = (character: string): Normalisation | undefined => {
  if (closing.includes(character) || character.trim() === "") return "punctuation"
  return character === "%" ? "percent" : undefined
}

/** The text after the strong normalisations among `use`; those that changed something are added to `used`. */
const form = (raw: string, use: Names, used: Set<Normalisation>): string => {
  const may = (name: Normalisation | undefined): boolean => {
    if (name === undefined || !use.has(name)) return false
    used.add(name)
    return true
  }
  const changed = (name: Normalisation, from: string, change: (text: string) => string): string => {
    const to = use.has(name) ? change(from) : from
    if (to !== from) used.add(name)
    return to
  }
  let start = 0
  let end = raw.length
  while (start < end && may(before(raw.charAt(start)))) start++
  while (end > start && may(after(raw.charAt(end - 1)))) end--
  let sign = ""
  if (start < end && (raw.charAt(start) === "-" || (raw.charAt(start) === "\u2212" && may("punctuation")))) {
    sign = "-"
    start++
    while (start < end && raw.charAt(start) === "$" && may("currency")) start++
  }
  let text = changed("case", sign + raw.slice(start, end), (cased) => cased.toLowerCase())
  text = changed("thousands separators", text, withoutThousands)
  return changed("trailing zeros", text, withoutZeros)
}

const clock = /^(\d{1,2}):(\d\d)(?::(\d\d))?(?:\+\d|z|utc|gmt|\s?([ap])\.?m\.?)?$/i

/** `HH:MM`, or `HH:MM:SS`, if the text is a time of day. */
const clockOf = (text: string): string | undefined => {
  const [matched, hours = "", minutes = "", seconds = "00", half] = clock.exec(text) ?? []
  if (matched === undefined) return undefined
  const written = Number(hours)
  if (half !== undefined && (written < 1 || written > 12)) return undefined
  const hour = half === undefined ? written : (written % 12) + (half.toLowerCase() === "p" ? 12 : 0)
  if (hour > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined
  return `${String(hour).padStart(2, "0")}:${minutes}${seconds === "00" ? "" : `:${seconds}`}`
}

const yearFirst = /^(\d{4})([./-])(\d{1,2})\2(\d{1,2})$/
const yearLast = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/
const monthDays = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** `YYYY-MM-DD`, if the calendar has the day. */
export const dayOf = (year: string, month: string, day: string): string | undefined => {
  const days = monthDays[Number(month) - 1]
  if (days === undefined || Number(day) < 1 || Number(day) > days) return undefined
  return `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`
}

/** `YYYY-MM-DD`, if the text is a day of the calendar that can be read in one way only. */
const dateOf = (text: string): string | undefined => {
  const [isFirst, year = "", , month = "", day = ""] = yearFirst.exec(text) ?? []
  if (isFirst !== undefined) return dayOf(year, month, day)
  const [isLast, left = "", , right = "", last = ""] = yearLast.exec(text) ?? []
  if (isLast === undefined) return undefined
  const dayBefore = dayOf(last, right, left)
  const monthBefore = dayOf(last, left, right)
  if (dayBefore === undefined || monthBefore === undefined) return dayBefore ?? monthBefore
  return dayBefore === monthBefore ? dayBefore : undefined
}

const withUnit = /^(?!0x)(-?\d+(?:\.\d+)?)[a-z]{1,5}(?:\/[a-z]+)?$/i
const capitals = /\d[A-Z]{4}/

/** The number of a number with a unit, of which `raw` is the text and `value` its form. */
export const numberOf = (raw: string, value: string): string | undefined =>
  capitals.test(raw) ? undefined : withUnit.exec(value)?.[1]

const keysUsing = (raw: string, use: Names): ReadonlyArray<Key> => {
  const used = new Set<Normalisation>()
  const value = form(raw, use, used)
  if (value === "") return []
  const keys: Array<Key> = [{ value, by: Array.from(used), weak: false }]
  const add = (name: Normalisation, other: string | undefined, weak: boolean): void => {
    if (other !== undefined && use.has(name)) keys.push({ value: other, by: [...used, name], weak })
  }
  add("0x prefix", /^0x[0-9a-f]+$/i.test(value) ? value.slice(2) : undefined, false)
  const number = numberOf(raw, value)
  if (number !== undefined && use.has("unit")) {
    const plain = use.has("trailing zeros") ? withoutZeros(number) : number
    const by: ReadonlyArray<Normalisation> = plain === number ? ["unit"] : ["unit", "trailing zeros"]
    keys.push({ value: plain, by: [...used, ...by], weak: false })
  }
  const date = dateOf(value)
  add("date", date === value ? undefined : date, false)
  add("sign dropped", /^-\d+(?:\.\d+)?$/.test(value) ? value.slice(1) : undefined, true)
  const time = clockOf(value)
  add("clock time", time === value ? undefined : time, true)
  return keys
}

const all: Names = new Set(normalisations)

/** The one form under which spellings of a value are compared. `""` if nothing but punctuation is there. */
export const normalise = (raw: string): string => form(raw, all, new Set())

/** Every form under which a text matches: first `normalise(raw)`, strong ones before weak ones. */
export const keys = (raw: string): ReadonlyArray<Key> => keysUsing(raw, all)

const common = (left: string, right: string, use: Names): ReadonlyArray<Normalisation> | undefined => {
  const others = keysUsing(right, use)
  for (const key of keysUsing(left, use)) {
    const other = others.find(({ value }) => value === key.value)
    if (other !== undefined) return [...key.by, ...other.by]
  }
  return undefined
}

/**
 * Why two spellings are one value: normalisations that together make them equal, none of which can be left out. `[]`
 * if they are the same text, `undefined` if they do not match.
 */
export const match: {
  (that: string): (self: string) => ReadonlyArray<Normalisation> | undefined
  (self: string, that: string): ReadonlyArray<Normalisation> | undefined
} = dual(2, (self: string, that: string): ReadonlyArray<Normalisation> | undefined => {
  if (self === that) return []
  const needed = common(self, that, all)
  if (needed === undefined) return undefined
  let names: Names = new Set(needed)
  for (const name of Array.from(normalisations).reverse()) {
    const fewer = new Set(names)
    if (fewer.delete(name) && common(self, that, fewer) !== undefined) names = fewer
  }
  return normalisations.filter((name) => names.has(name))
})
