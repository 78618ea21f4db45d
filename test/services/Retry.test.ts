import { assert, describe, it } from "@effect/vitest"
import { Chunk, Deferred, Duration, Effect, Exit, Fiber, Layer, Redacted, Schedule, Stream, TestClock } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as AiSdkLLM from "../../src/services/AiSdkLLM.ts"
import type * as AiSdkModel from "../../src/services/AiSdkModel.ts"
import * as LLM from "../../src/services/LLM.ts"
import { wire } from "../../src/services/LLMSuite.ts"
import * as Record from "../../src/services/Record.ts"
import * as Dialects from "./Dialects.ts"
import { type Handler, serve } from "./ModelServer.ts"
import * as Shop from "../programs/Shop.ts"
import { services, toolkit } from "./Zones.ts"

const collected = (layer: Layer.Layer<LLM.LLM | LLM.Script>, policy?: LLM.RetryPolicy) => {
  const parts: Array<LLM.Part> = []
  const reply = Effect.flatMap(LLM.LLM, ({ stream }) =>
    LLM.collect(policy === undefined ? stream(wire) : LLM.retrying(stream(wire), policy), (chunk) =>
      Effect.sync(() => parts.push(...chunk))
    )
  )
  return { parts, reply: Effect.provide(reply, layer) }
}

const often = Schedule.recurs(5)

const retries = (parts: ReadonlyArray<LLM.Part>) =>
  parts.flatMap((part) => (part._tag === "Retried" ? [[part.error.reason, part.delayMs]] : []))

/** Runs an effect while the clock goes on by steps of a second. */
const ticking = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(effect)
    yield* Effect.repeat(TestClock.adjust("1 second"), { until: () => fiber.unsafePoll() !== null })
    return yield* Fiber.join(fiber)
  })

describe("LLM.retrying", () => {
  it.effect("makes a call again as long as the policy says, and lets go of what came before", () =>
    Effect.gen(function* () {
      const { parts, reply } = collected(
        LLM.layerScripted([
          LLM.fail("Unavailable"),
          LLM.fail("StreamBroken", { after: 2, deltas: ["half ", "a", " word"] }),
          LLM.say("Whole.", { usage: { inputTokens: 1 } })
        ]),
        often
      )
      assert.deepInclude(yield* reply, { content: "Whole.", usage: { inputTokens: 1 } })
      const told = parts.filter(({ _tag }) => _tag === "Retried")
      assert.deepInclude(told[0], { delayMs: 0 })
      assert.notProperty(told[0], "partialChars")
      assert.deepInclude(told[1], { delayMs: 0, partialChars: 6 })
      // The part that tells of a failure comes before anything of the next attempt.
      assert.deepStrictEqual(
        parts.map(({ _tag }) => _tag),
        ["Retried", "Text", "Text", "Retried", "Text", "Finish"]
      )
    })
  )

  it.effect("fails with the last failure when the policy has had enough, and begins anew with each call", () =>
    Effect.gen(function* () {
      const layer = LLM.layerScripted((_, index) => LLM.fail("Unavailable", { what: `No ${index}.` }))
      const { reply } = collected(layer, Schedule.recurs(2))
      assert.strictEqual((yield* Effect.flip(reply)).what, "No 2.")
      const twice = Effect.gen(function* () {
        const { stream } = yield* LLM.LLM
        const parts = LLM.retrying(stream(wire), Schedule.recurs(2))
        return [yield* Effect.flip(LLM.collect(parts)), yield* Effect.flip(LLM.collect(parts))].map(({ what }) => what)
      })
      assert.deepStrictEqual(yield* Effect.provide(twice, layer), ["No 2.", "No 5."])
    })
  )

  it.effect("never makes a call again that would fail again", () =>
    Effect.gen(function* () {
      for (const reason of ["Auth", "Rejected", "Misconfigured", "Unscripted"] as const) {
        const { parts, reply } = collected(LLM.layerScripted([LLM.fail(reason), LLM.say("late")]), often)
        assert.strictEqual((yield* Effect.flip(reply)).reason, reason)
        assert.deepStrictEqual(parts, [])
      }
      const spent = LLM.fail("Limited", { retry: "after-human" })
      const { reply } = collected(LLM.layerScripted([spent, LLM.say("late")]), often)
      assert.strictEqual((yield* Effect.flip(reply)).retry, "after-human")
    })
  )

  it.effect("waits as the policy says, and no less than the provider asks for", () =>
    Effect.gen(function* () {
      const layer = LLM.layerScripted([
        LLM.fail("Limited", { retry: { afterMs: 7_000 } }),
        LLM.fail("Limited", { retry: { afterMs: 1_000 } }),
        LLM.fail("Unavailable"),
        LLM.say("Yes.")
      ])
      const { parts, reply } = collected(layer, Schedule.spaced("3 seconds"))
      const before = yield* TestClock.currentTimeMillis
      assert.strictEqual((yield* ticking(reply)).content, "Yes.")
      assert.deepStrictEqual(retries(parts), [
        ["Limited", 7_000],
        ["Limited", 3_000],
        ["Unavailable", 3_000]
      ])
      assert.isAtLeast((yield* TestClock.currentTimeMillis) - before, 13_000)
    })
  )

  it.effect(
    "standard: four times for what is refused for now, longer each time, and once for what broke on the way",
    () =>
      Effect.gen(function* () {
        const waits = (reason: LLM.Reason) =>
          Effect.gen(function* () {
            const { parts, reply } = collected(
              LLM.layerScripted(() => LLM.fail(reason)),
              LLM.standardRetry
            )
            yield* ticking(Effect.flip(reply))
            return retries(parts).map(([, delayMs]) => Number(delayMs))
          })
        for (const reason of ["Limited", "Unavailable"] as const) {
          const all = yield* waits(reason)
          assert.lengthOf(all, 4)
          // Exponential, with a fifth more or less.
          for (const [index, ms] of all.entries()) {
            assert.isAtLeast(ms, 0.8 * 500 * 2 ** index)
            assert.isAtMost(ms, 1.2 * 500 * 2 ** index + 1)
          }
        }
        for (const reason of ["Timeout", "StreamBroken", "Protocol"] as const) assert.lengthOf(yield* waits(reason), 1)
        for (const reason of ["Auth", "Rejected"] as const) assert.lengthOf(yield* waits(reason), 0)
      })
  )
})

describe("LLM.standardRetry", () => {
  const sequences: ReadonlyArray<readonly [reasons: ReadonlyArray<LLM.Reason>, isAnswered: boolean]> = [
    [["Limited", "StreamBroken"], true],
    [["Limited", "Limited", "Limited", "Timeout", "Unavailable"], true],
    [["StreamBroken", "Limited", "Limited", "Limited", "Limited"], true],
    [["StreamBroken", "Limited", "Protocol"], false],
    [["Limited", "Timeout", "Unavailable", "Limited", "Limited", "Limited"], false]
  ]
  for (const [reasons, isAnswered] of sequences) {
    it.effect(`counts each kind of failure by itself: ${reasons.join(", ")}`, () =>
      Effect.gen(function* () {
        const layer = LLM.layerScripted([...reasons.map((reason) => LLM.fail(reason)), LLM.say("Yes.")])
        const { reply } = collected(layer, LLM.standardRetry)
        assert.strictEqual(Exit.isSuccess(yield* ticking(Effect.exit(reply))), isAnswered)
      })
    )
  }
})

describe("LLM.layerFallback", () => {
  const named = (provider: string, script: Parameters<typeof LLM.layerScripted>[0], answers?: "json") =>
    Layer.effect(
      LLM.LLM,
      Effect.map(LLM.LLM, ({ stream }) => ({
        stream,
        model: { provider, id: `${provider}-1` },
        ...(answers === undefined ? {} : { answers })
      }))
    ).pipe(Layer.provide(LLM.layerScripted(script)))

  const ask = (layer: Layer.Layer<LLM.LLM, LLM.LLMError>) => {
    const parts: Array<LLM.Part> = []
    const reply = Effect.flatMap(LLM.LLM, ({ stream }) =>
      LLM.collect(stream(wire), (chunk) => Effect.sync(() => parts.push(...chunk)))
    )
    return { parts, reply: Effect.provide(reply, layer) }
  }

  it.effect("asks the next model when one fails, and says who answered", () =>
    Effect.gen(function* () {
      const { parts, reply } = ask(
        LLM.layerFallback([
          named("a", [LLM.fail("Auth")]),
          named("b", [LLM.fail("StreamBroken", { after: 1, deltas: ["no ", "more"] })]),
          named("c", [LLM.say("Yes.")])
        ])
      )
      assert.deepInclude(yield* reply, { content: "Yes.", by: { provider: "c", id: "c-1" } })
      assert.deepStrictEqual(
        parts.flatMap((part) =>
          part._tag === "Retried" ? [[part.error.reason, part.next?.provider, part.partialChars]] : []
        ),
        [
          ["Auth", "b", undefined],
          ["StreamBroken", "c", 3]
        ]
      )
    })
  )

  it.effect("asks the first as often as the schedule says, then the next; the last failure is the call's", () =>
    Effect.gen(function* () {
      const { parts, reply } = ask(
        LLM.layerFallback(
          [
            named("a", [LLM.fail("Unavailable"), LLM.fail("Unavailable"), LLM.say("never")]),
            named("b", [LLM.fail("Unavailable"), LLM.fail("Limited"), LLM.say("never")])
          ],
          Schedule.recurs(1)
        )
      )
      assert.strictEqual((yield* Effect.flip(reply)).reason, "Limited")
      assert.deepStrictEqual(
        parts.map((part) => part._tag === "Retried" && part.next?.provider),
        [undefined, "b", undefined]
      )
    })
  )

  it.effect("tells of each attempt what came of it, and not what came of one before", () =>
    Effect.gen(function* () {
      const { parts, reply } = ask(
        LLM.layerFallback(
          [
            named("a", [LLM.fail("StreamBroken", { after: 1, deltas: ["abc", "d"] }), LLM.fail("Auth")]),
            named("b", [LLM.say("Yes.")])
          ],
          often
        )
      )
      assert.strictEqual((yield* reply).content, "Yes.")
      assert.deepStrictEqual(
        parts.flatMap((part) => (part._tag === "Retried" ? [[part.error.reason, part.partialChars]] : [])),
        [
          ["StreamBroken", 3],
          ["Auth", undefined]
        ]
      )
    })
  )

  it.effect("counts nothing for an attempt that was not applied", () =>
    Effect.gen(function* () {
      const usages = (reason: LLM.Reason) =>
        Effect.gen(function* () {
          const told: LLM.Part = { _tag: "Usage", usage: { inputTokens: 3 } }
          const failing = Layer.succeed(LLM.LLM, {
            stream: () => Stream.concat(Stream.make(told), Stream.fail(LLM.failure(reason, { what: "No." })))
          })
          const { parts, reply } = ask(LLM.layerFallback([failing, named("b", [LLM.say("Yes.")])]))
          yield* reply
          return parts.flatMap((part) => (part._tag === "Retried" ? [part.usage] : []))
        })
      assert.deepStrictEqual(yield* usages("Limited"), [undefined])
      assert.deepStrictEqual(yield* usages("StreamBroken"), [{ inputTokens: 3 }])
    })
  )

  it.effect("asks nobody else about a request that is rejected, unless it is told to", () =>
    Effect.gen(function* () {
      const layers = [named("a", [LLM.fail("Rejected")]), named("b", [LLM.say("Yes.")])] as const
      assert.strictEqual((yield* Effect.flip(ask(LLM.layerFallback(layers)).reply)).reason, "Rejected")
      assert.strictEqual((yield* ask(LLM.layerFallback(layers, undefined, () => true)).reply).content, "Yes.")
    })
  )

  it.effect("asks nobody else about a wire that a cassette or a script does not know", () =>
    Effect.gen(function* () {
      for (const reason of ["CassetteDrift", "Unscripted"] as const) {
        const layers = [named("a", [LLM.fail(reason)]), named("b", [LLM.say("Yes.")])] as const
        assert.strictEqual((yield* Effect.flip(ask(LLM.layerFallback(layers)).reply)).reason, reason)
      }
    })
  )

  it.effect("does not take a model without a name for the one before it", () =>
    Effect.gen(function* () {
      const unnamed = Layer.effect(
        LLM.LLM,
        Effect.map(LLM.LLM, ({ stream }) => ({ stream }))
      ).pipe(Layer.provide(LLM.layerScripted([LLM.fail("Unavailable"), LLM.say("Yes.")])))
      const layers = [named("a", () => LLM.fail("Unavailable")), unnamed] as const
      const { parts, reply } = ask(LLM.layerFallback(layers, Schedule.recurs(1)))
      assert.deepStrictEqual((yield* ticking(reply)).by, { provider: "unnamed", id: "unnamed" })
      assert.deepInclude(
        parts.findLast((part) => part._tag === "Retried" && part.next !== undefined),
        { next: { provider: "unnamed", id: "unnamed" } }
      )
    })
  )

  it.effect("says who answered also where it is one of others", () =>
    Effect.gen(function* () {
      const inner = LLM.layerFallback([named("b", [LLM.fail("Unavailable")]), named("c", [LLM.say("Yes.")])])
      const { reply } = ask(LLM.layerFallback([named("a", [LLM.fail("Unavailable")]), inner]))
      assert.deepStrictEqual((yield* reply).by, { provider: "c", id: "c-1" })
    })
  )

  it.effect("is known by its first model, and takes a schema of answers if all of them do", () =>
    Effect.gen(function* () {
      const of = (...layers: readonly [Layer.Layer<LLM.LLM>, ...ReadonlyArray<Layer.Layer<LLM.LLM>>]) =>
        Effect.map(LLM.LLM, ({ answers, model }) => [model?.provider, answers]).pipe(
          Effect.provide(LLM.layerFallback(layers))
        )
      assert.deepStrictEqual(yield* of(named("a", [], "json"), named("b", [], "json")), ["a", "json"])
      assert.deepStrictEqual(yield* of(named("a", [], "json"), named("b", [])), ["a", undefined])
      const untried = ask(LLM.layerFallback([named("a", [LLM.say("Yes.")]), named("b", [])]))
      assert.notProperty(yield* untried.reply, "by")
    })
  )
})

// In a run.

const agent = (more: Partial<Parameters<typeof Agent.make<(typeof toolkit)["tools"]>>[0]> = {}) =>
  Agent.make({ name: "zones", instructions: "Be brief.", toolkit, retry: often, ...more })
const find = <T extends Event.Event["_tag"]>(all: ReadonlyArray<Event.Event>, tag: T) =>
  all.filter((event): event is Extract<Event.Event, { readonly _tag: T }> => event._tag === tag)

describe("A run whose model fails on the way", () => {
  it.effect("has each attempt on the record before the next one begins, and counts what it took", () =>
    Effect.gen(function* () {
      const seen: Array<ReadonlyArray<string>> = []
      const script: LLM.Chooser = (_, index) => {
        if (index === 0) return LLM.fail("Limited", { retry: { afterMs: 2_000 } })
        if (index === 1) return LLM.fail("StreamBroken", { after: 1, deltas: ["half", " a"] })
        if (index === 2) return LLM.call("zone", { n: 1 })
        return LLM.say("Zone 1.")
      }
      const watching = Layer.effect(
        LLM.LLM,
        Effect.gen(function* () {
          const { stream } = yield* LLM.LLM
          const record = yield* Record.Record
          return {
            stream: (wire) =>
              Stream.unwrap(
                Effect.map(Stream.runCollect(record.read("r")), (entries) => {
                  seen.push(Chunk.toReadonlyArray(entries).map(({ event }) => event._tag))
                  return stream(wire)
                }).pipe(Effect.orDie)
              )
          }
        })
      ).pipe(Layer.provide(LLM.layerScripted(script)))
      const outcome = yield* ticking(Effect.provide(Agent.run(agent(), "Which?", { runId: "r" }), watching))
      assert.strictEqual(outcome.answer, "Zone 1.")
      const all = yield* Shop.events("r")
      assert.deepStrictEqual(
        find(all, "ModelRetried").map(({ attempt, delayMs, iteration, partialChars, reason }) => [
          iteration,
          attempt,
          reason,
          delayMs,
          partialChars
        ]),
        [
          [1, 1, "Limited", 2_000, undefined],
          [1, 2, "StreamBroken", 0, 4]
        ]
      )
      // `retrying` asks the same stream again, which asks the record what is on it.
      assert.deepStrictEqual(
        seen.map((tags) => tags.filter((tag) => tag === "ModelRetried").length),
        [0, 1, 2, 2]
      )
      assert.deepStrictEqual(Run.fold(all).violations, [])
      assert.lengthOf(find(all, "ModelFailed"), 0)
    }).pipe(Effect.provide(services))
  )

  it.effect("counts the usage of attempts that failed, and stops where it is not known and tokens are limited", () =>
    Effect.gen(function* () {
      const broken = (usage: LLM.Part & { readonly _tag: "Usage" }) =>
        Stream.concat(Stream.make<[LLM.Part]>(usage), Stream.fail(LLM.failure("StreamBroken", { what: "Broken." })))
      const of = (usage: (LLM.Part & { readonly _tag: "Usage" })["usage"], runId: string) =>
        Effect.gen(function* () {
          let asked = 0
          const layer = Layer.succeed(LLM.LLM, {
            stream: () =>
              Stream.suspend(() => {
                asked += 1
                if (asked === 1) return broken({ _tag: "Usage", usage })
                const call: LLM.Part = { _tag: "ToolCall", toolCallId: `c${asked}`, toolName: "zone", args: '{"n":1}' }
                const finish = { _tag: "Finish", usage: { inputTokens: 2, outputTokens: 1 } } as const
                return asked === 2
                  ? Stream.make<Array<LLM.Part>>(call, { ...finish, stopReason: "tool-calls" })
                  : Stream.make<Array<LLM.Part>>({ _tag: "Text", delta: "Zone 1." }, { ...finish, stopReason: "stop" })
              })
          })
          const limited = agent({ budget: { tokens: 1_000 } })
          const outcome = yield* Effect.provide(Agent.run(limited, "Which?", { runId }), layer)
          return [outcome.status, outcome.reason?.tag, outcome.usage]
        })
      assert.deepStrictEqual(yield* of({ inputTokens: 10, unknown: { outputTokens: "cut" } }, "told"), [
        "answered",
        undefined,
        { inputTokens: 14, outputTokens: 2, unknown: { outputTokens: "cut" } }
      ])
      const [status, reason] = yield* of({ unknown: { inputTokens: "cut", outputTokens: "cut" } }, "untold")
      assert.deepStrictEqual([status, reason], ["stopped", "UsageUnknown"])
    }).pipe(Effect.provide(services))
  )

  it.effect("makes no attempt once its tokens are spent, or nobody knows whether they are", () =>
    Effect.gen(function* () {
      const of = (usage: (LLM.Part & { readonly _tag: "Usage" })["usage"], runId: string) =>
        Effect.gen(function* () {
          let asked = 0
          const layer = Layer.succeed(LLM.LLM, {
            stream: () =>
              Stream.suspend(() => {
                asked += 1
                return Stream.concat(
                  Stream.make<[LLM.Part]>({ _tag: "Usage", usage }),
                  Stream.fail(LLM.failure("StreamBroken", { what: "Broken." }))
                )
              })
          })
          const limited = agent({ budget: { tokens: 1_000 }, retry: Schedule.recurs(100) })
          const outcome = yield* Effect.provide(Agent.run(limited, "Which?", { runId }), layer)
          const all = yield* Shop.events(runId)
          assert.deepStrictEqual(Run.fold(all).violations, [])
          assert.lengthOf(find(all, "ModelRetried"), asked)
          return [asked, outcome.status, outcome.reason?.tag, outcome.usage]
        })
      const told = { inputTokens: 300, outputTokens: 100 }
      const spent = { inputTokens: 900, outputTokens: 300 }
      assert.deepStrictEqual(yield* of(told, "told"), [3, "stopped", "BudgetExceeded", spent])
      const unknown = { unknown: { inputTokens: "cut", outputTokens: "cut" } } as const
      assert.deepStrictEqual(yield* of(unknown, "untold"), [1, "stopped", "UsageUnknown", unknown])
    }).pipe(Effect.provide(services))
  )

  it.effect("says who answered where it was resumed with another model", () =>
    Effect.gen(function* () {
      yield* Effect.provide(Agent.run(agent(), "Which?", { runId: "whole" }), LLM.layerScripted([LLM.say("Zone 1.")]))
      const all = yield* Shop.events("whole")
      const called = all.slice(0, 1 + all.findIndex(({ _tag }) => _tag === "ModelCalled"))
      assert.notProperty(find(all, "ModelReplied")[0], "by")
      const other = Layer.effect(
        LLM.LLM,
        Effect.map(LLM.LLM, ({ stream }) => ({ stream, model: { provider: "other", id: "o-1" } }))
      ).pipe(Layer.provide(LLM.layerScripted([LLM.say("Zone 2.")])))
      const [started, ...rest] = called
      if (started?._tag !== "RunStarted") return assert.fail("A run starts.")
      yield* (yield* Record.Record).append("r", 0, [{ ...started, runId: "r" }, ...rest])
      yield* Effect.provide(Agent.resume(agent(), "r"), other)
      assert.deepInclude(find(yield* Shop.events("r"), "ModelReplied")[0], {
        by: { provider: "other", model: "o-1" }
      })
    }).pipe(Effect.provide(services))
  )

  it.effect("counts attempts anew in each pass, and goes on within its tokens after one that took nothing", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 2, outputTokens: 1 }
      const layer = LLM.layerScripted([
        LLM.fail("Limited"),
        LLM.fail("Limited"),
        { ...LLM.call("zone", { n: 1 }), usage },
        LLM.fail("Limited"),
        LLM.say("Zone 1.", { usage })
      ])
      const limited = agent({ budget: { tokens: 1_000 } })
      const outcome = yield* Effect.provide(Agent.run(limited, "Which?", { runId: "r" }), layer)
      assert.deepStrictEqual([outcome.status, outcome.usage], ["answered", { inputTokens: 4, outputTokens: 2 }])
      assert.deepStrictEqual(
        find(yield* Shop.events("r"), "ModelRetried").map(({ attempt, iteration }) => [iteration, attempt]),
        [
          [1, 1],
          [1, 2],
          [2, 1]
        ]
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("fails as it did before when the policy has had enough, and without a policy at once", () =>
    Effect.gen(function* () {
      for (const [runId, retry, count] of [
        ["often", Schedule.recurs(2), 2],
        ["once", undefined, 0]
      ] as const) {
        const { retry: _, ...plain } = agent()
        const made = retry === undefined ? plain : { ...plain, retry }
        const error = yield* Effect.flip(
          Effect.provide(
            Agent.run(made, "Which?", { runId }),
            LLM.layerScripted(() => LLM.fail("Unavailable"))
          )
        )
        assert.strictEqual(error._tag, "LLMError")
        const all = yield* Shop.events(runId)
        assert.lengthOf(find(all, "ModelRetried"), count)
        assert.lengthOf(find(all, "ModelFailed"), 1)
      }
    }).pipe(Effect.provide(services))
  )

  it.effect("can be interrupted while it waits, and has ended on the record", () =>
    Effect.gen(function* () {
      const waiting = yield* Deferred.make<void>()
      const layer = LLM.layerScripted(() => LLM.fail("Limited", { retry: { afterMs: 3_600_000 } }))
      const fiber = yield* Effect.fork(
        Effect.provide(
          Stream.runForEach(Agent.stream(agent(), "Which?", { runId: "r" }), (progress) =>
            progress._tag === "Recorded" && progress.event._tag === "ModelRetried"
              ? Deferred.succeed(waiting, undefined)
              : Effect.void
          ),
          layer
        )
      )
      yield* Deferred.await(waiting)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
      assert.strictEqual((yield* Shop.events("r")).at(-1)?._tag, "RunEnded")
    }).pipe(Effect.provide(services))
  )

  it.effect("stops at its wall time while it waits", () =>
    Effect.gen(function* () {
      const layer = LLM.layerScripted(() => LLM.fail("Limited", { retry: { afterMs: 3_600_000 } }))
      const made = agent({ budget: { wallTime: "1 minute" } })
      const outcome = yield* ticking(Effect.provide(Agent.run(made, "Which?"), layer))
      assert.deepStrictEqual([outcome.status, outcome.reason?.tag], ["stopped", "BudgetExceeded"])
    }).pipe(Effect.provide(services))
  )

  it.effect("that another model answers says so, and is told apart from the first", () =>
    Effect.gen(function* () {
      const other = Layer.succeed(LLM.LLM, {
        model: { provider: "other", id: "o-1" },
        stream: () =>
          Stream.make<Array<LLM.Part>>(
            { _tag: "Text", delta: "Zone 1." },
            { _tag: "Finish", stopReason: "stop", usage: {} }
          )
      })
      const layer = LLM.layerFallback([LLM.layerScripted([LLM.fail("Auth")]), other])
      yield* Effect.provide(Agent.run(agent(), "Which?", { runId: "r" }), layer)
      const all = yield* Shop.events("r")
      const by = { provider: "other", model: "o-1" }
      assert.deepInclude(find(all, "ModelCalled")[0], { provider: "scripted", model: "script" })
      assert.deepInclude(find(all, "ModelRetried")[0], { attempt: 1, reason: "Auth", delayMs: 0, next: by })
      assert.deepInclude(find(all, "ModelReplied")[0], { by })
    }).pipe(Effect.provide(services))
  )
})

describe("Timeouts of a provider", () => {
  const silent: Handler = () => undefined
  const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
  const { said } = Dialects.anthropic.events({ deltas: ["Zo", "ne"], stop: "stop", usage: { input: 1, output: 1 } })
  const begins: Handler = ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(said.map(event).join(""))
  }

  const timed = (handler: Handler, timeouts: NonNullable<LLM.AnthropicOptions["timeouts"]>, streamed?: false) =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const server = yield* serve((exchange) => {
        exchange.response.on("close", () => Effect.runFork(Deferred.succeed(closed, undefined)))
        return handler(exchange)
      })
      const layer = LLM.layerAnthropic({
        url: server.url,
        model: "claude-sonnet-4-5",
        apiKey: Redacted.make("key"),
        timeouts,
        ...(streamed === undefined ? {} : { streamed })
      })
      const error = yield* Effect.flip(Effect.provide(LLM.reply(wire), layer))
      // The request is given up, too, if it had got so far.
      if (server.exchanges.length > 0) yield* Effect.timeout(Deferred.await(closed), "5 seconds")
      assert.deepInclude(error, {
        reason: "Timeout",
        outcome: "unknown",
        where: "anthropic.messages claude-sonnet-4-5"
      })
      assert.isTrue(error.isRetryable)
      return error.what
    }).pipe(Effect.scoped)

  it.live("ends a call that does not begin, that stalls, and that does not come to its end", () =>
    Effect.gen(function* () {
      const [short, long] = [Duration.millis(60), Duration.minutes(5)]
      const all = { firstByte: long, betweenChunks: long, call: long }
      assert.match(yield* timed(silent, { ...all, firstByte: short }), /did not begin to answer within 60 ms/)
      assert.match(yield* timed(begins, { ...all, betweenChunks: short }), /silent for 60 ms/)
      assert.match(yield* timed(silent, { ...all, call: short }), /did not end its reply within 60 ms/)
      assert.match(yield* timed(begins, { ...all, call: short }), /did not end its reply within 60 ms/)
      const hasty = { firstByte: Duration.millis(1), betweenChunks: Duration.millis(1), call: short }
      assert.match(yield* timed(silent, hasty, false), /did not end its reply within 60 ms/)
    })
  )

  it.effect("lets a call be that keeps giving signs of life, even such as nothing is made of", () =>
    Effect.gen(function* () {
      const alive = (isAlive: boolean) =>
        Effect.gen(function* () {
          let write: ReadableStreamDefaultController<AiSdkModel.Foreign> | undefined
          let isRaw: boolean | undefined
          const model: AiSdkLLM.Model = {
            provider: "here",
            modelId: "m",
            doStream: ({ includeRawChunks }) => {
              isRaw = includeRawChunks
              return Promise.resolve({
                stream: new ReadableStream({ start: (controller) => void (write = controller) })
              })
            }
          }
          const layer = AiSdkLLM.layer(model, { timeouts: { firstByte: "250 millis", betweenChunks: "250 millis" } })
          const fiber = yield* Effect.fork(Effect.either(Effect.provide(LLM.reply(wire), layer)))
          const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
          const turns = Effect.repeatN(turn, 5)
          yield* turns
          for (let n = 0; n < 5; n++) {
            if (isAlive) write?.enqueue({ type: "raw" })
            yield* turns
            yield* TestClock.adjust("200 millis")
            yield* turns
          }
          const text = { type: "text-delta", id: "t", delta: "Yes." }
          const unknown = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
          const usage = { inputTokens: unknown, outputTokens: { total: undefined, reasoning: undefined } }
          const finish = { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage }
          if (isAlive) for (const part of [text, finish]) write?.enqueue(part)
          assert.isTrue(isRaw)
          return yield* Fiber.join(fiber)
        })
      assert.strictEqual((yield* Effect.flatten(alive(true))).content, "Yes.")
      assert.strictEqual((yield* Effect.flip(Effect.flatten(alive(false)))).reason, "Timeout")
    })
  )
})
