/**
 * An `ArtifactLoan` is the store as it is lent to one call: bound to the scope of the run, and with an account of all that
 * was done with it. When the call is settled, the loan ends: what is stored after that is removed again.
 *
 * @internal
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import type * as ChildEvent from "../kernel/ChildEvent.ts"
import type * as ArtifactStore from "../services/ArtifactStore.ts"
import { type ArtifactStoreError, failure } from "../services/ArtifactStoreError.ts"
import * as ArtifactDesk from "./ArtifactDesk.ts"
import type * as Artifacts from "./Artifacts.ts"

/** What a call's account is of: what it did with artifacts, and what became of the run that it started. */
export type Told = ArtifactEvent.ArtifactEvent | ChildEvent.ChildSettled

export interface Loan {
  /** What the handler has. */
  readonly bound: Artifacts.Bound
  /** The same for code that names a scope: another than the run's is refused. */
  readonly store: ArtifactDesk.Desk["store"]
  /** Adds what was done for the call to its account. */
  readonly tell: (event: Told) => void
  /** Names artifacts that arguments of the call wanted: what it stores from then on is derived from them. */
  readonly want: (wanted: ReadonlyMap<string, Artifact.Meta>) => void
  /** Ends the loan, and gives the account. */
  readonly end: () => ReadonlyArray<Told>
}

/** Inside of a call: whose artifacts its run works with. A run that a handler starts works with the same. */
export class Enclosing extends Context.Reference<Enclosing>()("wherefore/programs/ArtifactLoan/Enclosing", {
  defaultValue: (): Artifact.Scope | undefined => undefined
}) {}

const over = failure("Unavailable", {
  what: "The call that the store was lent to has been settled.",
  next: "Store what belongs to a call before its handler returns.",
  retry: "never"
})

const foreign = failure("InvalidInput", {
  what: "A tool was to work in another scope than its run's.",
  path: "scope",
  where: "scope",
  next: "Use Artifacts, which has the scope of the run."
})

const noInput = failure("InvalidInput", {
  what: "The artifact store cannot take what a tool gave it.",
  where: "input",
  path: "input",
  expected: "an object"
})

const tooLong = (path: "kind" | "mediaType" | "label" | "parentRefs", most: number, found: string) =>
  failure("InvalidInput", {
    what: `The artifact store cannot take ${path} from a tool.`,
    where: path,
    path,
    expected: `at most ${most} ${path === "parentRefs" ? "refs" : "characters"}`,
    found
  })

/** What a tool stores as it goes to the store: from this call, and derived from what it wanted. */
const derived = (
  given: Artifacts.Input,
  origin: Artifact.Origin,
  wanted: ReadonlyArray<Artifact.Ref>
): Either.Either<Artifact.PutInput, ArtifactStoreError> => {
  const { most } = ArtifactEvent
  if (typeof given !== "object" || given === null) return Either.left(noInput)
  for (const path of ["kind", "mediaType", "label"] as const) {
    const text: unknown = given[path]
    if (typeof text === "string" && text.length > most[path]) {
      return Either.left(tooLong(path, most[path], `${text.length}`))
    }
  }
  const { parentRefs } = given
  // What is no list is the store's to refuse.
  const isList = parentRefs === undefined || Array.isArray(parentRefs)
  const all = isList ? Array.from(new Set([...wanted, ...(parentRefs ?? [])])) : parentRefs
  if (all.length > most.parents) return Either.left(tooLong("parentRefs", most.parents, `${all.length}`))
  return Either.right({ ...given, origin, ...(isList && all.length === 0 ? {} : { parentRefs: all }) })
}

export const make = (
  { runId, scope, store }: ArtifactDesk.Desk,
  { iteration, toolCallId, toolName }: ArtifactEvent.Call
): Loan => {
  const call = { iteration, toolCallId, toolName }
  const account: Array<Told> = []
  const told = new Set<string>()
  let isOver = false
  let wanted: ReadonlyMap<string, Artifact.Meta> = new Map()

  const tell = (event: Told): void => {
    if (!isOver) account.push(event)
  }
  /** What is asked again and again is told once. */
  const tellOnce = (event: ArtifactEvent.ArtifactResolved | ArtifactEvent.ArtifactRefused): void => {
    const key = JSON.stringify([event._tag, event.ref, event._tag === "ArtifactRefused" ? event : event.via])
    if (told.has(key)) return
    told.add(key)
    tell(event)
  }
  const asked = <A>(
    op: Exclude<ArtifactEvent.Op, "dispatch">,
    ref: string | undefined,
    effect: Effect.Effect<A, ArtifactStoreError>
  ): Effect.Effect<A, ArtifactStoreError> =>
    Effect.tapError(ArtifactDesk.sound(Effect.suspend(() => (isOver ? over : effect))), (error) =>
      Effect.sync(() => tellOnce(ArtifactDesk.refused(call, op, error, Artifact.isRef(ref) ? { ref } : {})))
    )
  const found = <A>(
    op: "head" | "get",
    ref: string,
    metaOf: (one: A) => Artifact.Meta,
    effect: Effect.Effect<Option.Option<A>, ArtifactStoreError>
  ) =>
    Effect.tap(asked(op, ref, effect), (one) =>
      Effect.sync(() => {
        if (Option.isSome(one)) return tellOnce(ArtifactEvent.resolved(call, op, metaOf(one.value)))
        const named = Artifact.isRef(ref) ? { ref } : {}
        tellOnce({ _tag: "ArtifactRefused", ...call, op, reason: "missing-or-expired", ...named })
      })
    )
  const put = (given: Artifacts.Input): Effect.Effect<ArtifactStore.Put, ArtifactStoreError> => {
    const kept = Effect.gen(function* () {
      const refs = Array.from(wanted.values(), ({ ref }) => ref)
      const put = yield* store.put(scope, yield* derived(given, { runId, toolCallId }, refs))
      if (isOver) {
        // It came too late for the record to tell of it.
        yield* store.delete(scope, put.meta.ref)
        return yield* over
      }
      tell(ArtifactEvent.minted(call, put.meta))
      for (const swept of put.swept) tell(ArtifactEvent.expired(call, swept))
      return put
    })
    // What is stored is told of: nothing comes between the two.
    return asked("put", undefined, Effect.uninterruptible(kept))
  }
  const head = (ref: string) => found("head", ref, (meta) => meta, store.head(scope, ref))
  const get = (ref: string) => found("get", ref, ({ meta }: Artifact.Stored) => meta, store.get(scope, ref))
  const remove = (ref: string) => {
    const gone = Effect.tap(store.delete(scope, ref), () =>
      Effect.sync(() => {
        if (Artifact.isRef(ref)) tell({ _tag: "ArtifactDeleted", ...call, ref })
      })
    )
    return asked("delete", ref, Effect.uninterruptible(gone))
  }
  const list: Artifacts.Bound["list"] = (options) => asked("list", undefined, store.list(scope, options))

  const within = <A>(
    op: Exclude<ArtifactEvent.Op, "dispatch">,
    named: Artifact.Scope,
    effect: Effect.Effect<A, ArtifactStoreError>
  ): Effect.Effect<A, ArtifactStoreError> => {
    const isOwn =
      Artifact.scopeFault(named) === undefined &&
      JSON.stringify(Artifact.encodeScope(named)) === JSON.stringify(Artifact.encodeScope(scope))
    return isOwn ? effect : asked(op, undefined, foreign)
  }

  return {
    get bound() {
      return {
        isConfigured: store.isNone !== true,
        ...(wanted.size === 0 ? {} : { wanted: Object.fromEntries(wanted) }),
        put,
        head,
        get,
        delete: remove,
        list
      }
    },
    store: {
      put: (named, input) => within("put", named, put(input)),
      head: (named, ref) => within("head", named, head(ref)),
      get: (named, ref) => within("get", named, get(ref)),
      delete: (named, ref) => within("delete", named, remove(ref)),
      list: (named, options) => within("list", named, list(options)),
      ...(store.isNone === true ? { isNone: true } : {})
    },
    tell,
    want: (metas) => {
      wanted = metas
    },
    end: () => {
      isOver = true
      return account
    }
  }
}
