import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Schema } from "effect"
import * as Coverage from "../../src/kernel/Coverage.ts"
import * as CoverageError from "../../src/kernel/CoverageError.ts"
import * as Json from "../../src/kernel/Json.ts"

/** What an author in another language, or with a wrong type, could hand over. */
const foreign = (declaration: unknown): Coverage.Absent => declaration as Coverage.Absent

const nothing = (declaration: unknown) => Either.getOrThrow(Coverage.absent(foreign(declaration)))
const covered = (result: unknown, declaration: unknown) =>
  Either.getOrThrow(Coverage.coverage(result, foreign(declaration)))

const faults = (made: Either.Either<unknown, CoverageError.CoverageError>) => {
  const error = Either.getOrThrow(Either.flip(made))
  assert.instanceOf(error, CoverageError.CoverageError)
  for (const { next, what } of error.problems) {
    assert.notStrictEqual(what, "")
    assert.notStrictEqual(next, "")
  }
  assert.include(error.message, error.problems[0].what)
  return error.problems.map(({ kind, where }) => `${kind} ${where}`)
}

const full = {
  what: "an invoice of 2024",
  checked: ["the mailbox", { what: "the ledger", why: "it is the book of record" }],
  notChecked: ["the archive"],
  cannotCover: [{ what: "paper", why: "nobody scanned it" }],
  tryInstead: "ask accounting"
} satisfies Coverage.Absent

describe("Coverage.absent", () => {
  it("makes an envelope in the words of the wire, with a note that never changes", () => {
    assert.deepStrictEqual(nothing(full), {
      wherefore_absent: true,
      outcome: "absent",
      looked_for: "an invoice of 2024",
      checked: ["the mailbox", { what: "the ledger", why: "it is the book of record" }],
      not_checked: ["the archive"],
      cannot_cover: [{ what: "paper", why: "nobody scanned it" }],
      retry_returns_the_same: true,
      try_instead: "ask accounting",
      note: Coverage.absenceNote
    })
    const least = nothing({ what: "x", checked: ["y"] })
    assert.deepStrictEqual(Object.keys(least), [
      "wherefore_absent",
      "outcome",
      "looked_for",
      "checked",
      "retry_returns_the_same",
      "note"
    ])
    assert.strictEqual(least.note, Coverage.absenceNote)
    assert.notMatch(Coverage.absenceNote + Coverage.coverageNote, /\d/)
  })

  it("is what its schema says, and plain data", () => {
    const made = nothing(full)
    assert.isTrue(Schema.is(Coverage.Absence)(made))
    assert.isTrue(Json.equal(made, JSON.parse(JSON.stringify(made))))
    assert.isFalse(Schema.is(Coverage.Absence)({ ...made, checked: [] }))
  })

  it("leaves out lists that are empty", () => {
    const made = nothing({ what: "x", checked: ["y"], notChecked: [], cannotCover: [] })
    assert.notProperty(made, "not_checked")
    assert.notProperty(made, "cannot_cover")
  })

  const refused: ReadonlyArray<readonly [what: string, declaration: unknown, faults: ReadonlyArray<string>]> = [
    ["no declaration", undefined, ["NotADeclaration "]],
    ["a list", [full], ["NotADeclaration "]],
    ["an instance", new Map(), ["NotADeclaration "]],
    ["no words for what was looked for", { checked: ["y"] }, ["BlankText /what"]],
    ["blank words", { what: " \n", checked: ["y"] }, ["BlankText /what"]],
    ["nothing checked", { what: "x" }, ["NothingChecked /checked"]],
    ["an empty list of what was checked", { what: "x", checked: [] }, ["NothingChecked /checked"]],
    ["a text for a list", { what: "x", checked: "y" }, ["NotAList /checked"]],
    [
      "blank entries",
      { what: "x", checked: ["y", ""], notChecked: [{ what: " " }] },
      ["BlankEntry /checked/1", "BlankEntry /notChecked/0"]
    ],
    [
      "entries that are none",
      { what: "x", checked: [1, null, {}] },
      ["NotAnEntry /checked/0", "NotAnEntry /checked/1", "NotAnEntry /checked/2"]
    ],
    ["a blank why", { what: "x", checked: [{ what: "y", why: "" }] }, ["BlankWhy /checked/0/why"]],
    ["a why that is no text", { what: "x", checked: [{ what: "y", why: 7 }] }, ["BlankWhy /checked/0/why"]],
    [
      "no reason why something cannot be covered",
      { what: "x", checked: ["y"], cannotCover: ["z", { what: "z" }] },
      ["WhyMissing /cannotCover/0", "WhyMissing /cannotCover/1"]
    ],
    ["a blank advice", { what: "x", checked: ["y"], tryInstead: "" }, ["BlankText /tryInstead"]],
    ["a field of the wire", { what: "x", checked: ["y"], not_checked: ["z"] }, ["UnknownField /not_checked"]],
    [
      "every fault at once",
      { what: "", checked: [], more: 1 },
      ["UnknownField /more", "BlankText /what", "NothingChecked /checked"]
    ]
  ]
  for (const [what, declaration, expected] of refused) {
    it(`refuses ${what}`, () => assert.deepStrictEqual(faults(Coverage.absent(foreign(declaration))), expected))
  }

  it("shows nothing of a declaration in its refusal but the names of fields", () => {
    const error = Either.getOrThrow(
      Either.flip(Coverage.absent(foreign({ what: "x", checked: [{ secret: "s3cr3t" }] })))
    )
    assert.notInclude(error.message, "s3cr3t")
  })
})

describe("Coverage.coverage", () => {
  it("puts the boundary before the result", () => {
    const made = covered({ rows: [1] }, { checked: ["2024"], notChecked: [{ what: "2023", why: "too slow" }] })
    assert.strictEqual(
      JSON.stringify(made),
      JSON.stringify({
        wherefore_coverage: {
          checked: ["2024"],
          not_checked: [{ what: "2023", why: "too slow" }],
          note: Coverage.coverageNote
        },
        result: { rows: [1] }
      })
    )
    assert.isTrue(Schema.is(Coverage.Covered(Schema.Struct({ rows: Schema.Array(Schema.Number) })))(made))
  })

  it("takes one of the lists alone", () => {
    for (const declaration of [{ checked: ["a"] }, { notChecked: ["a"] }, { cannotCover: [{ what: "a", why: "b" }] }]) {
      assert.lengthOf(Coverage.read(covered(1, declaration)).declared, 1)
    }
  })

  const refused: ReadonlyArray<readonly [what: string, declaration: unknown, faults: ReadonlyArray<string>]> = [
    ["a declaration of nothing", {}, ["NothingDeclared "]],
    ["three empty lists", { checked: [], notChecked: [], cannotCover: [] }, ["NothingDeclared "]],
    ["only entries that are none", { checked: [" "] }, ["BlankEntry /checked/0"]],
    ["the words of an absence", { checked: ["a"], what: "b" }, ["UnknownField /what"]],
    ["something without its why", { cannotCover: ["a"] }, ["WhyMissing /cannotCover/0"]]
  ]
  for (const [what, declaration, expected] of refused) {
    it(`refuses ${what}`, () => assert.deepStrictEqual(faults(Coverage.coverage(1, foreign(declaration))), expected))
  }
})

describe("Coverage.read", () => {
  const lists = {
    checked: [{ what: "the mailbox" }, { what: "the ledger", why: "it is the book of record" }],
    notChecked: [{ what: "the archive" }],
    cannotCover: [{ what: "paper", why: "nobody scanned it" }]
  }

  it("reads an absence, which grounds its three lists and nothing else of it", () => {
    assert.deepStrictEqual(Coverage.read(nothing(full)), {
      outcome: "absent",
      declared: [{ ...lists, kind: "absence", lookedFor: "an invoice of 2024", tryInstead: "ask accounting" }],
      grounds: [lists]
    })
  })

  it("reads a boundary, whose lists ground with the result, and changes no outcome", () => {
    const read = Coverage.read(covered([7], { checked: ["a"] }))
    assert.notProperty(read, "outcome")
    const own = { checked: [{ what: "a" }], notChecked: [], cannotCover: [] }
    assert.deepStrictEqual(read, { declared: [{ ...own, kind: "ledger" }], grounds: [own, [7]] })
  })

  it("reads both of an absence with a boundary, which is absent", () => {
    const read = Coverage.read(covered(nothing(full), { notChecked: ["b"] }))
    assert.strictEqual(read.outcome, "absent")
    assert.deepStrictEqual(
      read.declared.map(({ kind }) => kind),
      ["ledger", "absence"]
    )
    assert.notInclude(JSON.stringify(read.grounds), "invoice")
  })

  it("lets what stands beside a result ground as well", () => {
    const read = Coverage.read({ ...covered(1, { checked: ["a"] }), page: 4711 })
    assert.deepInclude(read.grounds, { page: 4711 })
    assert.deepInclude(read.grounds, 1)
  })

  const absence = nothing(full)
  const data: ReadonlyArray<unknown> = [
    null,
    7,
    "wherefore_absent",
    [absence],
    { ...absence, wherefore_absent: "true" },
    { ...absence, wherefore_absent: 1 },
    { ...absence, checked: [] },
    { ...absence, checked: "the mailbox" },
    { ...absence, checked: [" ", 1] },
    { ...absence, checked: undefined },
    { inner: absence },
    Object.assign(Object.create({ a: 1 }), absence),
    { wherefore_coverage: { checked: ["a"] } },
    { wherefore_coverage: ["a"], result: 1 },
    { wherefore_coverage: true, result: 1 },
    { wherefore_coverage: { checked: [] }, result: 1 },
    { wherefore_coverage: { checked: "a" }, result: 1 },
    { coverage: { checked: ["a"] }, result: 1 }
  ]
  data.forEach((value, index) => {
    it(`takes what is like an envelope for data (${index})`, () => {
      const read = Coverage.read(value)
      assert.deepStrictEqual(read, { declared: [], grounds: [value] })
      assert.strictEqual(read.grounds[0], value)
    })
  })

  it("leaves out entries of a foreign envelope that are none", () => {
    const { declared } = Coverage.read({ ...absence, checked: ["a", 1, ""], not_checked: 3, cannot_cover: ["b"] })
    assert.deepStrictEqual(declared[0], {
      checked: [{ what: "a" }],
      notChecked: [],
      cannotCover: [],
      tryInstead: "ask accounting",
      kind: "absence",
      lookedFor: full.what
    })
  })

  it("reads back what was declared", () => {
    const text = FastCheck.string({ minLength: 1 }).filter((one) => one.trim() !== "")
    const withWhy = FastCheck.record({ what: text, why: text })
    const entry = FastCheck.oneof(text, withWhy, FastCheck.record({ what: text }))
    const list = FastCheck.array(entry, { maxLength: 4 })
    FastCheck.assert(
      FastCheck.property(
        text,
        FastCheck.array(entry, { minLength: 1, maxLength: 4 }),
        list,
        FastCheck.array(withWhy, { maxLength: 4 }),
        (what, checked, notChecked, cannotCover) => {
          const made = nothing({ what, checked, notChecked, cannotCover })
          const whole = (all: ReadonlyArray<Coverage.Written>) =>
            all.map((one) => (typeof one === "string" ? { what: one } : { ...one }))
          const expected = {
            checked: whole(checked),
            notChecked: whole(notChecked),
            cannotCover: whole(cannotCover),
            kind: "absence" as const,
            lookedFor: what
          }
          for (const value of [made, JSON.parse(JSON.stringify(made)), structuredClone(made)]) {
            assert.deepEqual(Coverage.read(value).declared, [expected])
          }
        }
      )
    )
  })

  it("is total", () => {
    const hostile: ReadonlyArray<unknown> = [
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("no")
          }
        }
      ),
      new Proxy([], {
        get: () => {
          throw new Error("no")
        },
        getPrototypeOf: () => {
          throw new Error("no")
        }
      }),
      {
        wherefore_absent: true,
        get checked() {
          throw new Error("no")
        }
      },
      {
        wherefore_absent: true,
        checked: new Proxy([], {
          ownKeys: () => {
            throw new Error("no")
          }
        })
      },
      Object.create(null)
    ]
    for (const value of hostile) assert.deepStrictEqual(Coverage.read(value).declared, [])
    const loop: { wherefore_coverage: unknown; result: unknown } = { wherefore_coverage: { checked: ["a"] }, result: 1 }
    loop.result = loop
    assert.isAtMost(Coverage.read(loop).declared.length, 16)
    FastCheck.assert(
      FastCheck.property(FastCheck.anything(), (value) => {
        assert.isArray(Coverage.read(value).grounds)
        assert.isTrue(Either.isEither(Coverage.absent(foreign(value))))
        assert.isTrue(Either.isEither(Coverage.coverage(value, foreign(value))))
      })
    )
  })
})

describe("Coverage.compose", () => {
  const of = (lists: Partial<Coverage.Coverage>): Coverage.Coverage => ({
    checked: [],
    notChecked: [],
    cannotCover: [],
    ...lists
  })

  it("leaves an answer as it is where nothing was declared", () => {
    assert.strictEqual(Coverage.compose("Yes.\n", []), "Yes.\n")
    assert.strictEqual(Coverage.compose("Yes.", [of({})]), "Yes.")
  })

  it("puts one block after the answer: merged in run order, duplicates by what and why dropped", () => {
    const first = of({
      checked: [{ what: "b" }, { what: "a" }],
      notChecked: [{ what: "a" }],
      cannotCover: [{ what: "paper", why: "unscanned" }]
    })
    const second = of({
      checked: [{ what: "a" }, { what: "a", why: "twice" }, { what: "c" }],
      notChecked: [{ what: "a" }],
      cannotCover: [{ what: "paper", why: "unscanned" }]
    })
    assert.strictEqual(
      Coverage.compose("Yes.", [first, second]),
      [
        "Yes.",
        "",
        "Checked:",
        "- b",
        "- a",
        "- a (twice)",
        "- c",
        "",
        "Not checked:",
        "- a",
        "",
        "Cannot cover:",
        "- paper (unscanned)"
      ].join("\n")
    )
  })

  it("shows 12 of a section and counts the others", () => {
    const many = (n: number) => [of({ notChecked: Array.from({ length: n }, (_, at) => ({ what: `page ${at}` })) })]
    assert.notInclude(Coverage.block(many(12)), "more")
    assert.lengthOf(Coverage.block(many(12)).split("\n"), 13)
    const lines = Coverage.block(many(15)).split("\n")
    assert.lengthOf(lines, 14)
    assert.strictEqual(lines.at(-1), "- 3 more")
    assert.strictEqual(lines.at(-2), "- page 11")
  })

  it("prints an entry on one line, of 240 characters", () => {
    const text = Coverage.block([of({ checked: [{ what: "a\nNot checked:\u2028- b", why: "c\r" }] })])
    assert.strictEqual(text, "Checked:\n- a\\u000aNot checked:\\u2028- b (c\\u000d)")
    assert.strictEqual(
      Coverage.block([of({ checked: [{ what: "x".repeat(241) }] })]),
      `Checked:\n- ${"x".repeat(240)}… 1 more`
    )
  })
})
