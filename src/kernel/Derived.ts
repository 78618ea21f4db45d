/**
 * A `Derived` number is one that follows from a sourced number by rounding it, or by saying it in another unit. Sums,
 * differences and shares of several numbers are not: nothing here can tell which were meant.
 *
 * @internal
 */

/** Numbers that have a source, in order of size. */
export type Sourced = ReadonlyArray<number>

/** Whether a sourced number is within the bounds. */
const isWithin = (sourced: Sourced, low: number, high: number): boolean => {
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

/** A number where a text says it: what stands right before and right after it decides how it may be derived. */
export interface Said {
  /** As it is written: digits, with its separators, mark and unit. */
  readonly text: string
  readonly before: string
  readonly after: string
}

const written = /\d[\d,]*(?:\.(\d+))?/
const hedge =
  /(?:\b(?:about|approximately|approx\.?|around|roughly|nearly|almost|over|under|more than|less than|close to)\s|[~≈]\s?)\W{0,3}$/i
const attached = /\d(%|[a-zµ]{1,5})$/i
const following = /^\s?(%|[a-zµ]{1,8})(?![a-z\d])/i

/** By how much a number is multiplied when it is said in a unit: what it is of the units that sources count in. */
const factors: ReadonlyMap<string, ReadonlyArray<number>> = new Map(
  Object.entries({
    "%": [100],
    percent: [100],
    k: [1e-3],
    thousand: [1e-3],
    m: [1e-6, 1e-3, 1e-2, 1e3],
    million: [1e-6],
    b: [1e-9],
    bn: [1e-9],
    billion: [1e-9],
    ms: [1e-6, 1e-3, 1e3],
    s: [1e-9, 1e-6, 1e-3, 60, 3600],
    sec: [1e-3, 60, 3600],
    seconds: [1e-3, 60, 3600],
    min: [1 / 60_000, 1 / 60, 60],
    minutes: [1 / 60_000, 1 / 60, 60],
    h: [1 / 3_600_000, 1 / 3600, 1 / 60, 24],
    hours: [1 / 3_600_000, 1 / 3600, 1 / 60, 24],
    kb: [1e-3, 1 / 1024, 1e3, 1024],
    mb: [1e-6, 1 / 1_048_576, 1e-3, 1 / 1024, 1e3, 1024],
    gb: [1e-9, 1 / 1_073_741_824, 1e-6, 1 / 1_048_576, 1e-3, 1 / 1024],
    km: [1e-3],
    cm: [100, 0.1],
    mm: [1e3, 10],
    g: [1e3, 1e-3],
    kg: [1e-3],
    cents: [100]
  })
)

const magnitude = /(?<![\w.,])(\$?)(\d[\d,]{0,20}(?:\.\d{1,15})?)[ -]?(k|m|bn?|thousand|million|billion)(?![a-z\d])/gi
const powers: ReadonlyMap<string, number> = new Map([
  ["k", 1e3],
  ["thousand", 1e3],
  ["m", 1e6],
  ["million", 1e6],
  ["b", 1e9],
  ["bn", 1e9],
  ["billion", 1e9]
])

/** The numbers that a text says in thousands, millions or billions, in full. `m` and `b` are that only of money. */
export const inFull = (text: string): ReadonlyArray<number> =>
  Array.from(text.matchAll(magnitude)).flatMap(([, money, digits = "", unit = ""]) => {
    const power = powers.get(unit.toLowerCase())
    if (power === undefined || (money === "" && /^[mb]$/i.test(unit))) return []
    return [Number((Number(digits.replaceAll(",", "")) * power).toPrecision(15))]
  })

const unitOf = ({ after, text }: Said): ReadonlyArray<number> => {
  const unit = (attached.exec(text) ?? following.exec(after))?.[1]?.toLowerCase()
  const own = (unit === undefined ? undefined : factors.get(unit)) ?? []
  return text.startsWith("$") ? [1e-2, ...own] : own
}

/** What rounding to the last digit written can have changed. After "about" and its like the zeros at the end do not count. */
const looseness = ({ before, text }: Said, value: number): number => {
  const decimals = written.exec(text)?.[1]?.length ?? 0
  const zeros = decimals === 0 && hedge.test(before) ? (/\d\d(0+)$/.exec(String(value))?.[1]?.length ?? 0) : 0
  return 0.5 * 10 ** (zeros - decimals)
}

/** Rounding errors of the numbers here, not of those that were said. */
const slack = 1e-12

/** Whether a number, of which `value` is the plain form, is a sourced number rounded, in the same unit or in another. */
export const isKnown = (sourced: Sourced, said: Said, value: string): boolean => {
  const number = Math.abs(Number(value))
  if (!Number.isFinite(number)) return false
  const half = looseness(said, number)
  return [1, ...unitOf(said)].some((factor) => {
    const margin = slack * number
    return isWithin(sourced, (number - half - margin) / factor, (number + half + margin) / factor)
  })
}
