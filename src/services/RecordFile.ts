/**
 * A `RecordFile` is a record on disk: a directory with one file for each run, one line for each append. See
 * `docs/decisions/0001-record-file.md`.
 *
 * @internal
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as fs from "node:fs"
import * as path from "node:path"
import * as Printable from "../kernel/Printable.ts"
import type * as Record from "./Record.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordHandle from "./RecordHandle.ts"
import * as RecordInput from "./RecordInput.ts"
import * as RecordLines from "./RecordLines.ts"
import * as RecordLock from "./RecordLock.ts"
import * as RecordPage from "./RecordPage.ts"
import * as RecordReader from "./RecordReader.ts"
import * as RecordRuns from "./RecordRuns.ts"
import * as RecordSummary from "./RecordSummary.ts"
import * as RecordWriter from "./RecordWriter.ts"

/**
 * What a crash left of an append was removed from the end of a run. `lastSeq` is the last entry that is there, absent if
 * there is none. `notice` says what that means at the layer's durability.
 */
export const RecoveredTail = Schema.TaggedStruct("RecoveredTail", {
  code: Schema.String,
  runId: Schema.String,
  bytesDropped: Schema.NonNegativeInt,
  lastSeq: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }),
  notice: Schema.String
})
export type RecoveredTail = typeof RecoveredTail.Type

export interface Options {
  /** Made if it is not there. */
  readonly directory: string
  /** What an acknowledged append survives. `"power-loss"` if absent; `"process-crash"` is much faster. */
  readonly durability?: "power-loss" | "process-crash"
  /** Called for each tail that was repaired, before the append that repaired it returns. */
  readonly onRecovered?: (tail: RecoveredTail) => Effect.Effect<void>
}

/** How many files are kept open. */
const maxOpen = 128

/** How long a reader waits before it looks for what another process has written, in milliseconds. */
const pollMs = 100

const file = /^([a-z0-9][a-z0-9_-]{0,63})\.ndjson$/

/** What is in the place of a file and is none, or none of ours. */
const noFile = new Set(["EACCES", "EISDIR", "ELOOP", "EPERM"])

const unusable = (cause: unknown) =>
  RecordError.failure("Unavailable", {
    what: "The directory of the record could not be used.",
    found: RecordLock.errno(cause),
    next: "Name a directory that this process can read and write.",
    retry: "after-human"
  })

const syncDirectory = (directory: string): void => {
  const fd = fs.openSync(directory, "r")
  try {
    fs.fsyncSync(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** Makes the directory, its name safe, and opens it for making names in it safe. */
const ensure = (directory: string, flush: boolean): number | undefined => {
  const first = fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (!flush || process.platform === "win32") return undefined
  if (first !== undefined) {
    for (let made = directory; made.length >= first.length; made = path.dirname(made)) syncDirectory(path.dirname(made))
  }
  return fs.openSync(directory, "r")
}

/** Fails if there is something else in place of the directory. One that is not there is made by the first append. */
const check = (directory: string): Effect.Effect<void, RecordError.RecordError> =>
  Effect.flatMap(
    Effect.try({ try: () => fs.statSync(directory, { throwIfNoEntry: false }), catch: unusable }),
    (stat) => (stat === undefined || stat.isDirectory() ? Effect.void : unusable({ code: "ENOTDIR" }))
  )

const report =
  (options: Options) =>
  (runId: string, bytesDropped: number, entries: number): Effect.Effect<void> => {
    const tail: RecoveredTail = {
      _tag: "RecoveredTail",
      code: "WF-REC-013",
      runId,
      bytesDropped,
      ...(entries === 0 ? {} : { lastSeq: entries - 1 }),
      notice:
        options.durability === "process-crash"
          ? "An append was cut short. At this durability a loss of power may take acknowledged appends with it."
          : "An append was cut short. It had not been acknowledged, so that nothing that was is lost."
    }
    const logged = Effect.logWarning(
      `${tail.notice} ${bytesDropped} bytes were removed from the end of run ${Printable.quote(runId)}.`
    ).pipe(Effect.annotateLogs({ recoveredTail: tail }))
    return options.onRecovered === undefined ? logged : Effect.zipRight(logged, options.onRecovered(tail))
  }

/** The lines of an open file. One that is not acknowledged yet is not there. */
const source = (
  handle: RecordHandle.Handle,
  { fd, inode }: { readonly fd: number; readonly inode: number }
): RecordReader.Source<RecordLines.Cursor> => ({
  runId: handle.runId,
  start: RecordLines.start(handle.runId),
  wakeup: handle.wakeup,
  pollMs,
  next: (cursor) =>
    Effect.suspend(() => {
      const limit = handle.writing ? handle.cursor.offset : Infinity
      return Either.mapBoth(Either.try({ try: () => RecordLines.next(fd, cursor, limit), catch: RecordLock.errno }), {
        onLeft: (code) => RecordHandle.unavailable(handle.runId, code),
        onRight: (block) => {
          RecordHandle.learn(handle, inode, block.cursor)
          return block
        }
      })
    })
})

export const make = (
  options: Options
): Effect.Effect<Context.Tag.Service<Record.Record>, RecordError.RecordError, Scope.Scope> =>
  Effect.gen(function* () {
    const directory = path.resolve(options.directory)
    const open = new Map<string, RecordHandle.Handle>()
    const { all, take } = RecordRuns.make(
      (runId) => RecordHandle.make(directory, runId),
      (handle) => {
        RecordHandle.close(handle)
        open.delete(handle.runId)
      }
    )
    const flush = options.durability !== "process-crash"
    let made: RecordWriter.Directory | undefined
    yield* check(directory)
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        for (const handle of all()) RecordHandle.close(handle)
        if (made?.names !== undefined) fs.closeSync(made.names)
      })
    )

    /** The directory, ready to be written in. Reading does not make it. */
    const place = (): Either.Either<RecordWriter.Directory, RecordError.RecordError> => {
      if (made !== undefined) return Either.right(made)
      return Either.map(Either.try({ try: () => ensure(directory, flush), catch: unusable }), (names) => {
        made = { flush, ...(names === undefined ? {} : { names }), recovered: report(options) }
        return made
      })
    }

    /** Gives a handle back; files that were not used for longest are closed. */
    const give = (handle: RecordHandle.Handle) =>
      Effect.sync(() => {
        handle.uses--
        open.delete(handle.runId)
        if (handle.fd !== undefined) open.set(handle.runId, handle)
        for (const [runId, oldest] of open) {
          if (open.size <= maxOpen) return
          if (oldest.uses > 0) continue
          RecordHandle.close(oldest)
          open.delete(runId)
        }
      })

    const read = (runId: string, range: Either.Either<RecordInput.Range, RecordError.RecordError>, live: boolean) =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const wanted = yield* range
          const handle = yield* Effect.acquireRelease(take(runId), give)
          const fd = yield* Effect.acquireRelease(RecordHandle.openToRead(handle), ({ fd }) =>
            Effect.sync(() => fs.closeSync(fd))
          )
          return RecordReader.entries(source(handle, fd), wanted, live)
        })
      )

    const keys = Effect.gen(function* () {
      const found: Array<RecordPage.Key> = []
      const names = Either.try({ try: () => fs.readdirSync(directory), catch: unusable })
      if (Either.isLeft(names) && names.left.found !== "ENOENT") return yield* names.left
      for (const name of Either.getOrElse(names, () => [])) {
        const runId = file.exec(name)?.[1]
        if (runId === undefined) continue
        const key = yield* seen(runId, () => RecordSummary.key(`${directory}/${name}`, runId))
        if (key !== undefined) found.push(key)
      }
      return found
    })

    /** What a file says; a run that cannot be read where it is looked at is named in the log and left out. */
    const seen = <A>(
      runId: string,
      look: () => Either.Either<A, RecordError.RecordError> | undefined
    ): Effect.Effect<A | undefined, RecordError.RecordError> =>
      Effect.suspend(() => {
        const looked = Either.try({ try: look, catch: RecordLock.errno })
        const leaveOut = (error: RecordError.RecordError) =>
          Effect.as(Effect.logWarning(`A run is not listed. ${error.message}`), undefined)
        if (Either.isLeft(looked)) {
          if (looked.left === "ENOENT") return Effect.succeed(undefined)
          const error = RecordHandle.unavailable(runId, looked.left)
          return noFile.has(looked.left) ? leaveOut(error) : error
        }
        const { right } = looked
        return right === undefined ? Effect.succeed(right) : Either.isRight(right) ? right : leaveOut(right.left)
      })

    return {
      append: (runId, expectedSeq, events) =>
        Effect.suspend(() => {
          const draft = RecordInput.append(runId, expectedSeq, events)
          if (Either.isLeft(draft)) return draft.left
          const writable = place()
          if (Either.isLeft(writable)) return writable.left
          return Effect.acquireUseRelease(
            take(runId),
            (handle) => RecordWriter.append(writable.right, handle, expectedSeq, draft.right),
            give
          )
        }),
      read: (runId, options) => read(runId, RecordInput.range(runId, options), false),
      tail: (runId, options) => read(runId, RecordInput.range(runId, options), true),
      list: (options) =>
        Effect.gen(function* () {
          const { cursor, rows } = yield* RecordPage.of(yield* keys, options)
          const runs: Array<Record.RunSummary> = []
          for (const { runId } of rows) {
            const summary = yield* seen(runId, () => RecordSummary.of(`${directory}/${runId}.ndjson`, runId))
            if (summary !== undefined) runs.push(summary)
          }
          return { runs, ...(cursor === undefined ? {} : { cursor }) }
        })
    }
  })
