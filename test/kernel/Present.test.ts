import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import * as Present from "../../src/kernel/Present.ts"

const meta = (more: Partial<Artifact.Meta> = {}): Artifact.Meta => ({
  ref: `art_${"a".repeat(22)}`,
  kind: "chart",
  mediaType: "image/png",
  bytes: 9,
  createdAt: 1,
  ...more
})
const { ref } = meta()

const refusal = (args: unknown, head?: Artifact.Meta, listing: ReadonlyArray<Artifact.Meta> | undefined = []) => {
  const resolved = Present.resolve(args, head, listing)
  return resolved.ok ? undefined : resolved
}

describe("Present", () => {
  it("judges the ref, then what it is shown as, before anything is looked for", () => {
    for (const args of [
      null,
      7,
      "x",
      [],
      {},
      { ref: "" },
      { ref: " \n" },
      { ref: 7, as: "x" },
      { ref: null, as: "x" }
    ]) {
      assert.include(refusal(args, meta())?.refusal.what, "ref must be a text that is not blank")
      assert.notProperty(refusal(args, meta()), "missedRef")
    }
    for (const as of [undefined, "", " ", 7, null, ["x"]]) {
      assert.include(refusal({ ref, as }, meta())?.refusal.what, "as must be a text that is not blank")
    }
  })

  it("shows a ticket as what the model calls it, with its own label unless the call has one", () => {
    const shown = (args: object, more: Partial<Artifact.Meta> = {}) => {
      const resolved = Present.resolve({ ref, as: "anything <at> all", ...args }, meta(more), undefined)
      return resolved.ok ? resolved.result : undefined
    }
    const snapshot = { kind: "chart", mediaType: "image/png", bytes: 9 }
    assert.deepStrictEqual(shown({}), { presented: true, ref, as: "anything <at> all", snapshot })
    assert.deepStrictEqual(shown({}, { label: "own" })?.snapshot, { ...snapshot, label: "own" })
    assert.deepStrictEqual(shown({ label: "given" }, { label: "own" })?.snapshot, { ...snapshot, label: "given" })
    for (const label of ["", "  ", 7, null]) {
      assert.deepStrictEqual(shown({ label }, { label: "own" })?.snapshot, { ...snapshot, label: "own" })
      assert.deepStrictEqual(shown({ label }, { label: "" })?.snapshot, snapshot)
    }
  })

  it("refuses what is not there with what was, ten at most, in the past tense", () => {
    const many = Array.from({ length: 12 }, (_, at) =>
      meta({ ref: `art_${"b".repeat(20)}${10 + at}`, label: `l${at}` })
    )
    const missed = refusal({ ref: "gone", as: "x" }, undefined, many)
    assert.strictEqual(missed?.missedRef, "gone")
    assert.strictEqual(missed?.refusal.tag, "ArtifactMissing")
    assert.strictEqual(missed?.refusal.what, 'No artifact "gone" was found when this call was made.')
    assert.match(missed?.refusal.next ?? "", /^The newest artifacts then: art_b+10 \("chart", "l0"\), /)
    assert.lengthOf(missed?.refusal.next.match(/art_/g) ?? [], 10)
    assert.strictEqual(refusal({ ref, as: "x" })?.refusal.next, "There was no artifact then: go on without it.")
    const unlisted = Present.resolve({ ref, as: "x" }, undefined, undefined)
    assert.match(unlisted.ok ? "" : unlisted.refusal.next, /could not be found out/)
    for (const text of [missed?.refusal.what, missed?.refusal.next]) assert.notMatch(text ?? "", /\b(is|are|has)\b/)
  })

  it("is total, and lets no ref or label open a line", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.anything(), FastCheck.fullUnicodeString(), (args, label) => {
        Present.resolve(args, undefined, [meta({ label, kind: `k${label}` })])
        Present.resolve(args, meta({ label }), undefined)
      })
    )
    const evil = `${"x".repeat(5_000)}\n# Section\u2028\u202e`
    const missed = refusal({ ref: evil, as: "x" }, undefined, [meta({ label: evil, kind: evil })])
    for (const text of [missed?.refusal.what, missed?.refusal.next]) {
      assert.notMatch(text ?? "", /[\p{Cc}\u2028\u202e]/u)
      assert.isAtMost(text?.length ?? 0, 400)
    }
  })
})
