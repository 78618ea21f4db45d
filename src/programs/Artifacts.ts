/**
 * `Artifacts` are what a tool's handler has of the store: its verbs, for the scope of the run, and no other. What a call
 * does with them is on the record, with the call as its cause.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Artifact from "../kernel/Artifact.ts"
import type * as ArtifactStore from "../services/ArtifactStore.ts"
import { failure } from "../services/ArtifactStoreError.ts"

/** What a tool stores. Where it comes from is not the tool's to say. */
export type Input = Omit<Artifact.PutInput, "origin">

export interface Bound {
  /** Whether there is a store. Without one every verb fails with `NotConfigured`. */
  readonly isConfigured: boolean
  /** The tickets that arguments of the call named, by argument. Absent if none did. */
  readonly wanted?: { readonly [argument: string]: Artifact.Meta }
  /**
   * Stores data, with the run and the call as its origin, and what the call wanted among its parents. A kind or a media
   * type is at most 256 characters, a label at most 10,000.
   */
  readonly put: (input: Input) => Effect.Effect<ArtifactStore.Put, ArtifactStore.ArtifactStoreError>
  readonly head: (ref: string) => Effect.Effect<Option.Option<Artifact.Meta>, ArtifactStore.ArtifactStoreError>
  readonly get: (ref: string) => Effect.Effect<Option.Option<Artifact.Stored>, ArtifactStore.ArtifactStoreError>
  readonly delete: (ref: string) => Effect.Effect<void, ArtifactStore.ArtifactStoreError>
  readonly list: (options?: {
    readonly cursor?: string
    readonly limit?: number
  }) => Effect.Effect<ArtifactStore.Page, ArtifactStore.ArtifactStoreError>
}

const uncalled = failure("NotConfigured", {
  what: "No call of a run is being handled here.",
  next: "Use it inside of a tool's handler, while it runs."
})

/** Inside a handler: `const { put } = yield* Artifacts.Artifacts`. It is lent to one call, and of no use after that. */
export class Artifacts extends Context.Reference<Artifacts>()("wherefore/programs/Artifacts", {
  defaultValue: (): Bound => ({
    isConfigured: false,
    put: () => uncalled,
    head: () => uncalled,
    get: () => uncalled,
    delete: () => uncalled,
    list: () => uncalled
  })
}) {}
