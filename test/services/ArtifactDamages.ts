import { assert } from "@effect/vitest"
import { Effect, Either, FastCheck as fc, Option, Stream } from "effect"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import type { ArtifactStoreError } from "../../src/services/ArtifactStoreError.ts"
import type { Kind, Report } from "../../src/services/ArtifactReport.ts"
import type { Store } from "../../src/services/ArtifactStoreSuite.ts"

export type Part = "bytes" | "ticket"

/** What a test does to a store from behind. */
export interface Behind {
  readonly read: (ref: string, part: Part) => Effect.Effect<Uint8Array | undefined>
  /** Nothing instead of bytes removes the part. */
  readonly write: (ref: string, part: Part, bytes: Uint8Array | undefined) => Effect.Effect<void>
  readonly verify: Effect.Effect<Report, ArtifactStoreError>
}

/** Bytes after the damage, or nothing where there is nothing left. */
type Operator = (bytes: Buffer, at: number, more: number, other: Buffer) => Buffer | undefined

const text =
  (change: (text: string) => string): Operator =>
  (bytes) =>
    Buffer.from(change(bytes.toString("latin1")), "latin1")

const place = (bytes: Buffer, at: number) => (bytes.length === 0 ? 0 : at % bytes.length)

/** A changed copy. */
const changed = (bytes: Buffer, change: (copy: Buffer) => void) => {
  const copy = Buffer.from(bytes)
  change(copy)
  return copy
}

const operators: { readonly [name: string]: Operator } = {
  "a bit flipped": (bytes, at, more) =>
    changed(bytes, (copy) => bytes.length > 0 && (copy[place(bytes, at)]! ^= 1 << (more % 8))),
  "a byte changed": (bytes, at, more) =>
    changed(bytes, (copy) => bytes.length > 0 && copy.set([more % 256], place(bytes, at))),
  "a block of NUL": (bytes, at, more) =>
    changed(bytes, (copy) => copy.subarray(place(bytes, at), place(bytes, at) + (more % 64)).fill(0)),
  "two blocks swapped": (bytes, at) => {
    const size = place(bytes, at) >> 1
    return Buffer.concat([bytes.subarray(size, 2 * size), bytes.subarray(0, size), bytes.subarray(2 * size)])
  },
  "the head cut": (bytes, at) => bytes.subarray(place(bytes, at) + 1),
  "the middle cut": (bytes, at, more) =>
    Buffer.concat([bytes.subarray(0, place(bytes, at)), bytes.subarray(place(bytes, at) + (more % 16))]),
  "the tail cut": (bytes, at) => bytes.subarray(0, place(bytes, at)),
  emptied: () => Buffer.alloc(0),
  removed: () => undefined,
  "written twice": (bytes) => Buffer.concat([bytes, bytes]),
  "something inserted": (bytes, at, more) =>
    Buffer.concat([bytes.subarray(0, place(bytes, at)), Buffer.from([more % 256]), bytes.subarray(place(bytes, at))]),
  "no UTF-8": (bytes, at) =>
    Buffer.concat([bytes.subarray(0, place(bytes, at)), Buffer.from([0xc3, 0x28]), bytes.subarray(place(bytes, at))]),
  "another's": (_, __, ___, other) => Buffer.from(other),
  "a byte order mark": (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
  "CRLF line ends": text((text) => text.replaceAll("\n", "\r\n")),
  "saved with a line end": text((text) => `${text}\n`),
  "saved without one": text((text) => text.trimEnd()),
  "another case": text((text) => text.toUpperCase()),
  "the digits changed": text((text) => text.replaceAll("1", "2")),
  "a number with a fraction": text((text) => text.replace(/(\d)([,}])/, "$1.0$2")),
  "the keys in another order": text((text) => text.replace(/\{("[^"]+":[^,{}]+),("[^"]+":[^,{}]+)/, "{$2,$1")),
  "a key twice": text((text) => text.replace(/\{("[^"]+":[^,{}]+),/, "{$1,$1,")),
  "another hash": text((text) => text.replace(/^([0-9a-f]{63})./, "$10")),
  "another version": text((text) => text.replace('"format":1', '"format":2'))
}

/** What happens to an artifact. */
interface Damage {
  readonly part: Part
  readonly name: string
  readonly at: number
  readonly more: number
}

const damage: fc.Arbitrary<Damage> = fc.record({
  part: fc.constantFrom<Part>("bytes", "ticket"),
  name: fc.constantFrom(...Object.keys(operators)),
  at: fc.nat(),
  more: fc.nat()
})

const scopes: ReadonlyArray<Artifact.Scope> = [
  { conversationId: "c", tenant: "t" },
  { conversationId: "C", tenant: "t" }
]

const values: ReadonlyArray<unknown> = [
  "A text of some length,\nin two lines: 1, 2 and 1,234.\n",
  new Uint8Array(300).map((_, n) => n * 7),
  { a: [1, 2, { b: null }], key: "value" },
  "x"
]

export interface Kept {
  readonly ref: string
  readonly scope: Artifact.Scope
  readonly data: unknown
}

/** What happens to each of the artifacts that `fill` puts: an operator on one of its parts, or nothing. */
const damages = fc.array(fc.option(damage, { freq: 4, nil: undefined }), {
  minLength: values.length + 1,
  maxLength: values.length + 1
})

/** Artifacts of each shape, one of them a stream where the store takes one, in two scopes. */
export const fill = (store: Store) =>
  Effect.gen(function* () {
    const kept: Array<Kept> = []
    for (const [n, data] of values.entries()) {
      const scope = scopes[n % scopes.length]!
      const { meta } = yield* store.put(scope, { kind: "note", mediaType: "text/plain", label: `Number ${n}`, data })
      kept.push({ ref: meta.ref, scope, data })
    }
    const data = new Uint8Array(100).fill(65)
    const said = { kind: "blob", mediaType: "text/plain" }
    const body = Stream.make(data.subarray(0, 10), data.subarray(10))
    const { meta } = yield* (
      store.putStream?.(scopes[0]!, { ...said, bytes: 100, body }) ?? store.put(scopes[0]!, { ...said, data })
    )
    kept.push({ ref: meta.ref, scope: scopes[0]!, data })
    return kept
  })

const wrong = { bytes: "bytes-changed", ticket: "ticket-changed" } as const
const missing = { bytes: "no-bytes", ticket: "no-ticket" } as const

/**
 * Does the damage and undoes it. In between the report names every artifact that is not as it was put, with what is wrong,
 * and no other; none of them is given as good, and the others are. Gives back how many were not as they were put.
 */
const locate = (store: Store, behind: Behind, kept: ReadonlyArray<Kept>, wanted: ReadonlyArray<Damage | undefined>) =>
  Effect.gen(function* () {
    const originals = yield* Effect.forEach(kept, ({ ref }) =>
      Effect.all({ bytes: behind.read(ref, "bytes"), ticket: behind.read(ref, "ticket") })
    )
    const expected = new Map<string, Kind>()
    for (const [n, { ref }] of kept.entries()) {
      const asked = wanted[n]
      if (asked === undefined) continue
      const { at, more, name, part } = asked
      const original = Buffer.from(originals[n]![part]!)
      const other = Buffer.from(originals[(n + 1) % kept.length]![part]!)
      yield* behind.write(ref, part, operators[name]!(original, at, more, other))
      const found = yield* behind.read(ref, part)
      if (found === undefined) expected.set(ref, missing[part])
      else if (Buffer.compare(found, original) !== 0) expected.set(ref, wrong[part])
    }
    const what = JSON.stringify(wanted)
    const report = yield* behind.verify
    const accused = report.problems.map(({ kind, ref }) => [ref ?? "", kind] as const)
    assert.deepStrictEqual(accused.sort(), Array.from(expected).sort(), what)
    assert.strictEqual(report.artifacts, kept.length - expected.size, what)
    for (const { data, ref, scope } of kept) {
      const got = yield* Effect.either(store.get(scope, ref))
      const kind = expected.get(ref)
      // An artifact without a ticket is not there.
      if (kind === "no-ticket") assert.deepStrictEqual(got, Either.right(Option.none()), what)
      else if (kind !== undefined) {
        assert.deepInclude(Either.getOrThrow(Either.flip(got)), {
          reason: kind === "bytes-changed" ? "DigestMismatch" : "Unreadable",
          ref
        })
      } else assert.deepStrictEqual(Option.getOrThrow(Either.getOrThrow(got)).data, data, what)
    }
    for (const [n, { ref }] of kept.entries()) {
      const part = wanted[n]?.part
      if (part !== undefined) yield* behind.write(ref, part, originals[n]![part])
    }
    return expected.size
  })

/** That many times. The store is whole before, after, and whenever damage changes nothing. */
export const campaign = (rounds: number, store: Store, behind: Behind, kept: ReadonlyArray<Kept>) =>
  Effect.gen(function* () {
    let count = 0
    for (const wanted of fc.sample(damages, rounds)) count += yield* locate(store, behind, kept, wanted)
    assert.isAbove(count, rounds)
    assert.deepStrictEqual((yield* behind.verify).problems, [])
  })
