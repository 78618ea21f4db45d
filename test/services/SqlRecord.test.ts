import { afterAll, assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { SqliteClient } from "@effect/sql-sqlite-node"
import * as SqlClient from "@effect/sql/SqlClient"
import { Cause, Context, Deferred, Effect, Either, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import * as Record from "../../src/services/Record.ts"
import { called, ended, received, started } from "../../src/services/RecordSuite.ts"
import * as Database from "./RecordDatabase.ts"
import * as Fixture from "./RecordFixture.ts"

const runId = "run-1"

afterAll(() => Database.closePool())

const sqlOf = (client: Database.Client) => Context.get(client, SqlClient.SqlClient)
/** The client without what else its layer gives. */
const alone = (client: Database.Client) => Context.make(SqlClient.SqlClient, sqlOf(client))

const reasonOf = (error: Record.RecordError | Record.RecordConflict) =>
  error._tag === "RecordError" ? error.reason : error._tag

const seqs = (record: Database.Service, id = runId) =>
  Effect.map(Fixture.collect(record.read(id)), (entries) => entries.map(({ seq }) => seq))

const upTo = (count: number) => Array.from({ length: count }, (_, seq) => seq)

/** The events of the small run are 0, 1, 2 to 4, 5, 6. */
const rows = [0, 1, 2, 5, 6]

interface Harm {
  readonly name: string
  readonly sql: (sql: SqlClient.SqlClient, table: string) => Effect.Effect<unknown, unknown>
  /** The first entry that is not good, and how. */
  readonly seq: number
  readonly kind: NonNullable<Record.RecordError["kind"]>
}

const replaced = (sql: SqlClient.SqlClient, table: string, seq: number, from: string, to: string) =>
  sql`UPDATE ${sql(table)} SET line = replace(line, ${from}, ${to}) WHERE seq = ${seq}`

const harms: ReadonlyArray<Harm> = [
  {
    name: "a changed event",
    sql: (sql, table) => replaced(sql, table, 2, "And zone b?", "And zone c?"),
    seq: 2,
    kind: "hash"
  },
  {
    name: "a changed time",
    sql: (sql, table) => replaced(sql, table, 2, '"at":3000', '"at":3001'),
    seq: 2,
    kind: "hash"
  },
  {
    name: "another column of time",
    sql: (sql, table) => sql`UPDATE ${sql(table)} SET written = 7 WHERE seq = 2`,
    seq: 2,
    kind: "format"
  },
  {
    name: "another column of the hash",
    sql: (sql, table) => sql`UPDATE ${sql(table)} SET hash = 'x' WHERE seq = 6`,
    seq: 6,
    kind: "hash"
  },
  {
    name: "another column of the number",
    sql: (sql, table) => sql`UPDATE ${sql(table)} SET seq = 7 WHERE seq = 6`,
    seq: 6,
    kind: "seq"
  },
  {
    name: "a number that is another row's entry",
    sql: (sql, table) => sql`UPDATE ${sql(table)} SET seq = 3 WHERE seq = 5`,
    seq: 5,
    kind: "seq"
  },
  {
    name: "a row that is gone",
    sql: (sql, table) => sql`DELETE FROM ${sql(table)} WHERE seq = 1`,
    seq: 1,
    kind: "seq"
  },
  {
    name: "the first row that is gone",
    sql: (sql, table) => sql`DELETE FROM ${sql(table)} WHERE seq = 0`,
    seq: 0,
    kind: "seq"
  },
  {
    name: "JSON in other bytes",
    sql: (sql, table) => replaced(sql, table, 1, '"slot":"system"', '"slot": "system"'),
    seq: 1,
    kind: "format"
  },
  {
    name: "an empty line",
    sql: (sql, table) => sql`UPDATE ${sql(table)} SET line = '' WHERE seq = 5`,
    seq: 5,
    kind: "format"
  },
  {
    name: "two rows that changed places",
    sql: (sql, table) =>
      Effect.all([
        sql`UPDATE ${sql(table)} SET seq = 99 WHERE seq = 1`,
        sql`UPDATE ${sql(table)} SET seq = 1 WHERE seq = 2`,
        sql`UPDATE ${sql(table)} SET seq = 2 WHERE seq = 99`
      ]),
    seq: 1,
    kind: "seq"
  },
  {
    name: "another run's row",
    sql: (sql, table) =>
      sql`UPDATE ${sql(table)} SET line = (SELECT line FROM ${sql(table)} WHERE run = 'run-2' AND seq = 5) WHERE run = ${runId} AND seq = 5`,
    seq: 5,
    kind: "hash"
  },
  {
    name: "another run's start",
    sql: (sql, table) =>
      sql`UPDATE ${sql(table)} SET line = (SELECT line FROM ${sql(table)} WHERE run = 'run-2' AND seq = 0) WHERE run = ${runId} AND seq = 0`,
    seq: 0,
    kind: "run-id"
  }
]

for (const database of Database.databases) {
  const isPostgres = database === Database.PostgreSQL

  /** A database with the small run in it, written by another program. */
  const written = Effect.gen(function* () {
    const opened = yield* database.open
    const table = `${opened.prefix}record`
    const record = yield* Database.record(opened, opened.client)
    const anchors = yield* Fixture.write(record, runId)
    yield* Fixture.write(record, "run-2")
    return { ...opened, table, record, anchors }
  })

  describe.skipIf(database.missing !== undefined)(`SqlRecord over ${database.name}${database.missing ?? ""}`, () => {
    it.scoped("keeps, to the byte, the line that the file of a run has", () =>
      Effect.gen(function* () {
        const { sql, table } = yield* written
        const found = yield* sql<{ seq: number; line: string }>`SELECT seq, line FROM ${sql(table)}
          WHERE run = ${runId} ORDER BY seq`
        const file = yield* Fixture.bytes(runId)
        assert.deepStrictEqual(
          found.map(({ seq }) => Number(seq)),
          rows
        )
        assert.isTrue(Buffer.from(found.map(({ line }) => `${line}\n`).join("")).equals(file))
      })
    )

    for (const { kind, name, seq, sql: harm } of harms) {
      it.scoped(`finds ${name}, gives what is before it, and appends nothing behind it`, () =>
        Effect.gen(function* () {
          const opened = yield* written
          const { record, sql, table } = opened
          const before = yield* Fixture.collect(record.read(runId))
          if (!name.startsWith("another run's")) yield* sql`DELETE FROM ${sql(table)} WHERE run = 'run-2'`
          yield* harm(sql, table)
          const later = yield* Database.record(opened, opened.client)
          for (const reader of [record, later]) {
            const { entries, error } = yield* Fixture.readable(reader.read(runId))
            assert.deepInclude(error, { reason: "Corrupt", kind, seq, outcome: "not-applied" })
            assert.deepStrictEqual(entries, before.slice(0, seq))
            assert.strictEqual(error.lastGood, seq === 0 ? undefined : seq - 1)
            assert.deepStrictEqual(yield* Effect.flip(Stream.runDrain(reader.tail(runId))), error)
          }
          if (seq > 0) assert.lengthOf(yield* Fixture.collect(later.read(runId, { to: seq })), seq)
          for (const at of [7, seq]) {
            const refused = yield* Effect.flip(later.append(runId, at, [at === 0 ? started(runId) : received("on")]))
            assert.strictEqual(reasonOf(refused), "Corrupt")
          }
        })
      )
    }

    it.scoped("knows that rows behind the last are gone only by an anchor, and appends nothing in their place", () =>
      Effect.gen(function* () {
        const { anchors, record, sql, table } = yield* written
        yield* sql`DELETE FROM ${sql(table)} WHERE run = ${runId} AND seq = 6`
        const entries = yield* Fixture.collect(record.read(runId))
        assert.lengthOf(entries, 6)
        const error = yield* Effect.flip(Record.verify(entries, { anchor: anchors.at(-1)! }))
        assert.deepInclude(error, { kind: "tail", seq: 6 })
        const refused = yield* Effect.flip(record.append(runId, 7, [received("on")]))
        assert.deepInclude(refused, { reason: "Corrupt", seq: 6, runId })
      })
    )

    it.scoped("finds a last row whose number is one that was read, also where a block of rows ends before it", () =>
      Effect.gen(function* () {
        const opened = yield* database.open
        const record = yield* Database.record(opened, opened.client)
        yield* record.append(runId, 0, [started(runId)])
        for (let seq = 1; seq < 31; seq++) yield* record.append(runId, seq, [received(`${seq}`)])
        yield* record.append(runId, 31, [received("31"), received("32")])
        yield* record.append(runId, 33, [ended])
        yield* opened.sql`UPDATE ${opened.sql(`${opened.prefix}record`)} SET seq = 32 WHERE seq = 33`
        const { entries, error } = yield* Fixture.readable(record.read(runId))
        assert.lengthOf(entries, 33)
        assert.deepInclude(error, { reason: "Corrupt", kind: "seq", seq: 33, lastGood: 32 })
      })
    )

    it.scoped("refuses what a later version wrote", () =>
      Effect.gen(function* () {
        const opened = yield* written
        const { prefix, record, sql, table } = opened
        yield* replaced(sql, table, 0, '"format":1', '"format":2')
        const { error } = yield* Fixture.readable(record.read(runId))
        assert.deepInclude(error, { reason: "UnsupportedFormat", seq: 0 })
        yield* sql`UPDATE ${sql(`${prefix}formats`)} SET format = 2`
        const refused = yield* Effect.flip(Database.record(opened, opened.client))
        assert.deepInclude(refused, { reason: "UnsupportedFormat", found: "version 2", outcome: "not-applied" })
      })
    )

    it.scoped("makes its tables once, when many start at once", () =>
      Effect.gen(function* () {
        const opened = yield* database.open
        const clients = yield* Effect.all([opened.again, opened.again])
        const records = yield* Effect.forEach(
          [opened.client, ...clients, ...clients],
          (client) => Database.record(opened, client),
          { concurrency: "unbounded" }
        )
        yield* Effect.forEach(records, (record, n) => record.append(`run-${n}`, 0, [started(`run-${n}`)]))
        assert.lengthOf((yield* records[0]!.list()).runs, 5)
      })
    )

    it.scoped("lets 64 fibers of two programs win each entry once, with no gap", () =>
      Effect.gen(function* () {
        const opened = yield* database.open
        const again = yield* opened.again
        const records = [yield* Database.record(opened, opened.client), yield* Database.record(opened, again)]
        yield* records[0]!.append(runId, 0, [started(runId)])
        const won: Array<number> = []
        const losers: Array<string> = []
        const fiber = (n: number) =>
          Effect.gen(function* () {
            const record = records[n % 2]!
            let seq = 1
            for (let mine = 0; mine < 4;) {
              const done = yield* Effect.either(record.append(runId, seq, [received(`${n}/${mine}`), received("and")]))
              if (Either.isRight(done)) {
                won.push(done.right.seq)
                seq = done.right.seq + 1
                mine++
              } else {
                losers.push(done.left._tag)
                assert.strictEqual(done.left._tag, "RecordConflict", done.left.message)
                if (done.left._tag === "RecordConflict") {
                  assert.isAbove(done.left.actualSeq, seq)
                  seq = done.left.actualSeq
                }
              }
              yield* Effect.yieldNow()
            }
          })
        yield* Effect.forEach(upTo(64), fiber, { concurrency: "unbounded" })
        const total = 64 * 4
        assert.deepStrictEqual(
          won.toSorted((a, b) => a - b),
          upTo(total).map((n) => 2 * n + 2)
        )
        assert.isNotEmpty(losers)
        for (const record of records) {
          const entries = yield* Fixture.collect(record.read(runId))
          assert.lengthOf(entries, 1 + 2 * total)
          yield* Record.verify(entries)
        }
      })
    )

    it.scoped("tails what another program appends, in order and to the end", () =>
      Effect.gen(function* () {
        const opened = yield* database.open
        const writer = yield* Database.record(opened, opened.client)
        // Without what listens, and with.
        const other = yield* opened.again
        const polling = yield* Database.record(opened, alone(other), { pollMs: 5 })
        const readers = [polling, ...(isPostgres ? [yield* Database.record(opened, other, { pollMs: 600_000 })] : [])]
        yield* writer.append(runId, 0, [started(runId)])
        const fibers = yield* Effect.forEach(readers, (reader) =>
          Effect.gen(function* () {
            const first = yield* Deferred.make<void>()
            const seen: Array<number> = []
            const fiber = yield* Effect.fork(
              Stream.runForEach(reader.tail(runId), ({ seq }) => {
                seen.push(seq)
                return Deferred.succeed(first, undefined)
              })
            )
            yield* Deferred.await(first)
            return Effect.as(Fiber.join(fiber), seen)
          })
        )
        if (isPostgres) yield* listened(opened.sql, `${opened.prefix}record`)
        for (let seq = 1; seq < 40; seq += 2) {
          yield* writer.append(runId, seq, [received(`${seq}`), seq === 39 ? ended : received("and")])
        }
        for (const joined of fibers) assert.deepStrictEqual(yield* joined, upTo(41).slice(0, 41))
      })
    )

    it.scoped("refuses an append inside of a transaction, which could undo what it acknowledged", () =>
      Effect.gen(function* () {
        const opened = yield* written
        const { record, sql } = opened
        const error = yield* Effect.flip(sql.withTransaction(record.append(runId, 7, [received("on")])))
        assert.deepInclude(error, { reason: "InvalidInput", outcome: "not-applied" })
        // Reading in it is no harm, and a transaction of another client is none of ours.
        assert.deepStrictEqual(yield* sql.withTransaction(seqs(record)), upTo(7))
        const other = sqlOf(
          yield* (isPostgres ? Database.SQLite : database).open.pipe(Effect.flatMap(({ again }) => again))
        )
        const undone = other.withTransaction(
          Effect.gen(function* () {
            yield* record.append(runId, 7, [received("on")])
            assert.deepStrictEqual(yield* seqs(record), upTo(8))
            return yield* Effect.fail("changed my mind")
          })
        )
        assert.strictEqual(yield* Effect.flip(undone), "changed my mind")
        assert.deepStrictEqual(yield* seqs(record), upTo(8))
      })
    )

    it.scoped("keeps every append while transactions of the application come and go at once", () =>
      Effect.gen(function* () {
        const opened = yield* database.open
        const { prefix, sql } = opened
        const record = yield* Database.record(opened, opened.client)
        const name = sql(`${prefix}mine`)
        yield* sql`CREATE TABLE ${name} (n INTEGER)`
        const nested = (n: number) =>
          sql.withTransaction(
            Effect.zipRight(
              sql`INSERT INTO ${name} VALUES (${n})`,
              Effect.ignore(
                sql.withTransaction(Effect.zipRight(sql`INSERT INTO ${name} VALUES (0)`, Effect.fail("no")))
              )
            )
          )
        const run = (n: number) =>
          Effect.forEach(upTo(6), (seq) =>
            record.append(`run-${n}`, seq, [seq === 0 ? started(`run-${n}`) : received(`${seq}`)])
          )
        yield* Effect.all(
          [Effect.forEach(upTo(8), nested, { concurrency: 4 }), Effect.forEach(upTo(8), run, { concurrency: 8 })],
          {
            concurrency: 2
          }
        )
        for (const n of upTo(8)) assert.deepStrictEqual(yield* seqs(record, `run-${n}`), upTo(6))
        yield* sql`DROP TABLE ${name}`
      })
    )

    it.scoped("says that an append is not there when its transaction cannot be committed, and goes on", () =>
      Effect.gen(function* () {
        const opened = yield* written
        const { prefix, record, sql, table } = opened
        if (isPostgres) {
          yield* sql.unsafe(`CREATE FUNCTION ${prefix}refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'canary' USING ERRCODE = '23514'; END $$`)
          yield* sql.unsafe(`CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON ${table} DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION ${prefix}refuse()`)
        } else {
          yield* sql`PRAGMA foreign_keys = ON`
          yield* sql`CREATE TABLE parent (n INTEGER PRIMARY KEY)`
          yield* sql`CREATE TABLE child (n INTEGER REFERENCES parent (n) DEFERRABLE INITIALLY DEFERRED)`
          yield* sql.unsafe(`CREATE TRIGGER refuse AFTER INSERT ON ${table} BEGIN INSERT INTO child VALUES (1); END`)
        }
        const error = yield* Effect.flip(record.append(runId, 7, [received("canary")]))
        assert.deepInclude(error, { reason: "Unavailable", outcome: "not-applied", retry: "after-human" })
        assert.notInclude(JSON.stringify(error) + error.stack, "canary")
        assert.deepStrictEqual(yield* seqs(record), upTo(7))
        yield* isPostgres ? sql.unsafe(`DROP FUNCTION ${prefix}refuse() CASCADE`) : sql.unsafe("DROP TRIGGER refuse")
        yield* record.append(runId, 7, [received("on")])
        const later = yield* Database.record(opened, yield* opened.again)
        assert.deepStrictEqual(yield* seqs(later), upTo(8))
      })
    )

    it.scoped("tells when there is no room, or no right to write, and reads on", () =>
      Effect.gen(function* () {
        const opened = yield* written
        const { prefix, sql, table } = opened
        if (isPostgres) {
          yield* sql.unsafe(`CREATE FUNCTION ${prefix}full() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$`)
          yield* sql.unsafe(
            `CREATE TRIGGER room BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION ${prefix}full()`
          )
        } else {
          yield* sql`PRAGMA max_page_count = 1`
        }
        const { record } = opened
        const large = received("x".repeat(100_000))
        const full = yield* Effect.flip(record.append(runId, 7, [large]))
        assert.deepInclude(full, { reason: "Full", outcome: "not-applied" })
        assert.deepStrictEqual(yield* seqs(record), upTo(7))
        yield* isPostgres ? sql.unsafe(`DROP FUNCTION ${prefix}full() CASCADE`) : sql`PRAGMA max_page_count = 100000`
        yield* record.append(runId, 7, [large])

        const client = isPostgres
          ? yield* Database.postgres("-c default_transaction_read_only=on", 2)
          : yield* Effect.tap(opened.again, (client) => sqlOf(client)`PRAGMA query_only = 1`)
        const reading = yield* Database.record(opened, client)
        assert.deepStrictEqual(yield* seqs(reading), upTo(8))
        const error = yield* Effect.flip(reading.append(runId, 8, [received("on")]))
        assert.deepInclude(error, { reason: "Unavailable", outcome: "not-applied", retry: "after-human" })
        assert.deepInclude(error, { found: isPostgres ? "25006" : "SQLITE_READONLY" })
      })
    )

    it.scoped("says that it was others, where the database is held, and appends when they are done", () =>
      Effect.gen(function* () {
        const opened = yield* written
        const { sql, table } = opened
        const client = isPostgres
          ? yield* Database.postgres("-c lock_timeout=50", 2)
          : yield* Effect.tap(opened.again, (client) => sqlOf(client)`PRAGMA busy_timeout = 1`)
        const record = yield* Database.record(opened, client)
        const held = isPostgres
          ? sql`LOCK TABLE ${sql(table)} IN EXCLUSIVE MODE`
          : sql`DELETE FROM ${sql(table)} WHERE run = ''`
        const error = yield* sql.withTransaction(
          Effect.zipRight(held, Effect.flip(record.append(runId, 7, [received("on")])))
        )
        assert.deepInclude(error, {
          reason: "Unavailable",
          found: isPostgres ? "55P03" : "SQLITE_BUSY",
          outcome: "not-applied",
          isRetryable: true
        })
        yield* record.append(runId, 7, [received("on")])
      })
    )

    it.scoped("does not mind how a client renames columns", () =>
      Effect.gen(function* () {
        const opened = yield* written
        const rename = {
          transformQueryNames: (name: string) => `${name}_`,
          transformResultNames: (name: string) => `x_${name}`
        }
        const [, address = ""] = opened.address
        const client: Database.Client = isPostgres
          ? yield* Layer.build(PgClient.layer({ url: Redacted.make(address), maxConnections: 2, ...rename }))
          : yield* Effect.orDie(Layer.build(SqliteClient.layer({ filename: address, ...rename })))
        const record = yield* Database.record(opened, client)
        yield* record.append(runId, 7, [received("on")])
        assert.deepStrictEqual(yield* seqs(record), upTo(8))
        assert.lengthOf((yield* record.list()).runs, 2)
      })
    )

    it.scoped("lists runs but for those whose row is not what its line says", () =>
      Effect.gen(function* () {
        const { record, sql, table } = yield* written
        yield* sql`UPDATE ${sql(table)} SET written = 1 WHERE run = ${runId} AND seq = 0`
        const { runs } = yield* record.list()
        assert.deepStrictEqual(
          runs.map(({ runId }) => runId),
          ["run-2"]
        )
      })
    )

    it.scoped("refuses options that cannot be", () =>
      Effect.gen(function* () {
        const opened = yield* database.open
        for (const prefix of ["", "a b", "X_", '"', "1a", "a".repeat(32)]) {
          const error = yield* Effect.flip(Database.record({ prefix }, opened.client))
          assert.deepInclude(error, { reason: "InvalidInput", where: "prefix" })
        }
        for (const pollMs of [0, -1, 0.5, Number.NaN]) {
          const error = yield* Effect.flip(Database.record(opened, opened.client, { pollMs }))
          assert.deepInclude(error, { reason: "InvalidInput", where: "pollMs" })
        }
      })
    )

    it.scoped("says nothing of what is stored when the tables are gone", () =>
      Effect.gen(function* () {
        const { record, sql, table } = yield* written
        yield* sql`DROP TABLE ${sql(table)}`
        for (const failed of [
          record.append(runId, 7, [called(1, "canary")]),
          Stream.runDrain(record.read(runId)),
          record.list()
        ]) {
          const error = yield* Effect.flip(failed)
          assert.deepInclude(error, { reason: "Unavailable", outcome: "not-applied", retry: "after-human" })
          assert.notInclude(JSON.stringify(error) + error.stack, "canary")
        }
      })
    )
  })
}

/** Waits until somebody listens on a channel. */
const listened = (sql: SqlClient.SqlClient, channel: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const query = `LISTEN "${channel}"`
    while ((yield* Effect.orDie(sql`SELECT 1 FROM pg_stat_activity WHERE query = ${query}`)).length === 0) {
      yield* Effect.promise(() => new Promise(setImmediate))
    }
  })

describe("SqlRecord over SQLite", () => {
  it.scoped("refuses a database in memory", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Database.record({ prefix: "wherefore_" }, yield* Database.sqlite(":memory:")))
      assert.deepInclude(error, { reason: "InvalidInput", where: "database", outcome: "not-applied" })
    })
  )

  it.scoped("sets every connection to flush, unless it is to stay as it is", () =>
    Effect.gen(function* () {
      const opened = yield* Database.SQLite.open
      const synchronous = (client: Database.Client) =>
        Effect.map(sqlOf(client)<{ synchronous: number }>`PRAGMA synchronous`, ([row]) => row?.synchronous)
      for (const setting of [0, 1, 2, 3]) {
        for (const durability of ["power-loss", "process-crash"] as const) {
          const client = yield* opened.again
          yield* sqlOf(client).unsafe(`PRAGMA synchronous = ${setting}`)
          const record = yield* Database.record(opened, client, { durability })
          const run = `run-${setting}-${durability}`
          yield* record.append(run, 0, [started(run)])
          assert.strictEqual(yield* synchronous(client), durability === "power-loss" ? Math.max(2, setting) : setting)
        }
      }
    })
  )

  it.scoped("flushes also where a connection that was not told would not, from its first write on", () =>
    Effect.gen(function* () {
      const opened = yield* Database.SQLite.open
      const record = yield* Database.record(opened, opened.client)
      yield* record.append(runId, 0, [started(runId)])
      assert.deepStrictEqual(yield* opened.sql`PRAGMA synchronous`, [{ synchronous: 2 }])
    })
  )

  it.scoped("does not acknowledge what it would write in a transaction that was left open", () =>
    Effect.gen(function* () {
      const opened = yield* Database.SQLite.open
      const { sql } = opened
      const record = yield* Database.record(opened, opened.client)
      yield* record.append(runId, 0, [started(runId)])
      yield* sql`PRAGMA foreign_keys = ON`
      yield* sql`CREATE TABLE parent (n INTEGER PRIMARY KEY)`
      yield* sql`CREATE TABLE child (n INTEGER REFERENCES parent (n) DEFERRABLE INITIALLY DEFERRED)`
      // The client's own transaction dies where it cannot be committed, and stays open.
      const died = yield* Effect.exit(sql.withTransaction(sql`INSERT INTO child VALUES (1)`))
      assert.isTrue(died._tag === "Failure" && died.cause._tag === "Die")
      const error = yield* Effect.flip(record.append(runId, 1, [received("a")]))
      assert.deepInclude(error, { reason: "Unavailable", outcome: "not-applied", retry: "after-human" })
      yield* sql`ROLLBACK`
      yield* record.append(runId, 1, [received("a")])
      assert.deepStrictEqual(yield* seqs(yield* Database.record(opened, yield* opened.again)), [0, 1])
    })
  )

  /** The file of a database that was closed, with a run in it. */
  const closed = Effect.gen(function* () {
    const directory = yield* Fixture.directory
    const path = `${directory}/runs.db`
    const opened = { prefix: "wherefore_", path }
    const at = yield* Effect.scoped(
      Effect.gen(function* () {
        const client = yield* Database.sqlite(path)
        const record = yield* Database.record(opened, client)
        const anchors = yield* Fixture.write(record, runId)
        const [row] = yield* sqlOf(client)<{ rootpage: number }>`SELECT rootpage FROM sqlite_master
          WHERE name = 'wherefore_record'`
        const [size] = yield* sqlOf(client)<{ page_size: number }>`PRAGMA page_size`
        const entries = yield* Fixture.collect(record.read(runId))
        return { anchor: anchors.at(-1)!, entries, root: (row!.rootpage - 1) * size!.page_size }
      })
    )
    return { ...opened, ...at, bytes: readFileSync(path) }
  })

  it.scoped("tells of damage to the file of the database as damage", () =>
    Effect.gen(function* () {
      const { bytes, path, prefix, root } = yield* closed
      bytes.fill(0xff, root, root + 64)
      writeFileSync(path, bytes)
      const record = yield* Database.record({ prefix }, yield* Database.sqlite(path))
      const { entries, error } = yield* Fixture.readable(record.read(runId))
      assert.deepInclude(error, { reason: "Corrupt", seq: 0, runId, found: "SQLITE_CORRUPT" })
      assert.isEmpty(entries)
      assert.strictEqual(reasonOf(yield* Effect.flip(record.append(runId, 7, [received("on")]))), "Corrupt")
    })
  )

  it.scoped("gives no entry that a changed bit made another, wherever in the file it is", () =>
    Effect.gen(function* () {
      const { anchor, bytes, entries, path, prefix } = yield* closed
      const outcomes = { whole: 0, damaged: 0, cut: 0, closed: 0 }
      for (let n = 0; n < 400; n++) {
        // All over the file, some in each page.
        const bit = Math.floor((n * bytes.length * 8) / 400) + ((n * 7) % 8)
        const changed = Buffer.from(bytes)
        changed[bit >> 3]! ^= 1 << (bit & 7)
        writeFileSync(path, changed)
        const read = Effect.gen(function* () {
          const record = yield* Database.record({ prefix }, yield* Database.sqlite(path))
          return yield* Fixture.collect(record.read(runId))
        })
        // The client dies where it cannot open the file.
        const exit = yield* Effect.exit(Effect.either(Effect.scoped(read)))
        if (Exit.isFailure(exit)) {
          assert.include(Cause.pretty(exit.cause), "SqliteError")
          outcomes.closed++
        } else if (Either.isLeft(exit.value)) {
          assert.include(["Corrupt", "RunNotFound", "UnsupportedFormat", "Unavailable"], exit.value.left.reason)
          outcomes.damaged++
        } else {
          const found = exit.value.right
          assert.deepStrictEqual(found, entries.slice(0, found.length))
          const proof = yield* Effect.either(Record.verify(found, { anchor }))
          assert.strictEqual(Either.isRight(proof), found.length === entries.length)
          outcomes[Either.isRight(proof) ? "whole" : "cut"]++
        }
      }
      assert.isAbove(outcomes.damaged, 20)
      assert.isAbove(outcomes.whole, 20)
    })
  )
})

const { PostgreSQL } = Database

describe.skipIf(PostgreSQL.missing !== undefined)(`SqlRecord over PostgreSQL${PostgreSQL.missing ?? ""}`, () => {
  it.scoped("shows readers no entry of a transaction that is held open, and none behind it", () =>
    Effect.gen(function* () {
      const opened = yield* PostgreSQL.open
      const { prefix, sql } = opened
      const record = yield* Database.record(opened, opened.client)
      yield* record.append(runId, 0, [started(runId)])
      const other = yield* Database.record(opened, yield* opened.again)
      // The append itself, held open by a trigger that waits before the commit.
      yield* sql.unsafe(`CREATE FUNCTION ${prefix}hold() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock(hashtext('${prefix}')); RETURN NULL; END $$`)
      yield* sql.unsafe(`CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON ${prefix}record DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${prefix}hold()`)
      yield* Effect.addFinalizer(() => Effect.orDie(sql.unsafe(`DROP FUNCTION ${prefix}hold() CASCADE`)))
      const waiting = (count: number) =>
        Effect.gen(function* () {
          const query = sql`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ${`%${prefix}record%`}`
          while ((yield* query).length < count) yield* Effect.promise(() => new Promise(setImmediate))
        })
      const held = yield* Deferred.make<void>()
      const over = yield* Deferred.make<void>()
      const holder = yield* Effect.fork(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`SELECT pg_advisory_xact_lock(hashtext(${prefix}))`
            yield* Deferred.succeed(held, undefined)
            yield* Deferred.await(over)
          })
        )
      )
      yield* Deferred.await(held)
      const seen: Array<number> = []
      const tail = yield* Effect.fork(
        Stream.runForEach(other.tail(runId), ({ seq }) => Effect.sync(() => seen.push(seq)))
      )
      const one = yield* Effect.fork(Effect.either(record.append(runId, 1, [received("a"), received("b")])))
      yield* waiting(1)
      const two = yield* Effect.fork(Effect.either(other.append(runId, 1, [ended])))
      yield* waiting(2)
      assert.deepStrictEqual(yield* seqs(other), [0])
      // Behind what is not there yet, nothing can be.
      const third = yield* Database.record(opened, opened.client)
      assert.deepInclude(yield* Effect.flip(third.append(runId, 3, [ended])), { _tag: "RecordConflict", actualSeq: 1 })
      yield* Deferred.succeed(over, undefined)
      yield* Fiber.join(holder)
      assert.isTrue(Either.isRight(yield* Fiber.join(one)))
      const lost = yield* Fiber.join(two)
      assert.deepInclude(Either.isLeft(lost) ? lost.left : {}, { _tag: "RecordConflict", actualSeq: 3 })
      yield* record.append(runId, 3, [ended])
      yield* Fiber.join(tail)
      assert.deepStrictEqual(seen, [0, 1, 2, 3])
    })
  )

  it.scoped("flushes where the connection is set to acknowledge before that, unless it is to stay so", () =>
    Effect.gen(function* () {
      const opened = yield* PostgreSQL.open
      const { prefix, sql } = opened
      yield* Database.record(opened, opened.client)
      // What holds when the transaction commits.
      yield* sql.unsafe(`CREATE TABLE ${prefix}seen (setting TEXT)`)
      yield* sql.unsafe(`CREATE FUNCTION ${prefix}look() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN INSERT INTO ${prefix}seen VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$`)
      yield* sql.unsafe(`CREATE CONSTRAINT TRIGGER look AFTER INSERT ON ${prefix}record DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${prefix}look()`)
      yield* Effect.addFinalizer(() =>
        Effect.orDie(sql.unsafe(`DROP FUNCTION ${prefix}look() CASCADE; DROP TABLE ${prefix}seen`))
      )
      const id = { n: 0 }
      for (const setting of ["off", "local", "remote_apply"]) {
        const client = yield* Database.postgres(`-c synchronous_commit=${setting}`, 1)
        for (const durability of ["power-loss", "process-crash"] as const) {
          const record = yield* Database.record(opened, client, { durability })
          const run = `run-${id.n++}`
          yield* record.append(run, 0, [started(run)])
        }
      }
      assert.deepStrictEqual(
        (yield* sql<{ setting: string }>`SELECT setting FROM ${sql(`${prefix}seen`)}`).map(({ setting }) => setting),
        ["on", "off", "local", "local", "remote_apply", "remote_apply"]
      )
    })
  )

  it.scoped("does not know of an append whose connection was lost, and finds out by appending again", () =>
    Effect.gen(function* () {
      const opened = yield* PostgreSQL.open
      const { prefix, sql } = opened
      const record = yield* Database.record(opened, yield* opened.again)
      yield* record.append(runId, 0, [started(runId)])
      yield* sql.unsafe(`CREATE FUNCTION ${prefix}die() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(1); RETURN NULL; END $$`)
      const kill =
        sql.unsafe(`CREATE CONSTRAINT TRIGGER die AFTER INSERT ON ${prefix}record DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION ${prefix}die()`)
      for (let seq = 1; seq < 8; seq++) {
        yield* kill
        const error = yield* Effect.flip(record.append(runId, seq, [received("a")]))
        assert.deepInclude(error, { reason: "Unavailable", outcome: "unknown", retry: "safe-with-same-key" })
        yield* sql.unsafe(`DROP TRIGGER die ON ${prefix}record`)
        // The connection that was lost is given to nobody.
        yield* record.append(runId, seq, [received("a")])
      }
      yield* sql.unsafe(`DROP FUNCTION ${prefix}die()`)
      assert.deepStrictEqual(yield* seqs(record), upTo(8))
    })
  )

  it.scoped("says that nothing was written where no connection can be had", () =>
    Effect.gen(function* () {
      const opened = yield* PostgreSQL.open
      const client = yield* opened.again
      const record = yield* Database.record(opened, client)
      yield* record.append(runId, 0, [started(runId)])
      const closed = yield* Effect.scoped(opened.again)
      const error = yield* Effect.flip(Database.record(opened, closed))
      assert.deepInclude(error, { reason: "Unavailable", outcome: "not-applied" })
      assert.deepStrictEqual(yield* seqs(record), [0])
    })
  )

  for (const isolation of ["repeatable read", "serializable"]) {
    it.scoped(`lets one of many win where transactions are ${isolation}`, () =>
      Effect.gen(function* () {
        const opened = yield* PostgreSQL.open
        const setting = `-c default_transaction_isolation=${isolation.replaceAll(" ", "\\ ")}`
        const clients = [yield* Database.postgres(setting, 4), yield* Database.postgres(setting, 4)]
        const records = yield* Effect.forEach(clients, (client) => Database.record(opened, client))
        yield* records[0]!.append(runId, 0, [started(runId)])
        for (let seq = 1; seq <= 10; seq++) {
          const results = yield* Effect.forEach(
            upTo(8),
            (n) => Effect.either(records[n % 2]!.append(runId, seq, [received(`${n}`)])),
            { concurrency: "unbounded" }
          )
          assert.lengthOf(results.filter(Either.isRight), 1)
          assert.deepStrictEqual(
            new Set(results.flatMap((result) => (Either.isLeft(result) ? [reasonOf(result.left)] : []))),
            new Set(["RecordConflict"])
          )
        }
        assert.deepStrictEqual(yield* seqs(records[1]!), upTo(11))
      })
    )
  }

  it.scoped("is not hurt by what was meant to stop the query of a reader who left", () =>
    Effect.gen(function* () {
      const opened = yield* PostgreSQL.open
      const { prefix, sql } = opened
      const record = yield* Database.record(opened, yield* Database.postgres("", 1))
      yield* record.append(runId, 0, [started(runId)])
      for (let seq = 1; seq <= 40; seq++) {
        const reader = yield* Effect.fork(Fixture.collect(record.read(runId)))
        for (let i = 0; i < seq % 7; i++) yield* Effect.promise(() => new Promise(setImmediate))
        yield* Fiber.interrupt(reader)
        yield* record.append(runId, seq, [received(`${seq}`)])
      }
      // Stopped once, and stopped always.
      yield* sql.unsafe(`CREATE SEQUENCE ${prefix}times`)
      yield* sql.unsafe(`CREATE FUNCTION ${prefix}stop() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF nextval('${prefix}times') <> 2 THEN RAISE EXCEPTION 'stopped' USING ERRCODE = '57014'; END IF; RETURN NEW; END $$`)
      yield* sql.unsafe(
        `CREATE TRIGGER stop BEFORE INSERT ON ${prefix}record FOR EACH ROW EXECUTE FUNCTION ${prefix}stop()`
      )
      yield* Effect.addFinalizer(() =>
        Effect.orDie(sql.unsafe(`DROP FUNCTION ${prefix}stop() CASCADE; DROP SEQUENCE ${prefix}times`))
      )
      yield* record.append(runId, 41, [received("41")])
      const error = yield* Effect.flip(record.append(runId, 42, [received("42")]))
      assert.deepInclude(error, { reason: "Unavailable", found: "57014", outcome: "not-applied", isRetryable: true })
      assert.deepStrictEqual(yield* seqs(record), upTo(42))
    })
  )
})
