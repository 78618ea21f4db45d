import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { afterAll, beforeAll } from "vitest"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Atelier from "../programs/Atelier.ts"
import * as Press from "../programs/Press.ts"
import * as Shop from "../programs/Shop.ts"
import * as Fixture from "./Fixture.ts"

const refsIn = (text: string): ReadonlyArray<string> => Array.from(new Set(text.match(/art_\w{22}/g)))

/** A table is loaded, merged with itself, and shown; then a ref that nobody has is plotted. */
const events = Effect.gen(function* () {
  const refOf = (messages: ReadonlyArray<{ readonly message: { readonly content: string } }>) =>
    refsIn(messages.at(-1)?.message.content ?? "")[0]
  const script = LLM.byPass([
    LLM.call("load", { kind: "table/csv" }, "load"),
    ({ messages }) => LLM.call("merge", { left: refOf(messages), right: refOf(messages) }, "merge"),
    ({ messages }) => LLM.call("present", { ref: refOf(messages), as: "report" }, "show"),
    LLM.call("plot", { table: `art_${"n".repeat(22)}` }, "plot"),
    "Done."
  ])
  yield* Agent.run(Press.agentOf({ present: true }), "Go.", { runId: "press" }).pipe(
    Effect.provide([Press.handlers([]), LLM.layerScripted(script)])
  )
  return yield* Shop.events("press")
}).pipe(Effect.provide(Atelier.services()))

describe("wherefore, of a run with artifacts,", () => {
  let fixture: Fixture.Fixture
  let home: string

  beforeAll(async () => {
    fixture = await Fixture.make()
    home = process.cwd()
    process.chdir(fixture.directory)
    await fixture.record("press", await Effect.runPromise(events))
  })
  afterAll(() => {
    process.chdir(home)
    fixture.remove()
  })

  it("shows what was shown, and the shelf", async () => {
    const { code, stdout } = await Fixture.inside(["show", "press"])
    assert.strictEqual(code, 0)
    const [table, report] = refsIn(stdout)
    assert.notStrictEqual(table, report)
    assert.match(stdout, /\nshowed {3}(art_\w{22}) as report · report · 8 B {2}#\d+\n/)
    assert.match(stdout, /\nshelf {4}art_\w{22} table\/csv · 16 B · by load, pass 1 · read by merge, pass 2 {2}#\d+\n/)
    assert.match(stdout, / report · 8 B · by merge, pass 2 · from art_\w{22} {2}#\d+\n/)
    assert.match(stdout, /missed {4}dispatch table art_n{22}: missing-or-expired/)
  })

  it("gives the same as data", async () => {
    const { stdout } = await Fixture.inside(["show", "press", "--json"])
    const first = JSON.parse(stdout.split("\n")[0] ?? "")
    assert.strictEqual(first.presented.length, 1)
    assert.strictEqual(first.artifacts.length, 2)
    assert.strictEqual(first.refused, 1)
    assert.deepStrictEqual(first.artifacts[1].parentRefs, [first.artifacts[0].ref])
  })

  it("leads from a call to what it worked on and who stored that", async () => {
    const { code, stdout } = await Fixture.inside(["why", "press", "--call", "show", "--full"])
    // The words that the model chose itself, like the name of the kind, are nowhere.
    assert.include([0, 1], code)
    const [report, table] = [/read · its ticket alone/.exec(stdout), /derived from/.exec(stdout)]
    assert.isNotNull(report)
    assert.isNotNull(table)
    assert.match(stdout, /stored +recorded +by the result of merge/)
    const { stdout: json } = await Fixture.inside(["why", "press", "--call", "merge", "--json"])
    const nodes = json
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .flatMap(({ node }) => node ?? [])
    assert.lengthOf(
      nodes.filter(({ kind }) => kind === "artifact"),
      1
    )
  })

  it("verifies", async () => {
    const { code } = await Fixture.inside(["verify", "press"])
    assert.strictEqual(code, 0)
  })
})
