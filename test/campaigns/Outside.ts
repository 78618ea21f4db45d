/**
 * The `Outside` is what tools act on: another system, which keeps its ledger whatever becomes of the processes that ask it.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, FiberRef, Schema } from "effect"
import { Approval, Replay, Timeout } from "../../src/index.ts"
import type * as Machine from "./Machine.ts"
import * as Model from "./Model.ts"
import type * as Story from "./Story.ts"
import type * as World from "./World.ts"

const Came = Schema.Struct({ text: Schema.String, n: Schema.Int })
const shape = {
  parameters: { to: Schema.String, n: Schema.Int },
  success: Came,
  failure: Schema.Struct({ reason: Schema.String })
}
type Args = { readonly to: string; readonly n: number }
type Came = typeof Came.Type

/** What the checker is told of the tools. */
export const tools: Story.Story["tools"] = {
  look: { replay: "pure", approval: "allow", acts: false },
  note: { replay: "idempotent", approval: "allow", acts: true },
  move: { replay: "reconcile", approval: "allow", acts: true },
  send: { replay: "never", approval: "allow", acts: true },
  pay: { replay: "never", approval: "ask", acts: true },
  wipe: { replay: "idempotent", approval: "ask", acts: true },
  burn: { replay: "never", approval: "deny", acts: true }
}

interface Entry {
  readonly tool: string
  readonly came: Came
}

export interface Outside {
  readonly serve: (
    process: Machine.Process,
    tool: string,
    args: Args
  ) => Effect.Effect<Came, { readonly reason: string }>
  readonly probe: (
    process: Machine.Process,
    tool: string,
    key: string
  ) => Effect.Effect<Replay.Probed<Came>, { readonly reason: string }>
}

export const make = (world: World.World): Outside => {
  const { dice, faults, machine, tell } = world
  const ledger = new Map<string, Entry>()
  const inFlight = new Map<string, number>()

  /** The request comes to its effect even if who sent it is gone, unless it was lost on the way. */
  const act = (process: Machine.Process, tool: string, key: string, args: Args, isDeaf = false): Effect.Effect<Came> =>
    Effect.async((resume) => {
      const { replay } = tools[tool] ?? { replay: "never" }
      const late = replay !== "reconcile" && faults.hit("process.late-effect")
      const latency = isDeaf ? 20_000 : faults.hit("tool.slow") ? dice.int(500, 3_000) : dice.int(1, 20)
      inFlight.set(key, (inFlight.get(key) ?? 0) + 1)
      machine.after(latency, () => {
        inFlight.set(key, (inFlight.get(key) ?? 1) - 1)
        if (!process.alive && !late) return
        const known = replay === "idempotent" ? ledger.get(key) : undefined
        if (replay !== "pure") {
          tell({ what: known === undefined ? "effect" : "again", process: process.name, tool, key })
        }
        const came = known?.came ?? { text: `${tool} ${args.n} to ${args.to}`, n: args.n }
        ledger.set(key, { tool, came })
        if (process.alive && faults.hit("process.crash-in-effect")) return machine.kill(process)
        machine.after(dice.int(0, 20), () => resume(Effect.succeed(came)), process)
      })
    })

  const hang = Effect.async<never>(() => {})

  const serve: Outside["serve"] = (process, tool, args) =>
    Effect.gen(function* () {
      const key = yield* Replay.Key
      const { hit } = faults
      world.loading.delete(process)
      tell({ what: "entered", process: process.name, tool, key, args: JSON.stringify(args) })
      if (hit("tool.defect")) return yield* Effect.die("a planted defect of a tool")
      if (hit("tool.failure")) return yield* Effect.fail({ reason: `no ${tool} today` })
      if (hit("tool.hang")) return yield* hang
      const acting = act(process, tool, key, args, hit("tool.deaf"))
      const came = yield* hit("tool.deaf") ? Effect.uninterruptible(acting) : acting
      if (hit("tool.lost")) return yield* Effect.fail({ reason: "the connection was lost" })
      if (hit("tool.hang-after")) return yield* hang
      if (hit("tool.wrong-schema")) return { ...came, n: 1.5 }
      if (hit("tool.huge")) return { ...came, text: "x".repeat(3_000) }
      if (hit("tool.odd-characters")) return { ...came, text: Model.odd }
      return came
    })

  const probe: Outside["probe"] = (process, tool, key) =>
    Effect.suspend(() => {
      world.loading.delete(process)
      const found = (what: string) => tell({ what: "probe", process: process.name, tool, key, found: what })
      if (faults.hit("tool.probe-failure")) {
        found("failed")
        return Effect.fail({ reason: "the probe found nobody" })
      }
      const entry = ledger.get(key)
      // What is on its way is neither there nor not.
      if (faults.hit("tool.probe-unknown") || (entry === undefined && (inFlight.get(key) ?? 0) > 0)) {
        found("unknown")
        return Effect.succeed(Replay.unknown)
      }
      found(entry === undefined ? "not-applied" : "applied")
      return Effect.succeed(entry === undefined ? Replay.notApplied : Replay.applied(entry.came))
    })

  return { probe, serve }
}

/** Where a handler runs: it is the same for all processes, and each has its own way to the outside. */
export const here = FiberRef.unsafeMake<{ readonly outside: Outside; readonly process: Machine.Process } | undefined>(
  undefined
)

const within = <A>(
  ask: (outside: Outside, process: Machine.Process) => Effect.Effect<A, { readonly reason: string }>
): Effect.Effect<A, { readonly reason: string }> =>
  Effect.flatMap(FiberRef.get(here), (at) =>
    at === undefined ? Effect.die("a tool runs outside of every process") : ask(at.outside, at.process)
  )

const limit = "5 seconds"
const Look = Tool.make("look", shape).annotate(Tool.Readonly, true).annotate(Timeout.Timeout, limit)
const Note = Tool.make("note", shape).annotate(Replay.Replay, "idempotent").annotate(Timeout.Timeout, limit)
const Move = Replay.reconcile(Tool.make("move", shape), (_, key) =>
  within((outside, process) => outside.probe(process, "move", key))
).annotate(Timeout.Timeout, limit)
const Send = Tool.make("send", shape).annotate(Timeout.Timeout, limit)
const Pay = Tool.make("pay", shape).annotate(Approval.Approval, "ask").annotate(Timeout.Timeout, limit)
const Wipe = Tool.make("wipe", shape)
  .annotate(Tool.Destructive, true)
  .annotate(Replay.Replay, "idempotent")
  .annotate(Timeout.Timeout, limit)
const Burn = Tool.make("burn", shape).annotate(Approval.Approval, "deny").annotate(Timeout.Timeout, limit)

export const toolkit = Toolkit.make(Look, Note, Move, Send, Pay, Wipe, Burn)

const serve = (tool: string) => (args: Args) => within((outside, process) => outside.serve(process, tool, args))

export const handlers = toolkit.toLayer({
  look: serve("look"),
  note: serve("note"),
  move: serve("move"),
  send: serve("send"),
  pay: serve("pay"),
  wipe: serve("wipe"),
  burn: serve("burn")
})
