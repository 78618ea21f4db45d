/**
 * `Money` is what a run has spent of it, and what a call is to take, by the prices of its budget. What cannot be reckoned is
 * refused: a budget that cannot be kept is not pretended to be.
 *
 * @internal
 */
import * as BigDecimal from "effect/BigDecimal"
import * as Cost from "./Cost.ts"
import type * as Limits from "./Limits.ts"
import * as Prices from "./Prices.ts"
import type * as Usage from "./Usage.ts"

/** What calls of one model took, with the gaps of what they did not tell. */
export interface Taken {
  readonly provider?: string
  readonly model?: string
  readonly usage: Usage.Usage
}

/** An amount in millionths of the currency. */
export type Millionths = BigDecimal.BigDecimal

const none = BigDecimal.fromBigInt(0n)

export const written = Cost.written

/** What may be spent. */
export const limit = ({ amount }: Limits.Money): Millionths =>
  BigDecimal.multiply(BigDecimal.unsafeFromString(amount), BigDecimal.fromBigInt(1_000_000n))

/** What was spent, as far as it is known, and whether that is all. `now` is the model of a call that named none. */
export const spent = (
  { prices }: Limits.Money,
  taken: ReadonlyArray<Taken>,
  now: Cost.Asked
): { readonly amount: Millionths; readonly isWhole: boolean } => {
  const costs = taken.map(({ model, provider, usage }) =>
    Cost.ofUsage(prices, model === undefined ? now : { provider, model }, usage)
  )
  return {
    amount: costs.reduce((sum, { millionths }) => BigDecimal.sum(sum, millionths), none),
    isWhole: costs.every(({ isWhole }) => isWhole)
  }
}

const times = (tokens: number, price: string): Millionths =>
  BigDecimal.multiply(BigDecimal.fromBigInt(BigInt(Math.ceil(tokens))), BigDecimal.unsafeFromString(price))

const dearest = (...prices: ReadonlyArray<string | undefined>): string =>
  prices.reduce<string>(
    (most, price = "0") =>
      BigDecimal.greaterThan(BigDecimal.unsafeFromString(price), BigDecimal.unsafeFromString(most)) ? price : most,
    "0"
  )

/** The most that so many tokens can cost of a model, or nothing if it has no price. */
export const atMost = (
  { prices }: Limits.Money,
  { model, provider }: Cost.Asked,
  tokens: { readonly input: number; readonly output: number }
): Millionths | undefined => {
  const price = model === undefined ? undefined : Prices.find(prices, provider, model)
  if (price === undefined) return undefined
  const { cacheRead, cacheWrite, input, output, reasoning } = price
  return BigDecimal.sum(
    times(tokens.input, dearest(input, cacheRead, cacheWrite)),
    times(tokens.output, dearest(output, reasoning))
  )
}

export const sum = BigDecimal.sum
export const isMore = BigDecimal.greaterThan
