import { NodeFileSystem } from "@effect/platform-node"
import { Effect } from "effect"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as FileSystemArtifactStore from "../../src/services/FileSystemArtifactStore.ts"

const within = (parent: string) =>
  Effect.acquireRelease(
    Effect.sync(() => fs.realpathSync(fs.mkdtempSync(join(parent, "artifacts-")))),
    (path) => Effect.sync(() => fs.rmSync(path, { recursive: true, force: true }))
  )

/** A directory that goes with the scope. */
export const directory = within(tmpdir())

/** The same in memory where there is such a place, for what flushes often and needs no disk. */
export const directoryInMemory = within(fs.existsSync("/dev/shm") ? "/dev/shm" : tmpdir())

/** Opens the store anew, as a program does that starts. */
export const open = (options: FileSystemArtifactStore.Options) =>
  Effect.provide(FileSystemArtifactStore.make(options), NodeFileSystem.layer)

export const verify = (directory: string, repair = false) =>
  Effect.provide(FileSystemArtifactStore.verify({ directory, repair }), NodeFileSystem.layer)

/** Every file and link under a directory, from it on, in order. */
export const files = (directory: string): ReadonlyArray<string> =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort()

/** The path of an artifact's file. */
export const fileOf = (directory: string, ref: string, kind: "bytes" | "ticket") =>
  join(directory, files(directory).find((file) => file.endsWith(`${ref}.${kind}`)) ?? "nowhere")
