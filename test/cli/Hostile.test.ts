import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Effect from "effect/Effect"
import * as Ledger from "../programs/Ledger.ts"
import * as Fixture from "./Fixture.ts"

/** Hostile in every text field, with a value in it that chains lead to. */
const text = (field: string) => `${field} $1,859 ${Fixture.hostile}`

const answered = (runId: string) =>
  Fixture.play(
    [
      {
        say: text("words"),
        calls: [
          { tool: text("tool"), args: text("arguments"), result: text("result"), id: text("id") },
          { tool: text("tool"), args: JSON.stringify({ [text("key")]: text("value") }), result: Fixture.hostile }
        ]
      },
      { say: text("answer") }
    ],
    {
      runId,
      agent: text("agent"),
      input: text("question"),
      model: text("model"),
      pieces: [Piece.fact(text("piece"), text("fact"))]
    }
  )

const failed = (runId: string) =>
  Fixture.play([{ fails: text("failure") }], { runId, agent: text("agent"), input: Fixture.hostile })

describe("What the command writes, whatever a record holds", () => {
  let fixture: Fixture.Fixture
  let home: string

  beforeAll(async () => {
    fixture = await Fixture.make()
    home = process.cwd()
    process.chdir(fixture.directory)
    await fixture.record("answered", answered("answered"))
    await fixture.record("failed", failed("failed"))
    const judged = await Effect.runPromise(
      Ledger.play("judged", (plain) => `${plain} ${Fixture.hostile.replaceAll("\u0000", "")}`)
    )
    await fixture.record("judged", judged)
    const messages = [
      { role: "user", content: text("user") },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: text("id"), function: { name: text("tool"), arguments: text("args") } }]
      },
      { role: "tool", tool_call_id: text("id"), content: text("result") },
      { role: "assistant", content: text("answer") }
    ]
    fixture.write("chat.json", JSON.stringify(messages).replaceAll("\\u0000", ""))
    fixture.write(
      "bad.json",
      JSON.stringify([{ role: text("role"), [text("key")]: text("value") }]).replaceAll("\\u0000", "")
    )
    fixture.write("lone.json", '[{"role":"user","content":"\\ud800"}]')
    fixture.write(
      "lone.ndjson",
      '{"format":1,"runId":"r","seq":0,"at":0,"events":[{"_tag":"RunStarted","input":"\\ud800"}],"hash":"x"}\n'
    )
    fixture.write(
      "talks.ts",
      `import * as Effect from "effect/Effect"
       import * as Agent from "wherefore/Agent"
       import { call, layerScripted } from "wherefore/LLM"
       const text = ${JSON.stringify(text("said"))}
       const agent = Agent.make({ name: text, instructions: text })
       const model = layerScripted([call(text, { [text]: text }), text])
       export default Effect.log(text, { [text]: text }).pipe(
         Effect.zipRight(Agent.run(agent, text)),
         Effect.provide(model),
         Effect.zipRight(Effect.fail(new Error(text)))
       )`
    )
    fixture.write("throws.ts", `throw new Error(${JSON.stringify(Fixture.hostile)})\nexport default 1`)
    fixture.write(
      "dies.ts",
      `import * as Effect from "effect/Effect"\nexport default Effect.die(${JSON.stringify(Fixture.hostile)})`
    )
  })
  afterAll(() => {
    process.chdir(home)
    fixture.remove()
  })

  const word = Fixture.hostile.replaceAll("\u0000", "")
  const cases: ReadonlyArray<readonly [name: string, code: number, ...args: ReadonlyArray<string>]> = [
    ["lists runs", 0, "runs"],
    ["shows a run", 0, "show", "answered", "--full"],
    ["shows a run that failed", 0, "show", "failed"],
    ["walks an answer", 0, "why", "answered", "--full"],
    ["walks a value", 0, "why", "answered", "--value", "1859"],
    ["walks a value that is not there", 1, "why", "answered", "--value", word],
    ["walks a call", 1, "why", "answered", "--call", word],
    ["walks a pass", 1, "why", "answered", "--pass", "1"],
    ["shows findings", 0, "findings", "judged"],
    ["shows all findings", 0, "findings", "judged", "--full"],
    ["shows a run with findings", 0, "show", "judged", "--full"],
    ["has no findings", 1, "findings", "answered"],
    ["verifies", 0, "verify", "answered"],
    ["verifies a foreign file with half a pair", 1, "verify", "lone.ndjson"],
    ["imports", 0, "import", "chat.json"],
    ["refuses an import", 3, "import", "bad.json"],
    ["refuses half a pair", 3, "import", "lone.json"],
    ["runs a program", 1, "run", "talks.ts", "--debug"],
    ["fails to load a program", 3, "run", "throws.ts", "--debug"],
    ["runs a program that dies", 1, "run", "dies.ts", "--debug"],
    ["echoes a verb", 2, word],
    ["echoes an option", 2, "show", `--${word}`],
    ["echoes a run", 3, "show", word],
    ["echoes a file", 3, "run", word],
    ["echoes a directory", 3, "runs", "--dir", word],
    ["echoes a format", 2, "import", "chat.json", "--format", word]
  ]

  for (const [name, code, ...args] of cases) {
    it(`has no raw control when it ${name}`, async () => {
      // A program needs a process of its own, and nothing else does.
      const command = args[0] === "run" ? fixture.command : Fixture.inside
      for (const more of [[], ["--json"]]) {
        const ended = await command([...args, ...more])
        assert.notMatch(ended.stdout, Fixture.raw)
        assert.notMatch(ended.stderr, Fixture.raw)
        assert.strictEqual(ended.code, code, ended.stdout + ended.stderr)
        if (more.length > 0) for (const line of ended.stdout.trimEnd().split("\n")) JSON.parse(line)
      }
    })
  }

  it("emits nothing but its own styles to a terminal", async () => {
    for (const [, , ...args] of cases.filter(([, , verb]) => verb !== "run")) {
      const { stderr, stdout } = await Fixture.inside(args, 80)
      assert.notMatch((stdout + stderr).replaceAll(/\u001b\[(?:0|1|2|31|32|33|1;36)m/g, ""), Fixture.raw)
    }
  })

  it("gives JSON in which every text is as it was", async () => {
    const { stdout } = await Fixture.inside(["show", "answered", "--json"])
    const [head] = stdout.split("\n")
    assert.strictEqual(JSON.parse(head ?? "").answer, text("answer"))
  })
})
