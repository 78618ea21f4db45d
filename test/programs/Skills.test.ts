import * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FastCheck, Layer, Schema, type Scope } from "effect"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import * as Skill from "../../src/kernel/Skill.ts"
import * as Frontmatter from "../../src/programs/Frontmatter.ts"
import * as SkillFolder from "../../src/programs/SkillFolder.ts"
import * as SkillLinks from "../../src/programs/SkillLinks.ts"
import * as Skills from "../../src/programs/Skills.ts"

type Files = { readonly [file: string]: string | Uint8Array }

/** A folder that lasts as long as the test. */
const folder = (files: Files) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "wherefore-skills-")))
      for (const [file, content] of Object.entries(files)) {
        fs.mkdirSync(path.dirname(path.join(directory, file)), { recursive: true })
        fs.writeFileSync(path.join(directory, file), content)
      }
      return directory
    }),
    (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
  )

const skill = (name: string, more = "", body = "Do it.\n") =>
  `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n${body}`

/** The faults of one file in a folder `a`, each as `line:column rule`. */
const faultsOf = (content: string | Uint8Array) =>
  Effect.gen(function* () {
    const directory = yield* folder({ "a/SKILL.md": content })
    const { problems, skills } = yield* Skills.scan(directory)
    assert.strictEqual(skills.length, problems.length === 0 ? 1 : 0)
    for (const problem of problems) {
      assert.strictEqual(problem.file, path.join(directory, "a/SKILL.md"))
      assert.isAbove(problem.what.length, 0)
      assert.isAbove(problem.next.length, 0)
    }
    return problems.map(({ column, line, rule }) => `${line}${column === undefined ? "" : `:${column}`} ${rule}`)
  }).pipe(Effect.scoped)

const one = (directory: string) =>
  Effect.flatMap(Skills.fromDirectory(directory), ([first]) =>
    first === undefined ? Effect.dieMessage("no skill") : Effect.succeed(first)
  )

const rulesOf = (error: Skills.SkillError) => error.problems.map(({ rule }) => rule)

const test = (
  name: string,
  effect: () => Effect.Effect<void, unknown, FileSystem.FileSystem | Path.Path | Scope.Scope>
) => it.scoped(name, () => Effect.provide(effect(), NodeContext.layer))

describe("Skills.fromDirectory", () => {
  test("reads a folder that holds a skill, and what it says of itself", () =>
    Effect.gen(function* () {
      const directory = yield* folder({
        "report/SKILL.md": [
          "---",
          "name: report",
          "description: >-",
          "  Writes",
          "  reports.",
          "license: MIT",
          "compatibility: Needs a printer.",
          "metadata:",
          "  version: 1.0",
          "  draft: true",
          "allowed-tools: Read Bash(git add:*) Read",
          "user-invocable: false",
          "---",
          "",
          "# How",
          "",
          "Write.",
          ""
        ].join("\n")
      })
      const loaded = yield* one(path.join(directory, "report"))
      assert.strictEqual(loaded.name, "report")
      assert.strictEqual(loaded.description, "Writes reports.")
      assert.strictEqual(loaded.license, "MIT")
      assert.strictEqual(loaded.compatibility, "Needs a printer.")
      assert.deepStrictEqual(loaded.metadata, { version: "1.0", draft: "true" })
      assert.deepStrictEqual(loaded.allowedTools, ["Read", "Bash(git add:*)"])
      assert.deepStrictEqual(loaded.other, { "user-invocable": "false" })
      assert.strictEqual(loaded.directory, path.join(directory, "report"))
      assert.deepStrictEqual(
        loaded.warnings.map(({ line, rule }) => [line, rule]),
        [[12, "unknown-key"]]
      )
      assert.strictEqual(yield* loaded.body, "# How\n\nWrite.")
    }))

  test("leaves out what a skill does not say", () =>
    Effect.gen(function* () {
      const loaded = yield* one(yield* folder({ "a/SKILL.md": skill("a") }))
      assert.notProperty(loaded, "license")
      assert.notProperty(loaded, "compatibility")
      assert.notProperty(loaded, "allowedTools")
      assert.deepStrictEqual([loaded.metadata, loaded.other, loaded.warnings], [{}, {}, []])
    }))

  test("finds folders of skills in the order of their paths, and none inside a skill", () =>
    Effect.gen(function* () {
      const directory = yield* folder({
        "z/SKILL.md": skill("z"),
        "group/b/SKILL.md": skill("b"),
        "group/B/notes.md": "No skill.",
        "group/a/SKILL.md": skill("a"),
        "z/examples/inner/SKILL.md": "not looked at",
        ".hidden/c/SKILL.md": "not looked at",
        "node_modules/d/SKILL.md": "not looked at",
        "1/2/3/4/5/e/SKILL.md": skill("e"),
        "1/2/3/4/5/6/f/SKILL.md": "not looked at",
        "README.md": "# Skills"
      })
      const names = (yield* Skills.fromDirectory(directory)).map(({ name }) => name)
      assert.deepStrictEqual(names, ["e", "a", "b", "z"])
    }))

  test("tells everything that is wrong with every file, and loads none", () =>
    Effect.gen(function* () {
      const directory = yield* folder({
        "a/SKILL.md": "---\nname: A\ndescription: ''\nmetadata: x\n---\n",
        "b/SKILL.md": skill("b"),
        "c/SKILL.md": "# No frontmatter\n",
        "d/skill.md": skill("d")
      })
      const error = yield* Effect.flip(Skills.fromDirectory(directory))
      assert.deepStrictEqual(
        error.problems.map(({ file, line, rule }) => [path.relative(directory, file), line, rule]),
        [
          ["a/SKILL.md", 2, "name"],
          ["a/SKILL.md", 3, "description"],
          ["a/SKILL.md", 4, "metadata"],
          ["c/SKILL.md", 1, "frontmatter-opens"],
          ["d/skill.md", undefined, "file-name"]
        ]
      )
      assert.strictEqual(error.code, "WF-SKF-001")
      assert.include(error.message, `${directory}/a/SKILL.md:3:1: The description is blank. `.trimEnd())
      assert.isTrue(Schema.is(Skills.SkillError)(error))
      const { problems, skills } = yield* Skills.scan(directory)
      assert.deepStrictEqual(
        skills.map(({ name }) => name),
        ["b"]
      )
      assert.deepStrictEqual(problems, error.problems)
    }))

  test("says what it looked for where there is nothing", () =>
    Effect.gen(function* () {
      const directory = yield* folder({ "a/README.md": "# A" })
      const empty = yield* Effect.flip(Skills.fromDirectory(directory))
      assert.deepStrictEqual(rulesOf(empty), ["has-skills"])
      assert.include(empty.message, "SKILL.md")
      assert.include(empty.message, directory)
      for (const missing of ["nowhere", "a/README.md", "a/README.md/b", "\u0000"]) {
        const error = yield* Effect.flip(Skills.fromDirectory(path.join(directory, missing)))
        assert.include(["folder-exists", "readable"], error.problems[0].rule)
        assert.notInclude(error.message, "\u0000")
      }
    }))

  test("takes a name once", () =>
    Effect.gen(function* () {
      const directory = yield* folder({ "x/a/SKILL.md": skill("a"), "y/a/SKILL.md": skill("a") })
      const error = yield* Effect.flip(Skills.fromDirectory(directory))
      assert.deepStrictEqual(rulesOf(error), ["name-unique"])
      assert.include(error.problems[0].what, path.join(directory, "x/a/SKILL.md"))
      assert.strictEqual(error.problems[0].file, path.join(directory, "y/a/SKILL.md"))
    }))

  test("warns of a name that is not that of the folder", () =>
    Effect.gen(function* () {
      const loaded = yield* one(yield* folder({ "a/SKILL.md": skill("other") }))
      assert.strictEqual(loaded.name, "other")
      assert.deepStrictEqual(
        loaded.warnings.map(({ column, line, rule }) => [rule, line, column]),
        [["name-is-folder", 2, 1]]
      )
    }))

  test("stops at too many folders", () =>
    Effect.gen(function* () {
      const directory = yield* folder({})
      for (let n = 0; n < 2_001; n += 1) fs.mkdirSync(path.join(directory, String(n)))
      assert.deepStrictEqual(rulesOf(yield* Effect.flip(Skills.fromDirectory(directory))), ["search-limit"])
    }))
})

describe("A SKILL.md", () => {
  const cases: ReadonlyArray<readonly [name: string, content: string | Uint8Array, faults: ReadonlyArray<string>]> = [
    ["that is empty", "", ["1 frontmatter-opens"]],
    ["that is a byte order mark", "\ufeff", ["1 frontmatter-opens"]],
    ["with a byte order mark", `\ufeff${skill("a")}`, []],
    ["with CR LF", skill("a").replaceAll("\n", "\r\n"), []],
    ["with CR LF and a fault", skill("a", "license:\n").replaceAll("\n", "\r\n"), ["4:1 license"]],
    ["that begins with a blank line", `\n${skill("a")}`, ["1 frontmatter-opens"]],
    ["without an end of its frontmatter", "---\nname: a\ndescription: A.\n", ["1 frontmatter-closes"]],
    ["that is one line", "---", ["1 frontmatter-closes"]],
    ["whose end is indented", "---\nname: a\n ---\n", ["1 frontmatter-closes"]],
    ["whose end has blanks after it", "--- \nname: a\ndescription: A.\n---\t\n", []],
    ["without a body", "---\nname: a\ndescription: A.\n---", []],
    ["without keys", "---\n---\n", ["1 name", "1 description"]],
    ["with comments only", "---\n# name\n---\n", ["1 name", "1 description"]],
    ["with a list", "---\n- name\n---\n", ["2:1 mapping"]],
    ["with a text", "---\nname\n---\n", ["2:1 mapping"]],
    ["that is not UTF-8", Buffer.from(`${skill("a")}\n\xff\n`, "latin1"), ["7 utf-8"]],
    ["that is UTF-16", Buffer.from(`\ufeff${skill("a")}`, "utf16le"), ["1 utf-8"]],
    ["with U+0000", `${skill("a")}x\u0000`, ["6 text"]],
    ["with an escaped U+0000", skill("a", 'license: "\\0"\n'), ["4:10 text"]],
    ["with half a pair", skill("a", 'license: "\\uD800"\n'), ["4:10 text"]],
    ["with a key twice", skill("a", "license: A\nlicense: B\n"), ["5:1 duplicate-key"]],
    ["with a quoted key twice", skill("a", '"name": a\n'), ["4:1 duplicate-key"]],
    ["with a key twice below", skill("a", "metadata:\n  k: A\n  k: B\n"), ["6:3 duplicate-key"]],
    ["with an alias", skill("a", "x: &x [1]\ny: *x\n"), ["5:4 no-alias"]],
    ["with an alias of nothing", skill("a", "y: *x\n"), ["4:4 no-alias"]],
    ["with a merge", skill("a", "x: &x {k: v}\n<<: *x\n"), ["5:5 no-alias"]],
    ["with a tag", skill("a", "license: !!str MIT\n"), ["4:16 no-tag"]],
    ["with a tag of somebody", skill("a", "metadata: !!js/function\n  k: v\n"), ["5:3 no-tag"]],
    ["with a reserved key", skill("a", "metadata:\n  __proto__: x\n"), ["5:3 reserved-key"]],
    ["with a reserved key above", skill("a", "constructor: x\n"), ["4:1 reserved-key"]],
    ["with a list for a key", skill("a", "? [x]\n: y\n"), ["4:3 yaml"]],
    ["with a colon in a value", "---\nname: a\ndescription: Use when: asked.\n---\n", ["3:14 yaml"]],
    ["with a tab", skill("a", "metadata:\n\tk: v\n"), ["5:1 yaml"]],
    ["with an open quote", skill("a", 'license: "MIT\n'), ["5:1 yaml"]],
    ["with a directive", "---\n%YAML 1.1\nname: a\n---\n", ["3:1 yaml"]],
    ["with many lists in each other", skill("a", `x: ${"[".repeat(9_000)}\n`), ["4 yaml-depth"]],
    ["with many maps in each other", skill("a", `x: ${"{a: ".repeat(2_000)}\n`), ["4 yaml-depth"]],
    ["with many closed lists in each other", skill("a", `x: ${"[".repeat(33)}${"]".repeat(33)}\n`), ["4 yaml-depth"]],
    ["with many lists in a line", skill("a", `x:\n  ${"- ".repeat(5_000)}\n`), ["5 yaml-depth"]],
    ["with many keys in a line", skill("a", `${"? ".repeat(5_000)}\n`), ["4 yaml-depth"]],
    ["with many lists beside each other", skill("a", `x: [${"[y], ".repeat(99)}]\n`), []],
    ["with brackets in its texts", skill("a", `license: "${"[".repeat(99)}"\n`), []],
    ["with a long frontmatter", skill("a", `license: |\n${"  x\n".repeat(5_000)}`), ["4092 frontmatter-size"]],
    ["with a long file", `${skill("a")}${"x".repeat(1_048_576)}`, ["1 file-size"]],
    ["without a name", "---\ndescription: A.\n---\n", ["1 name"]],
    ["without a description", "---\nname: a\n---\n", ["1 description"]],
    ["with a list for a name", "---\nname: [a]\ndescription: A.\n---\n", ["2:1 name"]],
    ["with an alias for a name", "---\ndescription: &d A.\nname: *d\n---\n", ["3:7 no-alias"]],
    ["with a blank description", '---\nname: a\ndescription: " \\t"\n---\n', ["3:1 description"]],
    ["with 1,024 characters", `---\nname: a\ndescription: ${"😀".repeat(1_024)}\n---\n`, []],
    ["with 1,025 characters", `---\nname: a\ndescription: ${"😀".repeat(1_025)}\n---\n`, ["3:1 description"]],
    ["with 500 characters", skill("a", `compatibility: ${"x".repeat(500)}\n`), []],
    ["with 501 characters", skill("a", `compatibility: ${"x".repeat(501)}\n`), ["4:1 compatibility"]],
    ["with a blank compatibility", skill("a", "compatibility:\n"), ["4:1 compatibility"]],
    ["with a list of licences", skill("a", "license: [MIT]\n"), ["4:1 license"]],
    ["with blank metadata", skill("a", "metadata:\n"), []],
    ["with a list of metadata", skill("a", "metadata: [x]\n"), ["4:1 metadata"]],
    ["with metadata in metadata", skill("a", "metadata:\n  k: {x: y}\n"), ["4:1 metadata"]],
    ["with a list of tools", skill("a", "allowed-tools:\n  - Read\n  - Bash(git add:*)\n"), []],
    ["with a map of tools", skill("a", "allowed-tools: {x: y}\n"), ["4:1 allowed-tools"]],
    ["with a list in the list of tools", skill("a", "allowed-tools: [Read, [x]]\n"), ["4:1 allowed-tools"]]
  ]
  for (const [name, content, faults] of cases) {
    test(`${name} ${faults.length === 0 ? "is read" : `breaks ${faults.join(", ")}`}`, () =>
      Effect.map(faultsOf(content), (found) => assert.deepStrictEqual(found, faults)))
  }

  for (const name of ["a", "1", "a-b-3", "x".repeat(64)]) {
    test(`may be named ${name}`, () =>
      Effect.gen(function* () {
        const loaded = yield* one(yield* folder({ [`${name}/SKILL.md`]: skill(name) }))
        assert.deepStrictEqual([loaded.name, loaded.warnings], [name, []])
      }))
  }
  for (const name of [
    "A",
    "-a",
    "a-",
    "a--b",
    "a_b",
    "a b",
    "ä",
    "a/b",
    "..",
    "x".repeat(65),
    '"a\\nb"',
    "'\u001b[31m'"
  ]) {
    test(`may not be named ${JSON.stringify(name)}`, () =>
      Effect.map(faultsOf(`---\nname: ${name}\ndescription: A.\n---\n`), (found) =>
        assert.deepStrictEqual(new Set(found), new Set(["2:1 name"]))
      ))
  }

  test("names its tools with blanks or commas between them", () =>
    Effect.gen(function* () {
      const tools = (line: string) =>
        Effect.flatMap(folder({ "a/SKILL.md": skill("a", `allowed-tools: ${line}\n`) }), one)
      assert.deepStrictEqual((yield* tools("Bash(git:*, x)  Read")).allowedTools, ["Bash(git:*, x)", "Read"])
      assert.deepStrictEqual((yield* tools('""')).allowedTools, [])
      assert.deepStrictEqual((yield* tools("Bash(git")).allowedTools, ["Bash(git"])
      const commas = yield* tools("Read, Grep,Glob")
      assert.deepStrictEqual(commas.allowedTools, ["Read", "Grep", "Glob"])
      assert.deepStrictEqual(
        commas.warnings.map(({ rule }) => rule),
        ["allowed-tools"]
      )
    }))
})

describe("Frontmatter.split", () => {
  const lines = FastCheck.array(FastCheck.stringMatching(/^[a-z #:]{0,12}$/), { maxLength: 12 })
  const ends = FastCheck.infiniteStream(FastCheck.constantFrom("\n", "\r\n"))

  it("gives the parts as they stand and the line of the body, however lines end", () => {
    FastCheck.assert(
      FastCheck.property(lines, lines, ends, FastCheck.boolean(), (yaml, body, ends, isMarked) => {
        const end = () => ends.next().value ?? "\n"
        const head = `${isMarked ? "\ufeff" : ""}---${end()}`
        const middle = yaml.map((line) => `${line}${end()}`).join("")
        const rest = body.map((line) => `${line}${end()}`).join("")
        const found = Frontmatter.split(`${head}${middle}---${end()}${rest}`)
        assert.deepStrictEqual(found._tag === "Right" && found.right, {
          yaml: middle,
          body: rest,
          bodyLine: yaml.length + 3
        })
      })
    )
  })

  it("and Frontmatter.parse name the line of every key", () => {
    const blanks = FastCheck.array(FastCheck.constantFrom("", "# note", "  # note"), { maxLength: 3 })
    FastCheck.assert(
      FastCheck.property(FastCheck.array(blanks, { maxLength: 8 }), ends, (gaps, ends) => {
        const wanted: Array<[string, number]> = []
        let line = 2
        const written = gaps.flatMap((gap, at) => {
          line += gap.length
          wanted.push([`k${at}`, line])
          line += 1
          return [...gap, `k${at}: v`]
        })
        const text = ["---", ...written, "---"].map((line) => `${line}${ends.next().value ?? "\n"}`).join("")
        const found = Frontmatter.split(text)
        assert.strictEqual(found._tag, "Right")
        const { fields, faults } = Frontmatter.parse(found._tag === "Right" ? found.right.yaml : "")
        assert.deepStrictEqual(faults, [])
        assert.deepStrictEqual(
          fields.map(({ key, line }) => [key, line]),
          wanted
        )
      })
    )
  })

  it("and Frontmatter.parse never die, and name lines that are there", () => {
    const token = FastCheck.constantFrom(
      ..."\n|\r\n|---|--- |: |- |? |[|]|{|}|,|&a |*a |!t |!!str |\"|'|#| |  |\t|name|description|metadata|<<|%YAML|...|>|@|`|~|\u0000|\ufeff|\ud800|é|\\".split(
        "|"
      ),
      "|"
    )
    FastCheck.assert(
      FastCheck.property(FastCheck.array(token, { maxLength: 200, size: "max" }), (tokens) => {
        const text = `---\n${tokens.join("")}`
        const found = Frontmatter.split(text)
        const count = text.split("\n").length
        const faults = found._tag === "Left" ? [found.left] : Frontmatter.parse(found.right.yaml).faults
        for (const { column = 1, line = 0 } of faults) {
          assert.isAtLeast(line, 1)
          assert.isAtMost(line, count)
          assert.isAtLeast(column, 1)
        }
        if (found._tag === "Left") Frontmatter.parse(tokens.join(""))
      }),
      { numRuns: 2_000 }
    )
  })
})

describe("A loaded skill", () => {
  test("gives its body from the disk, as it is by then", () =>
    Effect.gen(function* () {
      const directory = yield* folder({ "a/SKILL.md": skill("a", "", "\r\nOne.\r\n\r\nTwo.\r\n\r\n") })
      const file = path.join(directory, "a/SKILL.md")
      const { body } = yield* one(directory)
      assert.strictEqual(yield* body, "One.\n\nTwo.")
      fs.writeFileSync(file, skill("a", "", "Three."))
      assert.strictEqual(yield* body, "Three.")
      fs.writeFileSync(file, skill("a", "license: []\n"))
      const broken = yield* Effect.flip(body)
      assert.deepStrictEqual(
        [broken.problems[0].file, broken.problems[0].line, rulesOf(broken)],
        [file, 4, ["license"]]
      )
      fs.rmSync(file)
      assert.deepStrictEqual(rulesOf(yield* Effect.flip(body)), ["file-exists"])
    }))

  test("gives the files of its folder as text and as bytes", () =>
    Effect.gen(function* () {
      const directory = yield* folder({
        "a/SKILL.md": skill("a"),
        "a/docs/x.md": "\ufeffé",
        "a/logo.bin": Uint8Array.of(0, 255, 1),
        "a/empty": "",
        "a/many.txt": "x".repeat(200_001)
      })
      const { bytes, file } = yield* one(directory)
      assert.strictEqual(yield* file("docs/x.md"), "\ufeffé")
      assert.strictEqual(yield* file("./docs//x.md"), "\ufeffé")
      assert.strictEqual(yield* file("empty"), "")
      assert.strictEqual((yield* file("many.txt")).length, 200_001)
      assert.deepStrictEqual(Array.from(yield* bytes("logo.bin")), [0, 255, 1])
      const binary = yield* Effect.flip(file("logo.bin"))
      assert.deepStrictEqual([binary.code, binary.problems[0].line, rulesOf(binary)], ["WF-SKF-002", 1, ["utf-8"]])
      assert.strictEqual(
        binary.message,
        "A file of the skill a was not read. At logo.bin:1. Save it as UTF-8.\nlogo.bin:1: The file is not UTF-8. (utf-8)"
      )
    }))

  test("reads no file over 8 MiB", () =>
    Effect.gen(function* () {
      const directory = yield* folder({ "a/SKILL.md": skill("a"), "a/large": "" })
      const { bytes } = yield* one(directory)
      fs.truncateSync(path.join(directory, "a/large"), 8_388_608)
      assert.strictEqual((yield* bytes("large")).length, 8_388_608)
      fs.truncateSync(path.join(directory, "a/large"), 8_388_609)
      const error = yield* Effect.flip(bytes("large"))
      assert.deepStrictEqual(rulesOf(error), ["file-size"])
      assert.include(error.message, "8388608 bytes")
    }))

  test("reads no file that grows over 8 MiB while it is read", () =>
    Effect.gen(function* () {
      const directory = yield* folder({ "a/SKILL.md": skill("a"), "a/log": "" })
      const real = yield* FileSystem.FileSystem
      const growing: FileSystem.FileSystem = {
        ...real,
        open: (name, options) => {
          if (name.endsWith("log")) fs.truncateSync(name, 9_000_000)
          return real.open(name, options)
        }
      }
      const error = yield* Effect.flip(
        Effect.flatMap(one(directory), ({ bytes }) => bytes("log")).pipe(
          Effect.provide(Layer.succeed(FileSystem.FileSystem, growing))
        )
      )
      assert.deepStrictEqual(rulesOf(error), ["file-size"])
    }))

  const escapes: ReadonlyArray<readonly [link: string, rule: Skills.Rule]> = [
    ["../secret.txt", "inside-folder"],
    ["docs/../../secret.txt", "inside-folder"],
    ["docs/..", "inside-folder"],
    ["..", "inside-folder"],
    ["/etc/passwd", "inside-folder"],
    ["//etc/passwd", "inside-folder"],
    ["C:/secret.txt", "inside-folder"],
    ["C:\\secret.txt", "inside-folder"],
    ["\\\\host\\secret.txt", "inside-folder"],
    ["..\\secret.txt", "inside-folder"],
    ["docs\\..\\..\\secret.txt", "inside-folder"],
    ["../a-secret/secret.txt", "inside-folder"],
    ["out/secret.txt", "inside-folder"],
    ["out-file.txt", "inside-folder"],
    ["in/out/secret.txt", "inside-folder"],
    ["near/secret.txt", "inside-folder"],
    ["loop", "readable"],
    ["dead", "file-exists"],
    ["%2e%2e/secret.txt", "file-exists"],
    ["..%2fsecret.txt", "file-exists"],
    ["....//secret.txt", "file-exists"],
    ["nothing.md", "file-exists"],
    ["SKILL.md/x", "readable"],
    ["secret.txt\u0000.md", "path"],
    ["", "path"],
    [" ", "path"],
    [".", "file-kind"],
    ["docs", "file-kind"],
    ["x".repeat(5_000), "readable"]
  ]
  test("reads nothing outside its folder, whatever the path says", () =>
    Effect.gen(function* () {
      const directory = yield* folder({
        "a/SKILL.md": skill("a"),
        "a/docs/x.md": "inside",
        "a-secret/secret.txt": "outside",
        "secret.txt": "outside"
      })
      const link = (target: string, from: string) => fs.symlinkSync(target, path.join(directory, "a", from))
      link("..", "out")
      link(path.join(directory, "secret.txt"), "out-file.txt")
      link("../a-secret", "near")
      link(".", "in")
      link("loop", "loop")
      link("nowhere", "dead")
      link("docs/x.md", "inside.md")
      const { bytes, file } = yield* one(path.join(directory, "a"))
      for (const [name, rule] of escapes) {
        const error = yield* Effect.flip(file(name))
        assert.deepStrictEqual([name, rulesOf(error)], [name, [rule]])
        assert.deepStrictEqual(rulesOf(yield* Effect.flip(bytes(name))), [rule])
        assert.notMatch(error.problems[0].file, /[\u0000-\u001f]/)
      }
      assert.strictEqual(yield* file("inside.md"), "inside")
      assert.strictEqual(yield* file("in/docs/x.md"), "inside")
    }))

  it("reads nothing outside its folder by any path", () => {
    const step = FastCheck.constantFrom(
      "..",
      ".",
      "",
      "a",
      "out",
      "in",
      "docs",
      "x.md",
      "secret.txt",
      "%2e%2e",
      "\\",
      "~"
    )
    return FastCheck.assert(
      FastCheck.asyncProperty(FastCheck.array(step, { minLength: 1, maxLength: 8 }), (steps) =>
        Effect.gen(function* () {
          const directory = yield* folder({
            "a/SKILL.md": skill("a"),
            "a/docs/x.md": "inside",
            "secret.txt": "outside"
          })
          fs.symlinkSync("..", path.join(directory, "a/out"))
          fs.symlinkSync(".", path.join(directory, "a/in"))
          const { file } = yield* one(path.join(directory, "a"))
          const read = yield* Effect.either(file(steps.join("/")))
          if (read._tag === "Right") assert.notStrictEqual(read.right, "outside")
        }).pipe(Effect.scoped, Effect.provide(NodeContext.layer), Effect.runPromise)
      ),
      { numRuns: 200 }
    )
  })

  test("does not wait for what is no file", () =>
    Effect.gen(function* () {
      const directory = yield* folder({ "a/SKILL.md": skill("a"), "b/notes": "" })
      const pipe = spawnSync("mkfifo", [path.join(directory, "a/pipe"), path.join(directory, "b/SKILL.md")])
      if (pipe.status !== 0) return console.log("skipped: mkfifo does not work here")
      const { file } = yield* one(path.join(directory, "a"))
      assert.deepStrictEqual(rulesOf(yield* Effect.flip(file("pipe"))), ["file-kind"])
      assert.deepStrictEqual(rulesOf(yield* Effect.flip(Skills.fromDirectory(path.join(directory, "b")))), [
        "file-kind"
      ])
    }))

  for (const ends of ["as a link", "as it was"]) {
    test(`gives no file that is put in its place while it is opened, and ends ${ends}`, () =>
      Effect.gen(function* () {
        const directory = yield* folder({ "a/SKILL.md": skill("a"), "a/x.md": "inside", "secret.txt": "outside" })
        const place = path.join(directory, "a/x.md")
        const real = yield* FileSystem.FileSystem
        // Somebody puts a link there after the file was looked at and before it is opened.
        const hostile: FileSystem.FileSystem = {
          ...real,
          open: (name, options) => {
            if (name !== place) return real.open(name, options)
            fs.renameSync(place, `${place}.old`)
            fs.symlinkSync(path.join(directory, "secret.txt"), place)
            return Effect.tap(real.open(name, options), () =>
              Effect.sync(() => {
                if (ends === "as it was") fs.renameSync(`${place}.old`, place)
              })
            )
          }
        }
        const error = yield* Effect.flip(
          Effect.flatMap(one(path.join(directory, "a")), ({ file }) => file("x.md")).pipe(
            Effect.provide(Layer.succeed(FileSystem.FileSystem, hostile))
          )
        )
        assert.strictEqual(error._tag === "SkillError" && error.problems[0].rule, "inside-folder")
      }))
  }

  test("is not looked for behind a link that leads out", () =>
    Effect.gen(function* () {
      const directory = yield* folder({
        "in/a/SKILL.md": skill("a"),
        "in/notes/x.md": "",
        "in/b/x.md": "",
        "out/c/SKILL.md": skill("c")
      })
      fs.symlinkSync(path.join(directory, "in/a"), path.join(directory, "in/same"))
      fs.symlinkSync(path.join(directory, "in"), path.join(directory, "in/notes/loop"))
      const inside = path.join(directory, "in")
      assert.deepStrictEqual(
        (yield* Skills.fromDirectory(inside)).map(({ name }) => name),
        ["a"]
      )
      fs.symlinkSync(path.join(directory, "out/c"), path.join(directory, "in/c"))
      fs.symlinkSync(path.join(directory, "out/c/SKILL.md"), path.join(directory, "in/b/SKILL.md"))
      const error = yield* Effect.flip(Skills.fromDirectory(inside))
      assert.deepStrictEqual(
        error.problems.map(({ file, rule }) => [path.relative(inside, file), rule]),
        [
          ["b/SKILL.md", "inside-folder"],
          ["c", "inside-folder"]
        ]
      )
      // The folder that the application names may be a link.
      assert.strictEqual((yield* one(path.join(inside, "c"))).directory, path.join(directory, "out/c"))
    }))

  test("lists the files that its body links to", () =>
    Effect.gen(function* () {
      const body = [
        "See [x](docs/x.md#top), ![y](<docs/a y.png>) and [x](./docs/x.md 'again').",
        "[a y]: docs/a%20y.png",
        "Not [here](#place), [there](https://example.org/x.md), [mail](mailto:a@b.c) or [folder](docs/).",
        "Not `[code](nowhere.md)` or ``[`code`](nowhere.md)``.",
        "```md",
        "[code](nowhere.md)",
        "```",
        "[^note]: nowhere.md"
      ].join("\n")
      const files = { "a/docs/x.md": "", "a/docs/a y.png": "" }
      const loaded = yield* one(yield* folder({ ...files, "a/SKILL.md": skill("a", "", body) }))
      assert.deepStrictEqual(yield* loaded.references, ["docs/x.md", "docs/a y.png"])
    }))

  test("names the line of every link that leads to none of its files", () =>
    Effect.gen(function* () {
      const links = ["docs/x.md", "../b.md", "%2e%2e/b.md", "%2Fetc/passwd", "/etc/passwd", "no.md", "%00", "%zz"]
      const body = links.map((link) => `[a](${link})`).join("\r\n")
      const loaded = yield* one(yield* folder({ "a/SKILL.md": skill("a", "", body), "a/docs/x.md": "", "b.md": "" }))
      const error = yield* Effect.flip(loaded.references)
      assert.strictEqual(error.code, "WF-SKF-003")
      assert.deepStrictEqual(
        error.problems.map(({ line, rule }) => [line, rule]),
        [
          [6, "inside-folder"],
          [7, "inside-folder"],
          [8, "inside-folder"],
          [9, "inside-folder"],
          [10, "file-exists"],
          [11, "path"],
          [12, "file-exists"]
        ]
      )
      assert.strictEqual(yield* loaded.file("docs/x.md"), "")
    }))

  it("finds links in texts of any kind in time", () => {
    for (const hostile of ["[", "](", "](<", "](a(", "`", "`` ` ", "[a](b) ", "]( \t", "[x]: ", "\n```\n"]) {
      // A search that is quadratic does not end within the test's time.
      assert.isAtLeast(SkillLinks.of(hostile.repeat(Math.floor(500_000 / hostile.length))).length, 0)
    }
  })
})

describe("SkillFolder.relative", () => {
  it("lets no path through that its words alone lead out", () => {
    const path = FastCheck.array(FastCheck.constantFrom("..", ".", "/", "\\", "a", "C:", "\u0000", " "), {
      maxLength: 9
    })
    FastCheck.assert(
      FastCheck.property(path, (parts) => {
        const found = SkillFolder.relative(parts.join(""))
        if (found._tag === "Left") return
        assert.notMatch(found.right, /^\/|\\|\u0000|(^|\/)\.\.?(\/|$)/)
      })
    )
  })
})

describe("Skills.toSkill", () => {
  const tools = ["Read", "Bash", "Write"].map((name) => ({ name, schema: { type: "object" } }))
  const converted = (allowed: string) =>
    Effect.flatMap(folder({ "a/SKILL.md": skill("a", allowed) }), (directory) =>
      Effect.flatMap(one(directory), (loaded) => Skills.toSkill(loaded, { tools }))
    )

  test("gives a skill of the kernel with the body for its instructions", () =>
    Effect.gen(function* () {
      const loaded = yield* one(yield* folder({ "a/SKILL.md": skill("a") }))
      const { skill: made, unmatched } = yield* Skills.toSkill(loaded)
      assert.deepStrictEqual(made, { id: "a", description: "Does a.", instructions: "Do it.", tools: [] })
      assert.isTrue(Schema.is(Skill.Skill)(made))
      assert.deepStrictEqual(unmatched, [])
    }))

  test("gives it the tools that it allows, and names those that nobody gave", () =>
    Effect.gen(function* () {
      const names = ({ skill, unmatched }: Skills.Converted) => [skill.tools.map(({ name }) => name), unmatched]
      assert.deepStrictEqual(names(yield* converted("")), [["Read", "Bash", "Write"], []])
      assert.deepStrictEqual(names(yield* converted('allowed-tools: ""\n')), [[], []])
      assert.deepStrictEqual(names(yield* converted("allowed-tools: Write Bash(git:*) read Read\n")), [
        ["Read", "Write"],
        ["Bash(git:*)", "read"]
      ])
    }))
})

const data = new URL("../../../shared/data/skills", import.meta.url).pathname
const isThere = fs.existsSync(data)

describe("Skills.scan, of 33 real skills,", () => {
  if (!isThere) console.log(`skipped: ${data} is not there`)

  it.effect.skipIf(!isThere)("loads all but one whose description is too long", () =>
    Effect.gen(function* () {
      const { problems, skills } = yield* Skills.scan(data)
      assert.strictEqual(skills.length, 32)
      assert.deepStrictEqual(
        problems.map(({ file, line, rule, what }) => [path.relative(data, file), line, rule, what]),
        [
          [
            "anthropics+skills/claude-api/SKILL.md",
            3,
            "description",
            "The description has 1068 characters; the limit is 1024."
          ]
        ]
      )
      assert.deepStrictEqual(
        skills.flatMap(({ directory, name, warnings }) =>
          warnings.map(({ line, rule }) => [path.basename(directory), name, line, rule])
        ),
        ["composition-patterns", "react-best-practices", "react-native-skills", "react-view-transitions"].map(
          (name) => [name, `vercel-${name}`, 2, "name-is-folder"]
        )
      )
      for (const loaded of skills) {
        const source = fs.readFileSync(path.join(loaded.directory, "SKILL.md"), "utf8")
        const body = yield* loaded.body
        assert.isAbove(body.length, 100)
        assert.isTrue(source.endsWith(`${body}\n`) || source.endsWith(body))
        assert.match(source.slice(0, -body.length - 1).trimEnd(), /\n---$/)
        const { skill: made } = yield* Skills.toSkill(loaded)
        assert.isTrue(Schema.is(Skill.Skill)(made))
        const references = yield* Effect.either(loaded.references)
        if (references._tag === "Right") continue
        const lines = source.split("\n")
        for (const { line = 0, what } of references.left.problems) {
          const target = /^The link to "([^"]*)"/.exec(what)?.[1] ?? "?"
          assert.include(lines[line - 1], `](${target})`)
        }
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.effect.skipIf(!isThere)("names the links of a skill that lead into another", () =>
    Effect.gen(function* () {
      const loaded = yield* one(path.join(data, "obra+superpowers/skills/writing-skills"))
      const error = yield* Effect.flip(loaded.references)
      assert.deepStrictEqual(
        error.problems.map(({ line, rule }) => [line, rule]),
        [
          [12, "inside-folder"],
          [12, "inside-folder"],
          [587, "file-exists"]
        ]
      )
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
