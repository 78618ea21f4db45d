/**
 * The `Campaign` C1: lists of what can be asked of a record are done in every layer at once, in memory, a file and the
 * databases that there are, and each answer has to be the same, to the last byte of a hash.
 */
import { Context, Effect, Either, FastCheck as fc, Layer, type Scope, Stream, TestClock, TestContext } from "effect"
import * as SqlClient from "@effect/sql/SqlClient"
import { rmSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import type * as Event from "../../src/kernel/Event.ts"
import * as Record from "../../src/services/Record.ts"
import { called, ended, received, started } from "../../src/services/RecordSuite.ts"
import * as Database from "../services/RecordDatabase.ts"
import * as Fixture from "../services/RecordFixture.ts"

type Service = Record.Record["Type"]

/** What all records are asked to do. */
type Command =
  | { readonly op: "append"; readonly run: number; readonly off: number; readonly batch: ReadonlyArray<number> }
  | { readonly op: "read"; readonly run: number; readonly from: number; readonly to: number }
  | { readonly op: "tail"; readonly run: number; readonly from: number; readonly count: number }
  | { readonly op: "list"; readonly limit: number }
  | { readonly op: "pass"; readonly ms: number }
  | { readonly op: "reopen" }

const runs = ["a", "0-b_", "run-c", "B"]
const one = fc.nat({ max: runs.length - 1 })
const seq = fc.nat({ max: 9 })

const events = (runId: string): ReadonlyArray<Event.Event> => [
  started(runId),
  received("a"),
  received("\u0000'\"; DROP TABLE x; --\u2028😀"),
  called(1, { n: [1, 2.5, null] }),
  called(1, { n: Number.NaN }),
  received("x\ud800"),
  ended
]

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      op: fc.constant("append" as const),
      run: one,
      off: fc.constantFrom(0, 0, 0, 0, -1, 1, 5),
      batch: fc.oneof(
        { weight: 2, arbitrary: fc.constant([0]) },
        { weight: 4, arbitrary: fc.array(fc.constantFrom(1, 2, 3, 1, 2, 3, 4, 5, 6), { maxLength: 4 }) }
      )
    })
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("read" as const), run: one, from: seq, to: seq }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("tail" as const),
      run: one,
      from: seq,
      count: fc.integer({ min: 1, max: 3 })
    })
  },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("list" as const), limit: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 3 }) }) },
  { weight: 1, arbitrary: fc.constant({ op: "reopen" as const }) }
)

/** What random lists seldom have: a run with two ends. */
const endedTwice: Array<Command> = [
  { op: "append", run: 0, off: 0, batch: [0] },
  { op: "append", run: 0, off: 0, batch: [6, 6] },
  { op: "list", limit: 1 },
  { op: "tail", run: 0, from: 0, count: 2 }
]

const seen = <A>(effect: Effect.Effect<A, Record.RecordError | Record.RecordConflict>) =>
  Effect.map(
    Effect.either(effect),
    Either.match({
      onRight: (value): unknown => ({ value }),
      onLeft: (error) =>
        error._tag === "RecordConflict"
          ? [error._tag, error.expectedSeq, error.actualSeq]
          : [error.reason, error.where, error.outcome]
    })
  )

const lengthOf = (record: Service, runId: string) =>
  Effect.map(Effect.either(Fixture.collect(record.read(runId))), (read) =>
    Either.isRight(read) ? read.right.length : 0
  )

const perform = (record: Service, command: Command): Effect.Effect<unknown> => {
  switch (command.op) {
    case "append":
      return Effect.gen(function* () {
        const runId = runs[command.run]!
        const at = (yield* lengthOf(record, runId)) + command.off
        return yield* seen(
          record.append(
            runId,
            at,
            command.batch.map((n) => events(runId)[n]!)
          )
        )
      })
    case "read":
      return seen(Fixture.collect(record.read(runs[command.run]!, { from: command.from, to: command.to })))
    case "tail":
      // As many as are there: it would wait for more.
      return Effect.gen(function* () {
        const runId = runs[command.run]!
        const there = Math.max(0, (yield* lengthOf(record, runId)) - command.from)
        const count = Math.min(there, command.count)
        return count === 0 ? undefined : yield* seen(Fixture.collect(Stream.take(record.tail(runId, command), count)))
      })
    case "list":
      return Effect.gen(function* () {
        const pages = []
        let cursor: string | undefined
        do {
          const page = yield* Effect.either(
            record.list({ limit: command.limit, ...(cursor === undefined ? {} : { cursor }) })
          )
          pages.push(Either.isRight(page) ? page.right : [page.left.reason, page.left.where])
          cursor = Either.isRight(page) ? page.right.cursor : undefined
        } while (cursor !== undefined)
        return pages
      })
    case "pass":
    case "reopen":
      return Effect.void
  }
}

/** A record that is emptied for each list, and how a program that starts later opens it. */
interface Subject {
  readonly name: string
  readonly empty: Effect.Effect<void>
  readonly open: Effect.Effect<Service, Record.RecordError, Scope.Scope>
}

const built = (layer: Layer.Layer<Record.Record, Record.RecordError>) =>
  Effect.map(Layer.build(layer), Context.get(Record.Record))

const durability = "process-crash"

const file: Effect.Effect<Subject, never, Scope.Scope> = Effect.map(Fixture.directory, (path) => {
  const directory = `${path}/runs`
  return {
    name: "file",
    empty: Effect.sync(() => rmSync(directory, { recursive: true, force: true })),
    open: built(Record.layerFile({ directory, durability }))
  }
})

/** The tables are made once: to make and drop them takes longer than what is asked of them. */
const inDatabase = ({ name, open }: Database.Database): Effect.Effect<Subject, never, Scope.Scope> =>
  Effect.gen(function* () {
    const opened = yield* open
    // Nobody cuts the power here, and this is where the time would go.
    const client =
      name === "PostgreSQL" ? yield* Effect.orDie(Database.postgres("-c synchronous_commit=off")) : opened.client
    const sql = Context.get(client, SqlClient.SqlClient)
    const record = Database.record(opened, client, { durability })
    yield* Effect.orDie(Effect.scoped(record))
    return { name, empty: Effect.orDie(sql`DELETE FROM ${sql(`${opened.prefix}record`)}`), open: record }
  })

const there = Database.databases.filter(({ missing }) => missing === undefined)

/** The databases that there are not. */
export const skipped = Database.databases.flatMap(({ missing, name }) =>
  missing === undefined ? [] : `; ${name}${missing}`
)

/** Does a list in all of them; what differs first, if something does. */
const differing = (subjects: ReadonlyArray<Subject>, commands: ReadonlyArray<Command>) =>
  Effect.gen(function* () {
    const memory = yield* built(Record.layerMemory)
    yield* Effect.all(subjects.map(({ empty }) => empty))
    const opening = Effect.all(subjects.map(({ open }) => open))
    let records = yield* opening
    for (const [n, command] of commands.entries()) {
      if (command.op === "pass") yield* TestClock.adjust(command.ms)
      if (command.op === "reopen") records = yield* opening
      const expected = yield* perform(memory, command)
      const found = yield* Effect.forEach(records, (record) => perform(record, command), { concurrency: "unbounded" })
      const at = found.findIndex((one) => !isDeepStrictEqual(one, expected))
      if (at >= 0) {
        const told = [expected, found[at]].map((one) => JSON.stringify(one)).join(" is not ")
        return `${subjects[at]?.name} at ${n}, ${JSON.stringify(command)}: ${told}`
      }
    }
    return undefined
  }).pipe(Effect.scoped, Effect.provide(TestContext.TestContext))

/** So many lists of so many operations. */
export const run = (trials: number, seed: number, operations = 50) =>
  Effect.gen(function* () {
    const subjects = yield* Effect.all([file, ...there.map(inDatabase)])
    const failures: Array<{ readonly seed: number; readonly fault: string }> = []
    const lists = fc.array(command, { minLength: operations, maxLength: operations })
    const property = fc.asyncProperty(lists, async (commands) => {
      const found = await Effect.runPromise(differing(subjects, commands))
      if (found !== undefined) throw new Error(found)
    })
    const { counterexample, error, numRuns } = yield* Effect.promise(() =>
      fc.check(property, { seed, numRuns: trials, examples: [[endedTwice]] })
    )
    if (counterexample !== null) {
      const commands = counterexample.map((one) => JSON.stringify(one)).join()
      failures.push({ seed, fault: `${error ?? ""} in ${commands}` })
    }
    const counts: { [name: string]: number } = { "lists of operations": numRuns, "operations in a list": operations }
    for (const { name } of subjects) counts[`lists compared with memory: ${name}`] = numRuns
    return { counts, failures }
  }).pipe(Effect.scoped, Effect.runPromise)
