import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Either, Layer, Option, Schedule, Schema, Stream, TestClock } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Prices from "../../src/kernel/Prices.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as TokenCount from "../../src/kernel/TokenCount.ts"
import * as Usage from "../../src/kernel/Usage.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

const look = Tool.make("look", { parameters: { n: Schema.Number }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(look)
const handlers = toolkit.toLayer({ look: ({ n }) => Effect.succeed(`shelf ${n}`) })

const make = (more: { readonly budget?: Agent.Limits; readonly parameters?: Event.Parameters } = {}) =>
  Agent.make({ name: "counter", instructions: "Count the shelves.", toolkit, ...more })

const prices = Either.getOrThrow(
  Prices.read({ currency: "EUR", models: [{ model: "scripted", input: 1_000_000, output: 2_000_000 }] })
)
/** A model whose name is in the table; a reply costs a euro for each token sent, two for each written. */
const named = (steps: LLM.Steps, id = "scripted") =>
  Layer.map(LLM.layerScripted(steps), (context) => context).pipe(
    Layer.flatMap((context) =>
      Layer.mergeAll(
        Layer.succeedContext(context),
        Layer.effect(
          LLM.LLM,
          Effect.map(LLM.LLM, (llm) => ({ ...llm, model: { provider: "test", id } }))
        ).pipe(Layer.provide(Layer.succeedContext(context)))
      )
    )
  )

const spend = (
  more: Parameters<typeof make>[0],
  steps: LLM.Steps,
  layer: (steps: LLM.Steps) => Layer.Layer<LLM.LLM | LLM.Script> = LLM.layerScripted
) =>
  Effect.gen(function* () {
    const outcome = yield* Agent.run(make(more), "How many?", { runId: "r" })
    const sent = yield* Effect.flatMap(LLM.Script, ({ calls }) => calls)
    return { outcome, sent, events: yield* Shop.events("r") }
  }).pipe(Effect.provide([Shop.services, handlers, layer(steps)]))

/** Looks for ever, each time at another shelf. */
const endless =
  (usage?: Usage.Usage): LLM.Chooser =>
  ({ iteration, tools }) =>
    tools.length === 0
      ? { text: `Shelves so far: ${iteration - 1}.`, ...(usage === undefined ? {} : { usage }) }
      : { ...LLM.call("look", { n: iteration }), ...(usage === undefined ? {} : { usage }) }

describe("Before a call of the model", () => {
  it.effect("its tokens are reserved: one that does not fit is not made", () =>
    Effect.gen(function* () {
      // The first wire alone is longer than that.
      const { events, outcome, sent } = yield* spend({ budget: { tokens: 10 } }, endless())
      assert.lengthOf(sent, 0)
      assert.strictEqual(outcome.reason?.tag, "BudgetExceeded")
      assert.deepInclude(outcome.reason?.budget, { kind: "tokens", limit: 10, spent: 0 })
      assert.isAbove(Number(outcome.reason?.budget?.next), 10)
      assert.isFalse(events.some(({ _tag }) => _tag === "ModelCalled"))
    })
  )

  it.effect("the most that its reply may take is reserved too, and then nothing is overshot", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 100, outputTokens: 400 }
      const budget = { tokens: 1_400 }
      const { outcome, sent } = yield* spend({ budget, parameters: { maxOutputTokens: 400 } }, endless(usage))
      // After two, 400 are left, and a third would take 100 and up to 400.
      assert.lengthOf(sent, 2)
      assert.deepInclude(outcome.reason?.budget, { kind: "tokens", spent: 1_000 })
      const { sent: uncapped } = yield* spend({ budget }, endless(usage))
      assert.lengthOf(uncapped, 3)
    })
  )

  it.effect("its money is reserved by the table of prices", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 100, outputTokens: 10 }
      const money = { amount: "400", prices }
      const { outcome, sent } = yield* spend({ budget: { money } }, endless(usage), named)
      // Each took 120: after three there is no room for a hundred tokens more.
      assert.lengthOf(sent, 3)
      assert.deepInclude(outcome.reason, { tag: "BudgetExceeded" })
      assert.deepInclude(outcome.reason?.budget, { kind: "money", limit: "400", spent: "360" })
      assert.include(outcome.reason?.what, "400 EUR")
    })
  )

  it.effect("a model without a price is not asked, and a usage that is not told stops the run", () =>
    Effect.gen(function* () {
      const budget = { money: { amount: "1000000", prices } }
      const unpriced = yield* spend({ budget }, endless(), (steps) => named(steps, "other"))
      assert.deepStrictEqual([unpriced.sent.length, unpriced.outcome.reason?.tag], [0, "CostUnknown"])
      const untold = yield* spend({ budget }, endless(), named)
      assert.deepStrictEqual([untold.sent.length, untold.outcome.reason?.tag], [1, "CostUnknown"])
      const cut = { inputTokens: 1, outputTokens: 1, unknown: { outputTokens: "cut" } } as const
      const partly = yield* spend({ budget }, endless(cut), named)
      assert.deepStrictEqual([partly.sent.length, partly.outcome.reason?.tag], [1, "CostUnknown"])
    })
  )

  it.effect("a model without a price is not turned to either, when another has failed", () =>
    Effect.gen(function* () {
      const failing = Layer.succeed(LLM.LLM, {
        model: { provider: "test", id: "scripted" },
        stream: () => Stream.fail(LLM.failure("Unavailable", { what: "Away." }))
      })
      const money = { money: { amount: "1000000", prices } }
      const ask = (id: string) =>
        Effect.gen(function* () {
          const agent = make({ budget: money })
          const outcome = yield* Agent.run(agent, "How many?", { runId: "r" })
          return { outcome, sent: yield* Effect.flatMap(LLM.Script, ({ calls }) => calls) }
        }).pipe(
          Effect.provide(
            Layer.unwrapEffect(
              Effect.map(
                Layer.build(named([{ text: "Three.", usage: { inputTokens: 1, outputTokens: 1 } }], id)),
                (all) => {
                  const other = Layer.succeedContext(all)
                  return Layer.merge(other, LLM.layerFallback([failing, other]))
                }
              )
            )
          ),
          Effect.provide([Shop.services, handlers]),
          Effect.scoped
        )
      const unpriced = yield* ask("unheard-of")
      assert.deepStrictEqual([unpriced.sent.length, unpriced.outcome.reason?.tag], [0, "CostUnknown"])
      assert.include(unpriced.outcome.reason?.what, "unheard-of")
      const priced = yield* ask("scripted")
      assert.deepStrictEqual([priced.sent.length, priced.outcome.status], [1, "answered"])
    })
  )

  it.effect("a reply that has nothing in it took what it says", () =>
    Effect.gen(function* () {
      for (const stopReason of ["length", "content-filter"] as const) {
        const usage = { inputTokens: 10, outputTokens: 4_096, reasoningTokens: 4_096 }
        const layer = Layer.succeed(LLM.LLM, {
          stream: () => Stream.make<[LLM.Part]>({ _tag: "Finish", stopReason, usage })
        })
        const agent = Agent.make({ name: "a", instructions: "" })
        yield* Agent.run(agent, "Go.", { runId: stopReason }).pipe(Effect.flip, Effect.provide(layer))
        const { spent } = Run.fold(yield* Shop.events(stopReason))
        assert.deepStrictEqual(spent.usage, usage)
      }
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("another attempt is one more call: it is not made when there is no room", () =>
    Effect.gen(function* () {
      let asked = 0
      const layer = Layer.succeed(LLM.LLM, {
        stream: () =>
          Stream.suspend(() => {
            asked += 1
            const usage: LLM.Part = { _tag: "Usage", usage: { inputTokens: 600, outputTokens: 0 } }
            return Stream.concat(Stream.make(usage), Stream.fail(LLM.failure("StreamBroken", { what: "Broken." })))
          })
      })
      const agent = Agent.make({
        name: "a",
        instructions: "",
        budget: { tokens: 1_000 },
        retry: Schedule.recurs(5)
      })
      const outcome = yield* Agent.run(agent, "Go.", { runId: "r" }).pipe(Effect.provide(layer))
      assert.strictEqual(asked, 2)
      assert.deepInclude(outcome.reason?.budget, { kind: "tokens", limit: 1_000, spent: 1_200 })
      assert.deepStrictEqual(Run.fold(yield* Shop.events("r")).violations, [])
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("the record may be as long as its bytes say, and a batch more", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* spend({ budget: { bytes: 6_000 } }, endless())
      assert.deepInclude(outcome.reason?.budget, { kind: "bytes", limit: 6_000 })
      const bytes = events.map((event) => TokenCount.bytesOf(JSON.stringify(event)))
      const upTo = (length: number) => bytes.slice(0, length).reduce((sum, one) => sum + one, 0)
      const last = events.findLastIndex(({ _tag }) => _tag === "ModelCalled")
      assert.isBelow(upTo(last), 6_000)
      assert.isAtLeast(upTo(events.length), 6_000)
      // What was counted when it was met is what the record held by then.
      const spent = outcome.reason?.budget?.spent
      assert.isTrue(events.some((_, length) => upTo(length) === spent))
    })
  )

  it.effect("what is no limit is told when the agent is used", () =>
    Effect.gen(function* () {
      const problems = (budget: Agent.Limits) => make({ budget }).problems.join(" ")
      assert.match(problems({ bytes: -1 }), /budget.bytes must be a number/)
      assert.match(problems({ bytes: 0.5 }), /budget.bytes must be a whole number/)
      assert.match(problems({ money: { amount: "much", prices } }), /budget.money must be/)
      assert.match(problems({ closing: { tokens: -1 } }), /budget.closing.tokens/)
      assert.strictEqual(problems({ money: { amount: 0.5, prices }, closing: true, bytes: 1 }), "")
    })
  )
})

describe("A closing answer", () => {
  it.effect("is asked for with what was kept, without tools, and says what stopped the run", () =>
    Effect.gen(function* () {
      const { events, outcome, sent } = yield* spend({ budget: { passes: 4, closing: true } }, endless())
      assert.lengthOf(sent, 4)
      assert.deepInclude(outcome, { status: "answered", answer: "Shelves so far: 3.", passes: 4 })
      const stopped = outcome.status === "answered" ? outcome.stoppedEarly : undefined
      assert.deepInclude(stopped?.budget, { kind: "passes", limit: 4, spent: 3 })
      const last = sent.at(-1)
      assert.deepStrictEqual(last?.tools, [])
      assert.include(last?.messages.at(-1)?.message.content, "No tool can be called any more.")
      assert.deepInclude(events.at(-1), { _tag: "RunEnded", status: "answered" })
      assert.deepStrictEqual(Run.fold(events).violations, [])
    })
  )

  it.effect("has its tokens and its money kept for it", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 100, outputTokens: 10 }
      const more = { parameters: { maxOutputTokens: 10 } }
      const tokens = yield* spend({ ...more, budget: { tokens: 500, closing: { tokens: 200 } } }, endless(usage))
      assert.deepInclude(tokens.outcome, { status: "answered", answer: "Shelves so far: 2." })
      assert.isAtMost(Usage.total(tokens.outcome.usage) ?? 0, 500)
      const money = { amount: "500", prices }
      const paid = yield* spend({ ...more, budget: { money, closing: true } }, endless(usage), named)
      assert.strictEqual(paid.outcome.status, "answered")
      assert.isDefined(paid.outcome.status === "answered" ? paid.outcome.stoppedEarly : undefined)
    })
  )

  it.effect("runs no call that the model makes all the same, and then the run stops", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* spend({ budget: { passes: 2, closing: true } }, ({ iteration }) =>
        LLM.call("look", { n: iteration })
      )
      assert.deepInclude(outcome, { status: "stopped", passes: 2 })
      assert.strictEqual(outcome.reason?.tag, "BudgetExceeded")
      const settled = events.flatMap((event) => (event._tag === "ToolSettled" ? [event.outcome] : []))
      assert.deepStrictEqual(settled, ["ran-ok", "refused"])
    })
  )

  it.effect("comes after a call that could not be afforded, and not after time or bytes are up", () =>
    Effect.gen(function* () {
      const calls = yield* spend({ budget: { toolCalls: 1, closing: true } }, endless())
      assert.deepInclude(calls.outcome, { status: "answered", answer: "Shelves so far: 2." })
      const bytes = yield* spend({ budget: { bytes: 6_000, closing: true } }, endless())
      assert.deepInclude(bytes.outcome, { status: "stopped" })
    })
  )

  it.effect("comes to the same from every prefix of its record", () =>
    Effect.gen(function* () {
      const agent = { budget: { passes: 3, closing: true } }
      const { events, outcome } = yield* spend(agent, endless())
      for (let length = 1; length <= events.length; length++) {
        yield* Effect.gen(function* () {
          const record = yield* Record.Record
          yield* record.append("r", 0, events.slice(0, length))
          assert.deepStrictEqual(yield* Agent.resume(make(agent), "r"), outcome)
          assert.deepStrictEqual(yield* Shop.events("r"), events)
        }).pipe(Effect.provide([Shop.services, handlers, LLM.layerScripted(endless())]))
      }
    })
  )

  it.effect("is given by the schema of answers, where there is one", () =>
    Effect.gen(function* () {
      const agent = Agent.make({
        name: "counter",
        instructions: "Count.",
        toolkit,
        answer: Schema.Struct({ shelves: Schema.Number }),
        budget: { passes: 3, closing: true }
      })
      const steps: LLM.Chooser = ({ iteration, tools }) =>
        tools.length === 1 ? LLM.call("final_answer", { shelves: iteration - 1 }) : LLM.call("look", { n: iteration })
      const outcome = yield* Agent.run(agent, "How many?").pipe(
        Effect.provide([Shop.services, handlers, LLM.layerScripted(steps)])
      )
      assert.deepInclude(outcome, { status: "answered", value: { shelves: 2 } })
    })
  )
})

describe("Wall time", () => {
  it.effect("counts the time in which a run is driven, however often it was left alone", () =>
    Effect.gen(function* () {
      const agent = make({ budget: { wallTime: "10 seconds" } })
      const started: Event.RunStarted = {
        _tag: "RunStarted",
        runId: "r",
        agent: "counter",
        manifest: { limits: agent.limits },
        input: "How many?"
      }
      const record = yield* Record.Record
      yield* record.append("r", 0, [started])
      yield* TestClock.adjust("2 days")
      // It goes on, and is left alone again while the model is asked.
      const events = () => Shop.events("r")
      const begun = yield* Effect.fork(
        Agent.resume(agent, "r").pipe(
          Effect.provide(
            LLM.layerScripted([
              { delay: "4 seconds", ...LLM.call("look", { n: 1 }) },
              { delay: "1 hour", text: "" }
            ])
          )
        )
      )
      yield* TestClock.adjust("4 seconds")
      assert.isTrue(Option.isNone(yield* begun.poll))
      const until = yield* events()
      assert.strictEqual(until.at(-1)?._tag, "ModelCalled")
      assert.deepInclude(until[1], { _tag: "RunResumed", idleMs: 172_800_000 })
      yield* TestClock.adjust("5 seconds")
      assert.isTrue(Option.isNone(yield* begun.poll))
      yield* TestClock.adjust("1 seconds")
      const outcome = yield* begun
      assert.deepInclude(outcome.reason?.budget, { kind: "wallTimeMs", limit: 10_000, spent: 10_000 })
    }).pipe(Effect.provide([Shop.services, handlers]))
  )
})

describe("A script that runs away", () => {
  const limits: ReadonlyArray<Agent.Limits> = [
    { passes: 7 },
    { toolCalls: 9 },
    { tokens: 5_000 },
    { money: { amount: "5000", prices } },
    { bytes: 20_000 },
    { passes: 7, closing: true }
  ]
  const usage = { inputTokens: 150, outputTokens: 50 }
  const scripts: ReadonlyArray<LLM.Chooser> = [
    endless(usage),
    ({ iteration }) => ({ ...LLM.call("look", { n: iteration }), text: "Ignore the limit of 3 steps.", usage }),
    ({ iteration }) => ({ ...LLM.together(...[1, 2, 3].map((n) => LLM.call("look", { n: n + iteration }))), usage }),
    ({ iteration }) => ({ ...LLM.call(`no-${iteration}`), usage }),
    () => ({ toolCalls: [{ toolName: "look", rawArgs: "{" }], usage }),
    ({ iteration }) => ({ ...LLM.call("look", { n: `${iteration}` }), usage }),
    ({ iteration }) => ({ ...LLM.call("look", { n: iteration }), text: "x".repeat(300), usage }),
    ({ iteration }) => ({ ...LLM.call("look", { n: iteration }), stopReason: "length", usage }),
    ({ iteration }) => ({ ...LLM.call("look", { n: iteration }, "same"), usage }),
    ({ iteration }) => ({ ...LLM.call("look", { n: iteration }), reasoning: "On and on.", usage })
  ]

  it.effect("is stopped within one unit of each kind of limit, and the record says by which", () =>
    Effect.gen(function* () {
      let stopped = 0
      for (const budget of limits) {
        for (const script of scripts) {
          const { events, outcome } = yield* spend({ budget: { passes: 200, ...budget } }, script, named)
          const reason = outcome.status === "answered" ? outcome.stoppedEarly : outcome.reason
          const { spent } = Run.fold(events)
          assert.include(["BudgetExceeded", "NoProgress"], reason?.tag)
          assert.isAtMost(spent.passes, budget.passes ?? 200)
          assert.isAtMost(spent.toolCalls, budget.toolCalls ?? Infinity)
          // One reply is 200 tokens, or 250 of money.
          assert.isAtMost(Usage.total(spent.usage) ?? 0, (budget.tokens ?? Infinity) + 200)
          const paid = (spent.usage.inputTokens ?? 0) + 2 * (spent.usage.outputTokens ?? 0)
          assert.isAtMost(paid, budget.money === undefined ? Infinity : 5_250)
          assert.isAtMost(spent.bytes ?? 0, (budget.bytes ?? Infinity) + 5_000)
          const end = events.at(-1)
          assert.isTrue(end?._tag === "RunEnded" && (end.reason !== undefined || outcome.status === "answered"))
          stopped += 1
        }
      }
      assert.strictEqual(stopped, 60)
    })
  )
})
