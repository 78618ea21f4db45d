/**
 * A `RecordHandle` is the file of one run as this process knows it: how far it is verified, which file that was, and who is
 * in the middle of something with it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as fs from "node:fs"
import * as Printable from "../kernel/Printable.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordLines from "./RecordLines.ts"
import * as RecordLock from "./RecordLock.ts"
import type * as RecordRuns from "./RecordRuns.ts"
import * as Wakeup from "./Wakeup.ts"

export interface Handle extends RecordRuns.Known {
  readonly path: string
  readonly lock: string
  readonly wakeup: Wakeup.Wakeup
  /** One append at a time. */
  readonly permit: Effect.Semaphore
  /** How far the file is verified. */
  cursor: RecordLines.Cursor
  /** Which file that was. */
  inode?: number
  fd?: number
  /** How many bytes of an append that a crash cut short were removed and not yet told of. */
  cut: number
  /** A line is written and not yet acknowledged: readers stop at the cursor. */
  writing: boolean
  /** The name of the file survives a loss of power. */
  named: boolean
}

export const make = (directory: string, runId: string): Handle => ({
  path: `${directory}/${runId}.ndjson`,
  lock: `${directory}/${runId}.lock`,
  runId,
  wakeup: Wakeup.make(),
  permit: Effect.unsafeMakeSemaphore(1),
  cursor: RecordLines.start(runId),
  cut: 0,
  writing: false,
  named: false,
  uses: 0
})

export const close = (handle: Handle): void => {
  const { fd } = handle
  if (fd === undefined) return
  delete handle.fd
  // Whatever it says: what is acknowledged is flushed.
  Either.try(() => fs.closeSync(fd))
}

/** There is no room left. */
export const isFull = (code: string): boolean => code === "ENOSPC" || code === "EDQUOT"

/** The storage did not do something that changed nothing. */
export const unavailable = (runId: string, code: string): RecordError.RecordError => {
  const details = { what: `The file of run ${Printable.quote(runId)} could not be used.`, found: code, runId }
  if (isFull(code)) return RecordError.failure("Full", details)
  return code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ELOOP"
    ? RecordError.failure("Unavailable", {
        ...details,
        next: "Let this process read and write the record's directory.",
        retry: "after-human"
      })
    : RecordError.failure("Unavailable", details)
}

/** The file is not the one that was verified. */
export const lost = ({ cursor: { position }, runId }: Handle): RecordError.RecordError =>
  RecordError.failure("Corrupt", {
    what: `The file of run ${Printable.quote(runId)} was cut, replaced or removed while it was in use.`,
    expected: `the file that held entry ${position.seq - 1}`,
    next: "Restore the run from a copy, or build the layer again to go on with what is there.",
    runId,
    seq: Math.max(0, position.seq - 1)
  })

/** What the file system throws, as an error of this run. */
export const io = <A>(handle: Handle, run: () => A, error = unavailable): Either.Either<A, RecordError.RecordError> =>
  Either.try({ try: run, catch: (cause) => error(handle.runId, RecordLock.errno(cause)) })

const { O_APPEND, O_NOFOLLOW = 0, O_RDONLY, O_RDWR } = fs.constants

/** The length of the file, if it is there and the one that we know. */
export const lengthOf = (handle: Handle, flags: number): Either.Either<number, RecordError.RecordError> => {
  if (handle.fd === undefined) {
    const opened = Either.try({
      try: () => fs.openSync(handle.path, O_RDWR | O_APPEND | O_NOFOLLOW | flags, 0o600),
      catch: RecordLock.errno
    })
    if (Either.isRight(opened)) handle.fd = opened.right
    else if (opened.left !== "ENOENT") return Either.left(unavailable(handle.runId, opened.left))
  }
  const { fd } = handle
  if (fd === undefined) return handle.cursor.offset === 0 ? Either.right(0) : Either.left(lost(handle))
  const stat = io(handle, () => fs.fstatSync(fd))
  if (Either.isLeft(stat)) return Either.left(stat.left)
  const { ino, nlink, size } = stat.right
  if (nlink === 0 || size < handle.cursor.offset || (handle.inode ?? ino) !== ino) {
    close(handle)
    return Either.left(lost(handle))
  }
  handle.inode = ino
  return Either.right(size)
}

/** Opens the file for a reader, who closes it. */
export const openToRead = (
  handle: Handle
): Effect.Effect<{ readonly fd: number; readonly inode: number }, RecordError.RecordError> =>
  Effect.suspend(() => {
    const opened = Either.try({
      try: () => fs.openSync(handle.path, O_RDONLY | O_NOFOLLOW),
      catch: RecordLock.errno
    })
    if (Either.isRight(opened)) return io(handle, () => ({ fd: opened.right, inode: fs.fstatSync(opened.right).ino }))
    return opened.left === "ENOENT" ? RecordError.notFound(handle.runId) : unavailable(handle.runId, opened.left)
  })

/** What a reader of the same file has verified, the handle need not. */
export const learn = (handle: Handle, inode: number, cursor: RecordLines.Cursor): void => {
  if (handle.writing || cursor.offset <= handle.cursor.offset || (handle.inode ?? inode) !== inode) return
  handle.inode = inode
  handle.cursor = cursor
}
