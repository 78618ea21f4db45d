/**
 * A `CallProbe` asks a tool what became of a call that was running when its process was lost.
 *
 * @internal
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import type * as WaitEvent from "../kernel/WaitEvent.ts"
import * as Replay from "./Replay.ts"

/** What is known then. `why` goes on from "was running when its process was lost". */
export type Found =
  | { readonly _tag: "Applied"; readonly result: unknown }
  | { readonly _tag: "NotApplied" }
  | { readonly _tag: "Unknown"; readonly why: string }

const verdicts = { Applied: "applied", NotApplied: "not-applied", Unknown: "unknown" } as const

export const event = (call: ArtifactEvent.Call, found: Found): WaitEvent.CallProbed => ({
  _tag: "CallProbed",
  ...call,
  verdict: verdicts[found._tag]
})

const lost = (why: string): Found => ({ _tag: "Unknown", why })

export const run = (
  probe: Replay.Probe<unknown, unknown>,
  timeout: Duration.Duration,
  call: ArtifactEvent.Call,
  decoded: unknown,
  key: string
): Effect.Effect<Found> =>
  Effect.suspend(() => probe(decoded, key)).pipe(
    Effect.provideService(Replay.Key, key),
    Effect.disconnect,
    Effect.timeoutOption(timeout),
    Effect.map(
      Option.match({
        onNone: () => lost(`, and its probe gave no result within ${Duration.toMillis(timeout)} ms`),
        onSome: (found): Found => (found._tag === "Unknown" ? lost(", and its probe could not tell") : found)
      })
    ),
    Effect.catchAllCause((cause) =>
      Effect.as(Effect.logWarning(`The probe of ${call.toolName} failed`, cause), lost(", and its probe failed"))
    ),
    Effect.withSpan("Tool.probe", { attributes: { tool: call.toolName }, captureStackTrace: false })
  )
