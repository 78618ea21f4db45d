/**
 * Plants each bug in a copy of the sources and runs the test that has to fail: `npm run campaign -- planted [ID...]`. A test
 * that fails without a bug, or for another reason than a check of its own, has caught nothing.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Planted } from "./Planted.ts"
import { storage } from "./storage.ts"

/** The bugs that there are. */
const all: ReadonlyArray<Planted> = [...storage]

const copied = ["src", "test", "scripts", "examples", "docs", "package.json", "tsconfig.json", "vitest.config.ts"]

/** How a test ended, and the first thing that it found wrong. */
const tried = (directory: string, { only, test }: Planted) => {
  const words = only === undefined ? [] : ["-t", only]
  const { status, stderr, stdout } = spawnSync("npx", ["vitest", "run", test, ...words, "--reporter=verbose"], {
    cwd: directory,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, FORCE_COLOR: "0", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const ran = /Tests .*\b(\d+) (passed|failed)/.test(stdout)
  // Errors are written apart from the rest.
  const said = `${stdout}\n${stderr}`
  const check = /AssertionError: (.*)/.exec(said)?.[1]
  const fault = /^\s*\+\s+"fault": "([^"]*)/m.exec(said)?.[1]
  return { passed: status === 0 && ran, found: check === undefined ? undefined : (fault ?? check) }
}

/** Every change of a bug in a copy; what it was before, or which change no longer fits. */
const plant = (directory: string, { changes }: Planted): { readonly undo: () => void; readonly stale?: string } => {
  const before = new Map<string, string>()
  const undo = () => {
    for (const [path, text] of before) writeFileSync(path, text)
  }
  if (changes.length === 0) return { undo, stale: "it changes nothing" }
  for (const { file, replace, search } of changes) {
    const path = join(directory, file)
    const text = readFileSync(path, "utf8")
    if (!before.has(path)) before.set(path, text)
    const parts = text.split(search)
    if (parts.length !== 2) return { undo, stale: `${file} has it ${parts.length - 1} times` }
    writeFileSync(path, parts.join(replace))
  }
  return { undo }
}

/** Prints a table; the number of bugs that were not caught. */
export const run = (ids: ReadonlyArray<string>): number => {
  const unknown = ids.filter((id) => !all.some((one) => one.id === id))
  if (unknown.length > 0) {
    console.error(`There is no ${unknown.join(", ")}. There are: ${all.map(({ id }) => id).join(", ")}`)
    return unknown.length
  }
  const chosen = ids.length === 0 ? all : all.filter(({ id }) => ids.includes(id))
  const directory = mkdtempSync(join(tmpdir(), "planted-"))
  try {
    for (const name of copied) cpSync(name, join(directory, name), { recursive: true })
    symlinkSync(resolve("node_modules"), join(directory, "node_modules"))
    const clean = new Map<string, boolean>()
    let missed = 0
    for (const bug of chosen) {
      const key = `${bug.test} ${bug.only ?? ""}`
      const passes = clean.get(key) ?? tried(directory, bug).passed
      clean.set(key, passes)
      const { stale, undo } = plant(directory, bug)
      const { found, passed } =
        passes && stale === undefined ? tried(directory, bug) : { found: undefined, passed: true }
      undo()
      const isCaught = passes && stale === undefined && !passed && found !== undefined
      if (!isCaught) missed += 1
      const why = passes
        ? (stale ?? found ?? (passed ? "its test passes" : "its test fails, and by no check of its own"))
        : "its test fails without it"
      console.log(`${isCaught ? "caught" : "MISSED"}  ${bug.id.padEnd(34)}  ${key.trim().padEnd(40)}  ${why}`)
    }
    console.log(`${chosen.length - missed} of ${chosen.length} planted bugs caught`)
    return missed
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
