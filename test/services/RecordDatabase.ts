import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as Record from "../../src/services/Record.ts"
import * as SqlRecord from "../../src/services/SqlRecord.ts"
import * as Fixture from "./RecordFixture.ts"

/** A client of a database, and what else its layer gives. */
export type Client = Context.Context<SqlClient.SqlClient>

/** Tables of their own in a database, which go with the scope. */
export interface Opened {
  readonly client: Client
  readonly sql: SqlClient.SqlClient
  readonly prefix: string
  /** Another client of the same database. */
  readonly again: Effect.Effect<Client, never, Scope.Scope>
  /** What a process of its own needs to open it. */
  readonly address: ReadonlyArray<string>
}

export interface Database {
  readonly name: string
  /** Why there is none here, if there is none. */
  readonly missing?: string
  readonly open: Effect.Effect<Opened, never, Scope.Scope>
}

const server = "postgres://postgres@127.0.0.1:5432/test"

export const sqlite = (filename: string): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.orDie(Layer.build(SqliteClient.layer({ filename })))

/** `settings` are parameters of the server for each connection. */
export const postgres = (settings = "", maxConnections = 6) =>
  Layer.build(
    PgClient.layer({
      url: Redacted.make(settings === "" ? server : `${server}?options=${encodeURIComponent(settings)}`),
      maxConnections
    })
  )

/** One pool for all tests of a file: a new one for each would cost more than the tests. */
const pool = await Effect.runPromise(
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const client = yield* Effect.either(
      Effect.tap(Scope.extend(postgres(), scope), (client) => Context.get(client, SqlClient.SqlClient)`SELECT 1`)
    )
    return { client, close: Scope.close(scope, Exit.void) }
  })
)

export const closePool = Effect.runPromise.bind(undefined, pool.close)

const tables = ["record", "formats"]

const dropped = (sql: SqlClient.SqlClient, prefix: string) =>
  Effect.forEach(tables, (name) => Effect.orDie(sql`DROP TABLE IF EXISTS ${sql(`${prefix}${name}`)}`))

export const SQLite: Database = {
  name: "SQLite",
  open: Effect.gen(function* () {
    const filename = `${yield* Fixture.directory}/runs.db`
    const client = yield* sqlite(filename)
    const sql = Context.get(client, SqlClient.SqlClient)
    return { client, sql, prefix: "wherefore_", again: sqlite(filename), address: ["sqlite", filename, "wherefore_"] }
  })
}

export const PostgreSQL: Database = {
  name: "PostgreSQL",
  ...(pool.client._tag === "Left" ? { missing: " (skipped: none at 127.0.0.1:5432)" } : {}),
  open: Effect.gen(function* () {
    const client = yield* Effect.orDie(pool.client)
    const sql = Context.get(client, SqlClient.SqlClient)
    const prefix = `t${randomBytes(6).toString("hex")}_`
    yield* Effect.addFinalizer(() => dropped(sql, prefix))
    return {
      client,
      sql,
      prefix,
      again: Effect.orDie(postgres("", 3)),
      address: ["postgres", server, prefix]
    }
  })
}

export const databases: ReadonlyArray<Database> = [SQLite, PostgreSQL]

export type Service = Record.Record["Type"]

/** Opens the record anew, as a program does that starts. */
export const record = (
  { prefix }: Pick<Opened, "prefix">,
  client: Client,
  options: SqlRecord.Options = {}
): Effect.Effect<Service, Record.RecordError, Scope.Scope> =>
  Effect.map(
    Layer.build(SqlRecord.layer({ prefix, ...options })).pipe(Effect.provide(client)),
    Context.get(Record.Record)
  )

/** A layer over tables of its own. */
export const layer = ({ open }: Database, options: SqlRecord.Options = {}) =>
  Layer.scoped(
    Record.Record,
    Effect.flatMap(open, (opened) => record(opened, opened.client, options))
  )
