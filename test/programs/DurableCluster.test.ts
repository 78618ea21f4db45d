import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as ClusterError from "@effect/cluster/ClusterError"
import * as MessageStorage from "@effect/cluster/MessageStorage"
import * as ShardId from "@effect/cluster/ShardId"
import { Context, Effect, Either, Exit, Layer, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as Durable from "../../src/programs/Durable.ts"
import * as DurableInbox from "../../src/programs/DurableInbox.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as SqlRecord from "../../src/services/SqlRecord.ts"
import * as ClusterHost from "../campaigns/ClusterHost.ts"
import * as ClusterLink from "../campaigns/ClusterLink.ts"
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

const isAway = missing ? " (skipped: no PostgreSQL at 127.0.0.1:5432)" : ""

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
    `moves the runs of a runner that ends to another${isAway}`,
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

  it.effect("lets go of what was claimed by a read whose answer it has not", () => {
    const asked: Array<string> = []
    const shard = ShardId.make("default", 1)
    const lost = new ClusterError.PersistenceError({ cause: "gone" })
    const answers: { [name: string]: ReadonlyArray<boolean> } = {
      read: [true, false, true],
      reset: [true, false, true]
    }
    const answer = (name: string) => {
      const [isGiven = true, ...rest] = answers[name] ?? []
      answers[name] = rest
      asked.push(name)
      return isGiven ? Effect.void : Effect.fail(lost)
    }
    return Effect.gen(function* () {
      const { resetShards, unprocessedMessages } = yield* DurableInbox.mindful({
        ...MessageStorage.noop,
        unprocessedMessages: () => Effect.as(answer("read"), []),
        resetShards: () => answer("reset")
      })
      const read = Effect.exit(unprocessedMessages([shard]))
      yield* Effect.repeatN(read, 1)
      assert.deepStrictEqual(asked, ["read", "read"])
      yield* read
      assert.deepStrictEqual(asked.splice(0), ["read", "read", "reset", "read"])
      yield* Effect.exit(resetShards([shard]))
      yield* read
      assert.deepStrictEqual(asked.splice(0), ["reset", "reset", "read"])
      yield* read
      assert.deepStrictEqual(asked, ["read"])
    })
  })

  it.skipIf(missing)(
    `goes on with a run though its database lost an answer${isAway}`,
    () =>
      Effect.gen(function* () {
        const link = yield* Effect.acquireRelease(
          Effect.promise(() => ClusterLink.make()),
          ({ close }) => Effect.promise(close)
        )
        const url = Redacted.make(`postgres://postgres@127.0.0.1:${link.port}/${yield* database}`)
        const lost = (where: "answer" | "question", text: string) =>
          Effect.sync(() => {
            const done = link.lose(where, text)
            return Effect.promise(() => done)
          })
        const ran: Bank.Ran = []
        const port = yield* Effect.promise(ClusterHost.freePort)
        const one = yield* Layer.build(runner("one", url, port, ran))
        yield* Effect.gen(function* () {
          // What it read, and claimed by that.
          const claimed = yield* lost("answer", "Workflow/wherefore/run")
          yield* Durable.start("bank", "Pay.", { runId: "read" })
          yield* claimed
          assert.strictEqual((yield* paid("read")).status, "answered")
          // That it would look by itself.
          const timed = yield* lost("question", "look/")
          yield* Durable.start("bank", "Pay.", { runId: "look" })
          yield* timed
          assert.strictEqual((yield* paid("look")).status, "answered")
          // That it was started.
          const started = yield* lost("question", "start-me")
          const error = yield* Effect.flip(Durable.start("bank", "Pay. start-me", { runId: "start" }))
          yield* started
          assert.deepInclude(error, { _tag: "DurableError", reason: "EngineAway", outcome: "unknown" })
          yield* Durable.start("bank", "Pay. start-me", { runId: "start" })
          assert.strictEqual((yield* paid("start")).status, "answered")
        }).pipe(Effect.provide(one))
        assert.lengthOf(ran, 3)
      }).pipe(Effect.scoped, Effect.timeout("60 seconds"), Effect.runPromise),
    180_000
  )
})
