import { assert, describe, it } from "@effect/vitest"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as Window from "../../src/kernel/Window.ts"
import * as WindowState from "../../src/kernel/WindowState.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Script from "./Script.ts"

const window = Window.summarizeOldest(100, { downTo: 50, summaryTokens: 10 })
const started = Script.started("Go.", { manifest: { limits: {}, window } })

const trimmed = (units: readonly [string, ...Array<string>], more: Partial<Event.Event> = {}): Event.Event =>
  Object.assign({ _tag: "WindowTrimmed", iteration: 1, by: "KeepLast", units, dropped: [], chars: 1 } as const, more)
const asked: Event.Event = { _tag: "SummaryAsked", iteration: 1, wireHash: "-", units: ["message:0"] }
const replied: Event.Event = { _tag: "SummaryReplied", iteration: 1, content: "So far." }

const lawsOf = (...events: ReadonlyArray<Event.Event>) => Run.fold(events).violations.map(({ law }) => law)

describe("WindowState", () => {
  for (const [what, events, law] of [
    ["a unit leaves that is not there", [started, trimmed(["message:9"])], "units that are in it"],
    ["a unit leaves twice", [started, trimmed(["message:0"]), trimmed(["message:0"])], "units that are in it"],
    ["a unit is named twice", [started, trimmed(["message:0", "message:0"])], "units that are in it"],
    ["it is of another pass", [started, trimmed(["message:0"], { iteration: 2 })], "of the pass that it is made for"],
    ["a summary comes unasked", [started, replied], "when one is asked for"],
    ["a summary comes twice", [started, asked, replied, replied], "when one is asked for"],
    ["a summary is of another pass", [started, asked, { ...replied, iteration: 2 }], "when one is asked for"],
    ["a summary is asked of a run without", [Script.started(), asked], "in the window of the pass to come"],
    ["a summary is of what had left", [started, trimmed(["message:0"]), asked], "in the window of the pass to come"]
  ] as const) {
    it(`says that a law is broken where ${what}`, () => {
      const [first, ...more] = lawsOf(...events)
      assert.include(first, law)
      assert.deepStrictEqual(more, [])
    })
  }

  it("is asked for what it is asked: nothing else is decided until that has come to something", () => {
    const state = [started, asked].reduce(Run.step, Run.initial)
    const { command, events } = Run.decide(Script.spec(), state)
    assert.strictEqual(command._tag, "Summarize")
    assert.deepStrictEqual(events, [])
    const next = Run.decide(Script.spec(), Run.step(state, replied))
    assert.deepInclude(next.events[0], { _tag: "WindowTrimmed", units: ["message:0"], summary: "made" })
    assert.strictEqual(next.command._tag, "CallModel")
  })

  it("tells a summary's wire that is not the one of the record", () => {
    const events = [started, asked, replied]
    const [wire] = WindowState.wires(Run.fold(events)).filter(({ seq }) => seq === 1)
    assert.notStrictEqual(wire?.projectedHash, wire?.recordedHash)
    assert.deepInclude(Why.answer(events).gaps.at(-1), { kind: "drift" })
  })

  it("leaves the wires of earlier passes as they were sent", () => {
    const { events, sent } = Script.play(Script.spec({ tools: [Script.tool("look")] }), ({ iteration }) =>
      iteration < 4 ? { calls: [Script.call(`c${iteration}`)] } : { content: "Done." }
    )
    const at = events.findLastIndex(({ _tag }) => _tag === "ModelCalled")
    const cut = Run.fold([...events.slice(0, at), trimmed(["reply:4"], { iteration: 4 }), ...events.slice(at)])
    assert.deepStrictEqual(
      cut.violations.map(({ law }) => law),
      []
    )
    for (const wire of sent.slice(0, 3)) assert.deepStrictEqual(Wire.project(cut, wire.iteration), wire)
    assert.lengthOf(Wire.project(cut, 4).messages, sent[3] === undefined ? 0 : sent[3].messages.length - 2)
    // The record names the wire that was sent with all of it.
    assert.deepStrictEqual(
      WindowState.wires(cut).map(({ projectedHash, recordedHash }) => projectedHash === recordedHash),
      [true, true, true, false]
    )
  })
})
