import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Assertion from "../../src/kernel/Assertion.ts"
import * as Claim from "../../src/kernel/Claim.ts"

const said = (value: unknown, rest: Partial<Assertion.Assertion> = {}): Assertion.Assertion => ({
  subject: { kind: "ticket", id: "JG7FMM" },
  predicate: "cabin",
  value,
  stratum: "asserted",
  provenance: "call_1",
  ...rest
})

const conflicts = (...assertions: ReadonlyArray<Assertion.Assertion>) => Assertion.conflictsOf(assertions).conflicts

const word = FastCheck.constantFrom("a", "b", "a:b", 'a","b', "a/b", "null", "\ud800", "__proto__")
const value = FastCheck.oneof(
  FastCheck.constantFrom<unknown>(0, 1, "1", null, "", { kind: "unknown" }, { b: 1, a: 2 }, Number.NaN),
  FastCheck.constantFrom<unknown>(Claim.known(1, "e"), Claim.unknown("r"), Claim.notApplicable("e"))
)
const assertion: FastCheck.Arbitrary<Assertion.Assertion> = FastCheck.record(
  {
    subject: FastCheck.record({ kind: word, id: word }),
    predicate: FastCheck.constantFrom("p", "q"),
    value,
    epoch: FastCheck.constantFrom("1", "null"),
    stratum: FastCheck.constantFrom("asserted" as const, "asserted" as const, "quoted" as const),
    provenance: FastCheck.constantFrom("x", "y"),
    origin: FastCheck.constantFrom("x", "y"),
    synthetic: FastCheck.constant(true as const)
  },
  { requiredKeys: ["subject", "predicate", "value", "stratum", "provenance"] }
)

describe("Assertion", () => {
  it("conflicts with what says another value of the same", () => {
    const [conflict, ...others] = conflicts(said("business"), said("economy", { provenance: "call_2" }))
    assert.isEmpty(others)
    assert.strictEqual(conflict?.key, JSON.stringify(["ticket", "JG7FMM", "cabin", null, false]))
    assert.deepStrictEqual(
      conflict?.assertions.map(({ value }) => value),
      ["business", "economy"]
    )
    assert.isEmpty(conflicts(said("business"), said("business", { provenance: "call_2" })))
  })

  it("is equal by canonical JSON", () => {
    assert.isNotEmpty(conflicts(said(1), said("1")))
    assert.isEmpty(conflicts(said({ a: 1, b: 2 }), said({ b: 2, a: 1 })))
    assert.isNotEmpty(conflicts(said(null), said(0)))
    assert.isNotEmpty(conflicts(said({ kind: "unknown" }), said({ kind: "not-applicable" })))
  })

  it("keeps every one of a conflict", () => {
    const all = [said(1), said(1, { provenance: "call_2" }), said(2), said(2)]
    assert.lengthOf(conflicts(...all)[0]?.assertions ?? [], 4)
  })

  it("keeps them in one order, whatever tells them apart", () => {
    const x = { provenance: "x" }
    const all = [
      said(2, x),
      said(1, { provenance: "y" }),
      said(1, { ...x, origin: "b" }),
      said(1, { ...x, origin: "a" }),
      said(Claim.known(1, "e"), x),
      said(1, x)
    ]
    assert.deepStrictEqual(conflicts(...all), conflicts(...all.toReversed()))
  })

  it("does not compete across epochs, and no epoch is one of its own", () => {
    assert.isEmpty(conflicts(said(1, { epoch: "1" }), said(2, { epoch: "2" }), said(3)))
    assert.isEmpty(conflicts(said(1, { epoch: "null" }), said(2)))
    assert.isNotEmpty(conflicts(said(1, { epoch: "1" }), said(2, { epoch: "1" })))
    assert.isNotEmpty(conflicts(said(1), said(2)))
  })

  it("does not compete where it is quoted, synthetic or of a predicate with several values", () => {
    assert.isEmpty(conflicts(said(1), said(2, { stratum: "quoted" })))
    assert.isEmpty(conflicts(said(1), said(2, { synthetic: true })))
    assert.isNotEmpty(conflicts(said(1, { synthetic: true }), said(2, { synthetic: true })))
    const several = { multiValued: ["cabin"] }
    assert.isEmpty(Assertion.conflictsOf([said(1), said(2)], several).conflicts)
    const gate = { predicate: "gate" }
    assert.isNotEmpty(Assertion.conflictsOf([said(1, gate), said(2, gate)], several).conflicts)
  })

  it("unwraps what is known and leaves out what is not", () => {
    assert.isEmpty(conflicts(said(1), said(Claim.known(1, "e"))))
    assert.isNotEmpty(conflicts(said(1), said(Claim.known(2, "e"))))
    for (const open of [Claim.unknown("r"), Claim.notApplicable("e"), Claim.known(Claim.unknown("r"), "e")]) {
      assert.deepStrictEqual(Assertion.conflictsOf([said(1), said(open), said(open)]), { conflicts: [], refused: [] })
    }
  })

  it("is refused with a value outside the domain, alone or in a claim", () => {
    for (const value of [-0, Number.NaN, Infinity, undefined, 1n, Symbol.iterator, () => 1, [, 1], new Map()]) {
      for (const wrong of [value, { a: value }, Claim.known(value, "e")]) {
        const { conflicts, refused } = Assertion.conflictsOf([said(1), said(wrong), said(2)])
        assert.lengthOf(conflicts, 1)
        assert.lengthOf(conflicts[0]?.assertions ?? [], 2)
        assert.deepStrictEqual(
          refused.map(({ problem }) => problem._tag),
          ["NotJson"]
        )
      }
    }
    assert.isEmpty(Assertion.conflictsOf([said(Number.NaN, { stratum: "quoted" })]).refused)
    const several = Assertion.conflictsOf([said(Number.NaN)], { multiValued: ["cabin"] })
    assert.lengthOf(several.refused, 1)
  })

  it("has the same conflicts in every order", () => {
    const shuffled = FastCheck.array(assertion, { maxLength: 12 }).chain((all) =>
      FastCheck.tuple(
        FastCheck.constant(all),
        FastCheck.shuffledSubarray(all, { minLength: all.length, maxLength: all.length })
      )
    )
    FastCheck.assert(
      FastCheck.property(shuffled, ([all, other]) => {
        const inOrder = Assertion.conflictsOf(all)
        const inOther = Assertion.conflictsOf(other)
        assert.deepStrictEqual(inOther.conflicts, inOrder.conflicts)
        assert.strictEqual(inOther.refused.length, inOrder.refused.length)
      }),
      { numRuns: 500 }
    )
  })

  it("has a conflict exactly where two of one subject, predicate and epoch differ", () => {
    FastCheck.assert(
      FastCheck.property(assertion, assertion, (one, other) => {
        const held = [one, other].map(({ value }) => Claim.unwrap(value))
        const isOut = held.some((value) => Number.isNaN(value) || Claim.is(value))
        const isSame =
          one.subject.kind === other.subject.kind &&
          one.subject.id === other.subject.id &&
          one.predicate === other.predicate &&
          one.epoch === other.epoch &&
          one.synthetic === other.synthetic &&
          one.stratum === "asserted" &&
          other.stratum === "asserted"
        const differ = JSON.stringify(held[0]) !== JSON.stringify(held[1])
        assert.strictEqual(conflicts(one, other).length === 1, isSame && !isOut && differ)
      }),
      { numRuns: 2000 }
    )
  })
})
