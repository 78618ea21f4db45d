import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { basename, join } from "node:path"
import * as Source from "../scripts/Source.ts"

/**
 * The order of the rooms is the compiler's business: each has a `tsconfig.json` that references only the rooms below
 * it. What neither the compiler nor the linter can see is here: that the kernel stays pure, that services take its
 * words but none of its decisions, and that `src` keeps to the part of the language this project writes.
 */
const pure =
  /^(effect\/(Array|BigDecimal|BigInt|Boolean|Brand|Chunk|Data|DateTime|Duration|Either|Encoding|Equal|Equivalence|Function|Hash|HashMap|HashSet|JSONSchema|List|Match|Number|Option|Order|Ordering|ParseResult|Predicate|Record|RegExp|Schema|SchemaAST|SortedMap|SortedSet|String|Struct|Tuple|Types)|@noble\/hashes\/\w+|(\.\.?\/)+(\w+\/)*[A-Z]\w*\.ts)$/

const worldly: ReadonlyArray<RegExp> = [
  /(?<![.\w])Date\b/,
  /\bDateTime\.(now|unsafeNow)\b/,
  /\bMath\.random\b/,
  /\bperformance\.now\b/,
  /(?<![.\w])(await|console|crypto|fetch|globalThis|process|require|setImmediate|setInterval|setTimeout)\b(?!\s*:)/,
  /\bimport\.meta\b/,
  /\bimport\(/
]

/** What `src` does not write. The last may, where a comment on the line or right above it says why it holds. */
const unwritten = {
  async: /(?<!\.)\basync\b(?!\s*:)/,
  throw: /(?<!\.)\bthrow\b(?!\s*:)/,
  any: /(?<!\.)\bany\b(?!\s*[(:?])/,
  "!": /(?<=[\w$)\]}"`])!(?!=)/,
  "yield* without return": /(?<!return )yield\* (new [A-Z]|Effect\.(die|dieMessage|fail|failCause|interrupt|never)\b)/,
  "parameters without types": /= Effect\.fn(Untraced)?(\(" *"\))?\(function\* ?\([^:)]+\)/,
  as: /(?<![.*]\s*)(?<!\[\w+ in [^\]]*)\bas\b(?! const\b)(?!\s*[(:?,])/
} as const

const unwrittenName = /^(Utils?|Common|Helpers?|Types|Misc|Shared)$|Manager|^Base(?![a-z])|Base$/

/** Where a source writes a thing, as `line: what stands there`. */
const lines = (source: Source.Source, pattern: RegExp, isExcused = (_line: number) => false): ReadonlyArray<string> => {
  const written = source.text.split("\n")
  // Renaming an import or an export is no assertion.
  const code = source.code.replaceAll(/^(import|export)\s+(type\s+)?(\*\s+as\s+\w+|\{[^}]*\})/gm, (found) =>
    found.replaceAll(/\bas\b/g, "  ")
  )
  return code
    .split("\n")
    .flatMap((line, at) => (pattern.test(line) && !isExcused(at) ? [`${at + 1}: ${written[at]?.trim()}`] : []))
}

/** Whether a comment on a line, or the comment right above it, has the word `proof:`. */
const isProven = (source: Source.Source) => {
  const written = source.text.split("\n")
  const code = source.code.split("\n")
  const remark = (line: number) =>
    code[line] === undefined ? "" : (written[line]?.slice(code[line].trimEnd().length) ?? "")
  return (line: number): boolean => {
    if (remark(line).includes("proof:")) return true
    let above = line - 1
    while (above >= 0 && code[above]?.trim() === "" && written[above]?.trim() !== "") {
      if (written[above]?.includes("proof:")) return true
      above -= 1
    }
    return false
  }
}

const violations = (source: Source.Source): ReadonlyArray<string> =>
  Object.entries(unwritten).flatMap(([name, pattern]) =>
    lines(source, pattern, name === "as" ? isProven(source) : undefined).map((line) => `${source.path}:${line}`)
  )

const kernel = new Map(Source.within("src/kernel").map((source) => [source.path, source]))
const services = Source.within("src/services")

/** A kernel module decides if it has a `step` or a `decide`, or runs one that does. Its types decide nothing. */
const decides = (path: string, seen: ReadonlySet<string> = new Set()): boolean => {
  const source = kernel.get(path)
  if (source === undefined || seen.has(path)) return false
  const below = new Set(seen).add(path)
  return (
    /^export (const|function) (decide|step)\b/m.test(source.code) ||
    Source.imports(source).some(({ from, isType }) => !isType && decides(join(path, "..", from), below))
  )
}

describe("Rooms", () => {
  for (const source of kernel.values()) {
    it(`${source.path} is pure`, () => {
      for (const { from } of Source.imports(source)) {
        assert.match(from, pure)
        if (from.startsWith(".")) assert.isTrue(kernel.has(join(source.path, "..", from)), `${from} is in the kernel`)
      }
      const found = worldly.flatMap((pattern) => lines(source, pattern))
      assert.deepStrictEqual(found, [])
    })
  }

  for (const source of services) {
    it(`${source.path} makes no decisions`, () => {
      const runs = Source.imports(source).filter(({ isType }) => !isType)
      const decisions = runs.map(({ from }) => join(source.path, "..", from)).filter((path) => decides(path))
      assert.deepStrictEqual(decisions, [])
    })
  }

  for (const source of [...kernel.values(), ...services]) {
    it(`${source.path} knows no program`, () => {
      for (const { from } of Source.imports(source)) assert.notMatch(from, /\/(programs|cli)\/|^wherefore/)
    })
  }

  for (const source of Source.within("src")) {
    it(`${source.path} is written as the rest is`, () => {
      assert.deepStrictEqual(violations(source), [])
      assert.isAtMost(source.text.split("\n").length - 1, 400, "a longer file is two nouns")
    })

    it(`${source.path} is named as a noun`, () => {
      const name = basename(source.path, ".ts")
      assert.notMatch(name, unwrittenName)
      if (!["src/index.ts", "src/testing.ts", "src/cli/main.ts"].includes(source.path)) {
        assert.match(source.path, /^src\/(kernel|services|programs|cli)\/([a-z]+\/)*[A-Z][A-Za-z0-9]*\.ts$/)
      }
    })
  }

  // Its types, too, would be missed by who has not installed it. What is asked for at run time is loaded then.
  it("lets those alone import an optional package that are no use without it", () => {
    const { peerDependenciesMeta } = JSON.parse(readFileSync("package.json", "utf8"))
    const optional = Object.keys(peerDependenciesMeta)
    const isOptional = (from: string) => optional.some((name) => from === name || from.startsWith(`${name}/`))
    const found = Source.within("src")
      .filter(({ text }) =>
        Array.from(text.matchAll(/^(?:import|export|\}) .*from "([^"]+)"$/gm)).some(([, from = ""]) => isOptional(from))
      )
      .map(({ path }) => path)
    assert.deepStrictEqual(found.toSorted(), [
      "src/cli/Runner.ts",
      "src/programs/Durable.ts",
      "src/programs/DurableCalls.ts",
      "src/programs/DurableCluster.ts",
      "src/programs/DurableInbox.ts",
      "src/programs/DurableRun.ts"
    ])
  })

  for (const [name, planted] of Object.entries({
    async: "const f = async () => 1",
    throw: "if (broken) throw broken",
    any: "const f = (x: any): Array<any> => x",
    "!": "const f = list[0]!.name",
    "yield* without return": "yield* Effect.fail(refusal)",
    "parameters without types": 'const f = Effect.fn("f")(function* (x) {',
    as: "const f = x as string"
  })) {
    it(`finds a planted ${name}`, () => {
      assert.isNotEmpty(violations(Source.of("Planted.ts", planted)))
      assert.isEmpty(violations(Source.of("Planted.ts", `// ${planted}\nconst text = ${JSON.stringify(planted)}`)))
    })
  }

  it("lets pass what only looks planted", () => {
    const innocent = `
      import * as Effect from "effect/Effect"
      import { a as b, type C as D } from "./A.ts"
      export * as E from "./E.ts"
      const one = ["x"] as const
      const two = Effect.async((resume) => resume(Effect.as(Effect.void, 1)))
      const three = !one || one !== two
      type Four<T> = { [K in keyof T as string]: T[K] }
    `.replaceAll(/^ +/gm, "")
    assert.deepStrictEqual(violations(Source.of("Innocent.ts", innocent)), [])
  })

  it("takes an assertion with its proof", () => {
    for (const proven of [
      "// proof: only strings go in.\nconst f = x as string",
      "/**\n * The name.\n * proof: only strings go in.\n */\nconst f = x as string",
      "const f = x as string // proof: only strings go in."
    ])
      assert.deepStrictEqual(violations(Source.of("Proven.ts", proven)), [])
    for (const unproven of [
      "// proof: only strings go in.\nconst e = 1\nconst f = x as string",
      "// proof: only strings go in.\nconst f = x as any",
      'const f = "proof:" as string'
    ])
      assert.isNotEmpty(violations(Source.of("Unproven.ts", unproven)))
  })
})
