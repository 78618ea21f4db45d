/**
 * `ArtifactFiles` are a directory of artifacts: where each file is, and how it is read and written without leaving the
 * directory. See `docs/decisions/0008-artifact-directory.md`.
 *
 * @internal
 */
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as path from "node:path"
import type * as Artifact from "../kernel/Artifact.ts"
import type { Place } from "./ArtifactMedium.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as RecordLock from "./RecordLock.ts"

export interface Files {
  readonly fs: FileSystem.FileSystem
  /** The directory's real path. */
  readonly root: string
}

type Result<A> = Effect.Effect<A, ArtifactStoreError>

/** Where files are written before they have a name; no scope's directory is called so. */
export const staging = "staging"

const letters = ["t-", "p-", "c-"] as const

/** The longest name of a file is 255 bytes; a segment gets two before it and 17 after it. */
export const maxSegment = 255 - 2 - 17

const isAscii = (segment: string): boolean => !/%(?:[89A-F][0-9A-F]|u)/.test(segment)

const nameOf = (segment: string, at: number): string => {
  const hash = isAscii(segment) ? "" : `.${ArtifactPut.sha256(new TextEncoder().encode(segment)).slice(0, 16)}`
  return `${letters[at] ?? ""}${segment}${hash}`
}

/** The names of the directories that lead to a place. */
const namesOf = ({ segments }: Place): ReadonlyArray<string> => segments.map(nameOf)

/** The segment that a directory is named after, if it is. */
export const segmentOf = (name: string, at: number): string | undefined => {
  const segment = /^[tpc]-([^.]*)/.exec(name)?.[1]
  return segment !== undefined && nameOf(segment, at) === name ? segment : undefined
}

export const directoryOf = ({ root }: Files, place: Place): string => path.join(root, ...namesOf(place))

export type Kind = "bytes" | "ticket"

export const fileOf = (directory: string, ref: Artifact.Ref, kind: Kind): string =>
  path.join(directory, `${ref}.${kind}`)

const codeOf = (error: PlatformError.PlatformError): string =>
  error._tag === "BadArgument" ? error._tag : error.cause === undefined ? error.reason : RecordLock.errno(error.cause)

/** It says what failed, but not where: the path has the tenant in it. */
const unavailable = (error: PlatformError.PlatformError): ArtifactStoreError =>
  failure("Unavailable", {
    what: `The directory of the artifacts could not be used: ${error.method} failed.`,
    found: codeOf(error),
    next: "Make sure that this process can read and write the directory, and that the disk has room.",
    retry: "after-human"
  })

const misplaced = (what: string): ArtifactStoreError =>
  failure("Unavailable", {
    what: "The artifact store does not go where a path leads out of its directory.",
    found: what,
    next: "Remove the link, and look for who made it.",
    retry: "never"
  })

/** How a file fails that went while it was looked for. */
export const missing = failure("Unreadable", { what: "The file is not there." })

const isMissing = (error: PlatformError.PlatformError): boolean =>
  error._tag === "SystemError" && error.reason === "NotFound"

const orNone = <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>) =>
  Effect.catchAll(Effect.asSome(effect), (error) =>
    isMissing(error) ? Effect.succeedNone : Effect.fail(unavailable(error))
  )

const done = <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>) => Effect.mapError(effect, unavailable)

/** A directory's names are as durable as the platform can make them; Windows cannot be asked to. */
export const syncDirectory = ({ fs }: Files, directory: string): Result<void> =>
  process.platform === "win32"
    ? Effect.void
    : Effect.scoped(done(Effect.flatMap(fs.open(directory, { flag: "r" }), (file) => file.sync)))

/** Makes one directory, and its name durable. */
const makeDirectory = (files: Files, directory: string): Result<void> =>
  Effect.matchEffect(files.fs.makeDirectory(directory, { mode: 0o700 }), {
    onSuccess: () => syncDirectory(files, path.dirname(directory)),
    onFailure: (error) =>
      error._tag === "SystemError" && error.reason === "AlreadyExists" ? Effect.void : Effect.fail(unavailable(error))
  })

/** Makes a directory and those above it. */
const makeAll = (files: Files, directory: string): Result<void> =>
  Effect.gen(function* () {
    if (Option.isSome(yield* orNone(files.fs.stat(directory)))) return
    yield* makeAll(files, path.dirname(directory))
    yield* makeDirectory(files, directory)
  })

/** The files of a directory that is there. */
export const existing = (fs: FileSystem.FileSystem, directory: string): Result<Files> =>
  Effect.map(done(fs.realPath(path.resolve(directory))), (root) => ({ fs, root }))

/** The files of a directory, which is made if it is not there. */
export const open = (fs: FileSystem.FileSystem, directory: string): Result<Files> =>
  Effect.gen(function* () {
    const wanted = path.resolve(directory)
    yield* makeAll({ fs, root: wanted }, wanted)
    const files = yield* existing(fs, wanted)
    yield* makeDirectory(files, path.join(files.root, staging))
    return files
  })

/** Whether the path is there. One that leads elsewhere, and any at all once the root is gone, is an error. */
export const reach = ({ fs, root }: Files, wanted: string): Result<boolean> =>
  Effect.gen(function* () {
    const real = yield* orNone(fs.realPath(wanted))
    if (Option.isSome(real)) return real.value === wanted || (yield* misplaced("a symbolic link"))
    const above = yield* done(fs.realPath(root))
    return above === root ? false : yield* misplaced("a symbolic link")
  })

/** The directory of a place, made if it is not there. */
export const ensure = (files: Files, place: Place): Result<string> =>
  Effect.gen(function* () {
    const directory = directoryOf(files, place)
    if (yield* reach(files, directory)) return directory
    let level = files.root
    for (const name of namesOf(place)) {
      level = path.join(level, name)
      yield* makeDirectory(files, level)
      yield* reach(files, level)
    }
    return directory
  })

/** An open file is the one at its path, and no link led to it. */
const proven = ({ fs }: Files, file: FileSystem.File, at: string): Result<FileSystem.File.Info> =>
  Effect.gen(function* () {
    const info = yield* done(file.stat)
    const real = yield* done(fs.realPath(at))
    const there = yield* done(fs.stat(at))
    const isSame = real === at && info.dev === there.dev && Option.getOrNull(info.ino) === Option.getOrNull(there.ino)
    return isSame ? info : yield* misplaced("a symbolic link")
  })

const openToRead = (
  files: Files,
  at: string
): Effect.Effect<Option.Option<FileSystem.File>, ArtifactStoreError, Scope.Scope> =>
  Effect.gen(function* () {
    const before = yield* orNone(files.fs.stat(at))
    if (Option.isNone(before)) return Option.none()
    // Opening a pipe would wait for who writes to it.
    if (before.value.type !== "File") return yield* misplaced("something that is no file")
    const file = yield* orNone(files.fs.open(at, { flag: "r" }))
    if (Option.isSome(file)) yield* proven(files, file.value, at)
    return file
  })

const pieceSize = 65_536

const pieces = (file: FileSystem.File) =>
  Stream.repeatEffectOption(
    Effect.mapError(
      Effect.flatMap(
        file.readAlloc(pieceSize),
        Option.match({
          onNone: () => Effect.fail(Option.none<PlatformError.PlatformError>()),
          onSome: Effect.succeed
        })
      ),
      (error) => (Option.isOption(error) ? Option.none() : Option.some(unavailable(error)))
    )
  )

/** The bytes of a file, a piece at a time; `missing` if it is not there. */
export const stream = (
  files: Files,
  at: string,
  missing: ArtifactStoreError
): Stream.Stream<Uint8Array, ArtifactStoreError> =>
  Stream.unwrapScoped(
    Effect.map(openToRead(files, at), (file) => (Option.isSome(file) ? pieces(file.value) : Stream.fail(missing)))
  )

/** The bytes of a file, if it is there. */
export const read = (files: Files, at: string): Result<Option.Option<Uint8Array>> =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* openToRead(files, at)
      if (Option.isNone(file)) return Option.none()
      const { size } = yield* done(file.value.stat)
      const bytes = new Uint8Array(Number(size))
      let filled = 0
      while (filled < bytes.length) {
        const count = Number(yield* done(file.value.read(bytes.subarray(filled))))
        if (count === 0) break
        filled += count
      }
      return Option.some(bytes.subarray(0, filled))
    })
  )

/** The text of a file as it is, if it is there; `undefined` for what is no text. */
export const readText = (files: Files, at: string): Result<Option.Option<string | undefined>> =>
  Effect.map(
    read(files, at),
    Option.map((bytes) => {
      const text = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true }).decode(bytes)
      return Buffer.compare(Buffer.from(text, "utf8"), bytes) === 0 ? text : undefined
    })
  )

/** Who writes, and what for: a file in `staging` is named so. */
export interface Staged {
  readonly maker: string
  readonly ref: Artifact.Ref
  readonly kind: Kind
}

/** The staged file's name says who makes it, so that one of a process that still runs is left alone. */
export const stagedOf = (name: string): Staged | undefined => {
  const [, maker, ref, kind] = /^([0-9a-f-]+)\.(art_[A-Za-z0-9]{22})\.(bytes|ticket)$/.exec(name) ?? []
  if (maker === undefined || ref === undefined || (kind !== "bytes" && kind !== "ticket")) return undefined
  return { maker, ref, kind }
}

/** Writes a new file durably where nobody looks. It goes with the scope, unless it was given a name by then. */
export const stage = (
  files: Files,
  ref: Artifact.Ref,
  kind: Kind,
  body: Stream.Stream<Uint8Array, ArtifactStoreError>
): Effect.Effect<string, ArtifactStoreError, Scope.Scope> =>
  Effect.gen(function* () {
    const at = path.join(files.root, staging, `${RecordLock.self()}.${ref}.${kind}`)
    const whole = yield* Effect.scope
    if (!(yield* reach(files, path.dirname(at)))) yield* makeDirectory(files, path.dirname(at))
    const remove = Effect.ignore(files.fs.remove(at, { force: true }))
    const written = Effect.gen(function* () {
      const opened = done(files.fs.open(at, { flag: "wx", mode: 0o600 }))
      const file = yield* Effect.uninterruptible(Effect.zipLeft(opened, Scope.addFinalizer(whole, remove)))
      yield* proven(files, file, at)
      // Writing nothing is an error of the platform.
      yield* Stream.runForEach(body, (piece) => (piece.length === 0 ? Effect.void : done(file.writeAll(piece))))
      yield* done(file.sync)
    })
    yield* Effect.scoped(written)
    return at
  })

export const rename = ({ fs }: Files, from: string, to: string): Result<void> => done(fs.rename(from, to))

/** Removes a file, or the link in its place, if it is there. */
export const remove = ({ fs }: Files, at: string): Result<void> => done(fs.remove(at, { force: true }))

/** The names in a directory, or none if it is not there. */
export const namesIn = ({ fs }: Files, directory: string): Result<ReadonlyArray<string>> =>
  Effect.map(
    orNone(fs.readDirectory(directory)),
    Option.getOrElse((): ReadonlyArray<string> => [])
  )
