import { Chunk, Effect, Stream, TestClock } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type * as Event from "../../src/kernel/Event.ts"
import * as Record from "../../src/services/Record.ts"
import { called, ended, received, started } from "../../src/services/RecordSuite.ts"

/** A directory that goes with the scope. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "record-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

export const fileOf = (directory: string, runId: string) => `${directory}/${runId}.ndjson`

/** Opens the record anew, as a program does that starts. */
export const open = <A, E>(
  directory: string,
  use: (record: Record.Record["Type"]) => Effect.Effect<A, E>,
  options?: Omit<Record.FileOptions, "directory">
) =>
  Effect.provide(
    Effect.flatMap(Record.Record, use),
    Record.layerFile({ directory, durability: "process-crash", ...options })
  )

export const collect = <E>(stream: Stream.Stream<Event.Entry, E>) =>
  Effect.map(Stream.runCollect(stream), Chunk.toReadonlyArray)

/** The entries that come before the error, and the error. */
export const readable = (stream: Stream.Stream<Event.Entry, Record.RecordError>) =>
  Effect.gen(function* () {
    const entries: Array<Event.Entry> = []
    const error = yield* Effect.flip(Stream.runForEach(stream, (entry) => Effect.sync(() => entries.push(entry))))
    return { entries, error }
  })

/** The appends of a small run, one of them of several events. */
export const appends = (runId: string): ReadonlyArray<ReadonlyArray<Event.Event>> => [
  [started(runId)],
  [{ _tag: "PieceDeclared", hash: "h", id: "instructions", slot: "system", origin: "app", text: "Be brief: ä€😀.\n" }],
  [called(1, { zone: "a", n: [1, 2.5, null] }), received("And zone b?"), called(2, {})],
  [{ _tag: "Answered", iteration: 1, content: 'Zone "a".' }],
  [ended]
]

/** A run that was written one second an append, from second 1 on. */
export const write = (record: Record.Record["Type"], runId: string) =>
  Effect.gen(function* () {
    const anchors: Array<Record.Anchor> = []
    for (const [i, events] of appends(runId).entries()) {
      yield* TestClock.setTime(1_000 * (i + 1))
      anchors.push(yield* record.append(runId, (anchors.at(-1)?.seq ?? -1) + 1, events))
    }
    return anchors
  })

/** The bytes of that run's file. */
export const bytes = (runId: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const path = yield* directory
      yield* open(path, (record) => write(record, runId))
      return readFileSync(fileOf(path, runId))
    })
  )

/** A record that holds these bytes. */
export const holding = (runId: string, bytes: Uint8Array | string) =>
  Effect.tap(directory, (path) => Effect.sync(() => writeFileSync(fileOf(path, runId), bytes)))
