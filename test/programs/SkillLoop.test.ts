import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as CallOutcome from "../../src/kernel/CallOutcome.ts"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as SkillMap from "../../src/kernel/SkillMap.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Steering from "../../src/programs/Steering.ts"
import * as Wheel from "../../src/programs/Wheel.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
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

  it.effect("T5: a map that a pick founded is rated anew when a route takes its cursor on", () =>
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

const bothMaps = { maps: [Desk.orders, Desk.places] }

describe("Several maps", () => {
  it.effect("each have a cursor and a lease of their own, and a park of one leaves the other alone", () =>
    Effect.gen(function* () {
      const script = Desk.script("find_order", "find_order", "find_order", "find_order")
      const { decided, held } = yield* play(Desk.agent(bothMaps), "My order in town?", script)
      assert.deepStrictEqual(
        decided.filter((line) => line.includes("places")),
        [
          "1 places - > place entry",
          "1 places engaged lexical",
          "2 places idle 1",
          "3 places idle 2",
          "4 places parked lexical 3"
        ]
      )
      assert.deepStrictEqual(
        decided.filter((line) => /orders.*(engaged|parked)/.test(line)),
        ["1 orders engaged lexical", "2 orders engaged structural upgraded"]
      )
      assert.deepStrictEqual(
        held.map(({ pieces }) => pieces.filter((id) => id.startsWith("skill:")).join(" ")),
        [
          ...Array.from({ length: 3 }, () => "skill:orders/find skill:places/place"),
          "skill:orders/find",
          "skill:orders/find"
        ]
      )
    })
  )

  it.effect("share a tool that leaves the wire only when every map that rides with it is parked", () =>
    Effect.gen(function* () {
      const release = (mapId: string) => ["release_map", { mapId }] as const
      const script = Desk.script(release("places"), release("orders"), "zone")
      const { decided, held } = yield* play(Desk.agent(bothMaps), "The zone in town?", script)
      assert.deepStrictEqual(
        held.map(({ tools }) => tools.includes("zone")),
        [true, true, false, true]
      )
      // A parked tool that is still called by its name runs, and brings the map back whose it is.
      assert.include(decided, "4 orders engaged structural reengaged")
      assert.isUndefined(decided.find((line) => line.includes("4 places engaged")))
    })
  )

  it.effect("name the winner and the losers when calls of one batch lead to different skills", () =>
    Effect.gen(function* () {
      const forked = Either.getOrThrow(
        SkillMap.make({
          ...Desk.orders,
          routes: [...Desk.orders.routes, { from: "find", to: "zones", tool: "weather" }]
        })
      )
      const script = [
        LLM.together(
          LLM.call("weather", { of: "1" }, "w"),
          LLM.call("find_order", { of: "1" }, "f"),
          LLM.call("read_skill", { id: "refund" }, "p")
        ),
        "Done."
      ]
      const options = { results: { find_order: { status: "delivered" } } }
      const { decided, events } = yield* play(Desk.agent({ maps: [forked] }), "What of my order?", script, options)
      assert.deepStrictEqual(decided.slice(2), [
        "1 picked refund hop",
        "2 orders find > zones route",
        "2 orders conflict zones",
        "2 orders engaged explicit tenantChanged",
        "2 superseded refund by zones route"
      ])
      const conflict = events.find((event) => event._tag === "RouteConflicted")
      assert.deepStrictEqual(conflict, {
        _tag: "RouteConflicted",
        iteration: 2,
        mapId: "orders",
        from: "find",
        winner: { toolCallId: "w", toolName: "weather", target: "zones" },
        losers: [{ toolCallId: "f", toolName: "find_order", target: "refund" }]
      })
    })
  )
})

describe("A guarded route", () => {
  for (const [status, to] of [
    ["delivered", "refund"],
    ["open", "find"]
  ] as const) {
    it.effect(`is judged on the result, and says on what: ${status}`, () =>
      Effect.gen(function* () {
        const { events, held } = yield* play(Desk.agent(), "What of my order?", Desk.script("find_order"), {
          results: { find_order: { status } }
        })
        assert.include(held[1]?.pieces ?? [], `skill:orders/${to}`)
        const moved = events.findLast((event) => event._tag === "CursorMoved")
        const guards = moved?._tag === "CursorMoved" ? [moved.guard, ...(moved.guardsClosed ?? [])] : []
        const judged = guards.flatMap((guard) => guard?.conditions ?? []).filter(({ field }) => field === "/status")
        assert.deepStrictEqual(judged, [
          { field: "/status", op: "eq", value: "delivered", holds: to === "refund", found: status }
        ])
      })
    )
  }

  it.effect("reads a text as a text, though it looks like a number", () =>
    Effect.gen(function* () {
      const texts = Either.getOrThrow(
        SkillMap.make({
          ...Desk.orders,
          routes: [
            { from: "find", to: "refund", tool: "find_order", when: [{ field: "", op: "eq", value: "7" }] },
            { from: "refund", to: "find", tool: "refund" }
          ]
        })
      )
      const after = (result: unknown) =>
        Effect.map(
          play(Desk.agent({ maps: [texts] }), "My order?", Desk.script("find_order"), {
            results: { find_order: result }
          }),
          ({ state }) => state.skills.cursors["orders"]
        )
      assert.strictEqual(yield* after("7"), "refund")
      assert.strictEqual(yield* after(7), "find")
    })
  )
})

describe("The gate", () => {
  it.effect("refuses a pick before anything runs, with the reason, and counts it as no idle pass", () =>
    Effect.gen(function* () {
      const script = Desk.script(["read_skill", { id: "nope" }], ["read_skill", { id: " " }], ["read_skill", { ID: 1 }])
      const { decided, events } = yield* play(Desk.agent(), "What of my order?", script)
      assert.deepStrictEqual(decided.slice(2), ["1 refused nope unreachable"])
      assert.isUndefined(events.find(({ _tag }) => _tag === "ToolCalled"))
      const tags = events.flatMap((event) => (event._tag === "ToolSettled" ? [event.outcome, event.error?.tag] : []))
      assert.deepStrictEqual(tags, [
        "refused",
        "SkillUnreachable",
        "refused",
        "ToolArgsInvalid",
        "refused",
        "ToolArgsInvalid"
      ])
    })
  )

  it.effect("lets no pick move a cursor on rails, and still brings a parked map back", () =>
    Effect.gen(function* () {
      const pick = (id: string) => ["read_skill", { id }] as const
      const script = Desk.script(pick("zones"), "weather", "clock", "weather", pick("zones"))
      const { decided } = yield* play(Desk.agent({ posture: "rails" }), "What of my order?", script)
      assert.deepStrictEqual(decided.slice(2), [
        "1 refused zones posture",
        "3 orders idle 1",
        "4 orders idle 2",
        "5 orders parked lexical 3",
        "5 picked zones reengage",
        "6 orders engaged explicit reengaged",
        "6 superseded zones by find stay"
      ])
    })
  )

  it.effect("names a hidden skill nowhere, and denies a pick of it", () =>
    Effect.gen(function* () {
      const script = Desk.script(
        "weather",
        "clock",
        "weather",
        ["read_skill", { id: "refund" }],
        ["read_skill", { id: "nope" }]
      )
      const agent = Desk.agent({ mayName: (id) => id !== "refund", skills: [Desk.guide] })
      const { decided, events, wires } = yield* play(agent, "What of my order?", script)
      assert.include(decided, "4 refused refund hidden")
      assert.include(
        events.flatMap((event) => (event._tag === "ToolSettled" ? [event.outcome] : [])),
        "denied"
      )
      assert.isAbove(wires.length, 4)
      for (const { messages, system, tools } of wires) {
        const ours = tools.filter(({ origin }) => origin === "runtime").map(({ tool }) => JSON.stringify(tool))
        const told = messages.flatMap(({ message }) => (message.role === "tool" ? [message.content] : []))
        assert.notInclude([...system.map(({ text }) => text), ...ours, ...told].join("\n"), "refund")
      }
    })
  )

  it.effect("refuses a pick that was made from another offer as stale", () =>
    Effect.gen(function* () {
      const whole = yield* play(Desk.agent(), "What of my order?", Desk.script(["read_skill", { id: "zones" }]))
      const at = whole.events.findIndex(({ _tag }) => _tag === "ModelReplied")
      yield* Effect.gen(function* () {
        const record = yield* Record.Record
        const stale = whole.events
          .slice(0, at + 1)
          .map((event) => (event._tag === "ModelCalled" ? { ...event, offerVersion: "another" } : event))
        yield* record.append("r", 0, stale)
        yield* Agent.resume(Desk.agent(), "r")
        assert.include(Desk.decisions(yield* Shop.events("r")), "1 refused zones stale-offer")
      }).pipe(Effect.provide([Shop.services, Desk.handlers(), LLM.layerScripted(["Done.", "Done."])]))
    })
  )

  it.effect("has the same definitions on every wire", () =>
    Effect.gen(function* () {
      const script = Desk.script("weather", "clock", "weather", ["read_skill", { id: "zones" }], "zone")
      const { wires } = yield* play(Desk.agent(bothMaps), "What of my order?", script)
      const ours = wires.map(({ tools }) => JSON.stringify(tools.filter(({ origin }) => origin === "runtime")))
      assert.isAbove(ours.length, 4)
      assert.lengthOf(new Set(ours.map((text) => text.replaceAll(/"seq":\d+/g, ""))), 1)
    })
  )

  it.effect("loads an open skill, which moves no cursor and stays", () =>
    Effect.gen(function* () {
      const script = Desk.script(["read_skill", { id: "guide" }], "weather")
      const { decided, held } = yield* play(Desk.agent({ skills: [Desk.guide] }), "What of my order?", script)
      assert.include(decided, "1 picked guide open")
      assert.deepStrictEqual(
        held.map(({ pieces }) => pieces.includes("skill:guide")),
        [false, true, true]
      )
      const { toolkit } = Desk
      const alone = Agent.make({ name: "desk", instructions: "Help.", toolkit, skills: [Desk.guide] })
      const without = yield* play(alone, "Hello.", script)
      assert.deepStrictEqual(without.decided, ["1 picked guide open"])
      assert.deepStrictEqual(without.held[0]?.tools.slice(-1), ["read_skill"])
    })
  )
})

const stepped = Either.getOrThrow(
  SkillMap.make({
    ...Desk.places,
    skills: Desk.places.skills.map((skill) => ({
      ...skill,
      tools: [
        ...skill.tools,
        ...Desk.orders.skills.flatMap(({ tools }) => tools).filter(({ name }) => name === "refund")
      ],
      steps: [
        { toolName: "zone", note: "Mind the\nzone." },
        { toolName: "refund", note: "" }
      ]
    }))
  })
)

describe("Steps", () => {
  const agent = Desk.agent({ maps: [stepped] })
  const said = (text: string) =>
    `[Notice from the framework, not part of the task: the step at hand]\n${text}. To leave it out, call skip_step with the reason.\n[End of notice]`
  const stepText = (wire: Wire.Wire | undefined) =>
    wire?.system.find(({ id }) => id === "wherefore:step/places")?.text ?? "none"

  it.effect("are offered in order with their notes, while other tools stay available", () =>
    Effect.gen(function* () {
      const { decided, held, outcome, wires } = yield* play(
        agent,
        "A flat in town.",
        Desk.script("weather", "zone", "refund")
      )
      assert.deepStrictEqual(
        decided.filter((line) => line.includes("step")),
        ["1 places place step 0", "3 places place step 1", "4 places place step 2"]
      )
      assert.deepStrictEqual(wires.map(stepText), [
        said('Step 1 of 2 of the skill place: call zone: "Mind the\\nzone."'),
        said('Step 1 of 2 of the skill place: call zone: "Mind the\\nzone."'),
        said("Step 2 of 2 of the skill place: call refund"),
        "none"
      ])
      for (const { tools } of held) assert.includeMembers([...tools], ["weather", "zone", "refund", "skip_step"])
      assert.strictEqual(outcome.status, "answered")
    })
  )

  it.effect("start anew with the skill that the cursor comes to", () =>
    Effect.gen(function* () {
      const all = Desk.orders.skills.flatMap(({ tools }) => tools)
      const steps = ["find_order", "refund", "zone"].map((toolName) => ({ toolName, note: "" }))
      const chain = {
        ...Desk.orders,
        skills: Desk.orders.skills.map((skill) => ({ ...skill, tools: all, steps })),
        routes: [{ from: "find", to: "refund", tool: "find_order" }]
      }
      const { decided } = yield* play(
        Desk.agent({ maps: [chain] }),
        "My order?",
        Desk.script("find_order").concat("Done.")
      )
      assert.deepStrictEqual(
        decided.filter((line) => line.includes(" step ")),
        ["1 orders find step 0", "2 orders refund step 0"]
      )
    })
  )

  it.effect("are left out only for a reason, which is on the record", () =>
    Effect.gen(function* () {
      const skip = (args: unknown) => ["skip_step", args] as const
      const script = Desk.script(
        skip({ reason: " " }),
        skip({}),
        skip({ reason: "No zone." }),
        "refund",
        skip({ reason: "x" })
      )
      const { decided, events } = yield* play(agent, "A flat in town.", script)
      assert.include(decided, "3 places place skipped 0: No zone.")
      const tags = events.flatMap((event) => (event._tag === "ToolSettled" ? [event.error?.tag ?? "ok"] : []))
      assert.deepStrictEqual(tags, ["StepNotSkipped", "ToolArgsInvalid", "ok", "ok", "StepNotSkipped"])
    })
  )

  it.effect("that are open when the model answers are brought to its mind once", () =>
    Effect.gen(function* () {
      const script = ["Too soon.", LLM.call("zone", { of: "a" }), "Still too soon."]
      const { decided, outcome, state, wires } = yield* play(agent, "A flat in town.", script)
      assert.deepInclude(outcome, { status: "answered", answer: "Still too soon." })
      assert.lengthOf(
        decided.filter((line) => line.includes("reminded")),
        1
      )
      const reminder = wires[1]?.messages.at(-1)
      assert.deepInclude(reminder, { origin: "runtime" })
      assert.deepInclude(reminder?.message, { role: "user" })
      assert.include(reminder?.message.content ?? "", "steps of the skill place were still open: zone, refund")
      assert.strictEqual(state.heard?.content, "A flat in town.")
      // A pass that asks again has no facts of a batch: nothing is counted.
      assert.deepStrictEqual(
        decided.filter((line) => line.startsWith("2 ")),
        []
      )
    })
  )

  it.effect("are not asked for when the budget has no pass left", () =>
    Effect.gen(function* () {
      const short = Desk.agent({ maps: [stepped], budget: { passes: 1 } })
      const { decided, outcome } = yield* play(short, "A flat in town.", ["Too soon."])
      assert.deepInclude(outcome, { status: "answered", answer: "Too soon." })
      assert.isUndefined(decided.find((line) => line.includes("reminded")))
    })
  )

  it.effect("stay what they were to a follow-up: a reminder is no word of the person", () =>
    Effect.gen(function* () {
      yield* Agent.run(agent, "A flat in town.", { runId: "r" }).pipe(
        Effect.provide(LLM.layerScripted(["Too soon.", "Done."]))
      )
      yield* Agent.followUp(agent, "r", "And?", { runId: "s" }).pipe(
        Effect.provide(LLM.layerScripted(["Yes.", "Yes."]))
      )
      const { messages } = Run.fold(yield* Shop.events("s"))
      assert.deepStrictEqual(
        messages.map(({ origin }) => origin),
        ["person", "model", "runtime", "model", "person", "model", "runtime", "model"]
      )
    }).pipe(Effect.provide([Shop.services, Desk.handlers()]))
  )
})

describe("Steering", () => {
  /** A run in which the application does something while the model is asked in pass 2. */
  const steered = (
    act: (steering: Steering.Steering) => Effect.Effect<void, Steering.SteeringRefused>,
    input = "What of my order?"
  ) =>
    Effect.gen(function* () {
      const steering = yield* Steering.make
      const seen: Array<Steering.SteeringRefused> = []
      const script: LLM.Chooser = (wire) => {
        if (wire.iteration === 2) {
          const done = Effect.runSync(Effect.either(act(steering)))
          if (Either.isLeft(done)) seen.push(done.left)
        }
        return wire.iteration < 4 ? LLM.call("weather", { of: "x" }) : "Done."
      }
      const played = yield* play(Desk.agent(bothMaps), input, script, { more: { steering } })
      return { ...played, seen, steering }
    })

  it.effect("releases a map from the next pass on, whatever it rests on", () =>
    Effect.gen(function* () {
      const { decided, seen } = yield* steered((steering) => Steering.release(steering, "orders"))
      assert.deepStrictEqual(seen, [])
      assert.includeMembers([...decided], ["2 release orders by app", "3 orders parked lexical 2released"])
    })
  )

  it.effect("engages a map without moving its cursor", () =>
    Effect.gen(function* () {
      const { decided, events, state } = yield* steered((steering) => Steering.engage(steering, "places"))
      assert.includeMembers([...decided], ["2 engage places by app", "3 places engaged explicit"])
      assert.deepStrictEqual(state.skills.cursors, { orders: "find" })
      assert.isUndefined(events.find((event) => event._tag === "SkillSuperseded"))
      const back = yield* steered((steering) =>
        Effect.zipRight(Steering.release(steering, "orders"), Steering.engage(steering, "orders"))
      )
      assert.isUndefined(back.decided.find((line) => line.includes("places")))
      assert.deepStrictEqual(
        back.state.skills.engagement[0]?.standing,
        "parked",
        "a release applies after the evidence"
      )
      const other = yield* steered((steering) => Steering.engage(steering, "orders"), "Which zone?")
      const asked = other.events.flatMap((event) => (event._tag === "MapSteered" ? [event.memberId] : []))
      assert.deepStrictEqual(asked, ["zones"], "the member under the cursor stands for its map")
    })
  )

  it.effect("refuses what cannot be, with the reason, and leaves everything alone", () =>
    Effect.gen(function* () {
      for (const [mapId, reason] of [
        ["nowhere", "there was no such map"],
        ["places", "it had not been engaged"]
      ] as const) {
        const { decided, seen } = yield* steered((steering) => Steering.release(steering, mapId))
        assert.isUndefined(decided.find((line) => line.includes("release")))
        assert.include(seen[0]?.message ?? "", reason)
      }
      const { seen } = yield* steered((steering) => Steering.engage(steering, "nowhere"))
      assert.strictEqual(seen[0]?.refusal.tag, "MapNotEngaged")
      const steering = yield* Steering.make
      const free = Desk.agent({ engagement: false })
      const script: LLM.Chooser = () =>
        Either.match(Effect.runSync(Effect.either(Steering.engage(steering, "orders"))), {
          onLeft: ({ message }) => message,
          onRight: () => "engaged"
        })
      const { outcome } = yield* play(free, "What of my order?", script, { more: { steering } })
      assert.include(outcome.answer ?? "", "the agent has no engagement")
    })
  )

  it.effect("stays with the run that it was given to last, when one before it ends", () =>
    Effect.gen(function* () {
      const steering = yield* Steering.make
      const [first, second] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const driven = (): Wheel.Driven => ({ spec: {}, state: () => Run.initial, happen: () => undefined })
      const last = driven()
      const one = yield* Effect.fork(Wheel.attached(steering, driven(), Deferred.await(first)))
      yield* Effect.yieldNow()
      const other = yield* Effect.fork(Wheel.attached(steering, last, Deferred.await(second)))
      yield* Effect.yieldNow()
      yield* Deferred.succeed(first, undefined)
      yield* Fiber.join(one)
      assert.strictEqual(Wheel.driven(steering), last)
      yield* Deferred.succeed(second, undefined)
      yield* Fiber.join(other)
      assert.isUndefined(Wheel.driven(steering))
    })
  )

  it.effect("outside a run is refused", () =>
    Effect.gen(function* () {
      const { steering } = yield* steered(() => Effect.void)
      for (const one of [steering, yield* Steering.make]) {
        const refused = yield* Effect.flip(Steering.release(one, "orders"))
        assert.strictEqual(refused.code, "WF-SKILL-008")
        assert.strictEqual(refused.refusal.tag, "NotDriven")
      }
    })
  )
})

describe("A run with skills that is stopped and resumed", () => {
  const agent = Desk.agent({ maps: [Desk.orders, stepped], skills: [Desk.guide] })
  const input = "My order in town, and the zone?"
  const model: LLM.Chooser = (wire) => {
    switch (wire.iteration) {
      case 1:
        return LLM.together(
          LLM.call("find_order", { of: "1" }, "a"),
          LLM.call("read_skill", { id: "nope" }, "b"),
          LLM.call("read_skill", { id: "guide" }, "c")
        )
      case 2:
        return LLM.together(
          LLM.call("skip_step", { reason: "No need." }, "a"),
          LLM.call("read_skill", { id: "find" }, "b"),
          LLM.call("refund", { of: "1" }, "c")
        )
      case 3:
      case 4:
      case 5:
        return LLM.call("weather", { of: `${wire.iteration}` }, "w")
      case 6:
        return LLM.together(LLM.call("release_map", { mapId: "orders" }, "r"), LLM.call("refund", { of: "2" }, "s"))
      case 7:
        return "Too soon."
      case 8:
        return LLM.call("read_skill", { id: "zones" }, "z")
      default:
        return `Done after ${wire.messages.length}.`
    }
  }
  const services = [
    Shop.services,
    Desk.handlers({ find_order: { status: "delivered" } }),
    LLM.layerScripted(model)
  ] as const
  const whole = Effect.gen(function* () {
    const outcome = yield* Agent.run(agent, input, { runId: "r" })
    return { outcome, events: yield* Shop.events("r") }
  })

  it.effect("comes to the same from every prefix of its record", () =>
    Effect.gen(function* () {
      const base = yield* whole.pipe(Effect.provide(services))
      const kinds = new Set(base.events.map(({ _tag }) => _tag))
      assert.includeMembers(Array.from(kinds), [
        "CursorMoved",
        "MapEngaged",
        "MapParked",
        "MapsIdled",
        "SkillPicked",
        "SkillRefused",
        "MapSteered",
        "StepReached",
        "StepSkipped"
      ])
      for (let length = 1; length <= base.events.length; length++) {
        yield* Effect.gen(function* () {
          const record = yield* Record.Record
          yield* record.append("r", 0, base.events.slice(0, length))
          const outcome = yield* Agent.resume(agent, "r")
          const events = yield* Shop.events("r")
          assert.deepStrictEqual(events, base.events, `after ${length}: ${base.events[length - 1]?._tag}`)
          assert.deepStrictEqual(outcome, base.outcome)
          assert.deepStrictEqual(Run.fold(events).violations, [])
        }).pipe(Effect.provide(services))
      }
    })
  )
})

describe("An agent with skills", () => {
  const problems = (more: Parameters<typeof Desk.agent>[0]) => Desk.agent(more).problems.join("\n")
  const find = Desk.orders.skills[0] ?? assert.fail()

  it("is refused with everything that is wrong with it", () => {
    assert.include(problems({ maps: [] }), "maps is empty")
    assert.include(problems({ maps: [Desk.orders, Desk.orders] }), "is mounted already")
    assert.include(problems({ engagement: { renewalGrace: 0 } }), "The grace is no whole number")
    assert.include(problems({ maps: [{ ...Desk.orders, id: "a/b" }] }), "must have another id")
    assert.include(problems({ maps: [{ ...Desk.orders, routes: [] }] }), "Nothing leads to refund")
    assert.include(problems({ skills: [{ ...Desk.guide, id: "find" }] }), "must have an id of its own")
    assert.include(problems({ skills: [Desk.guide, Desk.guide] }), "must have an id of its own")
    const stranger = { name: "stranger", schema: {} }
    assert.include(problems({ skills: [{ ...Desk.guide, tools: [stranger] }] }), "not in the agent's toolkit")
    const other = find.tools.map((tool) => ({ ...tool, schema: {} }))
    assert.include(problems({ skills: [{ ...Desk.guide, tools: other }] }), "different schemas of find_order")
    const steps = [{ toolName: "weather", note: "" }]
    assert.include(problems({ skills: [{ ...Desk.guide, steps }] }), "has a step that calls weather")
    assert.include(problems({ skills: [{ ...Desk.guide, instructions: "\ud800" }] }), "lone surrogate")
    assert.include(problems({ pieces: [Piece.fact("skill:x", "x")] }), "begins as those of the runtime do")
    assert.include(problems({ maps: [{ ...Desk.orders, id: "__proto__" }] }), "must have another id")
    for (const id of [" ", "a/b"])
      assert.include(problems({ skills: [{ ...Desk.guide, id }] }), "must have an id of its own")
    const twin = { ...Desk.places, id: "twin", skills: [...Desk.places.skills] }
    assert.include(problems({ maps: [Desk.places, twin] }), "is in two maps")
    const ill = { ...Desk.places, entries: [{ skillId: "place", keywords: ["town\ud800"] }] }
    assert.include(problems({ maps: [ill] }), "a lone surrogate")
    const open = { ...Desk.guide, tools: find.tools, steps: [{ toolName: "find_order", note: "" }] }
    assert.include(problems({ skills: [open] }), "has steps, which only a skill of a map can have")
  })

  it("keeps the names of the framework's tools", () => {
    for (const name of CallOutcome.frameworkTools) {
      const toolkit = Toolkit.make(Tool.make(name))
      const { problems } = Agent.make({ name: "a", instructions: "", toolkit })
      assert.include(problems.join("\n"), "has a name that is kept for a tool of the framework")
    }
  })
})

describe("What a run with skills cannot be broken by", () => {
  it.effect("a result whose judged value no record can hold", () =>
    Effect.gen(function* () {
      for (const status of [JSON.parse('{"__proto__":1}'), JSON.parse(`${"[".repeat(100)}${"]".repeat(100)}`), -0]) {
        const results = { find_order: { status } }
        const { outcome, state } = yield* play(Desk.agent(), "What of my order?", Desk.script("find_order"), {
          results
        })
        assert.strictEqual(outcome.status, "answered")
        assert.deepStrictEqual(state.skills.cursors, { orders: "find" })
      }
    })
  )

  it.effect("a result that is a text of JSON, whatever other maps judge of it", () =>
    Effect.gen(function* () {
      const whole = [
        { from: "place", to: "place", tool: "find_order", when: [{ field: "", op: "eq" as const, value: "x" }] }
      ]
      const other = { ...Desk.places, routes: whole }
      for (const maps of [[Desk.orders], [Desk.orders, other]]) {
        const results = { find_order: '{"status":"delivered"}' }
        const { state } = yield* play(Desk.agent({ maps }), "My order in town?", Desk.script("find_order"), { results })
        assert.strictEqual(state.skills.cursors["orders"], "refund")
      }
    })
  )

  it.effect("a tool that failed: what we say of it opens no guard", () =>
    Effect.gen(function* () {
      const when = [
        { field: "outcome", op: "eq" as const, value: "ran-error" },
        { field: "/reason", op: "eq" as const, value: "ToolOutputTooLarge" }
      ]
      const failing = Either.getOrThrow(
        SkillMap.make({
          ...Desk.orders,
          routes: [...Desk.orders.routes, { from: "find", to: "zones", tool: "find_order", when }]
        })
      )
      const agent = Desk.agent({ maps: [failing], maxResultChars: 10 })
      const results = { find_order: "x".repeat(50) }
      const { events, state } = yield* play(agent, "My order?", Desk.script("find_order"), { results })
      assert.isDefined(events.find((event) => event._tag === "ToolSettled" && event.outcome === "ran-error"))
      assert.strictEqual(state.skills.cursors["orders"], "find")
    })
  )

  it.effect("a pick and a use of it before a batch is interrupted: what was accepted is on the record", () =>
    Effect.gen(function* () {
      const script = [LLM.together(LLM.call("read_skill", { id: "zones" }, "p"), LLM.call("weather", { of: "x" }, "w"))]
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.fork(Agent.run(Desk.agent(), "My order?", { runId: "r" }))
        yield* Effect.repeatN(Effect.yieldNow(), 300)
        yield* Fiber.interrupt(fiber)
        const events = yield* Shop.events("r")
        assert.include(Desk.decisions(events), "1 picked zones hop")
        assert.deepStrictEqual(Run.fold(events).violations, [])
        assert.strictEqual(events.at(-1)?._tag, "RunEnded")
      }).pipe(Effect.provide([Shop.services, Desk.hanging, LLM.layerScripted(script)]))
    })
  )

  it.effect("the same pick twice in a batch that a route overrules, from every prefix", () =>
    Effect.gen(function* () {
      const forked = Either.getOrThrow(
        SkillMap.make({
          ...Desk.orders,
          routes: [...Desk.orders.routes, { from: "find", to: "zones", tool: "weather" }]
        })
      )
      const script: LLM.Chooser = ({ iteration }) =>
        iteration === 1
          ? LLM.together(
              LLM.call("weather", { of: "1" }, "w"),
              LLM.call("read_skill", { id: "refund" }, "p"),
              LLM.call("read_skill", { id: "refund" }, "q")
            )
          : "Done."
      const agent = Desk.agent({ maps: [forked] })
      const { decided, events } = yield* play(agent, "What of my order?", script)
      assert.lengthOf(
        decided.filter((line) => line.includes("superseded")),
        1
      )
      for (let length = 1; length <= events.length; length++) {
        yield* Effect.gen(function* () {
          yield* (yield* Record.Record).append("r", 0, events.slice(0, length))
          yield* Agent.resume(agent, "r")
          assert.deepStrictEqual(yield* Shop.events("r"), events)
        }).pipe(Effect.provide([Shop.services, Desk.handlers(), LLM.layerScripted(script)]))
      }
    })
  )
})

describe("Events tell what was so", () => {
  it.effect("of a map that was of use and given back in one batch: engaged, then parked", () =>
    Effect.gen(function* () {
      const script = [
        LLM.together(LLM.call("find_order", { of: "1" }, "f"), LLM.call("release_map", { mapId: "orders" }, "r")),
        "Done."
      ]
      const { events } = yield* play(Desk.agent(), "What of my order?", script)
      const standings = events.flatMap((event) =>
        event._tag === "MapEngaged" || event._tag === "MapParked" ? [[event.iteration, event.record.standing]] : []
      )
      assert.deepStrictEqual(standings, [
        [1, "engaged"],
        [2, "engaged"],
        [2, "parked"]
      ])
      const evidence = events.flatMap((event) => (event._tag === "MapEngaged" ? [event.evidence] : []))
      assert.deepStrictEqual(evidence, [
        [{ kind: "cursor-moved", by: "entry" }],
        [{ kind: "owned-tool-called", toolName: "find_order" }]
      ])
    })
  )

  it.effect("of what the application engaged: it is no pick that lost", () =>
    Effect.gen(function* () {
      const steering = yield* Steering.make
      const script: LLM.Chooser = ({ iteration }) => {
        if (iteration === 2) Effect.runSync(Steering.engage(steering, "orders"))
        return iteration === 1
          ? LLM.call("read_skill", { id: "find" }, "p")
          : iteration === 2
            ? LLM.call("find_order", { of: "1" }, "f")
            : "Done."
      }
      const results = { find_order: { status: "delivered" } }
      const { decided, state } = yield* play(Desk.agent(), "Hello.", script, { results, more: { steering } })
      assert.strictEqual(state.skills.cursors["orders"], "refund")
      assert.isUndefined(decided.find((line) => line.includes("superseded")))
    })
  )

  it.effect("of pieces that would ride, if their map were not parked", () =>
    Effect.gen(function* () {
      const script = Desk.script("weather", "clock", "weather", "clock")
      const { events } = yield* play(Desk.agent(bothMaps), "What of my order?", script)
      const skipped = events.flatMap((event) => (event._tag === "PiecesSelected" ? [event.skipped ?? []] : []))
      assert.deepStrictEqual(skipped, [[], [{ id: "skill:orders/find", reason: "parked" }]])
      const moved = events.find((event) => event._tag === "CursorMoved")
      assert.deepStrictEqual(moved?._tag === "CursorMoved" ? moved.reachable : [], ["refund", "zones"])
    })
  )
})

describe("Calls of our own tools", () => {
  const settled = (events: ReadonlyArray<Event.Event>) =>
    events.flatMap((event) =>
      event._tag === "ToolSettled" ? [`${event.toolCallId} ${event.outcome} ${event.error?.tag ?? ""}`] : []
    )

  it.effect("leave out one step at a time, and none that the same reply does", () =>
    Effect.gen(function* () {
      const skip = (id: string) => LLM.call("skip_step", { reason: "No need." }, id)
      const script = [
        LLM.together(skip("a"), skip("b")),
        LLM.together(LLM.call("refund", { of: "1" }, "c"), skip("d")),
        LLM.call("skip_step", { reason: "No need.", skillId: "nope" }, "e"),
        "Done.",
        "Done."
      ]
      const { decided, events } = yield* play(Desk.agent({ maps: [stepped] }), "A flat in town.", script)
      assert.deepStrictEqual(settled(events), [
        "a ran-ok ",
        "b refused StepNotSkipped",
        "c ran-ok ",
        "d refused StepNotSkipped",
        "e refused StepNotSkipped"
      ])
      assert.deepStrictEqual(
        decided.filter((line) => / step |skipped/.test(line)),
        [
          "1 places place step 0",
          "1 places place skipped 0: No need.",
          "2 places place step 1",
          "3 places place step 2"
        ]
      )
    })
  )

  it.effect("skip a step of a hidden skill as well, and name it nowhere", () =>
    Effect.gen(function* () {
      const agent = Desk.agent({ maps: [stepped], mayName: () => false })
      const script = Desk.script(["skip_step", { reason: "No need." }])
      const { events, held, wires } = yield* play(agent, "A flat in town.", script.concat(["Done."]))
      assert.deepStrictEqual(settled(events), ["c1 ran-ok "])
      assert.deepStrictEqual(
        held[0]?.tools.filter((name) => CallOutcome.isFramework(name)),
        ["skip_step"]
      )
      const ours = wires.flatMap(({ messages, system, tools }) => [
        ...system.filter(({ origin }) => origin === "runtime").map(({ text }) => text),
        ...messages.filter(({ origin }) => origin === "runtime").map(({ message }) => message.content),
        ...tools.filter(({ origin }) => origin === "runtime").map(({ tool }) => JSON.stringify(tool))
      ])
      assert.isNotEmpty(ours)
      assert.notMatch(ours.join("\n"), /\bplaces?\b/)
    })
  )

  it.effect("are told apart when a model uses an id again in a later pass", () =>
    Effect.gen(function* () {
      const script = [
        LLM.call("skip_step", { reason: "No need." }, "s"),
        LLM.call("refund", { of: "1" }, "s"),
        LLM.call("read_skill", { id: "guide" }, "s"),
        LLM.call("read_skill", { id: "nope" }, "s"),
        "Done."
      ]
      const { decided } = yield* play(Desk.agent({ maps: [stepped], skills: [Desk.guide] }), "A flat in town.", script)
      assert.deepStrictEqual(
        decided.filter((line) => / step |skipped|picked|refused/.test(line)),
        [
          "1 places place step 0",
          "1 places place skipped 0: No need.",
          "2 places place step 1",
          "3 places place step 2",
          "3 picked guide open",
          "4 refused nope unreachable"
        ]
      )
    })
  )

  it.effect("ask whose step is meant when several maps have one at hand", () =>
    Effect.gen(function* () {
      const twin = {
        ...stepped,
        id: "twin",
        entries: [{ skillId: "twin-skill", phrases: ["in town"] }],
        skills: stepped.skills.map((skill) => ({ ...skill, id: "twin-skill" }))
      }
      const script = Desk.script(
        ["skip_step", { reason: "x" }],
        ["skip_step", { reason: "x", skillId: "twin-skill" }],
        ["release_map", { mapId: "places" }],
        ["skip_step", { reason: "x", skillId: "place" }]
      )
      const { decided, events } = yield* play(
        Desk.agent({ maps: [stepped, twin] }),
        "A flat in town.",
        script.concat(["Done."])
      )
      assert.deepStrictEqual(settled(events), [
        "c1 refused ToolArgsInvalid",
        "c2 ran-ok ",
        "c3 ran-ok ",
        "c4 refused ToolArgsInvalid"
      ])
      assert.include(decided, "2 twin twin-skill skipped 0: x")
    })
  )

  it.effect("name no map whose skills are all hidden", () =>
    Effect.gen(function* () {
      const agent = Desk.agent({ ...bothMaps, mayName: (id) => id !== "place" })
      const script = Desk.script(
        ["release_map", { mapId: "places" }],
        ["release_map", { mapId: "orders", more: 1 }],
        ["release_map", { mapId: "orders" }]
      )
      const { events, wires } = yield* play(agent, "My order in town?", script)
      assert.deepStrictEqual(settled(events), ["c1 refused MapNotReleased", "c2 refused ToolArgsInvalid", "c3 ran-ok "])
      const definition = wires[0]?.tools.find(({ tool }) => tool.name === "release_map")
      assert.notInclude(JSON.stringify(definition), "places")
    })
  )

  it.effect("that pick what is loaded change nothing, and say so", () =>
    Effect.gen(function* () {
      const pick = ["read_skill", { id: "guide" }] as const
      const { wires } = yield* play(Desk.agent({ skills: [Desk.guide] }), "Hello.", Desk.script(pick, "weather", pick))
      const told = wires.at(-1)?.messages.flatMap(({ message }) => (message.role === "tool" ? [message.content] : []))
      assert.match(told?.[0] ?? "", /was taken/)
      assert.match(told?.[2] ?? "", /changed nothing/)
      const results = wires.at(-1)?.messages.filter(({ message }) => message.role === "tool")
      assert.deepStrictEqual(
        results?.map(({ origin }) => origin),
        ["runtime", "tool", "runtime"]
      )
      const offers = wires.map(({ system }) => system.find(({ id }) => id === "wherefore:offer")?.text ?? "")
      assert.deepStrictEqual(
        offers.map((text) => /\bguide\b/.test(text)),
        [true, false, false, false]
      )
    })
  )
})

describe("A follow-up", () => {
  it.effect("knows which steps were done, and says nothing else of them", () =>
    Effect.gen(function* () {
      const agent = Desk.agent({ maps: [stepped] })
      yield* Agent.run(agent, "A flat in town.", { runId: "r" }).pipe(
        Effect.provide(LLM.layerScripted(Desk.script("zone", "refund")))
      )
      yield* Agent.followUp(agent, "r", "Thanks!", { runId: "s" }).pipe(Effect.provide(LLM.layerScripted(["Welcome."])))
      const decided = Desk.decisions(yield* Shop.events("s"))
      assert.isUndefined(decided.find((line) => /step|reminded/.test(line)))
    }).pipe(Effect.provide([Shop.services, Desk.handlers()]))
  )

  it.effect("of an agent that has lost a skill starts without its cursor", () =>
    Effect.gen(function* () {
      yield* Agent.run(Desk.agent(), "My order?", { runId: "r" }).pipe(Effect.provide(LLM.layerScripted(["Done."])))
      const smaller = {
        ...Desk.orders,
        entries: [{ skillId: "zones", keywords: ["zone"] }],
        skills: Desk.orders.skills.slice(2),
        routes: []
      }
      yield* Agent.followUp(Desk.agent({ maps: [smaller] }), "r", "And?", { runId: "s" }).pipe(
        Effect.provide(LLM.layerScripted(["Done."]))
      )
      const [started] = yield* Shop.events("s")
      assert.isUndefined(started?._tag === "RunStarted" ? started.cursors : {})
    }).pipe(Effect.provide([Shop.services, Desk.handlers()]))
  )
})

describe("Agent.without", () => {
  it.effect("does without the instructions of a skill, by the id that why names", () =>
    Effect.gen(function* () {
      const agent = Agent.without(Desk.agent(), "skill:orders/find")
      const { held } = yield* play(agent, "What of my order?", Desk.script("find_order"))
      assert.deepStrictEqual(held[0]?.pieces, ["wherefore:offer"])
      assert.include(held[0]?.tools ?? [], "find_order")
    })
  )

  it("refuses an id that no piece has", () =>
    assert.include(Agent.without(Desk.agent(), "nope").problems.join(" "), 'no piece "nope"'))
})
