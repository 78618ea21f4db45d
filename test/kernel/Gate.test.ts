import { assert, describe, it } from "@effect/vitest"
import { FastCheck } from "effect"
import * as Engagement from "../../src/kernel/Engagement.ts"
import * as Evidence from "../../src/kernel/Evidence.ts"
import * as Gate from "../../src/kernel/Gate.ts"
import * as ParkCard from "../../src/kernel/ParkCard.ts"
import * as PassFacts from "../../src/kernel/PassFacts.ts"
import * as ServedRecord from "../../src/kernel/ServedRecord.ts"
import * as Skill from "../../src/kernel/Skill.ts"
import * as SkillMap from "../../src/kernel/SkillMap.ts"
import { parked, record } from "./LeaseNotation.ts"

const skill = (id: string): Skill.Skill => ({ id, instructions: `Do ${id}.`, tools: [] })
const always = [{ field: "outcome", op: "eq", value: "ran-ok" }] as const

/** a is the way in; a leads to b, b to c. */
const map: SkillMap.SkillMap = {
  id: "M",
  entries: [{ skillId: "a" }],
  skills: ["a", "b", "c"].map(skill),
  routes: [
    { from: "a", to: "b", when: always },
    { from: "b", to: "c", when: always }
  ]
}

interface At {
  readonly cursor?: string
  readonly isParked?: boolean
  readonly isUnknown?: boolean
  readonly version?: string
}

const pick = (id: string, { cursor, isParked, isUnknown, version }: At = {}, policy: Gate.Policy = {}): Gate.Pick =>
  SkillMap.pick(
    [map],
    isUnknown === true ? undefined : [isParked === true ? parked : record()],
    cursor === undefined ? {} : { M: cursor },
    id,
    version,
    policy
  )

const told = ({ intent, moves, outcome, row }: Gate.Pick) => `${row} ${intent} ${outcome}${moves ? " moves" : ""}`

describe("SkillMap.pick", () => {
  const hidden: Gate.Policy = { mayName: (id) => id !== "b" }
  const rails: Gate.Policy = { posture: "rails" }
  const guard: Gate.Policy = { posture: "guard" }
  const menu: Gate.Policy = { posture: "guard", offered: ["b"] }
  const open: Gate.Policy = { open: ["guide"] }
  const at = { cursor: "a" }
  const asleep = { cursor: "a", isParked: true }

  const rows: ReadonlyArray<readonly [why: string, pick: Gate.Pick, told: string, text: string]> = [
    ["a hidden id is denied", pick("b", at, hidden), "P1 deny denied", "That skill was not open to this role."],
    ["hidden comes before stale", pick("b", { ...at, version: "old" }, hidden), "P1 deny denied", "not open"],
    ["hidden comes before the cursor", pick("b", { cursor: "b" }, hidden), "P1 deny denied", "not open"],
    [
      "the cursor of a parked map brings it back",
      pick("a", asleep),
      "P2 reengage accepted",
      "Map M was parked; this call brought it back for the next one. Its cursor did not move: it stayed on a."
    ],
    [
      "the cursor of a riding map changes nothing",
      pick("a", at),
      "P3 reaffirm accepted",
      "The pick of a changed nothing: it was active already, and its cursor did not move."
    ],
    ["a map without a record rides", pick("a", { ...at, isUnknown: true }), "P3 reaffirm accepted", "active already"],
    ["posture does not judge the cursor", pick("a", at, rails), "P3 reaffirm accepted", "active already"],
    [
      "a hop into a parked map moves and brings it back",
      pick("b", asleep),
      "P4 hop+reengage accepted moves",
      "Map M was parked; this call brought it back for the next one. Its cursor was to move to b, unless a declared route went elsewhere."
    ],
    [
      "a hop that posture refuses still brings the map back",
      pick("b", asleep, rails),
      "P4 reengage accepted",
      "Its cursor did not move: it stayed on a, since under the posture rails this pick moved none."
    ],
    ["posture judges a parked hop under guard too", pick("b", asleep, guard), "P4 reengage accepted", "posture guard"],
    ["a menu lets a parked hop move", pick("b", asleep, menu), "P4 hop+reengage accepted moves", "was to move to b"],
    [
      "an entry of a parked map without a cursor is a hop",
      pick("a", { isParked: true }),
      "P4 hop+reengage accepted moves",
      "was to move to a"
    ],
    [
      "and if posture refuses it, the map had no cursor to move",
      pick("a", { isParked: true }, rails),
      "P4 reengage accepted",
      "did not move: it had none"
    ],
    [
      "a hop into a riding map moves",
      pick("b", at),
      "P5 hop accepted moves",
      "The pick of b was taken: it was to load with the next call, unless a declared route went elsewhere."
    ],
    ["an entry is a hop without a cursor", pick("a"), "P5 hop accepted moves", "was to load"],
    [
      "an entry is a hop of a map without a record",
      pick("a", { isUnknown: true }),
      "P5 hop accepted moves",
      "was to load"
    ],
    [
      "rails refuse every hop, say who routes, and what stayed allowed",
      pick("b", at, { ...rails, ...open }),
      "P5 hop refused",
      "b was not loaded: under the posture rails declared routes moved the cursor, and this pick could not."
    ],
    ["guard refuses a hop without a menu", pick("b", at, guard), "P5 hop refused", "posture guard"],
    ["guard lets a hop of its menu be", pick("b", at, menu), "P5 hop accepted moves", "was to load"],
    [
      "guard refuses a hop that its menu does not offer",
      pick("b", at, { ...menu, offered: ["c"] }),
      "P5 hop refused",
      "posture guard"
    ],
    [
      "an open skill is activated and moves nothing, whatever the posture",
      pick("guide", at, { ...rails, ...open }),
      "P6 open accepted",
      "The pick of guide was taken: it was to load with the next call. No cursor moved."
    ],
    [
      "a skill of a map is not open, though it is registered so",
      pick("c", at, { open: ["c"] }),
      "P8 refuse refused",
      "could not be reached"
    ],
    [
      "a far member of a parked map brings it back, on the cursor's member",
      pick("c", asleep),
      "P7 reengage accepted",
      "Its cursor did not move: it stayed on a, and c was not reachable from there."
    ],
    [
      "a far member of a parked map without a cursor does not",
      pick("c", { isParked: true }),
      "P8 refuse refused",
      "The ids that could be picked then: a. Pick one of them, or finish."
    ],
    [
      "1: where some ids could be reached, they are named",
      pick("c", at),
      "P8 refuse refused",
      "The ids that could be picked then: b. Pick one of them, or finish."
    ],
    [
      "2: where no pick could take a way on, the map is a decision tree",
      pick("c", at, rails),
      "P8 refuse refused",
      "judged anew on every pass and no pick moved it"
    ],
    ["a blank id is no skill", pick("", at), "P8 refuse refused", "could not be reached"],
    ["a key of every object is no skill", pick("constructor", at), "P8 refuse refused", "could not be reached"],
    [
      "an offer that is no longer current is not taken",
      pick("b", { ...at, version: "old" }),
      "stale refuse refused",
      "Cursors or parked maps had changed between the offer and this call, so the pick was not taken."
    ]
  ]
  for (const [why, pick, row, text] of rows) {
    it(why, () => {
      assert.strictEqual(told(pick), row)
      assert.include(pick.text, text)
      assert.isFalse(pick.outcome !== "accepted" && pick.moves)
    })
  }

  it("3: where nothing led on, the text says so and names nothing", () => {
    const alone = { ...map, entries: [{ skillId: "c" }] }
    const refused = SkillMap.pick([alone], [record()], { M: "c" }, "a")
    assert.strictEqual(refused.row, "P8")
    assert.include(refused.text, "No other skill could be reached: work with what is loaded, or finish.")
  })

  it("takes a pick from the current offer", () => {
    const { ids, offerVersion } = SkillMap.offer([map], [record()], { M: "a" })
    assert.deepStrictEqual(ids, ["b"])
    assert.strictEqual(told(pick("b", { cursor: "a", version: offerVersion })), "P5 hop accepted moves")
  })

  it("tells the record what was refused, why, and where the cursor was", () => {
    const { allowed, currentSkillId, posture, reason, refusal } = pick("b", at, { ...rails, ...open })
    assert.deepStrictEqual([allowed, currentSkillId, posture, reason], [["guide"], "a", "rails", "posture"])
    assert.strictEqual(refusal?.tag, "PostureHeld")
    assert.strictEqual(pick("b", at, { ...hidden, denial: "Ask Ann." }).refusal?.what, "Ask Ann.")
    assert.strictEqual(pick("b", { ...at, version: "old" }).refusal?.tag, "StaleOffer")
    assert.strictEqual(pick("z").refusal?.tag, "SkillUnreachable")
  })

  it("prefers the first row over all maps, then the first map", () => {
    const twin = { ...map, id: "N" }
    const both = [record(), { ...parked, mapId: "N" }]
    assert.deepInclude(SkillMap.pick([map, twin], both, { M: "a", N: "a" }, "a"), { row: "P2", mapId: "N" })
    assert.deepInclude(SkillMap.pick([map, twin], both, { M: "a", N: "b" }, "b"), { row: "P2", mapId: "N" })
    assert.deepInclude(SkillMap.pick([map, twin], [record()], { M: "a", N: "a" }, "b"), { row: "P5", mapId: "M" })
  })

  it("becomes a fact of the batch only when it is accepted", () => {
    assert.deepStrictEqual(SkillMap.acceptedPick(pick("b", asleep, rails)), {
      skillId: "b",
      mapId: "M",
      intent: "reengage"
    })
    assert.deepStrictEqual(SkillMap.acceptedPick(pick("guide", at, open)), { skillId: "guide", intent: "open" })
    for (const refused of [pick("b", at, rails), pick("b", at, hidden), pick("z", at)]) {
      assert.isUndefined(SkillMap.acceptedPick(refused))
    }
  })
})

describe("SkillMap.offerVersion", () => {
  const version = SkillMap.offerVersion([parked], { M: "a", N: "b" })

  it("follows from the cursors and the parked set, in any order", () => {
    assert.strictEqual(
      SkillMap.offerVersion([record({ mapId: "X" }), { ...parked, idle: 9 }], { N: "b", M: "a" }),
      version
    )
  })

  it("is another when a cursor moves or a map parks or returns", () => {
    const others = [
      SkillMap.offerVersion([parked], { M: "b", N: "b" }),
      SkillMap.offerVersion([parked], { M: "a" }),
      SkillMap.offerVersion([record()], { M: "a", N: "b" }),
      SkillMap.offerVersion(undefined, { M: "a", N: "b" }),
      SkillMap.offerVersion([parked, { ...parked, mapId: "N" }], { M: "a", N: "b" })
    ]
    for (const other of others) assert.notStrictEqual(other, version)
    assert.notStrictEqual(SkillMap.offerVersion([], { "a,b": "c" }), SkillMap.offerVersion([], { a: "b,c" }))
  })
})

describe("SkillMap.pick laws", () => {
  const ids = ["a", "b", "c", "d", "M", "x y", "__proto__"]
  const id = FastCheck.constantFrom(...ids)
  const aMap = (mapId: string): FastCheck.Arbitrary<SkillMap.SkillMap> =>
    FastCheck.record({
      id: FastCheck.constant(mapId),
      entries: FastCheck.array(FastCheck.record({ skillId: id }), { maxLength: 2 }),
      skills: FastCheck.uniqueArray(id, { maxLength: 5 }).map((ids) => ids.map(skill)),
      routes: FastCheck.array(FastCheck.record({ from: id, to: id, when: FastCheck.constant(always) }), {
        maxLength: 5
      })
    })
  const maps = FastCheck.tuple(aMap("M"), aMap("N"))
  const engagement = FastCheck.subarray([parked, { ...parked, mapId: "N" }]).map(
    (records): Engagement.MapEngagement => records
  )
  const cursors = FastCheck.dictionary(FastCheck.constantFrom("M", "N", "gone"), id)
  const hidden = FastCheck.subarray([...ids])
  const policy = FastCheck.record(
    {
      posture: FastCheck.constantFrom(...Gate.Posture.literals),
      offered: FastCheck.subarray([...ids]),
      open: FastCheck.subarray([...ids, "guide"])
    },
    { requiredKeys: [] }
  )

  it("an offered id is accepted; one that is not, and is not active, is refused", () => {
    FastCheck.assert(
      FastCheck.property(maps, engagement, cursors, hidden, policy, (maps, engagement, cursors, hidden, rest) => {
        const policy = { ...rest, mayName: (id: string) => !hidden.includes(id) }
        const { ids: offered, offerVersion } = SkillMap.offer(maps, engagement, cursors, policy)
        for (const id of [...ids, "guide"]) {
          const { intent, outcome } = SkillMap.pick(maps, engagement, cursors, id, offerVersion, policy)
          assert.strictEqual(offered.includes(id), outcome === "accepted" && intent !== "reaffirm", id)
        }
      }),
      { numRuns: 1_000 }
    )
  })

  it("a pick that is not accepted moves no cursor and leaves no fact", () => {
    FastCheck.assert(
      FastCheck.property(
        maps,
        engagement,
        cursors,
        hidden,
        policy,
        id,
        (maps, engagement, cursors, hidden, rest, id) => {
          const policy = { ...rest, mayName: (id: string) => !hidden.includes(id) }
          const pick = SkillMap.pick(maps, engagement, cursors, id, undefined, policy)
          const accepted = SkillMap.acceptedPick(pick)
          assert.strictEqual(accepted === undefined, pick.outcome !== "accepted")
          const picks = accepted === undefined ? [] : [accepted]
          for (const map of maps) {
            const cursor = Object.hasOwn(cursors, map.id) ? cursors[map.id] : undefined
            const still = SkillMap.resolve(map, cursor, { iteration: 2 })
            const moved = SkillMap.resolve(map, cursor, { iteration: 2, picks })
            if (pick.moves && pick.mapId === map.id) assert.strictEqual(moved.to, id)
            else assert.deepStrictEqual(moved, still)
          }
        }
      ),
      { numRuns: 2_000 }
    )
  })

  it("under rails no pick moves a cursor", () => {
    FastCheck.assert(
      FastCheck.property(maps, engagement, cursors, id, (maps, engagement, cursors, id) => {
        assert.isFalse(SkillMap.pick(maps, engagement, cursors, id, undefined, { posture: "rails" }).moves)
      })
    )
  })

  it("an accepted re-engagement brings its map back", () => {
    FastCheck.assert(
      FastCheck.property(maps, engagement, cursors, id, policy, (maps, engagement, cursors, id, policy) => {
        const pick = SkillMap.pick(maps, engagement, cursors, id, undefined, policy)
        const accepted = SkillMap.acceptedPick(pick)
        if (accepted === undefined || !pick.intent.includes("reengage")) return
        const { next } = Evidence.advance({ maps: maps.map(SkillMap.mounted), renewalGrace: 3 }, engagement, {
          iteration: 5,
          facts: { ...PassFacts.none, picks: [accepted] },
          moves: {},
          served: ServedRecord.empty
        })
        const record = next.find(({ mapId }) => mapId === pick.mapId)
        assert.strictEqual(record?.standing, "engaged")
        assert.strictEqual(record?.by, "explicit")
      })
    )
  })

  it("no text names what is hidden", () => {
    const secret = "secret-7"
    const renamed = (of: string) => (of === "b" ? secret : of)
    FastCheck.assert(
      FastCheck.property(maps, engagement, cursors, policy, id, (maps, engagement, cursors, policy, id) => {
        const swapped = maps.map((map) => ({
          ...map,
          entries: map.entries.map(({ skillId }) => ({ skillId: renamed(skillId) })),
          skills: map.skills.map(({ id }) => skill(renamed(id))),
          routes: map.routes.map((route) => ({ ...route, from: renamed(route.from), to: renamed(route.to) }))
        }))
        const places = Object.fromEntries(Object.entries(cursors).map(([mapId, at]) => [mapId, renamed(at)]))
        const role = { ...policy, open: [...(policy.open ?? []), secret], mayName: (id: string) => id !== secret }
        for (const picked of [id, secret]) {
          const { allowed = [], refusal, text } = SkillMap.pick(swapped, engagement, places, picked, undefined, role)
          assert.notInclude(JSON.stringify([text, refusal ?? "", allowed]), secret)
        }
        const plan = { maps: swapped.map(SkillMap.mounted), renewalGrace: 3 }
        assert.notInclude(ParkCard.render(plan, engagement, role.mayName, places) ?? "", secret)
      }),
      { numRuns: 1_000 }
    )
  })

  it("every id that a park card names brings its map back, and the card names every one that does", () => {
    FastCheck.assert(
      FastCheck.property(aMap("M"), cursors, policy, (map, cursors, policy) => {
        const { at: _, ...asleep } = parked
        const plan = { maps: [SkillMap.mounted(map)], renewalGrace: 3 }
        const card = ParkCard.render(plan, [asleep], undefined, Object.hasOwn(cursors, "M") ? cursors : {})
        const line = card?.split("\n")[2]?.slice("  back: call read_skill with one of: ".length) ?? ""
        const named = line === "" ? [] : line.split(", ").map((id) => (id.startsWith('"') ? JSON.parse(id) : id))
        const back = ids.filter((id) =>
          SkillMap.pick([map], [asleep], cursors, id, undefined, policy).intent.includes("reengage")
        )
        assert.deepStrictEqual(named.toSorted(), back.toSorted())
      }),
      { numRuns: 1_000 }
    )
  })
})
