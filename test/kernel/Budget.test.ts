import { assert, describe, it } from "@effect/vitest"
import * as Budget from "../../src/kernel/Budget.ts"

const spent = (more: Partial<Budget.Spent>): Budget.Spent => ({ ...Budget.nothing, ...more })

describe("Budget.pass", () => {
  it("lets everything start where nothing is limited", () => {
    const much = spent({ passes: 1e6, toolCalls: 1e6, usage: { inputTokens: 1e9 }, unmetered: 9 })
    assert.isUndefined(Budget.pass({}, much, 1e12))
  })

  const cases: ReadonlyArray<readonly [what: string, over: ReturnType<typeof Budget.pass>, found: string | undefined]> =
    [
      ["one pass of two", Budget.pass({ passes: 2 }, spent({ passes: 1 }), 0), undefined],
      ["two passes of two", Budget.pass({ passes: 2 }, spent({ passes: 2 }), 0), "2 spent"],
      ["no pass of none", Budget.pass({ passes: 0 }, Budget.nothing, 0), "0 spent"],
      ["one token short", Budget.pass({ tokens: 10 }, spent({ usage: { outputTokens: 9 } }), 0), undefined],
      [
        "the last token",
        Budget.pass({ tokens: 10 }, spent({ usage: { inputTokens: 4, outputTokens: 6 } }), 0),
        "10 spent"
      ],
      ["more tokens than there are", Budget.pass({ tokens: 10 }, spent({ usage: { inputTokens: 25 } }), 0), "25 spent"],
      ["tokens before any are spent", Budget.pass({ tokens: 1 }, Budget.nothing, 0), undefined],
      ["no tokens at all", Budget.pass({ tokens: 0 }, Budget.nothing, 0), "0 spent"],
      ["a millisecond short", Budget.pass({ wallTimeMs: 10 }, Budget.nothing, 9), undefined],
      ["the last millisecond", Budget.pass({ wallTimeMs: 10 }, Budget.nothing, 10), "10 spent"],
      ["tool calls, which stop no pass", Budget.pass({ toolCalls: 1 }, spent({ toolCalls: 5 }), 0), undefined]
    ]
  for (const [what, over, found] of cases) {
    it(`${found === undefined ? "lets a pass start with" : "refuses a pass with"} ${what}`, () => {
      assert.strictEqual(over?.found, found)
      assert.strictEqual(over?.tag, found === undefined ? undefined : "BudgetExceeded")
    })
  }

  it("does not pretend to count what was not reported, unless enough was", () => {
    assert.strictEqual(Budget.pass({ tokens: 10 }, spent({ unmetered: 1 }), 0)?.tag, "UsageUnknown")
    const enough = spent({ unmetered: 1, usage: { inputTokens: 10 } })
    assert.strictEqual(Budget.pass({ tokens: 10 }, enough, 0)?.tag, "BudgetExceeded")
    assert.isUndefined(Budget.pass({ passes: 10 }, spent({ unmetered: 1 }), 0))
  })
})

describe("Budget.toolCall", () => {
  it("is met when the calls that started are as many as may", () => {
    assert.isUndefined(Budget.toolCall({}, spent({ toolCalls: 100 })))
    assert.isUndefined(Budget.toolCall({ toolCalls: 2 }, spent({ toolCalls: 1 })))
    assert.strictEqual(Budget.toolCall({ toolCalls: 2 }, spent({ toolCalls: 2 }))?.tag, "BudgetExceeded")
    assert.strictEqual(Budget.toolCall({ toolCalls: 0 }, Budget.nothing)?.tag, "BudgetExceeded")
  })
})

describe("Budget.defaults", () => {
  it("end a loop", () => assert.isAbove(Budget.defaults.passes ?? 0, 0))
})
