import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Findings from "../../src/kernel/Findings.ts"
import * as Json from "../../src/kernel/Json.ts"
import { basis, contingent, numbered, rows, says, standing, unsettled } from "./FindingNotation.ts"
import * as FindingParser from "./FindingParser.ts"

const body = (rows: ReadonlyArray<Findings.Row>, served?: ReadonlyArray<string>, ask?: Findings.Ask) =>
  Findings.piece(numbered(rows), served, ask)?.rawContent.split("\n\n").slice(1, -1).join("\n\n")

const ref = `art_${"A".repeat(22)}`

/** What the lines of a piece say, by the rows alone. */
const expected = (rows: ReadonlyArray<Findings.Row>, served: ReadonlyArray<string>) => {
  const fold = Findings.fold(rows)
  const now = Array.from(fold.standingOf.values())
  const of = (word: Findings.StandingWord) => now.filter(({ standing }) => standing === word)
  const tested = (row: Findings.Standing) => {
    const last = rows.findLast((one) => one.kind === "basis" && one.toolCallId === row.toolCallId)
    return last?.kind === "basis" ? last.proposition : undefined
  }
  const from = (row: Findings.Standing) => ({
    id: row.toolCallId,
    ref: row.ref === ref ? ref : undefined,
    unknownId: row.unknownId === true
  })
  const said = ({ predicate, subject: { id, kind }, value }: Findings.Assertion) => ({
    kind,
    id,
    predicate,
    value:
      typeof value === "string"
        ? { string: value }
        : typeof value === "object" && value !== null
          ? { json: JSON.parse(JSON.stringify(value)) as unknown }
          : { scalar: value }
  })
  const each = (row: Findings.Standing) => (row.assertions.length === 0 ? [undefined] : row.assertions)
  const items = (id: string, key: string, items: ReadonlyArray<Findings.Item> = []) =>
    items.map(({ what, why }) => ({ kind: "item", id, key, what, why }))
  const count = (kind: string, ids: ReadonlyArray<string>) =>
    ids.length === 0 ? [] : [{ kind, count: ids.length, ids, more: 0 }]
  return [
    ...of("fact").flatMap((row) =>
      each(row).map((one) => ({
        kind: "fact",
        said: one && said(one),
        from: from(row),
        unechoed:
          one !== undefined && row.unechoed?.some((other) => JSON.stringify(other) === JSON.stringify(one)) === true
      }))
    ),
    ...fold.conflicts.map(({ assertions, key: [kind, id, predicate] }) => ({
      kind: "conflict",
      key: { kind, id, predicate },
      from: assertions.map(({ row }) => from(row)),
      more: 0
    })),
    ...of("ruled-out").map((row) => ({
      kind: "ruled-out",
      toolName: row.toolName,
      from: from(row),
      line: row.line,
      tested: tested(row)
    })),
    ...of("open").flatMap((row) =>
      each(row).map((one) => ({
        kind: "open",
        said: one && said(one),
        from: from(row),
        settles: row.settles,
        tested: tested(row)
      }))
    ),
    ...of("open").flatMap(({ settles, toolCallId: id }) =>
      settles === undefined ? [] : [{ kind: "step", settles, id }]
    ),
    ...rows.flatMap((row) =>
      row.kind === "contingent"
        ? [
            {
              kind: "use",
              call: row.declaredOn === "answer" ? undefined : row.declaredOn.toolCallId,
              used: row.value,
              carriers: row.carriers.map(({ standing, toolCallId: id }) => ({ id, standing })),
              more: 0
            }
          ]
        : []
    ),
    ...Array.from(fold.unsettled.values()).flatMap(({ cannotCover, notChecked, toolCallId: id, tryInstead }) => [
      { kind: "absence", id },
      ...items(id, "not_checked", notChecked),
      ...items(id, "cannot_cover", cannotCover),
      ...items(id, "try_instead", tryInstead === undefined ? [] : [{ what: tryInstead }])
    ]),
    ...count(
      "noise",
      of("noise").map(({ toolCallId }) => toolCallId)
    ),
    ...count("undeclared", Findings.undeclared(served, fold))
  ]
}

const isCut = (value: object): value is FindingParser.Cut => "cut" in value && "text" in value

/** The expected data, as far as a line has room for it: a text may be the start of what it was, by an exact count. */
const agree = (found: unknown, wanted: unknown): unknown => {
  if (typeof found !== "object" || found === null) return found
  if (isCut(found)) {
    const text =
      typeof wanted === "string"
        ? wanted
        : Json.canonical(wanted).pipe((either) => ("right" in either ? either.right : ""))
    const points = Array.from(text)
    const start = points.slice(0, points.length - found.cut).join("")
    return start === found.text ? wanted : found
  }
  const inside = typeof wanted === "object" && wanted !== null ? new Map(Object.entries(wanted)) : new Map()
  if (Array.isArray(found)) {
    const list = found.map((one, at) => agree(one, inside.get(String(at))))
    const more = Array.isArray(wanted) ? wanted.slice(list.length) : []
    return [...list, ...more]
  }
  return Object.fromEntries(
    Object.entries(found).map(([key, one]) => [key, key === "more" ? 0 : agree(one, inside.get(key))])
  )
}

describe("Findings.piece", () => {
  it("says, section by section, what was declared and what follows", () => {
    const rows = [
      basis("a", "BA flies direct"),
      standing("a", "fact", { ref, assertions: [says("BA-1", "price", 450), says("BA-1", "stops", "0")] }),
      standing("b", "fact", {
        unknownId: true,
        ref: "art_short",
        assertions: [says("BA-1", "price", "451 EUR")],
        unechoed: [says("BA-1", "price", "451 EUR")]
      }),
      standing("c", "fact"),
      basis("d", "replaced"),
      basis("d", "no trains"),
      standing("d", "ruled-out", { toolName: "search", line: "no\ntrains" }),
      standing("e", "open", { settles: "ask the airline", assertions: [says("BA-1", "seats", { left: 3 })] }),
      standing("f", "open"),
      contingent("zx-900", { toolCallId: "e", standing: "open" }, { toolCallId: "g", standing: "noise" }),
      unsettled("d", { notChecked: [{ what: "buses", why: "no data" }], tryInstead: "the operator" }),
      standing("g", "noise")
    ]
    assert.strictEqual(
      body(rows, ["a", "x", "y"], "quote-facts"),
      `facts, as declared by the model:
- flight/BA-1 · price = 450 ← tool:a | artifact:${ref}
- flight/BA-1 · stops = "0" ← tool:a | artifact:${ref}
- flight/BA-1 · price = "451 EUR" ← tool:b (unknown id) [value not in that result]
- a fact without assertions ← tool:c

limitations, as declared by the model:
- conflict on flight/BA-1 · price: tool:a | artifact:${ref} vs tool:b (unknown id)
- ruled out (search, tool:d): "no\\ntrains" — tested: "no trains"

evidenceRefs, as declared by the model:
- flight/BA-1 · seats = json "{\\"left\\":3}" ← tool:e — settles: "ask the airline"
- an open result ← tool:f

nextSteps, as declared by the model:
- "ask the airline" (to settle tool:e)

contingent, read off the record: the library computed that these values were used with no fact for a source:
- in the answer: "zx-900" ← tool:e (open), tool:g (noise)

unsettled, read off the record: what absences that were ruled out left open:
- tool:d was ruled out, and had been served as an absence
- tool:d not_checked: "buses" — why: "no data"
- tool:d try_instead: "the operator"

noise: 1 results (g)

undeclared: 2 results, served in full (x, y)

In the answer, quote the facts declared above that it rests on, each with its source.`
    )
    assert.strictEqual(body([standing("g", "noise")]), "noise: 1 results (g)")
    const { rawContent, ...rest } = Findings.piece(rows) ?? { rawContent: "" }
    assert.deepStrictEqual(rest, { slot: "system", source: "findings" })
    for (const word of ["fact", "limitations", "evidenceRefs", "nextSteps", "not a person's words", "never open"]) {
      assert.include(rawContent.split("\n\n")[0] ?? "", word)
    }
    assert.notInclude(rawContent, "quote the facts")
  })

  it("is nothing unless a standing was declared", () => {
    assert.isUndefined(Findings.piece(undefined, ["a"], "quote-facts"))
    FastCheck.assert(
      FastCheck.property(rows, (rows) => {
        const hasStanding = rows.some(({ kind }) => kind === "standing")
        assert.strictEqual(Findings.piece(rows, ["a"], "quote-facts") !== undefined, hasStanding)
        assert.strictEqual(Findings.fold(rows).hasStanding, hasStanding)
      })
    )
  })

  it("has the same bytes for the same rows, ids and ask, from a copy too", () => {
    FastCheck.assert(
      FastCheck.property(rows, (rows) => {
        assert.deepStrictEqual(Findings.piece(structuredClone(rows), ["a", "z"]), Findings.piece(rows, ["a", "z"]))
      })
    )
  })

  it("reads back as what the rows say, whatever texts are in them", () => {
    FastCheck.assert(
      FastCheck.property(rows, (rows) => {
        const piece = Findings.piece(rows, ["a", "z", "z y"])
        if (piece === undefined) return
        const wanted = expected(rows, ["a", "z", "z y"])
        const { lines, more } = FindingParser.parse(piece.rawContent)
        assert.deepStrictEqual(more, {})
        assert.deepStrictEqual(agree(lines, wanted), wanted)
      }),
      { numRuns: 300 }
    )
  })

  it("keeps a line within its width, cutting the longest text first", () => {
    const line = body([
      standing("d", "ruled-out", { toolName: "search", line: "\u{e0041}é".repeat(500) }),
      basis("d", "short")
    ])
    const last = line?.split("\n").at(-1) ?? ""
    assert.isAtMost(last.length, 242)
    assert.match(last, /" \(\+\d+ characters\) — tested: "short"$/)
    FastCheck.assert(
      FastCheck.property(
        FastCheck.nat({ max: 400 }),
        FastCheck.constantFrom("x", "\n", "\u{1f600}", "\u{e0041}"),
        (n, unit) => {
          const text = unit.repeat(n + 1)
          const rows = [standing("d", "open", { settles: text, assertions: [says(text, text, text, text)] })]
          const plain = /^x{1,64}$/.test(text) ? 192 : 0
          for (const one of (body(rows) ?? "").split("\n")) assert.isAtMost(one.length, 242 + plain)
        }
      )
    )
    assert.include(body([standing("d", "open", { settles: "x".repeat(150) })]), `"${"x".repeat(150)}" (to`)
    assert.include(body([standing("d", "noise"), standing("y".repeat(64), "noise")]), "y".repeat(64))
    assert.include(body([standing("y".repeat(65), "noise")]), `("${"y".repeat(64)}" (+1 characters))`)
  })

  it("states every overflow", () => {
    const many = (count: number, of: (id: string) => Findings.Row) =>
      Array.from({ length: count }, (_, at) => of(`c${at}`))
    const facts = body(many(70, (id) => standing(id, "fact")))?.split("\n")
    assert.strictEqual(facts?.length, 66)
    assert.strictEqual(facts?.at(-1), "+6 more")
    assert.strictEqual(facts?.at(1), "- a fact without assertions ← tool:c0")
    const noise = body(many(40, (id) => standing(id, "noise")))
    assert.match(noise ?? "", /^noise: 40 results \(c0, .*, c31, \+8 more\)$/)
    const uses = body([
      standing("a", "noise"),
      ...many(70, (id) => contingent(id, { toolCallId: "a", standing: "noise" }))
    ])?.split("\n")
    assert.strictEqual(uses?.[1], '- in the answer: "c6" ← tool:a (noise)')
    assert.strictEqual(uses?.[64], '- in the answer: "c69" ← tool:a (noise)')
    assert.strictEqual(uses?.[65], "+6 more")
    const clash = body(many(70, (id) => standing(id, "fact", { assertions: [says("1", "p", id)] })))?.split("\n")
    const conflict = clash?.find((line) => line.startsWith("- conflict")) ?? ""
    assert.match(conflict, /^- conflict on flight\/1 · p: tool:c0 vs tool:c1 vs .* vs \+\d+ more$/)
    assert.isAtMost(conflict.length, 242)
  })

  it("stays within its ceiling with every limit reached at once, and says so", () => {
    const long = (at: number, tag: string) => `${tag}${at}`.padEnd(64, "x")
    const words = "\u{e0041}".repeat(2_000)
    const each = (count: number, of: (at: number) => Findings.Row) => Array.from({ length: count }, (_, at) => of(at))
    const rows = numbered([
      ...each(70, (at) =>
        standing(long(at, "f"), "fact", {
          ref,
          unknownId: true,
          assertions: Array.from({ length: 16 }, (_, n) =>
            says(long(n, "i"), long(n, "p"), `${at}${words}`, long(n, "k"))
          )
        })
      ),
      ...each(70, (at) => basis(long(at, "o"), words)),
      ...each(70, (at) => basis(long(at, "r"), words)),
      ...each(70, (at) =>
        standing(long(at, "o"), "open", {
          ref,
          settles: words,
          assertions: [says(long(at, "i"), long(at, "p"), words, long(at, "k"))]
        })
      ),
      ...each(70, (at) => standing(long(at, "r"), "ruled-out", { ref, toolName: long(at, "t"), line: words })),
      ...each(70, (at) => unsettled(long(at, "r"), { notChecked: [{ what: words, why: words }] })),
      ...each(70, (at) => ({
        ...contingent(words, { toolCallId: long(at, "o"), standing: "open" }),
        declaredOn: { toolCallId: long(at, "u") }
      })),
      ...each(70, (at) => standing(`${at}${words}`, "noise"))
    ])
    const served = Array.from({ length: 70 }, (_, at) => `${at}${words.slice(0, 400)}`)
    const text = Findings.piece(rows, served, "quote-facts")?.rawContent ?? ""
    assert.isAtMost(text.length, Findings.ceiling)
    assert.isAbove(text.length, Findings.ceiling - 2_000)
    const dropped = Number(/\((\d+) lines were left out/.exec(text)?.[1])
    assert.isAbove(dropped, 0)
    const { lines, more } = FindingParser.parse(text)
    const shown = lines.filter((line) => (line as { kind: string }).kind === "fact").length
    assert.strictEqual(shown + (more["facts, "] ?? 0), 70 * 16)
    assert.isBelow(shown, 64)
    assert.include(text, "nextSteps, ")
  })
})
