/**
 * A `RecordSql` is a record in a database. It knows how far it has verified each run, so that an append costs one statement,
 * and that statement finds out whether others were there meanwhile.
 *
 * @internal
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Printable from "../kernel/Printable.ts"
import * as Database from "./Database.ts"
import type * as Record from "./Record.ts"
import * as RecordChain from "./RecordChain.ts"
import * as RecordClaim from "./RecordClaim.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordFault from "./RecordFault.ts"
import * as RecordInput from "./RecordInput.ts"
import * as RecordPage from "./RecordPage.ts"
import * as RecordReader from "./RecordReader.ts"
import * as RecordRuns from "./RecordRuns.ts"
import * as RecordSummary from "./RecordSummary.ts"
import * as RecordTable from "./RecordTable.ts"
import * as Wakeup from "./Wakeup.ts"

export interface Options {
  /** Begins the names of the tables: `wherefore_` unless said otherwise. */
  readonly prefix?: string
  /** What an acknowledged append survives: a loss of power, unless the connections are to stay as they are set. */
  readonly durability?: "power-loss" | "process-crash"
  /**
   * How often a tail looks for what other processes have appended, in milliseconds. 100 if absent; 1,000 where the client
   * of PostgreSQL listens, since it is told.
   */
  readonly pollMs?: number
}

interface Run extends RecordRuns.Known {
  readonly wakeup: Wakeup.Wakeup
  /** One append at a time. */
  readonly permit: Effect.Semaphore
  /** How far it is verified. */
  cursor: RecordTable.Cursor
}

const begin = (runId: string): Run => ({
  runId,
  wakeup: Wakeup.make(),
  permit: Effect.unsafeMakeSemaphore(1),
  cursor: RecordTable.start(runId),
  uses: 0
})

/** What one reader or writer has verified, the others need not. */
const learn = (run: Run, cursor: RecordTable.Cursor): void => {
  if (cursor.position.seq > run.cursor.position.seq) run.cursor = cursor
}

const lost = (runId: string, seq: number): RecordError.RecordError =>
  RecordError.failure("Corrupt", {
    what: `Rows of run ${Printable.quote(runId)} were changed or removed while it was in use.`,
    expected: `the row that held entry ${seq - 1}`,
    next: "Restore the run from a copy, or build the layer again to go on with what is there.",
    runId,
    seq: Math.max(0, seq - 1)
  })

const inside = (runId: string): RecordError.RecordError =>
  RecordError.failure("InvalidInput", {
    what: "An append cannot be a part of a transaction: what it acknowledges is kept, whatever becomes of that.",
    where: `run ${Printable.quote(runId)}`,
    next: "Append before the transaction or after it, or give the record a client of its own.",
    runId
  })

/** The client of PostgreSQL, as far as it is used here. Its package is needed by those who use it. */
interface Listening {
  readonly listen: (channel: string) => Stream.Stream<string, SqlError>
}
const Listening = Context.GenericTag<Listening>("@effect/sql-pg/PgClient")

/** The client that listens, if it is the one that queries. */
const listening = Effect.map(Effect.all([SqlClient.SqlClient, Effect.serviceOption(Listening)]), ([sql, found]) =>
  Option.filter(found, (client) => Object.is(client, sql))
)

/** How many runs one notification names: it may have 8,000 bytes. */
const runsAtOnce = 100

type Service = Context.Tag.Service<Record.Record>

export const make = (
  options: Options
): Effect.Effect<Service, RecordError.RecordError, SqlClient.SqlClient | Scope.Scope> =>
  Effect.gen(function* () {
    const { durability = "power-loss", prefix = "wherefore_" } = options
    const flushes = durability === "power-loss"
    const { pollMs: given } = options
    if (given !== undefined && !(Number.isSafeInteger(given) && given > 0)) {
      return yield* RecordError.invalidOption("pollMs", "a number of milliseconds, at least 1", given)
    }
    const table = yield* Effect.gen(function* () {
      const database = yield* Database.make(prefix)
      yield* Database.inFile(database)
      if (flushes) yield* Database.flushing(database)
      const table = RecordTable.of(database, prefix)
      yield* RecordTable.ensure(table)
      return table
    }).pipe(
      Effect.catchTags({
        SqlError: (error) => RecordFault.of(error),
        Unended: ({ error }) => RecordFault.of(error),
        Unfit: (unfit) => RecordFault.ofUnfit(unfit)
      })
    )
    const { database } = table
    const runs = RecordRuns.make(begin, () => undefined)

    // Telling is not a part of the append: all who tell in PostgreSQL wait for each other until they are committed.
    const changed = { runs: new Set<string>(), wakeup: Wakeup.make() }
    const tell = Effect.suspend(() => {
      const some = Array.from(changed.runs).slice(0, runsAtOnce)
      for (const runId of some) changed.runs.delete(runId)
      const { count } = changed.wakeup
      return some.length > 0 ? Effect.ignore(RecordTable.notify(table, some)) : Wakeup.after(changed.wakeup, count)
    })
    if (database.isPostgres) yield* Effect.forkScoped(Effect.forever(tell))

    const listener = yield* listening
    const pollMs = given ?? (Option.isSome(listener) ? 1_000 : 100)
    const heard = (message: string) =>
      Effect.sync(() => {
        for (const runId of message.split(",")) {
          const run = runs.get(runId)
          if (run !== undefined) Wakeup.notify(run.wakeup)
        }
      })
    let hearing: Fiber.RuntimeFiber<void> | undefined
    // From the first tail on.
    const listen = Effect.gen(function* () {
      if (hearing !== undefined || Option.isNone(listener)) return
      const { value } = listener
      hearing = yield* Effect.forkDaemon(Effect.ignore(Stream.runForEach(value.listen(table.channel), heard)))
    })
    // Nobody waits for its end: a connection that was lost may take long to say so.
    yield* Effect.addFinalizer(() => (hearing === undefined ? Effect.void : Fiber.interruptFork(hearing)))

    const next = (run: Run, cursor: RecordTable.Cursor) =>
      RecordTable.next(table, cursor).pipe(
        RecordTable.failing({ runId: run.runId, seq: cursor.position.seq }),
        Effect.tap((block) => Effect.sync(() => learn(run, block.cursor)))
      )

    /** Verifies what is behind a cursor, and where it ends. */
    const verify = (run: Run, cursor: RecordTable.Cursor): Effect.Effect<number, RecordError.RecordError> =>
      Effect.flatMap(next(run, cursor), (block) => {
        if (block.damage !== undefined) return RecordChain.failure(run.runId, block.damage)
        if (block.ended) return Effect.succeed(block.cursor.position.seq)
        return Effect.zipRight(Wakeup.turn, verify(run, block.cursor))
      })

    /** The last row is not the one that was verified: others have appended, or the run is no longer what it was. */
    const outrun = (run: Run, { seq }: RecordChain.Position) =>
      Effect.gen(function* () {
        if ((yield* verify(run, run.cursor)) > seq) return "behind" as const
        return (yield* verify(run, RecordTable.start(run.runId))) > seq
          ? ("behind" as const)
          : yield* lost(run.runId, seq)
      })

    const write = (run: Run, { texts }: RecordInput.Draft, written: number) => {
      const { cursor, runId } = run
      const { position } = cursor
      const hash = RecordChain.links(position, written, texts).at(-1) ?? position.hash
      const line = RecordChain.line(position, written, texts, hash).slice(0, -1)
      const reached = { runId, seq: position.seq + texts.length, hash }
      return RecordTable.insert(table, position, { written, hash, line }, flushes, (isWritten) => {
        if (!isWritten) return undefined
        learn(run, { ...cursor, position: reached, row: position.seq })
        Wakeup.notify(run.wakeup)
        changed.runs.add(runId)
        Wakeup.notify(changed.wakeup)
        return { seq: reached.seq - 1, hash }
      })
    }

    type Attempted = Effect.Effect<RecordClaim.Attempt, RecordError.RecordError>
    const attempt =
      (run: Run, draft: RecordInput.Draft) =>
      (at: number): Attempted => {
        const { position } = run.cursor
        return Effect.matchEffect(write(run, draft, at), {
          onSuccess: (appended): Attempted =>
            appended === undefined ? outrun(run, position) : Effect.succeed(appended),
          onFailure: (error): Attempted => {
            // Of two at once, the database may be set to let one fail.
            if (error._tag === "SqlError" && Database.isRaced(Database.codeOf(error))) return Effect.succeed("busy")
            const failed = RecordFault.ofAppend(error, { runId: run.runId, seq: position.seq })
            if (failed.reason === "WriteFailed") run.broken = failed
            return failed
          }
        })
      }

    const take = (runId: string) =>
      Effect.acquireRelease(runs.take(runId), (run) =>
        Effect.sync(() => {
          run.uses--
        })
      )

    const read = (runId: string, range: Either.Either<RecordInput.Range, RecordError.RecordError>, live: boolean) =>
      Stream.unwrapScoped(
        Effect.gen(function* () {
          const wanted = yield* range
          const run = yield* take(runId)
          if (live) yield* listen
          const source = {
            runId,
            start: RecordTable.start(runId),
            next: (cursor: RecordTable.Cursor) => next(run, cursor),
            wakeup: run.wakeup,
            pollMs
          }
          return RecordReader.entries(source, wanted, live)
        })
      )

    return {
      append: (runId, expectedSeq, events) =>
        Effect.gen(function* () {
          const draft = yield* RecordInput.append(runId, expectedSeq, events)
          if (yield* database.isInside) return yield* inside(runId)
          const run = yield* take(runId)
          const place = {
            runId,
            seq: () => run.cursor.position.seq,
            broken: () => run.broken,
            catchUp: Effect.suspend(() => Effect.asVoid(verify(run, run.cursor))),
            attempt: attempt(run, draft)
          }
          return yield* run.permit.withPermits(1)(RecordClaim.append(place, expectedSeq))
        }).pipe(Effect.scoped),
      read: (runId, options) => read(runId, RecordInput.range(runId, options), false),
      tail: (runId, options) => read(runId, RecordInput.range(runId, options), true),
      list: (options) =>
        Effect.gen(function* () {
          const query = yield* RecordPage.query(options)
          const { cursor, rows } = RecordPage.cut(
            yield* RecordTable.failing({})(RecordTable.list(table, query)),
            query.limit
          )
          const found: Array<Record.RunSummary> = []
          for (const { first, last, runId, startedAt } of rows) {
            const summary = RecordSummary.ofLines(runId, bytesOf(first), bytesOf(last))
            if (Either.isRight(summary) && summary.right.startedAt === startedAt) found.push(summary.right)
            else {
              const why = Either.isLeft(summary) ? summary.left : lost(runId, 1)
              yield* Effect.logWarning(`A run is not listed. ${why.message}`)
            }
          }
          return { runs: found, ...(cursor === undefined ? {} : { cursor }) }
        })
    }
  })

const bytesOf = (line: unknown): Buffer | undefined => (typeof line === "string" ? Buffer.from(line) : undefined)
