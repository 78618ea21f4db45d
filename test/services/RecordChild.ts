import { Effect } from "effect"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import { afterAll } from "vitest"
import * as Bundle from "../Bundle.ts"

export const traceable = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0
export const reason = traceable ? "" : " (skipped: strace does not work here)"

const { program, remove } = await Bundle.make(new URL("./fixtures/appends.ts", import.meta.url))
afterAll(remove)

export interface Outcome {
  readonly lines: ReadonlyArray<string>
  readonly signal: string | null
  readonly trace: string
}

const end = (child: ChildProcess) => child.kill("SIGKILL")

/** A process of its own that appends to run "run-1" `count` times, under these options of `strace`. */
export const appending = (
  target: string,
  options: {
    readonly durability: "power-loss" | "process-crash"
    readonly count: number
    readonly strace?: ReadonlyArray<string>
    /** Where the trace is written; the target if absent. */
    readonly traces?: string
    /** The prefix of its tables, where the target is a database. */
    readonly prefix?: string
    /** Called for each append that was acknowledged, with how to kill the process. */
    readonly onAck?: (count: number, kill: () => void) => void
    /** What it waits for before it begins, and what it calls when it does. */
    readonly ready?: Promise<void>
    readonly onReady?: () => void
  }
) =>
  Effect.async<Outcome>((resume) => {
    const trace = `${options.traces ?? target}/trace`
    const node = [
      program,
      target,
      "run-1",
      options.durability,
      `${options.count}`,
      options.ready === undefined ? "" : "wait",
      options.prefix ?? ""
    ]
    const [command, args] =
      options.strace === undefined
        ? [process.execPath, node]
        : ["strace", ["-f", "-o", trace, ...options.strace, process.execPath, ...node]]
    // One thread for what is not synchronous, so that calls are counted over the whole process.
    const started = spawn(command, args, {
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
      stdio: ["pipe", "pipe", "inherit"]
    })
    let said = ""
    started.stdout.on("data", (data) => {
      said += data
      options.onAck?.(acknowledged(said.split("\n").slice(0, -1)).length, () => end(started))
      if (said === "ready\n") options.onReady?.()
    })
    void options.ready?.then(() => started.stdin.end("go\n"))
    started.on("close", (_, signal) =>
      resume(
        Effect.sync(() => ({
          lines: said.split("\n").slice(0, -1),
          signal,
          trace: fs.existsSync(trace) ? fs.readFileSync(trace, "utf8") : ""
        }))
      )
    )
    return Effect.sync(() => end(started))
  })

export const acknowledged = (lines: ReadonlyArray<string>) =>
  lines.flatMap((line) => {
    const [, seq, hash] = /^ack (\d+) (\S+)$/.exec(line) ?? []
    return seq === undefined || hash === undefined ? [] : [{ seq: Number(seq), hash }]
  })

/** The options of `strace` that let a call fail once. */
export const broken = (call: string, error: string, when: number, path?: string) => [
  ...(path === undefined ? [] : ["-P", path]),
  "-e",
  `trace=${call}`,
  "-e",
  `inject=${call}:error=${error}:when=${when}`
]
