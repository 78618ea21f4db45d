import { afterAll, assert, describe, it } from "@effect/vitest"
import { Context, Effect, Either, FastCheck as fc, Layer, type Scope, Stream, TestClock } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Record from "../../src/services/Record.ts"
import { called, ended, received, started } from "../../src/services/RecordSuite.ts"
import * as Database from "./RecordDatabase.ts"
import * as Fixture from "./RecordFixture.ts"

type Service = Record.Record["Type"]

afterAll(() => Database.closePool())

/** What all records are asked to do. */
type Command =
  | { readonly op: "append"; readonly run: number; readonly off: number; readonly batch: ReadonlyArray<number> }
  | { readonly op: "read"; readonly run: number; readonly from: number; readonly to: number }
  | { readonly op: "tail"; readonly run: number; readonly from: number; readonly count: number }
  | { readonly op: "list"; readonly limit: number }
  | { readonly op: "pass"; readonly ms: number }
  | { readonly op: "reopen" }

const runs = ["a", "0-b_", "run-c", "B"]
const run = fc.nat({ max: runs.length - 1 })
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
      run,
      off: fc.constantFrom(0, 0, 0, 0, -1, 1, 5),
      batch: fc.oneof(
        { weight: 2, arbitrary: fc.constant([0]) },
        { weight: 4, arbitrary: fc.array(fc.constantFrom(1, 2, 3, 1, 2, 3, 4, 5, 6), { maxLength: 4 }) }
      )
    })
  },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("read" as const), run, from: seq, to: seq }) },
  {
    weight: 2,
    arbitrary: fc.record({ op: fc.constant("tail" as const), run, from: seq, count: fc.integer({ min: 1, max: 3 }) })
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

/** A record, and how a program that starts later opens it. */
interface Subject {
  readonly name: string
  readonly opened: Effect.Effect<Effect.Effect<Service, Record.RecordError, Scope.Scope>, never, Scope.Scope>
}

const built = (layer: Layer.Layer<Record.Record, Record.RecordError>) =>
  Effect.map(Layer.build(layer), Context.get(Record.Record))

const subjects: ReadonlyArray<Subject> = [
  {
    name: "file",
    opened: Effect.map(Fixture.directory, (directory) =>
      built(Record.layerFile({ directory, durability: "process-crash" }))
    )
  },
  ...Database.databases
    .filter(({ missing }) => missing === undefined)
    .map(({ name, open }) => ({
      name,
      opened: Effect.map(open, (opened) => Database.record(opened, opened.client, { durability: "process-crash" }))
    }))
]

const skipped = Database.databases.flatMap(({ missing, name }) => (missing === undefined ? [] : `; ${name}${missing}`))

describe("Record", () => {
  it.effect.prop(
    `gives the same answers in memory, a file and a database, to the last byte of a hash${skipped.join("")}`,
    [fc.array(command, { minLength: 50, maxLength: 50 })],
    ([commands]) =>
      Effect.gen(function* () {
        const memory = yield* built(Record.layerMemory)
        const opening = yield* Effect.forEach(subjects, ({ opened }) => opened)
        let records = yield* Effect.all(opening)
        for (const [n, command] of commands.entries()) {
          if (command.op === "pass") yield* TestClock.adjust(command.ms)
          if (command.op === "reopen") records = yield* Effect.all(opening)
          const expected = yield* perform(memory, command)
          for (const [at, record] of records.entries()) {
            const found = yield* perform(record, command)
            assert.deepStrictEqual(found, expected, `${subjects[at]?.name} ${n}: ${JSON.stringify(command)}`)
          }
        }
      }).pipe(Effect.scoped),
    { fastCheck: { numRuns: 30, examples: [[endedTwice]] } }
  )
})
