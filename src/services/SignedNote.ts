/**
 * A `SignedNote` is text with signatures under it, as C2SP writes it: the text, an empty line, and a line for each key,
 *
 *     — <name> <base64 of 4 bytes of key id and the signature>
 *
 * It is read to the byte. A file may hold several, each after the other, with an empty line between them or none.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type { CheckpointError } from "./CheckpointError.ts"
import { failure } from "./CheckpointError.ts"
import * as NoteKey from "./NoteKey.ts"

interface Signature {
  readonly name: string
  /** As `NoteKey` has it. */
  readonly id: string
  readonly bytes: Uint8Array
}

/** `text` ends in a line feed. `line` is that of its first line in the file, from 1. */
export interface Note {
  readonly text: string
  readonly line: number
  readonly signatures: ReadonlyArray<Signature>
}

/** A file may have this many bytes, and a note this many signatures. */
const maxBytes = 64 * 1024 * 1024
const maxSignatures = 64

export const at = (line: number): string => `line ${line}`

const malformed = (line: number, expected: string, found: string) =>
  Either.left(failure("Malformed", { where: at(line), expected, found }))

const mark = "— "

const signature = (line: string): Signature | undefined => {
  const [, name = "", encoded = ""] = /^— ([^ ]+) ([A-Za-z0-9+/]+=*)$/u.exec(line) ?? []
  const bytes = NoteKey.bytesOf(encoded)
  if (!NoteKey.isName(name) || bytes === undefined || bytes.length < 5) return undefined
  return { name, id: bytes.subarray(0, 4).toString("hex"), bytes: bytes.subarray(4) }
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

const linesOf = (bytes: Uint8Array): Either.Either<ReadonlyArray<string>, CheckpointError> => {
  if (bytes.length > maxBytes) return malformed(1, `at most ${maxBytes} bytes`, `${bytes.length}`)
  const text = Either.try(() => decoder.decode(bytes))
  if (Either.isLeft(text)) return malformed(1, "UTF-8", "other bytes")
  const lines = text.right.split("\n")
  const odd = lines.findIndex((line) => /[\u0000-\u001f\ufeff]/.test(line))
  if (odd >= 0) return malformed(odd + 1, "text and line feeds", "another control character, or a byte order mark")
  if (lines.pop() !== "") return malformed(lines.length + 1, "a line feed at the end", "a line that was cut")
  return Either.right(lines)
}

/** The notes of a file, in their order, before anyone believes them. There is at least one. */
export const parse = (bytes: Uint8Array): Either.Either<ReadonlyArray<Note>, CheckpointError> =>
  Either.flatMap(linesOf(bytes), (lines) => {
    const notes: Array<Note> = []
    let line = 0
    while (line < lines.length) {
      const begin = line
      while (line < lines.length && lines[line] !== "") line++
      const text = lines.slice(begin, line)
      if (text.length === 0) return malformed(line + 1, "the text of a note", "an empty line")
      const mixed = text.findIndex((one) => one.startsWith(mark))
      if (mixed >= 0) return malformed(begin + mixed + 1, "an empty line before the signatures", "a signature")
      line++
      const signatures: Array<Signature> = []
      for (; lines[line]?.startsWith(mark) === true; line++) {
        const read = signature(lines[line] ?? "")
        if (read === undefined) return malformed(line + 1, "a signature", "another line")
        if (signatures.some(({ id, name }) => id === read.id && name === read.name)) {
          return malformed(line + 1, "one signature of each key", "a second one")
        }
        if (signatures.length === maxSignatures)
          return malformed(line + 1, `at most ${maxSignatures} signatures`, "more")
        signatures.push(read)
      }
      if (signatures.length === 0) return malformed(line + 1, "a signature", "none")
      notes.push({ text: `${text.join("\n")}\n`, line: begin + 1, signatures })
      if (line < lines.length && lines[line] === "") {
        line++
        if (line === lines.length) return malformed(line, "a note after an empty line", "the end")
      }
    }
    return notes.length === 0 ? malformed(1, "a signed note", "nothing") : Either.right(notes)
  })

/** The text of a note that the key has signed. Signatures of other keys say nothing to those who do not know them. */
export const open = (
  { line, signatures, text }: Note,
  verifier: NoteKey.Verifier
): Either.Either<string, CheckpointError> => {
  const ours = signatures.find(({ id, name }) => id === verifier.id && name === verifier.name)
  if (ours === undefined) {
    return Either.left(
      failure("Untrusted", { where: at(line), expected: "a signature of the trusted key", found: "none" })
    )
  }
  return verifier.check(text, ours.bytes)
    ? Either.right(text)
    : Either.left(failure("Forged", { where: at(line), expected: "a signature of this text", found: "another" }))
}

/** A note with one signature. */
export const format = (text: string, { id, name }: NoteKey.Verifier, signature: Uint8Array): string =>
  `${text}\n${mark}${name} ${Buffer.concat([Buffer.from(id, "hex"), signature]).toString("base64")}\n`
