import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Why from "../../src/kernel/Why.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Steering from "../../src/programs/Steering.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Desk from "./Desk.ts"
import * as Shop from "./Shop.ts"

const record = (
  input: string,
  script: LLM.Steps,
  more: Agent.RunOptions = {},
  agent = Desk.agent({ maps: [Desk.orders, Desk.places] })
) =>
  Effect.gen(function* () {
    yield* Agent.run(agent, input, { runId: "r", ...more })
    return yield* Shop.events("r")
  }).pipe(
    Effect.provide([Shop.services, Desk.handlers({ find_order: { status: "delivered" } }), LLM.layerScripted(script)])
  )

/** A map of a pass: whether it rode, the line that says why, and what its lease rests on. */
const mapOf = (chain: Why.Chain, mapId: string) => {
  const node = chain.nodes.find((node) => node.kind === "map" && node.mapId === mapId)
  if (node?.kind !== "map") return assert.fail(`The chain has no map ${mapId}.`)
  const causes = chain.edges
    .filter(({ from, grounds }) => from === node.id && ["founded", "engaged", "parked"].includes(grounds))
    .map(({ grounds, to }) => {
      const cause = chain.nodes.find(({ id }) => id === to)
      const what =
        cause?.kind === "call" ? `${cause.toolName} of pass ${cause.pass}` : cause?.kind === "root" ? cause.what : ""
      return `${grounds}: ${what}`
    })
  return { rides: node.rides, seq: node.seq, what: node.what, causes }
}

describe("Why.call", () => {
  it.effect("says of each map why it rode or did not, since when and founded on what", () =>
    Effect.gen(function* () {
      const events = yield* record("What of my order?", Desk.script("weather", "clock", "weather", "clock"))
      const second = Why.call(events, 2)
      assert.deepInclude(mapOf(second, "orders"), {
        rides: true,
        what:
          'engaged since pass 1 on lexical evidence, 1 pass without use, by the words "order"; ' +
          "founded in pass 1 on lexical evidence at find; its cursor was on find",
        causes: ['founded: the person\'s message, by "order"']
      })
      assert.deepInclude(mapOf(second, "places"), {
        rides: false,
        what: "did not ride: nothing had engaged it, and it had no cursor",
        causes: []
      })
      const parked = mapOf(Why.call(events, 4), "orders")
      assert.isFalse(parked.rides)
      assert.match(parked.what, /^did not ride: parked in pass 4 after 3 passes without use, on lexical evidence/)
      assert.strictEqual(events[parked.seq]?._tag, "MapParked")
    })
  )

  it.effect("names the calls that renewed a map, brought it back, or gave it up", () =>
    Effect.gen(function* () {
      const script = Desk.script(
        "find_order",
        ["release_map", { mapId: "orders" }],
        ["read_skill", { id: "refund" }],
        "refund"
      )
      const events = yield* record("What of my order?", script)
      const causes = (pass: number) => mapOf(Why.call(events, pass), "orders").causes.slice(1)
      assert.deepStrictEqual(causes(1), [])
      assert.deepStrictEqual(causes(2), ["engaged: find_order of pass 1"])
      assert.deepStrictEqual(causes(3), ["parked: release_map of pass 2"])
      assert.include(mapOf(Why.call(events, 3), "orders").what, "did not ride: it was released in pass 3")
      assert.deepStrictEqual(causes(4), ["engaged: read_skill of pass 3"])
      const told = Why.call(events, 4).nodes.find((node) => node.kind === "call" && node.toolName === "read_skill")
      const root = Why.call(events, 4).edges.find(({ from, grounds }) => from === told?.id && grounds === "told")
      assert.match(root?.to ?? "", /^runtime:/)
    })
  )

  it.effect("names the application where it steered, and its tags where they matched", () =>
    Effect.gen(function* () {
      const steering = yield* Steering.make
      const script: LLM.Chooser = ({ iteration }) => {
        if (iteration === 1) Effect.runSync(Effect.ignore(Steering.engage(steering, "places")))
        return iteration < 3 ? LLM.call("weather", { of: "x" }) : "Done."
      }
      const events = yield* record("Hello.", script, { steering })
      assert.deepInclude(mapOf(Why.call(events, 2), "places"), {
        rides: false,
        what: "engaged since pass 2 on explicit evidence; founded in pass 2 on explicit evidence; it had no cursor",
        causes: ["founded: the application asked for it: engage"]
      })
      const orders = { ...Desk.orders, entries: [{ skillId: "find", tags: ["vip"] }, ...Desk.orders.entries] }
      const agent = Desk.agent({ maps: [orders] })
      const tagged = yield* record("Hello.", Desk.script("weather"), { tags: ["vip"] }, agent)
      assert.deepStrictEqual(mapOf(Why.call(tagged, 1), "orders").causes, ['founded: the application\'s tag "vip"'])
    })
  )

  it.effect("says that no lease was kept where there is none, and nothing of maps where there are none", () =>
    Effect.gen(function* () {
      const agent = Desk.agent({ engagement: false, maps: [Desk.orders, Desk.places] })
      const events = yield* record("What of my order?", Desk.script("weather"), {}, agent)
      assert.strictEqual(
        mapOf(Why.call(events, 1), "orders").what,
        "rode: no lease was kept, and its cursor was on find"
      )
      const without = Desk.agent({ skills: [Desk.guide], maps: [Desk.orders] })
      assert.lengthOf(
        Why.call(yield* record("Hello.", Desk.script("weather"), {}, without), 1).nodes.filter(
          ({ kind }) => kind === "map"
        ),
        1
      )
    })
  )
})

describe("Why.value", () => {
  it.effect("goes on from a skill's instructions to the map that put them on the wire", () =>
    Effect.gen(function* () {
      const fees = {
        ...Desk.orders,
        skills: Desk.orders.skills.map((skill) => ({ ...skill, instructions: "The fee is 4,711 EUR." }))
      }
      const events = yield* record("What of my order?", Desk.script("weather"), {}, Desk.agent({ maps: [fees] }))
      const answered = yield* record(
        "What of my order?",
        [LLM.call("weather", { of: "x" }), "The fee is 4711 EUR."],
        {},
        Desk.agent({ maps: [fees] })
      )
      assert.isNotEmpty(events)
      const chain = Why.value(answered, "4711")
      const carrier = chain.nodes.find((node) => node.kind === "carrier")
      assert.deepInclude(carrier, { pieceId: "skill:orders/find", origin: "app" })
      assert.deepInclude(mapOf(chain, "orders"), {
        rides: true,
        causes: ['founded: the person\'s message, by "order"']
      })
      assert.isDefined(chain.edges.find(({ from, grounds }) => from === carrier?.id && grounds === "rode"))
    })
  )

  it.effect("attributes what the framework said to the framework", () =>
    Effect.gen(function* () {
      const events = yield* record("What of my order?", [
        LLM.call("weather", { of: "x" }),
        LLM.call("read_skill", { id: "zones" }, "c2"),
        "I picked zones."
      ])
      const chain = Why.tool(events, "c2")
      const roots = chain.nodes.flatMap((node) => (node.kind === "root" ? [node] : []))
      assert.include(
        roots.map(({ what }) => what),
        'the framework\'s piece "wherefore:offer"'
      )
      for (const { root, what } of roots) if (what.includes("framework")) assert.strictEqual(root, "runtime")
      assert.isUndefined(roots.find(({ root }) => root === "world"))
    })
  )
})
