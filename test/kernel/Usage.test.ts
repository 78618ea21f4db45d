import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as FastCheck from "effect/FastCheck"
import * as Usage from "../../src/kernel/Usage.ts"

const usage = Arbitrary.make(Usage.Usage)

describe("Usage", () => {
  it("adds what is known, and keeps absent what nobody reported", () => {
    assert.deepStrictEqual(Usage.add({ inputTokens: 1, outputTokens: 2 }, { inputTokens: 3, cacheReadTokens: 0 }), {
      inputTokens: 4,
      cacheReadTokens: 0,
      outputTokens: 2
    })
    assert.deepStrictEqual(Usage.add(Usage.none, Usage.none), {})
  })

  it("adds in any order, and nothing changes nothing", () => {
    FastCheck.assert(
      FastCheck.property(usage, usage, usage, (a, b, c) => {
        assert.deepStrictEqual(Usage.add(a, b), Usage.add(b, a))
        assert.deepStrictEqual(Usage.add(Usage.add(a, b), c), Usage.add(a, Usage.add(b, c)))
        assert.deepStrictEqual(Usage.add(a, Usage.none), a)
        assert.deepStrictEqual(Usage.add(b)(a), Usage.add(a, b))
      })
    )
  })

  it("has no count for what is none, and says so of that one alone", () => {
    for (const none of [-1, 0.5, Number.NaN, Infinity, 2 ** 53]) {
      assert.deepStrictEqual(
        Usage.counted({ inputTokens: none, outputTokens: 2, unknown: { cacheReadTokens: "cut" } }),
        {
          outputTokens: 2,
          unknown: { cacheReadTokens: "cut", inputTokens: "malformed" }
        }
      )
    }
    FastCheck.assert(FastCheck.property(usage, (one) => assert.deepStrictEqual(Usage.counted(one), one)))
  })

  it("adds up to what can be counted, and says when that is not all", () => {
    const most = Number.MAX_SAFE_INTEGER
    const sum = Usage.add({ inputTokens: most, outputTokens: most }, { inputTokens: 1 })
    assert.deepStrictEqual(sum, { inputTokens: most, outputTokens: most, unknown: { inputTokens: "malformed" } })
    assert.strictEqual(Usage.total({ inputTokens: most, outputTokens: 1 }), most)
    assert.strictEqual(Usage.sent({ inputTokens: most, cacheReadTokens: 1 }), most)
  })

  it("knows what was sent only if all of that is known", () => {
    assert.strictEqual(Usage.sent({ inputTokens: 1, cacheReadTokens: 20, cacheWriteTokens: 300, outputTokens: 9 }), 321)
    assert.strictEqual(Usage.sent({ inputTokens: 1, unknown: { cacheReadTokens: "uncounted" } }), 1)
    assert.isUndefined(Usage.sent({ cacheReadTokens: 5, outputTokens: 9 }))
    for (const count of ["inputTokens", "cacheReadTokens", "cacheWriteTokens"] as const) {
      assert.isUndefined(Usage.sent({ inputTokens: 1, unknown: { [count]: "unreported" } }))
    }
    assert.strictEqual(Usage.sent({ inputTokens: 1, unknown: { outputTokens: "unreported" } }), 1)
  })

  it("totals input, cache and output once each: reasoning is part of the output", () => {
    const whole = {
      inputTokens: 1,
      cacheReadTokens: 20,
      cacheWriteTokens: 300,
      outputTokens: 4_000,
      reasoningTokens: 3_000
    }
    assert.strictEqual(Usage.total(whole), 4_321)
    assert.strictEqual(Usage.total({ outputTokens: 0 }), 0)
  })

  it("has no total where nothing was reported that adds up", () => {
    assert.isUndefined(Usage.total({}))
    assert.isUndefined(Usage.total({ reasoningTokens: 5 }))
  })

  it("keeps the worst reason for what is not known, whichever call it was, and says when a total leaves something out", () => {
    const one = { inputTokens: 5, unknown: { outputTokens: "cut", cacheReadTokens: "uncounted" } } as const
    const two = { inputTokens: 2, outputTokens: 3, unknown: { cacheReadTokens: "malformed" } } as const
    assert.deepStrictEqual(Usage.add(one, two), {
      inputTokens: 7,
      outputTokens: 3,
      unknown: { cacheReadTokens: "malformed", outputTokens: "cut" }
    })
    assert.isFalse(Usage.isWhole(one))
    assert.isFalse(Usage.isWhole(Usage.unknown("unreported")))
    // What an API has no count for is in another, and reasoning is in the output.
    assert.isTrue(Usage.isWhole({ inputTokens: 5, unknown: { cacheReadTokens: "uncounted", reasoningTokens: "cut" } }))
    assert.isTrue(Usage.isWhole({}))
  })
})
