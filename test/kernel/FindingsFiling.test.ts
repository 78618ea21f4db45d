import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Findings from "../../src/kernel/Findings.ts"
import { result, says, standing, words } from "./FindingNotation.ts"

const ran = (toolCallId: string, served: string, more: Partial<Findings.Result> = {}): Findings.Result => ({
  toolCallId,
  toolName: "search",
  values: Findings.valuesOf(served),
  ...more
})

const place: Findings.Place = {
  seq: 10,
  rowCount: 10,
  iteration: 2,
  declaredOn: { toolCallId: "later" },
  results: [ran("a", '{"price":4500,"flight":"BA-117"}', { ref: "art_1" }), ran("b", "nothing")]
}

const declare = (previous: unknown, more: object = {}) => Findings.read({ _findings: { previous, ...more } }).declared
const file = (previous: unknown, served = ["a", "b"], at: Partial<Findings.Place> = {}) =>
  Findings.file(declare(previous), served, { ...place, ...at })

describe("Findings.file", () => {
  it("files a basis and a standing each, in order", () => {
    const declared = declare([{ toolCallId: "a", standing: "noise" }], { proposition: "p", predicts: "q" })
    const common = { iteration: 2 }
    const noise = {
      kind: "standing",
      toolCallId: "a",
      standing: "noise",
      assertions: [],
      toolName: "search",
      ref: "art_1"
    }
    assert.deepStrictEqual<unknown>(Findings.file(declared, ["a"], place), {
      rows: [
        { kind: "basis", seq: 10, ...common, toolCallId: "later", proposition: "p", predicts: "q" },
        { ...noise, seq: 11, ...common, declaredOn: { toolCallId: "later" } }
      ],
      unsettled: [],
      rejected: []
    })
    const onAnswer = Findings.file(declared, ["a"], { ...place, declaredOn: "answer" })
    assert.deepStrictEqual(
      onAnswer.rows.map(({ kind }) => kind),
      ["standing"]
    )
    assert.deepStrictEqual(Findings.file(declare([]), ["a"], place).rows, [])
  })

  it("marks an id that was not served on the wire it answers", () => {
    const known = (previous: unknown, served?: ReadonlyArray<string>) =>
      file(previous, served === undefined ? undefined : [...served]).rows.map((row) =>
        row.kind === "standing" ? [row.toolCallId, row.unknownId, row.toolName, row.ref] : []
      )
    const noise = (toolCallId: string) => [{ toolCallId, standing: "noise" }]
    assert.deepStrictEqual(known(noise("a")), [["a", undefined, "search", "art_1"]])
    assert.deepStrictEqual(known(noise("b"), ["a"]), [["b", true, undefined, undefined]])
    assert.deepStrictEqual(known(noise("zzz"), ["zzz"]), [["zzz", true, undefined, undefined]])
  })

  it("takes a handle for the call id", () => {
    FastCheck.assert(
      FastCheck.property(words, FastCheck.nat({ max: 1 }), (standing, at) => {
        const id = ["a", "b"][at]
        assert.deepStrictEqual(file([{ toolCallId: `r${at + 1}`, standing }]), file([{ toolCallId: id, standing }]))
      })
    )
    const { rows } = file([{ toolCallId: "r3", standing: "noise" }], ["a", "b", "r3"], {
      results: [...place.results.slice(0, 1), ran("r3", "x")]
    })
    assert.deepInclude(rows[0], { toolCallId: "r3", unknownId: true })
    const taken = file([{ toolCallId: "r1", standing: "noise" }], ["a", "r1"], {
      results: [...place.results, ran("r1", "x")]
    })
    assert.strictEqual(taken.rows[0]?.toolCallId, "a")
    const like = file([{ toolCallId: "r01", standing: "noise" }], ["r01"], { results: [ran("r01", "x")] })
    assert.notProperty(like.rows[0], "unknownId")
  })

  it("detects what a fact says that is not in its result", () => {
    const unechoed = (standing: string, ...assertions: ReadonlyArray<Findings.Assertion>) =>
      file([{ toolCallId: "a", standing, assertions }]).rows.flatMap((row) =>
        row.kind === "standing" ? (row.unechoed ?? []) : []
      )
    const wrong = says("1", "price", "4501 EUR")
    assert.deepStrictEqual(unechoed("fact", says("1", "price", "$4,500"), says("1", "of", { x: ["BA-117"] }), wrong), [
      wrong
    ])
    assert.deepStrictEqual(unechoed("fact", says("1", "n", 4500), says("1", "name", "no data"), says("1", "n", 12)), [])
    assert.deepStrictEqual(unechoed("open", wrong), [])
    const [row] = file([{ toolCallId: "a", standing: "fact", assertions: [wrong] }], []).rows
    assert.isFalse(row !== undefined && "unechoed" in row)
    assert.isTrue(Findings.valuesOf('{"price":4500}').has("4500"))
    assert.isTrue(Findings.valuesOf('note\n{"price":4500}').has("4500"))
  })

  it("files what a ruled-out absence left open", () => {
    const absence: Findings.Limits = { notChecked: [{ what: "trains" }], tryInstead: "ask" }
    const results = [ran("a", "", { absence }), ran("b", "", { absence: {} }), ran("c", "")]
    const all = ["a", "b", "c"].map((toolCallId) => ({ toolCallId, standing: "ruled-out" }))
    const { rows, unsettled } = file(all, ["a", "b", "c"], { results })
    assert.strictEqual(rows.length, 3)
    assert.deepStrictEqual(unsettled, [
      { kind: "unsettled", seq: 13, iteration: 2, toolCallId: "a", ...absence },
      { kind: "unsettled", seq: 14, iteration: 2, toolCallId: "b" }
    ])
    assert.deepStrictEqual(file(all, [], { results }).unsettled, [])
    assert.deepStrictEqual(file([{ toolCallId: "a", standing: "noise" }], ["a"], { results }).unsettled, [])
  })

  it("files no more than a ledger holds", () => {
    const two = [1, 2].map(() => ({ toolCallId: "a", standing: "noise" }))
    const full = file(two, ["a"], { rowCount: 4_095 })
    assert.strictEqual(full.rows.length, 1)
    assert.deepStrictEqual(full.rejected, [{ index: 1, code: "ledger-full" }])
    const basis = Findings.file(declare([], { proposition: "p" }), [], { ...place, rowCount: 4_096 })
    assert.deepStrictEqual(basis, { rows: [], unsettled: [], rejected: [{ code: "ledger-full" }] })
    const left = file([{ toolCallId: "a", standing: "ruled-out" }], ["a"], {
      rowCount: 4_095,
      results: [ran("a", "", { absence: {} })]
    })
    assert.deepStrictEqual([left.rows.length, left.unsettled, left.rejected], [1, [], [{ code: "ledger-full" }]])
  })
})

describe("Findings.contingent", () => {
  const results = [ran("one", "code ZX-900 and 77777"), ran("two", '["ZX-900"]'), ran("three", "55555")]
  const use = (rows: ReadonlyArray<Findings.Row>, more: Partial<Findings.Use> = {}): Findings.Use => ({
    ...place,
    results,
    fold: Findings.fold(rows),
    ...more
  })
  const carriers = (rows: ReadonlyArray<Findings.Row>, more?: Partial<Findings.Use>) =>
    Findings.contingent({ code: "ZX-900" }, use(rows, more)).rows.map((row) =>
      row.carriers.map(({ toolCallId, standing }) => `${toolCallId}:${standing}`)
    )

  it("is filed iff every source has a standing, and none is a fact", () => {
    const both = (one: Findings.StandingWord, two: Findings.StandingWord) => [
      standing("one", one),
      standing("two", two)
    ]
    assert.deepStrictEqual(carriers([]), [])
    assert.deepStrictEqual(carriers([standing("one", "open")]), [])
    assert.deepStrictEqual(carriers(both("open", "fact")), [])
    assert.deepStrictEqual(carriers(both("fact", "fact")), [])
    for (const word of ["open", "ruled-out", "noise"] as const) {
      assert.deepStrictEqual(carriers(both(word, "open")), [[`one:${word}`, "two:open"]])
    }
    assert.deepStrictEqual(carriers([standing("one", "open"), standing("two", "open", { unknownId: true })]), [])
    assert.deepStrictEqual(carriers(both("open", "open"), { isExempt: (value) => value === "zx-900" }), [])
    assert.deepStrictEqual(carriers(both("open", "open"), { options: { exempt: [/zx-900/] } }), [])
    assert.deepStrictEqual(Findings.contingent("nobody said QQ-123", use(both("open", "open"))).rows, [])
  })

  it("files a row a value, in order of appearance", () => {
    const open = ["one", "two", "three"].map((id) => standing(id, "open"))
    const { rows } = Findings.contingent("55555, then 77,777 and 55555 again", use(open, { declaredOn: "answer" }))
    assert.deepStrictEqual(
      rows.map(({ declaredOn, seq, value }) => [seq, value, declaredOn]),
      [
        [10, "55555", "answer"],
        [11, "77777", "answer"]
      ]
    )
  })

  it("files 64 a use, and counts the rest", () => {
    const many = Array.from({ length: 10_000 }, (_, at) => String(100_000 + at))
    const of = use([standing("many", "open")], { results: [ran("many", many.join(" "))] })
    const { overflow, rows } = Findings.contingent(many.join(" "), of)
    assert.strictEqual(rows.length, 64)
    assert.strictEqual(overflow, 9_936)
    assert.strictEqual(Findings.contingent(many.join(" "), { ...of, rowCount: 4_090 }).rows.length, 6)
  })
})

describe("Findings.label", () => {
  it("puts the handle before each result, also before a ticket", () => {
    const handles = Findings.handles(["a", "b", "a"])
    assert.deepStrictEqual(Array.from(handles.ofId), [
      ["a", "r1"],
      ["b", "r2"]
    ])
    assert.deepStrictEqual(Findings.resolve(handles, "r3"), { id: "a", isKnown: true })
    const messages = [result("a"), result("b", "text"), result("b", "no", "refused"), result("z")]
    const ticket = Findings.collapse(messages, [standing("a", "noise")])
    const labelled = Findings.label(ticket, handles)
    assert.deepStrictEqual(
      labelled.map(({ content }) => content),
      ['r1\n{"collapsed":true,"standing":"noise","toolCallId":"a"}', "r2\ntext", "no", "x".repeat(200)]
    )
    assert.strictEqual(labelled[3], messages[3])
    assert.strictEqual(Findings.label(messages, Findings.handles([])), messages)
  })
})
