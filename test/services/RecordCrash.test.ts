import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, LogLevel } from "effect"
import * as fs from "node:fs"
import * as Record from "../../src/services/Record.ts"
import { received } from "../../src/services/RecordSuite.ts"
import { acknowledged, appending, broken, reason, traceable } from "./RecordChild.ts"
import * as Fixture from "./RecordFixture.ts"

const runId = "run-1"

/** The record is whole up to there, holds all that was acknowledged, and goes on. */
const survives = (path: string, lines: ReadonlyArray<string>) =>
  Fixture.open(path, (record) =>
    Effect.gen(function* () {
      const acks = acknowledged(lines)
      const found = yield* Effect.either(Fixture.collect(record.read(runId)))
      const entries = found._tag === "Right" ? found.right : []
      if (found._tag === "Left") assert.strictEqual(found.left.reason, "RunNotFound")
      for (const ack of acks) assert.strictEqual(entries[ack.seq]?.hash, ack.hash)
      if (entries.length === 0) return entries
      yield* Record.verify(entries, acks.length === 0 ? {} : { anchor: acks.at(-1)! })
      // A batch is there whole or not at all.
      assert.strictEqual(entries.length % 2, 1)
      yield* record.append(runId, entries.length, [received("on"), received("and on")])
      assert.lengthOf(yield* Fixture.collect(record.read(runId)), entries.length + 2)
      return entries
    })
  ).pipe(Logger.withMinimumLogLevel(LogLevel.None))

const killed = (call: string, when: number, path?: string) => ({
  name: `killed at ${call} ${when}${path === undefined ? "" : ` of the ${path.split(".").at(-1)}`}`,
  strace: (directory: string) => [
    ...(path === undefined ? [] : ["-P", `${directory}/${path}`]),
    "-e",
    `trace=${call}`,
    "-e",
    `inject=${call}:signal=SIGKILL:when=${when}`
  ]
})

const kills = [
  killed("write", 1, "run-1.ndjson"),
  killed("write", 3, "run-1.ndjson"),
  killed("fdatasync", 1),
  killed("fdatasync", 4),
  killed("fsync", 1),
  killed("symlink", 3),
  killed("unlink", 1, "run-1.lock"),
  killed("unlink", 5, "run-1.lock")
]

describe("RecordCrash", () => {
  it.live("lets one of two processes win each entry, and mixes nothing", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      let waiting = 2
      let go = () => {}
      const ready = new Promise<void>((resolve) => (go = resolve))
      const onReady = () => --waiting === 0 && go()
      const one = appending(path, { durability: "process-crash", count: 1_500, ready, onReady })
      const outcomes = yield* Effect.all([one, one], { concurrency: 2 })
      const won = outcomes.map(({ lines }) => acknowledged(lines))
      for (const { lines } of outcomes) {
        assert.strictEqual(lines.at(-1), "done")
        assert.isEmpty(lines.filter((line) => line.startsWith("error")))
      }
      for (const acks of won) assert.isNotEmpty(acks)
      const acks = won.flat().sort((a, b) => a.seq - b.seq)
      const entries = yield* survives(
        path,
        acks.map(({ hash, seq }) => `ack ${seq} ${hash}`)
      )
      // Each append is someone's, and nobody's is missing.
      assert.deepStrictEqual(
        acks.map(({ seq }) => seq),
        entries.map(({ seq }) => seq).filter((seq) => seq % 2 === 0)
      )
      assert.deepStrictEqual(fs.readdirSync(path), ["run-1.ndjson"])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!traceable)(`flushes before it acknowledges, every time${reason}`, () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      const { lines, trace } = yield* appending(`${path}/new`, {
        durability: "power-loss",
        count: 12,
        strace: ["-o", `${path}/trace`, "-e", "trace=write,fdatasync,fsync"]
      })
      assert.lengthOf(acknowledged(lines), 12)
      const steps = fs
        .readFileSync(`${path}/trace`, "utf8")
        .split("\n")
        .flatMap((line) => {
          if (/ write\(1, "ack/.test(line)) return "ack"
          if (/ write\(\d+, "\{\\"(seq|format)/.test(line)) return "write"
          if (/fdatasync.* = 0$/.test(line)) return "flush"
          return /fsync.* = 0$/.test(line) ? "name" : []
        })
      // The directory's own name, then the first append with the file's name, then the others.
      assert.strictEqual(trace, "")
      assert.deepStrictEqual(steps, [
        "name",
        "write",
        "flush",
        "name",
        "ack",
        ...Array.from({ length: 11 }, () => ["write", "flush", "ack"]).flat()
      ])
    }).pipe(Effect.scoped)
  )

  it.live.skipIf(!traceable)(`loses nothing that it acknowledged, wherever it is killed${reason}`, () =>
    Effect.gen(function* () {
      yield* Effect.forEach(
        kills,
        ({ name, strace }) =>
          Effect.gen(function* () {
            const path = yield* Fixture.directory
            const { lines } = yield* appending(path, { durability: "power-loss", count: 10, strace: strace(path) })
            assert.notInclude(lines, "done", name)
            yield* survives(path, lines)
            assert.isFalse(fs.existsSync(`${path}/${runId}.lock`), name)
          }).pipe(Effect.scoped),
        { concurrency: 2, discard: true }
      )
    })
  )

  it.live.skipIf(!traceable)(`says what it does not know when the storage fails, and writes no more${reason}`, () =>
    Effect.gen(function* () {
      const cases = [
        ["write", "ENOSPC", 3, "Full not-applied", true],
        ["write", "EIO", 1, "WriteFailed not-applied", true],
        ["fdatasync", "EIO", 2, "WriteFailed unknown", false],
        ["fsync", "EIO", 1, "WriteFailed unknown", false]
      ] as const
      yield* Effect.forEach(
        cases,
        ([call, error, when, expected, byPath]) =>
          Effect.gen(function* () {
            const path = yield* Fixture.directory
            const strace = broken(call, error, when, byPath ? Fixture.fileOf(path, runId) : undefined)
            const { lines } = yield* appending(path, { durability: "power-loss", count: 6, strace })
            const failed = lines.findIndex((line) => line.startsWith("error"))
            assert.strictEqual(lines[failed], `error ${expected}`, `${call} ${error}`)
            // It does not try again, and it does not go on as if nothing had been.
            const later = lines.slice(failed + 1, -1)
            assert.isNotEmpty(later)
            assert.deepStrictEqual(new Set(later), new Set([`error ${expected.split(" ")[0]} not-applied`]))
            yield* survives(path, lines)
          }).pipe(Effect.scoped),
        { concurrency: 2, discard: true }
      )
    })
  )
})
