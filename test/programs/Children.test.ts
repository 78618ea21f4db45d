import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Deferred, Effect, Fiber, Layer, Schema } from "effect"
import * as Children from "../../src/kernel/Children.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as Usage from "../../src/kernel/Usage.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as ScreenEnd from "../../src/programs/ScreenEnd.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

const look = Tool.make("look", { parameters: { shelf: Schema.Number }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const looking = Toolkit.make(look)
const handlers = looking.toLayer({ look: ({ shelf }) => Effect.succeed(`shelf ${shelf} has ${shelf * 2} books`) })

const counterOf = (budget: Agent.Limits = {}) =>
  Agent.make({ name: "counter", instructions: "You are the counter.", toolkit: looking, budget })

const family = (
  budgets: { readonly parent?: Agent.Limits; readonly child?: Agent.Limits; readonly isReading?: boolean } = {}
) => {
  const ask = Agent.toTool(counterOf(budgets.child), {
    name: "ask_counter",
    description: "Asks one who counts.",
    parameters: { shelf: Schema.Number },
    input: ({ shelf }) => `Count shelf ${shelf}.`,
    readonly: budgets.isReading ?? true
  })
  const toolkit = Toolkit.make(ask.tool)
  const agent = Agent.make({
    name: "librarian",
    instructions: "You are the librarian.",
    toolkit,
    budget: budgets.parent ?? {}
  })
  return { agent, layer: ask.layer.pipe(Layer.provide(handlers)) }
}

const isCounter = (wire: Parameters<LLM.Chooser>[0]): boolean => wire.system[0]?.text === "You are the counter."
const ask = (...shelves: ReadonlyArray<number>) =>
  LLM.together(...shelves.map((shelf) => LLM.call("ask_counter", { shelf }, `s${shelf}`)))
const usage = { inputTokens: 10, outputTokens: 5 }

/** The librarian asks of the shelves at once and then answers; a counter looks once and then answers. */
const script =
  (...shelves: ReadonlyArray<number>): LLM.Chooser =>
  (wire) => {
    const last = wire.messages.at(-1)?.message
    const said = last?.role === "tool" ? last.content : ""
    if (!isCounter(wire))
      return wire.iteration === 1 ? { ...ask(...shelves), usage } : { ...LLM.say("All counted."), usage }
    const shelf = Number(/\d+/.exec(wire.messages[0]?.message.content ?? "")?.[0])
    return wire.iteration === 1 ? { ...LLM.call("look", { shelf }), usage } : { ...LLM.say(said), usage }
  }

const childrenOf = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event) => (event._tag === "ChildStarted" ? [event] : []))
const settledOf = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event) => (event._tag === "ChildSettled" ? [event] : []))

const play = (kin: ReturnType<typeof family>, steps: LLM.Steps) =>
  Effect.gen(function* () {
    const outcome = yield* Agent.run(kin.agent, "How many books?", { runId: "parent" })
    return { outcome, events: yield* Shop.events("parent") }
  }).pipe(Effect.provide(Layer.provideMerge(kin.layer, LLM.layerScripted(steps))))

describe("An agent as a tool", () => {
  it.effect("runs with a record of its own, which both name before it starts", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* play(family(), script(3))
      assert.deepInclude(outcome, { status: "answered", answer: "All counted." })
      const [child] = childrenOf(events)
      assert.isDefined(child)
      const tags = events.map(({ _tag }) => _tag)
      assert.isBelow(tags.indexOf("ToolCalled"), tags.indexOf("ChildStarted"))
      assert.isBelow(tags.indexOf("ChildStarted"), tags.indexOf("ChildSettled"))
      assert.isBelow(tags.indexOf("ChildSettled"), tags.indexOf("ToolSettled"))
      const own = yield* Shop.events(child?.runId ?? "")
      assert.deepInclude(own[0], {
        parent: { runId: "parent", iteration: 1, toolCallId: "s3" },
        input: "Count shelf 3."
      })
      const settled = events.find((event) => event._tag === "ToolSettled")
      assert.deepStrictEqual(settled?._tag === "ToolSettled" ? JSON.parse(settled.served) : undefined, {
        runId: child?.runId,
        status: "answered",
        answer: "shelf 3 has 6 books"
      })
      // What it took is its parent's.
      assert.deepStrictEqual(outcome.usage, { inputTokens: 40, outputTokens: 20 })
      assert.strictEqual(outcome.passes, 4)
      assert.deepStrictEqual(Run.fold(events).violations, [])
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("attaches each child to its own call, however many run at once", () =>
    Effect.gen(function* () {
      const shelves = Array.from({ length: 8 }, (_, index) => index + 1)
      const { events } = yield* play(family({ parent: { passes: 100 } }), script(...shelves))
      const kids = childrenOf(events)
      assert.lengthOf(new Set(kids.map(({ runId }) => runId)), 8)
      for (const { runId, toolCallId } of kids) {
        const [started] = yield* Shop.events(runId)
        assert.deepInclude(started, {
          parent: { runId: "parent", iteration: 1, toolCallId },
          input: `Count shelf ${toolCallId.slice(1)}.`
        })
        assert.deepInclude(
          settledOf(events).find((one) => one.toolCallId === toolCallId),
          { runId, status: "answered" }
        )
      }
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("is found again and gone on with from every prefix of both records, and never started twice", () =>
    Effect.gen(function* () {
      const kin = family()
      const steps = script(3)
      const whole = yield* Effect.provide(
        Effect.gen(function* () {
          const { events, outcome } = yield* play(kin, steps)
          const runId = childrenOf(events)[0]?.runId ?? ""
          return { events, outcome, runId, own: yield* Shop.events(runId) }
        }),
        Shop.services
      )
      const from = whole.events.findIndex(({ _tag }) => _tag === "ToolCalled") + 1
      const to = whole.events.findIndex(({ _tag }) => _tag === "ChildSettled")
      for (let length = from; length <= to; length++) {
        for (let own = 0; own <= whole.own.length; own++) {
          yield* Effect.gen(function* () {
            const record = yield* Record.Record
            yield* record.append("parent", 0, whole.events.slice(0, length))
            if (own > 0) yield* record.append(whole.runId, 0, whole.own.slice(0, own))
            const outcome = yield* Agent.resume(kin.agent, "parent")
            assert.deepStrictEqual(outcome, whole.outcome)
            assert.deepStrictEqual(yield* Shop.events("parent"), whole.events)
            assert.deepStrictEqual(yield* Shop.events(whole.runId), whole.own)
          }).pipe(Effect.provide(kin.layer), Effect.provide([LLM.layerScripted(steps), Shop.services]))
        }
      }
    })
  )

  it.effect("takes no run for its child that its call did not start", () =>
    Effect.gen(function* () {
      const record = yield* Record.Record
      const runId = Children.idOf(JSON.stringify(["parent", 1, "s3"]))
      const forged: Event.RunStarted = {
        _tag: "RunStarted",
        runId,
        agent: "counter",
        manifest: { limits: {} },
        input: "Count shelf 3.",
        parent: { runId: "another", iteration: 1, toolCallId: "s3" }
      }
      yield* record.append(runId, 0, [forged])
      const { events } = yield* play(family(), script(3))
      assert.strictEqual(childrenOf(events)[0]?.runId, runId)
      assert.lengthOf(settledOf(events), 0)
      const settled = events.find((event) => event._tag === "ToolSettled")
      assert.deepInclude(settled, { outcome: "ran-error" })
      assert.deepStrictEqual(yield* Shop.events(runId), [forged])
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("is interrupted with its parent: both end, the child first, and what it took is counted", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const kin = family()
      const steps: LLM.Chooser = (wire) => {
        if (!isCounter(wire)) return { ...ask(1, 2), usage }
        if (wire.iteration === 1) return { ...LLM.call("look", { shelf: 1 }), usage }
        Effect.runSync(Deferred.succeed(asked, undefined))
        return { delay: "1 hour", text: "late" }
      }
      const fiber = yield* Effect.fork(play(kin, steps))
      yield* Deferred.await(asked)
      yield* Effect.repeatN(Effect.yieldNow(), 50)
      yield* Fiber.interrupt(fiber)
      const events = yield* Shop.events("parent")
      assert.deepInclude(events.at(-1), { _tag: "RunEnded", status: "stopped" })
      for (const { runId } of childrenOf(events)) {
        const own = yield* Shop.events(runId)
        assert.deepInclude(own.at(-1), { _tag: "RunEnded", status: "stopped" })
      }
      assert.deepStrictEqual(
        settledOf(events).map(({ status }) => status),
        ["stopped", "stopped"]
      )
      assert.strictEqual(Run.fold(events).spent.passes, 5)
      assert.deepStrictEqual(Run.fold(events).violations, [])
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("that fails is a failure of the call, and the parent goes on", () =>
    Effect.gen(function* () {
      const steps: LLM.Chooser = (wire) => (isCounter(wire) ? LLM.fail("Rejected") : script(1)(wire, 0))
      const { events, outcome } = yield* play(family(), steps)
      assert.strictEqual(outcome.status, "answered")
      assert.deepInclude(
        events.find((event) => event._tag === "ToolSettled"),
        { outcome: "ran-error" }
      )
      assert.deepInclude(settledOf(events)[0], { status: "failed" })
    }).pipe(Effect.provide(Shop.services))
  )
})

describe("What is shown of a run", () => {
  it.effect("names its parent and its children", () =>
    Effect.gen(function* () {
      const { events } = yield* play(family(), script(3))
      const runId = childrenOf(events)[0]?.runId ?? ""
      const textOf = (all: ReadonlyArray<Event.Event>) =>
        ScreenEnd.lines(Run.fold(all), { room: {} })
          .map((line) => line.map(({ text }) => text).join(""))
          .join("\n")
      assert.include(textOf(events), `child    ${runId}, of pass 1: 2 passes`)
      assert.include(textOf(yield* Shop.events(runId)), "parent   parent, call s3 of pass 1")
    }).pipe(Effect.provide(Shop.services))
  )
})

describe("Why.tool", () => {
  it.effect("of a call that started a run names that run, and how to ask on", () =>
    Effect.gen(function* () {
      const { events } = yield* play(family(), script(3))
      const runId = childrenOf(events)[0]?.runId ?? ""
      const told = Why.tool(events, "s3").nodes.flatMap((node) => (node.kind === "root" ? [node.what] : []))
      assert.isTrue(told.some((what) => what.endsWith(`wherefore why ${runId}`)))
    }).pipe(Effect.provide(Shop.services))
  )
})

describe("The budget of a run and its children", () => {
  /** Counters that never stop looking, each time at another shelf. */
  const greedy =
    (...shelves: ReadonlyArray<number>): LLM.Chooser =>
    (wire) =>
      isCounter(wire) ? { ...LLM.call("look", { shelf: wire.iteration }), usage } : script(...shelves)(wire, 0)

  for (const shelves of [[1], [1, 2], [1, 2, 3, 4]]) {
    for (const isReading of [true, false]) {
      it.effect(`is one: ${shelves.length} children ${isReading ? "at once" : "in turn"} cannot spend it twice`, () =>
        Effect.gen(function* () {
          const parent = { passes: 14, tokens: 2_000, toolCalls: 12 }
          const { events, outcome } = yield* play(family({ parent, isReading }), greedy(...shelves))
          const { spent } = Run.fold(events)
          assert.isAtMost(spent.passes, 14)
          assert.isAtMost(spent.toolCalls, 12)
          assert.isAtMost(Usage.total(outcome.usage) ?? 0, 2_000)
          for (const { status } of settledOf(events)) assert.strictEqual(status, "stopped")
          const all = yield* Effect.forEach(childrenOf(events), ({ runId }) => Shop.events(runId))
          const passes = all.reduce((sum, own) => sum + Run.fold(own).spent.passes, 0)
          const own = events.filter(({ _tag }) => _tag === "ModelCalled").length
          assert.strictEqual(spent.passes, passes + own)
          assert.deepStrictEqual(Run.fold(events).violations, [])
        }).pipe(Effect.provide(Shop.services))
      )
    }
  }

  it.effect("is shared before they start: each has its part on the record, or its own limit if that is less", () =>
    Effect.gen(function* () {
      const parent = { passes: 13, toolCalls: 20 }
      const { events } = yield* play(family({ parent, child: { toolCalls: 2 } }), greedy(1, 2))
      // Of 13 passes one is spent, and one kept to read the results; of the calls, two are these.
      assert.deepStrictEqual(
        childrenOf(events).map(({ limits: { passes, toolCalls } }) => [passes, toolCalls]),
        [
          [5, 2],
          [5, 2]
        ]
      )
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("limits how many there are, and how deep", () =>
    Effect.gen(function* () {
      const many = yield* play(family({ parent: { children: 1 } }), script(1, 2))
      assert.lengthOf(childrenOf(many.events), 1)
      const settled = many.events.flatMap((event) => (event._tag === "ToolSettled" ? [event.error?.tag] : []))
      assert.deepStrictEqual(settled, [undefined, "ChildRefused"])
      assert.strictEqual(many.outcome.status, "answered")
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("starts none where no depth is left", () =>
    Effect.gen(function* () {
      const { events } = yield* play(family({ parent: { depth: 0 } }), script(1))
      assert.lengthOf(childrenOf(events), 0)
    }).pipe(Effect.provide(Shop.services))
  )
})

describe("Children of many runs", () => {
  it.effect("do not mix: each reads what is its own", () =>
    Effect.gen(function* () {
      const kin = family({ parent: { passes: 100 } })
      const runs = Array.from({ length: 100 }, (_, index) => index)
      const steps: LLM.Chooser = (wire) => {
        const first = wire.messages[0]?.message.content ?? ""
        const canary = Number(/\d+/.exec(first)?.[0])
        return isCounter(wire)
          ? script()(wire, 0)
          : wire.iteration === 1
            ? ask(canary)
            : LLM.say(wire.messages.at(-1)?.message.content ?? "")
      }
      const outcomes = yield* Effect.forEach(
        runs,
        (canary) => Agent.run(kin.agent, `Ask of ${canary}.`, { runId: `r${canary}` }),
        { concurrency: "unbounded" }
      ).pipe(Effect.provide(Layer.provideMerge(kin.layer, LLM.layerScripted(steps))))
      for (const [canary, { answer = "" }] of outcomes.entries()) {
        assert.include(answer, `shelf ${canary} has ${canary * 2} books`)
      }
    }).pipe(Effect.provide(Shop.services))
  )
})
