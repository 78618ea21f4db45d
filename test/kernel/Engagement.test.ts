import { assert, describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import * as Engagement from "../../src/kernel/Engagement.ts"
import * as Renewal from "../../src/kernel/Renewal.ts"
import * as Notation from "./LeaseNotation.ts"

const { parked, pass, plan, record } = Notation

interface Vector extends Engagement.EngagementAdvance {
  readonly id: number
  readonly plan: Engagement.EngagementPlan
  readonly prior?: Engagement.MapEngagement
  readonly pass: Engagement.EngagementPass
}

const vectors: ReadonlyArray<Vector> = JSON.parse(
  readFileSync(new URL("./vectors/lease.json", import.meta.url), "utf8")
)

const freeze = <A>(value: A): A => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

describe("Engagement vectors", () => {
  for (const vector of vectors) {
    it(`${vector.id}`, () => {
      const { changes, next, parkedInjectionIds, parkedToolNames } = vector
      const prior = vector.prior === undefined ? undefined : freeze(vector.prior)
      const advance = Engagement.advance(freeze(vector.plan), prior, freeze(vector.pass))
      assert.deepStrictEqual(advance, { next, parkedInjectionIds, parkedToolNames, changes })
      if (JSON.stringify(prior) === JSON.stringify(next) && prior !== undefined) {
        assert.strictEqual(advance.next[0], prior[0])
      }
    })
  }

  it("are all there", () => {
    assert.deepStrictEqual(
      vectors.map(({ id }) => id),
      [
        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 20, 21, 22, 23, 24, 25, 27, 28, 29, 30, 31, 32, 34,
        35, 37, 38, 40, 42, 43, 45, 46, 49, 50, 51, 52
      ]
    )
  })
})

const same = Symbol("the very same record")

interface Case {
  readonly why: string
  readonly prior?: Engagement.MapEngagementRecord
  readonly plan?: Engagement.EngagementPlan
  readonly pass: string
  readonly next: Partial<Engagement.MapEngagementRecord> | typeof same | "no record"
  readonly change?: object
}

/** Iteration 5, and served {a} unless a pass says otherwise. `next` is what differs from the prior record. */
const cases: ReadonlyArray<Case> = [
  { why: "an unserved pass does not count", prior: record({ idle: 2 }), pass: "a/stay [x] served{}", next: same },
  {
    why: "another's served member does not count",
    prior: record({ idle: 2 }),
    pass: "a/stay [x] served{z}",
    next: same
  },
  { why: "any member served counts", prior: record(), pass: "a/stay [x] served{b}", next: { idle: 1 } },
  { why: "a batch is one idle pass", prior: record(), pass: "a/stay [x y z x]", next: { idle: 1 } },
  { why: "an unknown pick is nothing", prior: record({ idle: 1 }), pass: "a/stay pk{z} pd=z", next: same },
  { why: "a clause off the map is no evidence", prior: record({ idle: 1 }), pass: "z/model-pick", next: same },
  {
    why: "tentative evidence resets idle and raises nothing",
    prior: record({ idle: 2 }),
    pass: "a/entry [x]",
    next: { idle: 0 }
  },
  {
    why: "weaker evidence lowers nothing",
    prior: record({ by: "structural", idle: 2 }),
    pass: "a/entry [x]",
    next: { idle: 0 }
  },
  {
    why: "semantic evidence raises what was lexical",
    prior: record({ idle: 2 }),
    pass: "a/intent [x]",
    next: { by: "semantic", idle: 0 },
    change: { kind: "engaged", by: "semantic", upgraded: true, foundedBy: "lexical", witness: "w" }
  },
  {
    why: "an upgrade has the record's witness, not the pass's",
    prior: record(),
    pass: 'a/route "other"',
    next: { by: "structural" },
    change: { kind: "engaged", by: "structural", upgraded: true, foundedBy: "lexical", witness: "w" }
  },
  {
    why: "a tenant change has the pass's witness, and the record keeps its own",
    prior: record({ idle: 2 }),
    pass: 'b/entry "roof" [x]',
    next: { at: "b", atBy: "lexical", atSince: 5, idle: 0 },
    change: {
      kind: "engaged",
      by: "lexical",
      tenantChanged: true,
      at: "b",
      foundedBy: "lexical",
      witness: "roof"
    }
  },
  {
    why: "a tenant's stronger evidence beats its clause, and a pick beats both",
    prior: record(),
    pass: "b/route pk{a}",
    next: { by: "explicit", at: "b", atBy: "structural", atSince: 5 },
    change: { kind: "engaged", by: "explicit", tenantChanged: true, at: "b", foundedBy: "lexical" }
  },
  {
    why: "arriving for the first time is a tenant change",
    prior: Notation.record({ by: "structural", foundedBy: "structural" }),
    plan: plan(3, { memberIds: ["c"] }),
    pass: "c/stay",
    next: { by: "assumed", at: "c", atBy: "assumed", atSince: 5 },
    change: { kind: "engaged", by: "assumed", tenantChanged: true, at: "c", foundedBy: "structural" }
  },
  { why: "a tentative pass ends no park", prior: parked, pass: 'b/intent "zone" [x]', next: same },
  { why: "a stay elsewhere ends no park, and is not observed", prior: parked, pass: "b", next: same },
  {
    why: "a route onto another member ends a park and is observed",
    prior: parked,
    pass: 'b/route "roof"',
    next: {
      standing: "engaged",
      by: "structural",
      since: 5,
      idle: 0,
      at: "b",
      atBy: "structural",
      atSince: 5,
      witness: "roof"
    },
    change: { kind: "engaged", by: "structural", reengaged: true, witness: "roof" }
  },
  {
    why: "a grace of one parks on the first idle pass",
    prior: record(),
    plan: plan(1),
    pass: "a/stay [x]",
    next: { standing: "parked", since: 5, idle: 1 },
    change: { kind: "parked", by: "lexical", idleCalls: 1, witness: "w" }
  },
  {
    why: "a smaller grace parks what has idled longer",
    prior: record({ idle: 9 }),
    plan: plan(2),
    pass: "a/stay [x]",
    next: { standing: "parked", since: 5, idle: 10 },
    change: { kind: "parked", by: "lexical", idleCalls: 10, witness: "w" }
  },
  {
    why: "a map that may not be parked is not, and keeps counting",
    prior: record({ idle: 2 }),
    plan: plan(3, { nonParkable: true }),
    pass: "a/stay [x]",
    next: { idle: 3 }
  },
  { why: "an empty witness is none", pass: 'z/entry "" pk{z}', next: "no record" },
  {
    why: "a grace that is no number parks nothing",
    prior: record({ idle: 9 }),
    plan: plan(Number.NaN),
    pass: "a/stay [x]",
    next: { idle: 10 }
  }
]

describe("Engagement cases", () => {
  for (const { change, next, pass: text, plan: own, prior, why } of cases) {
    it(why, () => {
      const advance = Engagement.advance(own ?? plan(), prior === undefined ? undefined : [prior], pass(5, text, ["a"]))
      const changes = change === undefined ? [] : [{ mapId: "M", iteration: 5, ...change }]
      assert.deepStrictEqual<unknown>(advance.changes, changes)
      if (next === "no record") assert.deepStrictEqual(advance.next, [])
      else if (next === same) assert.strictEqual(advance.next[0], prior)
      else if (prior !== undefined) assert.deepStrictEqual<unknown>(advance.next, [{ ...prior, ...next }])
    })
  }

  it("an idle that counts is the only thing that changes in an idle record", () => {
    const prior = record({ by: "explicit", idle: 4 })
    const [next] = Engagement.advance(plan(), [prior], pass(5, "a/stay [x]", ["a"])).next
    assert.deepStrictEqual(next, { ...prior, idle: 5 })
  })

  it("a record recovered without a witness has none", () => {
    const [next] = Engagement.advance(plan(), [parked], pass(5, 'a/stay "" pk{a}')).next
    assert.notProperty(next, "witness")
  })

  it("maps that left the plan have no record", () => {
    const other = record({ mapId: "N" })
    assert.deepStrictEqual(Engagement.advance(plan(), [other, record()], pass(5, "-")).next, [record()])
    assert.deepStrictEqual(Engagement.advance({ maps: [], renewalGrace: 3 }, [other], pass(5, "-")).next, [])
  })

  it("lists what is parked in plan order, whatever parked it and when", () => {
    const maps = ["C", "A", "B"].map((id) => ({ id, memberIds: [`${id}1`, `${id}2`], toolNames: [`${id}t`] }))
    const prior = ["A", "B", "C"].map((mapId) => ({ ...parked, mapId }))
    const advance = Engagement.advance({ maps, renewalGrace: 3 }, prior, pass(5, "- pk{A1}"))
    assert.deepStrictEqual(advance.parkedInjectionIds, ["C1", "C2", "B1", "B2"])
    assert.deepStrictEqual(advance.parkedToolNames, ["Ct", "Bt"])
  })
})

describe("Renewal", () => {
  it("is listed in the order of its kinds, each name once", () => {
    const found = Renewal.evidence(plan(), pass(5, "b/route [t2 x t1 t2] pk{b z a b} pd=a"))
    assert.deepStrictEqual(found, [
      [
        { kind: "owned-tool-called", toolName: "t2" },
        { kind: "owned-tool-called", toolName: "t1" },
        { kind: "cursor-moved", by: "route" },
        { kind: "explicit-pick", skillId: "a" },
        { kind: "member-activated", skillId: "b" },
        { kind: "member-activated", skillId: "a" }
      ]
    ])
  })
})

describe("Engagement.release", () => {
  const firm = record({ by: "explicit", idle: 7 })

  it("parks what is firm and keeps all else", () => {
    const advance = Engagement.release(plan(), [firm], "M", 9)
    assert.deepStrictEqual(advance, {
      next: [{ ...firm, standing: "parked", since: 9 }],
      parkedInjectionIds: ["a", "b"],
      parkedToolNames: ["t1", "t2"],
      changes: [
        { kind: "parked", mapId: "M", iteration: 9, by: "explicit", idleCalls: 7, witness: "w", reason: "released" }
      ]
    })
  })

  it("keeps the other records, and lists what they hold off the wire", () => {
    const maps = [...plan().maps, { id: "N", memberIds: ["n"], toolNames: ["u"] }]
    const other = { ...parked, mapId: "N" }
    const advance = Engagement.release({ maps, renewalGrace: 3 }, [other, firm], "M", 9)
    assert.strictEqual(advance.next[0], other)
    assert.deepStrictEqual(advance.parkedInjectionIds, ["a", "b", "n"])
    assert.deepStrictEqual(advance.parkedToolNames, ["t1", "t2", "u"])
  })

  const alone: ReadonlyArray<
    readonly [Engagement.Unreleasable, Engagement.EngagementPlan, Engagement.MapEngagement | undefined, string]
  > = [
    ["unknown-map", plan(), [firm], "Z"],
    ["unknown-map", plan(), [{ ...firm, mapId: "Z" }], "Z"],
    ["not-engaged", plan(), undefined, "M"],
    ["not-engaged", plan(), [], "M"],
    ["parked", plan(), [parked], "M"],
    ["non-parkable", plan(3, { nonParkable: true }), [firm], "M"]
  ]
  for (const [why, plan, prior, mapId] of alone) {
    it(`leaves alone what is ${why}`, () => {
      const advance = Engagement.release(plan, prior, mapId, 9)
      assert.strictEqual(Engagement.unreleasable(plan, prior, mapId), why)
      assert.deepStrictEqual(advance.changes, [])
      assert.deepStrictEqual(advance.next, prior ?? [])
      advance.next.forEach((record, at) => assert.strictEqual(record, prior?.[at]))
      assert.deepStrictEqual(advance.parkedToolNames, why === "parked" ? ["t1", "t2"] : [])
    })
  }
})

describe("Engagement transcripts", () => {
  const transcripts = new URL("./transcripts/", import.meta.url).pathname
  for (const file of readdirSync(transcripts).filter((name) => name.startsWith("engagement-"))) {
    it(file.replace(/^engagement-|\.txt$/g, "").replaceAll("-", " "), () =>
      expect(Notation.replay(readFileSync(transcripts + file, "utf8"))).toMatchFileSnapshot(transcripts + file)
    )
  }
})

describe("Engagement schemas", () => {
  it("read what the laws write, and refuse a field that is undefined", () => {
    const record = Schema.decodeUnknownEither(Engagement.MapEngagementRecord)
    for (const { changes, next } of vectors) {
      for (const one of next) assert.deepStrictEqual(record(one), record({ ...one }))
      for (const one of next) assert.strictEqual(record(one)._tag, "Right")
      for (const one of changes)
        assert.strictEqual(Schema.decodeUnknownEither(Engagement.EngagementChange)(one)._tag, "Right")
    }
    assert.strictEqual(record({ ...parked, witness: undefined })._tag, "Left")
    assert.strictEqual(record({ ...parked, at: "" })._tag, "Left")
  })
})
