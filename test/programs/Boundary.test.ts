import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Schema } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Coverage from "../../src/kernel/Coverage.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

const Find = Tool.make("find", { parameters: { what: Schema.String }, success: Schema.Unknown }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Find)

const results = (what: string): unknown => {
  if (what === "chair") return "The chair is on shelf 1180."
  const shelves = Either.getOrThrow(
    Coverage.absent({ what: "a lamp", checked: ["shelf 4711"], cannotCover: [{ what: "vault 9", why: "locked" }] })
  )
  if (what === "lamp") return shelves
  const found = Coverage.coverage({ at: "4712" }, { checked: ["shelf 4711"], notChecked: ["attic 8800"] })
  return Either.getOrThrow(found)
}

type Options = Partial<Parameters<typeof Agent.make<(typeof toolkit)["tools"]>>[0]>

const finder = (more: Options) =>
  Agent.make({ name: "finder", instructions: "Find. Shelf 4711 is old.", toolkit, ...more })

const look = (...whats: ReadonlyArray<string>) =>
  LLM.together(...whats.map((what) => LLM.call("find", { what }, `f-${what}`)))

const services = (script: LLM.Steps) =>
  [
    Shop.services,
    toolkit.toLayer({ find: ({ what }) => Effect.succeed(results(what)) }),
    LLM.layerScripted(script)
  ] as const

const isLawful = (events: ReadonlyArray<Event.Event>) => {
  const state = Run.fold(events)
  assert.deepStrictEqual(state.violations, [])
  const { messagesHash } = state
  const sent = Wire.project(state)
  assert.strictEqual(Wire.hash(sent), Wire.combine({ ...Wire.rolled(state), messages: messagesHash }, sent.parameters))
  return state
}

/** A run, which comes to the same from each of its prefixes. */
const play = (more: Options, whats: ReadonlyArray<string>, answer = "None. Shelf 1180 has a chair.") =>
  Effect.gen(function* () {
    const script = LLM.byPass([look(...whats), answer])
    const agent = finder(more)
    const { events, outcome } = yield* Effect.gen(function* () {
      const outcome = yield* Agent.run(agent, "Find a lamp, a chair or a bed.", { runId: "r" })
      return { outcome, events: yield* Shop.events("r") }
    }).pipe(Effect.provide(services(script)))
    for (let length = 1; length <= events.length; length++) {
      yield* Effect.gen(function* () {
        yield* (yield* Record.Record).append("r", 0, events.slice(0, length))
        assert.deepStrictEqual(yield* Agent.resume(agent, "r"), outcome)
        assert.deepStrictEqual(yield* Shop.events("r"), events)
      }).pipe(Effect.provide(services(script)))
    }
    return { events, outcome, state: isLawful(events) }
  })

const composed = [
  "None. Shelf 1180 has a chair.",
  "",
  "Checked:",
  "- shelf 4711",
  "",
  "Not checked:",
  "- attic 8800",
  "",
  "Cannot cover:",
  "- vault 9 (locked)"
].join("\n")

const inAnswer: Options = { coverage: { inAnswer: true } }

describe("An answer with its boundary", () => {
  for (const findings of [false, true]) {
    it.effect(`is the outcome, the record's and the conversation's, findings ${findings ? "on" : "off"}`, () =>
      Effect.gen(function* () {
        const { events, outcome, state } = yield* play({ ...inAnswer, findings }, ["lamp", "chair", "bed"])
        assert.strictEqual(outcome.answer, composed)
        assert.strictEqual(state.answered?.content, composed)
        const last = state.messages.at(-1)
        assert.strictEqual(last?.message.content, composed)
        assert.strictEqual(events[last?.seq ?? -1]?._tag, "Answered")
        const said = events.flatMap((event) => (event._tag === "ModelReplied" ? [event.content] : []))
        assert.strictEqual(said.at(-1), "None. Shelf 1180 has a chair.")
      })
    )
  }

  it.effect("is the reply alone where nothing was declared, or it was not asked for", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* play(inAnswer, ["chair"])
      assert.strictEqual(outcome.answer, "None. Shelf 1180 has a chair.")
      assert.deepStrictEqual(events[0]?._tag === "RunStarted" ? events[0].manifest.coverage : undefined, {
        inAnswer: true
      })
      for (const coverage of [undefined, {}, { inAnswer: false }]) {
        const { events, outcome } = yield* play(coverage === undefined ? {} : { coverage }, ["lamp"])
        assert.strictEqual(outcome.answer, "None. Shelf 1180 has a chair.")
        assert.isFalse(JSON.stringify(events[0]).includes("coverage"))
      }
    })
  )

  it.effect("is carried into a follow-up as it was given", () =>
    Effect.gen(function* () {
      const script = LLM.byPass([look("lamp", "bed"), "None. Shelf 1180 has a chair."])
      yield* Effect.gen(function* () {
        yield* Agent.run(finder(inAnswer), "Find a lamp.", { runId: "r" })
        const before = yield* Shop.events("r")
        yield* Agent.followUp(finder(inAnswer), "r", "Sure?", { runId: "s" }).pipe(
          Effect.provide(LLM.layerScripted(LLM.byPass(["Attic 8800 was not."])))
        )
        const events = yield* Shop.events("s")
        isLawful(events)
        const carried = events.flatMap((event) =>
          event._tag === "MessageCarried" && event.message.role === "assistant" ? [event] : []
        )
        assert.strictEqual(carried.at(-1)?.message.content, composed)
        assert.strictEqual(before[carried.at(-1)?.from.seq ?? -1]?._tag, "Answered")
        const { gaps } = Why.value(events, "8800")
        const there = gaps.find(({ next }) => next?.question.kind === "value")
        assert.deepStrictEqual(there?.next, { runId: "r", question: { kind: "value", text: "8800" } })
        assert.isTrue(Why.value(before, "8800").edges.some(({ grounds }) => grounds === "declared"))
      }).pipe(Effect.provide(services(script)))
    })
  )

  it.effect("is the JSON alone where a schema is answered in text", () =>
    Effect.gen(function* () {
      const answer = Schema.Struct({ shelf: Schema.Number })
      const agent = Agent.make({ name: "finder", instructions: "Find.", toolkit, answer, ...inAnswer })
      const [shop, tools, model] = services(LLM.byPass([look("lamp"), '{"shelf":1180}']))
      const json = Layer.effect(
        LLM.LLM,
        Effect.map(LLM.LLM, (llm) => LLM.LLM.of({ ...llm, answers: "json" }))
      )
      const run = Agent.run(agent, "Find a lamp.", { runId: "r" })
      const outcome = yield* run.pipe(Effect.provide([shop, tools, Layer.provideMerge(json, model)]))
      assert.strictEqual(outcome.answer, '{"shelf":1180}')
      assert.deepStrictEqual(outcome.value, { shelf: 1180 })
    })
  )

  it.effect("is judged without it: what was declared is not what the model said", () =>
    Effect.gen(function* () {
      const { outcome } = yield* play({ ...inAnswer, grounding: "guard" }, ["lamp", "chair"], "Shelf 1180.")
      assert.strictEqual(outcome.grounding?.candidates, 1)
      assert.strictEqual(outcome.grounding?.action, "grounded")
    })
  )

  it.effect("is no answer of a run if anything in it was changed", () =>
    Effect.gen(function* () {
      const { events } = yield* play(inAnswer, ["lamp"])
      const tampered = events.map((event) =>
        event._tag === "Answered" ? { ...event, content: event.content.replace("4711", "4712") } : event
      )
      assert.deepStrictEqual(
        Run.fold(tampered).violations.map(({ law }) => law),
        ["An answer is what the last reply said."]
      )
    })
  )
})

describe("Why of a boundary", () => {
  it.effect("leads to each call whose result declared the value, and to nothing else that holds it", () =>
    Effect.gen(function* () {
      const { events } = yield* play(inAnswer, ["lamp", "chair", "bed"])
      const { edges, gaps, nodes } = Why.value(events, "4711")
      assert.deepStrictEqual(gaps, [])
      const [asked] = nodes
      assert.deepInclude(asked, { kind: "value", value: "4711", place: "boundary", pass: 2 })
      const answered = events.findIndex(({ _tag }) => _tag === "Answered")
      assert.strictEqual(asked?.kind === "value" ? asked.seq : -1, answered)
      if (asked?.kind === "value") assert.strictEqual(composed.slice(asked.start, asked.end), "4711")
      const reached = edges.filter(({ from }) => from === asked?.id)
      assert.deepStrictEqual(
        reached.map(({ grounds, to }) => {
          const node = nodes.find(({ id }) => id === to)
          return [grounds, node?.kind === "call" ? node.toolCallId : node?.kind]
        }),
        [
          ["declared", "f-lamp"],
          ["declared", "f-bed"]
        ]
      )
    })
  )

  it.effect("is part of why of the answer, and a value of the reply itself keeps its own causes", () =>
    Effect.gen(function* () {
      const { events } = yield* play(inAnswer, ["lamp", "chair", "bed"])
      const { nodes } = Why.answer(events)
      const asked = nodes.flatMap((node) =>
        node.kind === "value" && node.pass === 2 ? [[node.place, node.value]] : []
      )
      assert.deepStrictEqual(asked, [
        ["reply", "1180"],
        ["boundary", "4711"],
        ["boundary", "8800"]
      ])
      const phrase = Why.value(events, "vault 9")
      assert.deepStrictEqual(phrase.gaps, [])
      assert.deepInclude(phrase.nodes[0], { place: "boundary", value: "vault 9" })
      const heading = Why.value(events, "Cannot cover")
      assert.deepStrictEqual(
        heading.nodes.map((node) => (node.kind === "root" ? node.root : node.kind)),
        ["value", "runtime"]
      )
    })
  )
})
