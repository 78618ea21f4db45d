import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Event from "../../src/kernel/Event.ts"
import { afterAll, beforeAll } from "vitest"
import * as Ledger from "../programs/Ledger.ts"
import * as Fixture from "./Fixture.ts"

const lines = (text: string): ReadonlyArray<string> => text.trimEnd().split("\n")

/** The run as another framework would have told it. */
const imported = (events: ReadonlyArray<Event.Event>): ReadonlyArray<Event.Event> =>
  events.map((event) =>
    event._tag === "RunStarted" ? { ...event, manifest: { ...event.manifest, importedFrom: "openai-chat" } } : event
  )

describe("wherefore findings", () => {
  let fixture: Fixture.Fixture
  let home: string

  beforeAll(async () => {
    fixture = await Fixture.make()
    home = process.cwd()
    process.chdir(fixture.directory)
    await fixture.record("judged", await Effect.runPromise(Ledger.play("judged")))
    await fixture.record("airline", Fixture.airline())
    await fixture.record("foreign", imported(Fixture.airline("foreign")))
  })
  afterAll(() => {
    process.chdir(home)
    fixture.remove()
  })

  it("shows each result with its standing, and exits as a process with 0", async () => {
    const { code, stderr, stdout } = await fixture.command(["findings", "judged"])
    assert.strictEqual(code, 0, stderr)
    assert.strictEqual(stderr, "")
    assert.match(
      stdout,
      /^judged\nfacts 2 · open 1 · ruled out 1 · noise 1 · undeclared 1 · contingent 2 · unsettled 1 · conflicts 1 · rejected 1\n/
    )
    assert.match(stdout, /\nNOISE 1\n {2}r2 {2}look "the zone", pass 1, id b {2}#12\n/)
    assert.notInclude(stdout, "\u001b")
  })

  it("has colour on a terminal, and none where that is not wanted", async () => {
    const before = { NO_COLOR: process.env["NO_COLOR"], CI: process.env["CI"], TERM: process.env["TERM"] }
    Object.assign(process.env, { NO_COLOR: "", CI: "", TERM: "xterm" })
    assert.include((await Fixture.inside(["findings", "judged"], 80)).stdout, "\u001b[1mFACTS 2\u001b[0m")
    process.env["NO_COLOR"] = "1"
    const plain = (await Fixture.inside(["findings", "judged"], 40)).stdout
    assert.notInclude(plain, "\u001b")
    // No terminal is narrower than 60 columns to us.
    for (const line of lines(plain)) assert.isAtMost(line.length, 60)
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })

  it("says that findings were off, and how to turn them on, and exits with 1", async () => {
    const off = await Fixture.inside(["findings", "airline"])
    assert.strictEqual(off.code, 1)
    assert.strictEqual(
      off.stdout,
      "Findings were off in this run: the model was not asked what its results are worth.\n" +
        "  Turn them on: Agent.make({ …, findings: true })\n"
    )
    const foreign = await Fixture.inside(["findings", "foreign"])
    assert.strictEqual(foreign.code, 1)
    assert.match(foreign.stdout, /^This run was imported from "openai-chat", which knows no findings\.\n/)
    const { code, stdout } = await Fixture.inside(["findings", "airline", "--json"])
    assert.strictEqual(code, 1)
    assert.deepInclude(JSON.parse(stdout), { format: "wherefore.findings/1", runId: "airline", on: false })
  })

  it("gives its rows to a program", async () => {
    const { code, stdout } = await Fixture.inside(["findings", "judged", "--json"])
    assert.strictEqual(code, 0)
    const [head, ...rows] = lines(stdout).map((line) => JSON.parse(line))
    assert.deepStrictEqual(head, {
      format: "wherefore.findings/1",
      runId: "judged",
      on: true,
      ask: "none",
      collapse: "judged",
      counts: {
        facts: 2,
        open: 1,
        ruledOut: 1,
        noise: 1,
        undeclared: 1,
        conflicts: 1,
        contingent: 2,
        unsettled: 1,
        rejected: 1
      }
    })
    const of = (section: string) => rows.filter((row) => row.section === section)
    assert.deepStrictEqual(
      ["fact", "open", "ruled-out", "noise", "contingent", "unsettled", "conflict", "rejected", "undeclared"].map(
        (section) => of(section).length
      ),
      [2, 1, 1, 1, 2, 1, 1, 1, 1]
    )
    const [noise] = of("noise")
    assert.deepInclude(noise, { seq: 24, ticket: { seq: 31, pass: 4 } })
    assert.deepStrictEqual(noise.of, {
      toolCallId: "b",
      handle: "r2",
      toolName: "look",
      args: '{"of":"the zone"}',
      pass: 1,
      resultSeq: 12
    })
    assert.strictEqual(noise.on.toolCallId, "d")
    assert.strictEqual(noise.before[0].row.standing, "open")
    assert.strictEqual(of("ruled-out")[0].basis.row.predicts, "one in the shop")
  })

  it("and show has what a run says of its answer", async () => {
    const [head] = lines((await Fixture.inside(["show", "judged", "--json"])).stdout).map((line) => JSON.parse(line))
    assert.deepInclude(head.grounding, { action: "grounded", posture: "guard", revised: true })
    assert.deepInclude(head.checks, { word: "nobody looked", green: false })
    assert.strictEqual(head.coverage.length, 2)
    assert.deepInclude(head.findings, { facts: 2, rejected: 1 })
    const [plain] = lines((await Fixture.inside(["show", "airline", "--json"])).stdout).map((line) => JSON.parse(line))
    assert.notProperty(plain, "grounding")
    assert.notProperty(plain, "findings")
  })

  it("and show leaves nothing out of what a value rests on, if nothing may be", async () => {
    const brief = (await Fixture.inside(["show", "airline"])).stdout
    assert.match(brief, /JG7FMM {3}recorded {3}update, pass 1 · 2 more {2}#7\n/)
    const full = (await Fixture.inside(["show", "airline", "--full"])).stdout
    assert.match(full, /JG7FMM {3}recorded {3}update, pass 1 · the person #0 · an earlier reply #5 {2}#7\n/)
    assert.notMatch(full, /\d more/)
  })
})
