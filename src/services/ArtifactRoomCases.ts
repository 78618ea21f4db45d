/**
 * `ArtifactRoomCases` are what a store promises of its limits, and of puts that it does not keep.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as ArtifactStoreCase from "./ArtifactStoreCase.ts"
import { failure as storeFailure } from "./ArtifactStoreError.ts"

const { all, collect, dataOf, failure, home, note, put, refs, refused, same } = ArtifactStoreCase

type Case = ArtifactStoreCase.Case

const putting = (
  store: ArtifactStoreCase.Store,
  pieces: ReadonlyArray<ReadonlyArray<number>>,
  bytes: number,
  end: Stream.Stream<Uint8Array, ArtifactStoreCase.StoreError> = Stream.empty
) => {
  const body = Stream.concat(Stream.fromIterable(pieces.map((piece) => Uint8Array.from(piece))), end)
  return store.putStream === undefined
    ? Effect.dieMessage("The layer has no putStream.")
    : store.putStream(home, { kind: "blob", mediaType: "application/octet-stream", bytes, body })
}

export const oversize: Case = {
  name: "refuses what is larger than a scope may be, and keeps what is there",
  run: ({ bounded }) =>
    Effect.gen(function* () {
      const store = yield* bounded({ maxBytesPerScope: 64 })
      const { ref } = yield* put(store, "small")
      yield* refused("65 bytes of 64", put(store, "x".repeat(65)), "OverBudget")
      yield* same("the prior row", yield* dataOf(store, ref), Option.some("small"))
      yield* same("the rows", yield* refs(store), [ref])
    })
}

export const pinnedParents: Case = {
  name: "never evicts the parents of what it stores",
  run: ({ bounded }) =>
    Effect.gen(function* () {
      const counted = yield* bounded({ maxCountPerScope: 2 })
      const parent = yield* put(counted, "parent")
      const other = yield* put(counted, "other")
      const { meta, swept } = yield* counted.put(home, note("child", { parentRefs: [parent.ref] }))
      yield* same(
        "what went",
        swept.map(({ reason, ref }) => [ref, reason]),
        [[other.ref, "max-count"]]
      )
      yield* same("what is left", yield* refs(counted), [parent.ref, meta.ref].sort())
      const both = [parent.ref, meta.ref]
      yield* refused("no place beside both", put(counted, "third", { parentRefs: both }), "OverBudget")
      yield* same("what is left", yield* refs(counted), both.slice().sort())
      const measured = yield* bounded({ maxBytesPerScope: 10 })
      const large = yield* put(measured, "12345")
      yield* refused("no room beside it", put(measured, "123456", { parentRefs: [large.ref] }), "OverBudget")
      yield* same("what is left", yield* refs(measured), [large.ref])
    })
}

export const refusalEvictsNothing: Case = {
  name: "evicts nothing for what it refuses",
  run: ({ bounded }) =>
    Effect.gen(function* () {
      const store = yield* bounded({ maxBytesPerScope: 10, maxCountPerScope: 3 })
      const placed = yield* Effect.forEach(["aaa", "bbb", "ccc"], (text) => put(store, text))
      const before = placed.map(({ ref }) => ref).sort()
      yield* refused("too large", put(store, "x".repeat(11)), "OverBudget")
      yield* refused("unfaithful", put(store, Number.NaN), "InvalidInput")
      yield* refused("an orphan", put(store, "x", { parentRefs: [ArtifactStoreCase.unminted] }), "UnknownParent")
      if (store.putStream !== undefined) {
        yield* refused("a stream that is too large", putting(store, [[1]], 11), "OverBudget")
        yield* refused("a stream that lies", putting(store, [[1, 2]], 8), "InvalidInput", "bytes")
      }
      yield* same("the rows", yield* refs(store), before)
      const { swept } = yield* store.put(home, note("dddd"))
      yield* same("that the next put evicts one", swept.length, 1)
    })
}

export const streamedPut: Case = {
  name: "stores a stream of the declared length, and none of another",
  members: ["putStream"],
  run: ({ store }) =>
    Effect.gen(function* () {
      const { meta } = yield* putting(store, [[0, 1], [], [255]], 3)
      yield* same("the ticket", [meta.bytes, meta.kind, "digest" in meta], [3, "blob", false])
      yield* same("what head gives", yield* store.head(home, meta.ref), Option.some(meta))
      yield* same("the data", yield* dataOf(store, meta.ref), Option.some(new Uint8Array([0, 1, 255])))
      const streamed = store.getStream === undefined ? Option.none() : yield* store.getStream(home, meta.ref)
      if (Option.isSome(streamed)) {
        yield* same("what is streamed", yield* collect(streamed.value.body), new Uint8Array([0, 1, 255]))
      }
      const empty = yield* putting(store, [], 0)
      yield* same("an empty body", yield* dataOf(store, empty.meta.ref), Option.some(new Uint8Array()))
      const before = yield* refs(store)
      yield* refused("too few bytes", putting(store, [[1], [2]], 3), "InvalidInput", "bytes")
      yield* refused("too many bytes", putting(store, [[1], [2, 3]], 2), "InvalidInput", "bytes")
      yield* refused("no length", putting(store, [[1]], Number.NaN), "InvalidInput", "bytes")
      yield* same("that nothing is left", yield* refs(store), before)
    })
}

export const failingSource: Case = {
  name: "leaves nothing of a stream that fails or is interrupted",
  members: ["putStream"],
  run: ({ store }) =>
    Effect.gen(function* () {
      const cut = storeFailure("Unavailable", { what: "The source was cut." })
      const error = yield* failure("a failing source", putting(store, [[1], [2]], 3, Stream.fail(cut)))
      yield* same("the failure", [error.reason, error.what], [cut.reason, cut.what])
      const fiber = yield* Effect.fork(putting(store, [[1]], 3, Stream.never))
      for (let n = 0; n < 20; n++) yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      yield* same("the rows", yield* refs(store), [])
    })
}

export const concurrentPuts: Case = {
  name: "keeps its limits when many put at once, and says of each what became of it",
  run: ({ bounded }) =>
    Effect.gen(function* () {
      const limits = { maxBytesPerScope: 40, maxCountPerScope: 4 }
      const store = yield* bounded(limits)
      const puts = Array.from({ length: 24 }, (_, n) => store.put(home, note("x".repeat(8 + (n % 9)))))
      const results = yield* Effect.all(puts, { concurrency: "unbounded" })
      const held = yield* all(store)
      yield* same("the count", held.length <= limits.maxCountPerScope, true)
      yield* same("the bytes", held.reduce((sum, { bytes }) => sum + bytes, 0) <= limits.maxBytesPerScope, true)
      const gone = results.flatMap(({ swept }) => swept.map(({ ref }) => ref))
      const known = [...gone, ...held.map(({ ref }) => ref)].sort()
      yield* same("that each is there or was swept once", known, results.map(({ meta }) => meta.ref).sort())
    })
}
