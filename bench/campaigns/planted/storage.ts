/** Bugs of storage: what an acknowledgement means, and what is there after a crash. */
import type { Planted } from "./Planted.ts"

const crash = "test/campaigns/Crash.test.ts"
const writer = "src/services/RecordWriter.ts"
const database = "src/services/Database.ts"

export const storage: ReadonlyArray<Planted> = [
  {
    id: "file-drop-fsync",
    changes: [{ file: writer, search: "const file = synced(fs.fdatasync, fd)", replace: "const file = Effect.void" }],
    test: crash,
    only: "of file "
  },
  {
    id: "file-fsync-before-write",
    changes: [
      {
        file: writer,
        search: "  const written = RecordHandle.io(handle, () => writeAll(fd, bytes), unwritten)",
        replace:
          "  fs.fdatasyncSync(fd)\n  const written = RecordHandle.io(handle, () => writeAll(fd, bytes), unwritten)"
      },
      { file: writer, search: "const file = synced(fs.fdatasync, fd)", replace: "const file = Effect.void" }
    ],
    test: crash,
    only: "of file "
  },
  {
    id: "file-acknowledge-before-fsync",
    changes: [
      {
        file: writer,
        search: "Effect.onExit(flush(directory, handle), (exit) =>",
        replace: "Effect.onExit(Effect.asVoid(Effect.forkDaemon(flush(directory, handle))), (exit) =>"
      }
    ],
    test: crash,
    only: "of file "
  },
  {
    id: "file-acknowledge-before-write",
    changes: [
      {
        file: writer,
        search: "  const written = RecordHandle.io(handle, () => writeAll(fd, bytes), unwritten)",
        replace:
          "  const later = bytes\n  setImmediate(() => setImmediate(() => writeAll(fd, later)))\n  const written = RecordHandle.io(handle, () => undefined, unwritten)"
      }
    ],
    test: crash,
    only: "of file "
  },
  {
    id: "file-skip-directory-fsync",
    changes: [
      { file: writer, search: "handle.named || names === undefined ? file", replace: "names !== undefined ? file" }
    ],
    test: crash,
    only: "of file "
  },
  {
    id: "file-swallow-eio",
    changes: [
      {
        file: writer,
        search: "onFailure: (code) => broke(handle, unflushed(handle.runId, code)),",
        replace: "onFailure: () => Effect.void,"
      }
    ],
    test: crash,
    only: "of file "
  },
  {
    id: "file-retry-fsync",
    changes: [
      {
        file: writer,
        search: "return Effect.matchEffect(both, {",
        replace: "return Effect.matchEffect(Effect.retry(both, { times: 1 }), {"
      }
    ],
    test: crash,
    only: "of file "
  },
  {
    id: "file-says-not-applied",
    changes: [{ file: writer, search: '    outcome: "unknown",\n', replace: "" }],
    test: crash,
    only: "of file "
  },
  {
    id: "file-batch-in-two",
    changes: [
      {
        file: "src/services/RecordFile.ts",
        search: "(handle) => RecordWriter.append(writable.right, handle, expectedSeq, draft.right),",
        replace: `(handle) => {
              const { right } = draft
              const put = (at: number, from: number, to: number) =>
                RecordWriter.append(writable.right, handle, at, { ...right, texts: right.texts.slice(from, to) })
              const { length } = right.texts
              return length < 2 ? put(expectedSeq, 0, 1) : Effect.zipRight(put(expectedSeq, 0, 1), put(expectedSeq + 1, 1, length))
            },`
      }
    ],
    test: crash,
    only: "of file "
  },
  {
    id: "file-glue-to-torn-tail",
    changes: [{ file: writer, search: "        fs.ftruncateSync(fd, offset)\n", replace: "" }],
    test: "test/services/RecordFile.test.ts"
  },
  {
    id: "sqlite-synchronous-normal",
    changes: [{ file: database, search: "PRAGMA synchronous = FULL", replace: "PRAGMA synchronous = NORMAL" }],
    test: crash,
    only: "of sqlite "
  },
  {
    id: "sqlite-acknowledge-before-commit",
    changes: [
      {
        file: database,
        search: `        yield* Effect.catchAll(run("COMMIT"), (error) =>
          Effect.zipRight(rollback, Effect.fail(isUndone(codeOf(error)) ? error : new Unended({ error })))
        )`,
        replace: `        setImmediate(() => setImmediate(() => Effect.runFork(run("COMMIT"))))`
      },
      {
        file: database,
        search: `        yield* run("BEGIN IMMEDIATE")`,
        replace: `        yield* Effect.retry(run("BEGIN IMMEDIATE"), { times: 50, schedule: Schedule.spaced("1 millis") })`
      },
      {
        file: database,
        search: `import * as Scope from "effect/Scope"`,
        replace: `import * as Schedule from "effect/Schedule"\nimport * as Scope from "effect/Scope"`
      }
    ],
    test: crash,
    only: "of sqlite "
  },
  {
    id: "sqlite-swallow-failed-commit",
    changes: [
      {
        file: database,
        search: "Effect.zipRight(rollback, Effect.fail(isUndone(codeOf(error)) ? error : new Unended({ error })))",
        replace: "Effect.zipRight(rollback, Effect.ignore(Effect.fail(error)))"
      }
    ],
    test: crash,
    only: "of sqlite "
  },
  {
    id: "sqlite-batch-in-two",
    changes: [
      {
        file: "src/services/RecordSql.ts",
        search:
          "            attempt: attempt(run, draft)\n          }\n          return yield* run.permit.withPermits(1)(RecordClaim.append(place, expectedSeq))",
        replace: `            attempt: attempt(run, { ...draft, texts: draft.texts.slice(0, 1) })
          }
          const rest = { ...draft, texts: draft.texts.slice(1) }
          const first = RecordClaim.append(place, expectedSeq)
          const both = Effect.zipRight(first, RecordClaim.append({ ...place, attempt: attempt(run, rest) }, expectedSeq + 1))
          return yield* run.permit.withPermits(1)(rest.texts.length === 0 ? first : both)`
      }
    ],
    test: crash,
    only: "of sqlite "
  },
  {
    id: "sql-lost-reply-not-applied",
    changes: [
      {
        file: database,
        search: `Effect.zipRight(Effect.ignore(on(connection)(sql\`SELECT 1\`)), Effect.fail(new Unended({ error })))`,
        replace: `Effect.zipRight(Effect.ignore(on(connection)(sql\`SELECT 1\`)), Effect.fail(error))`
      }
    ],
    test: crash,
    only: "client of postgres"
  },
  {
    id: "artifacts-rename-before-fsync",
    changes: [
      {
        file: "src/services/ArtifactFiles.ts",
        search: "      yield* done(file.sync)\n    })\n    yield* Effect.scoped(written)",
        replace: "    })\n    yield* Effect.scoped(written)"
      }
    ],
    test: crash,
    only: "of artifacts "
  },
  {
    id: "artifacts-skip-directory-fsync",
    changes: [
      {
        file: "src/services/ArtifactFiles.ts",
        search: `  process.platform === "win32"\n    ? Effect.void\n    : Effect.scoped`,
        replace: `  process.platform !== "win32"\n    ? Effect.void\n    : Effect.scoped`
      }
    ],
    test: crash,
    only: "of artifacts "
  },
  {
    id: "artifacts-ticket-first",
    changes: [
      {
        file: "src/services/FileSystemArtifactStore.ts",
        search: `      yield* ArtifactFiles.rename(files, bytes, ArtifactFiles.fileOf(directory, ref, "bytes"))
      yield* ArtifactFiles.syncDirectory(files, directory)
      yield* ArtifactFiles.rename(files, ticket, ArtifactFiles.fileOf(directory, ref, "ticket"))`,
        replace: `      yield* ArtifactFiles.rename(files, ticket, ArtifactFiles.fileOf(directory, ref, "ticket"))
      yield* ArtifactFiles.syncDirectory(files, directory)
      yield* ArtifactFiles.rename(files, bytes, ArtifactFiles.fileOf(directory, ref, "bytes"))`
      }
    ],
    test: crash,
    only: "of artifacts "
  },
  {
    id: "artifacts-swallow-eio",
    changes: [
      {
        file: "src/services/ArtifactFiles.ts",
        search: 'Effect.scoped(done(Effect.flatMap(fs.open(directory, { flag: "r" }), (file) => file.sync)))',
        replace:
          'Effect.ignore(Effect.scoped(done(Effect.flatMap(fs.open(directory, { flag: "r" }), (file) => file.sync))))'
      }
    ],
    test: crash,
    only: "of artifacts "
  }
]
