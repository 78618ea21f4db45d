/**
 * A `Usage` is what a model call took, in tokens. A count that the provider did not report is absent, never zero, and
 * `unknown` says why.
 *
 * @since 0.1.0
 */
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const each = <A, I>(schema: Schema.Schema<A, I>) => ({
  inputTokens: optional(schema),
  cacheReadTokens: optional(schema),
  cacheWriteTokens: optional(schema),
  outputTokens: optional(schema),
  reasoningTokens: optional(schema)
})

/**
 * Why a count is not known, the least of it first. `uncounted`: the provider's API has no such count, and what it would
 * count is part of another. `unreported`: the reply ended without it. `cut`: the reply broke off before it came.
 * `malformed`: what was reported is no count.
 */
export const Gap = Schema.Literal("uncounted", "unreported", "cut", "malformed")
export type Gap = typeof Gap.Type

/**
 * `inputTokens` leaves out what was read from or written to the provider's cache; `reasoningTokens` are part of
 * `outputTokens`. A count that is in `unknown` as well as known, as in the sum of two calls, is the least that it can be.
 */
export const Usage = Schema.Struct({
  ...each(Schema.NonNegativeInt),
  unknown: optional(Schema.Struct(each(Gap)))
})
export type Usage = typeof Usage.Type

/** The name of a count. */
export type Count = Exclude<keyof Usage, "unknown">

/** Nothing was reported. */
export const none: Usage = {}

/** The names of all counts. */
export const counts: ReadonlyArray<Count> = [
  "inputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "outputTokens",
  "reasoningTokens"
]

/** A usage of which nothing is known, and why. */
export const unknown = (gap: Gap): Usage => ({
  unknown: { inputTokens: gap, cacheReadTokens: gap, cacheWriteTokens: gap, outputTokens: gap, reasoningTokens: gap }
})

const isCount = Schema.is(Schema.NonNegativeInt)

/** The usage with what is a count in it: what is none, such as a fraction, is `malformed`. */
export const counted = (reported: Usage): Usage => {
  if (counts.every((count) => reported[count] === undefined || isCount(reported[count]))) return reported
  const kept: { -readonly [K in Count]?: number } = {}
  const unknown: { -readonly [K in Count]?: Gap } = { ...reported.unknown }
  for (const count of counts) {
    const value = reported[count]
    if (isCount(value)) kept[count] = value
    else if (value !== undefined) unknown[count] = "malformed"
  }
  return { ...kept, unknown }
}

/** More than a number can count is the most that it can: what is reported to be more is no count. */
const most = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER)

const worse = (left: Gap | undefined, right: Gap | undefined): Gap | undefined =>
  Gap.literals.findLast((gap) => gap === left || gap === right)

/**
 * The sum of what is known, and of what is not the worst reason. A count absent on both sides stays absent; one that is more
 * than `Number.MAX_SAFE_INTEGER` is that and `malformed`.
 */
export const add: {
  (that: Usage): (self: Usage) => Usage
  (self: Usage, that: Usage): Usage
} = dual(2, (self: Usage, that: Usage): Usage => {
  const sum: { -readonly [K in Count]?: number } = {}
  const unknown: { -readonly [K in Count]?: Gap } = {}
  for (const key of counts) {
    const left = self[key]
    const right = that[key]
    const both = (left ?? 0) + (right ?? 0)
    if (left !== undefined || right !== undefined) sum[key] = most(both)
    const gap = both > most(both) ? "malformed" : worse(self.unknown?.[key], that.unknown?.[key])
    if (gap !== undefined) unknown[key] = gap
  }
  const isWhole = self.unknown === undefined && that.unknown === undefined && Object.keys(unknown).length === 0
  return isWhole ? sum : { ...sum, unknown }
})

/** Whether a total of it leaves nothing out that was taken. */
export const isWhole = ({ unknown = {} }: Usage): boolean =>
  counts.every((count) => count === "reasoningTokens" || unknown[count] === undefined || unknown[count] === "uncounted")

/** The tokens of what was sent, or `undefined` if they are not known. */
export const sent = (usage: Usage): number | undefined => {
  const { cacheReadTokens = 0, cacheWriteTokens = 0, inputTokens, unknown = {} } = usage
  const isKnown = (count: Count): boolean => unknown[count] === undefined || unknown[count] === "uncounted"
  return inputTokens !== undefined &&
    isKnown("inputTokens") &&
    isKnown("cacheReadTokens") &&
    isKnown("cacheWriteTokens")
    ? most(inputTokens + cacheReadTokens + cacheWriteTokens)
    : undefined
}

/** All tokens that were reported, or `undefined` if none were. Reasoning is part of the output already. */
export const total = (usage: Usage): number | undefined => {
  const known = [usage.inputTokens, usage.cacheReadTokens, usage.cacheWriteTokens, usage.outputTokens].filter(
    (part) => part !== undefined
  )
  return known.length === 0 ? undefined : most(known.reduce((sum, part) => sum + part, 0))
}
