import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Schema, TestClock } from "effect"
import * as Event from "../../src/kernel/Event.ts"
import * as Printable from "../../src/kernel/Printable.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Replay from "../../src/programs/Replay.ts"
import * as Timeout from "../../src/programs/Timeout.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Shop from "./Shop.ts"

const classes = ["pure", "idempotent", "reconcile", "never"] as const

type Handled = (params: {
  readonly n: number
  readonly flags: ReadonlyArray<string>
}) => Effect.Effect<unknown, unknown>

interface Options {
  readonly handler?: Handled
  readonly replay?: Event.ReplayClass
  readonly success?: Schema.Schema.AnyNoContext
  readonly failure?: Schema.Schema.AnyNoContext
  readonly failureMode?: Tool.FailureMode
  readonly maxResultChars?: number
}

const parameters = {
  n: Schema.NumberFromString,
  flags: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
}

/** An agent with one tool, and what handles it. */
const world = ({ handler = () => Effect.succeed("done"), replay = "never", ...options }: Options) => {
  const success: Schema.Schema.AnyNoContext = options.success ?? Schema.Unknown
  const failure: Schema.Schema.AnyNoContext = options.failure ?? Schema.Struct({ reason: Schema.String })
  const { failureMode = "error" } = options
  const Probe = Tool.make("probe", { parameters, success, failure, failureMode })
    .annotate(Replay.Replay, replay)
    .annotate(Timeout.Timeout, "5 seconds")
  const toolkit = Toolkit.make(Probe)
  const agent = Agent.make({
    name: "a",
    instructions: "Probe.",
    toolkit,
    unknown: "tell",
    ...(options.maxResultChars === undefined ? {} : { maxResultChars: options.maxResultChars })
  })
  return { agent, layer: toolkit.toLayer({ probe: handler }) }
}

/** Runs one reply of the model and, after it, an answer. Each of its calls must come to one settlement that is read. */
const settle = (line: LLM.Line, options: Options = {}) =>
  Effect.gen(function* () {
    const { agent, layer } = world(options)
    const outcome = yield* Agent.run(agent, "Go.", { runId: "r" }).pipe(Effect.provide(layer))
    const events = yield* Shop.events("r")
    assert.deepStrictEqual(Run.fold(events).violations, [])
    assert.isTrue(events.every(Schema.is(Event.Event)))
    assert.deepInclude(outcome, { status: "answered", answer: "Answer.", passes: 2 })
    const settled = events.flatMap((event) => (event._tag === "ToolSettled" ? [event] : []))
    const replied = events.find((event) => event._tag === "ModelReplied")
    assert.deepStrictEqual(
      settled.map(({ toolCallId }) => toolCallId),
      replied?.toolCalls.map(({ toolCallId }) => toolCallId)
    )
    // The model reads each settlement, as it was served, on the next wire.
    const script = yield* LLM.Script
    const wires = yield* script.calls
    const read = wires[1]?.messages.flatMap(({ message }) => (message.role === "tool" ? [message] : []))
    assert.deepStrictEqual(
      read?.map(({ content, outcome }) => ({ content, outcome })),
      settled.map(({ outcome, served }) => ({ content: served, outcome }))
    )
    for (const { served } of settled) assert.notMatch(served, /\p{Surrogate}/u)
    return { settled, events, pending: outcome.pending }
  }).pipe(Effect.provide([Shop.services, LLM.layerScripted([line, "Answer."])]))

const probe = (args: unknown = { n: "1" }, id = "a"): LLM.Line => LLM.call("probe", args, id)
const raw = (rawArgs: string, stopReason?: Event.StopReason): LLM.Line => ({
  toolCalls: [{ toolName: "probe", toolCallId: "a", rawArgs }],
  ...(stopReason === undefined ? {} : { stopReason })
})

const tag = ({ error, outcome }: Event.ToolSettled) => `${outcome} ${error?.tag ?? ""}`.trimEnd()

const neverRun: Handled = () => Effect.die("it must not run")

describe("A call of a tool", () => {
  for (const name of [
    "constructor",
    "__proto__",
    "toString",
    "valueOf",
    "",
    "Probe",
    "x".repeat(5_000),
    "pro\u0000be",
    "a\u001b[2J\n\u202eb\ud800"
  ]) {
    it.effect(`that there is not is refused: ${JSON.stringify(name.slice(0, 16))}`, () =>
      Effect.gen(function* () {
        const { events, settled } = yield* settle(LLM.call(name, { n: "1" }), { handler: neverRun })
        assert.deepStrictEqual(settled.map(tag), ["refused UnknownTool"])
        assert.include(settled[0]?.served, "probe")
        assert.notMatch(settled[0]?.served ?? "", /[\p{Cc}\u202e]/u)
        assert.isAtMost(settled[0]?.served.length ?? 0, 1_000)
        assert.isUndefined(events.find(({ _tag }) => _tag === "ToolCalled"))
      })
    )
  }

  it.effect("with the id of another is refused, and the first one runs", () =>
    Effect.gen(function* () {
      let ran = 0
      const handler: Handled = () => Effect.sync(() => ++ran)
      const { settled } = yield* settle(LLM.together(probe({ n: "1" }), probe({ n: "2" }), probe({ n: "3" })), {
        handler
      })
      assert.deepStrictEqual(settled.map(tag), ["ran-ok", "refused DuplicateCallId", "refused DuplicateCallId"])
      assert.strictEqual(ran, 1)
    })
  )

  it.effect("without an id gets one", () =>
    Effect.gen(function* () {
      const { settled } = yield* settle(LLM.together(probe({ n: "1" }, ""), probe({ n: "2" }, "")))
      assert.deepStrictEqual(settled.map(tag), ["ran-ok", "ran-ok"])
      assert.deepStrictEqual(
        settled.map(({ toolCallId }) => toolCallId),
        ["call-1-0", "call-1-1"]
      )
    })
  )

  it.effect("may have the id of one in an earlier pass", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      const { agent, layer } = world({ handler: () => Effect.map(Replay.Key, (key) => keys.push(key)) })
      yield* Agent.run(agent, "Go.", { runId: "r" }).pipe(Effect.provide(layer))
      assert.deepStrictEqual(keys, ['["r",1,"a"]', '["r",2,"a"]'])
      assert.deepStrictEqual(Run.fold(yield* Shop.events("r")).violations, [])
    }).pipe(Effect.provide([Shop.services, LLM.layerScripted([probe(), probe(), "Answer."])]))
  )
})

describe("Arguments", () => {
  const malformed: Readonly<Record<string, string>> = {
    "that are not JSON": "n = 1",
    "that are cut": '{"n":"1',
    "that are a list": '["1"]',
    "that are a number": "1",
    "that are null": "null",
    "with a key that reaches a prototype": '{"n":"1","__proto__":{"flags":["x"]}}',
    "with a constructor": '{"n":"1","constructor":{}}',
    "with a key twice": '{"n":"1","n":"2"}',
    "that are too deep": `{"n":"1","flags":${"[".repeat(100)}${"]".repeat(100)}}`,
    "of two megabytes": `{"n":"1","flags":["${"x".repeat(2_000_000)}"]}`,
    "with half a surrogate pair": '{"n":"\\ud800"}'
  }
  for (const [what, text] of Object.entries(malformed)) {
    it.effect(`${what} are refused, and nothing runs`, () =>
      Effect.gen(function* () {
        const { events, settled } = yield* settle(raw(text), { handler: neverRun })
        assert.deepStrictEqual(settled.map(tag), ["refused ArgumentsMalformed"])
        assert.isAtMost(settled[0]?.served.length ?? 0, 1_000)
        assert.isUndefined(events.find(({ _tag }) => _tag === "ToolCalled"))
        // What the model wrote is on the record as it wrote it.
        const replied = events.find((event) => event._tag === "ModelReplied")
        assert.strictEqual(replied?.toolCalls[0]?.args, text)
      })
    )
  }

  const misfit: Readonly<Record<string, unknown>> = {
    "without what is needed": {},
    "of a wrong type": { n: 1 },
    "that cannot be decoded": { n: "one" },
    "with a wrong type inside": { n: "1", flags: ["a", 2] },
    "with null for what is optional": { n: "1", flags: null },
    "with many mistakes": { n: "1", flags: Array.from({ length: 5_000 }, () => 1) },
    "with a few mistakes in much": { n: "1", flags: ["x".repeat(20_000), 1, 2] }
  }
  for (const [what, args] of Object.entries(misfit)) {
    it.effect(`${what} are refused with the place of the mistake, and nothing runs`, () =>
      Effect.gen(function* () {
        const { events, settled } = yield* settle(probe(args), { handler: neverRun })
        assert.deepStrictEqual(settled.map(tag), ["refused ToolArgsInvalid"])
        assert.match(settled[0]?.error?.what ?? "", /\/(n|flags)/)
        assert.isAtMost(settled[0]?.served.length ?? 0, 8_000)
        assert.isUndefined(events.find(({ _tag }) => _tag === "ToolCalled"))
      })
    )
  }

  it.effect("are told all their mistakes, or the first one only if they are long", () =>
    Effect.gen(function* () {
      const told = (args: unknown) =>
        Effect.map(settle(probe(args), { handler: neverRun }), ({ settled }) => settled[0]?.error?.what ?? "")
      const short = yield* told({ n: "1", flags: [1, 2] })
      assert.match(short, /\/flags\/0 .*\/flags\/1 /)
      const long = yield* told({ n: "1", flags: ["x".repeat(20_000), 1, 2] })
      assert.include(long, "/flags/1 ")
      assert.notInclude(long, "/flags/2 ")
    })
  )

  it.effect("that the reply's end cut off are truncated, and whole ones beside them run", () =>
    Effect.gen(function* () {
      const line: LLM.Line = {
        toolCalls: [
          { toolName: "probe", toolCallId: "a", rawArgs: '{"n":"1"}' },
          { toolName: "probe", toolCallId: "b", rawArgs: '{"n":"' }
        ],
        stopReason: "length"
      }
      const { settled } = yield* settle(line)
      assert.deepStrictEqual(settled.map(tag), ["ran-ok", "truncated ReplyTruncated"])
    })
  )

  it.effect("are decoded once: the handler sees what its schema says, the record what the model wrote", () =>
    Effect.gen(function* () {
      const seen: Array<unknown> = []
      const { events } = yield* settle(probe({ n: "007", more: true }), {
        handler: (params) => Effect.sync(() => seen.push(params))
      })
      assert.deepStrictEqual(seen, [{ n: 7, flags: [] }])
      assert.deepInclude(
        events.find(({ _tag }) => _tag === "ToolCalled"),
        { args: { n: "007", more: true } }
      )
    })
  )

  it.effect("may be left out by a tool that has none", () =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Tool.make("now", { success: Schema.String }))
      const agent = Agent.make({ name: "a", instructions: "", toolkit })
      const { passes } = yield* Agent.run(agent, "Go.", { runId: "r" }).pipe(
        Effect.provide(toolkit.toLayer({ now: () => Effect.succeed("noon") }))
      )
      assert.strictEqual(passes, 2)
      const settled = (yield* Shop.events("r")).flatMap((event) => (event._tag === "ToolSettled" ? [event.served] : []))
      assert.deepStrictEqual(settled, ["noon", "noon", "noon"])
    }).pipe(
      Effect.provide([
        Shop.services,
        LLM.layerScripted([{ toolCalls: ["", " ", "{}"].map((rawArgs) => ({ toolName: "now", rawArgs })) }, "Answer."])
      ])
    )
  )
})

describe("A handler", () => {
  for (const replay of classes) {
    describe(`of the class ${replay}`, () => {
      it.effect("that returns has its result served: text as it is, all else as JSON", () =>
        Effect.gen(function* () {
          const served = (value: unknown) =>
            Effect.map(settle(probe(), { replay, handler: () => Effect.succeed(value) }), ({ settled }) => {
              assert.deepStrictEqual(settled.map(tag), ["ran-ok"])
              return settled[0]?.served
            })
          assert.strictEqual(yield* served("text"), "text")
          assert.strictEqual(yield* served({ b: 1, a: [null] }), '{"b":1,"a":[null]}')
          assert.strictEqual(yield* served(undefined), "null")
          assert.strictEqual(yield* served(""), "")
        })
      )

      for (const failureMode of ["error", "return"] as const) {
        it.effect(`that fails is an error that the model reads (${failureMode})`, () =>
          Effect.gen(function* () {
            const handler: Handled = () => Effect.fail({ reason: "sold\nout" })
            const { settled } = yield* settle(probe(), { replay, handler, failureMode })
            assert.deepStrictEqual(settled.map(tag), ["ran-error ToolFailed"])
            const shown = Printable.quote('{"reason":"sold\\nout"}')
            assert.strictEqual(JSON.parse(settled[0]?.served ?? "").what, `"probe" failed: ${shown}`)
          })
        )
      }

      const dies: Readonly<Record<string, Handled>> = {
        dies: () => Effect.die(new Error("secret")),
        "throws at once": () => {
          throw new Error("secret")
        },
        "throws later": () =>
          Effect.sync(() => {
            throw new Error("secret")
          }),
        "interrupts itself": () => Effect.interrupt,
        "is no effect at all": () => ({}) as never
      }
      for (const [what, handler] of Object.entries(dies)) {
        it.effect(`that ${what} tells the model nothing of why`, () =>
          Effect.gen(function* () {
            const { events, settled } = yield* settle(probe(), { replay, handler })
            assert.deepStrictEqual(settled.map(tag), ["ran-error ToolDied"])
            assert.notInclude(JSON.stringify(events), "secret")
          })
        )
      }

      const slow: Readonly<Record<string, Effect.Effect<never>>> = {
        "never returns": Effect.never,
        "does not let itself be interrupted": Effect.uninterruptible(Effect.never),
        "takes for ever to clean up": Effect.onInterrupt(Effect.never, () => Effect.never)
      }
      for (const [what, wait] of Object.entries(slow)) {
        it.effect(`that ${what} is stopped`, () =>
          Effect.gen(function* () {
            const begun = yield* Deferred.make<void>()
            const handler: Handled = () => Effect.zipRight(Deferred.succeed(begun, undefined), wait)
            const fiber = yield* Effect.fork(settle(probe(), { replay, handler }))
            yield* Deferred.await(begun)
            yield* TestClock.adjust("4999 millis")
            assert.isNull(fiber.unsafePoll())
            yield* TestClock.adjust("1 millis")
            const { pending, settled } = yield* Fiber.join(fiber)
            const again = replay === "pure" || replay === "idempotent"
            assert.deepStrictEqual(settled.map(tag), [again ? "ran-error ToolTimedOut" : "unknown ToolOutcomeUnknown"])
            assert.strictEqual(settled[0]?.durationMs, 5_000)
            const where = 'call "a", key ["r",1,"a"], sent at 1970-01-01T00:00:00.000Z'
            assert.strictEqual(settled[0]?.error?.where, again ? undefined : where)
            assert.lengthOf(pending, again ? 0 : 1)
          })
        )
      }
    })
  }

  it.effect("that takes its time and returns is not stopped", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const handler: Handled = () =>
        Effect.as(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.sleep("4 seconds")), "late")
      const fiber = yield* Effect.fork(settle(probe(), { handler }))
      yield* Deferred.await(begun)
      yield* TestClock.adjust("4 seconds")
      const { settled } = yield* Fiber.join(fiber)
      assert.deepInclude(settled[0], { outcome: "ran-ok", served: "late", durationMs: 4_000 })
    })
  )

  it.effect("whose error does not fit its schema is an error all the same", () =>
    Effect.gen(function* () {
      const { settled } = yield* settle(probe(), { handler: () => Effect.fail({ reason: 7, secret: "secret" }) })
      assert.deepStrictEqual(settled.map(tag), ["ran-error ToolFailed"])
      assert.notInclude(settled[0]?.served, "secret")
    })
  )

  it.effect("whose error cannot be written is an error all the same", () =>
    Effect.gen(function* () {
      const { settled } = yield* settle(probe(), { failure: Schema.Unknown, handler: () => Effect.fail(1n) })
      assert.deepStrictEqual(settled.map(tag), ["ran-error ToolFailed"])
    })
  )

  it.effect("whose error is long has it cut", () =>
    Effect.gen(function* () {
      const { settled } = yield* settle(probe(), { handler: () => Effect.fail({ reason: "x".repeat(100_000) }) })
      assert.isAtMost(settled[0]?.served.length ?? 0, 2_000)
    })
  )

  const cyclic: Record<string, unknown> = {}
  cyclic["self"] = cyclic
  const invalid: Readonly<Record<string, Options>> = {
    "of a wrong type": { success: Schema.Struct({ n: Schema.Number }), handler: () => Effect.succeed({ n: "1" }) },
    "that its schema refuses": { success: Schema.Positive, handler: () => Effect.succeed(-1) },
    "of a big number": { handler: () => Effect.succeed(1n) },
    "that contains itself": { handler: () => Effect.succeed(cyclic) },
    "that throws when it is written": {
      handler: () =>
        Effect.succeed({
          toJSON: () => {
            throw new Error("secret")
          }
        })
    }
  }
  for (const [what, options] of Object.entries(invalid)) {
    it.effect(`with a result ${what} ran, and its result is withheld`, () =>
      Effect.gen(function* () {
        const { settled } = yield* settle(probe(), options)
        assert.deepStrictEqual(settled.map(tag), ["ran-error ToolOutputInvalid"])
        assert.strictEqual(settled[0]?.error?.outcome, "applied")
      })
    )
  }

  it.effect("with a result that is too large ran, and its result is withheld", () =>
    Effect.gen(function* () {
      const of = (length: number) =>
        Effect.map(
          settle(probe(), { maxResultChars: 10, handler: () => Effect.succeed("x".repeat(length)) }),
          ({ settled }) => settled.map(tag)
        )
      assert.deepStrictEqual(yield* of(10), ["ran-ok"])
      assert.deepStrictEqual(yield* of(11), ["ran-error ToolOutputTooLarge"])
      const { settled } = yield* settle(probe(), { handler: () => Effect.succeed("x".repeat(262_145)) })
      assert.deepStrictEqual(settled.map(tag), ["ran-error ToolOutputTooLarge"])
      assert.isAtMost(settled[0]?.served.length ?? 0, 1_000)
    })
  )

  it.effect("with half a surrogate pair in its result has it replaced", () =>
    Effect.gen(function* () {
      const text = yield* settle(probe(), { handler: () => Effect.succeed("a\ud800b") })
      assert.deepInclude(text.settled[0], { outcome: "ran-ok", served: "a\ufffdb" })
      const inside = yield* settle(probe(), { handler: () => Effect.succeed({ text: "a\ud800" }) })
      assert.deepInclude(inside.settled[0], { outcome: "ran-ok" })
    })
  )

  it.effect("has its result encoded as its schema says", () =>
    Effect.gen(function* () {
      const success = Schema.Struct({ at: Schema.Date })
      const handler: Handled = () => Effect.succeed({ at: new Date(0) })
      const { settled } = yield* settle(probe(), { success, handler })
      assert.strictEqual(settled[0]?.served, '{"at":"1970-01-01T00:00:00.000Z"}')
    })
  )
})

describe("Replay.of", () => {
  const bare = Tool.make("t")
  const cases: ReadonlyArray<readonly [what: string, tool: Tool.Any, replay: Event.ReplayClass]> = [
    ["nothing", bare, "never"],
    ["Readonly", bare.annotate(Tool.Readonly, true), "pure"],
    ["Readonly false", bare.annotate(Tool.Readonly, false), "never"],
    ["Idempotent", bare.annotate(Tool.Idempotent, true), "idempotent"],
    ["Readonly and Idempotent", bare.annotate(Tool.Readonly, true).annotate(Tool.Idempotent, true), "pure"],
    ["Replay over Readonly", bare.annotate(Tool.Readonly, true).annotate(Replay.Replay, "never"), "never"],
    ...classes.map((replay) => [`Replay ${replay}`, bare.annotate(Replay.Replay, replay), replay] as const)
  ]
  for (const [what, tool, replay] of cases) {
    it(`takes a tool with ${what} for ${replay}`, () => assert.strictEqual(Replay.of(tool), replay))
  }
})

describe("Timeout.of", () => {
  it("is what the tool says, or two minutes", () => {
    const bare = Tool.make("t")
    assert.deepStrictEqual(Timeout.of(bare), Duration.minutes(2))
    assert.deepStrictEqual(Timeout.of(bare.annotate(Timeout.Timeout, "7 seconds")), Duration.seconds(7))
    assert.deepStrictEqual(Timeout.of(bare.annotate(Timeout.Timeout, 7)), Duration.millis(7))
  })
})

describe("A call of a tool whose schema runs code", () => {
  it.effect("is refused where that code dies on its arguments, and the run goes on", () =>
    Effect.gen(function* () {
      const Loud = Schema.transform(Schema.String, Schema.String, {
        strict: true,
        decode: (text) => {
          if (text === "boom") throw new Error("secret")
          return text
        },
        encode: (text) => text
      })
      const toolkit = Toolkit.make(Tool.make("shout", { parameters: { text: Loud }, success: Schema.String }))
      const agent = Agent.make({ name: "a", instructions: "Shout.", toolkit })
      const script = [LLM.call("shout", { text: "boom" }, "a"), LLM.call("shout", { text: "oh" }, "b"), "Done."]
      const handlers = toolkit.toLayer({ shout: ({ text }) => Effect.succeed(text) })
      yield* Agent.run(agent, "Go.", { runId: "r" }).pipe(Effect.provide([handlers, LLM.layerScripted(script)]))
      const events = yield* Shop.events("r")
      assert.deepStrictEqual(
        events.flatMap((event) => (event._tag === "ToolSettled" ? [tag(event)] : [])),
        ["refused ToolArgsInvalid", "ran-ok"]
      )
      assert.notInclude(JSON.stringify(events), "secret")
    }).pipe(Effect.provide(Shop.services))
  )
})
