import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { randomBytes } from "node:crypto"
import type { Report } from "../../src/services/ArtifactReport.ts"
import { ArtifactStore } from "../../src/services/ArtifactStore.ts"
import type { ArtifactStoreError } from "../../src/services/ArtifactStoreError.ts"
import * as SqlArtifactStore from "../../src/services/SqlArtifactStore.ts"
import * as Damages from "./ArtifactDamages.ts"
import * as Directory from "./ArtifactDirectory.ts"

export type Store = typeof ArtifactStore.Service

/** Tables of their own in a database, which go with the scope. */
export interface Database {
  readonly name: string
  /** Why there is none here, if there is none. */
  readonly missing?: string
  readonly open: Effect.Effect<Opened, never, Scope.Scope>
}

export interface Opened {
  readonly sql: SqlClient.SqlClient
  readonly prefix: string
  /** Another connection to the same tables. */
  readonly again: Effect.Effect<SqlClient.SqlClient, never, Scope.Scope>
}

export const sqlite = (options: Omit<SqliteClient.SqliteClientConfig, "filename"> & { readonly filename: string }) =>
  Effect.map(Effect.orDie(Layer.build(SqliteClient.layer(options))), Context.get(SqlClient.SqlClient))

const server = { host: "127.0.0.1", port: 5432, database: "test", username: "postgres" }

const postgres = (options: Partial<PgClient.PgClientConfig> = {}) =>
  Effect.map(
    Layer.build(PgClient.layer({ ...server, maxConnections: 6, ...options })),
    Context.get(SqlClient.SqlClient)
  )

/** One pool for all tests of a file: a new one for each would cost more than the tests. */
const pool = await Effect.runPromise(
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const client = yield* Effect.either(Effect.tap(Scope.extend(postgres(), scope), (sql) => sql`SELECT 1`))
    return { client, close: Scope.close(scope, Exit.void) }
  })
)

export const closePool = Effect.runPromise.bind(undefined, pool.close)

/** Drops the tables with this prefix. */
const dropped = (sql: SqlClient.SqlClient, prefix: string) =>
  Effect.forEach(["artifacts", "artifact_pieces", "artifact_uploads"], (name) =>
    Effect.orDie(sql`DROP TABLE IF EXISTS ${sql(`${prefix}${name}`)}`)
  )

export const databases: ReadonlyArray<Database> = [
  {
    name: "SQLite",
    open: Effect.gen(function* () {
      const filename = `${yield* Directory.directory}/artifacts.db`
      return { sql: yield* sqlite({ filename }), prefix: "wherefore_", again: sqlite({ filename }) }
    })
  },
  {
    name: "PostgreSQL",
    ...(pool.client._tag === "Left" ? { missing: " (skipped: none at 127.0.0.1:5432)" } : {}),
    open: Effect.gen(function* () {
      const sql = yield* Effect.orDie(pool.client)
      const prefix = `t${randomBytes(6).toString("hex")}_`
      yield* Effect.addFinalizer(() => dropped(sql, prefix))
      return { sql, prefix, again: Effect.orDie(postgres({ maxConnections: 2 })) }
    })
  }
]

const provided =
  (sql: SqlClient.SqlClient) =>
  <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>): Effect.Effect<A, E> =>
    Effect.provideService(effect, SqlClient.SqlClient, sql)

/** Opens the store anew, as a program does that starts. */
export const store = (
  { prefix, sql }: Pick<Opened, "prefix" | "sql">,
  options: SqlArtifactStore.Options = {}
): Effect.Effect<Store, ArtifactStoreError, Scope.Scope> =>
  Effect.map(
    Layer.build(SqlArtifactStore.layer({ prefix, ...options })).pipe(Effect.provideService(SqlClient.SqlClient, sql)),
    Context.get(ArtifactStore)
  )

export const verify = ({ prefix, sql }: Opened, repair = false): Effect.Effect<Report, ArtifactStoreError> =>
  provided(sql)(SqlArtifactStore.verify({ prefix, repair }))

const isPostgres = (sql: SqlClient.SqlClient) => sql.onDialectOrElse({ pg: () => true, orElse: () => false })

/** What a test does to the rows. */
export const behind = (opened: Opened): Damages.Behind => {
  const { prefix, sql } = opened
  const [artifacts, pieces] = [sql(`${prefix}artifacts`), sql(`${prefix}artifact_pieces`)]
  // Every row that was removed, to come back.
  const rows = new Map<string, object>()
  const read: Damages.Behind["read"] = (ref, part) =>
    Effect.orDie(
      part === "ticket"
        ? Effect.map(sql<{ ticket: string }>`SELECT ticket FROM ${artifacts} WHERE ref = ${ref}`, ([row]) =>
            row === undefined ? undefined : Buffer.from(row.ticket)
          )
        : Effect.map(sql<{ bytes: Uint8Array }>`SELECT bytes FROM ${pieces} WHERE ref = ${ref} ORDER BY seq`, (rows) =>
            rows.length === 0 ? undefined : Buffer.concat(rows.map(({ bytes }) => bytes))
          )
    )
  return {
    read,
    write: (ref, part, bytes) =>
      Effect.gen(function* () {
        const table = part === "ticket" ? artifacts : pieces
        const found = yield* sql<{ seq?: number }>`SELECT * FROM ${table} WHERE ref = ${ref}`
        for (const row of found) rows.set(`${ref} ${part}`, row)
        const row = rows.get(`${ref} ${part}`)
        if (bytes === undefined) return yield* sql`DELETE FROM ${table} WHERE ref = ${ref}`
        if (found.length === 0) yield* sql`INSERT INTO ${table} ${sql.insert({ ...row })}`
        if (part === "bytes") return yield* sql`UPDATE ${table} SET bytes = ${Buffer.from(bytes)} WHERE ref = ${ref}`
        if (!isPostgres(sql)) {
          return yield* sql`UPDATE ${table} SET ticket = CAST(${Buffer.from(bytes)} AS TEXT) WHERE ref = ${ref}`
        }
        // Text has no NUL there, and is UTF-8.
        const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).replaceAll("\0", "0")
        return yield* sql`UPDATE ${table} SET ticket = ${text} WHERE ref = ${ref}`
      }).pipe(Effect.orDie, Effect.asVoid),
    verify: verify(opened)
  }
}

/** Changes a column of an artifact's row. */
export const setColumn = ({ prefix, sql }: Opened, ref: string, column: string, value: string | number) =>
  Effect.orDie(sql`UPDATE ${sql(`${prefix}artifacts`)} SET ${sql(column)} = ${value} WHERE ref = ${ref}`)

export const isEmpty = ({ prefix, sql }: Opened) =>
  Effect.map(
    Effect.forEach(["artifacts", "artifact_pieces", "artifact_uploads"], (name) =>
      Effect.orDie(sql<{ n: number }>`SELECT COUNT(*) AS n FROM ${sql(`${prefix}${name}`)}`)
    ),
    (counts) => counts.every(([row]) => Number(row?.n) === 0)
  )
