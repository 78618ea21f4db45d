import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import * as Run from "../../src/kernel/Run.ts"
import * as SkillMap from "../../src/kernel/SkillMap.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Desk from "./Desk.ts"
import * as Shop from "./Shop.ts"

/** A run with what it decided, and what each of its wires held. */
const play = <R>(
  agent: Agent.Agent<R>,
  input: string,
  script: LLM.Steps,
  options: { readonly results?: { readonly [tool: string]: unknown }; readonly more?: Agent.RunOptions } = {}
) =>
  Effect.gen(function* () {
    const outcome = yield* Agent.run(agent, input, { runId: "r", ...options.more })
    const events = yield* Shop.events("r")
    const state = Run.fold(events)
    assert.deepStrictEqual(state.violations, [])
    for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(projectedHash, recordedHash)
    const wires = yield* (yield* LLM.Script).calls
    return { outcome, events, state, wires, decided: Desk.decisions(events), held: wires.map(Desk.held) }
  }).pipe(Effect.provide([Shop.services, Desk.handlers(options.results), LLM.layerScripted(script)]))

const own = ["weather", "clock"]

describe("Timelines", () => {
  it.effect("T1: a matched word parks after three idle batches, and the agent's own tools stay", () =>
    Effect.gen(function* () {
      const script = Desk.script("weather", "clock", "weather", "clock")
      const { decided, held, wires } = yield* play(Desk.agent(), "What of my order?", script)
      assert.deepStrictEqual(decided, [
        "1 orders - > find entry",
        "1 orders engaged lexical",
        "2 orders idle 1",
        "3 orders idle 2",
        "4 orders parked lexical 3"
      ])
      const riding = {
        pieces: ["skill:orders/find", "wherefore:offer"],
        tools: [...own, "read_skill", "release_map", "find_order"]
      }
      assert.deepStrictEqual(held.slice(0, 3), [riding, riding, riding])
      const parked = { pieces: ["wherefore:parked", "wherefore:offer"], tools: [...own, "read_skill", "release_map"] }
      assert.deepStrictEqual(held.slice(3), [parked, parked])
      const text = wires[3]?.system.map(({ text }) => text).join("\n") ?? ""
      assert.notInclude(text, "Find the order first.")
      assert.include(text, "map: orders; cursor: find, unchanged; engagement: parked")
    })
  )

  it.effect("T2: a pass whose calls did not run counts nothing", () =>
    Effect.gen(function* () {
      const script = Desk.script("weather", "nothing", "clock", "weather", "clock")
      const { decided } = yield* play(Desk.agent(), "What of my order?", script)
      assert.deepStrictEqual(decided.slice(2), ["2 orders idle 1", "4 orders idle 2", "5 orders parked lexical 3"])
    })
  )

  it.effect("T3: a map in use never parks, and says so once", () =>
    Effect.gen(function* () {
      const script = Desk.script(...Array.from({ length: 8 }, () => "find_order"))
      const { decided } = yield* play(Desk.agent({ maps: [Desk.orders, Desk.places] }), "What of my order?", script)
      const events = decided.filter((line) => !line.includes("idle"))
      // The guard on the order's status is judged each time, and keeps the cursor where it is.
      assert.deepStrictEqual(
        events.filter((line) => !line.includes("find > find")),
        ["1 orders - > find entry", "1 orders engaged lexical", "2 orders engaged structural upgraded"]
      )
    })
  )

  it.effect("T4: a pick of the cursor's own skill brings a parked map back on the next wire", () =>
    Effect.gen(function* () {
      const script = Desk.script("weather", "clock", "weather", ["read_skill", { id: "find" }], "find_order")
      const { decided, held, wires } = yield* play(Desk.agent(), "What of my order?", script)
      assert.deepStrictEqual(decided.slice(4), [
        "4 orders parked lexical 3",
        "4 picked find reengage",
        "5 orders engaged explicit reengaged",
        "6 orders find > find stay"
      ])
      assert.deepStrictEqual(held[3]?.pieces, ["wherefore:parked", "wherefore:offer"])
      assert.deepStrictEqual(held[4]?.pieces, ["skill:orders/find", "wherefore:offer"])
      assert.include(held[4]?.tools ?? [], "find_order")
      const told = wires[4]?.messages.at(-1)?.message.content
      assert.include(
        told ?? "",
        "Map orders was parked; this call brought it back for the next one. Its cursor did not move"
      )
    })
  )

  it.effect("T5: a map that a pick founded parks on a weaker tenant", () =>
    Effect.gen(function* () {
      const toZones = Either.getOrThrow(
        SkillMap.make({
          ...Desk.orders,
          routes: [...Desk.orders.routes, { from: "find", to: "zones", tool: "weather" }]
        })
      )
      const script = Desk.script(["read_skill", { id: "find" }], "weather", "clock", "clock", "clock")
      const { decided } = yield* play(Desk.agent({ maps: [toZones] }), "Help me.", script)
      assert.deepStrictEqual(decided.slice(0, 4), [
        "1 picked find hop",
        "2 orders - > find model-pick",
        "2 orders engaged explicit",
        "3 orders find > zones route"
      ])
      // A declared route is firm: what it led to stays.
      assert.include(decided, "3 orders engaged structural tenantChanged")
      assert.isUndefined(decided.find((line) => line.includes("parked")))
    })
  )

  it.effect("T6: founding is for good", () =>
    Effect.gen(function* () {
      const script = Desk.script(
        "find_order",
        "weather",
        ["release_map", { mapId: "orders" }],
        ["read_skill", { id: "zones" }]
      )
      const { state } = yield* play(Desk.agent(), "What of my order?", script)
      assert.isAbove(new Set(state.marks.map(({ skills }) => skills.engagement[0]?.standing)).size, 1)
      for (const { skills } of state.marks) {
        const [record] = skills.engagement
        assert.deepInclude(record, { foundedBy: "lexical", foundedAt: 1, foundedOn: "find" })
      }
    })
  )

  it.effect("T7: a cursor that a follow-up carries has no cause, and parks on pass 4", () =>
    Effect.gen(function* () {
      yield* Agent.run(Desk.agent(), "What of my order?", { runId: "r" }).pipe(
        Effect.provide(LLM.layerScripted(Desk.script("find_order")))
      )
      yield* Agent.followUp(Desk.agent(), "r", "And the weather?", { runId: "s" }).pipe(
        Effect.provide(LLM.layerScripted(Desk.script("weather", "clock", "weather", "clock")))
      )
      const events = yield* Shop.events("s")
      assert.deepStrictEqual(Desk.decisions(events), [
        "1 orders engaged assumed",
        "2 orders idle 1",
        "3 orders idle 2",
        "4 orders parked assumed 3"
      ])
      const [started] = events
      assert.deepStrictEqual(started?._tag === "RunStarted" ? started.cursors : undefined, { orders: "find" })
    }).pipe(Effect.provide([Shop.services, Desk.handlers()]))
  )

  it.effect("T8: without engagement there is no lease, and every wire that parks nothing has the same bytes", () =>
    Effect.gen(function* () {
      const script = Desk.script("find_order", "weather", "find_order", ["read_skill", { id: "zones" }], "zone")
      const options = { results: { find_order: { status: "delivered" } } }
      const leased = yield* play(Desk.agent(), "What of my order?", script, options)
      const free = yield* play(Desk.agent({ engagement: false }), "What of my order?", script, options)
      assert.isAbove(leased.wires.length, 5)
      assert.deepStrictEqual(free.wires.map(Wire.hash), leased.wires.map(Wire.hash))
      assert.isTrue(leased.decided.some((line) => line.includes("engaged")))
      assert.isUndefined(free.decided.find((line) => /engaged|parked|idle/.test(line)))
      assert.deepStrictEqual(free.state.skills.engagement, [])
    })
  )

  it.effect("T8: an agent without skills has no event and no tool of them", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "desk", instructions: "Help.", toolkit: Desk.toolkit })
      const { decided, events, held } = yield* play(agent, "What of my order?", Desk.script("weather", "zone"))
      assert.deepStrictEqual(decided, [])
      assert.deepStrictEqual(held[0], { pieces: [], tools: [...own, "find_order", "refund", "zone"] })
      assert.notMatch(JSON.stringify(events), /owner|offerVersion|skill/)
    })
  )
})
