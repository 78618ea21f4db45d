/**
 * A `TokenCount` is how long a text is for a model, and who says so.
 *
 * @since 0.1.0
 */
import * as PieceText from "./PieceText.ts"
import type * as Wire from "./Wire.ts"

/** Counts a text. The same text has the same count, every time. */
export interface Counter {
  readonly by: "tokenizer" | "estimate"
  /** Names it on the record. */
  readonly name: string
  readonly count: (text: string) => number
}

/** The bytes of a text in UTF-8. */
export const bytesOf = (text: string): number => {
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    // A half of a pair takes two of the four bytes of its character.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 2 : 3
  }
  return bytes
}

/** Four bytes of UTF-8 a token: near enough to tell a long conversation from a short one. */
export const estimate: Counter = {
  by: "estimate",
  name: "UTF-8 bytes / 4",
  count: (text) => Math.ceil(bytesOf(text) / 4)
}

/** What a provider adds to each message for its role. */
const perPiece = 4

const known = new WeakMap<Counter, Map<string, number>>()

/** The tokens of a piece of a wire. Each text is counted once, as long as the counter lives. */
export const of = (counter: Counter, piece: Wire.Piece): number => {
  const counts = known.get(counter) ?? new Map<string, number>()
  known.set(counter, counts)
  const counted = counts.get(piece.hash)
  if (counted !== undefined) return counted
  const count = counter.count(PieceText.of(piece)) + perPiece
  counts.set(piece.hash, count)
  return count
}

export const ofAll = (counter: Counter, pieces: ReadonlyArray<Wire.Piece>): number =>
  pieces.reduce((sum, piece) => sum + of(counter, piece), 0)
