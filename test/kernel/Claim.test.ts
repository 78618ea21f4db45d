import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Claim from "../../src/kernel/Claim.ts"

const claim = FastCheck.oneof(
  FastCheck.tuple(FastCheck.jsonValue({ noUnicodeString: false }), FastCheck.string()).map(([value, evidence]) =>
    Claim.known(value, evidence)
  ),
  FastCheck.tuple(FastCheck.string(), FastCheck.option(FastCheck.string(), { nil: undefined })).map(
    ([reason, evidence]) => Claim.unknown(reason, evidence)
  ),
  FastCheck.string().map(Claim.notApplicable)
)

describe("Claim", () => {
  it("survives a round trip and a structured clone as the claim it was", () => {
    FastCheck.assert(
      FastCheck.property(claim, (claim) => {
        FastCheck.pre(Claim.is(claim))
        assert.deepStrictEqual(structuredClone(claim), claim)
        assert.isTrue(Claim.is(JSON.parse(JSON.stringify(claim))))
      })
    )
    assert.isTrue(Claim.is(Claim.known(0, "e")))
    assert.isTrue(Claim.is(Claim.unknown("not measured")))
    assert.isTrue(Claim.is(Claim.notApplicable("e")))
  })

  it("is never taken for one by the names of other fields", () => {
    for (const data of [
      { kind: "unknown", reason: "r" },
      { kind: "known", value: 1, evidence: "e" },
      { _tag: "known", value: 1, evidence: "e" },
      { wherefore_claim: "certain", value: 1, evidence: "e" },
      { wherefore_claim: "known", value: 1 },
      { wherefore_claim: "known", evidence: "e" },
      { wherefore_claim: "known", value: 1, evidence: "e", more: true },
      { wherefore_claim: "unknown", reason: "r", evidence: undefined },
      { wherefore_claim: "known", value: Number.NaN, evidence: "e" },
      { wherefore_claim: "known", value: undefined, evidence: "e" },
      [],
      null,
      "unknown",
      Object.defineProperty({ wherefore_claim: "not-applicable" }, "evidence", { get: () => "e", enumerable: true })
    ]) {
      assert.isFalse(Claim.is(data))
      assert.strictEqual(Claim.unwrap(data), data)
    }
    const known = Claim.known({ kind: "unknown" }, "e")
    assert.deepStrictEqual(Claim.unwrap(known), { kind: "unknown" })
  })

  it("leaves no evidence where there is none", () => {
    assert.deepStrictEqual(Object.keys(Claim.unknown("r")), ["wherefore_claim", "reason"])
    assert.deepStrictEqual(Claim.unknown("r", "e").evidence, "e")
  })

  it("gives its value only where it is known", () => {
    assert.strictEqual(
      Claim.getOrElse(Claim.known(0, "e"), () => 7),
      0
    )
    assert.strictEqual(
      Claim.getOrElse(Claim.unknown("r"), (claim) => claim.wherefore_claim),
      "unknown"
    )
    assert.strictEqual(Claim.getOrElse(() => 7)(Claim.notApplicable("e")), 7)
  })

  it("unwraps what is known, however often, and nothing else", () => {
    const open = Claim.unknown("r")
    assert.strictEqual(Claim.unwrap(Claim.known(Claim.known(3, "a"), "b")), 3)
    assert.deepStrictEqual(Claim.unwrap(Claim.known(open, "b")), open)
    const loop: { wherefore_claim: string; value?: unknown; evidence: string } = {
      wherefore_claim: "known",
      evidence: "e"
    }
    loop.value = loop
    assert.strictEqual(Claim.unwrap(loop), loop)
  })

  it("prints its standing, so that an unknown looks like no value", () => {
    assert.strictEqual(Claim.render(Claim.known("", "call_1")), 'known: "" (call_1)')
    assert.strictEqual(Claim.render(Claim.known(0, "call_1")), "known: 0 (call_1)")
    assert.strictEqual(Claim.render(Claim.unknown("no\nsensor")), "unknown: no\\u000asensor")
    assert.strictEqual(Claim.render(Claim.unknown("off", "call_2")), "unknown: off (call_2)")
    assert.strictEqual(Claim.render(Claim.notApplicable("a solo")), "not applicable: a solo")
    FastCheck.assert(
      FastCheck.property(claim, (claim) => {
        assert.isTrue(Claim.render(claim).startsWith(`${claim.wherefore_claim.replace("-", " ")}: `))
        assert.notMatch(Claim.render(claim), /[\n\r\u2028\u2029\u0085]/)
      })
    )
  })
})
