import { assert, describe, expect, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import * as Skill from "../../src/kernel/Skill.ts"
import * as SkillMap from "../../src/kernel/SkillMap.ts"
import * as SkillMapError from "../../src/kernel/SkillMapError.ts"

const schema = { type: "object", properties: { id: { type: "string" } } }

const skill = (id: string, ...tools: ReadonlyArray<string>): Skill.Skill => ({
  id,
  instructions: `Do ${id}.`,
  tools: tools.map((name) => ({ name, schema }))
})

/** A map that can be made. */
const sound: SkillMap.SkillMap = {
  id: "orders",
  entries: [{ skillId: "find", keywords: ["order"], phrases: ["where is"], tags: ["shop"] }, { skillId: "talk" }],
  skills: [skill("find", "lookup"), skill("change", "lookup", "update"), skill("talk")],
  routes: [
    { from: "find", to: "change", tool: "lookup", when: [{ field: "/status", op: "in", value: ["open", "held"] }] },
    { from: "find", to: "talk", when: [{ field: "outcome", op: "eq", value: "absent" }] },
    { from: "change", to: "find", tool: "update" }
  ]
}

const problems = (map: Partial<SkillMap.SkillMap>): ReadonlyArray<string> =>
  Either.match(SkillMap.make({ ...sound, ...map }), {
    onLeft: ({ problems }) => problems.map(({ kind, where }) => `${kind} ${where}`),
    onRight: () => []
  })

describe("SkillMap.make", () => {
  it("gives back a map that is sound, as plain data", () => {
    const made = Either.getOrThrow(SkillMap.make({ ...sound, nonParkable: true }))
    assert.deepStrictEqual(made, { ...sound, nonParkable: true })
    assert.deepStrictEqual(JSON.parse(JSON.stringify(made)), made)
    assert.isTrue(Schema.is(SkillMap.SkillMap)(made))
  })

  const route = sound.routes[0]
  const guarded = (...when: ReadonlyArray<unknown>): Partial<SkillMap.SkillMap> => ({
    routes: [
      {
        ...route,
        from: "find",
        to: "change",
        tool: "lookup",
        when:
          Schema.decodeUnknownSync(SkillMap.SkillMap)({ ...sound, routes: [{ from: "a", to: "b", when }] }).routes[0]
            ?.when ?? []
      }
    ]
  })
  const cases: ReadonlyArray<readonly [Partial<SkillMap.SkillMap>, ReadonlyArray<string>]> = [
    [{ id: " " }, ["BlankId /id"]],
    [{ skills: [...sound.skills, skill("find")] }, ["DuplicateId /skills/3/id"]],
    [{ skills: [], entries: [], routes: [] }, ["NoMembers /skills"]],
    [{ entries: [] }, ["NoEntries /entries"]],
    [{ skills: [...sound.skills, skill("")], entries: [...sound.entries, { skillId: "" }] }, ["BlankId /skills/3/id"]],
    [{ entries: [...sound.entries, { skillId: "gone" }] }, ["UnknownTarget /entries/2/skillId"]],
    [
      { routes: [...sound.routes, { from: "gone", to: "toString", tool: "x" }] },
      ["UnknownTarget /routes/3/from", "UnknownTarget /routes/3/to"]
    ],
    [{ skills: [...sound.skills, skill("alone")] }, ["Unreachable /skills/3"]],
    [
      {
        skills: [...sound.skills, skill("x"), skill("y")],
        routes: [...sound.routes, { from: "x", to: "y", tool: "t" }, { from: "y", to: "x", tool: "t" }]
      },
      ["Unreachable /skills/3", "Unreachable /skills/4"]
    ],
    [
      { entries: [{ skillId: "find", keywords: ["!?"], phrases: [""], tags: [""] }, { skillId: "talk" }] },
      [
        "EntryNeverMatches /entries/0/keywords/0",
        "EntryNeverMatches /entries/0/phrases/0",
        "EntryNeverMatches /entries/0/tags/0"
      ]
    ],
    [
      { entries: [{ skillId: "find", phrases: ["x".repeat(201)] }, { skillId: "talk" }] },
      ["EntryNeverMatches /entries/0/phrases/0"]
    ],
    [{ entries: [{ skillId: "find", pattern: "(a+)+$" }, { skillId: "talk" }] }, ["PatternRefused /entries/0/pattern"]],
    [{ routes: [...sound.routes, { from: "talk", to: "find" }] }, ["RouteWithoutCause /routes/3"]],
    [{ routes: [...sound.routes, { from: "talk", to: "find", when: [] }] }, ["RouteWithoutCause /routes/3"]],
    [{ routes: [...sound.routes, { from: "talk", to: "find", tool: " " }] }, ["ToolNameRefused /routes/3/tool"]],
    [
      guarded({ field: "status", op: "eq", value: 1 }, { field: "/n", op: "gt", value: {} }),
      ["GuardMalformed /routes/0/when/0", "GuardMalformed /routes/0/when/1"]
    ],
    [
      guarded({ field: "/n", op: "gt", value: 5 }, { field: "/n", op: "lt", value: 3 }),
      ["GuardNeverPasses /routes/0/when"]
    ],
    [guarded({ field: "/n", op: "in", value: [] }), ["GuardNeverPasses /routes/0/when"]],
    [guarded({ field: "outcome", op: "eq", value: "denied" }), ["GuardNeverPasses /routes/0/when"]],
    [{ skills: [skill("find", "lookup", "lookup"), ...sound.skills.slice(1)] }, ["DuplicateId /skills/0/tools/1/name"]],
    [
      { skills: [skill("find", "read_skill", "a/b", ""), ...sound.skills.slice(1)] },
      [
        "ToolNameRefused /skills/0/tools/0/name",
        "ToolNameRefused /skills/0/tools/1/name",
        "ToolNameRefused /skills/0/tools/2/name"
      ]
    ],
    [
      {
        skills: [
          ...sound.skills.slice(0, 2),
          { ...skill("talk"), tools: [{ name: "lookup", schema: { type: "object" } }] }
        ]
      },
      ["ToolConflict /skills/2/tools/0/schema"]
    ]
  ]
  for (const [map, expected] of cases) {
    it(`finds ${expected.join(", ")}`, () => assert.deepStrictEqual(problems(map), expected))
  }

  it("takes the same schema in another order of keys for the same", () => {
    const turned = { properties: { id: { type: "string" } }, type: "object" }
    assert.isEmpty(
      problems({
        skills: [...sound.skills.slice(0, 2), { ...skill("talk"), tools: [{ name: "lookup", schema: turned }] }]
      })
    )
  })

  it("lists everything that is wrong, and says it in print", () => {
    const broken: SkillMap.SkillMap = {
      id: "a\u001b[31m\nb",
      entries: [{ skillId: "x\ny", pattern: "." }],
      skills: [skill("a"), skill("a", "present")],
      routes: [{ from: "a", to: "b" }]
    }
    const error = Either.getOrThrow(Either.flip(SkillMap.make(broken)))
    assert.instanceOf(error, SkillMapError.SkillMapError)
    assert.strictEqual(
      error.message,
      [
        'The skill map "a\\u001b[31m\\nb" cannot be mounted: it has 8 faults. At /skills/1/id. Give each an id of its own.',
        "/skills/1/id: a is there already.",
        "/skills/1/tools/0/name: present is a tool of the framework.",
        '/entries/0/skillId: The map has no skill "x\\ny".',
        "/entries/0/pattern: A pattern is not run: a backtracking engine can take exponential time on what a person types.",
        "/routes/0/to: The map has no skill b.",
        "/routes/0: Any call at all would take this route.",
        "/skills/0: Nothing leads to a.",
        "/skills/1: Nothing leads to a."
      ].join("\n")
    )
    for (const { next, what } of error.problems) assert.isTrue(what !== "" && next !== "")
  })

  it("is total", () => {
    const id = FastCheck.constantFrom("a", "b", "", "__proto__", "x\ny")
    const text = FastCheck.string({ unit: "binary", maxLength: 6 })
    const map = FastCheck.record({
      id,
      entries: FastCheck.array(
        FastCheck.record({ skillId: id, keywords: FastCheck.array(text), pattern: text }, { requiredKeys: ["skillId"] })
      ),
      skills: FastCheck.array(
        FastCheck.record({
          id,
          instructions: text,
          tools: FastCheck.array(FastCheck.record({ name: text, schema: FastCheck.jsonValue() }))
        })
      ),
      routes: FastCheck.array(
        FastCheck.record(
          {
            from: id,
            to: id,
            tool: text,
            when: FastCheck.array(
              FastCheck.record({
                field: text,
                op: FastCheck.constantFrom("eq" as const, "in" as const, "lt" as const),
                value: FastCheck.anything()
              })
            )
          },
          { requiredKeys: ["from", "to"] }
        )
      )
    })
    FastCheck.assert(
      FastCheck.property(map, (map) => {
        const made = SkillMap.make(map)
        if (Either.isRight(made)) assert.isTrue(SkillMap.toMermaid(made.right).startsWith("flowchart TD\n"))
        SkillMap.toMermaid(map)
      })
    )
  })
})

describe("SkillMap.mount", () => {
  it("makes the plan of the lease", () => {
    assert.deepStrictEqual(Either.getOrThrow(SkillMap.mount([sound, { ...sound, id: "other", nonParkable: true }])), {
      maps: [
        {
          id: "orders",
          memberIds: ["find", "change", "talk"],
          toolNames: ["lookup", "update"],
          entryIds: ["find", "talk"]
        },
        {
          id: "other",
          memberIds: ["find", "change", "talk"],
          toolNames: ["lookup", "update"],
          entryIds: ["find", "talk"],
          nonParkable: true
        }
      ],
      renewalGrace: 3
    })
    assert.strictEqual(Either.getOrThrow(SkillMap.mount([sound], 1)).renewalGrace, 1)
  })

  it("refuses no map, a grace that is no count of passes, a map twice, and a map that cannot be made", () => {
    const refused = (maps: ReadonlyArray<SkillMap.SkillMap>, grace?: number) =>
      Either.getOrThrow(Either.flip(SkillMap.mount(maps, grace))).problems.map(({ kind, where }) => `${kind} ${where}`)
    assert.deepStrictEqual(refused([]), ["NoMap /maps"])
    for (const grace of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.deepStrictEqual(refused([sound], grace), ["GraceRefused /renewalGrace"])
    }
    assert.deepStrictEqual(refused([sound, sound]), ["DuplicateId /maps/1/id"])
    assert.deepStrictEqual(refused([{ ...sound, skills: [], entries: [], routes: [] }]), ["NoMembers /maps/0/skills"])
  })
})

describe("SkillMap.fieldsOf", () => {
  it("keeps what the routes of a tool judge, and nothing else", () => {
    const result = JSON.stringify({ status: "open", secret: "x", n: 1 })
    const kept = [{ pointer: "/status", value: "open" }]
    assert.deepStrictEqual(SkillMap.fieldsOf([sound], "lookup", result, false), kept)
    assert.deepStrictEqual(SkillMap.fieldsOf([sound], "lookup", result, true), kept, "a text may be JSON")
    assert.isUndefined(SkillMap.fieldsOf([sound], "update", result, false))
    const deep = `${"[".repeat(500)}${"]".repeat(500)}`
    for (const status of ['{"__proto__":1}', deep, "-0", '"\\ud800"']) {
      assert.deepStrictEqual(SkillMap.fieldsOf([sound], "lookup", `{"status":${status}}`, false), [])
    }
    assert.deepStrictEqual(SkillMap.fieldsOf([sound], "lookup", "no JSON", true), [])
  })
})

describe("SkillMap.toMermaid", () => {
  it("draws nodes, entries, and routes with their guards", () =>
    expect(`${SkillMap.toMermaid(sound)}\n`).toMatchFileSnapshot(
      new URL("./golden/orders.mmd", import.meta.url).pathname
    ))

  it("lets no text be read as Mermaid", () =>
    expect(
      `${SkillMap.toMermaid({
        id: 'x"] --> y["',
        entries: [{ skillId: "end", keywords: ['"| s9', "#quot;", "%%{init: {}}%%"] }],
        skills: [
          skill("end"),
          skill("`**bold**`"),
          skill("<img src=x onerror=alert(1)>\nclick s0 href"),
          skill("名前 é 😀\u2028\ud800")
        ],
        routes: [{ from: "end", to: "`**bold**`", tool: "a;b", when: [{ field: "/x|y", op: "ne", value: '"-->|\n' }] }]
      })}\n`
    ).toMatchFileSnapshot(new URL("./golden/hostile.mmd", import.meta.url).pathname))

  it("has one line for each thing, and quotes that only it opens", () => {
    const text = FastCheck.string({ unit: "binary" })
    FastCheck.assert(
      FastCheck.property(FastCheck.uniqueArray(text, { minLength: 1, maxLength: 4 }), text, text, (ids, word, tool) => {
        const [first = ""] = ids
        const drawn = SkillMap.toMermaid({
          id: word,
          entries: [{ skillId: first, keywords: [word] }],
          skills: ids.map((id) => skill(id)),
          routes: [{ from: first, to: first, tool, when: [{ field: word, op: "eq", value: tool }] }]
        })
        const lines = drawn.split("\n")
        assert.strictEqual(lines.length, 4 + ids.length)
        const quoted = /^ {2}(?:entry\(\["[^"`<>&|]*"\]\)|s\d\["[^"`<>&|]*"\]|(?:entry|s\d) -->\|"[^"`<>&|]*"\| s\d)$/
        for (const line of lines.slice(1)) assert.match(line, quoted)
        assert.notMatch(drawn, /[^\n\P{Cc}]|[\u2028\u2029]|%%|--(?!>\|)/u)
      })
    )
  })
})
