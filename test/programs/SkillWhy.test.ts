import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Why from "../../src/kernel/Why.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Screen from "../../src/programs/Screen.ts"
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
          "engaged since pass 1, on lexical evidence, 1 pass without use; " +
          'founded in pass 1 on lexical evidence at find, matched by the words "order"; its cursor was on find',
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
        what: "engaged since pass 2, on explicit evidence; founded in pass 2 on explicit evidence; it had no cursor",
        causes: ["founded: the application asked for it: engage"]
      })
      const orders = { ...Desk.orders, entries: [{ skillId: "find", tags: ["vip"] }, ...Desk.orders.entries] }
      const agent = Desk.agent({ maps: [orders] })
      const tagged = yield* record("Hello.", Desk.script("weather"), { tags: ["vip"] }, agent)
      const byTag = mapOf(Why.call(tagged, 1), "orders")
      assert.deepStrictEqual(byTag.causes, ['founded: the application\'s tag "vip"'])
      assert.include(byTag.what, 'matched by the tag "vip"')
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

describe("A map's standing", () => {
  it.effect("does not say that the words of the question are what it rests on since", () =>
    Effect.gen(function* () {
      const events = yield* record("What of my order?", Desk.script("weather", "find_order", "weather"))
      const { what } = mapOf(Why.call(events, 4), "orders")
      assert.match(
        what,
        /^engaged since pass 1, on structural evidence of pass 3, 1 pass without use; founded in pass 1 on lexical/
      )
    })
  )

  it.effect("counts a tool on the wire as riding, when its skill has no instructions", () =>
    Effect.gen(function* () {
      const silent = { ...Desk.orders, skills: Desk.orders.skills.map((skill) => ({ ...skill, instructions: " " })) }
      const events = yield* record(
        "What of my order?",
        Desk.script("weather", "clock", "weather", "clock"),
        {},
        Desk.agent({ maps: [silent] })
      )
      assert.deepStrictEqual(
        [1, 3, 4].map((pass) => mapOf(Why.call(events, pass), "orders").rides),
        [true, true, false],
        "and what rides is served: the map parks as any other"
      )
    })
  )

  it.effect("names the run that its cursor was carried from", () =>
    Effect.gen(function* () {
      const agent = Desk.agent()
      yield* Agent.run(agent, "What of my order?", { runId: "r" }).pipe(
        Effect.provide(LLM.layerScripted(Desk.script("find_order")))
      )
      yield* Agent.followUp(agent, "r", "And?", { runId: "s" }).pipe(Effect.provide(LLM.layerScripted(["Yes."])))
      const chain = Why.call(yield* Shop.events("s"), 1)
      assert.deepStrictEqual(mapOf(chain, "orders").causes, [])
      const [gap] = chain.gaps.filter(({ kind }) => kind === "elsewhere")
      assert.deepInclude(gap, { at: "map:1:orders" })
      assert.include(gap?.what ?? "", 'carried from the run "r"')
    }).pipe(Effect.provide([Shop.services, Desk.handlers()]))
  )

  it.effect("is asked once for each pass, however many carriers lead to it", () =>
    Effect.gen(function* () {
      const prices = Array.from({ length: 40 }, (_, n) => `${4_000 + n} EUR`).join(", ")
      const maps = Array.from({ length: 20 }, (_, n) => ({
        ...Desk.places,
        id: `map-${n}`,
        entries: [{ skillId: `skill-${n}`, keywords: ["all"] }],
        skills: [{ id: `skill-${n}`, instructions: prices, tools: [] }]
      }))
      const events = yield* record("Tell me all.", [LLM.call("weather", { of: "x" }), prices], {}, Desk.agent({ maps }))
      const chain = Why.answer(events)
      assert.lengthOf(
        chain.nodes.filter(({ kind }) => kind === "map"),
        20
      )
      assert.lengthOf(
        chain.edges.filter(({ grounds }) => grounds === "rode"),
        800
      )
      assert.lengthOf(
        chain.edges.filter(({ grounds }) => grounds === "founded"),
        20
      )
    })
  )

  it.effect("rests on calls that succeeded, on its own picks, and on routes", () =>
    Effect.gen(function* () {
      const agent = Desk.agent({ maps: [Desk.orders, Desk.places], skills: [Desk.guide] })
      const script = [
        LLM.together(
          LLM.call("find_order", { of: 1 }, "bad"),
          LLM.call("find_order", { of: "1" }, "good"),
          LLM.call("read_skill", { id: "guide" }, "g"),
          LLM.call("read_skill", { id: "place" }, "p")
        ),
        "Done."
      ]
      const events = yield* record("What of my order?", script, {}, agent)
      const chain = Why.call(events, 2)
      assert.deepStrictEqual(mapOf(chain, "orders").causes.slice(1), ["engaged: find_order of pass 1"])
      assert.deepStrictEqual(mapOf(chain, "places").causes, ["founded: read_skill of pass 1"])
      const ids = chain.nodes.flatMap((node) => (node.kind === "call" ? [node.toolCallId] : []))
      assert.include(ids, "good")
      assert.notInclude(ids, "bad")
      assert.notInclude(ids, "g")
    })
  )
})

describe("The cause of a lease", () => {
  it.effect("is the call that a route read, whosever tool it was", () =>
    Effect.gen(function* () {
      const routed = { ...Desk.orders, routes: [...Desk.orders.routes, { from: "find", to: "zones", tool: "weather" }] }
      const events = yield* record("My order?", Desk.script("weather"), {}, Desk.agent({ maps: [routed] }))
      assert.deepStrictEqual(mapOf(Why.call(events, 2), "orders").causes.slice(1), ["engaged: weather of pass 1"])
    })
  )

  it.effect("is no call that failed", () =>
    Effect.gen(function* () {
      const [skill] = Desk.places.skills
      const refund = Desk.orders.skills.flatMap(({ tools }) => tools).filter(({ name }) => name === "refund")
      const both = {
        ...Desk.places,
        skills: skill === undefined ? [] : [{ ...skill, tools: [...skill.tools, ...refund] }]
      }
      const agent = Desk.agent({ maps: [both], maxResultChars: 16 })
      const script = [LLM.together(LLM.call("zone", { of: "1" }, "z"), LLM.call("refund", { of: "1" }, "r")), "Done."]
      const events = yield* record("In town?", script, {}, agent)
      assert.deepStrictEqual(
        events.flatMap((event) => (event._tag === "ToolSettled" ? [event.outcome] : [])),
        ["ran-ok", "ran-error"]
      )
      assert.deepStrictEqual(mapOf(Why.call(events, 2), "places").causes.slice(1), ["engaged: zone of pass 1"])
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
      const answered = yield* record(
        "What of my order?",
        [LLM.call("weather", { of: "x" }), "The fee is 4711 EUR."],
        {},
        Desk.agent({ maps: [fees] })
      )
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

describe("Screen", () => {
  const room = { width: 80 }
  const shown = (lines: ReadonlyArray<Screen.Line>) => Screen.print(lines, { colour: false })

  it.effect("shows where the maps of a run stand, on lines that fit", () =>
    Effect.gen(function* () {
      const events = yield* record("What of my order?", Desk.script("weather", "clock", "weather", "clock"))
      const text = shown(Screen.show(Screen.account(events, room), { room, name: "r" }))
      assert.include(text, "\nmaps     orders parked (pass 4) on find · places not engaged\n")
      const maps = shown(Screen.maps(Why.call(events, 4), { room }))
      assert.match(maps, /^map orders {2}did not ride {2}pass 4 +#\d+\n/)
      assert.match(maps, /founded by {2}the person's message, by "order" +#0\n/)
      for (const line of maps.split("\n")) assert.isAtMost(line.length, 80)
    })
  )

  it.effect("says nothing of maps where there are none, and shows hostile ids as data", () =>
    Effect.gen(function* () {
      const none = Agent.make({ name: "a", instructions: "b" })
      const without = yield* record("Hello.", ["Yes."], {}, none)
      assert.notInclude(shown(Screen.show(Screen.account(without, room), { room, name: "r" })), "maps")
      const id = "a\u001b[31m\u202e\nb".repeat(20)
      const events = yield* record("In town?", ["Yes."], {}, Desk.agent({ maps: [{ ...Desk.places, id }] }))
      const text =
        shown(Screen.maps(Why.call(events, 1), { room })) +
        shown(Screen.show(Screen.account(events, room), { room, name: "r" }))
      assert.notMatch(text, /[\u001b\u202e]/)
    })
  )
})
