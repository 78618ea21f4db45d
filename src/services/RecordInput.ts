/**
 * A `RecordInput` is what callers hand to a record, checked before anything is done with it, the same for every layer.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Event from "../kernel/Event.ts"
import * as EventText from "./EventText.ts"
import * as RecordError from "./RecordError.ts"

const isSeq = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** The run id, if it can be one. */
export const runId = (runId: string): RecordError.RecordError | undefined =>
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
  for (const [name, value] of [["from", from], ["to", to ?? 0]] as const) {
    if (!isSeq(value)) return Either.left(RecordError.invalidOption(name, "a sequence number", value))
  }
  return Either.right({ from, to: to ?? Infinity })
}

const invalid = (id: string, what: string, where: string, expected: string, found: string) =>
  Either.left(RecordError.failure("InvalidInput", { what, where, expected, found, runId: id }))

/** The texts of the events of an append. */
export const append = (
  id: string,
  expectedSeq: number,
  events: ReadonlyArray<Event.Event>
): Either.Either<ReadonlyArray<string>, RecordError.RecordError> => {
  const noRun = runId(id)
  if (noRun !== undefined) return Either.left(noRun)
  if (!isSeq(expectedSeq)) {
    return Either.left(RecordError.invalidOption("expectedSeq", "a sequence number", expectedSeq))
  }
  if (events.length === 0) return invalid(id, "There is nothing to append.", "events", "at least one event", "none")
  const texts: Array<string> = []
  for (const [index, event] of events.entries()) {
    const text = EventText.of(event)
    if (Either.isLeft(text)) {
      const { expected, found, path } = text.left
      return invalid(id, "An event holds a value that the record cannot keep.", `events[${index}]${path}`, expected, found)
    }
    texts.push(text.right)
  }
  const first = events[0]
  if (expectedSeq === 0 && (first?._tag !== "RunStarted" || first.runId !== id)) {
    return invalid(id, "A run begins with its start.", "events[0]", "a RunStarted of this run", "another event")
  }
  return Either.right(texts)
}
