/**
 * A `Retry` is a call that is made again when it fails: of the same model as a schedule says, or of another one. Each
 * attempt that failed is told by a part, before the next one begins.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Schedule from "effect/Schedule"
import * as ScheduleDecision from "effect/ScheduleDecision"
import * as ScheduleInterval from "effect/ScheduleInterval"
import * as ScheduleIntervals from "effect/ScheduleIntervals"
import * as Stream from "effect/Stream"
import type * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as LLM from "./LLM.ts"
import type { LLMError, Reason } from "./LLMError.ts"

/** When a call is made again. It is asked only about failures that can be retried. */
export type Policy = Schedule.Schedule<unknown, LLMError>

type Parts = Stream.Stream<LLM.Part, LLMError>

/** How a call goes on after a failure. */
interface Next {
  readonly delayMs: number
  readonly model?: LLM.Asked
  readonly parts: Parts
}

/** The parts, and after a failure those of what comes next, if something does. */
const recovering = (parts: Parts, next: (error: LLMError) => Effect.Effect<Option.Option<Next>>): Parts =>
  Stream.suspend(() => {
    let partialChars = 0
    let usage: Usage.Usage | undefined
    const see = (part: LLM.Part): void => {
      if (part._tag === "Retried") {
        partialChars = 0
        usage = undefined
      }
      if (part._tag === "Text") partialChars += part.delta.length
      if (part._tag === "Usage") usage = part.usage
    }
    const seen = Stream.mapChunks(parts, (chunk) => {
      for (const part of chunk) see(part)
      return chunk
    })
    return Stream.catchAll(seen, (error) =>
      Stream.unwrap(
        Effect.map(next(error), (after) => {
          if (Option.isNone(after)) return Stream.fail(error)
          const { delayMs, model, parts } = after.value
          const retried: LLM.Part = {
            _tag: "Retried",
            error,
            delayMs,
            ...(model === undefined ? {} : { next: model }),
            ...(partialChars === 0 ? {} : { partialChars }),
            // What was not applied took nothing.
            ...(usage === undefined || error.outcome === "not-applied" ? {} : { usage })
          }
          return Stream.concat(
            Stream.fromChunk(Chunk.of(retried)),
            delayMs === 0 ? parts : Stream.unwrap(Effect.as(Effect.sleep(delayMs), parts))
          )
        })
      )
    )
  })

/**
 * The parts of a call that is made again as the policy says, and no sooner than the provider asks. A failure that cannot
 * be retried is one whatever the policy says.
 */
export const retrying = (parts: Parts, policy: Policy): Parts => {
  const attempt = (state: unknown): Parts =>
    recovering(parts, (error) =>
      Effect.gen(function* () {
        if (!error.isRetryable) return Option.none()
        const now = yield* Clock.currentTimeMillis
        const [later, , decision] = yield* policy.step(now, error, state)
        if (ScheduleDecision.isDone(decision)) return Option.none()
        const asked = typeof error.retry === "object" ? error.retry.afterMs : 0
        const delayMs = Math.ceil(Math.max(0, asked, ScheduleIntervals.start(decision.intervals) - now))
        return Option.some({ delayMs, parts: attempt(later) })
      })
    )
  return Stream.suspend(() => attempt(policy.initial))
}

/** So often a call is made again for each kind of failure. */
const most = { refused: 4, broken: 1 }

const kindOf = (reason: Reason): keyof typeof most | undefined => {
  if (reason === "Limited" || reason === "Unavailable") return "refused"
  return reason === "Timeout" || reason === "StreamBroken" || reason === "Protocol" ? "broken" : undefined
}

/** Half a second, doubled for each wait of its kind before it, and a fifth more or less. */
const waitMs = (before: number): Effect.Effect<number> =>
  Effect.map(Random.nextRange(0.8, 1.2), (jitter) => Math.round(500 * 2 ** before * jitter))

/**
 * Up to four times what the provider refuses for now, with longer waits each time, and once what broke on the way. Neither
 * counts against the other.
 */
export const standard: Policy = Schedule.makeWithState(
  { refused: 0, broken: 0 },
  (now, { reason }: LLMError, tried) => {
    const kind = kindOf(reason)
    if (kind === undefined || tried[kind] >= most[kind])
      return Effect.succeed([tried, undefined, ScheduleDecision.done])
    return Effect.map(waitMs(tried[kind]), (ms) => {
      const decision = ScheduleDecision.continueWith(ScheduleInterval.after(now + ms))
      return [{ ...tried, [kind]: tried[kind] + 1 }, undefined, decision] as const
    })
  }
)

/**
 * Whether another model may do what this one could not: not what the request itself is rejected for, and not what a test
 * has no reply to.
 */
export const isElsewhere = ({ reason }: LLMError): boolean =>
  reason !== "Rejected" && reason !== "Unscripted" && reason !== "CassetteDrift"

/** A model whose layer does not say which it is. It is not the one before it, and is not billed as that. */
const unnamed: LLM.Asked = { provider: "unnamed", id: "unnamed" }

/** A finish says who answered. */
const signed = (part: LLM.Part, by: LLM.Asked): LLM.Part =>
  part._tag === "Finish" ? { ...part, by: part.by ?? by } : part

/** The service that asks the first of these, and after a failure the next. */
export const ordered = (
  services: ReadonlyArray<typeof LLM.LLM.Service>,
  policy: Policy | undefined,
  when: (error: LLMError) => boolean
): typeof LLM.LLM.Service => {
  const from = (index: number, wire: Wire.Wire): Parts => {
    const own = services[index]
    if (own === undefined) return Stream.empty
    const { model: by = unnamed } = own
    const told = index === 0 ? own.stream(wire) : Stream.map(own.stream(wire), (part) => signed(part, by))
    const parts = policy === undefined ? told : retrying(told, policy)
    const other = services[index + 1]
    if (other === undefined) return parts
    return recovering(parts, (error) =>
      Effect.succeed(
        when(error)
          ? Option.some({
              delayMs: 0,
              model: other.model ?? unnamed,
              parts: from(index + 1, wire)
            })
          : Option.none()
      )
    )
  }
  const [first] = services
  return {
    stream: (wire) => from(0, wire),
    ...(first?.model === undefined ? {} : { model: first.model }),
    ...(services.every(({ answers }) => answers === "json") ? { answers: "json" } : {})
  }
}
