/**
 * A `Crash` is one trial: a process does a script on a store and is killed, or has a system call fail, at one of its
 * boundaries. What is left is judged by who shares nothing with the store. Where system calls cannot be traced it is killed
 * some time after one of its steps.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as CrashChecker from "./CrashChecker.ts"
import * as CrashChild from "./CrashChild.ts"
import { type Store, address, hasPostgres, judgePostgres, prefix, stores, terminate } from "./CrashStore.ts"
import * as CrashTrace from "./CrashTrace.ts"
import * as CrashWire from "./CrashWire.ts"
import { chance } from "./Corruptor.ts"

interface Case {
  readonly kind: string
  readonly boundary: string
  readonly fault: string
  readonly run: () => Promise<{ readonly judged: CrashChecker.Judged; readonly hit: boolean; readonly acks: number }>
}

const inDirectory = async <A>(use: (directory: string) => Promise<A>): Promise<A> => {
  const directory = mkdtempSync(join(tmpdir(), "crash-"))
  mkdirSync(join(directory, "at"))
  try {
    return await use(join(directory, "at"))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** SQLite does not make the directory of its file. */
const prepare = (store: Store, directory: string) => {
  if (store.kind === "sqlite") mkdirSync(store.root(directory))
}

const acksOf = (said: ReadonlyArray<CrashChecker.Said>) => said.filter(({ word }) => word === "ack").length

/** What has room to run out of. */
const grows = new Set(["write", "pwrite64", "ftruncate", "openat", "mkdir", "rename", "symlink", "link"])

const faultsOf = ({ name }: CrashTrace.Boundary): ReadonlyArray<string> =>
  name === "writev" ? ["SIGKILL"] : ["SIGKILL", "EIO", ...(grows.has(name) ? ["ENOSPC"] : [])]

/** What was acknowledged in spite of a flush that failed. */
const swallowed = (calls: ReadonlyArray<CrashTrace.Call>, store: Store, root: string): ReadonlyArray<string> => {
  const failed = calls.findIndex(
    (call) =>
      /^f(data)?sync$/.test(call.name) &&
      call.injected &&
      CrashTrace.isStore(call, root) &&
      !store.spares.test(call.path) &&
      // SQLite asks for its names to be flushed, and goes on if they cannot be.
      (store.kind !== "sqlite" || call.path !== root)
  )
  if (failed < 0) return []
  const next = calls.slice(failed + 1).find((call) => call.name === "writev" && /"(ack|error)/.test(call.text))
  return next !== undefined && CrashTrace.isAck(next) ? ["acknowledged although its flush failed"] : []
}

const injected =
  (program: string, store: Store, steps: number, boundary: CrashTrace.Boundary, fault: string): Case["run"] =>
  () =>
    inDirectory(async (directory) => {
      prepare(store, directory)
      const root = store.root(directory)
      const { name, path, when } = boundary
      const how = fault === "SIGKILL" ? "signal=SIGKILL" : `error=${fault}`
      // What it says is not about a file of the store, and is left out where only one is looked at.
      const traced = path === undefined ? `trace=${name === "writev" ? name : `${name},writev`}` : `trace=${name}`
      const only = path === undefined ? [] : ["-P", path.replace("ROOT", root).replace("ABOVE", dirname(root))]
      const { said, trace } = await CrashChild.run(program, [store.kind, store.target(directory), `${steps}`, prefix], {
        trace: `${directory}.trace`,
        strace: [...only, "-e", traced, "-e", `inject=${name}:${how}:when=${when}`]
      })
      const calls = CrashTrace.parse(trace)
      const heard = CrashChecker.hear(said)
      const judged = await store.judge(directory, heard, steps)
      const hit = calls.some(
        (call) => call.injected && call.name === name && (name === "writev" || CrashTrace.isStore(call, root))
      )
      // What fails at the end, when all is acknowledged, nobody asks for: it is in the log of the database.
      const flush =
        boundary.acks === steps
          ? []
          : path === undefined
            ? swallowed(calls, store, root)
            : swallowedBy(calls, heard, store, root)
      return { judged: { ...judged, wrong: [...judged.wrong, ...flush] }, hit, acks: acksOf(heard) }
    })

/** Where only one file is traced: a flush that failed was that of an append, and no append failed. */
const swallowedBy = (
  calls: ReadonlyArray<CrashTrace.Call>,
  said: ReadonlyArray<CrashChecker.Said>,
  store: Store,
  root: string
): ReadonlyArray<string> => {
  const failed = calls.find((call) => /^f(data)?sync$/.test(call.name) && call.injected && call.text.includes("EIO"))
  if (failed === undefined || store.spares.test(failed.path)) return []
  if (store.kind === "sqlite" && failed.path === root) return []
  return said.some(({ word }) => word === "error" || word === "unopened") ? [] : ["a flush that failed was not told of"]
}

/** Killed by who listens, at some moment after a step: where system calls cannot be traced. */
const timed =
  (program: string, store: Store, steps: number, step: number, afterMicros: number): Case["run"] =>
  () =>
    inDirectory(async (directory) => {
      prepare(store, directory)
      let isDying = false
      const { said } = await CrashChild.run(program, [store.kind, store.target(directory), `${steps}`, prefix], {
        onSaid: (said, kill) => {
          if (isDying || acksOf(CrashChecker.hear(said)) < step) return
          isDying = true
          const until = performance.now() + afterMicros / 1_000
          while (performance.now() < until);
          kill()
        }
      })
      const heard = CrashChecker.hear(said)
      const judged = await store.judge(directory, heard, steps)
      return { judged, hit: heard.at(-1)?.word !== "done", acks: acksOf(heard) }
    })

let tables = 0

/** A client that something happens to when it sends a piece for the `at`-th time; to nothing if there is no such. */
const wired = (program: string, steps: number, at: number, fault?: CrashWire.Fault) => async () => {
  const name = `crash${process.pid}_${tables++}_`
  let kill = () => {}
  const wire = await CrashWire.open({
    at,
    kill: () => kill(),
    terminate: () => terminate(name),
    ...(fault === undefined ? {} : { fault })
  })
  const url = `${address(wire.port)}?application_name=${name}`
  const { said } = await CrashChild.run(program, ["postgres", url, `${steps}`, name], {
    onStart: (end) => {
      kill = end
    }
  })
  await wire.close()
  const heard = CrashChecker.hear(said)
  return {
    judged: await judgePostgres(name, heard, steps),
    hit: wire.sent() >= at,
    acks: acksOf(heard),
    sent: wire.sent()
  }
}

/** How many steps the script has, by how many trials there are: from the second size on there are enough for all cases. */
const stepsFor = (trials: number) => (trials <= 100 ? 8 : trials <= 2_000 ? 16 : 200)

const shuffled = <A>(all: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const next = chance(seed)
  const rest = [...all]
  return all.flatMap(() => rest.splice(next(rest.length), 1))
}

/** What a store can hide goes first: a flush that failed, an answer that was lost. Then what it can only survive. */
const rank = ({ boundary, fault }: Case) =>
  fault === "answer lost" || (fault !== "SIGKILL" && boundary.includes("sync")) ? 0 : /kill/i.test(fault) ? 1 : 2

/** Cases of one sort are alike. Renames come in pairs, and pieces that are sent are of some five kinds in turn. */
const sortOf = ({ boundary, fault }: Case): string => {
  const [, name = "", when = ""] = /^(.*) (\d+)$/.exec(boundary) ?? []
  const turn = name.startsWith("rename") ? 2 : fault === "answer lost" ? 5 : 1
  return `${name} ${Number(when) % turn} ${fault}`
}

/** Some of each sort in turn, until there are enough or no more. */
const dealt = (cases: ReadonlyArray<Case>, trials: number, seed: number): ReadonlyArray<Case> => {
  const sorts = new Map<string, Array<Case>>()
  for (const one of shuffled(cases, seed)) {
    const sort = sortOf(one)
    sorts.set(sort, [...(sorts.get(sort) ?? []), one])
  }
  const all = Array.from(sorts.values())
  const longest = Math.max(0, ...all.map(({ length }) => length))
  return Array.from({ length: longest }, (_, at) => all.flatMap((of) => of[at] ?? []).sort((a, b) => rank(a) - rank(b)))
    .flat()
    .slice(0, trials)
}

export interface Options {
  /** Only these; all if absent. */
  readonly kinds?: ReadonlyArray<string>
  /** Whether system calls are traced. */
  readonly traced?: boolean
  readonly steps?: number
}

export const run = async (trials: number, seed: number, options: Options = {}) => {
  const { kinds, steps = stepsFor(trials), traced = CrashChild.traceable } = options
  const counts: { [name: string]: number } = {}
  const count = (name: string, by: number) => (counts[name] = (counts[name] ?? 0) + by)
  const failures: Array<{ readonly seed: number; readonly fault: string }> = []
  const fails = (fault: string) => failures.push({ seed, fault })
  const isWanted = (kind: string) => kinds === undefined || kinds.includes(kind)
  const { program, remove } = await CrashChild.bundle()
  try {
    const cases: Array<Case> = []
    count(traced ? "traced by strace" : "strace does not work here: killed at moments after steps", 1)
    for (const store of stores) {
      const { kind } = store
      if (!isWanted(kind)) continue
      if (!traced) {
        const next = chance(seed)
        for (let at = 0; at < trials; at++) {
          const [step, micros] = [next(steps), next(5_000)]
          const fault = `killed ${micros} microseconds after`
          cases.push({ kind, boundary: `step ${step}`, fault, run: timed(program, store, steps, step, micros) })
        }
        continue
      }
      const calls = await inDirectory(async (directory) => {
        prepare(store, directory)
        const root = store.root(directory)
        const { said, trace } = await CrashChild.run(program, [kind, store.target(directory), `${steps}`, prefix], {
          trace: `${directory}.trace`,
          strace: ["-e", `trace=${CrashTrace.names}`]
        })
        const calls = CrashTrace.parse(trace)
        const { acks, faults, fsyncs } = CrashTrace.flushes(calls, root, store)
        count(`${kind}: acknowledged`, acks)
        count(`${kind}: flushes`, fsyncs)
        for (const fault of new Set(faults)) fails(`${kind} clean: ${fault}`)
        if (fsyncs < acks) fails(`${kind} clean: ${fsyncs} flushes for ${acks} acknowledged`)
        const heard = CrashChecker.hear(said)
        if (acksOf(heard) !== steps || acks !== steps) fails(`${kind} clean: ${acks} of ${steps} acknowledged`)
        const { lost, phantom, wrong } = await store.judge(directory, heard, steps)
        for (const fault of [...lost, ...phantom, ...wrong]) fails(`${kind} clean: ${fault}`)
        return CrashTrace.boundaries(calls, root, store.isNamed)
      })
      for (const boundary of calls)
        for (const fault of faultsOf(boundary))
          cases.push({
            kind,
            boundary: CrashTrace.keyOf(boundary),
            fault,
            run: injected(program, store, steps, boundary, fault)
          })
    }
    if (isWanted("postgres")) {
      if (await hasPostgres()) {
        const clean = await wired(program, steps, Infinity)()
        if (clean.acks !== steps) fails(`postgres clean: ${clean.acks} of ${steps} acknowledged`)
        for (const fault of [...clean.judged.lost, ...clean.judged.phantom, ...clean.judged.wrong])
          fails(`postgres clean: ${fault}`)
        for (let at = 1; at <= clean.sent; at++)
          for (const fault of CrashWire.faults)
            cases.push({ kind: "postgres", boundary: `sent ${at}`, fault, run: wired(program, steps, at, fault) })
      } else count("postgres: skipped, none at 127.0.0.1:5432", 1)
    }

    const every = Array.from(new Set(cases.map(({ kind }) => kind)))
    const chosen =
      cases.length <= trials
        ? cases
        : every.flatMap((kind) =>
            dealt(
              cases.filter((one) => one.kind === kind),
              Math.ceil(trials / every.length),
              seed
            )
          )
    if (chosen.length < cases.length) count("cases that were left out", cases.length - chosen.length)
    const covered = new Map<string, Set<string>>()
    const waiting = [...chosen]
    const work = async () => {
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const { boundary, fault, kind, run } = one
        const { acks, hit, judged } = await run()
        count(`${kind}: cases`, 1)
        count(`${kind}: acknowledged in cases`, acks)
        count(`${kind}: cases that were hit`, hit ? 1 : 0)
        if (hit) covered.set(kind, (covered.get(kind) ?? new Set()).add(boundary))
        count("lost", judged.lost.length)
        count("phantom", judged.phantom.length)
        count("otherwise wrong", judged.wrong.length)
        for (const [what, of] of Object.entries(judged))
          for (const text of of) fails(`${kind} ${boundary.replaceAll(" ", ",")} ${fault}: ${what}: ${text}`)
      }
    }
    await Promise.all([work(), work()])
    for (const kind of every) {
      count(`${kind}: boundaries covered`, covered.get(kind)?.size ?? 0)
      count(`${kind}: boundaries`, new Set(cases.flatMap((one) => (one.kind === kind ? one.boundary : []))).size)
    }
    return { counts, failures }
  } finally {
    remove()
  }
}
