/**
 * A `CrashStore` is a store that processes are stopped on: how one names it, what is left of it as it is stored, and whether
 * it goes on.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { Chunk, Effect, Layer, Logger, LogLevel, Option, Redacted, Stream } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as Record from "../../src/services/Record.ts"
import * as SqlRecord from "../../src/services/SqlRecord.ts"
import * as CrashChecker from "./CrashChecker.ts"

export interface Store {
  readonly kind: "file" | "sqlite" | "artifacts"
  /** What the process is given, in a directory of its own. */
  readonly target: (directory: string) => string
  /** Where its files are. */
  readonly root: (directory: string) => string
  /** Whether its files have the same names each time. */
  readonly isNamed: boolean
  /** Files that it may acknowledge before it flushes them, because what they say is elsewhere. */
  readonly spares: RegExp
  /** Files whose names nobody will look for. */
  readonly passing: RegExp
  /** What is wrong with what is left, by who knows the format, and by the store when it is opened again. */
  readonly judge: (
    directory: string,
    said: ReadonlyArray<CrashChecker.Said>,
    steps: number
  ) => Promise<CrashChecker.Judged>
}

export const prefix = "wherefore_"

const quiet = <A, E>(effect: Effect.Effect<A, E>) => Logger.withMinimumLogLevel(effect, LogLevel.None)

/** Opens the record again: it reads what is stored, appends, and reads that. What is wrong, if something is. */
const reopens = (layer: Layer.Layer<Record.Record, unknown>, count: number): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const record = yield* Record.Record
    const read = Effect.gen(function* () {
      const found = yield* Effect.either(Stream.runCollect(record.read("run-1")))
      if (found._tag === "Right") return Chunk.toReadonlyArray(found.right)
      return found.left.reason === "RunNotFound" ? [] : yield* found.left
    })
    const entries = yield* read
    if (entries.length > 0) yield* Record.verify(entries, {})
    const next =
      entries.length === 0
        ? ({
            _tag: "RunStarted",
            runId: "run-1",
            agent: "clerk",
            manifest: { limits: { passes: 3 } },
            input: "again"
          } as const)
        : ({ _tag: "MessageReceived", content: "again" } as const)
    const { seq } = yield* record.append("run-1", entries.length, [next])
    const after = yield* read
    return [
      ...(entries.length === count ? [] : [`reopened: ${entries.length} entries in place of ${count}`]),
      ...(seq === entries.length && after.length === seq + 1 ? [] : ["reopened: an append did not follow"])
    ]
  }).pipe(
    Effect.provide(layer),
    quiet,
    Effect.catchAllCause((cause) => Effect.succeed([`reopened: ${cause.toString().split("\n")[0]}`]))
  )

const countOf = (lines: ReadonlyArray<string>) =>
  lines.reduce((count, line) => count + (JSON.parse(line) as { events: ReadonlyArray<unknown> }).events.length, 0)

const judgeRecord = async (
  lines: ReadonlyArray<string>,
  said: ReadonlyArray<CrashChecker.Said>,
  steps: number,
  layer: Layer.Layer<Record.Record, unknown>
): Promise<CrashChecker.Judged> => {
  const judged = CrashChecker.judgeLines(lines, said, steps)
  const wrong = await Effect.runPromise(reopens(layer, countOf(lines)))
  return { ...judged, wrong: [...judged.wrong, ...wrong] }
}

const file: Store = {
  kind: "file",
  target: (directory) => `${directory}/store`,
  root: (directory) => `${directory}/store`,
  isNamed: true,
  spares: /\.lock$/,
  passing: /\.lock$/,
  judge: (directory, said, steps) => {
    const path = `${directory}/store/run-1.ndjson`
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : []
    return judgeRecord(lines, said, steps, Record.layerFile({ directory: `${directory}/store` }))
  }
}

type Lines = Effect.Effect<ReadonlyArray<string>, unknown, SqlClient.SqlClient>

const sqlite: Store = {
  kind: "sqlite",
  target: (directory) => `${directory}/store/runs.db`,
  root: (directory) => `${directory}/store`,
  isNamed: true,
  // The index of the log is made anew after a crash. What is copied from the log is in it until it is flushed.
  spares: /runs\.db(-shm)?$/,
  passing: /runs\.db(-shm)?$/,
  judge: async (directory, said, steps) => {
    const client = Layer.orDie(SqliteClient.layer({ filename: `${directory}/store/runs.db` }))
    const stored: Lines = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const [checked] = yield* sql<{ integrity_check: string }>`PRAGMA integrity_check`
      if (checked?.integrity_check !== "ok") return yield* Effect.fail(checked?.integrity_check)
      const tables = yield* sql`SELECT 1 FROM sqlite_master WHERE name = ${`${prefix}record`}`
      if (tables.length === 0) return []
      return (yield* sql<{ line: string }>`SELECT line FROM ${sql(`${prefix}record`)} ORDER BY seq`).map(
        ({ line }) => line
      )
    })
    const lines = await Effect.runPromise(Effect.provide(stored, client))
    return judgeRecord(lines, said, steps, Layer.provide(SqlRecord.layer({ prefix }), client))
  }
}

const filesBelow = (directory: string): ReadonlyArray<string> =>
  existsSync(directory)
    ? readdirSync(directory, { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? filesBelow(`${directory}/${entry.name}`) : [`${directory}/${entry.name}`]
      )
    : []

const artifacts: Store = {
  kind: "artifacts",
  target: (directory) => `${directory}/store`,
  root: (directory) => `${directory}/store`,
  isNamed: false,
  spares: /^$/,
  passing: /\/staging\//,
  judge: async (directory, said, steps) => {
    const root = `${directory}/store`
    const files = filesBelow(root)
      .filter((path) => path.endsWith(".ticket") && !path.startsWith(`${root}/staging/`))
      .map((path) => {
        const bytes = path.replace(/ticket$/, "bytes")
        const ref = /(art_\w+)\.ticket$/.exec(path)?.[1] ?? ""
        return { ref, text: existsSync(bytes) ? readFileSync(bytes, "utf8") : undefined }
      })
    const judged = CrashChecker.judgeArtifacts(files, said, steps)
    const scope = { conversationId: "chat" }
    const reopened = Effect.gen(function* () {
      const store = yield* ArtifactStore.ArtifactStore
      const wrong: Array<string> = []
      for (const { ref, text } of files) {
        const found = yield* store.get(scope, ref)
        const data = Option.isSome(found) ? found.value.data : undefined
        const bytes = data instanceof Uint8Array ? new TextDecoder().decode(data) : data
        if (bytes !== text) wrong.push(`reopened: ${ref} is not what is stored`)
      }
      const { meta } = yield* store.put(scope, { kind: "note", mediaType: "text/plain", data: "again" })
      if (Option.isNone(yield* store.get(scope, meta.ref))) wrong.push("reopened: a put did not last")
      return wrong
    }).pipe(
      Effect.provide(Layer.provide(ArtifactStore.layerFileSystem({ directory: root }), NodeFileSystem.layer)),
      quiet,
      Effect.catchAllCause((cause) => Effect.succeed([`reopened: ${cause.toString().split("\n")[0]}`]))
    )
    return { ...judged, wrong: [...judged.wrong, ...(await Effect.runPromise(reopened))] }
  }
}

export const stores: ReadonlyArray<Store> = [file, sqlite, artifacts]

const server = { host: "127.0.0.1", port: 5432, user: "postgres", database: "test" }

/** The address of the database, or of what stands before it. */
export const address = (port = server.port) => `postgres://${server.user}@${server.host}:${port}/${server.database}`

const client = Layer.orDie(PgClient.layer({ url: Redacted.make(address()), maxConnections: 2 }))

const asked = <A>(query: Effect.Effect<A, unknown, SqlClient.SqlClient>): Promise<A> =>
  Effect.runPromise(Effect.provide(query, client))

/** Whether there is a database, within two seconds. */
export const hasPostgres = (): Promise<boolean> =>
  Effect.runPromise(
    Effect.provide(
      Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`),
      PgClient.layer({ url: Redacted.make(address()), connectTimeout: "2 seconds" })
    ).pipe(
      Effect.as(true),
      Effect.catchAllCause(() => Effect.succeed(false))
    )
  )

/** Ends the connections that this name was given, and says how many. */
export const terminate = (application: string): Promise<number> =>
  asked(
    Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ${application}`
    ).pipe(Effect.map((rows) => rows.length))
  )

/** Judges the tables with a prefix, and drops them. */
export const judgePostgres = async (tables: string, said: ReadonlyArray<CrashChecker.Said>, steps: number) => {
  // What a connection that was lost had begun is ended before it is looked at: the table is locked until then.
  const stored: Lines = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [there] = yield* sql<{ name: string | null }>`SELECT to_regclass(${`${tables}record`})::text AS name`
    if (there?.name == null) return []
    const name = sql(`${tables}record`)
    const rows = yield* sql.withTransaction(
      Effect.zipRight(
        sql`LOCK TABLE ${name} IN ACCESS EXCLUSIVE MODE`,
        sql<{ line: string }>`SELECT line FROM ${name} ORDER BY seq`
      )
    )
    return rows.map(({ line }) => line)
  })
  const lines = await asked(stored)
  const judged = await judgeRecord(lines, said, steps, Layer.provide(SqlRecord.layer({ prefix: tables }), client))
  await asked(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const name of ["record", "formats"]) yield* sql`DROP TABLE IF EXISTS ${sql(`${tables}${name}`)}`
    })
  )
  return judged
}
