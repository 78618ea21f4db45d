import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Schema } from "effect"
import * as CheckEvent from "../../src/kernel/CheckEvent.ts"
import * as Fault from "../../src/kernel/Fault.ts"

const separators = FastCheck.constantFrom(..."a:/,|\u0000\u001f\n\t\"'\\[]{}; \u2028\ud800".split(""))
const id = FastCheck.array(separators, { maxLength: 4 }).map((parts) => parts.join(""))
const named = FastCheck.array(separators, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""))
const subject = FastCheck.record({ kind: named, id })
const yes = FastCheck.constant(true as const)

const fault: FastCheck.Arbitrary<Fault.Fault> = FastCheck.record(
  {
    kind: FastCheck.constantFrom(...Fault.Kind.literals),
    seam: FastCheck.constantFrom(...Fault.Seam.literals),
    subjects: FastCheck.array(subject, { maxLength: 3 }),
    witnesses: FastCheck.array(id, { maxLength: 2 }),
    predicate: named,
    epoch: named,
    synthetic: yes,
    advisory: yes,
    message: id
  },
  { requiredKeys: ["kind", "seam", "subjects", "witnesses", "message"] }
)

const one: Fault.Fault = {
  kind: "unsupported-claim",
  seam: "claim",
  subjects: [
    { kind: "entity", id: "a" },
    { kind: "entity", id: "b" }
  ],
  witnesses: ["call_1"],
  predicate: "price",
  message: "m"
}

describe("Fault", () => {
  it("is the same in whatever order its subjects are named", () => {
    FastCheck.assert(
      FastCheck.property(fault, (fault) => {
        const turned = { ...fault, subjects: [...fault.subjects].reverse() }
        assert.strictEqual(Fault.identity(turned), Fault.identity(fault))
      })
    )
  })

  it("is not told from another by epoch, witnesses, message or being planted", () => {
    FastCheck.assert(
      FastCheck.property(fault, fault, (one, other) => {
        const { epoch: _, synthetic: __, ...rest } = one
        const same = { ...rest, witnesses: other.witnesses, message: other.message }
        assert.strictEqual(Fault.identity(same), Fault.identity(one))
      })
    )
  })

  it("is told from another by every part of its identity, whatever ids hold", () => {
    const parts = ({ advisory, kind, predicate, seam, subjects }: Fault.Fault) => ({
      kind,
      seam,
      predicate,
      advisory,
      subjects: subjects
        .map(({ id, kind }) => ({ kind, id }))
        .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    })
    FastCheck.assert(
      FastCheck.property(fault, fault, (one, other) => {
        const isSame = JSON.stringify(parts(one)) === JSON.stringify(parts(other))
        assert.strictEqual(Fault.identity(one) === Fault.identity(other), isSame)
      })
    )
    const others: ReadonlyArray<Fault.Fault> = [
      { ...one, kind: "invariant-violation" },
      { ...one, seam: "wire" },
      { ...one, predicate: "null" },
      { ...one, advisory: true },
      { ...one, subjects: [] },
      { ...one, subjects: [{ kind: "entity", id: 'a"],["entity","b' }] },
      { ...one, subjects: [{ kind: 'entity","a', id: "b" }] },
      { ...one, subjects: [...one.subjects, { kind: "entity", id: "" }] }
    ]
    const split = [
      { kind: "a:b", id: "c" },
      { kind: "a", id: "b:c" }
    ].map((subject) => Fault.identity({ ...one, subjects: [subject] }))
    assert.notStrictEqual(split[0], split[1])
    const { predicate: _, ...bare } = one
    const all = [one, bare, ...others].map(Fault.identity)
    assert.strictEqual(new Set(all).size, all.length)
  })

  it("is reported once a run", () => {
    const moved = { ...one, epoch: "2", message: "again" }
    const doubt: Fault.Fault = { ...one, advisory: true }
    const planted: Fault.Fault = { ...one, synthetic: true }
    assert.deepStrictEqual(Fault.once([], [one, moved, doubt]), [one, doubt])
    assert.deepStrictEqual(Fault.once([one], [moved, doubt]), [doubt])
    assert.deepStrictEqual(Fault.once([planted], [one]), [one])
    assert.deepStrictEqual(Fault.once([one], [planted]), [planted])
    FastCheck.assert(
      FastCheck.property(FastCheck.array(fault), FastCheck.array(fault), (known, faults) => {
        const news = Fault.once(known, faults)
        assert.isEmpty(Fault.once([...known, ...news], faults))
        assert.isTrue(news.every((fault) => faults.includes(fault)))
      })
    )
  })

  it("is an event as it is, and keeps its identity there", () => {
    FastCheck.assert(
      FastCheck.property(fault, (fault) => {
        const event: CheckEvent.CheckEvent = { _tag: "FaultFound", iteration: 1, ...fault }
        const read = Schema.decodeUnknownSync(CheckEvent.CheckEvent)(JSON.parse(JSON.stringify(event)))
        assert.deepStrictEqual(read, event)
        assert.isEmpty(read._tag === "FaultFound" ? Fault.once([read], [fault]) : [fault])
      })
    )
  })
})
