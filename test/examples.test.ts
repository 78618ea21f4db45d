import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"

const tsx = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href

/** Runs an example as a reader would, in a directory of its own. */
const run = (file: string): Promise<string> => inside(["--import", tsx, resolve("examples", file)])

// It waits without blocking: the test runner gives up on a worker that does not answer for a minute.
const inside = async (words: ReadonlyArray<string>): Promise<string> => {
  const directory = mkdtempSync(join(tmpdir(), "wherefore-example-"))
  try {
    const env = { ...process.env, NO_COLOR: "1" }
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: directory, encoding: "utf8", env })
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
    it(`${name} prints what it says`, async () => {
      assert.isNotEmpty(expected(name))
      assert.strictEqual(await run(name), expected(name))
    })
  }

  it("06-command.ts is a program for the command line", async () => {
    const output = await inside([resolve("dist/cli/main.js"), "run", resolve("examples/06-command.ts")])
    assert.strictEqual(settled(output), expected("06-command.ts"))
  })

  it("01-why.ts prints what the README shows", async () => {
    const [, shown] = /```text\n([^]*?)```/.exec(readFileSync("README.md", "utf8")) ?? []
    assert.strictEqual(settled(await run("01-why.ts")).trim(), settled(shown ?? "").trim())
  })

  it("the demo gets another answer without the stale piece, and names the piece in the chain", async () => {
    const output = await run("01-why.ts")
    assert.match(output, /43\.4 mm[^]*station-notes[^]*55\.9 mm/)
  })
})
