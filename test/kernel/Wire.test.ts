import { assert, describe, it } from "@effect/vitest"
import type * as Event from "../../src/kernel/Event.ts"
import type * as Message from "../../src/kernel/Message.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Script from "./Script.ts"

const played = Script.play(
  Script.spec({
    pieces: [Script.piece("one", "1"), Script.piece("two", "2")],
    tools: [Script.tool("look"), Script.tool("note", "idempotent")],
    parameters: { temperature: 0, stopSequences: ["END"] },
    limits: { passes: 4 }
  }),
  ({ iteration }) => (iteration === 3 ? { content: "Done." } : { content: "Wait.", calls: [Script.call("a")] })
)
const wire = Wire.project(played.state, 3)

const replace = <A>(all: ReadonlyArray<A>, index: number, change: (one: A) => A): ReadonlyArray<A> =>
  all.map((one, at) => (at === index ? change(one) : one))
const text = (piece: Wire.SystemPiece): Wire.SystemPiece => ({ ...piece, text: `${piece.text}!` })
const say = (change: (message: Message.Message) => Message.Message) => (piece: Wire.MessagePiece) => ({
  ...piece,
  message: change(piece.message)
})
const tool = (change: Partial<Wire.ToolPiece["tool"]>) => (piece: Wire.ToolPiece) => ({
  ...piece,
  tool: { ...piece.tool, ...change }
})
const assistant = (change: (message: Message.Assistant) => Message.Assistant) =>
  say((message) => (message.role === "assistant" ? change(message) : message))
const result = (change: Partial<Message.Tool>) =>
  say((message) => (message.role === "tool" ? { ...message, ...change } : message))

/** Everything that a model reads, changed in one place: the wire, and where it differs. */
const planted: ReadonlyArray<readonly [what: string, wire: Wire.Wire, slot: Wire.Drift["slot"], index: number]> = [
  ["a system text", { ...wire, system: replace(wire.system, 1, text) }, "system", 1],
  ["a system text that is gone", { ...wire, system: wire.system.slice(1) }, "system", 0],
  ["the order of system texts", { ...wire, system: [...wire.system].reverse() }, "system", 0],
  [
    "what the person said",
    {
      ...wire,
      messages: replace(
        wire.messages,
        0,
        say(() => ({ role: "user", content: "?" }))
      )
    },
    "messages",
    0
  ],
  [
    "what the model said",
    {
      ...wire,
      messages: replace(
        wire.messages,
        1,
        assistant((m) => ({ ...m, content: "W" }))
      )
    },
    "messages",
    1
  ],
  [
    "a call's arguments",
    {
      ...wire,
      messages: replace(
        wire.messages,
        1,
        assistant((m) => ({ ...m, toolCalls: m.toolCalls.map((c) => ({ ...c, args: "{} " })) }))
      )
    },
    "messages",
    1
  ],
  [
    "a call's tool",
    {
      ...wire,
      messages: replace(
        wire.messages,
        1,
        assistant((m) => ({ ...m, toolCalls: m.toolCalls.map((c) => ({ ...c, toolName: "note" })) }))
      )
    },
    "messages",
    1
  ],
  [
    "a call's id",
    {
      ...wire,
      messages: replace(
        wire.messages,
        1,
        assistant((m) => ({ ...m, toolCalls: m.toolCalls.map((c) => ({ ...c, toolCallId: "b" })) }))
      )
    },
    "messages",
    1
  ],
  ["a result", { ...wire, messages: replace(wire.messages, 4, result({ content: "" })) }, "messages", 4],
  [
    "a result's outcome",
    { ...wire, messages: replace(wire.messages, 4, result({ outcome: "absent" })) },
    "messages",
    4
  ],
  ["a result's id", { ...wire, messages: replace(wire.messages, 4, result({ toolCallId: "b" })) }, "messages", 4],
  ["a result's tool", { ...wire, messages: replace(wire.messages, 4, result({ toolName: "note" })) }, "messages", 4],
  ["one more message", { ...wire, messages: [...wire.messages, ...wire.messages.slice(0, 1)] }, "messages", 5],
  ["one message less", { ...wire, messages: wire.messages.slice(0, -1) }, "messages", 4],
  ["a tool's name", { ...wire, tools: replace(wire.tools, 0, tool({ name: "see" })) }, "tools", 0],
  ["a tool's description", { ...wire, tools: replace(wire.tools, 0, tool({ description: "" })) }, "tools", 0],
  ["a tool's schema", { ...wire, tools: replace(wire.tools, 1, tool({ schema: {} })) }, "tools", 1],
  ["a tool that is gone", { ...wire, tools: [] }, "tools", 0],
  ["a parameter", { ...wire, parameters: { ...wire.parameters, seed: 1 } }, "parameters", 0],
  ["the stop sequences", { ...wire, parameters: { ...wire.parameters, stopSequences: [] } }, "parameters", 0]
]

describe("Wire.diff", () => {
  for (const [what, changed, slot, index] of planted) {
    it(`finds ${what}`, () => {
      const drift = Wire.diff(wire, changed)
      assert.deepInclude(drift, { slot, index })
      assert.deepInclude(Wire.diff(changed, wire), { slot, index })
      if (slot !== "parameters") {
        assert.strictEqual(drift?.left?.id, wire[slot][index]?.id)
        assert.strictEqual(drift?.right?.id, changed[slot][index]?.id)
        assert.notStrictEqual(drift?.left?.hash, drift?.right?.hash)
      }
    })
  }

  it("finds nothing between equal wires, and names no side that has no piece there", () => {
    assert.isUndefined(Wire.diff(wire, structuredClone(wire)))
    const drift = Wire.diff(wire, { ...wire, tools: [] })
    assert.isDefined(drift?.left)
    assert.isFalse(drift !== undefined && "right" in drift)
  })

  it("names the first of several", () => {
    const everywhere = { ...wire, system: replace(wire.system, 1, text), tools: [], parameters: {} }
    assert.deepInclude(Wire.diff(wire, everywhere), { slot: "system", index: 1 })
  })

  it("looks at what the model reads, not at the hash that a piece claims", () => {
    const lying = { ...wire, system: replace(wire.system, 0, (piece) => ({ ...text(piece), hash: piece.hash })) }
    assert.deepInclude(Wire.diff(wire, lying), { slot: "system", index: 0 })
  })
})

describe("Wire.hash", () => {
  for (const [what, changed] of planted) {
    it(`depends on ${what}`, () => assert.notStrictEqual(Wire.hash(changed), Wire.hash(wire)))
  }

  it("depends on nothing that the model does not read", () => {
    const other: Wire.Wire = {
      ...wire,
      iteration: 9,
      system: wire.system.map((piece) => ({ ...piece, id: "x", seq: 0, hash: "", origin: "tool" })),
      messages: replace(
        wire.messages,
        1,
        assistant((m) => ({ ...m, toolCalls: m.toolCalls.map((one) => ({ ...one, duplicateOf: "z" })) }))
      )
    }
    assert.strictEqual(Wire.hash(other), Wire.hash(wire))
  })

  it("tells slots apart: the same text is another wire elsewhere", () => {
    const base = Wire.project(Script.play(Script.spec(), () => ({})).state, 1)
    const rolled = (system: string, messages: string, tools: string) => Wire.combine({ system, messages, tools }, {})
    const all = [rolled("a", "", ""), rolled("", "a", ""), rolled("", "", "a"), Wire.hash(base)]
    assert.strictEqual(new Set(all).size, all.length)
  })

  it("takes absent parameters for the provider's own, however they are written", () => {
    assert.isTrue(Wire.sameParameters({ seed: 1, topP: 0.5 }, { topP: 0.5, seed: 1 }))
    const each: ReadonlyArray<Event.Parameters> = [
      {},
      { temperature: 1 },
      { topP: 1 },
      { maxOutputTokens: 1 },
      { seed: 1 },
      { stopSequences: ["1"] }
    ]
    for (const left of each) {
      for (const right of each) assert.strictEqual(Wire.sameParameters(left, right), left === right)
    }
  })
})

describe("Wire.project", () => {
  it("gives a past pass as it was sent", () => {
    for (const sent of played.sent) assert.deepStrictEqual(Wire.project(played.state, sent.iteration), sent)
    assert.lengthOf(wire.messages, 5)
  })

  it("gives what would be sent now for a pass to come", () => {
    const now = Wire.project(played.state)
    assert.strictEqual(now.iteration, 4)
    assert.lengthOf(now.messages, 6)
    assert.deepStrictEqual(now.parameters, {})
    assert.deepStrictEqual(Wire.project(played.state, 9), now)
  })
})
