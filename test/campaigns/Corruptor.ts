/**
 * A `Corruptor` changes what is stored of a run as failing disks, careless programs and people who know the format do. It
 * works on rows, whatever keeps them, and on the bytes of a file of rows. It shares no code with what finds the changes.
 */
import { createHash } from "node:crypto"

/** A number below `below`, from a seed. */
export type Chance = (below: number) => number

/** Mulberry32. */
export const chance = (seed: number): Chance => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

export type Rows = ReadonlyArray<string>

/** What a row says, as far as it is changed here. */
export interface Row {
  format: unknown
  runId: unknown
  at: number
  seq: number
  hash: string
  readonly events: Array<object>
}
type Change<A> = (stored: A, next: Chance, other: Rows) => A

const sha = (text: string) => createHash("sha256").update(text).digest("base64url")

/** The rows with hashes that follow, as someone makes them who knows the format and has no key. */
export const relink = (runId: string, rows: Rows, change: (row: Row, index: number) => void): Rows => {
  let before = sha(`wherefore.record/1\n${runId}`)
  let seq = 0
  return rows.map((text, index) => {
    const row: Row = JSON.parse(text)
    change(row, index)
    for (const event of row.events) before = sha(`${before}\n${seq++}\n${row.at}\n${JSON.stringify(event)}`)
    return JSON.stringify({ ...row, hash: before })
  })
}

const edit =
  (change: (row: Row, next: Chance) => void): Change<Rows> =>
  (rows, next) => {
    const at = next(rows.length)
    try {
      const row: Row = JSON.parse(rows[at] ?? "")
      change(row, next)
      return rows.with(at, JSON.stringify(row))
    } catch {
      return rows
    }
  }
const text =
  (change: (row: string, next: Chance) => string): Change<Rows> =>
  (rows, next) => {
    const at = next(rows.length)
    return rows.with(at, change(rows[at] ?? "", next))
  }
const reversed = (value: object) => Object.fromEntries(Object.entries(value).toReversed())

/** What is done to rows, in a table as in a file. */
export const ofRows: { readonly [name: string]: Change<Rows> } = {
  "a row twice": (rows, next) => {
    const at = next(rows.length)
    return rows.toSpliced(at, 0, rows[at] ?? "")
  },
  "a row deleted": (rows, next) => rows.toSpliced(next(rows.length), 1),
  "rows deleted": (rows, next) => rows.toSpliced(next(rows.length), 1 + next(3)),
  "rows cut off the end": (rows, next) => rows.slice(0, 1 + next(rows.length)),
  "two rows swapped": (rows, next) => {
    const [a, b] = [next(rows.length), next(rows.length)]
    return rows.with(a, rows[b] ?? "").with(b, rows[a] ?? "")
  },
  "rows of another run": (rows, next, other) => [
    ...rows.slice(0, next(rows.length)),
    ...other.slice(next(other.length))
  ],
  "the rows of another run": (_rows, _next, other) => other,
  "another seq": edit((row, next) => (row.seq += 1 + next(3))),
  "another time": edit((row, next) => (row.at += 1 + next(9))),
  "a time in other units": edit((row) => (row.at = row.at * 1_000)),
  "a time that was rounded": edit((row) => (row.at = Math.floor(row.at / 10) * 10)),
  "another run": edit((row) => (row.runId = "other")),
  "another kind": edit((row) => Object.assign(row.events[0] ?? {}, { _tag: "Answered" })),
  "another format": edit((row) => (row.format = 2)),
  "other words": edit((row) => Object.assign(row.events[0] ?? {}, { content: "changed" })),
  "an event less": edit((row) => row.events.pop()),
  "another hash": edit((row, next) => (row.hash = sha(`${next(1e9)}`))),
  "a hash with a prefix": edit((row) => (row.hash = `sha256:${row.hash}`)),
  "another order of keys": text((row) => {
    try {
      return JSON.stringify(reversed(JSON.parse(row)))
    } catch {
      return row
    }
  }),
  "a key twice": text((row) => row.replace('"at":', '"at":1,"at":')),
  "a number that loses precision": text((row) => row.replace(/"n":(\d+)/, '"n":$1.00000000000000000001')),
  spaces: text((row) => row.replaceAll('":', '": ')),
  "a carriage return": text((row) => `${row}\r`)
}

const cut = (bytes: Buffer, at: number, to: number, between = Buffer.alloc(0)) =>
  Buffer.concat([bytes.subarray(0, at), between, bytes.subarray(to)])
const replace =
  (change: (text: string) => string): Change<Buffer> =>
  (bytes) =>
    Buffer.from(change(bytes.toString("latin1")), "latin1")

/** What is done to the bytes of a file, or of one row. */
export const ofBytes: { readonly [name: string]: Change<Buffer> } = {
  "a bit flipped": (bytes, next) => {
    const copy = Buffer.from(bytes)
    const bit = next(copy.length * 8)
    copy[bit >> 3]! ^= 1 << (bit & 7)
    return copy
  },
  "a byte replaced": (bytes, next) => {
    const copy = Buffer.from(bytes)
    copy[next(copy.length)] = next(256)
    return copy
  },
  "a block of NUL": (bytes, next) => {
    const at = next(bytes.length)
    return Buffer.from(bytes).fill(0, at, Math.min(bytes.length, at + 1 + next(512)))
  },
  "two blocks swapped": (bytes, next) => {
    const size = 1 + next(64)
    const [a, b] = [next(bytes.length), next(bytes.length)].toSorted((x, y) => x - y) as [number, number]
    if (b < a + size || b + size > bytes.length) return bytes
    const middle = Buffer.concat([
      bytes.subarray(b, b + size),
      bytes.subarray(a + size, b),
      bytes.subarray(a, a + size)
    ])
    return cut(bytes, a, b + size, middle)
  },
  "the head cut off": (bytes, next) => bytes.subarray(1 + next(bytes.length)),
  "the middle cut out": (bytes, next) => {
    const at = next(bytes.length)
    return cut(bytes, at, Math.min(bytes.length, at + 1 + next(200)))
  },
  "the tail cut off": (bytes, next) => bytes.subarray(0, next(bytes.length)),
  "NUL behind the end": (bytes, next) => Buffer.concat([bytes, Buffer.alloc(1 + next(4_096))]),
  "text behind the end": (bytes) => Buffer.concat([bytes, Buffer.from("# checked\n")]),
  "a line feed inside": (bytes, next) => {
    const at = next(bytes.length)
    return cut(bytes, at, at, Buffer.from("\n"))
  },
  "bytes that are no UTF-8": (bytes, next) => {
    const at = next(bytes.length)
    return cut(bytes, at, at, Buffer.of(0xc0, 0xaf))
  },
  "a byte order mark": (bytes) => Buffer.concat([Buffer.from("\ufeff"), bytes]),
  CRLF: replace((text) => text.replaceAll("\n", "\r\n")),
  "saved by an editor": replace((text) => `${text.trimEnd()}\n\n`),
  "saved without its last line feed": replace((text) => text.trimEnd())
}
