import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Either, Exit, Layer, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as Durable from "../../src/programs/Durable.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as SqlRecord from "../../src/services/SqlRecord.ts"
import * as Fixture from "../services/RecordFixture.ts"
import * as Bank from "./Bank.ts"

const at = (database: string) => Redacted.make(`postgres://postgres@127.0.0.1:5432/${database}`)

const admin = Effect.flatMap(Layer.build(PgClient.layer({ url: at("test"), maxConnections: 1 })), (client) => {
  const sql = Context.get(client, SqlClient.SqlClient)
  return Effect.as(sql`SELECT 1`, sql)
})
const missing = await Effect.runPromise(Effect.map(Effect.either(Effect.scoped(admin)), Either.isLeft))

/** A database that goes with the scope. */
const database = Effect.gen(function* () {
  const sql = yield* Effect.orDie(admin)
  const name = `durable_${randomBytes(6).toString("hex")}`
  yield* Effect.orDie(sql.unsafe(`CREATE DATABASE ${name}`))
  yield* Effect.addFinalizer(() => Effect.orDie(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)))
  return name
})

const pays = Bank.model(Bank.pay("p"))

const hosted = (name: string, ran: Bank.Ran) =>
  Durable.layer({ agents: [Bank.agent()], name }).pipe(
    Layer.provide(Bank.handlers(ran)),
    Layer.provide(LLM.layerScripted(pays)),
    Layer.provide(ArtifactStore.layerMemory()),
    Layer.provideMerge(SqlRecord.layer())
  )

const runner = (name: string, url: Redacted.Redacted, port: number, ran: Bank.Ran) =>
  hosted(name, ran).pipe(
    Layer.provide(
      Durable.layerCluster({ address: { host: "127.0.0.1", port }, lease: "4 seconds", handover: "1 second" })
    ),
    Layer.provide(PgClient.layer({ url, maxConnections: 8 }))
  )

/** Pays what a run waits for. */
const paid = (runId: string) =>
  Effect.gen(function* () {
    const { pending } = yield* Durable.await(runId)
    const [asked] = pending
    assert(asked?.kind === "approval")
    const { argsDigest, ticket } = asked
    yield* Durable.signal(runId, { ticket, argsDigest, verdict: "approve", by: "ann" })
    return yield* Durable.await(runId, { until: "ended" })
  })

describe("DurableCluster", () => {
  it.scopedLive(
    "is one runner over SQLite",
    () => {
      const ran: Bank.Ran = []
      return Effect.gen(function* () {
        const filename = `${yield* Fixture.directory}/runs.db`
        const layer = hosted("one", ran).pipe(
          Layer.provide(Durable.layerSingle),
          Layer.provide(SqliteClient.layer({ filename }))
        )
        yield* Effect.gen(function* () {
          yield* Durable.start("bank", "Pay.", { runId: "one" })
          assert.deepInclude(yield* paid("one"), { status: "answered", answer: "p ran-ok" })
        }).pipe(Effect.provide(layer))
        assert.deepStrictEqual(ran, ["pay 5 to p"])
      })
    },
    120_000
  )

  it.skipIf(missing)(
    `moves the runs of a runner that ends to another${missing ? " (skipped: no PostgreSQL at 127.0.0.1:5432)" : ""}`,
    () =>
      Effect.gen(function* () {
        const url = at(yield* database)
        const left: Bank.Ran = []
        const right: Bank.Ran = []
        const ids = ["a", "b", "c", "d", "e", "f", "g", "h"]
        const first = yield* Scope.make()
        const one = yield* Scope.extend(Layer.build(runner("left", url, 34_511, left)), first)
        const two = yield* Layer.build(runner("right", url, 34_512, right))
        yield* Effect.forEach(ids, (runId) => Durable.start("bank", "Pay.", { runId })).pipe(Effect.provide(one))
        const waiting = yield* Effect.forEach(ids, (runId) => Durable.await(runId), { concurrency: 8 }).pipe(
          Effect.provide(two)
        )
        assert.deepStrictEqual(
          waiting.map(({ status }) => status),
          ids.map(() => "waiting")
        )
        yield* Scope.close(first, Exit.void)
        const outcomes = yield* Effect.forEach(ids, paid, { concurrency: 8 }).pipe(Effect.provide(two))
        assert.deepStrictEqual(
          outcomes.map(({ status }) => status),
          ids.map(() => "answered")
        )
        assert.deepStrictEqual([left.length, right.length], [0, ids.length])
      }).pipe(Effect.scoped, Effect.runPromise),
    180_000
  )
})
