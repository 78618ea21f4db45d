import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import type * as Message from "../../src/kernel/Message.ts"
import * as MessageOrder from "../../src/kernel/MessageOrder.ts"
import * as TokenCount from "../../src/kernel/TokenCount.ts"
import * as Transcript from "../../src/kernel/Transcript.ts"
import * as Window from "../../src/kernel/Window.ts"

/** Units by one letter each: `u` the person, `r` a reply, `c` a reply that calls, with its results. */
const letters = ["u", "r", "c"] as const
type Letter = (typeof letters)[number]
const kinds = { u: "user", r: "reply", c: "calls" } as const
const ends = { u: "user", r: "reply", c: "result" } as const

const messagesOf = (letter: Letter, at: number, calls: number, size: number): ReadonlyArray<Message.Message> => {
  const text = `${letter}${at} ${"x".repeat(size)}`
  if (letter === "u") return [{ role: "user", content: text }]
  if (letter === "r") return [{ role: "assistant", content: text, toolCalls: [] }]
  const toolCalls = Array.from({ length: calls }, (_, n) => ({
    toolCallId: `${at}.${n}`,
    toolName: "look",
    args: "{}"
  }))
  return [
    { role: "assistant", content: "", toolCalls },
    ...toolCalls.map(({ toolCallId, toolName }): Message.Tool => ({
      role: "tool",
      toolCallId,
      toolName,
      outcome: "ran-ok",
      content: text
    }))
  ]
}

/** A history that a law takes, drawn by walking the law: `choices` pick what follows, as long as they last. */
const walk = (law: MessageOrder.Law, choices: ReadonlyArray<number>): ReadonlyArray<Letter> => {
  const drawn: Array<Letter> = []
  const isEnd = () => {
    const last = drawn.at(-1)
    return last !== undefined && law.ends.includes(ends[last])
  }
  for (const choice of choices) {
    const last = drawn.at(-1)
    const allowed = last === undefined ? law.starts : law.follows[ends[last]]
    const next = letters.filter((letter) => allowed.includes(kinds[letter]))
    const letter = next[choice % next.length]
    if (letter !== undefined) drawn.push(letter)
  }
  while (drawn.length > 0 && !isEnd()) drawn.pop()
  return drawn
}

const transcript = (drawn: ReadonlyArray<Letter>, sizes: ReadonlyArray<number> = [], isOpen = false) => {
  const closed = drawn.flatMap((letter, at) => messagesOf(letter, at, 1 + (at % 3), sizes[at % sizes.length] ?? 8))
  const open: ReadonlyArray<Message.Message> = isOpen
    ? [{ role: "assistant", content: "", toolCalls: [{ toolCallId: "open", toolName: "look", args: "{}" }] }]
    : []
  return Either.getOrThrow(Transcript.make([...closed, ...open]))
}

/** Where each unit of a trimmed transcript stood before. */
const places = (before: Transcript.Transcript, after: Transcript.Transcript): ReadonlyArray<number> =>
  after.units.map((unit) => before.units.indexOf(unit))

const history = FastCheck.record({
  law: FastCheck.constantFrom(...MessageOrder.laws),
  choices: FastCheck.array(FastCheck.nat(5), { minLength: 1, maxLength: 16 }),
  sizes: FastCheck.array(FastCheck.nat(400), { minLength: 1, maxLength: 5 }),
  units: FastCheck.integer({ min: 1, max: 12 }),
  tokens: FastCheck.integer({ min: 1, max: 900 }),
  downTo: FastCheck.integer({ min: 1, max: 900 }),
  isOpen: FastCheck.boolean()
})

describe("Window", () => {
  it("leaves every history legal that was legal, by the law of each provider", () => {
    let cut = 0
    FastCheck.assert(
      FastCheck.property(history, ({ choices, downTo, isOpen, law, sizes, tokens, units }) => {
        const drawn = walk(law, choices)
        if (drawn.length === 0) return
        const before = transcript(drawn, sizes, isOpen && drawn.at(-1) !== "r")
        assert.isUndefined(MessageOrder.check(law, Transcript.messages(before)))
        const least = { downTo: Math.min(downTo, tokens) }
        const strategies = [
          Window.keepLast(units),
          Window.tokenBudget(tokens, least),
          Window.summarizeOldest(tokens, { ...least, summaryTokens: 1 })
        ]
        for (const strategy of strategies) {
          const after = Window.trim(before, strategy)
          assert.isUndefined(MessageOrder.check(law, Transcript.messages(after)), `${drawn.join("")}: ${law.provider}`)
          assert.strictEqual(after.open, before.open)
          const kept = places(before, after)
          assert.deepStrictEqual(
            kept,
            kept.toSorted((a, b) => a - b)
          )
          for (const letter of ["u", "c"] as const) {
            const last = drawn.lastIndexOf(letter)
            if (last !== -1) assert.include(kept, last, `the last ${letter} of ${drawn.join("")}`)
          }
          assert.include(kept, drawn.length - 1)
          if (after === before) continue
          cut++
          assert.isBelow(kept.length, drawn.length)
        }
      }),
      { numRuns: 10_000 }
    )
    assert.isAbove(cut, 5_000, "the property must have seen cuts")
  })

  it("keeps no more than it is asked to, where what stays allows that", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.nat(30), FastCheck.integer({ min: 2, max: 12 }), (passes, units) => {
        const before = transcript(["u", ...Array.from({ length: passes + 1 }, () => "c" as const)])
        const { length } = Window.trim(before, Window.keepLast(units)).units
        // The request stays beside them.
        assert.strictEqual(length, Math.min(passes + 2, units + 1))
      })
    )
  })

  for (const [what, drawn, units, expected] of [
    ["nothing where all fits", "ucc", 3, "012"],
    ["the oldest results of a long turn", "ucccc", 2, "034"],
    ["whole turns before the request", "ucruru", 1, "0125"],
    ["a turn without results whole", "ururuc", 2, "45"],
    ["the reply that something was said of", "ucrur", 1, "01234"],
    ["the rest of a turn whose opening goes", "urucuc", 3, "45"],
    ["nothing that a history without a person starts with", "ccc", 1, "2"],
    ["nothing of replies alone", "rr", 1, "1"],
    ["results before the request, with the opening and the end of their turn", "uccru", 1, "0234"]
  ] as const) {
    it(`lets go ${what}: the last ${units} of ${drawn}`, () => {
      const before = transcript(Array.from(drawn, (letter) => letters.find((one) => one === letter) ?? "u"))
      assert.strictEqual(places(before, Window.trim(before, Window.keepLast(units))).join(""), expected)
    })
  }

  it("cuts down to its target once it is over its budget, and not before", () => {
    const before = transcript(
      Array.from("ucccccccc", (letter) => (letter === "u" ? "u" : "c")),
      [400]
    )
    const count = (self: Transcript.Transcript) =>
      Transcript.messages(self).reduce((sum, { content }) => sum + content.length / 4, 0)
    const all = Math.ceil(count(before)) + 50
    assert.strictEqual(Window.trim(before, Window.tokenBudget(all)), before)
    const after = Window.trim(before, Window.tokenBudget(900, { downTo: 760 }))
    // The unit before these has three results, which would be too many.
    assert.deepStrictEqual(places(before, after), [0, 6, 7, 8])
    assert.isAtMost(count(after), 760)
    // A summary needs room of its own.
    const summarized = Window.trim(before, Window.summarizeOldest(900, { downTo: 760, summaryTokens: 100 }))
    assert.deepStrictEqual(places(before, summarized), [0, 7, 8])
    const tokens = { ...TokenCount.estimate, count: () => 1 }
    assert.strictEqual(Window.trim(before, Window.tokenBudget(900), tokens), before)
  })

  it("reads well both ways", () => {
    const before = transcript(["u", "c", "c", "c"])
    assert.deepStrictEqual(Window.trim(Window.keepLast(1))(before), Window.trim(before, Window.keepLast(1)))
  })

  for (const [what, strategy, part] of [
    ["no unit", Window.keepLast(0), "whole numbers"],
    ["half a unit", Window.keepLast(1.5), "whole numbers"],
    ["no token", Window.tokenBudget(0), "whole numbers"],
    ["a target over its budget", Window.tokenBudget(10, { downTo: 11 }), "downTo"],
    ["a summary as long as all", Window.summarizeOldest(100, { downTo: 50, summaryTokens: 50 }), "summaryTokens"],
    ["no instructions", Window.summarizeOldest(100, { instructions: "" }), "whole numbers"],
    ["a lone surrogate", Window.summarizeOldest(100, { instructions: "\ud800" }), "surrogate"]
  ] as const) {
    it(`says what is wrong with ${what}`, () => {
      const problems = Window.problems(strategy)
      assert.lengthOf(problems, 1)
      assert.include(problems[0], part)
    })
  }

  it("has nothing against what its makers make of whole numbers", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer({ min: 2, max: 1_000_000 }), (n) => {
        for (const strategy of [Window.keepLast(n), Window.tokenBudget(n), Window.summarizeOldest(n)])
          assert.deepStrictEqual(Window.problems(strategy), [])
      })
    )
  })
})

describe("MessageOrder.check", () => {
  const user: Message.Message = { role: "user", content: "?" }
  const reply: Message.Message = { role: "assistant", content: "!", toolCalls: [] }
  const [calls, result] = messagesOf("c", 0, 1, 0)
  const law = (provider: string) => {
    const found = MessageOrder.laws.find((one) => one.provider === provider)
    if (found === undefined || calls === undefined || result === undefined) throw new Error(provider)
    return (...messages: ReadonlyArray<Message.Message | undefined>) =>
      MessageOrder.check(
        found,
        messages.flatMap((message) => message ?? [])
      )?.what
  }

  for (const [provider, what, sent, broken] of [
    ["openai", "a reply first", [reply, user], undefined],
    ["anthropic", "a reply first", [reply, user], "reply comes first"],
    ["anthropic", "two messages of the person", [user, user], undefined],
    ["bedrock", "two messages of the person", [user, user], "user follows user"],
    ["google", "a call after a reply", [user, reply, calls, result], "calls follows reply"],
    ["google", "a call after a result", [user, calls, result, calls, result], undefined],
    ["mistral", "the person after a result", [user, calls, result, user], "user follows result"],
    ["mistral", "a reply after a result", [user, calls, result, reply, user], undefined],
    ["chat-template", "two replies", [user, reply, reply, user], "reply follows reply"],
    ["openai", "a call without its result", [user, calls], "a call without its result"],
    ["openai", "a result without its call", [user, calls, result, result], "a result without its call"],
    ["openai", "a result of nothing", [user, result], "result follows user"],
    ["anthropic", "a reply last", [user, reply], "reply comes last"]
  ] as const) {
    it(`${broken === undefined ? "takes" : "refuses"} ${what}, for ${provider}`, () => {
      assert.strictEqual(law(provider)(...sent), broken)
    })
  }
})

describe("TokenCount.estimate", () => {
  it("counts bytes as UTF-8 has them", () => {
    for (const text of ["", "abcd", "é", "漢字", "😀", "aé漢😀".repeat(9)]) {
      assert.strictEqual(TokenCount.estimate.count(text), Math.ceil(new TextEncoder().encode(text).length / 4), text)
    }
  })
})
