/**
 * An `Entry` is a way into a skill map: a skill, and the words of the person or the tags of the application that lead
 * to it. Without either it is open to picks and proposals alone.
 *
 * Matching takes time in the length of the text: words are compared, no pattern is run.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type * as CursorMove from "./CursorMove.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const texts = optional(Schema.Array(Schema.String))

/**
 * A keyword or a phrase is met as whole words in their order, whatever stands between them that is no letter or digit,
 * and whatever their case. One of all that are declared is enough. A `pattern` is refused when the map is made.
 */
export const Entry = Schema.Struct({
  skillId: Schema.String,
  keywords: texts,
  phrases: texts,
  tags: texts,
  pattern: optional(Schema.String)
})
export type Entry = typeof Entry.Type

/** What a person said, read once for all entries. */
export interface Said {
  /** The words, each after a space unless it follows the one before without a gap. */
  readonly words: ReadonlyArray<string>
  /** The words as they are compared. */
  readonly folded: ReadonlyArray<string>
  /** For each folded word, where it stands. */
  readonly places: ReadonlyMap<string, ReadonlyArray<number>>
}

/** The longest keyword, phrase or tag, in UTF-16 code units. */
export const longest = 200

/** Scripts that are written without spaces give a word for each character. */
const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])[\p{L}\p{N}\p{M}_])+/gu

const wordsOf = (text: string): ReadonlyArray<string> => text.match(word) ?? []

const fold = (text: string): string => text.normalize("NFC").toLowerCase()

export const read = (text: string): Said => {
  let end = 0
  const words = Array.from(text.matchAll(word), ({ 0: word, index }) => {
    const gap = index > end ? " " : ""
    end = index + word.length
    return gap + word
  })
  const folded = words.map((word) => fold(word.trimStart()))
  const places = new Map<string, Array<number>>()
  folded.forEach((one, at) => {
    const found = places.get(one)
    if (found === undefined) places.set(one, [at])
    else found.push(at)
  })
  return { words, folded, places }
}

/** Whether a keyword or phrase has a word, so that anything can match it. */
export const hasWord = (text: string): boolean => wordsOf(text).length > 0

/** The person's own words, where they say the phrase first. */
const find = (said: Said, phrase: string): string | undefined => {
  const wanted = wordsOf(phrase).map(fold)
  const [first] = wanted
  const at =
    first === undefined
      ? undefined
      : said.places.get(first)?.find((at) => wanted.every((one, n) => said.folded[at + n] === one))
  return at === undefined
    ? undefined
    : said.words
        .slice(at, at + wanted.length)
        .join("")
        .trimStart()
}

/** The first of an entry's keywords, phrases and tags that matches, in this order. */
export const match = (entry: Entry, said: Said, tags: ReadonlySet<string>): CursorMove.Witness | undefined => {
  for (const keyword of [...(entry.keywords ?? []), ...(entry.phrases ?? [])]) {
    const text = find(said, keyword)
    if (text !== undefined) return { text, keyword }
  }
  const tag = entry.tags?.find((tag) => tags.has(tag))
  return tag === undefined ? undefined : { text: tag }
}
