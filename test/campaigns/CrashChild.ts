/**
 * A `CrashChild` is a process of its own that does a script on a store, and what was heard of it before it was stopped.
 */
import { build } from "esbuild"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

export const traceable = spawnSync("strace", ["-f", "-o", "/dev/null", "true"]).status === 0

const source = fileURLToPath(new URL("./fixtures/crash.ts", import.meta.url))
const packages = fileURLToPath(new URL("../../node_modules", import.meta.url))

/** The program in one file: it starts in a third of a second, and is started for every case. */
export const bundle = async (): Promise<{ readonly program: string; readonly remove: () => void }> => {
  // Below the packages, where it finds those that cannot be a part of it.
  const cache = join(packages, ".cache")
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, "crash-"))
  const program = join(directory, "crash.mjs")
  await build({
    entryPoints: [source],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: program,
    external: ["better-sqlite3", "pg-native"],
    banner: { js: "import{createRequire as c}from'node:module';const require=c(import.meta.url);" },
    logLevel: "error"
  })
  return { program, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

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
