import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Schema } from "effect"
import * as Answering from "../../src/kernel/Answering.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Prefix from "./Prefix.ts"
import * as Shop from "./Shop.ts"

const Look = Tool.make("look", { parameters: { of: Schema.String }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Look)
const texts: { readonly [of: string]: string } = {
  order: "It costs 1859.",
  zone: "4410 wait.",
  stock: "5150 are left."
}
const answer = Schema.Struct({ total: Schema.Number, note: Schema.String })
const json = Layer.effect(
  LLM.LLM,
  Effect.map(LLM.LLM, (llm) => LLM.LLM.of({ ...llm, answers: "json" }))
)

const judged = (toolCallId: string, standing: string) => ({ toolCallId, standing })

/** The first does not fit the schema, the second has a value without a source, the third is whole. */
const given = [
  { total: "much", note: "4410", _findings: { previous: [judged("r1", "fact"), 7] } },
  { total: 77777, note: "5150", _findings: { previous: [judged("r2", "noise"), judged("r3", "open")] } },
  { total: 1859, note: "4410 and 5150", _findings: { previous: [judged("r3", "noise")] } }
]

const play = (mode: "call" | "json", posture: "assist" | "guard" | "rails") => {
  const looks = LLM.together(...Object.keys(texts).map((of) => LLM.call("look", { of }, of)))
  const answers = given.map((args, n) =>
    mode === "json" ? JSON.stringify(args) : LLM.call(Answering.toolName, args, `a${n}`)
  )
  const script = LLM.layerScripted(LLM.byPass([looks, ...answers]))
  const services = [
    Shop.services,
    toolkit.toLayer({ look: ({ of }) => Effect.succeed(texts[of] ?? "") }),
    mode === "json" ? Layer.provideMerge(json, script) : script
  ] as const
  const agent = Agent.make({ name: "a", instructions: "L", toolkit, answer, findings: true, grounding: posture })
  return Effect.gen(function* () {
    const { ended, events } = yield* Effect.gen(function* () {
      const ended = yield* Effect.either(Agent.run(agent, "What?", { runId: "r" }))
      return { ended, events: yield* Shop.events("r") }
    }).pipe(Effect.provide(services))
    assert.deepStrictEqual(Run.fold(events).violations, [])
    for (let length = 1; length <= events.length; length++) {
      yield* Prefix.resumes(agent, { ended, events }, length).pipe(Effect.provide(services))
    }
    return { ended, events }
  })
}

const filed = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event): ReadonlyArray<unknown> => {
    switch (event._tag) {
      case "FindingDeclared":
        return event.rows.map((row) => (row.kind === "standing" ? [event.iteration, row.toolCallId, row.standing] : []))
      case "FindingRejected":
        return [[event.iteration, event.index, event.code]]
      case "ContingencyFiled":
        return [[event.iteration, event.row?.value, event.row?.carriers.map(({ standing }) => standing).join()]]
      default:
        return []
    }
  })

describe("What an answer declares", () => {
  for (const posture of ["assist", "guard", "rails"] as const) {
    it.effect(`is filed whatever becomes of the answer, by JSON as by a call, with ${posture}`, () =>
      Effect.gen(function* () {
        const byCall = yield* play("call", posture)
        const byJson = yield* play("json", posture)
        assert.deepStrictEqual(filed(byJson.events), filed(byCall.events))
        assert.strictEqual(Either.isRight(byJson.ended), Either.isRight(byCall.ended))
        const first = [
          [2, "order", "fact"],
          [2, 1, "not-an-object"]
        ]
        assert.deepStrictEqual(filed(byJson.events).slice(0, 2), first)
        assert.deepInclude(filed(byJson.events), [3, "5150", "open"])
        assert.strictEqual(
          filed(byJson.events).some((one) => JSON.stringify(one) === '[4,"5150","noise"]'),
          posture !== "assist"
        )
      })
    )
  }
})
