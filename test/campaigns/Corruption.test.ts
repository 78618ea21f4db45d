import { assert, describe, it } from "@effect/vitest"
import * as Corruption from "./Corruption.ts"

describe("Corruption", () => {
  it(
    "is found where it is, or is said to be what nobody can find, and nothing else is",
    { timeout: 900_000 },
    async () => {
      const { counts, failures } = await Corruption.run(2_000, 1)
      assert.deepStrictEqual(failures, [])
      assert.strictEqual(counts["clean checks"], 2_000)
      for (const name of [
        "in place: found and located",
        "another run in its place: found by its id",
        "torn tail: told",
        "tail cut: found by the anchor",
        "written anew: found by the anchor",
        "cut or written anew behind the anchor: said to be unprovable"
      ])
        assert.isAtLeast(counts[name] ?? 0, 5, name)
    }
  )
})
