/**
 * `RecordRuns` are the runs that a layer knows something of: how far each is verified, and who is in the middle of something
 * with it. Those that were not used for longest are forgotten.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as RecordError from "./RecordError.ts"

export interface Known {
  readonly runId: string
  /** Who is in the middle of something. */
  uses: number
  /** Why nothing can be appended any more. That is not forgotten. */
  broken?: RecordError.RecordError
}

export interface Runs<R extends Known> {
  readonly take: (runId: string) => Effect.Effect<R>
  /** What is known of a run, if anything is. */
  readonly get: (runId: string) => R | undefined
  readonly all: () => Iterable<R>
}

/** Of how many runs it is known how far they are verified. */
const max = 4_096

export const make = <R extends Known>(begin: (runId: string) => R, forgotten: (run: R) => void): Runs<R> => {
  const runs = new Map<string, R>()
  const forget = () => {
    for (const [runId, run] of runs) {
      if (run.uses > 0 || run.broken !== undefined) continue
      forgotten(run)
      runs.delete(runId)
      return
    }
  }
  return {
    take: (runId) =>
      Effect.sync(() => {
        const run = runs.get(runId) ?? begin(runId)
        runs.delete(runId)
        runs.set(runId, run)
        run.uses++
        if (runs.size > max) forget()
        return run
      }),
    get: (runId) => runs.get(runId),
    all: () => runs.values()
  }
}
