import { assert, describe, it } from "@effect/vitest"
import * as SqlClient from "@effect/sql/SqlClient"
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import { Effect, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as path from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll } from "vitest"
import * as DatabaseUrl from "../../src/cli/DatabaseUrl.ts"
import * as ClusterHost from "../campaigns/ClusterHost.ts"
import * as Fixture from "./Fixture.ts"

const isAway = !(await ClusterHost.hasPostgres())
const away = isAway ? " (skipped: no PostgreSQL at 127.0.0.1:5432)" : ""

/** A payment that asks first; "lost" is one of which nobody hears, "broke" one that there is no budget for. */
const pay = `
  import * as Tool from "@effect/ai/Tool"
  import * as Toolkit from "@effect/ai/Toolkit"
  import * as Agent from "wherefore/Agent"
  import * as Approval from "wherefore/Approval"
  import * as LLM from "wherefore/LLM"
  import * as Timeout from "wherefore/Timeout"
  import * as Effect from "effect/Effect"
  import * as Layer from "effect/Layer"
  import * as Schema from "effect/Schema"
  import { appendFileSync } from "node:fs"
  const [, , task = "Pay.", runId = "pay-one"] = process.argv
  const Pay = Tool.make("pay", { parameters: { to: Schema.String }, success: Schema.String })
    .annotate(Approval.Approval, task === "Pay." ? "ask" : "allow")
    .annotate(Timeout.Timeout, "50 millis")
  const toolkit = Toolkit.make(Pay)
  const agent = Agent.make({ name: "bank", instructions: "Pay.", toolkit, budget: { passes: task === "broke" ? 1 : 9 } })
  const layer = Layer.merge(
    toolkit.toLayer({
      pay: ({ to }) => task === "lost" ? Effect.never : Effect.sync(() => (appendFileSync("paid", to + "\\n"), "paid"))
    }),
    LLM.layerScripted(({ iteration, messages }) =>
      task === "down" ? LLM.fail("Unavailable")
      : iteration === 1 ? LLM.call("pay", { to: runId }, "p")
      : LLM.say(messages.flatMap(({ message }) => (message.role === "tool" ? [message.outcome] : [])).join(" ")))
  )
  export default Agent.run(agent, task, { runId }).pipe(Effect.provide(layer))
  export const resume = (runId: string) => Agent.resume(agent, runId).pipe(Effect.provide(layer))`

const lines = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

describe("The command goes on with runs", () => {
  let fixture: Fixture.Fixture
  let home: string
  const schema = `cli_${randomBytes(6).toString("hex")}`
  const url = `${ClusterHost.url("test").replace("postgres@", "postgres:hush@")}?options=${encodeURIComponent(`-c search_path=${schema}`)}`
  const admin = (query: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, unknown>) =>
    Effect.flatMap(SqlClient.SqlClient, query).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(ClusterHost.url("test")), maxConnections: 1 })),
      Effect.runPromise
    )

  const check = async (
    code: number,
    args: ReadonlyArray<string>,
    stdout: RegExp,
    stderr: RegExp,
    options?: Fixture.Options
  ): Promise<Fixture.Ended> => {
    const isProgram = options !== undefined || args.includes("pay.ts")
    const ended = isProgram ? await fixture.command(args, options) : await Fixture.inside(args)
    const said = `${args.join(" ")}\n${ended.stdout}\n${ended.stderr}`
    assert.strictEqual(ended.code, code, said)
    assert.match(ended.stdout, stdout, said)
    assert.match(ended.stderr, stderr, said)
    assert.notInclude(ended.stdout + ended.stderr, "hush")
    assert.notInclude(ended.stdout + ended.stderr, schema)
    return ended
  }

  beforeAll(async () => {
    fixture = await Fixture.make()
    home = process.cwd()
    process.chdir(fixture.directory)
    fixture.write("pay.ts", pay)
    if (!isAway) await admin((sql) => sql.unsafe(`CREATE SCHEMA ${schema}`))
  })
  afterAll(async () => {
    process.chdir(home)
    fixture.remove()
    if (!isAway) await admin((sql) => sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`))
  })

  /** From the question to the answer, with nothing but the command. */
  const road = async (dir: ReadonlyArray<string>, shown: string) => {
    const isFirst = shown === ""
    const named = isFirst ? "" : ` --dir ${shown}`
    const paid = () => (fs.existsSync("paid") ? fs.readFileSync("paid", "utf8") : "")
    fs.rmSync("paid", { force: true })
    await check(1, ["run", "pay.ts", ...dir], /^waits/, /asked/)
    await check(0, ["approvals", ...dir], new RegExp(`wherefore approve pay-one${named} apr_`), /^$/)
    await check(0, ["runs", ...dir], /^pay-one .* waiting /, /approvals/)
    if (isFirst) await check(1, ["resume", "@", "pay.ts"], /^waits/, /^/)
    assert.strictEqual(paid(), "")
    await check(
      0,
      ["approve", "pay", "p", "--by", "ann", ...dir],
      /^approved by ann/,
      new RegExp(`next {2}wherefore resume pay-one${named} FILE\\.ts`)
    )
    await check(5, ["deny", "@", "p", ...dir], /^$/, /has approved the call/)
    const events = lines((await check(0, ["resume", "@", "pay.ts", "--json", ...dir], /^/, /^/)).stdout)
    assert.deepInclude(events[0], {
      format: "wherefore.resume/1",
      runId: "pay-one",
      directory: shown === "" ? ".wherefore" : shown
    })
    assert.deepInclude(events.at(-1), { runId: "pay-one", whole: true })
    assert.deepInclude(events.at(-1).outcome, { status: "answered", answer: "ran-ok" })
    assert.strictEqual(paid(), "pay-one\n")
    if (isFirst) await check(0, ["resume", "pay-one", "pay.ts"], /^answer {3}ran-ok/, /^/)
    assert.strictEqual(paid(), "pay-one\n")
    await check(0, ["show", "@", ...dir], new RegExp(`ran-ok[^]*wherefore verify pay-one${named}\\n$`), /^$/)
    await check(0, ["verify", "pay-one", ...dir], /^pay-one {2}whole\n/, /^$/)
    await check(1, ["why", "@", "--call", "p", ...dir], /approved by/, /^$/)
    await check(1, ["findings", "@", ...dir], /Findings were off/, /^$/)
    await check(0, ["runs", "--verify", ...dir], /^pay-one .* whole .* answered/, /^$/)
    await check(3, ["show", "x9", ...dir], /^$/, /^No run starts with "x9"\.\n {2}Newest here: pay-one\./)
  }

  it("in a directory", () => road([], ""))

  it("in SQLite, and finds there what was changed", async () => {
    await check(3, ["runs", "--dir", "sqlite:runs.db"], /^$/, /^There are no runs in "sqlite:runs\.db"\./)
    assert.isFalse(fs.existsSync("runs.db"), "to look makes nothing")
    await road(["--dir", "sqlite:runs.db"], "sqlite:runs.db")
    const { stdout } = await Fixture.inside(["verify", "@", "--dir", "sqlite:runs.db"])
    const [, anchor = ""] = /--anchor (\d+:\S+)/.exec(stdout) ?? []
    await check(0, ["verify", "@", "--anchor", anchor, "--dir", "sqlite:runs.db"], /whole/, /^$/)
    const dir = ["--dir", "sqlite:runs.db"]
    const { stdout: trust } = await check(0, ["anchor", "keygen", "example.org/a", "--key", "a.key"], /^example/, /^/)
    const signed = await check(0, ["anchor", "sign", "--key", "a.key", ...dir], /^/, /^1 run signed/)
    const kept = ["anchor", "check", fixture.write("anchor.txt", signed.stdout), "--trust", trust.trim(), ...dir]
    await check(0, kept, /^pay-one {2}ok {3}/, /^/)
    await Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`UPDATE wherefore_record SET line = replace(line, 'Pay.', 'Pax.') WHERE seq = 0`
    ).pipe(Effect.provide(SqliteClient.layer({ filename: "runs.db" })), Effect.runPromise)
    await check(1, ["verify", "pay-one", "--dir", "sqlite:runs.db"], /FAILS at #0/, /^$/)
    await check(3, kept, /^pay-one {2}BAD {2}/, /^/)
    await check(1, ["runs", "--verify", "--dir", "sqlite:runs.db"], /^pay-one .*FAILS at #0/, /^/)
    await check(
      4,
      ["show", "pay-one", "--dir", "sqlite:runs.db"],
      /^$/,
      /wherefore verify pay-one --dir sqlite:runs\.db/
    )
    await check(4, ["resume", "pay-one", "pay.ts", "--dir", "sqlite:runs.db"], /^$/, /^/)
    fs.writeFileSync("none.db", "")
    await check(3, ["show", "@", "--dir", "sqlite:none.db"], /^$/, /^There are no runs in "sqlite:none\.db"\./)
    assert.strictEqual(fs.statSync("none.db").size, 0)
    await check(3, ["show", "@", "--dir", "sqlite:pay.ts"], /^$/, /^The database sqlite:pay\.ts could not be used/)
  })

  it.skipIf(isAway)(
    `in PostgreSQL, and never shows how it is opened${away}`,
    async () => {
      await check(3, ["runs", "--dir", url], /^$/, /^There are no runs in "postgres:\/\/127\.0\.0\.1:5432\/test"\./)
      await road(["--dir", url], "postgres://127.0.0.1:5432/test")
      const gone = `postgres://ann:hush@127.0.0.1:${await ClusterHost.freePort()}/app`
      await check(3, ["runs", "--debug", "--dir", gone], /^$/, /could not be used \(ECONNREFUSED\)/)
    },
    120_000
  )

  it("and ends with what came of it", async () => {
    await check(6, ["run", "pay.ts", "--", "broke", "broke"], /budget of 1 pass/, /^/)
    await check(7, ["run", "pay.ts", "--", "down", "down"], /^failed/, /^/)
    await check(7, ["resume", "down", "pay.ts", "--", "down"], /^failed/, /^/)
    await check(8, ["run", "pay.ts", "--", "lost", "lost"], /wherefore approvals lost/, /^/)
    await check(
      0,
      ["resolve", "lost", "p", "applied", "--because", "seen"],
      /^p: applied/,
      /wherefore resume lost FILE/
    )
    await check(0, ["resume", "lost", "pay.ts", "--", "lost"], /^answer {3}unknown/, /^/)
    const file = path.join(".wherefore", "down.ndjson")
    fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace("bank", "bonk"))
    await check(4, ["why", "down"], /^$/, /wherefore verify down/)
    fs.rmSync(file)
  })

  it("needs no package that is optional, until it is asked for what is in it", async () => {
    const { peerDependenciesMeta } = JSON.parse(fs.readFileSync("package.json", "utf8"))
    const optional = Object.keys(peerDependenciesMeta)
    assert.includeMembers(optional, [
      "@effect/sql-pg",
      "@effect/sql-sqlite-node",
      "@effect/workflow",
      "@effect/cluster"
    ])
    const hook = `
      const absent = ${JSON.stringify(optional)}
      export const resolve = (name, context, next) => {
        if (!absent.some((one) => name === one || name.startsWith(one + "/"))) return next(name, context)
        throw Object.assign(new Error("Cannot find package " + name), { code: "ERR_MODULE_NOT_FOUND" })
      }`
    const absent = fixture.write(
      "absent.mjs",
      `import { register } from "node:module"\nregister(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)})`
    )
    const options = { env: { NODE_OPTIONS: `--import ${pathToFileURL(absent).href}` } }
    fixture.write(
      "hello.ts",
      `import { Agent, LLM, SqlRecord } from "wherefore"
       import { layerScripted } from "wherefore/testing"
       import * as Effect from "effect/Effect"
       const agent = Agent.make({ name: "hello", instructions: "Greet." })
       export default Agent.run(agent, "Hello?").pipe(Effect.provide((LLM.layerScripted ?? SqlRecord)(["Hello."])))
       export { layerScripted }`
    )
    await check(0, ["run", "hello.ts"], /^answer {3}Hello\./, /^/, options)
    await check(3, ["runs", "--dir", "sqlite:pay.ts"], /^$/, /npm install @effect\/sql-sqlite-node@\d/, options)
    await check(3, ["runs", "--dir", "postgres://h/d"], /^$/, /npm install @effect\/sql-pg@\d/, options)
    const serve = ["serve", "--cluster", "--agents", "pay.ts", "--database", "postgres://h/d"]
    await check(
      3,
      serve,
      /^$/,
      /packages that "serve" needs .*\n {2}Install them: npm install @effect\/cluster@\d/,
      options
    )
    const durable = 'import "wherefore/Durable"\nexport default 1'
    await check(
      3,
      ["run", fixture.write("durable.ts", durable)],
      /^$/,
      /Cannot find package @effect\/workflow/,
      options
    )
  })

  it("or says what it lacks for that", async () => {
    await check(2, ["resume", "@"], /^$/, /^"resume" needs RUN\.|^Write|needs/)
    await check(3, ["resume", "x9", "pay.ts"], /^$/, /^No run starts with "x9"/)
    await check(3, ["resume", "@", "none.ts"], /^$/, /there is no such file/)
    for (const [name, text, said] of [
      [
        "bare.ts",
        "export default 1",
        /^"bare\.ts" has no export "resume", so there is nothing to resume\.\n {2}Write: export const resume/
      ],
      ["near.ts", "export const resumed = 1", /^"near\.ts" has no export "resume"/],
      ["five.ts", "export const resume = 5", /^The export "resume" of "five\.ts" is not a function\./],
      ["none.ts", "export const resume = () => 5", /^The export "resume" gives no Effect\./]
    ] as const) {
      fixture.write(name, text)
      await check(2, ["resume", "@", name], /^$/, said, text.includes("resume ") ? {} : undefined)
    }
    fixture.write("throws.ts", "export const resume = () => { throw new Error('No agent.') }")
    await check(1, ["resume", "@", "throws.ts"], /^$/, /^The export "resume" failed: No agent\./, {})
    for (const dir of ["mysql://ann:hush@host/app", "postgres://ann:hush@host:x/app", "sqlite:", "sqlite://hush/app"]) {
      await check(2, ["runs", "--dir", dir], /^$/, /^--dir names no database that runs can be in\./)
    }
    await check(2, ["artifacts", "verify", "--dir", "sqlite:runs.db"], /^$/, /--store/)
  })
})

describe("DatabaseUrl", () => {
  it("shows nothing of itself that could be a secret", () => {
    const found = DatabaseUrl.postgres("postgresql://ann:hush%21@db.example:6000/app?options=quiet")
    assert.strictEqual(found?.shown, "postgres://db.example:6000/app")
    const hide = DatabaseUrl.hide(found?.secrets ?? [])
    assert.strictEqual(hide("It said hush! and hush%21, quiet."), "It said *** and ***, ***.")
    assert.isUndefined(DatabaseUrl.postgres("mysql://ann@host/app"))
  })
})
