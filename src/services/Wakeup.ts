/**
 * A `Wakeup` tells those who wait for something new that it is there. It counts, so that nobody misses what came between
 * looking and waiting.
 *
 * @internal
 */
import * as Effect from "effect/Effect"

export interface Wakeup {
  count: number
  readonly waiting: Set<() => void>
}

export const make = (): Wakeup => ({ count: 0, waiting: new Set() })

export const notify = (wakeup: Wakeup): void => {
  wakeup.count++
  for (const wake of wakeup.waiting) wake()
}

/**
 * Returns as soon as the count is another than `seen`, or after `pollMs` milliseconds of the world's time: what it waits
 * for happens in other processes too, whatever clock this program is given.
 */
export const after = (wakeup: Wakeup, seen: number, pollMs?: number): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    if (wakeup.count !== seen) return resume(Effect.void)
    const stop = () => {
      wakeup.waiting.delete(wake)
      clearTimeout(timer)
    }
    const wake = () => {
      stop()
      resume(Effect.void)
    }
    const timer = pollMs === undefined ? undefined : setTimeout(wake, pollMs)
    wakeup.waiting.add(wake)
    return Effect.sync(stop)
  })

/** Lets the event loop turn: yielding alone does not, and a long read would keep everything else waiting. */
export const turn: Effect.Effect<void> = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

/** Waits in the world's time. */
export const pause = (ms: number): Effect.Effect<void> => after(make(), 0, ms)
