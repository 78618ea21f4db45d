import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import * as fs from "node:fs"
import * as Record from "../../src/services/Record.ts"
import { received } from "../../src/services/RecordSuite.ts"
import { acknowledged, appending, broken, reason, traceable } from "./RecordChild.ts"
import * as Database from "./RecordDatabase.ts"
import * as Fixture from "./RecordFixture.ts"

const runId = "run-1"

afterAll(() => Database.closePool())

/** What a process of its own is given to append to it. */
const childOf = ({ address: [, target = ""], prefix }: Database.Opened) => ({ target, prefix })

/** The record is whole up to there, holds all that was acknowledged and nothing that was not asked for, and goes on. */
const survives = (opened: Database.Opened, lines: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const record = yield* Database.record(opened, yield* opened.again)
    const acks = acknowledged(lines)
    const found = yield* Effect.either(Fixture.collect(record.read(runId)))
    const entries = found._tag === "Right" ? found.right : []
    if (found._tag === "Left") assert.strictEqual(found.left.reason, "RunNotFound")
    for (const ack of acks) assert.strictEqual(entries[ack.seq]?.hash, ack.hash)
    if (entries.length === 0) return entries
    yield* Record.verify(entries, acks.length === 0 ? {} : { anchor: acks.at(-1)! })
    // A batch is there whole or not at all, and each says where it was put.
    assert.strictEqual(entries.length % 2, 1)
    for (const { event, seq } of entries.filter(({ seq }) => seq > 0 && seq % 2 === 1)) {
      assert.deepStrictEqual(event, received(`${seq}`))
    }
    yield* record.append(runId, entries.length, [received(`${entries.length}`), received("and more")])
    assert.lengthOf(yield* Fixture.collect(record.read(runId)), entries.length + 2)
    return entries
  }).pipe(Effect.scoped)

for (const database of Database.databases) {
  describe.skipIf(database.missing !== undefined)(`SqlRecord over ${database.name}${database.missing ?? ""}`, () => {
    it.live("lets one of two processes win each entry, and mixes nothing", () =>
      Effect.gen(function* () {
        const opened = yield* database.open
        yield* Database.record(opened, opened.client)
        const { prefix, target } = childOf(opened)
        let waiting = 2
        let go = () => {}
        const ready = new Promise<void>((resolve) => (go = resolve))
        const onReady = () => --waiting === 0 && go()
        const one = appending(target, { durability: "process-crash", count: 400, ready, onReady, prefix, traces: "" })
        const outcomes = yield* Effect.all([one, one], { concurrency: 2 })
        for (const { lines } of outcomes) {
          assert.strictEqual(lines.at(-1), "done")
          assert.isEmpty(lines.filter((line) => line.startsWith("error")))
          assert.isNotEmpty(acknowledged(lines))
        }
        const acks = outcomes.flatMap(({ lines }) => acknowledged(lines)).sort((a, b) => a.seq - b.seq)
        const entries = yield* survives(
          opened,
          acks.map(({ hash, seq }) => `ack ${seq} ${hash}`)
        )
        // Each append is someone's, and nobody's is missing.
        assert.deepStrictEqual(
          acks.map(({ seq }) => seq),
          entries.map(({ seq }) => seq).filter((seq) => seq % 2 === 0)
        )
      }).pipe(Effect.scoped)
    )

    it.live("loses nothing that it acknowledged when it is killed, and a tail elsewhere has seen it all in order", () =>
      Effect.gen(function* () {
        for (const at of [1, 2, 17, 60]) {
          yield* Effect.gen(function* () {
            const opened = yield* database.open
            const reader = yield* Database.record(opened, opened.client)
            const { prefix, target } = childOf(opened)
            const dying = yield* Effect.fork(
              appending(target, {
                durability: "power-loss",
                count: 100_000,
                prefix,
                traces: "",
                onAck: (count, kill) => {
                  if (count >= at) kill()
                }
              })
            )
            const started = Stream.repeatEffect(
              Effect.delay(Effect.either(Fixture.collect(reader.read(runId))), "5 millis")
            )
            yield* Stream.runDrain(Stream.takeUntil(started, ({ _tag }) => _tag === "Right"))
            const seen: Array<number> = []
            const tail = yield* Effect.fork(
              Stream.runForEach(reader.tail(runId), ({ seq }) => Effect.sync(() => seen.push(seq)))
            )
            const { lines, signal } = yield* Fiber.join(dying)
            assert.strictEqual(signal, "SIGKILL")
            const entries = yield* survives(opened, lines)
            assert.isAtLeast(entries.length, 2 * at - 1)
            while (seen.length < entries.length + 2) yield* Effect.sleep("5 millis")
            yield* Fiber.interrupt(tail)
            assert.deepStrictEqual(
              seen,
              Array.from({ length: entries.length + 2 }, (_, seq) => seq)
            )
          }).pipe(Effect.scoped)
        }
      })
    )
  })
}

const flushes = (trace: string) => trace.split("\n").filter((line) => /\b(fsync|fdatasync)\(.*= 0$/.test(line)).length

describe("SqlRecord over SQLite", () => {
  const { open } = Database.SQLite

  it.live.skipIf(!traceable)(`flushes for every append before it acknowledges it${reason}`, () =>
    Effect.gen(function* () {
      const opened = yield* open
      const { prefix, target } = childOf(opened)
      const traces = yield* Fixture.directory
      const { lines } = yield* appending(target, {
        durability: "power-loss",
        count: 30,
        prefix,
        traces,
        strace: ["-e", "trace=write,fdatasync,fsync"]
      })
      assert.lengthOf(acknowledged(lines), 30)
      const steps = fs
        .readFileSync(`${traces}/trace`, "utf8")
        .split("\n")
        .flatMap((line) => (/ write\(1, "ack/.test(line) ? "ack" : flushes(line) > 0 ? "flush" : []))
      assert.isAtLeast(steps.filter((step) => step === "flush").length, 30)
      for (const [i, step] of steps.entries()) if (step === "ack") assert.strictEqual(steps[i - 1], "flush")
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!traceable)(`loses nothing that it acknowledged, wherever it is killed${reason}`, () =>
    Effect.gen(function* () {
      const kills = [
        ["pwrite64", 30],
        ["pwrite64", 43],
        ["pwrite64", 50],
        ["fsync", 5],
        ["fsync", 9],
        ["fsync", 7]
      ] as const
      let killed = 0
      yield* Effect.forEach(
        kills,
        ([call, when]) =>
          Effect.gen(function* () {
            const opened = yield* open
            const { prefix, target } = childOf(opened)
            const strace = ["-e", `trace=${call}`, "-e", `inject=${call}:signal=SIGKILL:when=${when}`]
            const traces = yield* Fixture.directory
            const { lines } = yield* appending(target, { durability: "power-loss", count: 12, prefix, traces, strace })
            if (!lines.includes("done")) killed++
            yield* survives(opened, lines)
          }).pipe(Effect.scoped),
        { concurrency: 2, discard: true }
      )
      assert.isAtLeast(killed, 5)
    })
  )

  it.live.skipIf(!traceable)(`says what it does not know when the storage fails, and writes no more${reason}`, () =>
    Effect.gen(function* () {
      const opened = yield* open
      yield* Database.record(opened, opened.client)
      const { prefix, target } = childOf(opened)
      const traces = yield* Fixture.directory
      const { lines } = yield* appending(target, {
        durability: "power-loss",
        count: 8,
        prefix,
        traces,
        strace: broken("fsync", "EIO", 6)
      })
      const failed = lines.findIndex((line) => line.startsWith("error"))
      assert.strictEqual(lines[failed], "error WriteFailed unknown")
      const later = lines.slice(failed + 1, -1)
      assert.isNotEmpty(later)
      assert.deepStrictEqual(new Set(later), new Set(["error WriteFailed not-applied"]))
      yield* survives(opened, lines)
    }).pipe(Effect.scoped)
  )
})
