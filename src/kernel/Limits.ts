/**
 * `Limits` are what a run may spend, of each kind. An absent one is no limit.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Prices from "./Prices.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** What may be spent by a table of prices, in its currency. */
export const Money = Schema.Struct({ amount: Prices.Decimal, prices: Prices.Prices })
export type Money = typeof Money.Type

/**
 * One pass is kept for a closing answer, and of tokens `tokens`, or as much as the pass before it was reckoned to take. Of
 * money what those tokens cost is kept.
 */
const Closing = Schema.Struct({ tokens: optional(Schema.NonNegativeInt) })

/** Wall time is in milliseconds of driving; bytes are those of the run's events as JSON, in UTF-8. */
export const Limits = Schema.Struct({
  passes: optional(Schema.NonNegativeInt),
  toolCalls: optional(Schema.NonNegativeInt),
  tokens: optional(Schema.NonNegativeInt),
  wallTimeMs: optional(Schema.NonNegative.pipe(Schema.finite())),
  money: optional(Money),
  bytes: optional(Schema.NonNegativeInt),
  closing: optional(Closing),
  children: optional(Schema.NonNegativeInt),
  depth: optional(Schema.NonNegativeInt)
})
export type Limits = typeof Limits.Type
