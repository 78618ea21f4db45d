/**
 * `Worlds` are the seeds of C5 that are tried each time: a thousand, in two files that run side by side.
 */
import { assert, it } from "vitest"
import * as Campaign from "./Campaign.ts"
import * as Faults from "./Faults.ts"

const size = 500
const parts = 4

const line = ({ fault, seed }: Campaign.Failure): string => `seed=${seed} campaign=c5 fault=${fault}`

/** Five hundred worlds keep all promises, and meet every fault that there is. */
export const hold = (first: number): void => {
  const counts = new Map<string, number>()
  for (let part = 0; part < parts; part++) {
    const from = first + (part * size) / parts
    it(`from seed ${from} on keep all promises, and are the same a second time`, { timeout: 900_000 }, async () => {
      const report = await Campaign.run(size / parts, from)
      for (const [name, times] of Object.entries(report.counts)) counts.set(name, (counts.get(name) ?? 0) + times)
      assert.deepStrictEqual(report.failures.map(line), [])
    })
  }

  it("have met every fault there is", () => {
    const told = Faults.names.map((name) => `${String(counts.get(name) ?? 0).padStart(6)}  ${name}`)
    console.log(told.join("\n"))
    assert.deepStrictEqual(
      Faults.names.filter((name) => !counts.has(name)),
      []
    )
  })
}
