import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Why from "../../src/kernel/Why.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Screen from "../../src/programs/Screen.ts"
import * as ScreenVerdict from "../../src/programs/ScreenVerdict.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Shop from "./Shop.ts"

const Look = Tool.make("look", { parameters: { of: Schema.String }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Look)
const found =
  "4410 parcels wait for their owners in the northern harbour, and nothing more is known of them at this time."
const handlers = toolkit.toLayer({
  look: ({ of }) => Effect.succeed(of === "parcels" ? found : "The order exists.")
})

const play = (options: Partial<Agent.Options<typeof toolkit.tools>>, steps: ReadonlyArray<LLM.Step>) =>
  Effect.gen(function* () {
    yield* Agent.run(Agent.make({ name: "a", instructions: "Look.", toolkit, ...options }), "The order?", {
      runId: "r"
    })
    return yield* Shop.events("r")
  }).pipe(Effect.provide([Shop.services, handlers, LLM.layerScripted(LLM.byPass(steps))]))

const look = (of: string, previous?: ReadonlyArray<unknown>) =>
  LLM.call("look", { of, ...(previous === undefined ? {} : { _findings: { previous } }) })

const judged = (standing: string, ...values: ReadonlyArray<unknown>) => [
  {
    toolCallId: "r1",
    standing,
    assertions: values.map((value, n) => ({ subject: { kind: "order", id: "A" }, predicate: `p${n}`, value }))
  }
]

const word = (events: Parameters<typeof Why.value>[0], text: string) => {
  const chain = Why.value(events, text)
  return [ScreenVerdict.of(chain)[0]?.word, ScreenVerdict.supported(chain)]
}

describe("A value that only the model had written", () => {
  it.effect("is nowhere, though the findings that it declared hold it", () =>
    Effect.gen(function* () {
      const events = yield* play({ findings: true }, [
        look("order"),
        look("order", judged("fact", 88123, "May 21, 2031", "ZX-4242")),
        "It costs 88123, ships May 21, 2031 with code ZX-4242."
      ])
      for (const value of ["88123", "May 21, 2031", "ZX-4242"]) {
        assert.deepStrictEqual(word(events, value), ["nowhere", false], value)
      }
      assert.isFalse(ScreenVerdict.supported(Why.answer(events)))
      const tree = Screen.print(Screen.tree(Why.value(events, "88123"), { room: { width: 120 } }), { colour: false })
      assert.match(tree, /88123 +declared +the findings, as the model declared them, pass 2/)
      assert.notMatch(tree, /recorded/)
    })
  )

  it.effect("is nowhere, though a notice of the runtime quotes it", () =>
    Effect.gen(function* () {
      const events = yield* play({ grounding: "guard" }, [look("order"), "It costs 88123.", "Still, it costs 88123."])
      assert.deepStrictEqual(word(events, "88123"), ["nowhere", false])
      const tree = Screen.print(Screen.tree(Why.value(events, "88123"), { room: { width: 120 } }), { colour: false })
      assert.match(tree, /said +a notice that quotes the model, pass 2/)
    })
  )
})

describe("A value that more than the model had written", () => {
  it.effect("is recorded, whatever quotes it besides", () =>
    Effect.gen(function* () {
      const events = yield* play({ findings: { collapse: "off" } }, [
        look("parcels"),
        look("4410", judged("fact", 4410)),
        "It is 4410."
      ])
      assert.deepStrictEqual(word(events, "4410"), ["recorded", true])
    })
  )

  it.effect("is told to have been in a result that was a ticket by then, with what the model had called it", () =>
    Effect.gen(function* () {
      const events = yield* play({ findings: true }, [look("parcels"), look("order", judged("noise")), "It is 4410."])
      const { gaps } = Why.value(events, "4410")
      assert.deepStrictEqual(
        gaps.map(({ kind }) => kind),
        ["collapsed"]
      )
      assert.match(gaps[0]?.what ?? "", /"result:\d+" held it, which the model had called noise, so that a ticket/)
    })
  )
})
