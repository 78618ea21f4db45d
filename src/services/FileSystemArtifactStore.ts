/**
 * A `FileSystemArtifactStore` keeps artifacts in a directory: two files for each, its bytes and its ticket. See
 * `docs/decisions/0008-artifact-directory.md`.
 *
 * @internal
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Artifact from "../kernel/Artifact.ts"
import type * as Retention from "../kernel/Retention.ts"
import * as ArtifactFiles from "./ArtifactFiles.ts"
import * as ArtifactMedium from "./ArtifactMedium.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import * as ArtifactReading from "./ArtifactReading.ts"
import type { ArtifactStore } from "./ArtifactStore.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import * as ArtifactStreams from "./ArtifactStreams.ts"
import * as ArtifactTicket from "./ArtifactTicket.ts"
import * as ArtifactTurns from "./ArtifactTurns.ts"
import * as ArtifactVerbs from "./ArtifactVerbs.ts"

export { verify } from "./ArtifactAudit.ts"

/** The directory is made if it is not there. An absent limit is none. */
export interface Options extends Retention.Limits {
  readonly directory: string
}

type Place = ArtifactMedium.Place
type Kept = ArtifactMedium.Kept
type Result<A> = Effect.Effect<A, ArtifactStoreError>

/** Of how many scopes the tickets are remembered. */
const maxKnown = 64

const ticketName = /^(art_[A-Za-z0-9]{22})\.ticket$/

/** The directory as a medium. Puts take turns within this process. */
const medium = (files: ArtifactFiles.Files): ArtifactMedium.Streaming<string> => {
  const turns = ArtifactTurns.make()
  // A ticket never changes, so that planning reads each once.
  const known = new Map<string, Map<string, Retention.Row>>()

  const find = (place: Place, ref: Artifact.Ref): Result<Option.Option<Kept>> =>
    Effect.gen(function* () {
      const directory = ArtifactFiles.directoryOf(files, place)
      if (!(yield* ArtifactFiles.reach(files, directory))) return Option.none()
      const text = yield* ArtifactFiles.readText(files, ArtifactFiles.fileOf(directory, ref, "ticket"))
      if (Option.isNone(text)) return Option.none()
      const kept = Either.mapLeft(ArtifactTicket.decode(place, ref, text.value ?? ""), (found) =>
        ArtifactReading.unreadable(ref, found)
      )
      return Option.some(yield* kept)
    })

  const refsIn = (place: Place): Result<ReadonlyArray<Artifact.Ref>> =>
    Effect.gen(function* () {
      const directory = ArtifactFiles.directoryOf(files, place)
      if (!(yield* ArtifactFiles.reach(files, directory))) return []
      const names = yield* ArtifactFiles.namesIn(files, directory)
      return names.flatMap((name) => ticketName.exec(name)?.[1] ?? [])
    })

  /** What is there under each of the refs; one that went meanwhile is left out. */
  const all = (place: Place, refs: ReadonlyArray<Artifact.Ref>): Result<ReadonlyArray<Kept>> =>
    Effect.map(
      Effect.forEach(refs, (ref) => find(place, ref), { concurrency: 8 }),
      (found) => found.flatMap(Option.toArray)
    )

  const rowsOf = (prefix: string): Map<string, Retention.Row> => {
    const rows = known.get(prefix) ?? new Map<string, Retention.Row>()
    known.delete(prefix)
    known.set(prefix, rows)
    for (const oldest of known.keys()) {
      if (known.size <= maxKnown) break
      known.delete(oldest)
    }
    return rows
  }

  /** The ticket goes first: from then on the artifact is not there. */
  const erase = (directory: string, ref: Artifact.Ref): Result<void> =>
    Effect.zipRight(
      ArtifactFiles.remove(files, ArtifactFiles.fileOf(directory, ref, "ticket")),
      ArtifactFiles.remove(files, ArtifactFiles.fileOf(directory, ref, "bytes"))
    )

  /** Gives a name to what was staged, the ticket's last. Of what fails, nothing is left. */
  const publish = (directory: string, ref: Artifact.Ref, bytes: string, ticket: string): Result<void> =>
    Effect.gen(function* () {
      yield* ArtifactFiles.rename(files, bytes, ArtifactFiles.fileOf(directory, ref, "bytes"))
      yield* ArtifactFiles.syncDirectory(files, directory)
      yield* ArtifactFiles.rename(files, ticket, ArtifactFiles.fileOf(directory, ref, "ticket"))
      yield* ArtifactFiles.syncDirectory(files, directory)
    }).pipe(
      Effect.catchAll((error) =>
        Effect.matchEffect(erase(directory, ref), {
          onFailure: () => ArtifactPut.uncertain(error),
          onSuccess: () => error
        })
      )
    )

  /** What could not be removed stays, is named in the log, and goes with a later put. */
  const sweep = (directory: string, evict: ReadonlyArray<Artifact.Swept>): Result<ReadonlyArray<Artifact.Swept>> =>
    Effect.gen(function* () {
      const swept: Array<Artifact.Swept> = []
      for (const gone of evict) {
        const error = yield* Effect.flip(erase(directory, gone.ref)).pipe(Effect.option)
        if (Option.isNone(error)) swept.push(gone)
        else yield* Effect.logWarning(`Artifact ${gone.ref} could not be evicted. ${error.value.message}`)
      }
      if (swept.length > 0) yield* Effect.ignore(ArtifactFiles.syncDirectory(files, directory))
      return swept
    })

  const commitStaged = (place: Place, kept: Kept, staged: string, evict: ReadonlyArray<Artifact.Swept>) =>
    Effect.gen(function* () {
      const { ref } = kept.meta
      const directory = yield* ArtifactFiles.ensure(files, place)
      const line = Stream.make(new TextEncoder().encode(ArtifactTicket.encode(place, kept)))
      yield* publish(directory, ref, staged, yield* ArtifactFiles.stage(files, ref, "ticket", line))
      rowsOf(place.prefix).set(ref, ArtifactMedium.toRow(kept.meta, kept.order))
      return yield* sweep(directory, evict)
    }).pipe(Effect.scoped, Effect.uninterruptible)

  const bytesOf = (place: Place, { meta }: Kept) =>
    ArtifactFiles.fileOf(ArtifactFiles.directoryOf(files, place), meta.ref, "bytes")

  return {
    maxSegment: ArtifactFiles.maxSegment,
    exclusively: ({ prefix }) => turns(prefix),
    find,
    load: (place, kept) => ArtifactFiles.read(files, bytesOf(place, kept)),

    holdings: (place) =>
      Effect.gen(function* () {
        const refs = yield* refsIn(place)
        const rows = rowsOf(place.prefix)
        const there = new Set<string>(refs)
        for (const ref of rows.keys()) if (!there.has(ref)) rows.delete(ref)
        const fresh = yield* all(
          place,
          refs.filter((ref) => !rows.has(ref))
        )
        for (const { meta, order } of fresh) rows.set(meta.ref, ArtifactMedium.toRow(meta, order))
        return Array.from(rows.values())
      }),

    commit: (place, kept, bytes, evict) =>
      Effect.flatMap(ArtifactFiles.stage(files, kept.meta.ref, "bytes", Stream.make(bytes)), (staged) =>
        commitStaged(place, kept, staged, evict)
      ).pipe(Effect.scoped),

    remove: (place, ref) =>
      Effect.gen(function* () {
        const directory = ArtifactFiles.directoryOf(files, place)
        if (!(yield* ArtifactFiles.reach(files, directory))) return
        yield* erase(directory, ref)
        yield* ArtifactFiles.syncDirectory(files, directory)
      }).pipe(Effect.uninterruptible),

    page: (place, query) =>
      Effect.map(
        Effect.flatMap(refsIn(place), (refs) => all(place, refs)),
        (kept) =>
          ArtifactMedium.pageOf(
            kept.map(({ meta }) => meta),
            query
          )
      ),

    stage: (_, ref, body) => ArtifactFiles.stage(files, ref, "bytes", body),
    commitStaged,
    body: (place, kept) =>
      ArtifactFiles.stream(
        files,
        bytesOf(place, kept),
        ArtifactReading.unreadable(kept.meta.ref, "its bytes are missing")
      )
  }
}

/** A store over the directory. */
export const make = ({
  directory,
  ...given
}: Options): Effect.Effect<typeof ArtifactStore.Service, ArtifactStoreError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const limits = yield* ArtifactPut.limitsOf(given)
    const over = medium(yield* ArtifactFiles.open(yield* FileSystem.FileSystem, directory))
    return { ...ArtifactVerbs.make(over, limits), ...ArtifactStreams.make(over, limits) }
  })
