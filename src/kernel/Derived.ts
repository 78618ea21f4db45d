/**
 * A `Derived` number is one that follows from a sourced number by rounding it, or by saying it in another unit. Sums,
 * differences and shares of several numbers are not: nothing here can tell which were meant.
 *
 * @internal
 */
import * as Unit from "./Unit.ts"

type Numbers = ReadonlyArray<number>

/** Numbers that have a source, in order of size: as they are said, and in the unit that `Unit` counts their kind in. */
export interface Sourced {
  readonly plain: Numbers
  readonly amounts: ReadonlyMap<Unit.Kind, Numbers>
}

/** Whether a sourced number is within the bounds. */
const isWithin = (sourced: Numbers, low: number, high: number): boolean => {
  let from = 0
  let to = sourced.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((sourced[middle] ?? 0) < low) from = middle + 1
    else to = middle
  }
  const found = sourced[from]
  return found !== undefined && found <= high
}

const written = /\d[\d,]*(?:\.(\d+))?/
const hedge =
  /(?:\b(about|approximately|approx\.?|around|roughly|close to|nearly|almost|over|under|more than|less than)\s|[~≈]\s?)\W{0,3}$/i
const upwards = /^(?:over|more than)$/i
const downwards = /^(?:nearly|almost|under|less than)$/i

/** Of a text, the words that turn the sign of a number: `a loss of 5000` is -5000. */
const lessBefore =
  /\b(?:loss(?:es)?|lost|deficit|shortfall|minus|negative|below|under|down|fell|dropp?(?:ed)?|declin\w*|decreas\w*|reduc\w*|reduction|cut|shr[aiu]nk|ow(?:e|es|ed|ing)|debit\w*|debt|overdrawn|withdr\w*|spent|spend|pa(?:id|y|ys|yment)|charged?|costs?|expenses?|fees?|refund\w*|discount\w*|credit\w*|sent|outflow\w*)\b\W*(?:[a-z]+\W+){0,2}$/i
const lessAfter =
  /^\W{0,3}(?:[a-z]+ )?(?:below|less|lower|fewer|off|loss|deficit|in the red|overdrawn|[WS]\b|west|south)/i

/** Whether a number without a sign may be one that is below zero. */
export const isLess = ({ after, before }: Unit.Said): boolean => lessBefore.test(before) || lessAfter.test(after)

const powers: ReadonlyMap<string, number> = new Map([
  ["k", 1e3],
  ["thousand", 1e3],
  ["m", 1e6],
  ["million", 1e6],
  ["b", 1e9],
  ["bn", 1e9],
  ["billion", 1e9]
])

const magnitude = /(?<![\w.,])(\$?)(\d[\d,]{0,20}(?:\.\d{1,15})?)[ -]?(k|m|bn?|thousand|million|billion)(?![a-z\d])/gi

/** A number that a text says in thousands, millions or billions, in full. */
export interface Full {
  readonly number: number
  readonly isMoney: boolean
}

/** The numbers that a text says in thousands, millions or billions. `m` and `b` are that only of money. */
export const inFull = (text: string): ReadonlyArray<Full> =>
  Array.from(text.matchAll(magnitude)).flatMap(([, money, digits = "", unit = ""]) => {
    const power = powers.get(unit.toLowerCase())
    if (power === undefined || (money === "" && /^[mb]$/i.test(unit))) return []
    const number = Number((Number(digits.replaceAll(",", "")) * power).toPrecision(15))
    return [{ number, isMoney: money !== "" }]
  })

/**
 * What a number that is written so may have been. It was rounded to the last digit written; after "about" and its like the
 * zeros at the end do not count, and after "over" or "under" it is on that side.
 */
const boundsOf = ({ before, text }: Unit.Said, size: number): { readonly low: number; readonly high: number } => {
  const [isHedged, word = ""] = hedge.exec(before) ?? []
  const decimals = written.exec(text)?.[1]?.length ?? 0
  const zeros = decimals === 0 && isHedged !== undefined ? (/\d\d(0+)$/.exec(String(size))?.[1]?.length ?? 0) : 0
  const half = 0.5 * 10 ** (zeros - decimals)
  return { low: upwards.test(word) ? size : size - half, high: downwards.test(word) ? size : size + half }
}

/** Rounding errors of the numbers here, not of those that were said. */
const slack = 1e-12

const none: Numbers = []

/**
 * Whether a number, of which `value` is the plain form, is a sourced number rounded: with its sign, in the same unit, or in
 * another of the same kind. `power`: it is said in so many.
 */
export const isKnown = ({ amounts, plain }: Sourced, said: Unit.Said, value: string, power = 1): boolean => {
  const size = Math.abs(Number(value))
  if (!Number.isFinite(size)) return false
  const { high, low } = boundsOf(said, size)
  const margin = slack * size
  const negative = value.startsWith("-")
  const isIn = (numbers: Numbers, factor: number): boolean => {
    const least = (low - margin) * factor
    const most = (high + margin) * factor
    return (
      ((!negative || size === 0) && isWithin(numbers, least, most)) ||
      ((negative || isLess(said)) && isWithin(numbers, -most, -least))
    )
  }
  const word = Unit.wordAt(said)
  const scales = [power, ...(word === undefined ? [] : [powers.get(word) ?? power])]
  const { kind, sizes } = Unit.beside(said) ?? { kind: "ratio" as const, sizes: [1] }
  return scales.some((scale) => isIn(plain, scale) || sizes.some((one) => isIn(amounts.get(kind) ?? none, scale * one)))
}
