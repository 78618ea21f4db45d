/**
 * A `RecordTable` is where the runs of an application are in a database: a row an append, which holds the line that the
 * file of a run would have. See `docs/decisions/0016-record-tables.md`.
 *
 * @internal
 */
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Event from "../kernel/Event.ts"
import * as Database from "./Database.ts"
import * as RecordChain from "./RecordChain.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordFault from "./RecordFault.ts"
import type * as RecordPage from "./RecordPage.ts"
import type * as RecordReader from "./RecordReader.ts"

/** The version of the tables. What a line says has a format of its own. */
const version = 1

export interface Table {
  readonly database: Database.Database
  /** One row for each append. `seq` is that of its first entry, `hash` that of its last; `written` is when it was. */
  readonly appends: string
  /** The versions of tables, by their name. */
  readonly formats: string
  /** Where PostgreSQL tells of runs that were appended to, their ids with commas between them. */
  readonly channel: string
}

export const of = (database: Database.Database, prefix: string): Table => ({
  database,
  appends: `${prefix}record`,
  formats: `${prefix}formats`,
  channel: `${prefix}record`
})

type Made = Effect.Effect<void, SqlError | Database.Unended | RecordError.RecordError>

/** Whether these tables can be used: `false` if they are not there yet. */
const isReady = ({
  database: { isPostgres, run, sql },
  formats
}: Table): Effect.Effect<boolean, SqlError | RecordError.RecordError> =>
  Effect.gen(function* () {
    const there = yield* run(
      isPostgres
        ? sql`SELECT 1 WHERE to_regclass(${formats}) IS NOT NULL`
        : sql`SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ${formats}`
    )
    if (there.length === 0) return false
    const [row] = yield* run(sql<{ format: unknown }>`SELECT format FROM ${sql(formats)} WHERE name = 'record'`)
    if (row === undefined) return false
    const format = Number(row.format)
    if (format === version) return true
    return yield* RecordError.failure("UnsupportedFormat", {
      what: "The tables of the record are not of a version that this one knows.",
      expected: `version ${version}`,
      found: Number.isSafeInteger(format) ? `version ${format}` : "no version"
    })
  })

/** Makes the tables if they are not there yet. Many can do so at once; who only reads needs no right to. */
export const ensure = (table: Table): Made => {
  const {
    appends,
    database: { isPostgres, lock, run, sql, whole },
    formats
  } = table
  const name = sql.literal(isPostgres ? `TEXT COLLATE "C"` : "TEXT")
  const statements = [
    sql`CREATE TABLE IF NOT EXISTS ${sql(formats)} (name ${name} NOT NULL PRIMARY KEY, format INTEGER NOT NULL)`,
    sql`CREATE TABLE IF NOT EXISTS ${sql(appends)} (
      run ${name} NOT NULL,
      seq INTEGER NOT NULL,
      written DOUBLE PRECISION NOT NULL,
      hash TEXT NOT NULL,
      line TEXT NOT NULL,
      PRIMARY KEY (run, seq)
    )`,
    sql`CREATE INDEX IF NOT EXISTS ${sql(`${appends}_newest`)} ON ${sql(appends)} (written DESC, run) WHERE seq = 0`,
    sql`INSERT INTO ${sql(formats)} (name, format) VALUES ('record', ${version}) ON CONFLICT (name) DO NOTHING`
  ]
  const made = Effect.zipRight(
    lock("tables"),
    Effect.forEach(statements, (statement) => run(statement), { discard: true })
  )
  // Another version may have made them meanwhile.
  return Effect.flatMap(isReady(table), (ready) =>
    ready ? Effect.void : Effect.zipRight(whole(made), Effect.asVoid(isReady(table)))
  )
}

/** Lasts through a loss of power, also where the connection is set to acknowledge before that. */
const flushed = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', true) ELSE '' END`

/**
 * Writes an append behind the row that has the hash at `position`, if that is the last one. It is one statement, so that of
 * those who write at one place one wins. `done` is told whether it did.
 */
export const insert = <A>(
  { appends, database: { alone, isPostgres, sql } }: Table,
  { hash: before, runId, seq }: RecordChain.Position,
  append: { readonly written: number; readonly hash: string; readonly line: string },
  flushes: boolean,
  done: (isWritten: boolean) => A
): Effect.Effect<A, SqlError | Database.Unended> => {
  const { hash, line, written } = append
  const last = sql`(SELECT hash FROM ${sql(appends)} WHERE run = ${runId} ORDER BY seq DESC LIMIT 1)`
  const durable = sql.literal(isPostgres && flushes ? ` AND ${flushed} IS NOT NULL` : "")
  const statement = sql`INSERT INTO ${sql(appends)} (run, seq, written, hash, line)
    SELECT ${runId}, ${seq}, ${written}, ${hash}, ${line}
    WHERE COALESCE(${last}, ${RecordChain.start(runId).hash}) = ${before}${durable}
    ON CONFLICT (run, seq) DO NOTHING RETURNING seq`
  return alone(statement, (rows) => done(rows.length > 0))
}

/** How far a reader has come, the row that it read last, and how many it reads next. */
export interface Cursor {
  readonly position: RecordChain.Position
  readonly row: number
  readonly rows: number
}

const maxRows = 512
/** How many bytes a block is to have, about. */
const blockSize = 256 * 1024

export const start = (runId: string): Cursor => ({ position: RecordChain.start(runId), row: -1, rows: 32 })

interface Row {
  readonly seq: unknown
  readonly written: unknown
  readonly hash: unknown
  readonly line: unknown
}

// A client may be set to give large numbers as bigints or texts.
const numberOf = (value: unknown): number => Number(value === null ? Number.NaN : value)

/** Reads the row at a position. Its columns have to say what its line says. */
const readRow = (
  position: RecordChain.Position,
  { hash, line, seq, written }: Row
): Either.Either<RecordChain.Link, RecordChain.Damage> => {
  const at = position.seq
  const damage = (kind: RecordChain.Kind, expected: string, found: string) =>
    Either.left({ kind, seq: at, good: at, expected, found })
  if (typeof line !== "string") return damage("format", "a line as the record writes it", "a value that is no text")
  const read = RecordChain.read(position, Buffer.from(line))
  if (Either.isLeft(read)) return read
  const { entries, position: reached } = read.right
  if (numberOf(seq) !== at) return damage("seq", `the row of entry ${at}`, "a row with another number")
  if (hash !== reached.hash) return damage("hash", "a row with the hash of its line", "a row with another hash")
  if (numberOf(written) !== entries[0]?.at) {
    return damage("format", "a row with the time of its line", "a row with another time")
  }
  return read
}

/** The next rows behind a cursor. */
export const next = (
  { appends, database: { run, sql } }: Table,
  cursor: Cursor
): Effect.Effect<RecordReader.Block<Cursor>, SqlError> =>
  Effect.map(
    run(
      sql<Row>`SELECT seq, written, hash, line FROM ${sql(appends)}
        WHERE run = ${cursor.position.runId} AND seq > ${cursor.row} ORDER BY seq LIMIT ${cursor.rows}`
    ),
    (found) => {
      const entries: Array<Event.Entry> = []
      let { position, row } = cursor
      let size = 0
      for (const one of found) {
        const link = readRow(position, one)
        if (Either.isLeft(link)) {
          return { entries, cursor: { ...cursor, position, row }, ended: false, damage: link.left }
        }
        for (const entry of link.right.entries) entries.push(entry)
        position = link.right.position
        row = numberOf(one.seq)
        size += typeof one.line === "string" ? one.line.length : 0
      }
      const rows = size < blockSize ? Math.min(maxRows, cursor.rows * 2) : Math.max(1, Math.floor(cursor.rows / 2))
      return { entries, cursor: { position, row, rows }, ended: found.length < cursor.rows }
    }
  )

/** The first and the last row of a run. */
export interface Ends extends RecordPage.Key {
  readonly first: unknown
  readonly last: unknown
}

/** One run more than the page has, newest first. */
export const list = (
  { appends, database: { run, sql } }: Table,
  { last, limit }: RecordPage.Query
): Effect.Effect<ReadonlyArray<Ends>, SqlError> => {
  const behind =
    last === undefined
      ? sql`1 = 1`
      : sql`(f.written < ${last.startedAt} OR (f.written = ${last.startedAt} AND f.run > ${last.runId}))`
  const rows = run(
    sql<{ run: string; written: unknown; head: unknown; tail: unknown }>`SELECT
        f.run AS run, f.written AS written, f.line AS head, l.line AS tail
      FROM ${sql(appends)} f
      JOIN ${sql(appends)} l ON l.run = f.run AND l.seq = (SELECT MAX(seq) FROM ${sql(appends)} WHERE run = f.run)
      WHERE f.seq = 0 AND ${behind} ORDER BY f.written DESC, f.run LIMIT ${limit + 1}`
  )
  return Effect.map(rows, (found) =>
    found.map(({ head, run, tail, written }) => ({
      runId: run,
      startedAt: numberOf(written),
      first: head,
      last: tail
    }))
  )
}

/** Tells everyone who listens that these runs were appended to. */
export const notify = (
  { channel, database: { isPostgres, run, sql } }: Table,
  runIds: ReadonlyArray<string>
): Effect.Effect<void, SqlError> =>
  isPostgres ? run(Effect.asVoid(sql`SELECT pg_notify(${channel}, ${runIds.join(",")})`)) : Effect.void

/** What a failure of the table means for a run. */
export const failing =
  (about: RecordFault.About) =>
  <A>(query: Effect.Effect<A, SqlError>): Effect.Effect<A, RecordError.RecordError> =>
    Effect.mapError(query, (error) => RecordFault.of(error, about))
