import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Either, Fiber, Layer, Option, Schema, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import type * as ArtifactEvent from "../../src/kernel/ArtifactEvent.ts"
import * as Coverage from "../../src/kernel/Coverage.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as SkillMap from "../../src/kernel/SkillMap.ts"
import * as Why from "../../src/kernel/Why.ts"
import type * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Wants from "../../src/programs/Wants.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import { failure } from "../../src/services/ArtifactStoreError.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as MemoryArtifactStore from "../../src/services/MemoryArtifactStore.ts"
import * as Record from "../../src/services/Record.ts"
import * as Atelier from "./Atelier.ts"
import * as Desk from "./Desk.ts"
import * as Shop from "./Shop.ts"

const own: Artifact.Scope = { conversationId: "r" }

const Copy = Tool.make("copy", { parameters: { text: Schema.String }, success: Schema.String }).annotate(Wants.Wants, {
  text: "text"
})

type More = Partial<Parameters<typeof Agent.make<typeof Atelier.toolkit.tools>>[0]>

const placing = (maxInlineChars: number, more: More = {}) =>
  Agent.make({ name: "p", instructions: "Go.", toolkit: Atelier.toolkit, placement: { maxInlineChars }, ...more })

const once = LLM.byPass([LLM.call("make", { what: "it" }, "c"), "Done."])
const returning =
  (result: unknown): Atelier.Work =>
  () =>
    Effect.succeed(result)

const settled = (events: ReadonlyArray<Event.Event>): ReadonlyArray<Event.ToolSettled> =>
  events.flatMap((event) => (event._tag === "ToolSettled" ? [event] : []))

const nowhere = { placed: true as const, ref: "", kind: "-", mediaType: "-", bytes: 0, reason: "" }

const stored = (ref: string) =>
  Effect.flatMap(ArtifactStore.ArtifactStore, ({ get }) => Effect.map(get(own, ref), Option.getOrThrow))

describe("Placement", () => {
  it.effect("stores the exact text of a long result, and serves its ticket", () =>
    Effect.gen(function* () {
      const json = { rows: Array.from({ length: 20 }, (_, n) => ({ n, name: "émoji 🎈" })) }
      for (const [result, text, mediaType] of [
        ["x".repeat(101), "x".repeat(101), "text/plain"],
        [json, JSON.stringify(json), "application/json"]
      ] as const) {
        const wires: Array<Wire.Wire> = []
        const script = LLM.byPass([
          LLM.call("make", { what: "it" }, "c"),
          (wire) => {
            wires.push(wire)
            return "Done."
          }
        ])
        const { events } = yield* Atelier.play(script, returning(result), {}, placing(100)).pipe(
          Effect.provide(Record.layerMemory)
        )
        const [one] = settled(events)
        const { placed = nowhere, served = "" } = one ?? {}
        assert.deepInclude(one, { outcome: "ran-ok" })
        assert.deepStrictEqual(JSON.parse(served), placed)
        assert.deepInclude(placed, { placed: true, kind: "tool-result/make", mediaType })
        assert.match(placed.reason, new RegExp(`^The result had ${text.length} characters, more than 100, and was`))
        const { data, meta } = yield* stored(placed.ref)
        assert.strictEqual(data, text)
        assert.deepInclude(meta, {
          label: "result of make",
          origin: { runId: "r", toolCallId: "c" },
          bytes: placed.bytes
        })
        // The record holds the ticket, and nobody the text.
        assert.notInclude(JSON.stringify(events), text)
        const [minted] = Atelier.artifactEvents(events)
        assert.deepInclude(minted, { _tag: "ArtifactMinted", toolCallId: "c", ref: placed.ref })
        const piece = wires[0]?.messages.find(({ message }) => message.role === "tool")
        assert.deepInclude(piece?.message, { content: served })
        assert.deepInclude(piece, { origin: "runtime", placed })
        assert.deepStrictEqual(Run.fold(events).violations, [])
      }
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("is off unless asked for, and leaves alone what is not over the threshold", () =>
    Effect.gen(function* () {
      const cases = [
        [100, "x".repeat(100), false],
        [100, "x".repeat(101), true],
        [1, "", false],
        [1, "xy", true]
      ] as const
      for (const [threshold, result, isPlaced] of cases) {
        const { events } = yield* Atelier.play(once, returning(result), {}, placing(threshold)).pipe(
          Effect.provide(Record.layerMemory)
        )
        assert.strictEqual(settled(events)[0]?.placed !== undefined, isPlaced, `${threshold}`)
        if (!isPlaced) assert.strictEqual(settled(events)[0]?.served, result)
      }
      const { events } = yield* Atelier.play(once, returning("x".repeat(200_000)))
      assert.deepStrictEqual(Atelier.artifactEvents(events), [])
      assert.lengthOf(settled(events)[0]?.served ?? "", 200_000)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("comes after the ceiling: what is withheld is not stored", () =>
    Effect.gen(function* () {
      const one = placing(10, { maxResultChars: 50 })
      const withheld = yield* Atelier.play(once, returning("x".repeat(51)), {}, one).pipe(
        Effect.provide(Record.layerMemory)
      )
      assert.deepInclude(settled(withheld.events)[0], { outcome: "ran-error" })
      assert.strictEqual(settled(withheld.events)[0]?.error?.tag, "ToolOutputTooLarge")
      assert.deepStrictEqual(Atelier.artifactEvents(withheld.events), [])
      const placed = yield* Atelier.play(once, returning("x".repeat(50)), {}, one).pipe(
        Effect.provide(Record.layerMemory)
      )
      assert.isDefined(settled(placed.events)[0]?.placed)
      // What failed, or was not run, is never placed.
      const failed = yield* Atelier.play(once, () => Effect.die("x".repeat(5_000)), {}, one)
      assert.isUndefined(settled(failed.events)[0]?.placed)
      assert.deepStrictEqual(Atelier.artifactEvents(failed.events), [])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("keeps a result where it is if the store refuses it, and says so on the record", () =>
    Effect.gen(function* () {
      const memory = yield* MemoryArtifactStore.make({ maxBytesPerScope: 10 })
      const result = "x".repeat(40)
      const puts: ReadonlyArray<readonly [ArtifactEvent.Reason, (typeof memory)["put"]]> = [
        ["over-budget", memory.put],
        ["unavailable", () => failure("Unavailable", { what: "It is away." })],
        ["unavailable", () => Effect.die("the store died")],
        ["unavailable", () => Effect.never]
      ]
      for (const [reason, put] of puts) {
        const store = Layer.succeed(ArtifactStore.ArtifactStore, { ...memory, put })
        const fiber = yield* Effect.fork(
          Atelier.play(once, returning(result), {}, placing(10)).pipe(Effect.provide([Record.layerMemory, store]))
        )
        yield* TestClock.adjust("2 minutes")
        const { events, outcome } = yield* Fiber.join(fiber)
        assert.strictEqual(outcome.status, "answered")
        assert.deepInclude(settled(events)[0], { outcome: "ran-ok", served: result })
        assert.isUndefined(settled(events)[0]?.placed)
        const [told, ...none] = Atelier.artifactEvents(events)
        assert.deepStrictEqual(none, [])
        assert.deepInclude(told, { _tag: "ArtifactRefused", op: "put", reason })
      }
    })
  )

  it.effect("changes no route, no lease and no step, wherever the threshold is", () => {
    const status = FastCheck.constantFrom<unknown>("delivered", "open", 7, null, undefined)
    const result = FastCheck.oneof(
      FastCheck.record({ status, pad: FastCheck.string({ maxLength: 80 }) }),
      FastCheck.constantFrom<unknown>("delivered", "", "7", [1], { nested: { status: "delivered" } }),
      FastCheck.record({ status }).map((inner) => JSON.stringify(inner)),
      FastCheck.constant(
        Either.getOrThrow(Coverage.absent({ what: "an order", checked: ["the shop", "the store of the harbour"] }))
      )
    )
    const tool = FastCheck.constantFrom("find_order", "refund", "weather", "zone")
    const map = Either.getOrThrow(
      SkillMap.make({
        ...Desk.orders,
        routes: [
          {
            from: "find",
            to: "refund",
            tool: "find_order",
            when: [{ field: "/status", op: "eq", value: "delivered" }]
          },
          { from: "find", to: "zones", tool: "find_order", when: [{ field: "", op: "eq", value: "delivered" }] },
          { from: "find", to: "zones", tool: "find_order", when: [{ field: "outcome", op: "eq", value: "absent" }] },
          {
            from: "refund",
            to: "find",
            tool: "refund",
            when: [{ field: "/status", op: "in", value: ["delivered", "open", 7] }]
          },
          { from: "zones", to: "find", tool: "zone" }
        ]
      })
    )
    const decisions = (events: ReadonlyArray<Event.Event>) =>
      events.flatMap((event): ReadonlyArray<unknown> => {
        switch (event._tag) {
          case "CursorMoved":
          case "RouteConflicted":
          case "MapEngaged":
          case "MapParked":
          case "MapsIdled":
          case "StepReached":
          case "AbsenceDeclared":
            return [event]
          case "ToolSettled":
            return [[event.toolCallId, event.outcome, event.fields]]
          case "PiecesSelected":
            return [[event.activeIds, event.toolNames]]
          default:
            return []
        }
      })
    let moves = 0
    let placements = 0
    return Effect.promise(async () => {
      await FastCheck.assert(
        FastCheck.asyncProperty(
          FastCheck.array(tool, { minLength: 1, maxLength: 5 }),
          FastCheck.record({ find_order: result, refund: result, weather: result, zone: result }),
          FastCheck.constantFrom(1, 20, 60),
          (tools, results, maxInlineChars) =>
            Effect.runPromise(
              Effect.gen(function* () {
                const decided = (placement: { readonly maxInlineChars: number } | undefined) =>
                  Effect.gen(function* () {
                    const agent = Agent.make({
                      name: "desk",
                      instructions: "Help.",
                      toolkit: Desk.toolkit,
                      maps: [map],
                      ...(placement === undefined ? {} : { placement })
                    })
                    yield* Agent.run(agent, "My order?", { runId: "r" })
                    return yield* Shop.events("r")
                  }).pipe(
                    Effect.provide([
                      Atelier.services(),
                      Desk.handlers(results),
                      LLM.layerScripted(LLM.byPass([...tools.map((name) => LLM.call(name, { of: "1" })), "Done."]))
                    ])
                  )
                const off = yield* decided(undefined)
                const on = yield* decided({ maxInlineChars })
                assert.deepStrictEqual(decisions(on), decisions(off))
                moves += off.filter(({ _tag }) => _tag === "CursorMoved").length
                placements += settled(on).filter(({ placed }) => placed !== undefined).length
              })
            )
        ),
        { numRuns: 40 }
      )
      assert.isAbove(moves, 5, "cursors move in the story")
      assert.isAbove(placements, 5, "results are placed in the story")
    })
  })

  it.effect("leaves a call what it was: an absence stays one, and its ticket is evidence of nothing", () =>
    Effect.gen(function* () {
      const absence = Either.getOrThrow(
        Coverage.absent({ what: "order 77123", checked: ["the shop"], notChecked: ["the harbour store 88456"] })
      )
      const chars = JSON.stringify(absence).length
      const answer = (bytes: number) => `Of order 77123 there are ${bytes} bytes, and ${bytes + 1} lamps.`
      const script = LLM.byPass([
        LLM.call("make", { what: "it" }, "c"),
        LLM.call("look", { what: "on", _findings: { previous: [{ toolCallId: "r1", standing: "ruled-out" }] } }, "d"),
        ({ messages }) => {
          const ticket = messages.find(({ message }) => message.role === "tool")?.message.content ?? ""
          return LLM.say(answer(Number(/"bytes":(\d+)/.exec(ticket)?.[1])))
        }
      ])
      const work: Atelier.Work = (what) => Effect.succeed(what === "it" ? absence : "short")
      const one = placing(10, {
        findings: true,
        grounding: "assist",
        coverage: { inAnswer: true },
        budget: { passes: 4 }
      })
      const { events, outcome } = yield* Atelier.play(script, work, {}, one)
      const [first] = settled(events)
      assert.deepInclude(first, { outcome: "absent" })
      assert.isDefined(first?.placed)
      assert.isTrue(events.some(({ _tag }) => _tag === "AbsenceDeclared"))
      assert.include(outcome.answer, "the harbour store")
      // It was served as a ticket, and so nothing of it was read as unsettled; the row knows the ticket.
      assert.isFalse(events.some(({ _tag }) => _tag === "UnsettledFiled"))
      const row = outcome.findings.find(({ kind }) => kind === "standing")
      assert.deepInclude(row, { toolCallId: "c", ref: (first?.placed ?? nowhere).ref })
      const unsupported = (outcome.grounding?.unsupported ?? []).map(({ value }) => value)
      assert.include(unsupported, "77123")
      assert.isAbove(chars, 10)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("keeps lineage: a placed result is derived from what its call wanted", () =>
    Effect.gen(function* () {
      const { put } = yield* ArtifactStore.ArtifactStore
      const { meta } = yield* put(own, { ...Atelier.csv("a,b"), kind: "text" })
      const toolkit = Toolkit.make(Copy)
      const one = Agent.make({ name: "c", instructions: "Go.", toolkit, placement: { maxInlineChars: 10 } })
      yield* Agent.run(one, "Go.", { runId: "r" }).pipe(
        Effect.provide([
          toolkit.toLayer({ copy: ({ text }) => Effect.succeed(text.repeat(10)) }),
          LLM.layerScripted([LLM.call("copy", { text: meta.ref }, "c"), "Done."])
        ])
      )
      const [, minted] = Atelier.artifactEvents(yield* Shop.events("r"))
      assert.deepInclude(minted, { _tag: "ArtifactMinted", kind: "tool-result/copy", parentRefs: [meta.ref] })
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("carries tickets into a follow-up as the words of ours that they are", () =>
    Effect.gen(function* () {
      const one = placing(10)
      const work = returning("x".repeat(40))
      yield* Atelier.play(once, work, {}, one)
      yield* Agent.followUp(one, "r", "More.", { runId: "r2" }).pipe(
        Effect.provide([Atelier.handlers(work), LLM.layerScripted(["Done."])])
      )
      const after = yield* Shop.events("r2")
      const carried = after.find((event) => event._tag === "MessageCarried" && event.message.role === "tool")
      assert.deepInclude(carried, { origin: "runtime" })
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("is nothing for an agent without a store, or with a threshold that is none", () =>
    Effect.gen(function* () {
      for (const threshold of [0, -1, 1.5, Number.NaN, Infinity]) {
        assert.match(
          placing(threshold).problems.join(),
          /placement\.maxInlineChars is .*; it must be a whole number above 0/
        )
      }
      assert.deepStrictEqual(placing(1).problems, [])
      const error = yield* Effect.flip(Atelier.play(once, returning("x"), {}, placing(1)))
      assert.strictEqual(error._tag, "InvalidAgent")
      assert.include(error.message, "placement is on, and there is no store")
    }).pipe(Effect.provide([Record.layerMemory, ArtifactStore.layerNone]))
  )

  it.effect("is on the record: its run says that it is on, and why of a call leads to it", () =>
    Effect.gen(function* () {
      const { events } = yield* Atelier.play(once, returning("x".repeat(40)), {}, placing(10))
      assert.deepInclude(events[0]?._tag === "RunStarted" ? events[0].manifest.artifacts : {}, {
        placement: { maxInlineChars: 10 }
      })
      const chain = Why.tool(events, "c")
      assert.isTrue(chain.nodes.some(({ kind }) => kind === "call"))
    }).pipe(Effect.provide(Atelier.services()))
  )
})
