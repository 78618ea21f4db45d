/**
 * An `ArtifactMedium` is what a store keeps artifacts in, without any judgement of its own: the verbs decide what is valid,
 * live, affordable and intact, and a medium only finds, writes and removes. Each adapter is a medium.
 *
 * @internal
 */
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as Artifact from "../kernel/Artifact.ts"
import type * as Payload from "../kernel/Payload.ts"
import * as Retention from "../kernel/Retention.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"

/**
 * Where a scope's artifacts are: the segments of its encoding (tenant, principal, conversation), and all of them as one
 * text, each ended by `/`, which no segment has in it.
 */
export interface Place {
  readonly segments: ReadonlyArray<string>
  readonly prefix: string
}

/**
 * An artifact as it is kept, without its bytes. `hash` is the SHA-256 of the bytes, in hexadecimal. `order` is above that
 * of all that the scope held when it was put.
 */
export interface Kept {
  readonly meta: Artifact.Meta
  readonly shape: Payload.Shape
  readonly hash: string
  readonly order: number
}

/** The tickets that live at `now` and come after a row, at most `count` of them. */
export interface Query {
  readonly after: Option.Option<Artifact.Key>
  readonly now: number
  readonly count: number
}

type Result<A> = Effect.Effect<A, ArtifactStoreError>

export interface Medium {
  /** The longest segment that has a place here, in characters; absent if there is no limit. */
  readonly maxSegment?: number

  /** Lets one put at a time plan and write in a scope. What the effect writes is kept whole or not at all. */
  readonly exclusively: (place: Place) => <A>(effect: Result<A>) => Result<A>

  /** What is kept under the ref, whether it is expired or not. */
  readonly find: (place: Place, ref: Artifact.Ref) => Result<Option.Option<Kept>>

  /** Makes it the last accessed. Absent in a medium that evicts by age. */
  readonly touch?: (place: Place, ref: Artifact.Ref) => Result<void>

  /** The bytes as they are now, or `none` if there are none. */
  readonly load: (place: Place, kept: Kept) => Result<Option.Option<Uint8Array>>

  /** Everything that the scope holds, the expired too. */
  readonly holdings: (place: Place) => Result<ReadonlyArray<Retention.Row>>

  /** Stores durably, and only then evicts. Gives back what is gone. */
  readonly commit: (
    place: Place,
    kept: Kept,
    bytes: Uint8Array,
    evict: ReadonlyArray<Artifact.Swept>
  ) => Result<ReadonlyArray<Artifact.Swept>>

  readonly remove: (place: Place, ref: Artifact.Ref) => Result<void>

  readonly page: (place: Place, query: Query) => Result<ReadonlyArray<Artifact.Meta>>
}

/** A medium that takes and gives bytes piece by piece. */
export interface Streaming<Staged> extends Medium {
  /** Writes a body where nobody sees it. What was not committed when the scope closes is removed. */
  readonly stage: (
    place: Place,
    ref: Artifact.Ref,
    body: Stream.Stream<Uint8Array, ArtifactStoreError>
  ) => Effect.Effect<Staged, ArtifactStoreError, Scope.Scope>

  /** As `commit`, of what was staged. */
  readonly commitStaged: (
    place: Place,
    kept: Kept,
    staged: Staged,
    evict: ReadonlyArray<Artifact.Swept>
  ) => Result<ReadonlyArray<Artifact.Swept>>

  /** The bytes as they are now. Fails with `Unreadable` if there are none. */
  readonly body: (place: Place, kept: Kept) => Stream.Stream<Uint8Array, ArtifactStoreError>
}

/** The place of a scope that has no fault. */
export const placeOf = (scope: Artifact.Scope): Place => {
  const segments = Artifact.encodeScope(scope)
  return { segments, prefix: segments.map((segment) => `${segment}/`).join("") }
}

/** What retention has to know of a row that was last accessed at `lastAccessedAt`. */
export const toRow = ({ bytes, expiresAt, kind, ref }: Artifact.Meta, lastAccessedAt: number): Retention.Row => ({
  ref,
  kind,
  bytes,
  lastAccessedAt,
  ...(expiresAt === undefined ? {} : { expiresAt })
})

/** The answer to a query by a medium that has all tickets at hand. */
export const pageOf = (
  tickets: ReadonlyArray<Artifact.Meta>,
  { after, count, now }: Query
): ReadonlyArray<Artifact.Meta> =>
  tickets
    .filter((meta) => !Retention.isExpired(meta, now))
    .filter((meta) => after._tag === "None" || Artifact.compare(after.value, meta) < 0)
    .sort(Artifact.compare)
    .slice(0, count)
