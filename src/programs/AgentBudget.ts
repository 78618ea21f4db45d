/**
 * An `AgentBudget` is the budget of an agent as its runs keep it.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as Budget from "../kernel/Budget.ts"
import * as Event from "../kernel/Event.ts"
import type * as AgentOptions from "./AgentOptions.ts"

export const limits = ({ closing, money, wallTime, ...counted }: AgentOptions.Limits = {}): Event.Limits => ({
  ...Budget.defaults,
  ...counted,
  ...(wallTime === undefined ? {} : { wallTimeMs: Duration.toMillis(wallTime) }),
  ...(money === undefined ? {} : { money: { amount: String(money.amount), prices: money.prices } }),
  ...(closing === undefined || closing === false ? {} : { closing: closing === true ? {} : closing })
})

const { money, closing } = Event.Limits.fields
const isMoney = Schema.is(Schema.typeSchema(money.from))
const isClosing = Schema.is(Schema.typeSchema(closing.from))

/** What is wrong with the limits, each in a sentence. */
export const problems = ({ closing, money, ...counted }: Event.Limits): ReadonlyArray<string> => {
  const numbers = Object.entries(counted)
  return [
    ...numbers
      .filter(([, limit]) => !Number.isFinite(limit) || limit < 0)
      .map(([kind]) => `budget.${kind} must be a number that is not negative.`),
    ...numbers
      .filter(([kind, limit]) => kind !== "wallTimeMs" && !Number.isInteger(limit))
      .map(([kind]) => `budget.${kind} must be a whole number.`),
    ...(money === undefined || isMoney(money)
      ? []
      : ["budget.money must be an amount, a decimal such as 0.25, and prices as Prices.read gives them."]),
    ...(closing === undefined || isClosing(closing)
      ? []
      : ["budget.closing.tokens must be a whole number that is not negative."])
  ]
}
