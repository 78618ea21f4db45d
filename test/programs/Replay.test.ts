import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Schema } from "effect"
import { readFileSync } from "node:fs"
import type * as Event from "../../src/kernel/Event.ts"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Reprojection from "../../src/kernel/Reprojection.ts"
import * as Window from "../../src/kernel/Window.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Replay from "../../src/programs/Replay.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Desk from "./Desk.ts"
import * as Ledger from "./Ledger.ts"
import * as Shop from "./Shop.ts"

type Options = Parameters<typeof Agent.make<(typeof Shop.toolkit)["tools"]>>[0]

const options: Options = {
  name: "shop",
  instructions: "Sell lamps.",
  toolkit: Shop.toolkit,
  pieces: [Piece.fact("hours", "Open from 9 to 5."), Piece.fact("place", "In the harbour.")],
  parameters: { temperature: 0 },
  budget: { passes: 10 },
  unknown: "tell"
}

const shop = (more: Partial<Options> = {}) => Agent.make({ ...options, ...more })

const sold = Effect.gen(function* () {
  yield* Agent.run(shop(), "Sell.", { runId: "r" })
  return yield* Shop.events("r")
}).pipe(Effect.provide([Shop.handlers([]), LLM.layerScripted(Shop.model)]))

const driftOf = <A>(replayed: Either.Either<A, unknown>): Replay.Drift => {
  const error = Either.isLeft(replayed) ? replayed.left : undefined
  assert.instanceOf(error, Replay.Drift)
  return error
}

/** What an agent says of the recorded run. */
const against = <R>(agent: Agent.Agent<R>) => Effect.either(Replay.run(agent, "r"))

describe("Replay.run", () => {
  it.effect("finds every wire as it was, and calls no model and no tool", () =>
    Effect.gen(function* () {
      const events = yield* sold
      const { length } = events
      const wires = events.filter(({ _tag }) => _tag === "ModelCalled").length
      const replayed = yield* Replay.run(shop(), "r")
      assert.deepStrictEqual(replayed, { runId: "r", events: length, wires, status: "answered" })
      assert.strictEqual((yield* Shop.events("r")).length, length)
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("names the pass and the piece of each change of the agent", () =>
    Effect.gen(function* () {
      yield* sold
      const Dear = Tool.make("price", {
        description: "What an article costs.",
        parameters: { article: Schema.String, currency: Schema.String },
        success: Schema.Struct({ article: Schema.String, price: Schema.Number })
      }).annotate(Tool.Readonly, true)
      const Described = Tool.make("price", {
        description: "What it costs.",
        parameters: { article: Schema.String },
        success: Schema.Struct({ article: Schema.String, price: Schema.Number })
      }).annotate(Tool.Readonly, true)
      const { note, order, price } = Shop.toolkit.tools
      const [hours, place] = options.pieces ?? []
      if (hours === undefined || place === undefined) return assert.fail("no pieces")
      const tools = (toolkit: Toolkit.Any) => Agent.make({ ...options, toolkit } as unknown as Options)
      const changed: ReadonlyArray<readonly [string, Agent.Agent<unknown>, string, number, string]> = [
        ["instructions", shop({ instructions: "Sell chairs." }), "system", 0, "instructions"],
        ["text", shop({ pieces: [hours, Piece.fact("place", "Uptown.")] }), "system", 2, "place"],
        ["added", shop({ pieces: [hours, place, Piece.fact("more", "More.")] }), "system", 3, "more"],
        ["removed", Agent.without(shop(), "place"), "system", 2, "place"],
        ["swapped", shop({ pieces: [place, hours] }), "system", 1, "place"],
        ["schema", tools(Toolkit.make(Dear, note, order)), "tools", 0, "tool:price"],
        ["description", tools(Toolkit.make(Described, note, order)), "tools", 0, "tool:price"],
        ["tool removed", tools(Toolkit.make(price, note)), "tools", 2, "tool:order"],
        ["tools swapped", tools(Toolkit.make(price, order, note)), "tools", 1, "tool:order"]
      ]
      for (const [name, agent, slot, index, piece] of changed) {
        const drift = driftOf(yield* against(agent))
        const { kind, pass, suspects } = drift
        assert.deepStrictEqual(
          { kind, pass, slot: drift.slot, index: drift.index, suspects },
          { kind: "composed", pass: 1, slot, index, suspects: [piece] },
          name
        )
        assert.include(drift.message, `"${piece}"`)
      }
      const removed = driftOf(yield* against(Agent.without(shop(), "place")))
      assert.strictEqual(removed.now, undefined)
      assert.strictEqual(removed.recorded?.id, "place")
      const warm = driftOf(yield* against(shop({ parameters: { temperature: 1 } })))
      assert.deepInclude(warm, { kind: "composed", pass: 1, slot: "parameters", suspects: [] })
      assert.include(warm.message, "other parameters")
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("says where the agent would go another way", () =>
    Effect.gen(function* () {
      yield* Agent.run(shop(), "How much?", { runId: "r" }).pipe(
        Effect.provide([Shop.handlers([]), LLM.layerScripted(["It is 98765 of them."])])
      )
      assert.isTrue(Either.isRight(yield* against(shop())))
      const strict = driftOf(yield* against(shop({ grounding: "refuse" } as unknown as Partial<Options>)))
      assert.deepInclude(strict, { kind: "went", pass: 1, instead: "CallModel" })
      assert.include(strict.message, "ask the model again")
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("is not disturbed by what is no part of a wire: names, handlers, limits, time", () =>
    Effect.gen(function* () {
      yield* sold
      const [hours, place] = options.pieces ?? []
      if (hours === undefined || place === undefined) return assert.fail("no pieces")
      const renamed = shop({
        name: "other",
        pieces: [Piece.fact("times", hours.text), place],
        budget: { passes: 1, wallTime: "1 millis" },
        concurrency: 1
      })
      assert.isTrue(Either.isRight(yield* against(renamed)))
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("goes with skill maps, a window with summaries, and a run that a limit ended", () =>
    Effect.gen(function* () {
      const skilled = Desk.agent()
      yield* Agent.run(skilled, "What of my order?", { runId: "skills" }).pipe(
        Effect.provide([Desk.handlers(), LLM.layerScripted(Desk.script("weather", "clock", "weather", "clock"))])
      )
      assert.isAtLeast((yield* Replay.run(skilled, "skills")).wires, 5)
      const windowed = shop({ window: Window.summarizeOldest(600, { downTo: 300, summaryTokens: 60 }) })
      yield* Agent.run(windowed, "Sell.", { runId: "window" }).pipe(
        Effect.provide([
          Shop.handlers([]),
          LLM.layerScripted((wire: Parameters<LLM.Chooser>[0]) =>
            wire.tools.length === 0
              ? LLM.say("So far.")
              : wire.iteration > 7
                ? LLM.say("Done.")
                : LLM.call("price", { article: "lamp ".repeat(30 + wire.iteration) }, `c${wire.iteration}`)
          )
        ])
      )
      const kept = yield* Shop.events("window")
      const summaries = kept.filter(({ _tag }) => _tag === "SummaryAsked").length
      const passes = kept.filter(({ _tag }) => _tag === "ModelCalled").length
      assert.isAbove(summaries, 0)
      assert.strictEqual((yield* Replay.run(windowed, "window")).wires, passes + summaries)
      // Its window is the run's, and not the agent's of now.
      assert.isTrue(Either.isRight(yield* Effect.either(Replay.run(shop(), "window"))))
      const short = shop({ budget: { passes: 2, closing: true } })
      yield* Agent.run(short, "Sell.", { runId: "short" }).pipe(
        Effect.provide([Shop.handlers([]), LLM.layerScripted(Shop.model)])
      )
      assert.strictEqual((yield* Replay.run(short, "short")).wires, 2)
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("says that there is no such run, and what is wrong with a definition", () =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(Replay.run(shop(), "nobody"))
      assert.instanceOf(missing, Record.RecordError)
      const wrong = yield* Effect.flip(Replay.run(shop({ name: " " }), "r"))
      assert.instanceOf(wrong, Agent.InvalidAgent)
    }).pipe(Effect.provide(Shop.services))
  )
})

describe("Reprojection.ofRecord", () => {
  /** The event at `seq`, changed. */
  const planted = (
    events: ReadonlyArray<Event.Event>,
    tag: Event.Event["_tag"],
    nth: number,
    change: (event: Event.Event) => ReadonlyArray<Event.Event>
  ): ReadonlyArray<Event.Event> => {
    let left = nth
    return events.flatMap((event) => (event._tag === tag && left-- === 0 ? change(event) : [event]))
  }

  it.effect("finds a change of any event that a wire is made from, and says which piece it may be", () =>
    Effect.gen(function* () {
      const events = yield* sold
      assert.strictEqual(Reprojection.ofRecord(events).drift, undefined)
      const changes: ReadonlyArray<
        readonly [string, Event.Event["_tag"], number, number, string | undefined, (event: Event.Event) => Event.Event]
      > = [
        ["input", "RunStarted", 0, 1, "message:0", (e) => (e._tag === "RunStarted" ? { ...e, input: "Buy." } : e)],
        ["text", "PieceDeclared", 1, 1, "hours", (e) => (e._tag === "PieceDeclared" ? { ...e, text: "Shut." } : e)],
        ["schema", "ToolDeclared", 0, 1, "tool:price", (e) => (e._tag === "ToolDeclared" ? { ...e, schema: {} } : e)],
        [
          "order",
          "PiecesSelected",
          0,
          1,
          undefined,
          (e) => (e._tag === "PiecesSelected" ? { ...e, activeIds: e.activeIds.toReversed() } : e)
        ],
        ["served", "ToolSettled", 0, 2, undefined, (e) => (e._tag === "ToolSettled" ? { ...e, served: "42" } : e)],
        [
          "outcome",
          "ToolSettled",
          0,
          2,
          undefined,
          (e) => (e._tag === "ToolSettled" ? { ...e, outcome: "ran-error" } : e)
        ],
        ["said", "ModelReplied", 2, 4, undefined, (e) => (e._tag === "ModelReplied" ? { ...e, content: "No." } : e)],
        ["hash", "ModelCalled", 2, 3, undefined, (e) => (e._tag === "ModelCalled" ? { ...e, wireHash: "x" } : e)],
        [
          "parameters",
          "ModelCalled",
          0,
          1,
          undefined,
          (e) => (e._tag === "ModelCalled" ? { ...e, parameters: { temperature: 2 } } : e)
        ]
      ]
      for (const [name, tag, nth, pass, piece, change] of changes) {
        const { drift } = Reprojection.ofRecord(planted(events, tag, nth, (event) => [change(event)]))
        assert.deepInclude(drift, { kind: "changed", pass }, name)
        if (piece !== undefined) assert.include(drift?.suspects ?? [], piece, name)
      }
      const { drift } = Reprojection.ofRecord(
        planted(events, "ToolDeclared", 1, (e) => (e._tag === "ToolDeclared" ? [{ ...e, schema: {} }] : [e]))
      )
      assert.deepInclude(drift, { slot: "tools", suspects: ["tool:note"] })
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("finds nothing in a golden record, and in no prefix of a good run", () =>
    Effect.gen(function* () {
      const golden = readFileSync(new URL("../services/golden/run-1.ndjson", import.meta.url))
      const { entries, runId } = yield* Record.fromText(golden)
      yield* Replay.events(
        runId,
        entries.map(({ event }) => event)
      )
      for (const name of ["judged"] as const) {
        const events = yield* Ledger.play(name)
        for (let length = 1; length <= events.length; length++) {
          assert.strictEqual(Reprojection.ofRecord(events.slice(0, length)).drift, undefined, `${name} ${length}`)
        }
      }
    })
  )
})
