import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Stream, TestClock } from "effect"
import * as fs from "node:fs"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import * as ArtifactMedium from "../../src/services/ArtifactMedium.ts"
import * as ArtifactPut from "../../src/services/ArtifactPut.ts"
import { failure } from "../../src/services/ArtifactStoreError.ts"
import * as ArtifactStoreSuite from "../../src/services/ArtifactStoreSuite.ts"
import * as ArtifactTicket from "../../src/services/ArtifactTicket.ts"
import * as Entropy from "../../src/services/Entropy.ts"
import type * as S3ArtifactStore from "../../src/services/S3ArtifactStore.ts"
import * as S3Key from "../../src/services/S3Key.ts"
import * as Parity from "./ArtifactParity.ts"
import * as S3Server from "./S3Server.ts"

type Store = ArtifactStoreSuite.Store

const server = new S3Server.S3Server()
beforeAll(() => server.start())
afterAll(() => server.stop())
beforeEach(() => server.reset())

const prefixOf = new Map<Store, string>()

const created = (more: Partial<S3ArtifactStore.Options> = {}) =>
  Effect.suspend(() => {
    const given = S3Server.options(server, more)
    return Effect.tap(S3Server.open(given), (store) => prefixOf.set(store, given.prefix))
  })

const keys = (store: Store) => server.keys(prefixOf.get(store))

const scope: Artifact.Scope = { conversationId: "chat", tenant: "acme" }
const note = (data: unknown, more: Partial<Artifact.PutInput> = {}): Artifact.PutInput => ({
  kind: "note",
  mediaType: "text/plain",
  data,
  ...more
})
const put = (store: Store, data: unknown, where = scope) =>
  Effect.map(store.put(where, note(data)), ({ meta }) => meta.ref)

const cases = ArtifactStoreSuite.cases({
  createStore: created(),
  boundedStore: created,
  advanceTime: (ms) => TestClock.adjust(ms),
  corrupt: (store, _, ref) =>
    Effect.sync(() => {
      const key = keys(store).find((key) => key.includes("/bytes/") && key.endsWith(ref)) ?? "nowhere"
      const bytes = fs.readFileSync(server.fileOf(key))
      bytes[0]! ^= 1
      fs.writeFileSync(server.fileOf(key), bytes)
    }),
  makeUnreadable: (store) =>
    Effect.sync(() => {
      const prefix = prefixOf.get(store) ?? ""
      server.trouble = ({ key, query }) =>
        (key || (query.get("prefix") ?? "")).startsWith(prefix) ? { refuse: 403, code: "AccessDenied" } : undefined
    })
})

const mebi = 1_024 * 1_024

/** A body of so many MiB, in pieces that no part is a multiple of. */
const body = (mebis: number) => {
  const whole = new Uint8Array(mebis * mebi).map((_, index) => index % 251)
  const size = 1_000_003
  const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, n) =>
    whole.subarray(n * size, (n + 1) * size)
  )
  return { whole, pieces: Stream.fromIterable(pieces) }
}

const blob = (bytes: number, body: Stream.Stream<Uint8Array, S3ArtifactStoreError>) => ({
  kind: "blob",
  mediaType: "application/octet-stream",
  bytes,
  body
})

type S3ArtifactStoreError = ReturnType<typeof failure>

const stream = (store: Store, bytes: number, body: Stream.Stream<Uint8Array, S3ArtifactStoreError>) =>
  Effect.suspend(() => store.putStream!(scope, blob(bytes, body)))

describe("S3ArtifactStore", () => {
  for (const { effect, name, number } of cases) it.effect(`${number} ${name}`, () => effect)

  it.effect.prop(
    "gives the answers that memory gives",
    [Parity.commands],
    ([commands]) => Parity.agree("age", created, commands),
    { fastCheck: { numRuns: 4 } }
  )

  it.effect("keeps two objects for each artifact, under keys that every store takes", () =>
    Effect.gen(function* () {
      const store = yield* created({ prefix: "tests/keys" })
      const { meta } = yield* store.put({ conversationId: "Ä/..", principal: "Ann" }, note("Zone a.", { expiresAt: 9 }))
      const folder = "_/~ann/.C3.84.2F.2E.2E"
      assert.deepStrictEqual(keys(store), [
        `tests/keys/bytes/${folder}/${meta.ref}`,
        `tests/keys/tickets/${folder}/${meta.ref}_0_1_7_9`
      ])
      assert.strictEqual(fs.readFileSync(server.fileOf(keys(store)[0]!), "utf8"), "Zone a.")
      for (const { headers, method, query } of server.seen) {
        if (method !== "PUT" || query.has("uploadId")) continue
        assert.strictEqual(headers["if-none-match"], "*")
      }
    })
  )

  it.effect("is there for a program that starts later, over another client", () =>
    Effect.gen(function* () {
      const given = S3Server.options(server)
      const first = yield* S3Server.open(given)
      const { meta } = yield* first.put(scope, note({ a: [1] }, { digest: "sha-256" }))
      const later = yield* S3Server.open(given, S3Server.undici)
      assert.deepStrictEqual(yield* later.get(scope, meta.ref), Option.some({ meta, data: { a: [1] } }))
      const ref = yield* put(later, "")
      assert.deepStrictEqual(yield* first.list(scope), yield* later.list(scope))
      yield* later.delete(scope, ref)
      assert.deepStrictEqual(yield* first.list(scope), { artifacts: [meta] })
      const { pieces, whole } = body(6)
      const big = yield* stream(
        yield* S3Server.open({ ...given, partBytes: 5 * mebi }, S3Server.undici),
        whole.length,
        pieces
      )
      assert.isTrue(Option.isSome(yield* later.get(scope, big.meta.ref)))
    })
  )

  it.effect("evicts what was put first, and says of what kind it was", () =>
    Effect.gen(function* () {
      const given = S3Server.options(server, { maxCountPerScope: 2 })
      const store = yield* S3Server.open(given)
      const [a, b] = [yield* put(store, "a"), yield* put(store, "bb")]
      yield* store.get(scope, a)
      const later = yield* S3Server.open(given)
      assert.deepStrictEqual((yield* later.put(scope, note("c"))).swept, [
        { ref: a, reason: "max-count", kind: "note", bytes: 1 }
      ])
      assert.deepStrictEqual((yield* store.put(scope, note("d"))).swept, [
        { ref: b, reason: "max-count", kind: "note", bytes: 2 }
      ])
      assert.strictEqual(server.keys(given.prefix).length, 4)
    })
  )

  it.effect("reads no more tickets than a page has, and gives the next for one that went meanwhile", () =>
    Effect.gen(function* () {
      const store = yield* created()
      const refs: Array<string> = []
      for (let n = 0; n < 5; n++) {
        refs.unshift(yield* put(store, n))
        yield* TestClock.adjust(1)
      }
      server.seen.length = 0
      server.before = ({ key, method }) => {
        if (method === "GET" && key.includes(refs[1]!)) fs.rmSync(server.fileOf(key), { force: true })
      }
      const page = yield* store.list(scope, { limit: 2 })
      assert.deepStrictEqual(
        page.artifacts.map(({ ref }) => ref),
        [refs[0], refs[2]]
      )
      assert.isDefined(page.cursor)
      assert.strictEqual(server.seen.filter(({ key }) => key.includes("/tickets/")).length, 4)
      const rest = yield* store.list(scope, { cursor: page.cursor! })
      assert.deepStrictEqual(
        rest.artifacts.map(({ ref }) => ref),
        refs.slice(3)
      )
    })
  )

  it.effect("lists and counts a scope of more keys than a page of the store has", () =>
    Effect.gen(function* () {
      const count = 1_005
      const given = S3Server.options(server, { maxCountPerScope: count })
      const store = yield* S3Server.open(given)
      const place = ArtifactMedium.placeOf(scope)
      const root = `${given.prefix}/`
      const ofNumber = (n: number): ArtifactMedium.Kept => ({
        meta: {
          ref: `art_${String(n).padStart(22, "0")}`,
          kind: "old",
          mediaType: "text/plain",
          bytes: 1,
          createdAt: n
        },
        shape: "text",
        hash: ArtifactPut.sha256(new TextEncoder().encode("x")),
        order: n
      })
      for (let n = 1; n <= count; n++) {
        const kept = ofNumber(n)
        server.write(S3Key.bytesKey(root, place, kept.meta.ref), "x")
        server.write(S3Key.ticketKey(root, place, S3Key.rowOf(kept)), ArtifactTicket.encode(place, kept))
      }
      yield* TestClock.setTime(2_000)
      const page = yield* store.list(scope, { limit: 2 })
      assert.deepStrictEqual(
        page.artifacts.map(({ createdAt }) => createdAt),
        [count, count - 1]
      )
      const { meta, swept } = yield* store.put(scope, note("y"))
      assert.deepStrictEqual(swept, [{ ref: ofNumber(1).meta.ref, reason: "max-count", kind: "old", bytes: 1 }])
      assert.deepStrictEqual((yield* store.list(scope, { limit: 1 })).artifacts, [meta])
      assert.isTrue(server.seen.some(({ query }) => query.has("continuation-token")))
    })
  )

  it.effect("sends a stream in parts, and gives it back as it was", () =>
    Effect.gen(function* () {
      const store = yield* created({ partBytes: 5 * mebi })
      const { pieces, whole } = body(11)
      const { meta } = yield* stream(store, whole.length, pieces)
      const parts = server.seen.filter(({ query }) => query.has("partNumber"))
      assert.deepStrictEqual(
        parts.map(({ headers, query }) => [query.get("partNumber"), Number(headers["content-length"])]),
        [
          ["1", 5 * mebi],
          ["2", 5 * mebi],
          ["3", mebi]
        ]
      )
      assert.deepStrictEqual(server.uploads(), [])
      const got = yield* store.get(scope, meta.ref)
      assert.isTrue(Option.exists(got, ({ data }) => data instanceof Uint8Array && Buffer.compare(data, whole) === 0))
      const given = yield* store.getStream!(scope, meta.ref)
      const hash = Option.isSome(given)
        ? ArtifactPut.sha256(Buffer.concat(Array.from(yield* Stream.runCollect(given.value.body))))
        : ""
      assert.strictEqual(hash, ArtifactPut.sha256(whole))
      const exact = yield* stream(store, 10 * mebi, Stream.make(whole.subarray(0, 10 * mebi)))
      assert.strictEqual(exact.meta.bytes, 10 * mebi)
      assert.isFalse(server.seen.some(({ method }) => method === "DELETE"))
    })
  )

  it.effect("leaves no part of a stream that fails, lies or is interrupted", () =>
    Effect.gen(function* () {
      const store = yield* created({ partBytes: 5 * mebi })
      const { pieces, whole } = body(11)
      const source = failure("Unavailable", { what: "The source failed." })
      const failed = yield* Effect.flip(stream(store, whole.length, Stream.concat(pieces, Stream.fail(source))))
      assert.strictEqual(failed.what, source.what)
      const lied = yield* Effect.flip(stream(store, whole.length + 1, pieces))
      assert.deepInclude(lied, { reason: "InvalidInput", path: "bytes" })
      const fiber = yield* Effect.fork(stream(store, 2 * whole.length, Stream.concat(pieces, Stream.never)))
      yield* Effect.async<void>((resume) => {
        server.before = ({ query }) => {
          if (query.get("partNumber") === "2") resume(Effect.void)
        }
      })
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.deepStrictEqual(server.uploads(), [])
      assert.deepStrictEqual(keys(store), [])
      assert.strictEqual(server.seen.filter(({ method }) => method === "DELETE").length, 3)
    })
  )

  it.effect("leaves nothing of a put that is interrupted while its bytes are sent", () =>
    Effect.gen(function* () {
      const store = yield* created()
      yield* put(store, "whole")
      server.trouble = ({ key, method }) => (method === "PUT" && key.includes("/bytes/") ? "hold" : undefined)
      const held = Effect.async<void>((resume) => {
        server.held = () => resume(Effect.void)
      })
      const fiber = yield* Effect.fork(put(store, "x"))
      yield* held
      assert.strictEqual(keys(store).length, 3)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(keys(store).length, 2)
    })
  )

  it.effect("lets two writers at once keep each put whole", () =>
    Effect.gen(function* () {
      const given = S3Server.options(server)
      const stores = yield* Effect.all([S3Server.open(given), S3Server.open(given, S3Server.undici)])
      const texts = Array.from({ length: 12 }, (_, n) => `text ${n}`)
      const refs = yield* Effect.forEach(texts, (text, n) => put(stores[n % 2]!, text), { concurrency: "unbounded" })
      const { artifacts } = yield* stores[0].list(scope)
      assert.deepStrictEqual(artifacts.map(({ ref }) => ref).sort(), refs.slice().sort())
      for (const [n, ref] of refs.entries()) {
        const got = yield* stores[(n + 1) % 2]!.get(scope, ref)
        assert.strictEqual(Option.getOrThrow(got).data, texts[n])
      }
      assert.deepStrictEqual((yield* S3Server.verify(given)).problems, [])
    })
  )

  it.effect("takes no name that another has, also when both were minted at once", () =>
    Effect.gen(function* () {
      const given = S3Server.options(server)
      const stores = yield* Effect.all([S3Server.open(given), S3Server.open(given)])
      const same = (store: Store, data: string) =>
        Effect.either(store.put(scope, note(data))).pipe(Effect.provide(Entropy.layerSeeded(7)))
      const results = yield* Effect.all([same(stores[0], "one"), same(stores[1], "two")], { concurrency: 2 })
      const stored = results.filter(({ _tag }) => _tag === "Right")
      assert.strictEqual(stored.length, 1)
      const { artifacts } = yield* stores[0].list(scope)
      assert.strictEqual(artifacts.length, 1)
      const got = yield* stores[0].get(scope, artifacts[0]!.ref)
      assert.strictEqual(Option.getOrThrow(got).data, results[0]._tag === "Right" ? "one" : "two")
      const error = results.find((result) => result._tag === "Left")
      assert.deepInclude(error?._tag === "Left" ? error.left : {}, { reason: "Unavailable", outcome: "not-applied" })
    })
  )

  it.effect("refuses a scope whose name is too long for a key, and cuts none", () =>
    Effect.gen(function* () {
      const store = yield* created()
      for (const field of ["tenant", "principal", "conversationId"] as const) {
        const error = yield* Effect.flip(put(store, "x", { ...scope, [field]: "l".repeat(300) }))
        assert.deepInclude(error, { reason: "InvalidInput", path: `scope.${field}` })
      }
      assert.deepStrictEqual(keys(store), [])
    })
  )
})
