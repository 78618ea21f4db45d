import { assert, describe, it } from "vitest"
import * as Checker from "./Checker.ts"
import * as Simulation from "./Simulation.ts"
import type * as Story from "./Story.ts"
import * as Worlds from "./Worlds.ts"

describe("Five hundred simulated worlds", () => Worlds.hold(1))

type Of<W extends Story.Happening["what"]> = Extract<Story.Line, { readonly what: W }>

describe("The checker", () => {
  /** The first world whose story has what is asked for, and that story told otherwise. */
  const otherwise = async (change: (story: Story.Story) => Story.Story | undefined): Promise<ReadonlyArray<string>> => {
    for (let seed = 1; seed < 200; seed++) {
      const { story } = await Simulation.run(seed)
      const changed = change(story)
      if (changed === undefined) continue
      assert.deepStrictEqual(Checker.check(story), [])
      return Checker.check(changed).map(({ id }) => id)
    }
    return assert.fail("no seed has it")
  }
  const find = <W extends Story.Happening["what"]>(
    { lines }: Story.Story,
    what: W,
    is: (line: Of<W>) => boolean = () => true
  ): number => lines.findIndex((line) => line.what === what && is(line as Of<W>))
  const without = (story: Story.Story, at: number): Story.Story => ({ ...story, lines: story.lines.toSpliced(at, 1) })
  const doubled = (story: Story.Story, at: number): Story.Story => ({
    ...story,
    lines: story.lines.toSpliced(at, 0, ...story.lines.slice(at, at + 1))
  })
  const entries = (
    story: Story.Story,
    change: (entries: ReadonlyArray<Story.Entry>) => ReadonlyArray<Story.Entry>
  ): Story.Story => ({ ...story, records: { ...story.records, a: change(story.records["a"] ?? []) } })

  it("sees that an acknowledged entry is gone", async () => {
    assert.include(await otherwise((story) => entries(story, (all) => all.slice(0, -1))), "I1")
  })
  it("sees that an entry was changed", async () => {
    const ids = await otherwise((story) =>
      entries(story, (all) => all.map((entry) => (entry.seq === 1 ? { ...entry, at: entry.at + 1 } : entry)))
    )
    assert.include(ids, "I2")
  })
  it("sees a gap", async () => {
    assert.include(await otherwise((story) => entries(story, (all) => all.toSpliced(1, 1))), "I3")
  })
  it("sees a call that ran twice and may not", async () => {
    const ids = await otherwise((story) => {
      const at = find(story, "entered", ({ tool }) => tool === "send")
      return at < 0 ? undefined : doubled(story, at)
    })
    assert.deepStrictEqual(ids, ["I7"])
  })
  it("sees an effect that came about twice", async () => {
    const ids = await otherwise((story) => {
      const at = find(story, "effect", ({ tool }) => tool === "note")
      return at < 0 ? undefined : doubled(story, at)
    })
    assert.deepStrictEqual(ids, ["I7"])
  })
  it("sees a result that nothing came about for", async () => {
    const ids = await otherwise((story) => {
      const settled = story.records["a"]?.find(
        ({ event }) => event._tag === "ToolSettled" && event["toolName"] === "note" && event["outcome"] === "ran-ok"
      )
      const at = find(
        story,
        "effect",
        ({ key, tool }) => tool === "note" && key.includes(String(settled?.event["toolCallId"]))
      )
      return settled === undefined || at < 0 ? undefined : without(story, at)
    })
    assert.include(ids, "I7")
  })
  it("sees that a call ran before its intent was written", async () => {
    const ids = await otherwise((story) => {
      const at = find(story, "entered")
      const entered = story.lines[at]
      return entered === undefined ? undefined : { ...story, lines: [entered, ...story.lines.toSpliced(at, 1)] }
    })
    assert.include(ids, "I8")
  })
  it("sees that the model was told of a result before it was written", async () => {
    const ids = await otherwise((story) => {
      const at = find(story, "asked", ({ messages }) => messages.some((message) => "content" in message))
      const asked = story.lines[at]
      return asked === undefined ? undefined : { ...story, lines: [asked, ...story.lines.toSpliced(at, 1)] }
    })
    assert.include(ids, "I8")
  })
  it("sees that a tool ran that nobody approved", async () => {
    const ids = await otherwise((story) => {
      const at = find(story, "entered", ({ tool }) => tool === "send")
      const tools = { ...story.tools, send: { replay: "never", approval: "ask", acts: true } as const }
      return at < 0 ? undefined : { ...story, tools }
    })
    assert.include(ids, "I16")
  })
  it("sees more passes than there may be", async () => {
    const ids = await otherwise((story) =>
      (story.records["a"] ?? []).filter(({ event }) => event._tag === "ModelCalled").length < 2
        ? undefined
        : { ...story, limits: { ...story.limits, passes: 1 } }
    )
    assert.include(ids, "I13")
  })
  it("sees a run that neither ended nor waits", async () => {
    const ids = await otherwise((story) => {
      const at = find(story, "left")
      return at < 0 ? undefined : without(story, at)
    })
    assert.include(ids, "I17")
  })
  it("sees that something was written which no record can keep", async () => {
    const ids = await otherwise((story) => {
      const lines = story.lines.map((line) => (line.what === "refused" ? { ...line, reason: "InvalidInput" } : line))
      return lines.some(({ what }) => what === "refused") ? { ...story, lines } : undefined
    })
    assert.include(ids, "I14")
  })
  it("sees two writers who both won", async () => {
    assert.include(await otherwise((story) => doubled(story, find(story, "written"))), "I5")
  })
})
