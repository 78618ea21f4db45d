/**
 * `ArtifactReadCases` are what a store promises to those who read: time, pages, proof, and what cannot be read.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactStoreCase from "./ArtifactStoreCase.ts"

const { absent, all, broken, dataOf, failure, home, malformed, note, put, refs, refused, same, unminted } =
  ArtifactStoreCase

type Case = ArtifactStoreCase.Case

export const oneAbsence: Case = {
  name: "has one answer for what is not there",
  run: ({ advanceTime, store }) =>
    Effect.gen(function* () {
      const foreign = yield* put(store, "foreign", {}, { ...home, tenant: "u" })
      const { createdAt } = yield* put(store, "probe")
      const expiring = yield* put(store, "expiring", { expiresAt: createdAt + 60_000 })
      yield* same("that it lives", Option.isSome(yield* store.head(home, expiring.ref)), true)
      yield* advanceTime(60_000)
      yield* absent("never minted", store, unminted)
      yield* absent("expired", store, expiring.ref)
      yield* absent("foreign", store, foreign.ref)
      for (const ref of malformed) yield* absent("malformed", store, ref)
      const listed = yield* refs(store)
      yield* same("that the expired is not listed", listed.includes(expiring.ref), false)
      const { swept } = yield* store.put(home, note("next"))
      yield* same(
        "what the next put sweeps",
        swept.map(({ reason, ref }) => [ref, reason]),
        [[expiring.ref, "ttl"]]
      )
    })
}

export const expiryStated: Case = {
  name: "says when a ticket ends, and takes no end in the past",
  run: ({ store }) =>
    Effect.gen(function* () {
      const { createdAt } = yield* put(store, "probe")
      const asked = createdAt + 3_600_000
      const { expiresAt = Infinity, ref } = yield* put(store, "x", { expiresAt: asked })
      yield* same("that it ends as asked at the latest", expiresAt <= asked, true)
      const head = yield* store.head(home, ref)
      yield* same(
        "what head says",
        Option.map(head, (meta) => meta.expiresAt),
        Option.some(expiresAt)
      )
      const before = yield* refs(store)
      for (const expiresAt of [createdAt - 1, createdAt, Number.NaN, Infinity]) {
        yield* refused("an end that is none", put(store, "x", { expiresAt }), "InvalidInput", "expiresAt")
      }
      yield* same("that nothing was stored", yield* refs(store), before)
    })
}

export const pages: Case = {
  name: "pages newest first, each row once",
  run: ({ advanceTime, store }) =>
    Effect.gen(function* () {
      const neighbour = { ...home, conversationId: `${home.conversationId}2` }
      const theirs = yield* put(store, "theirs", {}, neighbour)
      const placed: Array<string> = []
      for (let n = 0; n < 5; n++) {
        placed.push((yield* put(store, `payload ${n}`)).ref)
        yield* advanceTime(1_000)
      }
      const first = yield* store.list(home, { limit: 2 })
      const second = yield* store.list(home, { limit: 2, cursor: first.cursor ?? "" })
      const third = yield* store.list(home, { limit: 2, cursor: second.cursor ?? "" })
      const found = [first, second, third].map(({ artifacts }) => artifacts.map(({ ref }) => ref))
      const newest = placed.toReversed()
      yield* same("the pages", found, [newest.slice(0, 2), newest.slice(2, 4), newest.slice(4)])
      yield* same("that the last has no cursor", "cursor" in third, false)
      yield* same("that a page of all has no cursor", "cursor" in (yield* store.list(home, { limit: 5 })), false)
      yield* same("that no page shows a payload", JSON.stringify([first, second, third]).includes("payload"), false)
      yield* same("what the neighbour sees", yield* refs(store, neighbour), [theirs.ref])
      for (const cursor of ["", "x", `${first.cursor}x`]) {
        yield* refused("what is no cursor", store.list(home, { cursor }), "InvalidInput", "cursor")
      }
      for (const limit of [0, -1, 1.5, Number.NaN]) {
        yield* refused("what is no limit", store.list(home, { limit }), "InvalidInput", "limit")
      }
    })
}

export const deletionBetweenPages: Case = {
  name: "skips and repeats no row when others go between pages",
  run: ({ store }) =>
    Effect.gen(function* () {
      for (let n = 0; n < 7; n++) yield* put(store, n)
      const tickets = yield* all(store)
      yield* same("the order", tickets, tickets.slice().sort(Artifact.compare))
      const order = tickets.map(({ ref }) => ref)
      const first = yield* store.list(home, { limit: 2 })
      // The row that the cursor stands on, one that was seen, and one that was not.
      for (const n of [1, 0, 4]) yield* store.delete(home, order[n] ?? "")
      const second = yield* store.list(home, { limit: 3, cursor: first.cursor ?? "" })
      yield* same(
        "the next page",
        second.artifacts.map(({ ref }) => ref),
        [order[2], order[3], order[5]]
      )
      const third = yield* store.list(home, { limit: 3, cursor: second.cursor ?? "" })
      yield* same("the last page", [third.artifacts.map(({ ref }) => ref), "cursor" in third], [[order[6]], false])
    })
}

export const verifyingGet: Case = {
  name: "gives no data that is not what was put, but still its ticket",
  run: ({ corrupt, store }) =>
    Effect.gen(function* () {
      const twin = yield* put(store, "Zone a.", { digest: "sha-256" })
      for (const digest of ["sha-256", undefined] as const) {
        const meta = yield* put(store, "Zone a.", digest === undefined ? {} : { digest })
        yield* corrupt(home, meta.ref)
        const error = yield* failure("changed bytes", store.get(home, meta.ref))
        yield* same("how changed bytes are refused", [error.reason, error.ref], ["DigestMismatch", meta.ref])
        yield* same("that head still answers", yield* store.head(home, meta.ref), Option.some(meta))
      }
      yield* same("the twin", yield* dataOf(store, twin.ref), Option.some("Zone a."))
    })
}

export const changedStream: Case = {
  name: "streams the bytes that are there, with the digest of those that were put",
  members: ["getStream"],
  run: ({ corrupt, store }) =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode("Zone a.")
      const meta = yield* put(store, bytes, { digest: "sha-256" })
      yield* corrupt(home, meta.ref)
      const { body, meta: ticket } = yield* streamOf(store, meta.ref)
      yield* same("the ticket", ticket, meta)
      yield* same("that the bytes are the changed ones", isEqual(yield* ArtifactStoreCase.collect(body), bytes), false)
      yield* refused("what get does", store.get(home, meta.ref), "DigestMismatch")
    })
}

const isEqual = (one: Uint8Array, two: Uint8Array) =>
  one.length === two.length && one.every((byte, at) => byte === two[at])

const streamOf = (store: ArtifactStoreCase.Store, ref: string) =>
  Effect.flatMap(
    store.getStream?.(home, ref) ?? Effect.succeedNone,
    Option.match({
      onNone: () => broken("The layer does not keep its promise: getStream finds what was put."),
      onSome: Effect.succeed
    })
  )

export const streamMembers: Case = {
  name: "has streams as functions or not at all",
  run: ({ store }) =>
    Effect.gen(function* () {
      for (const name of ["putStream", "getStream"] as const) {
        const kind = typeof store[name]
        yield* same(name, kind === "function" || kind === "undefined", true)
      }
      if (store.getStream === undefined) return
      const { ref } = yield* put(store, { b: 1, a: 2 })
      const whole = yield* ArtifactStoreCase.collect((yield* streamOf(store, ref)).body)
      yield* same("the bytes of a value", whole, new TextEncoder().encode('{"a":2,"b":1}'))
      for (const name of [unminted, ...malformed]) {
        yield* same("what getStream finds", Option.isNone(yield* store.getStream(home, name)), true)
      }
    })
}

export const unreadableStore: Case = {
  name: "says that it cannot be read, and never that nothing is there",
  run: ({ makeUnreadable, store }) =>
    Effect.gen(function* () {
      const { ref } = yield* put(store, "x")
      yield* makeUnreadable
      const body = Stream.make(new Uint8Array([1]))
      const verbs: ReadonlyArray<readonly [string, ReturnType<typeof store.delete>]> = [
        ["put", Effect.asVoid(store.put(home, note("y")))],
        ["head", Effect.asVoid(store.head(home, ref))],
        ["get", Effect.asVoid(store.get(home, ref))],
        ["delete", store.delete(home, ref)],
        ["list", Effect.asVoid(store.list(home))],
        ...(store.putStream === undefined
          ? []
          : [
              [
                "putStream",
                Effect.asVoid(store.putStream(home, { kind: "k", mediaType: "m", bytes: 1, body }))
              ] as const
            ]),
        ...(store.getStream === undefined ? [] : [["getStream", Effect.asVoid(store.getStream(home, ref))] as const])
      ]
      for (const [name, verb] of verbs) {
        const { reason } = yield* failure(`${name} of an unreadable store`, verb)
        yield* same(
          `how ${name} fails`,
          reason === "Unreadable" || reason === "Unavailable" ? "it says so" : reason,
          "it says so"
        )
      }
    })
}
