/**
 * A `CrashChild` is a process of its own that does a script on a store, and what was heard of it before it was stopped.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as Bundle from "../Bundle.ts"

export const traceable = spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status === 0

/** It is started for every case. */
export const bundle = (): Promise<Bundle.Bundle> => Bundle.make(new URL("./fixtures/crash.ts", import.meta.url))

export interface Ran {
  readonly said: string
  readonly trace: string
}

/** Stopping at no other calls is faster by half, but signals cannot be sent from there. */
const stops = (strace: ReadonlyArray<string>) =>
  strace.some((option) => option.includes(":signal=")) ? [] : ["--seccomp-bpf"]

/** Runs the program to its end, under these options of `strace` if there are some. */
export const run = (
  program: string,
  args: ReadonlyArray<string>,
  options: {
    readonly strace?: ReadonlyArray<string>
    readonly trace?: string
    readonly onStart?: (kill: () => void) => void
    readonly onSaid?: (said: string, kill: () => void) => void
  } = {}
): Promise<Ran> =>
  new Promise((resolve) => {
    const { onSaid, onStart, strace, trace = "" } = options
    const [command, argv] =
      strace === undefined
        ? [process.execPath, [program, ...args]]
        : [
            "strace",
            ["-f", ...stops(strace), "-y", "-s", "64", "-o", trace, ...strace, process.execPath, program, ...args]
          ]
    const child: ChildProcess = spawn(command, argv, {
      // One thread for what is not synchronous, so that calls have the same number each time.
      env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
      stdio: ["ignore", "pipe", "inherit"]
    })
    const kill = () => {
      child.kill("SIGKILL")
    }
    onStart?.(kill)
    let said = ""
    child.stdout?.on("data", (data) => {
      said += data
      onSaid?.(said, kill)
    })
    child.on("close", () => resolve({ said, trace: strace === undefined ? "" : readFileSync(trace, "utf8") }))
  })
