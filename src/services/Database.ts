/**
 * A `Database` is SQLite or PostgreSQL as our layers use it: how a transaction over it is whole or has not been, and how it
 * fails, in a few kinds that say what to do. See `docs/decisions/0011-artifact-tables.md`.
 *
 * @internal
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import { createHash } from "node:crypto"
import * as RecordLock from "./RecordLock.ts"

/** The end of a transaction failed. Whether it was kept, `isUndone` says of some errors. */
export class Unended extends Data.TaggedError("Unended")<{ readonly error: SqlError }> {}

/** It cannot be used as it was given. */
export class Unfit extends Data.TaggedError("Unfit")<{
  readonly path: string
  readonly expected: string
  readonly found: string
}> {}

export interface Database {
  readonly sql: SqlClient.SqlClient
  readonly isPostgres: boolean
  /** A query. What a driver throws is an error as well. */
  readonly run: <A>(query: Effect.Effect<A, SqlError>) => Effect.Effect<A, SqlError>
  /** All of the effect, or nothing. Inside of a transaction of the caller it is a part of that one. */
  readonly whole: <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E | SqlError | Unended>
  /**
   * One statement in a transaction of its own: when it returns, the database has flushed it as it is set to. It can be
   * interrupted until it has a connection, and not before `kept` is called. `SqlError` says that it has not been.
   */
  readonly alone: <A, B>(
    statement: Effect.Effect<A, SqlError>,
    kept: (result: A) => B
  ) => Effect.Effect<B, SqlError | Unended>
  /** Lets one transaction with the key go on at a time, until it ends. */
  readonly lock: (key: string) => Effect.Effect<void, SqlError>
  /** Whether the caller is inside of a transaction of this client. */
  readonly isInside: Effect.Effect<boolean>
}

export const codeOf = ({ cause }: SqlError): string => RecordLock.errno(cause)

/** Others were using it: the same can succeed when they are done. */
export const isBusy = (code: string): boolean => /^(SQLITE_(BUSY|LOCKED)|40001$|40P01$|55P03$)/.test(code)
/** Of two at once, one was let fail. */
export const isRaced = (code: string): boolean => code === "40001" || code === "40P01"
/** Somebody stopped the statement, or it took too long. */
export const isStopped = (code: string): boolean => code === "57014"
/** It has no room left. */
export const isFull = (code: string): boolean => /^(SQLITE_FULL|53100)/.test(code)
/** It cannot be reached, is going down, or has no room. */
export const isAway = (code: string): boolean =>
  isFull(code) || /^(08|53|57P|ECONN|ETIMEDOUT|ENOTFOUND|EPIPE)/.test(code)
/** Whether a transaction whose end failed with this code has certainly not been. */
export const isUndone = (code: string): boolean =>
  isBusy(code) || isFull(code) || /^(23|40|SQLITE_CONSTRAINT)/.test(code)

/** What a server says of a statement that it did not keep: the codes of SQL, but not of a connection or a server that ends. */
const isRefused = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && !/^(08|57P|58|F0|XX)/.test(code)

/** Drivers throw where a statement cannot be prepared. */
const foreign = (defect: unknown): Option.Option<SqlError> => {
  if (defect instanceof SqlError) return Option.some(defect)
  const isOfSqlite = Predicate.hasProperty(defect, "code") && String(defect.code).startsWith("SQLITE_")
  return isOfSqlite ? Option.some(new SqlError({ cause: defect })) : Option.none()
}

const caught = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchSomeDefect(effect, (defect) => Option.map(foreign(defect), Effect.fail))

/** The end of a transaction dies. */
const ended = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | SqlError | Unended> =>
  Effect.catchSomeDefect(caught(effect), (defect) =>
    defect instanceof Unended ? Option.some(Effect.fail(defect)) : Option.none()
  )

const outer = Effect.serviceOption(SqlClient.TransactionConnection)

/**
 * All clients look for the connection of a transaction in one place, so that a statement in a transaction of another
 * client, to another database, would go there. SQLite has one connection to a client, others a class of them.
 */
const isOf = (own: Connection) => {
  const family = Object.getPrototypeOf(own)
  return (connection: Connection): boolean =>
    connection === own || (family !== Object.prototype && Object.getPrototypeOf(connection) === family)
}

/** Takes an effect to the connections of its own client. */
type Home = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

const homeOf =
  (isOwn: (connection: Connection) => boolean): Home =>
  (effect) =>
    Effect.flatMap(outer, (found) =>
      Option.isNone(found) || isOwn(found.value[0])
        ? effect
        : Effect.mapInputContext(effect, Context.omit(SqlClient.TransactionConnection))
    )

const transactions = (sql: SqlClient.SqlClient, isPostgres: boolean, home: Home): Database["whole"] => {
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
        Effect.zipRight(rollback(connection), Effect.die(new Unended({ error })))
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
    const inner = ended(transact(effect))
    return home(
      Effect.flatMap(outer, (found) => (Option.isSome(found) ? inside(found.value[0]).withPermits(1)(inner) : inner))
    )
  }
}

const aloneIn =
  (sql: SqlClient.SqlClient, isPostgres: boolean): Database["alone"] =>
  (statement, kept) => {
    const on =
      (connection: Connection) =>
      <A>(query: Effect.Effect<A, SqlError>): Effect.Effect<A, SqlError> =>
        Effect.provideService(caught(query), SqlClient.TransactionConnection, [connection, 0])
    // What stopped it may have been meant for the statement before, whose reader was interrupted.
    const again = Effect.retry(statement, { times: 1, while: (error) => isStopped(codeOf(error)) })
    const send = (connection: Connection) =>
      Effect.catchAll(on(connection)(again), (error): Effect.Effect<never, SqlError | Unended> => {
        if (isRefused(codeOf(error))) return Effect.fail(error)
        // So that its client knows that it is lost, and gives it to nobody else.
        return Effect.zipRight(Effect.ignore(on(connection)(sql`SELECT 1`)), Effect.fail(new Unended({ error })))
      })
    const transact = (connection: Connection) =>
      Effect.gen(function* () {
        const run = (statement: string) => caught(connection.execute(statement, [], undefined))
        const rollback = Effect.ignore(run("ROLLBACK"))
        // One that somebody left open is not ours to end: what is written in it may never be.
        yield* run("BEGIN IMMEDIATE")
        const result = yield* Effect.tapError(on(connection)(statement), () => rollback)
        yield* Effect.catchAll(run("COMMIT"), (error) =>
          Effect.zipRight(rollback, Effect.fail(isUndone(codeOf(error)) ? error : new Unended({ error })))
        )
        return result
      })
    return Effect.uninterruptibleMask((restore) => {
      // In PostgreSQL, who is interrupted while it waits for a connection would keep it for ever.
      const reserved = isPostgres ? sql.reserve : restore(sql.reserve)
      const sent = Effect.flatMap(caught(reserved), (connection) =>
        isPostgres ? send(connection) : transact(connection)
      )
      return Effect.map(Effect.scoped(sent), kept)
    })
  }

/** A number of 32 bits that stands for a text. */
const numberOf = (text: string): number => createHash("sha256").update(text).digest().readInt32BE(0)

/** `prefix` begins the names of the tables. */
export const make = (prefix: string): Effect.Effect<Database, SqlError | Unfit, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    if (!/^[a-z_][a-z0-9_]{0,30}$/.test(prefix)) {
      return yield* new Unfit({
        path: "prefix",
        expected: "at most 31 lower-case letters, digits and _, with no digit first",
        found: "something else"
      })
    }
    const sql = (yield* SqlClient.SqlClient).withoutTransforms()
    const isPostgres = yield* sql.onDialectOrElse({
      pg: () => Effect.succeed(true),
      sqlite: () => Effect.succeed(false),
      orElse: () => new Unfit({ path: "database", expected: "SQLite or PostgreSQL", found: "another" })
    })
    const isOwn = isOf(yield* caught(Effect.scoped(sql.reserve)))
    const home = homeOf(isOwn)
    const run: Database["run"] = (query) => home(caught(query))
    return {
      sql,
      isPostgres,
      run,
      whole: transactions(sql, isPostgres, home),
      alone: aloneIn(sql, isPostgres),
      lock: (key) =>
        isPostgres
          ? run(Effect.asVoid(sql`SELECT pg_advisory_xact_lock(${numberOf(prefix)}, ${numberOf(key)})`))
          : Effect.void,
      isInside: Effect.map(outer, (found) => Option.isSome(found) && isOwn(found.value[0]))
    }
  })

/** Refuses SQLite that is not in a file. */
export const inFile = ({ isPostgres, run, sql }: Database): Effect.Effect<void, SqlError | Unfit> =>
  isPostgres
    ? Effect.void
    : Effect.flatMap(run(sql<{ name: string; file: string | null }>`PRAGMA database_list`), (files) =>
        files.some(({ file, name }) => name === "main" && file !== null && file !== "")
          ? Effect.void
          : new Unfit({ path: "database", expected: "a database in a file", found: "one in memory" })
      )

/**
 * Has each transaction of SQLite flushed before it ends. It is said also where it seems to be so: a connection that was not
 * told changes to less with its first write.
 */
export const flushing = ({ isPostgres, run, sql }: Database): Effect.Effect<void, SqlError> =>
  isPostgres
    ? Effect.void
    : Effect.flatMap(run(sql<{ synchronous: number }>`PRAGMA synchronous`), ([row]) =>
        Number(row?.synchronous) > 2 ? Effect.void : run(Effect.asVoid(sql`PRAGMA synchronous = FULL`))
      )
