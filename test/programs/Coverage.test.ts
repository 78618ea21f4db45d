import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Either, Schema } from "effect"
import * as Coverage from "../../src/kernel/Coverage.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Shop from "./Shop.ts"

const Find = Tool.make("find", { parameters: { what: Schema.String }, success: Schema.Unknown })
const toolkit = Toolkit.make(Find)

const absence = Either.getOrThrow(
  Coverage.absent({ what: "a lamp", checked: ["the shop"], notChecked: ["the store"], tryInstead: "ask" })
)

const run = (result: unknown, maxResultChars = 10_000) =>
  Effect.gen(function* () {
    const agent = Agent.make({ name: "finder", instructions: "Find.", toolkit, maxResultChars })
    yield* Agent.run(agent, "Find a lamp.", { runId: "r" })
    const events = yield* Shop.events("r")
    const told = events.filter(
      ({ _tag }) => _tag === "AbsenceDeclared" || _tag === "CoverageDeclared" || _tag === "ToolSettled"
    )
    const settled = events.flatMap((event) => (event._tag === "ToolSettled" ? [event.outcome] : []))
    return { told, tags: told.map(({ _tag }) => _tag), settled, state: Run.fold(events) }
  }).pipe(
    Effect.provide([
      Shop.services,
      toolkit.toLayer({ find: () => Effect.succeed(result) }),
      LLM.layerScripted((wire) =>
        wire.iteration === 1 ? LLM.call("find", { what: "lamp" }, "f") : LLM.say("None was found.")
      )
    ])
  )

describe("Coverage of a call", () => {
  it.effect("is declared before the call is settled, and is no failure", () =>
    Effect.gen(function* () {
      const { settled, state, tags } = yield* run(absence)
      assert.deepStrictEqual(tags, ["AbsenceDeclared", "ToolSettled"])
      assert.deepStrictEqual(settled, ["absent"])
      assert.deepStrictEqual(state.violations, [])
      assert.deepStrictEqual(state.coverage, [
        {
          iteration: 1,
          toolCallId: state.coverage?.[0]?.toolCallId ?? "",
          toolName: "find",
          lookedFor: "a lamp",
          tryInstead: "ask",
          checked: [{ what: "the shop" }],
          notChecked: [{ what: "the store" }],
          cannotCover: [],
          kind: "absence"
        }
      ])
    })
  )

  it.effect("is kept of a result that is too large", () =>
    Effect.gen(function* () {
      const { settled, tags } = yield* run(absence, 20)
      assert.deepStrictEqual(tags, ["AbsenceDeclared", "ToolSettled"])
      assert.deepStrictEqual(settled, ["ran-error"])
    })
  )

  it.effect("is not read out of a text", () =>
    Effect.gen(function* () {
      const { settled, state, tags } = yield* run(JSON.stringify(absence))
      assert.deepStrictEqual(tags, ["ToolSettled"])
      assert.deepStrictEqual(settled, ["ran-ok"])
      assert.isUndefined(state.coverage)
    })
  )

  it.effect("is recorded up to a bound, and what is beyond it is counted", () =>
    Effect.gen(function* () {
      const checked = ["\ud800".padEnd(3_000, "x"), ...Array.from({ length: 999 }, (_, n) => `shelf ${n}`)] as const
      const huge = Either.getOrThrow(Coverage.absent({ what: "a lamp", checked: [...checked], notChecked: ["attic"] }))
      const { state, told } = yield* run(huge, 100)
      const counted = told.flatMap((event) => (event._tag === "AbsenceDeclared" ? [event.more] : []))
      assert.deepStrictEqual(counted, [800])
      assert.deepStrictEqual(state.violations, [])
      const own = state.coverage?.[0]?.checked ?? []
      assert.lengthOf(own, 200)
      assert.strictEqual(own[0]?.what.endsWith("… 2000 more"), true)
      assert.strictEqual(own[0]?.what.startsWith("\ufffd"), true)
    })
  )
})
