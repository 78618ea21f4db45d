/**
 * An `ArtifactStoreSuite` is what every `ArtifactStore` promises, as numbered cases that any test framework can run.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import type * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactPutCases from "./ArtifactPutCases.ts"
import * as ArtifactReadCases from "./ArtifactReadCases.ts"
import * as ArtifactRoomCases from "./ArtifactRoomCases.ts"
import * as ArtifactScopeCases from "./ArtifactScopeCases.ts"
import type * as ArtifactStore from "./ArtifactStore.ts"
import { broken, CaseFailed, type Case as Promised, type Store, type World } from "./ArtifactStoreCase.ts"

export { CaseFailed } from "./ArtifactStoreCase.ts"
export type { Store } from "./ArtifactStoreCase.ts"

/** The store that is to keep the promises, and what cases have to do to it from outside. */
export interface Harness<E = never> {
  /** An empty store without limits of its own that a case of a few rows would meet. A new one for each case. */
  readonly createStore: Effect.Effect<Store, E, Scope.Scope>
  /** Called after each case, before the scope of its store closes. */
  readonly disposeStore?: (store: Store) => Effect.Effect<void, E>
  /** Lets milliseconds pass for the store. */
  readonly advanceTime?: (ms: number) => Effect.Effect<void, E>
  /** Changes at least one stored byte of an artifact, past the store. */
  readonly corrupt?: (store: Store, scope: Artifact.Scope, ref: Artifact.Ref) => Effect.Effect<void, E>
  /** An empty store with these limits. */
  readonly boundedStore?: (limits: ArtifactStore.Limits) => Effect.Effect<Store, E, Scope.Scope>
  /** Makes what the store keeps its artifacts in impossible to read, past the store. */
  readonly makeUnreadable?: (store: Store) => Effect.Effect<void, E>
  /** The numbers of cases that the store is known not to keep, each with the reason. */
  readonly declared?: { readonly [number: number]: string }
}

/**
 * How a case ended. `not-applicable`: the store lacks an optional member that it is about. `declared`: it was not kept, as
 * declared. `failed`: it was not kept, a hook that it needs is missing, or it is declared and was kept.
 */
export interface Result {
  readonly number: number
  readonly name: string
  readonly status: "passed" | "not-applicable" | "declared" | "failed"
  readonly reason?: string
}

export interface Case {
  readonly number: number
  readonly name: string
  readonly result: Effect.Effect<Result>
  /** Fails if the result is `failed`. */
  readonly effect: Effect.Effect<void, CaseFailed>
}

const promised: ReadonlyArray<Promised> = [
  ArtifactPutCases.roundTrip,
  ArtifactPutCases.shapes,
  ArtifactPutCases.minted,
  ArtifactScopeCases.foreign,
  ArtifactScopeCases.confusables,
  ArtifactReadCases.oneAbsence,
  ArtifactReadCases.expiryStated,
  ArtifactPutCases.idempotentDelete,
  ArtifactReadCases.pages,
  ArtifactScopeCases.awkwardScopes,
  ArtifactRoomCases.oversize,
  ArtifactPutCases.parents,
  ArtifactPutCases.malformedPuts,
  ArtifactPutCases.secrets,
  ArtifactPutCases.digests,
  ArtifactReadCases.verifyingGet,
  ArtifactReadCases.changedStream,
  ArtifactRoomCases.streamedPut,
  ArtifactReadCases.streamMembers,
  ArtifactRoomCases.pinnedParents,
  ArtifactRoomCases.refusalEvictsNothing,
  ArtifactRoomCases.failingSource,
  ArtifactPutCases.unfaithfulValues,
  ArtifactRoomCases.concurrentPuts,
  ArtifactReadCases.deletionBetweenPages,
  ArtifactReadCases.unreadableStore,
  ArtifactScopeCases.illFormed,
  ArtifactPutCases.labels
]

const worldOf = <E>(harness: Harness<E>, store: Store): World => {
  /** What a hook does; its failure is one of the case. */
  const asked = <A, R>(name: string, hook: Effect.Effect<A, E, R> | undefined): Effect.Effect<A, CaseFailed, R> =>
    hook === undefined
      ? broken(`The case needs the hook ${name}, which the harness does not have.`, { next: "Add or declare it." })
      : Effect.catchAllCause(hook, (cause) => broken(`The hook ${name} failed.`, { found: Cause.pretty(cause) }))
  return {
    store,
    advanceTime: (ms) => asked("advanceTime", harness.advanceTime?.(ms)),
    corrupt: (scope, ref) => asked("corrupt", harness.corrupt?.(store, scope, ref)),
    bounded: (limits) => asked("boundedStore", harness.boundedStore?.(limits)),
    makeUnreadable: Effect.suspend(() => asked("makeUnreadable", harness.makeUnreadable?.(store)))
  }
}

type Outcome = "kept" | "absent" | { readonly broken: string }

const outcomeOf = <E>({ members = [], run }: Promised, harness: Harness<E>): Effect.Effect<Outcome> => {
  const used = Effect.gen(function* () {
    const store = yield* harness.createStore
    const dispose = harness.disposeStore?.(store) ?? Effect.void
    if (members.some((name) => store[name] === undefined)) return yield* Effect.as(dispose, "absent" as const)
    return yield* Effect.ensuring(Effect.as(run(worldOf(harness, store)), "kept" as const), Effect.orDie(dispose))
  })
  return Effect.map(Effect.exit(Effect.scoped(used)), (exit) =>
    Exit.isSuccess(exit) ? exit.value : { broken: Cause.pretty(exit.cause) }
  )
}

const resultOf = (outcome: Outcome, members: ReadonlyArray<string>, declared: string | undefined) => {
  if (outcome === "absent") return { status: "not-applicable", reason: `without ${members.join(" and ")}` } as const
  if (outcome === "kept") {
    if (declared === undefined) return { status: "passed" } as const
    return { status: "failed", reason: "It is declared, but the store keeps it. Remove the declaration." } as const
  }
  return declared === undefined
    ? ({ status: "failed", reason: outcome.broken } as const)
    : ({ status: "declared", reason: declared } as const)
}

/** The cases for one store, numbered from 1. */
export const cases = <E>(harness: Harness<E>): ReadonlyArray<Case> =>
  promised.map((promise, index) => {
    const number = index + 1
    const { members = [], name } = promise
    const result = Effect.map(outcomeOf(promise, harness), (outcome): Result => ({
      number,
      name,
      ...resultOf(outcome, members, harness.declared?.[number])
    }))
    const effect = Effect.flatMap(result, ({ reason = "", status }) =>
      status === "failed" ? broken(`Case ${number} failed.`, { found: reason }) : Effect.void
    )
    return { number, name, result, effect }
  })
