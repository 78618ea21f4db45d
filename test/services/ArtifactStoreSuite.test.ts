import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Option, TestClock } from "effect"
import { createHash } from "node:crypto"
import * as Artifact from "../../src/kernel/Artifact.ts"
import * as Printable from "../../src/kernel/Printable.ts"
import * as ArtifactMedium from "../../src/services/ArtifactMedium.ts"
import type * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import { failure } from "../../src/services/ArtifactStoreError.ts"
import * as ArtifactStoreSuite from "../../src/services/ArtifactStoreSuite.ts"
import * as MemoryArtifactStore from "../../src/services/MemoryArtifactStore.ts"

type Store = ArtifactStoreSuite.Store

/** A harness over memory, whose stores are wrapped. */
const harness = (
  wrap: (store: Store) => Store = (store) => store,
  /** The limits that a bounded store is told of. */
  told: (limits: ArtifactStore.Limits) => ArtifactStore.Limits = (limits) => limits
): ArtifactStoreSuite.Harness<unknown> => {
  const backings = new Map<Store, MemoryArtifactStore.Backing>()
  const open = (limits?: ArtifactStore.Limits) =>
    Effect.gen(function* () {
      const backing: MemoryArtifactStore.Backing = new Map()
      const store = wrap(yield* MemoryArtifactStore.make(limits, backing))
      backings.set(store, backing)
      return store
    })
  return {
    createStore: open(),
    boundedStore: (limits) => open(told(limits)),
    advanceTime: (ms) => TestClock.adjust(ms),
    corrupt: (store, scope, ref) =>
      Effect.sync(() => {
        const bytes = backings.get(store)?.get(ArtifactMedium.placeOf(scope).prefix)?.get(ref)?.bytes
        if (bytes?.[0] !== undefined) bytes[0] ^= 1
      }),
    declared: { 26: "What holds a map in memory can always be read." }
  }
}

const results = (given: ArtifactStoreSuite.Harness<unknown>) =>
  Effect.forEach(ArtifactStoreSuite.cases(given), ({ result }) => result)

const failed = (given: ArtifactStoreSuite.Harness<unknown>) =>
  Effect.map(results(given), (all) => all.filter(({ status }) => status === "failed").map(({ number }) => number))

describe("ArtifactStore.layerMemory", () => {
  for (const { effect, name, number } of ArtifactStoreSuite.cases(harness()))
    it.effect(`${number} ${name}`, () => effect)
})

/** What is wrong with a store, and the cases that have to find it. */
interface Fault {
  readonly what: string
  readonly wrap?: (store: Store) => Store
  readonly told?: (limits: ArtifactStore.Limits) => ArtifactStore.Limits
  readonly finds: ReadonlyArray<number>
}

type Change<K extends keyof Store> = (store: Store) => Store[K]

/** A store with one verb exchanged. */
const with_ =
  <K extends keyof Store>(verb: K, change: Change<K>) =>
  (store: Store): Store => ({ ...store, [verb]: change(store) })

const scoped =
  (change: (scope: Artifact.Scope) => Artifact.Scope) =>
  ({ delete: remove, get, head, list, put }: Store): Store => ({
    put: (scope, input) => put(change(scope), input),
    head: (scope, ref) => head(change(scope), ref),
    get: (scope, ref) => get(change(scope), ref),
    delete: (scope, ref) => remove(change(scope), ref),
    list: (scope, options) => list(change(scope), options)
  })

const whole = (scope: unknown): scope is Artifact.Scope => Artifact.scopeFault(scope) === undefined

const lower = (text: string | undefined) => (text === undefined ? {} : text.toLowerCase())

const faults: ReadonlyArray<Fault> = [
  {
    what: "a label that is lost",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, { label: _, ...input }) =>
          put(scope, input)
    ),
    finds: [1, 28]
  },
  {
    what: "a head with the payload",
    wrap: with_(
      "head",
      ({ get, head }) =>
        (scope, ref) =>
          Effect.flatMap(head(scope, ref), (meta) =>
            Effect.map(Effect.option(get(scope, ref)), (stored) =>
              Option.map(meta, (meta) => ({ ...meta, data: Option.getOrUndefined(Option.flatten(stored))?.data }))
            )
          )
    ),
    finds: [1]
  },
  {
    what: "data that comes back as text",
    wrap: with_(
      "get",
      ({ get }) =>
        (scope, ref) =>
          Effect.map(
            get(scope, ref),
            Option.map(({ data, meta }) => ({ meta, data: typeof data === "number" ? `${data}` : data }))
          )
    ),
    finds: [2]
  },
  {
    what: "one artifact for the same digest",
    wrap: (store) => {
      const known = new Map<string, ArtifactStore.Put>()
      return {
        ...store,
        put: (scope, input) =>
          Effect.gen(function* () {
            const key = input.digest === undefined ? undefined : JSON.stringify([scope, input.data])
            const seen = key === undefined ? undefined : known.get(key)
            if (seen !== undefined) return seen
            const result = yield* store.put(scope, input)
            if (key !== undefined) known.set(key, result)
            return result
          })
      }
    },
    finds: [3]
  },
  {
    what: "scopes without their principal",
    wrap: scoped((scope) =>
      whole(scope) ? { conversationId: scope.conversationId, tenant: scope.tenant ?? "" } : scope
    ),
    finds: [4, 5]
  },
  {
    what: "scopes that fold case",
    wrap: scoped((scope) => (whole(scope) ? { ...scope, conversationId: `${lower(scope.conversationId)}` } : scope)),
    finds: [5]
  },
  {
    what: "scopes joined by a slash",
    wrap: scoped((scope) =>
      whole(scope) ? { conversationId: [scope.tenant, scope.principal, scope.conversationId].join("/") } : scope
    ),
    finds: [5]
  },
  {
    what: "scopes cut to 100 characters",
    wrap: scoped((scope) => (whole(scope) ? { ...scope, conversationId: scope.conversationId.slice(0, 100) } : scope)),
    finds: [10]
  },
  {
    what: "an error for what is no ref",
    wrap: with_(
      "get",
      ({ get }) =>
        (scope, ref) =>
          Artifact.isRef(ref) ? get(scope, ref) : failure("InvalidInput", { what: "No ref." })
    ),
    finds: [6]
  },
  {
    what: "expired artifacts that are given",
    wrap: (store) => {
      const late = new Map<string, Artifact.Meta>()
      return {
        ...store,
        put: (scope, input) =>
          Effect.tap(store.put(scope, input), ({ meta }) =>
            Effect.sync(() => late.set(JSON.stringify([scope, meta.ref]), meta))
          ),
        head: (scope, ref) =>
          Effect.map(store.head(scope, ref), (found) => {
            const known = late.get(JSON.stringify([scope, ref]))
            return Option.orElse(found, () => (known?.expiresAt === undefined ? Option.none() : Option.some(known)))
          })
      }
    },
    finds: [6]
  },
  {
    what: "an end in the past that is taken",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, { expiresAt, ...input }) =>
          put(scope, expiresAt !== undefined && expiresAt > 0 ? { ...input, expiresAt } : input)
    ),
    finds: [7]
  },
  {
    what: "a delete that fails the second time",
    wrap: with_(
      "delete",
      (store) => (scope, ref) =>
        Effect.flatMap(store.head(scope, ref), (found) =>
          Option.isSome(found) ? store.delete(scope, ref) : failure("Unreadable", { what: "It is not there." })
        )
    ),
    finds: [4, 5, 8]
  },
  {
    what: "a delete that crosses scopes",
    wrap: (store) => {
      const owners = new Map<string, Artifact.Scope>()
      return {
        ...store,
        put: (scope, input) =>
          Effect.tap(store.put(scope, input), ({ meta }) => Effect.sync(() => owners.set(meta.ref, scope))),
        delete: (scope, ref) => store.delete(owners.get(ref) ?? scope, ref)
      }
    },
    finds: [4, 5]
  },
  {
    what: "pages that are oldest first",
    wrap: with_(
      "list",
      ({ list }) =>
        (scope, options) =>
          Effect.map(list(scope, options), (page) => ({ ...page, artifacts: page.artifacts.toReversed() }))
    ),
    finds: [9, 25]
  },
  {
    what: "a cursor on the last page",
    wrap: with_(
      "list",
      ({ list }) =>
        (scope, options) =>
          Effect.map(list(scope, options), (page) => {
            const last = page.artifacts.at(-1)
            return last === undefined ? page : { ...page, cursor: Artifact.encodeCursor(last) }
          })
    ),
    finds: [9, 25]
  },
  {
    what: "cursors that count rows",
    wrap: with_(
      "list",
      ({ list }) =>
        (scope, options = {}) =>
          Effect.gen(function* () {
            const { cursor, limit = 50 } = options
            if (cursor !== undefined && !/^\d+$/.test(cursor)) return yield* list(scope, { cursor: "not one" })
            const { artifacts } = yield* list(scope, { limit: 10_000 })
            yield* list(scope, { limit })
            const from = Number(cursor ?? 0)
            const rest = artifacts.slice(from, from + limit)
            return { artifacts: rest, ...(from + limit < artifacts.length ? { cursor: `${from + limit}` } : {}) }
          })
    ),
    finds: [25]
  },
  {
    what: "limits that are not kept",
    told: () => ({}),
    finds: [11, 20, 21, 24]
  },
  {
    what: "twice as many bytes as allowed",
    told: ({ maxBytesPerScope, ...rest }) => ({
      ...rest,
      ...(maxBytesPerScope === undefined ? {} : { maxBytesPerScope: maxBytesPerScope * 2 })
    }),
    finds: [11, 20, 21, 24]
  },
  {
    what: "parents that nobody looks for",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, { parentRefs: _, ...input }) =>
          put(scope, input)
    ),
    finds: [12, 20, 21]
  },
  {
    what: "parents of other scopes",
    wrap: (store) => {
      const known = new Set<string>()
      return {
        ...store,
        put: (scope, { parentRefs = [], ...input }) =>
          Effect.gen(function* () {
            const heads = yield* Effect.forEach(parentRefs, (ref) => Effect.either(store.head(scope, ref)))
            const lives = (at: number) => {
              const head = heads[at]
              return head !== undefined && Either.isRight(head) && Option.isSome(head.right)
            }
            const asked = parentRefs.filter((ref, at) => lives(at) || !known.has(ref))
            const result = yield* store.put(scope, { ...input, parentRefs: asked })
            known.add(result.meta.ref)
            return result
          })
      }
    },
    finds: [12]
  },
  {
    what: "a blank kind that is taken",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, input) =>
          put(scope, { ...input, kind: `${input.kind}`.trim() === "" ? "none" : input.kind })
    ),
    finds: [13]
  },
  {
    what: "a refusal that quotes the payload",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, input) =>
          Effect.catchAll(put(scope, input), ({ path, reason }) =>
            failure(reason, { what: `Not taken: ${String(input.data)}`, ...(path === undefined ? {} : { path }) })
          )
    ),
    finds: [14]
  },
  {
    what: "a refusal that names the tenant",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, input) =>
          Effect.catchAll(put(scope, input), ({ path, reason, refs }) =>
            failure(reason, {
              what: "Not taken.",
              where: `${scope.tenant}`,
              ...(path === undefined ? {} : { path }),
              ...(refs === undefined ? {} : { refs })
            })
          )
    ),
    finds: [14]
  },
  {
    what: "a digest of something else",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, input) =>
          Effect.map(put(scope, input), ({ meta, swept }) => ({
            meta:
              meta.digest === undefined
                ? meta
                : { ...meta, digest: `sha-256:${createHash("sha256").update(meta.ref).digest("hex")}` },
            swept
          }))
    ),
    finds: [15]
  },
  {
    what: "a digest that nobody asked for",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, input) =>
          put(scope, { ...input, digest: input.digest ?? "sha-256" })
    ),
    finds: [15]
  },
  {
    what: "a get that verifies nothing",
    wrap: with_(
      "get",
      ({ get, head }) =>
        (scope, ref) =>
          Effect.catchAll(get(scope, ref), (error) =>
            error.reason === "DigestMismatch"
              ? Effect.map(
                  head(scope, ref),
                  Option.map((meta) => ({ meta, data: "Zone b." }))
                )
              : error
          )
    ),
    finds: [16]
  },
  {
    what: "a stream that is no function",
    wrap: (store) => Object.assign({ ...store }, { getStream: true }),
    finds: [17, 19]
  },
  {
    what: "a stream that finds everything",
    wrap: with_("getStream", () => () => failure("Unreadable", { what: "Who knows." })),
    finds: [17, 19]
  },
  {
    what: "values that become other values",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, input) =>
          put(scope, {
            ...input,
            data: typeof input.data === "number" && !Number.isFinite(input.data) ? null : input.data
          })
    ),
    finds: [21, 23]
  },
  {
    what: "evictions that nobody is told of",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, input) =>
          Effect.map(put(scope, input), ({ meta }) => ({ meta, swept: [] }))
    ),
    finds: [6, 20, 21, 24]
  },
  {
    what: "a refused put that sweeps",
    wrap: with_(
      "put",
      (store) => (scope, input) =>
        Effect.tapError(store.put(scope, input), () =>
          Effect.flatMap(store.list(scope), ({ artifacts }) =>
            Effect.forEach(artifacts.slice(-1), ({ ref }) => store.delete(scope, ref), { discard: true })
          ).pipe(Effect.ignore)
        )
    ),
    finds: [21]
  },
  {
    what: "a scope that is repaired instead of refused",
    wrap: scoped((scope) =>
      typeof scope.tenant === "string" ? { ...scope, tenant: Printable.wellFormed(scope.tenant) } : scope
    ),
    finds: [27]
  },
  {
    what: "labels on one line",
    wrap: with_(
      "put",
      ({ put }) =>
        (scope, input) =>
          put(scope, input.label === undefined ? input : { ...input, label: input.label.replaceAll("\n", " ") })
    ),
    finds: [28]
  }
]

describe("ArtifactStoreSuite", () => {
  it.effect("has 28 cases, numbered", () =>
    Effect.gen(function* () {
      const all = yield* results(harness())
      assert.deepStrictEqual(
        all.map(({ number }) => number),
        Array.from({ length: 28 }, (_, n) => n + 1)
      )
      const of = (status: string) => all.filter((result) => result.status === status).map(({ number }) => number)
      assert.deepStrictEqual(of("not-applicable"), [17, 18, 22])
      assert.deepStrictEqual(of("declared"), [26])
      assert.lengthOf(of("passed"), 24)
    })
  )

  it.effect("finds a hook that is missing, unless the case is declared", () =>
    Effect.gen(function* () {
      const { createStore } = harness()
      assert.deepStrictEqual(yield* failed({ createStore }), [6, 9, 11, 16, 20, 21, 24, 26])
      assert.deepStrictEqual(
        yield* failed({ createStore, declared: { 6: "r", 9: "r", 11: "r", 16: "r", 20: "r", 21: "r" } }),
        [24, 26]
      )
    })
  )

  it.effect("finds a declaration that is stale, but not one of what does not apply", () =>
    Effect.gen(function* () {
      const declared = { 1: "It was so once.", 18: "No streams.", 26: "A map." }
      assert.deepStrictEqual(yield* failed({ ...harness(), declared }), [1])
    })
  )

  it.effect("finds a store that cannot be made or does not stay whole", () =>
    Effect.gen(function* () {
      const all = yield* failed({ createStore: Effect.fail("no disk") })
      assert.lengthOf(all, 28)
      const dying = with_("head", () => () => Effect.dieMessage("bug"))
      assert.includeMembers([...(yield* failed(harness(dying)))], [1, 4])
    })
  )

  it.effect("fails a case with the reason of its result", () =>
    Effect.gen(function* () {
      const [first] = ArtifactStoreSuite.cases(harness(faults[0]?.wrap))
      const error = yield* Effect.flip(first?.effect ?? Effect.void)
      assert.include(error.message, "Case 1 failed.")
      assert.include(error.message, "the ticket")
    })
  )

  for (const { finds, told, what, wrap } of faults) {
    it.effect(`finds ${what}`, () =>
      Effect.gen(function* () {
        assert.includeMembers([...(yield* failed(harness(wrap, told)))], [...finds])
      })
    )
  }
})
