import { assert, describe, it } from "@effect/vitest"
import * as Crash from "./Crash.ts"
import * as CrashChild from "./CrashChild.ts"

const how = CrashChild.traceable ? "at a system call" : "after a step (strace does not work here)"

describe("Crash", () => {
  it(
    `of a process ${how} loses nothing that was acknowledged and leaves nothing that was not begun, in any store`,
    async () => {
      const { counts, failures } = await Crash.run(60, 1)
      assert.deepStrictEqual(failures, [])
      for (const kind of ["file", "sqlite", "artifacts"]) {
        assert.isAtLeast(counts[`${kind}: cases that were hit`] ?? 0, 5, kind)
        assert.isAtLeast(counts[`${kind}: acknowledged in cases`] ?? 0, 5, kind)
        if (!CrashChild.traceable) continue
        assert.isAtLeast(counts[`${kind}: flushes`] ?? 0, counts[`${kind}: acknowledged`] ?? Infinity, kind)
      }
      if (counts["postgres: skipped, none at 127.0.0.1:5432"] !== undefined) console.warn("PostgreSQL was skipped.")
      else assert.isAtLeast(counts["postgres: cases that were hit"] ?? 0, 5)
    },
    // For a machine that does one thing at a time, slowly.
    900_000
  )
})
