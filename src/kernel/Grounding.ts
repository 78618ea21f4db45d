/**
 * A `Grounding` is the verdict on the names and numbers of an answer: which of them stand in no result of the run, and in
 * nothing that the person or the application said. It is membership in a set, and never a model call.
 *
 * It finds values without a source. It does not judge a sentence whose values are all genuine, names without a digit, or
 * numbers of fewer than four digits.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as CallOutcome from "./CallOutcome.ts"
import * as Candidate from "./Candidate.ts"
import * as Corpus from "./Corpus.ts"
import * as Coverage from "./Coverage.ts"
import * as Event from "./Event.ts"
import * as GroundingEvent from "./GroundingEvent.ts"
import * as Json from "./Json.ts"
import type * as Message from "./Message.ts"
import * as Printable from "./Printable.ts"
import * as Sources from "./Sources.ts"
import * as State from "./State.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

export { Action, Posture, Shape, Unsupported } from "./GroundingEvent.ts"

/**
 * `candidates` counts the distinct values that needed a source. Of those that have none the first 12 are told; `more`
 * counts the others. `truncated`: not all sources, or not all of the answer, could be read. It is the answer if `unread`
 * says so; else the sources were cut short, and a value may have one after all.
 */
export const Verdict = Schema.Struct({
  unsupported: Schema.Array(GroundingEvent.Unsupported),
  more: optional(Schema.Positive.pipe(Schema.int())),
  candidates: Schema.NonNegativeInt,
  truncated: Schema.Boolean,
  unread: optional(Schema.Literal(true))
})
export type Verdict = typeof Verdict.Type

/**
 * `shapes` name values that need a source whatever they look like, `exempt` values that need none; both are matched
 * against the whole of a value. A bare number of fewer than `minDigits` (4) digits needs no source.
 */
export interface Options {
  readonly exempt?: ReadonlyArray<RegExp>
  readonly shapes?: ReadonlyArray<RegExp>
  readonly minDigits?: number
}

/**
 * `evidence` are the results of the run, as JSON values, and `repeating` those that repeat what the model wrote; `exempt`
 * are texts of the person and of the application.
 */
export interface Question extends Partial<Sourced> {
  readonly answer: string
  readonly evidence: ReadonlyArray<unknown>
  readonly options?: Options
}

/** Of the evidence, and of the exempt texts, this many tokens are read. */
const maxEvidence = 200_000
const shown = 12
const longest = 64

/**
 * Which values of an answer stand neither in the evidence nor in the exempt texts. Total. A value has a source if one of
 * its spellings has (`Value.keys`), and by these shapes:
 *
 * - A day, in digits or with the name of its month, in any order; of a day without a year, its year may be told elsewhere.
 *   A timestamp is a day and a time of day, and a source of both. A source of a day is one of its month and year, and so is
 *   `2024-05`.
 * - A time of day on the full hour, of `11am`; without its seconds; and with `Z`, `UTC` or `GMT`.
 * - A number that is a sourced one rounded to the decimals written, or, after "about" and its like, to two digits or more:
 *   after "over" not of a smaller one, after "under" and "nearly" not of a larger one. Its sign is that of the source; one
 *   without a sign is below zero only by a word beside it, as "a loss of".
 * - A number in `%`, or in a unit of time, length, mass, data or money, of a sourced number in another unit of that kind, if
 *   the source says its unit: beside the number, or as the name of its field or right before it (`durationMs`, `price`,
 *   `took 5`). A quantity, as `price`, leaves the unit open. A fraction is a source of its `%`, and `%` one of the fraction.
 * - `1.6 million`, `$100K`, `1.5e6`, `1.234.567`, `12.345,67` and `USD1,234` are the number in full; in sources also
 *   `1 234 567` and `1'234'567`.
 * - What stands between `/`, `:`, `#` and `@` in a sourced value, a number of four digits between `_` and `-`, and the
 *   name in a host, as `shop24` of `shop24.com`. `Order#4711`, `ID:X4711` and `v1.2.3` are known by what they name.
 * - Two values with `/` or `-` between them, as `101-105`, `$5-$10`, `120/80` and `May 21-24, 2024`, if each of the two has a
 *   source, however few its digits; numbers of up to three digits with `-` only if they rise.
 *
 * Sums and differences have none. What `repeating` results repeat of their `args`, in any spelling, has no source in them.
 * An answer that is JSON is read as such. Of an answer 20,000 tokens are read; if there are more it is `truncated` and
 * `unread`, and `action` takes the rest for a value without a source.
 */
export const judge = ({ answer, evidence, exempt = [], options = {}, repeating = [] }: Question): Verdict => {
  const sources = [
    ...evidence.map((value) => ({ value })),
    ...repeating.map(({ args, result }) => ({ value: result, echoed: Corpus.make([{ value: args }], [], maxEvidence) }))
  ]
  const corpus = Corpus.make(sources, exempt, maxEvidence)
  const { candidates, isUnread } = Candidate.of(answer, corpus, options)
  const unsupported = candidates.filter(({ isKnown }) => !isKnown)
  return {
    unsupported: unsupported
      .slice(0, shown)
      .map(({ shape, text }) => ({ value: Printable.clip(text, longest), shape })),
    ...(unsupported.length > shown ? { more: unsupported.length - shown } : {}),
    candidates: candidates.length,
    truncated: corpus.truncated || isUnread,
    ...(isUnread ? { unread: true } : {})
  }
}

/** A result, and those arguments of its call that it repeats: in no spelling and in no part is it a source of them. */
export interface Repeating {
  readonly result: unknown
  readonly args: unknown
}

/** What the record of a run can ground an answer with, and what it exempts. */
export interface Sourced {
  readonly evidence: ReadonlyArray<unknown>
  readonly repeating?: ReadonlyArray<Repeating>
  readonly exempt: ReadonlyArray<string>
}

/** `echoes` names the arguments of a tool that its result repeats: their values do not ground. */
export interface CorpusOptions {
  readonly echoes?: (toolName: string) => ReadonlyArray<string>
}

const payloadOf = (served: string): unknown => Either.getOrElse(Json.parse(served, Sources.limits), () => served)

/** A result of a call, with the arguments that the model wrote, and the names of those that the result repeats. */
export interface Result {
  readonly outcome: Message.Settlement
  readonly served: string
  readonly args?: unknown
  readonly echoes?: ReadonlyArray<string>
}

/**
 * What the result of a call grounds: all of it, or of an absence its lists. Whether it is an absence the outcome says: a
 * text that only looks like one is data.
 */
const grounds = ({ outcome, served }: Result): ReadonlyArray<unknown> => {
  if (!CallOutcome.succeeded(outcome)) return []
  const value = payloadOf(served)
  if (outcome !== "absent") return [value]
  const read = Coverage.read(value)
  return read.outcome === undefined ? [] : read.grounds
}

const repeated = ({ args, echoes = [] }: Result): ReadonlyArray<readonly [string, unknown]> =>
  Object.entries(typeof args === "object" && args !== null ? args : {}).filter(([name]) => echoes.includes(name))

/** The evidence in results, each without what it repeats of the arguments of its call. */
export const evidence = (results: ReadonlyArray<Result>): Omit<Sourced, "exempt"> => {
  const found: Array<unknown> = []
  const repeating: Array<Repeating> = []
  for (const result of results) {
    const args = repeated(result)
    for (const value of grounds(result)) {
      if (args.length === 0) found.push(value)
      else repeating.push({ result: value, args: Object.fromEntries(args) })
    }
  }
  return { evidence: found, ...(repeating.length === 0 ? {} : { repeating }) }
}

/**
 * What grounds and what exempts in a run, from its record and never from what is on the wire. Results of calls that ran
 * and returned ground; the person's words and the application's pieces exempt. Nothing else does either: no refusal, no
 * error, no argument, no earlier answer, no reminder or notice of the runtime's, no tool's definition.
 */
export const corpus = (events: Iterable<Event.Event>, options: CorpusOptions = {}): Sourced => {
  const results: Array<Result> = []
  const exempt: Array<string> = []
  const args = new Map<string, unknown>()
  let carried: ReadonlyArray<Message.ToolCall> = []
  let started: Event.RunStarted | undefined
  for (const event of events) {
    switch (event._tag) {
      case "RunStarted":
        started = event
        exempt.push(event.input)
        break
      case "MessageReceived":
        exempt.push(event.content)
        break
      case "MessageCarried": {
        const { message, origin } = event
        if (message.role === "assistant") carried = message.toolCalls
        if (message.role === "user" && (origin === undefined || Event.isAuthor(origin))) exempt.push(message.content)
        if (message.role === "tool" && origin === undefined && !State.isOurs(started, message.toolName)) {
          const { content, outcome, toolCallId, toolName } = message
          const call = carried.find((one) => one.toolCallId === toolCallId)
          const called = call === undefined ? undefined : payloadOf(call.args)
          results.push({ outcome, served: content, args: called, echoes: options.echoes?.(toolName) ?? [] })
        }
        break
      }
      case "PieceDeclared":
        if (Event.isAuthor(event.origin)) exempt.push(event.text)
        break
      case "ToolCalled":
        args.set(JSON.stringify([event.iteration, event.toolCallId]), event.args)
        break
      case "ToolSettled": {
        const { iteration, outcome, served, toolCallId, toolName } = event
        if (State.isOurs(started, toolName)) break
        const called = args.get(JSON.stringify([iteration, toolCallId]))
        results.push({ outcome, served, args: called, echoes: options.echoes?.(toolName) ?? [] })
      }
    }
  }
  return { ...evidence(results), exempt: exempt.filter((text) => text !== "") }
}

/**
 * What follows from a verdict. `revised`: the one revision of the run was asked for before, and `limited`: no limit leaves
 * room for it. What of an answer is unread counts as a value without a source: it is never grounded, is asked to be shorter,
 * and on rails is withheld. Where sources could not be read to their end, every posture only records.
 */
export const action = ({
  limited,
  posture,
  revised,
  verdict
}: {
  readonly posture: GroundingEvent.Posture
  readonly verdict: Verdict
  readonly revised: boolean
  readonly limited: boolean
}): GroundingEvent.Action => {
  const isUnread = verdict.unread === true
  if (verdict.unsupported.length === 0 && !isUnread) return "grounded"
  if (posture === "assist" || (verdict.truncated && !isUnread)) return "flagged"
  if (!revised && !limited) return "revision-asked"
  return posture === "rails" ? "refused" : "flagged"
}
