/**
 * `Faults` are the named points at which something goes wrong in a simulated world. Each world has some of them turned on,
 * and counts how often each came about.
 */
import type { Dice } from "./Dice.ts"

/** How likely each is where it can come about, in a world that has it. */
export const points = {
  "model.timeout": 0.1,
  "model.cut": 0.1,
  "model.limited": 0.1,
  "model.limited-until": 0.1,
  "model.unavailable": 0.1,
  "model.error-inside": 0.08,
  "model.empty": 0.06,
  "model.truncated-call": 0.1,
  "model.truncated-text": 0.06,
  "model.bad-json": 0.12,
  "model.wrong-types": 0.15,
  "model.unknown-tool": 0.12,
  "model.prototype-name": 0.08,
  "model.reserved-key": 0.08,
  "model.deep-args": 0.05,
  "model.duplicate-id": 0.1,
  "model.reused-id": 0.12,
  "model.no-id": 0.06,
  "model.parallel": 0.08,
  "model.same-call": 0.2,
  "model.character-at-a-time": 0.1,
  "model.huge-text": 0.04,
  "model.odd-characters": 0.15,
  "model.no-usage": 0.12,
  "model.negative-usage": 0.05,
  "model.fractional-usage": 0.04,
  "model.huge-usage": 0.08,
  "model.no-finish": 0.06,
  "model.late-parts": 0.06,
  "model.defect": 0.03,
  "model.hang": 0.06,
  "model.slow": 0.15,
  "tool.slow": 0.15,
  "tool.hang": 0.08,
  "tool.hang-after": 0.08,
  "tool.defect": 0.08,
  "tool.failure": 0.12,
  "tool.lost": 0.12,
  "tool.wrong-schema": 0.08,
  "tool.huge": 0.06,
  "tool.deaf": 0.06,
  "tool.odd-characters": 0.1,
  "tool.probe-unknown": 0.4,
  "tool.probe-failure": 0.25,
  "storage.slow": 0.2,
  "storage.busy": 0.04,
  "storage.full": 0.03,
  "storage.read-only": 0.03,
  "storage.commit-unknown": 0.04,
  "storage.read-fault": 0.1,
  "artifacts.unavailable": 0.2,
  "process.crash": 0.6,
  "process.crash-unwritten": 0.06,
  "process.crash-written": 0.06,
  "process.crash-in-effect": 0.3,
  "process.interrupt": 0.2,
  "process.second": 0.3,
  "process.pause": 0.3,
  "process.late-effect": 0.5,
  "process.skew": 0.5,
  "people.deny": 0.35,
  "people.never": 0.15,
  "people.meanwhile": 0.5,
  "people.twice": 0.25,
  "people.contradict": 0.25,
  "people.stale": 0.25,
  "people.unknown-ticket": 0.2,
  "people.wrong-run": 0.4,
  "people.two-at-once": 0.25,
  "people.after-the-end": 0.4,
  "people.wrong-call": 0.25
} as const

export type Point = keyof typeof points

export const names: ReadonlyArray<Point> = Object.keys(points).filter((name): name is Point => name in points)

export interface Faults {
  /** Whether it comes about now. */
  readonly hit: (point: Point) => boolean
  /** Those that came about, and how often. */
  readonly hits: ReadonlyMap<Point, number>
}

/** Nothing comes about once it `isQuiet`. What concerns what people say goes on, as it is no fault of a machine. */
export const make = (dice: Dice, isQuiet: () => boolean): Faults => {
  const among = dice.of("which")
  const share = among.pick([0.15, 0.3, 0.5])
  const on = new Set(names.filter(() => among.chance(share)))
  const each = new Map(names.map((name) => [name, dice.of(name)]))
  const hits = new Map<Point, number>()
  return {
    hits,
    hit: (point) => {
      if (!on.has(point) || (isQuiet() && !point.startsWith("people."))) return false
      if (each.get(point)?.chance(points[point]) !== true) return false
      hits.set(point, (hits.get(point) ?? 0) + 1)
      return true
    }
  }
}
