import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import type * as Check from "../../src/kernel/Check.ts"
import * as Claim from "../../src/kernel/Claim.ts"
import * as ClaimCheck from "../../src/kernel/ClaimCheck.ts"
import * as GroundCheck from "../../src/kernel/GroundCheck.ts"
import * as ParkCheck from "../../src/kernel/ParkCheck.ts"
import * as WireCheck from "../../src/kernel/WireCheck.ts"

const filings = ({ filings }: Check.Verdict) => filings.map(({ disposition }) => disposition)
const subjects = ({ faults }: Check.Verdict) => faults.map(({ subjects }) => subjects.map(({ id }) => id))

describe("ParkCheck", () => {
  const owned = [
    { name: "book", owners: [{ mapId: "trip", memberId: "a" }] },
    { name: "pay", owners: [{ mapId: "trip" }, { mapId: "shop" }] },
    { name: "note", owners: [{ mapId: "trip" }, { memberId: "open" }] },
    { name: "search", owners: [] }
  ]
  const judge = (parkedMapIds: ReadonlyArray<string>, listed: ReadonlyArray<string>) =>
    ParkCheck.judge({ parkedMapIds, owned, listed })

  it("fires where a tool is listed whose every owner is parked", () => {
    const verdict = judge(["trip"], ["search", "book", "pay", "note"])
    assert.deepStrictEqual(filings(verdict), ["checked-fail"])
    assert.deepStrictEqual(subjects(verdict), [["book"]])
    assert.deepInclude(verdict.faults[0], { kind: "invariant-violation", seam: "compose", witnesses: ["trip"] })
    assert.deepStrictEqual(subjects(judge(["shop", "trip"], ["book", "pay", "note"])), [["book"], ["pay"]])
  })

  it("is silent where an owner is engaged, or the tool is gone", () => {
    assert.deepStrictEqual(judge(["trip"], ["pay", "note", "search"]).faults, [])
    assert.deepStrictEqual(filings(judge(["trip"], ["pay"])), ["checked-pass"])
  })

  it("does not apply where nothing is parked", () => {
    assert.deepStrictEqual(filings(judge([], ["book", "search"])), ["not-applicable"])
    assert.deepStrictEqual(filings(judge(["shop"], ["pay", "search"])), ["not-applicable"])
  })

  it("takes owners of one name together, however they are listed", () => {
    const apart = [
      { name: "pay", owners: [{ mapId: "trip" }] },
      { name: "pay", owners: [{ mapId: "shop" }] }
    ]
    for (const mapId of ["trip", "shop"]) {
      const verdict = ParkCheck.judge({ parkedMapIds: [mapId], owned: apart, listed: ["pay"] })
      assert.deepStrictEqual(filings(verdict), ["not-applicable"])
    }
  })
})

describe("WireCheck", () => {
  it("fires once for names only on the wire, and once for names only in the frame", () => {
    const verdict = WireCheck.judge({ assembled: ["a", "b", "b", "c"], manifest: ["c", "d", "e", "d"] })
    assert.deepStrictEqual(filings(verdict), ["checked-fail"])
    assert.deepStrictEqual(subjects(verdict), [
      ["d", "e"],
      ["a", "b"]
    ])
    assert.deepStrictEqual(
      verdict.faults.map(({ predicate }) => predicate),
      ["only-on-the-wire", "only-in-the-frame"]
    )
  })

  it("is silent exactly where both are equal as sets", () => {
    const names = FastCheck.array(FastCheck.constantFrom("a", "b", "c", "__proto__"), { maxLength: 4 })
    FastCheck.assert(
      FastCheck.property(names, names, (assembled, manifest) => {
        const isSame = JSON.stringify([...new Set(assembled)].sort()) === JSON.stringify([...new Set(manifest)].sort())
        const verdict = WireCheck.judge({ assembled, manifest })
        assert.strictEqual(verdict.faults.length === 0, isSame)
        assert.deepStrictEqual(filings(verdict), [isSame ? "checked-pass" : "checked-fail"])
      })
    )
  })

  it("is unreachable without a manifest, and an empty one is a stated zero", () => {
    assert.deepStrictEqual(filings(WireCheck.judge({ assembled: [] })), ["unreachable"])
    assert.deepStrictEqual(WireCheck.judge({ assembled: ["a"] }).faults, [])
    assert.deepStrictEqual(filings(WireCheck.judge({ assembled: [], manifest: [] })), ["checked-pass"])
    assert.deepStrictEqual(filings(WireCheck.judge({ assembled: ["a"], manifest: [] })), ["checked-fail"])
  })
})

describe("GroundCheck", () => {
  const served = [{ name: "pay", argumentsFrom: ["quote", "who"] }, { name: "search" }]
  const quote = { toolName: "quote", toolCallId: "c1" }
  const again = { toolName: "quote", toolCallId: "c9" }
  const other = { toolName: "search", toolCallId: "c2" }

  it("fires where a ground was dropped and is not present", () => {
    const verdict = GroundCheck.judge({ served, dropped: [quote, other, again], present: [other] })
    assert.deepStrictEqual(filings(verdict), ["checked-fail"])
    assert.deepStrictEqual(subjects(verdict), [["pay", "quote"]])
    assert.deepInclude(verdict.faults[0], { kind: "dangling-reference", seam: "compose", witnesses: ["c1", "c9"] })
  })

  it("is silent where a ground was never dropped, or was fetched again", () => {
    const dropped = [other]
    assert.deepStrictEqual(filings(GroundCheck.judge({ served, dropped, present: [] })), ["checked-pass"])
    const verdict = GroundCheck.judge({ served, dropped: [quote], present: [again] })
    assert.deepStrictEqual(filings(verdict), ["checked-pass"])
    assert.isEmpty(verdict.faults)
  })

  it("does not apply without such a tool, or where nothing was dropped", () => {
    const bare = [{ name: "search" }]
    assert.deepStrictEqual(filings(GroundCheck.judge({ served: bare, dropped: [quote], present: [] })), [
      "not-applicable"
    ])
    assert.deepStrictEqual(filings(GroundCheck.judge({ served, dropped: [], present: [] })), ["not-applicable"])
  })

  it("tells a tool from its ground in a fault, and names each pair once", () => {
    const both = [
      { name: "a", argumentsFrom: ["b", "b"] },
      { name: "b", argumentsFrom: ["a"] }
    ]
    const dropped = [
      { toolName: "a", toolCallId: "1" },
      { toolName: "b", toolCallId: "2" }
    ]
    const { faults } = GroundCheck.judge({ served: both, dropped, present: [] })
    assert.deepStrictEqual(
      faults.map(({ subjects }) => subjects.map(({ id, kind }) => `${kind} ${id}`)),
      [
        ["tool a", "ground b"],
        ["tool b", "ground a"]
      ]
    )
  })

  it("refuses grounds that are empty, blank or the tool itself", () => {
    const flaws = (argumentsFrom?: ReadonlyArray<string>) =>
      GroundCheck.review({ name: "pay", ...(argumentsFrom === undefined ? {} : { argumentsFrom }) }).map(
        ({ where }) => where
      )
    assert.deepStrictEqual(flaws(), [])
    assert.deepStrictEqual(flaws(["quote"]), [])
    assert.deepStrictEqual(flaws([]), ["/argumentsFrom"])
    assert.deepStrictEqual(flaws(["quote", " ", "pay"]), ["/argumentsFrom/1", "/argumentsFrom/2"])
  })
})

describe("ClaimCheck", () => {
  const claim: ClaimCheck.DeclaredClaim = { answerField: ["total.eur", "0"], entity: "cart", field: "total" }
  const row = (value: unknown, measuredAt?: number): ClaimCheck.ClaimLedgerRow => ({
    entity: "cart",
    field: "total",
    value,
    toolName: "price",
    toolCallId: `call of ${String(value)}`,
    iteration: 1,
    ...(measuredAt === undefined ? {} : { measuredAt })
  })
  const validated = (value: unknown) => ({ status: "validated", value: { "total.eur": [value] } }) as const
  const judge = (claimed: unknown, ...ledger: ReadonlyArray<ClaimCheck.ClaimLedgerRow>) =>
    ClaimCheck.judge({ claims: [claim], ledger, answer: validated(claimed) })
  const disposition = (verdict: Check.Verdict) => filings(verdict).join()

  it("fires where the answer says another value than was settled", () => {
    const verdict = judge(43, row(42, 5))
    assert.deepStrictEqual(verdict.filings, [{ disposition: "checked-fail" }])
    assert.deepStrictEqual(verdict.faults, [
      {
        kind: "unsupported-claim",
        seam: "claim",
        subjects: [{ kind: "entity", id: "cart" }],
        witnesses: ["call of 42"],
        predicate: "total",
        epoch: "5",
        message: "The answer says that total of cart is 43, and a tool had settled it as 42."
      }
    ])
    for (const [claimed, settled] of [
      [0, false],
      ["", 0],
      ["yes", true],
      ["true", true],
      [42, null],
      [{ kind: "unknown" }, { kind: "known" }]
    ] as const) {
      const expected = settled === null ? "unreachable" : "checked-fail"
      assert.strictEqual(disposition(judge(claimed, row(settled))), expected)
    }
  })

  it("passes where both are equal", () => {
    for (const value of [42, "x", false, { a: [1] }, { kind: "unknown", reason: "r" }]) {
      assert.strictEqual(disposition(judge(value, row(value))), "checked-pass")
      assert.strictEqual(disposition(judge(value, row(Claim.known(value, "e")))), "checked-pass")
    }
  })

  it("passes a numeric string of the number, in that direction", () => {
    for (const [text, number] of [
      ["42", 42],
      ["42.0", 42],
      ["-1.5", -1.5],
      ["1e3", 1000],
      ["9007199254740992", 9007199254740992]
    ] as const) {
      assert.strictEqual(disposition(judge(text, row(number))), "checked-pass")
      assert.strictEqual(disposition(judge(number, row(text))), "checked-fail")
    }
    for (const [text, number] of [
      ["43", 42],
      ["", 0],
      [" 42", 42],
      ["0x2a", 42],
      ["42 EUR", 42],
      ["9007199254740993", 9007199254740992]
    ] as const) {
      assert.strictEqual(disposition(judge(text, row(number))), "checked-fail")
    }
  })

  it("advises of doubt against a value, and passes doubt against doubt", () => {
    for (const doubt of [null, "unknown"]) {
      const verdict = judge(doubt, row(42))
      assert.deepStrictEqual(verdict.filings, [{ disposition: "checked-fail", advisory: true }])
      assert.deepInclude(verdict.faults[0], { advisory: true, predicate: "total" })
      for (const settled of [null, "unknown", Claim.unknown("r")]) {
        assert.deepStrictEqual(judge(doubt, row(settled)).filings, [{ disposition: "checked-pass" }])
      }
    }
  })

  it("does not apply where the field was left out, and reaches nothing that was never settled", () => {
    const none = (value: unknown) =>
      ClaimCheck.judge({ claims: [claim], ledger: [row(42)], answer: { status: "validated", value } })
    const inherited: unknown = Object.create({ "total.eur": [1] })
    const hostile = new Proxy(
      {},
      {
        getOwnPropertyDescriptor: () => {
          throw new Error("no")
        }
      }
    )
    for (const value of [{}, { total: { eur: [1] } }, { "total.eur": [] }, null, "x", 1, inherited, hostile]) {
      assert.strictEqual(disposition(none(value)), "not-applicable")
    }
    assert.strictEqual(disposition(judge(undefined, row(42))), "not-applicable")
    assert.strictEqual(disposition(judge(42)), "unreachable")
    assert.strictEqual(disposition(judge(42, { ...row(42), entity: "cart2" })), "unreachable")
    assert.strictEqual(disposition(judge(42, { ...row(42), field: "sum" })), "unreachable")
    for (const open of [null, "unknown", Claim.unknown("r"), Claim.notApplicable("e")]) {
      assert.strictEqual(disposition(judge(42, row(open))), "unreachable")
    }
    const length = { ...claim, answerField: ["total.eur", "length"] } as const
    const answer = validated(1)
    assert.strictEqual(disposition(ClaimCheck.judge({ claims: [length], ledger: [row(1)], answer })), "not-applicable")
  })

  it("says nothing of values outside the domain", () => {
    for (const value of [-0, Number.NaN, 1n, new Map()]) {
      assert.strictEqual(disposition(judge(value, row(42))), "unreachable")
      assert.strictEqual(disposition(judge(42, row(value))), "unreachable")
    }
    assert.strictEqual(disposition(judge(42, row(undefined))), "unreachable")
  })

  it("goes by the newest row, by the clock where there is one", () => {
    assert.strictEqual(disposition(judge(2, row(1), row(2))), "checked-pass")
    assert.strictEqual(disposition(judge(1, row(1), row(2))), "checked-fail")
    assert.strictEqual(disposition(judge(2, row(2, 20), row(1, 10))), "checked-pass")
    assert.strictEqual(disposition(judge(1, row(2, 20), row(1, 20))), "checked-pass")
    assert.strictEqual(disposition(judge(1, row(2, 20), row(1))), "checked-pass")
  })

  it("files one disposition a claim, whatever became of the answer", () => {
    const claims = [claim, { ...claim, answerField: ["none"], field: "tax" }] as const
    const every = (answer: ClaimCheck.Answer) => filings(ClaimCheck.judge({ claims, ledger: [row(42)], answer }))
    assert.deepStrictEqual(every(validated(42)), ["checked-pass", "not-applicable"])
    assert.deepStrictEqual(every({ status: "denied" }), ["not-applicable", "not-applicable"])
    assert.deepStrictEqual(every({ status: "rejected" }), ["unreachable", "unreachable"])
    const none = ClaimCheck.judge({ claims: [], ledger: [], answer: validated(1) })
    assert.deepStrictEqual(filings(none), ["not-applicable"])
  })

  it("refuses claims that are empty, half blank, declared twice or without a schema", () => {
    const flaws = (claims: ReadonlyArray<ClaimCheck.Declared>, hasSchema = true) =>
      ClaimCheck.review(claims, hasSchema).map(({ where }) => where)
    const other = { answerField: ["tax"], entity: "cart", field: "tax" }
    assert.deepStrictEqual(flaws([claim, other]), [])
    assert.deepStrictEqual(flaws([]), [""])
    assert.deepStrictEqual(flaws([claim], false), [""])
    assert.deepStrictEqual(flaws([claim, { ...other, field: " " }]), ["/1"])
    assert.deepStrictEqual(flaws([claim, { ...other, entity: "" }]), ["/1"])
    assert.deepStrictEqual(flaws([claim, { ...other, answerField: [] }]), ["/1"])
    assert.deepStrictEqual(flaws([claim, { ...other, answerField: ["a", ""] }]), ["/1"])
    assert.deepStrictEqual(flaws([claim, claim]), ["/1"])
    assert.deepStrictEqual(flaws([claim, { ...other, answerField: claim.answerField }]), ["/1"])
    assert.deepStrictEqual(flaws([claim, { ...other, field: claim.field }, other]), ["/1", "/2"])
    const third = { ...other, answerField: ["tax", "sum"] }
    assert.deepStrictEqual(flaws([claim, { ...other, answerField: claim.answerField }, third]), ["/1", "/2"])
    assert.deepStrictEqual(flaws([claim, { ...other, answerField: ["total.eur,0"] }]), [])
  })
})
