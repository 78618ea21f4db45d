/**
 * An `S3Signer` makes requests that an object store takes for ours: with Signature Version 4, over what is sent and when.
 *
 * @internal
 */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpMethod from "@effect/platform/HttpMethod"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as ArtifactPut from "./ArtifactPut.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import * as S3Fault from "./S3Fault.ts"

/** `sessionToken` is there if the credentials are temporary. */
export interface Credentials {
  readonly accessKeyId: Redacted.Redacted
  readonly secretAccessKey: Redacted.Redacted
  readonly sessionToken?: Redacted.Redacted
}

/** A request, before it is signed. `key` is absent for one about the bucket. */
export interface Unsigned {
  readonly method: HttpMethod.HttpMethod
  readonly key?: string
  readonly query?: { readonly [name: string]: string }
  readonly headers?: { readonly [name: string]: string }
  readonly body?: Uint8Array
}

export interface Signer {
  readonly sign: (request: Unsigned) => Effect.Effect<HttpClientRequest.HttpClientRequest, S3Fault.S3Fault>

  /** Takes the time that the store says it is for the time from now on, if it is one. */
  readonly follow: (date: string | undefined) => Effect.Effect<boolean>

  /** The store's time, as far as it is known, in milliseconds since the epoch. */
  readonly now: Effect.Effect<number>
}

export interface Options {
  /** The URL of the bucket, without a slash at its end. */
  readonly url: string
  readonly region: string
  readonly credentials: Effect.Effect<Credentials, ArtifactStoreError>
}

/** `AwsV4Signer` of `aws4fetch`, as far as it is used here: who has no bucket has not the types of that package. */
type Signing = new (request: {
  readonly method: string
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
  readonly service: string
  readonly region: string
  readonly datetime: string
}) => { readonly sign: () => Promise<{ readonly headers: Iterable<readonly [string, string]> }> }

const stamp = (ms: number): string => new Date(ms).toISOString().replace(/[:-]|\.\d{3}/g, "")

/** Sorted, so that what is signed is what is sent. */
const urlOf = (url: string, { key, query = {} }: Unsigned): string => {
  const path = key === undefined ? "" : `/${key}`
  const search = new URLSearchParams(Object.entries(query))
  search.sort()
  return search.size === 0 ? `${url}${path}` : `${url}${path}?${search.toString()}`
}

export const make = (Signed: Signing, { credentials, region, url }: Options): Signer => {
  let offset = 0
  const now = Effect.map(Clock.currentTimeMillis, (ms) => ms + offset)
  return {
    now,

    follow: (date = "") =>
      Effect.map(Clock.currentTimeMillis, (ms) => {
        const theirs = Date.parse(date)
        if (Number.isNaN(theirs)) return false
        offset = theirs - ms
        return true
      }),

    sign: (request) =>
      Effect.gen(function* () {
        const { body, headers = {}, method } = request
        const { accessKeyId, secretAccessKey, sessionToken } = yield* Effect.mapError(credentials, S3Fault.of)
        const at = urlOf(url, request)
        const ms = yield* now
        const signed = yield* Effect.tryPromise({
          try: () =>
            new Signed({
              method,
              url: at,
              headers: { ...headers, "x-amz-content-sha256": ArtifactPut.sha256(body ?? new Uint8Array()) },
              accessKeyId: Redacted.value(accessKeyId),
              secretAccessKey: Redacted.value(secretAccessKey),
              ...(sessionToken === undefined ? {} : { sessionToken: Redacted.value(sessionToken) }),
              service: "s3",
              region,
              datetime: stamp(ms)
            }).sign(),
          catch: () => S3Fault.unsendable
        })
        const plain = HttpClientRequest.make(method)(at).pipe(HttpClientRequest.setHeaders(signed.headers))
        return body === undefined ? plain : HttpClientRequest.bodyUint8Array(plain, body)
      })
  }
}
