import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Chunk, Context, Deferred, Effect, Fiber, Layer, Option, Schema, Stream } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import type * as Loop from "../../src/programs/Loop.ts"
import type * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

const plain = Agent.make({ name: "plain", instructions: "Be brief." })

const withModel = (steps: LLM.Steps) => Effect.provide(LLM.layerScripted(steps))
const withServices = Effect.provide(Shop.services)

describe("Agent.run", () => {
  it.effect("answers, and has the whole of it on the record", () =>
    Effect.gen(function* () {
      const outcome = yield* Agent.run(Shop.agent, "Sell.", { runId: "r" }).pipe(withModel(Shop.model))
      const events = yield* Shop.events("r")
      const state = Run.fold(events)
      assert.deepStrictEqual(state.violations, [])
      assert.deepInclude(outcome, { runId: "r", status: "answered", passes: 4, pending: [] })
      assert.strictEqual(outcome.answer, state.answered?.content)
      assert.deepInclude(state.started, {
        agent: "shop",
        input: "Sell.",
        manifest: { limits: { passes: 10 }, checks: { posture: "live" }, unknown: "tell" }
      })
      const asked = events.find(({ _tag }) => _tag === "ModelCalled")
      assert.deepInclude(asked, { provider: "scripted", model: "script" })
    }).pipe(Effect.provide(Shop.handlers([])), withServices)
  )

  it.effect("sends the instructions first, then the pieces in order, the tools and the parameters", () =>
    Effect.gen(function* () {
      const agent = Agent.make({
        name: "a",
        instructions: "One.",
        pieces: [Piece.fact("two", "Two."), Piece.steering("three", "Three.")],
        toolkit: Shop.toolkit,
        parameters: { temperature: 0, seed: 7 }
      })
      yield* Agent.run(agent, "Go.")
      const script = yield* LLM.Script
      const [wire] = yield* script.calls
      assert.deepStrictEqual(
        wire?.system.map(({ id, text }) => [id, text]),
        [
          ["instructions", "One."],
          ["two", "Two."],
          ["three", "Three."]
        ]
      )
      assert.deepStrictEqual(
        wire?.tools.map(({ tool }) => tool.name),
        ["price", "note", "order"]
      )
      assert.strictEqual(wire?.tools[0]?.tool.description, "What an article costs.")
      assert.deepStrictEqual(wire?.parameters, { temperature: 0, seed: 7 })
      assert.deepStrictEqual(
        wire?.messages.map(({ message }) => message),
        [{ role: "user", content: "Go." }]
      )
    }).pipe(Effect.provide(Shop.handlers([])), withModel(["Done."]), withServices)
  )

  it.effect("makes up a run id when it is given none, and another the next time", () =>
    Effect.gen(function* () {
      const one = yield* Agent.run(plain, "Go.")
      const two = yield* Agent.run(plain, "Go.")
      assert.match(one.runId, /^[a-z0-9]{10}$/)
      assert.notStrictEqual(one.runId, two.runId)
    }).pipe(withModel(["1", "2"]), withServices)
  )

  it.effect("refuses a run id that the record refuses", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Agent.run(plain, "Go.", { runId: "../r" }))
      assert.deepInclude(error, { _tag: "RecordError", reason: "InvalidRunId" })
    }).pipe(withModel([]), withServices)
  )

  it.effect("stores no half of a surrogate pair of its input", () =>
    Effect.gen(function* () {
      yield* Agent.run(plain, "a\ud800", { runId: "r" })
      assert.deepInclude((yield* Shop.events("r"))[0], { input: "a\ufffd" })
    }).pipe(withModel(["Done."]), withServices)
  )

  it.effect("takes a reply of nothing for an answer of nothing", () =>
    Effect.gen(function* () {
      const { answer, status } = yield* Agent.run(plain, "Go.")
      assert.deepStrictEqual([status, answer], ["answered", ""])
    }).pipe(withModel([""]), withServices)
  )

  it.effect("says what a model spoke before it called a tool", () =>
    Effect.gen(function* () {
      yield* Agent.run(Shop.agent, "Go.", { runId: "r" })
      const [, reply] = Run.fold(yield* Shop.events("r")).messages
      assert.deepInclude(reply?.message, { role: "assistant", content: "Let me see." })
    }).pipe(
      Effect.provide(Shop.handlers([])),
      withModel([{ ...LLM.call("price", { article: "lamp" }), text: "Let me see." }, "Done."]),
      withServices
    )
  )
})

describe("Agent.without", () => {
  it.effect("asks the same without some of the pieces", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", instructions: "1", pieces: [Piece.fact("b", "2"), Piece.fact("c", "3")] })
      yield* Agent.run(Agent.without(agent, "b", "instructions"), "Go.")
      const script = yield* LLM.Script
      const [wire] = yield* script.calls
      assert.deepStrictEqual(
        wire?.system.map(({ id }) => id),
        ["c"]
      )
    }).pipe(withModel(["Done."]), withServices)
  )
})

describe("A definition or an input that cannot be run", () => {
  const tool = (name: string) => Toolkit.make(Tool.make(name))
  /** Nothing of it is run, so that it needs no handlers. */
  const bare = (agent: Agent.Agent<never> | Agent.Agent<unknown>): Agent.Agent => ({
    ...agent,
    handlers: Effect.succeed(new Map())
  })
  const cases: ReadonlyArray<
    readonly [what: string, agent: Agent.Agent<never> | Agent.Agent<unknown>, problem: RegExp]
  > = [
    ["no name", Agent.make({ name: " ", instructions: "" }), /no name/],
    ["a piece without an id", Agent.make({ name: "a", instructions: "", pieces: [Piece.fact("", "x")] }), /has no id/],
    [
      "two pieces of one id",
      Agent.make({ name: "a", instructions: "", pieces: [Piece.fact("b", "1"), Piece.fact("b", "2")] }),
      /Two pieces have the id "b"/
    ],
    [
      "a piece that takes the id of the instructions",
      Agent.make({ name: "a", instructions: "", pieces: [Piece.fact("instructions", "1")] }),
      /Two pieces have the id "instructions"/
    ],
    ["half a surrogate pair", Agent.make({ name: "a", instructions: "\ud800" }), /lone surrogate/],
    ["a tool without a name", Agent.make({ name: "a", instructions: "", toolkit: tool("") }), /must have a name/],
    ["a tool with a space", Agent.make({ name: "a", instructions: "", toolkit: tool("a b") }), /must have a name/],
    ["a tool with a long name", Agent.make({ name: "a", instructions: "", toolkit: tool("x".repeat(65)) }), /1 to 64/],
    ["half a pass", Agent.make({ name: "a", instructions: "", budget: { passes: 1.5 } }), /budget.passes .* whole/],
    [
      "half a call",
      Agent.make({ name: "a", instructions: "", budget: { toolCalls: 0.5 } }),
      /budget.toolCalls .* whole/
    ],
    ["half a token", Agent.make({ name: "a", instructions: "", budget: { tokens: 0.5 } }), /budget.tokens .* whole/],
    [
      "passes below zero",
      Agent.make({ name: "a", instructions: "", budget: { passes: -1 } }),
      /budget.passes .* negative/
    ],
    [
      "passes that are no number",
      Agent.make({ name: "a", instructions: "", budget: { passes: NaN } }),
      /budget.passes/
    ],
    [
      "wall time without an end",
      Agent.make({ name: "a", instructions: "", budget: { wallTime: Infinity } }),
      /budget.wallTimeMs/
    ],
    ["no concurrency", Agent.make({ name: "a", instructions: "", concurrency: 0 }), /concurrency/],
    ["half a call at once", Agent.make({ name: "a", instructions: "", concurrency: 1.5 }), /concurrency/],
    ["results below nothing", Agent.make({ name: "a", instructions: "", maxResultChars: -1 }), /maxResultChars/],
    ["results that are no number", Agent.make({ name: "a", instructions: "", maxResultChars: NaN }), /maxResultChars/],
    [
      "results that no record holds",
      Agent.make({ name: "a", instructions: "", maxResultChars: 9e6 }),
      /maxResultChars/
    ],
    [
      "a temperature that is no number",
      Agent.make({ name: "a", instructions: "", parameters: { temperature: NaN } }),
      /parameters/
    ],
    ["a name that is no text", Agent.make({ name: "a\ud800", instructions: "" }), /lone surrogate/],
    [
      "a piece with the id of a message",
      Agent.make({ name: "a", instructions: "", pieces: [Piece.fact("message:0", "x")] }),
      /as those of the runtime/
    ],
    [
      "a piece that no record holds",
      Agent.make({ name: "a", instructions: "", pieces: [Piece.fact("long", "x".repeat(2_000_001))] }),
      /longer than/
    ],
    [
      "a tool whose parameters no model can be told",
      Agent.make({
        name: "a",
        instructions: "",
        toolkit: Toolkit.make(Tool.make("when", { parameters: { at: Schema.DateFromSelf } }))
      }),
      /no JSON Schema/
    ]
  ]
  for (const [what, agent, problem] of cases) {
    it.effect(`is refused for ${what}, and nothing is recorded`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Agent.run(bare(agent), "Go.", { runId: "r" }))
        assert.strictEqual(error._tag, "InvalidAgent")
        if (error._tag !== "InvalidAgent") return
        assert.isNotEmpty(error.problems)
        for (const one of error.problems) {
          assert.match(one, problem)
          assert.include(error.message, one)
        }
        const record = yield* Record.Record
        assert.deepStrictEqual((yield* record.list()).runs, [])
      }).pipe(withModel([]), withServices)
    )
  }

  it.effect("is told everything that is wrong with it, by each way to use it", () =>
    Effect.gen(function* () {
      const bad = Agent.make({
        name: "",
        instructions: "\udc00",
        pieces: [Piece.fact("", "")],
        budget: { passes: -0.5, tokens: -1 },
        concurrency: -1
      })
      const uses = [Agent.run(bad, ""), Agent.resume(bad, "r"), Agent.followUp(bad, "r", "")]
      for (const [index, use] of uses.entries()) {
        const error = yield* Effect.flip(use)
        assert.strictEqual(error._tag, "InvalidAgent")
        assert.lengthOf(error._tag === "InvalidAgent" ? error.problems : [], index === 1 ? 7 : 8)
      }
    }).pipe(withModel([]), withServices)
  )

  it.effect("is refused for an input of nothing", () =>
    Effect.gen(function* () {
      for (const input of ["", " \n"]) {
        const error = yield* Effect.flip(Agent.run(plain, input))
        assert.deepInclude(error, { _tag: "InvalidAgent", problems: ["The input is empty."] })
      }
    }).pipe(withModel([]), withServices)
  )
})

describe("An agent without the handlers of its tools", () => {
  it.effect("is refused before anything is recorded", () =>
    Effect.gen(function* () {
      const agent = { ...Shop.agent, handlers: Effect.succeed(new Map()) }
      const error = yield* Effect.flip(Agent.run(agent, "Sell.", { runId: "r" })).pipe(withModel([]))
      assert.strictEqual(error._tag, "InvalidAgent")
      assert.include(error.message, "handler")
      const record = yield* Record.Record
      assert.isEmpty((yield* record.list()).runs)
    }).pipe(withServices)
  )
})

describe("A model that fails", () => {
  it.effect("fails the run with its own error, and the record has the end", () =>
    Effect.gen(function* () {
      const fault = LLM.failure("Unavailable", { what: "It is down.", retry: "never" })
      const error = yield* Effect.flip(Agent.run(plain, "Go.", { runId: "r" })).pipe(
        withModel([{ deltas: ["some ", "text"], fault }])
      )
      assert.deepStrictEqual({ ...error }, { ...fault, runId: "r" })
      const events = yield* Shop.events("r")
      assert.deepInclude(events.at(-3), { _tag: "ModelFailed", reason: "Unavailable" })
      assert.deepInclude(events.at(-1), { _tag: "RunEnded", status: "failed", passes: 1 })
      assert.deepStrictEqual(Run.fold(events).violations, [])
    }).pipe(withServices)
  )

  it.effect("has its partial text counted, and not kept", () =>
    Effect.gen(function* () {
      const broken = LLM.fail("StreamBroken", { deltas: ["some ", "text"], after: 2 })
      const error = yield* Effect.flip(Agent.run(plain, "Go.", { runId: "r" })).pipe(withModel([broken]))
      assert.deepInclude(error, { _tag: "LLMError", reason: "StreamBroken" })
      const failed = (yield* Shop.events("r")).at(-3)
      assert.deepInclude(failed, { _tag: "ModelFailed", partialChars: 9 })
      assert.notInclude(JSON.stringify(failed), "some text")
    }).pipe(withServices)
  )

  it.effect("leaves a run that gives its stop again when it is resumed, and asks nothing", () =>
    Effect.gen(function* () {
      yield* Effect.flip(Agent.run(plain, "Go.", { runId: "r" })).pipe(withModel([LLM.fail("Auth")]))
      const before = yield* Shop.events("r")
      assert.isFalse("partialChars" in (before.at(-3) ?? {}), "what there was none of is absent, not zero")
      const outcome = yield* Agent.resume(plain, "r").pipe(withModel([]))
      assert.deepInclude(outcome, { status: "stopped", passes: 1 })
      assert.deepInclude(outcome.reason, { tag: "ModelFailed", code: "WF-LLM-001" })
      assert.isFalse("answer" in outcome)
      assert.deepStrictEqual(yield* Shop.events("r"), before)
    }).pipe(withServices)
  )

  it.effect("that says it was cut before it wrote anything, has not answered", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Agent.run(plain, "Go.")).pipe(withModel([{ text: "", stopReason: "length" }]))
      assert.deepInclude(error, { _tag: "LLMError", reason: "Rejected" })
    }).pipe(withServices)
  )
})

describe("Agent.resume", () => {
  it.effect("knows no run that is not on the record", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Agent.resume(plain, "none"))
      assert.deepInclude(error, { _tag: "RecordError", reason: "RunNotFound" })
    }).pipe(withModel([]), withServices)
  )
})

describe("Agent.followUp", () => {
  const carried = (events: ReadonlyArray<Event.Event>) =>
    events.flatMap((event) => (event._tag === "MessageCarried" ? [event] : []))

  it.effect("carries the whole conversation into a new run", () =>
    Effect.gen(function* () {
      yield* Agent.run(Shop.agent, "Sell.", { runId: "one" }).pipe(withModel(Shop.model))
      const before = Run.fold(yield* Shop.events("one"))
      const steps: LLM.Steps = [LLM.call("price", { article: "lamp" }, "p"), "Done."]
      const outcome = yield* Agent.followUp(Shop.agent, "one", "And now?", { runId: "two" }).pipe(withModel(steps))
      assert.deepInclude(outcome, { runId: "two", status: "answered", answer: "Done.", passes: 2 })
      const events = yield* Shop.events("two")
      assert.deepInclude(events[0], { _tag: "RunStarted", followUpOf: "one", input: "And now?" })
      assert.deepStrictEqual(
        carried(events).map(({ message }) => message),
        before.messages.map(({ message }) => message)
      )
      assert.deepStrictEqual(
        carried(events).map(({ from }) => from),
        before.messages.map(({ seq }) => ({ runId: "one", seq }))
      )
      const state = Run.fold(events)
      assert.deepStrictEqual(state.violations, [])
      const said = state.messages.map(({ message }) => message.content)
      assert.strictEqual(said[before.messages.length], "And now?")
    }).pipe(Effect.provide(Shop.handlers([])), withServices)
  )

  it.effect("keeps the first origin over a chain of runs", () =>
    Effect.gen(function* () {
      yield* Agent.run(plain, "First?", { runId: "r0" })
      for (const n of [1, 2, 3]) yield* Agent.followUp(plain, `r${n - 1}`, `And ${n}?`, { runId: `r${n}` })
      const last = yield* Shop.events("r3")
      assert.deepStrictEqual(
        carried(last).map(({ from, message }) => [from.runId, message.content]),
        [
          ["r0", "First?"],
          ["r0", "0"],
          ["r1", "And 1?"],
          ["r1", "1"],
          ["r2", "And 2?"],
          ["r2", "2"]
        ]
      )
      for (const { from, message } of carried(last)) {
        const origin = Run.fold(yield* Shop.events(from.runId)).messages.find(({ seq }) => seq === from.seq)
        assert.deepStrictEqual(origin?.message, message)
      }
    }).pipe(withModel(["0", "1", "2", "3"]), withServices)
  )

  it.effect("goes on from a run that was stopped, with what it learned", () =>
    Effect.gen(function* () {
      const brief = Agent.make({ name: "a", instructions: "", toolkit: Shop.toolkit, budget: { passes: 1 } })
      const steps: LLM.Steps = [LLM.call("price", { article: "lamp" }), "It costs 4000."]
      yield* Effect.gen(function* () {
        const first = yield* Agent.run(brief, "How much?", { runId: "one" })
        assert.strictEqual(first.status, "stopped")
        const next = yield* Agent.followUp(brief, "one", "Go on.", { runId: "two" })
        assert.strictEqual(next.answer, "It costs 4000.")
        assert.lengthOf(carried(yield* Shop.events("two")), 3)
      }).pipe(withModel(steps))
    }).pipe(Effect.provide(Shop.handlers([])), withServices)
  )

  it.effect("is seen while it goes on", () =>
    Effect.gen(function* () {
      yield* Effect.gen(function* () {
        yield* Agent.run(plain, "First.", { runId: "one" })
        const seen = yield* Stream.runCollect(Agent.followUpStream(plain, "one", "Second.", { runId: "two" }))
        const recorded = Array.from(seen).flatMap((one) => (one._tag === "Recorded" ? [one.event] : []))
        assert.deepStrictEqual(recorded, yield* Shop.events("two"))
        assert.strictEqual(recorded.at(-1)?._tag, "RunEnded")
      }).pipe(withModel(["One.", "Two."]))
    }).pipe(withServices)
  )

  it.effect("refuses a run that is open, and one that is not there", () =>
    Effect.gen(function* () {
      const record = yield* Record.Record
      yield* record.append("open", 0, [
        { _tag: "RunStarted", runId: "open", agent: "a", manifest: { limits: {} }, input: "Go." }
      ])
      assert.deepInclude(yield* Effect.flip(Agent.followUp(plain, "open", "More.")), { _tag: "RunOpen", runId: "open" })
      assert.deepInclude(yield* Effect.flip(Agent.followUp(plain, "none", "More.")), { reason: "RunNotFound" })
      assert.lengthOf((yield* record.list()).runs, 1)
    }).pipe(withModel([]), withServices)
  )

  it.effect("can be stopped at any event and resumed, as any run", () =>
    Effect.gen(function* () {
      yield* Agent.run(plain, "First?", { runId: "one" }).pipe(withModel(["1"]))
      yield* Agent.followUp(plain, "one", "And?", { runId: "two" }).pipe(withModel(["2"]))
      const events = yield* Shop.events("two")
      // Before its own message is on the record, the follow-up has only what was carried.
      for (
        let length = events.findIndex(({ _tag }) => _tag === "MessageReceived") + 1;
        length <= events.length;
        length++
      ) {
        yield* Effect.gen(function* () {
          const record = yield* Record.Record
          yield* record.append("two", 0, events.slice(0, length))
          yield* Agent.resume(plain, "two")
          assert.deepStrictEqual(yield* Shop.events("two"), events)
        }).pipe(withModel(["2"]), Effect.provide(Layer.fresh(Shop.services)))
      }
    }).pipe(withServices)
  )
})

describe("Agent.stream", () => {
  const collect = (stream: Stream.Stream<Loop.Progress, Agent.AgentError, Agent.Services>) =>
    Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

  it.effect("shows each entry once it is on the record, and each part as it comes", () =>
    Effect.gen(function* () {
      const seen = yield* collect(Agent.stream(plain, "Go.", { runId: "r" }))
      const recorded = seen.flatMap((one) => (one._tag === "Recorded" ? [one] : []))
      assert.deepStrictEqual(
        recorded.map(({ event }) => event),
        yield* Shop.events("r")
      )
      assert.deepStrictEqual(
        recorded.map(({ seq }) => seq),
        recorded.map((_, index) => index)
      )
      assert.deepInclude(seen.at(-1), { _tag: "Recorded" })
      const parts = seen.flatMap((one) => (one._tag === "Received" ? one.parts : []))
      assert.deepStrictEqual(
        parts.map((part) => (part._tag === "Text" ? part.delta : part._tag)),
        ["a", "b", "c", "Finish"]
      )
      // The parts stand between the call and the reply.
      const story = seen.map((one) => (one._tag === "Recorded" ? one.event._tag : one._tag))
      assert.isAbove(story.indexOf("Received"), story.indexOf("ModelCalled"))
      assert.isBelow(story.lastIndexOf("Received"), story.indexOf("ModelReplied"))
      assert.lengthOf(
        story.filter((tag) => tag === "RunEnded"),
        1
      )
    }).pipe(withModel([{ deltas: ["a", "b", "c"] }]), withServices)
  )

  it.effect("ends with the error that the run fails with, after its terminal event", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const error = yield* Agent.stream(plain, "Go.").pipe(
        Stream.runForEach((one) => Effect.sync(() => seen.push(one._tag === "Recorded" ? one.event._tag : one._tag))),
        Effect.flip
      )
      assert.strictEqual(error._tag, "LLMError")
      assert.strictEqual(seen.at(-1), "RunEnded")
    }).pipe(withModel([LLM.fail("Auth")]), withServices)
  )

  it.effect("interrupts the run when nobody listens any more", () =>
    Effect.gen(function* () {
      const slow = LLM.say("Done.", { delay: "1 hour" })
      const stream = Agent.stream(plain, "Go.", { runId: "r" })
      const asked = Stream.takeUntil(stream, (one) => one._tag === "Recorded" && one.event._tag === "ModelCalled")
      yield* Stream.runDrain(asked).pipe(withModel([slow]))
      const last = (yield* Shop.events("r")).at(-1)
      assert.deepInclude(last, { _tag: "RunEnded", status: "stopped" })
      assert.strictEqual(last?._tag === "RunEnded" ? last.reason?.tag : undefined, "Interrupted")
    }).pipe(withServices)
  )

  it.effect("interrupts the run when the listener is interrupted", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const slow: LLM.Step = () => {
        Deferred.unsafeDone(asked, Effect.void)
        return LLM.say("Done.", { delay: "1 hour" })
      }
      const fiber = yield* Effect.fork(Stream.runDrain(Agent.stream(plain, "Go.", { runId: "r" }))).pipe(
        withModel([slow])
      )
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      assert.deepInclude((yield* Shop.events("r")).at(-1), { _tag: "RunEnded", status: "stopped" })
    }).pipe(withServices)
  )

  it.effect("shows what is new of a run that is resumed", () =>
    Effect.gen(function* () {
      yield* Agent.run(plain, "Go.", { runId: "r" })
      const events = yield* Shop.events("r")
      yield* Effect.gen(function* () {
        const record = yield* Record.Record
        yield* record.append("r", 0, events.slice(0, 3))
        const seen = yield* collect(Agent.resumeStream(plain, "r"))
        const recorded = seen.flatMap((one) => (one._tag === "Recorded" ? [one.seq] : []))
        assert.deepStrictEqual(recorded, events.map((_, index) => index).slice(3))
        assert.deepStrictEqual(yield* Shop.events("r"), events)
      }).pipe(Effect.provide(Layer.fresh(Shop.services)))
    }).pipe(withModel(Object.assign(() => "Done.", {})), withServices)
  )
})

describe("The types of an agent", () => {
  class Till extends Context.Tag("Till")<Till, { readonly open: Effect.Effect<string> }>() {}
  const Sum = Tool.make("sum", { success: Schema.String, dependencies: [Till] })
  const kit = Toolkit.make(Shop.Price, Sum)
  const agent = Agent.make({ name: "a", instructions: "", toolkit: kit })

  it("ask for the handlers of its tools, and for what the tools depend on", () => {
    const run = Agent.run(agent, "Go.")
    expectTypeOf<Effect.Effect.Context<typeof run>>().toEqualTypeOf<
      LLM.LLM | Record.Record | ArtifactStore.ArtifactStore | Tool.Handler<"price"> | Tool.Handler<"sum"> | Till
    >()
    expectTypeOf<Effect.Effect.Error<typeof run>>().toEqualTypeOf<Agent.AgentError>()
    expectTypeOf<
      Stream.Stream.Context<ReturnType<typeof Agent.stream<Agent.Handlers<typeof kit.tools>, undefined>>>
    >().toEqualTypeOf<Effect.Effect.Context<typeof run>>()
    const bare = Agent.run(plain, "Go.")
    expectTypeOf<Effect.Effect.Context<typeof bare>>().toEqualTypeOf<Agent.Services>()
    // A run whose handlers are missing cannot be run.
    expectTypeOf(run).not.toMatchTypeOf<Effect.Effect<unknown, unknown, Agent.Services>>()
    expectTypeOf(bare).toMatchTypeOf<Effect.Effect<unknown, unknown, Agent.Services>>()
  })

  it.effect("and give the handlers what the run has", () =>
    Effect.gen(function* () {
      const handlers = kit.toLayer({
        price: () => Effect.succeed({ article: "", price: 0 }),
        sum: () => Effect.flatMap(Till, ({ open }) => open)
      })
      const { answer } = yield* Agent.run(agent, "Go.").pipe(
        Effect.provide(handlers),
        Effect.provideService(Till, { open: Effect.succeed("47") })
      )
      assert.strictEqual(answer, "47")
      assert.isTrue(Option.isNone(yield* Effect.serviceOption(Till)))
    }).pipe(
      withModel([
        LLM.call("sum"),
        (wire) => {
          const last = wire.messages.at(-1)?.message
          return last?.role === "tool" ? last.content : "nothing"
        }
      ]),
      withServices
    )
  )
})
