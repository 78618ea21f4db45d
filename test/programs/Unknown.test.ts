import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Fiber, Layer, Schema, TestClock } from "effect"
import * as Call from "../../src/kernel/Call.ts"
import * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Replay from "../../src/programs/Replay.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Mortal from "./Mortal.ts"
import * as Shop from "./Shop.ts"

const alone = Layer.fresh(Shop.services)

const Pay = Tool.make("pay", { parameters: { to: Schema.String }, success: Schema.String })

const script: LLM.Chooser = ({ iteration, messages }) => {
  if (iteration === 1) return LLM.call("pay", { to: "ann" }, "p")
  const last = messages.at(-1)?.message
  return LLM.say(last?.role === "tool" ? `${last.outcome}: ${last.content}` : (last?.content ?? ""))
}

/** A world in which the process dies while the payment runs: its intent is on the record, and nothing of what it did. */
const lost = (
  tool: typeof Pay,
  ran: Array<string>,
  options: { readonly unknown?: "hold" | "tell" } = {},
  choose: LLM.Chooser = script
) =>
  Effect.gen(function* () {
    const toolkit = Toolkit.make(tool)
    const handlers = toolkit.toLayer({
      pay: ({ to }) => Effect.map(Replay.Key, (key) => `paid ${to}, ${(ran.push(key), ran.length)}`)
    })
    const agent = Agent.make({ name: "a", instructions: "Pay.", toolkit, ...options })
    const layer = Layer.merge(handlers, LLM.layerScripted(choose))
    const died = yield* Effect.exit(
      Agent.run(agent, "Go.", { runId: "r" }).pipe(
        Effect.provide(Layer.merge(layer, Mortal.layer({ at: 3, kept: "nothing" })))
      )
    )
    assert.isTrue(died._tag === "Failure")
    const events = yield* Shop.events("r")
    assert.strictEqual(events.at(-1)?._tag, "ToolCalled")
    return Effect.provide(Agent.resume(agent, "r"), layer)
  })

const lawful = Effect.gen(function* () {
  const events = yield* Shop.events("r")
  const state = Run.fold(events)
  assert.deepStrictEqual(state.violations, [])
  assert.isTrue(events.every(Schema.is(Event.Event)))
  for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(projectedHash, recordedHash)
  return events
})

const found = (verdict: "applied" | "not-applied") => ({
  toolCallId: "p",
  verdict,
  by: "ann",
  because: 'The ledger\u202e says "so".'
})

const reasonOf = <A, R>(effect: Effect.Effect<A, unknown, R>) =>
  Effect.map(Effect.either(effect), (came) =>
    Either.isLeft(came) && came.left instanceof Agent.DecisionRefused ? came.left.reason : assert.fail("it was taken")
  )

describe("A call that was lost", () => {
  for (const replay of ["pure", "idempotent"] as const) {
    it.effect(`is run again with the same key if it is ${replay}`, () =>
      Effect.gen(function* () {
        const ran: Array<string> = []
        const resume = yield* lost(Pay.annotate(Replay.Replay, replay), ran)
        const outcome = yield* resume
        assert.strictEqual(outcome.answer, "ran-ok: paid ann, 2")
        assert.deepStrictEqual(ran, [Call.key("r", 1, "p"), Call.key("r", 1, "p")])
        yield* lawful
      }).pipe(Effect.provide(alone))
    )
  }

  it.effect("holds the run until a person has found out, and is never run again", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const resume = yield* lost(Pay, ran)
      const waiting = yield* resume
      assert.strictEqual(waiting.status, "waiting")
      const [one] = waiting.pending
      assert.deepInclude(one, { kind: "unknown", iteration: 1, toolCallId: "p", toolName: "pay" })
      const before = yield* Shop.events("r")
      assert.deepStrictEqual(yield* resume, waiting)
      assert.deepStrictEqual(yield* Shop.events("r"), before)
      for (const [reason, given] of [
        ["unknown", { ...found("applied"), toolCallId: "q" }],
        ["unknown", { ...found("applied"), pass: 2 }],
        ["invalid", { ...found("applied"), because: "" }],
        ["invalid", { ...found("applied"), by: " " }]
      ] as const) {
        assert.strictEqual(yield* reasonOf(Agent.resolve("r", given)), reason)
      }
      assert.strictEqual(yield* reasonOf(Agent.resolve("none", found("applied"))), "no-run")
      assert.deepStrictEqual(yield* Agent.resolve("r", found("applied")), { runId: "r", pending: [] })
      assert.strictEqual(yield* reasonOf(Agent.resolve("r", found("applied"))), "doubled")
      assert.strictEqual(yield* reasonOf(Agent.resolve("r", found("not-applied"))), "contradicted")
      const outcome = yield* resume
      assert.include(outcome.answer, "a person found out")
      assert.include(
        outcome.answer,
        'the call "p" of "pay" in pass 1 was unknown. A person has looked: it took effect.'
      )
      assert.include(outcome.answer, '"The ledger\\u202e says \\"so\\"."')
      assert.deepStrictEqual(outcome.pending, [])
      assert.lengthOf(ran, 1)
      yield* lawful
    }).pipe(Effect.provide(alone))
  )

  it.effect("that did not take effect may be called again by the model", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const choose: LLM.Chooser = ({ iteration }) =>
        iteration < 3 ? LLM.call("pay", { to: "ann" }, "p") : LLM.say("Paid.")
      const resume = yield* lost(Pay, ran, {}, choose)
      yield* resume
      yield* Agent.resolve("r", found("not-applied"))
      const outcome = yield* resume
      assert.strictEqual(outcome.answer, "Paid.")
      assert.deepStrictEqual(
        ran,
        [1, 2].map((pass) => Call.key("r", pass, "p"))
      )
      yield* lawful
    }).pipe(Effect.provide(alone))
  )

  it.effect("is told to the model at once where the agent says so, and can still be named with its pass", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const resume = yield* lost(Pay, ran, { unknown: "tell" })
      const outcome = yield* resume
      assert.match(outcome.answer ?? "", /^unknown: /)
      assert.lengthOf(outcome.pending, 1)
      const started = (yield* lawful)[0]
      assert.strictEqual(started?._tag === "RunStarted" ? started.manifest.unknown : undefined, "tell")
      assert.strictEqual(yield* reasonOf(Agent.resolve("r", found("applied"))), "late")
    }).pipe(Effect.provide(alone))
  )

  const probes: ReadonlyArray<
    readonly [
      what: string,
      probe: Replay.Probe<{ readonly to: string }, string>,
      runs: number,
      comes: RegExp | "waiting"
    ]
  > = [
    ["it took effect", ({ to }) => Effect.succeed(Replay.applied(`had paid ${to}`)), 1, /^ran-ok: had paid ann$/],
    ["it did not", () => Effect.succeed(Replay.notApplied), 2, /^ran-ok: paid ann, 2$/],
    ["it cannot tell", () => Effect.succeed(Replay.unknown), 1, "waiting"],
    ["it fails", () => Effect.fail("no connection"), 1, "waiting"],
    ["it dies", () => Effect.die("a bug"), 1, "waiting"],
    [
      "it throws",
      () => {
        throw new Error("a bug")
      },
      1,
      "waiting"
    ]
  ]
  for (const [what, probe, runs, comes] of probes) {
    it.effect(`is probed, and if ${what} comes to what that means`, () =>
      Effect.gen(function* () {
        const ran: Array<string> = []
        const keys: Array<string> = []
        const probed = Replay.reconcile(Pay, (args, key) => {
          keys.push(key)
          return probe(args, key)
        })
        const resume = yield* lost(probed, ran)
        const outcome = yield* resume
        if (comes === "waiting") assert.strictEqual(outcome.status, "waiting")
        else assert.match(outcome.answer ?? "", comes)
        assert.deepStrictEqual(keys, [Call.key("r", 1, "p")])
        assert.lengthOf(ran, runs)
        const events = yield* lawful
        const at = events.findIndex(({ _tag }) => _tag === "CallProbed")
        assert.isAbove(
          at,
          events.findIndex(({ _tag }) => _tag === "ToolCalled")
        )
        assert.isBelow(
          at,
          events.findIndex(({ _tag }) => _tag === "ToolSettled")
        )
        if (comes === "waiting") {
          // A person says what the probe could not.
          yield* Agent.resolve("r", found("applied"))
          assert.include((yield* resume).answer, "it took effect")
        }
      }).pipe(Effect.provide(alone))
    )
  }

  it.effect("of a tool that says `reconcile` and gives no probe is as one that nobody may repeat", () =>
    Effect.gen(function* () {
      const ran: Array<string> = []
      const outcome = yield* yield* lost(Pay.annotate(Replay.Replay, "reconcile"), ran)
      assert.strictEqual(outcome.status, "waiting")
      assert.lengthOf(ran, 1)
      const settled = (yield* lawful).find((event) => event._tag === "ToolSettled")
      assert.deepInclude(settled, { outcome: "unknown" })
      assert.match(settled?.error?.where ?? "", /^call "p", key \["r",1,"p"\], sent at event #\d+$/)
    }).pipe(Effect.provide(alone))
  )

  it.effect("is ambiguous by its id alone when several passes lost one of it", () =>
    Effect.gen(function* () {
      const refusal = { toolCallId: "p", toolName: "pay", outcome: "unknown", served: "" } as const
      const events = yield* Effect.map(
        Effect.zipRight(Effect.flatten(lost(Pay, [], { unknown: "tell" })), Shop.events("r")),
        (events) => events.filter(({ _tag }) => _tag !== "RunEnded" && _tag !== "Answered" && _tag !== "ChecksFiled")
      )
      const error = events.find((event) => event._tag === "ToolSettled")?.error
      const replied = events.findLastIndex(({ _tag }) => _tag === "ModelReplied")
      const again = events.slice(0, replied)
      const calls = [{ toolCallId: "p", toolName: "pay", args: "{}" }]
      const record = yield* Record.Record
      yield* record.append("s", 0, [
        ...again.map((event) => (event._tag === "RunStarted" ? { ...event, runId: "s" } : event)),
        { _tag: "ModelReplied", iteration: 2, content: "", toolCalls: calls },
        { _tag: "ToolSettled", iteration: 2, ...refusal, ...(error === undefined ? {} : { error }) }
      ])
      assert.deepStrictEqual(Run.fold(yield* Shop.events("s")).violations, [])
      assert.strictEqual(yield* reasonOf(Agent.resolve("s", found("applied"))), "ambiguous")
      const { pending } = yield* Agent.resolve("s", { ...found("applied"), pass: 1 })
      assert.deepStrictEqual(
        pending.map(({ iteration }) => iteration),
        [2]
      )
      // Of the two that were, one is left: the id says which.
      assert.deepStrictEqual((yield* Agent.resolve("s", found("not-applied"))).pending, [])
    }).pipe(Effect.provide(alone))
  )
})

describe("A call that takes too long", () => {
  it.effect("and may have acted holds the run, too", () =>
    Effect.gen(function* () {
      const toolkit = Toolkit.make(Pay)
      const agent = Agent.make({ name: "a", instructions: "Pay.", toolkit })
      const handlers = toolkit.toLayer({ pay: () => Effect.never })
      const fiber = yield* Effect.fork(
        Effect.provide(Agent.run(agent, "Go.", { runId: "r" }), [handlers, LLM.layerScripted(script)])
      )
      yield* TestClock.adjust("3 minutes")
      const outcome = yield* Fiber.join(fiber)
      assert.strictEqual(outcome.status, "waiting")
      assert.lengthOf(outcome.pending, 1)
      yield* lawful
    }).pipe(Effect.provide(alone))
  )
})
