/**
 * How many durable runs a second one runner drives, and two: processes of `wherefore serve --cluster` over PostgreSQL, each
 * cluster with a database of its own. The floor is the same runs over the same tables, driven by `Agent.run` in one process.
 * Rounds of the three take turns, so that they meet the same machine.
 */
import { PgClient } from "@effect/sql-pg"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { createServer } from "node:net"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"
import { Agent, ArtifactStore, SqlArtifactStore, SqlRecord } from "wherefore"
import * as Durable from "wherefore/Durable"
import { agent, services } from "./durableAgents.ts"
import { type Figure, median } from "./Figure.ts"

const rounds = 3
/** Runs in a round, all begun at once. */
const runs = 48
/** Of the engine: its shards are shared out among the runners. */
const shards = 60

const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url))
const agents = fileURLToPath(new URL("./durableAgents.ts", import.meta.url))

const url = (database: string) => `postgres://postgres@127.0.0.1:5432/${database}`

const client = (database: string, maxConnections: number) =>
  PgClient.layer({ url: Redacted.make(url(database)), maxConnections })

const freePort = Effect.promise(
  () =>
    new Promise<number>((resolve) => {
      const server = createServer()
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        server.close(() => resolve(address !== null && typeof address === "object" ? address.port : 0))
      })
    })
)

/** A database that goes with the scope. */
const database = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const name = `bench_${randomBytes(6).toString("hex")}`
  yield* sql.unsafe(`CREATE DATABASE ${name}`)
  yield* Effect.addFinalizer(() => Effect.ignore(sql.unsafe(`DROP DATABASE ${name} WITH (FORCE)`)))
  return name
})

/** A process of the command that is ready, and ends with the scope. */
const runner = (name: string) =>
  Effect.gen(function* () {
    const place = `127.0.0.1:${yield* freePort}`
    const child = yield* Effect.acquireRelease(
      Effect.sync(() =>
        spawn(process.execPath, [main, "serve", "--cluster", "--agents", agents, "--runner-address", place], {
          env: { ...process.env, WHEREFORE_DATABASE: url(name) },
          stdio: ["ignore", "pipe", "pipe"]
        })
      ),
      (child) =>
        Effect.promise(
          () =>
            new Promise<void>((resolve) => {
              if (child.exitCode !== null) return resolve()
              child.once("exit", () => resolve())
              child.kill("SIGKILL")
            })
        )
    )
    yield* Effect.async<void, string>((resume) => {
      let said = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text))
      child.stdout.once("data", () => resume(Effect.void))
      child.once("exit", (code) => resume(Effect.fail(`A runner ended with ${String(code)}. ${said}`)))
    })
  })

/** Runs a round, and gives how many runs a second that was. */
type Round = (prefix: string) => Effect.Effect<number, unknown>

const rated = <E, R>(work: Effect.Effect<unknown, E, R>): Effect.Effect<number, E, R> =>
  Effect.gen(function* () {
    const started = process.hrtime.bigint()
    yield* work
    return runs / (Number(process.hrtime.bigint() - started) / 1e9)
  })

const ids = (prefix: string): ReadonlyArray<string> => Array.from({ length: runs }, (_, n) => `${prefix}-${n}`)

const ended = (sql: SqlClient.SqlClient, prefix: string) =>
  Effect.map(
    sql<{ ended: number }>`SELECT COUNT(*)::int AS ended FROM wherefore_record
      WHERE run LIKE ${`${prefix}-%`} AND line LIKE '%"RunEnded"%'`,
    ([row]) => row?.ended ?? 0
  )

const until = <E>(there: Effect.Effect<boolean, E>) =>
  Effect.repeat(Effect.delay(there, "25 millis"), { until: (isThere) => isThere })

/** A cluster of some runners, and a client of it that takes no runs. */
const cluster = (size: number) =>
  Effect.gen(function* () {
    const name = yield* database
    const own = yield* Layer.build(client(name, 8))
    const stores = Layer.provideMerge(
      Layer.merge(SqlRecord.layer(), SqlArtifactStore.layer()),
      Layer.succeedContext(own)
    )
    const asking = Durable.layer({ agents: [agent] }).pipe(
      Layer.provide(Durable.layerCluster({ clientOnly: true })),
      Layer.provide(services),
      Layer.provideMerge(stores)
    )
    // One after the other: the first makes the tables.
    for (let n = 0; n < size; n++) yield* runner(name)
    const context = yield* Layer.build(asking)
    const sql = yield* Effect.provide(SqlClient.SqlClient, context)
    yield* until(
      Effect.map(
        sql<{ held: number }>`SELECT COUNT(*)::int AS held FROM cluster_locks GROUP BY address`,
        (found) => found.length === size && found.every(({ held }) => held === shards / size)
      )
    ).pipe(Effect.timeout("60 seconds"))
    const round: Round = (prefix) =>
      rated(
        Effect.gen(function* () {
          yield* Effect.forEach(ids(prefix), (runId) => Durable.start(agent.name, "Read the rows.", { runId }), {
            concurrency: "unbounded"
          })
          yield* until(Effect.map(ended(sql, prefix), (count) => count === runs))
        })
      ).pipe(Effect.provide(context))
    return round
  })

const alone = Effect.gen(function* () {
  const own = yield* Layer.build(client(yield* database, 16))
  const context = yield* Layer.build(
    Layer.mergeAll(services, ArtifactStore.layerMemory(), SqlRecord.layer()).pipe(
      Layer.provide(Layer.succeedContext(own))
    )
  )
  const round: Round = (prefix) =>
    rated(
      Effect.forEach(ids(prefix), (runId) => Agent.run(agent, "Read the rows.", { runId }), {
        concurrency: "unbounded"
      })
    ).pipe(Effect.provide(context))
  return round
})

const measured = Effect.gen(function* () {
  const all: ReadonlyArray<Round> = [yield* alone, yield* cluster(1), yield* cluster(2)]
  const rates: ReadonlyArray<Array<number>> = all.map(() => [])
  for (let round = -1; round < rounds; round++) {
    for (const [index, one] of all.entries()) {
      const rate = yield* one(`round${round + 1}`)
      if (round >= 0) rates[index]?.push(rate)
    }
  }
  return rates.map(median)
}).pipe(Effect.scoped, Effect.provide(client("test", 1)))

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const reached = await Effect.runPromise(
    Effect.match(Effect.provide(SqlClient.SqlClient, client("test", 1)), {
      onFailure: (error) => String(error),
      onSuccess: () => undefined
    })
  )
  if (reached !== undefined) {
    console.error(`durable is left out: ${reached}`)
    return []
  }
  const [floor = Number.NaN, one = Number.NaN, two = Number.NaN] = await Effect.runPromise(measured)
  const cores = `on ${availableParallelism()} cores`
  const figure = (metric: string, value: number, against: string, base: number): Figure => ({
    bench: "durable",
    n: runs,
    metric: `runs a second, ${metric}, ${cores}`,
    value,
    unit: "runs/s",
    against,
    ratio: value / base
  })
  return [
    figure("without Durable", floor, "itself", floor),
    figure("one runner", one, "without Durable", floor),
    figure("two runners", two, "without Durable", floor),
    figure("two runners", two, "one runner", one)
  ]
}
