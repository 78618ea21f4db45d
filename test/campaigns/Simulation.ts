/**
 * A `Simulation` is a whole world from one number: an agent's runs, the processes that drive them and die, the people who are
 * asked, and everything that goes wrong. The same seed gives the same story, to the byte.
 */
import { Cause, Context, Effect, Either, Exit, FiberId, Layer, Stream } from "effect"
import { createHash } from "node:crypto"
import { Agent, ArtifactStore, type Event, LLM, type Outcome, Record, Why } from "../../src/index.ts"
import type * as Dice from "./Dice.ts"
import type * as Machine from "./Machine.ts"
import * as Model from "./Model.ts"
import * as Outside from "./Outside.ts"
import * as People from "./People.ts"
import * as Storage from "./Storage.ts"
import type * as Story from "./Story.ts"
import * as World from "./World.ts"

export interface Simulated {
  readonly story: Story.Story
  /** SHA-256 over all that happened and is on the records, in its order. */
  readonly hash: string
  readonly hits: ReadonlyMap<string, number>
}

/** How often a run is taken up again once nothing goes wrong any more. */
const mostQuietLives = 40

type Life = "crashed" | { readonly pending: ReadonlyArray<Outcome.Pending> } | "over"

const handlers = Effect.runSync(Effect.scoped(Layer.build(Outside.handlers)))

/** What the package says of a run at the end: whether it is whole, and why three of its calls were made. */
const explain = ({ tell, ...world }: World.World, dice: Dice.Dice, runId: string): void => {
  const entries = World.read(world, runId)
  const verified = Effect.runSync(Effect.either(Record.verify(entries)))
  tell({ what: "verified", runId, came: Either.isRight(verified) ? "whole" : verified.left.kind })
  const events = entries.map(({ event }) => event)
  const called = events.flatMap((event) => (event._tag === "ToolCalled" ? [event] : []))
  for (let k = 0; k < 3 && called.length > 0; k++) {
    const [one] = called.splice(dice.int(0, called.length - 1), 1)
    if (one === undefined) break
    const chain = Why.tool(events, one.toolCallId, one.iteration)
    const roots = chain.nodes.filter(({ kind }) => kind === "root").length
    tell({ what: "explained", runId, toolCallId: one.toolCallId, roots, gaps: chain.gaps.map(({ kind }) => kind) })
  }
}

/** `isExplained`: the package's own means are asked about the records, too. What they say follows from those alone. */
export const run = async (seed: number, isExplained = true): Promise<Simulated> => {
  const world = World.make(seed)
  const { faults, machine, tell } = world
  const dice = world.dice.of("simulation")
  const limits: Story.Story["limits"] = {
    passes: dice.int(2, 12),
    ...(dice.chance(0.3) ? { toolCalls: dice.int(1, 6) } : {}),
    ...(dice.chance(0.25) ? { tokens: dice.int(400, 3_000) } : {}),
    ...(dice.chance(0.4) ? { wallTimeMs: dice.int(5_000, 60_000) } : {})
  }
  world.loads = limits.tokens !== undefined
  const names = Object.keys(Outside.tools)
  const chosen = names.filter(() => dice.chance(0.6))
  const plan: Model.Plan = {
    passes: dice.int(1, 6),
    tools: ["look", ...chosen],
    canHang: limits.wallTimeMs !== undefined
  }
  const { wallTimeMs, ...counted } = limits
  const agent = Agent.make({
    name: "clerk",
    instructions: "Do what is asked.",
    toolkit: Outside.toolkit,
    budget: {
      ...counted,
      ...(wallTimeMs === undefined ? {} : { wallTime: wallTimeMs }),
      ...(dice.chance(0.2) ? { closing: true } : {})
    },
    maxResultChars: 2_000,
    unknown: dice.chance(0.5) ? "hold" : "tell",
    ...(dice.chance(0.5) ? { retry: LLM.standardRetry } : {}),
    ...(dice.chance(0.2) ? { placement: { maxInlineChars: 8 } } : {})
  })
  const runs = dice.chance(0.3) ? ["a", "b"] : ["a"]
  const people = People.make(world, [...runs, "nobody"])
  const outside = Outside.make(world)
  const store = machine.process("store")
  world.overhear = people.overhear
  let overlaps = false
  let processes = 0

  const endOf = (runId: string): Event.Event | undefined => World.entriesOf(world, runId).at(-1)?.event
  const hasEnded = (runId: string): boolean => endOf(runId)?._tag === "RunEnded"

  const told = (process: Machine.Process, runId: string, exit: Exit.Exit<Outcome.Outcome, Agent.AgentError>): Life => {
    const by = { what: "exit", process: process.name, runId } as const
    if (Exit.isSuccess(exit)) {
      const { pending, status } = exit.value
      tell({ ...by, came: status, ...(exit.value.status === "answered" ? { answer: exit.value.answer } : {}) })
      return status === "waiting" ? { pending } : "over"
    }
    const failure = Cause.failureOrCause(exit.cause)
    if (Either.isLeft(failure)) tell({ ...by, came: "error", tag: failure.left._tag })
    else if (Cause.isInterruptedOnly(exit.cause)) tell({ ...by, came: "interrupted" })
    else {
      const text = Cause.pretty(exit.cause)
      tell({
        ...by,
        came: "defect",
        tag: text.split("\n")[0] ?? "",
        ...(text.includes(Model.planted) ? { planted: true } : {})
      })
    }
    return "over"
  }

  /** One process drives the run until it is done or dead. A second one may come while the first still lives. */
  const live = (runId: string, how: "run" | "resume" | "follow-up"): Effect.Effect<ReadonlyArray<Life>> =>
    Effect.async((resume) => {
      const lives: Array<Life> = []
      let open = 0
      const over = (life: Life): void => {
        lives.push(life)
        open -= 1
        if (open === 0) resume(Effect.succeed(lives))
      }
      const begin = (how: "run" | "resume" | "follow-up", isSecond: boolean): void => {
        open += 1
        const skew = faults.hit("process.skew") ? dice.pick([-300_000, 300_000]) : 0
        if (skew !== 0) world.skewed = true
        const process = machine.process(`process-${processes++}`, skew)
        world.drives.set(process.name, runId)
        let isOver = false
        const finish = (life: Life): void => {
          if (isOver) return
          isOver = true
          process.alive = false
          world.loading.delete(process)
          over(life)
        }
        if (faults.hit("process.crash")) process.diesAt = dice.int(1, dice.pick([60, 400, 2_000]))
        world.endings.set(process, () => finish("crashed"))
        tell({ what: "start", process: process.name, runId, how })
        if (world.loads && how === "run") world.loading.add(process)
        const driving: Effect.Effect<
          Outcome.Outcome,
          Agent.AgentError,
          Agent.Services | Agent.Handlers<typeof Outside.toolkit.tools>
        > =
          how === "run"
            ? Agent.run(agent, `Please do it, number ${seed}.`, { runId })
            : how === "follow-up"
              ? Agent.followUp(agent, "a", "And now the rest.", { runId })
              : Agent.resume(agent, runId)
        const context = Context.merge(
          handlers,
          Context.make(Record.Record, Storage.record(world, process, true, world.loads && how !== "run")).pipe(
            Context.add(ArtifactStore.ArtifactStore, Storage.artifacts(world, process, store)),
            Context.add(LLM.LLM, Model.make(world, process, runId, plan))
          )
        )
        const fiber = machine.fork(
          process,
          Effect.provide(driving, context).pipe(Effect.locally(Outside.here, { outside, process })),
          (exit) => finish(told(process, runId, exit))
        )
        if (faults.hit("process.interrupt")) {
          machine.after(dice.int(1, dice.pick([50, 1_000, 8_000])), () => {
            if (isOver || !process.alive) return
            tell({ what: "interrupt", process: process.name, runId })
            fiber.unsafeInterruptAsFork(FiberId.none)
          })
        }
        if (faults.hit("process.pause")) {
          machine.after(dice.int(1, 1_000), () => {
            if (isOver || !process.alive) return
            tell({ what: "pause", process: process.name, runId })
            machine.pause(process, dice.int(500, 60_000))
          })
        }
        if (!isSecond && faults.hit("process.second")) {
          machine.after(dice.int(1, 3_000), () => {
            if (isOver || open === 0) return
            overlaps = true
            begin("resume", true)
          })
        }
      }
      begin(how, false)
    })

  const follow = (runId: string): void => {
    const process = machine.process(`follower of ${runId}`)
    const hashes: Array<string> = []
    const following = Stream.runForEach(world.record.tail(runId), ({ hash }) =>
      Effect.sync(() => void hashes.push(hash))
    )
    machine.fork(process, Effect.ignore(following), () => {})
    followers.set(runId, hashes)
  }
  const followers = new Map<string, Array<string>>()

  const task = (runId: string, first: "run" | "follow-up"): Effect.Effect<void> =>
    Effect.gen(function* () {
      world.quiet = false
      const faulty = dice.int(1, 4)
      let quietLives = 0
      for (let n = 0; quietLives < mostQuietLives; n++) {
        if (n === faulty) {
          world.quiet = true
          tell({ what: "quiet", runId })
        }
        if (world.quiet) quietLives += 1
        const entries = World.entriesOf(world, runId)
        if (n > 0 && entries.length > 0 && !followers.has(runId)) follow(runId)
        const lives = yield* live(runId, entries.length === 0 ? first : "resume")
        if (hasEnded(runId)) {
          yield* people.afterTheEnd(runId)
          return
        }
        const waiting = lives.find((life) => typeof life === "object")
        if (waiting !== undefined) {
          const isLeft = yield* people.attend(runId, waiting.pending)
          if (isLeft && world.quiet) {
            // Whatever can be done without what is left is done first, and whoever has overheard it has their say.
            yield* Effect.sleep(5_000)
            yield* live(runId, "resume")
            const before = World.entriesOf(world, runId).length
            const again = yield* live(runId, "resume")
            const still = again.find((life) => typeof life === "object")
            const isStill = still !== undefined && (yield* people.attend(runId, still.pending))
            yield* Effect.sleep(5_000)
            if (isStill && World.entriesOf(world, runId).length === before) {
              tell({ what: "left", runId })
              return
            }
          }
        }
        yield* Effect.sleep(dice.int(10, 1_000))
      }
      tell({ what: "stuck", runId })
    })

  const main = Effect.gen(function* () {
    yield* task("a", "run")
    if (runs.length > 1) yield* task("b", hasEnded("a") && !world.loads && dice.chance(0.5) ? "follow-up" : "run")
    // Whoever still listens hears the rest.
    yield* Effect.sleep(120_000)
  })
  let isOver = false
  machine.fork(machine.process("world"), main, (exit) => {
    isOver = true
    if (Exit.isFailure(exit)) tell({ what: "hang", why: Cause.pretty(exit.cause) })
  })
  const why = await machine.run(
    () => isOver,
    () => Array.from(world.loading).some(({ alive, held }) => alive && held.length === 0)
  )
  if (why !== undefined) tell({ what: "hang", why })

  const records: { [runId: string]: ReadonlyArray<Story.Entry> } = {}
  for (const runId of runs) {
    records[runId] = JSON.parse(JSON.stringify(World.read(world, runId)))
    const heard = followers.get(runId)
    if (heard !== undefined) tell({ what: "followed", runId, hashes: heard })
  }
  const story: Story.Story = {
    seed,
    tools: Outside.tools,
    limits,
    overlaps,
    skewed: world.skewed,
    faults: Array.from(faults.hits.keys()).sort(),
    lines: world.lines,
    records
  }
  const hash = createHash("sha256").update(JSON.stringify(story)).digest("hex")
  if (isExplained) for (const runId of runs) explain(world, dice, runId)
  return { story, hash, hits: faults.hits }
}
