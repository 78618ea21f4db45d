import { assert, describe, it } from "@effect/vitest"
import * as Crash from "./Crash.ts"
import * as CrashChild from "./CrashChild.ts"
import { hasPostgres } from "./CrashStore.ts"

const how = CrashChild.traceable ? "at a system call" : "after a step (strace does not work here)"
const isAway = !(await hasPostgres())

/** For a machine that does one thing at a time, slowly. */
const timeout = 900_000

describe("Crash", () => {
  for (const kind of ["file", "sqlite", "artifacts"])
    it(
      `of ${kind} ${how} loses nothing acknowledged and leaves nothing that was not begun`,
      async () => {
        const { counts, failures } = await Crash.run(15, 1, { kinds: [kind] })
        assert.deepStrictEqual(failures, [])
        assert.strictEqual(counts[`${kind}: cases`], 15)
        assert.isAtLeast(counts[`${kind}: acknowledged in cases`] ?? 0, 15)
        if (!CrashChild.traceable) return
        // Each case was stopped where it was to be.
        assert.strictEqual(counts[`${kind}: cases that were hit`], 15)
        assert.isAtLeast(counts[`${kind}: flushes`] ?? 0, counts[`${kind}: acknowledged`] ?? Infinity)
      },
      timeout
    )

  it.skipIf(isAway)(
    `of a client of postgres where it sends loses nothing acknowledged${isAway ? " (skipped: none at 127.0.0.1:5432)" : ""}`,
    async () => {
      const { counts, failures } = await Crash.run(15, 1, { kinds: ["postgres"] })
      assert.deepStrictEqual(failures, [])
      assert.isAtLeast(counts["postgres: cases that were hit"] ?? 0, 10)
      assert.isAtLeast(counts["postgres: acknowledged in cases"] ?? 0, 15)
    },
    timeout
  )

  it(
    "of a process that cannot be traced is somewhere after a step",
    async () => {
      const { counts, failures } = await Crash.run(3, 1, { kinds: ["file"], traced: false, steps: 100 })
      assert.deepStrictEqual(failures, [])
      assert.isAtLeast(counts["file: cases that were hit"] ?? 0, 1)
      assert.strictEqual(counts["strace does not work here: killed at moments after steps"], 1)
    },
    timeout
  )
})
