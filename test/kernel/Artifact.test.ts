import { assert, describe, it } from "@effect/vitest"
import { Either, FastCheck, Option } from "effect"
import * as Artifact from "../../src/kernel/Artifact.ts"
import * as Payload from "../../src/kernel/Payload.ts"
import * as Retention from "../../src/kernel/Retention.ts"

const field = FastCheck.oneof(
  FastCheck.constantFrom(
    "",
    "_",
    "~",
    "~~",
    "~a",
    "A",
    "a",
    "%5F",
    "%",
    ".",
    "..",
    "a/b",
    "a\\b",
    "c",
    "c2",
    "É",
    "é",
    "e\u0301"
  ),
  FastCheck.string({ unit: "binary", maxLength: 12 }),
  FastCheck.string({ unit: FastCheck.constantFrom("a", "A", "_", "~", "%", "/", ".", "u", "5", "F", "f") })
)

const scope: FastCheck.Arbitrary<Artifact.Scope> = FastCheck.record(
  { conversationId: field, tenant: field, principal: field },
  { requiredKeys: ["conversationId"] }
)

/** What a scope means: an empty tenant or principal is none. */
const meaning = ({ conversationId, principal, tenant }: Artifact.Scope): Artifact.Scope => ({
  conversationId,
  ...(tenant === undefined || tenant === "" ? {} : { tenant }),
  ...(principal === undefined || principal === "" ? {} : { principal })
})

const foldCase = (segments: ReadonlyArray<string>) => JSON.stringify(segments).toLowerCase()

describe("Artifact.encodeScope", () => {
  it("has a decoder: no two scopes share an encoding", () => {
    FastCheck.assert(
      FastCheck.property(scope, (scope) => {
        assert.deepStrictEqual(Artifact.decodeScope(Artifact.encodeScope(scope)), Option.some(meaning(scope)))
      }),
      { numRuns: 2_000 }
    )
  })

  it("keeps apart where case is folded what differs", () => {
    FastCheck.assert(
      FastCheck.property(scope, scope, (one, other) => {
        const same = JSON.stringify(meaning(one)) === JSON.stringify(meaning(other))
        assert.strictEqual(foldCase(Artifact.encodeScope(one)) === foldCase(Artifact.encodeScope(other)), same)
      }),
      { numRuns: 5_000 }
    )
  })

  it("makes segments that name no path", () => {
    FastCheck.assert(
      FastCheck.property(scope, (scope) => {
        for (const segment of Artifact.encodeScope(scope)) assert.match(segment, /^[a-z0-9_~%A-F-]+$/)
      })
    )
  })

  it("is stable: what is stored under it is found by later versions", () => {
    const cases: ReadonlyArray<readonly [Artifact.Scope, ReadonlyArray<string>]> = [
      [{ conversationId: "" }, ["_", "_", "_"]],
      [{ conversationId: "_", tenant: "", principal: "_" }, ["_", "%5F", "%5F"]],
      [{ conversationId: "Run-7", tenant: "a/b", principal: ".." }, ["a%2Fb", "%2E%2E", "~run-7"]],
      [{ conversationId: "~é😀'(*)!" }, ["_", "_", "~~%C3%A9%F0%9F%98%80%27%28%2A%29%21"]]
    ]
    for (const [scope, segments] of cases) assert.deepStrictEqual(Artifact.encodeScope(scope), segments)
  })

  it("decodes nothing that it did not encode", () => {
    for (const segments of [
      [],
      ["_"],
      ["_", "_"],
      ["_", "_", "_", "_"],
      ["A", "_", "_"],
      ["", "_", "_"],
      ["%", "_", "_"],
      ["%61", "_", "_"]
    ]) {
      assert.deepStrictEqual(Artifact.decodeScope(segments), Option.none())
    }
  })

  it("is total, and says which field no adapter can store", () => {
    const half = { conversationId: "a\ud800b", tenant: "\udc00" }
    assert.deepStrictEqual(Artifact.encodeScope(half), ["%uDC00", "_", "a%uD800b"])
    assert.strictEqual(Artifact.scopeFault(half), "scope.conversationId")
    const faults = [
      undefined,
      null,
      "c",
      {},
      { conversationId: 7 },
      { conversationId: "c", tenant: 7 },
      { conversationId: "c", principal: "\ud800" }
    ]
    assert.deepStrictEqual(faults.map(Artifact.scopeFault), [
      "scope",
      "scope",
      "scope",
      "scope.conversationId",
      "scope.conversationId",
      "scope.tenant",
      "scope.principal"
    ])
    assert.isUndefined(Artifact.scopeFault({ conversationId: "", tenant: undefined }))
  })
})

describe("Artifact refs", () => {
  it("are recognised whole", () => {
    const good = "art_ABCDEFGHIJKLMNOPQRSTUv"
    assert.isTrue(Artifact.isRef(good))
    for (const bad of [
      `${good}x`,
      good.slice(0, -1),
      ` ${good}`,
      `${good}\n`,
      good.toUpperCase(),
      good.replace("v", "-"),
      "",
      7,
      null,
      [good]
    ]) {
      assert.isFalse(Artifact.isRef(bad), JSON.stringify(bad))
    }
  })

  it("are minted by rejection, so that no character is likelier than another", () => {
    assert.strictEqual(Artifact.mint(Uint8Array.from({ length: 22 }, (_, n) => n)), "art_ABCDEFGHIJKLMNOPQRSTUV")
    assert.strictEqual(
      Artifact.mint(Uint8Array.from([255, 248, ...Array.from({ length: 22 }, () => 247)])),
      `art_${"9".repeat(22)}`
    )
    assert.isUndefined(Artifact.mint(new Uint8Array(64).fill(248)))
    assert.isUndefined(Artifact.mint(new Uint8Array(21)))
    const seen = new Map<string, number>()
    for (let byte = 0; byte < 248; byte++) {
      const last = Artifact.mint(Uint8Array.from({ length: 22 }, () => byte))?.at(-1) ?? ""
      seen.set(last, (seen.get(last) ?? 0) + 1)
    }
    assert.deepStrictEqual([seen.size, new Set(seen.values())], [62, new Set([4])])
  })
})

describe("Artifact cursors", () => {
  const ref = FastCheck.string({ unit: FastCheck.constantFrom(..."aB0"), minLength: 22, maxLength: 22 }).map(
    (s) => `art_${s}`
  )

  it("name a place, and nothing else is one", () => {
    FastCheck.assert(
      FastCheck.property(FastCheck.integer(), ref, (createdAt, ref) => {
        const cursor = Artifact.encodeCursor({ createdAt, ref })
        assert.deepStrictEqual(Artifact.decodeCursor(cursor), Option.some({ createdAt, ref }))
      })
    )
    const good = Artifact.encodeCursor({ createdAt: 1, ref: `art_${"a".repeat(22)}` })
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
    const bad = [
      "",
      "x",
      "%%%",
      `${good}=`,
      good.slice(1),
      encode([1]),
      encode([1, "art_x"]),
      encode(["1", "a"]),
      encode([null, `art_${"a".repeat(22)}`])
    ]
    for (const cursor of bad) assert.deepStrictEqual(Artifact.decodeCursor(cursor), Option.none(), cursor)
  })
})

describe("Artifact.planRetention", () => {
  const row = (ref: string, more: Partial<Retention.Row> = {}): Retention.Row => ({
    ref,
    kind: "k",
    bytes: 10,
    lastAccessedAt: 0,
    ...more
  })
  const plan = Artifact.planRetention
  const refs = ({ evict }: Retention.Plan) => evict.map(({ reason, ref }) => `${ref} ${reason}`)

  it("sweeps what has expired, to the millisecond", () => {
    const rows = [row("a", { expiresAt: 5 }), row("b", { expiresAt: 6 }), row("c")]
    assert.deepStrictEqual(refs(plan(rows, { bytes: 1 }, {}, 5)), ["a ttl"])
  })

  it("evicts the least recently accessed, ties by ref, for the count and then for the bytes", () => {
    const rows = [
      row("d", { lastAccessedAt: 2 }),
      row("c", { lastAccessedAt: 1 }),
      row("b", { lastAccessedAt: 1 }),
      row("a", { lastAccessedAt: 3 })
    ]
    assert.deepStrictEqual(refs(plan(rows, { bytes: 1 }, { maxCountPerScope: 3 }, 0)), ["b max-count", "c max-count"])
    assert.deepStrictEqual(refs(plan(rows, { bytes: 15 }, { maxBytesPerScope: 40 }, 0)), ["b max-bytes", "c max-bytes"])
    assert.deepStrictEqual(refs(plan(rows, { bytes: 25 }, { maxCountPerScope: 4, maxBytesPerScope: 45 }, 0)), [
      "b max-count",
      "c max-bytes"
    ])
  })

  it("counts the expired out before it makes room", () => {
    const rows = [row("a", { expiresAt: 1, lastAccessedAt: 9 }), row("b")]
    assert.deepStrictEqual(refs(plan(rows, { bytes: 10 }, { maxCountPerScope: 2, maxBytesPerScope: 20 }, 1)), ["a ttl"])
  })

  it("refuses what can never fit, or does not fit beside its parents, and then evicts nothing", () => {
    const rows = [row("a", { expiresAt: 1 }), row("b"), row("c")]
    assert.deepStrictEqual(plan(rows, { bytes: 41 }, { maxBytesPerScope: 40 }, 9), {
      evict: [],
      refuse: { limit: "max-bytes", allowed: 40, needed: 41 }
    })
    assert.deepStrictEqual(plan(rows, { bytes: 1, parentRefs: ["b", "c"] }, { maxCountPerScope: 2 }, 9), {
      evict: [],
      refuse: { limit: "max-count", allowed: 2, needed: 3 }
    })
    assert.deepStrictEqual(plan(rows, { bytes: 15, parentRefs: ["b"] }, { maxBytesPerScope: 20 }, 9), {
      evict: [],
      refuse: { limit: "max-bytes", allowed: 20, needed: 25 }
    })
  })

  it("keeps within its limits, keeps the parents, and evicts no more than it must", () => {
    const limits = { maxCountPerScope: 5, maxBytesPerScope: 50 }
    const rows = FastCheck.uniqueArray(
      FastCheck.record({
        ref: FastCheck.constantFrom(..."abcdefgh"),
        bytes: FastCheck.nat(20),
        lastAccessedAt: FastCheck.nat(3),
        expiresAt: FastCheck.nat(9)
      }),
      { selector: ({ ref }) => ref }
    )
    FastCheck.assert(
      FastCheck.property(
        rows,
        FastCheck.nat(60),
        FastCheck.subarray([..."abcdefgh"], { maxLength: 2 }),
        (rows, bytes, parents) => {
          const given = rows.map((row) => ({ ...row, kind: "k" }))
          const parentRefs = parents.filter((ref) => given.some((row) => row.ref === ref && row.expiresAt > 4))
          const before = structuredClone(given)
          const { evict, refuse } = plan(given, { bytes, parentRefs }, limits, 4)
          assert.deepStrictEqual(given, before)
          if (refuse !== undefined) return assert.deepStrictEqual(evict, [])
          const gone = new Set(evict.map(({ ref }) => ref))
          const kept = given.filter(({ ref }) => !gone.has(ref))
          const fits = (rows: ReadonlyArray<{ readonly bytes: number }>) =>
            rows.length + 1 <= 5 && rows.reduce((sum, row) => sum + row.bytes, bytes) <= 50
          assert.isTrue(fits(kept))
          for (const ref of parentRefs) assert.isFalse(gone.has(ref))
          const last = evict.findLast(({ reason }) => reason !== "ttl")
          if (last !== undefined) assert.isFalse(fits([...kept, last]))
        }
      ),
      { numRuns: 2_000 }
    )
  })

  it("a ticket ends at what was asked for or after the time to live, whichever is first", () => {
    assert.isUndefined(Retention.expiryOf(undefined, {}, 7))
    assert.strictEqual(Retention.expiryOf(9, {}, 7), 9)
    assert.strictEqual(Retention.expiryOf(undefined, { ttlMs: 5 }, 7), 12)
    assert.strictEqual(Retention.expiryOf(9, { ttlMs: 5 }, 7), 9)
    assert.strictEqual(Retention.expiryOf(20, { ttlMs: 5 }, 7), 12)
  })
})

describe("Payload", () => {
  const roundTrip = (data: unknown) => Either.getOrThrow(Either.flatMap(Payload.encode(data), Payload.decode))

  it("gives back what it was given, and knows a text from a number", () => {
    const values = [
      "7",
      7,
      "",
      null,
      true,
      [],
      {},
      "\ufeffä€😀\0\r\n",
      new Uint8Array([0, 255, 239, 187, 191]),
      new Uint8Array(),
      [1, { b: [null] }],
      1e21
    ]
    for (const value of values) assert.deepStrictEqual(roundTrip(value), value)
    assert.deepStrictEqual(roundTrip(Buffer.from([1, 2])), new Uint8Array([1, 2]))
    FastCheck.assert(
      FastCheck.property(FastCheck.jsonValue({ noUnicodeString: false }), (value) => {
        const encoded = Payload.encode(value)
        if (Either.isRight(encoded)) assert.deepStrictEqual(Either.getOrThrow(Payload.decode(encoded.right)), value)
      })
    )
  })

  it("writes a value in one way", () => {
    const bytes = (data: unknown) => Buffer.from(Either.getOrThrow(Payload.encode(data)).bytes).toString("utf8")
    assert.strictEqual(bytes({ b: 1, a: [2, { d: 3, c: "é" }] }), '{"a":[2,{"c":"é","d":3}],"b":1}')
    assert.strictEqual(bytes({ a: 1, b: 2 }), bytes({ b: 2, a: 1 }))
  })

  it("refuses what writing would change, and names the path", () => {
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const values: ReadonlyArray<readonly [unknown, string]> = [
      [NaN, ""],
      [-0, ""],
      [undefined, ""],
      [1n, ""],
      [Symbol("s"), ""],
      [() => 1, ""],
      [new Date(0), ""],
      [new Map(), ""],
      ["\ud800", ""],
      [{ a: undefined }, "/a"],
      [{ a: [1, new Set()] }, "/a/1"],
      [{ a: { b: new Uint8Array(1) } }, "/a/b"],
      [{ a: { toJSON: () => 1 } }, "/a"],
      [[1, , 2], "/1"],
      [{ a: "\udc00" }, "/a"],
      [cycle, "/self"]
    ]
    for (const [value, path] of values) {
      const { path: found, reason } = Either.getOrThrow(Either.flip(Payload.encode(value)))
      assert.strictEqual(found, path, reason)
    }
  })

  it("is detached from what it was made of, and from what it gives back", () => {
    const data = new Uint8Array([1, 2])
    const payload = Either.getOrThrow(Payload.encode(data))
    data[0] = 9
    const first = Either.getOrThrow(Payload.decode(payload))
    assert.deepStrictEqual(first, new Uint8Array([1, 2]))
    if (first instanceof Uint8Array) first[0] = 9
    assert.deepStrictEqual(Either.getOrThrow(Payload.decode(payload)), new Uint8Array([1, 2]))
  })

  it("fails on bytes that are none of its own", () => {
    const bytes = new Uint8Array([123])
    assert.isTrue(Either.isLeft(Payload.decode({ shape: "json", bytes })))
  })
})
