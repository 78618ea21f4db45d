import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Usage from "../../src/kernel/Usage.ts"
import * as ProviderUsage from "../../src/services/ProviderUsage.ts"

/** What can stand where a count should: counts mostly, and all that is none. */
const value = FastCheck.oneof(
  { arbitrary: FastCheck.nat(1_000_000), weight: 6 },
  { arbitrary: FastCheck.constantFrom<unknown>(undefined, null), weight: 3 },
  { arbitrary: FastCheck.constantFrom<unknown>(-2, 1.5, NaN, 1e300, "7", true, {}, []), weight: 1 }
)

const details = (name: string) => FastCheck.oneof(FastCheck.constant(undefined), FastCheck.record({ [name]: value }))

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const field = (fields: unknown, key: string): unknown =>
  typeof fields === "object" && fields !== null ? Object.entries(fields).find(([name]) => name === key)?.[1] : undefined

/** Each count is known or has its reason, and never both. */
const isTold = (usage: Usage.Usage) => {
  for (const count of Usage.counts) {
    assert.notStrictEqual(usage[count] === undefined, usage.unknown?.[count] === undefined, count)
  }
}

/** A count that was sent is what was sent; one that was not, or is none, is not known. */
const same = (usage: Usage.Usage, count: Usage.Count, sent: unknown) => {
  assert.strictEqual(usage[count], isCount(sent) ? sent : undefined, count)
  if (!isCount(sent))
    assert.strictEqual(usage.unknown?.[count] === "malformed", sent !== undefined && sent !== null, count)
}

describe("A usage is one shape", () => {
  const openAi = [
    ["OpenAI chat", "prompt_tokens", "completion_tokens", ProviderUsage.ofOpenAiChat],
    ["OpenAI Responses", "input_tokens", "output_tokens", ProviderUsage.ofOpenAiResponses]
  ] as const
  for (const [name, input, output, read] of openAi) {
    it(`of ${name}: input and output hold what their details tell apart`, () => {
      const raw = FastCheck.record({
        [input]: value,
        [output]: value,
        [`${input}_details`]: FastCheck.oneof(
          FastCheck.constant(undefined),
          FastCheck.record({ cached_tokens: value, cache_write_tokens: value })
        ),
        [`${output}_details`]: details("reasoning_tokens")
      })
      FastCheck.assert(
        FastCheck.property(raw, (raw) => {
          const usage = read(raw)
          isTold(usage)
          const [cached, written] = ["cached_tokens", "cache_write_tokens"].map((key) =>
            field(raw[`${input}_details`], key)
          )
          same(usage, "outputTokens", raw[output])
          same(usage, "cacheReadTokens", cached)
          same(usage, "cacheWriteTokens", written)
          same(usage, "reasoningTokens", field(raw[`${output}_details`], "reasoning_tokens"))
          const { cacheReadTokens = 0, cacheWriteTokens = 0, inputTokens } = usage
          if (inputTokens !== undefined)
            assert.strictEqual(inputTokens + cacheReadTokens + cacheWriteTokens, raw[input])
          // What part of the input came from the cache is not known: nor is what did not.
          if (usage.unknown?.cacheReadTokens === "malformed") assert.isUndefined(inputTokens)
        })
      )
    })
  }

  it("of Anthropic: the input leaves out what the cache held", () => {
    const raw = FastCheck.record({
      input_tokens: value,
      output_tokens: value,
      cache_read_input_tokens: value,
      cache_creation_input_tokens: value,
      output_tokens_details: details("thinking_tokens")
    })
    FastCheck.assert(
      FastCheck.property(raw, (raw) => {
        const usage = ProviderUsage.ofAnthropic(raw)
        isTold(usage)
        same(usage, "inputTokens", raw.input_tokens)
        same(usage, "outputTokens", raw.output_tokens)
        same(usage, "cacheReadTokens", raw.cache_read_input_tokens)
        same(usage, "cacheWriteTokens", raw.cache_creation_input_tokens)
        same(usage, "reasoningTokens", field(raw.output_tokens_details, "thinking_tokens"))
      })
    )
  })

  it("of Anthropic, in several rounds: what its own model took in all of them", () => {
    const round = (type: string, input_tokens: unknown, output_tokens: number) => ({
      type,
      input_tokens,
      output_tokens
    })
    const told = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
    const rounds = [round("compaction", 100, 10), round("message", 20, 5), round("advisor_message", 7, 7)]
    const of = (iterations: ReadonlyArray<unknown>) => ProviderUsage.ofAnthropic({ ...told, iterations })
    assert.deepInclude(of(rounds), { inputTokens: 120, outputTokens: 15 })
    assert.deepInclude(of([...rounds, round("fallback_message", 9, 9)]), { inputTokens: 1, outputTokens: 2 })
    assert.deepInclude(of([]), { inputTokens: 1, outputTokens: 2 })
    const odd = of([...rounds, round("message", "7", 1)])
    assert.deepStrictEqual([odd.inputTokens, odd.unknown?.inputTokens, odd.outputTokens], [undefined, "malformed", 16])
  })

  it("where nothing was told: nothing is known of it", () => {
    for (const raw of [undefined, null, 7, "usage", []]) {
      for (const read of [ProviderUsage.ofOpenAiChat, ProviderUsage.ofOpenAiResponses, ProviderUsage.ofAnthropic]) {
        isTold(read(raw))
        assert.isUndefined(Usage.total(read(raw)))
        assert.isFalse(Usage.isWhole(read(raw)))
      }
    }
  })
})
