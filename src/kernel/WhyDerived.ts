/**
 * A `WhyDerived` says of the numbers of a text which of them a model worked out, and of what: of other numbers of the text,
 * and of those on the wire of its pass that the text names.
 *
 * @internal
 */
import * as Derivation from "./Derivation.ts"
import * as DerivationText from "./DerivationText.ts"
import * as Sources from "./Sources.ts"
import * as Value from "./Value.ts"
import type * as Wire from "./Wire.ts"
import * as WireNumber from "./WireNumber.ts"

/** An input: a number of the same text, or one of a piece on the wire. */
export type Input =
  | { readonly kind: "said"; readonly said: WireNumber.Said }
  | { readonly kind: "wire"; readonly number: WireNumber.WireNumber }

export type Derived = Derivation.Outcome<Input>

type Term = Derivation.Term<Input>
type Candidate = Derivation.Candidate<Input>

/** So many results are tried for the numbers of one text. */
const most = 400_000
/** So many characters before a number stand beside it. */
const nearby = 120
/** Of each pool, so many numbers. */
const pool = 300

const ofSaid = (said: WireNumber.Said): Term => ({
  value: said.value,
  text: said.token.text,
  of: { kind: "said", said }
})

const ofWire = (number: WireNumber.WireNumber): Term => ({
  value: number.value,
  text: number.text,
  of: { kind: "wire", number }
})

const kindOf = ({ unit }: Pick<WireNumber.Said, "unit">): string => unit?.kind ?? ""

/** The words of a text by which rows are named. */
const namesOf = (text: string): ReadonlySet<string> =>
  new Set(
    Value.tokens(text).flatMap(({ value }) => [value, ...value.split(/[_/:#@]/).filter((part) => part.length >= 4)])
  )

const meets = (labels: ReadonlySet<string>, names: ReadonlySet<string>): boolean =>
  Array.from(labels).some(
    (label) =>
      names.has(label) || label.split("_").some((part) => part.length >= 4 && names.has(part) && /\d/.test(part))
  )

const grouped = <A>(
  items: ReadonlyArray<A>,
  keysOf: (item: A) => ReadonlyArray<string>
): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) {
    for (const key of keysOf(item)) groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}

/** A row once, however often it was read: what was read last. */
const distinct = (numbers: ReadonlyArray<WireNumber.WireNumber>): ReadonlyArray<WireNumber.WireNumber> =>
  Array.from(new Map(numbers.map((one) => [JSON.stringify([one.value, Array.from(one.labels).sort()]), one])).values())

/** What is on the wire for all numbers of a text. */
interface Read {
  readonly columns: ReadonlyArray<ReadonlyArray<WireNumber.WireNumber>>
  readonly rows: ReadonlyArray<WireNumber.WireNumber>
  readonly rates: ReadonlyArray<WireNumber.WireNumber>
  readonly all: ReadonlyArray<WireNumber.WireNumber>
}

const rate = /^[^.\n]{0,16}\b(?:per|each|every|times|an?|for (?:each|every))\b/i

const readOf = (pieces: ReadonlyArray<Wire.Piece>, text: string): Read => {
  const names = namesOf(text)
  const all = pieces.flatMap((piece) => (piece.origin === "model" ? [] : WireNumber.of(piece)))
  const lists = Array.from(grouped(all, ({ lists }) => lists).values())
  const isNamed = (list: ReadonlyArray<WireNumber.WireNumber>): boolean =>
    list.every(({ labels, listLabels }) => meets(listLabels, names) || meets(labels, names))
  return {
    all,
    columns: lists.filter((list) => list.length > 1 && isNamed(list)),
    rows: distinct(all.filter(({ labels }) => meets(labels, names))).slice(-pool),
    rates: all.filter(({ end, field, piece }) => {
      if (field !== undefined || piece.slot === "tools") return false
      return rate.test(Sources.textOf(piece).slice(end, end + 40))
    })
  }
}

const likenesses = (target: WireNumber.Said, all: Read["all"], budget: Derivation.Budget): ReadonlyArray<Candidate> => {
  const found: Array<Candidate> = []
  for (const number of all) {
    if (--budget.left < 0) return found
    const terms = [ofWire(number)]
    const isSame = number.unit === undefined || target.unit === undefined || number.unit.kind === target.unit.kind
    if (isSame && !Number.isInteger(number.value))
      found.push({ op: "rounding", basis: "likeness", terms, result: number.value })
    if (number.unit === undefined || number.unit.kind !== target.unit?.kind) continue
    for (const from of number.unit.sizes) {
      for (const to of target.unit.sizes) {
        if (from !== to) found.push({ op: "unit", basis: "likeness", terms, result: (number.value * from) / to })
      }
    }
  }
  return found
}

/** All that can be tried for a number, in the order in which it is believed. */
const tiers = (
  text: string,
  target: WireNumber.Said,
  said: ReadonlyArray<WireNumber.Said>,
  known: ReadonlySet<number>,
  read: Read,
  budget: Derivation.Budget
): ReadonlyArray<() => ReadonlyArray<Candidate>> => {
  const kind = kindOf(target)
  const others = said.filter((one) => one !== target && known.has(one.token.start) && one.value !== target.value)
  // A share is one of two amounts that are no shares.
  const alike = others.filter((one) => (kind === "ratio" ? kindOf(one) !== kind : kindOf(one) === kind))
  const before = alike.filter(({ token }) => token.end <= target.token.start).map(ofSaid)
  const once = Array.from(new Map(alike.map((one) => [one.value, one])).values())
    .slice(-pool)
    .map(ofSaid)
  const isLike = (one: WireNumber.WireNumber): boolean =>
    one.unit === undefined || kind === "" || one.unit.kind === kind
  const isShare = kind === "ratio"
  const rows = Array.from(
    grouped(
      read.rows.filter((one) => isShare || isLike(one)),
      ({ field = "" }) => [field]
    ).values()
  )
  const counts = DerivationText.counts(
    text,
    others.filter((one) => kindOf(one) === "" || one.unit === undefined)
  ).map(ofSaid)
  // A list whose sum is called no total is named right where the sum is said.
  const near = DerivationText.isTotal(text, target)
    ? undefined
    : namesOf(text.slice(Math.max(0, target.token.start - nearby), target.token.start))
  const columns = read.columns.filter(
    (list) =>
      list.every(isLike) &&
      (near === undefined || list.every(({ labels, listLabels }) => meets(labels, near) || meets(listLabels, near)))
  )
  const paired = (kind: "amounts" | "shares"): ReadonlyArray<Candidate> => [
    ...Derivation.pairs(once, "said", kind, budget),
    ...rows.flatMap((terms) => Derivation.pairs(terms.map(ofWire), "rows", kind, budget))
  ]
  const written = (): ReadonlyArray<Candidate> =>
    DerivationText.written(text, said, target).map((one) => ({
      ...one,
      terms: one.terms.map(({ of }) => ofSaid(of))
    }))
  if (isShare) {
    return [written, () => paired("shares"), () => likenesses(target, read.all, budget)]
  }
  return [
    written,
    () => Derivation.runs(before, budget),
    () => [
      ...columns.flatMap((list) =>
        Derivation.totals(list.map(ofWire), "column", budget).map((one) => ({
          ...one,
          isNamed: near !== undefined && one.op === "sum"
        }))
      ),
      ...rows.flatMap((terms) => Derivation.totals(terms.map(ofWire), "rows", budget)),
      ...paired("amounts"),
      ...Derivation.products([...once, ...read.rates.filter(isLike).map(ofWire)], counts, budget)
    ],
    () => likenesses(target, read.all, budget)
  ]
}

const decimalsOf = (text: string): number => /\.(\d+)\D*$/.exec(text)?.[1]?.length ?? 0

/** Numbers of fewer digits come out of almost anything, unless the text writes how. */
const isDistinctive = (said: WireNumber.Said): boolean =>
  said.token.value.replace(/\D/g, "").replace(/^0+/, "").length >= 3

const derive = (
  text: string,
  target: WireNumber.Said,
  said: ReadonlyArray<WireNumber.Said>,
  known: ReadonlySet<number>,
  read: Read,
  budget: Derivation.Budget
): Derived => {
  const asked: Derivation.Target = {
    value: target.value,
    decimals: decimalsOf(target.token.text),
    isCued: DerivationText.isCued(text, target)
  }
  let unsure: Derived = { _tag: "None" }
  for (const [at, candidates] of tiers(text, target, said, known, read, budget).entries()) {
    if (at > 0 && !isDistinctive(target)) break
    const outcome = Derivation.choose(asked, candidates())
    if (outcome._tag === "Found") return outcome
    if (unsure._tag === "None") unsure = outcome
  }
  return unsure
}

/** The first that is sure, or else the first that is anything. */
const best = (outcomes: ReadonlyArray<Derived>): Derived =>
  outcomes.find(({ _tag }) => _tag === "Found") ?? outcomes.find(({ _tag }) => _tag !== "None") ?? { _tag: "None" }

/** A word, as a count, needs no other account. */
const isKnown = ({ token }: WireNumber.Said, known: ReadonlySet<number>): boolean =>
  known.has(token.start) || !/\d/.test(token.value)

export interface Account {
  /** What became of each number that nothing on the wire held, by where it starts in the text. */
  readonly derived: ReadonlyMap<number, Derived>
  /** Not all that could be tried was. */
  readonly isCut: boolean
}

/** The rounds in which what was worked out is an input of what comes next. */
const rounds = 3

/**
 * What the numbers of a text come from that a model wrote in a pass, where no piece held them. A number is worked out of
 * others only that were known before it, so that nothing is its own cause.
 */
export const of = (
  sources: Sources.Sources,
  pieces: ReadonlyArray<Wire.Piece>,
  pass: number,
  text: string
): Account => {
  const said = WireNumber.said(text)
  const known = new Set(
    said.flatMap(({ token }) => (Sources.carriers(sources, pass, token.text).length > 0 ? [token.start] : []))
  )
  const derived = new Map<number, Derived>()
  const open = said.filter(({ token }) => !known.has(token.start))
  /** A number that is said again is the same. */
  const alike = grouped(open, (one) => [`${kindOf(one)} ${one.value}`])
  const budget = { left: most }
  if (open.length === 0) return { derived, isCut: false }
  const read = readOf(pieces, text)
  /** What a formula was written of, and nothing else accounts for. */
  const given = new Set<number>()
  for (let round = 0; round < rounds; round++) {
    for (const same of alike.values()) {
      const [first] = same
      if (first === undefined || known.has(first.token.start) || given.has(first.token.start)) continue
      const outcome = best(same.map((target) => derive(text, target, said, known, read, budget)))
      const wanting =
        outcome._tag === "Found"
          ? outcome.candidate.terms.flatMap(({ of }) =>
              of.kind === "said" && !isKnown(of.said, known) ? [of.said.token.start] : []
            )
          : []
      // Of a formula that the text writes out, what is known of its numbers comes first.
      if (wanting.length > 0 && (round < rounds - 1 || wanting.some((one) => derived.get(one)?._tag === "Found")))
        continue
      for (const one of wanting) given.add(one)
      for (const { token } of same) {
        derived.set(token.start, outcome)
        if (outcome._tag === "Found") known.add(token.start)
      }
    }
  }
  return { derived, isCut: budget.left < 0 }
}
