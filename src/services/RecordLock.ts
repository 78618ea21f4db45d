/**
 * A `RecordLock` keeps two processes from writing to one file at once. It is held for the microseconds of one write: a name
 * that only one can make, which says who made it. A lock whose maker is dead is broken by the next who comes.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { hostname } from "node:os"

/** After this long, a lock of a machine or a container that cannot be asked is taken for a dead one's. */
const graceMs = 10_000

export const errno = (cause: unknown): string =>
  Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : "an unknown error"

const look = (read: () => string): string => Either.getOrElse(Either.try(read), () => "")

/** Where a process number means the same process: one boot of one machine, one process namespace. */
const place = (): string => {
  const parts = [
    hostname(),
    look(() => fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8")),
    look(() => fs.readlinkSync("/proc/self/ns/pid"))
  ]
  return createHash("sha256").update(parts.join("\n")).digest("hex").slice(0, 16)
}

/** The state and the start time of a process, which tell it from a later one with its number. Empty where nobody says. */
const life = (pid: number): { readonly state: string; readonly started: string } => {
  const stat = look(() => fs.readFileSync(`/proc/${pid}/stat`, "utf8"))
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  return { state: fields[0] ?? "", started: fields[19] ?? "" }
}

let name: string | undefined

/** The name of this process as a maker. */
export const self = (): string => (name ??= `${process.pid}-${life(process.pid).started}-${place()}`)

// Where links need a privilege, a file does; its maker may die before it is named, and is then waited for.
const make = (path: string): void =>
  process.platform === "win32" ? fs.writeFileSync(path, self(), { flag: "wx" }) : fs.symlinkSync(self(), path)

const makerOf = (path: string): string =>
  look(() => (process.platform === "win32" ? fs.readFileSync(path, "utf8") : fs.readlinkSync(path)))

const isAlive = (pid: number): boolean => {
  const asked = Either.try({ try: () => process.kill(pid, 0), catch: errno })
  return Either.isRight(asked) || asked.left !== "ESRCH"
}

/** Whether a maker can no longer be at work; `undefined` if it cannot be asked. One that is stopped is not dead. */
export const isGone = (maker: string): boolean | undefined => {
  const [, pid = "", started = "", where = ""] = /^(\d+)-(\d*)-([0-9a-f]+)$/.exec(maker) ?? []
  if (where !== place()) return undefined
  if (!isAlive(Number(pid))) return true
  const now = life(Number(pid))
  return now.state === "Z" || now.state === "X" || now.started !== started
}

const isOld = (path: string): boolean => {
  const made = Either.try(() => fs.lstatSync(path).mtimeMs)
  return Either.isRight(made) && Date.now() - made.right > graceMs
}

const isDead = (path: string, maker: string): boolean => isGone(maker) ?? isOld(path)

/** Takes the lock if nobody alive has it. Fails as the file system fails, with its code. */
export const acquire = (path: string, depth = 0): Either.Either<boolean, string> => {
  const made = Either.try({ try: () => make(path), catch: errno })
  if (Either.isRight(made)) return Either.right(true)
  if (made.left !== "EEXIST") return Either.left(made.left)
  const maker = makerOf(path)
  // Nobody breaks a lock without holding another, so that nobody breaks the one that follows the dead one.
  if (depth === 3 || !isDead(path, maker)) return Either.right(false)
  const breaking = `${path}.break`
  const claimed = acquire(breaking, depth + 1)
  if (Either.isLeft(claimed) || !claimed.right) return claimed
  if (makerOf(path) === maker) release(path)
  release(breaking)
  return acquire(path, 3)
}

export const release = (path: string): void => {
  Either.try(() => fs.unlinkSync(path))
}
