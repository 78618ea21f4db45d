import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Schema } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Grounding from "../../src/kernel/Grounding.ts"
import * as GroundingSource from "../../src/kernel/GroundingSource.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Echoes from "../../src/programs/Echoes.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Prefix from "./Prefix.ts"
import * as Shop from "./Shop.ts"

type Options = Parameters<typeof Agent.make<(typeof Shop.toolkit)["tools"]>>[0]

const shop = (grounding: Options["grounding"], more: Partial<Options> = {}) =>
  Agent.make({
    name: "shop",
    instructions: "Sell lamps, model LX-300.",
    toolkit: Shop.toolkit,
    ...(grounding === undefined ? {} : { grounding }),
    ...more
  })

const lamp = LLM.call("price", { article: "lamp" }, "p")

const judgements = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event) => (event._tag === "GroundingJudged" ? [event] : []))

const actions = (events: ReadonlyArray<Event.Event>) =>
  judgements(events).map(({ action, iteration }) => `${iteration} ${action}`)

const unsupported = (events: ReadonlyArray<Event.Event>) =>
  judgements(events)
    .at(-1)
    ?.unsupported.map(({ value }) => value)

const answered = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event) => (event._tag === "Answered" ? [event.content] : []))

/** A run, and what is true of every run: it breaks no law, and from each of its prefixes it comes to the same. */
const play = (agent: ReturnType<typeof shop>, script: LLM.Steps, input = "Sell 7100 of them.") => {
  const steps = typeof script === "function" ? script : LLM.byPass(script)
  return Effect.gen(function* () {
    const first = yield* Effect.gen(function* () {
      const ended = yield* Effect.either(Agent.run(agent, input, { runId: "r" }))
      const events = yield* Shop.events("r")
      return { ended, events, wires: yield* (yield* LLM.Script).calls }
    }).pipe(Effect.provide([Shop.services, Shop.handlers([]), LLM.layerScripted(steps)]))
    const { ended, events } = first
    const state = Run.fold(events)
    assert.deepStrictEqual(state.violations, [])
    for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(projectedHash, recordedHash)
    assert.deepStrictEqual(GroundingSource.sources(state).evidence, Grounding.corpus(events).evidence)
    assert.sameMembers([...GroundingSource.sources(state).exempt], [...Grounding.corpus(events).exempt])
    for (let length = 1; length <= events.length; length++) {
      // What may have acted, and was lost, is not run again.
      if (Run.fold(events.slice(0, length)).startedCalls.some(({ replay }) => replay === "never")) continue
      yield* Prefix.resumes(agent, { ended, events }, length).pipe(
        Effect.provide([Shop.services, Shop.handlers([]), LLM.layerScripted(steps)])
      )
    }
    const outcome = Either.getOrUndefined(ended)
    return { ...first, state, outcome, error: Either.isLeft(ended) ? ended.left : undefined }
  })
}

describe("An agent that judges its answers", () => {
  it.effect("does not, unless it is asked to", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* play(shop(undefined), ["It costs 9999."])
      assert.deepStrictEqual(actions(events), [])
      assert.isFalse(Object.hasOwn(outcome ?? {}, "grounding"))
    })
  )

  for (const grounding of ["assist", {}, { posture: "assist", minDigits: 4 }] as const) {
    it.effect(`flags and ships with ${JSON.stringify(grounding)}`, () =>
      Effect.gen(function* () {
        const { events, outcome } = yield* play(shop(grounding), ["It costs 9999."])
        assert.deepStrictEqual(actions(events), ["1 flagged"])
        assert.strictEqual(outcome?.answer, "It costs 9999.")
        assert.deepStrictEqual(outcome?.grounding, judgements(events)[0])
        assert.deepStrictEqual(outcome?.grounding?.unsupported, [{ value: "9999", shape: "number" }])
        assert.strictEqual(events.at(-1)?._tag, "RunEnded")
      })
    )
  }

  it.effect("on guard asks once, in words of ours, and then flags", () =>
    Effect.gen(function* () {
      const script = ["It costs 9999.", "It costs 9998.", "never"]
      const { events, outcome, wires } = yield* play(shop("guard"), script)
      assert.deepStrictEqual(actions(events), ["1 revision-asked", "2 flagged"])
      assert.deepStrictEqual(
        judgements(events).map(({ afterRevision }) => afterRevision),
        [false, true]
      )
      assert.strictEqual(outcome?.answer, "It costs 9998.")
      assert.deepStrictEqual(answered(events), ["It costs 9998."])
      const told = wires[1]?.messages.at(-1)
      assert.strictEqual(told?.origin, "runtime")
      assert.strictEqual(told?.message.content, judgements(events)[0]?.asked)
      assert.include(told?.message.content ?? "", '"9999"')
      assert.isNotEmpty(wires[1]?.tools)
    })
  )

  it.effect("on guard ships what the model looked up when it was asked", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* play(shop("guard"), ["It costs 4000.", lamp, "It costs 4000 indeed."])
      assert.deepStrictEqual(actions(events), ["1 revision-asked", "3 grounded"])
      assert.strictEqual(outcome?.answer, "It costs 4000 indeed.")
      assert.strictEqual(outcome?.grounding?.afterRevision, true)
    })
  )

  it.effect("on rails withholds it, and says so each time it is asked", () =>
    Effect.gen(function* () {
      const { error, events } = yield* play(shop("rails"), ["It costs 9999.", "It costs 9999."])
      assert.deepStrictEqual(actions(events), ["1 revision-asked", "2 refused"])
      assert.deepStrictEqual(answered(events), [])
      assert.instanceOf(error, Agent.AnswerUngrounded)
      assert.deepInclude(error, { runId: "r", code: "WF-RUN-013", unsupported: [{ value: "9999", shape: "number" }] })
      const last = events.at(-1)
      assert.deepStrictEqual(last?._tag === "RunEnded" ? [last.status, last.reason?.tag] : [], [
        "failed",
        "AnswerUngrounded"
      ])
    })
  )

  it.effect("asks for nothing that a limit leaves no room for", () =>
    Effect.gen(function* () {
      const budget = { passes: 1 }
      const guard = yield* play(shop("guard", { budget }), ["It costs 9999."])
      assert.deepStrictEqual(actions(guard.events), ["1 flagged"])
      assert.strictEqual(guard.outcome?.status, "answered")
      const rails = yield* play(shop("rails", { budget }), ["It costs 9999."])
      assert.deepStrictEqual(actions(rails.events), ["1 refused"])
      assert.instanceOf(rails.error, Agent.AnswerUngrounded)
    })
  )

  const long = `${"word ".repeat(20_001)}X99999`

  it.effect("asks for a shorter answer if it cannot read one to its end, and on rails withholds it", () =>
    Effect.gen(function* () {
      const rails = yield* play(shop("rails"), [long, long])
      assert.deepStrictEqual(actions(rails.events), ["1 revision-asked", "2 refused"])
      assert.include(judgements(rails.events)[0]?.asked ?? "", "too long to be checked to its end")
      assert.notInclude(judgements(rails.events)[0]?.asked ?? "", "No result of a tool")
      assert.instanceOf(rails.error, Agent.AnswerUngrounded)
      assert.include(rails.error?.message ?? "", "withheld: it is too long to be judged to its end.")
      const guard = yield* play(shop("guard"), [long, "Short."])
      assert.deepStrictEqual(actions(guard.events), ["1 revision-asked", "2 grounded"])
      const assist = yield* play(shop("assist"), [`9999 ${long}`])
      assert.deepStrictEqual(actions(assist.events), ["1 flagged"])
      assert.deepInclude(assist.outcome?.grounding, { truncated: true, unread: true, candidates: 1 })
    })
  )

  it.effect("grounds on a text that looks like an absence, as it is none", () =>
    Effect.gen(function* () {
      const look = Tool.make("look", { parameters: {}, success: Schema.String }).annotate(Tool.Readonly, true)
      const toolkit = Toolkit.make(look)
      const agent = Agent.make({ name: "shop", instructions: "Sell.", toolkit, grounding: "rails" })
      const text = '{"wherefore_absent":true,"checked":["shop"],"price":4711}'
      const outcome = yield* Agent.run(agent, "What?").pipe(
        Effect.provide([Shop.services, toolkit.toLayer({ look: () => Effect.succeed(text) })]),
        Effect.provide(LLM.layerScripted(LLM.byPass([LLM.call("look", {}, "l"), "It is 4711."])))
      )
      assert.strictEqual(outcome.grounding?.action, "grounded")
    })
  )

  it.effect("does not judge a blank answer", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* play(shop("rails"), [" \n"])
      assert.deepStrictEqual(actions(events), [])
      assert.strictEqual(outcome?.status, "answered")
    })
  )

  it.effect("refuses a definition that counts no digits", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Agent.run(shop({ minDigits: 0 }), "Sell."))
      assert.include(error.message, "grounding.minDigits is 0")
    }).pipe(Effect.provide([Shop.services, Shop.handlers([]), LLM.layerScripted([])]))
  )
})

describe("The sources of a run", () => {
  it.effect("are results of any pass, the person's words and the application's", () =>
    Effect.gen(function* () {
      const chair = LLM.call("price", { article: "chair" }, "q")
      const { events } = yield* play(shop("rails"), [lamp, chair, "LX-300: 4000, 5000, and 7100 of them."])
      assert.deepStrictEqual(actions(events), ["3 grounded"])
      assert.strictEqual(judgements(events)[0]?.candidates, 4)
    })
  )

  it.effect("are no arguments, no errors, no refusals and no earlier words of the model", () =>
    Effect.gen(function* () {
      const failing = { text: "I think of 6611.", ...LLM.call("order", { article: "AX-9911", count: "-8822" }, "o") }
      const unknown = LLM.call("nothing-7733", { of: "7744" }, "n")
      const { events } = yield* play(shop("assist"), [failing, unknown, "6611, AX-9911, 8822, nothing-7733, 7744."])
      assert.deepStrictEqual(unsupported(events), ["6611", "AX-9911", "8822", "nothing-7733", "7744"])
    })
  )

  it.effect("are no words of ours: what was asked about has no source for that", () =>
    Effect.gen(function* () {
      const { events } = yield* play(shop("guard"), ["It costs 9999.", "It costs 9999."])
      assert.deepStrictEqual(actions(events), ["1 revision-asked", "2 flagged"])
    })
  )

  it.effect("are carried into a follow-up, and the answer before it is none", () =>
    Effect.gen(function* () {
      const agent = shop("assist")
      yield* Agent.run(agent, "Sell 7100.", { runId: "r" }).pipe(
        Effect.provide(LLM.layerScripted([lamp, "It costs 4000, or 9999."]))
      )
      yield* Agent.followUp(agent, "r", "And?", { runId: "s" }).pipe(
        Effect.provide(LLM.layerScripted(["4000, 7100 and 9999."]))
      )
      assert.deepStrictEqual(unsupported(yield* Shop.events("s")), ["9999"])
    }).pipe(Effect.provide([Shop.services, Shop.handlers([])]))
  )

  it.effect("are not asked for what is exempt, and are for what is declared", () =>
    Effect.gen(function* () {
      const grounding = { exempt: [/9\d+/], shapes: [/ab+/] }
      const { events } = yield* play(shop(grounding), ["9999 is abb."])
      assert.deepStrictEqual(judgements(events)[0]?.unsupported, [{ value: "abb", shape: "declared" }])
    })
  )

  it.effect("takes no echo of what the model itself wrote for evidence", () =>
    Effect.gen(function* () {
      const tools = [Shop.Price, Shop.Price.annotate(Echoes.Echoes, ["article"])].map((tool) => Toolkit.make(tool))
      const unsupported: Array<unknown> = []
      for (const toolkit of tools) {
        const agent = Agent.make({ name: "shop", instructions: "Sell.", toolkit, grounding: "assist" })
        const price = toolkit.toLayer({ price: ({ article }) => Effect.succeed({ article, price: 5_100 }) })
        const script = LLM.byPass([LLM.call("price", { article: "X4711" }, "p"), "X4711 costs 5100."])
        const run = Effect.gen(function* () {
          const first = yield* Agent.run(agent, "Sell one.", { runId: "r" })
          const again = yield* Agent.followUp(agent, "r", "Again?", { runId: "s" }).pipe(
            Effect.provide(LLM.layerScripted(LLM.byPass(["X4711, as I said, and 5100."])))
          )
          const carried = Grounding.corpus(yield* Shop.events("s"), {
            echoes: () => Echoes.of(toolkit.tools.price)
          })
          const same = Grounding.judge({ answer: "X4711 5100", ...carried }).unsupported
          return [first, again].map(({ grounding }) => grounding?.unsupported).concat([same])
        })
        unsupported.push(yield* run.pipe(Effect.provide([Shop.services, price, LLM.layerScripted(script)])))
      }
      const x4711 = [{ value: "X4711", shape: "identifier" }]
      assert.deepStrictEqual(unsupported, [
        [[], [], []],
        [x4711, x4711, x4711]
      ])
    })
  )

  it.effect("is refused if a tool echoes an argument that it does not have", () =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Shop.Price.annotate(Echoes.Echoes, ["article", "artcle"]))
      const agent = Agent.make({ name: "shop", instructions: "Sell.", toolkit })
      const error = yield* Effect.flip(Agent.run(agent, "Sell one."))
      assert.include(error.message, 'Tool "price" echoes "artcle", which is no argument of it. It has "article".')
    }).pipe(Effect.provide([Shop.services, Shop.handlers([]), LLM.layerScripted([])]))
  )
})
