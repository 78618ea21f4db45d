/**
 * A `ProviderUsage` is a usage as a provider's API reports it. Here it becomes ours, with a reason for each count that is
 * not there. The packages of the AI SDK write zeros for those.
 *
 * @internal
 */
import * as Predicate from "effect/Predicate"
import * as Usage from "../kernel/Usage.ts"
import type * as AiSdkModel from "./AiSdkModel.ts"
import * as AnthropicFilter from "./AnthropicFilter.ts"

/** What was reported, or why it is not known. */
type Told = number | Usage.Gap

const told = (value: unknown, absent: Usage.Gap = "unreported"): Told => {
  if (value === undefined || value === null) return absent
  return Predicate.isNumber(value) && Number.isSafeInteger(value) && value >= 0 ? value : "malformed"
}

const known = (value: Told): number => (Predicate.isNumber(value) ? value : 0)

const make = (all: { readonly [K in Usage.Count]: Told }): Usage.Usage => {
  const counted: { -readonly [K in Usage.Count]?: number } = {}
  const unknown: { -readonly [K in Usage.Count]?: Usage.Gap } = {}
  for (const count of Usage.counts) {
    const value = all[count]
    if (Predicate.isNumber(value)) counted[count] = value
    else unknown[count] = value
  }
  return Object.keys(unknown).length === 0 ? counted : { ...counted, unknown }
}

/** What is left of an input that counts what the cache held, too. */
const uncached = (total: Told, cacheRead: Told, cacheWrite: Told): Told => {
  if (!Predicate.isNumber(total)) return total
  if (cacheRead === "malformed" || cacheWrite === "malformed") return "malformed"
  return told(total - known(cacheRead) - known(cacheWrite))
}

/** What any package says. A zero in it may be one that was not reported. */
export const ofAiSdk = ({ inputTokens, outputTokens }: AiSdkModel.Usage): Usage.Usage => {
  const cacheReadTokens = told(inputTokens.cacheRead)
  const cacheWriteTokens = told(inputTokens.cacheWrite)
  const noCache = told(inputTokens.noCache)
  return make({
    inputTokens:
      noCache === "unreported" ? uncached(told(inputTokens.total), cacheReadTokens, cacheWriteTokens) : noCache,
    cacheReadTokens,
    cacheWriteTokens,
    outputTokens: told(outputTokens.total),
    reasoningTokens: told(outputTokens.reasoning)
  })
}

const field = (value: unknown, key: string): unknown =>
  Predicate.isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined

/** OpenAI's two APIs count alike and name their counts differently: input and output hold what the details tell apart. */
const openAi =
  (input: string, output: string) =>
  (raw: unknown): Usage.Usage => {
    if (!Predicate.isRecord(raw)) return Usage.unknown("unreported")
    const inputDetails = field(raw, `${input}_details`)
    const cacheReadTokens = told(field(inputDetails, "cached_tokens"), "uncounted")
    const cacheWriteTokens = told(field(inputDetails, "cache_write_tokens"), "uncounted")
    return make({
      inputTokens: uncached(told(field(raw, input)), cacheReadTokens, cacheWriteTokens),
      cacheReadTokens,
      cacheWriteTokens,
      outputTokens: told(field(raw, output)),
      reasoningTokens: told(field(field(raw, `${output}_details`), "reasoning_tokens"), "uncounted")
    })
  }

export const ofOpenAiChat = openAi("prompt_tokens", "completion_tokens")

export const ofOpenAiResponses = openAi("input_tokens", "output_tokens")

/** Anthropic's input leaves out what the cache held. Where it wrote in several rounds, the totals are in the rounds. */
export const ofAnthropic = (given: unknown): Usage.Usage => {
  const raw = Predicate.isRecord(given)
    ? Object.fromEntries(Object.entries(given).filter(([, value]) => value !== AnthropicFilter.untold))
    : given

  if (!Predicate.isRecord(raw)) return Usage.unknown("unreported")
  const iterations = field(raw, "iterations")
  const all = Array.isArray(iterations) ? iterations : []
  const own = all.some((one) => field(one, "type") === "fallback_message")
    ? []
    : all.filter((one) => field(one, "type") === "message" || field(one, "type") === "compaction")
  const sum = (key: string): Told => {
    const counts = own.map((one) => told(field(one, key)))
    return (
      counts.find((count) => !Predicate.isNumber(count)) ?? counts.reduce<number>((total, one) => total + known(one), 0)
    )
  }
  const total = (key: string): Told => (own.length > 0 ? sum(key) : told(field(raw, key)))
  return make({
    inputTokens: total("input_tokens"),
    cacheReadTokens: told(field(raw, "cache_read_input_tokens")),
    cacheWriteTokens: told(field(raw, "cache_creation_input_tokens")),
    outputTokens: total("output_tokens"),
    reasoningTokens: told(field(field(raw, "output_tokens_details"), "thinking_tokens"), "uncounted")
  })
}

/** A usage that is told when a reply begins: what goes in is known, and what comes out is still to come. */
export const begun = (usage: Usage.Usage): Usage.Usage =>
  Usage.add(usage, { unknown: { outputTokens: "cut", reasoningTokens: "cut" } })
