/**
 * A `LoadedRun` is a run as its record leaves it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Run from "../kernel/Run.ts"
import * as Record from "../services/Record.ts"

/** The state of a run on the record, and when it started, in milliseconds since the epoch. */
export const load = (runId: string) =>
  Effect.gen(function* () {
    const record = yield* Record.Record
    let startedAt: number | undefined
    let state = Run.initial
    yield* Stream.runForEachChunk(record.read(runId), (entries) =>
      Effect.sync(() => {
        for (const { at, event } of entries) {
          startedAt ??= at
          state = Run.step(state, event)
        }
      })
    )
    return { state, startedAt: startedAt ?? 0 }
  })
