/**
 * An `ArtifactAudit` looks at every file of a directory of artifacts: it proves what is whole, says where something is
 * wrong, and removes what a crash left of puts and deletions that never ended. It removes no artifact.
 *
 * @internal
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import * as path from "node:path"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactFiles from "./ArtifactFiles.ts"
import type { Kept, Place } from "./ArtifactMedium.ts"
import * as ArtifactMedium from "./ArtifactMedium.ts"
import type { Kind, Problem, Report } from "./ArtifactReport.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import * as ArtifactTicket from "./ArtifactTicket.ts"
import * as RecordLock from "./RecordLock.ts"

export interface Options {
  readonly directory: string
  /** Whether leftovers are removed. */
  readonly repair?: boolean
}

type Result<A> = Effect.Effect<A, ArtifactStoreError>

/** A staged file of a process that cannot be asked is left alone while it may still be written, in milliseconds. */
const graceMs = 3_600_000

const fileName = /^(art_[A-Za-z0-9]{22})\.(bytes|ticket)$/

interface Audit {
  readonly files: ArtifactFiles.Files
  readonly repair: boolean
  readonly problems: Array<Problem>
  scopes: number
  artifacts: number
  bytes: number
}

const inside = ({ files }: Audit, at: string): string => path.relative(files.root, at).split(path.sep).join("/")

const tell = (audit: Audit, kind: Kind, at: string, what: string, ref?: Artifact.Ref, removed = false): void => {
  audit.problems.push({ kind, where: inside(audit, at), ...(ref === undefined ? {} : { ref }), what, removed })
}

/** Tells of a leftover, and removes it if that was asked for and it can be nothing else. */
const leftover = (audit: Audit, kind: Kind, at: string, what: string, ref: Artifact.Ref, isSure = true): Result<void> =>
  Effect.gen(function* () {
    const isRemoved = audit.repair && isSure
    if (isRemoved) yield* ArtifactFiles.remove(audit.files, at)
    tell(audit, kind, at, what, ref, isRemoved)
  })

/** Whether nobody writes the staged file any more. */
const isLeft = ({ files }: Audit, at: string, { maker }: ArtifactFiles.Staged): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    const gone = RecordLock.isGone(maker)
    if (gone !== undefined) return gone
    const now = yield* Clock.currentTimeMillis
    const info = yield* Effect.option(files.fs.stat(at))
    const written = Option.flatMap(info, ({ mtime }) => mtime)
    return Option.isSome(written) && now - written.value.getTime() > graceMs
  })

const stagedNames = ({ files }: Audit) =>
  Effect.map(ArtifactFiles.namesIn(files, path.join(files.root, ArtifactFiles.staging)), (names) =>
    names.map((name) => ({
      at: path.join(files.root, ArtifactFiles.staging, name),
      staged: ArtifactFiles.stagedOf(name)
    }))
  )

const auditStaging = (audit: Audit): Result<void> =>
  Effect.gen(function* () {
    for (const { at, staged } of yield* stagedNames(audit)) {
      if (staged === undefined) tell(audit, "foreign", at, "The store made no such file.")
      else if (yield* isLeft(audit, at, staged)) {
        yield* leftover(audit, "staged", at, "A put that never ended left it.", staged.ref)
      }
    }
  })

/** Whether a put that still runs has named the bytes, and will name the ticket. */
const isBeingPut = (audit: Audit, ref: Artifact.Ref): Result<boolean> =>
  Effect.gen(function* () {
    for (const { at, staged } of yield* stagedNames(audit)) {
      if (staged?.ref === ref && !(yield* isLeft(audit, at, staged))) return true
    }
    return false
  })

const isThere = (audit: Audit, at: string): Result<boolean> =>
  Effect.map(
    Effect.either(ArtifactFiles.read(audit.files, at)),
    (read) => Either.isLeft(read) || Option.isSome(read.right)
  )

const hashOf = (audit: Audit, at: string, missing: ArtifactStoreError) =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    return ArtifactFiles.stream(audit.files, at, missing).pipe(
      Stream.runFold(0, (size, piece) => {
        hash.update(piece)
        return size + piece.length
      }),
      Effect.map((size) => ({ hash: hash.digest("hex"), size }))
    )
  })

const auditBytes = (audit: Audit, directory: string, { hash, meta: { bytes, ref } }: Kept): Result<void> =>
  Effect.gen(function* () {
    const at = ArtifactFiles.fileOf(directory, ref, "bytes")
    const found = yield* Effect.either(hashOf(audit, at, ArtifactFiles.missing))
    if (Either.isLeft(found)) tell(audit, "unreadable", at, found.left.what, ref)
    else if (found.right.hash !== hash) {
      tell(audit, "bytes-changed", at, `Its ${found.right.size} bytes are not the ${bytes} that were put.`, ref)
    } else {
      audit.artifacts += 1
      audit.bytes += bytes
    }
  })

const auditTicket = (
  audit: Audit,
  place: Place,
  directory: string,
  ref: Artifact.Ref,
  hasBytes: boolean
): Result<void> =>
  Effect.gen(function* () {
    const at = ArtifactFiles.fileOf(directory, ref, "ticket")
    const text = yield* Effect.either(ArtifactFiles.readText(audit.files, at))
    if (Either.isLeft(text)) return tell(audit, "unreadable", at, text.left.what, ref)
    // It went while it was looked for.
    if (Option.isNone(text.right)) return
    const kept = ArtifactTicket.decode(place, ref, text.right.value ?? "")
    if (Either.isLeft(kept)) return tell(audit, "ticket-changed", at, `The artifact cannot be read: ${kept.left}.`, ref)
    const bytes = ArtifactFiles.fileOf(directory, ref, "bytes")
    if (hasBytes || (yield* isThere(audit, bytes))) return yield* auditBytes(audit, directory, kept.right)
    if (!(yield* isThere(audit, at))) return
    yield* leftover(audit, "no-bytes", at, "It is a ticket without its bytes.", ref)
  })

const auditAlone = (audit: Audit, directory: string, ref: Artifact.Ref, isSure: boolean): Result<void> =>
  Effect.gen(function* () {
    const at = ArtifactFiles.fileOf(directory, ref, "bytes")
    if (yield* isBeingPut(audit, ref)) return
    if (yield* isThere(audit, ArtifactFiles.fileOf(directory, ref, "ticket"))) return
    if (!(yield* isThere(audit, at))) return
    yield* leftover(audit, "no-ticket", at, "These are bytes without their ticket.", ref, isSure)
  })

const auditPlace = (audit: Audit, place: Place, directory: string): Result<void> =>
  Effect.gen(function* () {
    audit.scopes += 1
    const names = yield* ArtifactFiles.namesIn(audit.files, directory)
    const tickets = new Set<string>()
    const bytes = new Set<string>()
    for (const name of names) {
      const [, ref, kind] = fileName.exec(name) ?? []
      if (ref === undefined) tell(audit, "foreign", path.join(directory, name), "The store made no such file.")
      else (kind === "ticket" ? tickets : bytes).add(ref)
    }
    const before = audit.problems.length
    for (const ref of tickets) yield* auditTicket(audit, place, directory, ref, bytes.has(ref))
    // A damaged ticket may be that of the bytes.
    const isSure = !audit.problems.slice(before).some(({ kind }) => kind === "ticket-changed" || kind === "unreadable")
    for (const ref of bytes) if (!tickets.has(ref)) yield* auditAlone(audit, directory, ref, isSure)
  })

/** Goes down to the directories of scopes; at each level a name is one that the store gives, or it is foreign. */
const auditLevel = (audit: Audit, segments: ReadonlyArray<string>, directory: string): Result<void> =>
  Effect.gen(function* () {
    if (segments.length === 3) {
      const scope = Artifact.decodeScope(segments)
      if (Option.isSome(scope)) return yield* auditPlace(audit, ArtifactMedium.placeOf(scope.value), directory)
      return tell(audit, "foreign", directory, "The store made no such directory.")
    }
    for (const name of yield* ArtifactFiles.namesIn(audit.files, directory)) {
      const at = path.join(directory, name)
      if (segments.length === 0 && name === ArtifactFiles.staging) continue
      const segment = ArtifactFiles.segmentOf(name, segments.length)
      if (segment === undefined) tell(audit, "foreign", at, "The store made no such file or directory.")
      else {
        const seen = yield* Effect.either(ArtifactFiles.reach(audit.files, at))
        if (Either.isLeft(seen)) tell(audit, "foreign", at, seen.left.what)
        else yield* descend(audit, [...segments, segment], at)
      }
    }
  })

const descend = (audit: Audit, segments: ReadonlyArray<string>, at: string): Result<void> =>
  Effect.catchAll(auditLevel(audit, segments, at), (error) =>
    Effect.sync(() => tell(audit, "unreadable", at, error.message))
  )

/** Fails if the directory is not there or cannot be read; whatever is wrong inside of it is in the report. */
export const verify = ({
  directory,
  repair = false
}: Options): Effect.Effect<Report, ArtifactStoreError, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const files = yield* ArtifactFiles.existing(yield* FileSystem.FileSystem, directory)
    const audit: Audit = { files, repair, problems: [], scopes: 0, artifacts: 0, bytes: 0 }
    yield* auditLevel(audit, [], files.root)
    yield* auditStaging(audit)
    const { artifacts, bytes, problems, scopes } = audit
    return { scopes, artifacts, bytes, problems }
  })
