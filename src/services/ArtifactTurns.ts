/**
 * `ArtifactTurns` let one effect at a time run for each key, within a process.
 *
 * @internal
 */
import * as Effect from "effect/Effect"

interface Turn {
  readonly semaphore: Effect.Semaphore
  waiting: number
}

/** Runs an effect when those before it, with the same key, have ended. A key that nobody waits for is forgotten. */
export const make = () => {
  const turns = new Map<string, Turn>()
  const take = (key: string) =>
    Effect.sync(() => {
      const turn = turns.get(key) ?? { semaphore: Effect.unsafeMakeSemaphore(1), waiting: 0 }
      turn.waiting++
      turns.set(key, turn)
      return turn
    })
  const give = (key: string) => (turn: Turn) =>
    Effect.sync(() => {
      turn.waiting--
      if (turn.waiting === 0) turns.delete(key)
    })
  return (key: string) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(take(key), ({ semaphore }) => semaphore.withPermits(1)(effect), give(key))
}
