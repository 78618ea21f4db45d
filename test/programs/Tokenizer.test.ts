import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Window from "../../src/kernel/Window.ts"
import * as Tokenizer from "../../src/programs/Tokenizer.ts"
import { countTokens } from "gpt-tokenizer/encoding/o200k_base"

const counter = Effect.map(Tokenizer.needed(Window.tokenBudget(1)), ({ counter }) => counter ?? assert.fail("none"))

describe("Tokenizer", () => {
  it.effect("counts as the package does, in slices that end in no half of a character", () =>
    Effect.gen(function* () {
      const { by, count, name } = yield* counter
      assert.deepStrictEqual([by, name], ["tokenizer", "gpt-tokenizer o200k_base"])
      const short = "How many lamps are there? 漢字 😀"
      assert.strictEqual(count(short), countTokens(short))
      const whole = `${"word ".repeat(204)}wor😀`
      assert.strictEqual(whole.length, 1_025)
      assert.strictEqual(count(whole), countTokens(whole))
      const broken = `${"word ".repeat(204)}lamplight`
      assert.strictEqual(count(broken), countTokens(broken.slice(0, 1_024)) + countTokens(broken.slice(1_024)))
      assert.strictEqual(count(""), 0)
    })
  )

  it.effect("takes what looks like a special token for the text that it is", () =>
    Effect.gen(function* () {
      const { count } = yield* counter
      assert.isAbove(count("<|endoftext|>"), 1)
    })
  )

  it.effect("is not loaded for a window that goes by units, and keeps apart what runs have counted", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* Tokenizer.needed(Window.keepLast(1)), {})
      assert.deepStrictEqual(yield* Tokenizer.needed(undefined), {})
      assert.notStrictEqual(yield* counter, yield* counter)
    })
  )
})
