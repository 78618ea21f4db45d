/**
 * A `Clock` is Effect's own; here are layers that put a deterministic one in its place, so that a run gives the same
 * record wherever and whenever it is run.
 *
 * Programs read the time with `Clock.currentTimeMillis` and `DateTime.now`. The tracer and the logger read it behind
 * their backs, with the `unsafe` methods: those never move the time, so that looking on changes nothing.
 *
 * Sleeping takes no time. Sleepers wake one by one in the order of their deadlines, each when all that could go on
 * without waiting has; the time is then their deadline. So a timeout loses against work that waits for nothing outside
 * the process, and wins against work that does: give real I/O a real clock.
 *
 * @since 0.1.0
 */
import * as EffectClock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A point in time: milliseconds since the epoch, or a `DateTime`. */
export type Instant = number | DateTime.DateTime

interface Sleeper {
  readonly deadline: number
  readonly wake: () => void
}

const toMillis = (instant: Instant): number =>
  DateTime.isDateTime(instant) ? DateTime.toEpochMillis(instant) : instant

/** A clock that shows `start`, and `step` milliseconds more after each reading; without a step it shows nothing else. */
const make = (start: number, step?: number): EffectClock.Clock => {
  // Sleepers have their order also where the time that is shown stands still.
  let now = start
  let sleepers: ReadonlyArray<Sleeper> = []
  let turning = false

  const look = (): number => (step === undefined ? start : now)

  const read = (): number => {
    const shown = look()
    now += step ?? 0
    return shown
  }

  const nanos = (millis: number): bigint => BigInt(Math.round(millis * 1_000)) * 1_000n

  /** Wakes the first sleeper once the event loop has nothing left that is ready. */
  const turn = (): void => {
    if (turning || sleepers.length === 0) return
    turning = true
    setImmediate(() => {
      turning = false
      const [first, ...rest] = sleepers
      if (first === undefined) return
      sleepers = rest
      now = Math.max(now, first.deadline)
      first.wake()
      turn()
    })
  }

  return {
    [EffectClock.ClockTypeId]: EffectClock.ClockTypeId,
    unsafeCurrentTimeMillis: look,
    unsafeCurrentTimeNanos: () => nanos(look()),
    currentTimeMillis: Effect.sync(read),
    currentTimeNanos: Effect.sync(() => nanos(read())),
    sleep: (duration) =>
      Effect.async((resume) => {
        // For ever stays for ever.
        if (!Duration.isFinite(duration)) return
        const sleeper = { deadline: now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        const at = sleepers.findIndex(({ deadline }) => deadline > sleeper.deadline)
        sleepers = at < 0 ? [...sleepers, sleeper] : [...sleepers.slice(0, at), sleeper, ...sleepers.slice(at)]
        turn()
        return Effect.sync(() => {
          sleepers = sleepers.filter((other) => other !== sleeper)
        })
      })
  }
}

/**
 * The time starts at `start` and goes on by `step` with each reading. A layer that is built again starts again.
 */
export const layerTicking = (options: {
  readonly start: Instant
  readonly step: Duration.DurationInput
}): Layer.Layer<never> =>
  Layer.suspend(() => Layer.setClock(make(toMillis(options.start), Duration.toMillis(options.step))))

/** It is always the same time, also for those who have slept. */
export const layerFixed = (instant: Instant): Layer.Layer<never> =>
  Layer.suspend(() => Layer.setClock(make(toMillis(instant))))
