/**
 * A `CassetteFile` is a cassette on a file system. One writer at a time, of this process or another, reads what the others
 * wrote and adds its exchange; what is replaced is written beside the file, which then takes its place.
 *
 * @internal
 */
import type { PlatformError } from "@effect/platform/Error"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Printable from "../kernel/Printable.ts"
import * as Cassette from "./Cassette.ts"
import { failure, type LLMError } from "./LLMError.ts"

/** A lock that is older than this is a dead writer's. */
const graceMs = 10_000
/** Between two looks at a lock that another has. */
const pauseMs = 5

const unusable = (path: string, verb: string, error: PlatformError): LLMError =>
  failure("Misconfigured", {
    what: `The cassette cannot be ${verb}: ${error._tag === "SystemError" ? error.reason : "a bad argument"}.`,
    where: Printable.quote(path, 200),
    next: "Check the path and its permissions."
  })

const damaged = (path: string, { line, what }: Cassette.Damage): LLMError =>
  failure("Misconfigured", {
    what: `The cassette is damaged in line ${line}: ${what}.`,
    where: `${Printable.quote(path, 200)}, line ${line}`,
    next: "Mend the line or remove it with all that are like it, or delete the file and record it again."
  })

/** Files are locked by the time of the machine, whatever clock a program runs on. */
const live = Clock.make()

const isReason = (error: PlatformError, reason: string): boolean =>
  error._tag === "SystemError" && error.reason === reason

/** The text of the file; nothing if there is none. */
const textOf = (fs: FileSystem.FileSystem, path: string): Effect.Effect<Option.Option<string>, LLMError> =>
  fs.readFileString(path).pipe(
    Effect.asSome,
    Effect.catchIf(
      (error) => isReason(error, "NotFound"),
      () => Effect.succeed(Option.none<string>())
    ),
    Effect.mapError((error) => unusable(path, "read", error))
  )

const isOld = (fs: FileSystem.FileSystem, lock: string): Effect.Effect<boolean> =>
  fs.stat(lock).pipe(
    Effect.flatMap(({ mtime }) =>
      Effect.map(live.currentTimeMillis, (now) => Option.exists(mtime, (made) => now - made.getTime() > graceMs))
    ),
    Effect.orElseSucceed(() => false)
  )

/** Removes the lock of a dead writer. One at a time does so and looks again first, lest it be the lock of the next one. */
const breakOld = (fs: FileSystem.FileSystem, lock: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (!(yield* isOld(fs, lock))) return
    const breaking = `${lock}.break`
    if (yield* isOld(fs, breaking)) yield* Effect.ignore(fs.remove(breaking))
    yield* fs.writeFileString(breaking, "", { flag: "wx" })
    if (yield* isOld(fs, lock)) yield* Effect.ignore(fs.remove(lock))
    yield* Effect.ignore(fs.remove(breaking))
  }).pipe(Effect.ignore)

/** Takes the lock, in its turn. One that is left of a dead writer is removed, and a directory that is not there is made. */
const acquire = (fs: FileSystem.FileSystem, path: string, isMade = false): Effect.Effect<void, LLMError> => {
  const lock = lockOf(path)
  return fs.writeFileString(lock, "", { flag: "wx" }).pipe(
    Effect.catchAll((error) => {
      if (isReason(error, "NotFound") && !isMade) {
        const made = fs.makeDirectory(directoryOf(path), { recursive: true })
        return Effect.zipRight(
          Effect.mapError(made, (error) => unusable(path, "written", error)),
          acquire(fs, path, true)
        )
      }
      if (!isReason(error, "AlreadyExists")) return unusable(path, "locked", error)
      const again = Effect.zipRight(live.sleep(Duration.millis(pauseMs)), acquire(fs, path, isMade))
      return Effect.zipRight(breakOld(fs, lock), again)
    })
  )
}

const lockOf = (path: string): string => `${path}.lock`

/** Everything before the last separator. */
const directoryOf = (path: string): string => /^(.*)[\\/][^\\/]*$/s.exec(path)?.[1] ?? "."

const locked = <A>(
  fs: FileSystem.FileSystem,
  path: string,
  effect: Effect.Effect<A, LLMError>
): Effect.Effect<A, LLMError> =>
  Effect.acquireUseRelease(
    acquire(fs, path),
    () => effect,
    () => Effect.ignore(fs.remove(lockOf(path)))
  )

/** A cassette, and the file that it was read from or written to, as long as nobody else writes to that. */
export interface Held {
  readonly cassette: Cassette.Cassette
  readonly stamp: string
}

/** What a file is known by as long as it is not written to. Empty if there is none. */
const stampOf = (fs: FileSystem.FileSystem, path: string): Effect.Effect<string> =>
  fs.stat(path).pipe(
    Effect.map(({ ino, mtime, size }) =>
      [Option.getOrElse(ino, () => 0), size, Option.match(mtime, { onNone: () => 0, onSome: Number })].join()
    ),
    Effect.orElseSucceed(() => "")
  )

/**
 * The cassette as it is now: `held` if it is that, or nothing if there is none. With `isShared`, what seems to be damaged is
 * read again when nobody writes.
 */
export const refresh = (
  fs: FileSystem.FileSystem,
  path: string,
  held: Held | undefined,
  isShared: boolean
): Effect.Effect<Held | undefined, LLMError> =>
  Effect.gen(function* () {
    const stamp = yield* stampOf(fs, path)
    if (held !== undefined && held.stamp === stamp) return held
    const text = yield* textOf(fs, path)
    if (Option.isNone(text)) return undefined
    const parsed = Cassette.parse(text.value)
    if (Either.isRight(parsed)) return { cassette: parsed.right, stamp }
    return isShared ? yield* locked(fs, path, refresh(fs, path, undefined, false)) : yield* damaged(path, parsed.left)
  })

/** Adds an exchange to what the file holds now; the cassette after that. With `keep`, one that is there already stays. */
export const add = (
  fs: FileSystem.FileSystem,
  path: string,
  held: Held | undefined,
  header: Cassette.Header,
  exchange: Cassette.Exchange,
  keep: boolean
): Effect.Effect<Held, LLMError> => {
  const write = (text: string, flag: "a" | "w", to = path) =>
    Effect.mapError(fs.writeFileString(to, text, { flag }), (error) => unusable(path, "written", error))
  const replace = (text: string) => {
    const beside = `${path}.new`
    return Effect.zipRight(
      write(text, "w", beside),
      Effect.mapError(fs.rename(beside, path), (error) => unusable(path, "written", error))
    )
  }
  const added = Effect.gen(function* () {
    const now = yield* refresh(fs, path, held, false)
    const before = now?.cassette ?? Cassette.make(header)
    const same = Cassette.find(before, exchange.wire)
    const stays = same !== undefined && ((keep && same.reply !== undefined) || exchange.reply === same.reply)
    if (now !== undefined && stays) return now
    const { cassette, line } = Cassette.add(before, exchange)
    const isNew = now === undefined || JSON.stringify(before.header) !== JSON.stringify(header)
    const whole = isNew ? { ...cassette, header } : cassette
    yield* isNew || line === undefined ? replace(Cassette.print(whole)) : write(line, "a")
    return { cassette: whole, stamp: yield* stampOf(fs, path) }
  })
  return locked(fs, path, added)
}
