/**
 * A `RecordInput` is what callers hand to a record, checked before anything is done with it, the same for every layer.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Event from "../kernel/Event.ts"
import * as EventText from "./EventText.ts"
import * as RecordChain from "./RecordChain.ts"
import * as RecordError from "./RecordError.ts"

const isSeq = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** The run id, if it can be one. */
const runId = (runId: string): RecordError.RecordError | undefined =>
  typeof runId === "string" && RecordError.runIdGrammar.test(runId) ? undefined : RecordError.invalidRunId(runId)

export interface Range {
  readonly from: number
  readonly to: number
}

/** Which entries a read asks for. */
export const range = (
  id: string,
  options: { readonly from?: number; readonly to?: number } | undefined
): Either.Either<Range, RecordError.RecordError> => {
  const invalid = runId(id)
  if (invalid !== undefined) return Either.left(invalid)
  const from = options?.from ?? 0
  const to = options?.to
  for (const [name, value] of [
    ["from", from],
    ["to", to ?? 0]
  ] as const) {
    if (!isSeq(value)) return Either.left(RecordError.invalidOption(name, "a sequence number", value))
  }
  return Either.right({ from, to: to ?? Infinity })
}

const invalid = (id: string, what: string, where: string, expected: string, found: string) =>
  Either.left(RecordError.failure("InvalidInput", { what, where, expected, found, runId: id }))

/** How many bytes the events of an append may have: what is left of a line. */
const maxEvents = RecordChain.maxLine - 1_024

/** At most three bytes a UTF-16 unit: what is short is not counted. */
const isTooLarge = (texts: ReadonlyArray<string>): boolean => {
  const units = texts.reduce((sum, text) => sum + text.length + 1, 0)
  return units * 3 > maxEvents && texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0) > maxEvents
}

/** The events of an append as they will be stored. `started` is there iff the append begins the run. */
export interface Draft {
  readonly texts: ReadonlyArray<string>
  readonly started?: Event.RunStarted
  /** The first terminal event among them, by its index. */
  readonly ended?: { readonly index: number; readonly status: Event.Status }
}

/** What is appended, or why it cannot be. */
export const append = (
  id: string,
  expectedSeq: number,
  events: ReadonlyArray<Event.Event>
): Either.Either<Draft, RecordError.RecordError> => {
  const noRun = runId(id)
  if (noRun !== undefined) return Either.left(noRun)
  if (!isSeq(expectedSeq)) {
    return Either.left(RecordError.invalidOption("expectedSeq", "a sequence number", expectedSeq))
  }
  const texts: Array<string> = []
  let ended: Draft["ended"]
  for (const [index, event] of events.entries()) {
    const text = EventText.of(event)
    if (Either.isLeft(text)) {
      const { expected, found, path } = text.left
      return invalid(
        id,
        "An event holds a value that the record cannot keep.",
        `events[${index}]${path}`,
        expected,
        found
      )
    }
    texts.push(text.right)
    if (event._tag === "RunEnded") ended ??= { index, status: event.status }
  }
  const first = events[0]
  if (first === undefined) return invalid(id, "There is nothing to append.", "events", "at least one event", "none")
  const started = first._tag === "RunStarted" && first.runId === id ? first : undefined
  if (expectedSeq === 0 && started === undefined) {
    return invalid(id, "A run begins with its start.", "events[0]", "a RunStarted of this run", "another event")
  }
  if (isTooLarge(texts)) {
    return Either.left(
      RecordError.failure("TooLarge", {
        what: "The events of one append are too large.",
        where: "events",
        expected: `at most ${maxEvents} bytes of JSON`,
        found: "more",
        runId: id
      })
    )
  }
  return Either.right({
    texts,
    ...(expectedSeq === 0 && started !== undefined ? { started } : {}),
    ...(ended === undefined ? {} : { ended })
  })
}

/** The time of an append, in whole milliseconds since the epoch. */
export const now: Effect.Effect<number> = Effect.map(Clock.currentTimeMillis, (ms) => Math.max(0, Math.trunc(ms)))
