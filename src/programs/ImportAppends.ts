/**
 * `ImportAppends` are the events of an imported run as they are written: in as many appends as the run would have taken,
 * so that a chain of one hash an append tells where it is damaged. What an earlier import left unfinished is completed.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Record from "../services/Record.ts"
import * as EventText from "../services/EventText.ts"
import * as RecordInput from "../services/RecordInput.ts"
import * as AppendSize from "./AppendSize.ts"

/** What became of the events: all are new, the last were missing, or all were there. */
export type Appended = "new" | "completed" | "there"

/** Whether an event belongs to what follows from a reply, rather than to what leads to the next. */
const follows = ({ _tag }: Event.Event): boolean =>
  _tag === "ToolCalled" || _tag === "ToolSettled" || _tag === "Answered" || _tag === "RunEnded"

/**
 * The run's start with what it declares, then each reply with what was said before it and what settles it. No append is
 * larger than a line of the record can be, if no event is.
 */
const of = (events: ReadonlyArray<Event.Event>): ReadonlyArray<ReadonlyArray<Event.Event>> => {
  const appends: Array<Array<Event.Event>> = []
  let open = 0
  let isReplied = false
  let isStart = true
  let chars = 0
  for (const event of events) {
    const begins = isReplied
      ? open === 0 && !follows(event)
      : isStart && /^(PiecesSelected|ModelCalled)$/.test(event._tag)
    const more = JSON.stringify(event).length
    const last = appends.at(-1)
    if (last === undefined || begins || chars + more > AppendSize.maxAppendChars) {
      appends.push([event])
      chars = more
    } else {
      last.push(event)
      chars += more
    }
    if (begins) {
      isReplied = false
      isStart = false
    }
    if (event._tag === "ToolSettled") open -= 1
    if (event._tag !== "ModelReplied") continue
    open = event.toolCalls.length
    isReplied = true
  }
  return appends
}

/** An event as it is compared: the agent of an imported run is the name of a file, and no part of the trace. */
const textOf = (event: Event.Event): Either.Either<string, unknown> =>
  EventText.of(event._tag === "RunStarted" ? { ...event, agent: "" } : event)

const isSame = (left: Event.Event, right: Event.Event | undefined): boolean =>
  right !== undefined && Either.getOrNull(textOf(left)) === Either.getOrNull(textOf(right))

/** What is left of the appends after so many events. */
const after = (appends: ReadonlyArray<ReadonlyArray<Event.Event>>, count: number) => {
  let from = 0
  return appends.flatMap((append) => {
    const rest = append.slice(Math.max(0, count - from))
    from += append.length
    return rest.length === 0 ? [] : [{ from: from - rest.length, events: rest }]
  })
}

const another = (conflict: Record.RecordConflict): Record.RecordConflict =>
  new Record.RecordConflict({
    ...conflict,
    what: `The record holds another run as ${Printable.quote(conflict.runId)}.`,
    expected: "no run, or the first events of this one",
    found: "other events",
    next: "Import the trace under another run id, or into another directory."
  })

/** Writes the events under the run id of their start. */
export const write = (
  events: ReadonlyArray<Event.Event>
): Effect.Effect<Appended, Record.RecordError | Record.RecordConflict, Record.Record> =>
  Effect.gen(function* () {
    const record = yield* Record.Record
    const [start] = events
    const runId = start?._tag === "RunStarted" ? start.runId : ""
    const appends = of(events)
    // Nothing is written of what cannot be written to its end.
    for (const { events, from } of after(appends, 0)) yield* RecordInput.append(runId, from, events)

    /** How many of the events the record has, if it has no others. */
    const kept = (conflict: Record.RecordConflict) =>
      Effect.flatMap(Stream.runCollect(record.read(runId)), (entries) => {
        const all = Array.from(entries)
        const same = all.every(({ event }, index) => isSame(event, events[index]))
        return same ? Effect.succeed(all.length) : Effect.fail(another(conflict))
      })

    let written = 0
    let found = 0
    // Each turn starts after more events than the one before: another import of the trace may go on at the same time.
    while (written < events.length) {
      const at = written
      const conflict = yield* Effect.forEach(
        after(appends, at),
        ({ events, from }) =>
          Effect.tap(record.append(runId, from, events), () => {
            written = from + events.length
          }),
        { discard: true }
      ).pipe(
        Effect.as(undefined),
        Effect.catchTag("RecordConflict", (conflict) => Effect.succeed(conflict))
      )
      if (conflict === undefined) break
      const count = yield* kept(conflict)
      if (count <= written) return yield* conflict
      written = count
      found = Math.max(found, count)
    }
    return found === 0 ? "new" : found === events.length ? "there" : "completed"
  })
