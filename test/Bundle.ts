/**
 * A `Bundle` is a program of a test in one file. It starts in a third of a second, which counts where a process is started for
 * every case, and what it does at its start is always the same.
 */
import { build } from "esbuild"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const packages = fileURLToPath(new URL("../node_modules", import.meta.url))

export interface Bundle {
  /** The path of the program. */
  readonly program: string
  readonly remove: () => void
}

export const make = async (source: URL): Promise<Bundle> => {
  // Below the packages, where it finds those that cannot be a part of it.
  const cache = join(packages, ".cache")
  mkdirSync(cache, { recursive: true })
  const directory = mkdtempSync(join(cache, "bundle-"))
  const program = join(directory, "program.mjs")
  await build({
    entryPoints: [fileURLToPath(source)],
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
