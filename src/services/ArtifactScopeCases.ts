/**
 * `ArtifactScopeCases` are what a store promises of scopes: that nothing crosses from one to another.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactStoreCase from "./ArtifactStoreCase.ts"

const { absent, all, dataOf, home, note, put, refs, refused, same, unminted } = ArtifactStoreCase

type Case = ArtifactStoreCase.Case
type Scope = Artifact.Scope

const c = (conversationId: string, more: Omit<Scope, "conversationId"> = {}): Scope => ({ conversationId, ...more })

const marker = Artifact.encodeScope(c(""))[0] ?? ""

/** Scopes that a careless encoder takes for one another. */
const confusable: ReadonlyArray<readonly [string, Scope, Scope]> = [
  [
    "a slash between tenant and principal",
    c("c", { tenant: "a/b", principal: "d" }),
    c("c", { tenant: "a", principal: "b/d" })
  ],
  ["a slash between principal and conversation", c("d", { principal: "a/b" }), c("b/d", { principal: "a" })],
  ["no tenant and the marker of none", c("c"), c("c", { tenant: marker })],
  ["no principal and the marker of none", c("c", { tenant: "t" }), c("c", { tenant: "t", principal: marker })],
  ["no conversation and the marker of none", c("", { tenant: "t" }), c(marker, { tenant: "t" })],
  ["a tenant and a principal", c("c", { tenant: "a" }), c("c", { principal: "a" })],
  ["escaped and raw", c("a/b"), c("a%2Fb")],
  ["an escaped marker and a raw one", c("%5F"), c("_")],
  ["marked case and the marks", c("A"), c("~a")],
  ["case in the conversation", c("case"), c("Case")],
  ["case in the tenant", c("c", { tenant: "case" }), c("c", { tenant: "CASE" })],
  ["case in the principal", c("c", { principal: "case" }), c("c", { principal: "casE" })],
  ["a prefix", c("c"), c("c2")],
  ["composed and decomposed", c("\u00e9"), c("e\u0301")],
  ["case outside of ASCII", c("\u00e9"), c("\u00c9")],
  ["a letter that folds to two", c("\u00df"), c("ss")],
  ["a trailing space", c("c"), c("c ")],
  ["a trailing dot", c("c"), c("c.")]
]

const apart = (what: string, store: ArtifactStoreCase.Store, mine: Scope, theirs: Scope) =>
  Effect.gen(function* () {
    const own = yield* put(store, "mine", {}, mine)
    const foreign = yield* put(store, "theirs", {}, theirs)
    yield* same(`the list: ${what}`, [yield* refs(store, mine), yield* refs(store, theirs)], [[own.ref], [foreign.ref]])
    yield* absent(what, store, foreign.ref, mine)
    yield* absent(what, store, own.ref, theirs)
    yield* store.delete(mine, foreign.ref)
    yield* store.delete(theirs, own.ref)
    yield* same(`what is left: ${what}`, yield* dataOf(store, own.ref, mine), Option.some("mine"))
    yield* same(`what is left: ${what}`, yield* dataOf(store, foreign.ref, theirs), Option.some("theirs"))
    yield* store.delete(mine, own.ref)
    yield* store.delete(theirs, foreign.ref)
  })

export const foreign: Case = {
  name: "shows nothing to another scope",
  run: ({ store }) =>
    Effect.gen(function* () {
      const { ref } = yield* put(store, "mine")
      const others: ReadonlyArray<Scope> = [
        { ...home, conversationId: "d" },
        { ...home, tenant: "u" },
        { ...home, principal: "q" },
        c("c", { tenant: "t" }),
        c("c", { principal: "p" }),
        c("c")
      ]
      for (const other of others) {
        yield* absent("another scope", store, ref, other)
        yield* same("that its list is empty", yield* all(store, other), [])
        yield* store.delete(other, ref)
      }
      yield* same("what is left", yield* dataOf(store, ref), Option.some("mine"))
    })
}

export const confusables: Case = {
  name: "keeps scopes apart that look alike",
  run: ({ store }) => Effect.forEach(confusable, ([what, one, two]) => apart(what, store, one, two), { discard: true })
}

const awkward: ReadonlyArray<string> = [
  "a/b",
  "..",
  ".",
  "../../etc",
  "/",
  "ä€😀",
  "\\",
  "c:\\windows",
  "con",
  "\"'`",
  "'; DROP TABLE artifacts; --",
  "%",
  "_",
  "a\0b",
  "a\nb",
  " ",
  "__proto__",
  "l".repeat(200)
]

export const awkwardScopes: Case = {
  name: "takes scopes for data, whatever they look like",
  run: ({ store }) =>
    Effect.gen(function* () {
      const scopes = [
        c(""),
        ...awkward.flatMap((text) => [c(text), c("c", { tenant: text }), c("c", { principal: text })])
      ]
      const placed = yield* Effect.forEach(scopes, (scope, n) => Effect.map(put(store, n, {}, scope), ({ ref }) => ref))
      for (const [n, scope] of scopes.entries()) {
        yield* same("that it is listed once", yield* refs(store, scope), placed.slice(n, n + 1))
        yield* same("the data", yield* dataOf(store, placed[n] ?? "", scope), Option.some(n))
      }
      const [one, two] = [c(`${"l".repeat(199)}1`), c(`${"l".repeat(199)}2`)]
      yield* apart("long values that differ at their end", store, one, two)
    })
}

export const illFormed: Case = {
  name: "refuses a scope that no store can keep, by every verb",
  run: ({ store }) =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<readonly [object, string]> = [
        [{ conversationId: "\ud800" }, "scope.conversationId"],
        [{ tenant: "a\udc00" }, "scope.tenant"],
        [{ principal: "\ud800a" }, "scope.principal"],
        [{ conversationId: 7 }, "scope.conversationId"],
        [{ conversationId: undefined }, "scope.conversationId"],
        [{ tenant: {} }, "scope.tenant"],
        [{ principal: null }, "scope.principal"]
      ]
      for (const [fields, path] of wrong) {
        const scope: Scope = Object.assign({ ...home }, fields)
        yield* refused("put", store.put(scope, note("x")), "InvalidInput", path)
        yield* refused("head", store.head(scope, unminted), "InvalidInput", path)
        yield* refused("get", store.get(scope, unminted), "InvalidInput", path)
        yield* refused("delete", store.delete(scope, unminted), "InvalidInput", path)
        yield* refused("list", store.list(scope), "InvalidInput", path)
        if (store.getStream !== undefined) {
          yield* refused("getStream", store.getStream(scope, unminted), "InvalidInput", path)
        }
      }
      yield* same("that an empty tenant is none", yield* isEmptyAbsent(store), true)
    })
}

/** Whether an empty tenant and principal are absent ones. */
const isEmptyAbsent = (store: ArtifactStoreCase.Store) =>
  Effect.gen(function* () {
    const { ref } = yield* put(store, "x", {}, c("c", { tenant: "", principal: "" }))
    return Option.isSome(yield* store.get(c("c"), ref))
  })
