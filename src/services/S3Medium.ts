/**
 * An `S3Medium` keeps artifacts in a bucket: two objects for each, its bytes and then its ticket. See
 * `docs/decisions/0010-artifacts-in-an-object-store.md`.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Artifact from "../kernel/Artifact.ts"
import * as Retention from "../kernel/Retention.ts"
import type * as ArtifactMedium from "./ArtifactMedium.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import * as ArtifactReading from "./ArtifactReading.ts"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as ArtifactTicket from "./ArtifactTicket.ts"
import * as ArtifactTurns from "./ArtifactTurns.ts"
import type * as S3Bucket from "./S3Bucket.ts"
import type * as S3Fault from "./S3Fault.ts"
import * as S3Key from "./S3Key.ts"
import * as S3Staging from "./S3Staging.ts"

type Place = ArtifactMedium.Place
type Kept = ArtifactMedium.Kept
type Result<A> = Effect.Effect<A, ArtifactStoreError>

export interface Options {
  readonly bucket: S3Bucket.Bucket
  /** What every key begins with: nothing, or a text that ends with a slash. */
  readonly root: string
  readonly partBytes: number
}

/** How many tickets are read at once. */
const concurrency = 8

/** The longest ticket that is read. Its label and its kind are the user's. */
export const maxTicket = 16 * 1_024 * 1_024

const taken = failure("Unavailable", {
  what: "The source of randomness gave a name that an artifact has already.",
  next: "Try again; if it goes on, look at the source of randomness."
})

/** What a ticket's object keeps, if it is the ticket of that ref and has its key. */
export const ticketOf = (
  root: string,
  place: Place,
  ref: Artifact.Ref,
  key: string,
  bytes: Uint8Array
): Either.Either<Kept, string> =>
  Either.filterOrLeft(
    ArtifactTicket.decode(place, ref, new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)),
    (kept) => S3Key.ticketKey(root, place, S3Key.rowOf(kept)) === key,
    () => "its key says something else than its ticket"
  )

/** The bucket as a medium. Puts take turns within this process. */
export const make = ({ bucket, partBytes, root }: Options): ArtifactMedium.Streaming<S3Staging.Staged> => {
  const turns = ArtifactTurns.make()

  /** The rows that the keys under a prefix say, with the keys. */
  const rows = (place: Place, prefix: string, count?: number) =>
    Effect.map(bucket.list(prefix, count), (listed) => {
      const folder = S3Key.folder(root, "tickets", place)
      return listed.flatMap(({ key }) =>
        Option.toArray(Option.map(S3Key.rowIn(key.slice(folder.length)), (row) => ({ key, row })))
      )
    })

  const all = (place: Place) => rows(place, S3Key.folder(root, "tickets", place))

  const ofRef = (place: Place, ref: Artifact.Ref, count?: number) =>
    rows(place, S3Key.ticketPrefix(root, place, ref), count)

  const read = (place: Place, key: string, { ref }: S3Key.Row): Result<Option.Option<Kept>> =>
    Effect.gen(function* () {
      const bytes = yield* bucket.read(key, maxTicket)
      if (Option.isNone(bytes)) return Option.none()
      const kept = Either.mapLeft(ticketOf(root, place, ref, key, bytes.value), (found) =>
        ArtifactReading.unreadable(ref, found)
      )
      return Option.some(yield* kept)
    })

  const find = (place: Place, ref: Artifact.Ref): Result<Option.Option<Kept>> =>
    Effect.gen(function* () {
      const [found, other] = yield* ofRef(place, ref, 2)
      if (found === undefined) return Option.none()
      if (other !== undefined) return yield* ArtifactReading.unreadable(ref, "it has two tickets")
      return yield* read(place, found.key, found.row)
    })

  /** The ticket goes first: from then on the artifact is not there. */
  const erase = (place: Place, ref: Artifact.Ref): Result<void> =>
    Effect.gen(function* () {
      for (const { key } of yield* ofRef(place, ref)) yield* bucket.remove(key)
      yield* bucket.remove(S3Key.bytesKey(root, place, ref))
    })

  /** Writes the ticket. Of what fails, nothing is left. */
  const publish = (place: Place, kept: Kept): Result<void> => {
    const key = S3Key.ticketKey(root, place, S3Key.rowOf(kept))
    const bytes = S3Key.bytesKey(root, place, kept.meta.ref)
    const line = new TextEncoder().encode(ArtifactTicket.encode(place, kept))
    return Effect.catchAll(bucket.create(key, line), ({ error, isAmbiguous }) =>
      Effect.gen(function* () {
        const gone = yield* Effect.either(isAmbiguous ? bucket.remove(key) : Effect.void)
        if (Either.isLeft(gone)) return yield* ArtifactPut.uncertain(error)
        yield* Effect.catchAll(bucket.remove(bytes), ({ message }) =>
          Effect.logWarning(`The bytes of artifact ${kept.meta.ref}, which has no ticket, are left. ${message}`)
        )
        return yield* error
      })
    )
  }

  /** What the key does not say: of what kind the artifact is. */
  const kindOf = (place: Place, ref: Artifact.Ref): Effect.Effect<string> =>
    Effect.map(Effect.option(find(place, ref)), (found) =>
      Option.getOrElse(
        Option.map(Option.flatten(found), ({ meta }) => meta.kind),
        () => "unreadable"
      )
    )

  /** What could not be removed stays, is named in the log, and goes with a later put. */
  const sweep = (place: Place, evict: ReadonlyArray<Artifact.Swept>): Effect.Effect<ReadonlyArray<Artifact.Swept>> =>
    Effect.map(
      Effect.forEach(
        evict,
        (gone) =>
          Effect.gen(function* () {
            const kind = yield* kindOf(place, gone.ref)
            yield* erase(place, gone.ref)
            return [{ ...gone, kind }]
          }).pipe(
            Effect.catchAll(({ message }) =>
              Effect.as(Effect.logWarning(`Artifact ${gone.ref} could not be evicted. ${message}`), [])
            )
          ),
        { concurrency }
      ),
      (swept) => swept.flat()
    )

  const commitStaged = (
    place: Place,
    kept: Kept,
    { create }: S3Staging.Staged,
    evict: ReadonlyArray<Artifact.Swept>
  ): Result<ReadonlyArray<Artifact.Swept>> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        yield* Effect.mapError(restore(create), ({ error, kind }) => (kind === "exists" ? taken : error))
        yield* publish(place, kept)
        return yield* sweep(place, evict)
      })
    )

  const missing = ({ meta: { ref } }: Kept) => ArtifactReading.unreadable(ref, "its bytes are missing")

  return {
    maxSegment: S3Key.maxSegment(root),
    exclusively: ({ prefix }) => turns(prefix),
    find,
    // One byte more would be noticed, and no others are waited for.
    load: (place, { meta }) => bucket.read(S3Key.bytesKey(root, place, meta.ref), meta.bytes),

    holdings: (place) =>
      Effect.map(all(place), (found) =>
        found.map(({ row: { bytes, expiresAt, order, ref } }): Retention.Row => ({
          ref,
          kind: "",
          bytes,
          lastAccessedAt: order,
          ...(expiresAt === undefined ? {} : { expiresAt })
        }))
      ),

    commit: (place, kept, bytes, evict) =>
      commitStaged(place, kept, { create: bucket.create(S3Key.bytesKey(root, place, kept.meta.ref), bytes) }, evict),

    remove: (place, ref) => Effect.uninterruptible(erase(place, ref)),

    page: (place, { after, count, now }) =>
      Effect.gen(function* () {
        const wanted = (yield* all(place))
          .filter(({ row }) => !Retention.isExpired(row, now))
          .filter(({ row }) => after._tag === "None" || Artifact.compare(after.value, row) < 0)
          .sort((self, that) => Artifact.compare(self.row, that.row))
        const tickets: Array<Artifact.Meta> = []
        // One that went meanwhile makes room for the next.
        for (let at = 0; at < wanted.length && tickets.length < count;) {
          const some = wanted.slice(at, at + count - tickets.length)
          const kept = yield* Effect.forEach(some, ({ key, row }) => read(place, key, row), { concurrency })
          for (const { meta } of kept.flatMap(Option.toArray)) tickets.push(meta)
          at += some.length
        }
        return tickets
      }),

    stage: (place, ref, body) => S3Staging.stage(bucket, S3Key.bytesKey(root, place, ref), body, partBytes),
    commitStaged,

    body: (place, kept) =>
      Stream.mapError(bucket.stream(S3Key.bytesKey(root, place, kept.meta.ref)), (fault: S3Fault.S3Fault) =>
        fault.kind === "absent" ? missing(kept) : fault.error
      )
  }
}
