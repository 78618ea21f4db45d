/**
 * A `DatabaseArchive` is an archive in tables of SQLite or PostgreSQL. Their drivers are packages that only those install who
 * keep runs there, so that they are loaded when they are needed.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as fs from "node:fs"
import * as Record from "../services/Record.ts"
import * as SqlArtifactStore from "../services/SqlArtifactStore.ts"
import * as SqlRecord from "../services/SqlRecord.ts"
import type * as Archive from "./Archive.ts"
import * as Complaint from "./Complaint.ts"
import * as DatabaseUrl from "./DatabaseUrl.ts"
import * as Reference from "./Reference.ts"

type Client = Context.Context<SqlClient.SqlClient>

const driver = <A>(name: string, load: () => Promise<A>): Effect.Effect<A, Complaint.Complaint> =>
  Effect.tryPromise({
    try: load,
    catch: (cause) =>
      Complaint.unreadable(
        `The package ${name} that this database needs could not be loaded.`,
        `Install it: npm install ${name}@0.53`,
        { cause }
      )
  })

const clientOf = (shown: string, named: Archive.Named): Effect.Effect<Client, Complaint.Complaint, Scope.Scope> =>
  Effect.gen(function* () {
    const unusable = DatabaseUrl.unreached(shown)
    if (named._tag === "Sqlite") {
      // The file keeps the journal that its application has chosen.
      const { filename } = named
      const { layer } = yield* driver("@effect/sql-sqlite-node", () => import("@effect/sql-sqlite-node/SqliteClient"))
      const built = Effect.mapError(Layer.build(layer({ filename, disableWAL: true })), unusable)
      return yield* Effect.catchAllDefect(built, (defect) => Effect.fail(unusable(defect)))
    }
    const { layer } = yield* driver("@effect/sql-pg", () => import("@effect/sql-pg/PgClient"))
    const { url } = named.database
    return yield* Effect.mapError(
      Layer.build(layer({ url: Redacted.make(url), applicationName: "wherefore" })),
      unusable
    )
  })

const empty = (shown: string): Complaint.Complaint =>
  Complaint.unreadable(
    `There are no runs in ${Reference.quote(shown)}.`,
    "Make one: wherefore run FILE.ts, with the same --dir."
  )

const table = "wherefore_record"

const tablesOf = (shown: string, client: Client): Effect.Effect<Archive.Tables, Complaint.Complaint, Scope.Scope> =>
  Effect.gen(function* () {
    const sql = Context.get(client, SqlClient.SqlClient).withoutTransforms()
    const unusable = DatabaseUrl.unreached(shown)
    const there = yield* Effect.mapError(
      sql.onDialectOrElse({
        pg: () => sql`SELECT 1 WHERE to_regclass(${table}) IS NOT NULL`,
        orElse: () => sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${table}`
      }),
      unusable
    )
    if (there.length === 0) return yield* Effect.fail(empty(shown))
    const context = yield* Effect.mapError(
      Layer.build(Layer.provide(SqlRecord.layer(), Layer.succeedContext(client))),
      Complaint.ofRecord
    )
    return {
      record: Context.get(context, Record.Record),
      // No id has a character that comes after "~".
      ids: (start) =>
        sql<{
          run: string
        }>`SELECT DISTINCT run FROM ${sql(table)} WHERE run >= ${start} AND run < ${`${start}~`}`.pipe(
          Effect.map((rows) => rows.map(({ run }) => run)),
          Effect.mapError(unusable)
        )
    }
  })

/** What a database is opened as. The client is that of both, and there as long as the scope. */
export interface Opened {
  readonly tables: Effect.Effect<Archive.Tables, Complaint.Complaint>
  readonly record: Archive.Archive["record"]
  readonly layer: Archive.Archive["layer"]
}

export const open = (shown: string, named: Archive.Named): Effect.Effect<Opened, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    const client = yield* Effect.cached(Scope.extend(clientOf(shown, named), scope))
    // A driver would make the file.
    const tables = Effect.suspend(() =>
      named._tag === "Sqlite" && !fs.existsSync(named.filename)
        ? Effect.fail(empty(shown))
        : Effect.flatMap(client, (found) => Scope.extend(tablesOf(shown, found), scope))
    )
    const connected = Layer.effectContext(client)
    const record = Layer.mapError(SqlRecord.layer(), Complaint.ofRecord)
    const artifacts = Layer.mapError(SqlArtifactStore.layer(), (error) => Complaint.ofProblem(3, error, error))
    return {
      tables: yield* Effect.cached(tables),
      record: Layer.provide(record, connected),
      layer: Layer.provide(Layer.merge(record, artifacts), connected)
    }
  })
