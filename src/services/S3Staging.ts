/**
 * An `S3Staging` takes a body of any length to an object store in parts that nobody sees until they are made an object.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import type * as S3Bucket from "./S3Bucket.ts"
import type * as S3Fault from "./S3Fault.ts"

/** What was staged, and how it is made an object. */
export interface Staged {
  readonly create: Effect.Effect<void, S3Fault.S3Fault>
}

/** Of how many parts the protocol makes an object. */
const maxParts = 10_000

const tooLong = (partBytes: number): ArtifactStoreError =>
  failure("OverBudget", {
    what: "The body is too long for the parts that it is sent in.",
    expected: `at most ${maxParts * partBytes} bytes`,
    next: "Raise partBytes, or store less."
  })

/** Sends a body; one that fits into a part is kept until it is made an object. What was not goes with the scope. */
export const stage = (
  bucket: S3Bucket.Bucket,
  key: string,
  body: Stream.Stream<Uint8Array, ArtifactStoreError>,
  partBytes: number
): Effect.Effect<Staged, ArtifactStoreError, Scope.Scope> =>
  Effect.gen(function* () {
    const part = new Uint8Array(partBytes)
    const etags: Array<string> = []
    let filled = 0
    let isObject = false

    const begin = Effect.acquireRelease(bucket.begin(key), (upload) =>
      isObject
        ? Effect.void
        : Effect.catchAll(bucket.abort(upload), ({ message }) =>
            Effect.logWarning(`The parts of a body that was not stored could not be removed. ${message}`)
          )
    )

    // What begins once stays begun, for all parts.
    let upload: S3Bucket.Upload | undefined
    const send = (bytes: Uint8Array) =>
      Effect.gen(function* () {
        if (etags.length === maxParts) return yield* tooLong(partBytes)
        upload ??= yield* begin
        etags.push(yield* bucket.part(upload, etags.length + 1, bytes))
        filled = 0
      })

    const take = (piece: Uint8Array) =>
      Effect.gen(function* () {
        for (let at = 0; at < piece.length;) {
          const taken = piece.subarray(at, at + partBytes - filled)
          part.set(taken, filled)
          filled += taken.length
          at += taken.length
          if (filled === partBytes) yield* send(part)
        }
      })

    yield* Stream.runForEach(body, take)
    if (upload === undefined) {
      return { create: bucket.create(key, part.slice(0, filled)) }
    }
    if (filled > 0) yield* send(part.subarray(0, filled))
    return { create: Effect.tap(bucket.complete(upload, etags), () => (isObject = true)) }
  })
