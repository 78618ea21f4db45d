/**
 * A `DerivationText` is what a text says of how its own numbers come about: the formulas that it writes out, and the words
 * that call a number a total, a difference or a share.
 *
 * @internal
 */
import type * as Derivation from "./Derivation.ts"
import type * as WireNumber from "./WireNumber.ts"

type Said = WireNumber.Said

const operator = /^[\s*_`]*([+\-−–×*x/÷])[\s*_`]*$/
const signs: { readonly [sign: string]: "+" | "-" | "*" | "/" } = {
  "+": "+",
  "-": "-",
  "−": "-",
  "–": "-",
  "×": "*",
  "*": "*",
  x: "*",
  "/": "/",
  "÷": "/"
}

interface Formula {
  readonly terms: ReadonlyArray<Said>
  readonly operators: ReadonlyArray<"+" | "-" | "*" | "/">
  readonly start: number
  readonly end: number
}

/** The formulas that a text writes out, each as long as it goes. */
const formulas = (text: string, said: ReadonlyArray<Said>): ReadonlyArray<Formula> => {
  const found: Array<Formula> = []
  let terms: Array<Said> = []
  let operators: Array<Formula["operators"][number]> = []
  const close = (): void => {
    const [first] = terms
    const last = terms.at(-1)
    if (first !== undefined && last !== undefined && terms.length > 1) {
      found.push({ terms, operators, start: first.token.start, end: last.token.end })
    }
    terms = []
    operators = []
  }
  for (const one of said) {
    const last = terms.at(-1)
    const between = last === undefined ? "" : text.slice(last.token.end, one.token.start)
    const sign = between.length > 12 ? undefined : signs[operator.exec(between)?.[1] ?? ""]
    if (sign === undefined) close()
    else operators.push(sign)
    terms.push(one)
  }
  close()
  return found
}

/** Products and quotients first, then from left to right. */
const evaluate = ({ operators, terms }: Formula): number => {
  const [first, ...rest] = terms.map(({ value }) => value)
  let sum = 0
  let product = first ?? 0
  let sign = 1
  for (const [at, value] of rest.entries()) {
    const by = operators[at]
    if (by === "*") product *= value
    else if (by === "/") product /= value
    else {
      sum += sign * product
      product = value
      sign = by === "-" ? -1 : 1
    }
  }
  return sum + sign * product
}

/** What stands between a formula and what it comes to. */
const before = /^[^\n]{0,24}[=:≈][^\n\d]{0,8}$/
const after = /^[^\n\d]{0,32}[(=:][^\n\d]{0,4}$/

const opOf = (operators: Formula["operators"]): Derivation.Op => {
  const has = (sign: Formula["operators"][number]): boolean => operators.includes(sign)
  if (has("/")) return "share"
  if (has("*")) return "product"
  return has("-") ? "difference" : "sum"
}

/** The formulas that a text writes out right before a number of it or right after. */
export const written = (
  text: string,
  said: ReadonlyArray<Said>,
  { token }: Said
): ReadonlyArray<Derivation.Candidate<Said>> =>
  formulas(text, said).flatMap((formula) => {
    const { end, operators, start, terms } = formula
    const isBeside =
      (end <= token.start && before.test(text.slice(end, token.start))) ||
      (token.end <= start && after.test(text.slice(token.end, start)))
    if (!isBeside) return []
    return [
      {
        op: opOf(operators),
        basis: "written" as const,
        terms: terms.map((one) => ({ value: one.value, text: one.token.text, of: one })),
        result: Number(evaluate(formula).toPrecision(15)),
        formula: text.slice(start, end)
      }
    ]
  })

const totalling =
  /\b(?:total\w*|sum|altogether|combined|overall|in all|together|both|round[ -]trip|sav(?:ed?|ings?))\b/i

const cues: { readonly [O in Derivation.Op]: RegExp } = {
  sum: totalling,
  difference:
    /\b(?:differen\w+|remain\w*|left|sav(?:ed?|ings?)|refund\w*|addition\w*|extra|more|less|chang\w*|balance|ow(?:e|ed|ing)|charged?|increas\w*|reduc\w*|cheaper|covers?|rest|paid|pay|net|profit|loss)\b/i,
  average: /\b(?:average|mean|avg|on average)\b/i,
  product:
    /\b(?:total\w*|per|each|every|times|for (?:all|both|two|three|four|five)|passengers?|people|persons?|nights?|days?|costs?|amounts?|compensation)\b/i,
  share: /%|\bper ?cent\b|\b(?:share|rate|ratio|portion)\b/i,
  change: /%|\bper ?cent\b|\b(?:increas\w*|decreas\w*|growth|grew|fell|rose|chang\w*)\b/i,
  rounding: /\b(?:about|approximately|around|roughly|nearly|almost|rounded|some)\b|[~≈]/i,
  unit: /./
}

const lineOf = (text: string, { token: { end, start } }: Said): string => {
  const from = Math.max(text.lastIndexOf("\n", start - 1) + 1, start - 120)
  const until = text.indexOf("\n", end)
  return text.slice(from, Math.min(until === -1 ? text.length : until, end + 60))
}

/** Whether the line of a number calls it a total, and not only a price or a cost, as each of its parts is too. */
export const isTotal = (text: string, said: Said): boolean => totalling.test(lineOf(text, said))

/** Whether the line of a number calls it what an operation comes to. */
export const isCued = (text: string, said: Said): ((op: Derivation.Op) => boolean) => {
  const line = lineOf(text, said)
  return (op) => cues[op].test(line)
}

const words = ["two", "three", "four", "five", "six", "seven", "eight", "nine"]
const inWords = new RegExp(`\\b(?:${words.join("|")})\\b`, "gi")
const nouns =
  "passengers?|people|persons?|travell?ers?|tickets?|bags?|nights?|days?|items?|units?|pieces?|seats?|rooms?|months?|hours?|adults?|children|copies"
const ahead = new RegExp(`^[\\s*_]*(?:[a-z-]+ )?(?:${nouns}|[×x])\\b`, "i")
const behind = new RegExp(`\\b(?:${nouns}|quantity|count)[\\s*_"':]{1,6}$`, "i")

/** Whether a text counts something by a number: `3 passengers`, `Passengers: 3`. */
const isCount = (text: string, { token: { end, start } }: Said): boolean =>
  ahead.test(text.slice(end, end + 40)) || behind.test(text.slice(Math.max(0, start - 40), start))

/** What a text counts, from 2 to 9, in digits or in words. */
export const counts = (text: string, said: ReadonlyArray<Said>): ReadonlyArray<Said> =>
  [
    ...said.filter(({ value }) => Number.isInteger(value) && value >= 2 && value <= 9),
    ...Array.from(text.matchAll(inWords)).map(({ 0: own, index: start }) => ({
      token: { text: own, value: own.toLowerCase(), start, end: start + own.length },
      value: words.indexOf(own.toLowerCase()) + 2
    }))
  ].filter((one) => isCount(text, one))
