/**
 * A `Usage` is what a model call took, in tokens. A count that the provider did not report is absent, never zero.
 *
 * @since 0.1.0
 */
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"

const count = Schema.optionalWith(Schema.NonNegativeInt, { exact: true })

/** `inputTokens` leaves out what was read from or written to the provider's cache. */
export const Usage = Schema.Struct({
  inputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  outputTokens: count,
  reasoningTokens: count
})
export type Usage = typeof Usage.Type

/** Nothing was reported. */
export const none: Usage = {}

const keys = ["inputTokens", "cacheReadTokens", "cacheWriteTokens", "outputTokens", "reasoningTokens"] as const

/** The sum of what is known. A count absent on both sides stays absent. */
export const add: {
  (that: Usage): (self: Usage) => Usage
  (self: Usage, that: Usage): Usage
} = dual(2, (self: Usage, that: Usage): Usage => {
  const sum: { -readonly [K in keyof Usage]: Usage[K] } = {}
  for (const key of keys) {
    const left = self[key]
    const right = that[key]
    if (left !== undefined || right !== undefined) sum[key] = (left ?? 0) + (right ?? 0)
  }
  return sum
})

/** The tokens of what was sent, or `undefined` if they were not reported. */
export const sent = ({ cacheReadTokens, cacheWriteTokens, inputTokens }: Usage): number | undefined =>
  inputTokens === undefined && cacheReadTokens === undefined && cacheWriteTokens === undefined
    ? undefined
    : (inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0)

/** All tokens that were reported, or `undefined` if none were. Reasoning is part of the output already. */
export const total = (usage: Usage): number | undefined => {
  const known = [usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens, usage.outputTokens].filter(
    (part) => part !== undefined
  )
  return known.length === 0 ? undefined : known.reduce((sum, part) => sum + part, 0)
}
