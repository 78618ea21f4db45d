/**
 * A `World` is what all of a simulation share: its machine, its faults, its one log, and the record as the storage has it.
 */
import { Context, Effect, Layer, Stream } from "effect"
import { ArtifactStore, Entropy, type Event, Record } from "../../src/index.ts"
import * as Dice from "./Dice.ts"
import * as Faults from "./Faults.ts"
import * as Machine from "./Machine.ts"
import type * as Story from "./Story.ts"

export interface World {
  readonly dice: Dice.Dice
  readonly machine: Machine.Machine
  readonly faults: Faults.Faults
  readonly tell: (happening: Story.Happening) => void
  readonly lines: ReadonlyArray<Story.Line>
  /** The record that no fault touches. */
  readonly record: typeof Record.Record.Service
  readonly artifacts: typeof ArtifactStore.ArtifactStore.Service
  /** Where the refs of artifacts come from. */
  readonly entropy: typeof Entropy.Entropy.Service
  /** What has been read of each run. */
  readonly known: Map<string, Array<Event.Entry>>
  /** Which run each process drives. */
  readonly drives: Map<string, string>
  /** Which processes wait for a package to be loaded, where their runs need one. */
  readonly loading: Set<Machine.Process>
  loads: boolean
  /** What is to be done when a process is killed. */
  readonly endings: Map<Machine.Process, () => void>
  /** Who hears of what is written. */
  overhear: (runId: string, events: ReadonlyArray<Event.Event>) => void
  /** How many appends were made. */
  ops: number
  quiet: boolean
  skewed: boolean
}

const build = <A, S>(layer: Layer.Layer<A>, tag: Context.Tag<A, S>): S =>
  Context.get(Effect.runSync(Effect.scoped(Layer.build(Layer.fresh(layer)))), tag)

/** The entries of a run from a place on, or none. */
export const read = (world: Pick<World, "record">, runId: string, from = 0): ReadonlyArray<Event.Entry> =>
  Array.from(
    Effect.runSync(
      Stream.runCollect(world.record.read(runId, { from })).pipe(
        Effect.orElseSucceed((): ReadonlyArray<Event.Entry> => [])
      )
    )
  )

/** The entries of a run now, or none: those that came since are read. */
export const entriesOf = (world: Pick<World, "record" | "known">, runId: string): ReadonlyArray<Event.Entry> => {
  const known = world.known.get(runId) ?? []
  world.known.set(runId, known)
  known.push(...read(world, runId, known.length))
  return known
}

export const make = (seed: number): World => {
  const dice = Dice.make(seed)
  const lines: Array<Story.Line> = []
  const shape = dice.of("shape")
  const drives = new Map<string, string>()
  const tell = (happening: Story.Happening): void => void lines.push({ ...happening, at: machine.now() })
  const machine = Machine.make({
    dice: dice.of("turns"),
    start: 1_700_000_000_000,
    shuffled: shape.chance(0.5),
    maxOps: shape.pick([16, 128, 2_048]),
    mostTurns: 200_000,
    mostMs: 7 * 24 * 3_600_000,
    onKilled: (process) => {
      const { name } = process
      tell({ what: "crash", process: name, runId: drives.get(name) ?? "" })
      world.endings.get(process)?.()
    },
    onLog: ({ name }, level, message) => tell({ what: "logged", process: name, level, message })
  })
  const world: World = {
    dice,
    machine,
    faults: Faults.make(dice.of("faults"), () => world.quiet),
    tell,
    lines,
    record: build(Record.layerMemory, Record.Record),
    artifacts: build(ArtifactStore.layerMemory(), ArtifactStore.ArtifactStore),
    drives,
    known: new Map(),
    entropy: Effect.runSync(Effect.provide(Entropy.Entropy, Entropy.layerSeeded(seed))),
    loading: new Set(),
    loads: false,
    endings: new Map(),
    overhear: () => {},
    ops: 0,
    quiet: false,
    skewed: false
  }
  return world
}
