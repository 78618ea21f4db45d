import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type * as Event from "../../src/kernel/Event.ts"
import type * as Loop from "../../src/programs/Loop.ts"
import * as Screen from "../../src/programs/Screen.ts"
import * as ScreenLine from "../../src/programs/ScreenLine.ts"
import type * as LLM from "../../src/services/LLM.ts"
import * as Fixture from "../cli/Fixture.ts"

/** The screen of a terminal that knows line feeds, carriage returns and our styles, and wraps what is too wide. */
const screen = (written: string, columns: number): ReadonlyArray<string> => {
  const lines: Array<Array<string>> = [[]]
  let at = 0
  for (const point of Array.from(written.replaceAll(/\u001b\[(?:0|1|2|31|32|33|1;36)m/g, ""))) {
    if (point === "\r") at = 0
    else if (point === "\n") {
      lines.push([])
      at = 0
    } else {
      assert.notMatch(point, Fixture.raw)
      const cells = ScreenLine.width(point)
      if (at + cells > columns) {
        lines.push([])
        at = 0
      }
      const line = lines.at(-1) ?? []
      if (cells === 0) line[Math.max(0, at - 1)] = (line[Math.max(0, at - 1)] ?? "") + point
      if (cells === 0) continue
      while (line.length < at + cells) line.push(" ")
      line.splice(at, cells, point, ...Array.from({ length: cells - 1 }, () => ""))
      at += cells
    }
  }
  return lines.map((line) => line.join("").trimEnd())
}

const received = (iteration: number, ...parts: ReadonlyArray<LLM.Part>): Loop.Progress => ({
  _tag: "Received",
  iteration,
  parts
})
const text = (delta: string): LLM.Part => ({ _tag: "Text", delta })

/** A sink that shows progress as it comes, and what stands on its screen after each. */
const sink = (columns: number) => {
  const options = { colour: true, columns }
  let ticker = Screen.initial
  let standing = Screen.nothing
  let written = ""
  return {
    see: (progress: Loop.Progress): string => {
      const shown = Screen.see(ticker, progress, { room: { width: columns } })
      ticker = shown.ticker
      const status = Screen.status(ticker, 1_200, Screen.statusRoom(columns))
      const next = Screen.over(standing, shown.lines, status, options)
      standing = next.standing
      written += next.text
      return screen(written, columns).at(-1) ?? ""
    },
    written: () => written
  }
}

const events = Fixture.play([{ say: "It is 4471." }], { input: "Which is it?" })
const recorded = (from: number, to?: number): ReadonlyArray<Loop.Progress> =>
  events.slice(from, to).map((event, index) => ({ _tag: "Recorded", seq: from + index, event }))
const called = events.findIndex(({ _tag }) => _tag === "ModelCalled")

/** Shows the run while the model writes these. */
const show = (columns: number, deltas: ReadonlyArray<Loop.Progress>) => {
  const { see, written } = sink(columns)
  for (const progress of recorded(0, called + 1)) see(progress)
  const seen = deltas.map(see)
  for (const progress of recorded(called + 1)) see(progress)
  return { seen, written: written() }
}

/** The lines of the run without what it showed while the model wrote. */
const plain = (columns: number): ReadonlyArray<string> => {
  let ticker = Screen.initial
  const lines = events.flatMap((event: Event.Event, seq) => {
    const shown = Screen.step(ticker, seq, event, { room: { width: columns } })
    ticker = shown.ticker
    return shown.lines
  })
  return screen(Screen.print(lines, { colour: false }), columns)
}

describe("The status of a run", () => {
  it("is the end of what the model has written so far", () => {
    const { seen, written } = show(40, [
      received(1, { _tag: "Reasoning", delta: "Let me see." }),
      received(1, text("It ")),
      received(1, text("is\n"), text("4471, ")),
      received(1, text("as the table has it.")),
      received(1, { _tag: "ToolCall", toolCallId: "a", toolName: "look", args: "{}" }),
      received(1, { _tag: "Finish", stopReason: "stop", usage: {} })
    ])
    assert.deepStrictEqual(seen, [
      "▸ pass 1 · thinks · 1.2s · Let me see.",
      "▸ pass 1 · says · 1.2s · It",
      "▸ pass 1 · says · 1.2s · It is 4471,",
      "▸ pass 1 · says · 1.2s · …table has it.",
      "▸ pass 1 · calls · 1.2s · look {}",
      "▸ pass 1 · calls · 1.2s · look {}"
    ])
    assert.deepStrictEqual(screen(written, 40), plain(40))
  })

  it("is what the run waits for when nothing has come, or what came was of an earlier pass", () => {
    const { see } = sink(80)
    const [last] = recorded(0, called + 1)
      .map(see)
      .slice(-1)
    assert.match(last ?? "", /^▸ pass 1 · asking the model/)
    see(received(1, text("one")))
    assert.match(see(received(2, text("two"))), /two$/)
    assert.notMatch(see(received(2)), /one/)
  })

  it("leaves nothing behind, takes one line, and lets no text out, whatever comes", () => {
    const texts = FastCheck.array(
      FastCheck.oneof(
        FastCheck.constantFrom(Fixture.hostile, "漢字", "👩‍👩‍👧", "❤️", "e\u0301".repeat(9), "🇩🇪", "\ud800", "\n\n"),
        FastCheck.string({ unit: "binary", maxLength: 40 })
      ),
      { maxLength: 12 }
    )
    FastCheck.assert(
      FastCheck.property(texts, FastCheck.integer({ min: 30, max: 100 }), (deltas, columns) => {
        const { seen, written } = show(
          columns,
          deltas.map((delta) => received(1, text(delta)))
        )
        for (const line of seen) assert.isBelow(ScreenLine.width(line), columns)
        assert.deepStrictEqual(screen(written, columns), plain(columns))
      }),
      { numRuns: 30 }
    )
  })

  it("cuts no grapheme", () => {
    const accented = "e\u0301"
    const { seen } = show(60, [received(1, text(accented.repeat(1_500)))])
    assert.match(seen[0] ?? "", new RegExp(`…(${accented})+$`, "u"))
    assert.isAtLeast(ScreenLine.width(seen[0] ?? ""), 58)
  })
})
