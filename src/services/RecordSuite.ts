/**
 * A `RecordSuite` is what every `Record` layer promises, as cases that any test framework can run: a case is an effect that
 * fails if the promise is not kept. All cases can share one layer; each has runs of its own.
 *
 * @since 0.1.0
 */
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Digest from "../kernel/Digest.ts"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as Record from "./Record.ts"

/** A promise that was not kept. */
export class CaseFailed extends Schema.TaggedError<CaseFailed>()("CaseFailed", Problem.fields) {
  override get message(): string {
    return Problem.render(this)
  }
}

type Failure = CaseFailed | Record.RecordError | Record.RecordConflict | Record.Tampered

export interface Case {
  readonly name: string
  readonly effect: Effect.Effect<void, Failure, Record.Record>
}

/** A run's first event. */
export const started = (runId: string): Event.RunStarted => ({
  _tag: "RunStarted",
  runId,
  agent: "clerk",
  manifest: { limits: { passes: 3 } },
  input: "Which zone?"
})

/** A call of a tool. */
export const called = (iteration: number, args: unknown): Event.ToolCalled => ({
  _tag: "ToolCalled",
  iteration,
  toolCallId: `call-${iteration}`,
  toolName: "zone",
  args,
  replay: "pure"
})

/** What the person said more. */
export const received = (content: string): Event.MessageReceived => ({ _tag: "MessageReceived", content })

/** A run's last event. */
export const ended: Event.RunEnded = { _tag: "RunEnded", status: "answered", usage: { inputTokens: 7 }, passes: 1 }

const clip = (value: unknown) => Printable.clip(Printable.line(JSON.stringify(value) ?? "nothing"), 400)

const same = (what: string, found: unknown, expected: unknown): Effect.Effect<void, CaseFailed> =>
  JSON.stringify(found) === JSON.stringify(expected)
    ? Effect.void
    : new CaseFailed({
        code: "WF-REC-020",
        what: `The layer does not keep its promise: ${what}.`,
        expected: clip(expected),
        found: clip(found),
        next: "Correct the layer.",
        outcome: "not-applied",
        retry: "never"
      })

const append = (runId: string, seq: number, ...events: ReadonlyArray<Event.Event>) =>
  Effect.flatMap(Record.Record, (record) => record.append(runId, seq, events))

const read = (runId: string, options?: { readonly from?: number; readonly to?: number }) =>
  Effect.flatMap(Record.Record, (record) => Stream.runCollect(record.read(runId, options))).pipe(
    Effect.map(Chunk.toReadonlyArray)
  )

const tail = (runId: string, options?: { readonly from?: number }) =>
  Effect.flatMap(Record.Record, (record) => Stream.runCollect(record.tail(runId, options))).pipe(
    Effect.map(Chunk.toReadonlyArray)
  )

const seqs = (entries: ReadonlyArray<Event.Entry>) => entries.map(({ seq }) => seq)
const events = (entries: ReadonlyArray<Event.Entry>) => entries.map(({ event }) => event)

/** How an effect that has to fail fails. */
const failure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<E, CaseFailed, R> =>
  Effect.matchEffect(effect, {
    onFailure: Effect.succeed,
    onSuccess: () => Effect.flatMap(same("that this fails", "a success", "a failure"), () => Effect.never)
  })

/** Fails as it has to, with nothing applied, and says what to do next. */
const refused = <A, R>(
  what: string,
  effect: Effect.Effect<A, Record.RecordError | Record.RecordConflict, R>,
  expected: Record.RecordError["reason"] | "RecordConflict"
) =>
  Effect.flatMap(failure(effect), (error) =>
    same(
      what,
      [error._tag === "RecordError" ? error.reason : error._tag, error.outcome, error.next === ""],
      [expected, "not-applied", false]
    )
  )

/** The program's clock, standing still. */
const at = (ms: number) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const real = Clock.make()
  return Effect.withClock(effect, {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => ms,
    currentTimeMillis: Effect.succeed(ms),
    unsafeCurrentTimeNanos: () => BigInt(ms) * 1_000_000n,
    currentTimeNanos: Effect.succeed(BigInt(ms) * 1_000_000n),
    sleep: (duration) => real.sleep(duration)
  })
}

/** The hashes of a run as the format says that they are, worked out the slow way. */
const hashes = (runId: string, at: number, given: ReadonlyArray<Event.Event>): ReadonlyArray<string> => {
  let before = Digest.of(`wherefore.record/1\n${runId}`)
  return given.map((event, seq) => (before = Digest.of(`${before}\n${seq}\n${at}\n${JSON.stringify(event)}`)))
}

const badRunIds = ["", "A", "-a", "_a", "a b", "a/b", "../a", "..", ".", "a.b", "a\\b", "a\0", "ä", "a\n", "a".repeat(65)]

const unfaithful: ReadonlyArray<readonly [name: string, args: unknown, path: string]> = [
  ["nothing", { a: undefined }, "events[0].args.a"],
  ["nothing in a list", [1, undefined], "events[0].args[1]"],
  ["a hole in a list", Array(2), "events[0].args[0]"],
  ["not a number", { n: [Number.NaN] }, "events[0].args.n[0]"],
  ["an infinite number", Number.POSITIVE_INFINITY, "events[0].args"],
  ["negative zero", { n: -0 }, "events[0].args.n"],
  ["a function", { f: () => 1 }, "events[0].args.f"],
  ["a symbol", Symbol("s"), "events[0].args"],
  ["a symbol for a key", { [Symbol("s")]: 1 }, "events[0].args"],
  ["a big integer", { n: 1n }, "events[0].args.n"],
  ["a date", { "the day": new Date(0) }, 'events[0].args["the day"]'],
  ["a map", new Map([["a", 1]]), "events[0].args"],
  ["a value with a form of its own", { toJSON: () => 1 }, "events[0].args.toJSON"],
  ["half a surrogate pair", { a: ["x\ud800y"] }, "events[0].args.a[0]"],
  ["half a surrogate pair in a key", { "\udc00": 1 }, 'events[0].args["\ufffd"]'],
  ["a reserved key", JSON.parse('{"__proto__":{"a":1}}'), "events[0].args.__proto__"]
]

const awkward =
  "\u0000\u0007\b\t\n\r\u001b[31m\u007f\u0085 \"quotes\" \\ \\ud800 \\\\udc00 \u2028\u2029 ä€😀 \ufeff\ufffd {\"seq\":1}\n</script>"

export const cases: ReadonlyArray<Case> = [
  {
    name: "gives back what was appended, in order, at the time of the clock, chained by hash",
    effect: Effect.gen(function*() {
      const given = [started("back"), called(1, { n: [1, "a", null, true] }), ended]
      yield* append("back", 0, started("back"))
      const last = yield* append("back", 1, called(1, { n: [1, "a", null, true] }), ended)
      const entries = yield* read("back")
      const chain = hashes("back", 5, given)
      yield* same("the entries", entries, given.map((event, seq) => ({ runId: "back", seq, at: 5, event, hash: chain[seq] })))
      yield* same("what append returns", last, { seq: 2, hash: chain[2] })
    }).pipe(at(5))
  },
  {
    name: "keeps text exactly, whatever is in it",
    effect: Effect.gen(function*() {
      yield* append("text", 0, { ...started("text"), input: awkward })
      yield* append("text", 1, received(awkward), called(1, { [awkward]: awkward, constructor: 1, 7: 1, 3: 2 }))
      const given = [{ ...started("text"), input: awkward }, received(awkward), called(1, { [awkward]: awkward, constructor: 1, 7: 1, 3: 2 })]
      yield* same("the events", events(yield* read("text")), given)
    })
  },
  {
    name: "keeps fields that a later version wrote",
    effect: Effect.gen(function*() {
      const later = { ...started("later"), weather: { sun: true }, manifest: { limits: {}, mood: "good" } }
      yield* append("later", 0, later)
      yield* same("the event", events(yield* read("later")), [later])
    })
  },
  {
    name: "keeps the past, whatever the caller does with its values afterwards",
    effect: Effect.gen(function*() {
      const args = { list: [1] }
      yield* append("past", 0, started("past"), called(1, args))
      args.list.push(2)
      yield* same("the event", events(yield* read("past", { from: 1 })), [called(1, { list: [1] })])
    })
  },
  {
    name: "refuses an append elsewhere than at the end, and writes nothing of it",
    effect: Effect.gen(function*() {
      yield* append("end", 0, started("end"), received("a"))
      for (const seq of [0, 1, 3, 9]) {
        const error = yield* failure(append("end", seq, started("end")))
        yield* same("the conflict", [error._tag, error._tag === "RecordConflict" && [error.expectedSeq, error.actualSeq]], [
          "RecordConflict",
          [seq, 2]
        ])
      }
      yield* same("the entries", seqs(yield* read("end")), [0, 1])
      yield* append("end", 2, received("b"))
      yield* same("the entries", seqs(yield* read("end")), [0, 1, 2])
    })
  },
  {
    name: "knows that a run that is not there has no entry before",
    effect: Effect.gen(function*() {
      const error = yield* failure(append("nowhere", 3, received("a")))
      yield* same("the conflict", error._tag === "RecordConflict" && error.actualSeq, 0)
      const record = yield* Record.Record
      yield* refused("a read", Stream.runDrain(record.read("nowhere")), "RunNotFound")
      yield* refused("a tail", Stream.runDrain(record.tail("nowhere")), "RunNotFound")
    })
  },
  {
    name: "appends all events or none",
    effect: Effect.gen(function*() {
      yield* append("all", 0, started("all"))
      yield* refused("a batch with one bad event", append("all", 1, received("a"), called(1, { a: undefined }), ended), "InvalidInput")
      yield* same("the entries", seqs(yield* read("all")), [0])
      yield* append("all", 1, received("a"), received("b"), received("c"))
      yield* same("the entries", seqs(yield* read("all")), [0, 1, 2, 3])
    })
  },
  {
    name: "refuses an append of nothing",
    effect: Effect.gen(function*() {
      yield* append("nothing", 0, started("nothing"))
      yield* refused("no events", append("nothing", 1), "InvalidInput")
    })
  },
  {
    name: "begins a run with its own start, and with nothing else",
    effect: Effect.gen(function*() {
      yield* refused("another event", append("start", 0, received("a")), "InvalidInput")
      yield* refused("another run's start", append("start", 0, started("other")), "InvalidInput")
      yield* refused("a read", read("start"), "RunNotFound")
    })
  },
  {
    name: "refuses what is no run id, before it names anything",
    effect: Effect.gen(function*() {
      const record = yield* Record.Record
      for (const id of badRunIds) {
        yield* refused("append", append(id, 0, started("x")), "InvalidRunId")
        yield* refused("read", Stream.runDrain(record.read(id)), "InvalidRunId")
        yield* refused("tail", Stream.runDrain(record.tail(id)), "InvalidRunId")
      }
      for (const id of ["0", "a-b_c", "a".repeat(64)]) yield* append(id, 0, started(id))
    })
  },
  {
    name: "refuses what is no sequence number",
    effect: Effect.gen(function*() {
      const record = yield* Record.Record
      yield* append("number", 0, started("number"))
      for (const seq of [-1, 0.5, Number.NaN, Infinity]) {
        yield* refused("append", append("number", seq, received("a")), "InvalidInput")
        yield* refused("from", read("number", { from: seq }), "InvalidInput")
        yield* refused("to", read("number", { to: seq }), "InvalidInput")
        yield* refused("tail", Stream.runDrain(record.tail("number", { from: seq })), "InvalidInput")
      }
    })
  },
  {
    name: "refuses what JSON would change, and says where it is",
    effect: Effect.gen(function*() {
      yield* append("json", 0, started("json"))
      for (const [name, args, path] of unfaithful) {
        const error = yield* failure(append("json", 1, called(1, args)))
        yield* same(name, [error._tag === "RecordError" && error.reason, error.where], ["InvalidInput", path])
      }
      yield* same("the entries", seqs(yield* read("json")), [0])
    })
  },
  {
    name: "refuses what is no event, and does not repeat it",
    effect: Effect.gen(function*() {
      yield* append("event", 0, started("event"))
      const error = yield* failure(append("event", 1, { ...called(1, {}), toolCallId: "" }))
      yield* same("the error", [error._tag === "RecordError" && error.reason, error.where], ["InvalidInput", "events[0].toolCallId"])
    })
  },
  {
    name: "refuses what nests without end, and what is too large, and goes on",
    effect: Effect.gen(function*() {
      let deep: unknown = 0
      for (let i = 0; i < 5_000; i++) deep = [deep]
      yield* append("large", 0, started("large"))
      yield* refused("nesting", append("large", 1, called(1, deep)), "InvalidInput")
      const half = "x".repeat(9 * 1024 * 1024)
      yield* refused("size", append("large", 1, received(half), received(half)), "TooLarge")
      yield* append("large", 1, received("small"))
      yield* same("the entries", seqs(yield* read("large")), [0, 1])
    })
  },
  {
    name: "reads from one entry up to another",
    effect: Effect.gen(function*() {
      yield* append("range", 0, started("range"))
      yield* append("range", 1, received("a"), received("b"), received("c"))
      yield* append("range", 4, received("d"))
      const ranges: ReadonlyArray<readonly [{ readonly from?: number; readonly to?: number }, ReadonlyArray<number>]> = [
        [{}, [0, 1, 2, 3, 4]],
        [{ from: 2 }, [2, 3, 4]],
        [{ to: 3 }, [0, 1, 2]],
        [{ from: 2, to: 3 }, [2]],
        [{ to: 0 }, []],
        [{ from: 3, to: 3 }, []],
        [{ from: 5 }, []],
        [{ from: 9, to: 99 }, []]
      ]
      for (const [range, expected] of ranges) yield* same(JSON.stringify(range), seqs(yield* read("range", range)), expected)
    })
  },
  {
    name: "reads a long run in few chunks",
    effect: Effect.gen(function*() {
      yield* append("long", 0, started("long"))
      for (let seq = 1; seq < 2_000; seq += 100) {
        yield* append("long", seq, ...Array.from({ length: 100 }, (_, i) => received(`${seq + i}`)))
      }
      const record = yield* Record.Record
      const chunks = Chunk.toReadonlyArray(yield* Stream.runCollect(Stream.chunks(record.read("long"))))
      yield* same("the entries", chunks.flatMap((chunk) => seqs(Chunk.toReadonlyArray(chunk))), Array.from({ length: 2_001 }, (_, i) => i))
      yield* same("that chunks hold more than an entry", chunks.length < 100, true)
    })
  },
  {
    name: "tails what is there, then what comes, up to the run's end",
    effect: Effect.gen(function*() {
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
    effect: Effect.gen(function*() {
      yield* append("gap", 0, started("gap"))
      const readers = yield* Effect.forEach([0, 1, 7, 30, 31, 40], (from) => Effect.fork(tail("gap", { from })))
      for (let seq = 1; seq < 40; seq++) {
        yield* append("gap", seq, seq === 39 ? ended : received(`${seq}`))
        if (seq % 7 === 0) yield* Effect.yieldNow()
      }
      const all = Array.from({ length: 40 }, (_, i) => i)
      yield* same("the entries", (yield* Fiber.join(Fiber.all(readers))).map(seqs), [0, 1, 7, 30, 31, 40].map((from) => all.slice(from)))
    })
  },
  {
    name: "tails a run that has ended",
    effect: Effect.gen(function*() {
      yield* append("over", 0, started("over"), ended)
      yield* same("the entries", seqs(yield* tail("over")), [0, 1])
      yield* same("the entries", seqs(yield* tail("over", { from: 2 })), [])
    })
  },
  {
    name: "lets one of many at the same place win, and tells the others",
    effect: Effect.gen(function*() {
      yield* append("race", 0, started("race"))
      for (let seq = 1; seq <= 5; seq++) {
        const results = yield* Effect.forEach(
          Array.from({ length: 16 }, (_, i) => `${i}`),
          (content) => Effect.either(append("race", seq, received(content))),
          { concurrency: "unbounded" }
        )
        const lost = results.filter((result) => Either.isLeft(result) && result.left._tag === "RecordConflict")
        yield* same("the winners and the losers", [results.filter(Either.isRight).length, lost.length], [1, 15])
      }
      yield* same("the entries", seqs(yield* read("race")), [0, 1, 2, 3, 4, 5])
    })
  },
  {
    name: "keeps runs apart that are written at once",
    effect: Effect.gen(function*() {
      const ids = Array.from({ length: 20 }, (_, i) => `apart-${i}`)
      yield* Effect.forEach(
        ids,
        (id) =>
          Effect.forEach([0, 1, 2, 3], (seq) => append(id, seq, seq === 0 ? started(id) : received(id)), { discard: true }),
        { concurrency: "unbounded" }
      )
      for (const id of ids) {
        yield* same("the events", events(yield* read(id)), [started(id), received(id), received(id), received(id)])
      }
    })
  },
  {
    name: "has an interrupted append or has it not, and says which",
    effect: Effect.gen(function*() {
      yield* append("stop", 0, started("stop"))
      let seq = 1
      for (let round = 0; round < 30; round++) {
        const fiber = yield* Effect.fork(append("stop", seq, received(`${round}`), received("b")))
        for (let i = 0; i < round % 6; i++) yield* Effect.yieldNow()
        const exit = yield* Fiber.interrupt(fiber)
        const before = seqs(yield* read("stop")).length
        if (Exit.isSuccess(exit)) yield* same("what it said was written", before, seq + 2)
        // Asked again, the record tells: a conflict means that it is there.
        const again = yield* Effect.either(append("stop", seq, received(`${round}`), received("b")))
        yield* same("that it was written whole", before, Either.isLeft(again) ? seq + 2 : seq)
        seq += 2
      }
      yield* same("the entries", seqs(yield* read("stop")), Array.from({ length: 61 }, (_, i) => i))
    })
  },
  {
    name: "lists what each run is",
    effect: Effect.gen(function*() {
      yield* append("list-a", 0, started("list-a")).pipe(at(1_000))
      yield* append("list-a", 1, received("a"), ended).pipe(at(2_000))
      yield* append("list-b", 0, { ...started("list-b"), input: "x".repeat(100_000) }).pipe(at(3_000))
      const { list } = yield* Record.Record
      const { runs } = yield* list({ limit: 1_000 })
      yield* same("the runs", runs.filter(({ runId }) => runId.startsWith("list-")), [
        { runId: "list-b", agent: "clerk", input: "x".repeat(100_000), startedAt: 3_000, lastAt: 3_000, entries: 1 },
        { runId: "list-a", agent: "clerk", input: "Which zone?", startedAt: 1_000, lastAt: 2_000, entries: 3, status: "answered" }
      ])
    })
  },
  {
    name: "lists newest first, every run on one page, whatever is added meanwhile",
    effect: Effect.gen(function*() {
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
      yield* same("the runs", listed.filter((id) => id.startsWith("page-")), ["page-d", "page-e", "page-a", "page-b", "page-c"])
      yield* same("that none is twice", new Set(listed).size, listed.length)
    })
  },
  {
    name: "refuses a limit and a cursor that are none",
    effect: Effect.gen(function*() {
      const { list } = yield* Record.Record
      for (const limit of [0, -1, 1.5, Number.NaN]) yield* refused("limit", list({ limit }), "InvalidInput")
      for (const cursor of ["", "x", "1", "1.", "1.A", "-1.a", "1e3.a", "01.a", "1.a\n"]) {
        yield* refused("cursor", list({ cursor }), "InvalidInput")
      }
    })
  },
  {
    name: "gives entries that verify, and whose changes show",
    effect: Effect.gen(function*() {
      yield* append("proof", 0, started("proof"), received("a"))
      const last = yield* append("proof", 2, received("b"), ended)
      const entries = yield* read("proof")
      const verified = yield* Record.verify(entries)
      yield* same("the proof", [verified.runId, verified.entries, verified.hash, verified.notice?._tag], [
        "proof",
        4,
        last.hash,
        "TailNotProvable"
      ])
      yield* same("the proof with an anchor", (yield* Record.verify(entries, { anchor: last })).notice, undefined)
      const cut = yield* failure(Record.verify(entries.slice(0, 3), { anchor: last }))
      yield* same("the missing tail", [cut.kind, cut.seq, cut.lastGood], ["tail", 3, 2])
      const changed = entries.map((entry) => (entry.seq === 1 ? { ...entry, event: received("A") } : entry))
      const error = yield* failure(Record.verify(changed))
      yield* same("the changed entry", [error.kind, error.seq, error.firstGood, error.lastGood], ["hash", 1, 0, 0])
    })
  }
]
