/**
 * A `Candidate` is a value of an answer that needs a source, and whether it has one.
 *
 * @internal
 */
import * as Corpus from "./Corpus.ts"
import type * as GroundingEvent from "./GroundingEvent.ts"
import * as Moment from "./Moment.ts"
import * as Numeral from "./Numeral.ts"
import * as Sources from "./Sources.ts"
import * as Value from "./Value.ts"

type Shape = GroundingEvent.Shape

export interface Candidate {
  /** As it stands in the answer, at `start`. */
  readonly text: string
  readonly start: number
  readonly shape: Shape
  readonly isKnown: boolean
}

/** Of an answer this many tokens are read. */
const maxTokens = 20_000

const clock = /^\d{1,2}:\d{2}(?::\d{2})?(?:z|utc|gmt| ?[ap]\.?m\.?)?$/

const shapeOf = (value: string): Shape => {
  if (/^-?\d+(?:\.\d+)?$/.test(value) || Numeral.scientific(value) !== undefined) return "number"
  if (clock.test(value)) return "time"
  return Moment.stamped(value) !== undefined || Moment.readings(value).length > 0 ? "date" : "identifier"
}

/** A part of a token that is a value of its own. */
const partOf = (token: Value.Token, text: string, from: number): Value.Token => {
  const start = token.start + from
  return { text, value: Value.normalise(text), start, end: start + text.length }
}

const pieces = (token: Value.Token, by: RegExp): ReadonlyArray<Value.Token> =>
  Array.from(token.text.matchAll(by)).map((match) => partOf(token, match[0], match.index))

const isShort = ({ value }: Value.Token): boolean => /^\d{1,3}$/.test(value)

/** The two ends of a range, as `101-105`, `$5-$10` and `2024-05-21/2024-05-24`, or two values with a slash, as `120/80`. */
const endsOf = (token: Value.Token): ReadonlyArray<ReadonlyArray<Value.Token>> =>
  [/[^/]+/g, /[^-]+/g].flatMap((by) => {
    const ends = pieces(token, by)
    const [first, last] = ends
    if (first?.start !== token.start || last?.end !== token.end) return []
    const isBackwards = token.text.includes("-") && isShort(last) && Number(first.value) >= Number(last.value)
    return isBackwards || !ends.every(({ text }) => /\d/.test(text)) ? [] : [ends]
  })

/** The parts of a value that is some in one, as `10:00-12:30`, if each of them needs a source of its own. */
const partsOf = (token: Value.Token, options: Value.Options): ReadonlyArray<Value.Token> => {
  const parts = pieces(token, /[^/-]+/g).map((part) => {
    const own = Value.extract(part.text, options).find(({ text }) => text === part.text)
    return own === undefined ? undefined : { ...part, value: own.value }
  })
  const found = parts.filter((part) => part !== undefined)
  return found.length === parts.length && parts.length > 1 ? found : []
}

/** A number of few digits with a word, as `24-hour`, or the number of a day alone, as `20th`. */
const counted = /^(?:\d{1,3}(?:-[a-z]{3,})+|\d{1,2}(?:st|nd|rd|th))$/
/** A word and what it names, as `Reservation:JG7FMM` and `Order#4711`. */
const label = /^[A-Za-z]{2,}[:#](?=[A-Za-z\d])/
/** A sentence that starts right after the one before, as `line 1475.To` or `steps.2`. */
const glued = /(?:(?<=[A-Za-z]{3})[.:]\d{1,2}|\.[A-Z][a-z]*)$/
/** What stands for the digits that are not shown. */
const mask = /^(?:[._][.\-_]*|-[.\-_]+)(?=\d)/
/** `v1.2.3`. */
const version = /^v(?=\d+\.\d+\.\d)/i
/** `$1,234/month`. */
const each = /^([$\d][\d,.]*)\/[A-Za-z]+$/

/** What of a token is a value: all of it, or what is left when it is taken apart; nothing, if that is prose. */
const own = (token: Value.Token, options: Value.Options): Value.Token | undefined => {
  if (counted.test(token.text)) return undefined
  const bare = [label, glued, mask, version]
    .reduce((text, part) => text.replace(part, ""), token.text)
    .replace(each, "$1")
  if (bare === token.text) return token
  const [found] = Value.extract(bare, options)
  if (found === undefined) return undefined
  return { ...partOf(token, found.text, token.text.indexOf(bare) + found.start), value: found.value }
}

/** `isUnread`: the answer goes on beyond what is read. */
export interface Candidates {
  readonly candidates: ReadonlyArray<Candidate>
  readonly isUnread: boolean
}

/**
 * The values of an answer that need a source, in order: days that are spelled out, numbers as other places write them, and
 * what `Value.extract` finds.
 */
export const of = (answer: string, corpus: Corpus.Corpus, options: Value.Options): Candidates => {
  const isExempt = Value.matcher(options.exempt ?? [])
  const isDeclared = Value.matcher(options.shapes ?? [])
  const readable = Sources.readable(answer)
  const all = Value.tokens(readable, { limit: maxTokens + 1 })
  const last = all[maxTokens - 1]
  const read = last === undefined ? readable : readable.slice(0, last.end)
  const days = Moment.find(read)
  const spelled = days.flatMap(({ days, end, start }): ReadonlyArray<Candidate> => {
    const text = read.slice(start, end)
    if (isExempt({ text, value: Value.normalise(text) })) return []
    return [{ text, start, shape: "date", isKnown: days.every((day) => Moment.isKnown(corpus.days, day)) }]
  })
  const numerals = Numeral.find(read)
  const isKnown = (token: Value.Token): boolean => Corpus.isKnown(corpus, Corpus.said(read, token))
  /** An end of few digits stands in a source as it is, and so does one with a letter, as `12A`. */
  const isEnd = (token: Value.Token): boolean => {
    if (/^\d+[A-Z]$/.test(token.text)) return corpus.values.has(token.value)
    return isShort(token) ? Corpus.has(corpus, token.text, token.value) : isKnown(token)
  }
  const named = new Map(numerals.map((numeral) => [numeral.value, numeral]))
  const foreign = Array.from(named.values()).flatMap((numeral): ReadonlyArray<Candidate> => {
    const { start, text, value } = numeral
    if (isExempt(numeral)) return []
    const shape = isDeclared(numeral) ? "declared" : "number"
    if (shape === "number" && Value.extract(value, options).length === 0) return []
    const raw = Value.normalise(text)
    return [{ text, start, shape, isKnown: Corpus.has(corpus, text, raw) || isKnown({ ...numeral, text: value }) }]
  })
  const spans = [...days, ...numerals]
  const tokens = Value.extract(read, { ...options, limit: maxTokens }).flatMap((token): ReadonlyArray<Candidate> => {
    if (spans.some((span) => span.start <= token.start && token.start < span.end)) return []
    const { start, text } = token
    if (isDeclared(token)) return [{ text, start, shape: "declared", isKnown: isKnown(token) }]
    const shape = shapeOf(token.value)
    if (isKnown(token)) return [{ text, start, shape, isKnown: true }]
    const part = own(token, options)
    if (part === undefined) return []
    const parts = partsOf(part, options)
    return [
      {
        text,
        start,
        shape,
        isKnown:
          isKnown(part) || (parts.length > 0 && parts.every(isKnown)) || endsOf(part).some((ends) => ends.every(isEnd))
      }
    ]
  })
  return {
    candidates: [...spelled, ...foreign, ...tokens].sort((a, b) => a.start - b.start),
    isUnread: all.length > maxTokens
  }
}
