/**
 * A `Checkpoint` is a signed statement of how far a run had come: how many entries, and the hash of the last of them. Kept
 * outside the record it proves later that nothing of them was removed or written anew. It is a signed note of C2SP:
 *
 *     wherefore.record/1/<run id>
 *     <how many entries>
 *     <base64 of the hash of the last one>
 *
 *     — <key name> <base64 of key id and Ed25519 signature>
 *
 * A list of several ends in a note of the same kind, `wherefore.anchor/1`, with how many they are and the hash of their
 * texts, so that a list of which some were taken away is none.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { createHash } from "node:crypto"
import type * as Event from "../kernel/Event.ts"
import { type CheckpointError, failure } from "./CheckpointError.ts"
import * as HistoryAltered from "./HistoryAltered.ts"
import * as NoteKey from "./NoteKey.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordProof from "./RecordProof.ts"
import * as Signer from "./Signer.ts"
import * as SignedNote from "./SignedNote.ts"

export { CheckpointError } from "./CheckpointError.ts"
export { HistoryAltered } from "./HistoryAltered.ts"

/** `hash` is that of the last of `entries`, as an entry has it. */
export interface Checkpoint {
  readonly runId: string
  readonly entries: number
  readonly hash: string
}

/** What a key has signed of runs. `whole` says that it is a list, so that a run that it does not name was not there. */
export interface Anchor {
  /** The name of the key. */
  readonly by: string
  /** The checkpoints of each run, the shortest first. */
  readonly runs: ReadonlyMap<string, ReadonlyArray<Checkpoint>>
  readonly whole: boolean
}

/** How much of a run's entries a signature covers, 0 if the anchor does not name the run. `notice` is what none can prove. */
export interface Proven extends RecordProof.Verified {
  readonly proven: number
  readonly by: string
  readonly notice: RecordProof.TailNotProvable
}

const recordOrigin = "wherefore.record/1/"
const anchorOrigin = "wherefore.anchor/1"

/** The checkpoint of a run as it is. Fails if it is not as it was written: what is damaged is not to be signed. */
export const make = (entries: Iterable<Event.Entry>): Effect.Effect<Checkpoint, RecordProof.Tampered> =>
  Effect.map(RecordProof.verify(entries), ({ entries, hash, runId }) => ({ runId, entries, hash }))

const body = (origin: string, size: number, hash: Buffer): string => `${origin}\n${size}\n${hash.toString("base64")}\n`

const textOf = ({ entries, hash, runId }: Checkpoint): string =>
  body(recordOrigin + runId, entries, Buffer.from(hash, "base64url"))

const digest = (texts: ReadonlyArray<string>): Buffer => createHash("sha256").update(texts.join("")).digest()

const signed = (text: string): Effect.Effect<string, CheckpointError, Signer.Signer> =>
  Effect.gen(function* () {
    const signer = yield* Signer.Signer
    const verifier = yield* NoteKey.verifier(signer.verifier)
    const signature = yield* signer.sign(text)
    if (!verifier.check(text, signature)) {
      return yield* failure("SigningFailed", { expected: "a signature of the signer's key", found: "another" })
    }
    return SignedNote.format(text, verifier, signature)
  })

/** One checkpoint as a signed note. */
export const sign = (checkpoint: Checkpoint): Effect.Effect<string, CheckpointError, Signer.Signer> =>
  signed(textOf(checkpoint))

/** Several as one file, with the note that counts them. A run that it does not name was not there. */
export const signAll = (
  checkpoints: ReadonlyArray<Checkpoint>
): Effect.Effect<string, CheckpointError, Signer.Signer> =>
  Effect.gen(function* () {
    const texts = checkpoints.map(textOf)
    const notes = yield* Effect.forEach([...texts, body(anchorOrigin, texts.length, digest(texts))], signed)
    return notes.join("\n")
  })

interface Statement {
  readonly origin: string
  readonly size: number
  readonly hash: Buffer
}

/** What a signed text says. Lines after the third are for others. */
const read = (text: string, line: number): Either.Either<Statement, CheckpointError> => {
  const [origin = "", size = "", encoded = ""] = text.split("\n")
  const hash = NoteKey.bytesOf(encoded)
  const malformed = (offset: number, expected: string) =>
    Either.left(failure("Malformed", { where: SignedNote.at(line + offset), expected, found: "another line" }))
  if (!/^(0|[1-9]\d{0,14})$/.test(size)) return malformed(1, "a number")
  if (hash?.length !== 32) return malformed(2, "base64 of 32 bytes")
  return Either.right({ origin, size: Number(size), hash })
}

/**
 * What the owner of a key has signed, from the bytes of one checkpoint or of a list of them, or of several lists. `trust` is the public key,
 * `name+id+key`, from somebody who is believed; nothing in the bytes is, before its signature was checked.
 */
export const open = (bytes: Uint8Array | string, trust: string): Effect.Effect<Anchor, CheckpointError> =>
  Effect.suspend(() =>
    Either.gen(function* () {
      const verifier = yield* NoteKey.verifier(trust)
      const notes = yield* SignedNote.parse(typeof bytes === "string" ? Buffer.from(bytes) : bytes)
      const runs = new Map<string, Array<Checkpoint>>()
      let texts: Array<string> = []
      for (const note of notes) {
        const text = yield* SignedNote.open(note, verifier)
        const { hash, origin, size } = yield* read(text, note.line)
        const where = SignedNote.at(note.line)
        if (origin === anchorOrigin) {
          if (size !== texts.length || !hash.equals(digest(texts))) {
            const found = `${texts.length}, or others`
            return yield* Either.left(
              failure("Incomplete", { where, expected: `the ${size} checkpoints of the list`, found })
            )
          }
          texts = []
          continue
        }
        const runId = origin.startsWith(recordOrigin) ? origin.slice(recordOrigin.length) : ""
        if (!RecordError.runIdGrammar.test(runId) || size === 0) {
          const expected = "a checkpoint of a run with entries"
          return yield* Either.left(failure("Malformed", { where, expected, found: "a note about something else" }))
        }
        texts.push(text)
        const known = runs.get(runId)
        const checkpoint = { runId, entries: size, hash: hash.toString("base64url") }
        if (known === undefined) runs.set(runId, [checkpoint])
        else known.push(checkpoint)
      }
      if (texts.length > 0 && notes.length > 1) {
        const details = { expected: "a note at the end that counts the checkpoints", found: "none" }
        return yield* Either.left(failure("Incomplete", details))
      }
      for (const checkpoints of runs.values()) checkpoints.sort((a, b) => a.entries - b.entries)
      return { by: verifier.name, runs, whole: texts.length === 0 }
    })
  )

const notice = (proven: number, entries: number, by: string): RecordProof.TailNotProvable => ({
  _tag: "TailNotProvable",
  code: "WF-REC-012",
  what:
    proven === entries
      ? "Entries that were appended after the checkpoint was signed, and removed since, would not show."
      : proven === 0
        ? `The anchor does not name this run: its ${entries} entries follow from each other, and no more is proven.`
        : `The entries after #${proven - 1} follow from it, and no more: had some been removed from the end, it would not show.`,
  next: `Compare with a newer anchor of ${by}, if there is one.`
})

const anchored = ({ entries, hash }: Checkpoint, by: string) => ({ entries, hash, by })

/**
 * Whether entries are, from the first on, what was appended to the run, as far as its checkpoints tell. `Tampered` is what
 * the entries say against each other, `HistoryAltered` what a checkpoint says against them.
 */
export const verify = (
  entries: Iterable<Event.Entry>,
  { by, runs }: Anchor
): Effect.Effect<Proven, RecordProof.Tampered | HistoryAltered.HistoryAltered> =>
  Effect.gen(function* () {
    const all = Array.from(entries)
    const verified = yield* RecordProof.verify(all)
    const { runId } = verified
    const checkpoints = runs.get(runId) ?? []
    let proven = 0
    for (const checkpoint of checkpoints) {
      const altered = (kind: HistoryAltered.HistoryAltered["kind"], seq: number) =>
        HistoryAltered.make(kind, runId, seq, anchored(checkpoint, by), proven)
      const last = all[checkpoint.entries - 1]
      if (checkpoints.some(({ entries, hash }) => entries === checkpoint.entries && hash !== checkpoint.hash)) {
        return yield* altered("fork", checkpoint.entries - 1)
      }
      if (last === undefined) return yield* altered("tail", all.length)
      if (last.hash !== checkpoint.hash) return yield* altered("rewritten", checkpoint.entries - 1)
      proven = checkpoint.entries
    }
    return { ...verified, proven, by, notice: notice(proven, verified.entries, by) }
  })

/** The runs that were there when the anchor was signed, and are not among these. */
export const missing = (
  { by, runs }: Anchor,
  runIds: Iterable<string>
): ReadonlyArray<HistoryAltered.HistoryAltered> => {
  const there = new Set(runIds)
  return Array.from(runs).flatMap(([runId, checkpoints]) => {
    const longest = checkpoints.at(-1)
    return there.has(runId) || longest === undefined
      ? []
      : [HistoryAltered.make("deleted", runId, 0, anchored(longest, by), 0)]
  })
}
