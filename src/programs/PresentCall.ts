/**
 * A `PresentCall` is a call of the tool that shows an artifact to the person: its ticket is looked up, and nothing is read
 * of what is stored.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import * as ArtifactRefusal from "../kernel/ArtifactRefusal.ts"
import * as Present from "../kernel/Present.ts"
import type * as Refusal from "../kernel/Refusal.ts"
import * as ArtifactDesk from "./ArtifactDesk.ts"
import * as Timeout from "./Timeout.ts"

/** Something can be shown: what the model is told, and what the record is. */
export interface Shown {
  readonly served: string
  readonly told: ReadonlyArray<ArtifactEvent.ArtifactEvent>
}

export interface Unshown {
  readonly refusal: Refusal.Refusal
  readonly told: ReadonlyArray<ArtifactEvent.ArtifactEvent>
}

const refused = (
  call: ArtifactEvent.Call,
  op: ArtifactEvent.Op,
  reason: ArtifactEvent.Reason,
  ref: string | undefined,
  detail: string
): ReadonlyArray<ArtifactEvent.ArtifactEvent> => [
  { _tag: "ArtifactRefused", ...call, op, reason, ...(Artifact.isRef(ref) ? { ref } : {}), detail }
]

/** What a call comes to. The store is not asked for what is no ref at all. */
export const judge = (
  desk: ArtifactDesk.Desk,
  call: ArtifactEvent.Call,
  args: unknown
): Effect.Effect<Either.Either<Shown, Unshown>> =>
  Effect.gen(function* () {
    const asked = Present.read(args)
    if (Either.isLeft(asked)) {
      const { left: refusal } = asked
      return Either.left({ refusal, told: refused(call, "dispatch", "invalid-input", undefined, refusal.what) })
    }
    const { ref } = asked.right
    const looked = yield* Effect.either(ArtifactDesk.head(desk, ref, Timeout.standard))
    if (Either.isLeft(looked)) {
      const told = ArtifactDesk.refused(call, "head", looked.left, Artifact.isRef(ref) ? { ref } : {})
      return Either.left({ refusal: ArtifactRefusal.unavailable(call.toolName, looked.left.what), told: [told] })
    }
    const meta = Option.getOrUndefined(looked.right)
    const listing = meta === undefined ? yield* ArtifactDesk.newest(desk, Timeout.standard) : []
    const resolved = Present.resolve(args, meta, listing)
    if (!resolved.ok || meta === undefined) {
      const refusal = resolved.ok ? ArtifactRefusal.missing(ref, listing) : resolved.refusal
      return Either.left({ refusal, told: refused(call, "head", "missing-or-expired", ref, refusal.what) })
    }
    const { result } = resolved
    return Either.right({
      served: JSON.stringify(result),
      told: [ArtifactEvent.resolved(call, "head", meta), Present.presented(call, result)]
    })
  })
