/** Bugs of records: what entries prove of each other, who may append, and what is heard of appends. */
import type { Planted } from "./Planted.ts"

const chain = "src/services/RecordChain.ts"
const proof = "src/services/RecordProof.ts"
const table = "src/services/RecordTable.ts"
const reader = "src/services/RecordReader.ts"
const ofChain = "test/services/RecordChain.test.ts"
const ofSql = "test/services/SqlRecord.test.ts"

export const record: ReadonlyArray<Planted> = [
  {
    id: "hash-without-seq",
    changes: [
      {
        file: chain,
        search: "sha256(`${before}\\n${seq}\\n${at}\\n${text}`)",
        replace: "sha256(`${before}\\n${at}\\n${text}`)"
      }
    ],
    test: ofChain,
    only: "writes the golden record"
  },
  {
    id: "hash-without-time",
    changes: [
      {
        file: chain,
        search: "sha256(`${before}\\n${seq}\\n${at}\\n${text}`)",
        replace: "sha256(`${before}\\n${seq}\\n${text}`)"
      }
    ],
    test: ofChain,
    only: "writes the golden record"
  },
  {
    id: "hash-without-run",
    changes: [{ file: chain, search: "wherefore.record/1\\n${runId}`) })", replace: "wherefore.record/1`) })" }],
    test: ofChain,
    only: "writes the golden record"
  },
  {
    id: "hash-of-json-written-anew",
    changes: [
      {
        file: chain,
        search: "if (!bytes.equals(Buffer.from(line(position, said.at, texts, said.hash).slice(0, -1)))) {",
        replace: "if (bytes.length === 0) {"
      }
    ],
    test: ofChain,
    only: "and says where"
  },
  {
    id: "read-does-not-hash",
    changes: [
      {
        file: chain,
        search: "if (hashes.at(-1) !== said.hash) return bad",
        replace: "if (hashes.length === 0) return bad"
      }
    ],
    test: ofChain,
    only: "other words, and says where"
  },
  {
    id: "read-takes-any-seq",
    changes: [{ file: chain, search: "if (said.seq !== seq) return bad", replace: "if (said.seq < 0) return bad" }],
    test: ofChain,
    only: "what kind of damage"
  },
  {
    id: "verify-takes-any-seq",
    changes: [{ file: proof, search: "if (seq !== expected) return bad", replace: "if (seq < expected) return bad" }],
    test: ofChain,
    only: "names the first entry"
  },
  {
    id: "anchor-tail-cut",
    changes: [
      {
        file: proof,
        search: "if (anchor !== undefined && anchor.seq >= position.seq) {",
        replace: "if (anchor !== undefined && anchor.seq < 0) {"
      }
    ],
    test: ofChain,
    only: "can with an anchor"
  },
  {
    id: "anchor-other-history",
    changes: [
      {
        file: proof,
        search: "if (seq === anchor?.seq && hash !== anchor.hash)",
        replace: 'if (seq === anchor?.seq && hash === "")'
      }
    ],
    test: ofChain,
    only: "can with an anchor"
  },
  {
    id: "anchor-list-not-counted",
    changes: [
      {
        file: "src/services/Checkpoint.ts",
        search: "if (size !== texts.length || !hash.equals(digest(texts))) {",
        replace: "if (size < texts.length) {"
      }
    ],
    test: "test/services/Checkpoint.test.ts"
  },
  {
    id: "anchor-signature-not-checked",
    changes: [
      {
        file: "src/services/Checkpoint.ts",
        search: "const text = yield* SignedNote.open(note, verifier)",
        replace: "const text = Either.getOrElse(SignedNote.open(note, verifier), () => note.text)"
      }
    ],
    test: "test/services/Checkpoint.test.ts"
  },
  {
    id: "sql-acknowledge-conflict",
    changes: [{ file: table, search: "done(rows.length > 0)", replace: "done(rows.length >= 0)" }],
    test: ofSql,
    only: "win each entry once"
  },
  {
    id: "sql-read-version-without-lock",
    changes: [
      {
        file: table,
        search: "WHERE COALESCE(${last}, ${RecordChain.start(runId).hash}) = ${before}${durable}",
        replace: "WHERE COALESCE(${last}, ${RecordChain.start(runId).hash}) <> ${before + before}${durable}"
      }
    ],
    test: ofSql,
    only: "win each entry once"
  },
  {
    id: "sql-columns-not-compared",
    changes: [
      {
        file: table,
        search: "if (hash !== reached.hash) return damage",
        replace: "if (hash === undefined) return damage"
      }
    ],
    test: ofSql,
    only: "gives what is before it"
  },
  {
    id: "sql-append-in-transaction",
    changes: [
      {
        file: "src/services/RecordSql.ts",
        search: "if (yield* database.isInside) return yield* inside(runId)",
        replace: "if (expectedSeq < 0) return yield* inside(runId)"
      }
    ],
    test: ofSql,
    only: "inside of a transaction"
  },
  {
    id: "sql-nested-transactions-at-once",
    changes: [
      {
        file: "src/services/Database.ts",
        search: "(Option.isSome(found) ? inside(found.value[0]).withPermits(1)(inner) : inner)",
        replace: "(Option.isSome(found) && inside.length < 0 ? inside(found.value[0]).withPermits(1)(inner) : inner)"
      }
    ],
    test: "test/services/SqlArtifactStore.test.ts",
    only: "is a part of the caller's transaction"
  },
  {
    id: "tail-skips-next-append",
    changes: [{ file: table, search: "row = numberOf(one.seq)", replace: "row = position.seq" }],
    test: ofSql,
    only: "tails what another program appends"
  },
  {
    id: "tail-counts-after-reading",
    changes: [
      {
        file: reader,
        search: "live && ended && failed === undefined && !over",
        replace: "live && failed === undefined && !over"
      },
      {
        file: reader,
        search: "Wakeup.after(wakeup, seen, pollMs)",
        replace: "Wakeup.after(wakeup, wakeup.count, 3_600_000)"
      }
    ],
    test: "test/services/RecordFile.test.ts",
    only: "tails what another process appends"
  },
  {
    id: "read-from-one-further",
    changes: [
      {
        file: reader,
        search: "({ seq }) => seq >= from && seq < until",
        replace: "({ seq }) => seq > from && seq < until"
      }
    ],
    test: "test/services/Record.test.ts"
  },
  {
    id: "append-anywhere",
    changes: [
      {
        file: "src/services/RecordClaim.ts",
        search: "if (expectedSeq < seq || (fresh && expectedSeq > seq)) return",
        replace: "if (fresh && expectedSeq > seq) return"
      }
    ],
    test: "test/services/RecordFile.test.ts",
    only: "conflicts where one went on"
  },
  {
    id: "lock-of-the-living-is-broken",
    changes: [
      {
        file: "src/services/RecordLock.ts",
        search: "if (depth === 3 || !isDead(path, maker)) return",
        replace: "if (depth === 3) return"
      }
    ],
    test: "test/services/RecordFile.test.ts",
    only: "waits for a process that is writing"
  }
]
