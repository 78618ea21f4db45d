import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck as fc } from "effect"
import * as Cost from "../../src/kernel/Cost.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Prices from "../../src/kernel/Prices.ts"
import type * as Usage from "../../src/kernel/Usage.ts"

const table = (value: unknown): Prices.Prices => Either.getOrThrow(Prices.read(value))

const prices = table({
  currency: "USD",
  models: [
    { model: "plain", input: "3", output: 15 },
    { model: "cached", input: "3", cacheRead: "0.3", cacheWrite: "3.75", output: "15" },
    { model: "thinking", input: "1", output: "2", reasoning: "10" },
    { model: "shared", input: "1", output: "1" },
    { provider: "dear", model: "shared", input: "100", output: "100" }
  ]
})

const called = (model?: string, provider?: string): Event.Event => ({
  _tag: "ModelCalled",
  iteration: 1,
  wireHash: "hash",
  messagesCount: 1,
  ...(model === undefined ? {} : { model }),
  ...(provider === undefined ? {} : { provider })
})

const replied = (usage?: Usage.Usage, more: Partial<Event.ModelReplied> = {}): Event.Event => ({
  _tag: "ModelReplied",
  iteration: 1,
  content: "",
  toolCalls: [],
  ...(usage === undefined ? {} : { usage }),
  ...more
})

const problem = { code: "WF-X-001", what: "It failed.", next: "Wait.", outcome: "not-applied", retry: "never" } as const

/** What one call of a model cost. */
const one = (model: string, usage?: Usage.Usage) => Cost.of(prices, [called(model), replied(usage)])

const gapsOf = ({ models }: Cost.Cost) => models.flatMap(({ gaps }) => gaps)

describe("Cost", () => {
  it("is exact, by count, per million tokens", () => {
    assert.deepStrictEqual(one("plain", { inputTokens: 1_000_000, outputTokens: 100_000 }), {
      currency: "USD",
      amount: "4.5",
      isWhole: true,
      models: [{ model: "plain", calls: 1, amount: "4.5", gaps: [] }]
    })
    const cached = { inputTokens: 10, cacheReadTokens: 100, cacheWriteTokens: 20, outputTokens: 1 }
    assert.strictEqual(one("cached", cached).amount, "0.00015")
    assert.strictEqual(one("plain", { inputTokens: 1, outputTokens: 0 }).amount, "0.000003")
    assert.strictEqual(one("plain", { inputTokens: 4_000_000_000_000, outputTokens: 0 }).amount, "12000000")
  })

  it("does not drift as sums of floats do", () => {
    const cheap = table({ currency: "EUR", models: [{ model: "m", input: "0.1", output: "0.000000000001" }] })
    const calls = Array.from({ length: 30 }, () => replied({ inputTokens: 1, outputTokens: 1 }))
    assert.strictEqual(Cost.of(cheap, [called("m"), ...calls]).amount, "0.00000300000000003")
  })

  it("bills reasoning as output, or by its own price", () => {
    const usage = { inputTokens: 0, outputTokens: 10, reasoningTokens: 4 }
    assert.strictEqual(one("plain", usage).amount, "0.00015")
    assert.strictEqual(one("thinking", usage).amount, "0.000052")
    // The provider has no such count: what it would count is output like any other.
    const uncounted = { inputTokens: 0, outputTokens: 10, unknown: { reasoningTokens: "uncounted" } } as const
    assert.deepInclude(one("thinking", uncounted), { amount: "0.00002", isWhole: true })
  })

  it("says of what is not known why, and of the rest the least that it can be", () => {
    const rows: ReadonlyArray<readonly [string, Usage.Usage | undefined, string | undefined, ReadonlyArray<Cost.Gap>]> =
      [
        ["plain", undefined, undefined, [{ why: "unreported", calls: 1 }]],
        ["other", { inputTokens: 1, outputTokens: 1 }, undefined, [{ why: "unpriced", calls: 1 }]],
        ["plain", { inputTokens: 1 }, "0.000003", [{ why: "unreported", count: "outputTokens", calls: 1 }]],
        [
          "plain",
          { inputTokens: 1, unknown: { outputTokens: "cut" } },
          "0.000003",
          [{ why: "cut", count: "outputTokens", calls: 1 }]
        ],
        [
          "plain",
          { inputTokens: 1, outputTokens: 1, unknown: { outputTokens: "malformed" } },
          "0.000018",
          [{ why: "malformed", count: "outputTokens", calls: 1 }]
        ],
        [
          "cached",
          { inputTokens: 1, outputTokens: 0, unknown: { cacheReadTokens: "unreported" } },
          "0.000003",
          [{ why: "unreported", count: "cacheReadTokens", calls: 1 }]
        ],
        [
          "plain",
          { inputTokens: 1, outputTokens: 0, cacheReadTokens: 5 },
          "0.000003",
          [{ why: "unpriced", count: "cacheReadTokens", calls: 1 }]
        ],
        [
          "thinking",
          { inputTokens: 0, outputTokens: 10, unknown: { reasoningTokens: "unreported" } },
          "0.00002",
          [{ why: "unreported", count: "reasoningTokens", calls: 1 }]
        ],
        [
          "thinking",
          { inputTokens: 0, outputTokens: 10, reasoningTokens: 11 },
          "0.00002",
          [{ why: "malformed", count: "reasoningTokens", calls: 1 }]
        ]
      ]
    for (const [model, usage, amount, gaps] of rows) {
      const cost = one(model, usage)
      assert.deepStrictEqual([cost.amount, cost.isWhole, gapsOf(cost)], [amount, false, gaps], JSON.stringify(usage))
    }
  })

  it("takes what a provider does not count for a part of what it does", () => {
    const usage = { inputTokens: 1, outputTokens: 0, unknown: { cacheWriteTokens: "uncounted" } } as const
    assert.deepInclude(one("cached", usage), { amount: "0.000003", isWhole: true })
  })

  it("needs no price for a cache of which nothing was taken", () => {
    assert.isTrue(one("plain", { inputTokens: 1, outputTokens: 0, cacheReadTokens: 0 }).isWhole)
  })

  it("names models with and without a price", () => {
    const cost = Cost.of(prices, [
      called("plain"),
      replied({ inputTokens: 1, outputTokens: 0 }),
      called("local"),
      replied({ inputTokens: 5, outputTokens: 5 }),
      replied({ inputTokens: 5, outputTokens: 5 })
    ])
    assert.deepStrictEqual(cost, {
      currency: "USD",
      amount: "0.000003",
      isWhole: false,
      models: [
        { model: "plain", calls: 1, amount: "0.000003", gaps: [] },
        { model: "local", calls: 2, gaps: [{ why: "unpriced", calls: 2 }] }
      ]
    })
  })

  it("does not guess a model that the record does not name", () => {
    assert.deepStrictEqual(gapsOf(Cost.of(prices, [called(), replied({ inputTokens: 1 })])), [
      { why: "untold", calls: 1 }
    ])
  })

  it("is nothing where no model was asked", () => {
    assert.deepStrictEqual(Cost.of(prices, []), { currency: "USD", amount: "0", isWhole: true, models: [] })
  })

  it("knows a model by its provider before it knows it by its name alone", () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 }
    const costs = [called("shared", "dear"), called("shared", "cheap"), called("shared")].map(
      (call) => Cost.of(prices, [call, replied(usage)]).amount
    )
    assert.deepStrictEqual(costs, ["100", "1", "1"])
  })

  it("bills each try to who was asked, and a reply to who gave it", () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 }
    const retried = (next: string): Event.Event => ({
      _tag: "ModelRetried",
      iteration: 1,
      attempt: 1,
      reason: "Unavailable",
      problem,
      delayMs: 0,
      next: { provider: "p", model: next },
      usage
    })
    const amounts = ({ models }: Cost.Cost) => models.map(({ amount, calls, model }) => [model, calls, amount])
    const events = [called("plain", "p"), retried("cached"), retried("shared"), replied(usage)]
    assert.deepStrictEqual(amounts(Cost.of(prices, events)), [
      ["plain", 1, "3"],
      ["cached", 1, "3"],
      ["shared", 1, "1"]
    ])
    const given = [called("plain", "p"), replied(usage, { by: { provider: "p", model: "shared" } })]
    assert.deepStrictEqual(amounts(Cost.of(prices, given)), [["shared", 1, "1"]])
    const summary: ReadonlyArray<Event.Event> = [
      { _tag: "SummaryAsked", iteration: 1, wireHash: "h", units: ["u"] },
      { _tag: "SummaryReplied", iteration: 1, content: "s", usage }
    ]
    assert.deepStrictEqual(amounts(Cost.of(prices, [...events, ...summary]))[0], ["plain", 2, "6"])
    // The next pass asks the first again, and does not repeat its name.
    const later = [...events, called(), replied(usage)]
    assert.deepStrictEqual(amounts(Cost.of(prices, later))[0], ["plain", 2, "6"])
  })

  it("bills a summary to who was asked for it, or gave it", () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 }
    const asked: Event.Event = { _tag: "SummaryAsked", iteration: 1, wireHash: "h", units: ["u"] }
    const gave: Event.Event = { _tag: "SummaryReplied", iteration: 1, content: "s", usage }
    const lines = (...events: ReadonlyArray<Event.Event>) =>
      Cost.of(prices, events).models.map(({ amount, model, provider }) => [provider, model, amount])
    // Before the first pass of a run, no other event says which model it is.
    assert.deepStrictEqual(lines({ ...asked, provider: "p", model: "plain" }, gave), [["p", "plain", "3"]])
    assert.deepStrictEqual(lines(called("plain", "p"), replied(usage), { ...asked, model: "shared" }, gave), [
      ["p", "plain", "3"],
      ["p", "shared", "1"]
    ])
    // The pass after it asks who was asked before, and does not say so again.
    assert.deepStrictEqual(lines(called("plain", "p"), { ...asked, model: "shared" }, gave, called(), replied(usage)), [
      ["p", "shared", "1"],
      ["p", "plain", "3"]
    ])
    const by = { provider: "p", model: "shared" }
    assert.deepStrictEqual(lines(called("plain", "p"), asked, { ...gave, by }), [["p", "shared", "1"]])
  })

  it("counts summaries, and what failed calls had taken", () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 }
    const failed: Event.Event = { _tag: "ModelFailed", iteration: 1, reason: "Broken", problem }
    const cost = Cost.of(prices, [
      called("plain"),
      { ...failed, usage },
      failed,
      { _tag: "SummaryAsked", iteration: 1, wireHash: "h", units: ["u"] },
      { _tag: "SummaryReplied", iteration: 1, content: "s", usage },
      { _tag: "SummaryAsked", iteration: 1, wireHash: "h", units: ["u"] },
      { _tag: "SummaryFailed", iteration: 1, reason: "Broken", problem, usage }
    ])
    assert.deepInclude(cost, { amount: "9", isWhole: true })
    assert.strictEqual(cost.models[0]?.calls, 3)
  })

  const decimal = fc.tuple(fc.nat({ max: 999 }), fc.nat({ max: 999_999 })).map(([whole, part]) => ({
    text: `${whole}.${String(part).padStart(6, "0")}`,
    millionths: BigInt(whole) * 1_000_000n + BigInt(part)
  }))
  const tokens = fc.nat({ max: 10_000_000 })
  const usage = fc.record({
    inputTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
    outputTokens: tokens
  })

  it.prop(
    "is what whole numbers say, in any order of the calls",
    [fc.tuple(decimal, decimal, decimal, decimal), fc.array(usage, { minLength: 1, maxLength: 8 })],
    ([[input, cacheRead, cacheWrite, output], usages]) => {
      const prices = table({
        currency: "USD",
        models: [
          {
            model: "m",
            input: input.text,
            cacheRead: cacheRead.text,
            cacheWrite: cacheWrite.text,
            output: output.text
          }
        ]
      })
      const exact = usages.reduce(
        (sum, taken) =>
          sum +
          BigInt(taken.inputTokens) * input.millionths +
          BigInt(taken.cacheReadTokens) * cacheRead.millionths +
          BigInt(taken.cacheWriteTokens) * cacheWrite.millionths +
          BigInt(taken.outputTokens) * output.millionths,
        0n
      )
      const digits = exact.toString().padStart(13, "0")
      const expected = `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, "")
      const events = usages.map((taken) => replied(taken))
      assert.strictEqual(Cost.of(prices, [called("m"), ...events]).amount, expected)
      assert.strictEqual(Cost.of(prices, [called("m"), ...events.reverse()]).amount, expected)
    }
  )
})

describe("Prices", () => {
  const model = { model: "m", input: "1", output: "1" }
  const wrong: ReadonlyArray<readonly [string, unknown, RegExp]> = [
    ["no table", 7, /the value/],
    ["no models", { currency: "USD", models: [] }, /\/models/],
    ["a currency that is none", { currency: "$", models: [model] }, /\/currency must be three capital letters/],
    [
      "a price with an exponent",
      { currency: "USD", models: [{ ...model, input: 1e-9 }] },
      /\/models\/0\/input must be a decimal/
    ],
    ["a price below nothing", { currency: "USD", models: [{ ...model, output: "-1" }] }, /\/models\/0\/output/],
    ["a price of words", { currency: "USD", models: [{ ...model, output: "cheap" }] }, /\/models\/0\/output/],
    ["a misspelt field", { currency: "USD", models: [{ ...model, cachedRead: "1" }] }, /\/models\/0\/cachedRead/],
    ["a model twice", { currency: "USD", models: [model, model] }, /\/models\/1 is a second price of "m"/]
  ]
  for (const [name, value, expected] of wrong) {
    it(`refuses ${name}, and says where`, () => {
      const error = Either.getOrThrow(Either.flip(Prices.read(value)))
      assert.deepInclude(error, { code: "WF-PRI-001", outcome: "not-applied", retry: "never" })
      assert.match(error.message, expected)
      assert.notInclude(JSON.stringify(error), "cheap")
    })
  }

  it("tells every fault", () => {
    const error = Either.getOrThrow(
      Either.flip(Prices.read({ currency: "usd", models: [{ ...model, input: "x", output: "y" }] }))
    )
    assert.strictEqual(error.problems.length, 3)
  })

  it("takes the same model of several providers", () => {
    const models = [model, { ...model, provider: "a" }, { ...model, provider: "b" }]
    assert.isTrue(Either.isRight(Prices.read({ currency: "USD", models })))
  })
})
