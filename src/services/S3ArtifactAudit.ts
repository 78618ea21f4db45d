/**
 * An `S3ArtifactAudit` looks at every object of a bucket of artifacts: it proves what is whole, says where something is
 * wrong, and removes what a crash left of puts and deletions that never ended. It removes no artifact.
 *
 * @internal
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { createHash } from "node:crypto"
import * as Artifact from "../kernel/Artifact.ts"
import type { Kept, Place } from "./ArtifactMedium.ts"
import type { Problem, Report } from "./ArtifactReport.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import type { Listed } from "./S3Bucket.ts"
import * as S3Connection from "./S3Connection.ts"
import * as S3Key from "./S3Key.ts"
import * as S3Medium from "./S3Medium.ts"

export interface Options extends S3Connection.Options {
  /** Whether leftovers are removed. */
  readonly repair?: boolean
}

type Result<A> = Effect.Effect<A, ArtifactStoreError>

/** A put that still runs has written what nobody can tell from a leftover. It has this long, in milliseconds. */
const graceMs = 3_600_000

/** How many artifacts are read at once. */
const concurrency = 4

interface Audit extends S3Connection.Connection {
  readonly repair: boolean
  readonly problems: Array<Problem>
  readonly scopes: Set<string>
  artifacts: number
  bytes: number
}

interface Ticket {
  readonly key: string
  readonly place: Place
  readonly row: S3Key.Row
}

const tell = (
  { problems, root }: Audit,
  kind: Problem["kind"],
  key: string,
  what: string,
  ref?: Artifact.Ref,
  removed = false
) => {
  problems.push({ kind, where: key.slice(root.length), ...(ref === undefined ? {} : { ref }), what, removed })
}

/** Tells of a leftover, and removes it if that was asked for and it can be nothing else. */
const leftover = (
  audit: Audit,
  kind: Problem["kind"],
  key: string,
  what: string,
  ref: Artifact.Ref,
  remove: Option.Option<Result<void>> = Option.some(audit.bucket.remove(key))
): Result<void> =>
  Effect.gen(function* () {
    const isRemoved = audit.repair && Option.isSome(remove)
    if (isRemoved) yield* remove.value
    tell(audit, kind, key, what, ref, isRemoved)
  })

const isDamage = ({ kind }: Problem): boolean =>
  kind === "ticket-changed" || kind === "unreadable" || kind === "foreign"

/** Whether bytes of this place can be nothing but a leftover: a damaged ticket may be theirs. */
const isSure = ({ problems }: Audit, place: Place): boolean => {
  const folder = S3Key.folder("", "tickets", place)
  return !problems.some((problem) => isDamage(problem) && problem.where.startsWith(folder))
}

const isOld = ({ now }: Audit, { at }: Pick<Listed, "at">): Effect.Effect<boolean> =>
  Effect.map(now, (ms) => at !== undefined && ms - at > graceMs)

const isThere = ({ bucket }: Audit, key: string): Result<boolean> =>
  Effect.map(bucket.list(key, 1), ([first]) => first?.key === key)

/** The hash and the size of what is under a key, or `none`. */
const hashOf = ({ bucket }: Audit, key: string) =>
  Effect.suspend(() => {
    const hash = createHash("sha256")
    return bucket.stream(key).pipe(
      Stream.runFold(0, (size, piece) => {
        hash.update(piece)
        return size + piece.length
      }),
      Effect.map((size) => Option.some({ hash: hash.digest("hex"), size })),
      Effect.catchAll(({ error, kind }) => (kind === "absent" ? Effect.succeedNone : error))
    )
  })

const auditBytes = (audit: Audit, { key, place }: Ticket, { hash, meta: { bytes, ref } }: Kept): Result<void> =>
  Effect.gen(function* () {
    const at = S3Key.bytesKey(audit.root, place, ref)
    const found = yield* hashOf(audit, at)
    if (Option.isNone(found)) {
      if (!(yield* isThere(audit, key))) return
      return yield* leftover(audit, "no-bytes", key, "It is a ticket without its bytes.", ref)
    }
    if (found.value.hash !== hash) {
      return tell(audit, "bytes-changed", at, `Its ${found.value.size} bytes are not the ${bytes} that were put.`, ref)
    }
    audit.artifacts += 1
    audit.bytes += bytes
  })

const auditTicket = (audit: Audit, ticket: Ticket): Result<void> =>
  Effect.gen(function* () {
    const { key, place, row } = ticket
    const bytes = yield* audit.bucket.read(key, S3Medium.maxTicket)
    // It went while it was looked for.
    if (Option.isNone(bytes)) return
    const kept = S3Medium.ticketOf(audit.root, place, row.ref, key, bytes.value)
    if (Either.isLeft(kept)) {
      return tell(audit, "ticket-changed", key, `The artifact cannot be read: ${kept.left}.`, row.ref)
    }
    yield* auditBytes(audit, ticket, kept.right)
  })

/** The tickets that the keys say; a key that the store did not make is told of. */
const ticketsIn = (audit: Audit, listed: ReadonlyArray<Listed>): ReadonlyArray<Ticket> =>
  listed.flatMap(({ key }) => {
    const part = Option.getOrUndefined(S3Key.partOf(audit.root, key))
    const row = part === undefined ? undefined : Option.getOrUndefined(S3Key.rowIn(part.name))
    if (part !== undefined && row !== undefined) {
      audit.scopes.add(part.place.prefix)
      return [{ key, place: part.place, row }]
    }
    tell(audit, "foreign", key, "The store made no such object.")
    return []
  })

const auditAlone = (audit: Audit, listed: Listed, place: Place, ref: Artifact.Ref): Result<void> =>
  Effect.gen(function* () {
    if (!(yield* isOld(audit, listed))) return
    const [ticket] = yield* audit.bucket.list(S3Key.ticketPrefix(audit.root, place, ref), 1)
    if (ticket !== undefined || !(yield* isThere(audit, listed.key))) return
    const remove = isSure(audit, place) ? Option.some(audit.bucket.remove(listed.key)) : Option.none()
    yield* leftover(audit, "no-ticket", listed.key, "These are bytes without their ticket.", ref, remove)
  })

/** A fault of the store at one object is told of, and the others are looked at. */
const each = <A>(audit: Audit, all: ReadonlyArray<A>, keyOf: (item: A) => string, look: (item: A) => Result<void>) =>
  Effect.forEach(
    all,
    (item) =>
      Effect.catchAll(look(item), ({ message }) => Effect.sync(() => tell(audit, "unreadable", keyOf(item), message))),
    { concurrency, discard: true }
  )

const auditUploads = (audit: Audit): Result<void> =>
  Effect.gen(function* () {
    const { bucket, root } = audit
    const uploads = yield* Effect.either(bucket.uploads(`${root}bytes/`))
    if (Either.isLeft(uploads)) return tell(audit, "unreadable", `${root}bytes/`, uploads.left.message)
    yield* each(
      audit,
      uploads.right,
      ({ key }) => key,
      (upload) =>
        Effect.gen(function* () {
          const part = Option.getOrUndefined(S3Key.partOf(root, upload.key))
          if (part === undefined || !Artifact.isRef(part.name)) {
            return tell(audit, "foreign", upload.key, "The store began no such upload.")
          }
          if (!(yield* isOld(audit, upload))) return
          const abort = Option.some(bucket.abort(upload))
          yield* leftover(audit, "staged", upload.key, "A put that never ended left it.", part.name, abort)
        })
    )
  })

const byPlace = (self: Problem, that: Problem): number =>
  self.where < that.where ? -1 : self.where > that.where ? 1 : 0

/**
 * Fails if the bucket cannot be listed; whatever is wrong inside of it is in the report. What is younger than an hour may
 * be of a put that still runs, and is not told of. An object under `prefix` that is neither bytes nor a ticket is foreign.
 */
export const verify = ({
  repair = false,
  ...options
}: Options): Effect.Effect<Report, ArtifactStoreError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const connection = yield* S3Connection.open(options)
    const { bucket, root } = connection
    const audit: Audit = { ...connection, repair, problems: [], scopes: new Set(), artifacts: 0, bytes: 0 }
    const listed = yield* bucket.list(root)
    const isBytes = ({ key }: Listed): boolean => key.startsWith(`${root}bytes/`)
    const tickets = ticketsIn(
      audit,
      listed.filter((object) => !isBytes(object))
    )
    const known = new Set(tickets.map(({ place, row }) => S3Key.bytesKey(root, place, row.ref)))
    yield* each(
      audit,
      tickets,
      ({ key }) => key,
      (ticket) => auditTicket(audit, ticket)
    )
    yield* each(
      audit,
      listed.filter(isBytes),
      ({ key }) => key,
      (object) =>
        Effect.suspend(() => {
          const part = Option.getOrUndefined(S3Key.partOf(root, object.key))
          if (part === undefined || !Artifact.isRef(part.name)) {
            tell(audit, "foreign", object.key, "The store made no such object.")
            return Effect.void
          }
          return known.has(object.key) ? Effect.void : auditAlone(audit, object, part.place, part.name)
        })
    )
    yield* auditUploads(audit)
    const { artifacts, bytes, problems, scopes } = audit
    return { scopes: scopes.size, artifacts, bytes, problems: problems.sort(byPlace) }
  })
