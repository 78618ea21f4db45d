import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Schema } from "effect"
import * as Answering from "../../src/kernel/Answering.ts"
import type * as CheckEvent from "../../src/kernel/CheckEvent.ts"
import * as Claim from "../../src/kernel/Claim.ts"
import * as Coverage from "../../src/kernel/Coverage.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Semantics from "../../src/kernel/Semantics.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Prefix from "./Prefix.ts"
import * as Shop from "./Shop.ts"

const Status = Tool.make("status", { parameters: { of: Schema.String }, success: Schema.Unknown }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Status)

const Report = Schema.Struct({
  order: Schema.Struct({
    "total.eur": Schema.NumberFromString,
    state: Schema.optional(Schema.NullOr(Schema.String)),
    currency: Schema.optionalWith(Schema.String, { default: () => "EUR" })
  })
})

const claims = [
  { answerField: ["order", "total.eur"], entity: "A-1001", field: "total" },
  { answerField: ["order", "state"], entity: "A-1001", field: "state" },
  { answerField: ["order", "currency"], entity: "A-1001", field: "currency" }
] as const

const orders = (total: unknown, state: unknown = "paid", currency = "EUR") =>
  Semantics.facts(
    [
      { id: "A-1001", total, state, currency },
      { id: "B-2002", total: 1, state: "open", currency: "USD" }
    ],
    { entity: "id" }
  )

type Options = Partial<Parameters<typeof Agent.make<(typeof toolkit)["tools"]>>[0]>

const clerk = (more: Options = {}) =>
  Agent.make({ name: "clerk", instructions: "Tell.", toolkit, answer: Report, claims, ...more })

const json = Layer.effect(
  LLM.LLM,
  Effect.map(LLM.LLM, (llm) => LLM.LLM.of({ ...llm, answers: "json" }))
)

/** A run in which a tool gives each of `results` in turn. It comes to the same from each of its prefixes. */
const play = (
  results: ReadonlyArray<unknown>,
  answer: ReadonlyArray<unknown>,
  options: Options & { readonly mode?: "tool" | "json" } = {}
) => {
  const { mode = "tool", ...more } = options
  const asks = results.map((_, at) => LLM.call("status", { of: String(at) }, `s${at}`))
  const gives = answer.map((one, at) =>
    mode === "json" ? JSON.stringify(one) : LLM.call(Answering.toolName, one, `a${at}`)
  )
  const script = LLM.layerScripted(LLM.byPass([...asks, ...gives]))
  const services = [
    Shop.services,
    toolkit.toLayer({ status: ({ of }) => Effect.succeed(results[Number(of)]) }),
    mode === "json" ? Layer.provideMerge(json, script) : script
  ] as const
  const agent = clerk(more)
  return Effect.gen(function* () {
    const { ended, events } = yield* Effect.gen(function* () {
      const ended = yield* Effect.either(Agent.run(agent, "What of my order?", { runId: "r" }))
      return { ended, events: yield* Shop.events("r") }
    }).pipe(Effect.provide(services))
    assert.deepStrictEqual(Run.fold(events).violations, [])
    for (let length = 1; length <= events.length; length++) {
      yield* Prefix.resumes(agent, { ended, events }, length).pipe(Effect.provide(services))
    }
    const filed = events.flatMap((event) => (event._tag === "ChecksFiled" ? event.rows : []))
    const faults = events.flatMap((event) => (event._tag === "FaultFound" ? [event] : []))
    return { ended, events, faults, row: filed.find(({ seam }) => seam === "claim") }
  })
}

const counts = (row: CheckEvent.CheckReport | undefined) =>
  row && [row.checked, row.findings, row.advisories, row.notApplicable, row.unreachable]

const tags = (events: ReadonlyArray<Event.Event>) => events.map(({ _tag }) => _tag)

const good = { order: { "total.eur": "1859", state: "paid" } }

describe("Claims of an answer", () => {
  it.effect("pass where they are what a tool settled, read from the decoded answer", () =>
    Effect.gen(function* () {
      for (const mode of ["tool", "json"] as const) {
        const { events, faults, row } = yield* play([orders(1859)], [good], { mode })
        assert.deepStrictEqual(counts(row), [3, 0, 0, 0, 0], mode)
        assert.isEmpty(faults)
        const read = events.flatMap((event) => (event._tag === "ClaimsRead" ? [event.values] : []))
        assert.deepStrictEqual(read, [[{ value: 1859 }, { value: "paid" }, { value: "EUR" }]])
        const settled = events.flatMap((event) => (event._tag === "SemanticsDeclared" ? [event] : []))
        assert.deepStrictEqual(settled, [
          {
            _tag: "SemanticsDeclared",
            iteration: 1,
            toolCallId: "s0",
            toolName: "status",
            rows: [
              { entity: "A-1001", field: "total", value: 1859 },
              { entity: "A-1001", field: "state", value: "paid" },
              { entity: "A-1001", field: "currency", value: "EUR" }
            ]
          }
        ])
        const order = tags(events)
        assert.isBelow(order.indexOf("SemanticsDeclared"), order.indexOf("ToolSettled"))
        assert.isBelow(order.indexOf("ClaimsRead"), order.indexOf("Answered"))
      }
    })
  )

  it.effect("are a fault where a tool settled something else, and the answer is given as it is", () =>
    Effect.gen(function* () {
      const { ended, events, faults, row } = yield* play([orders(1860, "open", "USD")], [good])
      assert.deepStrictEqual(counts(row), [3, 3, 0, 0, 0])
      assert.deepStrictEqual(
        faults.map(({ kind, message, predicate, seam, witnesses }) => [kind, seam, predicate, witnesses, message]),
        [
          ["total", "1859", "1860"],
          ["state", '"paid"', '"open"'],
          ["currency", '"EUR"', '"USD"']
        ].map(([field, claimed, settled]) => [
          "unsupported-claim",
          "claim",
          field,
          ["s0"],
          `The answer says that ${field} of A-1001 is ${claimed}, and a tool had settled it as ${settled}.`
        ])
      )
      assert.strictEqual(Either.isRight(ended) && ended.right.status, "answered")
      assert.deepStrictEqual(tags(events).slice(-6), [
        "Answered",
        "FaultFound",
        "FaultFound",
        "FaultFound",
        "ChecksFiled",
        "RunEnded"
      ])
    })
  )

  it.effect("are compared with the newest that was settled, by the clock of the points where there is one", () =>
    Effect.gen(function* () {
      const history = yield* play([orders(1), orders(1859)], [good])
      assert.deepStrictEqual(counts(history.row), [3, 0, 0, 0, 0])
      const points = Semantics.series(
        [
          { at: 2_000, value: 1859 },
          { at: 1_000, value: 7 }
        ],
        { entity: "A-1001", metric: "total" }
      )
      const series = yield* play([points], [good])
      assert.deepStrictEqual(counts(series.row), [1, 0, 0, 0, 2])
    })
  )

  it.effect("are left open by what was left out, was never settled, or is in doubt", () =>
    Effect.gen(function* () {
      const bare = yield* play(["nothing of use"], [{ order: { "total.eur": "1859" } }])
      assert.deepStrictEqual(counts(bare.row), [0, 0, 0, 1, 2])
      const doubt = yield* play([orders(1859, Claim.unknown("not asked"))], [good])
      assert.deepStrictEqual(counts(doubt.row), [2, 0, 0, 0, 1])
      const doubting = yield* play([orders(1859)], [{ order: { "total.eur": "1859", state: null } }])
      assert.deepStrictEqual(counts(doubting.row), [3, 0, 1, 0, 0])
      assert.deepStrictEqual(
        doubting.faults.map(({ advisory }) => advisory),
        [true]
      )
    })
  )

  it.effect("are nobody's where no answer was given, and are unread where the schema took none", () =>
    Effect.gen(function* () {
      const stopped = yield* play([orders(1859)], [good], { budget: { passes: 1 } })
      assert.deepStrictEqual(counts(stopped.row), [0, 0, 0, 3, 0])
      const bad = { order: {} }
      const rejected = yield* play([orders(1859)], [bad, bad, bad])
      assert.strictEqual(Either.isLeft(rejected.ended) && rejected.ended.left._tag, "AnswerInvalid")
      assert.deepStrictEqual(counts(rejected.row), [0, 0, 0, 0, 3])
      const refused = yield* play([orders(1859)], [{ order: { "total.eur": "9999", state: "9999" } }], {
        grounding: { posture: "rails" },
        budget: { passes: 2 }
      })
      assert.strictEqual(Either.isLeft(refused.ended), true)
      assert.deepStrictEqual(counts(refused.row), [0, 0, 0, 3, 0])
      assert.isEmpty(refused.faults)
      const late = yield* play([orders(1859)], [bad, { order: { "total.eur": "9999", state: "9999" } }], {
        grounding: { posture: "rails" },
        budget: { passes: 3 }
      })
      assert.deepStrictEqual(counts(late.row), [0, 0, 0, 3, 0])
    })
  )

  it.effect("are read as they were written where the schema makes of them what is no JSON", () =>
    Effect.gen(function* () {
      const dated = Agent.make({
        name: "clerk",
        instructions: "Tell.",
        toolkit,
        answer: Schema.Struct({ due: Schema.Date }),
        claims: [{ answerField: ["due"], entity: "A", field: "due" }]
      })
      const due = "2026-01-01T00:00:00.000Z"
      const given = LLM.call(Answering.toolName, { due }, "a")
      const outcome = yield* Agent.run(dated, "When?", { runId: "d" }).pipe(
        Effect.provide([
          toolkit.toLayer({ status: () => Effect.succeed(Semantics.facts([{ id: "A", due }], { entity: "id" })) }),
          LLM.layerScripted(LLM.byPass([LLM.call("status", { of: "A" }, "s"), given]))
        ])
      )
      assert.deepStrictEqual(outcome.value, { due: new Date(due) })
      const filed = (yield* Shop.events("d")).flatMap((event) => (event._tag === "ChecksFiled" ? event.rows : []))
      assert.deepStrictEqual(counts(filed.find(({ seam }) => seam === "claim")), [1, 0, 0, 0, 0])
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("are settled beside a boundary, and by a result that is too large to be served", () =>
    Effect.gen(function* () {
      const covered = Either.getOrThrow(Coverage.coverage(orders(1), { checked: ["the shop"] }))
      const both = yield* play([covered], [good])
      assert.deepStrictEqual(counts(both.row), [3, 1, 0, 0, 0])
      const large = yield* play([orders(1)], [good], { maxResultChars: 100 })
      assert.deepStrictEqual(counts(large.row), [3, 1, 0, 0, 0])
    })
  )

  it.effect("are not looked for in an agent that claims nothing", () =>
    Effect.gen(function* () {
      const plain = Agent.make({ name: "clerk", instructions: "Tell.", toolkit, answer: Report })
      yield* Agent.run(plain, "What?", { runId: "p" })
      const events = yield* Shop.events("p")
      assert.notInclude(tags(events), "SemanticsDeclared")
      assert.notInclude(tags(events), "ClaimsRead")
      const rows = events.flatMap((event) => (event._tag === "ChecksFiled" ? event.rows : []))
      assert.deepStrictEqual(counts(rows.find(({ seam }) => seam === "claim")), [0, 0, 0, 1, 0])
    }).pipe(
      Effect.provide([
        Shop.services,
        toolkit.toLayer({ status: () => Effect.succeed(orders(1)) }),
        LLM.layerScripted(LLM.byPass([LLM.call("status", { of: "0" }, "s"), LLM.call(Answering.toolName, good, "a")]))
      ])
    )
  )

  it("are reviewed with the agent", () => {
    const of = (more: object) =>
      Agent.make({ name: "clerk", instructions: "Tell.", answer: Report, ...more }).problems.join("\n")
    assert.strictEqual(of({ claims }), "")
    assert.match(of({ claims: [] }), /^claims: No claim is declared\./)
    assert.match(of({ claims: [claims[0], claims[0]] }), /^claims at \/1: It is declared already\./)
    assert.match(of({ claims: [{ answerField: [" "], entity: "a", field: "b" }] }), /^claims at \/0: A part/)
    const unread = Agent.make({ name: "clerk", instructions: "Tell.", claims })
    assert.match(unread.problems.join("\n"), /^claims: The agent has no answer schema\./)
  })
})

describe("Semantics", () => {
  it("are read from what `facts` and `series` make, and from nothing that looks like it", () => {
    const fact = orders(1).rows[0] ?? {}
    assert.deepStrictEqual(
      Semantics.read({ wherefore_facts: { entity: "id" }, rows: [{ id: 7, a: 1 }, { id: "x" }] }),
      [{ entity: "7", field: "a", value: 1 }]
    )
    for (const data of [
      undefined,
      "text",
      { rows: [fact] },
      { wherefore_facts: { entity: "" }, rows: [fact] },
      { wherefore_facts: { entity: "nobody" }, rows: [fact] },
      { wherefore_facts: { entity: "id" }, rows: [{ id: " " }] },
      { wherefore_series: { entity: "a", metric: "b" }, points: [{ at: "now", value: 1 }] }
    ]) {
      assert.deepStrictEqual(Semantics.read(data), [])
    }
  })

  it("say in a tool's success which row names nobody", () => {
    const wrong = { wherefore_facts: { entity: "id" }, rows: [{ id: "a" }, { name: "b" }] }
    const error = Either.getOrThrow(Either.flip(Schema.validateEither(Semantics.Facts)(wrong)))
    assert.include(error.message, '["rows"][1]["id"]')
  })

  it("keep the newest of too much, and say of a value that is too long that it is not kept", () => {
    const claim = [{ answerField: ["a"], entity: "e", field: "f" }] as const
    const many = Array.from({ length: 1_200 }, (_, n) => ({ entity: "e", field: n % 2 === 0 ? "f" : "g", value: n }))
    assert.lengthOf(Semantics.claimed(many, claim), 600)
    const most = Semantics.claimed([...many, ...many, ...many], claim)
    assert.deepStrictEqual([most.length, most.at(-1)?.value], [1_000, 1_198])
    const [long] = Semantics.claimed([{ entity: "e", field: "f", value: "x".repeat(5_000) }], claim)
    assert.deepStrictEqual(long?.value, Claim.unknown("it is too long for the record"))
  })
})
