/**
 * `Dice` are where all that is random in a simulated world comes from: the same seed throws the same, for ever and on every
 * machine. Dice of different labels do not disturb each other.
 */
export interface Dice {
  /** From 0 up to but not including 1. */
  readonly next: () => number
  /** A whole number from `from` to `to`, both included. */
  readonly int: (from: number, to: number) => number
  readonly chance: (probability: number) => boolean
  readonly pick: <A>(list: readonly [A, ...ReadonlyArray<A>]) => A
  readonly of: (label: string) => Dice
}

/** FNV-1a. */
const hash = (text: string): number => {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return state >>> 0
}

/** SplitMix32. */
export const make = (seed: number): Dice => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0
    const a = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
    const b = Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
    return ((b ^ (b >>> 16)) >>> 0) / 0x1_0000_0000
  }
  return {
    next,
    int: (from, to) => from + Math.floor(next() * (to - from + 1)),
    chance: (probability) => next() < probability,
    pick: (list) => list[Math.floor(next() * list.length)] ?? list[0],
    of: (label) => make(Math.imul(seed ^ hash(label), 0x9e3779b1) ^ hash(`${seed}:${label}`))
  }
}
