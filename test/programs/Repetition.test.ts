import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Schema } from "effect"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Repeats from "../../src/programs/Repeats.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

const parameters = { n: Schema.Number }
const look = Tool.make("look", { parameters, success: Schema.String }).annotate(Tool.Readonly, true)
const poll = Tool.make("poll", { parameters, success: Schema.String }).annotate(Repeats.Repeats, true)
const toolkit = Toolkit.make(look, poll)
const handlers = toolkit.toLayer({
  look: ({ n }) => Effect.succeed(`shelf ${n}`),
  poll: () => Effect.succeed("not yet")
})

const play = (steps: LLM.Steps, more: { readonly progress?: "unwatched"; readonly budget?: Agent.Limits } = {}) =>
  Effect.gen(function* () {
    const agent = Agent.make({ name: "a", instructions: "", toolkit, budget: { passes: 12 }, ...more })
    const outcome = yield* Agent.run(agent, "Go.", { runId: "r" })
    const events = yield* Shop.events("r")
    const told = events.flatMap((event) => (event._tag === "CallRepeated" ? [event] : []))
    assert.deepStrictEqual(Run.fold(events).violations, [])
    return { outcome, events, told }
  }).pipe(Effect.provide([Shop.services, handlers, LLM.layerScripted(steps)]))

/** Looks at these shelves, one in each pass, the last for ever. */
const at =
  (...shelves: ReadonlyArray<number>): LLM.Chooser =>
  ({ iteration }) =>
    LLM.call("look", { n: shelves[iteration - 1] ?? shelves.at(-1) })

describe("A run that learns nothing new", () => {
  it.effect("is told at the third time that a call came to the same, and ends at the fourth", () =>
    Effect.gen(function* () {
      const { events, outcome, told } = yield* play(at(1))
      assert.deepInclude(outcome, { status: "stopped", passes: 4 })
      assert.deepInclude(outcome.reason, { tag: "NoProgress" })
      assert.include(outcome.reason?.what, '"look" was called 4 times')
      assert.lengthOf(told, 1)
      assert.deepInclude(told[0], { iteration: 3, toolName: "look", occurrences: 3 })
      const heard = Run.fold(events).messages.filter(
        ({ origin, message }) => origin === "runtime" && message.role === "user"
      )
      assert.include(heard[0]?.message.content, "called 3 times with the same arguments")
    })
  )

  it.effect("goes on if it heeds the word, or learns something else in between", () =>
    Effect.gen(function* () {
      const heeded = yield* play((wire) => (wire.iteration > 3 ? "Done." : LLM.call("look", { n: 1 })))
      assert.deepInclude(heeded.outcome, { status: "answered" })
      // Twice the same, another shelf, twice the same again: never three times in a row without anything new.
      const varied = yield* play(at(1, 1, 2, 1, 1, 3, 1, 1, 4, 1, 1, 5))
      assert.deepInclude(varied.outcome.reason, { tag: "BudgetExceeded" })
      assert.lengthOf(varied.told, 0)
      const renewed = yield* play(at(1, 1, 1, 2, 1, 1, 3, 1, 1, 4, 1, 1))
      assert.deepInclude(renewed.outcome.reason, { tag: "BudgetExceeded" })
      assert.lengthOf(renewed.told, 1)
    })
  )

  it.effect("is not fooled by two calls that take turns, other spellings of the arguments, or a refusal", () =>
    Effect.gen(function* () {
      const turns = yield* play(at(1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2))
      assert.strictEqual(turns.outcome.reason?.tag, "NoProgress")
      const spelled = yield* play(({ iteration }) => ({
        toolCalls: [{ toolName: "look", rawArgs: `{ "n":${" ".repeat(iteration)}1 }` }]
      }))
      assert.deepInclude(spelled.outcome, { status: "stopped", passes: 4 })
      const refused = yield* play(() => LLM.call("nothing", {}))
      assert.strictEqual(refused.outcome.reason?.tag, "NoProgress")
    })
  )

  it.effect("counts the calls of one reply once: their results were not read in between", () =>
    Effect.gen(function* () {
      const { outcome, told } = yield* play((wire) =>
        wire.iteration > 2 ? "Done." : LLM.together(...[1, 2, 3].map(() => LLM.call("look", { n: 1 })))
      )
      assert.strictEqual(outcome.status, "answered")
      assert.lengthOf(told, 0)
    })
  )

  it.effect("is not looked for where a tool polls, or the agent says so", () =>
    Effect.gen(function* () {
      const polled = yield* play(() => LLM.call("poll", { n: 1 }))
      assert.deepInclude(polled.outcome.reason, { tag: "BudgetExceeded" })
      const unwatched = yield* play(at(1), { progress: "unwatched" })
      assert.deepInclude(unwatched.outcome.reason, { tag: "BudgetExceeded" })
      assert.lengthOf(unwatched.told, 0)
    })
  )

  it.effect("is closed with an answer where one was kept for", () =>
    Effect.gen(function* () {
      const { outcome } = yield* play(
        (wire) => (wire.tools.length === 0 ? "It is shelf 1." : LLM.call("look", { n: 1 })),
        { budget: { passes: 12, closing: true } }
      )
      assert.deepInclude(outcome, { status: "answered", answer: "It is shelf 1.", passes: 5 })
      assert.strictEqual(outcome.status === "answered" ? outcome.stoppedEarly?.tag : undefined, "NoProgress")
    })
  )

  it.effect("ends the same from every prefix of its record", () =>
    Effect.gen(function* () {
      const { events, outcome } = yield* play(at(1))
      const agent = Agent.make({ name: "a", instructions: "", toolkit, budget: { passes: 12 } })
      for (let length = 1; length < events.length; length++) {
        yield* Effect.gen(function* () {
          const record = yield* Record.Record
          yield* record.append("r", 0, events.slice(0, length))
          assert.deepStrictEqual(yield* Agent.resume(agent, "r"), outcome)
          // A call that may be run again is run again, and nothing else differs.
          assert.deepStrictEqual(yield* Shop.events("r"), events)
        }).pipe(Effect.provide([Shop.services, handlers, LLM.layerScripted(at(1))]))
      }
    })
  )
})
