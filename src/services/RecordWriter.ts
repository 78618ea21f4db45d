/**
 * A `RecordWriter` appends to the file of one run. It knows how far it has verified the file, so that an append costs what
 * is new, and finds out under the lock whether another process was there meanwhile.
 *
 * The order of an append, which every crash test relies on:
 *
 *     lock ▸ is the file as long as we know? ▸ cut what a crash left ▸ write the line ▸ unlock ▸ flush ▸ acknowledge
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as fs from "node:fs"
import * as Printable from "../kernel/Printable.ts"
import * as RecordChain from "./RecordChain.ts"
import * as RecordClaim from "./RecordClaim.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordHandle from "./RecordHandle.ts"
import * as RecordInput from "./RecordInput.ts"
import * as RecordLines from "./RecordLines.ts"
import * as RecordLock from "./RecordLock.ts"
import * as Wakeup from "./Wakeup.ts"

type Handle = RecordHandle.Handle

/** The write failed. A line without its line feed is no entry: whoever appends next cuts it off. */
const unwritten = (runId: string, code: string) => {
  const what = `The append to run ${Printable.quote(runId)} was not written.`
  return RecordError.failure(RecordHandle.isFull(code) ? "Full" : "WriteFailed", {
    what,
    where: "write",
    found: code,
    runId
  })
}

/** The flush failed. It is not tried again: the second would succeed and mean nothing. */
const unflushed = (runId: string, code: string) =>
  RecordError.failure("WriteFailed", {
    what: `Whether the append to run ${Printable.quote(runId)} is on disk is not known.`,
    where: "flush",
    found: code,
    next: "Build the layer again and read the run: the entries are there or they are not.",
    outcome: "unknown",
    runId
  })

/** Verifies what is behind the cursor, a block at a time. */
const catchUp = (handle: Handle): Effect.Effect<void, RecordError.RecordError> =>
  Effect.suspend(() => {
    const size = RecordHandle.lengthOf(handle, 0)
    if (Either.isLeft(size)) return size.left
    const { fd } = handle
    if (fd === undefined) return Effect.void
    const block = RecordHandle.io(handle, () => RecordLines.next(fd, handle.cursor, Infinity))
    if (Either.isLeft(block)) return block.left
    const { cursor, damage, ended } = block.right
    handle.cursor = cursor
    if (damage !== undefined) return RecordChain.failure(handle.runId, damage)
    return ended ? Effect.void : Effect.zipRight(Wakeup.turn, catchUp(handle))
  })

const writeAll = (fd: number, bytes: Buffer): void => {
  let written = 0
  while (written < bytes.length) written += fs.writeSync(fd, bytes, written)
}

/** `busy`: another process is writing. `behind`: one has written. */
type Put = "busy" | "behind" | "written"

const put = (handle: Handle, bytes: Buffer): Either.Either<Put, RecordError.RecordError> => {
  const { offset, position } = handle.cursor
  const size = RecordHandle.lengthOf(handle, position.seq === 0 ? fs.constants.O_CREAT : 0)
  if (Either.isLeft(size)) return Either.left(size.left)
  const { fd } = handle
  if (fd === undefined) return Either.left(RecordHandle.lost(handle))
  const extra = size.right - offset
  if (extra > 0) {
    const rest = RecordHandle.io(handle, () => {
      const buffer = Buffer.allocUnsafe(Math.min(extra, RecordChain.maxLine + 1))
      return buffer.subarray(0, RecordLines.fill(fd, buffer, offset))
    })
    if (Either.isLeft(rest)) return Either.left(rest.left)
    if (rest.right.includes(0x0a)) return Either.right("behind")
    const damage = RecordChain.torn(position, rest.right)
    if (damage !== undefined) return Either.left(RecordChain.failure(handle.runId, damage))
    const cut = RecordHandle.io(
      handle,
      () => {
        fs.ftruncateSync(fd, offset)
        fs.fdatasyncSync(fd)
      },
      unwritten
    )
    if (Either.isLeft(cut)) return broke(handle, cut.left)
    handle.cut = extra
  }
  const written = RecordHandle.io(handle, () => writeAll(fd, bytes), unwritten)
  return Either.isLeft(written) ? broke(handle, written.left) : Either.right("written")
}

const broke = (handle: Handle, error: RecordError.RecordError): Either.Either<never, RecordError.RecordError> => {
  handle.broken = error
  RecordHandle.close(handle)
  return Either.left(error)
}

const putLocked = (handle: Handle, bytes: Buffer): Either.Either<Put, RecordError.RecordError> => {
  const held = RecordLock.acquire(handle.lock)
  if (Either.isLeft(held)) return Either.left(RecordHandle.unavailable(handle.runId, held.left))
  if (!held.right) return Either.right("busy")
  const done = put(handle, bytes)
  RecordLock.release(handle.lock)
  return done
}

type Sync = (fd: number, done: (error: Error | null) => void) => void

const synced = (sync: Sync, fd: number): Effect.Effect<void, string> =>
  Effect.async<void, string>((resume) => {
    sync(fd, (error) => resume(error === null ? Effect.void : Effect.fail(RecordLock.errno(error))))
  })

/** What a handle needs of the directory it writes in. */
export interface Directory {
  /** Whether an append is flushed before it is acknowledged. */
  readonly flush: boolean
  /** Open, for flushing the names in it; absent where that cannot be done. */
  readonly names?: number
  /** What becomes of a tail that was cut off. */
  readonly recovered: (runId: string, bytesDropped: number, entries: number) => Effect.Effect<void>
}

const flush = ({ flush, names }: Directory, handle: Handle): Effect.Effect<void, RecordError.RecordError> => {
  const { fd } = handle
  if (!flush || fd === undefined) return Effect.void
  const file = synced(fs.fdatasync, fd)
  // Another process may have made the file and died before its name was safe.
  const both = handle.named || names === undefined ? file : Effect.zipRight(file, synced(fs.fsync, names))
  return Effect.matchEffect(both, {
    onFailure: (code) => broke(handle, unflushed(handle.runId, code)),
    onSuccess: () => {
      handle.named = true
      return Effect.void
    }
  })
}

/** Flushes and acknowledges what is written. */
const settle = (directory: Directory, handle: Handle, cursor: RecordLines.Cursor, isLast: boolean) => {
  handle.writing = true
  return Effect.onExit(flush(directory, handle), (exit) =>
    Effect.sync(() => {
      handle.writing = false
      if (Exit.isFailure(exit)) return
      handle.cursor = cursor
      if (isLast) RecordHandle.close(handle)
      Wakeup.notify(handle.wakeup)
    })
  )
}

/** Tells of a tail that was cut off, if one was. */
const tell = (directory: Directory, handle: Handle, entries: number): Effect.Effect<void> => {
  const { cut } = handle
  handle.cut = 0
  return cut === 0 ? Effect.void : directory.recovered(handle.runId, cut, entries)
}

/** One attempt, which nothing can stop in the middle. */
const attempt = (
  directory: Directory,
  handle: Handle,
  at: number,
  { ended, texts }: RecordInput.Draft
): Effect.Effect<RecordClaim.Attempt, RecordError.RecordError> =>
  Effect.suspend((): Effect.Effect<RecordClaim.Attempt, RecordError.RecordError> => {
    const { offset, position } = handle.cursor
    const hash = RecordChain.links(position, at, texts).at(-1) ?? position.hash
    const bytes = Buffer.from(RecordChain.line(position, at, texts, hash))
    const done = putLocked(handle, bytes)
    const told = tell(directory, handle, position.seq)
    if (Either.isLeft(done)) return Effect.zipRight(told, done.left)
    if (done.right !== "written") return Effect.succeed(done.right)
    const seq = position.seq + texts.length
    const cursor = { position: { runId: handle.runId, seq, hash }, offset: offset + bytes.length }
    const settled = settle(directory, handle, cursor, ended !== undefined)
    return Effect.as(Effect.ensuring(settled, told), { seq: seq - 1, hash })
  }).pipe(Effect.uninterruptible)

/** Appends at `expectedSeq`, one append of this handle at a time. */
export const append = (
  directory: Directory,
  handle: Handle,
  expectedSeq: number,
  draft: RecordInput.Draft
): Effect.Effect<RecordClaim.Appended, RecordError.RecordError | RecordError.RecordConflict> =>
  handle.permit.withPermits(1)(
    RecordClaim.append(
      {
        runId: handle.runId,
        seq: () => handle.cursor.position.seq,
        broken: () => handle.broken,
        catchUp: catchUp(handle),
        attempt: (at) => attempt(directory, handle, at, draft)
      },
      expectedSeq
    )
  )
