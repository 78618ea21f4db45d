/**
 * An `ArtifactStore` keeps artifacts and gives them back, each in its scope. It answers no queries and changes no data.
 *
 * @since 0.1.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import type * as Artifact from "../kernel/Artifact.ts"
import type * as Retention from "../kernel/Retention.ts"
import { type ArtifactStoreError, failure } from "./ArtifactStoreError.ts"
import * as FileSystemArtifactStore from "./FileSystemArtifactStore.ts"
import * as MemoryArtifactStore from "./MemoryArtifactStore.ts"

export type { Limits } from "../kernel/Retention.ts"
export { ArtifactStoreError } from "./ArtifactStoreError.ts"
export type { Options as FileSystemOptions } from "./FileSystemArtifactStore.ts"
export { Entropy } from "./Entropy.ts"

/** What was stored, and what had to make room for it. */
export interface Put {
  readonly meta: Artifact.Meta
  readonly swept: ReadonlyArray<Artifact.Swept>
}

/** A page of tickets. `cursor` is present iff there are more. */
export interface Page {
  readonly artifacts: ReadonlyArray<Artifact.Meta>
  readonly cursor?: string
}

/**
 * What is stored from a stream. `bytes` is how many the body has; one that has more or less, or that fails, is refused and
 * leaves nothing. The ticket has no digest.
 */
export interface PutStreamInput extends Omit<Artifact.PutInput, "data" | "digest"> {
  readonly bytes: number
  readonly body: Stream.Stream<Uint8Array, ArtifactStoreError>
}

/** A ticket, and the stored bytes as they are: they are not verified. */
export interface StoredStream {
  readonly meta: Artifact.Meta
  readonly body: Stream.Stream<Uint8Array, ArtifactStoreError>
}

export class ArtifactStore extends Context.Tag("wherefore/services/ArtifactStore")<
  ArtifactStore,
  {
    /** Stores data and returns its ticket. Storing it twice makes two artifacts. A refused put changes nothing. */
    readonly put: (scope: Artifact.Scope, input: Artifact.PutInput) => Effect.Effect<Put, ArtifactStoreError>

    /** The ticket alone. Missing, expired, malformed and another scope's are the same `none`, here and in `get`. */
    readonly head: (
      scope: Artifact.Scope,
      ref: string
    ) => Effect.Effect<Option.Option<Artifact.Meta>, ArtifactStoreError>

    /** The ticket and the data, once the stored bytes are proven to be those that were put. */
    readonly get: (
      scope: Artifact.Scope,
      ref: string
    ) => Effect.Effect<Option.Option<Artifact.Stored>, ArtifactStoreError>

    /** Makes sure that it is gone. */
    readonly delete: (scope: Artifact.Scope, ref: string) => Effect.Effect<void, ArtifactStoreError>

    /** The tickets of the scope, newest first, each once: 50 to a page unless `limit` says otherwise. */
    readonly list: (
      scope: Artifact.Scope,
      options?: { readonly cursor?: string; readonly limit?: number }
    ) => Effect.Effect<Page, ArtifactStoreError>

    /** As `put`, without holding the data whole. Absent, like `getStream`, in a store that would have to. */
    readonly putStream?: (scope: Artifact.Scope, input: PutStreamInput) => Effect.Effect<Put, ArtifactStoreError>

    /** As `get`, piece by piece, of whatever was put; the bytes of a value are its canonical JSON. */
    readonly getStream?: (
      scope: Artifact.Scope,
      ref: string
    ) => Effect.Effect<Option.Option<StoredStream>, ArtifactStoreError>

    /** There is no store, and every verb fails with `NotConfigured`. */
    readonly isNone?: true
  }
>() {}

/** Keeps artifacts in memory: at most 256 and 32 MiB a scope, unless `limits` say otherwise. */
export function layerMemory(): Layer.Layer<ArtifactStore>
/** Fails with `InvalidInput` if a limit is not finite and above zero. */
export function layerMemory(limits: Retention.Limits): Layer.Layer<ArtifactStore, ArtifactStoreError>
export function layerMemory(limits?: Retention.Limits): Layer.Layer<ArtifactStore, ArtifactStoreError> {
  return Layer.effect(ArtifactStore, MemoryArtifactStore.make(limits))
}

/**
 * Keeps artifacts in a directory, two files for each, in folders that are named after the scope. An absent limit is none;
 * what goes first is what was put first. What was acknowledged survives a loss of power, and a put that was not is not
 * there. Several processes on one machine can share the directory: each put is whole or absent, but limits are kept by
 * each process for itself, so that puts of two at once may go over them until the next one.
 */
export const layerFileSystem = (
  options: FileSystemArtifactStore.Options
): Layer.Layer<ArtifactStore, ArtifactStoreError, FileSystem.FileSystem> =>
  Layer.effect(ArtifactStore, FileSystemArtifactStore.make(options))

const notConfigured = Effect.suspend(() =>
  failure("NotConfigured", { what: "This application was started without an artifact store." })
)

/** No store: every verb fails with `NotConfigured`. */
export const layerNone: Layer.Layer<ArtifactStore> = Layer.succeed(ArtifactStore, {
  put: () => notConfigured,
  head: () => notConfigured,
  get: () => notConfigured,
  delete: () => notConfigured,
  list: () => notConfigured,
  isNone: true
})
