/**
 * A `RecordFile` is a record on disk: a directory with one file for each run, one line for each append. See
 * `docs/decisions/0001-record-file.md`.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as fs from "node:fs"
import * as path from "node:path"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import type * as Record from "./Record.ts"
import * as RecordChain from "./RecordChain.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordInput from "./RecordInput.ts"
import * as RecordLines from "./RecordLines.ts"
import * as RecordLock from "./RecordLock.ts"
import * as RecordPage from "./RecordPage.ts"
import * as RecordSummary from "./RecordSummary.ts"
import * as RecordWriter from "./RecordWriter.ts"
import * as Wakeup from "./Wakeup.ts"

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
  /** What an acknowledged append survives. `"power-loss"` if absent; `"process-crash"` is some fifty times as fast. */
  readonly durability?: "power-loss" | "process-crash"
  /** Called for each tail that was repaired, before the append that repaired it returns. */
  readonly onRecovered?: (tail: RecoveredTail) => Effect.Effect<void>
}

/** How many files are kept open, and of how many runs it is known how far they are verified. */
const maxOpen = 128
const maxKnown = 4_096

/** How long a reader waits before it looks for what another process has written, in milliseconds. */
const pollMs = 100

const file = /^([a-z0-9][a-z0-9_-]{0,63})\.ndjson$/

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

/** Makes the directory, and its name safe. */
const ensure = (directory: string): void => {
  const first = fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (first === undefined || process.platform === "win32") return
  for (let made = directory; made.length >= first.length; made = path.dirname(made)) syncDirectory(path.dirname(made))
}

const report = (options: Options) => (runId: string, bytesDropped: number, entries: number): Effect.Effect<void> => {
  const tail: RecoveredTail = {
    _tag: "RecoveredTail",
    code: "WF-REC-013",
    runId,
    bytesDropped,
    ...(entries === 0 ? {} : { lastSeq: entries - 1 }),
    notice: options.durability === "process-crash"
      ? "An append was cut short. At this durability a loss of power may take acknowledged appends with it."
      : "An append was cut short. It had not been acknowledged, so that nothing that was is lost."
  }
  const logged = Effect.logWarning(`${tail.notice} ${bytesDropped} bytes were removed from the end of run ${Printable.quote(runId)}.`).pipe(
    Effect.annotateLogs({ recoveredTail: tail })
  )
  return options.onRecovered === undefined ? logged : Effect.zipRight(logged, options.onRecovered(tail))
}

/** Where a reader of a run is. */
interface Reader {
  readonly cursor: RecordLines.Cursor
  readonly failed?: RecordError.RecordError
  readonly done: boolean
}

const entries = (
  writer: RecordWriter.Writer,
  { fd, inode }: { readonly fd: number; readonly inode: number },
  { from, to }: RecordInput.Range,
  live: boolean
): Stream.Stream<Event.Entry, RecordError.RecordError> => {
  type Next = Effect.Effect<Option.Option<readonly [Chunk.Chunk<Event.Entry>, Reader]>, RecordError.RecordError>
  const next = (reader: Reader): Next =>
    Effect.suspend((): Next => {
      if (reader.failed !== undefined) return reader.failed
      if (reader.done) return Effect.succeedNone
      const seen = writer.wakeup.count
      const limit = writer.writing ? writer.cursor.offset : Infinity
      const block = Either.try({
        try: () => RecordLines.next(fd, reader.cursor, limit),
        catch: (cause) => RecordWriter.unavailable(writer.runId, RecordLock.errno(cause))
      })
      if (Either.isLeft(block)) return block.left
      const { cursor, damage, ended } = block.right
      RecordWriter.learn(writer, inode, cursor)
      const last = live ? block.right.entries.findIndex(({ event }) => event._tag === "RunEnded") : -1
      const until = last < 0 ? to : (block.right.entries[last]?.seq ?? 0) + 1
      const kept = block.right.entries.filter(({ seq }) => seq >= from && seq < until)
      const over = cursor.position.seq >= until
      const failed = damage !== undefined && !over ? RecordChain.failure(writer.runId, damage) : undefined
      if (ended && failed === undefined && cursor.position.seq === 0) return RecordError.notFound(writer.runId)
      const then: Reader = {
        cursor,
        done: over || (ended && !live),
        ...(failed === undefined ? {} : { failed })
      }
      if (kept.length > 0) return Effect.succeedSome([Chunk.unsafeFromArray(kept), then])
      const wait = live && ended && failed === undefined && !over
      return Effect.zipRight(wait ? Wakeup.after(writer.wakeup, seen, pollMs) : Effect.yieldNow(), next(then))
    })
  return Stream.unfoldChunkEffect({ cursor: RecordLines.start(writer.runId), done: false }, next)
}

export const make = (
  options: Options
): Effect.Effect<Context.Tag.Service<Record.Record>, RecordError.RecordError, Scope.Scope> =>
  Effect.gen(function*() {
    const directory = path.resolve(options.directory)
    const writers = new Map<string, RecordWriter.Writer>()
    const open = new Map<string, RecordWriter.Writer>()
    const safe = options.durability !== "process-crash"

    const names = yield* Effect.acquireRelease(
      Effect.try({
        try: () => {
          ensure(directory)
          return safe && process.platform !== "win32" ? fs.openSync(directory, "r") : undefined
        },
        catch: unusable
      }),
      (fd) =>
        Effect.sync(() => {
          for (const writer of writers.values()) RecordWriter.close(writer)
          if (fd !== undefined) fs.closeSync(fd)
        })
    )
    const place: RecordWriter.Directory = { flush: safe, names, recovered: report(options) }

    const take = (runId: string) =>
      Effect.sync(() => {
        const writer = writers.get(runId) ?? RecordWriter.make(directory, runId)
        writers.delete(runId)
        writers.set(runId, writer)
        writer.uses++
        if (writers.size > maxKnown) forget()
        return writer
      })

    const forget = () => {
      for (const [runId, writer] of writers) {
        if (writer.uses > 0 || writer.broken !== undefined) continue
        RecordWriter.close(writer)
        open.delete(runId)
        writers.delete(runId)
        return
      }
    }

    /** Gives a writer back; files that were not used for longest are closed. */
    const give = (writer: RecordWriter.Writer) =>
      Effect.sync(() => {
        writer.uses--
        open.delete(writer.runId)
        if (writer.fd !== undefined) open.set(writer.runId, writer)
        for (const [runId, oldest] of open) {
          if (open.size <= maxOpen) return
          if (oldest.uses > 0) continue
          RecordWriter.close(oldest)
          open.delete(runId)
        }
      })

    const read = (runId: string, range: Either.Either<RecordInput.Range, RecordError.RecordError>, live: boolean) =>
      Stream.unwrapScoped(
        Effect.gen(function*() {
          const wanted = yield* range
          const writer = yield* Effect.acquireRelease(take(runId), give)
          const fd = yield* Effect.acquireRelease(RecordWriter.openToRead(writer), ({ fd }) => Effect.sync(() => fs.closeSync(fd)))
          return entries(writer, fd, wanted, live)
        })
      )

    const keys = Effect.gen(function*() {
      const found: Array<RecordPage.Key> = []
      for (const name of yield* Effect.try({ try: () => fs.readdirSync(directory), catch: unusable })) {
        const runId = file.exec(name)?.[1]
        if (runId === undefined) continue
        const key = yield* seen(runId, () => RecordSummary.key(`${directory}/${name}`, runId))
        if (key !== undefined) found.push(key)
      }
      return found
    })

    /** What a file says; a run that is damaged where it is looked at is named in the log and left out. */
    const seen = <A>(
      runId: string,
      look: () => Either.Either<A, RecordError.RecordError> | undefined
    ): Effect.Effect<A | undefined, RecordError.RecordError> =>
      Effect.suspend(() => {
        const looked = Either.try({ try: look, catch: RecordLock.errno })
        if (Either.isLeft(looked)) {
          return looked.left === "ENOENT" ? Effect.succeed(undefined) : RecordWriter.unavailable(runId, looked.left)
        }
        if (looked.right === undefined || Either.isRight(looked.right)) return looked.right ?? Effect.succeed(undefined)
        return Effect.as(Effect.logWarning(`A run is not listed. ${looked.right.left.message}`), undefined)
      })

    return {
      append: (runId, expectedSeq, events) =>
        Effect.suspend(() => {
          const draft = RecordInput.append(runId, expectedSeq, events)
          if (Either.isLeft(draft)) return draft.left
          return Effect.acquireUseRelease(
            take(runId),
            (writer) => RecordWriter.append(place, writer, expectedSeq, draft.right),
            give
          )
        }),
      read: (runId, options) => read(runId, RecordInput.range(runId, options), false),
      tail: (runId, options) => read(runId, RecordInput.range(runId, options), true),
      list: (options) =>
        Effect.gen(function*() {
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
