/**
 * A `Candidate` is a value of an answer that needs a source, and whether it has one.
 *
 * @internal
 */
import * as Corpus from "./Corpus.ts"
import type * as GroundingEvent from "./GroundingEvent.ts"
import * as Derived from "./Derived.ts"
import * as Moment from "./Moment.ts"
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

const clock = /^\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?)?$/

const shapeOf = (value: string): Shape => {
  if (/^-?\d+(?:\.\d+)?$/.test(value)) return "number"
  if (clock.test(value)) return "time"
  return Moment.stamped(value) !== undefined || Moment.readings(value).length > 0 ? "date" : "identifier"
}

/** The parts of a value that is two in one, as `10:00-12:30`, if each of them needs a source of its own. */
const partsOf = (text: string, options: Value.Options): ReadonlyArray<Value.Token> => {
  const parts = text.split(/[/-]/).filter((part) => part !== "")
  const found = parts.flatMap((part) => Value.extract(part, options).filter((token) => token.text === part))
  return found.length === parts.length && parts.length > 1 ? found : []
}

/** A number of few digits with a word, as `24-hour`, or the number of a day alone, as `20th`. */
const counted = /^(?:\d{1,3}(?:-[a-z]{3,})+|\d{1,2}(?:st|nd|rd|th))$/
/** A word and what it names, as `Reservation:JG7FMM`. */
const label = /^[A-Za-z]{3,}:(?=[A-Za-z\d])/
/** A sentence that starts right after the one before, as `line 1475.To` or `steps.2`. */
const glued = /(?:(?<=[A-Za-z]{3})[.:]\d{1,2}|\.[A-Z][a-z]*)$/
/** What stands for the digits that are not shown. */
const mask = /^[.\-_]+(?=\d)/

/** What of a token is a value: all of it, or what is left when it is taken apart; nothing, if that is prose. */
const own = (token: Value.Token, options: Value.Options): Value.Token | undefined => {
  if (counted.test(token.text)) return undefined
  const bare = [label, glued, mask].reduce((text, part) => text.replace(part, ""), token.text)
  return bare === token.text ? token : Value.extract(bare, options)[0]
}

/** `isUnread`: the answer goes on beyond what is read. */
export interface Candidates {
  readonly candidates: ReadonlyArray<Candidate>
  readonly isUnread: boolean
}

/** The values of an answer that need a source, in order: days that are spelled out, and what `Value.extract` finds. */
export const of = (answer: string, corpus: Corpus.Corpus, options: Value.Options): Candidates => {
  const isExempt = Value.matcher(options.exempt ?? [])
  const isDeclared = Value.matcher(options.shapes ?? [])
  const readable = Sources.readable(answer)
  const all = Value.tokens(readable, { limit: maxTokens + 1 })
  const last = all[maxTokens - 1]
  const read = last === undefined ? readable : readable.slice(0, last.end)
  const days = Moment.find(read)
  const spelled = days.flatMap((day): ReadonlyArray<Candidate> => {
    const text = read.slice(day.start, day.end)
    if (isExempt({ text, value: Value.normalise(text) })) return []
    return [{ text, start: day.start, shape: "date", isKnown: Moment.isKnown(corpus.days, day) }]
  })
  const isKnown = ({ end, start, text, value }: Value.Token): boolean => {
    if (Corpus.has(corpus, text, value)) return true
    const said = { text, before: read.slice(Math.max(0, start - 24), start), after: read.slice(end, end + 12) }
    return shapeOf(value) === "number" && Derived.isKnown(corpus.numbers, said, value)
  }
  const tokens = Value.extract(read, { ...options, limit: maxTokens }).flatMap((token): ReadonlyArray<Candidate> => {
    if (days.some((day) => day.start <= token.start && token.start < day.end)) return []
    const { start, text } = token
    if (isDeclared(token)) return [{ text, start, shape: "declared", isKnown: isKnown(token) }]
    const shape = shapeOf(token.value)
    if (isKnown(token)) return [{ text, start, shape, isKnown: true }]
    const part = own(token, options)
    if (part === undefined) return []
    const parts = partsOf(part.text, options)
    return [{ text, start, shape, isKnown: isKnown(part) || (parts.length > 0 && parts.every(isKnown)) }]
  })
  return {
    candidates: [...spelled, ...tokens].sort((a, b) => a.start - b.start),
    isUnread: all.length > maxTokens
  }
}
