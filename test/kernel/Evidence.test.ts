import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as CallOutcome from "../../src/kernel/CallOutcome.ts"
import * as Engagement from "../../src/kernel/Engagement.ts"
import * as Evidence from "../../src/kernel/Evidence.ts"
import * as Message from "../../src/kernel/Message.ts"
import * as PassFacts from "../../src/kernel/PassFacts.ts"
import * as ServedRecord from "../../src/kernel/ServedRecord.ts"
import { M, parked, plan, record } from "./LeaseNotation.ts"

const own = { mapId: "M", memberId: "a" }
const other = { mapId: "N", memberId: "n" }
const agent = {}

const call = (
  toolName: string,
  outcome: Message.Settlement = "ran-ok",
  owner: CallOutcome.Owner = agent
): CallOutcome.CallOutcome => ({ toolCallId: `call-${toolName}`, toolName, owner, outcome, served: "" })

const pick = (skillId: string, intent: PassFacts.AcceptedIntent = "hop", mapId?: string): PassFacts.AcceptedPick => ({
  skillId,
  intent,
  ...(mapId === undefined ? {} : { mapId })
})

const served = (...owners: ReadonlyArray<CallOutcome.Owner>): ServedRecord.ServedRecord => ({
  ...ServedRecord.empty,
  pieces: owners.map((owner, at) => ({ id: `piece-${at}`, owner }))
})

const known = (facts: Partial<PassFacts.PassFacts> = {}, rest: Partial<Evidence.Known> = {}): Evidence.Known => ({
  iteration: 5,
  facts: { ...PassFacts.none, ...facts },
  moves: { M: { from: "a", to: "a", by: "stay" } },
  served: served(own),
  ...rest
})

const results = (...outcomes: ReadonlyArray<CallOutcome.CallOutcome>) =>
  Evidence.of(M, undefined, known({ outcomes })).pass.toolResults.map(({ toolName }) => toolName)

describe("Evidence.of", () => {
  const listed: {
    readonly [outcome in Message.Settlement]: readonly [own: ReadonlyArray<string>, other: string | undefined]
  } = {
    "ran-ok": [["t1", "x"], "y"],
    absent: [["t1", "x"], "y"],
    "ran-error": [[], "y"],
    refused: [["x"], undefined],
    denied: [["x"], undefined],
    aborted: [["x"], undefined],
    truncated: [["x"], undefined],
    unknown: [["x"], undefined]
  }
  for (const outcome of Message.Settlement.literals) {
    it(`lists a call that came to ${outcome} as its owner's`, () => {
      const [ours, theirs] = listed[outcome]
      assert.deepStrictEqual(results(call("t1", outcome, own), call("x")), ours)
      assert.deepStrictEqual(results(call("y", outcome, other)), theirs === undefined ? [] : [theirs])
      assert.deepStrictEqual(results(call("y", outcome)), theirs === undefined ? [] : [theirs])
    })

    it(`keeps a parked map parked for ${outcome}, unless it ran and did what it does`, () => {
      const advance = Evidence.advance(plan(), [parked], known({ outcomes: [call("t1", outcome, own)] }))
      const isBack = outcome === "ran-ok" || outcome === "absent"
      assert.strictEqual(advance.next[0]?.standing, isBack ? "engaged" : "parked")
    })
  }

  it("takes an owned failure for neutral, unless the batch has an owned success", () => {
    assert.deepStrictEqual(results(call("x"), call("t1", "ran-error", own)), [])
    assert.deepStrictEqual(results(call("x"), call("t1", "ran-error", own), call("t2", "absent", own)), ["x", "t2"])
    const [next] = Evidence.advance(
      plan(),
      [record({ idle: 2 })],
      known({ outcomes: [call("x"), call("t1", "ran-error", own)] })
    ).next
    assert.strictEqual(next?.standing, "engaged")
  })

  it("renews no map by another owner's tool of the same name", () => {
    assert.deepStrictEqual(results(call("t1", "ran-ok", other), call("t1"), call("t1", "ran-ok", { mapId: "N" })), [
      "N/n/t1",
      "//t1",
      "N//t1"
    ])
  })

  it("owns by member, by map, and by member alone", () => {
    assert.deepStrictEqual(results(call("t1", "ran-ok", { memberId: "b" }), call("t2", "ran-ok", { mapId: "M" })), [
      "t1",
      "t2"
    ])
    assert.deepStrictEqual(results(call("t1", "ran-ok", { mapId: "M", memberId: "z" })), ["M/z/t1"])
    assert.deepStrictEqual(results(call("t1", "ran-ok", { memberId: "z" })), ["/z/t1"])
    assert.deepStrictEqual(results(call("t1", "ran-ok", { mapId: "N", memberId: "a" })), ["N/a/t1"])
  })

  for (const toolName of CallOutcome.frameworkTools) {
    it(`takes ${toolName} for nobody's`, () => {
      assert.deepStrictEqual(results(call(toolName), call(toolName, "ran-error", own)), [])
      const before = record({ idle: 2 })
      const { next } = Evidence.advance(plan(), [before], known({ outcomes: [call(toolName)] }))
      assert.strictEqual(next[0], before)
    })
  }

  it("gives a map its own move, and nothing of another's", () => {
    const moves = {
      M: { to: "a", by: "entry", witness: { text: "zone", keyword: "zone" } },
      N: { to: "b", by: "model-pick", witness: { text: "roof" } }
    }
    const { pass } = Evidence.of(M, undefined, known({}, { moves }))
    assert.deepStrictEqual([pass.currentNode, pass.moveBy, pass.witness], ["a", "entry", "zone"])
  })

  it("has no clause and no witness without a cursor", () => {
    for (const moves of [{}, { M: { by: "none" } }, { M: { by: "route", from: "a", witness: { text: "zone" } } }]) {
      const { pass } = Evidence.of(M, undefined, known({}, { moves }))
      assert.doesNotHaveAnyKeys(pass, ["currentNode", "moveBy", "witness"])
    }
  })

  it("looks only at a map's own key", () => {
    const { pass } = Evidence.of({ ...M, id: "toString" }, undefined, known({}, { moves: {} }))
    assert.notProperty(pass, "currentNode")
  })

  it("has the batch's accepted picks, the last hop among them pending", () => {
    const picks = [pick("a"), pick("b", "hop+reengage"), pick("guide", "open"), pick("a", "reengage")]
    const { pass } = Evidence.of(M, undefined, known({ picks }))
    assert.deepStrictEqual(pass.acceptedSkillPicks, ["a", "b", "guide", "a"])
    assert.strictEqual(pass.pendingSkillPick, "b")
    assert.notProperty(Evidence.of(M, undefined, known({ picks: picks.slice(2) })).pass, "pendingSkillPick")
  })

  it("leaves out a pick that was resolved to another map with a skill of that id", () => {
    const { pass } = Evidence.of(M, undefined, known({ picks: [pick("a", "hop", "N"), pick("b", "reaffirm", "M")] }))
    assert.deepStrictEqual(pass.acceptedSkillPicks, ["b"])
    assert.notProperty(pass, "pendingSkillPick")
  })

  it("counts as served the members that had a piece or a tool on the wire", () => {
    const wire: ServedRecord.ServedRecord = {
      pieces: [
        { id: "piece", owner: { mapId: "M", memberId: "b" } },
        { id: "steering", owner: agent },
        { id: "guide", owner: { memberId: "guide" } }
      ],
      tools: [{ name: "t1", owners: [other, own] }],
      results: []
    }
    assert.deepStrictEqual(Evidence.of(M, undefined, known({}, { served: wire })).pass.servedLastPass, ["b", "a"])
    assert.deepStrictEqual(Evidence.of(M, undefined, known({}, { served: ServedRecord.empty })).pass.servedLastPass, [])
  })

  it("has nothing of a batch that was not, however often the model is asked again", () => {
    const before = record({ idle: 2 })
    const { facts: _, ...again } = known()
    assert.strictEqual(Evidence.advance(plan(), [before], again).next[0], before)
  })
})

describe("Evidence.advance", () => {
  const lease = (owner: CallOutcome.Owner): PassFacts.AcceptedLease => ({
    instructionId: "i",
    owner,
    lease: "next-call"
  })

  it("brings a parked map back for a lease of one of its members", () => {
    const { changes, next, parkedToolNames } = Evidence.advance(plan(), [parked], known({ leases: [lease(own)] }))
    assert.strictEqual(next[0]?.standing, "engaged")
    assert.strictEqual(next[0]?.by, "structural")
    assert.isEmpty(parkedToolNames)
    assert.deepStrictEqual(changes, [{ kind: "engaged", mapId: "M", iteration: 5, by: "structural", reengaged: true }])
  })

  it("takes a lease for no evidence of a map that rides, or of another's member", () => {
    const before = record({ idle: 1 })
    assert.strictEqual(Evidence.advance(plan(), [before], known({ leases: [lease(own)] })).next[0], before)
    assert.strictEqual(Evidence.advance(plan(), [parked], known({ leases: [lease(other)] })).next[0], parked)
    assert.strictEqual(Evidence.advance(plan(), [parked], known({ leases: [lease({ mapId: "M" })] })).next[0], parked)
  })

  it("lets no tool pass for a lease", () => {
    const { pass } = Evidence.of(M, parked, known({ leases: [lease(own)], outcomes: [call("lease:a")] }))
    assert.deepStrictEqual(
      pass.toolResults.map(({ toolName }) => toolName),
      ["//lease:a", "lease:a"]
    )
    assert.strictEqual(Evidence.advance(plan(), [parked], known({ outcomes: [call("lease:a")] })).next[0], parked)
  })

  it("holds a released map off, whatever its batch did for it", () => {
    const facts = { outcomes: [call("t1", "ran-ok", own)], picks: [pick("a", "reaffirm")], releases: [{ mapId: "M" }] }
    const { changes, next, parkedInjectionIds } = Evidence.advance(plan(), [record()], known(facts))
    assert.deepStrictEqual(next, [record({ by: "explicit", standing: "parked", since: 5 })])
    assert.deepStrictEqual(parkedInjectionIds, ["a", "b"])
    assert.deepStrictEqual(
      changes.map(({ kind }) => kind),
      ["engaged", "parked"]
    )
  })

  it("parks a parked map once, and a map twice released once", () => {
    const facts = { releases: [{ mapId: "M" }, { mapId: "M" }, { mapId: "Z" }] }
    assert.strictEqual(Evidence.advance(plan(), [record()], known(facts)).changes.length, 1)
    assert.strictEqual(Evidence.advance(plan(), [parked], known(facts)).changes.length, 0)
  })
})

describe("Evidence laws", () => {
  const ids = ["M", "N", "__proto__"]
  const members = ["a", "b", "n", "z"]
  const owner = FastCheck.record(
    { mapId: FastCheck.constantFrom(...ids), memberId: FastCheck.constantFrom(...members) },
    { requiredKeys: [] }
  )
  const outcome = FastCheck.record({
    toolCallId: FastCheck.constant("c"),
    toolName: FastCheck.constantFrom("t1", "t2", "x", "read_skill", "lease:a"),
    owner,
    outcome: FastCheck.constantFrom(...Message.Settlement.literals),
    served: FastCheck.constant("")
  })
  const move = FastCheck.record(
    {
      to: FastCheck.constantFrom(...members),
      by: FastCheck.constantFrom("route", "entry", "stay", "none", "model-pick", "valueOf"),
      witness: FastCheck.record({ text: FastCheck.constantFrom("zone", "roof") })
    },
    { requiredKeys: ["by"] }
  )
  const facts = FastCheck.record({
    outcomes: FastCheck.array(outcome, { maxLength: 4 }),
    picks: FastCheck.array(
      FastCheck.record({
        skillId: FastCheck.constantFrom(...members),
        intent: FastCheck.constantFrom(...PassFacts.AcceptedIntent.literals)
      }),
      { maxLength: 2 }
    ),
    leases: FastCheck.array(
      FastCheck.record({
        instructionId: FastCheck.constant("i"),
        owner,
        lease: FastCheck.constant("next-call" as const)
      }),
      { maxLength: 1 }
    ),
    releases: FastCheck.array(FastCheck.record({ mapId: FastCheck.constantFrom(...ids) }), { maxLength: 1 })
  })
  const moves = FastCheck.array(FastCheck.tuple(FastCheck.constantFrom(...ids), move)).map((pairs) =>
    Object.fromEntries(pairs)
  )
  const knowing: FastCheck.Arbitrary<Evidence.Known> = FastCheck.record(
    {
      iteration: FastCheck.integer({ min: 1, max: 40 }),
      facts,
      moves,
      served: FastCheck.array(owner).map((owners) => served(...owners))
    },
    { requiredKeys: ["iteration", "moves", "served"] }
  )
  const maps = FastCheck.shuffledSubarray([
    M,
    { id: "N", memberIds: ["n", "a"], toolNames: ["t2"] },
    { id: "__proto__", memberIds: ["z"], toolNames: [] }
  ])

  const passes = FastCheck.array(knowing, { maxLength: 12 })

  it("is the lease on each map's own facts, with the whole prior", () => {
    FastCheck.assert(
      FastCheck.property(maps, passes, (maps, passes) => {
        const plan = { maps, renewalGrace: 2 }
        let state: Engagement.MapEngagement = []
        for (const known of passes) {
          const next = maps.flatMap((map) => {
            const { map: own, pass } = Evidence.of(
              map,
              state.find(({ mapId }) => mapId === map.id),
              known
            )
            return Engagement.advance({ maps: [own], renewalGrace: 2 }, state, pass).next
          })
          const { facts: { releases: _, ...facts } = PassFacts.none, ...rest } = known
          const advance = Evidence.advance(plan, state, { ...rest, facts: { ...facts, releases: [] } })
          assert.deepStrictEqual(advance.next, next)
          state = Evidence.advance(plan, state, known).next
        }
      })
    )
  })

  it("gives no map the clause or the witness of another", () => {
    FastCheck.assert(
      FastCheck.property(passes, passes, (passes, others) => {
        let one: Engagement.MapEngagement = []
        let two: Engagement.MapEngagement = []
        passes.forEach((known, at) => {
          const { M: _, ...theirs } = { ...others[at]?.moves }
          const own = Object.entries(known.moves).filter(([id]) => id === "M")
          const moves = Object.fromEntries([...Object.entries(theirs), ...own])
          one = Evidence.advance(plan(), one, known).next
          two = Evidence.advance({ maps: [{ ...M, id: "N" }, M], renewalGrace: 3 }, two, { ...known, moves }).next
          assert.deepStrictEqual(
            two.filter(({ mapId }) => mapId === "M"),
            one
          )
        })
      })
    )
  })

  it("is plain data, and holds no lease after the pass", () => {
    FastCheck.assert(
      FastCheck.property(maps, knowing, (maps, known) => {
        const advance = Evidence.advance(
          { maps, renewalGrace: 1 },
          maps.map(({ id }) => ({ ...parked, mapId: id })),
          known
        )
        assert.deepStrictEqual(JSON.parse(JSON.stringify(advance)), advance)
        assert.isFalse(advance.parkedToolNames.some((name) => name.startsWith("lease:")))
      })
    )
  })
})
