import * as FileSystem from "@effect/platform/FileSystem"
import { Effect } from "effect"
import * as fs from "node:fs"
import { dirname } from "node:path"

/** What a loss of power may take back: a name that is not flushed in its directory, or bytes that are not in their file. */
interface Unflushed {
  in: string
  readonly undo: (at: string) => void
}

export interface Disk {
  readonly fs: FileSystem.FileSystem
  /** Resolves when the step at which the disk stops is reached. */
  readonly stopped: Promise<void>
  /** How many steps were made. A step changes the disk or flushes it. */
  readonly steps: () => number
  /** Takes back, last first, what was not flushed and is to be lost. */
  readonly losePower: (isLost: (index: number) => boolean) => void
}

const attempt = (act: () => void) => {
  try {
    act()
  } catch {
    // What was made in a directory that is lost is lost with it.
  }
}

const blank = (at: string) => {
  const { size } = fs.statSync(at)
  fs.truncateSync(at, 0)
  // Some file systems keep the length of what they lose.
  if (size % 2 === 0) fs.truncateSync(at, size)
}

/** A disk whose program is killed before the step with this number: that step and those after it never end. */
export const make = (real: FileSystem.FileSystem, stopAt: number): Disk => {
  let steps = 0
  let stop = () => {}
  const stopped = new Promise<void>((resolve) => (stop = resolve))
  let unflushed: Array<Unflushed> = []

  const step = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (steps === stopAt) {
        stop()
        return Effect.never
      }
      steps++
      return effect
    })
  const changes = <A, E, R>(effect: Effect.Effect<A, E, R>, within: string, undo: (at: string) => void) =>
    step(Effect.tap(effect, () => Effect.sync(() => unflushed.push({ in: within, undo }))))
  const flushes = <A, E, R>(effect: Effect.Effect<A, E, R>, at: string) =>
    step(Effect.tap(effect, () => Effect.sync(() => (unflushed = unflushed.filter((change) => change.in !== at)))))

  const watched = (file: FileSystem.File, at: string): FileSystem.File =>
    Object.defineProperties(Object.create(file), {
      sync: { get: () => flushes(file.sync, at) },
      writeAll: {
        // A write may be cut in two.
        value: (bytes: Uint8Array) => {
          const half = bytes.length >> 1
          const rest = changes(file.writeAll(bytes.subarray(half)), at, blank)
          return half === 0 ? rest : Effect.zipRight(changes(file.writeAll(bytes.subarray(0, half)), at, blank), rest)
        }
      }
    })

  return {
    stopped,
    steps: () => steps,
    losePower: (isLost) => {
      unflushed.forEach((_, index) => {
        const { in: within, undo } = unflushed[unflushed.length - 1 - index]!
        if (isLost(index)) attempt(() => undo(within))
      })
    },
    fs: {
      ...real,
      makeDirectory: (at, options) =>
        changes(real.makeDirectory(at, options), dirname(at), () => fs.rmSync(at, { recursive: true })),
      open: (at, options) =>
        options?.flag === "wx"
          ? Effect.map(
              changes(real.open(at, options), dirname(at), () => fs.rmSync(at)),
              (file) => watched(file, at)
            )
          : Effect.map(real.open(at, options), (file) => watched(file, at)),
      rename: (from, to) =>
        Effect.tap(
          changes(real.rename(from, to), dirname(to), () => fs.renameSync(to, from)),
          () =>
            Effect.sync(() => {
              for (const change of unflushed) if (change.in === from) change.in = to
            })
        ),
      remove: (at, options) =>
        Effect.suspend(() => {
          if (!fs.existsSync(at)) return real.remove(at, options)
          const kept = fs.readFileSync(at)
          return changes(real.remove(at, options), dirname(at), () => fs.writeFileSync(at, kept, { flag: "wx" }))
        })
    }
  }
}
