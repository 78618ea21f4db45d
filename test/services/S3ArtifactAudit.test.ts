import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck as fc, Option } from "effect"
import * as fs from "node:fs"
import * as Artifact from "../../src/kernel/Artifact.ts"
import * as ArtifactMedium from "../../src/services/ArtifactMedium.ts"
import type * as S3ArtifactStore from "../../src/services/S3ArtifactStore.ts"
import * as S3Key from "../../src/services/S3Key.ts"
import * as S3Server from "./S3Server.ts"

const server = new S3Server.S3Server()
beforeAll(() => server.start())
afterAll(() => server.stop())
beforeEach(() => server.reset())

const scopes: ReadonlyArray<Artifact.Scope> = [
  { conversationId: "a", tenant: "t" },
  { conversationId: "b", tenant: "t" }
]

/** Four artifacts of four texts in two scopes, and their keys: the bytes', then the ticket's. */
const filled = (more: Partial<S3ArtifactStore.Options> = {}) =>
  Effect.gen(function* () {
    const given = S3Server.options(server, more)
    const store = yield* S3Server.open(given)
    const kept: Array<{
      readonly scope: Artifact.Scope
      readonly ref: string
      readonly text: string
      readonly keys: ReadonlyArray<string>
    }> = []
    for (let n = 0; n < 4; n++) {
      const scope = scopes[n % 2]!
      const text = `text ${n}`
      const { ref } = (yield* store.put(scope, { kind: "note", mediaType: "text/plain", data: text })).meta
      kept.push({ scope, ref, text, keys: server.keys(given.prefix).filter((key) => key.includes(ref)) })
    }
    return { given, kept, store }
  })

const clean = { scopes: 2, artifacts: 4, bytes: 24, problems: [] }

/** What someone does to the objects of a bucket. Numbers say to which. */
type Damage =
  | {
      readonly op: "flip" | "truncate" | "extend" | "delete"
      readonly artifact: number
      readonly part: number
      readonly at: number
    }
  | { readonly op: "swap" | "copy" | "move"; readonly artifact: number; readonly part: number; readonly other: number }

const number = fc.nat({ max: 3 })
const part = fc.nat({ max: 1 })

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({
    op: fc.constantFrom("flip" as const, "truncate" as const, "extend" as const, "delete" as const),
    artifact: number,
    part,
    at: fc.nat({ max: 5 })
  }),
  fc
    .record({
      op: fc.constantFrom("swap" as const, "copy" as const, "move" as const),
      artifact: number,
      part,
      other: fc.integer({ min: 1, max: 3 })
    })
    .map(({ artifact, other, ...rest }) => ({ ...rest, artifact, other: (artifact + other) % 4 }))
)

const fileAt = (kept: ReadonlyArray<{ readonly keys: ReadonlyArray<string> }>, artifact: number, part: number) =>
  server.fileOf(kept[artifact]?.keys[part] ?? "nowhere")

const remove = (file: string) => {
  for (const path of [file, `${file}.md5`]) fs.rmSync(path, { force: true })
}

const apply = (kept: ReadonlyArray<{ readonly keys: ReadonlyArray<string> }>, done: Damage): void => {
  const file = fileAt(kept, done.artifact, done.part)
  const bytes = fs.readFileSync(file)
  switch (done.op) {
    case "flip":
      bytes[done.at]! ^= 1
      return fs.writeFileSync(file, bytes)
    case "truncate":
      return fs.writeFileSync(file, bytes.subarray(0, done.at))
    case "extend":
      return fs.writeFileSync(file, Buffer.concat([bytes, Buffer.from("!")]))
    case "delete":
      return remove(file)
    case "swap": {
      const other = fileAt(kept, done.other, done.part)
      fs.writeFileSync(file, fs.readFileSync(other))
      return fs.writeFileSync(other, bytes)
    }
    case "copy":
      return fs.writeFileSync(file, fs.readFileSync(fileAt(kept, done.other, done.part)))
    case "move":
      fs.writeFileSync(fileAt(kept, done.other, done.part), bytes)
      return remove(file)
  }
}

describe("S3ArtifactStore.verify", () => {
  it.effect("accuses no store in which nothing is wrong", () =>
    Effect.gen(function* () {
      const { given, kept, store } = yield* filled()
      assert.deepStrictEqual(yield* S3Server.verify(given), clean)
      assert.deepStrictEqual(yield* S3Server.verify(given, true), clean)
      for (const { ref, scope } of kept) yield* store.delete(scope, ref)
      assert.deepStrictEqual(yield* S3Server.verify(given), { scopes: 0, artifacts: 0, bytes: 0, problems: [] })
    })
  )

  it.effect.prop(
    "finds what was changed, cut, exchanged or taken away, and no store gives it as good",
    [damage],
    ([done]) =>
      Effect.gen(function* () {
        const { given, kept, store } = yield* filled()
        apply(kept, done)
        const isMine = (n: number) => n === done.artifact || ("other" in done && n === done.other && done.op !== "copy")
        const { artifacts, problems } = yield* S3Server.verify(given)
        // Bytes without a ticket are told of once they are old.
        for (const key of server.keys(given.prefix)) server.age(server.fileOf(key))
        const found = new Set((yield* S3Server.verify(given)).problems.map(({ ref }) => ref))
        for (const [n, { ref, scope, text }] of kept.entries()) {
          const got = yield* Effect.either(store.get(scope, ref))
          const isGood = Either.isRight(got) && Option.exists(got.right, ({ data }) => data === text)
          assert.strictEqual(isGood, !isMine(n))
          assert.strictEqual(found.has(ref), isMine(n))
          if (Either.isRight(got) && !isGood) assert.isTrue(Option.isNone(got.right))
        }
        assert.strictEqual(artifacts, 4 - kept.filter((_, n) => isMine(n)).length)
        for (const { ref, where } of problems) assert.include(where, ref ?? "nowhere")
      }),
    { fastCheck: { numRuns: 10 } }
  )

  it.effect("knows a ticket that is under another key, or there twice", () =>
    Effect.gen(function* () {
      const { given, kept, store } = yield* filled()
      const [first] = kept
      const key = first?.keys[1] ?? ""
      const line = fs.readFileSync(server.fileOf(key))
      const longer = key.replace(/_6_$/, "_1_")
      assert.notStrictEqual(longer, key)
      server.write(longer, line)
      assert.strictEqual((yield* Effect.flip(store.get(first!.scope, first!.ref))).found, "it has two tickets")
      const { problems } = yield* S3Server.verify(given)
      assert.deepStrictEqual(
        problems.map(({ kind, where }) => [kind, `${given.prefix}/${where}`]),
        [["ticket-changed", longer]]
      )
      fs.rmSync(server.fileOf(key))
      assert.match((yield* Effect.flip(store.get(first!.scope, first!.ref))).found ?? "", /key says something else/)
      yield* store.delete(first!.scope, first!.ref)
      assert.deepStrictEqual(yield* S3Server.verify(given), { scopes: 2, artifacts: 3, bytes: 18, problems: [] })
    })
  )

  it.effect("removes what is left of puts that never ended, once it is old, and nothing else", () =>
    Effect.gen(function* () {
      const { given, kept } = yield* filled({ partBytes: 5 * 1_024 * 1_024 })
      const place = ArtifactMedium.placeOf(scopes[0]!)
      const orphan = S3Key.bytesKey(`${given.prefix}/`, place, `art_${"o".repeat(22)}`)
      server.write(orphan, "orphan")
      const foreign = [
        `${given.prefix}/notes.txt`,
        `${given.prefix}/bytes/t/x`,
        `${given.prefix}/tickets/t/_/other/art_x`
      ]
      for (const key of foreign) server.write(key, "mine")
      fs.mkdirSync(server.uploadDirectory("u1"), { recursive: true })
      fs.writeFileSync(
        `${server.uploadDirectory("u1")}/key`,
        S3Key.bytesKey(`${given.prefix}/`, place, `art_${"u".repeat(22)}`)
      )
      const kinds = (report: S3ArtifactStore.Report) =>
        report.problems.map(({ kind, removed }) => `${kind} ${removed}`).sort()
      const strangers = ["foreign false", "foreign false", "foreign false"]

      assert.deepStrictEqual(kinds(yield* S3Server.verify(given, true)), strangers)
      server.age(server.fileOf(orphan))
      server.age(server.uploadDirectory("u1"))
      assert.deepStrictEqual(kinds(yield* S3Server.verify(given)), [...strangers, "no-ticket false", "staged false"])
      assert.strictEqual(server.uploads().length, 1)
      assert.deepStrictEqual(kinds(yield* S3Server.verify(given, true)), [
        ...strangers,
        "no-ticket true",
        "staged true"
      ])
      assert.deepStrictEqual(server.uploads(), [])
      assert.deepStrictEqual(kinds(yield* S3Server.verify(given)), strangers)
      assert.deepStrictEqual(server.keys(given.prefix), [...foreign, ...kept.flatMap(({ keys }) => keys)].sort())
    })
  )

  it.effect("removes no bytes that may be those of a ticket that somebody renamed", () =>
    Effect.gen(function* () {
      const { given, kept } = yield* filled()
      const [bytes = "", ticket = ""] = kept[0]?.keys ?? []
      const renamed = ticket.replace("art_", "old_")
      server.write(renamed, fs.readFileSync(server.fileOf(ticket)))
      fs.rmSync(server.fileOf(ticket))
      server.age(server.fileOf(bytes))
      const { problems } = yield* S3Server.verify(given, true)
      assert.deepStrictEqual(problems.map(({ kind, removed }) => `${kind} ${removed}`).sort(), [
        "foreign false",
        "no-ticket false"
      ])
      assert.include(server.keys(given.prefix), bytes)
    })
  )

  it.effect("removes a ticket whose bytes are gone, and no artifact that is only damaged", () =>
    Effect.gen(function* () {
      const { given, kept, store } = yield* filled()
      apply(kept, { op: "delete", artifact: 0, part: 0, at: 0 })
      apply(kept, { op: "flip", artifact: 1, part: 0, at: 0 })
      apply(kept, { op: "flip", artifact: 2, part: 1, at: 0 })
      const { problems } = yield* S3Server.verify(given, true)
      assert.deepStrictEqual(problems.map(({ kind, removed }) => `${kind} ${removed}`).sort(), [
        "bytes-changed false",
        "no-bytes true",
        "ticket-changed false"
      ])
      assert.deepStrictEqual(yield* store.get(kept[0]!.scope, kept[0]!.ref), Option.none())
      assert.strictEqual(server.keys(given.prefix).length, 6)
    })
  )

  it.effect("does not take a put that ends meanwhile for a leftover", () =>
    Effect.gen(function* () {
      const { given, kept } = yield* filled()
      const [bytes = "", ticket = ""] = kept[0]?.keys ?? []
      server.age(server.fileOf(bytes))
      const line = fs.readFileSync(server.fileOf(ticket))
      fs.rmSync(server.fileOf(ticket))
      server.before = ({ query }) => {
        if (query.get("prefix")?.endsWith(`${kept[0]?.ref}_`)) server.write(ticket, line)
      }
      const report = yield* S3Server.verify(given, true)
      assert.deepStrictEqual(report.problems, [])
      assert.deepStrictEqual(yield* S3Server.verify(given), clean)
    })
  )

  it.effect("tells of what it could not look at, and looks at the rest", () =>
    Effect.gen(function* () {
      const { given, kept } = yield* filled()
      server.trouble = ({ key, query }) =>
        key === kept[1]?.keys[0] || query.has("uploads") ? { refuse: 403, code: "AccessDenied" } : undefined
      const { artifacts, problems } = yield* S3Server.verify(given)
      assert.strictEqual(artifacts, 3)
      assert.deepStrictEqual(
        problems.map(({ kind }) => kind),
        ["unreadable", "unreadable"]
      )
      server.trouble = () => ({ refuse: 403, code: "AccessDenied" })
      assert.strictEqual((yield* Effect.flip(S3Server.verify(given))).reason, "Unavailable")
    })
  )
})

const text = fc.oneof(
  fc.constantFrom("", "_", ".", "..", "/", "a/b", "a", "A", "~a", "%61", ".61", "é", "C3A9", ".C3.A9", "e\u0301"),
  fc.fullUnicodeString({ maxLength: 8 })
)

const scopeOf = fc.record({ conversationId: text, tenant: text, principal: text })

describe("S3Key", () => {
  it.prop("keeps scopes apart, also where case is folded", [scopeOf, scopeOf], ([one, other]) => {
    const [a, b] = [one, other].map((scope) => S3Key.folder("r/", "tickets", ArtifactMedium.placeOf(scope)))
    const isSame = Artifact.encodeScope(one).join("/") === Artifact.encodeScope(other).join("/")
    assert.strictEqual(a?.toLowerCase() === b?.toLowerCase(), isSame)
    assert.match(a ?? "", /^r\/tickets(\/[a-z0-9A-F._~-]+){3}\/$/)
    assert.notMatch(a ?? "", /\/\.+\//)
    if (!isSame) assert.isFalse(a?.startsWith(b ?? ""))
  })

  it.prop(
    "says of a ticket what planning has to know, and of each key what it is",
    [
      scopeOf,
      fc.record({
        createdAt: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, 1e21, -1.5e-9)),
        expiresAt: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true }), { nil: undefined }),
        bytes: fc.maxSafeNat(),
        order: fc.maxSafeNat(),
        ref: fc.stringMatching(/^art_[A-Za-z0-9]{22}$/)
      })
    ],
    ([scope, { createdAt, expiresAt, ...rest }]) => {
      const row: S3Key.Row = {
        ...rest,
        createdAt: createdAt + 0,
        ...(expiresAt === undefined ? {} : { expiresAt: expiresAt + 0 })
      }
      const place = ArtifactMedium.placeOf(scope)
      const key = S3Key.ticketKey("", place, row)
      const part = Option.getOrThrow(S3Key.partOf("", key))
      assert.deepStrictEqual([part.kind, part.place], ["tickets", place])
      assert.deepStrictEqual(S3Key.rowIn(part.name), Option.some(row))
      assert.isTrue(key.startsWith(S3Key.ticketPrefix("", place, row.ref)))
      assert.isAtMost(part.name.length, 26 + 100)
    }
  )
})
