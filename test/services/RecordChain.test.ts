import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import * as FastCheck from "fast-check"
import { readFileSync } from "node:fs"
import * as Digest from "../../src/kernel/Digest.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Record from "../../src/services/Record.ts"
import * as RecordChain from "../../src/services/RecordChain.ts"
import { received, started } from "../../src/services/RecordSuite.ts"
import * as Fixture from "./RecordFixture.ts"

const runId = "run-1"

/** The lines of a file, each with its line feed. */
const linesOf = (text: string) => text.split(/(?<=\n)/)
const said = (line: string) => JSON.parse(line)

/** The first entry of each line, as they stand in the good file. */
const firsts = [0, 1, 2, 5, 6]

/** The same run with other words in it, chained anew from there on: what one can write who knows the format. */
const rechain = (text: string, change: (index: number) => object) => {
  let position = RecordChain.start(runId)
  return linesOf(text)
    .map((line, index) => {
      const { at, events } = { ...said(line), ...change(index) }
      const texts = events.map((event: unknown) => JSON.stringify(event))
      const hash = RecordChain.links(position, at, texts).at(-1) ?? ""
      const written = RecordChain.line(position, at, texts, hash)
      position = { runId, seq: position.seq + texts.length, hash }
      return written
    })
    .join("")
}

const line = (index: number, change: (line: string) => string) => (lines: Array<string>) =>
  lines.map((line, i) => (i === index ? change(line) : line)).join("")

const set = (index: number, change: object) =>
  line(index, (text) => `${JSON.stringify({ ...said(text), ...change })}\n`)

type Operator = readonly [
  name: string,
  change: (lines: Array<string>) => string | Uint8Array,
  seq: number,
  reason?: Record.RecordError["reason"]
]

const encode = (text: string) => Buffer.from(text)
const edited = (bytes: Buffer, at: number, to: ReadonlyArray<number>) => {
  const copy = Buffer.from(bytes)
  for (const [i, byte] of to.entries()) copy[at + i] = byte
  return copy
}

/** The operators of corruption that touch the file of one run. */
const operators: ReadonlyArray<Operator> = [
  ["a byte order mark", (lines) => `\ufeff${lines.join("")}`, 0],
  ["CRLF", (lines) => lines.join("").replaceAll("\n", "\r\n"), 0],
  ["CRLF in one line", line(2, (text) => text.replace("\n", "\r\n")), 2],
  ["a blank line", (lines) => `${lines[0]}\n${lines.slice(1).join("")}`, 1],
  ["a space behind a line", line(3, (text) => text.replace("\n", " \n")), 5],
  ["a space inside", line(1, (text) => text.replace('"seq":1', '"seq": 1')), 1],
  ["another order of keys", line(1, (text) => `${JSON.stringify({ at: said(text).at, ...said(text) })}\n`), 1],
  [
    "an event with another order of keys",
    line(3, (text) => text.replace('"_tag":"Answered","iteration":1', '"iteration":1,"_tag":"Answered"')),
    5
  ],
  ["a key twice", line(1, (text) => text.replace('"seq":1,', '"seq":1,"seq":1,')), 1],
  ["a key twice in an event", line(2, (text) => text.replace('"zone":"a"', '"zone":"a","zone":"a"')), 2],
  ["a key more", set(1, { more: 1 }), 1],
  ["an event without one of its keys", line(2, (text) => text.replace('"toolName":"zone",', "")), 2],
  ["a number in other digits", line(2, (text) => text.replace("2.5", "2.50")), 2],
  ["a number that loses precision", line(2, (text) => text.replace("2.5", "2.50000000000000000001")), 2],
  ["a number beyond all", line(2, (text) => text.replace("2.5", "1e400")), 2],
  ["a letter as an escape", line(1, (text) => text.replace("brief", "\\u0062rief")), 1],
  [
    "bytes that are not UTF-8",
    (lines) => edited(encode(lines.join("")), lines[0]!.length + lines[1]!.indexOf("brief"), [0xff]),
    1
  ],
  [
    "an overlong encoding",
    (lines) => edited(encode(lines.join("")), lines[0]!.length + lines[1]!.indexOf("brief"), [0xc0, 0xaf]),
    1
  ],
  ["a block of NUL", (lines) => edited(encode(lines.join("")), lines[0]!.length + 40, Array(64).fill(0)), 1],
  [
    "two blocks swapped",
    line(2, (text) => text.slice(0, 100) + text.slice(132, 164) + text.slice(100, 132) + text.slice(164)),
    2
  ],
  ["the head cut off", (lines) => lines.join("").slice(10), 0],
  [
    "the middle cut out",
    (lines) => lines[0] + lines[1]!.slice(0, 20) + lines[2]!.slice(20) + lines.slice(3).join(""),
    1
  ],
  ["a line twice", (lines) => lines[0]! + lines[1] + lines[1] + lines.slice(2).join(""), 2],
  ["the last line twice", (lines) => lines.join("") + lines[4], 7],
  ["a line deleted", (lines) => lines[0]! + lines[1] + lines[3] + lines[4], 2],
  ["the first line deleted", (lines) => lines.slice(1).join(""), 0],
  ["a run of lines deleted", (lines) => lines[0]! + lines[4], 1],
  ["two lines swapped", (lines) => lines[0]! + lines[2] + lines[1] + lines.slice(3).join(""), 1],
  ["another sequence number", set(1, { seq: 2 }), 1],
  ["another run id", set(0, { runId: "run-2" }), 0],
  ["another kind", line(3, (text) => text.replace("Answered", "MessageReceived")), 5],
  ["another time", set(3, { at: 4_001 }), 5],
  ["a time in seconds", set(3, { at: 4 }), 5],
  ["other words", line(3, (text) => text.replace("Zone", "zone")), 5],
  ["other words in the middle of a batch", line(2, (text) => text.replace("zone b", "zone c")), 2],
  [
    "an event of a batch deleted",
    line(2, (text) => `${JSON.stringify({ ...said(text), events: said(text).events.slice(1) })}\n`),
    2
  ],
  [
    "two events of a batch swapped",
    line(2, (text) => `${JSON.stringify({ ...said(text), events: said(text).events.toReversed() })}\n`),
    2
  ],
  ["another hash", set(1, { hash: "0".repeat(43) }), 1],
  ["a hash with a prefix", line(1, (text) => text.replace('"hash":"', '"hash":"sha256:')), 1],
  ["a hash in upper case", set(1, { hash: "A".repeat(43) }), 1],
  [
    "the hash of one line worked out anew",
    (lines) => {
      const position = { runId, seq: 1, hash: said(lines[0]!).hash }
      const texts = [JSON.stringify({ ...said(lines[1]!).events[0], text: "Be long." })]
      const hash = RecordChain.links(position, 2_000, texts)[0] ?? ""
      return lines[0] + RecordChain.line(position, 2_000, texts, hash) + lines.slice(2).join("")
    },
    2
  ],
  ["saved by an editor", (lines) => lines.map((text) => JSON.stringify(said(text), null, 2)).join("\n"), 0],
  ["as one list", (lines) => `${JSON.stringify(lines.map(said))}\n`, 0],
  ["no events in a line", set(1, { events: [] }), 1],
  ["text behind the last line", (lines) => `${lines.join("")}# checked`, 7],
  ["another byte for the last line feed", (lines) => `${lines.join("").slice(0, -1)}\v`, 6],
  ["a later format", (lines) => lines.join("").replace('{"format":1', '{"format":2'), 0, "UnsupportedFormat"],
  [
    "a later format of which nothing is known",
    () => '{"format":7,"runId":"run-1","things":{}}\nand what not\n',
    0,
    "UnsupportedFormat"
  ],
  ["no format", (lines) => lines.join("").replace('"format":1,', ""), 0],
  [
    "a later kind of event, chained as it has to be",
    (lines) => rechain(lines.join(""), (i) => (i === 3 ? { events: [{ _tag: "OfALaterVersion", map: "m" }] } : {})),
    5,
    "UnsupportedFormat"
  ],
  [
    "what is no event, chained as it has to be",
    (lines) =>
      rechain(lines.join(""), (i) => (i === 3 ? { events: [{ _tag: "Answered", iteration: 0, content: "" }] } : {})),
    5
  ],
  [
    "a reserved key, chained as it has to be",
    (lines) =>
      rechain(lines.join(""), (i) =>
        i === 1 ? { events: [{ ...JSON.parse('{"__proto__":1}'), ...received("a") }] } : {}
      ).replace('{"_tag":"MessageReceived"', '{"__proto__":{},"_tag":"MessageReceived"'),
    1
  ],
  [
    "nesting without end",
    (lines) =>
      lines[0] +
      lines[1]!.replace('"Be brief: ä€😀.\\n"', "[".repeat(20_000) + "]".repeat(20_000)) +
      lines.slice(2).join(""),
    1
  ],
  [
    "another run's start, chained as it has to be",
    (lines) => rechain(lines.join(""), (i) => (i === 0 ? { events: [started("run-2")] } : {})),
    0
  ]
]

describe("RecordChain", () => {
  it.effect("writes the golden record, to the byte, and reads it", () =>
    Effect.gen(function* () {
      const golden = readFileSync(new URL("./golden/run-1.ndjson", import.meta.url))
      assert.isTrue((yield* Fixture.bytes(runId)).equals(golden))
      const { bytesDropped, entries, hash, runId: owner } = yield* Record.fromText(golden)
      assert.deepStrictEqual(
        entries.map(({ event }) => event),
        Fixture.appends(runId).flat()
      )
      assert.deepStrictEqual(
        entries.map(({ at }) => at),
        [1_000, 2_000, 3_000, 3_000, 3_000, 4_000, 5_000]
      )
      assert.deepInclude({ owner, bytesDropped }, { owner: runId, bytesDropped: 0 })
      assert.deepInclude(yield* Record.verify(entries), { runId, entries: 7, hash })
      assert.deepStrictEqual((yield* Record.fromText(golden.toString())).entries, entries)
    })
  )

  it.effect("hashes as the kernel does, what stands in the file", () =>
    Effect.gen(function* () {
      const text = (yield* Fixture.bytes(runId)).toString()
      let hash = Digest.of(`wherefore.record/1\n${runId}`)
      let seq = 0
      for (const line of linesOf(text)) {
        // The events' own bytes, cut out of the line.
        const { at, events } = said(line)
        for (const event of events) {
          const stored = JSON.stringify(event)
          assert.include(line, stored)
          hash = Digest.of(`${hash}\n${seq++}\n${at}\n${stored}`)
        }
        assert.strictEqual(said(line).hash, hash)
      }
    })
  )

  for (const [name, change, seq, reason = "Corrupt"] of operators) {
    it.effect(`finds ${name}, and says where`, () =>
      Effect.gen(function* () {
        const good = yield* Fixture.bytes(runId)
        const changed = Buffer.from(change(linesOf(good.toString())))
        assert.isFalse(changed.equals(good))
        const path = yield* Fixture.holding(runId, changed)
        const before = (yield* Record.fromText(good)).entries
        yield* Fixture.open(path, (record) =>
          Effect.gen(function* () {
            const { entries, error } = yield* Fixture.readable(record.read(runId))
            assert.deepInclude(error, { reason, seq, runId, outcome: "not-applied", retry: "never" })
            assert.include(error.message, `${seq}`)
            if (error._tag === "RecordError" && reason === "Corrupt") {
              assert.isDefined(error.kind)
              assert.strictEqual(error.lastGood, entries.length === 0 ? undefined : entries.length - 1)
            }
            // What is before the damaged append is given, and nothing else.
            if (!name.includes("anew") && !name.includes("chained")) {
              assert.deepStrictEqual(entries, before.slice(0, entries.length))
            }
            const good = entries.length
            if (good > 0) assert.deepStrictEqual(yield* Fixture.collect(record.read(runId, { to: good })), entries)
            const append = yield* Effect.flip(record.append(runId, 7, [received("more")]))
            assert.deepInclude(append, { _tag: "RecordError", reason, seq })
          })
        )
        assert.isTrue(readFileSync(Fixture.fileOf(path, runId)).equals(changed))
        const foreign = yield* Effect.flip(Record.fromText(changed))
        if (foreign.what !== "This is no record of a run.") assert.include([reason, "Corrupt"], foreign.reason)
      }).pipe(Effect.scoped)
    )
  }

  it.effect("says what kind of damage it is", () =>
    Effect.gen(function* () {
      const lines = linesOf((yield* Fixture.bytes(runId)).toString())
      const kinds: ReadonlyArray<readonly [string, string]> = [
        ["seq", lines[0]! + lines[2]],
        ["seq", lines[0]! + lines[1] + lines[1]],
        ["seq", lines[1]!],
        ["hash", lines.join("").replace("Zone", "zone")],
        ["hash", lines[0] + lines[1]!.replace("2000", "2001")],
        ["format", lines.join("\r")],
        ["run-id", lines.join("").replace('"runId":"run-1"', '"runId":"run-2"')]
      ]
      for (const [kind, text] of kinds) {
        const path = yield* Fixture.holding(runId, text)
        const { error } = yield* Fixture.open(path, (record) => Fixture.readable(record.read(runId)))
        assert.include(error.found, `(${kind})`)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("finds any single flipped bit, in the append that it is in", () =>
    Effect.gen(function* () {
      const good = yield* Fixture.bytes(runId)
      const lines = linesOf(good.toString()).map((line) => Buffer.byteLength(line))
      let offset = 0
      for (const [index, length] of lines.entries()) {
        for (let bit = offset * 8; bit < (offset + length) * 8; bit++) {
          const flipped = Buffer.from(good)
          flipped[bit >> 3]! ^= 1 << (bit & 7)
          const result = yield* Effect.either(Record.fromText(flipped))
          if (Either.isRight(result)) assert.fail(`bit ${bit} is not found`)
          assert.include(["Corrupt", "UnsupportedFormat"], result.left.reason)
          assert.strictEqual(result.left.seq, firsts[index], `bit ${bit}`)
        }
        offset += length
      }
    })
  )

  it.effect("finds a change of any field, however deep", () =>
    Effect.gen(function* () {
      const { entries } = yield* Record.fromText(yield* Fixture.bytes(runId))
      let changes = 0
      const changed = (value: unknown): ReadonlyArray<unknown> => {
        if (Array.isArray(value)) {
          return [[...value, 0], ...value.flatMap((item, i) => changed(item).map((other) => value.with(i, other)))]
        }
        if (typeof value === "object" && value !== null) {
          const keys = Object.entries(value)
          return [
            { ...value, more: 1 },
            ...keys.map(([key]) => Object.fromEntries(keys.filter(([other]) => other !== key))),
            ...keys.flatMap(([key, inner]) => changed(inner).map((other) => ({ ...value, [key]: other })))
          ]
        }
        return [typeof value === "number" ? value + 1 : `${String(value)}x`, null].filter((other) => other !== value)
      }
      for (const [seq, entry] of entries.entries()) {
        for (const event of changed(entry.event)) {
          changes++
          const error = yield* Effect.flip(Record.verify(entries.with(seq, Object.assign({ ...entry }, { event }))))
          assert.deepInclude(error, { kind: "hash", seq })
        }
      }
      assert.isAbove(changes, 100)
    })
  )

  it.effect("never gives wrong entries for good, whatever a few changes make of a file", () =>
    Effect.gen(function* () {
      const good = yield* Fixture.bytes(runId)
      const { entries } = yield* Record.fromText(good)
      const change = FastCheck.tuple(
        FastCheck.nat(good.length - 1),
        FastCheck.nat(64),
        FastCheck.uint8Array({ maxLength: 64 })
      )
      FastCheck.assert(
        FastCheck.property(FastCheck.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
          let bytes: Buffer = good
          for (const [at, removed, added] of changes) {
            bytes = Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)])
          }
          const read = Effect.runSync(Effect.either(Record.fromText(bytes)))
          if (Either.isRight(read))
            assert.deepStrictEqual(read.right.entries, entries.slice(0, read.right.entries.length))
        }),
        { numRuns: 2_000 }
      )
    })
  )

  it.effect("raises no false alarm", () =>
    Effect.sync(() => {
      const text = FastCheck.string({ unit: "binary", maxLength: 40 })
      // What JSON gives back as it is: a record refuses the rest.
      const kept = FastCheck.jsonValue()
        .map((value): unknown => JSON.parse(JSON.stringify(value)))
        .filter((value) => !JSON.stringify(value).includes('"__proto__"'))
      const batches = FastCheck.array(FastCheck.array(FastCheck.tuple(text, kept), { minLength: 1, maxLength: 4 }), {
        maxLength: 6
      })
      FastCheck.assert(
        FastCheck.property(batches, (batches) => {
          const events = batches.map((batch) =>
            batch.map(([content, args]): Event.Event =>
              content.length % 2 === 0
                ? received(content)
                : {
                    _tag: "ToolCalled",
                    iteration: 1,
                    toolCallId: "c",
                    toolName: content,
                    args: JSON.parse(JSON.stringify(args)),
                    replay: "never"
                  }
            )
          )
          const program = Effect.gen(function* () {
            const record = yield* Record.Record
            yield* record.append("clean", 0, [started("clean")])
            let seq = 1
            for (const batch of events) seq = (yield* record.append("clean", seq, batch)).seq + 1
            return yield* Fixture.collect(record.read("clean"))
          })
          const entries = Effect.runSync(Effect.provide(program, Record.layerMemory))
          let position = RecordChain.start("clean")
          const lines = [[started("clean")], ...events].map((batch) => {
            const at = entries[position.seq]?.at ?? 0
            const texts = batch.map((event) => JSON.stringify(event))
            const hash = RecordChain.links(position, at, texts).at(-1) ?? ""
            const line = RecordChain.line(position, at, texts, hash)
            position = { runId: "clean", seq: position.seq + batch.length, hash }
            return line
          })
          const reading = Effect.runSync(Record.fromText(lines.join("")))
          assert.deepStrictEqual(reading.entries, entries)
          assert.deepStrictEqual(
            entries.slice(1).map(({ event }) => event),
            events.flat()
          )
        }),
        { numRuns: 300 }
      )
    })
  )

  it.effect("cannot see a tail that was cut off or written anew, says so, and can with an anchor", () =>
    Effect.gen(function* () {
      const good = (yield* Fixture.bytes(runId)).toString()
      const { entries, hash } = yield* Record.fromText(good)
      const anchor = { seq: 6, hash }
      const shorter = yield* Record.fromText(linesOf(good).slice(0, 3).join(""))
      assert.strictEqual((yield* Record.verify(shorter.entries)).notice?._tag, "TailNotProvable")
      const cut = yield* Effect.flip(Record.verify(shorter.entries, { anchor }))
      assert.deepInclude(cut, { kind: "tail", seq: 5, lastGood: 4 })
      const other = rechain(good, (i) =>
        i === 3 ? { events: [{ _tag: "Answered", iteration: 1, content: "Zone b." }] } : {}
      )
      const rewritten = yield* Record.fromText(other)
      assert.strictEqual((yield* Record.verify(rewritten.entries)).entries, 7)
      assert.deepInclude(yield* Effect.flip(Record.verify(rewritten.entries, { anchor })), { kind: "tail", seq: 6 })
      assert.notProperty(yield* Record.verify(entries, { anchor }), "notice")
    })
  )

  it.effect("names the first entry that does not verify, and why", () =>
    Effect.gen(function* () {
      const { entries } = yield* Record.fromText(yield* Fixture.bytes(runId))
      const other = (yield* Record.fromText(yield* Fixture.bytes("run-2"))).entries
      const holed = { ...received("x"), more: undefined }
      const tampered: ReadonlyArray<readonly [Record.Tampered["kind"], number, ReadonlyArray<Event.Entry>]> = [
        ["seq", 0, []],
        ["seq", 0, entries.slice(1)],
        ["seq", 2, entries.toSpliced(2, 1)],
        ["seq", 3, entries.toSpliced(3, 0, entries[2]!)],
        ["seq", 1, entries.with(1, entries[2]!).with(2, entries[1]!)],
        ["run-id", 3, entries.with(3, other[3]!)],
        ["hash", 3, entries.with(3, { ...other[3]!, runId })],
        ["hash", 4, entries.with(4, { ...entries[4]!, at: 3_001 })],
        ["hash", 4, entries.with(4, { ...entries[4]!, event: received("x") })],
        ["hash", 4, entries.with(4, { ...entries[4]!, hash: "0" })],
        ["format", 4, entries.with(4, { ...entries[4]!, event: holed })]
      ]
      for (const [kind, seq, list] of tampered) {
        const error = yield* Effect.flip(Record.verify(list))
        assert.deepInclude(error, {
          code: "WF-REC-011",
          kind,
          seq,
          ...(seq === 0 ? {} : { firstGood: 0, lastGood: seq - 1 })
        })
      }
    })
  )
})
