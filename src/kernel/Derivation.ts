/**
 * A `Derivation` is the way from numbers that a model read or said to one that it worked out: a sum, a difference, a share.
 *
 * Many numbers can be made into almost any number. So only inputs that the text itself names are tried, in a fixed order and
 * up to a budget of work, and it is told how many other results might as well have come out. What fits in more than one
 * way, or fits no better than chance, is not taken.
 *
 * @internal
 */

export type Op = "sum" | "difference" | "average" | "product" | "share" | "change" | "rounding" | "unit"

/**
 * Why these inputs: the text writes the formula, lists them or says them; or they are all of one list, or of rows that the
 * text names.
 */
export type Basis = "written" | "listed" | "said" | "column" | "rows" | "counted" | "likeness"

export interface Term<A> {
  readonly value: number
  readonly text: string
  readonly of: A
}

export interface Candidate<A> {
  readonly op: Op
  readonly basis: Basis
  readonly terms: ReadonlyArray<Term<A>>
  readonly result: number
  /** Instead of the one that follows from `op`. */
  readonly formula?: string
  /** All that it is made of is named right where the text says the number. */
  readonly isNamed?: boolean
}

/** What is asked: the number, how many decimals it is written with, and whether the words beside it say so of each `Op`. */
export interface Target {
  readonly value: number
  readonly decimals: number
  readonly isCued: (op: Op) => boolean
}

export type Outcome<A> =
  | { readonly _tag: "Found"; readonly candidate: Candidate<A> }
  /** Several fit, each from other numbers. */
  | { readonly _tag: "Ambiguous"; readonly candidates: ReadonlyArray<Candidate<A>> }
  /** It fits, and so would many another number. */
  | { readonly _tag: "Chance"; readonly candidates: ReadonlyArray<Candidate<A>> }
  | { readonly _tag: "None" }

const shownTerms = 6

const joined = (texts: ReadonlyArray<string>, mark: string): string => {
  const shown = texts.slice(0, shownTerms).join(mark)
  return texts.length > shownTerms ? `${shown}${mark}… (${texts.length} numbers)` : shown
}

/** The formula in characters, of the inputs as they are written. */
export const formula = <A>({ formula, op, terms }: Candidate<A>): string => {
  const texts = terms.map(({ text }) => text)
  const [first = "", second = ""] = texts
  if (formula !== undefined) return formula
  switch (op) {
    case "sum":
      return joined(texts, " + ")
    case "average":
      return `(${joined(texts, " + ")}) / ${texts.length}`
    case "difference":
      return `${first} - ${second}`
    case "product":
      return joined(texts, " × ")
    case "share":
      return `${first} / ${second} × 100`
    case "change":
      return `(${first} - ${second}) / ${second} × 100`
    case "rounding":
      return `${first}, rounded`
    case "unit":
      return `${first}, in another unit`
  }
}

const slack = 1e-9

/** These are seldom told to their end. */
const rounded: ReadonlySet<Op> = new Set(["average", "share", "change", "rounding", "unit"])

/** Whether a result is the number: to the decimals that it is written with, where a result is rounded at all. */
const isHit = (
  { decimals, value }: Pick<Target, "decimals" | "value">,
  { op, result }: Pick<Candidate<unknown>, "op" | "result">
): boolean => {
  const off = Math.abs(result - value)
  return off <= slack * Math.max(1, Math.abs(value)) || (rounded.has(op) && off <= 0.5 * 10 ** -decimals)
}

/** The same numbers by the same operation, wherever they stand. */
const keyOf = <A>({ op, terms }: Candidate<A>): string => {
  const values = terms.map(({ value }) => value)
  return `${op} ${(op === "sum" || op === "product" || op === "average" ? values.toSorted((a, b) => a - b) : values).join(" ")}`
}

/**
 * How many of these candidates a number of this size would meet by chance: those of about its size, spread over the numbers
 * of that size that can be written so.
 */
const byChance = <A>({ decimals, value }: Target, candidates: ReadonlyArray<Candidate<A>>): number => {
  const size = Math.abs(value)
  const near = new Set(
    candidates.flatMap((one) => {
      const result = Math.abs(one.result)
      const isNear = result >= size / 2 && result <= size * 2 && !isHit({ decimals, value }, one)
      return isNear ? [result.toFixed(decimals)] : []
    })
  )
  return size === 0 ? Infinity : (near.size * 10 ** -decimals) / (1.5 * size)
}

/** A number that the words beside it call what it comes to may be one of this many by chance; one that they do not, not. */
const mostCued = 0.2
const mostUncued = 0.01

/** The one derivation among candidates, if there is one. What the text writes out is not left to chance. */
export const choose = <A>(target: Target, candidates: ReadonlyArray<Candidate<A>>): Outcome<A> => {
  const hits = new Map<string, Candidate<A>>()
  for (const one of candidates) {
    if (isHit(target, one)) hits.set(keyOf(one), hits.get(keyOf(one)) ?? one)
  }
  const all = Array.from(hits.values())
  const isCued = ({ isNamed = false, op }: Candidate<A>): boolean => isNamed || target.isCued(op)
  const cued = all.filter(isCued)
  const those = cued.length > 0 ? cued : all
  const [first] = those
  if (first === undefined) return { _tag: "None" }
  if (those.length > 1) return { _tag: "Ambiguous", candidates: those }
  const isWritten = first.basis === "written" || (first.basis === "listed" && cued.length > 0)
  const most = cued.length > 0 ? mostCued : mostUncued
  const others = candidates.filter((one) => cued.length === 0 || isCued(one))
  return isWritten || byChance(target, others) <= most
    ? { _tag: "Found", candidate: first }
    : { _tag: "Chance", candidates: those }
}

/** Work that may still be done. Each candidate counts one. */
export interface Budget {
  left: number
}

const spend = (budget: Budget, count: number): boolean => {
  budget.left -= count
  return budget.left >= 0
}

/** Sums and differences, or shares and changes, of two terms each. */
export const pairs = <A>(
  terms: ReadonlyArray<Term<A>>,
  basis: Basis,
  kind: "amounts" | "shares",
  budget: Budget
): ReadonlyArray<Candidate<A>> => {
  const found: Array<Candidate<A>> = []
  for (const [at, a] of terms.entries()) {
    for (const b of terms.slice(at + 1)) {
      if (!spend(budget, 2)) return found
      const [more, less] = a.value >= b.value ? [a, b] : [b, a]
      if (kind === "amounts") {
        found.push({ op: "sum", basis, terms: [a, b], result: a.value + b.value })
        if (more.value !== less.value) {
          found.push({ op: "difference", basis, terms: [more, less], result: more.value - less.value })
        }
        continue
      }
      if (less.value > 0) {
        found.push({ op: "share", basis, terms: [less, more], result: (less.value / more.value) * 100 })
        found.push({ op: "change", basis, terms: [more, less], result: ((more.value - less.value) / less.value) * 100 })
        found.push({ op: "change", basis, terms: [less, more], result: ((less.value - more.value) / more.value) * 100 })
      }
    }
  }
  return found
}

/** The sum and the average of all of some terms. */
export const totals = <A>(terms: ReadonlyArray<Term<A>>, basis: Basis, budget: Budget): ReadonlyArray<Candidate<A>> => {
  if (terms.length < 2 || !spend(budget, terms.length)) return []
  const sum = terms.reduce((sum, { value }) => sum + value, 0)
  return [
    { op: "sum", basis, terms, result: Number(sum.toPrecision(15)) },
    { op: "average", basis, terms, result: sum / terms.length }
  ]
}

/** Sums of the terms right before a place, as a list has them that ends in its total. */
export const runs = <A>(before: ReadonlyArray<Term<A>>, budget: Budget): ReadonlyArray<Candidate<A>> =>
  Array.from({ length: Math.max(0, Math.min(before.length, 12) - 1) }, (_, n) => before.slice(-2 - n)).flatMap(
    (terms) => totals(terms, "listed", budget).filter(({ op }) => op === "sum")
  )

/** Each amount as often as something was counted. */
export const products = <A>(
  amounts: ReadonlyArray<Term<A>>,
  counts: ReadonlyArray<Term<A>>,
  budget: Budget
): ReadonlyArray<Candidate<A>> =>
  amounts.flatMap((amount) =>
    counts.flatMap((count): ReadonlyArray<Candidate<A>> => {
      if (amount.of === count.of || !spend(budget, 1)) return []
      return [{ op: "product", basis: "counted", terms: [count, amount], result: amount.value * count.value }]
    })
  )
