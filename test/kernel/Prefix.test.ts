import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type * as Message from "../../src/kernel/Message.ts"
import * as Offer from "../../src/kernel/Offer.ts"
import * as Prefix from "../../src/kernel/Prefix.ts"
import * as SummaryWire from "../../src/kernel/SummaryWire.ts"
import * as WindowWire from "../../src/kernel/WindowWire.ts"
import type * as Wire from "../../src/kernel/Wire.ts"

const base = (id: string) => ({ id, seq: 0, cause: { by: "selected", seq: 0 }, hash: id }) as const
const text = (id: string, more: Partial<Wire.SystemPiece> = {}): Wire.SystemPiece => ({
  ...base(id),
  slot: "system",
  origin: "app",
  text: `Text of ${id}.`,
  ...more
})
const house = text("house")
const skill = text("skill:a", { owner: { memberId: "a" } })
const summary = WindowWire.summaryPiece({ content: "So far.", seq: 3 })
const offer = text(Offer.id, { origin: "runtime" })
const say = (message: Message.Message, index: number): Wire.MessagePiece => ({
  ...base(`m${index}`),
  slot: "messages",
  origin: "person",
  message
})
const tool: Wire.ToolPiece = { ...base("tool:look"), slot: "tools", origin: "app", tool: { name: "look", schema: {} } }

const user = (content = "Go on."): Message.User => ({ role: "user", content })
const calls = (content = ""): Message.Assistant => ({
  role: "assistant",
  content,
  toolCalls: [{ toolCallId: "c", toolName: "look", args: "{}" }]
})
const answer: Message.Assistant = { role: "assistant", content: "Done.", toolCalls: [] }
const result = (content = "seen"): Message.Tool => ({
  role: "tool",
  toolCallId: "c",
  toolName: "look",
  outcome: "ran-ok",
  content
})

const wire = (
  system: ReadonlyArray<Wire.SystemPiece>,
  messages: ReadonlyArray<Message.Message>,
  tools: ReadonlyArray<Wire.ToolPiece> = [tool]
): Wire.Wire => ({ iteration: 1, system, messages: messages.map(say), tools, parameters: {} })

const ids = (pieces: ReadonlyArray<Wire.SystemPiece>) => pieces.map(({ id }) => id)
const placesOf = (messages: ReadonlyArray<Message.Message>, joins?: Prefix.Joins, system = [house, offer]) =>
  Prefix.of(wire(system, messages), joins).marks.messages
const joined: Prefix.Joins = () => true

describe("A prefix", () => {
  it("has the application's texts first, then what is selected, and what the runtime says of the pass last", () => {
    const notice = text(WindowWire.noticeId, { origin: "runtime" })
    const { late, selected, stable } = Prefix.of(wire([offer, skill, summary, notice, house], [user()]))
    assert.deepStrictEqual(ids(stable), ["house"])
    assert.deepStrictEqual(ids(selected), ["skill:a", WindowWire.summaryId])
    assert.deepStrictEqual(ids(late), [Offer.id, WindowWire.noticeId])
  })

  it("is marked after the texts that stay, or after the tools where none stays that can be marked", () => {
    const marks = (system: ReadonlyArray<Wire.SystemPiece>, tools?: ReadonlyArray<Wire.ToolPiece>) => {
      const { stable, tools: isTools } = Prefix.of(wire(system, [user()], tools)).marks
      return { stable, tools: isTools }
    }
    assert.deepStrictEqual(marks([house, skill]), { stable: true, tools: false })
    assert.deepStrictEqual(marks([skill]), { stable: false, tools: true })
    assert.deepStrictEqual(marks([text("blank", { text: " \n" })]), { stable: false, tools: true })
    assert.deepStrictEqual(marks([skill], []), { stable: false, tools: false })
  })

  it("is marked where the wire before it ended and where it ends, and never on a reply's words or a blank", () => {
    assert.deepStrictEqual(placesOf([user()]), [0])
    assert.deepStrictEqual(placesOf([user(), calls(), result()]), [0, 2])
    assert.deepStrictEqual(placesOf([user(), calls(), result(), result(), calls(), result()]), [3, 5])
    assert.deepStrictEqual(placesOf([user(), answer, user()]), [0, 2])
    assert.deepStrictEqual(placesOf([user(), answer]), [0])
    assert.deepStrictEqual(placesOf([user(" ")]), [])
    assert.deepStrictEqual(placesOf([user(), calls(), result("")]), [0, 1])
    assert.deepStrictEqual(placesOf([]), [])
  })

  it("ends before the last message where notices are sent inside of that, if there are any", () => {
    assert.deepStrictEqual(placesOf([user()], joined), [])
    assert.deepStrictEqual(placesOf([user(), calls(), result()], joined), [1])
    assert.deepStrictEqual(placesOf([user(), calls(), result(), result()], joined), [2])
    assert.deepStrictEqual(placesOf([user(), calls(), result(), calls(), result()], joined), [1, 3])
    assert.deepStrictEqual(placesOf([user(), calls(), result()], joined, [house]), [0, 2])
  })

  it("of a request for a summary is nothing, for nothing follows it", () => {
    const asked = text(SummaryWire.instructionsId, { origin: "runtime" })
    const { late, marks, selected, stable } = Prefix.of(wire([asked], [user()]))
    assert.deepStrictEqual([ids(stable), selected, late], [[SummaryWire.instructionsId], [], []])
    assert.deepStrictEqual(marks, { tools: false, stable: false, messages: [] })
    assert.deepStrictEqual(Prefix.whole(wire([offer, house], [user()])).stable, [offer, house])
  })

  it("is kept where the next wire looks for it, whatever was said and however notices are sent", () => {
    const said = FastCheck.constantFrom("", " ", "some")
    const pass = FastCheck.oneof(
      FastCheck.tuple(said, FastCheck.array(said, { minLength: 1, maxLength: 4 })).map(([own, results]) => [
        calls(own),
        ...results.map(result)
      ]),
      said.map((more) => [answer, user(more)])
    )
    const joins: Prefix.Joins = (messages) => messages.length % 3 === 0
    FastCheck.assert(
      FastCheck.property(FastCheck.array(pass, { minLength: 1, maxLength: 6 }), FastCheck.nat(2), (passes, form) => {
        const join = [joins, joined, undefined][form]
        let messages: ReadonlyArray<Message.Message> = [user()]
        for (const more of passes) {
          const before = placesOf(messages, join)
          messages = [...messages, ...more]
          const now = placesOf(messages, join)
          assert.isAtMost(now.length, 2)
          if (before.length > 0) assert.include(now, before.at(-1)!)
          for (const at of now) assert.notStrictEqual(messages[at], answer)
        }
      })
    )
  })
})
