import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type * as Event from "../../src/kernel/Event.ts"
import * as Message from "../../src/kernel/Message.ts"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Refusal from "../../src/kernel/Refusal.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as Wire from "../../src/kernel/Wire.ts"

import { draw, looked, play, type Reply, tool } from "./WhyPlay.ts"

describe("Why", () => {
  it("walks a value through a result and a call's argument to the piece that caused it", () => {
    const pieces = [Piece.fact("notes", "The latest full year is 2013.")]
    const events = play(looked("It was 43.4 mm.", '{"rain":43.4}', '{"year":2013}'), { pieces })
    assert.deepStrictEqual(draw(Why.value(events, "43.4")), [
      "43.4 in reply of pass 2",
      "  result:7 on pass 2: 43.4",
      '    look {"year":2013}',
      "      world",
      "      2013 in arguments of pass 1",
      "        notes on pass 1: 2013",
      "          app"
    ])
  })

  it("walks to the person's message", () => {
    const events = play(looked("Order AB-1234 is late.", "AB-1234: late", '{"id":"AB-1234"}'), {
      input: "Where is AB-1234?"
    })
    assert.deepStrictEqual(draw(Why.answer(events)), [
      "AB-1234 in reply of pass 2",
      "  message:0 on pass 2: AB-1234",
      "    person",
      "  reply:4 on pass 2: AB-1234",
      "    AB-1234 in arguments of pass 1",
      "      message:0 on pass 1: AB-1234",
      "        person (above)",
      "  result:6 on pass 2: AB-1234",
      '    look {"id":"AB-1234"}',
      "      world",
      "      AB-1234 in arguments of pass 1 (above)"
    ])
  })

  it("never takes for a carrier what was not on the wire", () => {
    const spec = { pieces: [Piece.fact("one", "Nothing of use.")] }
    const events = play(
      [
        { calls: [["look", '{"n":5150}', "5150 and 7777"]] },
        { say: "So 5150.", calls: [["look", "{}", "7777"]] },
        { say: "7777." }
      ],
      spec
    )
    // The argument 5150 was written before its result, and a piece that is declared and never selected rides nowhere.
    const extra = Run.declarePiece(Piece.fact("unused", "5150"))
    const [first, ...rest] = events
    if (first === undefined) return assert.fail("no events")
    const shifted = [first, extra, ...rest]
    const chain = Why.call(shifted, 1)
    assert.deepStrictEqual(draw(chain), ["5150 in arguments of pass 1", "  gap: nowhere"])
    assert.deepStrictEqual(
      Why.value(shifted, "7777").nodes.flatMap((node) => (node.kind === "carrier" ? [node.pieceId] : [])),
      ["result:8", "result:12"]
    )
  })

  it("names every carrier, in the order of the wire", () => {
    const pieces = [Piece.fact("a", "x 4711"), Piece.fact("b", "y 4711")]
    const events = play(looked("4711", "4711"), { pieces, input: "4711?", tools: [tool("look", "for 4711")] })
    const carriers = Why.answer(events).nodes.flatMap((node) =>
      node.kind === "carrier" && node.pass === 2 ? [node.pieceId] : []
    )
    assert.deepStrictEqual(carriers, ["a", "b", "message:0", "result:8", "tool:look"])
  })

  it("says how spellings differ, and prefers the likeness that needs no guess", () => {
    const drawn = (result: string) => draw(Why.answer(play(looked("You saved $10,519.", result))))[1]
    assert.strictEqual(
      drawn("10519.0"),
      "  result:6 on pass 2: 10519.0 ~ currency ~ thousands separators ~ trailing zeros"
    )
    assert.strictEqual(
      drawn('{"a":-10519}'),
      "  result:6 on pass 2: -10519 ~ currency ~ thousands separators ~ sign dropped"
    )
    assert.strictEqual(drawn('{"a":-10519,"b":10519}'), "  result:6 on pass 2: 10519 ~ currency ~ thousands separators")
  })

  it("goes through the model's own earlier words to where they came from", () => {
    const events = play([{ say: "Found 8123.", calls: [["look", "{}", "fine"]] }, { say: "As said, 8123." }], {
      pieces: [Piece.fact("f", "code 8123")]
    })
    assert.deepStrictEqual(draw(Why.answer(events)), [
      "8123 in reply of pass 2",
      "  f on pass 2: 8123",
      "    app",
      "  reply:5 on pass 2: 8123",
      "    8123 in reply of pass 1",
      "      f on pass 1: 8123",
      "        app (above)"
    ])
  })

  it("stops in a gap where nothing held the value", () => {
    assert.deepStrictEqual(draw(Why.answer(play([{ say: "It costs $9,999." }]))), [
      "$9,999 in reply of pass 1",
      "  gap: nowhere"
    ])
  })

  it("reads JSON leaf by leaf, so that an escape is no part of a value", () => {
    const served = JSON.stringify({ log: "first line\n4477 found", path: "a\\b/9911" })
    const spans = Why.answer(play(looked("Code 4477.", served))).nodes.flatMap((node) =>
      node.kind === "carrier" ? node.spans : []
    )
    assert.deepStrictEqual(
      spans.map(({ text }) => text),
      ["4477"]
    )
    assert.deepStrictEqual(
      spans.map(({ end, start }) => served.slice(start, end)),
      ["4477"]
    )
  })

  it("reads the numbers of JSON as they are written, and its commas as separators", () => {
    const carried = (said: string, served: string) =>
      Why.answer(play(looked(said, served))).nodes.flatMap((node) =>
        node.kind === "carrier" ? node.spans.map(({ text }) => text) : []
      )
    assert.deepStrictEqual(carried("1,859", '{"price":1859.0}'), ["1859.0"])
    assert.deepStrictEqual(carried("10,519", "[10,519]"), [])
    assert.deepStrictEqual(carried("$10,519", '{"text":"10,519 in all"}'), ["10,519"])
  })

  it("walks a chain of a thousand calls, and a result of two million characters", () => {
    const links = Array.from({ length: 1_000 }, (_, n): Reply => ({
      calls: [["look", `{"id":"K-${n}"}`, `next is K-${n + 1}`]]
    }))
    const chain = Why.answer(play([...links, { say: "It ends at K-1000." }], { input: "Start at K-0." }))
    assert.deepStrictEqual(chain.gaps, [])
    assert.strictEqual(chain.nodes.filter(({ kind }) => kind === "call").length, 1_000)
    assert.isTrue(chain.nodes.some((node) => node.kind === "root" && node.root === "person"))
    const long = JSON.stringify({ text: 'x\n"'.repeat(400_000), code: "QX-1" })
    assert.isNotEmpty(Why.answer(play(looked("QX-1", long))).edges)
  })

  it("takes a year from a date where nothing else says it, and says so", () => {
    const events = play(looked("done", "ok", '{"year":2015}'), { input: "from 2012-01-01 to 2015-12-31" })
    assert.deepStrictEqual(
      draw(Why.tool(events, "call-1-0"))[3],
      "    message:0 on pass 1: 2015-12-31 ~ part of a date"
    )
    const both = play(looked("done", "ok", '{"year":2015}'), { input: "2015: from 2012-01-01 to 2015-12-31" })
    assert.deepStrictEqual(draw(Why.tool(both, "call-1-0"))[3], "    message:0 on pass 1: 2015")
  })

  it("never takes a part of a value for a value", () => {
    const events = play(looked("Two chains at 24.90 EUR as R-1001.", '{"part":"chain-9s","price":24.9,"id":"R-1001"}'))
    for (const text of ["2", "4.9", "1", "100", "hain", " "]) {
      const { gaps, nodes } = Why.value(events, text)
      assert.deepStrictEqual([gaps.map(({ kind }) => kind), nodes], [["not-found"], []], text)
    }
    assert.include(Why.value(events, "100").gaps[0]?.what, 'part of "R-1001"')
    for (const text of ["24.9", "R-1001", "Two chains", "24.90 EUR"])
      assert.isNotEmpty(Why.value(events, text).nodes, text)
  })

  it("reads the lists of JSON as lists in arguments, definitions and lines of a result", () => {
    const carriersOf = (chain: Why.Chain) =>
      chain.nodes.flatMap((node) => (node.kind === "carrier" ? [node.pieceId] : []))
    const inArguments = (said: string) => play(looked(said, "ok", '{"rows":[1,234,567],"t":"one\\nXK9042"}'))
    assert.deepStrictEqual(carriersOf(Why.value(inArguments("1234567"), "1234567")), [])
    assert.deepStrictEqual(carriersOf(Why.value(inArguments("It is 567."), "567")), ["reply:4"])
    assert.deepStrictEqual(carriersOf(Why.value(inArguments("XK9042"), "XK9042")), ["reply:4"])
    const listed = Run.declareTool({ name: "look", description: "d", schema: { enum: [1, 234, 567] } }, "pure")
    assert.deepStrictEqual(carriersOf(Why.answer(play([{ say: "1234567" }], { tools: [listed] }))), [])
    assert.deepStrictEqual(carriersOf(Why.answer(play([{ say: "So 567." }], { tools: [listed] }))), ["tool:look"])
    const lines = '{"a":1}\n{"b":[1,234,567],"t":"one\\nXK9042"}'
    assert.deepStrictEqual(carriersOf(Why.answer(play(looked("1234567", lines)))), [])
    assert.deepStrictEqual(carriersOf(Why.answer(play(looked("567 and XK9042", lines)))), ["result:6", "result:6"])
  })

  it("loses no value of the arguments behind an escape, and says where each stands", () => {
    const args = '{"a":"x\\ny 12345","b":"x\\ny 67890","12":"key","n":-1.50e2,"s":"say \\"hi\\" AB-77"}'
    const events = play(looked("done", "ok", args))
    const values = Why.tool(events, "call-1-0").nodes.flatMap((node) => (node.kind === "value" ? [node] : []))
    assert.includeMembers(
      values.map(({ value }) => value),
      ["12345", "67890", "AB-77", "-1.50e2"]
    )
    assert.notInclude(
      values.map(({ value }) => value),
      "12"
    )
    for (const { end, start, value } of values) assert.strictEqual(args.slice(start, end), value)
  })

  const carried = (chain: Why.Chain) => chain.nodes.flatMap((node) => (node.kind === "carrier" ? [node] : []))

  it("finds the id of a call in the reply that made it and in its result", () => {
    const calls: Reply["calls"] = [
      ["look", '{"n":1}', '{"ok":true}', "toolu_01A9q"],
      ["look", "{}", "fine"]
    ]
    const events = play([{ say: "I look.", calls }, { say: "See toolu_01A9q and call-1-1." }])
    assert.deepStrictEqual(draw(Why.answer(events)), [
      "toolu_01A9q in reply of pass 2",
      "  reply:4 on pass 2: toolu_01A9q",
      "    runtime",
      "  result:6 on pass 2: toolu_01A9q",
      "    runtime",
      "call-1-1 in reply of pass 2",
      "  reply:4 on pass 2: call-1-1",
      "    runtime (above)",
      "  result:8 on pass 2: call-1-1",
      "    runtime"
    ])
    const [reply, result] = carried(Why.answer(events))
    assert.strictEqual(reply?.text, 'I look.\ntoolu_01A9q look {"n":1}\ncall-1-1 look {}')
    assert.strictEqual(result?.text, 'toolu_01A9q {"ok":true}')
    for (const { part, spans, text } of carried(Why.answer(events))) {
      assert.strictEqual(part, "ids")
      for (const span of spans) assert.strictEqual(text.slice(span.start, span.end), span.text)
    }
  })

  it("finds an id of several words, and one that an argument copies", () => {
    const events = play([
      { calls: [["look", "{}", "ok", "the first"]] },
      { calls: [["look", '{"of":"The First"}', "ok", "k-22"]] },
      { say: "Done." }
    ])
    const span = { start: 0, end: 9, text: "the first", by: ["case"] }
    assert.deepStrictEqual(
      carried(Why.tool(events, "k-22")).map(({ part, pieceId, spans, text }) => ({ part, pieceId, spans, text })),
      [
        { part: "ids", pieceId: "reply:4", spans: [span], text: "the first look {}" },
        { part: "ids", pieceId: "result:6", spans: [span], text: "the first ok" }
      ]
    )
  })

  it("takes the text of a piece before the ids in it, and the likeness that needs no guess before both", () => {
    const read = (result: string) =>
      carried(Why.answer(play([{ calls: [["look", "{}", result, "8123"]] }, { say: "So 8123." }])))
        .filter(({ role }) => role === "tool")
        .map(({ part, text }) => [part, text])
    assert.deepStrictEqual(read("8123 it is"), [["text", "8123 it is"]])
    assert.deepStrictEqual(read("-8123 it is"), [["ids", "8123 -8123 it is"]])
  })

  it("keeps a piece of the application apart from a message with its id", () => {
    const events = play([{ say: "4455." }], {
      pieces: [Piece.fact("message:0", "A long preface. Room 4455 is here")],
      input: "4455 ?"
    })
    const carriers = Why.answer(events).nodes.flatMap((node) => (node.kind === "carrier" ? [node] : []))
    assert.deepStrictEqual(
      carriers.map(({ slot }) => slot),
      ["system", "messages"]
    )
    for (const { spans, text } of carriers) {
      for (const span of spans) assert.strictEqual(text.slice(span.start, span.end), span.text)
    }
  })

  it("finds the name of a tool in its definition, and through the call that chose it", () => {
    const tools = [tool("echo_2024x")]
    const chain = Why.answer(play([{ calls: [["echo_2024x", "{}", "ok"]] }, { say: "I used echo_2024x." }], { tools }))
    assert.deepStrictEqual(draw(chain), [
      "echo_2024x in reply of pass 2",
      "  reply:4 on pass 2: echo_2024x",
      "    echo_2024x in arguments of pass 1",
      "      tool:echo_2024x on pass 1: echo_2024x",
      "        app",
      "  tool:echo_2024x on pass 2: echo_2024x",
      "    app (above)"
    ])
  })

  it("takes the words of the runtime for its own, not for the world's", () => {
    const died = play(looked("It said WF-TOOL-007.", "")).map((event): Event.Event =>
      event._tag === "ToolSettled"
        ? { ...event, outcome: "ran-error", served: "WF-TOOL-007", error: Refusal.toolDied("look") }
        : event
    )
    const nodes = Why.answer(died).nodes
    assert.deepStrictEqual(
      nodes.flatMap((node) => (node.kind === "root" ? [node.root] : [])),
      ["runtime"]
    )
    assert.deepStrictEqual(
      nodes.flatMap((node) => (node.kind === "carrier" ? [node.origin] : [])),
      ["runtime"]
    )
  })

  it("looks for words that are no single value as they stand", () => {
    const events = play(looked("done", "ok", '{"city":"San Diego"}'), { input: "weather in san diego please" })
    assert.deepStrictEqual(draw(Why.tool(events, "call-1-0")), [
      'look {"city":"San Diego"}',
      "  world",
      "  San Diego in arguments of pass 1",
      "    message:0 on pass 1: san diego ~ case",
      "      person"
    ])
  })

  it("answers for a refused call without a world behind it", () => {
    const events = play([{ calls: [["nosuch", '{"id":"QX-77"}', ""]] }, { say: "No." }], { input: "find QX-77" }).map(
      (event): Event.Event => (event._tag === "ToolSettled" ? { ...event, outcome: "refused" } : event)
    )
    const roots = Why.tool(events, "call-1-0").nodes.flatMap((node) => (node.kind === "root" ? [node.root] : []))
    assert.deepStrictEqual(roots, ["runtime", "person"])
  })

  it("says where a carried message goes on", () => {
    const carried: Event.Event = {
      _tag: "MessageCarried",
      from: { runId: "before", seq: 7 },
      message: { role: "assistant", content: "Your code is 5566.", toolCalls: [] }
    }
    const started: Event.Event = {
      _tag: "RunStarted",
      runId: "r",
      agent: "a",
      manifest: { limits: {} },
      input: "again?",
      followUpOf: "before"
    }
    const state = Run.fold([started, carried, { _tag: "MessageReceived", content: "again?" }])
    const { command, events } = Run.decide({ pieces: [], tools: [], parameters: {}, limits: {}, elapsedMs: 0 }, state)
    assert.strictEqual(command._tag, "CallModel")
    const replied: Event.Event = { _tag: "ModelReplied", iteration: 1, content: "It is 5566.", toolCalls: [] }
    const chain = Why.value(
      [started, carried, { _tag: "MessageReceived", content: "again?" }, ...events, replied],
      "5566"
    )
    assert.deepStrictEqual(draw(chain), [
      "5566 in reply of pass 1",
      "  carried:1 on pass 1: 5566",
      "    gap: elsewhere"
    ])
    assert.deepStrictEqual(chain.gaps[0]?.next, { runId: "before", question: { kind: "value", text: "5566" } })
  })

  it("says what to ask of the run that a carried message comes from", () => {
    const call = { toolCallId: "k-1", toolName: "look", args: '{"id":"QX-77"}' }
    const longer = { toolCallId: "k-10", toolName: "look", args: "{}" }
    const messages: ReadonlyArray<Message.Message> = [
      { role: "assistant", content: "I look for 8123.", toolCalls: [longer, call] },
      { role: "tool", toolCallId: "k-10", toolName: "look", outcome: "ran-ok", content: "none" },
      { role: "tool", toolCallId: "k-1", toolName: "look", outcome: "ran-ok", content: "room 4477" }
    ]
    const opening: ReadonlyArray<Event.Event> = [
      { _tag: "RunStarted", runId: "r", agent: "a", manifest: { limits: {} }, input: "?", followUpOf: "before" },
      ...messages.map((message, seq): Event.Event => ({
        _tag: "MessageCarried",
        from: { runId: "before", seq },
        message
      })),
      { _tag: "MessageReceived", content: "?" }
    ]
    const { events } = Run.decide(
      { pieces: [], tools: [], parameters: {}, limits: {}, elapsedMs: 0 },
      Run.fold(opening)
    )
    const asked = (content: string) => {
      const reply: Event.Event = { _tag: "ModelReplied", iteration: 1, content, toolCalls: [] }
      return Why.call([...opening, ...events, reply], 1).gaps.map(({ next }) => next?.question)
    }
    assert.deepStrictEqual(asked("8123"), [{ kind: "value", text: "8123" }])
    const ofCall = { kind: "tool" as const, toolCallId: "k-1" }
    assert.deepStrictEqual(asked("QX-77"), [ofCall])
    assert.deepStrictEqual(asked("4477"), [ofCall])
    assert.deepStrictEqual(asked("by id-k-1"), [undefined])
    assert.deepStrictEqual(
      Why.value(
        [...opening, ...events, { _tag: "ModelReplied", iteration: 1, content: "by k-1", toolCalls: [] }],
        "k-1"
      ).gaps.map(({ next }) => next?.question),
      [ofCall, ofCall]
    )
    assert.deepStrictEqual(asked("[k-1] gave 4477"), [ofCall])
  })

  it("takes a date for the same day in another order, and none that can be read in two ways", () => {
    const carriers = (said: string, served: string) =>
      draw(Why.answer(play(looked(said, served)))).filter((line) => line.startsWith("  result"))
    assert.deepStrictEqual(carriers("On 31.12.2015.", '{"at":"2015-12-31"}'), [
      "  result:6 on pass 2: 2015-12-31 ~ date"
    ])
    assert.deepStrictEqual(carriers("On 01/02/2015.", "2015-01-02 or 2015-02-01"), [])
  })

  it("has a gap for each question that the record cannot answer", () => {
    const events = play(looked("It is 1234.", "1234"))
    assert.deepStrictEqual(draw(Why.value(events, "4321")), ["gap: not-found"])
    assert.deepStrictEqual(draw(Why.call(events, 9)), ["gap: not-found"])
    assert.deepStrictEqual(draw(Why.tool(events, "nope")), ["gap: not-found"])
    assert.deepStrictEqual(draw(Why.answer(events.slice(0, 5))), ["gap: no-answer"])
    const drifted = events.map((event): Event.Event =>
      event._tag === "ModelCalled" ? { ...event, wireHash: "x" } : event
    )
    assert.deepStrictEqual(
      Why.answer(drifted).gaps.map(({ kind }) => kind),
      ["drift"]
    )
  })

  it("reaches each of the calls that have one id, and says that there are others", () => {
    const again = (n: number): Reply => ({ calls: [["look", `{"n":${n}}`, `${n}`, "k"]] })
    const events = play([again(101), again(102), { say: "So.", calls: [["look", "{}", "x"]] }, again(103)])
    const asked = (pass?: number) => {
      const { gaps, nodes, question } = Why.tool(events, "k", pass)
      const [first] = nodes
      assert.deepStrictEqual(question, { kind: "tool", toolCallId: "k", ...(pass === undefined ? {} : { pass }) })
      const unplaced = gaps.filter(({ at }) => at === undefined)
      return [first?.kind === "call" ? first.args : undefined, unplaced.map(({ kind, what }) => `${kind}: ${what}`)]
    }
    assert.deepStrictEqual(asked(1), ['{"n":101}', []])
    assert.deepStrictEqual(asked(2), ['{"n":102}', []])
    assert.deepStrictEqual(asked(4), ['{"n":103}', []])
    assert.deepStrictEqual(asked(3), [
      undefined,
      ['not-found: No call with the id "k" has been settled in pass 3; there is one in passes 1, 2, 4.']
    ])
    const others = "its id was also used in passes 1, 2: ask for those by their pass."
    assert.deepStrictEqual(asked(), ['{"n":103}', [`several: This is the call of pass 4; ${others}`]])
    const many = play(Array.from({ length: 12 }, (_, n) => again(100 + n)))
    const several = Why.tool(many, "k").gaps.find(({ kind }) => kind === "several")
    assert.include(several?.what, "in passes 4, 5, 6, 7, 8, 9, 10, 11 and 3 before those:")
    assert.deepStrictEqual(
      Why.tool(play([again(101)]), "k").gaps.filter(({ at }) => at === undefined),
      []
    )
  })

  it("takes an empty answer for an answer without values", () => {
    const events = play([{ say: "It is 1234.", calls: [["look", "{}", "1234"]] }, { say: "" }])
    const { edges, gaps, nodes } = Why.answer(events)
    assert.deepStrictEqual([nodes, edges, gaps], [[], [], []])
    assert.include(Why.value(events, "4321").gaps[0]?.what, "It names no value.")
    assert.strictEqual(Why.value(events, "1234").nodes[0]?.id, "value:4:reply:6-10")
  })

  it("finds a value by any of its spellings", () => {
    const events = play(looked("You saved $10,519 at 1:30 PM.", '{"sum":10519.0,"at":"13:30"}'))
    for (const text of ["$10,519", "10519", "10,519.00", "1:30 PM", "13:30"]) {
      const [node] = Why.value(events, text).nodes
      assert.strictEqual(node?.kind, "value", text)
    }
  })

  it("shows spans that are in the text that was sent, of pieces that were on that wire", () => {
    const word = FastCheck.constantFrom(
      "1234",
      "$1,234",
      "AB-77",
      "ab-77",
      "x",
      "13:30",
      "1:30 PM",
      "-1234",
      "\n",
      '"',
      "é",
      "\\",
      "0x1f2e"
    )
    const text = FastCheck.array(word, { maxLength: 8 }).map((words) => words.join(" "))
    const args = FastCheck.oneof(
      text,
      FastCheck.record({ a: text, n: FastCheck.integer() }).map((value) => JSON.stringify(value))
    )
    const reply = FastCheck.record({
      say: text,
      calls: FastCheck.array(FastCheck.tuple(FastCheck.constant("look"), args, text, text), { maxLength: 3 })
    })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(reply, { maxLength: 5 }), text, text, (replies, input, fact) => {
        const events = play(replies, { input, pieces: [Piece.fact("f", fact)] })
        const state = Run.fold(events)
        for (const { iteration } of state.marks) {
          const wire = Wire.project(state, iteration)
          const riding = new Set([...wire.system, ...wire.messages, ...wire.tools].map(({ id }) => id))
          const chain = Why.call(events, iteration)
          const ids = new Set(chain.nodes.map(({ id }) => id))
          for (const { from, to } of chain.edges) assert.isTrue(ids.has(from) && ids.has(to))
          for (const node of chain.nodes) {
            if (node.kind === "value") {
              const at = events[node.seq]
              if (at?._tag !== "ModelReplied") assert.fail(`no reply at #${node.seq}`)
            }
            if (node.kind !== "carrier") continue
            if (node.pass === iteration) assert.isTrue(riding.has(node.pieceId), node.pieceId)
            assert.isNotEmpty(node.spans)
            for (const { end, start, text } of node.spans) assert.strictEqual(node.text.slice(start, end), text)
          }
        }
      })
    )
  })
})
