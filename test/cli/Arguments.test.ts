import { assert, describe, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as ScreenLine from "../../src/programs/ScreenLine.ts"
import * as Arguments from "../../src/cli/Arguments.ts"
import * as Help from "../../src/cli/Help.ts"
import * as Verb from "../../src/cli/Verb.ts"
import * as Fixture from "./Fixture.ts"

const complaint = (...words: ReadonlyArray<string>): string => {
  const { wants } = Arguments.parse(words)
  return wants._tag === "Wrong" ? `${wants.complaint.what} ${wants.complaint.next}` : wants._tag
}

const read = (...words: ReadonlyArray<string>): Arguments.Arguments => {
  const { wants } = Arguments.parse(words)
  assert.strictEqual(wants._tag, "Run")
  return wants._tag === "Run" ? wants.arguments : { verb: "help", positionals: [], options: new Map(), rest: [] }
}

describe("Arguments", () => {
  it("reads a verb, what it takes and its options, in any order", () => {
    for (const words of [
      ["why", "@", "--value", "$1,859", "--dir", "d"],
      ["--dir=d", "why", "--value=$1,859", "@"],
      ["--value", "$1,859", "--dir", "d", "why", "@"]
    ]) {
      const { options, positionals, verb } = read(...words)
      assert.deepStrictEqual([verb, positionals], ["why", ["@"]])
      assert.deepStrictEqual([options.get("value"), options.get("dir")], ["$1,859", "d"])
    }
  })

  it("takes a value that starts with a minus, and none that looks like an option", () => {
    assert.strictEqual(read("why", "@", "--value", "-6594").options.get("value"), "-6594")
    assert.strictEqual(read("why", "@", "--value=--json").options.get("value"), "--json")
    assert.strictEqual(
      complaint("why", "@", "--value", "--json"),
      "--value needs a value. Write --value TEXT, or --value=TEXT."
    )
  })

  it("leaves what follows -- to the program", () => {
    assert.deepStrictEqual(read("run", "x.ts", "--", "--json", "-v", "--"), {
      verb: "run",
      positionals: ["x.ts"],
      options: new Map(),
      rest: ["--json", "-v", "--"]
    })
    assert.include(complaint("show", "@", "--", "x"), "no use for what follows --")
  })

  it("takes - and @2 for runs", () => {
    assert.deepStrictEqual(read("verify", "-").positionals, ["-"])
    assert.deepStrictEqual(read("show", "@2").positionals, ["@2"])
  })

  it("asks for help and the version wherever they are written", () => {
    assert.strictEqual(complaint(), "Help")
    assert.strictEqual(complaint("--help"), "Help")
    assert.strictEqual(complaint("-h"), "Help")
    assert.deepStrictEqual(Arguments.parse(["why", "--help"]).wants, { _tag: "Help", verb: "why" })
    assert.deepStrictEqual(Arguments.parse(["help", "why"]).wants, { _tag: "Help", verb: "why" })
    assert.strictEqual(complaint("--version"), "Version")
  })

  for (const [words, said] of [
    [["shwo", "@"], 'There is no command "shwo". Did you mean "show"?'],
    [["ver"], 'There is no command "ver". Did you mean "verify"?'],
    [["qqqqqq"], 'There is no command "qqqqqq". See: wherefore help'],
    [["help", "rusn"], 'There is no command "rusn". Did you mean "runs"?'],
    [["runs", "--jsn"], '"runs" has no option "--jsn". Did you mean --json?'],
    [["runs", "--value", "x"], '"runs" has no option "--value". See: wherefore runs --help'],
    [["runs", "-x"], '"runs" has no option "-x". See: wherefore runs --help'],
    [["--jsn"], 'There is no option "--jsn". See: wherefore help'],
    [["why"], '"why" needs RUN. Write: wherefore why RUN [--value TEXT | --call ID | --pass N | …]'],
    [["run"], '"run" needs FILE.ts. Write: wherefore run FILE.ts [-- ARGUMENTS]'],
    [["runs", "x"], '"runs" has no use for "x". Write: wherefore runs'],
    [["runs", "--json=yes"], "--json takes no value. Write --json alone."],
    [["runs", "--dir"], "--dir needs a value. Write --dir DIR, or --dir=DIR."],
    [["runs", "--dir="], "--dir needs a value. Write --dir DIR, or --dir=DIR."]
  ] as const) {
    it(`says what is wrong with "${words.join(" ")}"`, () => {
      assert.strictEqual(complaint(...words), said)
    })
  }

  it("is total, and says nothing raw", () => {
    const word = FastCheck.oneof(
      FastCheck.string({ unit: "binary", maxLength: 12 }),
      FastCheck.constantFrom("why", "run", "--", "-", "--json", "--value", "--dir=", Fixture.hostile)
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(word, { maxLength: 6 }), (words) => {
        assert.notMatch(complaint(...words), Fixture.raw)
      })
    )
  })

  it("has a help of at most 80 columns for everything", () => {
    for (const lines of [Help.overview, ...Verb.verbs.map(Help.ofVerb)]) {
      for (const line of lines)
        assert.isAtMost(ScreenLine.widthOf(line), 80, ScreenLine.printLine(line, { colour: false }))
    }
    for (const { examples } of Verb.verbs) {
      for (const example of examples) {
        const words = example.split(" | ")[0]?.split(" ").slice(1) ?? []
        assert.notStrictEqual(Arguments.parse(words).wants._tag, "Wrong", example)
      }
    }
  })
})
