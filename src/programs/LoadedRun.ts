/**
 * A `LoadedRun` is a run as its record leaves it.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as Run from "../kernel/Run.ts"
import * as Waiting from "../kernel/Waiting.ts"
import * as Record from "../services/Record.ts"

/**
 * The state of a run on the record; when it started, and when whoever drove it wrote its last entry, in milliseconds since
 * the epoch. What persons decide is written while nobody may drive it.
 */
export const load = (runId: string) =>
  Effect.gen(function* () {
    const record = yield* Record.Record
    let startedAt: number | undefined
    let lastAt = 0
    let idleMs = 0
    let state = Run.initial
    yield* Stream.runForEachChunk(record.read(runId), (entries) =>
      Effect.sync(() => {
        for (const { at, event } of entries) {
          startedAt ??= at
          if (event._tag !== "ApprovalDecided" && event._tag !== "CallResolved") lastAt = at
          if (event._tag === "RunResumed") idleMs += event.idleMs
          state = Run.step(state, event)
        }
      })
    )
    return { state, startedAt: startedAt ?? 0, lastAt, idleMs }
  })

/**
 * The state of a run that is driven again, and the time from which it would have been driven if nothing had lain between:
 * where wall time is limited, what did is `resumed` and told on the record.
 */
export const resume = (runId: string, { wallTimeMs }: Event.Limits) =>
  Effect.gen(function* () {
    const { idleMs, lastAt, startedAt, state } = yield* load(runId)
    const gap = Math.max(0, (yield* Clock.currentTimeMillis) - lastAt)
    // A run that waits for a person is not driven by looking at it.
    const isOpen = state.started !== undefined && state.ended === undefined && !Waiting.isWaiting(state)
    const isIdle = wallTimeMs !== undefined && gap > 0 && isOpen
    const resumed: ReadonlyArray<Event.Event> = isIdle ? [{ _tag: "RunResumed", idleMs: gap }] : []
    return { state, drivenSince: startedAt + idleMs + (isIdle ? gap : 0), resumed }
  })

/** What the record of a run holds, in order. */
export const events = (runId: string): Effect.Effect<ReadonlyArray<Event.Event>, Record.RecordError, Record.Record> =>
  Effect.gen(function* () {
    const record = yield* Record.Record
    const entries = yield* Stream.runCollect(record.read(runId))
    return Chunk.toReadonlyArray(entries).map(({ event }) => event)
  })
