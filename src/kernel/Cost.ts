/**
 * A `Cost` is what a run took in money, by a table of prices: exact where every count and every price is known, and
 * otherwise the least that it can be, with what is missing and why. It is never guessed and never rounded.
 *
 * @since 0.1.0
 */
import * as BigDecimal from "effect/BigDecimal"
import type * as Event from "./Event.ts"
import * as Prices from "./Prices.ts"
import * as Usage from "./Usage.ts"

/**
 * Why a part of the cost is not known, beside the reasons of a `Usage`. `unpriced`: the table has no price for it. `untold`:
 * the record does not say which model it was.
 */
export type Reason = Exclude<Usage.Gap, "uncounted"> | "unpriced" | "untold"

/** What is missing, and in how many calls: a count, or all that the calls took. */
export interface Gap {
  readonly why: Reason
  readonly count?: Usage.Count
  readonly calls: number
}

/**
 * What the calls of one model cost; a try that failed and was told what it took is a call. `amount` is a decimal, absent if
 * nothing of it is known.
 */
export interface Line {
  readonly provider?: string
  readonly model?: string
  readonly calls: number
  readonly amount?: string
  readonly gaps: ReadonlyArray<Gap>
}

/** `amount` is the whole cost if `isWhole`, and the least that it can be otherwise. It is absent if nothing is known. */
export interface Cost {
  readonly currency: string
  readonly amount?: string
  readonly isWhole: boolean
  readonly models: ReadonlyArray<Line>
}

interface Missing {
  readonly why: Reason
  readonly count?: Usage.Count
}

/** `amount` is in millionths of the currency; absent if nothing of it is known. */
interface Part {
  readonly amount?: BigDecimal.BigDecimal
  readonly missing: ReadonlyArray<Missing>
}

const zero = BigDecimal.fromBigInt(0n)

const times = (tokens: number, price: string): BigDecimal.BigDecimal =>
  BigDecimal.multiply(BigDecimal.fromBigInt(BigInt(tokens)), BigDecimal.unsafeFromString(price))

/** Why a count is not known, or is more than is told. A count that the provider has not is part of another. */
const gapOf = ({ unknown = {} }: Usage.Usage, count: Usage.Count): Missing | undefined => {
  const why = unknown[count]
  return why === undefined || why === "uncounted" ? undefined : { why, count }
}

const both = (...missing: ReadonlyArray<Missing | undefined>): ReadonlyArray<Missing> =>
  missing.filter((one) => one !== undefined)

/** A count that is always there if anything was told. */
const counted = (usage: Usage.Usage, count: Usage.Count, price: string): Part => {
  const tokens = usage[count]
  if (tokens === undefined) return { missing: [gapOf(usage, count) ?? { why: "unreported", count }] }
  return { amount: times(tokens, price), missing: both(gapOf(usage, count)) }
}

/** A count that is absent where nothing was taken. */
const cached = (usage: Usage.Usage, count: Usage.Count, price: string | undefined): Part => {
  const tokens = usage[count] ?? 0
  if (tokens > 0 && price === undefined) return { missing: both({ why: "unpriced", count }, gapOf(usage, count)) }
  return {
    ...(usage[count] === undefined ? {} : { amount: times(tokens, price ?? "0") }),
    missing: both(gapOf(usage, count))
  }
}

/** Output, of which reasoning is a part. Where the parts cannot be told, all of it has the lower price. */
const output = (usage: Usage.Usage, { output, reasoning = output }: Prices.Model): Part => {
  const { outputTokens, reasoningTokens = 0 } = usage
  const [one, other] = [times(1, output), times(1, reasoning)]
  if (outputTokens === undefined || BigDecimal.equals(one, other)) return counted(usage, "outputTokens", output)
  const gap = gapOf(usage, "reasoningTokens")
  const unclear: Missing | undefined =
    reasoningTokens > outputTokens ? { why: "malformed", count: "reasoningTokens" } : gap
  const tokens = BigDecimal.fromBigInt(BigInt(outputTokens))
  const amount =
    unclear === undefined
      ? BigDecimal.sum(times(outputTokens - reasoningTokens, output), times(reasoningTokens, reasoning))
      : BigDecimal.multiply(tokens, BigDecimal.min(one, other))
  return { amount, missing: both(gapOf(usage, "outputTokens"), unclear) }
}

const sum = (left: BigDecimal.BigDecimal | undefined, right: BigDecimal.BigDecimal | undefined) =>
  left === undefined || right === undefined ? (left ?? right) : BigDecimal.sum(left, right)

const join = (parts: ReadonlyArray<Part>): Part => {
  const amount = parts.map((part) => part.amount).reduce(sum, undefined)
  return { ...(amount === undefined ? {} : { amount }), missing: parts.flatMap(({ missing }) => missing) }
}

const ofCall = (usage: Usage.Usage | undefined, price: Prices.Model | undefined, model: string | undefined): Part => {
  if (model === undefined) return { missing: [{ why: "untold" }] }
  if (price === undefined) return { missing: [{ why: "unpriced" }] }
  if (usage === undefined) return { missing: [{ why: "unreported" }] }
  return join([
    counted(usage, "inputTokens", price.input),
    cached(usage, "cacheReadTokens", price.cacheRead),
    cached(usage, "cacheWriteTokens", price.cacheWrite),
    output(usage, price)
  ])
}

/** What a usage cost, in millionths, as far as it is known, and whether that is all. */
export const ofUsage = (
  prices: Prices.Prices,
  { model, provider }: Asked,
  usage: Usage.Usage
): { readonly millionths: BigDecimal.BigDecimal; readonly isWhole: boolean } => {
  const price = model === undefined ? undefined : Prices.find(prices, provider, model)
  const { amount = zero, missing } = ofCall(usage, price, model)
  return { millionths: amount, isWhole: missing.length === 0 }
}

/** A decimal as it is written, without an exponent. */
export const written = (millionths: BigDecimal.BigDecimal): string => {
  const { scale, value } = BigDecimal.normalize(BigDecimal.make(millionths.value, millionths.scale + 6))
  if (scale <= 0) return `${value}${"0".repeat(-scale)}`
  const digits = value.toString().padStart(scale + 1, "0")
  return `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

/** A model that was asked, as far as the record says. */
export interface Asked {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

interface Call {
  readonly asked: Asked
  readonly usage: Usage.Usage | undefined
}

/** Every call that took something, or may have, with the model that took it. A try that took nothing was told so. */
const callsOf = (events: ReadonlyArray<Event.Event>): ReadonlyArray<Call> => {
  const calls: Array<Call> = []
  let asked: Asked = {}
  let trying: Asked = {}
  const tried = (usage: Usage.Usage | undefined): void => {
    if (usage !== undefined) calls.push({ asked: trying, usage })
  }
  for (const event of events) {
    switch (event._tag) {
      case "ModelCalled":
        asked = { provider: event.provider ?? asked.provider, model: event.model ?? asked.model }
        trying = asked
        break
      case "SummaryAsked":
        trying = { provider: event.provider ?? asked.provider, model: event.model ?? asked.model }
        break
      case "ModelRetried":
        tried(event.usage)
        trying = event.next ?? trying
        break
      case "ModelReplied":
        calls.push({ asked: event.by ?? trying, usage: event.usage })
        break
      case "ChildSettled":
        calls.push(...event.spent.models.map(({ usage, ...asked }) => ({ asked, usage })))
        break
      case "SummaryReplied":
        calls.push({ asked: event.by ?? trying, usage: event.usage })
        break
      case "ModelFailed":
      case "SummaryFailed":
        tried(event.usage)
        break
    }
  }
  return calls
}

const gaps = (missing: ReadonlyArray<Missing>): ReadonlyArray<Gap> => {
  const found = new Map<string, Gap>()
  for (const { count, why } of missing) {
    const key = `${why} ${count ?? ""}`
    found.set(key, { why, ...(count === undefined ? {} : { count }), calls: (found.get(key)?.calls ?? 0) + 1 })
  }
  return Array.from(found.values())
}

/** What a run cost, model by model in the order in which they were first asked. A run that asked none cost nothing. */
export const of = (prices: Prices.Prices, events: ReadonlyArray<Event.Event>): Cost => {
  const models = new Map<string, { readonly asked: Asked; readonly parts: Array<Part> }>()
  for (const { asked, usage } of callsOf(events)) {
    const { model, provider } = asked
    const key = JSON.stringify([provider, model])
    const price = model === undefined ? undefined : Prices.find(prices, provider, model)
    const parts: Array<Part> = models.get(key)?.parts ?? []
    parts.push(ofCall(usage, price, model))
    models.set(key, { asked, parts })
  }
  let whole: BigDecimal.BigDecimal | undefined = models.size === 0 ? zero : undefined
  const lines = Array.from(models.values(), ({ asked: { model, provider }, parts }): Line => {
    const { amount, missing } = join(parts)
    whole = sum(whole, amount)
    return {
      ...(provider === undefined ? {} : { provider }),
      ...(model === undefined ? {} : { model }),
      calls: parts.length,
      ...(amount === undefined ? {} : { amount: written(amount) }),
      gaps: gaps(missing)
    }
  })
  return {
    currency: prices.currency,
    ...(whole === undefined ? {} : { amount: written(whole) }),
    isWhole: lines.every(({ gaps }) => gaps.length === 0),
    models: lines
  }
}
