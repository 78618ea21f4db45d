import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Option, Schema, Stream, TestClock } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Replay from "../../src/programs/Replay.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Mortal from "./Mortal.ts"
import * as Shop from "./Shop.ts"

const whole = (ran: Shop.Ran) =>
  Effect.gen(function* () {
    const outcome = yield* Agent.run(Shop.agent, "Sell.", { runId: "r" })
    return { outcome, events: yield* Shop.events("r") }
  }).pipe(Effect.provide([Shop.services, Shop.handlers(ran), LLM.layerScripted(Shop.model)]))

const keyOf = ({ iteration, toolCallId }: { readonly iteration: number; readonly toolCallId: string }) =>
  JSON.stringify(["r", iteration, toolCallId])

/** The key of a call that was running when the record ends, and may not be run again. */
const inFlight = (events: ReadonlyArray<Event.Event>): string | undefined => {
  const { iteration, startedCalls } = Run.fold(events)
  const lost = startedCalls.find(({ replay }) => replay === "never")
  return lost === undefined ? undefined : keyOf({ iteration, toolCallId: lost.toolCallId })
}

/** A record without what differs when one call's outcome is not known: the hashes of the wires that hold it. */
const outline = (events: ReadonlyArray<Event.Event>) =>
  events.map((event) =>
    event._tag === "ToolSettled"
      ? [event._tag, event.toolCallId, event.iteration]
      : event._tag === "ToolCalled" || event._tag === "ModelReplied" || event._tag === "ModelCalled"
        ? [event._tag, event.iteration]
        : [event._tag]
  )

/** What must be true of a run that was stopped after `prefix`, and of what its handlers did before and after. */
const check = (
  base: { readonly events: ReadonlyArray<Event.Event>; readonly answer: string | undefined },
  prefix: ReadonlyArray<Event.Event>,
  after: { readonly events: ReadonlyArray<Event.Event>; readonly answer: string | undefined },
  again: Shop.Ran
) => {
  assert.deepStrictEqual(after.events.slice(0, prefix.length), prefix)
  const state = Run.fold(after.events)
  assert.deepStrictEqual(state.violations, [])
  for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(projectedHash, recordedHash)
  const lost = inFlight(prefix)
  if (lost === undefined) {
    assert.deepStrictEqual(after.events, base.events)
    assert.strictEqual(after.answer, base.answer)
  } else {
    assert.deepStrictEqual(outline(after.events), outline(base.events))
    const settled = after.events.flatMap((event) =>
      event._tag === "ToolSettled" && keyOf(event) === lost ? [event.outcome] : []
    )
    assert.deepStrictEqual(settled, ["unknown"])
    assert.lengthOf(state.lost, 1)
  }
  // A call that has settled, or may not run again, does not.
  const settled = new Set(prefix.flatMap((event) => (event._tag === "ToolSettled" ? [keyOf(event)] : [])))
  const expected = after.events.flatMap((event) =>
    event._tag === "ToolCalled" && !settled.has(keyOf(event)) && keyOf(event) !== lost ? [keyOf(event)] : []
  )
  assert.deepStrictEqual(again.map(({ key }) => key).toSorted(), expected.toSorted())
}

describe("A run that is stopped and resumed", () => {
  it.effect("has a story worth stopping: every kind of call, and every outcome that a run can bring about", () =>
    Effect.gen(function* () {
      const ran: Shop.Ran = []
      const { events, outcome } = yield* whole(ran)
      assert.strictEqual(outcome.status, "answered")
      const settled = events.flatMap((event) => (event._tag === "ToolSettled" ? [event.outcome] : []))
      assert.deepStrictEqual(settled, [
        "ran-ok",
        "refused",
        "ran-ok",
        "refused",
        "ran-ok",
        "ran-ok",
        "ran-error",
        "refused",
        "ran-ok",
        "ran-ok"
      ])
      assert.strictEqual(outcome.answer, `ordered 6 halves of bed after ${settled.join(" ")}`)
      assert.deepStrictEqual(outcome.usage, { inputTokens: 3, outputTokens: 4 })
      // A key names one call, whatever id the model gave it.
      assert.strictEqual(new Set(ran.map(({ key }) => key)).size, ran.length)
      assert.deepStrictEqual(Run.fold(events).violations, [])
    })
  )

  it.effect("comes to the same from every prefix of its record", () =>
    Effect.gen(function* () {
      const base = yield* whole([])
      for (let length = 1; length <= base.events.length; length++) {
        const prefix = base.events.slice(0, length)
        const again: Shop.Ran = []
        yield* Effect.gen(function* () {
          const record = yield* Record.Record
          yield* record.append("r", 0, prefix)
          const { answer } = yield* Agent.resume(Shop.agent, "r")
          check({ ...base, answer: base.outcome.answer }, prefix, { events: yield* Shop.events("r"), answer }, again)
        }).pipe(Effect.provide([Shop.services, Shop.handlers(again), LLM.layerScripted(Shop.model)]))
      }
    })
  )

  it.effect("resumed twice after its end, gives its outcome again and does nothing", () =>
    Effect.gen(function* () {
      const base = yield* whole([])
      yield* Effect.gen(function* () {
        const record = yield* Record.Record
        yield* record.append("r", 0, base.events)
        const silent = LLM.layerScripted([])
        for (const _ of [1, 2]) {
          const outcome = yield* Agent.resume(Shop.agent, "r").pipe(Effect.provide([silent, Shop.handlers([])]))
          assert.deepStrictEqual(outcome, base.outcome)
        }
        assert.deepStrictEqual(yield* Shop.events("r"), base.events)
      }).pipe(Effect.provide(Shop.services))
    })
  )

  it.effect("comes to the same when its process dies at an append, before it, after it, or inside", () =>
    Effect.gen(function* () {
      const base = yield* whole([])
      const died = new Set<string>()
      for (const kept of ["nothing", "all", 1, 2] as const) {
        for (let at = 1; ; at++) {
          const before: Shop.Ran = []
          const again: Shop.Ran = []
          const isOver = yield* Effect.gen(function* () {
            const exit = yield* Effect.exit(Agent.run(Shop.agent, "Sell.", { runId: "r" })).pipe(
              Effect.provide([Mortal.layer({ at, kept }), Shop.handlers(before)])
            )
            if (Exit.isSuccess(exit)) return true
            assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
            const prefix = yield* Shop.events("r").pipe(Effect.orElseSucceed(() => []))
            died.add(`${prefix.length}`)
            // Without its first event there is no run to resume: it is started again, and nothing had been done.
            const next =
              prefix.length === 0 ? Agent.run(Shop.agent, "Sell.", { runId: "r" }) : Agent.resume(Shop.agent, "r")
            const { answer } = yield* next.pipe(Effect.provide(Shop.handlers(again)))
            check({ ...base, answer: base.outcome.answer }, prefix, { events: yield* Shop.events("r"), answer }, again)
            const twice = before.filter(({ key }) => again.some((one) => one.key === key))
            for (const { tool } of twice) assert.notStrictEqual(tool, "order", "what may act has acted once")
            return false
          }).pipe(Effect.provide([Shop.services, LLM.layerScripted(Shop.model)]))
          if (isOver) break
        }
      }
      assert.isAbove(died.size, 15)
    })
  )

  it.effect("comes to the same however often its process dies", () =>
    Effect.gen(function* () {
      const base = yield* whole([])
      const ran: Shop.Ran = []
      yield* Effect.gen(function* () {
        // Each process gets one append done, and dies at the next.
        const mortal = Mortal.layer({ at: 2, kept: "nothing" })
        yield* Effect.exit(Agent.run(Shop.agent, "Sell.", { runId: "r" })).pipe(Effect.provide(mortal))
        for (let processes = 1; processes < 50; processes++) {
          const exit = yield* Effect.exit(Agent.resume(Shop.agent, "r")).pipe(Effect.provide(mortal))
          if (Exit.isFailure(exit)) continue
          // Every order was in flight at a death: none of them is known to have been done, and none was done twice.
          assert.lengthOf(exit.value.pending, 3)
          assert.deepStrictEqual(outline(yield* Shop.events("r")), outline(base.events))
          const orders = ran.filter(({ tool }) => tool === "order").map(({ key }) => key)
          assert.strictEqual(new Set(orders).size, orders.length)
          return
        }
        assert.fail("The run does not end.")
      }).pipe(Effect.provide([Shop.services, Shop.handlers(ran), LLM.layerScripted(Shop.model)]))
    })
  )

  it.effect("goes on after its process died while the model was asked", () =>
    Effect.gen(function* () {
      const base = yield* whole([])
      const at = base.events.findLastIndex(({ _tag }) => _tag === "ModelCalled")
      const record = yield* Record.Record
      yield* record.append("r", 0, base.events.slice(0, at + 1))
      const { status } = yield* Agent.resume(Shop.agent, "r").pipe(Effect.provide(LLM.layerScripted(Shop.model)))
      assert.strictEqual(status, "answered")
    }).pipe(Effect.provide([Shop.services, Shop.handlers([])]))
  )

  it.effect("has ended on its record when the layer of its model dies, and the defect goes on", () =>
    Effect.gen(function* () {
      const mortal: LLM.Chooser = (wire, index) => {
        if (wire.iteration === 3) throw new Error("a defect of the layer")
        return Shop.model(wire, index)
      }
      const exit = yield* Effect.exit(Agent.run(Shop.agent, "Sell.", { runId: "r" })).pipe(
        Effect.provide(LLM.layerScripted(mortal))
      )
      assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause))
      assert.include(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "", "a defect of the layer")
      const [failed, , ended] = (yield* Shop.events("r")).slice(-3)
      assert.deepInclude(failed, { _tag: "ModelFailed", reason: "Died" })
      assert.deepInclude(ended, { _tag: "RunEnded", status: "failed", passes: 3 })
      assert.notInclude(JSON.stringify([failed, ended]), "a defect of the layer")
      const next = yield* Agent.followUp(Shop.agent, "r", "Go on.").pipe(Effect.provide(LLM.layerScripted(["Done."])))
      assert.strictEqual(next.status, "answered")
    }).pipe(Effect.provide([Shop.services, Shop.handlers([])]))
  )

  it.effect("sends again what it had sent, and nothing that is new", () =>
    Effect.gen(function* () {
      const base = yield* whole([])
      const at = base.events.findLastIndex(({ _tag }) => _tag === "ModelCalled")
      yield* Effect.gen(function* () {
        const record = yield* Record.Record
        yield* record.append("r", 0, base.events.slice(0, at + 1))
        const changed = Agent.make({ name: "shop", instructions: "Other words.", toolkit: Shop.toolkit })
        yield* Agent.resume(changed, "r")
        const script = yield* LLM.Script
        const sent = yield* script.calls
        const recorded = Run.fold(base.events).marks.at(-1)?.recordedHash
        assert.deepStrictEqual(sent.map(Wire.hash), [recorded])
      }).pipe(Effect.provide([Shop.services, Shop.handlers([]), LLM.layerScripted(Shop.model)]))
    })
  )

  const gone = Toolkit.make(Tool.make("other"))
  const other = Toolkit.make(Tool.make("price", { parameters: { code: Schema.Number } }))
  const changed: ReadonlyArray<readonly [what: string, agent: Agent.Agent<unknown>]> = [
    ["is gone", Agent.make({ name: "shop", instructions: "", toolkit: gone })],
    ["takes other arguments", Agent.make({ name: "shop", instructions: "", toolkit: other })]
  ]
  for (const [what, today] of changed) {
    it.effect(`says that a lost call is lost when its tool ${what}, not that it was refused`, () =>
      Effect.gen(function* () {
        const base = yield* whole([])
        const at = base.events.findIndex(({ _tag }) => _tag === "ToolCalled")
        const record = yield* Record.Record
        yield* record.append("r", 0, base.events.slice(0, at + 1))
        const unused = new Map(Array.from(today.tools.keys(), (name) => [name, () => Effect.succeed("")]))
        const agent = { ...today, handlers: Effect.succeed(unused) }
        yield* Agent.resume(agent, "r")
        const settled = (yield* Shop.events("r")).flatMap((event) => (event._tag === "ToolSettled" ? [event] : []))
        assert.deepStrictEqual(
          settled.slice(0, 2).map(({ error, outcome }) => [outcome, error?.tag]),
          [
            ["unknown", "ToolOutcomeUnknown"],
            ["refused", "UnknownTool"]
          ]
        )
      }).pipe(Effect.provide([Shop.services, LLM.layerScripted(Shop.model)]))
    )
  }
})

const Look = Tool.make("look", { parameters: { of: Schema.String }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const Pay = Tool.make("pay", { parameters: { of: Schema.String }, success: Schema.String })
const kit = Toolkit.make(Look, Pay)

/** A step of a model that tells when it is asked, and then takes its time. */
const slow =
  (asked: Deferred.Deferred<void>): LLM.Step =>
  () => {
    Deferred.unsafeDone(asked, Effect.void)
    return LLM.say("Done.", { delay: "1 hour" })
  }

const calls = (...names: ReadonlyArray<readonly [tool: string, id: string]>) =>
  LLM.together(...names.map(([tool, id]) => LLM.call(tool, { of: id }, id)))

const settledAs = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event) => (event._tag === "ToolSettled" ? [`${event.toolCallId} ${event.outcome}`] : []))

const make = (more: Partial<Agent.Options<(typeof kit)["tools"]>> = {}) =>
  Agent.make({ name: "a", instructions: "Work.", toolkit: kit, ...more })

const idle = kit.toLayer({ look: ({ of }) => Effect.succeed(of), pay: ({ of }) => Effect.succeed(of) })

/** Lets everything go on that needs no time. */
const turns = Effect.repeatN(Effect.yieldNow(), 200)

describe("More than one append holds", () => {
  const long = "\u0001".repeat(262_144)
  const big = kit.toLayer({ look: () => Effect.succeed(long), pay: () => Effect.succeed(long) })
  const names = Array.from({ length: 70 }, (_, index) => ["look", `c${index}`] as const)

  it.effect("is appended in several, and the run goes on to its answer", () =>
    Effect.gen(function* () {
      const outcome = yield* Agent.run(make(), "Go.", { runId: "r" })
      assert.deepInclude(outcome, { status: "answered", answer: "Done." })
      const events = yield* Shop.events("r")
      assert.lengthOf(settledAs(events), 70)
      assert.deepStrictEqual(Run.fold(events).violations, [])
      const next = yield* Agent.followUp(make(), "r", "More.", { runId: "s" })
      assert.deepInclude(next, { status: "answered", answer: "Done." })
      assert.deepStrictEqual(Run.fold(yield* Shop.events("s")).violations, [])
    }).pipe(
      Effect.provide(LLM.layerScripted((wire) => (wire.messages.length === 1 ? calls(...names) : "Done."))),
      Effect.provide([Shop.services, big])
    )
  )

  it.effect("is no reply: the run ends, and says why", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Agent.run(make(), "Go.", { runId: "r" }))
      assert.deepInclude(error, { _tag: "LLMError", reason: "Protocol", runId: "r" })
      const events = yield* Shop.events("r")
      assert.deepInclude(events.at(-1), { _tag: "RunEnded", status: "failed" })
    }).pipe(Effect.provide(LLM.layerScripted([LLM.say("x".repeat(5_000_001))])), Effect.provide([Shop.services, idle]))
  )
})

describe("The calls of one reply", () => {
  it.effect("run at most four at once if they only read, and settle in their order", () =>
    Effect.gen(function* () {
      const ids = ["1", "2", "3", "4", "5", "6", "7", "8"]
      const gates = new Map(
        yield* Effect.forEach(ids, (id) => Effect.map(Deferred.make<void>(), (gate) => [id, gate] as const))
      )
      const running = new Set<string>()
      const ended: Array<string> = []
      let most = 0
      const handlers = kit.toLayer({
        look: ({ of }) =>
          Effect.gen(function* () {
            running.add(of)
            most = Math.max(most, running.size)
            const gate = gates.get(of)
            if (gate !== undefined) yield* Deferred.await(gate)
            running.delete(of)
            ended.push(of)
            return `seen ${of}`
          }),
        pay: () => Effect.succeed("")
      })
      const run = Agent.run(make(), "Go.", { runId: "r" }).pipe(
        Effect.provide([handlers, LLM.layerScripted([calls(...ids.map((id) => ["look", id] as const)), "Done."])])
      )
      const fiber = yield* Effect.fork(run)
      // The last of those that run is let go first.
      while (ended.length < ids.length) {
        yield* turns
        const last = Array.from(running).at(-1)
        if (ended.length < 5) assert.strictEqual(running.size, 4)
        const gate = last === undefined ? undefined : gates.get(last)
        if (gate !== undefined) yield* Deferred.succeed(gate, undefined)
        yield* turns
      }
      yield* Fiber.join(fiber)
      assert.strictEqual(most, 4)
      assert.notDeepEqual(ended, ids)
      const events = yield* Shop.events("r")
      assert.deepStrictEqual(
        settledAs(events),
        ids.map((id) => `${id} ran-ok`)
      )
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("run as many at once as the agent says", () =>
    Effect.gen(function* () {
      let running = 0
      let most = 0
      const handlers = kit.toLayer({
        look: () =>
          Effect.gen(function* () {
            most = Math.max(most, ++running)
            yield* turns
            running -= 1
            return ""
          }),
        pay: () => Effect.succeed("")
      })
      const ids = Array.from({ length: 6 }, (_, index) => ["look", `${index}`] as const)
      yield* Agent.run(make({ concurrency: 2 }), "Go.").pipe(
        Effect.provide([handlers, LLM.layerScripted([calls(...ids), "Done."])])
      )
      assert.strictEqual(most, 2)
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("run alone if they may act, after those before them and before those after", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const work = ({ of }: { readonly of: string }) =>
        Effect.gen(function* () {
          log.push(`+${of}`)
          yield* turns
          log.push(`-${of}`)
          return of
        })
      yield* Agent.run(make(), "Go.", { runId: "r" }).pipe(
        Effect.provide([
          kit.toLayer({ look: work, pay: work }),
          LLM.layerScripted([calls(["look", "a"], ["look", "b"], ["pay", "c"], ["pay", "d"], ["look", "e"]), "Done."])
        ])
      )
      assert.deepStrictEqual(log, ["+a", "+b", "-a", "-b", "+c", "-c", "+d", "-d", "+e", "-e"])
      // The intent of what may act is on the record only when what precedes it has settled.
      const order = (yield* Shop.events("r")).flatMap((event) =>
        event._tag === "ToolCalled"
          ? [`+${event.toolCallId}`]
          : event._tag === "ToolSettled"
            ? [`-${event.toolCallId}`]
            : []
      )
      assert.deepStrictEqual(order, log)
    }).pipe(Effect.provide(Shop.services))
  )
})

describe("An interrupted run", () => {
  const endsWell = (events: ReadonlyArray<Event.Event>) => {
    assert.deepStrictEqual(Run.fold(events).violations, [])
    assert.lengthOf(
      events.filter(({ _tag }) => _tag === "RunEnded"),
      1
    )
    const last = events.at(-1)
    assert.deepInclude(last, { _tag: "RunEnded", status: "stopped" })
    assert.strictEqual(last?._tag === "RunEnded" ? last.reason?.tag : undefined, "Interrupted")
  }

  it.effect("ends while the model is asked", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(Agent.run(make(), "Go.", { runId: "r" })).pipe(
        Effect.provide([idle, LLM.layerScripted([slow(asked)])])
      )
      yield* Deferred.await(asked)
      const exit = yield* Fiber.interrupt(fiber)
      assert.isTrue(Exit.isInterrupted(exit))
      const events = yield* Shop.events("r")
      endsWell(events)
      assert.deepStrictEqual(
        events.slice(-3).map(({ _tag }) => _tag),
        ["ModelFailed", "ChecksFiled", "RunEnded"]
      )
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("settles every open call, and keeps what had finished", () =>
    Effect.gen(function* () {
      const third = yield* Deferred.make<void>()
      const handlers = kit.toLayer({
        look: ({ of }) =>
          of === "a"
            ? Effect.succeed("seen a")
            : of === "c"
              ? Effect.zipRight(Deferred.succeed(third, undefined), Effect.never)
              : Effect.never,
        pay: () => Effect.die("not reached")
      })
      const fiber = yield* Effect.fork(Agent.run(make({ concurrency: 2 }), "Go.", { runId: "r" })).pipe(
        Effect.provide([
          handlers,
          LLM.layerScripted([calls(["look", "a"], ["look", "b"], ["look", "c"], ["look", "d"], ["pay", "e"])])
        ])
      )
      // Two run at once: the third starts when the first has finished.
      yield* Deferred.await(third)
      yield* Fiber.interrupt(fiber)
      const events = yield* Shop.events("r")
      endsWell(events)
      assert.deepStrictEqual(settledAs(events), ["a ran-ok", "b aborted", "c aborted", "d aborted", "e aborted"])
      const outcomes = events.flatMap((event) => (event._tag === "ToolSettled" ? [event.error?.outcome] : []))
      assert.deepStrictEqual(outcomes, [undefined, "unknown", "unknown", "unknown", "not-applied"])
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("stops the handlers that run", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const work = () =>
        Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never).pipe(
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        )
      const fiber = yield* Effect.fork(Agent.run(make(), "Go.")).pipe(
        Effect.provide([kit.toLayer({ look: work, pay: work }), LLM.layerScripted([calls(["pay", "a"])])])
      )
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(fiber)
      yield* turns
      assert.isTrue(yield* Deferred.isDone(stopped))
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("does not take what a call of an earlier pass came to for that of one with its id", () =>
    Effect.gen(function* () {
      const second = yield* Deferred.make<void>()
      let passes = 0
      const look = () =>
        passes++ === 0 ? Effect.succeed("seen") : Effect.zipRight(Deferred.succeed(second, undefined), Effect.never)
      const fiber = yield* Effect.fork(Agent.run(make(), "Go.", { runId: "r" })).pipe(
        Effect.provide([
          kit.toLayer({ look, pay: () => Effect.succeed("") }),
          LLM.layerScripted([calls(["look", "a"]), calls(["look", "a"])])
        ])
      )
      yield* Deferred.await(second)
      yield* Fiber.interrupt(fiber)
      const events = yield* Shop.events("r")
      endsWell(events)
      const settled = events.flatMap((event) =>
        event._tag === "ToolSettled" ? [`${event.iteration} ${event.outcome}`] : []
      )
      assert.deepStrictEqual(settled, ["1 ran-ok", "2 aborted"])
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("does not wait for a handler that does not let itself be interrupted", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const stuck = () => Effect.uninterruptible(Effect.zipRight(Deferred.succeed(started, undefined), Effect.never))
      const fiber = yield* Effect.fork(Agent.run(make(), "Go.", { runId: "r" })).pipe(
        Effect.provide([kit.toLayer({ look: stuck, pay: stuck }), LLM.layerScripted([calls(["pay", "a"])])])
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      endsWell(yield* Shop.events("r"))
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("gives its stop again when it is resumed, and does nothing", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(Agent.run(make(), "Go.", { runId: "r" })).pipe(
        Effect.provide(LLM.layerScripted([slow(asked)]))
      )
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(fiber)
      const before = yield* Shop.events("r")
      const outcome = yield* Agent.resume(make(), "r").pipe(Effect.provide(LLM.layerScripted([])))
      assert.deepInclude(outcome, { status: "stopped" })
      assert.strictEqual(outcome.reason?.tag, "Interrupted")
      assert.deepStrictEqual(yield* Shop.events("r"), before)
    }).pipe(Effect.provide([Shop.services, idle]))
  )

  it.effect("can be interrupted at any turn: it has ended, or has no start", () =>
    Effect.gen(function* () {
      const stopped = new Set<number>()
      for (let turn = 0; ; turn++) {
        const exit = yield* Effect.gen(function* () {
          const fiber = yield* Effect.fork(Agent.run(Shop.agent, "Sell.", { runId: "r" }))
          yield* Effect.repeatN(Effect.yieldNow(), turn)
          const exit = yield* Fiber.interrupt(fiber)
          const events = yield* Effect.option(Shop.events("r"))
          if (Option.isNone(events)) return exit
          stopped.add(events.value.length)
          assert.deepStrictEqual(Run.fold(events.value).violations, [])
          assert.strictEqual(events.value.at(-1)?._tag, "RunEnded")
          return exit
        }).pipe(Effect.provide([Shop.services, Shop.handlers([]), LLM.layerScripted(Shop.model)]))
        if (Exit.isSuccess(exit)) break
      }
      assert.isAbove(stopped.size, 3)
    })
  )
})

describe("A budget", () => {
  const always =
    (usage?: LLM.Line["usage"]): LLM.Chooser =>
    ({ iteration }) => ({
      ...calls(["look", `c${iteration}`]),
      ...(usage === undefined ? {} : { usage })
    })

  const spend = (budget: Agent.Limits, model: LLM.Steps) =>
    Effect.gen(function* () {
      const outcome = yield* Agent.run(make({ budget }), "Go.", { runId: "r" })
      const script = yield* LLM.Script
      const asked = yield* script.calls
      return { outcome, asked: asked.length, events: yield* Shop.events("r") }
    }).pipe(Effect.provide([Shop.services, idle, LLM.layerScripted(model)]))

  it.effect("of passes ends a loop", () =>
    Effect.gen(function* () {
      const { asked, events, outcome } = yield* spend({ passes: 3 }, always())
      assert.strictEqual(asked, 3)
      assert.deepInclude(outcome, { status: "stopped", passes: 3 })
      assert.deepInclude(outcome.reason, { tag: "BudgetExceeded", found: "3 spent" })
      assert.lengthOf(settledAs(events), 3)
    })
  )

  it.effect("of no passes asks nothing", () =>
    Effect.gen(function* () {
      const { asked, outcome } = yield* spend({ passes: 0 }, always())
      assert.deepStrictEqual([asked, outcome.status], [0, "stopped"])
    })
  )

  it.effect("of tool calls starts no more than that, tells the model, and asks it nothing more", () =>
    Effect.gen(function* () {
      const { asked, events, outcome } = yield* spend({ toolCalls: 2 }, [
        calls(["look", "a"], ["look", "b"], ["look", "c"])
      ])
      assert.strictEqual(asked, 1)
      assert.deepStrictEqual(settledAs(events), ["a ran-ok", "b ran-ok", "c refused"])
      assert.lengthOf(
        events.filter(({ _tag }) => _tag === "ToolCalled"),
        2
      )
      assert.deepInclude(outcome.reason, { tag: "BudgetExceeded", found: "2 spent" })
    })
  )

  it.effect("of tool calls counts over passes, and only what starts", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* spend({ toolCalls: 2 }, [
        calls(["look", "a"], ["no", "b"]),
        calls(["no", "c"]),
        calls(["pay", "d"]),
        "Done."
      ])
      assert.deepStrictEqual(settledAs(events), ["a ran-ok", "b refused", "c refused", "d ran-ok"])
      assert.strictEqual(outcome.status, "answered")
    })
  )

  it.effect("of tool calls counts a call once, also when it is run again after a crash", () =>
    Effect.gen(function* () {
      const agent = make({ budget: { toolCalls: 1 } })
      // The process dies when it has the result, and the record has only that it was called.
      yield* Effect.exit(Agent.run(agent, "Go.", { runId: "r" })).pipe(
        Effect.provide(Mortal.layer({ at: 3, kept: "nothing" }))
      )
      assert.strictEqual((yield* Shop.events("r")).at(-1)?._tag, "ToolCalled")
      const { answer } = yield* Agent.resume(agent, "r")
      assert.strictEqual(answer, "Done.")
      assert.deepStrictEqual(settledAs(yield* Shop.events("r")), ["a ran-ok"])
    }).pipe(Effect.provide([Shop.services, idle, LLM.layerScripted(LLM.byPass([calls(["look", "a"]), "Done."]))]))
  )

  it.effect("of tokens lets no pass start once they are spent", () =>
    Effect.gen(function* () {
      const usage = { inputTokens: 80, outputTokens: 920 }
      const { asked, outcome } = yield* spend({ tokens: 3_000 }, always(usage))
      assert.strictEqual(asked, 3)
      assert.deepInclude(outcome.reason, { tag: "BudgetExceeded", found: "3000 spent" })
      assert.deepStrictEqual(outcome.usage, { inputTokens: 240, outputTokens: 2_760 })
    })
  )

  it.effect("of tokens is not pretended to hold when nobody counts them", () =>
    Effect.gen(function* () {
      const { asked, outcome } = yield* spend({ tokens: 3_000 }, always())
      assert.strictEqual(asked, 1)
      assert.strictEqual(outcome.reason?.tag, "UsageUnknown")
      assert.deepStrictEqual(outcome.usage, {})
    })
  )

  const wallTime = (model: LLM.Steps, begun: Deferred.Deferred<void>, handlers = idle) =>
    Effect.gen(function* () {
      const agent = make({ budget: { wallTime: "10 seconds" } })
      const fiber = yield* Effect.fork(Agent.run(agent, "Go.", { runId: "r" })).pipe(
        Effect.provide([handlers, LLM.layerScripted(model)])
      )
      yield* Deferred.await(begun)
      yield* TestClock.adjust("9 seconds")
      assert.isTrue(Option.isNone(yield* Fiber.poll(fiber)))
      yield* TestClock.adjust("1 seconds")
      const outcome = yield* Fiber.join(fiber)
      assert.strictEqual(outcome.status, "stopped")
      assert.deepInclude(outcome.reason, { tag: "BudgetExceeded", found: "10000 spent" })
      const events = yield* Shop.events("r")
      assert.deepStrictEqual(Run.fold(events).violations, [])
      assert.deepInclude(events.at(-1), { _tag: "RunEnded", durationMs: 10_000 })
      return events
    }).pipe(Effect.provide(Shop.services))

  it.effect("of wall time ends a run that waits for its model", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const events = yield* wallTime([slow(asked)], asked)
      assert.strictEqual(events.at(-3)?._tag, "ModelFailed")
    })
  )

  it.effect("of wall time does not wait for a model that does not let itself be interrupted", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const stuck = Effect.uninterruptible(Effect.zipRight(Deferred.succeed(asked, undefined), Effect.never))
      const model = Layer.succeed(LLM.LLM, LLM.LLM.of({ stream: () => Stream.fromEffect(stuck) }))
      const agent = make({ budget: { wallTime: "10 seconds" } })
      const fiber = yield* Effect.fork(Agent.run(agent, "Go.")).pipe(Effect.provide([idle, model]))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude((yield* Fiber.join(fiber)).reason, { tag: "BudgetExceeded" })
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("of wall time ends a run that waits for a tool, and keeps what had finished", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const handlers = kit.toLayer({
        look: ({ of }) =>
          of === "a"
            ? Effect.succeed("seen")
            : Effect.uninterruptible(Effect.zipRight(Deferred.succeed(begun, undefined), Effect.never)),
        pay: () => Effect.succeed("")
      })
      const events = yield* wallTime([calls(["look", "a"], ["look", "b"], ["pay", "c"])], begun, handlers)
      assert.deepStrictEqual(settledAs(events), ["a ran-ok", "b aborted", "c aborted"])
    })
  )

  it.effect("of wall time counts from the start of the run, over all its processes", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const agent = make({ budget: { wallTime: "10 seconds" } })
      // A process that dies: its fiber is left behind, and its record goes on without it.
      yield* Effect.exit(Agent.run(agent, "Go.", { runId: "r" })).pipe(
        Effect.provide([Mortal.layer({ at: 2, kept: "nothing" }), LLM.layerScripted([calls(["look", "a"])])])
      )
      yield* TestClock.adjust("4 seconds")
      const record = yield* Record.Record
      const { length } = yield* Shop.events("r")
      yield* record.append("r", length, [{ _tag: "MessageReceived", content: "Still there?" }])
      const fiber = yield* Effect.fork(Agent.resume(agent, "r")).pipe(Effect.provide(LLM.layerScripted([slow(asked)])))
      yield* Deferred.await(asked)
      yield* TestClock.adjust("6 seconds")
      const { reason } = yield* Fiber.join(fiber)
      assert.deepInclude(reason, { tag: "BudgetExceeded", found: "10000 spent" })
      yield* TestClock.adjust("1 hour")
    }).pipe(Effect.provide([Shop.services, idle]))
  )
})

describe("Two loops on one run", () => {
  it.effect("never mix: one goes on, the other gets a conflict and stops", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const late = yield* Effect.fork(Agent.run(make(), "Go.", { runId: "r" })).pipe(
        Effect.provide(LLM.layerScripted([slow(asked)]))
      )
      yield* Deferred.await(asked)
      const { answer } = yield* Agent.resume(make(), "r").pipe(
        Effect.provide(LLM.layerScripted([calls(["pay", "a"]), "Done by the second."]))
      )
      assert.strictEqual(answer, "Done by the second.")
      const events = yield* Shop.events("r")
      yield* TestClock.adjust("1 hour")
      const error = yield* Effect.flip(Fiber.join(late))
      assert.strictEqual(error._tag, "RecordConflict")
      assert.deepStrictEqual(yield* Shop.events("r"), events)
      assert.deepStrictEqual(Run.fold(events).violations, [])
    }).pipe(Effect.provide([Shop.services, idle]))
  )

  it.effect("do not run a tool twice: the intent of only one of them is on the record", () =>
    Effect.gen(function* () {
      const ran: Shop.Ran = []
      const base = yield* whole([])
      const at = base.events.findIndex((event) => event._tag === "ModelReplied" && event.iteration === 3)
      yield* Effect.gen(function* () {
        const record = yield* Record.Record
        yield* record.append("r", 0, base.events.slice(0, at + 1))
        const both = yield* Effect.all(
          [1, 2].map(() => Effect.either(Agent.resume(Shop.agent, "r"))),
          {
            concurrency: "unbounded"
          }
        )
        assert.deepStrictEqual(both.map(({ _tag }) => _tag).toSorted(), ["Left", "Right"])
        assert.deepStrictEqual(
          ran.map(({ tool }) => tool),
          ["order"]
        )
        assert.deepStrictEqual(yield* Shop.events("r"), base.events)
      }).pipe(Effect.provide([Shop.services, Shop.handlers(ran), LLM.layerScripted(Shop.model)]))
    })
  )

  it.effect("started under one id, are one run", () =>
    Effect.gen(function* () {
      yield* Agent.run(make(), "Go.", { runId: "r" }).pipe(Effect.provide(LLM.layerScripted(["One."])))
      const error = yield* Effect.flip(Agent.run(make(), "Go.", { runId: "r" })).pipe(
        Effect.provide(LLM.layerScripted([]))
      )
      assert.deepInclude(error, { _tag: "RunExists", runId: "r", outcome: "not-applied" })
    }).pipe(Effect.provide([Shop.services, idle]))
  )
})

describe("A run in the handler of another", () => {
  it.effect("gives its calls keys of their own", () =>
    Effect.gen(function* () {
      const keys: Array<string> = []
      const inner = Agent.run(make(), "Go.", { runId: "inner" }).pipe(
        Effect.provide(
          Layer.mergeAll(
            kit.toLayer({
              look: () => Effect.map(Replay.Key, (key) => String(keys.push(key))),
              pay: () => Effect.succeed("")
            }),
            LLM.layerScripted([calls(["look", "a"]), "Done."]),
            Layer.fresh(Shop.services)
          )
        ),
        Effect.orDie
      )
      const handlers = kit.toLayer({
        look: () => Effect.succeed(""),
        pay: () =>
          Effect.zipRight(
            Effect.map(Replay.Key, (key) => keys.push(key)),
            Effect.as(inner, "done")
          )
      })
      yield* Agent.run(make(), "Go.", { runId: "outer" }).pipe(
        Effect.provide([handlers, LLM.layerScripted([calls(["pay", "a"]), "Done."])])
      )
      assert.deepStrictEqual(keys, ['["outer",1,"a"]', '["inner",1,"a"]'])
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("and everything that a handler does, has the span of its call around it", () =>
    Effect.gen(function* () {
      const names: Array<string> = []
      const handlers = kit.toLayer({
        look: () =>
          Effect.gen(function* () {
            const span = yield* Effect.orDie(Effect.currentSpan)
            names.push(span.name)
            return ""
          }),
        pay: () => Effect.succeed("")
      })
      yield* Agent.run(make(), "Go.").pipe(
        Effect.provide([handlers, LLM.layerScripted([calls(["look", "a"]), "Done."])])
      )
      assert.deepStrictEqual(names, ["Tool.call"])
    }).pipe(Effect.provide(Shop.services))
  )
})
