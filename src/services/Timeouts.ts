/**
 * `Timeouts` are how long a provider may be silent, and how long a call may take. Without one there is no limit but what
 * the HTTP client and the run's wall time set.
 *
 * @internal
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { failure, type LLMError } from "./LLMError.ts"

export interface Timeouts {
  /** From the request to the first that comes of the reply. */
  readonly firstByte?: Duration.DurationInput
  /** Between two pieces of a reply, as the provider's package hands them on. */
  readonly betweenChunks?: Duration.DurationInput
  /** From the request to the end of the reply. */
  readonly call?: Duration.DurationInput
}

/** What holds for a reply that comes in one piece. */
export const wholly = ({ call }: Timeouts = {}): Timeouts => (call === undefined ? {} : { call })

type Kind = keyof Timeouts

const what: { readonly [K in Kind]: (ms: number) => string } = {
  firstByte: (ms) => `The provider did not begin to answer within ${ms} ms.`,
  betweenChunks: (ms) => `The provider was silent for ${ms} ms in the middle of its reply.`,
  call: (ms) => `The provider did not end its reply within ${ms} ms.`
}

/** Watches one call. `waiting` is a wait for what comes next; `begun` says that something has come. */
export interface Watch {
  readonly waiting: <A>(wait: Effect.Effect<A, Option.Option<LLMError>>) => Effect.Effect<A, Option.Option<LLMError>>
  readonly begun: () => void
}

const unwatched: Watch = { waiting: (wait) => wait, begun: () => undefined }

/** A watch over a call that begins now, at `where`. */
export const watch = (timeouts: Timeouts | undefined, where: string): Effect.Effect<Watch> =>
  Effect.map(Clock.currentTimeMillis, (startedAt) => {
    if (timeouts === undefined) return unwatched
    const { betweenChunks, call, firstByte } = timeouts
    let hasBegun = false
    /** What is left, in milliseconds, of each limit that holds for the next wait. */
    const limits = (now: number): ReadonlyArray<readonly [kind: Kind, left: number, limit: number]> => {
      const since = now - startedAt
      const of = (kind: Kind, limit: Duration.DurationInput | undefined, spent: number) => {
        if (limit === undefined) return []
        const ms = Duration.toMillis(limit)
        return [[kind, Math.max(0, ms - spent), ms] as const]
      }
      return [
        ...(hasBegun ? of("betweenChunks", betweenChunks, 0) : of("firstByte", firstByte, since)),
        ...of("call", call, since)
      ]
    }
    return {
      begun: () => {
        hasBegun = true
      },
      waiting: (wait) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const [next] = [...limits(now)].sort(([, left], [, right]) => left - right)
          if (next === undefined) return wait
          const [kind, left, limit] = next
          return Effect.timeoutFail(wait, {
            duration: left,
            onTimeout: () => Option.some(failure("Timeout", { what: what[kind](limit), where }))
          })
        })
    }
  })
