/**
 * An `ArtifactDesk` is the store of a run as the runtime itself uses it: in the scope of the run, and so that nothing that a
 * store does can fail the run.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import * as ArtifactRefusal from "../kernel/ArtifactRefusal.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import type * as ArtifactStore from "../services/ArtifactStore.ts"
import { type ArtifactStoreError, failure, type Reason } from "../services/ArtifactStoreError.ts"

/** The store of a run, and whose artifacts it works with there. */
export interface Desk {
  readonly store: typeof ArtifactStore.ArtifactStore.Service
  readonly scope: Artifact.Scope
  readonly runId: string
}

const reasons: { readonly [R in Reason]: ArtifactEvent.Reason } = {
  InvalidInput: "invalid-input",
  UnknownParent: "unknown-parent",
  DigestMismatch: "digest-mismatch",
  OverBudget: "over-budget",
  Unreadable: "unreadable",
  Unavailable: "unavailable",
  NotConfigured: "no-store"
}

/** Why a store did not do what it was asked, in the words of the record. */
export const reasonOf = ({ reason }: ArtifactStoreError): ArtifactEvent.Reason => reasons[reason]

/** Why the store did not do what it was asked, as the record tells it. */
export const refused = (
  call: ArtifactEvent.Call,
  op: ArtifactEvent.Op,
  error: ArtifactStoreError,
  more: Pick<ArtifactEvent.ArtifactRefused, "ref"> = {}
): ArtifactEvent.ArtifactRefused => ({
  _tag: "ArtifactRefused",
  ...call,
  op,
  reason: reasonOf(error),
  ...more,
  detail: Printable.clip(Problem.render(error), ArtifactEvent.most.detail)
})

/** An effect of the store, whose defects are its failures. */
export const sound = <A>(effect: Effect.Effect<A, ArtifactStoreError>): Effect.Effect<A, ArtifactStoreError> =>
  Effect.catchAllDefect(
    Effect.suspend(() => effect),
    (defect) =>
      Effect.zipRight(
        Effect.logWarning("The artifact store died", defect),
        failure("Unavailable", { what: "The artifact store stopped with an unexpected error.", outcome: "unknown" })
      )
  )

/** As `sound`, and over after so long: a store cannot hold a run up. */
const answered = <A>(effect: Effect.Effect<A, ArtifactStoreError>, limit: Duration.Duration) =>
  Effect.timeoutFail(Effect.disconnect(sound(effect)), {
    duration: limit,
    onTimeout: () =>
      failure("Unavailable", { what: `The artifact store did not answer within ${Duration.toMillis(limit)} ms.` })
  })

export const head = ({ scope, store }: Desk, ref: string, limit: Duration.Duration) =>
  answered(store.head(scope, ref), limit)

export const get = ({ scope, store }: Desk, ref: string, limit: Duration.Duration) =>
  answered(store.get(scope, ref), limit)

const most = { rows: 200, pages: 50 } as const

/**
 * The newest tickets that a refusal lists, of one kind or of all; nothing if they cannot be listed. Of a kind, no more than
 * 200 rows and 50 pages are looked through.
 */
export const newest = (
  { scope, store }: Desk,
  limit: Duration.Duration,
  kind?: string
): Effect.Effect<ReadonlyArray<Artifact.Meta> | undefined> =>
  Effect.gen(function* () {
    const found: Array<Artifact.Meta> = []
    let rows = 0
    let cursor: string | undefined
    for (let pages = 0; pages < most.pages && rows < most.rows; pages++) {
      const page = yield* store.list(scope, cursor === undefined ? {} : { cursor })
      const seen = page.artifacts.slice(0, most.rows - rows)
      rows += seen.length
      found.push(...seen.filter((meta) => kind === undefined || meta.kind === kind))
      if (found.length >= ArtifactRefusal.listed || page.cursor === undefined) break
      cursor = page.cursor
    }
    return found.slice(0, ArtifactRefusal.listed)
  }).pipe((listed) => answered(listed, limit), Effect.option, Effect.map(Option.getOrUndefined))
