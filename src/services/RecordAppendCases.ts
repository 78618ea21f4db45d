/**
 * `RecordAppendCases` are what a layer promises to those who append.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as Digest from "../kernel/Digest.ts"
import type * as Event from "../kernel/Event.ts"
import * as Record from "./Record.ts"
import {
  append,
  at,
  called,
  ended,
  events,
  failure,
  read,
  received,
  refused,
  same,
  seqs,
  started,
  type Case
} from "./RecordCase.ts"

/** The hashes of a run as the format says that they are, worked out the slow way. */
const hashes = (runId: string, at: number, given: ReadonlyArray<Event.Event>): ReadonlyArray<string> => {
  let before = Digest.of(`wherefore.record/1\n${runId}`)
  return given.map((event, seq) => (before = Digest.of(`${before}\n${seq}\n${at}\n${JSON.stringify(event)}`)))
}

const badRunIds = [
  "",
  "A",
  "-a",
  "_a",
  "a b",
  "a/b",
  "../a",
  "..",
  ".",
  "a.b",
  "a\\b",
  "a\0",
  "ä",
  "a\n",
  "a".repeat(65)
]

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
  '\u0000\u0007\b\t\n\r\u001b[31m\u007f\u0085 "quotes" \\ \\ud800 \\\\udc00 \u2028\u2029 ä€😀 \ufeff\ufffd {"seq":1}\n</script>'

export const cases: ReadonlyArray<Case> = [
  {
    name: "gives back what was appended, in order, at the time of the clock, chained by hash",
    effect: Effect.gen(function* () {
      const given = [started("back"), called(1, { n: [1, "a", null, true] }), ended]
      yield* append("back", 0, started("back"))
      const last = yield* append("back", 1, called(1, { n: [1, "a", null, true] }), ended)
      const entries = yield* read("back")
      const chain = hashes("back", 5, given)
      yield* same(
        "the entries",
        entries,
        given.map((event, seq) => ({ runId: "back", seq, at: 5, event, hash: chain[seq] }))
      )
      yield* same("what append returns", last, { seq: 2, hash: chain[2] })
    }).pipe(at(5))
  },
  {
    name: "keeps text exactly, whatever is in it",
    effect: Effect.gen(function* () {
      yield* append("text", 0, { ...started("text"), input: awkward })
      yield* append("text", 1, received(awkward), called(1, { [awkward]: awkward, constructor: 1, 7: 1, 3: 2 }))
      const given = [
        { ...started("text"), input: awkward },
        received(awkward),
        called(1, { [awkward]: awkward, constructor: 1, 7: 1, 3: 2 })
      ]
      yield* same("the events", events(yield* read("text")), given)
    })
  },
  {
    name: "keeps fields that a later version wrote",
    effect: Effect.gen(function* () {
      const later = { ...started("later"), weather: { sun: true }, manifest: { limits: {}, mood: "good" } }
      yield* append("later", 0, later)
      yield* same("the event", events(yield* read("later")), [later])
    })
  },
  {
    name: "keeps the past, whatever the caller does with its values afterwards",
    effect: Effect.gen(function* () {
      const args = { list: [1] }
      yield* append("past", 0, started("past"), called(1, args))
      args.list.push(2)
      yield* same("the event", events(yield* read("past", { from: 1 })), [called(1, { list: [1] })])
    })
  },
  {
    name: "refuses an append elsewhere than at the end, and writes nothing of it",
    effect: Effect.gen(function* () {
      yield* append("end", 0, started("end"), received("a"))
      for (const seq of [0, 1, 3, 9]) {
        const error = yield* failure(append("end", seq, started("end")))
        yield* same(
          "the conflict",
          [error._tag, error._tag === "RecordConflict" && [error.expectedSeq, error.actualSeq]],
          ["RecordConflict", [seq, 2]]
        )
      }
      yield* same("the entries", seqs(yield* read("end")), [0, 1])
      yield* append("end", 2, received("b"))
      yield* same("the entries", seqs(yield* read("end")), [0, 1, 2])
    })
  },
  {
    name: "knows that a run that is not there has no entry before",
    effect: Effect.gen(function* () {
      const error = yield* failure(append("nowhere", 3, received("a")))
      yield* same("the conflict", error._tag === "RecordConflict" && error.actualSeq, 0)
      const record = yield* Record.Record
      yield* refused("a read", Stream.runDrain(record.read("nowhere")), "RunNotFound")
      yield* refused("a tail", Stream.runDrain(record.tail("nowhere")), "RunNotFound")
    })
  },
  {
    name: "appends all events or none",
    effect: Effect.gen(function* () {
      yield* append("all", 0, started("all"))
      yield* refused(
        "a batch with one bad event",
        append("all", 1, received("a"), called(1, { a: undefined }), ended),
        "InvalidInput"
      )
      yield* same("the entries", seqs(yield* read("all")), [0])
      yield* append("all", 1, received("a"), received("b"), received("c"))
      yield* same("the entries", seqs(yield* read("all")), [0, 1, 2, 3])
    })
  },
  {
    name: "refuses an append of nothing",
    effect: Effect.gen(function* () {
      yield* append("nothing", 0, started("nothing"))
      yield* refused("no events", append("nothing", 1), "InvalidInput")
    })
  },
  {
    name: "begins a run with its own start, and with nothing else",
    effect: Effect.gen(function* () {
      yield* refused("another event", append("start", 0, received("a")), "InvalidInput")
      yield* refused("another run's start", append("start", 0, started("other")), "InvalidInput")
      yield* refused("a read", read("start"), "RunNotFound")
    })
  },
  {
    name: "refuses what is no run id, before it names anything",
    effect: Effect.gen(function* () {
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
    effect: Effect.gen(function* () {
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
    effect: Effect.gen(function* () {
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
    effect: Effect.gen(function* () {
      yield* append("event", 0, started("event"))
      const error = yield* failure(append("event", 1, { ...called(1, {}), toolCallId: "" }))
      yield* same(
        "the error",
        [error._tag === "RecordError" && error.reason, error.where],
        ["InvalidInput", "events[0].toolCallId"]
      )
    })
  },
  {
    name: "refuses what nests without end, and what is too large, and goes on",
    effect: Effect.gen(function* () {
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
    name: "lets one of many at the same place win, and tells the others",
    effect: Effect.gen(function* () {
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
    effect: Effect.gen(function* () {
      const ids = Array.from({ length: 20 }, (_, i) => `apart-${i}`)
      yield* Effect.forEach(
        ids,
        (id) =>
          Effect.forEach([0, 1, 2, 3], (seq) => append(id, seq, seq === 0 ? started(id) : received(id)), {
            discard: true
          }),
        { concurrency: "unbounded" }
      )
      for (const id of ids) {
        yield* same("the events", events(yield* read(id)), [started(id), received(id), received(id), received(id)])
      }
    })
  },
  {
    name: "has an interrupted append or has it not, and says which",
    effect: Effect.gen(function* () {
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
      yield* same(
        "the entries",
        seqs(yield* read("stop")),
        Array.from({ length: 61 }, (_, i) => i)
      )
    })
  }
]
