import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Either, Exit, Fiber, Layer, Option, Stream, TestClock } from "effect"
import type * as Outcome from "../../src/kernel/Outcome.ts"
import type * as WaitEvent from "../../src/kernel/WaitEvent.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Custody from "../../src/programs/Custody.ts"
import * as Durable from "../../src/programs/Durable.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Bank from "./Bank.ts"

/** Agents in this process, over an engine and a record in memory. */
const hosted = (ran: Bank.Ran, script: LLM.Chooser, record = Record.layerMemory) =>
  Durable.layer({ agents: [Bank.agent()], name: "here" }).pipe(
    Layer.provide(Bank.handlers(ran)),
    Layer.provide(LLM.layerScripted(script)),
    Layer.provide(Durable.layerMemory),
    Layer.provideMerge(Layer.merge(ArtifactStore.layerMemory(), record))
  )

const eventsOf = (runId: string) =>
  Effect.flatMap(Record.Record, ({ read }) =>
    Effect.map(Stream.runCollect(read(runId)), (entries) => Array.from(entries, ({ event }) => event))
  )
const tagsOf = (runId: string) => Effect.map(eventsOf(runId), (events) => events.map(({ _tag }) => _tag))

const yes = (outcome: Outcome.Outcome<unknown>) => {
  const [pending] = outcome.pending
  assert(pending?.kind === "approval")
  const { argsDigest, ticket } = pending
  return { ticket, argsDigest, verdict: "approve", by: "ann" } as const
}

/** A person decides just before the run is read for the so-many-th time after it has asked, and tells nobody. */
const deciding = (nth: number): Layer.Layer<Record.Record> =>
  Layer.effect(
    Record.Record,
    Effect.map(Record.Record, (record) => {
      let asked: WaitEvent.ApprovalAsked | undefined
      let looks = 0
      return {
        ...record,
        append: (runId, seq, events) =>
          Effect.tap(record.append(runId, seq, events), () => {
            asked ??= events.find((event) => event._tag === "ApprovalAsked")
          }),
        read: (runId, options) =>
          Stream.suspend(() => {
            if (asked === undefined || (looks += 1) !== nth) return record.read(runId, options)
            const decided = Agent.decide(runId, { ...asked, verdict: "approve", by: "ann" })
            return Stream.concat(
              Stream.drain(Stream.orDie(Stream.fromEffect(Effect.provideService(decided, Record.Record, record)))),
              record.read(runId, options)
            )
          })
      }
    })
  ).pipe(Layer.provide(Record.layerMemory))

const looks = Bank.model(Bank.look("a"))
const pays = Bank.model(Bank.pay("p"))
const paysTwice: LLM.Chooser = (wire, index) => (wire.iteration === 2 ? LLM.together(Bank.pay("q")) : pays(wire, index))

describe("Durable", () => {
  it.live("drives a run that was started, once for one id", () => {
    const ran: Bank.Ran = []
    return Effect.gen(function* () {
      assert.strictEqual(yield* Durable.start("bank", "Pay.", { runId: "one" }), "one")
      yield* Durable.start("bank", "Pay.", { runId: "one" })
      const outcome = yield* Durable.await("one")
      assert.deepInclude(outcome, { status: "answered", answer: "a ran-ok", runId: "one" })
      yield* Durable.start("bank", "Pay.", { runId: "one" })
      assert.deepStrictEqual(ran, ["look a"])
      assert.notInclude(yield* tagsOf("one"), "RunClaimed", "nobody has taken it over")
    }).pipe(Effect.provide(hosted(ran, looks)))
  })

  it.live("refuses what it cannot start", () =>
    Effect.gen(function* () {
      const reason = (
        start: Effect.Effect<string, { readonly _tag: string; readonly reason?: unknown }, Durable.Durable>
      ) => Effect.map(Effect.flip(start), (error) => `${error._tag} ${String(error.reason ?? "")}`.trim())
      assert.strictEqual(yield* reason(Durable.start("bnak", "Pay.")), "DurableError UnknownAgent")
      for (const runId of ["", "A", "a/b", "x".repeat(65)]) {
        assert.strictEqual(yield* reason(Durable.start("bank", "Pay.", { runId })), "DurableError InvalidRunId")
      }
      assert.strictEqual(yield* reason(Durable.start("bank", " ")), "InvalidAgent")
      yield* Durable.start("bank", "Pay.", { runId: "one" })
      yield* Durable.await("one")
      assert.strictEqual(yield* reason(Durable.start("bank", "Pay more.", { runId: "one" })), "DurableError OtherRun")
    }).pipe(Effect.provide(hosted([], looks)))
  )

  it.effect("hosts no two agents of one name, and none that is not sound", () =>
    Effect.gen(function* () {
      const layer = Durable.layer({ agents: [Bank.agent(), Bank.agent({ instructions: "Else." })] })
      const built = yield* Effect.exit(
        Effect.scoped(
          Layer.build(
            layer.pipe(
              Layer.provide(Bank.handlers([])),
              Layer.provide(LLM.layerScripted(looks)),
              Layer.provide(Durable.layerMemory),
              Layer.provide(Layer.merge(ArtifactStore.layerMemory(), Record.layerMemory))
            )
          )
        )
      )
      assert.isTrue(Exit.isFailure(built))
      assert.include(String(built), "Two agents have the name")
    })
  )

  it.live("waits for a person, and goes on when it is told", () => {
    const ran: Bank.Ran = []
    return Effect.gen(function* () {
      yield* Durable.start("bank", "Pay.", { runId: "one" })
      const waiting = yield* Durable.await("one")
      assert.strictEqual(waiting.status, "waiting")
      assert.deepStrictEqual(ran, [])
      yield* Durable.signal("one", yes(waiting))
      const outcome = yield* Durable.await("one", { until: "ended" })
      assert.deepInclude(outcome, { status: "answered", answer: "p ran-ok" })
      assert.deepStrictEqual(ran, ["pay 5 to p"])
      const doubled = yield* Effect.flip(Durable.signal("one", yes(waiting)))
      assert.strictEqual(doubled._tag, "DecisionRefused")
    }).pipe(Effect.provide(hosted(ran, pays)))
  })

  it.effect("writes nothing while it waits, and finds by itself what nobody told it of", () => {
    const ran: Bank.Ran = []
    return Effect.gen(function* () {
      yield* Durable.start("bank", "Pay.", { runId: "one" })
      const asked = yield* Effect.fork(Durable.await("one"))
      yield* TestClock.adjust("1 second")
      const waiting = yield* Fiber.join(asked)
      const before = yield* tagsOf("one")
      yield* TestClock.adjust("20 minutes")
      assert.deepStrictEqual(yield* tagsOf("one"), before, "it has looked, and left it at that")
      yield* Agent.decide("one", yes(waiting))
      const done = yield* Effect.fork(Durable.await("one", { until: "ended" }))
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* Fiber.join(done)).status, "answered")
      assert.deepStrictEqual(ran, ["pay 5 to p"])
    }).pipe(Effect.provide(hosted(ran, pays)))
  })

  it.effect("is woken by every decision, and not by the first alone", () => {
    const ran: Bank.Ran = []
    return Effect.gen(function* () {
      const soon = (until: "ended" | "waiting") =>
        Effect.gen(function* () {
          const asked = yield* Effect.fork(Durable.await("one", { until }))
          yield* TestClock.adjust("1 second")
          return Option.getOrThrow(yield* Fiber.poll(asked))
        })
      yield* Durable.start("bank", "Pay.", { runId: "one" })
      for (const until of ["waiting", "ended"] as const) {
        const waiting = yield* yield* soon("waiting")
        yield* Durable.signal("one", yes(waiting))
        yield* yield* soon(until)
      }
      assert.deepStrictEqual(ran, ["pay 5 to p", "pay 5 to q"])
    }).pipe(Effect.provide(hosted(ran, paysTwice)))
  })

  for (const nth of [1, 2, 3, 4]) {
    it.effect(`goes on when it is decided while it comes to rest, before its look number ${nth}`, () => {
      const ran: Bank.Ran = []
      return Effect.gen(function* () {
        yield* Durable.start("bank", "Pay.", { runId: "one" })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(ran, ["pay 5 to p"])
      }).pipe(Effect.provide(hosted(ran, pays, deciding(nth))))
    })
  }

  it.live("ends a run that waits when it is cancelled", () =>
    Effect.gen(function* () {
      yield* Durable.start("bank", "Pay.", { runId: "one" })
      yield* Durable.await("one")
      yield* Durable.cancel("one", "ann")
      const outcome = yield* Durable.await("one", { until: "ended" })
      assert.strictEqual(outcome.reason?.tag, "Interrupted")
      const tags = yield* tagsOf("one")
      assert.deepStrictEqual(tags.slice(-4), ["RunClaimed", "ToolSettled", "ChecksFiled", "RunEnded"])
      yield* Durable.cancel("one", "ann")
      assert.deepStrictEqual(yield* tagsOf("one"), tags)
    }).pipe(Effect.provide(hosted([], pays)))
  )

  it.effect("says of a run that nobody has begun that it is so", () =>
    Effect.gen(function* () {
      const asked = yield* Effect.fork(Effect.flip(Durable.await("none")))
      yield* TestClock.adjust("2 minutes")
      const error = yield* Fiber.join(asked)
      assert.deepInclude(error, { _tag: "DurableError", reason: "NotBegun" })
      assert.strictEqual((yield* Effect.flip(Durable.cancel("none", "ann")))._tag, "DurableError")
    }).pipe(Effect.provide(hosted([], looks)))
  )
})

describe("Custody", () => {
  const memory = Layer.merge(ArtifactStore.layerMemory(), Record.layerMemory)
  const as = (by: string) => Effect.provideService(Custody.Custody, { by })

  /** A model that answers nothing until it is let. */
  const held = Effect.gen(function* () {
    const asked = yield* Deferred.make<void>()
    const go = yield* Deferred.make<void>()
    const inner = yield* Effect.map(Layer.build(LLM.layerScripted(looks)), (context) => context)
    const layer = Layer.effect(
      LLM.LLM,
      Effect.map(LLM.LLM, (llm) =>
        LLM.LLM.of({
          ...llm,
          stream: (wire) =>
            Stream.unwrap(
              Effect.as(Effect.zipRight(Deferred.succeed(asked, undefined), Deferred.await(go)), llm.stream(wire))
            )
        })
      )
    ).pipe(Layer.provide(Layer.succeedContext(inner)))
    return { asked, go, layer }
  })

  it.scoped("refuses every append of who was overtaken, and starts no call", () => {
    const ran: Bank.Ran = []
    const late: Bank.Ran = []
    return Effect.gen(function* () {
      const { asked, go, layer } = yield* held
      const paused = yield* Agent.run(Bank.agent(), "Pay.", { runId: "one" }).pipe(
        Effect.provide(Layer.merge(layer, Bank.handlers(late))),
        as("a"),
        Effect.fork
      )
      yield* Deferred.await(asked)
      const outcome = yield* Agent.resume(Bank.agent(), "one").pipe(
        Effect.provide(Layer.merge(LLM.layerScripted(looks), Bank.handlers(ran))),
        as("b")
      )
      assert.strictEqual(outcome.status, "answered")
      const events = yield* eventsOf("one")
      yield* Deferred.succeed(go, undefined)
      const error = yield* Effect.flip(Fiber.join(paused))
      assert.deepInclude(error, { _tag: "FencedOut", runId: "one", by: "b", ordinal: 1, outcome: "not-applied" })
      assert.deepStrictEqual(yield* eventsOf("one"), events)
      assert.deepStrictEqual([ran, late], [["look a"], []])
    }).pipe(Effect.provide(memory))
  })

  it.scoped("leaves a run as it stands when its process is stopped, and only then", () => {
    const stopped = (by: Option.Option<string>) =>
      Effect.gen(function* () {
        const { asked, layer } = yield* held
        const driven = Agent.run(Bank.agent(), "Pay.", { runId: "one" }).pipe(
          Effect.provide(Layer.merge(layer, Bank.handlers([])))
        )
        const fiber = yield* Effect.fork(Option.match(by, { onNone: () => driven, onSome: (name) => as(name)(driven) }))
        yield* Deferred.await(asked)
        yield* Fiber.interrupt(fiber)
        return (yield* tagsOf("one")).at(-1)
      }).pipe(Effect.provide(memory))
    return Effect.gen(function* () {
      assert.strictEqual(yield* stopped(Option.some("a")), "ModelCalled")
      assert.strictEqual(yield* stopped(Option.none()), "RunEnded")
    })
  })

  it.effect("is counted", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const services = Layer.merge(LLM.layerScripted(pays), Bank.handlers(ran))
      yield* Effect.provide(as("a")(Agent.run(Bank.agent(), "Pay.", { runId: "one" })), services)
      const waiting = yield* Effect.provide(as("b")(Agent.resume(Bank.agent(), "one")), services)
      assert.notInclude(yield* tagsOf("one"), "RunClaimed")
      yield* Agent.decide("one", yes(waiting))
      yield* Effect.provide(as("b")(Agent.resume(Bank.agent(), "one")), services)
      const claims = (yield* eventsOf("one")).filter(({ _tag }) => _tag === "RunClaimed")
      assert.deepStrictEqual(claims, [{ _tag: "RunClaimed", by: "b", ordinal: 1 }])
      const again = yield* Effect.either(Effect.provide(as("c")(Agent.resume(Bank.agent(), "one")), services))
      assert.isTrue(Either.isRight(again))
    }).pipe(Effect.provide(memory))
  )
})
