import { assert, describe, it } from "@effect/vitest"
import { Cause, Chunk, Effect, Either, Fiber, Option, Stream, TestClock } from "effect"
import { inspect } from "node:util"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"

const pass = (iteration: number) => ({ ...LLMSuite.wire, iteration })

const finish = { _tag: "Finish", stopReason: "stop", usage: {} } as const

const folded = (...parts: ReadonlyArray<LLM.Part>) => LLM.finish(parts.reduce(LLM.step, LLM.emptyDraft))

describe("LLM", () => {
  for (const { effect, name } of LLMSuite.cases({ layer: LLM.layerScripted })) {
    it.effect(`scripted: ${name}`, () => effect)
  }

  it("a draft without a finish is no reply", () => {
    const error = Either.getOrThrow(Either.flip(folded({ _tag: "Text", delta: "Zone" })))
    assert.deepInclude(error, { reason: "Protocol", code: "WF-LLM-007" })
    assert.include(error.message, "The stream ended without a finish.")
  })

  it("a draft that goes on after its finish is no reply", () => {
    assert.strictEqual(Either.getOrThrow(Either.flip(folded(finish, { _tag: "Text", delta: "x" }))).reason, "Protocol")
    assert.strictEqual(Either.getOrThrow(Either.flip(folded(finish, finish))).reason, "Protocol")
  })

  it("a usage that is no count is malformed, and costs no reply", () => {
    const usage = { inputTokens: -5, outputTokens: 7, reasoningTokens: 0.5 }
    const told = { outputTokens: 7, unknown: { inputTokens: "malformed", reasoningTokens: "malformed" } } as const
    assert.deepStrictEqual(Either.getOrThrow(folded({ ...finish, usage })).usage, told)
    assert.deepStrictEqual(LLM.step(LLM.emptyDraft, { _tag: "Usage", usage }).usage, told)
  })

  it("joins a character that was split over two deltas, and replaces a lone half", () => {
    const [high, low] = ["\ud83d", "\ude00"]
    const reply = Either.getOrThrow(
      folded({ _tag: "Text", delta: `a${high}` }, { _tag: "Text", delta: `${low}b${high}` }, finish)
    )
    assert.strictEqual(reply.content, "a😀b\ufffd")
  })

  it("an empty reply is an answer only if the model meant to stop", () => {
    const reasons = (["stop", "length", "content-filter", "tool-calls", "error", "other"] as const).map((stopReason) =>
      Either.match(folded({ _tag: "Text", delta: " " }, { ...finish, stopReason }), {
        onLeft: ({ reason }) => reason,
        onRight: ({ stopReason }) => stopReason
      })
    )
    assert.deepStrictEqual(reasons, ["stop", "Rejected", "Rejected", "Protocol", "Protocol", "Protocol"])
  })

  it("says of each reason whether to try again, in a line that can be printed anywhere", () => {
    const reasons = LLM.LLMError.fields.reason.literals
    const codes = reasons.map((reason) => LLM.failure(reason, { what: "It\n\u001b[31mfailed." }))
    assert.deepStrictEqual(
      codes.map(({ code, isRetryable, reason }) => `${code} ${reason} ${isRetryable}`),
      [
        "WF-LLM-001 Auth false",
        "WF-LLM-002 Limited true",
        "WF-LLM-003 Unavailable true",
        "WF-LLM-004 Timeout true",
        "WF-LLM-005 Rejected false",
        "WF-LLM-006 StreamBroken true",
        "WF-LLM-007 Protocol true",
        "WF-LLM-008 Misconfigured false",
        "WF-LLM-009 Unscripted false",
        "WF-LLM-011 CassetteDrift false"
      ]
    )
    for (const error of codes) {
      // eslint-disable-next-line no-control-regex
      assert.notMatch(error.message, /[\u0000-\u001f\u007f]/)
      assert.isBelow(error.message.length, 2_001)
      assert.notInclude(error.next, "undefined")
    }
  })

  it.effect("lets go of a reply that never ends, whatever it is made of", () =>
    Effect.gen(function* () {
      const call = { _tag: "ToolCall", toolCallId: "c", toolName: "t", args: "{}" } as const
      const kinds: ReadonlyArray<ReadonlyArray<LLM.Part>> = [
        [{ _tag: "Text", delta: "x".repeat(10_000) }],
        [{ _tag: "Reasoning", delta: "x".repeat(10_000) }],
        [{ ...call, args: "x".repeat(10_000) }],
        [call],
        // Each ends the block before it.
        [
          { _tag: "Text", delta: "x" },
          { _tag: "Reasoning", delta: "x" }
        ],
        [{ _tag: "Sealed", kind: "text", opaque: 1 }]
      ]
      for (const parts of kinds) {
        let isOver = false
        const endless = Stream.ensuring(
          Stream.forever(Stream.fromIterable(parts)),
          Effect.sync(() => {
            isOver = true
          })
        )
        const error = yield* Effect.flip(LLM.collect(endless))
        assert.deepInclude(error, { reason: "Protocol", retry: "never", outcome: "unknown" })
        assert.include(error.what, "longer than a record can hold")
        assert.isTrue(isOver)
      }
    })
  )

  it.effect("an error of the program that looks on is its own", () =>
    Effect.gen(function* () {
      const { stream } = yield* LLM.LLM
      assert.strictEqual(yield* Effect.flip(LLM.collect(stream(pass(1)), () => Effect.fail("full"))), "full")
    }).pipe(Effect.provide(LLM.layerScripted(["Yes."])))
  )

  it.effect("a stream of any make is folded, and its finalizers run", () =>
    Effect.gen(function* () {
      let closed = 0
      const parts: ReadonlyArray<LLM.Part> = [{ _tag: "Text", delta: "Yes." }, finish]
      const stream = Stream.fromIterable(parts).pipe(Stream.rechunk(1), Stream.ensuring(Effect.sync(() => closed++)))
      const sizes: Array<number> = []
      const reply = yield* LLM.collect(stream, (chunk) => Effect.sync(() => sizes.push(Chunk.size(chunk))))
      assert.deepStrictEqual([reply.content, sizes, closed], ["Yes.", [1, 1], 1])
      const broken = yield* Effect.flip(
        LLM.collect(Stream.concat(stream, Stream.fail(LLM.failure("Timeout", { what: "Late." }))))
      )
      assert.deepStrictEqual([broken.reason, closed], ["Timeout", 2])
      const defect = yield* Effect.exit(LLM.collect(Stream.concat(stream, Stream.die("boom"))))
      assert.include(inspect(defect), "boom")
    })
  )
})

describe("LLM.layerScripted", () => {
  it.effect("reads a list from its start, and says what is missing when it runs off the end", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* LLM.reply(pass(1))).content, "one")
      assert.strictEqual((yield* LLM.reply(pass(2))).content, "two of Be brief.")
      const error = yield* Effect.flip(LLM.reply(pass(3)))
      assert.deepInclude(error, {
        reason: "Unscripted",
        code: "WF-LLM-009",
        what: "The script has no step for call 3.",
        where: "pass 3",
        expected: "at most 2 steps",
        retry: "never"
      })
    }).pipe(
      Effect.provide(
        LLM.layerScripted(["one", (wire, index) => `${index === 1 ? "two" : "?"} of ${wire.system[0]?.text}`])
      )
    )
  )

  it.effect("tells what was asked, and whether steps are left", () =>
    Effect.gen(function* () {
      const script = yield* LLM.Script
      const left = yield* Effect.flip(script.assertComplete)
      assert.deepInclude(left, { _tag: "ScriptIncomplete", steps: 2, used: 0, code: "WF-LLM-010" })
      yield* LLM.reply(pass(1))
      assert.strictEqual((yield* Effect.flip(script.assertComplete)).used, 1)
      yield* LLM.reply(pass(2))
      yield* script.assertComplete
      assert.deepStrictEqual(yield* script.calls, [pass(1), pass(2)])
    }).pipe(Effect.provide(LLM.layerScripted(["one", "two"])))
  )

  it.effect("remembers no more wires than it is told to", () =>
    Effect.gen(function* () {
      const script = yield* LLM.Script
      for (let n = 1; n <= 5; n++) yield* LLM.reply(pass(n))
      yield* script.assertComplete
      assert.deepStrictEqual(
        (yield* script.calls).map(({ iteration }) => iteration),
        [4, 5]
      )
    }).pipe(Effect.provide(LLM.layerScripted(() => "again", { remember: 2 })))
  )

  it.effect("by pass, a run that is resumed goes on where it was, and a retry gets the same reply", () =>
    Effect.gen(function* () {
      const script = yield* LLM.Script
      assert.strictEqual((yield* LLM.reply(pass(2))).content, "two")
      assert.strictEqual((yield* LLM.reply(pass(2))).content, "two")
      assert.strictEqual((yield* Effect.flip(script.assertComplete)).used, 2)
      assert.strictEqual((yield* LLM.reply(pass(3))).content, "three")
      yield* script.assertComplete
      assert.strictEqual((yield* Effect.flip(LLM.reply(pass(4)))).reason, "Unscripted")
    }).pipe(Effect.provide(LLM.layerScripted(LLM.byPass(["one", "two", () => "three"]))))
  )

  it.effect("writes calls with ids of their pass, and arguments as JSON or raw", () =>
    Effect.gen(function* () {
      const one = yield* LLM.reply(pass(7))
      assert.deepStrictEqual(one, {
        content: "Looking.",
        toolCalls: [
          { toolCallId: "call-7-0", toolName: "zone", args: '{"n":1}' },
          { toolCallId: "mine", toolName: "log", args: "{}" },
          { toolCallId: "call-7-2", toolName: "raw", args: "{bad" }
        ],
        stopReason: "tool-calls",
        usage: {}
      })
    }).pipe(
      Effect.provide(
        LLM.layerScripted([
          LLM.together("Looking.", LLM.call("zone", { n: 1 }), LLM.call("log", undefined, "mine"), {
            toolCalls: [{ toolName: "raw", rawArgs: "{bad" }]
          })
        ])
      )
    )
  )

  it.effect("waits as long as it is told to, on the clock that it is given", () =>
    Effect.gen(function* () {
      const { stream } = yield* LLM.LLM
      const whole = yield* Effect.fork(LLM.reply(pass(1)))
      const streamed = yield* Effect.fork(Stream.runCount(stream(pass(2))))
      yield* TestClock.adjust("9 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(whole)))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(whole)).content, "late")
      assert.strictEqual(yield* Fiber.join(streamed), 2)
    }).pipe(Effect.provide(LLM.layerScripted(() => LLM.say("late", { delay: "10 seconds" }))))
  )

  it.effect("fails where the script says so, with the error that it names", () =>
    Effect.gen(function* () {
      const { stream } = yield* LLM.LLM
      const limited = yield* Effect.flip(LLM.reply(pass(1)))
      assert.deepInclude(limited, { reason: "Limited", retry: { afterMs: 500 }, isRetryable: true })
      const own = yield* Effect.flip(LLM.reply(pass(2)))
      assert.strictEqual(own.what, "Mine.")
      const seen: Array<LLM.Part> = []
      const cut = yield* Effect.flip(Stream.runForEach(stream(pass(3)), (part) => Effect.sync(() => seen.push(part))))
      assert.strictEqual(cut.reason, "StreamBroken")
      assert.deepStrictEqual(seen, [
        { _tag: "Text", delta: "a" },
        { _tag: "Text", delta: "b" }
      ])
    }).pipe(
      Effect.provide(
        LLM.layerScripted([
          LLM.fail("Limited", { retry: { afterMs: 500 } }),
          { fault: LLM.failure("Auth", { what: "Mine." }) },
          LLM.fail("StreamBroken", { after: 2, deltas: ["a", "b", "c"] })
        ])
      )
    )
  )

  it.effect("a step that is a defect is one", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(LLM.reply(pass(1)))
      assert.isTrue(exit._tag === "Failure" && Cause.isDie(exit.cause))
    }).pipe(
      Effect.provide(
        LLM.layerScripted(() => {
          throw new RangeError("a mistake in the test")
        })
      )
    )
  )
})
