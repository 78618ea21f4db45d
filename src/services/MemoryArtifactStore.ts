/**
 * A `MemoryArtifactStore` keeps artifacts in a map, and within bounds.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as Artifact from "../kernel/Artifact.ts"
import * as Payload from "../kernel/Payload.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as Retention from "../kernel/Retention.ts"
import type { ArtifactStore, Put } from "./ArtifactStore.ts"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as Entropy from "./Entropy.ts"

/** An artifact as it is kept. `hash` is that of the bytes when they were put; `lastAccessedAt` counts accesses. */
export interface Row {
  readonly meta: Artifact.Meta
  readonly payload: Payload.Payload
  readonly hash: string
  lastAccessedAt: number
}

/** The rows of each scope, by the scope's encoding. */
export type Backing = Map<string, Map<string, Row>>

const bounds: Retention.Limits = { maxBytesPerScope: 32 * 1_024 * 1_024, maxCountPerScope: 256 }

const invalid = (path: string, expected: string, found: string): ArtifactStoreError =>
  failure("InvalidInput", { what: `The artifact store cannot take ${path}.`, where: path, expected, found, path })

const keyOf = (scope: Artifact.Scope): Effect.Effect<string, ArtifactStoreError> => {
  const fault = Artifact.scopeFault(scope)
  return fault === undefined
    ? Effect.succeed(JSON.stringify(Artifact.encodeScope(scope)))
    : invalid(fault, "well-formed text", "something else")
}

const isText = (value: unknown): boolean => value === undefined || (Artifact.isWellFormed(value) && value !== "")

const isBlank = (value: unknown): boolean => !Artifact.isWellFormed(value) || value.trim() === ""

/** What is wrong with a put before its parents and its data are looked at. */
const inputFault = (input: Artifact.PutInput, now: number): ArtifactStoreError | undefined => {
  const { digest, expiresAt, kind, label, mediaType, origin } = input
  const refuse = (path: string, expected: string, found: unknown) => invalid(path, expected, Problem.kindOf(found))
  if (isBlank(kind)) return refuse("kind", "text that is not blank", kind)
  if (isBlank(mediaType)) return refuse("mediaType", "text that is not blank", mediaType)
  if (expiresAt !== undefined && !(Number.isFinite(expiresAt) && expiresAt > now)) {
    return refuse("expiresAt", "a finite time after now, in milliseconds since the epoch", expiresAt)
  }
  if (digest !== undefined && digest !== "sha-256") return refuse("digest", '"sha-256"', digest)
  if (label !== "" && !isText(label)) return refuse("label", "well-formed text", label)
  if (!isText(origin?.runId)) return refuse("origin.runId", "well-formed text", origin?.runId)
  if (!isText(origin?.toolCallId)) return refuse("origin.toolCallId", "well-formed text", origin?.toolCallId)
  return undefined
}

const unknownParents = (refs: ReadonlyArray<string>): ArtifactStoreError =>
  failure("UnknownParent", {
    what: `Of the parents, ${refs.length === 1 ? "one is" : `${refs.length} are`} not live in this scope.`,
    where: "parentRefs",
    path: "parentRefs",
    refs: refs.map((ref) => (Artifact.isRef(ref) ? ref : Printable.quote(`${ref}`, 32)))
  })

const overBudget = ({ allowed, limit, needed }: NonNullable<Retention.Plan["refuse"]>): ArtifactStoreError =>
  failure("OverBudget", {
    what: limit === "max-bytes" ? "The artifact does not fit into its scope." : "The scope has no place for one more.",
    expected: limit === "max-bytes" ? `at most ${allowed} bytes` : `at most ${allowed} artifacts`,
    found: limit === "max-bytes" ? `${needed} bytes` : `${needed} artifacts that have to stay`
  })

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const copy = (meta: Artifact.Meta): Artifact.Meta => ({
  ...meta,
  ...(meta.origin === undefined ? {} : { origin: { ...meta.origin } }),
  ...(meta.parentRefs === undefined ? {} : { parentRefs: meta.parentRefs.slice() })
})

const toMeta = (
  input: Artifact.PutInput,
  stamped: Pick<Artifact.Meta, "ref" | "bytes" | "createdAt"> & {
    readonly hash: string
    readonly expiresAt: number | undefined
  }
): Artifact.Meta => {
  const { bytes, createdAt, expiresAt, hash, ref } = stamped
  const { digest, kind, label, mediaType, origin, parentRefs = [] } = input
  return copy({
    ref,
    kind,
    mediaType,
    bytes,
    createdAt,
    ...(label === undefined ? {} : { label }),
    ...(digest === undefined ? {} : { digest: `sha-256:${hash}` }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(origin === undefined ? {} : { origin }),
    ...(parentRefs.length === 0 ? {} : { parentRefs: Array.from(new Set(parentRefs)) })
  })
}

const toRetentionRow = ({ lastAccessedAt, meta }: Row): Retention.Row => ({
  ref: meta.ref,
  kind: meta.kind,
  bytes: meta.bytes,
  lastAccessedAt,
  ...(meta.expiresAt === undefined ? {} : { expiresAt: meta.expiresAt })
})

const decodeLimits = Schema.decodeUnknownEither(Retention.Limits)

const limitsOf = (given: Retention.Limits): Effect.Effect<Retention.Limits, ArtifactStoreError> =>
  Effect.mapBoth(decodeLimits(given), {
    onFailure: () => invalid("limits", "numbers that are finite and above zero", "something else"),
    onSuccess: (limits) => ({ ...bounds, ...limits })
  })

const tries = 16

/** A store over a map of its own, a new one each time that it is made, or over one that the caller keeps. */
export const make = (
  limits: Retention.Limits = {},
  kept?: Backing
): Effect.Effect<typeof ArtifactStore.Service, ArtifactStoreError> =>
  Effect.map(limitsOf(limits), (limits) => {
    const backing: Backing = kept ?? new Map()
    let accesses = 0

    const isLive = (row: Row | undefined, now: number): row is Row =>
      row !== undefined && !Retention.isExpired(row.meta, now)

    /** The live row, now the last accessed. */
    const find = (key: string, ref: string, now: number): Option.Option<Row> => {
      const row = Artifact.isRef(ref) ? backing.get(key)?.get(ref) : undefined
      if (!isLive(row, now)) return Option.none()
      row.lastAccessedAt = ++accesses
      return Option.some(row)
    }

    /** All of a put in one step, so that no other comes between its plan and its write; `none` if the name is taken. */
    const place = (
      key: string,
      input: Artifact.PutInput,
      random: Uint8Array,
      now: number
    ): Either.Either<Option.Option<Put>, ArtifactStoreError> => {
      const rows = backing.get(key) ?? new Map<string, Row>()
      const fault = inputFault(input, now)
      if (fault !== undefined) return Either.left(fault)
      const lost = (input.parentRefs ?? []).filter((ref) => !Artifact.isRef(ref) || !isLive(rows.get(ref), now))
      if (lost.length > 0) return Either.left(unknownParents(lost))
      const encoded = Payload.encode(input.data)
      if (Either.isLeft(encoded)) {
        const { path, reason } = encoded.left
        return Either.left(invalid(`data${path}`, "a text, bytes, or a value that JSON keeps as it is", reason))
      }
      const payload = encoded.right
      const hash = sha256(payload.bytes)
      const ref = Artifact.mint(random)
      if (ref === undefined || rows.has(ref)) return Either.right(Option.none())
      const expiresAt = Retention.expiryOf(input.expiresAt, limits, now)
      const meta = toMeta(input, { ref, bytes: payload.bytes.length, createdAt: now, hash, expiresAt })
      const { evict, refuse } = Retention.planRetention(Array.from(rows.values(), toRetentionRow), meta, limits, now)
      if (refuse !== undefined) return Either.left(overBudget(refuse))
      backing.set(key, rows.set(ref, { meta, payload, hash, lastAccessedAt: ++accesses }))
      for (const { ref } of evict) rows.delete(ref)
      return Either.right(Option.some({ meta: copy(meta), swept: evict }))
    }

    const read = ({ hash, meta, payload }: Row): Either.Either<Artifact.Stored, ArtifactStoreError> => {
      const { ref } = meta
      const actual = sha256(payload.bytes)
      if (actual !== hash) {
        const what = "The stored bytes of the artifact are not those that were put."
        return Either.left(failure("DigestMismatch", { what, where: ref, ref, expected: hash, found: actual, actual }))
      }
      return Either.mapBoth(Payload.decode(payload), {
        onLeft: ({ reason }) =>
          failure("Unreadable", { what: "The artifact cannot be read.", where: ref, ref, found: reason }),
        onRight: (data) => ({ meta: copy(meta), data })
      })
    }

    return {
      put: Effect.fnUntraced(function* (scope: Artifact.Scope, input: Artifact.PutInput) {
        const key = yield* keyOf(scope)
        const { bytes } = yield* Entropy.Entropy
        const now = yield* Clock.currentTimeMillis
        for (let n = 0; n < tries; n++) {
          const placed = yield* place(key, input, yield* bytes(Artifact.mintBytes), now)
          if (Option.isSome(placed)) return placed.value
        }
        return yield* failure("Unavailable", { what: `The source of randomness gave no new name in ${tries} tries.` })
      }),

      head: Effect.fnUntraced(function* (scope: Artifact.Scope, ref: string) {
        const row = find(yield* keyOf(scope), ref, yield* Clock.currentTimeMillis)
        return Option.map(row, ({ meta }) => copy(meta))
      }),

      get: Effect.fnUntraced(function* (scope: Artifact.Scope, ref: string) {
        const row = find(yield* keyOf(scope), ref, yield* Clock.currentTimeMillis)
        return Option.isNone(row) ? Option.none<Artifact.Stored>() : Option.some(yield* read(row.value))
      }),

      delete: (scope: Artifact.Scope, ref: string) =>
        Effect.map(keyOf(scope), (key) => {
          const rows = backing.get(key)
          rows?.delete(ref)
          if (rows?.size === 0) backing.delete(key)
        }),

      list: Effect.fnUntraced(function* (
        scope: Artifact.Scope,
        { cursor, limit = 50 }: { readonly cursor?: string; readonly limit?: number } = {}
      ) {
        const key = yield* keyOf(scope)
        if (!Number.isSafeInteger(limit) || limit < 1) {
          return yield* invalid("limit", "an integer of 1 or more", Problem.kindOf(limit))
        }
        const after = cursor === undefined ? Option.none() : Artifact.decodeCursor(cursor)
        if (cursor !== undefined && Option.isNone(after)) {
          return yield* invalid("cursor", "a cursor that this store gave", Problem.kindOf(cursor))
        }
        const now = yield* Clock.currentTimeMillis
        const rows = Array.from(backing.get(key)?.values() ?? [], ({ meta }) => meta)
          .filter((meta) => !Retention.isExpired(meta, now))
          .filter((meta) => Option.isNone(after) || Artifact.compare(after.value, meta) < 0)
          .sort(Artifact.compare)
        const artifacts = rows.slice(0, limit).map(copy)
        const last = artifacts.at(-1)
        return {
          artifacts,
          ...(rows.length > limit && last !== undefined ? { cursor: Artifact.encodeCursor(last) } : {})
        }
      })
    }
  })
