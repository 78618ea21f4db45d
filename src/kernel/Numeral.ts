/**
 * A `Numeral` is a number in a spelling that is not its plain one, as other places and programs write it: `1.234.567`,
 * `12.345,67`, `1'234'567`, `USD1,234` or `1.5e6`.
 *
 * @internal
 */

/** A numeral where it stands. `value` is the plain form. */
export interface Numeral {
  readonly text: string
  readonly value: string
  readonly start: number
  readonly end: number
}

const points = "\\d{1,3}(?:(?:\\.\\d{3}){2,6}(?:,\\d{1,15})?|(?:\\.\\d{3}){1,6},\\d{1,2})"
const commas = "\\d{1,3}(?:,\\d{3}){1,6}(?:\\.\\d{1,15})?|\\d{1,20}(?:\\.\\d{1,15})?"
const codes = "USD|EUR|GBP|CHF|JPY|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK"
const edges = { before: "(?<![\\w.,'’])", after: "(?![\\w%]|[.,'’]\\d)" }

const european = new RegExp(`(?<![\\w.,'’:/-])(?:${points})${edges.after}`, "g")
const priced = new RegExp(`(?<![\\w.,'’:/-])(?:(?:${codes})|[A-Z]{1,2}\\$)(${commas})${edges.after}`, "g")
/** Between groups stands the same mark. A space of the common kind may also stand between two numbers: it needs two. */
const grouped = new RegExp(
  `${edges.before}\\d{1,3}(?:(?: \\d{3}){2,6}|([\\u00a0\\u202f'’_])\\d{3}(?:\\1\\d{3}){0,5})(?:[.,]\\d{1,15})?${edges.after}`,
  "g"
)

const plainOf = (text: string): string => {
  const [whole = "", ...fraction] = text.split(",")
  return [whole.replaceAll(".", ""), ...fraction].join(".")
}

/** The numerals of a text that are read as one number and in no other way. */
export const find = (text: string): ReadonlyArray<Numeral> => {
  const at = (pattern: RegExp, valueOf: (whole: string, own: string) => string): ReadonlyArray<Numeral> =>
    Array.from(text.matchAll(pattern)).map(({ 0: whole, 1: own = "", index }) => ({
      text: whole,
      value: valueOf(whole, own),
      start: index,
      end: index + whole.length
    }))
  return [...at(european, plainOf), ...at(priced, (_, own) => own.replaceAll(",", ""))]
}

/** As `find`, with what may also be more than one number, as `1 234 567`: a source of it, and nothing to be judged. */
export const sourced = (text: string): ReadonlyArray<string> => [
  ...find(text).map(({ value }) => value),
  ...Array.from(text.matchAll(grouped)).map(([whole]) => {
    const [, digits = "", fraction] = /^(.*?)(?:[.,](\d+))?$/.exec(whole) ?? []
    return [digits.replace(/\D/g, ""), ...(fraction === undefined ? [] : [fraction])].join(".")
  })
]

const exponent = /^(-?\d{1,15}(?:\.\d{1,15})?)e([+-]?\d{1,3})$/

/** Digits and power of ten of a number as programs write it, as `1.5e6`. */
export const scientific = (value: string): { readonly digits: string; readonly power: number } | undefined => {
  const [isOne, digits = "", by = ""] = exponent.exec(value) ?? []
  const power = Number(`1e${by}`)
  return isOne === undefined || !Number.isFinite(power) ? undefined : { digits, power }
}
