/**
 * The `Campaign` C5: many simulated worlds, each of them twice, and each judged. What it finds wrong has the seed with which
 * it happens again.
 */
import { setImmediate } from "node:timers/promises"
import * as Checker from "./Checker.ts"
import * as Simulation from "./Simulation.ts"

export interface Failure {
  readonly seed: number
  /** What was broken, and what went wrong in the world. */
  readonly fault: string
}

export interface Report {
  readonly counts: { readonly [name: string]: number }
  readonly failures: ReadonlyArray<Failure>
}

/** What is wrong with one seed. */
const judge = async (
  seed: number
): Promise<{ readonly failures: ReadonlyArray<Failure>; readonly hits: Simulation.Simulated["hits"] }> => {
  const { hash, hits, story } = await Simulation.run(seed)
  const again = await Simulation.run(seed, false)
  const broken = Checker.check(story).map(({ id, what }) => `${id}: ${what}`)
  if (again.hash !== hash) broken.push("the second run of the seed is another")
  const among = story.faults.join(",")
  return { hits, failures: broken.map((what) => ({ seed, fault: `${what} [${among}]` })) }
}

/** So many seeds from `seed` on. `counts` are how often each fault came about. */
export const run = async (trials: number, seed: number): Promise<Report> => {
  const counts: { [name: string]: number } = {}
  const failures: Array<Failure> = []
  for (let at = seed; at < seed + trials; at++) {
    const judged = await judge(at)
    // A world has only turns of its own: who started this waits to hear of it.
    await setImmediate()
    failures.push(...judged.failures)
    for (const [name, times] of judged.hits) counts[name] = (counts[name] ?? 0) + times
  }
  return { counts, failures }
}
