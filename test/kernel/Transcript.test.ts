import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import type * as Message from "../../src/kernel/Message.ts"
import * as Transcript from "../../src/kernel/Transcript.ts"

const user = (content = "?"): Message.User => ({ role: "user", content })
const call = (toolCallId: string): Message.ToolCall => ({ toolCallId, toolName: "look", args: "{}" })
const assistant = (...ids: ReadonlyArray<string>): Message.Assistant => ({
  role: "assistant",
  content: ids.length === 0 ? "Done." : "",
  toolCalls: ids.map(call)
})
const tool = (toolCallId: string, outcome: Message.Settlement = "ran-ok"): Message.Tool => ({
  role: "tool",
  toolCallId,
  toolName: "look",
  outcome,
  content: `result of ${toolCallId}`
})

const refused: ReadonlyArray<
  readonly [what: string, messages: ReadonlyArray<Message.Message>, reason: string, code: string]
> = [
  ["a result before any call", [tool("a")], "OrphanSettlement", "WF-MSG-002"],
  ["a result after a reply without calls", [assistant(), tool("a")], "OrphanSettlement", "WF-MSG-002"],
  ["a result with the id of no open call", [assistant("a"), tool("b")], "OrphanSettlement", "WF-MSG-002"],
  ["a result of a closed unit", [assistant("a"), tool("a"), tool("a")], "OrphanSettlement", "WF-MSG-002"],
  ["a second result while the unit is open", [assistant("a", "b"), tool("a"), tool("a")], "SettledTwice", "WF-MSG-003"],
  ["results out of order", [assistant("a", "b"), tool("b")], "OutOfOrder", "WF-MSG-004"],
  ["the person while a call is open", [assistant("a"), user()], "OpenCalls", "WF-MSG-001"],
  ["a reply while a call is open", [assistant("a", "b"), tool("a"), assistant()], "OpenCalls", "WF-MSG-001"]
]

describe("Transcript.make", () => {
  it("takes a conversation in which each call has its settlement", () => {
    const messages = [user(), assistant("a", "b"), tool("a"), tool("b", "refused"), user(), assistant(), assistant()]
    const made = Either.getOrThrow(Transcript.make(messages))
    assert.isUndefined(made.open)
    assert.deepStrictEqual(Transcript.messages(made), messages)
    assert.deepStrictEqual(
      made.units.map(({ kind }) => kind),
      ["said", "replied", "said", "replied", "replied"]
    )
  })

  it("shows what is open", () => {
    const { open, units } = Either.getOrThrow(Transcript.make([user(), assistant("a", "b"), tool("a")]))
    assert.lengthOf(units, 1)
    assert.deepStrictEqual(
      open?.calls.map(({ toolCallId }) => toolCallId),
      ["a", "b"]
    )
    assert.deepStrictEqual(
      open?.settled.map(({ call }) => call.toolCallId),
      ["a"]
    )
  })

  it("tells the same id in two units apart", () => {
    assert.isTrue(Either.isRight(Transcript.make([assistant("a"), tool("a"), assistant("a"), tool("a")])))
  })

  for (const [what, messages, reason, code] of refused) {
    it(`refuses ${what}`, () => {
      const error = Either.getOrThrow(Either.flip(Transcript.make(messages)))
      assert.deepStrictEqual([error.reason, error.code], [reason, code])
      assert.include(error.message, error.what)
      assert.isTrue(Either.isRight(Transcript.make(messages.slice(0, -1))))
    })
  }
})

describe("Transcript.append and settle", () => {
  it("read well both ways", () => {
    const open = Either.getOrThrow(Transcript.append(Transcript.empty, assistant("a")))
    assert.deepStrictEqual(Transcript.append(assistant("a"))(Transcript.empty), Either.right(open))
    assert.deepStrictEqual(Transcript.settle(tool("a"))(open), Transcript.settle(open, tool("a")))
  })

  it("say how many calls have no result yet", () => {
    const open = Either.getOrThrow(Transcript.make([assistant("a", "b", "c"), tool("a")]))
    const error = Either.getOrThrow(Either.flip(Transcript.append(open, user())))
    assert.strictEqual(error.what, "2 calls have no result yet.")
  })
})

describe("Transcript, however it is made,", () => {
  const id = FastCheck.constantFrom("a", "b", "c")
  const message: FastCheck.Arbitrary<Message.Message> = FastCheck.oneof(
    FastCheck.constant(user()),
    FastCheck.uniqueArray(id, { maxLength: 3 }).map((ids) => assistant(...ids)),
    { arbitrary: id.map((id) => tool(id)), weight: 3 }
  )

  it("gives each call exactly one settlement, right after it and in order", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(message, { maxLength: 30 }), (messages) => {
        let self = Transcript.empty
        for (const message of messages) {
          const next = message.role === "tool" ? Transcript.settle(self, message) : Transcript.append(self, message)
          if (Either.isRight(next)) self = next.right
        }
        for (const unit of self.units) {
          const [reply, ...results] = Transcript.unitMessages(unit)
          const calls = reply?.role === "assistant" ? reply.toolCalls : []
          assert.deepStrictEqual(
            results.map((result) => (result.role === "tool" ? result.toolCallId : "no result")),
            calls.map(({ toolCallId }) => toolCallId)
          )
        }
        const closed = Transcript.make(Transcript.messages(self))
        assert.isTrue(Either.isRight(closed) && closed.right.open === undefined)
      })
    )
  })

  it("stays whole when units are dropped", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.uniqueArray(id, { maxLength: 3 })),
        FastCheck.nat(),
        (turns, cut) => {
          const messages = turns.flatMap((ids) => [user(), assistant(...ids), ...ids.map((id) => tool(id))])
          const { units } = Either.getOrThrow(Transcript.make(messages))
          const kept = Transcript.messages({ units: units.slice(cut % (units.length + 1)) })
          assert.isTrue(Either.isRight(Transcript.make(kept)))
        }
      )
    )
  })
})
