import { Effect, Layer } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Record from "../../src/services/Record.ts"

export interface Options {
  /** The append at which the process dies, counted from 1. */
  readonly at: number
  /** Whether what is appended then is on the record, all of it, or its first events only as of a record of single lines. */
  readonly kept: "nothing" | "all" | number
}

/**
 * The record of a process that dies at one of its appends: the effect ends with a defect, as nothing else of the process
 * goes on. What the record kept is read by those who come after.
 */
export const layer = ({ at, kept }: Options): Layer.Layer<Record.Record, never, Record.Record> =>
  Layer.effect(
    Record.Record,
    Effect.map(Record.Record, (record) => {
      let appends = 0
      const part = (events: ReadonlyArray<Event.Event>) =>
        kept === "nothing" ? [] : kept === "all" ? events : events.slice(0, kept)
      return Record.Record.of({
        ...record,
        append: (runId, expectedSeq, events) =>
          Effect.suspend(() => {
            appends += 1
            if (appends < at) return record.append(runId, expectedSeq, events)
            const last = part(events)
            const written = appends > at || last.length === 0 ? Effect.void : record.append(runId, expectedSeq, last)
            return Effect.zipRight(written, Effect.die("the process died"))
          })
      })
    })
  )
