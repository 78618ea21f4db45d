/**
 * A `WireNumber` is a number that a piece of a wire holds, with what tells it from others: its field, the list that it is a
 * member of, and the ids that stand beside it.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Json from "./Json.ts"
import * as JsonPlaces from "./JsonPlaces.ts"
import * as Moment from "./Moment.ts"
import * as PieceText from "./PieceText.ts"
import * as Spelling from "./Spelling.ts"
import * as Unit from "./Unit.ts"
import * as Value from "./Value.ts"
import type * as Wire from "./Wire.ts"

export interface WireNumber {
  readonly piece: Wire.Piece
  readonly value: number
  readonly text: string
  readonly start: number
  readonly end: number
  readonly unit?: Unit.Unit
  /** The names of its field and of what holds that; nothing in a text that is no JSON. */
  readonly field?: string
  /** Lists that it is a member of: all of a column, and those of its members that have a word in common. */
  readonly lists: ReadonlyArray<string>
  /** The ids of the row it stands in: those of the nearest object that has some. In lower case. */
  readonly labels: ReadonlySet<string>
  /** The ids of what holds its list. */
  readonly listLabels: ReadonlySet<string>
}

/** A piece of more numbers, or a text of more characters, is read so far. */
const most = 20_000
const mostChars = 262_144

const plain = /^-?\d{1,15}(?:\.\d{1,15})?$/

/** The number that a token is, without its unit. */
const numberOf = ({ text, value }: Pick<Value.Token, "text" | "value">): number | undefined => {
  const own = plain.test(value) ? value : Spelling.numberOf(text, value)
  return own === undefined ? undefined : Number(own)
}

/** A number that a text says. */
export interface Said {
  readonly token: Value.Token
  readonly value: number
  readonly unit?: Unit.Unit
}

/** The numbers of a text, without those of its dates. */
export const said = (whole: string): ReadonlyArray<Said> => {
  const text = whole.slice(0, mostChars)
  const days = Moment.find(text)
  return Value.tokens(text).flatMap((token) => {
    const value = numberOf(token)
    if (value === undefined || days.some(({ end, start }) => start < token.end && token.start < end)) return []
    const before = text.slice(Math.max(0, token.start - 40), token.start)
    const unit = Unit.beside({ text: token.text, before, after: text.slice(token.end, token.end + 24) })
    return [{ token, value, ...(unit === undefined ? {} : { unit }) }]
  })
}

const none: ReadonlySet<string> = new Set()

/** What names one thing and no other: a word with a digit in it that is no number and no time. */
const isLabel = (word: string): boolean =>
  word.length >= 4 &&
  word.length <= 64 &&
  /\d/.test(word) &&
  /[a-z]/i.test(word) &&
  !/^\d{4}-\d{2}-\d{2}|^\d{1,2}:\d{2}/.test(word) &&
  /^[\w.-]+$/.test(word)

const keyOf = (path: ReadonlyArray<string>): string => JSON.stringify(path)

/** Where the innermost list of a path has its index: of an array, or of an object whose keys are ids. */
const listAt = (path: ReadonlyArray<string>): number =>
  path.findLastIndex((name) => /^\d+$/.test(name) || isLabel(name))

const ofJson = (piece: Wire.Piece, text: string): ReadonlyArray<WireNumber> => {
  const places = JsonPlaces.of(text, most)
  const labels = new Map<string, Set<string>>()
  const words = new Map<string, Array<string>>()
  for (const { end, kind, path, start } of places) {
    if (kind !== "string") continue
    const word = text.slice(start, end)
    const parent = keyOf(path.slice(0, -1))
    if (isLabel(word)) labels.set(parent, (labels.get(parent) ?? new Set()).add(word.toLowerCase()))
    else if (word.length <= 32) words.set(parent, [...(words.get(parent) ?? []), `${path.at(-1)}=${word}`])
  }
  /** The labels of the nearest object from `depth` up; a member of an object of ids is named by its key. */
  const named = (path: ReadonlyArray<string>, depth: number): ReadonlySet<string> => {
    for (let at = depth; at >= 0; at--) {
      const own = labels.get(keyOf(path.slice(0, at)))
      const key = path[at - 1] ?? ""
      if (own !== undefined) return isLabel(key) ? new Set([...own, key.toLowerCase()]) : own
      if (isLabel(key)) return new Set([key.toLowerCase()])
    }
    return none
  }
  return places.flatMap(({ end, kind, path, start }): ReadonlyArray<WireNumber> => {
    const own = text.slice(start, end)
    const value = Number(own)
    if (kind !== "number" || !plain.test(own)) return []
    const names = path.filter((name) => !/^\d+$/.test(name) && !isLabel(name)).slice(-2)
    const units = names.flatMap((name) => Unit.of({ text: own, before: "", after: "" }, name) ?? [])
    const unit = units.at(-1)
    const at = listAt(path)
    const column = [...path.slice(0, at), "*", ...path.slice(at + 1)]
    const row = words.get(keyOf(path.slice(0, at + 1))) ?? []
    const list = `${piece.id} ${keyOf(column)}`
    return [
      {
        piece,
        value,
        text: own,
        start,
        end,
        field: names.join("/"),
        ...(unit === undefined ? {} : { unit }),
        lists: at === -1 ? [] : [list, ...row.map((word) => `${list} ${word}`)],
        labels: named(path, path.length - 1),
        listLabels: at === -1 ? none : named(path, at)
      }
    ]
  })
}

const read = new WeakMap<Wire.Piece, ReadonlyArray<WireNumber>>()

/** The numbers of a piece, in its order. */
export const of = (piece: Wire.Piece): ReadonlyArray<WireNumber> => {
  const known = read.get(piece)
  if (known !== undefined) return known
  const text = PieceText.of(piece)
  const isJson = /^\s*[[{]/.test(text) && Either.isRight(Json.parse(text, { maxChars: 4_194_304, maxKeys: 1_000_000 }))
  const numbers = isJson
    ? ofJson(piece, text)
    : said(text)
        .slice(0, most)
        .map(({ token, unit, value }) => ({
          piece,
          value,
          text: token.text,
          start: token.start,
          end: token.end,
          ...(unit === undefined ? {} : { unit }),
          lists: [],
          labels: none,
          listLabels: none
        }))
  read.set(piece, numbers)
  return numbers
}
