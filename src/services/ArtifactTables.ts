/**
 * `ArtifactTables` are the tables of a store in a database, SQLite or PostgreSQL: how they are made, how a transaction over
 * them is whole or has not been, and how their database fails. See `docs/decisions/0011-artifact-tables.md`.
 *
 * @internal
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import * as ArtifactPut from "./ArtifactPut.ts"
import { ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as RecordLock from "./RecordLock.ts"

/** `prefix` begins the names of the tables: `wherefore_` unless said otherwise. */
export interface Options {
  readonly prefix?: string
}

type Result<A> = Effect.Effect<A, ArtifactStoreError>

export interface Tables {
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

const codeOf = ({ cause }: SqlError): string => RecordLock.errno(cause)

const isBusy = (code: string): boolean => /^(SQLITE_(BUSY|LOCKED)|40001$|40P01$|55P03$)/.test(code)
const isAway = (code: string): boolean => /^(08|53|57P|ECONN|ETIMEDOUT|ENOTFOUND|EPIPE|SQLITE_FULL)/.test(code)

/** It says what failed by its code alone: messages of databases quote values. */
const unavailable = (error: SqlError): ArtifactStoreError => {
  const found = codeOf(error)
  const what = "The database of the artifacts could not be used."
  if (isBusy(found)) return failure("Unavailable", { what, found, next: "Try again: others were using it." })
  return failure("Unavailable", {
    what,
    found,
    next: isAway(found)
      ? "Make sure that the database runs, can be reached and has room."
      : "Make sure that this process may read and write its tables, and that nobody changed them.",
    retry: "after-human"
  })
}

/** Whether a transaction whose end failed with this code has certainly not been. */
const isUndone = (code: string): boolean => isBusy(code) || /^(23|40)|^SQLITE_(FULL|CONSTRAINT)/.test(code)

const unended = (error: SqlError): ArtifactStoreError => {
  const known = unavailable(error)
  if (isUndone(codeOf(error))) return known
  return new ArtifactStoreError({
    ...known,
    what: "The database of the artifacts did not say whether a transaction was kept.",
    next: "List the scope to see whether the artifact is there.",
    outcome: "unknown",
    retry: "after-human"
  })
}

/** Drivers throw where a statement cannot be prepared, and the end of a transaction dies. */
const thrown = (defect: unknown): Option.Option<Result<never>> => {
  if (defect instanceof ArtifactStoreError) return Option.some(defect)
  if (defect instanceof SqlError) return Option.some(unavailable(defect))
  const isForeign = Predicate.hasProperty(defect, "code") && String(defect.code).startsWith("SQLITE_")
  return isForeign ? Option.some(unavailable(new SqlError({ cause: defect }))) : Option.none()
}

const failing = <A>(query: Effect.Effect<A, SqlError>): Result<A> =>
  Effect.catchSomeDefect(Effect.mapError(query, unavailable), thrown)

const outer = Effect.serviceOption(SqlClient.TransactionConnection)

/** Takes an effect to the connections of its own client. */
type Home = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/**
 * All clients look for the connection of a transaction in one place, so that a statement in a transaction of another
 * client, to another database, would go there. SQLite has one connection to a client, others a class of them.
 */
const homeOf = (own: Connection): Home => {
  const family = Object.getPrototypeOf(own)
  const isOwn = (connection: Connection) =>
    connection === own || (family !== Object.prototype && Object.getPrototypeOf(connection) === family)
  return (effect) =>
    Effect.flatMap(outer, (found) =>
      Option.isNone(found) || isOwn(found.value[0])
        ? effect
        : Effect.mapInputContext(effect, Context.omit(SqlClient.TransactionConnection))
    )
}

const transactions = (sql: SqlClient.SqlClient, isPostgres: boolean, home: Home): Tables["whole"] => {
  const execute = (statement: string) => (connection: Connection) =>
    Effect.asVoid(connection.executeUnprepared(statement, [], undefined))
  const rollback = (connection: Connection) => Effect.ignore(execute("ROLLBACK")(connection))
  const transact = SqlClient.makeWithTransaction({
    transactionTag: SqlClient.TransactionConnection,
    spanAttributes: [],
    acquireConnection: Effect.flatMap(Scope.make(), (scope) =>
      Effect.map(Scope.extend(sql.reserve, scope), (connection): readonly [Scope.CloseableScope, Connection] => [
        scope,
        connection
      ])
    ),
    // One that reads before it writes would fail in SQLite if another process wrote in between.
    begin: execute(isPostgres ? "BEGIN" : "BEGIN IMMEDIATE"),
    commit: (connection) =>
      Effect.catchAll(execute("COMMIT")(connection), (error) =>
        Effect.zipRight(rollback(connection), Effect.die(unended(error)))
      ),
    rollback,
    savepoint: (connection, id) => execute(`SAVEPOINT wherefore_${id}`)(connection),
    rollbackSavepoint: (connection, id) => Effect.ignore(execute(`ROLLBACK TO SAVEPOINT wherefore_${id}`)(connection))
  })
  // Savepoints of one transaction are a stack: two at once would undo each other.
  const turns = new WeakMap<Connection, Effect.Semaphore>()
  const inside = (connection: Connection): Effect.Semaphore => {
    const turn = turns.get(connection) ?? Effect.unsafeMakeSemaphore(1)
    turns.set(connection, turn)
    return turn
  }
  return (effect) => {
    const inner = transact(effect).pipe(
      Effect.mapError((error) => (error._tag === "SqlError" ? unavailable(error) : error)),
      Effect.catchSomeDefect(thrown)
    )
    return home(
      Effect.flatMap(outer, (found) => (Option.isSome(found) ? inside(found.value[0]).withPermits(1)(inner) : inner))
    )
  }
}

/** A number of 32 bits that stands for a text. */
const numberOf = (text: string): number =>
  Number.parseInt(ArtifactPut.sha256(new TextEncoder().encode(text)).slice(0, 8), 16) | 0

const refuse = (path: string, expected: string, found: string) =>
  Effect.fail(ArtifactPut.invalid(path, expected, found))

/** The tables of a client, whether they are there or not. */
export const make = ({
  prefix = "wherefore_"
}: Options): Effect.Effect<Tables, ArtifactStoreError, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    if (!/^[a-z_][a-z0-9_]{0,30}$/.test(prefix)) {
      return yield* refuse(
        "prefix",
        "at most 31 lower-case letters, digits and _, with no digit first",
        "something else"
      )
    }
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const isPostgres = yield* sql.onDialectOrElse({
      pg: () => Effect.succeed(true),
      sqlite: () => Effect.succeed(false),
      orElse: () => refuse("database", "SQLite or PostgreSQL", "another")
    })
    const home = homeOf(yield* failing(Effect.scoped(sql.reserve)))
    const run: Tables["run"] = (query) => home(failing(query))
    return {
      sql,
      isPostgres,
      artifacts: `${prefix}artifacts`,
      pieces: `${prefix}artifact_pieces`,
      uploads: `${prefix}artifact_uploads`,
      run,
      whole: transactions(sql, isPostgres, home),
      lock: (key) =>
        isPostgres
          ? run(Effect.asVoid(sql`SELECT pg_advisory_xact_lock(${numberOf(prefix)}, ${numberOf(key)})`))
          : Effect.void
    }
  })

/** A database that is durable, and flushes what it acknowledges. */
const durable = ({ sql, run }: Tables): Result<void> =>
  Effect.gen(function* () {
    const files = yield* run(sql<{ name: string; file: string | null }>`PRAGMA database_list`)
    if (!files.some(({ file, name }) => name === "main" && file !== null && file !== "")) {
      return yield* refuse("database", "a database in a file", "one in memory")
    }
    yield* run(sql`PRAGMA synchronous = FULL`)
  })

/** Makes the tables that are not there yet. Many can do so at once. */
export const ensure = (tables: Tables): Result<void> => {
  const { artifacts, isPostgres, lock, pieces, run, sql, uploads, whole } = tables
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
  return Effect.zipRight(isPostgres ? Effect.void : durable(tables), whole(made))
}
