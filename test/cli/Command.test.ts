import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as fs from "node:fs"
import * as path from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Run from "../../src/kernel/Run.ts"
import * as Fixture from "./Fixture.ts"

const lines = (text: string): ReadonlyArray<string> => text.trimEnd().split("\n")

describe("The command", () => {
  let fixture: Fixture.Fixture
  let home: string
  let file: string

  const check = async (
    code: number,
    args: ReadonlyArray<string>,
    stdout: RegExp,
    stderr: RegExp,
    options?: Fixture.Options
  ) => {
    // What runs a program, reads standard input or is first in its kind has a process of its own.
    const ended =
      options === undefined && args[0] !== "run" ? await Fixture.inside(args) : await fixture.command(args, options)
    const said = `${ended.stdout}\n${ended.stderr}`
    assert.match(ended.stdout, stdout, said)
    assert.match(ended.stderr, stderr, said)
    assert.strictEqual(ended.code, code, said)
    assert.notMatch(ended.stderr, /_tag|\n\s+at |FiberFailure/)
    return ended
  }

  beforeAll(async () => {
    fixture = await Fixture.make()
    home = process.cwd()
    process.chdir(fixture.directory)
    file = await fixture.record("airline", Fixture.airline())
    await fixture.record("air", Fixture.play([{ say: "It is 4471." }], { runId: "air", input: "Is it 4471?" }))
    await fixture.record("open", Fixture.airline("open").slice(0, -2))
  })
  afterAll(() => {
    process.chdir(home)
    fixture.remove()
  })

  describe("is usable at once", () => {
    it("tells its version and its help without an argument", async () => {
      await check(0, ["--version"], /^\d+\.\d+\.\d+\n$/, /^$/, {})
      await check(0, [], /^wherefore VERB/, /^$/, {})
      const { stdout } = await check(0, ["help", "--json"], /^/, /^$/, {})
      const help = lines(stdout).map((line) => JSON.parse(line))
      const verbs = [
        "wherefore.help/1",
        "run",
        "resume",
        "runs",
        "show",
        "why",
        "findings",
        "artifacts",
        "approvals",
        "approve",
        "deny",
        "resolve",
        "verify",
        "replay",
        "anchor",
        "import",
        "serve",
        "help"
      ]
      assert.deepStrictEqual(
        help.map(({ format, verb }) => format ?? verb),
        verbs
      )
    })

    it("exits as a process with the code of what happened", async () => {
      await check(0, ["why", "airline", "--value", "10519"], /supported: yes/, /^$/, {})
      await check(1, ["why", "airline", "--value", "$250"], /supported: no/, /^$/, {})
      await check(2, ["shwo"], /^$/, /Did you mean "show"/, {})
      await check(3, ["show", "x9"], /^$/, /No run starts with/, {})
    })

    it("says what is wrong with how it is asked", async () => {
      await check(2, ["shwo"], /^$/, /^There is no command "shwo"\.\n {2}Did you mean "show"\?\n$/)
      await check(2, ["why", "@", "--pass", "x"], /^$/, /^--pass needs a number from 1, not "x"\./)
      await check(2, ["why", "@", "--lists", "x"], /^$/, /^"x" tells of no list\./)
      await check(2, ["why", "@", "--missing", "0"], /^$/, /^--missing needs a number from 1, not "0"\./)
      await check(2, ["why", "@", "1", "--pass", "1"], /^$/, /^One thing can be asked at a time\./)
      await check(2, ["why", "@", "1", "--call", "x", "--pass", "1"], /^$/, /^One thing can be asked at a time\./)
      await check(2, ["why", "@", "--call", "x", "--pass", "0"], /^$/, /^--pass needs a number from 1, not "0"\./)
      await check(2, ["verify", "@", "--anchor", "x"], /^$/, /^--anchor needs/)
    })
  })

  describe("finds a run", () => {
    for (const [word, question] of [
      ["airline", "I need"],
      ["airl", "I need"],
      ["air", "Is it"],
      ["@", "I need|Is it"],
      ["@2", "I need|Is it"],
      [".wherefore/airline.ndjson", "I need"]
    ] as const) {
      it(`by ${word}`, async () => {
        await check(0, ["show", word], new RegExp(`asked +(${question})`), /^$/)
      })
    }

    it("on standard input", async () => {
      await check(0, ["verify", "-"], /^standard input {2}whole\n/, /^$/, { input: fs.readFileSync(file, "utf8") })
    })

    it("in another directory, and says so in what to type next", async () => {
      fs.mkdirSync(path.join(fixture.directory, "other dir"))
      fs.copyFileSync(file, path.join(fixture.directory, "other dir", "airline.ndjson"))
      await check(0, ["show", "@", "--dir", "other dir"], /wherefore verify airline --dir 'other dir'\n$/, /^$/)
    })

    it("or says why not", async () => {
      await check(2, ["show", "ai"], /^$/, /^2 runs start with "ai": air, airline\.\n {2}Write more of the id\.\n$/)
      await check(
        3,
        ["show", "x9"],
        /^$/,
        /^No run starts with "x9"\.\n {2}Newest here: .*\. List them: wherefore runs\n$/
      )
      await check(3, ["show", "@9"], /^$/, /^There is no run number 9 here; there are 3\./)
      await check(2, ["show", "@x"], /^$/, /^"@x" names no run\./)
      await check(3, ["show", "none/x.ndjson"], /^$/, /could not be read: there is no such file\.\n/)
      await check(3, ["show", "."], /^$/, /it is a directory/)
      await check(3, ["show", "@", "--dir", "nowhere"], /^$/, /^There are no runs in "nowhere"\.\n {2}Make one/)
      await check(3, ["runs", "--dir", "nowhere"], /^$/, /^There is no directory "nowhere"\./)
    })
  })

  describe("answers with an exit code", () => {
    it("that is 0 for a value with a cause and 1 for one without", async () => {
      await check(0, ["why", "airline", "--value", "10519"], /\nsupported: yes · 1 recorded\n$/, /^$/)
      await check(0, ["why", "airline", "$10,519"], /\nsupported: yes/, /^$/)
      await check(1, ["why", "airline", "--value", "$250"], /\nsupported: no · 1 nowhere\n$/, /^$/)
      await check(1, ["why", "airline", "--value", "10,518"], /not-found: .*10,518.*Its values: .*10,519/, /^$/)
      await check(1, ["why", "airline"], /\nsupported: no · 3 recorded, 1 nowhere\n$/, /^$/)
      await check(
        0,
        ["why", "airline", "--call", "sum"],
        /^calculate +called {2}"6594 \+ 3925", pass 2 {2}#\d+\n/,
        /^$/
      )
      await check(1, ["why", "airline", "--pass", "9"], /not-found/, /^$/)
      await check(0, ["why", "airline", "--call", "sum", "--pass", "2"], /^calculate +called/, /^$/)
      await check(
        1,
        ["why", "airline", "--call", "sum", "--pass", "1"],
        /not-found: .* in pass 1; .* in pass 2\./,
        /^$/
      )
      await check(1, ["why", "open"], /no-answer/, /^$/)
    })

    it("and names the command that goes on in another run, if its record is here", async () => {
      const carrying = (runId: string, from: string) => {
        const [first, ...rest] = Fixture.play([{ say: "As I said: 4471." }], { runId, input: "Again?" })
        const message = { role: "assistant" as const, content: "It is 4471.", toolCalls: [] }
        const carried = { _tag: "MessageCarried" as const, from: { runId: from, seq: 4 }, message }
        const events = first === undefined ? [] : [first, carried, ...rest]
        const wireHash = Run.fold(events).marks[0]?.projectedHash ?? ""
        return fixture.record(
          runId,
          events.map((event) => (event._tag === "ModelCalled" ? { ...event, wireHash } : event))
        )
      }
      await carrying("follows", "air")
      await carrying("lost", "gone")
      await check(
        0,
        ["why", "follows", "4471"],
        /\nsupported: yes .*\n\nnext {5}wherefore why air --value 4471\n$/,
        /^$/
      )
      await check(0, ["why", "air", "--value", "4471"], /\nsupported: yes/, /^$/)
      await check(0, ["why", "lost", "4471"], /\nsupported: yes [^\n]*\n$/, /^$/)
      for (const name of ["follows", "lost"]) {
        fs.rmSync(path.join(fixture.directory, ".wherefore", `${name}.ndjson`))
      }
    })

    it("that a program can read with the rest", async () => {
      const [head, ...rest] = lines(
        (await check(1, ["why", "airline", "--value", "$250", "--json"], /^/, /^$/)).stdout
      ).map((line) => JSON.parse(line))
      assert.deepStrictEqual(head, {
        format: "wherefore.why/1",
        runId: "airline",
        question: { kind: "value", text: "$250" }
      })
      assert.strictEqual(rest.at(-1)?.supported, false)
      assert.deepStrictEqual(rest.find(({ value }) => value !== undefined)?.value.word, "nowhere")
      const error = lines((await check(3, ["show", "x9", "--json"], /^/, /^$/)).stdout).map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        error.map(({ exit, format, verb }) => ({ exit, format, verb })),
        [{ exit: 3, format: "wherefore.error/1", verb: "show" }]
      )
      const wrong = lines((await check(2, ["shwo", "--json"], /^/, /^$/)).stdout).map((line) => JSON.parse(line))
      assert.strictEqual(wrong[0]?.exit, 2)
    })

    it("and lists the runs, newest first, with the number of the last event", async () => {
      const rows = lines((await check(0, ["runs"], /^/, /^$/)).stdout)
      assert.strictEqual(rows.length, 3)
      for (const row of rows)
        assert.match(row, /^(airline|air|open) +\d{4}-\d\d-\d\d \d\d:\d\dZ {2}\w+ +(answered|open) .* #\d+$/)
      const [, ...runs] = lines((await check(0, ["runs", "--json"], /^/, /^$/)).stdout).map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        runs.map(({ startedAt }) => startedAt),
        runs.map(({ startedAt }) => startedAt).toSorted((a: number, b: number) => b - a)
      )
    })
  })

  describe("verifies", () => {
    it("a record that is whole, and says what that does not prove", async () => {
      await check(
        0,
        ["verify", "airline"],
        /^airline {2}whole\n {2}entries ok {3}18 events\n[^]*entries removed from the end would not show/,
        /^$/
      )
      await check(0, ["verify", "open"], /end {5}ok {3}open: there is no terminal event/, /^$/)
    })

    it("a record against an anchor that was kept elsewhere", async () => {
      const { stdout } = await Fixture.inside(["verify", "airline"])
      const [, anchor = ""] = /--anchor (\d+:\S+)/.exec(stdout) ?? []
      await check(0, ["verify", "airline", "--anchor", anchor], /whole/, /^$/)
      await check(1, ["verify", "open", "--anchor", anchor], /FAILS at/, /^$/)
    })

    it("no record that stands in the file of another run", async () => {
      fs.mkdirSync(path.join(fixture.directory, "swapped"))
      fs.copyFileSync(file, path.join(fixture.directory, "swapped", "other.ndjson"))
      const at = ["--dir", "swapped"]
      await check(1, ["verify", "other", ...at], /^other {2}FAILS at #0\n[^]*another run than its file/, /^$/)
      await check(1, ["runs", "--verify", ...at], /FAILS at #0/, /^/)
    })

    it("a record of which one byte was changed, and names the event", async () => {
      const text = fs.readFileSync(file, "utf8")
      for (const [at, seq] of [
        [text.indexOf("I need"), 0],
        [text.lastIndexOf("10,519"), 17]
      ] as const) {
        const changed = `${text.slice(0, at)}X${text.slice(at + 1)}`
        const { stdout } = await check(1, ["verify", fixture.write("changed.ndjson", changed)], /FAILS at #\d+\n/, /^$/)
        assert.isAtMost(Number(/FAILS at #(\d+)/.exec(stdout)?.[1]), seq)
        await check(4, ["show", "changed.ndjson"], /^$/, /See what is wrong with it: wherefore verify changed\.ndjson/)
      }
    })

    it("no record of which any one byte was changed, or that was cut inside a line", async () => {
      const bytes = fs.readFileSync(file)
      const place = FastCheck.integer({ min: 0, max: bytes.length - 1 })
      await FastCheck.assert(
        FastCheck.asyncProperty(place, FastCheck.integer({ min: 1, max: 255 }), async (at, change) => {
          const changed = Buffer.from(bytes)
          changed[at] = (changed[at] ?? 0) ^ change
          fs.writeFileSync("any.ndjson", changed)
          const { code, stdout } = await Fixture.inside(["verify", "any.ndjson"])
          assert.include([1, 3], code, stdout)
          if (code === 1) assert.match(stdout, /FAILS at #\d+\n/)

          if (at === 0 || bytes[at - 1] === 10) return
          fs.writeFileSync("any.ndjson", bytes.subarray(0, at))
          assert.strictEqual((await Fixture.inside(["verify", "any.ndjson"])).code, 3)
        }),
        { numRuns: 150 }
      )
    })

    it("a record that was cut, is of a later format, or is none", async () => {
      const text = fs.readFileSync(file, "utf8")
      fixture.write("torn.ndjson", text.slice(0, -40))
      await check(
        3,
        ["verify", "torn.ndjson"],
        /^torn\.ndjson {2}READABLE, NOT WHOLE\n[^]*tail {4}BAD {2}[\d,]+ bytes/,
        /^$/
      )
      await check(
        0,
        ["show", "torn.ndjson"],
        /asked/,
        /^"torn\.ndjson" ends in \d+ bytes of an event that was never finished/
      )
      fixture.write("later.ndjson", text.replace('"format":1', '"format":2'))
      await check(3, ["verify", "later.ndjson"], /^$/, /later version/)
      await check(3, ["verify", fixture.write("none.ndjson", "{}\n")], /^$/, /is not the record of a run/)
      await check(3, ["verify", fixture.write("empty.ndjson", "")], /^$/, /is not the record of a run/)
      await check(3, ["verify", "package.json"], /^$/, /is not the record of a run/)
    })
  })

  describe("says what a run cost", () => {
    const table = (models: ReadonlyArray<object>) =>
      fixture.write("prices.json", JSON.stringify({ currency: "USD", models }))
    const paid = async (usage: ReadonlyArray<object>) => {
      const replies = [{ calls: [{ tool: "look", args: "{}", result: "7" }] }, { say: "It is 7." }]
      let pass = 0
      const events = Fixture.play(replies, { runId: "paid", model: "m\u001b[31m" }).map((event) =>
        event._tag === "ModelReplied" ? { ...event, usage: usage[pass++] ?? {} } : event
      )
      fs.rmSync(path.join(fixture.directory, ".wherefore/paid.ndjson"), { force: true })
      await fixture.record("paid", events)
    }
    const whole = { inputTokens: 1_000, cacheReadTokens: 0, cacheWriteTokens: 0, outputTokens: 1 }
    const model = { model: "m\u001b[31m", input: 0.1, output: "0.7" }
    const show = ["show", "paid", "--prices", "prices.json"]

    it("exactly, if there is a table of prices", async () => {
      await paid([whole, whole])
      table([model])
      await check(0, show, /\ncost {5}0\.0002014 USD\n(?! {9})/, /^$/)
      const { stdout } = await check(0, [...show, "--json"], /^/, /^$/)
      const [first = ""] = lines(stdout)
      assert.deepInclude(JSON.parse(first).cost, { currency: "USD", amount: "0.0002014", isWhole: true })
      await check(0, ["show", "paid"], /^(?![^]*\ncost )/, /^$/)
    })

    it("as far as it is known, and names what is not", async () => {
      await paid([whole, { inputTokens: 5, unknown: { outputTokens: "cut" } }])
      table([model])
      const line =
        /\ncost {5}at least 0\.0001012 USD\n {9}m[^\u001b\n]* · 2 calls · at least 0\.0001012 USD · output of 1 call was cut off\n/
      await check(0, show, line, /^$/)
      table([{ model: "another", input: "1", output: "1" }])
      await check(
        0,
        show,
        /\ncost {5}unknown\n {9}m[^\u001b\n]* · 2 calls · unknown · 2 calls: it has no price\n/,
        /^$/
      )
    })

    it("or what is wrong with the table", async () => {
      table([{ ...model, output: "much" }])
      await check(3, show, /^$/, /^The table of prices cannot be used\. \(found \/models\/0\/output must be a decimal/)
      fixture.write("prices.json", "{")
      await check(3, show, /^$/, /^"prices\.json" is not JSON\.\n/)
      await check(3, ["show", "paid", "--prices", "none.json"], /^$/, /there is no such file/)
      await check(2, ["show", "paid", "--prices"], /^$/, /--prices needs a value/)
      fs.rmSync(path.join(fixture.directory, ".wherefore/paid.ndjson"))
    })
  })

  it("lists what is whole, and what is not, only when it has read all of it", async () => {
    const directory = path.join(fixture.directory, "standing")
    fs.mkdirSync(directory)
    const text = fs.readFileSync(file, "utf8")
    const put = (runId: string, change: (text: string) => string) =>
      fs.writeFileSync(path.join(directory, `${runId}.ndjson`), change(text.replaceAll('"airline"', `"${runId}"`)))
    fs.copyFileSync(file, path.join(directory, "airline.ndjson"))
    const list = ["runs", "--dir", "standing"]
    await check(0, [...list, "--verify"], /^airline +\S+ \S+ +whole +answered /, /^$/)
    // The end of this one was changed, and is as good a line as before.
    const changed = await fixture.record("changed", Fixture.airline("changed"))
    const end = fs.readFileSync(changed, "utf8").replace("A voucher of $250", "A voucher of $350")
    fs.rmSync(changed)
    fs.writeFileSync(path.join(directory, "changed.ndjson"), end)
    put("tail", (text) => text.slice(0, -9))
    put("head", (text) => text.slice(9))
    fs.writeFileSync(path.join(directory, "cut.ndjson"), text.slice(0, 9))
    const plain = await check(0, list, /^/, /A run is not listed/)
    assert.match(plain.stdout, /^changed .* answered /m)
    assert.notMatch(plain.stdout, /whole|FAILS/)
    const { stdout } = await check(1, [...list, "--verify"], /\nhead +(FAILS at #0|UNREADABLE)\n/, /not listed/)
    assert.match(stdout, /^airline .* whole +answered/m)
    assert.match(stdout, /^changed .* FAILS at #[1-9]\d* +answered /m)
    assert.match(stdout, /^cut +(FAILS at #0|UNREADABLE|READABLE, NOT WHOLE)$/m)
    const [, ...runs] = lines((await check(1, [...list, "--verify", "--json"], /^/, /^/)).stdout).map((line) =>
      JSON.parse(line)
    )
    assert.deepStrictEqual(
      new Map(runs.map(({ runId, whole }) => [runId, whole])),
      new Map([
        ["airline", true],
        ["changed", false],
        ["tail", false],
        ["head", false],
        ["cut", false]
      ])
    )
    fs.rmSync(directory, { recursive: true })
  })

  describe("imports", () => {
    const chat = (price: string) => [
      { role: "user", content: "What did TX-4471 cost?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "ticket", arguments: '{"id":"TX-4471"}' } }]
      },
      { role: "tool", tool_call_id: "c", content: `{"price":${price}}` },
      { role: "assistant", content: "It cost $1,859." }
    ]

    it("one conversation, or one on each line, each once", async () => {
      const one = lines(
        (
          await check(
            0,
            ["import", fixture.write("one.json", JSON.stringify(chat("1859")))],
            /^import-/,
            /next {2}wherefore why import-/
          )
        ).stdout
      )
      await check(0, ["why", one[0] ?? ""], /supported: yes/, /^$/)
      const text = [chat("1859"), { messages: chat("1860") }].map((value) => JSON.stringify(value)).join("\n")
      const { stderr, stdout } = await check(0, ["import", "-"], /^import-/, /is here already/, { input: text })
      assert.strictEqual(lines(stdout).length, 2)
      assert.include(stderr, one[0] ?? "?")
    })

    it("conversations that differ in their parameters apart, and counts those that do not differ", async () => {
      const messages = [
        { role: "user", content: "Hi." },
        { role: "assistant", content: "Hello 4711." }
      ]
      const lines = [
        { messages, temperature: 0 },
        { messages, temperature: 1 },
        { messages, temperature: 1 }
      ]
      const input = lines.map((line) => JSON.stringify(line)).join("\n")
      const { stdout } = await check(0, ["import", "-"], /^import-/, /1 conversation stood in the file twice/, {
        input
      })
      assert.lengthOf(stdout.trim().split("\n"), 2)
    })

    it("what an import that was stopped left out, and nothing over another run", async () => {
      const file = fixture.write("part.json", JSON.stringify(chat("1861")))
      const [runId = ""] = lines((await check(0, ["import", file], /^import-/, /next/)).stdout)
      const record = path.join(fixture.directory, ".wherefore", `${runId}.ndjson`)
      const text = fs.readFileSync(record, "utf8")
      const appends = lines(text)
      assert.lengthOf(appends, 3)
      const events = (text: string) => lines(text).flatMap((line) => JSON.parse(line).events)
      fs.writeFileSync(record, `${appends.slice(0, 2).join("\n")}\n`)
      await check(0, ["import", file], /^import-/, /was imported in part before, and is complete now/)
      assert.deepStrictEqual(events(fs.readFileSync(record, "utf8")), events(text))
      await check(0, ["verify", runId], /whole/, /^$/)
      await check(0, ["import", file], /^import-/, /is here already/)
      fs.writeFileSync(record, text.replace("What did TX-4471 cost?", "What did TX-4471 cast?"))
      await check(3, ["import", file], /^$/, /is damaged at entry 0/)
      fs.rmSync(record)
    })

    it("nothing of a file in which something is wrong, and says where", async () => {
      const before = (await Fixture.inside(["runs"])).stdout
      const text = [
        JSON.stringify(chat("1")),
        '{"messages":[{"role":"user","content":5}]}',
        JSON.stringify(chat("2")),
        '{"messages":7}'
      ].join("\n")
      await check(
        3,
        ["import", fixture.write("bad.jsonl", text)],
        /^$/,
        /^"bad\.jsonl|bad\.jsonl", line 2 at \/messages\/0\/content: .*Also wrong: line 4\./
      )
      await check(3, ["import", fixture.write("cut.json", "[{")], /^$/, /line 1, column 3/)
      await check(2, ["import", "cut.json", "--format", "csv"], /^$/, /"csv" is no format/)
      assert.strictEqual((await Fixture.inside(["runs"])).stdout, before)
    })
  })

  describe("runs a program", () => {
    const program = (model: string) => `
      import * as Agent from "wherefore/Agent"
      import { call, layerScripted } from "wherefore/LLM"
      import * as Effect from "effect/Effect"
      const agent = Agent.make({ name: "hello", instructions: "The library opens at 09:30.", budget: { passes: 3 } })
      export default Agent.run(agent, process.argv[2] ?? "When?", { runId: process.argv[3] ?? "hello" })${model}`
    const scripted = (replies: string) => program(`.pipe(Effect.provide(layerScripted(${replies})))`)

    it("shows what goes on, and what came of it", async () => {
      fixture.write("hello.ts", scripted('["It opens at 09:30."]'))
      const { stderr, stdout } = await check(
        0,
        ["run", "hello.ts", "--", "When, then?"],
        /^answer {3}It opens at 09:30\.\n\nvalues {3}09:30 {2}recorded {3}piece instructions {2}#\d\n/,
        /^run hello · agent hello/
      )
      assert.match(stderr, /\nasked {2}When, then\?\n\n 1 +\d+ B {2}said {6}It opens at 09:30\. +\d+ms +#\d\n/)
      assert.match(
        stdout,
        /\nnext {5}wherefore why hello --value 09:30\n\n1 pass · 0 tool calls · .*record whole, \d+ events\n$/
      )
      await check(0, ["why", "hello"], /supported: yes/, /^$/)
    })

    it("gives its events to a program", async () => {
      const out = lines(
        (await check(0, ["run", "hello.ts", "--json", "--", "When?", "again"], /^/, /^run again/)).stdout
      ).map((line) => JSON.parse(line))
      assert.strictEqual(out[0]?.format, "wherefore.run/1")
      assert.strictEqual(out.at(-1)?.outcome.status, "answered")
      assert.deepStrictEqual(
        out.slice(1, -1).map(({ seq }) => seq),
        out.slice(1, -1).map((_, index) => index)
      )
    })

    it("exits with what came of it if there is no answer", async () => {
      fixture.write("stops.ts", scripted("[call('x'), call('x'), call('x'), 'never']"))
      await check(
        6,
        ["run", "stops.ts", "--", "Go.", "stops"],
        /^stopped {2}The run's budget of 3 passes/,
        /refused +x/
      )
      fixture.write("fails.ts", scripted("[]"))
      await check(7, ["run", "fails.ts", "--", "Go.", "fails"], /^failed/, /script/)
    })

    it("says what it lacks", async () => {
      fixture.write("needs.ts", program(""))
      await check(
        2,
        ["run", "needs.ts", "--", "Go.", "needs"],
        /^$/,
        /^The program needs a model, and none is given\.\n {2}Set WHEREFORE_MODEL_URL and WHEREFORE_MODEL,/
      )
      assert.isFalse(fs.existsSync(path.join(fixture.directory, ".wherefore/needs.ndjson")), "nothing was recorded")
      await check(2, ["run", "needs.ts"], /^$/, /WHEREFORE_MODEL\b/, {
        env: { WHEREFORE_MODEL_URL: "http://127.0.0.1:9/v1" }
      })
      const tag = 'import * as Context from "effect/Context"\nexport default Context.GenericTag("my/Service")'
      await check(2, ["run", fixture.write("tag.ts", tag)], /^$/, /^The program needs the service my\/Service\./)
    })

    it("says why a file cannot be run", async () => {
      await check(
        2,
        ["run", fixture.write("none.ts", "// export default 1\nconsole.log('it ran')\nexport const x = 1")],
        /^$/,
        /has no default export, so there is nothing to run\.\n {2}Write: export default Agent\.run/
      )
      await check(2, ["run", fixture.write("five.ts", "export default 5")], /^$/, /is not an Effect/)
      await check(
        3,
        ["run", fixture.write("syntax.ts", "export default (")],
        /^$/,
        /could not be loaded: .*syntax\.ts:1:16/
      )
      await check(
        3,
        ["run", fixture.write("lost.ts", 'import "no-such-package"\nexport default 1')],
        /^$/,
        /Cannot find package 'no-such-package'/
      )
      await check(3, ["run", "none-such.ts"], /^$/, /there is no such file/)
      await check(
        1,
        ["run", fixture.write("never.ts", 'import { async } from "effect/Effect"\nexport default async(() => {})')],
        /^$/,
        /waits for something that never comes/
      )
    })

    it("of a package that is CommonJS", async () => {
      fixture.write("cjs/package.json", "{}")
      await check(
        0,
        ["run", fixture.write("cjs/log.ts", 'import { Effect } from "effect"\nexport default Effect.log("said")')],
        /^$/,
        /^info: said\nThe program ended and recorded no run\.\n$/
      )
    })

    it("and lets it settle what it has begun when it is interrupted", async () => {
      fixture.write("slow.ts", scripted('[{ text: "late", delay: "1 minute" }]'))
      const ended = await fixture.command(["run", "slow.ts", "--", "Go.", "slow"], { interruptAt: "asked" })
      assert.strictEqual(ended.code, 130, ended.stderr)
      assert.match(ended.stdout, /^stopped {2}The run was interrupted\./)
      await check(0, ["verify", "slow"], /end {5}ok {3}stopped/, /^$/)
    })
  })
})
