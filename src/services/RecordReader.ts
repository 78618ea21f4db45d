/**
 * A `RecordReader` goes through the entries of a run, a block at a time, and with `live` waits for those that come. The
 * layer says how the next block is read; each is verified before it is given.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as RecordChain from "./RecordChain.ts"
import * as RecordError from "./RecordError.ts"
import type * as RecordInput from "./RecordInput.ts"
import * as Wakeup from "./Wakeup.ts"

/** What a layer has read behind a cursor, up to the first damage. */
export interface Block<C> {
  readonly entries: ReadonlyArray<Event.Entry>
  readonly cursor: C
  /** Nothing more is there at present. */
  readonly ended: boolean
  readonly damage?: RecordChain.Damage
}

export interface Source<C> {
  readonly runId: string
  readonly start: C
  readonly next: (cursor: C) => Effect.Effect<Block<C>, RecordError.RecordError>
  readonly wakeup: Wakeup.Wakeup
  /** How long to wait before looking for what other processes have written, in milliseconds. */
  readonly pollMs: number
}

interface Reader<C> {
  readonly cursor: C
  readonly failed?: RecordError.RecordError
  readonly done: boolean
}

export const entries = <C extends { readonly position: RecordChain.Position }>(
  source: Source<C>,
  { from, to }: RecordInput.Range,
  live: boolean
): Stream.Stream<Event.Entry, RecordError.RecordError> => {
  const { pollMs, runId, start, wakeup } = source
  type Next = Effect.Effect<Option.Option<readonly [Chunk.Chunk<Event.Entry>, Reader<C>]>, RecordError.RecordError>
  const next = (reader: Reader<C>): Next =>
    Effect.suspend((): Next => {
      if (reader.failed !== undefined) return reader.failed
      if (reader.done) return Effect.succeedNone
      const seen = wakeup.count
      return Effect.flatMap(source.next(reader.cursor), (block): Next => {
        const { cursor, damage, ended } = block
        const last = live ? block.entries.findIndex(({ event }) => event._tag === "RunEnded") : -1
        const until = last < 0 ? to : Math.min(to, (block.entries[last]?.seq ?? 0) + 1)
        const kept = block.entries.filter(({ seq }) => seq >= from && seq < until)
        const over = cursor.position.seq >= until
        const failed = damage !== undefined && !over ? RecordChain.failure(runId, damage) : undefined
        if (ended && failed === undefined && cursor.position.seq === 0) return RecordError.notFound(runId)
        const then: Reader<C> = {
          cursor,
          done: over || (ended && !live),
          ...(failed === undefined ? {} : { failed })
        }
        if (kept.length > 0) return Effect.succeedSome([Chunk.unsafeFromArray(kept), then])
        const wait = live && ended && failed === undefined && !over
        return Effect.zipRight(wait ? Wakeup.after(wakeup, seen, pollMs) : Wakeup.turn, next(then))
      })
    })
  return Stream.unfoldChunkEffect({ cursor: start, done: false }, (reader: Reader<C>) =>
    reader.cursor === start || reader.done ? next(reader) : Effect.zipRight(Wakeup.turn, next(reader))
  )
}
