/**
 * Plants each bug in a copy of the sources and runs the test that has to fail: `npm run campaign -- planted [ID...]`. A test
 * that fails without a bug, or for another reason than a check of its own, has caught nothing: such as a file that cannot be
 * loaded, code that breaks of the bug by itself, or the time that it takes. See `docs/planted-bugs.md`.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Planted } from "./Planted.ts"
import { approvals } from "./approvals.ts"
import { artifacts } from "./artifacts.ts"
import { calls } from "./calls.ts"
import { input } from "./input.ts"
import { record } from "./record.ts"
import { storage } from "./storage.ts"

/** The bugs that there are. */
const all: ReadonlyArray<Planted> = [...storage, ...record, ...artifacts, ...calls, ...approvals, ...input]

const copied = ["src", "test", "scripts", "examples", "docs", "package.json", "tsconfig.json", "vitest.config.ts"]

/** A machine that does much else at once is no bug. */
const patienceMs = 600_000

/** How a test ended, and the first thing that it found wrong. After `bail` failures, if not 0, no more is tried. */
const tried = (directory: string, test: string, only: string | undefined, bail: number) => {
  const words = only === undefined ? [] : ["-t", only]
  const options = ["--reporter=verbose", `--bail=${bail}`, `--testTimeout=${patienceMs}`]
  const { status, stderr, stdout } = spawnSync("node_modules/.bin/vitest", ["run", test, ...words, ...options], {
    cwd: directory,
    encoding: "utf8",
    maxBuffer: 256 * 1024 * 1024,
    env: { ...process.env, FORCE_COLOR: "0", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const ran = /Tests .*\b(\d+) (passed|failed)/.test(stdout)
  // Errors are written apart from the rest.
  const said = `${stdout}\n${stderr}`
  const fault = /^\s*\+\s+"fault": "([^"]*)/m.exec(said)?.[1]
  return { passed: status === 0 && ran, found: fault ?? foundIn(said) }
}

/** What the first test that failed says: that a check did not hold, or that what was to fail did not, or the reverse. */
const foundIn = (said: string): string | undefined => {
  const [, kind = "", text = ""] = /^ *FAIL +\S+ > .*\n(\w*)(?:: (.*))?$/m.exec(said) ?? []
  if (kind === "AssertionError") return text
  const isOwn = kind !== "" && !/^(Type|Reference|Syntax|Range)Error$/.test(kind) && !text.startsWith("Test timed out")
  return isOwn ? `${kind} ${text}`.trim() : undefined
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

/** The words of all bugs that are looked for in a file of tests; none if one of them needs all of it. */
const wordsOf = (test: string, bugs: ReadonlyArray<Planted>): string | undefined => {
  const words = bugs.flatMap((bug) => (bug.test === test ? [bug.only] : []))
  return words.includes(undefined) ? undefined : Array.from(new Set(words)).join("|")
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
      const { only, test } = bug
      // Once for all bugs of the file.
      const passes = clean.get(test) ?? tried(directory, test, wordsOf(test, chosen), 0).passed
      clean.set(test, passes)
      const { stale, undo } = plant(directory, bug)
      const { found, passed } =
        passes && stale === undefined ? tried(directory, test, only, 1) : { found: undefined, passed: true }
      undo()
      const isCaught = passes && stale === undefined && !passed && found !== undefined
      if (!isCaught) missed += 1
      const why = passes
        ? (stale ?? found ?? (passed ? "its test passes" : "its test fails, and by no check of its own"))
        : "its test fails without it"
      console.log(
        `${isCaught ? "caught" : "MISSED"}  ${bug.id.padEnd(34)}  ${`${test} ${only ?? ""}`.trim().padEnd(40)}  ${why}`
      )
    }
    console.log(`${chosen.length - missed} of ${chosen.length} planted bugs caught`)
    return missed
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
