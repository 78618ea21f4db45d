import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Fiber, Logger, LogLevel, Stream, TestClock } from "effect"
import { spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as Record from "../../src/services/Record.ts"
import { failure } from "../../src/services/RecordError.ts"
import * as RecordLock from "../../src/services/RecordLock.ts"
import { ended, received, started } from "../../src/services/RecordSuite.ts"
import * as Wakeup from "../../src/services/Wakeup.ts"
import * as Fixture from "./RecordFixture.ts"

const { appends, collect, fileOf, open, readable } = Fixture

/** Opens the record, and gathers what it repairs. */
const repairing = <A, E>(path: string, use: (record: Record.Record["Type"]) => Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const recovered: Array<Record.RecoveredTail> = []
    const result = yield* open(path, use, { onRecovered: (tail) => Effect.sync(() => recovered.push(tail)) })
    return { recovered, result }
  })

const openFiles = () =>
  fs.readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).endsWith(".ndjson")
    } catch {
      return false
    }
  }).length

describe("RecordFile", () => {
  it.scoped("repairs an append that was cut short at any byte, before the next one, and says so", () =>
    Effect.gen(function* () {
      const good = yield* Fixture.bytes("run-1")
      const entries = (yield* Record.fromText(good)).entries
      const ends = [...good.entries()].filter(([, byte]) => byte === 0x0a).map(([i]) => i + 1)
      for (const [line, begin] of [
        [4, ends[3]!],
        [2, ends[1]!],
        [0, 0]
      ] as const) {
        const end = ends[line]!
        const seq = [0, 1, 2, 5, 6][line]!
        for (let cut = begin; cut < end; cut += line === 4 ? 1 : 7) {
          // Cut off, and cut off with the length kept, as some file systems leave it.
          for (const padding of cut % 8 === 0 ? [0, end - cut, 4_096] : [0]) {
            const torn = Buffer.concat([good.subarray(0, cut), Buffer.alloc(padding)])
            const path = yield* Fixture.holding("run-1", torn)
            yield* TestClock.setTime(1_000 * (line + 1))
            const { recovered, result } = yield* repairing(path, (record) =>
              Effect.gen(function* () {
                if (seq > 0) assert.deepStrictEqual(yield* collect(record.read("run-1")), entries.slice(0, seq))
                else assert.strictEqual((yield* readable(record.read("run-1"))).error.reason, "RunNotFound")
                assert.isTrue(fs.readFileSync(fileOf(path, "run-1")).equals(torn))
                assert.lengthOf((yield* record.list()).runs, seq === 0 ? 0 : 1)
                return yield* record.append("run-1", seq, appends("run-1")[line]!)
              })
            )
            assert.strictEqual(result.hash, entries[result.seq]?.hash)
            assert.isTrue(fs.readFileSync(fileOf(path, "run-1")).equals(good.subarray(0, end)), `cut at ${cut}`)
            const bytesDropped = cut - begin + padding
            assert.deepStrictEqual(
              recovered.map(({ bytesDropped, lastSeq, runId }) => [runId, bytesDropped, lastSeq]),
              bytesDropped === 0 ? [] : [["run-1", bytesDropped, seq === 0 ? undefined : seq - 1]]
            )
          }
        }
      }
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None))
  )

  it.scoped("says in the log what it repaired, and what that means at its durability", () =>
    Effect.gen(function* () {
      const logged: Array<string> = []
      const logger = Logger.make(({ message }) => logged.push(`${String(message)}`))
      for (const durability of ["power-loss", "process-crash"] as const) {
        const path = yield* Fixture.holding("run-1", (yield* Fixture.bytes("run-1")).subarray(0, -5))
        yield* open(path, (record) => record.append("run-1", 6, [ended]), { durability }).pipe(
          Effect.provide(Logger.replace(Logger.defaultLogger, logger))
        )
      }
      assert.lengthOf(logged, 2)
      assert.match(
        logged[0]!,
        /^An append was cut short\. It had not been acknowledged.* bytes were removed .*"run-1"\.$/
      )
      assert.match(logged[1]!, /a loss of power may take acknowledged appends/)
    })
  )

  it.scoped("neither reads nor repairs a file that was cut elsewhere", () =>
    Effect.gen(function* () {
      const good = yield* Fixture.bytes("run-1")
      // The last line feed is another byte: that is no append that was cut short.
      for (const bad of [
        Buffer.concat([good.subarray(0, -1), Buffer.from("x")]),
        Buffer.concat([good, Buffer.from("{}")])
      ]) {
        const path = yield* Fixture.holding("run-1", bad)
        yield* open(path, (record) =>
          Effect.gen(function* () {
            for (const seq of [6, 7]) {
              const error = yield* Effect.flip(record.append("run-1", seq, [received("more")]))
              assert.include(["Corrupt", "RecordConflict"], error._tag === "RecordError" ? error.reason : error._tag)
            }
            assert.strictEqual((yield* readable(record.read("run-1"))).error.reason, "Corrupt")
          })
        )
        assert.isTrue(fs.readFileSync(fileOf(path, "run-1")).equals(bad))
      }
    })
  )

  it.scoped("goes on where another process stopped, and conflicts where one went on", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      yield* open(path, (one) =>
        open(path, (two) =>
          Effect.gen(function* () {
            yield* one.append("shared", 0, [started("shared")])
            yield* two.append("shared", 1, [received("two")])
            const conflict = yield* Effect.flip(one.append("shared", 1, [received("one")]))
            assert.deepInclude(conflict, { _tag: "RecordConflict", expectedSeq: 1, actualSeq: 2 })
            yield* one.append("shared", 2, [received("one"), received("again")])
            yield* two.append("shared", 4, [ended])
            assert.deepStrictEqual(
              (yield* collect(one.read("shared"))).map(({ seq }) => seq),
              [0, 1, 2, 3, 4]
            )
          })
        )
      )
    })
  )

  it.live("shows no reader what is not acknowledged", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      yield* open(
        path,
        (record) =>
          Effect.gen(function* () {
            yield* record.append("early", 0, [started("early")])
            const size = () => fs.statSync(fileOf(path, "early")).size
            const before = size()
            const append = yield* Effect.fork(record.append("early", 1, [received("a")]))
            // It is written, and its flush cannot end before the event loop turns.
            while (size() === before) yield* Effect.yieldNow()
            assert.lengthOf(yield* collect(record.read("early")), 1)
            yield* Fiber.join(append)
            assert.lengthOf(yield* collect(record.read("early")), 2)
          }),
        { durability: "power-loss" }
      )
    }).pipe(Effect.scoped)
  )

  it.live("tails what this process appends, without waiting to look for it", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      yield* open(path, (record) =>
        Effect.gen(function* () {
          yield* record.append("near", 0, [started("near")])
          const seen: Array<number> = []
          const tail = yield* Effect.fork(
            Stream.runForEach(record.tail("near"), ({ seq }) => Effect.sync(() => seen.push(seq)))
          )
          for (let seq = 1; seq < 4; seq++) {
            // A turn of the event loop is shorter than the time between two looks at the file.
            yield* Effect.repeatN(Wakeup.turn, 9)
            assert.lengthOf(seen, seq)
            yield* record.append("near", seq, [received("a")])
          }
          yield* Fiber.interrupt(tail)
        })
      )
    }).pipe(Effect.scoped)
  )

  it.live("tails what another process appends", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      yield* open(path, (one) =>
        open(path, (two) =>
          Effect.gen(function* () {
            yield* one.append("far", 0, [started("far")])
            const fiber = yield* Effect.fork(collect(two.tail("far")))
            for (let seq = 1; seq < 6; seq++) {
              yield* one.append("far", seq, [seq === 5 ? ended : received(`${seq}`)])
              yield* Effect.yieldNow()
            }
            assert.deepStrictEqual(
              (yield* Fiber.join(fiber)).map(({ seq }) => seq),
              [0, 1, 2, 3, 4, 5]
            )
          })
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("waits for a process that is writing, and breaks the lock of one that died at it", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      const lock = `${path}/run-1.lock`
      yield* open(path, (record) =>
        Effect.gen(function* () {
          yield* record.append("run-1", 0, [started("run-1")])
          assert.isTrue(RecordLock.acquire(lock)._tag === "Right")
          const mine = fs.readlinkSync(lock)
          const waiting = yield* Effect.fork(record.append("run-1", 1, [received("a")]))
          yield* Effect.sleep(30)
          assert.lengthOf(yield* collect(record.read("run-1")), 1)
          RecordLock.release(lock)
          assert.strictEqual((yield* Fiber.join(waiting)).seq, 1)

          // A process that is no more, and one whose number another process has now.
          const { pid } = spawnSync(process.execPath, ["-e", ""])
          const [, , place] = mine.split("-")
          for (const [i, dead] of [`${pid}-1-${place}`, `${process.pid}-1-${place}`].entries()) {
            fs.symlinkSync(dead, lock)
            // Whoever broke it may have died at that, too.
            if (i === 1) fs.symlinkSync(dead, `${lock}.break`)
            assert.strictEqual((yield* record.append("run-1", 2 + i, [received("b")])).seq, 2 + i)
            assert.deepStrictEqual(fs.readdirSync(path), ["run-1.ndjson"])
          }

          // One of another machine, which nobody can ask.
          fs.symlinkSync(`${pid}-1-0123456789abcdef`, lock)
          assert.isFalse(yield* RecordLock.acquire(lock))
          fs.lutimesSync(lock, 1, 1)
          assert.strictEqual((yield* record.append("run-1", 4, [received("c")])).seq, 4)
        })
      )
    }).pipe(Effect.scoped)
  )

  it.scoped("does not trust a file that was changed under its hands", () =>
    Effect.gen(function* () {
      const good = yield* Fixture.bytes("run-1")
      const changes: ReadonlyArray<(file: string) => void> = [
        (file) => fs.truncateSync(file, good.length - 20),
        (file) => fs.rmSync(file),
        (file) => {
          fs.writeFileSync(`${file}.new`, good)
          fs.renameSync(`${file}.new`, file)
        }
      ]
      for (const change of changes) {
        const path = yield* Fixture.directory
        yield* open(path, (record) =>
          Effect.gen(function* () {
            const anchors = yield* Fixture.write(record, "run-1")
            yield* record.append("run-1", 7, [received("a")])
            change(fileOf(path, "run-1"))
            for (let i = 0; i < 2; i++) {
              const error = yield* Effect.flip(record.append("run-1", 8, [received("b")]))
              assert.deepInclude(error, { _tag: "RecordError", reason: "Corrupt", outcome: "not-applied" })
            }
            assert.strictEqual(anchors.length, 5)
          })
        )
      }
    })
  )

  it.scoped("never follows a name out of its directory", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      const elsewhere = `${path}/elsewhere`
      fs.writeFileSync(elsewhere, "")
      fs.mkdirSync(`${path}/record`)
      fs.symlinkSync(elsewhere, fileOf(`${path}/record`, "run-1"))
      yield* open(`${path}/record`, (record) =>
        Effect.gen(function* () {
          const error = yield* Effect.flip(record.append("run-1", 0, [started("run-1")]))
          assert.deepInclude(error, { _tag: "RecordError", reason: "Unavailable", retry: "after-human" })
          assert.strictEqual((yield* readable(record.read("run-1"))).error.reason, "Unavailable")
        })
      )
      assert.strictEqual(fs.readFileSync(elsewhere, "utf8"), "")
    })
  )

  it.scoped("makes its directory and its files for their owner alone", () =>
    Effect.gen(function* () {
      const path = `${yield* Fixture.directory}/a/b`
      yield* open(path, (record) => Fixture.write(record, "run-1"), { durability: "power-loss" })
      assert.deepStrictEqual(
        [fs.statSync(path), fs.statSync(fileOf(path, "run-1"))].map(({ mode }) => mode & 0o777),
        [0o700, 0o600]
      )
      const error = yield* Effect.flip(open(fileOf(path, "run-1"), () => Effect.void))
      assert.deepInclude(error, { reason: "Unavailable", found: "ENOTDIR" })
    })
  )

  it.scoped("makes nothing as long as it is only read", () =>
    Effect.gen(function* () {
      const path = `${yield* Fixture.directory}/none`
      yield* open(path, (record) =>
        Effect.gen(function* () {
          assert.deepStrictEqual(yield* record.list(), { runs: [] })
          assert.strictEqual((yield* readable(record.read("run-1"))).error.reason, "RunNotFound")
          assert.strictEqual((yield* readable(record.tail("run-1"))).error.reason, "RunNotFound")
        })
      )
      assert.isFalse(fs.existsSync(path))
    })
  )

  it.scoped("keeps few files open, however many runs are written", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      const before = openFiles()
      yield* open(path, (record) =>
        Effect.gen(function* () {
          const ids = Array.from({ length: 300 }, (_, i) => `run-${i}`)
          for (const seq of [0, 1, 2]) {
            yield* Effect.forEach(ids, (id) => record.append(id, seq, [seq === 0 ? started(id) : received("a")]), {
              concurrency: 16
            })
            assert.isAtMost(openFiles() - before, 128)
          }
          for (const id of ids) assert.lengthOf(yield* collect(record.read(id)), 3)
          for (const id of ids) yield* record.append(id, 3, [ended])
          assert.strictEqual(openFiles(), before)
        })
      )
    })
  )

  it.scoped("lists from the ends of the files, and leaves out what it cannot read, not without a word", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      const logged: Array<string> = []
      yield* open(path, (record) =>
        Effect.gen(function* () {
          for (const id of ["run-1", "run-2", "run-3"]) yield* Fixture.write(record, id)
          fs.writeFileSync(`${path}/notes.txt`, "")
          fs.writeFileSync(`${path}/Not-A-Run.ndjson`, "")
          fs.writeFileSync(fileOf(path, "empty"), "")
          fs.mkdirSync(fileOf(path, "folder"))
          // The middle is not looked at.
          const bytes = fs.readFileSync(fileOf(path, "run-2"))
          bytes.fill(0, bytes.length >> 1, (bytes.length >> 1) + 40)
          fs.writeFileSync(fileOf(path, "run-2"), bytes)
          fs.writeFileSync(fileOf(path, "run-3"), "not a run\n")
          const { runs } = yield* record.list()
          assert.deepStrictEqual(
            runs.map(({ entries, runId, status }) => [runId, entries, status]),
            [
              ["run-1", 7, "answered"],
              ["run-2", 7, "answered"]
            ]
          )
        })
      ).pipe(
        Effect.provide(
          Logger.replace(
            Logger.defaultLogger,
            Logger.make(({ message }) => logged.push(String(message)))
          )
        )
      )
      assert.deepStrictEqual(logged.map((line) => /run "(.*?)"/i.exec(line)?.[1]).sort(), ["folder", "run-3"])
    })
  )

  it.scoped("reads long lines, and a run longer than a block", () =>
    Effect.gen(function* () {
      const path = yield* Fixture.directory
      const long = ["a".repeat(300_000), "ä€😀".repeat(400_000), "b"]
      yield* open(path, (record) =>
        Effect.gen(function* () {
          yield* record.append("long", 0, [started("long")])
          for (const [i, content] of long.entries()) yield* record.append("long", i + 1, [received(content)])
          for (let seq = 4; seq < 1_000; seq++) yield* record.append("long", seq, [received(`${seq}`.repeat(200))])
        })
      )
      yield* open(path, (record) =>
        Effect.gen(function* () {
          const chunks = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.chunks(record.read("long"))))
          const entries = chunks.flatMap((chunk) => [...chunk])
          assert.deepStrictEqual(
            entries.slice(1, 4).map(({ event }) => event),
            long.map(received)
          )
          assert.deepStrictEqual(
            entries.map(({ seq }) => seq),
            Array.from({ length: 1_000 }, (_, i) => i)
          )
          assert.isBelow(chunks.length, 20)
          assert.strictEqual((yield* record.list()).runs[0]?.entries, 1_000)
          yield* record.append("long", 1_000, [ended])
          assert.deepStrictEqual(
            (yield* collect(record.read("long", { from: 1_000 }))).map(({ event }) => event),
            [ended]
          )
        })
      )
    })
  )

  it.effect("reads a foreign file, and says what is missing at its end", () =>
    Effect.gen(function* () {
      const good = yield* Fixture.bytes("run-1")
      assert.deepInclude(yield* Record.fromText(good.subarray(0, -9)), {
        runId: "run-1",
        bytesDropped: good.length - 9 - good.subarray(0, -9).lastIndexOf(0x0a) - 1
      })
      for (const text of [
        "",
        "\n",
        "hello",
        "hello\n",
        "{}\n",
        "[]\n",
        "null\n",
        good.toString().slice(0, 30),
        '{"format":1,"runId":"../x"}\n'
      ]) {
        const error = yield* Effect.flip(Record.fromText(text))
        assert.deepInclude(error, { reason: "Corrupt", code: "WF-REC-003", seq: 0 })
      }
      const damaged = good.toString().replace("zone b", "zone c")
      const { entries } = yield* Record.fromText(damaged, { to: 2 })
      assert.lengthOf(entries, 2)
      assert.strictEqual((yield* Effect.flip(Record.fromText(damaged, { to: 3 }))).seq, 2)
    })
  )

  it("says of each reason whether to try again, in a line that can be printed anywhere", () => {
    const said = Record.RecordError.fields.reason.literals.map((reason) =>
      failure(reason, { what: "It\n\u001b[31mfailed." })
    )
    assert.deepStrictEqual(
      said.map(({ code, isRetryable, reason }) => `${code} ${reason} ${isRetryable}`),
      [
        "WF-REC-001 InvalidRunId false",
        "WF-REC-002 RunNotFound false",
        "WF-REC-003 Corrupt false",
        "WF-REC-004 UnsupportedFormat false",
        "WF-REC-005 WriteFailed false",
        "WF-REC-006 Full false",
        "WF-REC-007 Unavailable true",
        "WF-REC-008 TooLarge false",
        "WF-REC-009 InvalidInput false"
      ]
    )
    for (const { message } of said) assert.notMatch(message, /[\n\u001b]/)
  })
})
