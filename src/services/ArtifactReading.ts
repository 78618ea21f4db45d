/**
 * An `ArtifactReading` is what every store asks of a reader, and how stored bytes are proven before they are given.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Artifact from "../kernel/Artifact.ts"
import * as Payload from "../kernel/Payload.ts"
import * as Problem from "../kernel/Problem.ts"
import * as ArtifactMedium from "./ArtifactMedium.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import type { Page } from "./ArtifactStore.ts"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"

const fields = ["scope.tenant", "scope.principal", "scope.conversationId"] as const

/** The place of a scope, if every adapter can store it and this one has room for its name. */
export const placeOf = (
  scope: Artifact.Scope,
  maxSegment = Infinity
): Either.Either<ArtifactMedium.Place, ArtifactStoreError> => {
  const fault = Artifact.scopeFault(scope)
  if (fault !== undefined) return Either.left(ArtifactPut.invalid(fault, "well-formed text", "something else"))
  const place = ArtifactMedium.placeOf(scope)
  const long = place.segments.findIndex(({ length }) => length > maxSegment)
  const length = place.segments[long]?.length
  return length === undefined
    ? Either.right(place)
    : Either.left(
        ArtifactPut.invalid(
          fields[long] ?? "scope",
          `text of at most ${maxSegment} characters as this store writes it`,
          `${length} characters`
        )
      )
}

export const unreadable = (ref: Artifact.Ref, found: string): ArtifactStoreError =>
  failure("Unreadable", { what: "The artifact cannot be read.", where: ref, ref, found })

/** The artifact that these bytes are, once they are proven to be those that were put. */
export const read = (
  { hash, meta, shape }: ArtifactMedium.Kept,
  bytes: Uint8Array
): Either.Either<Artifact.Stored, ArtifactStoreError> => {
  const { ref } = meta
  const actual = ArtifactPut.sha256(bytes)
  if (actual !== hash) {
    const what = "The stored bytes of the artifact are not those that were put."
    return Either.left(failure("DigestMismatch", { what, where: ref, ref, expected: hash, found: actual, actual }))
  }
  return Either.mapBoth(Payload.decode({ bytes, shape }), {
    onLeft: ({ reason }) => unreadable(ref, reason),
    onRight: (data) => ({ meta: ArtifactPut.copy(meta), data })
  })
}

export interface ListOptions {
  readonly cursor?: string
  readonly limit?: number
}

/** What a list asks for: how many tickets to a page, and after which row. */
export const asked = ({ cursor, limit = 50 }: ListOptions = {}): Either.Either<
  { readonly after: Option.Option<Artifact.Key>; readonly limit: number },
  ArtifactStoreError
> => {
  if (!Number.isSafeInteger(limit) || limit < 1) {
    return Either.left(ArtifactPut.invalid("limit", "an integer of 1 or more", Problem.kindOf(limit)))
  }
  if (cursor === undefined) return Either.right({ after: Option.none(), limit })
  const after = typeof cursor === "string" ? Artifact.decodeCursor(cursor) : Option.none()
  return Option.isSome(after)
    ? Either.right({ after, limit })
    : Either.left(ArtifactPut.invalid("cursor", "a cursor that this store gave", Problem.kindOf(cursor)))
}

/** A page of at most `limit` of these tickets, of which there is one more if there are more. */
export const page = (tickets: ReadonlyArray<Artifact.Meta>, limit: number): Page => {
  const artifacts = tickets.slice(0, limit).map(ArtifactPut.copy)
  const last = artifacts.at(-1)
  return {
    artifacts,
    ...(tickets.length > limit && last !== undefined ? { cursor: Artifact.encodeCursor(last) } : {})
  }
}
