import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as CheckLedger from "../../src/kernel/CheckLedger.ts"
import * as CheckState from "../../src/kernel/CheckState.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as SentTools from "../../src/services/SentTools.ts"
import * as Desk from "./Desk.ts"
import * as Shop from "./Shop.ts"

const plain = Agent.make({ name: "plain", instructions: "Be brief." })
const withModel = (steps: LLM.Steps) => Effect.provide(LLM.layerScripted(steps))
const withServices = Effect.provide(Shop.services)

/** The account that the run "r" filed: exactly one, directly before its end. */
const filed = Effect.map(Shop.events("r"), (events) => {
  assert.lengthOf(
    events.filter(({ _tag }) => _tag === "ChecksFiled"),
    1
  )
  assert.strictEqual(events.at(-1)?._tag, "RunEnded")
  assert.deepStrictEqual(Run.fold(events).violations, [])
  const one = events.at(-2)
  if (one?._tag !== "ChecksFiled") return assert.fail(`${one?._tag} comes before the end`)
  return one
})

/** The events as those of another run. */
const as = (runId: string, events: ReadonlyArray<Event.Event>): ReadonlyArray<Event.Event> =>
  events.map((event) => (event._tag === "RunStarted" ? { ...event, runId } : event))

const rowOf = ({ rows }: Event.Event & { readonly _tag: "ChecksFiled" }, seam: string, check = "invariant-violation") =>
  rows.find((row) => row.seam === seam && row.check === check)

const faults = (events: ReadonlyArray<Event.Event>) => events.filter((event) => event._tag === "FaultFound")

describe("ChecksFiled", () => {
  it.effect("comes before the end of a run that answered; nobody read the body back", () =>
    Effect.gen(function* () {
      yield* Agent.run(plain, "Go.", { runId: "r" })
      const one = yield* filed
      assert.deepInclude(one, { posture: "live", workExisted: true })
      assert.lengthOf(one.rows, 4)
      assert.deepInclude(rowOf(one, "wire"), { checked: 0, unreachable: 1, synthetic: 0 })
      assert.deepInclude(rowOf(one, "compose"), { checked: 0, notApplicable: 1 })
      assert.deepInclude(rowOf(one, "compose", "dangling-reference"), { notApplicable: 1 })
      assert.deepInclude(rowOf(one, "claim", "unsupported-claim"), { notApplicable: 1 })
      assert.isFalse(CheckLedger.headline(one).green)
    }).pipe(withModel(["Done."]), withServices)
  )

  it.effect("of a run that a limit stopped before any work", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "a", instructions: "I.", budget: { passes: 0 } })
      yield* Agent.run(agent, "Go.", { runId: "r" })
      assert.isFalse((yield* filed).workExisted)
    }).pipe(withModel([]), withServices)
  )

  it.effect("of a run whose model failed", () =>
    Effect.gen(function* () {
      yield* Effect.flip(Agent.run(plain, "Go.", { runId: "r" }))
      assert.deepInclude(rowOf(yield* filed, "wire"), { unreachable: 1 })
    }).pipe(withModel([LLM.fail("Auth")]), withServices)
  )

  it.effect("of a run whose model's layer died", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(Agent.run(plain, "Go.", { runId: "r" }))
      assert.isTrue(Exit.isFailure(exit))
      yield* filed
    }).pipe(Effect.provide(Layer.succeed(LLM.LLM, { stream: () => Stream.dieMessage("a defect") })), withServices)
  )

  it.effect("of a run that was interrupted while it asked", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const stream = () => Stream.fromEffect(Effect.zipRight(Deferred.succeed(asked, undefined), Effect.never))
      const fiber = yield* Effect.fork(Agent.run(plain, "Go.", { runId: "r" })).pipe(
        Effect.provide(Layer.succeed(LLM.LLM, { stream }))
      )
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      assert.deepInclude(rowOf(yield* filed, "wire"), { unreachable: 1 })
    }).pipe(withServices)
  )

  it("is not written of a run that says nothing of checks", () => {
    const started = { _tag: "RunStarted", runId: "r", agent: "a", manifest: { limits: {} }, input: "Go." } as const
    const state = Run.fold([started])
    assert.isUndefined(state.checks)
    const spec = { pieces: [], tools: [], parameters: {}, limits: { passes: 0 }, elapsedMs: 0 }
    assert.deepStrictEqual(
      Run.decide(spec, state).events.map(({ _tag }) => _tag),
      ["RunEnded"]
    )
  })
})

describe("The compose seam", () => {
  const script = Desk.script("weather", "clock", "weather", "clock")

  it.effect("is looked at in each pass: there is something to see once a map is parked", () =>
    Effect.gen(function* () {
      yield* Agent.run(Desk.agent(), "What of my order?", { runId: "r" })
      assert.deepInclude(rowOf(yield* filed, "compose"), { checked: 2, findings: 0, notApplicable: 3 })
      assert.deepStrictEqual(faults(yield* Shop.events("r")), [])
    }).pipe(Effect.provide(Desk.handlers()), withModel(script), withServices)
  )

  it.effect("shows a tool that is listed though its map is parked, and reports it once", () =>
    Effect.gen(function* () {
      yield* Agent.run(Desk.agent(), "What of my order?", { runId: "r" })
      const events = yield* Shop.events("r")
      const at = events.findIndex(({ _tag }) => _tag === "MapParked")
      // As if the selection of the pass had been left out: the one with the map's tools still rides.
      const state = Run.fold(events.slice(0, at + 1))
      const found = CheckState.composed(state)
      assert.lengthOf(found, 1)
      assert.deepInclude(found[0], { predicate: "listed-while-parked", iteration: 4, witnesses: ["orders"] })
      const known = found.reduce<typeof state>((state, event) => Run.step(state, event), state)
      assert.deepStrictEqual(CheckState.composed(known), [])
      const row = CheckState.call(known)?.ledger.rows.find(({ seam }) => seam === "compose")
      assert.deepInclude(row, { findings: 1, lastFiredAt: 4 })
    }).pipe(Effect.provide(Desk.handlers()), withModel(script), withServices)
  )
})

/** A model whose body held these tools, in each pass. */
const sending = (toolNames: ReadonlyArray<string> | undefined) =>
  Layer.succeed(LLM.LLM, {
    stream: ({ iteration }) =>
      Stream.make<Array<LLM.Part>>(
        iteration < 3
          ? { _tag: "ToolCall", toolCallId: `c${iteration}`, toolName: "weather", args: '{"of":"a"}' }
          : { _tag: "Text", delta: "Done." },
        {
          _tag: "Finish",
          stopReason: iteration < 3 ? "tool-calls" : "stop",
          usage: {},
          ...(toolNames === undefined ? {} : { toolNames })
        }
      )
  })

const names = ["weather", "clock", "find_order", "refund", "zone"]
const bare = Agent.make({ name: "bare", instructions: "Help.", toolkit: Desk.toolkit })
const sentOf = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event) => (event._tag === "ModelReplied" ? [event.sentTools] : []))

describe("The wire seam", () => {
  it.effect("passes if what was sent is what was assembled", () =>
    Effect.gen(function* () {
      yield* Agent.run(bare, "Go.", { runId: "r" })
      assert.deepInclude(rowOf(yield* filed, "wire"), { checked: 3, findings: 0, unreachable: 0 })
      const events = yield* Shop.events("r")
      assert.deepStrictEqual(sentOf(events), ["as-assembled", "as-assembled", "as-assembled"])
    }).pipe(Effect.provide([sending(names), Desk.handlers()]), withServices)
  )

  it.effect("passes in another order, which is on the record", () =>
    Effect.gen(function* () {
      yield* Agent.run(bare, "Go.", { runId: "r" })
      assert.deepInclude(rowOf(yield* filed, "wire"), { checked: 3, findings: 0 })
      assert.deepStrictEqual(sentOf(yield* Shop.events("r"))[0], names.toReversed())
    }).pipe(Effect.provide([sending(names.toReversed()), Desk.handlers()]), withServices)
  )

  const odd = [...names.slice(1), "shell"]

  it.effect("counts each failure, reports each fault once, and stops nothing", () =>
    Effect.gen(function* () {
      const outcome = yield* Agent.run(bare, "Go.", { runId: "r" })
      assert.strictEqual(outcome.answer, "Done.")
      assert.deepInclude(rowOf(yield* filed, "wire"), { checked: 3, findings: 3, lastFiredAt: 3 })
      const events = yield* Shop.events("r")
      const found = faults(events)
      assert.lengthOf(found, 2)
      assert.deepInclude(found[0], { iteration: 1, seam: "wire", predicate: "only-on-the-wire" })
      assert.deepInclude(found[1], { iteration: 1, seam: "wire", predicate: "only-in-the-frame" })
      const at = events.findIndex(({ _tag }) => _tag === "ModelReplied")
      assert.deepStrictEqual(events.slice(at + 1, at + 3), found)
    }).pipe(Effect.provide([sending(odd), Desk.handlers()]), withServices)
  )

  it.effect("is the same when the run is resumed from any point of its record", () =>
    Effect.gen(function* () {
      const record = yield* Record.Record
      yield* Agent.run(bare, "Go.", { runId: "r" })
      const events = yield* Shop.events("r")
      for (let length = 1; length <= events.length; length++) {
        const runId = `r${length}`
        yield* record.append(runId, 0, as(runId, events.slice(0, length)))
        yield* Agent.resume(bare, runId)
        assert.deepStrictEqual(yield* Shop.events(runId), as(runId, events), `from ${length}`)
      }
    }).pipe(Effect.provide([sending(odd), Desk.handlers()]), withServices)
  )

  it("reads the body of each protocol, and says nothing of one that it cannot read", () => {
    const tools = [{ type: "function", function: { name: "a" } }, { type: "function", name: "b" }, { name: "c" }]
    assert.deepStrictEqual(SentTools.read({ tools }), ["a", "b", "c"])
    assert.deepStrictEqual(SentTools.read(JSON.stringify({ tools })), ["a", "b", "c"])
    assert.deepStrictEqual(SentTools.read({ model: "m" }), [])
    assert.deepStrictEqual(SentTools.read("{}"), [])
    for (const body of [undefined, null, "", "{", "[]", [], 1, { tools: [{}] }, { tools: {} }]) {
      assert.isUndefined(SentTools.read(body), JSON.stringify(body))
    }
  })
})

describe("In dev", () => {
  const dev = Agent.make({ name: "dev", instructions: "I.", checks: "dev" })

  it.effect("every check sees its planted fault, and what does not apply is not blind", () =>
    Effect.gen(function* () {
      const outcome = yield* Agent.run(dev, "Go.", { runId: "r" })
      assert.strictEqual(outcome.status, "answered")
      const one = yield* filed
      assert.deepInclude(one, { posture: "dev" })
      assert.deepStrictEqual(
        one.rows.map(({ findings, synthetic }) => [findings, synthetic]),
        [
          [0, 1],
          [0, 1],
          [0, 1],
          [0, 1]
        ]
      )
      assert.deepStrictEqual(faults(yield* Shop.events("r")), [])
    }).pipe(withModel(["Done."]), withServices)
  )

  it.effect("a run whose check was blind fails, each time, once it has ended", () =>
    Effect.gen(function* () {
      const record = yield* Record.Record
      yield* Agent.run(dev, "Go.", { runId: "r" })
      const events = (yield* Shop.events("r")).map((event) =>
        event._tag === "ChecksFiled"
          ? { ...event, rows: event.rows.map((row) => (row.seam === "wire" ? { ...row, synthetic: 0 } : row)) }
          : event
      )
      // The second has its account on the record and no end yet: it is not filed again.
      for (const [runId, length] of [
        ["s", events.length],
        ["t", events.length - 1]
      ] as const) {
        yield* record.append(runId, 0, as(runId, events.slice(0, length)))
        const error = yield* Effect.flip(Agent.resume(dev, runId))
        assert.deepInclude(error, { _tag: "ChecksBlind", code: "WF-RUN-014", runId })
        assert.deepInclude(error, {
          blind: [{ check: "invariant-violation", seam: "wire", reason: "missed-canary" }]
        })
        assert.deepStrictEqual(yield* Shop.events(runId), as(runId, events))
      }
    }).pipe(withModel(["Done."]), withServices)
  )
})
