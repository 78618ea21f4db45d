/**
 * `ArtifactStreams` are the two verbs of a store whose medium takes and gives bytes piece by piece.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import type * as Artifact from "../kernel/Artifact.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as Retention from "../kernel/Retention.ts"
import type { Place, Streaming } from "./ArtifactMedium.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import * as ArtifactReading from "./ArtifactReading.ts"
import type { ArtifactStore, PutStreamInput } from "./ArtifactStore.ts"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as ArtifactVerbs from "./ArtifactVerbs.ts"

const mismatch = (declared: number, found: string) => ArtifactPut.invalid("bytes", `${declared} bytes`, found)

/** The same body, which fails if it is not as long as declared, and what it hashes to once it has ended. */
const measured = (body: Stream.Stream<Uint8Array, ArtifactStoreError>, declared: number) =>
  Effect.sync(() => {
    const hash = createHash("sha256")
    let size = 0
    const take = (pieces: Chunk.Chunk<Uint8Array>) =>
      Effect.suspend(() => {
        for (const piece of pieces) {
          if (!(piece instanceof Uint8Array)) return ArtifactPut.invalid("body", "bytes", Problem.kindOf(piece))
          size += piece.length
          if (size > declared) return mismatch(declared, "more")
          hash.update(piece)
        }
        return Effect.succeed(pieces)
      })
    const ended = Stream.execute(
      Effect.suspend(() => (size === declared ? Effect.void : mismatch(declared, `${size} bytes`)))
    )
    return {
      body: Stream.concat(Stream.mapChunksEffect(body, take), ended),
      hash: Effect.sync(() => hash.digest("hex"))
    }
  })

const fault = (given: PutStreamInput, input: ArtifactPut.Described, now: number): ArtifactStoreError | undefined => {
  const { body, bytes } = given
  const described = ArtifactPut.fault(input, now)
  if (described !== undefined) return described
  if (input.digest !== undefined)
    return ArtifactPut.invalid("digest", "none, for a stream", Problem.kindOf(input.digest))
  if (!Number.isSafeInteger(bytes) || bytes < 0) {
    return ArtifactPut.invalid("bytes", "how many bytes the body has, an integer of 0 or more", Problem.kindOf(bytes))
  }
  return Predicate.hasProperty(body, Stream.StreamTypeId)
    ? undefined
    : ArtifactPut.invalid("body", "a stream of bytes", Problem.kindOf(body))
}

/** The streams of a store. A put is judged before its body is read, and again before it is kept. */
export const make = <Staged>(
  medium: Streaming<Staged>,
  limits: Retention.Limits
): Required<Pick<typeof ArtifactStore.Service, "putStream" | "getStream">> => {
  const placeOf = (scope: Artifact.Scope) => ArtifactReading.placeOf(scope, medium.maxSegment)

  /** What the scope holds, and what has to go, if the put is one that can be kept now. */
  const judged = (place: Place, given: PutStreamInput, input: ArtifactPut.Described) =>
    Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const wrong = fault(given, input, now)
      if (wrong !== undefined) return yield* wrong
      const held = yield* medium.holdings(place)
      const orphaned = ArtifactPut.parentFault(input, held, now)
      if (orphaned !== undefined) return yield* orphaned
      return { evict: yield* ArtifactPut.room(input, given.bytes, held, limits, now), held, now }
    })

  return {
    putStream: Effect.fnUntraced(function* (scope: Artifact.Scope, given: PutStreamInput) {
      const place = yield* placeOf(scope)
      if (typeof given !== "object" || given === null) return yield* ArtifactPut.invalid("input", "an object", "none")
      const input = ArtifactPut.detach(given)
      const { bytes } = given
      const kept = Effect.gen(function* () {
        const ref = yield* ArtifactPut.mint((yield* judged(place, given, input)).held)
        const { body, hash } = yield* measured(given.body, bytes)
        const staged = yield* medium.stage(place, ref, body)
        const stamp = { ref, bytes, shape: "bytes" as const, hash: yield* hash }
        const placed = Effect.gen(function* () {
          const { evict, held, now } = yield* judged(place, given, input)
          if (held.some((row) => row.ref === ref)) {
            return yield* failure("Unavailable", { what: "The source of randomness gave one name twice." })
          }
          const kept = ArtifactPut.keep(input, { ...stamp, now }, held, limits)
          const swept = yield* medium.commitStaged(place, kept, staged, evict)
          return { meta: ArtifactPut.copy(kept.meta), swept }
        })
        return yield* medium.exclusively(place)(placed)
      })
      return yield* Effect.scoped(kept)
    }),

    getStream: Effect.fnUntraced(function* (scope: Artifact.Scope, ref: string) {
      const place = yield* placeOf(scope)
      const kept = yield* ArtifactVerbs.live(medium, place, ref)
      return Option.map(kept, (kept) => ({ meta: ArtifactPut.copy(kept.meta), body: medium.body(place, kept) }))
    })
  }
}
