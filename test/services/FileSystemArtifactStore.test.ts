import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream, TestClock } from "effect"
import { execFileSync } from "node:child_process"
import * as fs from "node:fs"
import { dirname, join } from "node:path"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import { failure } from "../../src/services/ArtifactStoreError.ts"
import * as ArtifactStoreSuite from "../../src/services/ArtifactStoreSuite.ts"
import * as Directory from "./ArtifactDirectory.ts"
import * as Parity from "./ArtifactParity.ts"

type Store = ArtifactStoreSuite.Store

const scope: Artifact.Scope = { conversationId: "chat", tenant: "acme" }
const note = (data: unknown, more: Partial<Artifact.PutInput> = {}): Artifact.PutInput => ({
  kind: "note",
  mediaType: "text/plain",
  data,
  ...more
})
const put = (store: Store, data: unknown, where = scope) =>
  Effect.map(store.put(where, note(data)), ({ meta }) => meta.ref)

const directories = new Map<Store, string>()

const created = (limits = {}) =>
  Effect.gen(function* () {
    const directory = yield* Directory.directory
    const store = yield* Directory.open({ directory, ...limits })
    directories.set(store, directory)
    return store
  })

const cases = ArtifactStoreSuite.cases({
  createStore: created(),
  boundedStore: created,
  advanceTime: (ms) => TestClock.adjust(ms),
  corrupt: (store, _, ref) =>
    Effect.sync(() => {
      const path = Directory.fileOf(directories.get(store) ?? "", ref, "bytes")
      const bytes = fs.readFileSync(path)
      bytes[0]! ^= 1
      fs.writeFileSync(path, bytes)
    }),
  makeUnreadable: (store) =>
    Effect.sync(() => {
      const path = directories.get(store) ?? ""
      fs.rmSync(path, { recursive: true })
      fs.writeFileSync(path, "")
    })
})

describe("ArtifactStore.layerFileSystem", () => {
  for (const { effect, name, number } of cases) it.effect(`${number} ${name}`, () => effect)

  it.effect("keeps every promise, and declares none away", () =>
    Effect.gen(function* () {
      const results = yield* Effect.forEach(cases, ({ result }) => result)
      assert.deepStrictEqual(new Set(results.map(({ status }) => status)), new Set(["passed"]))
    })
  )

  it.effect.prop(
    "gives the answers that memory gives",
    [Parity.commands],
    ([commands]) => Parity.agree("age", created, commands),
    { fastCheck: { numRuns: 50 } }
  )

  it.scoped("keeps two files for each artifact, in directories named after the scope, for its owner alone", () =>
    Effect.gen(function* () {
      const directory = `${yield* Directory.directory}/new/one`
      const store = yield* Directory.open({ directory })
      const ref = yield* put(store, "Zone a.", { conversationId: "Ä/..", principal: "Ann" })
      const path = "t-_/p-~ann"
      const [found = ""] = Directory.files(directory)
      assert.match(found, /^t-_\/p-~ann\/c-%C3%84%2F%2E%2E\.[0-9a-f]{16}\/art_/)
      const place = dirname(found)
      assert.deepStrictEqual(Directory.files(directory), [`${place}/${ref}.bytes`, `${place}/${ref}.ticket`])
      assert.strictEqual(fs.readFileSync(`${directory}/${place}/${ref}.bytes`, "utf8"), "Zone a.")
      for (const made of ["", "staging", path, place]) {
        assert.strictEqual(fs.statSync(join(directory, made)).mode & 0o777, 0o700)
      }
      for (const file of Directory.files(directory)) {
        assert.strictEqual(fs.statSync(join(directory, file)).mode & 0o777, 0o600)
      }
      assert.deepStrictEqual(fs.readdirSync(`${directory}/staging`), [])
    })
  )

  it.scoped("is there for a program that starts later", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.directory
      const { meta } = yield* (yield* Directory.open({ directory })).put(scope, note({ a: [1] }, { digest: "sha-256" }))
      const later = yield* Directory.open({ directory })
      assert.deepStrictEqual(yield* later.get(scope, meta.ref), Option.some({ meta, data: { a: [1] } }))
      assert.deepStrictEqual(yield* later.list(scope), { artifacts: [meta] })
    })
  )

  it.effect("evicts what was put first, also when it was looked at since, and by a later program", () =>
    Effect.gen(function* () {
      const directory = yield* Directory.directory
      const store = yield* Directory.open({ directory, maxCountPerScope: 3 })
      const [a, b] = [yield* put(store, "a"), yield* put(store, "b"), yield* put(store, "c")]
      yield* store.get(scope, a)
      const later = yield* Directory.open({ directory, maxCountPerScope: 3 })
      const first = yield* later.put(scope, note("d"))
      const second = yield* store.put(scope, note("e"))
      assert.deepStrictEqual(
        [...first.swept, ...second.swept].map(({ ref }) => ref),
        [a, b]
      )
    }).pipe(Effect.scoped)
  )

  it.scoped("refuses a scope whose name is too long for a file, and cuts none", () =>
    Effect.gen(function* () {
      const store = yield* created()
      for (const [field, text] of [
        ["tenant", "l".repeat(237)],
        ["principal", "L".repeat(119)],
        ["conversationId", "€".repeat(27)]
      ] as const) {
        const error = yield* Effect.flip(put(store, "x", { ...scope, [field]: text }))
        assert.deepInclude(error, { reason: "InvalidInput", path: `scope.${field}`, outcome: "not-applied" })
      }
      const longest = { conversationId: "l".repeat(236), tenant: "€".repeat(26), principal: "L".repeat(118) }
      const ref = yield* put(store, "x", longest)
      assert.isTrue(Option.isSome(yield* store.head(longest, ref)))
    })
  )

  it.scoped("streams what is larger than it holds at once", () =>
    Effect.gen(function* () {
      const store = yield* created()
      const piece = new Uint8Array(65_536).map((_, n) => n % 251)
      const bytes = 64 * 1_024 * 1_024
      const body = Stream.repeatEffect(Effect.succeed(piece)).pipe(Stream.take(bytes / piece.length))
      const { meta } = yield* store.putStream!(scope, {
        kind: "blob",
        mediaType: "application/octet-stream",
        bytes,
        body
      })
      const before = process.memoryUsage.rss()
      const found = Option.getOrThrow(yield* store.getStream!(scope, meta.ref))
      const size = yield* Stream.runFold(found.body, 0, (sum, { length }) => sum + length)
      assert.strictEqual(size, bytes)
      assert.isBelow(process.memoryUsage.rss() - before, bytes)
    })
  )

  it.scoped("leaves no file of a stream that fails, lies or is cut", () =>
    Effect.gen(function* () {
      const store = yield* created()
      const directory = directories.get(store) ?? ""
      const cut = failure("Unavailable", { what: "The source was cut." })
      const bytes = Stream.make(new Uint8Array(10))
      for (const body of [bytes, Stream.concat(bytes, Stream.fail(cut)), Stream.concat(bytes, bytes)]) {
        yield* Effect.flip(store.putStream!(scope, { kind: "k", mediaType: "m", bytes: 15, body }))
      }
      const never = Stream.concat(bytes, Stream.never)
      const putting = yield* Effect.fork(store.putStream!(scope, { kind: "k", mediaType: "m", bytes: 15, body: never }))
      while (Directory.files(directory).length === 0) yield* Effect.promise(() => new Promise(setImmediate))
      // A put that runs is no leftover.
      assert.deepStrictEqual((yield* Directory.verify(directory, true)).problems, [])
      assert.lengthOf(Directory.files(directory), 1)
      yield* putting.interruptAsFork(putting.id())
      yield* putting.await
      assert.deepStrictEqual(Directory.files(directory), [])
    })
  )

  it.scoped("leaves nothing of a put that is interrupted, or all of it", () =>
    Effect.gen(function* () {
      const store = yield* created()
      for (let round = 0; round < 60; round++) {
        const fiber = yield* Effect.fork(store.put(scope, note(`${round}`)))
        for (let turn = 0; turn < round % 20; turn++) yield* Effect.promise(() => new Promise(setImmediate))
        yield* fiber.interruptAsFork(fiber.id())
        yield* fiber.await
      }
      const report = yield* Directory.verify(directories.get(store) ?? "")
      assert.deepStrictEqual(report.problems, [])
      assert.strictEqual((yield* store.list(scope, { limit: 100 })).artifacts.length, report.artifacts)
    })
  )
})

describe("ArtifactStore.layerFileSystem, outside of its directory", () => {
  /** A store, and a directory next to it with a secret. */
  const beside = Effect.gen(function* () {
    const outside = yield* Directory.directory
    fs.writeFileSync(`${outside}/secret`, "secret")
    const store = yield* created()
    const directory = directories.get(store) ?? ""
    const ref = yield* put(store, "mine")
    const place = dirname(Directory.fileOf(directory, ref, "bytes"))
    return { directory, outside, place, ref, store }
  })

  const verbs = (
    store: Store,
    ref: string
  ): ReadonlyArray<readonly [string, Effect.Effect<unknown, { reason: string }>]> => [
    ["put", store.put(scope, note("x"))],
    ["head", store.head(scope, ref)],
    ["get", store.get(scope, ref)],
    ["list", store.list(scope)],
    ["delete", store.delete(scope, ref)]
  ]

  for (const level of [0, 1, 2]) {
    it.scoped(`does not follow a link in place of directory ${level + 1} of a scope`, () =>
      Effect.gen(function* () {
        const { directory, outside, place, ref, store } = yield* beside
        const at = [dirname(dirname(place)), dirname(place), place][level] ?? ""
        // The same files, elsewhere.
        fs.cpSync(at, `${outside}/copy`, { recursive: true })
        fs.rmSync(at, { recursive: true })
        fs.symlinkSync(`${outside}/copy`, at)
        const before = Directory.files(outside)
        for (const [name, verb] of verbs(store, ref)) {
          assert.strictEqual((yield* Effect.flip(verb)).reason, "Unavailable", name)
        }
        assert.deepStrictEqual(Directory.files(outside), before)
        const { artifacts, problems } = yield* Directory.verify(directory, true)
        assert.deepStrictEqual([artifacts, problems.map(({ kind }) => kind)], [0, ["foreign"]])
        assert.deepStrictEqual(Directory.files(outside), before)
      })
    )
  }

  it.scoped("does not follow a link, a pipe or a directory in place of a file", () =>
    Effect.gen(function* () {
      const { directory, outside, ref, store } = yield* beside
      for (const kind of ["bytes", "ticket"] as const) {
        const path = Directory.fileOf(directory, ref, kind)
        const kept = fs.readFileSync(path)
        fs.writeFileSync(`${outside}/same`, kept)
        const exchanges = [
          () => fs.symlinkSync(`${outside}/same`, path),
          () => execFileSync("mkfifo", [path]),
          () => fs.mkdirSync(path)
        ]
        for (const exchange of exchanges) {
          fs.rmSync(path, { recursive: true })
          exchange()
          assert.strictEqual((yield* Effect.flip(store.get(scope, ref))).reason, "Unavailable")
          const { problems } = yield* Directory.verify(directory, true)
          assert.deepStrictEqual(
            problems.map(({ kind, ref }) => [kind, ref]),
            [["unreadable", ref]]
          )
        }
        fs.rmSync(path, { recursive: true })
        fs.writeFileSync(path, kept)
      }
      fs.rmSync(Directory.fileOf(directory, ref, "bytes"))
      fs.symlinkSync(`${outside}/secret`, Directory.fileOf(directory, ref, "ticket").replace("ticket", "bytes"))
      yield* store.delete(scope, ref)
      assert.deepStrictEqual(Directory.files(outside), ["same", "secret"])
    })
  )

  it.scoped("does not write through a link in place of the staging directory", () =>
    Effect.gen(function* () {
      const { directory, outside, store } = yield* beside
      fs.rmSync(`${directory}/staging`, { recursive: true })
      fs.symlinkSync(outside, `${directory}/staging`)
      assert.strictEqual((yield* Effect.flip(put(store, "x"))).reason, "Unavailable")
      assert.deepStrictEqual(Directory.files(outside), ["secret"])
    })
  )

  it.scoped("takes a link for its own directory, since that is the user's", () =>
    Effect.gen(function* () {
      const { directory, outside, ref } = yield* beside
      fs.symlinkSync(directory, `${outside}/link`)
      const store = yield* Directory.open({ directory: `${outside}/link` })
      assert.isTrue(Option.isSome(yield* store.get(scope, ref)))
    })
  )

  it.scoped("says that it cannot be used where there is a file, and shows no path in its errors", () =>
    Effect.gen(function* () {
      const { outside } = yield* beside
      const error = yield* Effect.flip(Directory.open({ directory: `${outside}/secret` }))
      assert.strictEqual(error.reason, "Unavailable")
      assert.notInclude(JSON.stringify(error), outside)
      const limit = yield* Effect.flip(Directory.open({ directory: `${outside}/a`, maxCountPerScope: 0 }))
      assert.deepInclude(limit, { reason: "InvalidInput", path: "limits" })
    })
  )
})
