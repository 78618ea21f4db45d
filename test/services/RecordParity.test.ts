import { afterAll, assert, describe, it } from "vitest"
import * as Parity from "../campaigns/Parity.ts"
import * as Database from "./RecordDatabase.ts"

afterAll(() => Database.closePool())

const lists = 100

describe("Record", () => {
  it(
    `gives the same answers in memory, a file and a database, to the last byte of a hash${Parity.skipped.join("")}`,
    { timeout: 900_000 },
    async () => {
      const { counts, failures } = await Parity.run(lists, 1)
      assert.deepStrictEqual(failures, [])
      assert.strictEqual(counts["lists of operations"], lists)
    }
  )
})
