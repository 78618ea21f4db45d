import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import * as Findings from "../../src/kernel/Findings.ts"
import { says, text, words } from "./FindingNotation.ts"

const entry = { toolCallId: "a", standing: "fact" }
const times = (count: number, of: unknown) => Array.from({ length: count }, () => of)
const codes = (previous: unknown) => Findings.read({ _findings: { previous } }).rejected
const code = (one: unknown) => codes([one])[0]?.code
const kept = (one: unknown) => Findings.read({ _findings: { previous: [one] } }).declared.previous[0]

describe("Findings.read", () => {
  it("takes the declaration out, and nothing else", () => {
    const args = { q: 1, _findings: { proposition: "p", predicts: "q", previous: [entry] }, z: { _findings: 2 } }
    const read = Findings.read(args)
    assert.deepStrictEqual(read.args, { q: 1, z: { _findings: 2 } })
    assert.deepStrictEqual(Object.keys(args), ["q", "_findings", "z"])
    assert.deepStrictEqual(read.declared, {
      proposition: "p",
      predicts: "q",
      previous: [{ index: 0, toolCallId: "a", standing: "fact", assertions: [] }]
    })
    assert.deepStrictEqual(read.rejected, [])
    for (const other of [{ q: 1 }, null, undefined, "x", 3, [], [{ _findings: {} }]]) {
      assert.strictEqual(Findings.read(other).args, other)
      assert.deepStrictEqual(Findings.read(other).declared, { previous: [] })
    }
  })

  it("drops what is bad, entry by entry, by name", () => {
    assert.deepStrictEqual(
      codes([5, entry, { ...entry, toolCallId: "" }, { ...entry, standing: "undeclared" }, entry]),
      [
        { index: 0, code: "not-an-object" },
        { index: 2, code: "bad-id" },
        { index: 3, code: "bad-standing" }
      ]
    )
    for (const bad of [null, 1, "x", [], true]) {
      assert.deepStrictEqual(Findings.read({ _findings: bad }), {
        args: {},
        declared: { previous: [] },
        rejected: [{ code: "not-an-object" }]
      })
      assert.strictEqual(code(bad), "not-an-object")
    }
    assert.deepStrictEqual(codes({}), [{ code: "not-an-object" }])
    for (const id of [1, null, "", "a\nb", "a\u0085b", "\u007f", "\ud800"]) {
      assert.strictEqual(code({ ...entry, toolCallId: id }), "bad-id")
    }
    const good = says("1", "price", 450)
    for (const bad of [
      5,
      {},
      { ...good, subject: "x" },
      { ...good, subject: { kind: "k" } },
      { ...good, subject: { kind: "k\t", id: "1" } },
      { ...good, subject: { kind: "k", id: "" } },
      { ...good, predicate: "a\u0000" },
      { ...good, predicate: "\udc00" },
      { ...good, value: undefined },
      { ...good, value: Number.NaN },
      { ...good, value: -0 },
      { ...good, value: "\ud800" },
      { ...good, value: [1n] }
    ])
      assert.strictEqual(code({ ...entry, assertions: [good, bad] }), "bad-assertion")
    assert.strictEqual(code({ ...entry, assertions: {} }), "bad-assertion")
    assert.strictEqual(code({ toolCallId: "a", standing: "ruled-out", line: 5 }), "bad-text")
    assert.strictEqual(code({ toolCallId: "a", standing: "open", settles: "\ud800" }), "bad-text")
    assert.deepStrictEqual(Findings.read({ _findings: { proposition: 5, predicts: "p" } }), {
      args: {},
      declared: { predicts: "p", previous: [] },
      rejected: [{ code: "bad-text" }]
    })
  })

  it("keeps within its limits, and counts what it refused", () => {
    assert.deepStrictEqual(codes(times(32, entry)), [])
    const many = Findings.read({ _findings: { previous: times(40, entry) } })
    assert.deepStrictEqual(many.rejected, [{ index: 32, code: "too-many", count: 8 }])
    assert.strictEqual(many.declared.previous.length, 32)
    const good = says("1", "price", 450)
    assert.isUndefined(code({ ...entry, assertions: times(16, good) }))
    assert.strictEqual(code({ ...entry, assertions: times(17, good) }), "too-many")
    const fits = "\u{1f600}".repeat(2_000)
    const long = "x".repeat(2_001)
    const field = (text: string): ReadonlyArray<unknown> => [
      { ...entry, toolCallId: text },
      { toolCallId: "a", standing: "open", settles: text },
      { toolCallId: "a", standing: "ruled-out", line: text },
      { ...entry, assertions: [says(text, "p", 1)] },
      { ...entry, assertions: [says("1", "p", 1, text)] },
      { ...entry, assertions: [says("1", text, 1)] },
      { ...entry, assertions: [says("1", "p", text)] }
    ]
    for (const one of field(fits)) assert.isUndefined(code(one))
    for (const one of field(long)) assert.strictEqual(code(one), "too-long")
    assert.strictEqual(code({ ...entry, assertions: [says("1", "p", [long])] }), "too-long")
    assert.deepStrictEqual(Findings.read({ _findings: { proposition: long } }).rejected, [{ code: "too-long" }])
  })

  it("keeps of an entry what its standing has a use for", () => {
    const all = { toolCallId: "a", assertions: [says("1", "p", 1)], line: "l", settles: "s" }
    const { assertions, line, settles } = all
    assert.deepStrictEqual(
      ["fact", "open", "ruled-out", "noise"].map((standing) => kept({ ...all, standing })),
      [
        { index: 0, toolCallId: "a", standing: "fact", assertions },
        { index: 0, toolCallId: "a", standing: "open", assertions, settles },
        { index: 0, toolCallId: "a", standing: "ruled-out", assertions: [], line },
        { index: 0, toolCallId: "a", standing: "noise", assertions: [] }
      ]
    )
    assert.deepStrictEqual(
      kept({ toolCallId: "a", standing: "ruled-out", line: "" }),
      kept({ ...entry, standing: "ruled-out" })
    )
    assert.deepStrictEqual(kept({ ...entry, assertions: null }), kept(entry))
  })

  it("changes no argument, whatever is declared", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.dictionary(text, FastCheck.jsonValue()),
        FastCheck.anything(),
        (args, declaration) => {
          const { _findings, ...plain } = args
          const read = Findings.read({ ...plain, _findings: declaration })
          assert.deepStrictEqual(read.args, plain)
          for (const { index } of read.declared.previous) assert.isBelow(index, 32)
        }
      )
    )
  })

  it("makes rows that fit their schema of whatever it accepts", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.array(FastCheck.record({ toolCallId: text, standing: words, line: text, settles: text })),
        (previous) => {
          const { declared } = Findings.read({ _findings: { previous } })
          const place = { seq: 3, rowCount: 3, iteration: 1, declaredOn: "answer", results: [] } as const
          const { rows } = Findings.file(declared, [], place)
          assert.strictEqual(rows.length, declared.previous.length)
          assert.deepStrictEqual(
            rows.map(({ seq }) => seq),
            rows.map((_, at) => at + 3)
          )
          for (const row of rows) assert.isTrue(Schema.is(Findings.Row)(row))
        }
      )
    )
  })
})

describe("Findings.offerIn", () => {
  const plain = { type: "object", properties: { q: { type: "string" } }, required: ["q"], additionalProperties: false }

  it("adds one optional argument, the same to every tool", () => {
    const offered = Either.getOrThrow(Findings.offerIn(plain))
    assert.deepStrictEqual(offered, { ...plain, properties: { ...plain.properties, _findings: Findings.schema } })
    assert.isTrue(Either.isRight(Findings.offerIn({ type: "object" })))
    assert.deepStrictEqual(plain.properties, { q: { type: "string" } })
    assert.notMatch(JSON.stringify(Findings.schema), /call-|toolu_/)
  })

  it("says that a schema owns the name, or does not list its arguments", () => {
    const owned = { properties: { _findings: {} } }
    for (const one of [
      { ...plain, ...owned },
      { ...plain, required: ["_findings"] },
      { ...plain, allOf: [owned] },
      { ...plain, anyOf: [{}, { oneOf: [owned] }] },
      { $ref: "#/$defs/A", $defs: { A: owned } }
    ])
      assert.deepStrictEqual(Findings.offerIn(one), Either.left("owned"))
    for (const one of [
      null,
      true,
      "x",
      [],
      {},
      { type: "string" },
      { type: "object", properties: 1 },
      { anyOf: [plain] }
    ])
      assert.deepStrictEqual(Findings.offerIn(one), Either.left("unlisted"))
    assert.isTrue(Either.isRight(Findings.offerIn({ ...plain, description: "_findings" })))
    assert.deepStrictEqual(Findings.offerIn(Either.getOrThrow(Findings.offerIn(plain))), Either.left("owned"))
  })
})
