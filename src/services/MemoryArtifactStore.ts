/**
 * A `MemoryArtifactStore` keeps artifacts in a map, and within bounds. It has no streams: it holds everything whole.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as Retention from "../kernel/Retention.ts"
import * as ArtifactMedium from "./ArtifactMedium.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import type { ArtifactStore } from "./ArtifactStore.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import * as ArtifactVerbs from "./ArtifactVerbs.ts"

/** An artifact as it is kept, with its bytes. `lastAccessedAt` counts accesses. */
export interface Row {
  readonly kept: ArtifactMedium.Kept
  readonly bytes: Uint8Array
  lastAccessedAt: number
}

/** The rows of each scope, by the prefix of its place. */
export type Backing = Map<string, Map<string, Row>>

const bounds: Retention.Limits = { maxBytesPerScope: 32 * 1_024 * 1_024, maxCountPerScope: 256 }

/** A map as a medium. */
export const medium = (backing: Backing = new Map()): ArtifactMedium.Medium => {
  const turn = Effect.unsafeMakeSemaphore(1)
  let accesses = 0
  const rowsOf = ({ prefix }: ArtifactMedium.Place) => backing.get(prefix) ?? new Map<string, Row>()
  return {
    exclusively: () => turn.withPermits(1),
    find: (place, ref) =>
      Effect.sync(() => Option.map(Option.fromNullable(rowsOf(place).get(ref)), ({ kept }) => kept)),
    touch: (place, ref) =>
      Effect.sync(() => {
        const row = rowsOf(place).get(ref)
        if (row !== undefined) row.lastAccessedAt = ++accesses
      }),
    load: (place, { meta }) =>
      Effect.sync(() => Option.map(Option.fromNullable(rowsOf(place).get(meta.ref)), ({ bytes }) => bytes)),
    holdings: (place) =>
      Effect.sync(() =>
        Array.from(rowsOf(place).values(), ({ kept, lastAccessedAt }) =>
          ArtifactMedium.toRow(kept.meta, lastAccessedAt)
        )
      ),
    commit: (place, kept, bytes, evict) =>
      Effect.sync(() => {
        const rows = rowsOf(place)
        backing.set(place.prefix, rows.set(kept.meta.ref, { kept, bytes, lastAccessedAt: ++accesses }))
        for (const { ref } of evict) rows.delete(ref)
        return evict
      }),
    remove: (place, ref) =>
      Effect.sync(() => {
        const rows = rowsOf(place)
        rows.delete(ref)
        if (rows.size === 0) backing.delete(place.prefix)
      }),
    page: (place, query) =>
      Effect.sync(() =>
        ArtifactMedium.pageOf(
          Array.from(rowsOf(place).values(), ({ kept }) => kept.meta),
          query
        )
      )
  }
}

/** A store over a map of its own, a new one each time that it is made, or over one that the caller keeps. */
export const make = (
  limits: Retention.Limits = {},
  backing?: Backing
): Effect.Effect<typeof ArtifactStore.Service, ArtifactStoreError> =>
  Effect.suspend(() =>
    Either.map(ArtifactPut.limitsOf(limits, bounds), (limits) => ArtifactVerbs.make(medium(backing), limits))
  )
