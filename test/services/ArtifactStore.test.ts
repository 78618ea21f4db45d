import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Option, TestClock } from "effect"
import { createHash } from "node:crypto"
import { inspect } from "node:util"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as Clock from "../../src/services/Clock.ts"
import * as Entropy from "../../src/services/Entropy.ts"
import * as MemoryArtifactStore from "../../src/services/MemoryArtifactStore.ts"

const scope: Artifact.Scope = { conversationId: "c", tenant: "t" }
const note = (data: unknown, more: Partial<Artifact.PutInput> = {}): Artifact.PutInput => ({
  kind: "note",
  mediaType: "text/plain",
  data,
  ...more
})

const store = ArtifactStore.ArtifactStore
const memory = ArtifactStore.layerMemory()

const put = (data: unknown, more?: Partial<Artifact.PutInput>, where = scope) =>
  Effect.map(
    Effect.flatMap(store, (store) => store.put(where, note(data, more))),
    ({ meta, swept }) => ({ ...meta, swept: swept.map(({ reason, ref }) => `${ref} ${reason}`) })
  )
const refsIn = (where: Artifact.Scope) =>
  Effect.map(
    Effect.flatMap(store, (store) => store.list(where, { limit: 1_000 })),
    ({ artifacts }) => artifacts.map(({ ref }) => ref)
  )
const dataOf = (ref: string, where = scope) =>
  Effect.map(
    Effect.flatMap(store, (store) => store.get(where, ref)),
    Option.map(({ data }) => data)
  )

const art = (character: string) => `art_${character.repeat(22)}`

describe("ArtifactStore.layerMemory", () => {
  it.effect("gives back what it was given, with its ticket", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000)
      const { delete: _, get, head, list, put } = yield* store
      const input = note("Zone a.", { label: "a\nb", origin: { runId: "r", toolCallId: "c1" } })
      const { meta, swept } = yield* put(scope, input)
      assert.deepStrictEqual(swept, [])
      assert.match(meta.ref, /^art_[A-Za-z0-9]{22}$/)
      const { ref, ...rest } = meta
      assert.deepStrictEqual(rest, {
        kind: "note",
        mediaType: "text/plain",
        bytes: 7,
        createdAt: 1_000,
        label: "a\nb",
        origin: { runId: "r", toolCallId: "c1" }
      })
      assert.deepStrictEqual(yield* head(scope, ref), Option.some(meta))
      assert.deepStrictEqual(yield* get(scope, ref), Option.some({ meta, data: "Zone a." }))
      assert.deepStrictEqual(yield* list(scope), { artifacts: [meta] })
    }).pipe(Effect.provide(memory))
  )

  it.effect("keeps each shape as it is", () =>
    Effect.gen(function* () {
      for (const data of ["7", 7, { b: [null, "ä€😀"], a: 1 }, new Uint8Array([0, 255])]) {
        const { ref } = yield* put(data)
        assert.deepStrictEqual(yield* dataOf(ref), Option.some(data))
      }
    }).pipe(Effect.provide(memory))
  )

  it.effect("makes two artifacts of the same data, and deleting one leaves the other", () =>
    Effect.gen(function* () {
      const service = yield* store
      const [one, two] = [yield* put("x"), yield* put("x")]
      assert.notStrictEqual(one.ref, two.ref)
      yield* service.delete(scope, one.ref)
      yield* service.delete(scope, one.ref)
      yield* service.delete(scope, "not a ref")
      assert.deepStrictEqual(yield* refsIn(scope), [two.ref])
      assert.deepStrictEqual(yield* dataOf(one.ref), Option.none())
      assert.deepStrictEqual(yield* dataOf(two.ref), Option.some("x"))
    }).pipe(Effect.provide(memory))
  )

  it.effect("shows nothing to another scope, however alike it looks", () =>
    Effect.gen(function* () {
      const service = yield* store
      const scopes: ReadonlyArray<Artifact.Scope> = [
        { conversationId: "c", tenant: "t" },
        { conversationId: "c" },
        { conversationId: "C", tenant: "t" },
        { conversationId: "c", tenant: "T" },
        { conversationId: "c", tenant: "t", principal: "p" },
        { conversationId: "c", principal: "t" },
        { conversationId: "c", tenant: "t/" },
        { conversationId: "/c", tenant: "t" },
        { conversationId: "c", tenant: "_" },
        { conversationId: "c", tenant: "%5F" },
        { conversationId: "c2", tenant: "t" },
        { conversationId: "", tenant: "t" },
        { conversationId: "..", tenant: "." },
        { conversationId: "'; drop table x; --", tenant: 'a"\\b' },
        { conversationId: "é" },
        { conversationId: "e\u0301" },
        { conversationId: `${"l".repeat(199)}1` },
        { conversationId: `${"l".repeat(199)}2` }
      ]
      const refs = yield* Effect.forEach(scopes, (where, n) => Effect.map(put(n, {}, where), ({ ref }) => ref))
      for (const [n, where] of scopes.entries()) {
        assert.deepStrictEqual(yield* refsIn(where), [refs[n]])
        for (const [other, ref] of refs.entries()) {
          assert.deepStrictEqual(yield* dataOf(ref, where), other === n ? Option.some(n) : Option.none())
          assert.strictEqual(Option.isSome(yield* service.head(where, ref)), other === n)
          if (other !== n) yield* service.delete(where, ref)
        }
      }
    }).pipe(Effect.provide(memory))
  )

  it.effect("an empty tenant is none", () =>
    Effect.gen(function* () {
      const { ref } = yield* put("x", {}, { conversationId: "c", tenant: "", principal: "" })
      assert.deepStrictEqual(yield* dataOf(ref, { conversationId: "c" }), Option.some("x"))
    }).pipe(Effect.provide(memory))
  )

  it.effect("has one answer for what is not there: expired, foreign, malformed or never minted", () =>
    Effect.gen(function* () {
      const { get, head } = yield* store
      yield* TestClock.setTime(1_000)
      const { expiresAt, ref } = yield* put("x", { expiresAt: 2_000 })
      assert.strictEqual(expiresAt, 2_000)
      yield* TestClock.setTime(1_999)
      assert.isTrue(Option.isSome(yield* head(scope, ref)))
      yield* TestClock.setTime(2_000)
      for (const gone of [ref, art("x"), "art_", "../../etc/passwd", "", "__proto__"]) {
        assert.deepStrictEqual(yield* get(scope, gone), Option.none())
        assert.deepStrictEqual(yield* head(scope, gone), Option.none())
      }
      assert.deepStrictEqual(yield* refsIn(scope), [])
      assert.deepStrictEqual((yield* put("y")).swept, [`${ref} ttl`])
    }).pipe(Effect.provide(memory))
  )

  it.effect("ends a ticket at the time to live at the latest", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000)
      assert.strictEqual((yield* put("x")).expiresAt, 1_500)
      assert.strictEqual((yield* put("x", { expiresAt: 1_200 })).expiresAt, 1_200)
      assert.strictEqual((yield* put("x", { expiresAt: 9_000 })).expiresAt, 1_500)
    }).pipe(Effect.provide(ArtifactStore.layerMemory({ ttlMs: 500 })))
  )

  it.effect("tells the digest if it was asked to", () =>
    Effect.gen(function* () {
      const { head } = yield* store
      const { digest, ref } = yield* put({ b: 1, a: 2 }, { digest: "sha-256" })
      assert.strictEqual(digest, `sha-256:${createHash("sha256").update('{"a":2,"b":1}').digest("hex")}`)
      assert.strictEqual((yield* put({ a: 2, b: 1 }, { digest: "sha-256" })).digest, digest)
      assert.notStrictEqual((yield* put({ a: 2, b: "1" }, { digest: "sha-256" })).digest, digest)
      assert.strictEqual(Option.getOrThrow(yield* head(scope, ref)).digest, digest)
      assert.notProperty(yield* put("x"), "digest")
    }).pipe(Effect.provide(memory))
  )

  it.effect("refuses a put that is not in order, for the first thing that is wrong, and stores nothing", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_000)
      const service = yield* store
      const cycle: { self?: unknown } = {}
      cycle.self = cycle
      const puts: ReadonlyArray<readonly [object, string]> = [
        [{ kind: " ", mediaType: "" }, "kind"],
        [{ mediaType: "\t", expiresAt: 1 }, "mediaType"],
        [{ expiresAt: 1_000, digest: "md5" }, "expiresAt"],
        [{ expiresAt: Infinity }, "expiresAt"],
        [{ expiresAt: NaN }, "expiresAt"],
        [{ digest: "md5", parentRefs: ["x"] }, "digest"],
        [{ label: "\ud800" }, "label"],
        [{ label: 7 }, "label"],
        [{ origin: { runId: "" } }, "origin.runId"],
        [{ parentRefs: ["x"], data: NaN }, "parentRefs"],
        [{ data: { a: [NaN] } }, "data/a/0"],
        [{ data: cycle }, "data/self"],
        [{ data: () => 1 }, "data"]
      ]
      for (const [input, path] of puts) {
        // The compiler refuses most of these; a program without one must be told as well.
        const wrong: Artifact.PutInput = Object.assign(note("x"), input)
        const error = yield* Effect.flip(service.put(scope, wrong))
        assert.deepInclude(error, { path, outcome: "not-applied", retry: "never", isRetryable: false })
        assert.strictEqual(error.reason, path === "parentRefs" ? "UnknownParent" : "InvalidInput")
      }
      assert.deepStrictEqual(yield* refsIn(scope), [])
    }).pipe(Effect.provide(memory))
  )

  it.effect("takes parents that live in the same scope, and names all that do not", () =>
    Effect.gen(function* () {
      const { head } = yield* store
      const parent = yield* put("p")
      const foreign = yield* put("f", {}, { conversationId: "other" })
      const child = yield* put("c", { parentRefs: [parent.ref, parent.ref] })
      assert.deepStrictEqual(Option.getOrThrow(yield* head(scope, child.ref)).parentRefs, [parent.ref])
      assert.notProperty(yield* put("d", { parentRefs: [] }), "parentRefs")
      const error = yield* Effect.flip(put("e", { parentRefs: [parent.ref, foreign.ref, art("x"), "n\nope"] }))
      assert.deepInclude(error, { reason: "UnknownParent", code: "WF-ART-002" })
      assert.deepStrictEqual(error.refs, [foreign.ref, art("x"), '"n\\u000aope"'])
      assert.strictEqual((yield* refsIn(scope)).length, 3)
    }).pipe(Effect.provide(memory))
  )

  it.effect("pages newest first, each row once, also when rows go in between", () =>
    Effect.gen(function* () {
      const service = yield* store
      const refs: Array<string> = []
      for (let n = 0; n < 6; n++) {
        yield* TestClock.setTime(1_000 + Math.floor(n / 2))
        refs.push((yield* put(n)).ref)
      }
      const expected = [refs.slice(4).sort(), refs.slice(2, 4).sort(), refs.slice(0, 2).sort()].flat()
      assert.deepStrictEqual(yield* refsIn(scope), expected)
      const seen: Array<string> = []
      let page: ArtifactStore.Page = yield* service.list(scope, { limit: 2 })
      for (;;) {
        seen.push(...page.artifacts.map(({ ref }) => ref))
        if (page.cursor === undefined) break
        const last = seen.at(-1)
        if (last !== undefined) yield* service.delete(scope, last)
        page = yield* service.list(scope, { limit: 2, cursor: page.cursor })
      }
      assert.deepStrictEqual(seen, expected)
      assert.notProperty(yield* service.list(scope, { limit: 4 }), "cursor")
    }).pipe(Effect.provide(memory))
  )

  it.effect("gives 50 to a page, and refuses a page of none or a cursor of others", () =>
    Effect.gen(function* () {
      const { list } = yield* store
      for (let n = 0; n < 51; n++) yield* put(n)
      const { artifacts, cursor } = yield* list(scope)
      assert.deepStrictEqual([artifacts.length, cursor === undefined], [50, false])
      for (const limit of [0, -1, 1.5, NaN])
        assert.strictEqual((yield* Effect.flip(list(scope, { limit }))).path, "limit")
      for (const wrong of ["", "x", `${cursor}x`]) {
        assert.deepInclude(yield* Effect.flip(list(scope, { cursor: wrong })), {
          reason: "InvalidInput",
          path: "cursor"
        })
      }
    }).pipe(Effect.provide(memory))
  )

  it.effect("evicts what was not looked at for longest, and says so", () =>
    Effect.gen(function* () {
      const { get, head } = yield* store
      const [a, b, c] = [yield* put("a"), yield* put("b"), yield* put("c")]
      yield* head(scope, a.ref)
      yield* get(scope, b.ref)
      const d = yield* put("d")
      assert.deepStrictEqual(d.swept, [`${c.ref} max-count`])
      const e = yield* put("four")
      assert.deepStrictEqual(e.swept, [`${a.ref} max-count`])
      const f = yield* put("12345678")
      assert.deepStrictEqual(f.swept, [`${b.ref} max-count`, `${d.ref} max-bytes`, `${e.ref} max-bytes`])
      assert.deepStrictEqual(yield* refsIn(scope), [f.ref])
    }).pipe(Effect.provide(ArtifactStore.layerMemory({ maxCountPerScope: 3, maxBytesPerScope: 10 })))
  )

  it.effect("refuses what does not fit, also beside its parents, and then evicts nothing", () =>
    Effect.gen(function* () {
      const parent = yield* put("12345")
      const other = yield* put("1")
      const large = yield* Effect.flip(put("12345678901"))
      assert.deepInclude(large, { reason: "OverBudget", expected: "at most 10 bytes", found: "11 bytes" })
      const beside = yield* Effect.flip(put("123456", { parentRefs: [parent.ref] }))
      assert.deepInclude(beside, { reason: "OverBudget", found: "11 bytes" })
      assert.sameMembers(yield* refsIn(scope), [parent.ref, other.ref])
      const fits = yield* put("12345", { parentRefs: [parent.ref] })
      assert.deepStrictEqual(fits.swept, [`${other.ref} max-bytes`])
    }).pipe(Effect.provide(ArtifactStore.layerMemory({ maxBytesPerScope: 10 })))
  )

  it.effect("is bounded when nobody says so", () =>
    Effect.gen(function* () {
      for (let n = 0; n < 257; n++) yield* put(n)
      assert.strictEqual((yield* refsIn(scope)).length, 256)
      const error = yield* Effect.flip(put(new Uint8Array(32 * 1_024 * 1_024 + 1)))
      assert.strictEqual(error.reason, "OverBudget")
    }).pipe(Effect.provide(memory))
  )

  it.effect("keeps its bounds when many put at once", () =>
    Effect.gen(function* () {
      const puts = Array.from({ length: 64 }, (_, n) => Effect.zipRight(Effect.yieldNow(), put("x".repeat(n % 7))))
      yield* Effect.all(puts, { concurrency: "unbounded" })
      const { artifacts } = yield* Effect.flatMap(store, (store) => store.list(scope))
      assert.isAtMost(artifacts.length, 8)
      assert.isAtMost(
        artifacts.reduce((sum, { bytes }) => sum + bytes, 0),
        20
      )
    }).pipe(Effect.provide(ArtifactStore.layerMemory({ maxCountPerScope: 8, maxBytesPerScope: 20 })))
  )

  it.effect("refuses limits that are none, when it is built", () =>
    Effect.gen(function* () {
      for (const limits of [{ ttlMs: 0 }, { maxBytesPerScope: -1 }, { maxCountPerScope: Infinity }, { ttlMs: NaN }]) {
        const error = yield* Effect.flip(Effect.provide(put("x"), ArtifactStore.layerMemory(limits)))
        assert.deepInclude(error, { reason: "InvalidInput", path: "limits" })
      }
    })
  )

  it.effect("is detached from what it is given and from what it gives", () =>
    Effect.gen(function* () {
      const { get } = yield* store
      const data = { list: [1] }
      const parent = yield* put("p")
      const parentRefs = [parent.ref]
      const { ref } = yield* put(data, { parentRefs })
      data.list.push(2)
      parentRefs.push("x")
      const first = Option.getOrThrow(yield* get(scope, ref))
      Object.assign(first.meta, { kind: "other" })
      ;(first.meta.parentRefs as Array<string>).push("y")
      ;(first.data as typeof data).list.push(3)
      const second = Option.getOrThrow(yield* get(scope, ref))
      assert.deepStrictEqual(
        [second.meta.kind, second.meta.parentRefs, second.data],
        ["note", [parent.ref], { list: [1] }]
      )
    }).pipe(Effect.provide(memory))
  )

  it.effect("gives no data that is not what was put, but still its ticket", () => {
    const backing: MemoryArtifactStore.Backing = new Map()
    const layer = Layer.effect(store, MemoryArtifactStore.make({}, backing))
    return Effect.gen(function* () {
      const { get, head } = yield* store
      const { digest, ref } = yield* put("Zone a.", { digest: "sha-256" })
      for (const row of backing.values()) row.get(ref)?.bytes.fill(120, 0, 1)
      const error = yield* Effect.flip(get(scope, ref))
      assert.deepInclude(error, { reason: "DigestMismatch", code: "WF-ART-003", ref })
      assert.strictEqual(`sha-256:${error.expected}`, digest)
      assert.strictEqual(error.actual, createHash("sha256").update("xone a.").digest("hex"))
      assert.strictEqual(Option.getOrThrow(yield* head(scope, ref)).digest, digest)
    }).pipe(Effect.provide(layer))
  })

  it.effect("refuses a scope that no adapter can store, by every verb", () =>
    Effect.gen(function* () {
      const service = yield* store
      const wrong: Artifact.Scope = { conversationId: "c", tenant: "\ud800" }
      const verbs = [
        service.put(wrong, note("x")),
        service.head(wrong, art("x")),
        service.get(wrong, art("x")),
        service.delete(wrong, art("x")),
        service.list(wrong)
      ]
      for (const verb of verbs) {
        const error = yield* Effect.flip(Effect.asVoid(verb))
        assert.deepInclude(error, { reason: "InvalidInput", path: "scope.tenant" })
      }
    }).pipe(Effect.provide(memory))
  )

  it.effect("repeats neither payload nor tenant nor principal in a refusal", () =>
    Effect.gen(function* () {
      const secret = "canary-7Qm2xV9t"
      const where = { conversationId: "c", tenant: secret, principal: secret }
      const failing = [
        put(`${secret}\ud800`, {}, where),
        put({ a: new Date(), b: secret }, {}, where),
        put(secret, { kind: " " }, where),
        put(secret, { parentRefs: [art("x")] }, where),
        put(secret.repeat(10), {}, where),
        put(secret, {}, { ...where, conversationId: "\ud800" })
      ]
      for (const effect of failing) {
        const exit = yield* Effect.exit(effect)
        assert.isTrue(Exit.isFailure(exit))
        const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
        const rendered = [
          String(error),
          JSON.stringify(error),
          inspect(error, { depth: Infinity, showHidden: true }),
          inspect(exit, { depth: Infinity })
        ]
        assert.notInclude(rendered.join("\n"), secret)
      }
    }).pipe(Effect.provide(ArtifactStore.layerMemory({ maxBytesPerScope: 50 })))
  )

  it.effect(
    "mints the same names from the same bytes, never one that is taken, and gives up on a source that has none",
    () =>
      Effect.gen(function* () {
        const three = Effect.provide(Effect.all([put("a"), put("b"), put("c")]), memory)
        const seeded = Effect.map(Effect.provide(three, Entropy.layerSeeded(7)), (all) => all.map(({ ref }) => ref))
        assert.deepStrictEqual(yield* seeded, yield* seeded)
        assert.strictEqual(new Set(yield* seeded).size, 3)
        const constant = (byte: number) =>
          Layer.succeed(Entropy.Entropy, { bytes: (count) => Effect.succeed(new Uint8Array(count).fill(byte)) })
        assert.deepInclude(yield* Effect.flip(Effect.provide(three, constant(0))), {
          reason: "Unavailable",
          isRetryable: true
        })
        assert.deepInclude(yield* Effect.flip(Effect.provide(three, constant(255))), { reason: "Unavailable" })
      })
  )

  it.effect("stamps the time of the clock that it is given", () =>
    Effect.gen(function* () {
      const times = [(yield* put("a")).createdAt, (yield* put("b")).createdAt]
      assert.deepStrictEqual(times, [1_000, 1_005])
    }).pipe(Effect.provide([memory, Clock.layerTicking({ start: 1_000, step: 5 })]))
  )
})

describe("ArtifactStore.layerNone", () => {
  it.effect("refuses by every verb", () =>
    Effect.gen(function* () {
      const service = yield* store
      const verbs = [
        service.put(scope, note("x")),
        service.head(scope, art("x")),
        service.get(scope, art("x")),
        service.delete(scope, art("x")),
        service.list(scope)
      ]
      for (const verb of verbs) {
        assert.deepInclude(yield* Effect.flip(Effect.asVoid(verb)), { reason: "NotConfigured", code: "WF-ART-007" })
      }
    }).pipe(Effect.provide(ArtifactStore.layerNone))
  )
})
