import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Schema } from "effect"
import * as Check from "../../src/kernel/Check.ts"
import * as CheckEvent from "../../src/kernel/CheckEvent.ts"
import * as CheckLedger from "../../src/kernel/CheckLedger.ts"
import * as Fault from "../../src/kernel/Fault.ts"

const all = CheckLedger.registered
const live = CheckLedger.open({ posture: "live", armed: all })
const [park, wire, ground, claim] = all
if (park === undefined || wire === undefined || ground === undefined || claim === undefined) {
  assert.fail("four checks are registered")
}

const planted: Fault.Fault = {
  kind: "invariant-violation",
  seam: "wire",
  subjects: [],
  witnesses: [],
  message: "m"
}

const filing = FastCheck.oneof(
  FastCheck.record({ disposition: FastCheck.constantFrom(...Check.Disposition.literals) }),
  FastCheck.constant({ disposition: "checked-fail", advisory: true } as const)
)
const verdict: FastCheck.Arbitrary<Check.Verdict> = FastCheck.record(
  {
    check: FastCheck.constantFrom(...Fault.Kind.literals),
    seam: FastCheck.constantFrom(...Fault.Seam.literals),
    filings: FastCheck.array(filing, { maxLength: 4 }),
    faults: FastCheck.constantFrom<ReadonlyArray<Fault.Fault>>([], [planted]),
    synthetic: FastCheck.constant(true as const)
  },
  { requiredKeys: ["check", "seam", "filings", "faults"] }
)

const pass = (ledger: CheckLedger.CheckLedger, checks: ReadonlyArray<Check.Check>, iteration = 1) =>
  checks.reduce((ledger, check) => CheckLedger.file(ledger, Check.looked(check, []), iteration), ledger)

const zeros = { checked: 0, findings: 0, advisories: 0, notApplicable: 0, unreachable: 0, synthetic: 0 }

describe("CheckLedger", () => {
  it("has a row for each of the four from the start, and an unarmed one does not apply", () => {
    const { rows } = CheckLedger.open({ posture: "live", armed: [wire] })
    assert.deepStrictEqual(rows, [
      { check: "invariant-violation", seam: "compose", ...zeros, notApplicable: 1 },
      { check: "invariant-violation", seam: "wire", ...zeros },
      { check: "dangling-reference", seam: "compose", ...zeros, notApplicable: 1 },
      { check: "unsupported-claim", seam: "claim", ...zeros, notApplicable: 1 }
    ])
  })

  it("counts each filing once, in its own column", () => {
    const filings: ReadonlyArray<Check.Filing> = [
      { disposition: "checked-pass" },
      { disposition: "checked-fail" },
      { disposition: "checked-fail", advisory: true },
      { disposition: "not-applicable" },
      { disposition: "unreachable" },
      { disposition: "unreachable" }
    ]
    const { rows } = CheckLedger.file(live, { ...claim, filings, faults: [] }, 3)
    assert.deepStrictEqual(rows[3], {
      check: "unsupported-claim",
      seam: "claim",
      checked: 3,
      findings: 1,
      advisories: 1,
      notApplicable: 1,
      unreachable: 2,
      synthetic: 0,
      lastFiredAt: 3
    })
    assert.deepStrictEqual(rows.slice(0, 3), live.rows.slice(0, 3))
  })

  it("says when a check last fired, and neither passes nor doubts count as that", () => {
    const fired = CheckLedger.file(live, Check.looked(wire, [planted]), 2)
    const later = pass(fired, [wire], 5)
    assert.strictEqual(later.rows[1]?.lastFiredAt, 2)
    assert.strictEqual(CheckLedger.file(later, Check.looked(wire, [planted]), 7).rows[1]?.lastFiredAt, 7)
    const doubt = { ...claim, filings: [{ disposition: "checked-fail", advisory: true }], faults: [] } as const
    assert.notProperty(CheckLedger.file(live, doubt, 2).rows[3], "lastFiredAt")
  })

  it("files what can be read back, and finds no more than it checked", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.array(verdict), FastCheck.boolean(), (verdicts, workExisted) => {
        const ledger = verdicts.reduce((ledger, one) => CheckLedger.file(ledger, one, 1), live)
        const event = CheckLedger.close(ledger, workExisted)
        const read = Schema.decodeUnknownSync(CheckEvent.CheckEvent)(JSON.parse(JSON.stringify(event)))
        assert.deepStrictEqual(read, event)
        const real = verdicts.filter(({ synthetic }) => synthetic !== true)
        for (const { check, seam, ...row } of event.rows) {
          assert.isAtMost(row.findings + row.advisories, row.checked)
          const own = real.filter((one) => one.check === check && one.seam === seam)
          const filed = own.reduce((sum, { filings }) => sum + filings.length, 0)
          assert.strictEqual(row.checked + row.notApplicable + row.unreachable, filed)
        }
        const keys = event.rows.map(({ check, seam }) => JSON.stringify([check, seam]))
        assert.strictEqual(new Set(keys).size, keys.length)
        assert.deepStrictEqual(
          keys.slice(0, 4),
          all.map(({ check, seam }) => JSON.stringify([check, seam]))
        )
      })
    )
    const broken = { _tag: "ChecksFiled", posture: "live", workExisted: true, rows: [{ ...live.rows[0], findings: 1 }] }
    assert.isFalse(Schema.is(CheckEvent.CheckEvent)(broken))
  })

  it("catches a canary with every check in dev, counted apart from all else", () => {
    const dev = CheckLedger.open({ posture: "dev", armed: all })
    assert.deepStrictEqual(
      dev.rows,
      live.rows.map((row) => ({ ...row, synthetic: 1 }))
    )
    assert.isTrue(live.rows.every(({ synthetic }) => synthetic === 0))
    assert.deepStrictEqual(CheckLedger.blind(CheckLedger.close(dev, false)), [])
    for (const { check, probe, seam } of all) {
      const verdict = Check.synthetic(probe())
      assert.deepStrictEqual({ check: verdict.check, seam: verdict.seam }, { check, seam })
      assert.isNotEmpty(verdict.faults)
      for (const fault of verdict.faults) {
        assert.deepInclude(fault, { kind: check, seam, synthetic: true })
      }
      const filed = CheckLedger.file(live, verdict, 4)
      const row = filed.rows.find((row) => row.check === check && row.seam === seam)
      assert.deepStrictEqual(row, { check, seam, ...zeros, synthetic: 1 })
    }
  })

  it("fails a run in dev whose check missed its canary", () => {
    const checks = all.map((one) => (one === ground ? { ...one, probe: () => Check.looked(ground, []) } : one))
    const dev = pass(CheckLedger.open({ posture: "dev", armed: all, checks }), all)
    const filed = CheckLedger.close(dev, true)
    const expected = [{ check: "dangling-reference", seam: "compose", reason: "missed-canary" }]
    assert.deepStrictEqual<unknown>(CheckLedger.blind(filed), expected)
    assert.deepStrictEqual(CheckLedger.headline(filed), {
      green: false,
      text: "A planted fault was missed by dangling-reference at compose."
    })
    assert.deepStrictEqual(CheckLedger.blind({ ...filed, posture: "live" }), [])
  })

  it("fails a run in dev whose check filed nothing though there was work", () => {
    const dev = pass(CheckLedger.open({ posture: "dev", armed: all }), [park, ground, claim])
    const expected = [{ check: "invariant-violation", seam: "wire", reason: "filed-nothing" }]
    assert.deepStrictEqual<unknown>(CheckLedger.blind(CheckLedger.close(dev, true)), expected)
    assert.deepStrictEqual(CheckLedger.blind(CheckLedger.close(dev, false)), [])
    const reached = CheckLedger.file(dev, Check.verdict(wire, "unreachable"), 1)
    assert.deepStrictEqual(CheckLedger.blind(CheckLedger.close(reached, true)), [])
    const none = CheckLedger.blind({ _tag: "ChecksFiled", posture: "dev", workExisted: true, rows: [] })
    assert.lengthOf(none, 8)
  })

  it("is green only where every check has checked something and found nothing", () => {
    const text = (ledger: CheckLedger.CheckLedger) => CheckLedger.headline(CheckLedger.close(ledger, true))
    const passed = pass(live, all)
    assert.deepStrictEqual(text(passed), { green: true, text: "Every check looked and found nothing." })
    const doubt = { ...claim, filings: [{ disposition: "checked-fail", advisory: true }], faults: [] } as const
    assert.deepStrictEqual(text(CheckLedger.file(passed, doubt, 1)), {
      green: true,
      text: "Every check looked and found nothing. 1 advisory."
    })
    const fired = [2, 3].reduce((ledger, at) => CheckLedger.file(ledger, Check.looked(wire, [planted]), at), passed)
    assert.deepStrictEqual(text(fired), { green: false, text: "2 findings of invariant-violation at wire." })
    const part = CheckLedger.open({ posture: "live", armed: [park, wire, claim] })
    assert.deepStrictEqual(text(CheckLedger.file(pass(part, [park]), Check.verdict(claim, "unreachable"), 1)), {
      green: false,
      text: "Nothing was checked by invariant-violation at wire (filed nothing), dangling-reference at compose (not applicable), unsupported-claim at claim (unreachable)."
    })
    const missing = { ...passed, rows: passed.rows.slice(1) }
    assert.isFalse(text(missing).green)
  })

  it("says of a kind without a checker that nothing looks for it", () => {
    const filed = CheckLedger.close(pass(live, all), true)
    for (const kind of ["unsupported-argument", "duplicate-execution"] as const) {
      assert.strictEqual(CheckLedger.answer(filed, kind), "Nothing looks for this.")
    }
    assert.strictEqual(CheckLedger.answer(filed, "unsupported-claim"), "Every check looked and found nothing.")
    const fired = CheckLedger.file(pass(live, all), Check.looked(wire, [planted]), 1)
    const after = CheckLedger.close(fired, true)
    assert.strictEqual(CheckLedger.answer(after, "unsupported-claim"), "Every check looked and found nothing.")
    assert.strictEqual(CheckLedger.answer(after, "invariant-violation"), "1 finding of invariant-violation at wire.")
  })
})
