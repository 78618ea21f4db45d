/**
 * A `RecordChain` is how entries hold together: each append is one line, each entry's hash covers all before it, and a line
 * is good only if it is, to the byte, what the writer would have written there.
 *
 *     {"format":1,"runId":"r","seq":0,"at":0,"events":[…],"hash":"…"}      the first line
 *     {"seq":3,"at":17,"events":[…,…],"hash":"…"}                          entries 3 and 4; the hash is entry 4's
 *
 * `hash(-1)` is SHA-256 of `wherefore.record/1 LF runId`; `hash(i)` is that of `hash(i-1) LF seq LF at LF event`.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { createHash } from "node:crypto"
import * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as EventText from "./EventText.ts"
import * as RecordError from "./RecordError.ts"

/** A line may be this long, in bytes, its line feed included. */
export const maxLine = 16 * 1024 * 1024

/** Where a chain stands: the next sequence number, and the hash of the entry before it. */
export interface Position {
  readonly runId: string
  readonly seq: number
  readonly hash: string
}

/** What kind of damage: see `Tampered`. `unsupported` is none: the line is of a later version. */
export type Kind = RecordError.Damage | "unsupported"

/** The first entry that is not good, and how many before it are. An append is damaged as a whole. */
export interface Damage {
  readonly kind: Kind
  readonly seq: number
  readonly good: number
  readonly expected: string
  readonly found: string
}

// As `Digest.of`, with the hash of the platform.
const sha256 = (text: string): string => createHash("sha256").update(text).digest("base64url")

export const start = (runId: string): Position => ({ runId, seq: 0, hash: sha256(`wherefore.record/1\n${runId}`) })

export const link = (before: string, seq: number, at: number, text: string): string =>
  sha256(`${before}\n${seq}\n${at}\n${text}`)

/** The hashes of an append's entries, in order. */
export const links = (position: Position, at: number, texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  let before = position.hash
  return texts.map((text, index) => (before = link(before, position.seq + index, at, text)))
}

/** How every line at a position begins. */
const opening = ({ runId, seq }: Position): string =>
  seq === 0 ? `{"format":${Event.format},"runId":"${runId}","seq":0,"at":` : `{"seq":${seq},"at":`

/** The line of an append at `position`, with its line feed. `hash` is that of its last entry. */
export const line = (position: Position, at: number, texts: ReadonlyArray<string>, hash: string): string =>
  `${opening(position)}${at},"events":[${texts.join(",")}],"hash":"${hash}"}\n`

/** What a line says, before anyone believes it. */
export interface Saying {
  readonly format?: unknown
  readonly runId?: unknown
  readonly seq: number
  readonly at: number
  readonly events: ReadonlyArray<unknown>
  readonly hash: string
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0

/** What a line says, or what is wrong with how it says it. */
export const hear = (bytes: Buffer): Either.Either<Saying, string> => {
  const parsed = Either.try((): unknown => JSON.parse(bytes.toString("utf8")))
  if (Either.isLeft(parsed)) return Either.left("text that is not JSON")
  const said = parsed.right
  if (!Predicate.isRecord(said)) return Either.left("JSON that is not an object")
  const { at, events, format, hash, runId, seq } = said
  // Before anything else: a later format may look like nothing that this version knows.
  if (isCount(format) && format > Event.format)
    return Either.right({ format, runId, seq: 0, at: 0, events: [], hash: "" })
  if (!isCount(seq) || !isCount(at) || typeof hash !== "string" || !Array.isArray(events) || events.length === 0) {
    return Either.left("an object that is not a line of a record")
  }
  return Either.right({ format, runId, seq, at, events, hash })
}

/** The entries of a line, and the position after it. */
export interface Link {
  readonly entries: ReadonlyArray<Event.Entry>
  readonly position: Position
}

/**
 * Reads the line at a position; `bytes` is the line without its line feed. Other bytes that say the same are damage, and so
 * are bytes that are not UTF-8: encoding what was decoded does not give them back.
 */
export const read = (position: Position, bytes: Buffer): Either.Either<Link, Damage> => {
  const { runId, seq } = position
  const bad = (kind: Kind, expected: string, found: string, at = seq) =>
    Either.left({ kind, seq: at, good: seq, expected, found })
  const heard = hear(bytes)
  if (Either.isLeft(heard)) return bad("format", "a line as the record writes it", heard.left)
  const said = heard.right
  if (isCount(said.format) && said.format > Event.format) {
    return bad("unsupported", `format ${Event.format}`, `format ${said.format}`)
  }
  const texts: Array<string> = []
  for (const event of said.events) {
    const text = EventText.ofValue(event)
    if (Either.isLeft(text)) return bad("format", text.left.expected, text.left.found)
    texts.push(text.right)
  }
  if (
    seq === 0 &&
    typeof said.runId === "string" &&
    said.runId !== runId &&
    RecordError.runIdGrammar.test(said.runId)
  ) {
    return bad("run-id", `run ${Printable.quote(runId)}`, "another run's entry")
  }
  if (said.seq !== seq) return bad("seq", `entry ${seq}`, `entry ${said.seq}`)
  if (!bytes.equals(Buffer.from(line(position, said.at, texts, said.hash).slice(0, -1)))) {
    return bad("format", "a line as the record writes it", "the same JSON in other bytes")
  }
  const hashes = links(position, said.at, texts)
  if (hashes.at(-1) !== said.hash) return bad("hash", "a hash that follows from the entry before", "another hash")
  const entries: Array<Event.Entry> = []
  for (const [index, event] of said.events.entries()) {
    const at = seq + index
    if (!EventText.is(event)) {
      return EventText.isForeign(event)
        ? bad("unsupported", "a kind of event that this version knows", "another kind", at)
        : bad("event", "an event", "something else", at)
    }
    if (at === 0 && (event._tag !== "RunStarted" || event.runId !== runId)) {
      return bad("run-id", `the start of run ${Printable.quote(runId)}`, "another event")
    }
    entries.push({ runId, seq: at, at: said.at, event, hash: hashes[index] ?? said.hash })
  }
  return Either.right({ entries, position: { runId, seq: seq + texts.length, hash: said.hash } })
}

/** The end of the last object in some bytes. */
const closing = Buffer.from('"}')

/**
 * What follows the last line feed: the part of an append that was cut short, or damage. Cut short is how a line begins,
 * whatever of it and behind it is NUL. A whole line with more than NUL behind it was not cut: it lost its line feed.
 */
export const torn = (position: Position, rest: Buffer): Damage | undefined => {
  const damage = (found: string): Damage => ({
    kind: "format",
    seq: position.seq,
    good: position.seq,
    expected: "a line as the record writes it",
    found
  })
  if (rest.length > maxLine) return damage("a line without end")
  let end = rest.length
  while (end > 0 && rest[end - 1] === 0) end--
  const begun = rest.subarray(0, end)
  const expected = Buffer.from(opening(position))
  for (let i = 0; i < expected.length && i < end; i++) {
    if (begun[i] !== 0 && begun[i] !== expected[i]) return damage("bytes that begin no line")
  }
  const close = begun.lastIndexOf(closing) + closing.length
  if (close < closing.length || close === end) return undefined
  return Either.isRight(read(position, begun.subarray(0, close))) ? damage("a line without its line feed") : undefined
}

/** The entries of whole lines, up to the first damage. `bytes` ends in a line feed or is empty. */
export const readAll = (
  from: Position,
  bytes: Buffer
): {
  readonly entries: Array<Event.Entry>
  readonly position: Position
  readonly consumed: number
  readonly damage?: Damage
} => {
  const entries: Array<Event.Entry> = []
  let position = from
  let consumed = 0
  while (consumed < bytes.length) {
    const end = bytes.indexOf(0x0a, consumed)
    const next = read(position, bytes.subarray(consumed, end))
    if (Either.isLeft(next)) return { entries, position, consumed, damage: next.left }
    for (const entry of next.right.entries) entries.push(entry)
    position = next.right.position
    consumed = end + 1
  }
  return { entries, position, consumed }
}

/** Damage as the error that readers and writers of the run get. */
export const failure = (runId: string, { expected, found, good, kind, seq }: Damage): RecordError.RecordError => {
  const rest = good === 0 ? "no entry before it" : `entries 0 to ${good - 1} are good`
  const details = { expected, found: `${found} (${kind}); ${rest}`, runId, seq }
  if (kind === "unsupported") {
    const what = `A later version wrote entry ${seq} of run ${Printable.quote(runId)}.`
    return RecordError.failure("UnsupportedFormat", { ...details, what })
  }
  const what = `Run ${Printable.quote(runId)} is damaged at entry ${seq}.`
  const place = { kind, ...(good === 0 ? {} : { lastGood: good - 1 }) }
  return RecordError.failure("Corrupt", { ...details, ...place, what })
}
