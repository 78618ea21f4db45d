/**
 * A `Corruption` is one trial: a run is written, changed where it is stored, and read. What has to be found is worked out
 * from the bytes before and after, and from nothing that reads records.
 */
import { Effect, Either, Stream } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type * as Event from "../../src/kernel/Event.ts"
import * as Checkpoint from "../../src/services/Checkpoint.ts"
import * as Clock from "../../src/services/Clock.ts"
import * as Record from "../../src/services/Record.ts"
import { called, ended, received, started } from "../../src/services/RecordSuite.ts"
import * as Signer from "../../src/services/Signer.ts"
import { type Chance, chance, ofBytes, ofRows, relink, type Rows } from "./Corruptor.ts"

const words = ["zone", "ä€😀", "\u0000\u2028", "line\nline", '"', "\\", "12.50", ""]

/** The appends of a run, each of some events. */
const appends = (runId: string, next: Chance): ReadonlyArray<ReadonlyArray<Event.Event>> => {
  const event = (): Event.Event =>
    next(2) === 0
      ? received(words[next(words.length)] ?? "")
      : called(1 + next(9), { n: next(1e6), x: next(1e6) / 7, deep: { of: [null, true, words[next(words.length)]] } })
  const batches = Array.from({ length: 1 + next(5) }, () => Array.from({ length: 1 + next(3) }, event))
  return [[started(runId)], ...batches, ...(next(2) === 0 ? [[ended]] : [])]
}

const opened = <A, E>(directory: string, use: (record: Record.Record["Type"]) => Effect.Effect<A, E>) =>
  Effect.provide(Effect.flatMap(Record.Record, use), Record.layerFile({ directory, durability: "process-crash" }))

/** What the rows say, by the words of the format alone. */
const saidBy = (runId: string, rows: Rows) => {
  let seq = 0
  return rows.flatMap((text) => {
    const { at, events } = JSON.parse(text)
    return events.map((event: unknown) => JSON.stringify({ runId, seq: seq++, at, event }))
  }) as ReadonlyArray<string>
}
const told = ({ at, event, runId, seq }: Event.Entry) => JSON.stringify({ runId, seq, at, event })

const list = (faults: { readonly [name: string]: unknown }) => Object.keys(faults)
const anew = ["one event written anew with its hash", "all from an event on written anew"]
// What is written anew is often cut or changed afterwards, and would be rare alone.
const ops = [...list(ofRows), ...list(ofBytes), ...anew, ...anew, ...anew]

/** Counts by class, or what is wrong. */
const trial = (directory: string, seed: number, { key, verifier }: Effect.Effect.Success<typeof keys>) =>
  Effect.gen(function* () {
    const next = chance(seed)
    const runId = "run-a"
    const file = (id: string) => join(directory, `${id}.ndjson`)
    for (const id of [runId, "run-b"]) {
      rmSync(file(id), { force: true })
      yield* opened(directory, (record) =>
        Effect.gen(function* () {
          let seq = 0
          for (const events of appends(id, next)) seq = (yield* record.append(id, seq, events)).seq + 1
        })
      )
    }
    const rowsOf = (id: string): Rows => readFileSync(file(id), "utf8").split("\n").slice(0, -1)
    const good = readFileSync(file(runId))
    const original = rowsOf(runId)
    const other = rowsOf("run-b")

    const reading = yield* Record.fromText(good)
    const signed = 1 + next(reading.entries.length)
    const point = yield* Checkpoint.make(reading.entries.slice(0, signed))
    const anchor = yield* Effect.flatMap(Effect.provide(Checkpoint.signAll([point]), Signer.layer(key)), (text) =>
      Checkpoint.open(text, verifier)
    )
    const alarms: Array<string> = []
    const clean = yield* Effect.either(Checkpoint.verify(reading.entries, anchor))
    if (Either.isLeft(clean) || clean.right.proven !== signed || reading.bytesDropped !== 0) alarms.push("false alarm")
    if (JSON.stringify(reading.entries.map(told)) !== JSON.stringify(saidBy(runId, original)))
      alarms.push("clean: other entries")

    const faults = Array.from({ length: 1 + next(3) }, () => ops[next(ops.length)] ?? "")
    const forged = faults.find((name) => name.includes("anew"))
    let base = original
    let rewritten = Infinity
    let rows = original
    if (forged !== undefined) {
      const at = next(original.length)
      base = relink(runId, original, (row, index) => {
        if (index === 0 && at === 0) Object.assign(row.events[0] ?? {}, { input: "forged" })
        else if (index === at) row.events[row.events.length - 1] = received("forged")
      })
      rewritten = saidBy(runId, base.slice(0, at + 1)).length - 1
      rows = forged.startsWith("one") ? [...base.slice(0, at + 1), ...original.slice(at + 1)] : base
    }
    let bytes = Buffer.from(rows.map((row) => `${row}\n`).join(""))
    for (const name of faults) {
      const onBytes = ofBytes[name]
      const onRows = ofRows[name]
      if (bytes.length === 0) continue
      if (onBytes !== undefined) bytes = Buffer.from(onBytes(bytes, next, other))
      if (onRows !== undefined) {
        const lines = bytes.toString("latin1").split("\n")
        const latin = other.map((row) => Buffer.from(row).toString("latin1"))
        const rest = lines.pop() ?? ""
        if (lines.length === 0) continue
        bytes = Buffer.from(
          onRows(lines, next, latin)
            .map((row) => `${row}\n`)
            .join("") + rest,
          "latin1"
        )
      }
    }

    // What has to be found: the first line that is not as it has to be.
    let whole = 0
    let offset = 0
    for (const row of base) {
      const line = Buffer.from(`${row}\n`)
      if (!bytes.subarray(offset, offset + line.length).equals(line)) break
      offset += line.length
      whole++
    }
    const rest = bytes.subarray(offset)
    const truth = saidBy(runId, base)
    const seq = saidBy(runId, base.slice(0, whole)).length
    const wrong = (what: string) => ({ seed, fault: faults.join("+"), what })

    writeFileSync(file(runId), bytes)
    const read = yield* Effect.either(Record.fromText(bytes))
    const entries: Array<Event.Entry> = []
    const layered = yield* Effect.either(
      opened(directory, (record) =>
        Stream.runForEach(record.read(runId), (entry) => Effect.sync(() => entries.push(entry)))
      )
    )
    if (alarms.length > 0) return wrong(alarms.join())
    if (entries.some((entry, index) => told(entry) !== truth[index])) return wrong("the layer gave wrong entries")
    if (entries.length !== seq) return wrong(`the layer gave ${entries.length} entries, not ${seq}`)

    if (Either.isLeft(read)) {
      if (whole > 0 && rest.length === 0) return wrong("a false alarm")
      if (read.left.reason !== "Corrupt" && read.left.reason !== "UnsupportedFormat") return wrong(read.left.reason)
      if (Either.isRight(layered)) return wrong("the layer does not find it")
      if (layered.left.reason === "Corrupt" && layered.left.seq !== seq) return wrong("the layer finds it elsewhere")
      // Without the name of its file it is the other run, and is damaged where that one is.
      if (whole === 0 && read.left.runId === "run-b") return "another run in its place: found by its id"
      if (read.left.seq !== seq) return wrong(`found at ${read.left.seq}, not ${seq}`)
      return "in place: found and located"
    }
    if (read.right.runId !== runId) {
      if (Either.isRight(layered) || whole > 0) return wrong("another run is taken for this one")
      return "another run in its place: found by its id"
    }
    if (JSON.stringify(read.right.entries.map(told)) !== JSON.stringify(truth.slice(0, seq)))
      return wrong("wrong entries given")
    if (rest.includes(0x0a)) return wrong("not found")
    if (read.right.bytesDropped !== rest.length) return wrong("a torn tail that is not told")
    if (Either.isLeft(layered)) return wrong("the layer does not give what is whole")
    const plain = yield* Effect.either(Record.verify(read.right.entries))
    if (Either.isLeft(plain)) return wrong("an alarm about what follows")
    if (plain.right.notice?._tag !== "TailNotProvable") return wrong("no word of what cannot be seen")

    const proof = yield* Effect.either(Checkpoint.verify(read.right.entries, anchor))
    const expected = seq < signed ? "tail" : rewritten < signed ? "rewritten" : undefined
    if (expected === undefined) {
      if (Either.isLeft(proof) || proof.right.proven !== signed) return wrong("an alarm about what was signed")
      if (rest.length > 0) return "torn tail: told"
      return seq === truth.length && rewritten === Infinity
        ? "unchanged: no alarm"
        : "cut or written anew behind the anchor: said to be unprovable"
    }
    if (Either.isRight(proof) || proof.left._tag !== "HistoryAltered")
      return wrong(`the anchor does not find ${expected}`)
    if (proof.left.kind !== expected || proof.left.seq !== (expected === "tail" ? seq : signed - 1)) {
      return wrong(`the anchor finds ${proof.left.kind} at ${proof.left.seq}`)
    }
    return expected === "tail" ? "tail cut: found by the anchor" : "written anew: found by the anchor"
  })

const keys = Signer.generate("example.org/agents")

export const run = async (trials: number, seed: number) => {
  const directory = mkdtempSync(join(tmpdir(), "corruption-"))
  const counts: { [name: string]: number } = { "clean checks": 0 }
  const failures: Array<{ readonly seed: number; readonly fault: string }> = []
  try {
    const pair = await Effect.runPromise(keys)
    for (let one = seed; one < seed + trials; one++) {
      const found = await Effect.runPromise(
        Effect.provide(trial(directory, one, pair), Clock.layerTicking({ start: 1_000, step: 7 }))
      )
      counts["clean checks"]! += 1
      if (typeof found === "string") counts[found] = (counts[found] ?? 0) + 1
      else failures.push({ seed: found.seed, fault: `${found.fault} (${found.what})` })
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return { counts, failures }
}
