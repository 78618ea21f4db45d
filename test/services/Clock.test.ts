import { assert, describe, it } from "@effect/vitest"
import { Clock as EffectClock, DateTime, Duration, Effect, Fiber, Option, Ref, Schedule } from "effect"
import * as Clock from "../../src/services/Clock.ts"

const start = 1_700_000_000_000
const ticking = Clock.layerTicking({ start, step: 5 })

const now = EffectClock.currentTimeMillis

describe("Clock.layerTicking", () => {
  it.effect("shows its start first, and goes on by its step with each reading", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual([yield* now, yield* now, yield* now], [start, start + 5, start + 10])
      assert.strictEqual(DateTime.toEpochMillis(yield* DateTime.now), start + 15)
      assert.strictEqual(yield* EffectClock.currentTimeNanos, BigInt(start + 20) * 1_000_000n)
    }).pipe(Effect.provide(ticking))
  )

  it.effect("takes a point in time and a duration in any form", () =>
    Effect.gen(function* () {
      const times = Effect.all([now, now])
      const at = DateTime.unsafeMake("2026-01-01T00:00:00Z")
      const midnight = DateTime.toEpochMillis(at)
      assert.deepStrictEqual(yield* Effect.provide(times, Clock.layerTicking({ start: at, step: "1 minute" })), [
        midnight,
        midnight + 60_000
      ])
      const zoned = DateTime.unsafeSetZoneNamed(at, "Europe/Berlin")
      assert.strictEqual(
        yield* Effect.provide(now, Clock.layerTicking({ start: zoned, step: Duration.zero })),
        midnight
      )
    })
  )

  it.effect("starts again each time that it is built", () =>
    Effect.gen(function* () {
      yield* Effect.provide(now, ticking)
      assert.strictEqual(yield* Effect.provide(now, ticking), start)
    })
  )

  it.effect("is not moved by spans and logs", () =>
    Effect.gen(function* () {
      yield* Effect.log("looking on").pipe(Effect.withSpan("watched"))
      assert.strictEqual(yield* now, start)
    }).pipe(Effect.provide(ticking))
  )

  it.live("sleeps without waiting, to the very deadline", () =>
    Effect.gen(function* () {
      yield* Effect.sleep("3 days")
      assert.strictEqual(yield* now, start + 259_200_000)
    }).pipe(Effect.provide(ticking))
  )

  it.live("wakes sleepers in the order of their deadlines, however they were started", () =>
    Effect.gen(function* () {
      const woken = yield* Ref.make<ReadonlyArray<string>>([])
      const sleeper = (name: string, duration: Duration.DurationInput) =>
        Effect.zipRight(
          Effect.sleep(duration),
          Ref.update(woken, (names) => [...names, name])
        )
      yield* Effect.all(
        [
          sleeper("hour", "1 hour"),
          sleeper("second", "1 second"),
          Effect.zipRight(sleeper("minute", "1 minute"), sleeper("2 minutes", "1 minute")),
          sleeper("another second", "1 second"),
          sleeper("none", 0)
        ],
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(yield* Ref.get(woken), ["none", "second", "another second", "minute", "2 minutes", "hour"])
    }).pipe(Effect.provide(ticking))
  )

  it.live("a timeout loses against work that waits for nothing, and wins against work that never ends", () =>
    Effect.gen(function* () {
      const promised = Effect.promise(() => Promise.resolve(1).then((n) => n + 1))
      assert.deepStrictEqual(yield* Effect.timeoutOption(promised, "1 millis"), Option.some(2))
      const sleeping = Effect.as(Effect.sleep("2 seconds"), "slept")
      assert.deepStrictEqual(yield* Effect.timeoutOption(sleeping, "3 seconds"), Option.some("slept"))
      assert.deepStrictEqual(yield* Effect.timeoutOption(sleeping, "1 second"), Option.none())
      assert.deepStrictEqual(yield* Effect.timeoutOption(Effect.never, "1 hour"), Option.none())
      assert.deepStrictEqual(yield* Effect.timeoutOption(Effect.sleep(Duration.infinity), "1 hour"), Option.none())
    }).pipe(Effect.provide(ticking))
  )

  it.live("retries by schedule at once, and the time shows the waits", () =>
    Effect.gen(function* () {
      const tries = yield* Ref.make(0)
      const failing = Effect.zipRight(
        Ref.update(tries, (n) => n + 1),
        Effect.fail("down")
      )
      const schedule = Schedule.exponential("1 second").pipe(Schedule.intersect(Schedule.recurs(4)))
      yield* Effect.flip(Effect.retry(failing, schedule))
      assert.strictEqual(yield* Ref.get(tries), 5)
      assert.isAtLeast(yield* now, start + 15_000)
    }).pipe(Effect.provide(ticking))
  )

  it.live("forgets a sleeper that was interrupted", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.fork(Effect.sleep("1 hour"))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      yield* Effect.sleep("2 hours")
      assert.strictEqual(yield* now, start + 7_200_000)
    }).pipe(Effect.provide(ticking))
  )

  it.live("gives the same times in the same order, run after run", () =>
    Effect.gen(function* () {
      const story = Effect.gen(function* () {
        const seen: Array<string> = []
        const actor = (name: string, rest: number) =>
          Effect.forEach([1, 2, 3], () =>
            Effect.zipRight(
              Effect.sleep(rest),
              Effect.map(now, (at) => seen.push(`${name} ${at}`))
            )
          )
        yield* Effect.all([actor("a", 30), actor("b", 20), actor("c", 50)], { concurrency: "unbounded" })
        return seen
      })
      const first = yield* Effect.provide(story, ticking)
      for (let n = 0; n < 5; n++) assert.deepStrictEqual(yield* Effect.provide(story, ticking), first)
    })
  )
})

describe("Clock.layerFixed", () => {
  it.live("shows one time for ever, and still lets sleepers wake in order", () =>
    Effect.gen(function* () {
      const woken: Array<number> = []
      const sleeper = (seconds: number) =>
        Effect.zipRight(
          Effect.sleep(Duration.seconds(seconds)),
          Effect.sync(() => woken.push(seconds))
        )
      yield* Effect.all([sleeper(3), sleeper(1), sleeper(2)], { concurrency: "unbounded" })
      assert.deepStrictEqual(woken, [1, 2, 3])
      assert.deepStrictEqual([yield* now, yield* now], [start, start])
      assert.strictEqual(yield* EffectClock.currentTimeNanos, BigInt(start) * 1_000_000n)
    }).pipe(Effect.provide(Clock.layerFixed(start)))
  )
})
