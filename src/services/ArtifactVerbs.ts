/**
 * `ArtifactVerbs` are the verbs of a store over a medium: what every adapter does alike.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Artifact from "../kernel/Artifact.ts"
import * as Retention from "../kernel/Retention.ts"
import type { Kept, Medium, Place } from "./ArtifactMedium.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import * as ArtifactReading from "./ArtifactReading.ts"
import type { ArtifactStore } from "./ArtifactStore.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"

type Found = Effect.Effect<Option.Option<Kept>, ArtifactStoreError>

/** The artifact that lives under the ref, now the last accessed. */
export const live = (medium: Medium, place: Place, ref: string): Found =>
  Effect.gen(function* () {
    if (!Artifact.isRef(ref)) return Option.none<Kept>()
    const now = yield* Clock.currentTimeMillis
    const found = Option.filter(yield* medium.find(place, ref), ({ meta }) => !Retention.isExpired(meta, now))
    if (Option.isSome(found) && medium.touch !== undefined) yield* medium.touch(place, ref)
    return found
  })

/** The artifact with its data. One that goes while it is read is gone; one whose bytes are missing cannot be read. */
const get = (medium: Medium, place: Place, ref: string) =>
  Effect.gen(function* () {
    const kept = yield* live(medium, place, ref)
    if (Option.isNone(kept)) return Option.none<Artifact.Stored>()
    const bytes = yield* medium.load(place, kept.value)
    if (Option.isSome(bytes)) return Option.some(yield* ArtifactReading.read(kept.value, bytes.value))
    const { ref: name } = kept.value.meta
    if (Option.isNone(yield* medium.find(place, name))) return Option.none<Artifact.Stored>()
    return yield* ArtifactReading.unreadable(name, "its bytes are missing")
  })

/** The verbs of `ArtifactStore` without the streams. The limits are those of every scope. */
export const make = (
  medium: Medium,
  limits: Retention.Limits
): Omit<typeof ArtifactStore.Service, "putStream" | "getStream"> => {
  const placeOf = (scope: Artifact.Scope) => ArtifactReading.placeOf(scope, medium.maxSegment)

  return {
    put: Effect.fnUntraced(function* (scope: Artifact.Scope, given: Artifact.PutInput) {
      const place = yield* placeOf(scope)
      if (typeof given !== "object" || given === null) return yield* ArtifactPut.invalid("input", "an object", "none")
      // The caller may change them while the put waits for its turn.
      const input = ArtifactPut.detach(given)
      const encoded = ArtifactPut.payloadOf(given.data)
      const placed = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        const fault = ArtifactPut.fault(input, now)
        if (fault !== undefined) return yield* fault
        const held = yield* medium.holdings(place)
        const orphaned = ArtifactPut.parentFault(input, held, now)
        if (orphaned !== undefined) return yield* orphaned
        const { bytes, shape } = yield* encoded
        const evict = yield* ArtifactPut.room(input, bytes.length, held, limits, now)
        const ref = yield* ArtifactPut.mint(held)
        const stamp = { ref, bytes: bytes.length, shape, hash: ArtifactPut.sha256(bytes), now }
        const kept = ArtifactPut.keep(input, stamp, held, limits)
        const swept = yield* medium.commit(place, kept, bytes, evict)
        return { meta: ArtifactPut.copy(kept.meta), swept }
      })
      return yield* medium.exclusively(place)(placed)
    }),

    head: Effect.fnUntraced(function* (scope: Artifact.Scope, ref: string) {
      const kept = yield* live(medium, yield* placeOf(scope), ref)
      return Option.map(kept, ({ meta }) => ArtifactPut.copy(meta))
    }),

    get: Effect.fnUntraced(function* (scope: Artifact.Scope, ref: string) {
      return yield* get(medium, yield* placeOf(scope), ref)
    }),

    delete: Effect.fnUntraced(function* (scope: Artifact.Scope, ref: string) {
      const place = yield* placeOf(scope)
      if (Artifact.isRef(ref)) yield* medium.remove(place, ref)
    }),

    list: Effect.fnUntraced(function* (scope: Artifact.Scope, options?: ArtifactReading.ListOptions) {
      const place = yield* placeOf(scope)
      const { after, limit } = yield* ArtifactReading.asked(options)
      const now = yield* Clock.currentTimeMillis
      return ArtifactReading.page(yield* medium.page(place, { after, now, count: limit + 1 }), limit)
    })
  }
}
