/**
 * A `RecordLines` is the file of a run as it is read: a block of whole lines at a time, from where a cursor stands. Reading
 * changes nothing, and does not mind the part of an append behind the last line.
 *
 * The calls are synchronous: the pages of a record that is being worked on are in memory, where a call costs less than a
 * task for the thread pool. A block is small enough for the event loop.
 *
 * @internal
 */
import type * as Event from "../kernel/Event.ts"
import * as fs from "node:fs"
import * as RecordChain from "./RecordChain.ts"

/** How far a reader has come: `offset` is the byte behind the last line that it has verified. */
export interface Cursor {
  readonly position: RecordChain.Position
  readonly offset: number
}

export const start = (runId: string): Cursor => ({ position: RecordChain.start(runId), offset: 0 })

export interface Block {
  readonly entries: ReadonlyArray<Event.Entry>
  readonly cursor: Cursor
  /** Nothing more is there at present. */
  readonly ended: boolean
  readonly damage?: RecordChain.Damage
}

const blockSize = 256 * 1024
// Entries hold no view of it, and nobody else runs between reading into it and reading from it.
const shared = Buffer.allocUnsafeSlow(blockSize)

/** Reads until the buffer is full or the file ends. */
export const fill = (fd: number, buffer: Buffer, offset: number): number => {
  let filled = 0
  while (filled < buffer.length) {
    const got = fs.readSync(fd, buffer, filled, buffer.length - filled, offset + filled)
    if (got === 0) break
    filled += got
  }
  return filled
}

/** The next lines behind a cursor, none of them beyond the byte `limit`. Throws as the file system does. */
export const next = (fd: number, cursor: Cursor, limit: number): Block => {
  const { offset, position } = cursor
  for (let size = blockSize; ; size *= 2) {
    const wanted = Math.min(size, limit - offset)
    if (wanted <= 0) return { entries: [], cursor, ended: true }
    const buffer = size === blockSize ? shared.subarray(0, wanted) : Buffer.allocUnsafe(wanted)
    const bytes = buffer.subarray(0, fill(fd, buffer, offset))
    const whole = bytes.lastIndexOf(0x0a) + 1
    if (whole > 0) {
      const { consumed, damage, entries, position: reached } = RecordChain.readAll(position, bytes.subarray(0, whole))
      return {
        entries,
        cursor: { position: reached, offset: offset + consumed },
        ended: false,
        ...(damage === undefined ? {} : { damage })
      }
    }
    if (bytes.length < size || size > RecordChain.maxLine) {
      const damage = RecordChain.torn(position, bytes)
      return { entries: [], cursor, ended: true, ...(damage === undefined ? {} : { damage }) }
    }
  }
}
