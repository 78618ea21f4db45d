/**
 * An `ArtifactStoreCase` is one promise of an `ArtifactStore`, and what cases are made of.
 *
 * @internal
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Artifact from "../kernel/Artifact.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as ArtifactStore from "./ArtifactStore.ts"
import type { ArtifactStoreError } from "./ArtifactStoreError.ts"

export type Store = Context.Tag.Service<ArtifactStore.ArtifactStore>

/** A promise that was not kept. */
export class CaseFailed extends Schema.TaggedError<CaseFailed>()("CaseFailed", Problem.fields) {
  override get message(): string {
    return Problem.render(this)
  }
}

export type StoreError = ArtifactStoreError

export type Failure = CaseFailed | ArtifactStoreError

/** A store, and what a harness can do to it. A hook that is missing fails. */
export interface World {
  readonly store: Store
  readonly advanceTime: (ms: number) => Effect.Effect<void, CaseFailed>
  readonly corrupt: (scope: Artifact.Scope, ref: Artifact.Ref) => Effect.Effect<void, CaseFailed>
  readonly bounded: (limits: ArtifactStore.Limits) => Effect.Effect<Store, CaseFailed, Scope.Scope>
  readonly makeUnreadable: Effect.Effect<void, CaseFailed>
}

export interface Case {
  readonly name: string
  /** The optional members without which the case says nothing. */
  readonly members?: ReadonlyArray<"putStream" | "getStream">
  readonly run: (world: World) => Effect.Effect<void, Failure, Scope.Scope>
}

const clip = (value: unknown) => Printable.clip(Printable.line(JSON.stringify(value) ?? "nothing"), 400)

export const broken = (what: string, details: Partial<Problem.Problem> = {}): CaseFailed =>
  new CaseFailed({
    code: "WF-ART-020",
    what,
    next: "Correct the layer.",
    outcome: "not-applied",
    retry: "never",
    ...details
  })

/** Bytes are shown as bytes, so that they equal no list of numbers. */
const shown = (value: unknown): unknown =>
  value instanceof Uint8Array ? { bytes: Array.from(value) } : Option.isOption(value) ? Option.map(value, shown) : value

export const same = (what: string, found: unknown, expected: unknown): Effect.Effect<void, CaseFailed> =>
  JSON.stringify(shown(found)) === JSON.stringify(shown(expected))
    ? Effect.void
    : broken(`The layer does not keep its promise: ${what}.`, {
        expected: clip(shown(expected)),
        found: clip(shown(found))
      })

/** An effect that has to fail, and how it does. */
export const failure = <A, R>(
  what: string,
  effect: Effect.Effect<A, ArtifactStoreError, R>
): Effect.Effect<ArtifactStoreError, CaseFailed, R> =>
  Effect.matchEffect(effect, {
    onFailure: Effect.succeed,
    onSuccess: () => broken(`The layer does not keep its promise: that this is refused: ${what}.`)
  })

/** A refusal, with nothing applied. */
export const refused = <A, R>(
  what: string,
  effect: Effect.Effect<A, ArtifactStoreError, R>,
  reason: ArtifactStoreError["reason"],
  path?: string
): Effect.Effect<void, CaseFailed, R> =>
  Effect.flatMap(failure(what, effect), (error) =>
    same(
      `how this is refused: ${what}`,
      [error.reason, error.outcome, error.path],
      [reason, "not-applied", path ?? error.path]
    )
  )

export const home: Artifact.Scope = { tenant: "t", principal: "p", conversationId: "c" }

export const note = (data: unknown, more: Partial<Artifact.PutInput> = {}): Artifact.PutInput => ({
  kind: "note",
  mediaType: "text/plain",
  data,
  ...more
})

export const put = (store: Store, data: unknown, more?: Partial<Artifact.PutInput>, scope = home) =>
  Effect.map(store.put(scope, note(data, more)), ({ meta }) => meta)

/** All tickets of a scope, a page at a time. */
export const all = (
  store: Store,
  scope = home,
  limit = 100
): Effect.Effect<ReadonlyArray<Artifact.Meta>, ArtifactStoreError> =>
  Effect.gen(function* () {
    const found: Array<Artifact.Meta> = []
    let page = yield* store.list(scope, { limit })
    for (;;) {
      found.push(...page.artifacts)
      if (page.cursor === undefined) return found
      page = yield* store.list(scope, { limit, cursor: page.cursor })
    }
  })

export const refs = (store: Store, scope = home) =>
  Effect.map(all(store, scope), (tickets) => tickets.map(({ ref }) => ref).sort())

/** The data, as an option. */
export const dataOf = (store: Store, ref: string, scope = home) =>
  Effect.map(
    store.get(scope, ref),
    Option.map(({ data }) => data)
  )

export const collect = (body: Stream.Stream<Uint8Array, ArtifactStoreError>) =>
  Stream.runFold(body, new Uint8Array(), (whole, piece) => {
    const longer = new Uint8Array(whole.length + piece.length)
    longer.set(whole)
    longer.set(piece, whole.length)
    return longer
  })

/** That nothing is found under the ref by any verb that finds. */
export const absent = (what: string, store: Store, ref: string, scope = home) =>
  Effect.gen(function* () {
    yield* same(`that get finds nothing: ${what}`, yield* store.get(scope, ref), Option.none())
    yield* same(`that head finds nothing: ${what}`, yield* store.head(scope, ref), Option.none())
    if (store.getStream === undefined) return
    yield* same(`that getStream finds nothing: ${what}`, Option.isNone(yield* store.getStream(scope, ref)), true)
  })

/** A ref that nobody minted. */
export const unminted = `art_${"0".repeat(22)}`

export const malformed: ReadonlyArray<string> = [
  "",
  "art_",
  "art_short",
  `art_${"-".repeat(22)}`,
  `${unminted}0`,
  `${unminted}\n`,
  "../../etc/passwd",
  "..",
  "%",
  "'; DROP TABLE x; --",
  "__proto__",
  "a\0b"
]
