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
import * as RecordError from "./RecordError.ts"
import * as RecordInput from "./RecordInput.ts"
import * as RecordLines from "./RecordLines.ts"
import * as RecordLock from "./RecordLock.ts"
import * as Wakeup from "./Wakeup.ts"

export interface Writer {
  readonly path: string
  readonly lock: string
  readonly runId: string
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
  /** Who is in the middle of something. */
  uses: number
  /** Why nothing can be appended any more. */
  broken?: RecordError.RecordError
}

export const make = (directory: string, runId: string): Writer => ({
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

export const close = (writer: Writer): void => {
  const { fd } = writer
  if (fd === undefined) return
  delete writer.fd
  // Whatever it says: what is acknowledged is flushed.
  Either.try(() => fs.closeSync(fd))
}

const isFull = (code: string): boolean => code === "ENOSPC" || code === "EDQUOT"

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

/** The write failed. A line without its line feed is no entry: whoever appends next cuts it off. */
const unwritten = (runId: string, code: string) => {
  const what = `The append to run ${Printable.quote(runId)} was not written.`
  return RecordError.failure(isFull(code) ? "Full" : "WriteFailed", { what, where: "write", found: code, runId })
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

const afterFailure = ({ reason, runId }: RecordError.RecordError) =>
  RecordError.failure(reason, {
    what: "An append to this run failed before, and none can follow it.",
    ...(runId === undefined ? {} : { where: `run ${Printable.quote(runId)}`, runId })
  })

const lost = ({ cursor: { position }, runId }: Writer) =>
  RecordChain.failure(runId, {
    kind: "tail",
    seq: Math.max(0, position.seq - 1),
    good: 0,
    expected: "the file that was read or written before",
    found: "a shorter file, another one or none"
  })

/** What the file system throws, as an error of this run. */
const io = <A>(writer: Writer, run: () => A, error = unavailable): Either.Either<A, RecordError.RecordError> =>
  Either.try({ try: run, catch: (cause) => error(writer.runId, RecordLock.errno(cause)) })

const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_RDWR } = fs.constants

/** The length of the file, if it is there and the one that we know. */
const lengthOf = (writer: Writer, flags: number): Either.Either<number, RecordError.RecordError> => {
  if (writer.fd === undefined) {
    const opened = Either.try({
      try: () => fs.openSync(writer.path, O_RDWR | O_APPEND | O_NOFOLLOW | flags, 0o600),
      catch: RecordLock.errno
    })
    if (Either.isRight(opened)) writer.fd = opened.right
    else if (opened.left !== "ENOENT") return Either.left(unavailable(writer.runId, opened.left))
  }
  const { fd } = writer
  if (fd === undefined) return writer.cursor.offset === 0 ? Either.right(0) : Either.left(lost(writer))
  const stat = io(writer, () => fs.fstatSync(fd))
  if (Either.isLeft(stat)) return Either.left(stat.left)
  const { ino, nlink, size } = stat.right
  if (nlink === 0 || size < writer.cursor.offset || (writer.inode ?? ino) !== ino) {
    close(writer)
    return Either.left(lost(writer))
  }
  writer.inode = ino
  return Either.right(size)
}

/** Opens the file for a reader, who closes it. */
export const openToRead = (
  writer: Writer
): Effect.Effect<{ readonly fd: number; readonly inode: number }, RecordError.RecordError> =>
  Effect.suspend(() => {
    const opened = Either.try({
      try: () => fs.openSync(writer.path, fs.constants.O_RDONLY | O_NOFOLLOW),
      catch: RecordLock.errno
    })
    if (Either.isRight(opened)) return io(writer, () => ({ fd: opened.right, inode: fs.fstatSync(opened.right).ino }))
    return opened.left === "ENOENT" ? RecordError.notFound(writer.runId) : unavailable(writer.runId, opened.left)
  })

/** What a reader of the same file has verified, the writer need not. */
export const learn = (writer: Writer, inode: number, cursor: RecordLines.Cursor): void => {
  if (writer.writing || cursor.offset <= writer.cursor.offset || (writer.inode ?? inode) !== inode) return
  writer.inode = inode
  writer.cursor = cursor
}

/** Verifies what is behind the cursor, a block at a time. */
const catchUp = (writer: Writer): Effect.Effect<void, RecordError.RecordError> =>
  Effect.suspend(() => {
    const size = lengthOf(writer, 0)
    if (Either.isLeft(size)) return size.left
    const { fd } = writer
    if (fd === undefined) return Effect.void
    const block = io(writer, () => RecordLines.next(fd, writer.cursor, Infinity))
    if (Either.isLeft(block)) return block.left
    const { cursor, damage, ended } = block.right
    writer.cursor = cursor
    if (damage !== undefined) return RecordChain.failure(writer.runId, damage)
    return ended ? Effect.void : Effect.zipRight(Effect.yieldNow(), catchUp(writer))
  })

const writeAll = (fd: number, bytes: Buffer): void => {
  let written = 0
  while (written < bytes.length) written += fs.writeSync(fd, bytes, written)
}

/** `busy`: another process is writing. `behind`: one has written. */
type Put = "busy" | "behind" | "written"

const put = (writer: Writer, bytes: Buffer): Either.Either<Put, RecordError.RecordError> => {
  const { offset, position } = writer.cursor
  const size = lengthOf(writer, position.seq === 0 ? O_CREAT : 0)
  if (Either.isLeft(size)) return Either.left(size.left)
  const { fd } = writer
  if (fd === undefined) return Either.left(lost(writer))
  const extra = size.right - offset
  if (extra > 0) {
    const rest = io(writer, () => {
      const buffer = Buffer.allocUnsafe(Math.min(extra, RecordChain.maxLine + 1))
      return buffer.subarray(0, RecordLines.fill(fd, buffer, offset))
    })
    if (Either.isLeft(rest)) return Either.left(rest.left)
    if (rest.right.includes(0x0a)) return Either.right("behind")
    const damage = RecordChain.torn(position, rest.right)
    if (damage !== undefined) return Either.left(RecordChain.failure(writer.runId, damage))
    const cut = io(writer, () => {
      fs.ftruncateSync(fd, offset)
      fs.fdatasyncSync(fd)
    }, unwritten)
    if (Either.isLeft(cut)) return broke(writer, cut.left)
    writer.cut = extra
  }
  const written = io(writer, () => writeAll(fd, bytes), unwritten)
  return Either.isLeft(written) ? broke(writer, written.left) : Either.right("written")
}

const broke = (writer: Writer, error: RecordError.RecordError): Either.Either<never, RecordError.RecordError> => {
  writer.broken = error
  close(writer)
  return Either.left(error)
}

const putLocked = (writer: Writer, bytes: Buffer): Either.Either<Put, RecordError.RecordError> => {
  const held = RecordLock.acquire(writer.lock)
  if (Either.isLeft(held)) return Either.left(unavailable(writer.runId, held.left))
  if (!held.right) return Either.right("busy")
  const done = put(writer, bytes)
  RecordLock.release(writer.lock)
  return done
}

type Sync = (fd: number, done: (error: Error | null) => void) => void

const synced = (sync: Sync, fd: number): Effect.Effect<void, string> =>
  Effect.async<void, string>((resume) => {
    sync(fd, (error) => resume(error === null ? Effect.void : Effect.fail(RecordLock.errno(error))))
  })

/** What a writer needs of the directory it writes in. */
export interface Directory {
  /** Whether an append is flushed before it is acknowledged. */
  readonly flush: boolean
  /** Open, for flushing the names in it; absent where that cannot be done. */
  readonly names: number | undefined
  /** What becomes of a tail that was cut off. */
  readonly recovered: (runId: string, bytesDropped: number, entries: number) => Effect.Effect<void>
}

const flush = ({ flush, names }: Directory, writer: Writer): Effect.Effect<void, RecordError.RecordError> => {
  const { fd } = writer
  if (!flush || fd === undefined) return Effect.void
  const file = synced(fs.fdatasync, fd)
  // Another process may have made the file and died before its name was safe.
  const both = writer.named || names === undefined ? file : Effect.zipRight(file, synced(fs.fsync, names))
  return Effect.matchEffect(both, {
    onFailure: (code) => broke(writer, unflushed(writer.runId, code)),
    onSuccess: () => {
      writer.named = true
      return Effect.void
    }
  })
}

export interface Appended {
  readonly seq: number
  readonly hash: string
}

/** Flushes and acknowledges what is written. */
const settle = (directory: Directory, writer: Writer, cursor: RecordLines.Cursor, isLast: boolean) => {
  writer.writing = true
  return Effect.onExit(flush(directory, writer), (exit) =>
    Effect.sync(() => {
      writer.writing = false
      if (Exit.isFailure(exit)) return
      writer.cursor = cursor
      if (isLast) close(writer)
      Wakeup.notify(writer.wakeup)
    })
  )
}

/** Tells of a tail that was cut off, if one was. */
const tell = (directory: Directory, writer: Writer, entries: number): Effect.Effect<void> => {
  const { cut } = writer
  writer.cut = 0
  return cut === 0 ? Effect.void : directory.recovered(writer.runId, cut, entries)
}

/** One attempt, which nothing can stop in the middle. */
const attempt = (
  directory: Directory,
  writer: Writer,
  at: number,
  { ended, texts }: RecordInput.Draft
): Effect.Effect<Appended | "busy" | "behind", RecordError.RecordError> =>
  Effect.suspend((): Effect.Effect<Appended | "busy" | "behind", RecordError.RecordError> => {
    const { offset, position } = writer.cursor
    const hash = RecordChain.links(position, at, texts).at(-1) ?? position.hash
    const bytes = Buffer.from(RecordChain.line(position, at, texts, hash))
    const done = putLocked(writer, bytes)
    const told = tell(directory, writer, position.seq)
    if (Either.isLeft(done)) return Effect.zipRight(told, done.left)
    if (done.right !== "written") return Effect.succeed(done.right)
    const seq = position.seq + texts.length
    const cursor = { position: { runId: writer.runId, seq, hash }, offset: offset + bytes.length }
    const settled = settle(directory, writer, cursor, ended !== undefined)
    return Effect.as(Effect.ensuring(settled, told), { seq: seq - 1, hash })
  }).pipe(Effect.uninterruptible)

/** How often another process is waited for, some five seconds in all. */
const patience = 120

const busy = (runId: string) =>
  RecordError.failure("Unavailable", {
    what: `Another process is holding run ${Printable.quote(runId)}.`,
    next: "Try again in a second; if it stays so, see whether a process that writes this run is stopped.",
    runId
  })

const write = (
  directory: Directory,
  writer: Writer,
  expectedSeq: number,
  draft: RecordInput.Draft,
  fresh: boolean,
  tries: number
): Effect.Effect<Appended, RecordError.RecordError | RecordError.RecordConflict> =>
  Effect.suspend(() => {
    if (writer.broken !== undefined) return afterFailure(writer.broken)
    const { seq } = writer.cursor.position
    if (expectedSeq < seq || (fresh && expectedSeq > seq)) return RecordError.conflict(writer.runId, expectedSeq, seq)
    if (tries === patience) return busy(writer.runId)
    const again = (fresh: boolean) => write(directory, writer, expectedSeq, draft, fresh, tries + 1)
    if (expectedSeq > seq) return Effect.zipRight(catchUp(writer), again(true))
    return Effect.flatMap(RecordInput.now, (at) =>
      Effect.flatMap(attempt(directory, writer, at, draft), (done) => {
        if (done === "busy") return Effect.zipRight(Wakeup.pause(Math.min(50, 2 ** tries)), again(false))
        return done === "behind" ? Effect.zipRight(catchUp(writer), again(true)) : Effect.succeed(done)
      })
    )
  })

/** Appends at `expectedSeq`, one append of this writer at a time. */
export const append = (
  directory: Directory,
  writer: Writer,
  expectedSeq: number,
  draft: RecordInput.Draft
): Effect.Effect<Appended, RecordError.RecordError | RecordError.RecordConflict> =>
  writer.permit.withPermits(1)(write(directory, writer, expectedSeq, draft, false, 0))
