/**
 * An `ArtifactTableAudit` looks at every artifact in the tables: it proves what is whole, says what is not, and removes what
 * a crash left of uploads that never ended. It removes no artifact.
 *
 * @internal
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import * as Artifact from "../kernel/Artifact.ts"
import type { Kept, Place } from "./ArtifactMedium.ts"
import * as ArtifactMedium from "./ArtifactMedium.ts"
import type { Kind, Problem, Report } from "./ArtifactReport.ts"
import * as ArtifactRows from "./ArtifactRows.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import * as ArtifactTables from "./ArtifactTables.ts"
import * as RecordLock from "./RecordLock.ts"

export interface Options extends ArtifactTables.Options {
  /** Whether leftovers are removed. */
  readonly repair?: boolean
}

type Result<A> = Effect.Effect<A, ArtifactStoreError>

/** An upload of a process that cannot be asked is left alone while it may still go on, in milliseconds. */
const graceMs = 3_600_000

const rowsAtOnce = 100

interface Named {
  readonly ref: string
  readonly place: string
}

interface Row extends ArtifactRows.Row {
  readonly place: string
  readonly scope: string
}

interface Upload extends Named {
  readonly scope: string
  readonly maker: string
  readonly written: number
}

interface Audit {
  readonly tables: ArtifactTables.Tables
  readonly repair: boolean
  readonly problems: Array<Problem>
  readonly scopes: Set<string>
  artifacts: number
  bytes: number
}

const tell = ({ problems }: Audit, kind: Kind, scope: string, ref: string, what: string, removed = false): void => {
  problems.push({ kind, where: `${scope}${ref}`, ...(Artifact.isRef(ref) ? { ref } : {}), what, removed })
}

/** The place that a row says it is in, if its scope is one and its key is that of the scope. */
const placeOf = ({ place, scope }: Row): Place | undefined => {
  const found = Option.map(Artifact.decodeScope(scope.split("/").slice(0, -1)), ArtifactMedium.placeOf)
  return Option.getOrUndefined(Option.filter(found, (one) => one.prefix === scope && ArtifactRows.keyOf(one) === place))
}

const isThere = ({ tables: { artifacts, run, sql } }: Audit, { place, ref }: Named): Result<boolean> =>
  Effect.map(
    run(sql`SELECT ref FROM ${sql(artifacts)} WHERE ref = ${ref} AND place = ${place}`),
    (found) => found.length > 0
  )

const measure = ({ tables }: Audit, key: string, ref: Artifact.Ref) =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    return Stream.runFold(ArtifactRows.pieces(tables, key, ref), { count: 0, size: 0 }, ({ count, size }, piece) => {
      hash.update(piece)
      return { count: count + 1, size: size + piece.length }
    }).pipe(Effect.map((found) => ({ ...found, hash: hash.digest("hex") })))
  })

const auditBytes = (audit: Audit, row: Row, { hash, meta: { bytes, ref } }: Kept): Result<void> =>
  Effect.gen(function* () {
    const found = yield* measure(audit, row.place, ref)
    if (found.hash === hash) {
      audit.artifacts += 1
      audit.bytes += bytes
      return
    }
    // It went while it was looked at.
    if (!(yield* isThere(audit, row))) return
    if (found.count === 0) tell(audit, "no-bytes", row.scope, ref, "It is a ticket without its bytes.")
    else tell(audit, "bytes-changed", row.scope, ref, `Its ${found.size} bytes are not the ${bytes} that were put.`)
  })

const auditRow = (audit: Audit, row: Row): Result<void> =>
  Effect.suspend(() => {
    const { ref, scope } = row
    const place = placeOf(row)
    if (place === undefined || !Artifact.isRef(ref)) {
      return Effect.sync(() => tell(audit, "ticket-changed", scope, ref, "The row is not under the key of its scope."))
    }
    audit.scopes.add(scope)
    return Either.match(ArtifactRows.decode(place, ref, row), {
      onLeft: (found) =>
        Effect.sync(() => tell(audit, "ticket-changed", scope, ref, `The artifact cannot be read: ${found}.`)),
      onRight: (kept) => auditBytes(audit, row, kept)
    })
  })

const auditRows = (audit: Audit): Result<void> =>
  Effect.gen(function* () {
    const { artifacts, run, sql } = audit.tables
    let last: Named = { ref: "", place: "" }
    for (;;) {
      const rows: ReadonlyArray<Row> = yield* run(
        sql<Row>`SELECT ref, place, scope, ticket, kind, size, created, expires FROM ${sql(artifacts)}
          WHERE ref > ${last.ref} OR (ref = ${last.ref} AND place > ${last.place}) ORDER BY ref, place LIMIT ${rowsAtOnce}`
      )
      for (const row of rows) yield* auditRow(audit, row)
      const end = rows[rowsAtOnce - 1]
      if (end === undefined) return
      last = end
    }
  })

/** Whether nobody continues the upload any more. */
const isLeft = ({ maker, written }: Upload): Effect.Effect<boolean> =>
  Effect.map(Clock.currentTimeMillis, (now) => RecordLock.isGone(maker) ?? now - written > graceMs)

const auditUploads = (audit: Audit): Result<void> =>
  Effect.gen(function* () {
    const { run, sql, uploads, whole } = audit.tables
    for (const upload of yield* run(
      sql<Upload>`SELECT ref, place, scope, maker, written FROM ${sql(uploads)} ORDER BY ref, place`
    )) {
      const { place, ref, scope } = upload
      if (!Artifact.isRef(ref) || !(yield* isLeft(upload))) continue
      if (audit.repair) {
        yield* whole(
          Effect.flatMap(ArtifactRows.endUpload(audit.tables, place, ref), (ended) =>
            ended ? ArtifactRows.erase(audit.tables, place, [ref]) : Effect.void
          )
        )
      }
      tell(audit, "staged", scope, ref, "A put that never ended left it.", audit.repair)
    }
  })

const auditAlone = (audit: Audit): Result<void> =>
  Effect.gen(function* () {
    const { artifacts, pieces, run, sql, uploads, whole } = audit.tables
    const without = (table: string) =>
      sql`NOT EXISTS (SELECT 1 FROM ${sql(table)} AS o WHERE o.ref = p.ref AND o.place = p.place)`
    const found = yield* run(
      sql<Named>`SELECT DISTINCT ref, place FROM ${sql(pieces)} AS p WHERE ${without(artifacts)} AND ${without(uploads)}
        ORDER BY ref, place`
    )
    // A damaged ticket may be that of the bytes.
    const removed = audit.repair && !audit.problems.some(({ kind }) => kind === "ticket-changed")
    for (const { place, ref } of found) {
      if (removed) yield* whole(ArtifactRows.erase(audit.tables, place, [ref]))
      tell(audit, "no-ticket", `${place}/`, ref, "These are bytes without their ticket.", removed)
    }
  })

/** Fails if the tables are not there or cannot be read; whatever is wrong in them is in the report. */
export const verify = ({ repair = false, ...options }: Options = {}): Effect.Effect<
  Report,
  ArtifactStoreError,
  SqlClient.SqlClient
> =>
  Effect.gen(function* () {
    const tables = yield* ArtifactTables.make(options)
    const audit: Audit = { tables, repair, problems: [], scopes: new Set(), artifacts: 0, bytes: 0 }
    yield* auditRows(audit)
    yield* auditUploads(audit)
    yield* auditAlone(audit)
    const { artifacts, bytes, problems, scopes } = audit
    return { scopes: scopes.size, artifacts, bytes, problems }
  })
