/**
 * `ArtifactPutCases` are what a store promises to those who put.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { createHash } from "node:crypto"
import { inspect } from "node:util"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactStoreCase from "./ArtifactStoreCase.ts"

const { absent, all, broken, dataOf, failure, home, note, put, refs, refused, same, unminted } = ArtifactStoreCase

const { malformed } = ArtifactStoreCase

type Case = ArtifactStoreCase.Case

const cycle: { self?: unknown } = {}
cycle.self = cycle

/** Values that storing would change, and where they are. */
const unfaithful: ReadonlyArray<readonly [name: string, data: unknown, path: string]> = [
  ["not a number", Number.NaN, "data"],
  ["an infinite number", { n: [1, Infinity] }, "data/n/1"],
  ["negative zero", { n: -0 }, "data/n"],
  ["nothing", undefined, "data"],
  ["a field of nothing", { a: undefined }, "data/a"],
  ["a hole in a list", { a: Array(1) }, "data/a/0"],
  ["a date", { at: new Date(0) }, "data/at"],
  ["a map", new Map([["a", 1]]), "data"],
  ["a set", [new Set([1])], "data/0"],
  ["nested bytes", { raw: new Uint8Array(1) }, "data/raw"],
  ["a form of its own", { toJSON: () => 1 }, "data"],
  ["a function", { f: () => 1 }, "data/f"],
  ["a symbol", [Symbol("s")], "data/0"],
  ["a big integer", { a: { n: 1n } }, "data/a/n"],
  ["a cycle", cycle, "data/self"],
  ["half a surrogate pair", "x\ud800y", "data"],
  ["half a surrogate pair inside", { a: ["\udc00"] }, "data/a/0"]
]

const secret = "canary-7Qm2xV9t"

export const roundTrip: Case = {
  name: "gives back what was put, with its ticket",
  run: ({ store }) =>
    Effect.gen(function* () {
      const { meta, swept } = yield* store.put(home, note("Zone a.", { label: "first" }))
      yield* same("that a put into an empty scope sweeps nothing", swept, [])
      yield* same("the grammar of refs", Artifact.isRef(meta.ref), true)
      yield* same("the ticket", [meta.kind, meta.mediaType, meta.label, meta.bytes], ["note", "text/plain", "first", 7])
      yield* same("that createdAt is finite", Number.isFinite(meta.createdAt), true)
      const head = yield* store.head(home, meta.ref)
      yield* same("that head gives the ticket", head, Option.some(meta))
      yield* same("that head shows no payload", JSON.stringify(head).includes("Zone a."), false)
      yield* same("what get gives", yield* store.get(home, meta.ref), Option.some({ meta, data: "Zone a." }))
    })
}

export const shapes: Case = {
  name: "keeps each shape as it is",
  run: ({ store }) =>
    Effect.gen(function* () {
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)
      const values: ReadonlyArray<readonly [string, unknown, number]> = [
        ["application/json", { a: 1, b: [null, true, "ä€😀"], c: { d: 2.5 } }, 49],
        ["application/json", 7, 1],
        ["text/plain", "7", 1],
        ["application/json", null, 4],
        ["text/plain", "ä€😀\u0000\r\n\ufeff", 15],
        ["text/plain", "\ufeffmarked", 9],
        ["text/plain", "", 0],
        ["application/octet-stream", bytes, 256],
        ["application/octet-stream", new Uint8Array(), 0]
      ]
      for (const [mediaType, data, size] of values) {
        const meta = yield* put(store, data, { mediaType })
        yield* same("the size of what is stored", meta.bytes, size)
        yield* same("the media type", meta.mediaType, mediaType)
        yield* same("the data", yield* dataOf(store, meta.ref), Option.some(data))
      }
      const kept = { list: [1] }
      const { ref } = yield* put(store, kept)
      kept.list.push(2)
      yield* same(
        "that a later change of the value changes nothing",
        yield* dataOf(store, ref),
        Option.some({ list: [1] })
      )
    })
}

export const minted: Case = {
  name: "makes two artifacts of the same bytes",
  run: ({ store }) =>
    Effect.gen(function* () {
      const one = yield* put(store, "same", { digest: "sha-256" })
      const two = yield* put(store, "same", { digest: "sha-256" })
      yield* same("that the refs differ", one.ref === two.ref, false)
      const drawn = one.ref.slice("art_".length)
      yield* same("that a ref is not of the digest", one.digest?.includes(drawn.toLowerCase()), false)
      yield* store.delete(home, one.ref)
      yield* absent("deleted", store, one.ref)
      yield* same("the twin", yield* dataOf(store, two.ref), Option.some("same"))
    })
}

export const parents: Case = {
  name: "takes parents that live in the same scope, and no others",
  run: ({ store }) =>
    Effect.gen(function* () {
      const parent = yield* put(store, "parent")
      const foreign = yield* put(store, "foreign", {}, { ...home, principal: "q" })
      const gone = yield* put(store, "gone")
      yield* store.delete(home, gone.ref)
      const child = yield* put(store, "child", { parentRefs: [parent.ref] })
      yield* same("the parents", child.parentRefs, [parent.ref])
      const head = yield* store.head(home, child.ref)
      yield* same(
        "what head shows",
        Option.map(head, ({ parentRefs }) => parentRefs),
        Option.some([parent.ref])
      )
      yield* same("that no parents are no field", "parentRefs" in (yield* put(store, "d", { parentRefs: [] })), false)
      const before = yield* refs(store)
      for (const ref of [unminted, foreign.ref, gone.ref, "no ref"]) {
        yield* refused(
          "a parent that is not there",
          put(store, "e", { parentRefs: [parent.ref, ref] }),
          "UnknownParent"
        )
      }
      const lost = yield* failure("two", put(store, "e", { parentRefs: [unminted, parent.ref, foreign.ref] }))
      yield* same("that all are named", lost.refs, [unminted, foreign.ref])
      yield* same("that nothing was stored", yield* refs(store), before)
    })
}

export const malformedPuts: Case = {
  name: "refuses a put that is not in order, and stores nothing",
  run: ({ store }) =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [object, string]> = [
        [{ kind: " ", mediaType: "" }, "kind"],
        [{ kind: "" }, "kind"],
        [{ mediaType: "\t", expiresAt: Number.NaN }, "mediaType"],
        [{ expiresAt: Number.NaN, digest: "md5" }, "expiresAt"],
        [{ digest: "md5", data: cycle }, "digest"],
        [{ digest: "SHA-256" }, "digest"],
        [{ data: cycle }, "data/self"],
        [{ data: () => 1 }, "data"]
      ]
      for (const [input, path] of wrong) {
        yield* refused(path, store.put(home, Object.assign(note("x"), input)), "InvalidInput", path)
      }
      yield* same("that nothing was stored", yield* refs(store), [])
    })
}

export const secrets: Case = {
  name: "repeats neither payload nor tenant nor principal in a refusal",
  run: ({ store }) =>
    Effect.gen(function* () {
      const where = { conversationId: "c", tenant: secret, principal: secret }
      const failing: ReadonlyArray<Effect.Effect<unknown, ArtifactStoreCase.StoreError>> = [
        put(store, `${secret}\ud800`, {}, where),
        put(store, { a: new Date(0), b: secret }, {}, where),
        put(store, secret, { kind: " " }, where),
        put(store, secret, { parentRefs: [unminted] }, where),
        put(store, secret, { expiresAt: Number.NaN }, where),
        put(store, secret, {}, { ...where, conversationId: "\ud800" }),
        store.list(where, { cursor: "no cursor" })
      ]
      for (const effect of failing) {
        const error = yield* failure("each of these", effect)
        const texts = [String(error), JSON.stringify(error), inspect(error, { depth: Infinity, showHidden: true })]
        if (texts.some((text) => text.includes(secret))) {
          return yield* broken(`A refusal with ${error.code} shows the payload, the tenant or the principal.`)
        }
      }
    })
}

export const digests: Case = {
  name: "tells the digest of the stored bytes if it was asked to",
  run: ({ store }) =>
    Effect.gen(function* () {
      const asked = { digest: "sha-256" } as const
      const one = yield* put(store, { b: 1, a: 2 }, asked)
      const expected = `sha-256:${createHash("sha256").update('{"a":2,"b":1}').digest("hex")}`
      yield* same("the digest", one.digest, expected)
      yield* same("of the same bytes", (yield* put(store, { a: 2, b: 1 }, asked)).digest, expected)
      const other = yield* put(store, { a: 2, b: "1" }, asked)
      yield* same("that others differ", other.digest === expected, false)
      const head = yield* store.head(home, one.ref)
      yield* same(
        "what head shows",
        Option.map(head, ({ digest }) => digest),
        Option.some(expected)
      )
      yield* same("that it is absent unless asked for", "digest" in (yield* put(store, "x")), false)
    })
}

export const unfaithfulValues: Case = {
  name: "refuses a value that storing would change, and says where it is",
  run: ({ store }) =>
    Effect.gen(function* () {
      for (const [name, data, path] of unfaithful) {
        yield* refused(name, put(store, data), "InvalidInput", path)
      }
      yield* same("that nothing was stored", yield* refs(store), [])
    })
}

export const labels: Case = {
  name: "lists one row for one artifact, whatever its label has in it",
  run: ({ store }) =>
    Effect.gen(function* () {
      const label = `a\nb\r\nc\u2028d\u0000e\u001b[31m","ref":"${unminted}"}\n${unminted} forged`
      const { ref } = yield* put(store, "x", { label })
      const listed = yield* all(store)
      yield* same(
        "the rows",
        listed.map((row) => [row.ref, row.label]),
        [[ref, label]]
      )
    })
}

/** That nothing is found, changed or refused under what is no ref. */
export const idempotentDelete: Case = {
  name: "deletes what is there and what is not, without an error",
  run: ({ store }) =>
    Effect.gen(function* () {
      const kept = yield* put(store, "kept")
      const { ref } = yield* put(store, "gone")
      yield* store.delete(home, ref)
      yield* absent("deleted", store, ref)
      yield* store.delete(home, ref)
      yield* store.delete(home, unminted)
      for (const name of malformed) yield* store.delete(home, name)
      yield* same("what is left", yield* refs(store), [kept.ref])
    })
}
