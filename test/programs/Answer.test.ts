import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Context, Effect, Either, Layer, ParseResult, Schema } from "effect"
import * as Answering from "../../src/kernel/Answering.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as AgentError from "../../src/programs/AgentError.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Prefix from "./Prefix.ts"
import * as Shop from "./Shop.ts"

const Quote = Schema.Struct({
  article: Schema.String,
  total: Schema.NumberFromString,
  currency: Schema.optional(Schema.String)
})
const toolkit = Toolkit.make(Shop.Price)

type More = Partial<Omit<Parameters<typeof Agent.make<(typeof toolkit)["tools"]>>[0], "toolkit">>

const shop = (more: More = {}) =>
  Agent.make({ name: "shop", instructions: "Sell lamps.", toolkit, answer: Quote, ...more })

const price = LLM.call("price", { article: "lamp" }, "p")
const give = (args: unknown, id = "a") => LLM.call(Answering.toolName, args, id)
const good = give({ article: "lamp", total: "4000" })

/** As a model whose provider takes the schema itself. */
const json = Layer.effect(
  LLM.LLM,
  Effect.map(LLM.LLM, (llm) => LLM.LLM.of({ ...llm, answers: "json" }))
)

/** A run, which breaks no law and comes to the same from each of its prefixes. */
const play = (script: ReadonlyArray<LLM.Step>, more: More = {}, mode: "tool" | "json" = "tool") => {
  const scripted = LLM.layerScripted(LLM.byPass(script))
  const model = mode === "json" ? Layer.provideMerge(json, scripted) : scripted
  const services = [Shop.services, Shop.handlers([]), model] as const
  return Effect.gen(function* () {
    const first = yield* Effect.gen(function* () {
      const ended = yield* Effect.either(Agent.run(shop(more), "A lamp, please.", { runId: "r" }))
      return { ended, events: yield* Shop.events("r"), wires: yield* (yield* LLM.Script).calls }
    }).pipe(Effect.provide(services))
    const state = Run.fold(first.events)
    assert.deepStrictEqual(state.violations, [])
    for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(projectedHash, recordedHash)
    for (let length = 1; length <= first.events.length; length++) {
      yield* Prefix.resumes(shop(more), first, length).pipe(Effect.provide(services))
    }
    return { ...first, state, outcome: Either.getOrUndefined(first.ended) }
  })
}

const of = <T extends Event.Event["_tag"]>(events: ReadonlyArray<Event.Event>, tag: T) =>
  events.flatMap((event): ReadonlyArray<Event.Event & { readonly _tag: T }> => {
    const is = (one: Event.Event): one is Event.Event & { readonly _tag: T } => one._tag === tag
    return is(event) ? [event] : []
  })

describe("An answer by a schema", () => {
  it.effect("is given by a call, and comes decoded", () =>
    Effect.gen(function* () {
      const { events, outcome, wires } = yield* play([price, good])
      assert.deepStrictEqual(outcome?.value, { article: "lamp", total: 4_000 })
      assert.strictEqual(outcome?.answer, '{"article":"lamp","total":"4000"}')
      assert.deepStrictEqual(of(events, "Answered").at(-1)?.value, { article: "lamp", total: "4000" })
      const [wire] = wires
      assert.deepStrictEqual(
        wire?.tools.map(({ origin, tool }) => [tool.name, origin]),
        [
          ["price", "app"],
          ["final_answer", "runtime"]
        ]
      )
      assert.strictEqual(of(events, "RunEnded")[0]?.status, "answered")
      assert.strictEqual(Run.fold(events).spent.toolCalls, 1)
    })
  )

  for (const mode of ["tool", "json"] as const) {
    it.effect(`goes back to the model where the code of its schema dies on it: ${mode}`, () =>
      Effect.gen(function* () {
        const Loud = Schema.transform(Schema.String, Schema.Number, {
          strict: true,
          decode: (text) => {
            if (text === "boom") throw new Error("boom")
            return text.length
          },
          encode: String
        })
        const said = (a: string): LLM.Step => (mode === "tool" ? give({ a }, a) : JSON.stringify({ a }))
        const agent = Agent.make({ name: "shop", instructions: "Sell.", answer: Schema.Struct({ a: Loud }) })
        const scripted = LLM.layerScripted([said("boom"), said("ok")])
        const model = mode === "json" ? Layer.provideMerge(json, scripted) : scripted
        const { events, value } = yield* Effect.gen(function* () {
          const { value } = yield* Agent.run(agent, "A lamp.", { runId: "r" })
          return { value, events: yield* Shop.events("r") }
        }).pipe(Effect.provide([Shop.services, model]))
        assert.deepStrictEqual(value, { a: 2 })
        assert.strictEqual(of(events, "ModelReplied").length, 2)
      })
    )
  }

  it.effect("says in its type what it is", () =>
    Effect.gen(function* () {
      const { outcome } = yield* play([good])
      if (outcome?.status !== "answered") return assert.fail()
      expectTypeOf(outcome.value).toEqualTypeOf<typeof Quote.Type>()
      const plain = Agent.make({ name: "plain", instructions: "Say." })
      const run = Agent.run(plain, "Go.")
      type Plain = Extract<Effect.Effect.Success<typeof run>, { readonly status: "answered" }>
      expectTypeOf<Plain["value"]>().toEqualTypeOf<undefined>()
    })
  )

  it.effect("needs in its type what its schema needs", () => {
    class Rates extends Context.Tag("Rates")<Rates, { readonly rate: number }>() {}
    const Converted = Schema.transformOrFail(Schema.Struct({ total: Schema.Number }), Schema.Number, {
      strict: true,
      decode: ({ total }) => Effect.map(Rates, ({ rate }) => total * rate),
      encode: (total) => ParseResult.succeed({ total })
    })
    const agent = Agent.make({ name: "shop", instructions: "Sell.", answer: Converted })
    const run = Agent.run(agent, "A lamp.")
    expectTypeOf<Effect.Effect.Context<typeof run>>().toEqualTypeOf<Agent.Services | Rates>()
    return Effect.gen(function* () {
      const { value } = yield* run
      assert.strictEqual(value, 20)
    }).pipe(
      Effect.provideService(Rates, { rate: 2 }),
      Effect.provide([Shop.services, LLM.layerScripted([give({ total: 10 })])])
    )
  })

  it.effect("goes back to the model with what is wrong, and a text is none", () =>
    Effect.gen(function* () {
      const { events, outcome, wires } = yield* play([
        price,
        "It costs 4000.",
        give({ article: "lamp", total: "x" }),
        good
      ])
      assert.deepStrictEqual(outcome?.value, { article: "lamp", total: 4_000 })
      const [rejected] = of(events, "AnswerRejected")
      assert.deepStrictEqual(rejected?.issues, ["It was text. The answer is given by a call of final_answer."])
      const asked = wires[2]?.messages.at(-1)
      assert.strictEqual(asked?.origin, "runtime")
      assert.include(asked?.message.content, "The answer is given by a call of final_answer.")
      const refused = of(events, "ToolSettled").find(({ outcome }) => outcome === "refused")
      assert.strictEqual(refused?.error?.tag, "ToolArgsInvalid")
      assert.include(refused?.served, "total")
    })
  )

  for (const bad of [give({ article: 1 }), LLM.say("It costs 4000.")]) {
    it.effect(`is asked for twice more, and no more: ${"text" in bad ? "text" : "a call"}`, () =>
      Effect.gen(function* () {
        const { ended, events } = yield* play([bad, bad, bad, good])
        const error = Either.isLeft(ended) ? ended.left : undefined
        if (!(error instanceof AgentError.AnswerInvalid)) return assert.fail(String(error))
        assert.strictEqual(error.code, "WF-RUN-015")
        assert.isAbove(error.issues.length, 0)
        assert.lengthOf(of(events, "ModelCalled"), 3)
        assert.strictEqual(of(events, "RunEnded")[0]?.status, "failed")
        assert.lengthOf(of(events, "ChecksFiled"), 1)
      })
    )
  }

  it.effect("is not taken beside other calls, whose results it cannot know", () =>
    Effect.gen(function* () {
      const both = LLM.together(price, good)
      const { events, outcome } = yield* play([both, good])
      assert.deepStrictEqual(
        of(events, "ToolSettled").map(({ error, outcome }) => error?.tag ?? outcome),
        ["ran-ok", "AnswerNotAlone", "ran-ok"]
      )
      assert.strictEqual(outcome?.passes, 2)
    })
  )

  it.effect("is taken where no further call may start", () =>
    Effect.gen(function* () {
      const { outcome } = yield* play([price, good], { budget: { toolCalls: 1 } })
      assert.deepStrictEqual(outcome?.value, { article: "lamp", total: 4_000 })
    })
  )

  it.effect("is judged by its values, and not by its keys; its own call is no evidence", () =>
    Effect.gen(function* () {
      const clean = yield* play([price, good], { grounding: "rails" })
      assert.strictEqual(clean.outcome?.grounding?.action, "grounded")
      const { events } = yield* play([price, give({ article: "X4711", total: "9999" })], { grounding: "assist" })
      assert.deepStrictEqual(
        of(events, "GroundingJudged")[0]?.unsupported.map(({ value }) => value),
        ["X4711", "9999"]
      )
    })
  )

  it.effect("declares findings, which are not part of it", () =>
    Effect.gen(function* () {
      const declared = { previous: [{ toolCallId: "r1", standing: "open", line: "4000" }] }
      for (const mode of ["tool", "json"] as const) {
        const args = { article: "lamp", total: "4000", _findings: declared }
        const step = mode === "tool" ? give(args) : LLM.say(JSON.stringify(args))
        const { events, outcome } = yield* play([price, step], { findings: true }, mode)
        assert.deepStrictEqual(outcome?.value, { article: "lamp", total: 4_000 })
        assert.deepStrictEqual(of(events, "Answered")[0]?.value, { article: "lamp", total: "4000" })
        const [row] = outcome?.findings ?? []
        assert.deepInclude(row, { kind: "standing", standing: "open", toolCallId: "p", declaredOn: "answer" })
        assert.deepStrictEqual(
          of(events, "ContingencyFiled").map(({ declaredOn, row }) => [declaredOn, row?.kind]),
          [["answer", "contingent"]]
        )
      }
    })
  )

  it.effect("stands in a property where it is no object", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "shop", instructions: "Sell.", answer: Schema.Array(Schema.Number) })
      const outcome = yield* Agent.run(agent, "Which?", { runId: "r" })
      assert.deepStrictEqual(outcome.value, [1, 2])
      assert.strictEqual(outcome.answer, "[1,2]")
      assert.deepStrictEqual(yield* Agent.resume(agent, "r"), outcome)
    }).pipe(Effect.provide([Shop.services, LLM.layerScripted([give({ answer: [1, 2] })])]))
  )

  it.effect("is carried into a follow-up as a call with its result", () =>
    Effect.gen(function* () {
      yield* Agent.run(shop(), "A lamp, please.", { runId: "r" })
      const again = yield* Agent.followUp(shop(), "r", "And now?", { runId: "s" }).pipe(
        Effect.provide(LLM.layerScripted([good]))
      )
      assert.deepStrictEqual(again.value, { article: "lamp", total: 4_000 })
      assert.deepStrictEqual(Run.fold(yield* Shop.events("s")).violations, [])
    }).pipe(Effect.provide([Shop.services, Shop.handlers([]), LLM.layerScripted([price, good])]))
  )

  it.effect("that does not fit the schema of today is an error, and the record is as it was", () =>
    Effect.gen(function* () {
      yield* Agent.run(shop(), "A lamp, please.", { runId: "r" })
      const other = Agent.make({
        name: "shop",
        instructions: "Sell lamps.",
        toolkit,
        answer: Schema.Struct({ n: Schema.Int })
      })
      const error = yield* Effect.flip(Agent.resume(other, "r"))
      assert.instanceOf(error, AgentError.AnswerInvalid)
      assert.include(error.message, "The answer on the record does not fit the agent's schema")
    }).pipe(Effect.provide([Shop.services, Shop.handlers([]), LLM.layerScripted([price, good])]))
  )

  it.effect("of a schema that cannot be told to a model is a fault of the definition", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "shop", instructions: "Sell.", answer: Schema.instanceOf(Map) })
      const error = yield* Effect.flip(Agent.run(agent, "Which?"))
      assert.include(error.message, "The schema of the answer has no JSON Schema")
    }).pipe(Effect.provide([Shop.services, LLM.layerScripted([])]))
  )
})

describe("An answer by a schema, of a model that is sent it", () => {
  it.effect("is the reply, and there is no tool", () =>
    Effect.gen(function* () {
      const { events, outcome, wires } = yield* play([price, '{"article":"lamp","total":"4000"}'], {}, "json")
      assert.deepStrictEqual(outcome?.value, { article: "lamp", total: 4_000 })
      const [wire] = wires
      assert.deepStrictEqual(
        wire?.tools.map(({ tool }) => tool.name),
        ["price"]
      )
      assert.deepNestedInclude(wire?.parameters.answerSchema, { type: "object" })
      assert.deepStrictEqual(of(events, "AnswerRead")[0]?.value, { article: "lamp", total: "4000" })
    })
  )

  it.effect("goes back with what is wrong, and no more than twice", () =>
    Effect.gen(function* () {
      const { events } = yield* play(["It costs 4000.", '{"article":1}', '{"article":"lamp","total":"1"}'], {}, "json")
      assert.deepStrictEqual(
        of(events, "AnswerRejected").map(({ issues }) => issues.length > 0),
        [true, true]
      )
      const { ended } = yield* play(["no", "no", "no"], {}, "json")
      assert.instanceOf(Either.isLeft(ended) ? ended.left : undefined, AgentError.AnswerInvalid)
    })
  )
})

describe("Why of an answer by a schema", () => {
  it.effect("leads from each value of the call that gave it", () =>
    Effect.gen(function* () {
      const { events } = yield* play([price, good])
      const { gaps, nodes } = Why.answer(events)
      assert.deepStrictEqual(gaps, [])
      const asked = nodes.flatMap((node) => (node.kind === "value" && node.pass === 2 ? [node.value] : []))
      assert.includeMembers(asked, ["lamp", "4000"])
      assert.isTrue(nodes.some((node) => node.kind === "root" && node.root === "world"))
      assert.deepInclude(Why.value(events, "4,000").nodes[0], { kind: "value", value: "4000", place: "arguments" })
    })
  )
})
