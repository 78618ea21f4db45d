/**
 * A `SkillFolder` is a folder whose files are read by their relative paths, and nothing outside it. A symbolic link is
 * followed where it stays inside.
 *
 * @internal
 */
import type * as PlatformError from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import type * as SkillError from "./SkillError.ts"

/** `root` is its real path. */
export interface SkillFolder {
  readonly root: string
  readonly fs: FileSystem.FileSystem
  readonly path: Path.Path
}

/** What the file system could not do, as a fault. */
export const unreadable = (error: PlatformError.PlatformError): SkillError.Fault =>
  error._tag === "SystemError" && error.reason === "NotFound"
    ? { rule: "file-exists", what: "It is not there.", next: "Correct the path, or add the file." }
    : {
        rule: "readable",
        what: `It cannot be read (${error._tag === "SystemError" ? error.reason : "bad path"}).`,
        next: "Let this process read it."
      }

const outside: SkillError.Fault = {
  rule: "inside-folder",
  what: "It is outside the folder of the skill.",
  next: "Name a file inside the folder by its relative path, without `..`."
}

/** The path with single forward slashes, if it is relative and its words alone stay inside. */
export const relative = (link: string): Either.Either<string, SkillError.Fault> => {
  if (link.includes("\u0000") || link.trim() === "") {
    const what = "The path is blank or holds U+0000."
    return Either.left({ rule: "path", what, next: "Name a file by its relative path." })
  }
  const isAbsolute = /^([\\/]|[A-Za-z]:)/.test(link)
  if (isAbsolute || link.includes("\\") || link.split("/").includes("..")) return Either.left(outside)
  return Either.right(
    link
      .split("/")
      .filter((step) => step !== "" && step !== ".")
      .join("/")
  )
}

const isWithin = ({ path, root }: SkillFolder, real: string): boolean =>
  real === root || real.startsWith(root.endsWith(path.sep) ? root : `${root}${path.sep}`)

interface Located {
  readonly real: string
  readonly type: FileSystem.File.Type
  readonly size: number
}

/** What a relative path leads to. */
export const locate = (folder: SkillFolder, link: string): Effect.Effect<Located, SkillError.Fault> =>
  Effect.gen(function* () {
    const { fs, path, root } = folder
    const inner = yield* relative(link)
    const real = yield* Effect.mapError(fs.realPath(path.join(root, inner)), unreadable)
    if (!isWithin(folder, real)) return yield* Effect.fail(outside)
    const { size, type } = yield* Effect.mapError(fs.stat(real), unreadable)
    return { real, type, size: Number(size) }
  })

const tooLarge = (limit: number): SkillError.Fault => ({
  rule: "file-size",
  what: `The file has more than ${limit} bytes.`,
  next: "Split it, or shorten it."
})

/**
 * The bytes of a file, at most `limit`. What was opened is compared with what the path leads to afterwards, so that a
 * link that is put in its place meanwhile gives an error and not another file.
 */
export const read = (folder: SkillFolder, link: string, limit: number): Effect.Effect<Uint8Array, SkillError.Fault> =>
  Effect.gen(function* () {
    const { fs } = folder
    const { real, size, type } = yield* locate(folder, link)
    if (type !== "File") {
      return yield* Effect.fail<SkillError.Fault>({ rule: "file-kind", what: "It is no file.", next: "Name a file." })
    }
    if (size > limit) return yield* Effect.fail(tooLarge(limit))
    const reading = Effect.gen(function* () {
      const file = yield* fs.open(real, { flag: "r" })
      const opened = yield* file.stat
      const found = yield* fs.stat(real)
      const isSame = opened.dev === found.dev && Option.getOrNull(opened.ino) === Option.getOrNull(found.ino)
      if (!isSame || (yield* fs.realPath(real)) !== real) return undefined
      const parts: Array<Uint8Array> = []
      let length = 0
      while (length <= limit) {
        const part = yield* file.readAlloc(Math.min(65_536, limit + 1 - length))
        if (Option.isNone(part)) break
        parts.push(part.value)
        length += part.value.length
      }
      return { parts, length }
    })
    const done = yield* Effect.mapError(Effect.scoped(reading), unreadable)
    if (done === undefined) return yield* Effect.fail(outside)
    if (done.length > limit) return yield* Effect.fail(tooLarge(limit))
    const bytes = new Uint8Array(done.length)
    let at = 0
    for (const part of done.parts) {
      bytes.set(part, at)
      at += part.length
    }
    return bytes
  })

const decode = (bytes: Uint8Array): Option.Option<string> =>
  Option.liftThrowable(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))()

const lineOf = (text: string): number => text.split("\n").length

/** The line on which the first byte stands that is not UTF-8. */
const brokenLine = (bytes: Uint8Array): number => {
  let line = 1
  let from = 0
  for (;;) {
    const end = bytes.indexOf(10, from)
    const isLast = end < 0
    if (isLast || Option.isNone(decode(bytes.subarray(from, end)))) return line
    line += 1
    from = end + 1
  }
}

/** The bytes as text: UTF-8 without U+0000. */
export const text = (bytes: Uint8Array): Either.Either<string, SkillError.Fault> => {
  const decoded = decode(bytes)
  if (Option.isNone(decoded)) {
    const what = "The file is not UTF-8."
    return Either.left({ rule: "utf-8", line: brokenLine(bytes), what, next: "Save it as UTF-8." })
  }
  const nul = decoded.value.indexOf("\u0000")
  if (nul < 0) return Either.right(decoded.value)
  const line = lineOf(decoded.value.slice(0, nul))
  return Either.left({ rule: "text", line, what: "The file holds U+0000.", next: "Leave that character out." })
}
