/**
 * An `S3ArtifactStore` keeps artifacts in a bucket of an object store that speaks S3: Amazon's own, or a compatible one.
 *
 * @since 0.1.0
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Retention from "../kernel/Retention.ts"
import * as ArtifactPut from "./ArtifactPut.ts"
import * as ArtifactStore from "./ArtifactStore.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"
import * as ArtifactStreams from "./ArtifactStreams.ts"
import * as ArtifactVerbs from "./ArtifactVerbs.ts"
import * as S3Connection from "./S3Connection.ts"
import * as S3Medium from "./S3Medium.ts"

export type { Report } from "./ArtifactReport.ts"
export { verify } from "./S3ArtifactAudit.ts"
export type { Credentials } from "./S3Signer.ts"

/** Where the bucket is and how it is reached, and limits of every scope, of which an absent one is none. */
export interface Options extends S3Connection.Options, Retention.Limits {}

/** A store over the bucket. */
export const make = (
  options: Options
): Effect.Effect<typeof ArtifactStore.ArtifactStore.Service, ArtifactStoreError, HttpClient.HttpClient> =>
  Effect.gen(function* () {
    const { maxBytesPerScope, maxCountPerScope, ttlMs } = options
    const limits = yield* ArtifactPut.limitsOf({
      ...(ttlMs === undefined ? {} : { ttlMs }),
      ...(maxBytesPerScope === undefined ? {} : { maxBytesPerScope }),
      ...(maxCountPerScope === undefined ? {} : { maxCountPerScope })
    })
    const medium = S3Medium.make(yield* S3Connection.open(options))
    return { ...ArtifactVerbs.make(medium, limits), ...ArtifactStreams.make(medium, limits) }
  })

/**
 * Keeps artifacts in a bucket, two objects for each, over any `HttpClient`. The packages `aws4fetch` and `fast-xml-parser`
 * have to be installed. What goes first is what was put first. Any number of processes can share the bucket: each put is
 * whole or absent, but limits are kept by each process for itself, so that puts of two at once may go over them until the
 * next one. The object store has to list and read what it has acknowledged, as Amazon's does.
 */
export const layer = (
  options: Options
): Layer.Layer<ArtifactStore.ArtifactStore, ArtifactStoreError, HttpClient.HttpClient> =>
  Layer.effect(ArtifactStore.ArtifactStore, make(options))
