import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inspect } from "node:util"
import * as Checkpoint from "../../src/services/Checkpoint.ts"
import * as Record from "../../src/services/Record.ts"
import * as Signer from "../../src/services/Signer.ts"
import * as Fixture from "./RecordFixture.ts"

/** The first test key of RFC 8032, section 7.1, under a name. */
const seed = Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex")
const publicKey = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex")

const made = Effect.gen(function* () {
  const { key, verifier } = yield* Signer.generate("example.org/agents")
  const entriesOf = (runId: string) =>
    Effect.flatMap(Fixture.bytes(runId), (bytes) => Effect.map(Record.fromText(bytes), ({ entries }) => entries))
  const [one, two] = [yield* entriesOf("run-1"), yield* entriesOf("run-2")]
  const points = yield* Effect.forEach([one, two, one.slice(0, 3)], Checkpoint.make)
  const list = yield* Effect.provide(Checkpoint.signAll(points), Signer.layer(key))
  const lone = yield* Effect.provide(Checkpoint.sign(points[2]!), Signer.layer(key))
  return { key, verifier, one, two, list, lone }
})

describe("Checkpoint", () => {
  it.effect("proves a run up to where it was signed, and says what it does not prove", () =>
    Effect.gen(function* () {
      const { list, lone, one, two, verifier } = yield* made
      const anchor = yield* Checkpoint.open(list, verifier)
      assert.isTrue(anchor.whole)
      assert.deepInclude(yield* Checkpoint.verify(one, anchor), { proven: 7, by: "example.org/agents", entries: 7 })
      const older = yield* Checkpoint.open(lone, verifier)
      assert.isFalse(older.whole)
      const partly = yield* Checkpoint.verify(one, older)
      assert.strictEqual(partly.proven, 3)
      assert.match(partly.notice.what, /^The entries after #2 /)
      assert.match((yield* Checkpoint.verify(two, older)).notice.what, /does not name this run/)
      const plain = yield* Record.verify(one, { anchor: { seq: 2, hash: one[2]!.hash } })
      assert.strictEqual(plain.notice?._tag, "TailNotProvable")
    })
  )

  it.effect("finds a cut tail, a run written anew, a run that is gone, and two histories", () =>
    Effect.gen(function* () {
      const { key, list, one, verifier } = yield* made
      const anchor = yield* Checkpoint.open(list, verifier)
      const cut = yield* Effect.flip(Checkpoint.verify(one.slice(0, 5), anchor))
      assert.deepInclude(cut, { _tag: "HistoryAltered", kind: "tail", runId: "run-1", seq: 5, lastProven: 2 })
      assert.deepInclude(cut, { anchor: { entries: 7, hash: one[6]!.hash, by: "example.org/agents" } })
      const signed = (points: ReadonlyArray<Checkpoint.Checkpoint>) =>
        Effect.flatMap(Effect.provide(Checkpoint.signAll(points), Signer.layer(key)), (text) =>
          Checkpoint.open(text, verifier)
        )
      const other = yield* signed([{ runId: "run-1", entries: 4, hash: one[4]!.hash }])
      const anew = yield* Effect.flip(Checkpoint.verify(one, other))
      assert.deepInclude(anew, { kind: "rewritten", seq: 3 })
      assert.notProperty(anew, "lastProven")
      const forked = yield* signed([
        { runId: "run-1", entries: 7, hash: one[6]!.hash },
        { runId: "run-1", entries: 7, hash: one[5]!.hash }
      ])
      assert.deepInclude(yield* Effect.flip(Checkpoint.verify(one, forked)), { kind: "fork", seq: 6 })
      const gone = Checkpoint.missing(anchor, ["run-1", "run-3"])
      assert.deepStrictEqual(
        gone.map(({ kind, runId, seq }) => ({ kind, runId, seq })),
        [{ kind: "deleted", runId: "run-2", seq: 0 }]
      )
      const damaged = yield* Effect.flip(Checkpoint.verify(one.toSpliced(2, 1), anchor))
      assert.deepInclude(damaged, { _tag: "Tampered", kind: "seq", seq: 2 })
    })
  )

  it.effect("refuses what is not, to the byte, what the trusted key has signed", () =>
    Effect.gen(function* () {
      const { list, lone, verifier } = yield* made
      const stranger = yield* Signer.generate("example.org/agents")
      const lines = lone.split(/(?<=\n)/)
      const notes = list.split(/(?<=—[^\n]*\n)\n/)
      const cases: ReadonlyArray<readonly [Checkpoint.CheckpointError["reason"], string, string]> = [
        ["Untrusted", lone, stranger.verifier],
        ["InvalidKey", lone, verifier.slice(0, -1)],
        ["InvalidKey", lone, verifier.replace("agents", "agent5")],
        ["Forged", lone.replace("\n3\n", "\n2\n"), verifier],
        ["Forged", lone.replace("/run-1", "/run-2"), verifier],
        ["Malformed", lone + lines.at(-1)!, verifier],
        ["Forged", lines[0]! + lines[1] + lines[2] + lines[2] + lines.slice(3).join(""), verifier],
        ["Forged", lines[0]! + lines[1] + lines[1] + lines.slice(2).join(""), verifier],
        ["Malformed", lone.slice(0, -1), verifier],
        ["Malformed", lines.slice(0, 3).join(""), verifier],
        ["Malformed", lone.replaceAll("\n", "\r\n"), verifier],
        ["Malformed", `\ufeff${lone}`, verifier],
        ["Malformed", `${lone}\n`, verifier],
        ["Malformed", "", verifier],
        ["Incomplete", notes.slice(0, -1).join("\n"), verifier],
        ["Incomplete", notes.slice(1).join("\n"), verifier],
        ["Incomplete", notes.toSpliced(1, 1).join("\n"), verifier]
      ]
      for (const [reason, text, trust] of cases) {
        const error = yield* Effect.flip(Checkpoint.open(text, trust))
        assert.strictEqual(error.reason, reason, JSON.stringify(text))
        assert.notInclude(error.message, trust)
      }
      // Files can be put together, and what other keys signed of a note says nothing.
      assert.isTrue((yield* Checkpoint.open(list + list, verifier)).whole)
      const foreign = lines.at(-1)!.replace("example.org/agents", "witness.example")
      assert.strictEqual((yield* Checkpoint.open(lone + foreign, verifier)).runs.size, 1)
    })
  )

  it.effect("finds any single flipped bit of an anchor", () =>
    Effect.gen(function* () {
      const { lone, verifier } = yield* made
      const good = Buffer.from(lone)
      for (let bit = 0; bit < good.length * 8; bit++) {
        const flipped = Buffer.from(good)
        flipped[bit >> 3]! ^= 1 << (bit & 7)
        assert.include(
          ["Malformed", "Untrusted", "Forged"],
          (yield* Effect.flip(Checkpoint.open(flipped, verifier))).reason
        )
      }
    })
  )

  it.effect("takes keys as signed notes write them, and shows none", () =>
    Effect.gen(function* () {
      const encode = (key: Buffer) => Buffer.concat([Buffer.of(1), key]).toString("base64")
      // SHA-256 of "rfc8032", a line feed, 01 and the public key.
      const id = Buffer.from(
        yield* Effect.promise(() =>
          crypto.subtle.digest("SHA-256", Buffer.concat([Buffer.from("rfc8032\n\u0001"), publicKey]))
        )
      )
        .subarray(0, 4)
        .toString("hex")
      const secret = `PRIVATE+KEY+rfc8032+${id}+${encode(seed)}`
      const layer = Signer.layer(Redacted.make(secret))
      const signer = yield* Effect.provide(Signer.Signer, layer)
      assert.strictEqual(signer.verifier, `rfc8032+${id}+${encode(publicKey)}`)
      // Of the empty text, as the RFC has it.
      const signature = Buffer.from(yield* signer.sign("")).toString("hex")
      assert.match(signature, /^e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac/)
      for (const bad of [secret.slice(1), secret.slice(0, -4), secret.replace(id, "00000000"), ""]) {
        const error = yield* Effect.flip(Effect.provide(Signer.Signer, Signer.layer(Redacted.make(bad))))
        assert.strictEqual(error.reason, "InvalidKey")
        assert.notInclude(inspect(error, { depth: 9 }) + JSON.stringify(error), encode(seed).slice(0, 12))
      }
      assert.strictEqual((yield* Effect.flip(Signer.generate("a b"))).reason, "InvalidKey")
    })
  )
})
