/**
 * `ArtifactTables` are the tables of a store in a database, SQLite or PostgreSQL: how they are made, and how they
 * fail. See `docs/decisions/0011-artifact-tables.md`.
 *
 * @internal
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as ArtifactPut from "./ArtifactPut.ts"
import { ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as Database from "./Database.ts"

/** `prefix` begins the names of the tables: `wherefore_` unless said otherwise. */
export interface Options {
  readonly prefix?: string
}

type Result<A> = Effect.Effect<A, ArtifactStoreError>

export interface Tables {
  readonly database: Database.Database
  readonly sql: SqlClient.SqlClient
  readonly isPostgres: boolean
  /** One row for each artifact: its ticket, and what is asked for in queries. */
  readonly artifacts: string
  /** The bytes of artifacts and of uploads, numbered from 0. */
  readonly pieces: string
  /** Streams that are not whole yet, each with its maker. */
  readonly uploads: string
  /** A query, failing as the store does. */
  readonly run: <A>(query: Effect.Effect<A, SqlError>) => Result<A>
  /** All of the effect, or nothing. Inside of a transaction of the caller it is a part of that one. */
  readonly whole: <A>(effect: Result<A>) => Result<A>
  /** Lets one transaction with the key go on at a time, until it ends. */
  readonly lock: (key: string) => Result<void>
}

/** It says what failed by its code alone: messages of databases quote values. */
const unavailable = (error: SqlError): ArtifactStoreError => {
  const found = Database.codeOf(error)
  const what = "The database of the artifacts could not be used."
  if (Database.isBusy(found)) return failure("Unavailable", { what, found, next: "Try again: others were using it." })
  return failure("Unavailable", {
    what,
    found,
    next: Database.isAway(found)
      ? "Make sure that the database runs, can be reached and has room."
      : "Make sure that this process may read and write its tables, and that nobody changed them.",
    retry: "after-human"
  })
}

const unended = (error: SqlError): ArtifactStoreError => {
  const known = unavailable(error)
  if (Database.isUndone(Database.codeOf(error))) return known
  return new ArtifactStoreError({
    ...known,
    what: "The database of the artifacts did not say whether a transaction was kept.",
    next: "List the scope to see whether the artifact is there.",
    outcome: "unknown",
    retry: "after-human"
  })
}

const failed = (error: ArtifactStoreError | SqlError | Database.Unended | Database.Unfit): ArtifactStoreError => {
  switch (error._tag) {
    case "SqlError":
      return unavailable(error)
    case "Unended":
      return unended(error.error)
    case "Unfit":
      return ArtifactPut.invalid(error.path, error.expected, error.found)
    default:
      return error
  }
}

/** The tables of a client, whether they are there or not. */
export const make = ({
  prefix = "wherefore_"
}: Options): Effect.Effect<Tables, ArtifactStoreError, SqlClient.SqlClient> =>
  Effect.map(Effect.mapError(Database.make(prefix), failed), (database) => ({
    database,
    sql: database.sql,
    isPostgres: database.isPostgres,
    artifacts: `${prefix}artifacts`,
    pieces: `${prefix}artifact_pieces`,
    uploads: `${prefix}artifact_uploads`,
    run: (query) => Effect.mapError(database.run(query), failed),
    whole: (effect) => Effect.mapError(database.whole(effect), failed),
    lock: (key) => Effect.mapError(database.lock(key), failed)
  }))

/** Makes the tables that are not there yet. Many can do so at once. */
export const ensure = (tables: Tables): Result<void> => {
  const { artifacts, database, isPostgres, lock, pieces, run, sql, uploads, whole } = tables
  const [name, bytes] = [
    sql.literal(isPostgres ? `TEXT COLLATE "C"` : "TEXT"),
    sql.literal(isPostgres ? "BYTEA" : "BLOB")
  ]
  const statements = [
    sql`CREATE TABLE IF NOT EXISTS ${sql(artifacts)} (
      ref ${name} NOT NULL,
      place ${name} NOT NULL,
      scope TEXT NOT NULL,
      ticket TEXT NOT NULL,
      kind TEXT NOT NULL,
      size DOUBLE PRECISION NOT NULL,
      created DOUBLE PRECISION NOT NULL,
      expires DOUBLE PRECISION,
      accessed DOUBLE PRECISION NOT NULL,
      PRIMARY KEY (ref, place)
    )`,
    sql`CREATE INDEX IF NOT EXISTS ${sql(`${artifacts}_newest`)} ON ${sql(artifacts)} (place, created DESC, ref)`,
    sql`CREATE INDEX IF NOT EXISTS ${sql(`${artifacts}_accessed`)} ON ${sql(artifacts)} (place, accessed)`,
    sql`CREATE TABLE IF NOT EXISTS ${sql(pieces)} (
      ref ${name} NOT NULL,
      place ${name} NOT NULL,
      seq INTEGER NOT NULL,
      bytes ${bytes} NOT NULL,
      PRIMARY KEY (ref, place, seq)
    )`,
    sql`CREATE TABLE IF NOT EXISTS ${sql(uploads)} (
      ref ${name} NOT NULL,
      place ${name} NOT NULL,
      scope TEXT NOT NULL,
      maker TEXT NOT NULL,
      written DOUBLE PRECISION NOT NULL,
      PRIMARY KEY (ref, place)
    )`
  ]
  const made = Effect.zipRight(
    lock("tables"),
    Effect.forEach(statements, (statement) => run(statement), { discard: true })
  )
  const durable = Effect.zipRight(Database.inFile(database), Database.flushing(database))
  return Effect.zipRight(Effect.mapError(durable, failed), whole(made))
}
