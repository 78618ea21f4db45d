import { assert, describe, it } from "@effect/vitest"
import { FastCheck, Schema } from "effect"
import * as Engagement from "../../src/kernel/Engagement.ts"
import * as EvidenceStrength from "../../src/kernel/EvidenceStrength.ts"
import * as Renewal from "../../src/kernel/Renewal.ts"

const strength = FastCheck.constantFrom(...EvidenceStrength.EvidenceStrength.literals)
const member = FastCheck.constantFrom("a", "b", "c", "d", "z", "__proto__", "")
const tool = FastCheck.constantFrom("t1", "t2", "t3", "x", "constructor", "lease:a")
const count = FastCheck.integer({ min: 0, max: 12 })
const iteration = FastCheck.integer({ min: 1, max: 40 })
const witness = FastCheck.constantFrom("w", "zone", "\ud800", "__proto__")
const word = FastCheck.oneof(
  FastCheck.constantFrom("model-pick", "route", "tool-proposal", "continuity", "intent", "decider", "entry", "stay"),
  FastCheck.constantFrom("none", "handover", "", "toString", "constructor", "__proto__", "explicit", "assumed"),
  FastCheck.string()
)

const map = (id: string): FastCheck.Arbitrary<Engagement.MountedMap> =>
  FastCheck.record(
    {
      id: FastCheck.constant(id),
      memberIds: FastCheck.uniqueArray(member, { maxLength: 4 }),
      toolNames: FastCheck.uniqueArray(tool, { maxLength: 3 }),
      nonParkable: FastCheck.boolean()
    },
    { requiredKeys: ["id", "memberIds", "toolNames"] }
  )

const ids = ["M", "N", "__proto__"]
const plan: FastCheck.Arbitrary<Engagement.EngagementPlan> = FastCheck.record({
  maps: FastCheck.tuple(...ids.map(map)).chain((maps) => FastCheck.shuffledSubarray([...maps], { minLength: 1 })),
  renewalGrace: FastCheck.integer({ min: 1, max: 5 })
})

const position = FastCheck.option(FastCheck.record({ at: member, atBy: strength, atSince: iteration }))

const record = (mapId: string): FastCheck.Arbitrary<Engagement.MapEngagementRecord> =>
  FastCheck.tuple(
    FastCheck.record(
      {
        mapId: FastCheck.constant(mapId),
        standing: FastCheck.constantFrom("engaged" as const, "parked" as const),
        by: strength,
        since: iteration,
        idle: count,
        foundedBy: strength,
        foundedAt: iteration,
        foundedOn: member,
        witness
      },
      { requiredKeys: ["mapId", "standing", "by", "since", "idle", "foundedBy", "foundedAt"] }
    ),
    position
  ).map(([record, position]) => ({ ...record, ...position }))

const prior: FastCheck.Arbitrary<Engagement.MapEngagement | undefined> = FastCheck.option(
  FastCheck.tuple(...[...ids, "gone"].map(record)).chain((all) => FastCheck.shuffledSubarray([...all])),
  { nil: undefined }
)

const pass: FastCheck.Arbitrary<Engagement.EngagementPass> = FastCheck.record(
  {
    iteration,
    currentNode: member,
    moveBy: word,
    witness,
    toolResults: FastCheck.array(FastCheck.record({ toolName: tool }), { maxLength: 4 }),
    pendingSkillPick: member,
    acceptedSkillPicks: FastCheck.array(member, { maxLength: 2 }),
    servedLastPass: FastCheck.array(member, { maxLength: 4 })
  },
  { requiredKeys: ["iteration", "toolResults", "acceptedSkillPicks", "servedLastPass"] }
)

/** Each map of a plan before and after a pass, with what bears on it, by the definitions of the laws. */
const observe = (
  plan: Engagement.EngagementPlan,
  prior: Engagement.MapEngagement | undefined,
  pass: Engagement.EngagementPass
) => {
  const advance = Engagement.advance(plan, prior, pass)
  return plan.maps.map((map, at) => {
    const here = map.memberIds.find((id) => id === pass.currentNode)
    const picks = [...pass.acceptedSkillPicks, ...(pass.pendingSkillPick === undefined ? [] : [pass.pendingSkillPick])]
    const moved = pass.moveBy !== undefined && pass.moveBy !== "stay" && pass.moveBy !== "none" && here !== undefined
    const clause = EvidenceStrength.ofClause(pass.moveBy)
    const strengths: ReadonlyArray<EvidenceStrength.EvidenceStrength> = [
      ...(picks.some((id) => map.memberIds.includes(id)) ? (["explicit"] as const) : []),
      ...(pass.toolResults.some(({ toolName }) => map.toolNames.includes(toolName)) ? (["structural"] as const) : []),
      ...(moved ? [clause] : [])
    ]
    return {
      map,
      here,
      clause,
      strongest: EvidenceStrength.EvidenceStrength.literals.find((word) => strengths.includes(word)),
      evidence: Renewal.evidence(plan, pass)[at] ?? [],
      isCounted: pass.toolResults.length > 0 && map.memberIds.some((id) => pass.servedLastPass.includes(id)),
      before: prior?.find(({ mapId }) => mapId === map.id),
      after: advance.next.find(({ mapId }) => mapId === map.id),
      changes: advance.changes.filter(({ mapId }) => mapId === map.id)
    }
  })
}

type Observed = ReturnType<typeof observe>[number]

/** Holds of each map of many plans, on those where `when` says so. */
const law = (
  name: string,
  when: (observed: Observed, pass: Engagement.EngagementPass) => boolean,
  holds: (observed: Observed, pass: Engagement.EngagementPass, plan: Engagement.EngagementPlan) => void
) =>
  it(name, () => {
    let seen = 0
    FastCheck.assert(
      FastCheck.property(plan, prior, pass, (plan, prior, pass) => {
        for (const observed of observe(plan, prior, pass)) {
          if (!when(observed, pass)) continue
          seen += 1
          holds(observed, pass, plan)
        }
      }),
      { numRuns: 4_000 }
    )
    assert.isAbove(seen, 50, "the law was put to the test")
  })

const rank = (word: EvidenceStrength.EvidenceStrength) => -EvidenceStrength.EvidenceStrength.literals.indexOf(word)
const firm = (word: EvidenceStrength.EvidenceStrength | undefined) => word === "explicit" || word === "structural"
const best = (...words: ReadonlyArray<EvidenceStrength.EvidenceStrength>) =>
  words.toSorted((one, other) => rank(other) - rank(one))[0]
const arrives = ({ before, here }: Observed) => here !== undefined && here !== before?.at
const isEngaged = ({ before }: Observed) => before?.standing === "engaged"
const isParked = ({ before }: Observed) => before?.standing === "parked"
const given = (witness: string | undefined) => (witness === undefined ? {} : { witness })
const shared = ({ map }: Observed, { iteration }: Engagement.EngagementPass) => ({ mapId: map.id, iteration })

describe("Engagement laws", () => {
  law(
    "L1: a cursor on a member, or evidence, founds",
    ({ before, here, strongest }) => before === undefined && (here !== undefined || strongest !== undefined),
    (observed, pass) => {
      const { after, changes, clause, here, map, strongest } = observed
      const by = strongest ?? clause
      const at = here === undefined ? {} : { foundedOn: here, at: here, atBy: clause, atSince: pass.iteration }
      const founded = { foundedBy: by, foundedAt: pass.iteration, ...at }
      assert.deepStrictEqual<unknown>(after, {
        mapId: map.id,
        standing: "engaged",
        by,
        since: pass.iteration,
        idle: 0,
        ...founded,
        ...given(pass.witness)
      })
      assert.deepStrictEqual<unknown>(changes, [
        { kind: "engaged", ...shared(observed, pass), by, ...given(pass.witness) }
      ])
    }
  )

  law(
    "L1: without either there is no record",
    ({ before, here, strongest }) => before === undefined && here === undefined && strongest === undefined,
    ({ after, changes }) => {
      assert.isUndefined(after)
      assert.isEmpty(changes)
    }
  )

  law(
    "L2: firm evidence ends a park",
    (observed) => isParked(observed) && firm(observed.strongest),
    (observed, pass) => {
      const { after, before, changes, clause, here, strongest } = observed
      const { witness: _, ...kept } = before ?? {}
      const position = arrives(observed) ? { at: here, atBy: clause, atSince: pass.iteration } : {}
      const now = { standing: "engaged", by: strongest, since: pass.iteration, idle: 0, ...given(pass.witness) }
      assert.deepStrictEqual<unknown>(after, { ...kept, ...position, ...now })
      assert.deepStrictEqual<unknown>(changes, [
        { kind: "engaged", ...shared(observed, pass), by: strongest, reengaged: true, ...given(pass.witness) }
      ])
    }
  )

  law(
    "L2: nothing less does, and nothing is observed",
    (observed) => isParked(observed) && !firm(observed.strongest),
    ({ after, before, changes }) => {
      assert.strictEqual(after, before)
      assert.isEmpty(changes)
    }
  )

  law(
    "L3: another member under the cursor is another tenant, whose reason counts",
    (observed) => isEngaged(observed) && arrives(observed),
    (observed, pass) => {
      const { after, before, changes, clause, here: at, strongest } = observed
      const by = strongest === undefined ? clause : best(clause, strongest)
      assert.deepStrictEqual<unknown>(after, { ...before, at, atBy: clause, atSince: pass.iteration, by, idle: 0 })
      const flags = { tenantChanged: true, at, foundedBy: before?.foundedBy, ...given(pass.witness) }
      assert.deepStrictEqual<unknown>(changes, [{ kind: "engaged", ...shared(observed, pass), by, ...flags }])
    }
  )

  law(
    "L4: evidence renews, and raises what it can",
    (observed) => isEngaged(observed) && !arrives(observed) && observed.strongest !== undefined,
    (observed, pass) => {
      const { after, before, changes, strongest } = observed
      if (before === undefined || strongest === undefined) return
      const by = best(before.by, strongest) ?? "assumed"
      assert.deepStrictEqual<unknown>(after, { ...before, by, idle: 0 })
      const flags = { by, upgraded: true, foundedBy: before.foundedBy, ...given(before.witness) }
      const upgrade = { kind: "engaged", ...shared(observed, pass), ...flags }
      assert.deepStrictEqual<unknown>(changes, by === before.by ? [] : [upgrade])
      if (by === before.by && before.idle === 0) assert.strictEqual(after, before)
    }
  )

  law(
    "L5: a pass that is not counted changes nothing",
    (observed) => isEngaged(observed) && !arrives(observed) && observed.strongest === undefined && !observed.isCounted,
    ({ after, before, changes }) => {
      assert.strictEqual(after, before)
      assert.isEmpty(changes)
    }
  )

  law(
    "L5, L6, L7: a counted pass counts one, and parks what is tentative and out of grace",
    (observed) => isEngaged(observed) && !arrives(observed) && observed.strongest === undefined && observed.isCounted,
    (observed, pass, plan) => {
      const { after, before, changes, map } = observed
      if (before === undefined) return
      const idle = before.idle + 1
      const parks = idle >= plan.renewalGrace && !firm(before.by) && map.nonParkable !== true
      assert.deepStrictEqual<unknown>(after, {
        ...before,
        idle,
        ...(parks ? { standing: "parked", since: pass.iteration } : {})
      })
      const park = {
        kind: "parked",
        ...shared(observed, pass),
        by: before.by,
        idleCalls: idle,
        ...given(before.witness)
      }
      assert.deepStrictEqual<unknown>(changes, parks ? [park] : [])
    }
  )

  law(
    "L7: what may not be parked is not",
    ({ before, map }) => map.nonParkable === true && before?.standing !== "parked",
    ({ after }) => assert.notStrictEqual(after?.standing, "parked")
  )

  law(
    "a reason never falls because time passed",
    (observed) => isEngaged(observed) && !arrives(observed),
    ({ after, before }) => {
      if (before !== undefined && after !== undefined) assert.isAtLeast(rank(after.by), rank(before.by))
    }
  )

  law(
    "the strength of a renewal is that of its best evidence",
    () => true,
    ({ evidence, strongest }) => assert.strictEqual(Renewal.strongest(evidence), strongest)
  )

  it("L8: what is parked after the pass is held off, and nothing else", () => {
    FastCheck.assert(
      FastCheck.property(plan, prior, pass, (plan, prior, pass) => {
        const { next, parkedInjectionIds, parkedToolNames } = Engagement.advance(plan, prior, pass)
        const parked = plan.maps.filter((map) => next.some((one) => one.mapId === map.id && one.standing === "parked"))
        assert.deepStrictEqual(parkedInjectionIds, parked.map(({ memberIds }) => memberIds).flat())
        assert.deepStrictEqual(parkedToolNames, parked.map(({ toolNames }) => toolNames).flat())
      })
    )
  })

  it("L9: total, and the same again; nothing it was given changes", () => {
    FastCheck.assert(
      FastCheck.property(plan, prior, pass, (plan, prior, pass) => {
        const before = JSON.stringify([plan, prior, pass])
        const advance = Engagement.advance(plan, prior, pass)
        assert.deepStrictEqual(Engagement.advance(plan, prior, pass), advance)
        assert.strictEqual(JSON.stringify([plan, prior, pass]), before)
      })
    )
  })

  it("L9: total for records that no version of this wrote", () => {
    const garbage = FastCheck.anything({ withNullPrototype: true })
    FastCheck.assert(
      FastCheck.property(plan, prior, pass, garbage, garbage, (plan, prior, pass, by, idle) => {
        const damaged = JSON.parse(JSON.stringify(prior ?? []), (key, value) =>
          key === "by" || key === "standing" ? by : key === "idle" ? idle : value
        )
        const { next } = Engagement.advance(plan, damaged, pass)
        for (const { mapId } of next) assert.isTrue(plan.maps.some(({ id }) => id === mapId))
        Engagement.release(plan, damaged, "M", 1)
      }),
      { numRuns: 2_000 }
    )
  })

  it("L9: every map on its own: the order of the plan orders the result, and other maps change nothing", () => {
    FastCheck.assert(
      FastCheck.property(plan, prior, pass, (plan, prior, pass) => {
        const whole = Engagement.advance(plan, prior, pass)
        const parts = plan.maps.map((map) => Engagement.advance({ ...plan, maps: [map] }, prior, pass))
        assert.deepStrictEqual(whole, {
          next: parts.flatMap(({ next }) => next),
          parkedInjectionIds: parts.flatMap(({ parkedInjectionIds }) => parkedInjectionIds),
          parkedToolNames: parts.flatMap(({ parkedToolNames }) => parkedToolNames),
          changes: parts.flatMap(({ changes }) => changes)
        })
      })
    )
  })

  it("L9: is plain data, with no field that is undefined", () => {
    FastCheck.assert(
      FastCheck.property(plan, prior, pass, (plan, prior, pass) => {
        const advance = Engagement.advance(plan, prior, pass)
        assert.deepStrictEqual(structuredClone(advance), advance)
        const copy = JSON.parse(JSON.stringify(advance))
        assert.deepStrictEqual(copy, JSON.parse(JSON.stringify(advance, (_, value) => value ?? "nothing")))
        assert.deepStrictEqual(copy, advance)
      })
    )
  })

  it("L9: takes time in the maps and the facts, not in their product", () => {
    const names = Array.from({ length: 5_000 }, (_, n) => `n${n}`)
    const maps = names.map((id) => ({ id, memberIds: [id], toolNames: [`t${id}`] }))
    const facts = {
      iteration: 1,
      toolResults: names.map((name) => ({ toolName: `t${name}` })),
      acceptedSkillPicks: names,
      servedLastPass: names
    }
    const { next } = Engagement.advance({ maps, renewalGrace: 3 }, undefined, facts)
    assert.strictEqual(next.filter(({ by }) => by === "explicit").length, 5_000)
  })

  it("L11: founding is constant for the run, whatever happens", () => {
    FastCheck.assert(
      FastCheck.property(
        plan,
        FastCheck.array(FastCheck.tuple(pass, FastCheck.boolean()), { maxLength: 25 }),
        (plan, passes) => {
          let state: Engagement.MapEngagement | undefined
          const founded = new Map<string, string>()
          passes.forEach(([pass, isReleased], at) => {
            const advance = Engagement.advance(plan, state, { ...pass, iteration: at + 1 })
            state = isReleased ? Engagement.release(plan, advance.next, "M", at + 1).next : advance.next
            for (const { foundedAt, foundedBy, foundedOn, mapId } of state) {
              const provenance = JSON.stringify([foundedAt, foundedBy, foundedOn])
              assert.strictEqual(founded.get(mapId) ?? provenance, provenance)
              founded.set(mapId, provenance)
            }
            for (const mapId of founded.keys()) assert.isTrue(state.some((record) => record.mapId === mapId))
          })
        }
      )
    )
  })

  it("L12: how many calls a batch holds does not matter", () => {
    FastCheck.assert(
      FastCheck.property(plan, prior, pass, (plan, prior, pass) => {
        const once = Engagement.advance(plan, prior, pass)
        const twice = [...pass.toolResults, ...pass.toolResults].reverse()
        assert.deepStrictEqual(Engagement.advance(plan, prior, { ...pass, toolResults: twice }), once)
      })
    )
  })

  it("tentative passes alone make nothing firm and end no park", () => {
    FastCheck.assert(
      FastCheck.property(plan, FastCheck.array(pass, { maxLength: 20 }), (plan, passes) => {
        let state: Engagement.MapEngagement = []
        for (const pass of passes) {
          const { pendingSkillPick: _, ...rest } = pass
          const moveBy = ["intent", "decider", "entry", "stay", "none"].includes(pass.moveBy ?? "")
            ? {}
            : { moveBy: "stay" }
          const toolResults = pass.toolResults.map(() => ({ toolName: "elsewhere" }))
          const tentative = { ...rest, ...moveBy, toolResults, acceptedSkillPicks: [] }
          const parked = state.filter(({ standing }) => standing === "parked")
          state = Engagement.advance(plan, state, tentative).next
          for (const record of parked) assert.isTrue(state.includes(record))
          for (const { by } of state) assert.isFalse(firm(by))
        }
      })
    )
  })

  it("what it writes, its schemas read", () => {
    const record = Schema.is(Engagement.MapEngagementRecord)
    const change = Schema.is(Engagement.EngagementChange)
    FastCheck.assert(
      FastCheck.property(plan, FastCheck.array(pass, { maxLength: 8 }), (plan, passes) => {
        const maps = plan.maps.map((map) => ({ ...map, memberIds: map.memberIds.filter(Boolean) }))
        let state: Engagement.MapEngagement | undefined
        for (const pass of passes) {
          const advance = Engagement.advance({ ...plan, maps }, state, pass)
          state = advance.next
          assert.isTrue(advance.next.every((one) => record(one)))
          assert.isTrue(advance.changes.every((one) => change(one)))
        }
      })
    )
  })
})
