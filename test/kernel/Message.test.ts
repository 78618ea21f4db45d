import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as Message from "../../src/kernel/Message.ts"

const call = (toolCallId: string) => ({ toolCallId, toolName: "look", args: "{}" })
const ids = (iteration: number, ...given: ReadonlyArray<string>) =>
  Message.identify(iteration, given.map(call)).map(({ duplicateOf, toolCallId }) =>
    duplicateOf === undefined ? toolCallId : `${toolCallId} = ${duplicateOf}`
  )

describe("Message.identify", () => {
  it("keeps ids that are there and unique", () => assert.deepStrictEqual(ids(1, "a", "b"), ["a", "b"]))

  it("makes one for a call that has none, from the pass and the position", () => {
    assert.deepStrictEqual(ids(3, "", "b", ""), ["call-3-0", "b", "call-3-2"])
  })

  it("names the first call that has an id, in each that has it again", () => {
    assert.deepStrictEqual(ids(1, "a", "a", "a"), ["a", "call-1-1 = a", "call-1-2 = a"])
  })

  it("makes no id that another call was given", () => {
    assert.deepStrictEqual(ids(1, "", "call-1-0"), ["call-1-0.1", "call-1-0"])
    assert.deepStrictEqual(ids(1, "call-1-1", "call-1-1"), ["call-1-1", "call-1-1.1 = call-1-1"])
    assert.deepStrictEqual(ids(1, "", "call-1-0", "call-1-0.1"), ["call-1-0.2", "call-1-0", "call-1-0.1"])
  })

  it("always gives ids that are present and unique, keeps the first of each, and changes nothing else", () => {
    const given = FastCheck.array(
      FastCheck.constantFrom("", "a", "b", "call-1-0", "call-1-1", "call-1-2", "call-1-0.1")
    )
    FastCheck.assert(
      FastCheck.property(given, (given) => {
        const made = Message.identify(1, given.map(call))
        assert.strictEqual(new Set(made.map(({ toolCallId }) => toolCallId)).size, given.length)
        assert.isTrue(made.every(Schema.is(Message.ToolCall)))
        given.forEach((id, index) => {
          const isFirst = id !== "" && given.indexOf(id) === index
          if (isFirst) assert.strictEqual(made[index]?.toolCallId, id)
          assert.strictEqual(made[index]?.duplicateOf, id === "" || isFirst ? undefined : id)
        })
      })
    )
  })
})
