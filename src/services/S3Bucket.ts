/**
 * An `S3Bucket` is what an object store can be asked to do with the objects of one bucket. Whatever is tried twice is
 * done once.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import * as S3Answer from "./S3Answer.ts"
import * as S3Fault from "./S3Fault.ts"
import type { Http } from "./S3Http.ts"
import type { Unsigned } from "./S3Signer.ts"

export interface Options {
  readonly http: Http
  readonly parser: S3Answer.Parser
  /** Whether the store takes a write that is for an absent key alone. */
  readonly conditionalWrites: boolean
}

/** An object or an upload, and when it was made as far as the store says, in milliseconds since the epoch. */
export interface Listed {
  readonly key: string
  readonly at: number | undefined
}

export interface ListedUpload extends Listed {
  readonly id: string
}

/** An upload whose parts were sent. `token` tells its object from others. */
export interface Upload {
  readonly key: string
  readonly id: string
  readonly token: string
}

type Result<A> = Effect.Effect<A, S3Fault.S3Fault>
type Told<A> = Effect.Effect<A, ArtifactStoreError>

/** Which put wrote an object, so that one whose reply was lost is known for ours. */
const tokenHeader = "x-amz-meta-wherefore-put"

const told = <A>(effect: Result<A>): Told<A> => Effect.mapError(effect, ({ error }) => error)

const timeOf = (text = ""): number | undefined => {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

const isMore = (text: string | undefined): boolean => text?.trim() === "true"

const orNone = <A>(effect: Result<A>): Result<Option.Option<A>> =>
  Effect.catchIf(
    Effect.asSome(effect),
    ({ kind }) => kind === "absent",
    () => Effect.succeedNone
  )

export const make = ({ conditionalWrites, http, parser }: Options) => {
  const ifAbsent = conditionalWrites ? { "if-none-match": "*" } : {}

  const newToken = Effect.sync(() => crypto.randomUUID())

  /** Whether the object under the key was written with the token. */
  const isOurs = (key: string, token: string): Result<boolean> =>
    Effect.map(orNone(http.send({ method: "HEAD", key })), (found) =>
      Option.exists(found, ({ headers }) => headers[tokenHeader] === token)
    )

  const remove = (key: string): Result<void> => Effect.asVoid(orNone(http.send({ method: "DELETE", key })))

  /** Removes what a write left that nobody waits for any more, if it did. */
  const undo = (key: string, token: string): Effect.Effect<void> =>
    Effect.ignore(Effect.flatMap(isOurs(key, token), (ours) => (ours ? remove(key) : Effect.void)))

  /** Writes what makes an object. Where nobody can say whether it did, the object does. */
  const written = (key: string, token: string, write: Result<unknown>): Result<void> =>
    Effect.catchAll(Effect.asVoid(write), (fault) =>
      fault.isAmbiguous
        ? Effect.flatMap(Effect.mapError(isOurs(key, token), S3Fault.unsure), (ours) => (ours ? Effect.void : fault))
        : fault
    ).pipe(Effect.onInterrupt(() => undo(key, token)))

  const objects = (
    prefix: string,
    count: number,
    token: string | undefined
  ): Result<typeof S3Answer.Objects.Type.ListBucketResult> =>
    Effect.map(
      Effect.flatMap(
        http.send({
          method: "GET",
          query: {
            "list-type": "2",
            prefix,
            "max-keys": String(count),
            ...(token === undefined ? {} : { "continuation-token": token })
          }
        }),
        ({ body }) => S3Answer.read(S3Answer.Objects)(parser, body)
      ),
      ({ ListBucketResult }) => ListBucketResult
    )

  return {
    /** Makes an object under a key that has none: otherwise the fault is `exists`. */
    create: (key: string, body: Uint8Array): Result<void> =>
      Effect.flatMap(newToken, (token) =>
        written(key, token, http.send({ method: "PUT", key, body, headers: { ...ifAbsent, [tokenHeader]: token } }))
      ),

    /** The bytes under a key, or the beginning of more than `max` of them. */
    read: (key: string, max: number): Told<Option.Option<Uint8Array>> =>
      told(
        Effect.map(
          orNone(http.send({ method: "GET", key }, max)),
          Option.map(({ body }) => body)
        )
      ),

    /** The bytes under a key, a piece at a time. */
    stream: (key: string): Stream.Stream<Uint8Array, S3Fault.S3Fault> => http.stream({ method: "GET", key }),

    /** Makes sure that nothing is under the key. */
    remove: (key: string): Told<void> => told(remove(key)),

    /** The keys with a prefix, in the order of the store: all of them, or at most `count`. */
    list: (prefix: string, count = Infinity): Told<ReadonlyArray<Listed>> =>
      told(
        Effect.gen(function* () {
          const found: Array<Listed> = []
          let token: string | undefined
          for (;;) {
            const page: typeof S3Answer.Objects.Type.ListBucketResult = yield* objects(
              prefix,
              Math.min(1_000, count - found.length),
              token
            )
            for (const { Key, LastModified } of page.Contents) {
              if (Key.startsWith(prefix)) found.push({ key: Key, at: timeOf(LastModified) })
            }
            if (!isMore(page.IsTruncated) || found.length >= count) return found
            const next = page.NextContinuationToken
            if (next === undefined || next === token) return yield* S3Fault.strange("a page that leads to itself")
            token = next
          }
        })
      ),

    begin: (key: string): Told<Upload> =>
      told(
        Effect.gen(function* () {
          const token = yield* newToken
          const { body } = yield* http.send({
            method: "POST",
            key,
            query: { uploads: "" },
            headers: { [tokenHeader]: token }
          })
          const begun = yield* S3Answer.read(S3Answer.Begun)(parser, body)
          return { key, id: begun.InitiateMultipartUploadResult.UploadId, token }
        })
      ),

    /** Sends a part, of which the first has the number 1, and gives what the store calls it. */
    part: ({ id, key }: Upload, number: number, body: Uint8Array): Told<string> =>
      told(
        Effect.flatMap(
          http.send({ method: "PUT", key, query: { partNumber: String(number), uploadId: id }, body }),
          ({ headers: { etag } }) =>
            etag === undefined || !/^"?[\w+/=-]{1,128}"?$/.test(etag)
              ? S3Fault.strange("a part without its etag")
              : Effect.succeed(etag.replaceAll('"', ""))
        )
      ),

    /** Makes an object of the parts, as `create` does. */
    complete: ({ id, key, token }: Upload, etags: ReadonlyArray<string>): Result<void> => {
      const parts = etags.map(
        (etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`
      )
      const request: Unsigned = {
        method: "POST",
        key,
        query: { uploadId: id },
        headers: ifAbsent,
        body: new TextEncoder().encode(`<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`)
      }
      const sent = Effect.flatMap(http.send(request), ({ body }) => S3Answer.read(S3Answer.Completed)(parser, body))
      return written(key, token, sent)
    },

    /** Makes sure that the parts of the upload are gone. */
    abort: ({ id, key }: Pick<Upload, "id" | "key">): Told<void> =>
      told(
        Effect.catchIf(
          Effect.asVoid(http.send({ method: "DELETE", key, query: { uploadId: id } })),
          ({ kind }) => kind === "no-upload" || kind === "absent",
          () => Effect.void
        )
      ),

    /** The uploads that nobody completed, of keys with a prefix. */
    uploads: (prefix: string): Told<ReadonlyArray<ListedUpload>> =>
      told(
        Effect.gen(function* () {
          const found: Array<ListedUpload> = []
          let marker: { readonly [name: string]: string } = {}
          for (;;) {
            const query = { uploads: "", prefix, ...marker }
            const { body } = yield* http.send({ method: "GET", query })
            const page = (yield* S3Answer.read(S3Answer.Uploads)(parser, body)).ListMultipartUploadsResult
            for (const { Initiated, Key, UploadId } of page.Upload) {
              if (Key.startsWith(prefix)) found.push({ key: Key, id: UploadId, at: timeOf(Initiated) })
            }
            if (!isMore(page.IsTruncated)) return found
            const next = { "key-marker": page.NextKeyMarker ?? "", "upload-id-marker": page.NextUploadIdMarker ?? "" }
            if (next["key-marker"] === "" || JSON.stringify(next) === JSON.stringify(marker)) {
              return yield* S3Fault.strange("a page that leads to itself")
            }
            marker = next
          }
        })
      )
  }
}

export type Bucket = ReturnType<typeof make>
