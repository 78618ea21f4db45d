/**
 * `ArtifactRows` are artifacts in tables: a row with the ticket, and rows with the bytes in pieces.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Artifact from "../kernel/Artifact.ts"
import type * as Retention from "../kernel/Retention.ts"
import type { Kept, Place, Query, Streaming } from "./ArtifactMedium.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import * as ArtifactReading from "./ArtifactReading.ts"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import type { Tables } from "./ArtifactTables.ts"
import * as ArtifactTicket from "./ArtifactTicket.ts"
import * as RecordLock from "./RecordLock.ts"

type Result<A> = Effect.Effect<A, ArtifactStoreError>

/** Of how many bytes a piece is. */
const pieceSize = 262_144

/** How many pieces are read at once. */
const piecesAtOnce = 8

/** How many refs a statement names. */
const refsAtOnce = 500

const parse = Schema.decodeUnknownOption(Schema.parseJson(Schema.String))

/** What a row says of an artifact. All but `ticket` repeats it, for queries; `kind` is quoted as JSON. */
export interface Row {
  readonly ref: string
  readonly ticket: string
  readonly kind: string
  readonly size: number
  readonly created: number
  readonly expires: number | null
}

/** The key of a place: its prefix may be longer than an index takes. */
export const keyOf = ({ prefix }: Place): string => ArtifactPut.sha256(new TextEncoder().encode(prefix))

const columnsOf = ({ bytes, createdAt, expiresAt, kind }: Artifact.Meta) => ({
  kind: JSON.stringify(kind),
  size: bytes,
  created: createdAt,
  expires: expiresAt ?? null
})

/** The kind that a row has, which is text for which a database may have no character. */
const kindOf = (quoted: string): string => Option.getOrElse(parse(quoted), () => quoted)

/** What a row keeps, if it is the row of this ref in this place. */
export const decode = (place: Place, ref: Artifact.Ref, row: Row): Either.Either<Kept, string> =>
  Either.filterOrLeft(
    ArtifactTicket.decode(place, ref, row.ticket),
    ({ meta }) => {
      const { created, expires, kind, size } = columnsOf(meta)
      return row.kind === kind && row.size === size && row.created === created && row.expires === expires
    },
    () => "its row is not what its ticket says"
  )

/** The pieces of a body in order. */
export const pieces = (
  { pieces, run, sql }: Tables,
  key: string,
  ref: Artifact.Ref
): Stream.Stream<Uint8Array, ArtifactStoreError> =>
  Stream.paginateChunkEffect(-1, (last) =>
    Effect.map(
      run(
        sql<{ seq: number; bytes: Uint8Array }>`SELECT seq, bytes FROM ${sql(pieces)}
          WHERE ref = ${ref} AND place = ${key} AND seq > ${last} ORDER BY seq LIMIT ${piecesAtOnce}`
      ),
      (rows) => [
        Chunk.unsafeFromArray(rows.map(({ bytes }) => bytes)),
        Option.map(Option.fromNullable(rows[piecesAtOnce - 1]), ({ seq }) => seq)
      ]
    )
  )

/** Removes bytes and what names them. */
export const erase = (
  { artifacts, pieces, run, sql }: Tables,
  key: string,
  refs: ReadonlyArray<string>
): Result<void> =>
  Effect.forEach(
    Array.from({ length: Math.ceil(refs.length / refsAtOnce) }, (_, n) =>
      refs.slice(n * refsAtOnce, (n + 1) * refsAtOnce)
    ),
    (some) =>
      Effect.zipRight(
        run(sql`DELETE FROM ${sql(artifacts)} WHERE place = ${key} AND ${sql.in("ref", some)}`),
        run(sql`DELETE FROM ${sql(pieces)} WHERE place = ${key} AND ${sql.in("ref", some)}`)
      ),
    { discard: true }
  )

/** Ends an upload; whether there was one. */
export const endUpload = ({ run, sql, uploads }: Tables, key: string, ref: Artifact.Ref): Result<boolean> =>
  Effect.map(
    run(sql`DELETE FROM ${sql(uploads)} WHERE ref = ${ref} AND place = ${key} RETURNING ref`),
    (ended) => ended.length > 0
  )

const lost = failure("Unavailable", {
  what: "The upload was taken for one that nobody continues, and was removed.",
  next: "Store the artifact again."
})

/** The tables as a medium. Puts take turns by a lock of the database. Recency is kept if that is asked for. */
export const medium = (tables: Tables, keepsRecency: boolean): Streaming<void> => {
  const { artifacts, lock, run, sql, uploads, whole } = tables

  const find = (place: Place, ref: Artifact.Ref): Result<Option.Option<Kept>> =>
    Effect.gen(function* () {
      const [row] = yield* run(
        sql<Row>`SELECT ref, ticket, kind, size, created, expires FROM ${sql(artifacts)}
          WHERE ref = ${ref} AND place = ${keyOf(place)}`
      )
      if (row === undefined) return Option.none()
      return Option.some(
        yield* Either.mapLeft(decode(place, ref, row), (found) => ArtifactReading.unreadable(ref, found))
      )
    })

  const insert = (place: Place, { hash, meta, order, shape }: Kept): Result<void> =>
    Effect.asVoid(
      run(
        sql`INSERT INTO ${sql(artifacts)} ${sql.insert({
          ref: meta.ref,
          place: keyOf(place),
          scope: place.prefix,
          ticket: ArtifactTicket.encode(place, { hash, meta, order, shape }),
          ...columnsOf(meta),
          accessed: order
        })}`
      )
    )

  const insertPiece = (place: Place, ref: Artifact.Ref, seq: number, bytes: Uint8Array): Result<void> =>
    Effect.asVoid(run(sql`INSERT INTO ${sql(tables.pieces)} ${sql.insert({ ref, place: keyOf(place), seq, bytes })}`))

  const evicted = (place: Place, evict: ReadonlyArray<Artifact.Swept>) =>
    Effect.as(
      erase(
        tables,
        keyOf(place),
        evict.map(({ ref }) => ref)
      ),
      evict
    )

  const continueUpload = (place: Place, ref: Artifact.Ref, seq: number, bytes: Uint8Array): Result<void> =>
    whole(
      Effect.gen(function* () {
        const written = yield* Clock.currentTimeMillis
        const continued = yield* run(
          sql`UPDATE ${sql(uploads)} SET written = ${written} WHERE ref = ${ref} AND place = ${keyOf(place)} RETURNING ref`
        )
        if (continued.length === 0) return yield* lost
        yield* insertPiece(place, ref, seq, bytes)
      })
    )

  const begin = (place: Place, ref: Artifact.Ref) =>
    Effect.gen(function* () {
      const written = yield* Clock.currentTimeMillis
      const upload = { ref, place: keyOf(place), scope: place.prefix, maker: RecordLock.self(), written }
      yield* run(sql`INSERT INTO ${sql(uploads)} ${sql.insert(upload)}`)
    })

  /** Removes what was written, unless it became an artifact. */
  const abandon = (place: Place, ref: Artifact.Ref) =>
    Effect.ignore(
      whole(
        Effect.flatMap(endUpload(tables, keyOf(place), ref), (ended) =>
          ended ? erase(tables, keyOf(place), [ref]) : Effect.void
        )
      )
    )

  const body = (place: Place, { meta: { bytes, ref } }: Kept): Stream.Stream<Uint8Array, ArtifactStoreError> =>
    Stream.suspend(() => {
      let size = 0
      const counted = Stream.mapChunks(pieces(tables, keyOf(place), ref), (some) => {
        for (const { length } of some) size += length
        return some
      })
      const ended = Effect.suspend(() =>
        size < bytes ? ArtifactReading.unreadable(ref, "its bytes are missing") : Effect.void
      )
      return Stream.concat(counted, Stream.execute(ended))
    })

  return {
    exclusively: (place) => (effect) => whole(Effect.zipRight(lock(place.prefix), effect)),
    find,

    ...(keepsRecency
      ? {
          touch: (place: Place, ref: Artifact.Ref) => {
            const last = sql`(SELECT MAX(accessed) FROM ${sql(artifacts)} WHERE place = ${keyOf(place)})`
            // The one that was accessed last stays so without a write.
            return Effect.asVoid(
              run(
                sql`UPDATE ${sql(artifacts)} SET accessed = ${last} + 1
                  WHERE ref = ${ref} AND place = ${keyOf(place)} AND accessed < ${last}`
              )
            )
          }
        }
      : {}),

    load: (place, kept) =>
      Effect.gen(function* () {
        const { bytes, ref } = kept.meta
        const found = Chunk.toReadonlyArray(yield* Stream.runCollect(pieces(tables, keyOf(place), ref)))
        const whole = Buffer.concat(found)
        if (whole.length >= bytes) return Option.some(whole)
        // It went while it was read, or is not what was put.
        return found.length > 0 && Option.isSome(yield* find(place, ref)) ? Option.some(whole) : Option.none()
      }),

    holdings: (place) =>
      Effect.map(
        run(
          sql<Omit<Row, "ticket" | "created"> & { readonly accessed: number }>`SELECT ref, kind, size, expires, accessed
            FROM ${sql(artifacts)} WHERE place = ${keyOf(place)}`
        ),
        (rows) =>
          rows.map(({ accessed, expires, kind, ref, size }): Retention.Row => ({
            ref,
            kind: kindOf(kind),
            bytes: size,
            lastAccessedAt: accessed,
            ...(expires === null ? {} : { expiresAt: expires })
          }))
      ),

    commit: (place, kept, bytes, evict) =>
      Effect.gen(function* () {
        yield* insert(place, kept)
        for (let seq = 0; seq * pieceSize < bytes.length; seq++) {
          yield* insertPiece(place, kept.meta.ref, seq, bytes.subarray(seq * pieceSize, (seq + 1) * pieceSize))
        }
        return yield* evicted(place, evict)
      }),

    remove: (place, ref) => whole(erase(tables, keyOf(place), [ref])),

    page: (place, { after, count, now }: Query) =>
      Effect.gen(function* () {
        const next = Option.match(after, {
          onNone: () => sql`1 = 1`,
          onSome: ({ createdAt, ref }) => sql`(created < ${createdAt} OR (created = ${createdAt} AND ref > ${ref}))`
        })
        const rows = yield* run(
          sql<Row & { readonly ref: Artifact.Ref }>`SELECT ref, ticket, kind, size, created, expires
            FROM ${sql(artifacts)} WHERE place = ${keyOf(place)} AND (expires IS NULL OR expires > ${now}) AND ${next}
            ORDER BY created DESC, ref LIMIT ${count}`
        )
        return yield* Either.all(
          rows.map((row) =>
            Either.mapBoth(decode(place, row.ref, row), {
              onLeft: (found) => ArtifactReading.unreadable(row.ref, found),
              onRight: ({ meta }) => meta
            })
          )
        )
      }),

    stage: (place, ref, source) =>
      Effect.gen(function* () {
        yield* Effect.acquireRelease(begin(place, ref), () => abandon(place, ref))
        // A driver is done with a piece when its statement is.
        const piece = new Uint8Array(pieceSize)
        let filled = 0
        let seq = 0
        const flush = Effect.suspend(() => {
          const whole = piece.subarray(0, filled)
          filled = 0
          return continueUpload(place, ref, seq++, whole)
        })
        yield* Stream.runForEach(source, (given) =>
          Effect.gen(function* () {
            for (let at = 0; at < given.length;) {
              const some = given.subarray(at, at + pieceSize - filled)
              piece.set(some, filled)
              filled += some.length
              at += some.length
              if (filled === pieceSize) yield* flush
            }
          })
        )
        if (filled > 0) yield* flush
      }),

    commitStaged: (place, kept, _, evict) =>
      Effect.gen(function* () {
        if (!(yield* endUpload(tables, keyOf(place), kept.meta.ref))) return yield* lost
        yield* insert(place, kept)
        return yield* evicted(place, evict)
      }),

    body
  }
}
