/**
 * A `RecordReading` is a whole record that came from elsewhere: a file under another name, or standard input.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Event from "../kernel/Event.ts"
import * as RecordChain from "./RecordChain.ts"
import * as RecordError from "./RecordError.ts"

/**
 * Verified entries. `bytesDropped` counts the bytes behind the last line that an append which was cut short left there;
 * 0 if there are none.
 */
export interface Reading {
  readonly runId: string
  readonly entries: ReadonlyArray<Event.Entry>
  readonly hash: string
  readonly bytesDropped: number
}

const unread = (found: string) =>
  RecordError.failure("Corrupt", {
    what: "This is no record of a run.",
    expected: "the lines of a record, as the file of a run holds them",
    found,
    next: "Give the file of a run, whole and as it was written.",
    seq: 0
  })

/** Whose record it is, as its first line says. */
const ownerOf = (bytes: Buffer, end: number): Either.Either<string, RecordError.RecordError> => {
  if (bytes.length === 0) return Either.left(unread("nothing"))
  if (end < 0) return Either.left(unread("no whole line"))
  const heard = RecordChain.hear(bytes.subarray(0, end))
  if (Either.isLeft(heard)) return Either.left(unread(heard.left))
  const { runId } = heard.right
  return typeof runId === "string" && RecordError.runIdGrammar.test(runId)
    ? Either.right(runId)
    : Either.left(unread("a first line without a run id"))
}

/** The whole of a record. With `to`, only what is before it has to be good. */
export const fromText = (
  text: string | Uint8Array,
  options?: { readonly to?: number }
): Effect.Effect<Reading, RecordError.RecordError> =>
  Effect.suspend((): Effect.Effect<Reading, RecordError.RecordError> => {
    const bytes =
      typeof text === "string" ? Buffer.from(text) : Buffer.from(text.buffer, text.byteOffset, text.byteLength)
    const owner = ownerOf(bytes, bytes.indexOf(0x0a))
    if (Either.isLeft(owner)) return owner.left
    const to = options?.to ?? Infinity
    const whole = bytes.lastIndexOf(0x0a) + 1
    const { damage, entries, position } = RecordChain.readAll(RecordChain.start(owner.right), bytes.subarray(0, whole))
    const rest = bytes.subarray(whole)
    const harm = damage ?? RecordChain.torn(position, rest)
    if (harm !== undefined && harm.good < to) return RecordChain.failure(owner.right, harm)
    const kept = to < entries.length ? entries.slice(0, to) : entries
    return Effect.succeed({
      runId: owner.right,
      entries: kept,
      hash: kept.at(-1)?.hash ?? RecordChain.start(owner.right).hash,
      bytesDropped: damage === undefined ? rest.length : 0
    })
  })
