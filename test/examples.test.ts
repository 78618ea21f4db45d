import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href

/** Runs an example as a reader would, in a directory of its own. */
const run = (file: string): string => inside(["--import", tsx, resolve("examples", file)])

const inside = (words: ReadonlyArray<string>): string => {
  const directory = mkdtempSync(join(tmpdir(), "wherefore-example-"))
  try {
    const { error, status, stderr, stdout } = spawnSync(process.execPath, words, {
      cwd: directory,
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1" }
    })
    if (error !== undefined) assert.fail(error.message)
    assert.strictEqual(status, 0, stderr)
    return stdout
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** The output that a file says it has: its last lines, if they are a comment. */
const expected = (file: string): string => {
  const lines = readFileSync(join("examples", file), "utf8").trimEnd().split("\n")
  const last = lines.findLastIndex((line) => !line.startsWith("//"))
  return lines
    .slice(last + 1)
    .map((line) => `${line.slice(3)}\n`)
    .join("")
}

const names = readdirSync("examples").filter((file) => /^\d\d-.*\.ts$/.test(file))

/** Run ids and times differ from run to run. */
const settled = (text: string): string =>
  text.replaceAll(/(run|why) [0-9a-z]{10} /g, "$1 ########## ").replaceAll(/ +\d+(\.\d+)?m?s\b/g, " 0s")

describe("examples", () => {
  for (const name of names.filter((file) => !["01-why.ts", "06-command.ts"].includes(file))) {
    it(`${name} prints what it says`, () => {
      assert.isNotEmpty(expected(name))
      assert.strictEqual(run(name), expected(name))
    })
  }

  it("06-command.ts is a program for the command line", () => {
    const output = inside([resolve("dist/cli/main.js"), "run", resolve("examples/06-command.ts")])
    assert.strictEqual(settled(output), expected("06-command.ts"))
  })

  it("01-why.ts prints what the README shows", () => {
    const [, shown] = /```text\n([^]*?)```/.exec(readFileSync("README.md", "utf8")) ?? []
    assert.strictEqual(settled(run("01-why.ts")).trim(), settled(shown ?? "").trim())
  })

  it("the demo gets another answer without the stale piece, and names the piece in the chain", () => {
    const output = run("01-why.ts")
    assert.match(output, /43\.4 mm[^]*station-notes[^]*55\.9 mm/)
  })
})
