/**
 * An `ArtifactPut` is what every store asks of a put, in the order in which it asks, and the ticket that it stamps.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as Artifact from "../kernel/Artifact.ts"
import * as Payload from "../kernel/Payload.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as Retention from "../kernel/Retention.ts"
import type { Kept } from "./ArtifactMedium.ts"
import { ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as Entropy from "./Entropy.ts"

export const invalid = (path: string, expected: string, found: string): ArtifactStoreError =>
  failure("InvalidInput", { what: `The artifact store cannot take ${path}.`, where: path, expected, found, path })

/** The fields of an input that say what it is. */
export type Described = Omit<Artifact.PutInput, "data">

/** The same fields, which nobody else can change. */
export const detach = ({ digest, expiresAt, kind, label, mediaType, origin, parentRefs }: Described): Described => ({
  kind,
  mediaType,
  ...(label === undefined ? {} : { label }),
  ...(digest === undefined ? {} : { digest }),
  ...(expiresAt === undefined ? {} : { expiresAt }),
  ...(origin === undefined ? {} : { origin: Predicate.isRecord(origin) ? { ...origin } : origin }),
  ...(parentRefs === undefined ? {} : { parentRefs: Array.isArray(parentRefs) ? parentRefs.slice() : parentRefs })
})

const isText = (value: unknown): boolean => value === undefined || (Artifact.isWellFormed(value) && value !== "")

const isBlank = (value: unknown): boolean => !Artifact.isWellFormed(value) || value.trim() === ""

/** What is wrong with an input before its parents and its data are looked at. */
export const fault = (input: Described, now: number): ArtifactStoreError | undefined => {
  const { digest, expiresAt, kind, label, mediaType, origin, parentRefs } = input
  const refuse = (path: string, expected: string, found: unknown) => invalid(path, expected, Problem.kindOf(found))
  if (isBlank(kind)) return refuse("kind", "text that is not blank", kind)
  if (isBlank(mediaType)) return refuse("mediaType", "text that is not blank", mediaType)
  if (expiresAt !== undefined && !(Number.isFinite(expiresAt) && expiresAt > now)) {
    return refuse("expiresAt", "a finite time after now, in milliseconds since the epoch", expiresAt)
  }
  if (digest !== undefined && digest !== "sha-256") return refuse("digest", '"sha-256"', digest)
  if (label !== "" && !isText(label)) return refuse("label", "well-formed text", label)
  if (origin !== undefined && !Predicate.isRecord(origin)) return refuse("origin", "an object", origin)
  if (!isText(origin?.runId)) return refuse("origin.runId", "well-formed text", origin?.runId)
  if (!isText(origin?.toolCallId)) return refuse("origin.toolCallId", "well-formed text", origin?.toolCallId)
  if (parentRefs !== undefined && !Array.isArray(parentRefs)) return refuse("parentRefs", "a list of refs", parentRefs)
  return undefined
}

const unknownParents = (refs: ReadonlyArray<string>): ArtifactStoreError =>
  failure("UnknownParent", {
    what: `Of the parents, ${refs.length === 1 ? "one is" : `${refs.length} are`} not live in this scope.`,
    where: "parentRefs",
    path: "parentRefs",
    refs: refs.map((ref) => (Artifact.isRef(ref) ? ref : Printable.quote(String(ref), 32)))
  })

/** Which parents do not live in the scope that holds these rows. */
export const parentFault = (
  { parentRefs = [] }: Described,
  held: ReadonlyArray<Retention.Row>,
  now: number
): ArtifactStoreError | undefined => {
  if (parentRefs.length === 0) return undefined
  const live = new Set(held.filter((row) => !Retention.isExpired(row, now)).map(({ ref }) => ref))
  const lost = parentRefs.filter((ref) => !Artifact.isRef(ref) || !live.has(ref))
  return lost.length === 0 ? undefined : unknownParents(lost)
}

/** The data as it will be stored. */
export const payloadOf = (data: unknown): Either.Either<Payload.Payload, ArtifactStoreError> =>
  Either.mapLeft(Payload.encode(data), ({ path, reason }) =>
    invalid(`data${path}`, "a text, bytes, or a value that JSON keeps as it is", reason)
  )

const overBudget = ({ allowed, limit, needed }: NonNullable<Retention.Plan["refuse"]>): ArtifactStoreError =>
  failure("OverBudget", {
    what: limit === "max-bytes" ? "The artifact does not fit into its scope." : "The scope has no place for one more.",
    expected: limit === "max-bytes" ? `at most ${allowed} bytes` : `at most ${allowed} artifacts`,
    found: limit === "max-bytes" ? `${needed} bytes` : `${needed} artifacts that have to stay`
  })

/** What has to go for it. */
export const room = (
  { parentRefs = [] }: Described,
  bytes: number,
  held: ReadonlyArray<Retention.Row>,
  limits: Retention.Limits,
  now: number
): Either.Either<ReadonlyArray<Artifact.Swept>, ArtifactStoreError> => {
  const { evict, refuse } = Retention.planRetention(held, { bytes, parentRefs }, limits, now)
  return refuse === undefined ? Either.right(evict) : Either.left(overBudget(refuse))
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const tries = 16

/** A name that none of the rows has. */
export const mint = (held: ReadonlyArray<Retention.Row>): Effect.Effect<Artifact.Ref, ArtifactStoreError> =>
  Effect.gen(function* () {
    const { bytes } = yield* Entropy.Entropy
    for (let n = 0; n < tries; n++) {
      const minted = Artifact.mint(yield* bytes(Artifact.mintBytes))
      if (minted !== undefined && !held.some(({ ref }) => ref === minted)) return minted
    }
    return yield* failure("Unavailable", { what: `The source of randomness gave no new name in ${tries} tries.` })
  })

/** A ticket that shares nothing with this one. */
export const copy = (meta: Artifact.Meta): Artifact.Meta => ({
  ...meta,
  ...(meta.origin === undefined ? {} : { origin: { ...meta.origin } }),
  ...(meta.parentRefs === undefined ? {} : { parentRefs: meta.parentRefs.slice() })
})

/** What was measured and decided of a put. */
export interface Stamp {
  readonly ref: Artifact.Ref
  readonly bytes: number
  readonly shape: Payload.Shape
  readonly hash: string
  readonly now: number
}

/** The artifact as it is kept: the input's fields, and what the store stamps. */
export const keep = (
  input: Described,
  { bytes, hash, now, ref, shape }: Stamp,
  held: ReadonlyArray<Retention.Row>,
  limits: Retention.Limits
): Kept => {
  const { digest, kind, label, mediaType, origin, parentRefs = [] } = input
  const expiresAt = Retention.expiryOf(input.expiresAt, limits, now)
  const { runId, toolCallId } = origin ?? {}
  const meta: Artifact.Meta = {
    ref,
    kind,
    mediaType,
    bytes,
    createdAt: now,
    ...(label === undefined ? {} : { label }),
    ...(digest === undefined ? {} : { digest: `sha-256:${hash}` }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(origin === undefined
      ? {}
      : { origin: { ...(runId === undefined ? {} : { runId }), ...(toolCallId === undefined ? {} : { toolCallId }) } }),
    ...(parentRefs.length === 0 ? {} : { parentRefs: Array.from(new Set(parentRefs)) })
  }
  const order = held.reduce((last, { lastAccessedAt }) => Math.max(last, lastAccessedAt), 0) + 1
  return { meta, shape, hash, order }
}

const decodeLimits = Schema.decodeUnknownEither(Retention.Limits)

/** The limits, if each is finite and above zero. */
export const limitsOf = (
  given: Retention.Limits,
  bounds: Retention.Limits = {}
): Either.Either<Retention.Limits, ArtifactStoreError> =>
  Either.mapBoth(decodeLimits(given), {
    onLeft: () => invalid("limits", "numbers that are finite and above zero", "something else"),
    onRight: (limits) => ({ ...bounds, ...limits })
  })

/** What nobody can say of a put whose undoing failed. */
export const uncertain = ({ found, what }: ArtifactStoreError) =>
  new ArtifactStoreError({
    reason: "Unavailable",
    code: "WF-ART-006",
    what,
    ...(found === undefined ? {} : { found }),
    next: "List the scope to see whether the artifact is there.",
    outcome: "unknown",
    retry: "after-human"
  })
