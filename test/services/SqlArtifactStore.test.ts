import { assert, afterAll, describe, it } from "@effect/vitest"
import { Effect, Either, Option, Stream, TestClock } from "effect"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import { all } from "../../src/services/ArtifactStoreCase.ts"
import { failure } from "../../src/services/ArtifactStoreError.ts"
import * as ArtifactStoreSuite from "../../src/services/ArtifactStoreSuite.ts"
import * as RecordLock from "../../src/services/RecordLock.ts"
import * as Damages from "./ArtifactDamages.ts"
import * as Database from "./ArtifactDatabase.ts"
import * as Parity from "./ArtifactParity.ts"

type Store = Database.Store

const scope: Artifact.Scope = { conversationId: "chat", tenant: "acme" }

const note = (data: unknown): Artifact.PutInput => ({ kind: "note", mediaType: "text/plain", data })

const blob = (bytes: number, body: Stream.Stream<Uint8Array, ReturnType<typeof failure>>) => ({
  kind: "blob",
  mediaType: "application/octet-stream",
  bytes,
  body
})

const put = (store: Store, data: unknown, where = scope) =>
  Effect.map(store.put(where, note(data)), ({ meta }) => meta.ref)

afterAll(() => Database.closePool())

for (const { missing, name, open } of Database.databases) {
  const opened = new Map<Store, Database.Opened>()
  const at = (store: Store) => opened.get(store) ?? assert.fail("It was opened.")
  const created = (limits = {}) =>
    Effect.gen(function* () {
      const database = yield* open
      const store = yield* Database.store(database, limits)
      opened.set(store, database)
      return store
    })

  const cases = ArtifactStoreSuite.cases({
    createStore: created(),
    boundedStore: created,
    advanceTime: (ms) => TestClock.adjust(ms),
    corrupt: (store, _, ref) =>
      Effect.gen(function* () {
        const behind = Database.behind(at(store))
        const bytes = Buffer.from((yield* behind.read(ref, "bytes")) ?? "")
        bytes[0] = bytes[0]! ^ 1
        yield* behind.write(ref, "bytes", bytes)
      }),
    makeUnreadable: (store) => {
      const { prefix, sql } = at(store)
      return Effect.orDie(sql`DROP TABLE ${sql(`${prefix}artifacts`)}`)
    }
  })

  describe.skipIf(missing !== undefined)(`SqlArtifactStore over ${name}${missing ?? ""}`, () => {
    for (const { name, number, result } of cases) {
      it.effect(`${number} ${name}`, () =>
        Effect.map(result, ({ reason, status }) => assert.strictEqual(status, "passed", reason))
      )
    }

    it.effect.prop(
      "gives the answers that memory gives",
      [Parity.commands],
      ([commands]) => Parity.agree("access", created, commands),
      { fastCheck: { numRuns: 30 } }
    )

    it.scoped("locates damage in every artifact that was changed, and in no other", () =>
      Effect.gen(function* () {
        const store = yield* created()
        yield* Damages.campaign(200, store, Database.behind(at(store)), yield* Damages.fill(store))
      })
    )

    it.scoped("finds a changed column, tells of it, and removes nothing for it", () =>
      Effect.gen(function* () {
        const store = yield* created()
        const kept = yield* Damages.fill(store)
        const [one, two] = kept
        for (const [column, value] of [
          ["ref", `art_${"0".repeat(22)}`],
          ["place", "0".repeat(64)],
          ["scope", "t/_/c2/"],
          ["kind", '"other"'],
          ["size", 7],
          ["created", 7],
          ["expires", 7e15],
          ["ticket", "other"]
        ] as const) {
          const database = yield* open
          const store = yield* Database.store(database)
          const kept = yield* Damages.fill(store)
          const [one] = kept
          yield* Database.setColumn(database, one!.ref, column, value)
          const { artifacts, problems } = yield* Database.verify(database, true)
          const [changed, ...others] = problems.filter(({ kind }) => kind === "ticket-changed")
          assert.deepStrictEqual([changed?.ref, others], [column === "ref" ? value : one!.ref, []], column)
          assert.isTrue(
            problems.every(({ removed }) => !removed),
            column
          )
          assert.strictEqual(artifacts, kept.length - 1, column)
          assert.deepStrictEqual((yield* Database.verify(database)).problems, problems, column)
          const got = yield* Effect.either(store.get(one!.scope, one!.ref))
          // A column that the store does not read back changes nothing of what it gives.
          if (column === "scope") assert.deepStrictEqual(Either.getOrThrow(got).pipe(Option.getOrThrow).data, one!.data)
          else assert.isTrue(Either.isLeft(got) || Option.isNone(got.right), column)
        }
        assert.deepStrictEqual((yield* Database.verify(at(store))).problems, [])
        assert.notStrictEqual(one!.ref, two!.ref)
      })
    )

    it.scoped("makes its tables once, when many start at once, and lets them keep one limit", () =>
      Effect.gen(function* () {
        const database = yield* open
        const clients = yield* Effect.all([database.again, database.again, database.again])
        const stores = yield* Effect.forEach(
          [database.sql, ...clients, ...clients],
          (sql) => Database.store({ ...database, sql }, { maxCountPerScope: 5 }),
          { concurrency: "unbounded" }
        )
        const results = yield* Effect.forEach(
          Array.from({ length: 28 }, (_, n) => n),
          (n) => stores[n % stores.length]!.put(scope, note(`${n}`)),
          { concurrency: "unbounded" }
        )
        const swept = results.flatMap(({ swept }) => swept.map(({ ref }) => ref))
        assert.strictEqual(new Set(swept).size, 23)
        assert.lengthOf(swept, 23)
        const left = yield* all(stores[0]!, scope)
        assert.deepStrictEqual(
          new Set(left.map(({ ref }) => ref)),
          new Set(results.map(({ meta }) => meta.ref).filter((ref) => !swept.includes(ref)))
        )
        assert.deepStrictEqual((yield* Database.verify(database)).problems, [])
      })
    )

    it.scoped("is a part of the caller's transaction, also when several put in it at once", () =>
      Effect.gen(function* () {
        const store = yield* created({ maxBytesPerScope: 100 })
        const { sql } = at(store)
        const error = yield* Effect.flip(
          sql.withTransaction(Effect.zipRight(put(store, "undone"), Effect.fail("changed my mind")))
        )
        assert.strictEqual(error, "changed my mind")
        assert.deepStrictEqual(yield* store.list(scope), { artifacts: [] })
        const results = yield* sql.withTransaction(
          Effect.forEach(
            ["a", "x".repeat(101), "b", "y".repeat(101), "c"],
            (data) => Effect.either(put(store, data, { ...scope, conversationId: data.slice(0, 1) })),
            { concurrency: "unbounded" }
          )
        )
        assert.deepStrictEqual(results.map(Either.isRight), [true, false, true, false, true])
        for (const conversationId of ["a", "b", "c"]) {
          assert.lengthOf((yield* store.list({ ...scope, conversationId })).artifacts, 1)
        }
        assert.strictEqual((yield* Database.verify(at(store))).artifacts, 3)
      })
    )

    it.scoped("keeps a body of many pieces as it was, and gives it back in pieces", () =>
      Effect.gen(function* () {
        const store = yield* created()
        const whole = new Uint8Array(3_000_001).map((_, n) => n % 251)
        const uneven = Stream.fromIterable(
          Array.from({ length: 100 }, (_, n) => whole.subarray(n * n * 300, (n + 1) * (n + 1) * 300))
        ).pipe(Stream.concat(Stream.make(whole.subarray(3_000_000))))
        const streamed = yield* store.putStream!(scope, blob(whole.length, uneven))
        const { meta } = yield* store.put(scope, { kind: "blob", mediaType: "text/plain", data: whole })
        for (const ref of [meta.ref, streamed.meta.ref]) {
          const { data } = Option.getOrThrow(yield* store.get(scope, ref))
          assert.isTrue(Buffer.from(whole).equals(data as Uint8Array))
          const pieces: Array<Uint8Array> = []
          const { body } = Option.getOrThrow(yield* store.getStream!(scope, ref))
          yield* Stream.runForEach(body, (piece) => Effect.sync(() => pieces.push(piece)))
          assert.isTrue(Buffer.concat(pieces).equals(whole))
          assert.isAbove(pieces.length, 10)
        }
        const { prefix, sql } = at(store)
        yield* sql`DELETE FROM ${sql(`${prefix}artifact_pieces`)} WHERE ref = ${meta.ref} AND seq > 7`
        const { body } = Option.getOrThrow(yield* store.getStream!(scope, meta.ref))
        assert.strictEqual((yield* Effect.flip(Stream.runDrain(body))).reason, "Unreadable")
        yield* store.delete(scope, meta.ref)
        yield* store.delete(scope, streamed.meta.ref)
        assert.isTrue(yield* Database.isEmpty(at(store)))
      })
    )

    it.scoped("leaves no row of a stream that fails, lies or is cut, and leaves one alone that goes on", () =>
      Effect.gen(function* () {
        const store = yield* created()
        const cut = failure("Unavailable", { what: "The source was cut." })
        const bytes = Stream.make(new Uint8Array(300_000))
        for (const body of [bytes, Stream.concat(bytes, Stream.fail(cut)), Stream.concat(bytes, bytes)]) {
          yield* Effect.flip(store.putStream!(scope, blob(400_000, body)))
        }
        assert.isTrue(yield* Database.isEmpty(at(store)))
        const putting = yield* Effect.fork(store.putStream!(scope, blob(400_000, Stream.concat(bytes, Stream.never))))
        while (yield* Database.isEmpty(at(store))) yield* Effect.promise(() => new Promise(setImmediate))
        assert.deepStrictEqual((yield* Database.verify(at(store), true)).problems, [])
        assert.isFalse(yield* Database.isEmpty(at(store)))
        yield* putting.interruptAsFork(putting.id())
        yield* putting.await
        assert.isTrue(yield* Database.isEmpty(at(store)))
      })
    )

    it.scoped("removes an upload that nobody continues, when it is repaired, and no other", () =>
      Effect.gen(function* () {
        const store = yield* created()
        const database = at(store)
        const { prefix, sql } = database
        yield* put(store, "whole")
        const dead = RecordLock.self().replace(/-\d+-/, "-1-")
        const elsewhere = "1-1-0000000000000000"
        const refs = [dead, elsewhere, RecordLock.self()].map((_, n) => `art_${`${n}`.repeat(22)}`)
        for (const [n, maker] of [dead, elsewhere, RecordLock.self()].entries()) {
          const key = { ref: refs[n]!, place: `${n}`.repeat(64) }
          yield* sql`INSERT INTO ${sql(`${prefix}artifact_uploads`)} ${sql.insert({ ...key, scope: "_/_/c/", maker, written: 0 })}`
          yield* sql`INSERT INTO ${sql(`${prefix}artifact_pieces`)} ${sql.insert({ ...key, seq: 0, bytes: Buffer.from("x") })}`
        }
        const staged = (ref: string, removed: boolean) => ({
          kind: "staged" as const,
          where: `_/_/c/${ref}`,
          ref,
          what: "A put that never ended left it.",
          removed
        })
        assert.deepStrictEqual((yield* Database.verify(database)).problems, [staged(refs[0]!, false)])
        yield* TestClock.adjust("1 hour")
        assert.deepStrictEqual((yield* Database.verify(database, true)).problems, [staged(refs[0]!, true)])
        yield* TestClock.adjust(1)
        assert.deepStrictEqual((yield* Database.verify(database, true)).problems, [staged(refs[1]!, true)])
        const { artifacts, problems } = yield* Database.verify(database, true)
        assert.deepStrictEqual([artifacts, problems], [1, []])
        assert.lengthOf(yield* sql`SELECT ref FROM ${sql(`${prefix}artifact_pieces`)} WHERE ref = ${refs[2]!}`, 1)
      })
    )

    it.scoped("refuses a stream whose upload was taken for one that nobody continues", () =>
      Effect.gen(function* () {
        const store = yield* created()
        const { prefix, sql } = at(store)
        const removed = Stream.execute(Effect.orDie(sql`DELETE FROM ${sql(`${prefix}artifact_uploads`)}`))
        const bytes = Stream.make(new Uint8Array(300_000))
        for (const body of [Stream.concat(removed, bytes), Stream.concat(bytes, removed)]) {
          const error = yield* Effect.flip(store.putStream!(scope, blob(300_000, body)))
          assert.deepInclude(error, { reason: "Unavailable", outcome: "not-applied" })
        }
        assert.deepStrictEqual(yield* store.list(scope), { artifacts: [] })
        // Of the second the first piece was written when its upload went; of the first nothing was.
        assert.lengthOf(yield* sql`SELECT DISTINCT ref FROM ${sql(`${prefix}artifact_pieces`)}`, 1)
      })
    )

    it.scoped("is there for a program that starts later, with what it accessed", () =>
      Effect.gen(function* () {
        const limits = { maxCountPerScope: 2 }
        const store = yield* created(limits)
        const [one, two] = [yield* put(store, { a: 1 }), yield* put(store, "two")]
        assert.isTrue(Option.isSome(yield* store.head(scope, one)))
        const sql = yield* at(store).again
        const later = yield* Database.store({ ...at(store), sql }, limits)
        assert.deepStrictEqual(Option.getOrThrow(yield* later.get(scope, one)).data, { a: 1 })
        const { swept } = yield* later.put(scope, note("three"))
        assert.deepStrictEqual(
          swept.map(({ ref }) => ref),
          [two]
        )
      })
    )

    it.scoped("takes any scope and any kind, however long or odd", () =>
      Effect.gen(function* () {
        const store = yield* created()
        const long = { conversationId: "€".repeat(20_000), tenant: "\0'\"; DROP TABLE x; --" }
        const input = { ...note("x"), kind: "a\0b", label: "\0\u2028'" }
        const { meta } = yield* store.put(long, input)
        assert.deepStrictEqual(yield* store.list(long), { artifacts: [meta] })
        assert.strictEqual(meta.kind, "a\0b")
        assert.strictEqual((yield* Database.verify(at(store))).artifacts, 1)
      })
    )

    it.scoped("says nothing of what is stored, or for whom, when the database fails", () =>
      Effect.gen(function* () {
        const store = yield* created()
        const { prefix, sql } = at(store)
        yield* sql`DROP TABLE ${sql(`${prefix}artifact_pieces`)}`
        const error = yield* Effect.flip(put(store, "canary", { ...scope, tenant: "canary" }))
        assert.deepInclude(error, { reason: "Unavailable", outcome: "not-applied", retry: "after-human" })
        assert.notInclude(JSON.stringify(error) + String(error.cause) + error.stack, "canary")
        // The row that was written before the failure is not there.
        assert.deepStrictEqual(yield* store.list({ ...scope, tenant: "canary" }), { artifacts: [] })
        assert.isTrue(Either.isLeft(yield* Effect.either(Database.verify(at(store)))))
      })
    )

    it.effect("refuses a prefix that is no name", () =>
      Effect.gen(function* () {
        for (const prefix of ["", "a b", "X_", '"', "1a", "a".repeat(32)]) {
          const error = yield* Effect.flip(Database.store({ ...(yield* open), prefix }))
          assert.deepInclude(error, { reason: "InvalidInput", path: "prefix" })
        }
      }).pipe(Effect.scoped)
    )
  })
}

describe("SqlArtifactStore", () => {
  it.scoped("refuses SQLite in memory, and sets SQLite to flush", () =>
    Effect.gen(function* () {
      const memory = yield* Database.sqlite({ filename: ":memory:" })
      const error = yield* Effect.flip(Database.store({ sql: memory, prefix: "wherefore_" }))
      assert.deepInclude(error, { reason: "InvalidInput", path: "database" })
      const { prefix, sql } = yield* Database.databases[0]!.open
      yield* Database.store({ prefix, sql })
      assert.deepStrictEqual(yield* sql`PRAGMA synchronous`, [{ synchronous: 2 }])
    })
  )

  it.scoped("does not mind how a client renames columns", () =>
    Effect.gen(function* () {
      const directory = yield* Database.databases[0]!.open
      const rename = {
        transformQueryNames: (name: string) => `${name}`,
        transformResultNames: (name: string) => `x_${name}`
      }
      const [{ file } = { file: "" }] = yield* directory.sql<{ file: string }>`PRAGMA database_list`
      const sql = yield* Database.sqlite({ filename: file, ...rename })
      const store = yield* Database.store({ sql, prefix: "wherefore_" })
      const ref = yield* put(store, "x")
      assert.isTrue(Option.isSome(yield* store.get(scope, ref)))
    })
  )

  it.scoped("says that it was others, where SQLite is busy, and leaves nothing open", () =>
    Effect.gen(function* () {
      const database = yield* Database.databases[0]!.open
      const store = yield* Database.store(database)
      yield* database.sql`PRAGMA busy_timeout = 1`
      const other = yield* database.again
      const error = yield* Effect.flip(
        other.withTransaction(
          Effect.zipRight(other`INSERT INTO wherefore_artifact_uploads VALUES ('a', 'b', 'c', 'd', 0)`, put(store, "x"))
        )
      )
      assert.deepInclude(error, {
        reason: "Unavailable",
        found: "SQLITE_BUSY",
        isRetryable: true,
        outcome: "not-applied"
      })
      assert.isTrue(Option.isSome(yield* store.head(scope, yield* put(store, "x"))))
    })
  )
})
