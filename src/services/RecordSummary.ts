/**
 * A `RecordSummary` is what the first and the last line of a run say about it, whatever is between them.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as fs from "node:fs"
import * as EventText from "./EventText.ts"
import type * as Record from "./Record.ts"
import * as RecordChain from "./RecordChain.ts"
import type * as RecordError from "./RecordError.ts"
import * as RecordLines from "./RecordLines.ts"
import type * as RecordPage from "./RecordPage.ts"

const { O_NOFOLLOW = 0, O_RDONLY } = fs.constants

const headSize = 256
const blockSize = 64 * 1024

/** Reads from an open file and closes it. Throws as the file system does. */
const using = <A>(path: string, read: (fd: number) => A): A => {
  const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW)
  try {
    return read(fd)
  } finally {
    fs.closeSync(fd)
  }
}

const bytesAt = (fd: number, offset: number, size: number): Buffer => {
  const buffer = Buffer.allocUnsafe(size)
  return buffer.subarray(0, RecordLines.fill(fd, buffer, offset))
}

/** When a run started, from its file's first bytes. `undefined` if there is no whole line, and so no run. */
export const key = (path: string, runId: string): Either.Either<RecordPage.Key, RecordError.RecordError> | undefined =>
  using(path, (fd) => {
    const head = bytesAt(fd, 0, headSize)
    const [, startedAt] =
      /^\{"format":1,"runId":"[^"]*","seq":0,"at":(\d{1,16}),"events":\[/.exec(head.toString("latin1")) ?? []
    if (startedAt !== undefined) return Either.right({ runId, startedAt: Number(startedAt) })
    return head.includes(0x0a) || head.length === headSize ? summarise(fd, runId) : undefined
  })

/** The first line, without its line feed; `undefined` if there is none. */
const firstLine = (fd: number): Buffer | undefined => {
  for (let size = blockSize; ; size *= 2) {
    const bytes = bytesAt(fd, 0, size)
    const end = bytes.indexOf(0x0a)
    if (end >= 0) return bytes.subarray(0, end)
    if (bytes.length < size || size > RecordChain.maxLine) return undefined
  }
}

/** The last whole line, without its line feed. */
const lastLine = (fd: number): Buffer | undefined => {
  const { size } = fs.fstatSync(fd)
  for (let back = blockSize; ; back *= 2) {
    const offset = Math.max(0, size - back)
    const bytes = bytesAt(fd, offset, size - offset)
    const end = bytes.lastIndexOf(0x0a)
    const begin = end < 0 ? -1 : bytes.subarray(0, end).lastIndexOf(0x0a)
    if (begin >= 0 || (offset === 0 && end >= 0)) return bytes.subarray(begin + 1, end)
    if (offset === 0 || back > 2 * RecordChain.maxLine) return undefined
  }
}

const damaged = (runId: string, seq: number, found: string) =>
  Either.left(
    RecordChain.failure(runId, { kind: "format", seq, good: 0, expected: "a line as the record writes it", found })
  )

/** What the first and the last line of a run say, each without its line feed; `undefined` where there is none. */
export const ofLines = (
  runId: string,
  first: Buffer | undefined,
  last: Buffer | undefined
): Either.Either<Record.RunSummary, RecordError.RecordError> => {
  if (first === undefined) return damaged(runId, 0, "no whole line")
  const head = RecordChain.read(RecordChain.start(runId), first)
  if (Either.isLeft(head)) return Either.left(RecordChain.failure(runId, head.left))
  const [start] = head.right.entries
  if (start?.event._tag !== "RunStarted") return damaged(runId, 0, "another event than a start")
  const tail = Either.flatMap(
    Either.fromNullable(last, () => "no whole line"),
    RecordChain.hear
  )
  if (Either.isLeft(tail)) return damaged(runId, 1, tail.left)
  const { at, events, seq } = tail.right
  const end = events.at(-1)
  return Either.right({
    runId,
    agent: start.event.agent,
    input: start.event.input,
    startedAt: start.at,
    lastAt: at,
    entries: seq + events.length,
    ...(EventText.is(end) && end._tag === "RunEnded" ? { status: end.status } : {})
  })
}

const summarise = (fd: number, runId: string) => ofLines(runId, firstLine(fd), lastLine(fd))

/** What a run's file says. Throws as the file system does. */
export const of = (path: string, runId: string): Either.Either<Record.RunSummary, RecordError.RecordError> =>
  using(path, (fd) => summarise(fd, runId))
