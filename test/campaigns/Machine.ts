/**
 * A `Machine` runs everything in a simulated world: its time, whose turn it is, and which process still lives. Nothing waits
 * for anything real: when nobody has a turn, time goes on to whatever is next. What it does depends on the dice alone.
 *
 * A process that is killed does nothing more, at whatever yield it stood: no finaliser of it runs.
 */
import {
  Clock,
  Duration,
  Effect,
  type Exit,
  type Fiber,
  FiberRef,
  HashSet,
  Logger,
  LogLevel,
  Random,
  Runtime,
  type Scheduler
} from "effect"
import type { Dice } from "./Dice.ts"

type Task = () => void

export interface Process {
  readonly name: string
  readonly scheduler: Scheduler.Scheduler
  readonly clock: Clock.Clock
  readonly dice: Dice
  alive: boolean
  /** How many turns it has had. */
  turns: number
  /** The turn before which it is killed. */
  diesAt: number
  paused: boolean
  readonly held: Array<Task>
}

interface Timer {
  readonly at: number
  readonly n: number
  readonly task: Task
  readonly process: Process | undefined
}

export interface Options {
  readonly dice: Dice
  /** Milliseconds since the epoch. */
  readonly start: number
  /** Whether turns come in any order. */
  readonly shuffled: boolean
  /** After how many steps a fiber lets others have a turn. */
  readonly maxOps: number
  /** How many turns a world may take, and how much time. */
  readonly mostTurns: number
  readonly mostMs: number
  readonly onKilled: (process: Process) => void
  readonly onLog: (process: Process, level: string, message: string) => void
}

export interface Machine {
  readonly now: () => number
  readonly process: (name: string, skewMs?: number) => Process
  readonly kill: (process: Process) => void
  readonly pause: (process: Process, ms: number) => void
  readonly after: (ms: number, task: Task, process?: Process) => void
  readonly fork: <A, E>(
    process: Process,
    effect: Effect.Effect<A, E>,
    onExit: (exit: Exit.Exit<A, E>) => void
  ) => Fiber.RuntimeFiber<A, E>
  /**
   * Goes on until `isOver`, or says why it cannot. Time stands still while something real is waited for, which `isLoading`
   * says: a package that a run needs.
   */
  readonly run: (isOver: () => boolean, isLoading: () => boolean) => Promise<string | undefined>
}

export const make = (options: Options): Machine => {
  const { dice, maxOps, onKilled, onLog, shuffled, start } = options
  let now = start
  let count = 0
  let ready: Array<{ readonly task: Task; readonly process: Process }> = []
  /** In the order of their times. */
  const timers: Array<Timer> = []

  const after: Machine["after"] = (ms, task, process) => {
    const timer: Timer = { at: now + Math.max(0, ms), n: count++, task, process }
    let low = 0
    let high = timers.length
    while (low < high) {
      const middle = (low + high) >> 1
      const other = timers[middle]
      if (other !== undefined && (other.at < timer.at || (other.at === timer.at && other.n < timer.n))) low = middle + 1
      else high = middle
    }
    timers.splice(low, 0, timer)
  }

  const schedule = (process: Process, task: Task): void => {
    if (!process.alive) return
    if (process.paused) process.held.push(task)
    else ready.push({ process, task })
  }

  const process: Machine["process"] = (name, skewMs = 0) => {
    const millis = () => Math.max(0, now + skewMs)
    const clock: Clock.Clock = {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: millis,
      unsafeCurrentTimeNanos: () => BigInt(millis()) * 1_000_000n,
      currentTimeMillis: Effect.sync(millis),
      currentTimeNanos: Effect.sync(() => BigInt(millis()) * 1_000_000n),
      sleep: (duration) =>
        Effect.async<void>((resume) => {
          let stopped = false
          after(
            Duration.toMillis(duration),
            () => {
              if (!stopped) resume(Effect.void)
            },
            made
          )
          return Effect.sync(() => void (stopped = true))
        })
    }
    const made: Process = {
      name,
      clock,
      dice: dice.of(name),
      scheduler: {
        shouldYield: (fiber) => (fiber.currentOpCount > maxOps ? 0 : false),
        scheduleTask: (task) => schedule(made, task)
      },
      alive: true,
      turns: 0,
      diesAt: Infinity,
      paused: false,
      held: []
    }
    return made
  }

  const kill: Machine["kill"] = (process) => {
    if (!process.alive) return
    process.alive = false
    process.held.length = 0
    ready = ready.filter((one) => one.process !== process)
    onKilled(process)
  }

  const pause: Machine["pause"] = (process, ms) => {
    process.paused = true
    for (const one of ready) if (one.process === process) process.held.push(one.task)
    ready = ready.filter((one) => one.process !== process)
    after(ms, () => {
      process.paused = false
      for (const task of process.held.splice(0)) schedule(process, task)
    })
  }

  const fork: Machine["fork"] = (process, effect, onExit) => {
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (LogLevel.greaterThanEqual(logLevel, LogLevel.Warning)) onLog(process, logLevel._tag, textOf(message))
    })
    const placed = effect.pipe(
      Effect.withRandom(Random.make(process.dice.int(0, 0x7fff_ffff))),
      Effect.withClock(process.clock),
      Effect.locally(FiberRef.currentLoggers, HashSet.make(logger))
    )
    const fiber = Runtime.runFork(Runtime.defaultRuntime)(placed, { scheduler: process.scheduler, immediate: false })
    fiber.addObserver(onExit)
    return fiber
  }

  const run: Machine["run"] = async (isOver, isLoading) => {
    for (let turns = 0; !isOver(); turns++) {
      if (turns > options.mostTurns) return `not over after ${options.mostTurns} turns`
      const at = shuffled && ready.length > 1 ? dice.int(0, ready.length - 1) : 0
      const [next] = ready.splice(at, 1)
      if (next !== undefined) {
        const { process, task } = next
        process.turns += 1
        if (process.turns >= process.diesAt) kill(process)
        else task()
        continue
      }
      if (isLoading()) {
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      const timer = timers.shift()
      if (timer === undefined) return "everyone waits, and nothing is to come"
      if (timer.at - start > options.mostMs) return `not over after ${options.mostMs} ms`
      now = Math.max(now, timer.at)
      if (timer.process === undefined) timer.task()
      else schedule(timer.process, timer.task)
    }
    return undefined
  }

  return { now: () => now, process, kill, pause, after, fork, run }
}

const textOf = (message: unknown): string =>
  (Array.isArray(message) ? message : [message]).filter((part) => typeof part === "string").join(" ")
