/**
 * `RecordReadCases` are what a layer promises to those who read, tail, list and verify.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Record from "./Record.ts"
import {
  append,
  at,
  ended,
  failure,
  read,
  received,
  refused,
  same,
  seqs,
  started,
  tail,
  type Case
} from "./RecordCase.ts"

export const cases: ReadonlyArray<Case> = [
  {
    name: "reads from one entry up to another",
    effect: Effect.gen(function* () {
      yield* append("range", 0, started("range"))
      yield* append("range", 1, received("a"), received("b"), received("c"))
      yield* append("range", 4, received("d"))
      const ranges: ReadonlyArray<readonly [{ readonly from?: number; readonly to?: number }, ReadonlyArray<number>]> =
        [
          [{}, [0, 1, 2, 3, 4]],
          [{ from: 2 }, [2, 3, 4]],
          [{ to: 3 }, [0, 1, 2]],
          [{ from: 2, to: 3 }, [2]],
          [{ to: 0 }, []],
          [{ from: 3, to: 3 }, []],
          [{ from: 5 }, []],
          [{ from: 9, to: 99 }, []]
        ]
      for (const [range, expected] of ranges)
        yield* same(JSON.stringify(range), seqs(yield* read("range", range)), expected)
    })
  },
  {
    name: "reads a long run in few chunks",
    effect: Effect.gen(function* () {
      yield* append("long", 0, started("long"))
      for (let seq = 1; seq < 2_000; seq += 100) {
        yield* append("long", seq, ...Array.from({ length: 100 }, (_, i) => received(`${seq + i}`)))
      }
      const record = yield* Record.Record
      const chunks = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.chunks(record.read("long"))))
      yield* same(
        "the entries",
        chunks.flatMap((chunk) => seqs(Chunk.toReadonlyArray(chunk))),
        Array.from({ length: 2_001 }, (_, i) => i)
      )
      yield* same("that chunks hold more than an entry", chunks.length < 100, true)
    })
  },
  {
    name: "tails what is there, then what comes, up to the run's end",
    effect: Effect.gen(function* () {
      const record = yield* Record.Record
      yield* append("tail", 0, started("tail"), received("a"))
      const seen: Array<number> = []
      const past = yield* Deferred.make<void>()
      const live = yield* Effect.fork(
        Stream.runForEach(record.tail("tail"), ({ seq }) => {
          seen.push(seq)
          return seq === 1 ? Deferred.succeed(past, undefined) : Effect.void
        })
      )
      yield* Deferred.await(past)
      yield* append("tail", 2, received("b"))
      yield* append("tail", 3, received("c"), ended)
      yield* Fiber.join(live)
      yield* same("the entries", seen, [0, 1, 2, 3, 4])
    })
  },
  {
    name: "loses no entry between the past and the live, for any reader",
    effect: Effect.gen(function* () {
      yield* append("gap", 0, started("gap"))
      const readers = yield* Effect.forEach([0, 1, 7, 30, 31, 40], (from) => Effect.fork(tail("gap", { from })))
      for (let seq = 1; seq < 40; seq++) {
        yield* append("gap", seq, seq === 39 ? ended : received(`${seq}`))
        if (seq % 7 === 0) yield* Effect.yieldNow()
      }
      const all = Array.from({ length: 40 }, (_, i) => i)
      yield* same(
        "the entries",
        (yield* Fiber.join(Fiber.all(readers))).map(seqs),
        [0, 1, 7, 30, 31, 40].map((from) => all.slice(from))
      )
    })
  },
  {
    name: "tails a run that has ended",
    effect: Effect.gen(function* () {
      yield* append("over", 0, started("over"), ended)
      yield* same("the entries", seqs(yield* tail("over")), [0, 1])
      yield* same("the entries", seqs(yield* tail("over", { from: 2 })), [])
    })
  },
  {
    name: "lists what each run is",
    effect: Effect.gen(function* () {
      yield* append("list-a", 0, started("list-a")).pipe(at(1_000))
      yield* append("list-a", 1, received("a"), ended).pipe(at(2_000))
      yield* append("list-b", 0, { ...started("list-b"), input: "x".repeat(100_000) }).pipe(at(3_000))
      const { list } = yield* Record.Record
      const { runs } = yield* list({ limit: 1_000 })
      yield* same(
        "the runs",
        runs.filter(({ runId }) => runId.startsWith("list-")),
        [
          { runId: "list-b", agent: "clerk", input: "x".repeat(100_000), startedAt: 3_000, lastAt: 3_000, entries: 1 },
          {
            runId: "list-a",
            agent: "clerk",
            input: "Which zone?",
            startedAt: 1_000,
            lastAt: 2_000,
            entries: 3,
            status: "answered"
          }
        ]
      )
    })
  },
  {
    name: "lists newest first, every run on one page, whatever is added meanwhile",
    effect: Effect.gen(function* () {
      for (const [i, id] of ["page-c", "page-a", "page-b", "page-d", "page-e"].entries()) {
        yield* append(id, 0, started(id)).pipe(at(i < 3 ? 900_000 : 900_001))
      }
      const { list } = yield* Record.Record
      const listed: Array<string> = []
      let cursor: string | undefined
      do {
        const page: { readonly runs: ReadonlyArray<Record.RunSummary>; readonly cursor?: string } = yield* list(
          cursor === undefined ? { limit: 2 } : { limit: 2, cursor }
        )
        listed.push(...page.runs.map(({ runId }) => runId))
        yield* same("the size of a page", page.runs.length === 2 || page.cursor === undefined, true)
        cursor = page.cursor
        if (listed.length === 2) yield* append("page-z", 0, started("page-z")).pipe(at(900_002))
      } while (cursor !== undefined)
      yield* same(
        "the runs",
        listed.filter((id) => id.startsWith("page-")),
        ["page-d", "page-e", "page-a", "page-b", "page-c"]
      )
      yield* same("that none is twice", new Set(listed).size, listed.length)
    })
  },
  {
    name: "refuses a limit and a cursor that are none",
    effect: Effect.gen(function* () {
      const { list } = yield* Record.Record
      for (const limit of [0, -1, 1.5, Number.NaN]) yield* refused("limit", list({ limit }), "InvalidInput")
      for (const cursor of ["", "x", "1", "1.", "1.A", "-1.a", "1e3.a", "01.a", "1.a\n"]) {
        yield* refused("cursor", list({ cursor }), "InvalidInput")
      }
    })
  },
  {
    name: "gives entries that verify, and whose changes show",
    effect: Effect.gen(function* () {
      yield* append("proof", 0, started("proof"), received("a"))
      const last = yield* append("proof", 2, received("b"), ended)
      const entries = yield* read("proof")
      const verified = yield* Record.verify(entries)
      yield* same(
        "the proof",
        [verified.runId, verified.entries, verified.hash, verified.notice?._tag],
        ["proof", 4, last.hash, "TailNotProvable"]
      )
      yield* same("the proof with an anchor", (yield* Record.verify(entries, { anchor: last })).notice, undefined)
      const cut = yield* failure(Record.verify(entries.slice(0, 3), { anchor: last }))
      yield* same("the missing tail", [cut.kind, cut.seq, cut.lastGood], ["tail", 3, 2])
      const changed = entries.map((entry) => (entry.seq === 1 ? { ...entry, event: received("A") } : entry))
      const error = yield* failure(Record.verify(changed))
      yield* same("the changed entry", [error.kind, error.seq, error.firstGood, error.lastGood], ["hash", 1, 0, 0])
    })
  }
]
