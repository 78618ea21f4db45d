/**
 * `RecordLayers` are the records that the benchmark compares, each with the least that could be done instead: a hash of the
 * text, a line that is flushed, or a row that is inserted through the same client.
 */
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Record, SqlRecord } from "wherefore"

export interface Kept {
  /** The record, as a program that starts now opens it. */
  readonly layer: Layer.Layer<Record.Record, Record.RecordError>
  /** How many bytes the record has, where that can be asked. */
  readonly size: () => Promise<number>
  readonly floor: {
    readonly name: string
    readonly add: (text: string) => Promise<unknown>
    readonly size: () => Promise<number>
  }
}

/** A row of the table: a new layer is one more. */
export interface Row {
  readonly name: string
  /** Runs with an empty record, and removes it. Rejects where the service that it needs is not there. */
  readonly use: <A>(work: (kept: Kept) => Promise<A>) => Promise<A>
}

const inDirectory = async <A>(work: (directory: string) => Promise<A>): Promise<A> => {
  const directory = fs.mkdtempSync(join(tmpdir(), "bench-records-"))
  try {
    return await work(directory)
  } finally {
    fs.rmSync(directory, { recursive: true, force: true })
  }
}

const sizeOf = (directory: string, files: RegExp): number =>
  fs
    .readdirSync(directory)
    .filter((name) => files.test(name))
    .reduce((sum, name) => sum + fs.statSync(join(directory, name)).size, 0)

const inTables = <A, E>(client: Layer.Layer<SqlClient.SqlClient, E>, work: (kept: Kept) => Promise<A>): Promise<A> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const isPostgres = sql.onDialectOrElse({ pg: () => true, orElse: () => false })
      const prefix = "bench_"
      const drop = Effect.forEach(
        ["floor", "record", "formats"],
        (name) => sql`DROP TABLE IF EXISTS ${sql(prefix + name)}`
      )
      yield* drop
      const layer = Layer.provide(SqlRecord.layer({ prefix }), Layer.succeed(SqlClient.SqlClient, sql))
      // The layer has SQLite flush, for both.
      yield* Layer.build(layer)
      const id = sql.literal(isPostgres ? "SERIAL PRIMARY KEY" : "INTEGER PRIMARY KEY")
      yield* sql`CREATE TABLE ${sql(`${prefix}floor`)} (id ${id}, line TEXT NOT NULL)`
      const size = (table: string) => () =>
        Effect.runPromise(
          Effect.map(
            isPostgres
              ? sql<{ size: number | string }>`SELECT pg_total_relation_size(${table}) AS size`
              : sql<{ size: number }>`SELECT SUM(pgsize) AS size FROM dbstat WHERE name LIKE ${`%${table}%`}`,
            ([row]) => Number(row?.size)
          )
        )
      const floor = {
        name: "one INSERT of the text",
        add: (line: string) => Effect.runPromise(sql`INSERT INTO ${sql(`${prefix}floor`)} ${sql.insert({ line })}`),
        size: size(`${prefix}floor`)
      }
      return yield* Effect.ensuring(
        Effect.promise(() => work({ layer, size: size(`${prefix}record`), floor })),
        Effect.ignore(drop)
      )
    }).pipe(Effect.provide(client), Effect.scoped)
  )

export const rows: ReadonlyArray<Row> = [
  {
    name: "memory",
    use: async (work) => {
      const layer = Layer.succeedContext(await Effect.runPromise(Effect.scoped(Layer.build(Record.layerMemory))))
      const add = async (text: string) => createHash("sha256").update(text).digest("base64url")
      const floor = { name: "SHA-256 of the text", add, size: async () => Number.NaN }
      return work({ layer, size: async () => Number.NaN, floor })
    }
  },
  {
    name: "file",
    use: (work) =>
      inDirectory(async (directory) => {
        const file = fs.openSync(join(directory, "floor"), "a")
        const add = async (text: string) => {
          fs.writeSync(file, `${text}\n`)
          fs.fdatasyncSync(file)
        }
        const floor = { name: "write and flush of the text", add, size: async () => sizeOf(directory, /^floor$/) }
        try {
          const layer = Record.layerFile({ directory })
          return await work({ layer, size: async () => sizeOf(directory, /ndjson$/), floor })
        } finally {
          fs.closeSync(file)
        }
      })
  },
  {
    name: "SQLite",
    use: (work) => inDirectory((directory) => inTables(SqliteClient.layer({ filename: join(directory, "db") }), work))
  },
  {
    name: "PostgreSQL",
    use: (work) =>
      inTables(
        PgClient.layer({ host: "127.0.0.1", database: "test", username: "postgres", connectTimeout: "2 seconds" }),
        work
      )
  }
]
