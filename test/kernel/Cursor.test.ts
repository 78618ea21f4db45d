import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import * as CallOutcome from "../../src/kernel/CallOutcome.ts"
import * as Cursor from "../../src/kernel/Cursor.ts"
import * as CursorMove from "../../src/kernel/CursorMove.ts"
import * as Entry from "../../src/kernel/Entry.ts"
import * as PassFacts from "../../src/kernel/PassFacts.ts"
import * as Skill from "../../src/kernel/Skill.ts"
import * as SkillMap from "../../src/kernel/SkillMap.ts"

const skill = (id: string, ...tools: ReadonlyArray<string>): Skill.Skill => ({
  id,
  instructions: `Do ${id}.`,
  tools: tools.map((name) => ({ name, schema: { type: "object" } }))
})

const map: SkillMap.SkillMap = {
  id: "M",
  entries: [
    { skillId: "a", keywords: ["zone"], phrases: ["flat roof"] },
    { skillId: "b", keywords: ["roof", "zone"], tags: ["building"] },
    { skillId: "e" }
  ],
  skills: [skill("a", "t1"), skill("b", "t2"), skill("c"), skill("d"), skill("e")],
  routes: [
    { from: "a", to: "b", tool: "t1", when: [{ field: "/ok", op: "eq", value: true }] },
    { from: "a", to: "c", tool: "t1" },
    { from: "a", to: "d", when: [{ field: "outcome", op: "eq", value: "ran-error" }] },
    { from: "a", to: "e", tool: "agent-tool" },
    { from: "b", to: "a", when: [{ field: "outcome", op: "eq", value: "absent" }] }
  ]
}

const own = { mapId: "M", memberId: "a" }

const call = (
  toolName: string,
  served = "{}",
  rest: Partial<CallOutcome.CallOutcome> = {}
): CallOutcome.CallOutcome => ({
  toolCallId: `call-${toolName}`,
  toolName,
  owner: toolName.startsWith("t") ? own : {},
  outcome: "ran-ok",
  served,
  ...rest
})

const pick = (skillId: string, intent: PassFacts.AcceptedIntent = "hop"): PassFacts.AcceptedPick => ({
  skillId,
  intent
})

/** From, to and why, of a move in a later pass. */
const move = (cursor: string | undefined, facts: Partial<Cursor.Facts> = {}) => {
  const { by, from, to } = SkillMap.resolve(map, cursor, { iteration: 2, ...facts })
  return `${from ?? "-"} ${to ?? "-"} ${by}`
}

describe("SkillMap.resolve", () => {
  it("1: in pass 1 a verdict decides, whatever else there is", () => {
    const said = { iteration: 1, said: "zone", proposal: { skillId: "e" } }
    assert.strictEqual(move(undefined, { ...said, verdict: { by: "intent", chosen: "c" } }), "- c intent")
    assert.strictEqual(move("b", { ...said, verdict: { by: "continuity", chosen: "b" } }), "b b continuity")
    assert.strictEqual(move("b", { ...said, verdict: { by: "decider", chosen: "c" } }), "b c decider")
    assert.strictEqual(move(undefined, { ...said, verdict: { by: "menu", offered: ["a"] } }), "- - none")
    assert.strictEqual(move("b", { ...said, verdict: { by: "menu", offered: ["a"] } }), "b b stay")
    assert.strictEqual(move(undefined, { ...said, verdict: { by: "intent", chosen: "nowhere" } }), "- - none")
  })

  it("2: a later pass has no verdict, and matches no entry if there was one", () => {
    const verdict = { by: "menu", offered: ["a"] }
    assert.strictEqual(move(undefined, { verdict, said: "zone" }), "- - none")
    assert.strictEqual(move(undefined, { verdict, picks: [pick("a")] }), "- a model-pick")
    assert.strictEqual(move("a", { verdict: { by: "intent", chosen: "c" } }), "a a stay")
  })

  it("2: the first entry in declaration order that matches, with its witness", () => {
    const entered = (said: string, tags?: ReadonlyArray<string>) =>
      SkillMap.resolve(map, undefined, { iteration: 1, said, ...(tags === undefined ? {} : { tags }) })
    assert.deepStrictEqual(entered("Roof in the ZONE?"), {
      to: "a",
      by: "entry",
      witness: { text: "ZONE", keyword: "zone" }
    })
    assert.deepStrictEqual(entered("The roof leaks"), {
      to: "b",
      by: "entry",
      witness: { text: "roof", keyword: "roof" }
    })
    assert.deepStrictEqual(entered("", ["x", "building"]), { to: "b", by: "entry", witness: { text: "building" } })
    assert.deepStrictEqual(entered("nothing of the kind"), { by: "none" })
  })

  it("2: then a proposal, then a pick, then an activated entry, of entries alone", () => {
    const picks = [pick("b")]
    const proposal = { skillId: "e" }
    assert.strictEqual(move(undefined, { said: "zone", proposal, picks, activated: ["a"] }), "- a entry")
    assert.strictEqual(move(undefined, { proposal, picks, activated: ["a"] }), "- e tool-proposal")
    assert.strictEqual(move(undefined, { proposal: { skillId: "c" }, picks, activated: ["a"] }), "- b model-pick")
    assert.strictEqual(move(undefined, { picks: [pick("c")], activated: ["c", "e", "a"] }), "- a activated")
    assert.strictEqual(move(undefined, { picks: [pick("c")], activated: ["c"] }), "- - none")
    assert.strictEqual(move(undefined), "- - none")
  })

  it("3: for each call the first edge that fires, and of the calls the first", () => {
    assert.strictEqual(move("a", { outcomes: [call("t1", '{"ok":true}')] }), "a b route")
    assert.strictEqual(move("a", { outcomes: [call("t1", '{"ok":false}')] }), "a c route")
    assert.strictEqual(move("a", { outcomes: [call("other"), call("agent-tool"), call("t1")] }), "a e route")
    assert.strictEqual(move("a", { outcomes: [call("other")] }), "a a stay")
    assert.strictEqual(move("c", { outcomes: [call("t1")] }), "c c stay")
  })

  it("3: reads calls that ran; failures only where an edge asks for them", () => {
    for (const outcome of ["refused", "denied", "aborted", "truncated", "unknown"] as const) {
      assert.strictEqual(move("a", { outcomes: [call("t1", '{"ok":true}', { outcome })] }), "a a stay")
    }
    assert.strictEqual(move("a", { outcomes: [call("t1", '{"ok":true}', { outcome: "ran-error" })] }), "a d route")
    assert.strictEqual(move("a", { outcomes: [call("t1", "{}", { outcome: "absent" })] }), "a c route")
    assert.strictEqual(move("b", { outcomes: [call("t2", "{}", { outcome: "absent" })] }), "b a route")
    assert.strictEqual(move("b", { outcomes: [call("t2")] }), "b b stay")
  })

  it("3: takes another owner's tool of the same name for a different tool", () => {
    for (const owner of [{}, { mapId: "N", memberId: "a" }, { memberId: "z" }]) {
      assert.strictEqual(move("a", { outcomes: [call("t1", "{}", { owner })] }), "a a stay")
    }
    for (const owner of [own, { mapId: "M" }, { memberId: "b" }]) {
      assert.strictEqual(move("a", { outcomes: [call("t1", "{}", { owner })] }), "a c route")
    }
  })

  it("3: tells the guard that opened, those that refused, and the values judged", () => {
    const outcomes = [call("t1", '{"ok":false}')]
    const success = { field: "outcome", op: "in", value: ["ran-ok", "absent"], holds: true, found: "ran-ok" }
    const on = { from: "a", toolCallId: "call-t1", toolName: "t1", outcome: "ran-ok" }
    assert.deepStrictEqual<unknown>(SkillMap.resolve(map, "a", { iteration: 2, outcomes }), {
      from: "a",
      to: "c",
      by: "route",
      guard: { ...on, to: "c", conditions: [success] },
      guardsClosed: [
        { ...on, to: "b", conditions: [success, { field: "/ok", op: "eq", value: true, holds: false, found: false }] }
      ]
    })
    const stay = SkillMap.resolve(map, "b", { iteration: 2, outcomes: [call("t2")] })
    assert.notProperty(stay, "guard")
    assert.deepStrictEqual<unknown>(stay.guardsClosed?.[0]?.conditions, [
      { field: "outcome", op: "eq", value: "absent", holds: false, found: "ran-ok" }
    ])
  })

  it("3: reports what later calls named, where it differs", () => {
    const outcomes = [call("agent-tool"), call("t1"), call("agent-tool"), call("other"), call("t1", '{"ok":true}')]
    assert.deepStrictEqual(SkillMap.resolve(map, "a", { iteration: 2, outcomes }).conflict, {
      winner: { toolCallId: "call-agent-tool", toolName: "agent-tool", target: "e" },
      losers: [
        { toolCallId: "call-t1", toolName: "t1", target: "c" },
        { toolCallId: "call-t1", toolName: "t1", target: "b" }
      ]
    })
    assert.notProperty(SkillMap.resolve(map, "a", { iteration: 2, outcomes: [call("t1"), call("t1")] }), "conflict")
  })

  it("4: then a proposal, then the last accepted hop, other than the cursor; else it stays", () => {
    const picks = [pick("b"), pick("d"), pick("b", "reaffirm"), pick("guide", "open")]
    assert.strictEqual(move("a", { outcomes: [call("t1")], proposal: { skillId: "e" }, picks }), "a c route")
    assert.strictEqual(move("a", { proposal: { skillId: "e" }, picks }), "a e tool-proposal")
    assert.strictEqual(move("a", { proposal: { skillId: "a" }, picks }), "a d model-pick")
    assert.strictEqual(move("a", { proposal: { skillId: "nowhere" }, picks }), "a d model-pick")
    assert.strictEqual(move("d", { picks }), "d d stay")
    assert.strictEqual(move("a"), "a a stay")
  })

  it("4: moves for no pick but a hop, and for none of another map", () => {
    for (const intent of ["reengage", "reaffirm", "open"] as const) {
      assert.strictEqual(move("a", { picks: [pick("b", intent)] }), "a a stay")
      assert.strictEqual(move(undefined, { picks: [pick("b", intent)] }), "- - none")
    }
    assert.strictEqual(move("a", { picks: [pick("b", "hop+reengage")] }), "a b model-pick")
    assert.strictEqual(move("a", { picks: [{ ...pick("b"), mapId: "N" }] }), "a a stay")
  })

  it("takes a cursor that is on no skill of the map for none", () => {
    assert.strictEqual(move("gone", { said: "zone" }), "- a entry")
  })
})

describe("SkillMap.resolve laws", () => {
  const id = FastCheck.constantFrom("a", "b", "c", "d", "e", "z", "__proto__")
  const facts = FastCheck.record(
    {
      iteration: FastCheck.integer({ min: 1, max: 3 }),
      said: FastCheck.oneof(FastCheck.constantFrom("zone", "flat roof", "roof"), FastCheck.string({ unit: "binary" })),
      tags: FastCheck.array(FastCheck.constantFrom("building", "x")),
      activated: FastCheck.array(id, { maxLength: 2 }),
      verdict: FastCheck.record(
        { by: FastCheck.constantFrom("intent", "menu", ""), chosen: id },
        { requiredKeys: ["by"] }
      ),
      outcomes: FastCheck.array(
        FastCheck.record({
          toolCallId: FastCheck.constantFrom("1", "2", "3"),
          toolName: FastCheck.constantFrom("t1", "t2", "agent-tool", "x"),
          owner: FastCheck.constantFrom(own, {}),
          outcome: FastCheck.constantFrom(
            "ran-ok" as const,
            "ran-error" as const,
            "absent" as const,
            "refused" as const
          ),
          served: FastCheck.oneof(FastCheck.constantFrom('{"ok":true}', "{", "7"), FastCheck.string())
        }),
        { maxLength: 4 }
      ),
      proposal: FastCheck.record({ skillId: id }),
      picks: FastCheck.array(
        FastCheck.record({ skillId: id, intent: FastCheck.constantFrom(...PassFacts.AcceptedIntent.literals) }),
        { maxLength: 3 }
      )
    },
    { requiredKeys: ["iteration"] }
  )
  const cursor = FastCheck.option(id, { nil: undefined })

  it("is total, plain, and ends on a skill of the map or on none", () => {
    const isMove = Schema.is(CursorMove.CursorMove)
    FastCheck.assert(
      FastCheck.property(cursor, facts, (cursor, facts) => {
        const resolved = SkillMap.resolve(map, cursor, facts)
        assert.deepStrictEqual(SkillMap.resolve(map, cursor, facts), resolved)
        assert.deepStrictEqual(JSON.parse(JSON.stringify(resolved)), resolved)
        const isHome = map.skills.some(({ id }) => id === resolved.to)
        assert.strictEqual(isHome, resolved.to !== undefined)
        assert.strictEqual(resolved.by === "none", resolved.to === undefined)
        assert.isTrue(resolved.by === "" || isMove(resolved))
        assert.strictEqual("witness" in resolved, resolved.by === "entry")
        assert.strictEqual("guard" in resolved, resolved.by === "route")
        if (resolved.from !== undefined) assert.isDefined(resolved.to)
      }),
      { numRuns: 2_000 }
    )
  })

  it("no pick that was not accepted as a hop moves anything", () => {
    FastCheck.assert(
      FastCheck.property(cursor, facts, (cursor, { picks = [], ...facts }) => {
        const still = picks.filter((pick) => !PassFacts.isHop(pick))
        assert.deepStrictEqual(
          SkillMap.resolve(map, cursor, { ...facts, picks: still }),
          SkillMap.resolve(map, cursor, facts)
        )
      })
    )
  })
})

describe("SkillMap.reachable", () => {
  it("is what any edge leads to, then the entries, without the cursor", () => {
    assert.deepStrictEqual(SkillMap.reachable(map, "a"), ["b", "c", "d", "e"])
    assert.deepStrictEqual(SkillMap.reachable(map, "b"), ["a", "e"])
    assert.deepStrictEqual(SkillMap.reachable(map, undefined), ["a", "b", "e"])
    assert.deepStrictEqual(SkillMap.reachable(map, "gone"), ["a", "b", "e"])
  })
})

describe("Cursor.outstanding", () => {
  it("is the menu of a verdict that chose nothing, until something moves", () => {
    const menu = { by: "menu", offered: ["a", "b"] }
    assert.deepStrictEqual(Cursor.outstanding(menu, false), ["a", "b"])
    assert.isEmpty(Cursor.outstanding(menu, true))
    assert.isEmpty(Cursor.outstanding({ ...menu, chosen: "a" }, false))
    assert.isEmpty(Cursor.outstanding({ by: "intent" }, false))
    assert.isEmpty(Cursor.outstanding(undefined, false))
  })
})

describe("Entry.match", () => {
  const matches = (declared: string, said: string, kind: "keywords" | "phrases" = "keywords") =>
    Entry.match({ skillId: "a", [kind]: [declared] }, Entry.read(said), new Set())?.text

  it("matches whole words, in any case and spelling of the same letters", () => {
    assert.strictEqual(matches("zone", "In ZONE, 5"), "ZONE")
    assert.isUndefined(matches("zone", "ozone zones zone5 zone_a"))
    assert.strictEqual(matches("caf\u00e9", "the CAFE\u0301!"), "CAFE\u0301")
    assert.strictEqual(matches("c", "c++"), "c")
    assert.strictEqual(matches("__proto__", "a __proto__ b"), "__proto__")
    assert.isUndefined(matches("constructor", "words"))
  })

  it("matches a phrase over whatever stands between its words, and says it on one line", () => {
    assert.strictEqual(matches("flat roof", "a Flat\n\n —  ROOF?", "phrases"), "Flat ROOF")
    assert.isUndefined(matches("flat roof", "roof flat", "phrases"))
    assert.isUndefined(matches("flat roof", "flat green roof", "phrases"))
    assert.strictEqual(matches("a a b", "a a a b", "phrases"), "a a b")
  })

  it("needs no spaces where a script has none", () => {
    assert.strictEqual(matches("退款", "我要退款吗"), "退款")
    assert.isUndefined(matches("退款", "退了款"))
    assert.strictEqual(matches("คืน", "ขอคืนเงิน"), "คืน")
    assert.strictEqual(matches("api退", "我的API退了"), "API退")
  })

  it("takes time in the length of the text", () => {
    const said = Entry.read("a ".repeat(200_000))
    assert.isUndefined(Entry.match({ skillId: "a", phrases: [`${"a ".repeat(90)}b`] }, said, new Set()))
  })

  it("is total", () => {
    FastCheck.assert(
      FastCheck.property(
        FastCheck.string({ unit: "binary" }),
        FastCheck.string({ unit: "binary" }),
        (declared, said) => {
          const text = matches(declared, said)
          if (text !== undefined) assert.isTrue(Entry.hasWord(declared))
          assert.strictEqual(matches(said, said) === undefined, !Entry.hasWord(said))
        }
      )
    )
  })
})

describe("Skill steps", () => {
  const stepped: Skill.Skill = {
    ...skill("a", "t1"),
    steps: [
      { toolName: "t1", note: "First look." },
      { toolName: "t1", note: "Look again." },
      { toolName: "x", note: "Then tell." }
    ]
  }

  it("are done in order, each by a success of its tool", () => {
    const after = (...outcomes: ReadonlyArray<CallOutcome.CallOutcome>) => Skill.stepAfter(stepped, 0, outcomes)
    assert.strictEqual(after(), 0)
    assert.strictEqual(after(call("x"), call("t1")), 1)
    assert.strictEqual(after(call("t1"), call("t1", "", { outcome: "absent" }), call("x"), call("x")), 3)
    for (const outcome of ["ran-error", "refused", "denied", "aborted", "truncated", "unknown"] as const) {
      assert.strictEqual(after(call("t1", "", { outcome })), 0)
    }
    assert.strictEqual(Skill.stepAfter(skill("b"), 0, [call("t1")]), 0)
  })

  it("are skipped for a reason", () => {
    assert.deepStrictEqual(Skill.skip(stepped, 1, "It was looked at."), Either.right(2))
    for (const [at, reason] of [
      [1, ""],
      [1, " \n"],
      [3, "done"]
    ] as const) {
      const skipped = Skill.skip(stepped, at, reason)
      assert.isTrue(Either.isLeft(skipped) && skipped.left.tag === "StepNotSkipped")
    }
  })
})
