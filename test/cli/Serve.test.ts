import { assert, describe, it } from "@effect/vitest"
import { Either } from "effect"
import * as ServeCommand from "../../src/cli/ServeCommand.ts"
import * as ClusterHost from "../campaigns/ClusterHost.ts"
import * as Fixture from "./Fixture.ts"

const isAway = !(await ClusterHost.hasPostgres())
const away = isAway ? " (skipped: no PostgreSQL at 127.0.0.1:5432)" : ""
const { agents } = ClusterHost

const setting = (options: { readonly [name: string]: string }, database?: string) =>
  Either.mapLeft(ServeCommand.settingOf(new Map(Object.entries(options)), database), ({ exit, next, what }) => ({
    exit,
    said: `${what} ${next}`
  }))

const whole = { cluster: "", agents: "a.ts", database: "postgres://ann:hush%21@db.example:6000/app?options=quiet" }

describe("Serve", () => {
  it("reads what it is to be", () => {
    const read = setting({
      ...whole,
      "runner-address": "10.0.0.7:34432",
      listen: "[::1]:1",
      lease: "4.5",
      handover: "0"
    })
    assert(Either.isRight(read))
    assert.deepInclude(read.right, {
      agents: "a.ts",
      address: { host: "10.0.0.7", port: 34_432 },
      listen: { host: "::1", port: 1 },
      lease: 4.5,
      handover: 0
    })
    assert.strictEqual(read.right.database.shown, "postgres://db.example:6000/app")
    for (const secret of ["hush%21", "hush!", "quiet"]) assert.include(read.right.database.secrets, secret)
    const plain = setting({ cluster: "", agents: "a.ts" }, "postgresql://localhost/app")
    assert(Either.isRight(plain))
    assert.deepStrictEqual(Object.keys(plain.right), ["agents", "database", "address"])
    assert.deepStrictEqual(plain.right.address, { host: "localhost", port: 34_431 })
  })

  for (const [more, said] of [
    [{ database: "" }, '"serve" needs a database. Write --database postgres://HOST/NAME, or set WHEREFORE_DATABASE.'],
    [{ database: "mysql://ann:hush@b/c" }, "The database is not named by a URL of PostgreSQL."],
    [{ database: "hush" }, "The database is not named by a URL of PostgreSQL."],
    [{ "runner-address": "db:0" }, '--runner-address is not a host and a port: "db:0".'],
    [{ "runner-address": "db" }, '--runner-address is not a host and a port: "db".'],
    [{ listen: "a b:1" }, '--listen is not a host and a port: "a b:1".'],
    [{ listen: "a:70000" }, '--listen is not a host and a port: "a:70000".'],
    [{ lease: "2" }, '--lease is not a number of seconds from 3 to 3600: "2".'],
    [{ lease: "1e3" }, '--lease is not a number of seconds from 3 to 3600: "1e3".'],
    [{ handover: "-1" }, '--handover is not a number of seconds from 0 to 3600: "-1".']
  ] as const) {
    it(`says what is wrong with ${JSON.stringify(more)}`, () => {
      const read = setting({ ...whole, ...more })
      assert(Either.isLeft(read))
      assert.strictEqual(read.left.exit, 2)
      assert.isTrue(read.left.said.startsWith(said), read.left.said)
      assert.notInclude(read.left.said, "hush")
    })
  }

  it("needs to be told that it is one of a cluster, and with which agents", async () => {
    const none = await Fixture.inside(["serve", "--json"])
    assert.strictEqual(none.code, 2)
    assert.deepInclude(JSON.parse(none.stdout), { format: "wherefore.error/1", what: '"serve" needs --cluster.' })
    const nobody = await Fixture.inside(["serve", "--cluster"])
    assert.strictEqual(nobody.code, 2)
    assert.include(nobody.stderr, '"serve" needs --agents.')
  })

  it("says that nothing answers at the database, and never how it is opened", async () => {
    const port = await ClusterHost.freePort()
    const database = `postgres://ann:hush@127.0.0.1:${port}/app`
    const { code, said } = await ClusterHost.serve(
      ["--cluster", "--debug", "--agents", agents, "--database", database],
      {}
    ).ended
    assert.strictEqual(code, 3)
    assert.include(said, `The database postgres://127.0.0.1:${port}/app could not be used (ECONNREFUSED).`)
    assert.notInclude(said, "hush")
  }, 180_000)

  it.skipIf(isAway)(
    `is ready, says so in one line, and ends with 0 when it is told to${away}`,
    async () => {
      const database = await ClusterHost.database()
      const runner = `127.0.0.1:${await ClusterHost.freePort()}`
      const args = ["--cluster", "--json", "--agents", agents, "--runner-address", runner, "--handover", "1"]
      const env = { WHEREFORE_DATABASE: ClusterHost.url(database.name).replace("postgres@", "postgres:hush@") }
      const served = ClusterHost.serve(args, env)
      try {
        const line = await served.ready
        assert.isDefined(line, (await Promise.race([served.ended, { said: "" }])).said)
        assert.deepStrictEqual(JSON.parse(line ?? ""), {
          format: "wherefore.serve/1",
          runner,
          agents: ["post"],
          database: `postgres://127.0.0.1:5432/${database.name}`
        })
        const second = await ClusterHost.serve(args, env).ended
        assert.strictEqual(second.code, 3)
        assert.include(second.said, `It cannot listen at ${runner} (EADDRINUSE).`)
        const bare = await ClusterHost.serve(
          [...args, "--runner-address", `127.0.0.1:${await ClusterHost.freePort()}`],
          { ...env, BARE: "1" }
        ).ended
        assert.strictEqual(bare.code, 2)
        assert.include(bare.said, "The program needs a model, and none is given.")
        served.process.kill("SIGTERM")
        const { code, said } = await served.ended
        assert.strictEqual(code, 0)
        assert.include(said, "Leaves its runs to others, and ends.")
        assert.notInclude(said + second.said + bare.said, "hush")
      } finally {
        served.process.kill("SIGKILL")
        await served.ended
        await database.drop()
      }
    },
    300_000
  )
})
