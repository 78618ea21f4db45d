import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { userInfo } from "node:os"
import * as path from "node:path"
import { afterAll, beforeAll } from "vitest"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Approval from "../../src/programs/Approval.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Fixture from "./Fixture.ts"

const Pay = Tool.make("pay", { parameters: { to: Schema.String, amount: Schema.Number }, success: Schema.String })
const toolkit = Toolkit.make(Pay.annotate(Approval.Approval, "ask"))
const agent = Agent.make({ name: "bank", instructions: "Pay.", toolkit })

/** What the eye would miss: all bidirectional controls, all tags, all that has no width, and spaces that are none. */
const hidden = [
  0x061c,
  0x200e,
  0x200f,
  0x202a,
  0x202b,
  0x202c,
  0x202d,
  0x202e,
  0x2066,
  0x2067,
  0x2068,
  0x2069,
  0x200b,
  0x200c,
  0x200d,
  0x2060,
  0xfeff,
  0x180e,
  0x00ad,
  0x034f,
  0x115f,
  0x3164,
  0xfe0f,
  0x00a0,
  0x3000,

  0x001b,
  0x007f,
  0x0085,
  0x009b,
  0x2028,
  0x2029,
  ...Array.from({ length: 128 }, (_, at) => 0xe0000 + at),
  0xe0100,
  0xe01ef
]
const evil = `to${hidden.map((code) => String.fromCodePoint(code)).join("x")}end${" ".repeat(200)}.${"y".repeat(5_000)}`

const script =
  (...calls: ReadonlyArray<LLM.Line>): LLM.Chooser =>
  ({ iteration, messages }) =>
    iteration === 1
      ? LLM.together(...calls)
      : LLM.say(messages.flatMap(({ message }) => (message.role === "tool" ? [message.outcome] : [])).join(" "))

const services = (directory: string, ran: Array<unknown>, choose: LLM.Chooser) =>
  [
    toolkit.toLayer({ pay: (args) => Effect.sync(() => (ran.push(args), "paid")) }),
    LLM.layerScripted(choose),
    ArtifactStore.layerMemory(),
    Record.layerFile({ directory, durability: "process-crash" })
  ] as const

describe("wherefore approvals, approve, deny and resolve", () => {
  let fixture: Fixture.Fixture
  let home: string
  let directory: string
  const ran: Array<unknown> = []
  const two = script(
    LLM.call("pay", { to: "ann", amount: 5 }, "a"),
    LLM.call("pay", { to: evil, amount: 7 }, "b"),
    LLM.call("pay", { to: "cy", amount: 9 }, "apr_c")
  )

  const start = (runId: string, choose: LLM.Chooser = two) =>
    Effect.runPromise(
      Agent.run(agent, "Pay them.", { runId }).pipe(Effect.provide([...services(directory, ran, choose)]))
    )
  const resume = (runId: string) =>
    Effect.runPromise(Agent.resume(agent, runId).pipe(Effect.provide([...services(directory, ran, two)])))
  const events = async (runId: string): Promise<ReadonlyArray<Event.Event>> => {
    const { stdout } = await Fixture.inside(["show", runId, "--json"])
    return stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
      .flatMap(({ event }) => (event === undefined ? [] : [event]))
  }

  beforeAll(async () => {
    fixture = await Fixture.make()
    home = process.cwd()
    process.chdir(fixture.directory)
    directory = path.join(fixture.directory, ".wherefore")
    await fixture.record("airline", Fixture.airline())
    await start("r")
  })
  afterAll(() => {
    process.chdir(home)
    fixture.remove()
  })

  it("shows all of every call that waits, and nothing in it that the eye would miss", async () => {
    for (const columns of [undefined, 60, 120]) {
      const { code, stdout } = await Fixture.inside(["approvals"], columns)
      assert.strictEqual(code, 0)
      assert.notMatch(stdout.replaceAll(/\u001b\[[\d;]*m/g, ""), Fixture.raw)
      for (const code of hidden)
        assert.notInclude(stdout.replaceAll(/\u001b\[[\d;]*m/g, ""), String.fromCodePoint(code))
      const whole = stdout.replaceAll(/\u001b\[[\d;]*m/g, "").replaceAll(/⏎\n {4}/g, "")
      assert.include(whole, `end${" ".repeat(200)}.${"y".repeat(5_000)}`)
      for (const code of hidden.filter((code) => code > 0x7f)) {
        const hex = code.toString(16).padStart(4, "0")
        assert.include(whole, code > 0xffff ? `\\u{${hex}}` : `\\u${hex}`)
      }
      assert.match(whole, /^r {2}Pay them\.\npay {2}needs an approval\n/)
      assert.match(whole, /ticket {5}apr_[\w-]{43}\n/)
      assert.match(whole, /digest {5}[\w-]{43}\n {2}arguments {2}[\d,]+ characters\n {4}\{\n/)
      assert.match(whole, /wherefore approve r apr_[\w-]{12}\n/)
    }
  })

  it("lists them as JSON that says the same, for one run or all", async () => {
    const lines = (text: string) =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line))
    const [format, ...all] = lines((await Fixture.inside(["approvals", "--json"])).stdout)
    assert.deepInclude(format, { format: "wherefore.approvals/1" })
    assert.deepStrictEqual(
      all.map(({ args, kind, runId, toolCallId }) => ({ args, kind, runId, toolCallId })),
      [
        { kind: "approval", runId: "r", toolCallId: "a", args: { to: "ann", amount: 5 } },
        { kind: "approval", runId: "r", toolCallId: "b", args: { to: evil, amount: 7 } },
        { kind: "approval", runId: "r", toolCallId: "apr_c", args: { to: "cy", amount: 9 } }
      ]
    )
    assert.deepStrictEqual(lines((await Fixture.inside(["approvals", "@", "--json"])).stdout).slice(1), all)
    const none = await Fixture.inside(["approvals", "airline"])
    assert.deepStrictEqual(none, { code: 0, stdout: "", stderr: "It waits for nobody.\n" })
  })

  it("says so of the run in show and runs, with what to type next", async () => {
    const shown = (await Fixture.inside(["show", "r"])).stdout
    assert.match(shown, /waiting · 1 pass/)
    assert.match(shown, /wherefore approvals r/)
    assert.match((await Fixture.inside(["runs"])).stdout, /^r .* waiting {2}/m)
    const [, head] = (await Fixture.inside(["runs", "--json"])).stdout.split("\n")
    assert.deepInclude(JSON.parse(head ?? ""), { runId: "r", status: "waiting", pending: 3 })
  })

  it("takes decisions by ticket, by the start of one, and by call, each once, and refuses the rest with 5", async () => {
    const asked = (await events("r")).flatMap((event) => (event._tag === "ApprovalAsked" ? [event.ticket] : []))
    const [a = "", b = ""] = asked
    for (const [words, says] of [
      [["approve", "r", "apr_"], /No call of the run waits as/],
      [["approve", "r", "x"], /No call of the run waits as "x"/],
      [["deny", "r", `${a}x`], /No call of the run waits as/],
      [["approve", "airline", "a"], /No call of the run waits as "a"/]
    ] as const) {
      const { code, stderr, stdout } = await Fixture.inside(words)
      assert.deepStrictEqual({ code, stdout }, { code: 5, stdout: "" }, stderr)
      assert.match(stderr, says)
    }
    const other = await Fixture.inside(["approve", path.join(directory, "r.ndjson"), a])
    assert.strictEqual(other.code, 2)
    assert.match(other.stderr, /names none of it/)
    assert.strictEqual((await Fixture.inside(["approve", "r", a, "--by", " "])).code, 2)

    const approved = await fixture.command(["approve", "r", a.slice(0, 16)])
    assert.strictEqual(approved.code, 0, approved.stderr)
    assert.match(approved.stdout, new RegExp(`^approved by ${userInfo().username}\\npay\\n`))
    assert.match(approved.stderr, /next {2}wherefore approvals r {2}\(it waits for pay \(b\), pay \(apr_c\)\)/)
    const again = await fixture.command(["approve", "r", a])
    assert.strictEqual(again.code, 5, again.stderr)
    assert.match(again.stderr, /has approved the call "a" of "pay" in pass 1 already/)
    assert.strictEqual((await Fixture.inside(["deny", "r", "a"])).code, 5)

    const denied = await Fixture.inside(["deny", "r", b, "--note", "Not\u202e them.", "--by", "bob", "--json"])
    assert.strictEqual(denied.code, 0, denied.stderr)
    assert.deepInclude(JSON.parse(denied.stdout.split("\n")[0] ?? ""), { runId: "r", verdict: "deny", by: "bob" })
    const last = await Fixture.inside(["approve", "r", "apr_c"])
    assert.match(last.stderr, /next {2}wherefore resume r FILE\.ts {2}\(the program of the run\)/)

    assert.strictEqual((await resume("r")).answer, "ran-ok denied ran-ok")
    assert.deepStrictEqual(ran, [
      { to: "ann", amount: 5 },
      { to: "cy", amount: 9 }
    ])
    assert.deepStrictEqual(Run.fold(await events("r")).violations, [])
    assert.strictEqual((await Fixture.inside(["approve", "r", a])).code, 5)
    assert.strictEqual((await Fixture.inside(["verify", "r"])).code, 0)
  })

  it("says why of a call that was denied: who did it", async () => {
    const { stdout } = await Fixture.inside(["why", "r", "--call", "b"])
    assert.match(stdout, /denied by "bob": "Not\\u202e them\."/)
    assert.match((await Fixture.inside(["why", "r", "--call", "a"])).stdout, /approved by/)
  })

  it("resolves a call that was lost, once, with a reason", async () => {
    const lost = Agent.make({
      name: "bank",
      instructions: "Pay.",
      toolkit: Toolkit.make(Pay)
    })
    const calling = script(LLM.call("pay", { to: "ann", amount: 5 }, "p"))
    await Effect.runPromise(
      Agent.run(lost, "Pay.", { runId: "lost" }).pipe(Effect.provide([...services(directory, ran, calling)]))
    )
    const whole = await events("lost")
    const at = whole.findIndex(({ _tag }) => _tag === "ToolCalled")
    await fixture.record(
      "gone",
      whole.slice(0, at + 1).map((event) => (event._tag === "RunStarted" ? { ...event, runId: "gone" } : event))
    )
    const again = () =>
      Effect.runPromise(Agent.resume(lost, "gone").pipe(Effect.provide([...services(directory, ran, calling)])))
    const count = ran.length
    assert.strictEqual((await again()).status, "waiting")
    const shown = await Fixture.inside(["approvals", "gone"])
    assert.match(shown.stdout, /pay {2}may have acted\n/)
    assert.match(shown.stdout, /wherefore resolve gone p applied --because "…"/)
    for (const [words, exit] of [
      [["resolve", "gone", "p", "applied"], 2],
      [["resolve", "gone", "p", "perhaps", "--because", "x"], 2],
      [["resolve", "gone", "p", "applied", "--because", "x", "--pass", "0"], 2],
      [["resolve", "gone", "p", "applied", "--because", "x", "--pass", "7"], 5],
      [["resolve", "gone", "q", "applied", "--because", "x"], 5],
      [["resolve", "nowhere", "p", "applied", "--because", "x"], 3]
    ] as const) {
      assert.strictEqual((await Fixture.inside(words)).code, exit, words.join(" "))
    }
    const done = await fixture.command([
      "resolve",
      "gone",
      "p",
      "applied",
      "--because",
      "The bank says so.",
      "--by",
      "ann"
    ])
    assert.strictEqual(done.code, 0, done.stderr)
    assert.strictEqual(done.stdout, "p: applied, says ann\n")
    assert.strictEqual((await Fixture.inside(["resolve", "gone", "p", "applied", "--because", "x"])).code, 5)
    assert.strictEqual((await again()).answer, "unknown")
    assert.lengthOf(ran, count)
  })
})
