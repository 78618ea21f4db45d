/**
 * A `Pump` takes from a `ReadableStream` what there is, as it comes.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { LLMError } from "./LLMError.ts"

export interface Pump<A> {
  readonly take: Effect.Effect<ReadonlyArray<A>, Option.Option<LLMError>>
  readonly cancel: Effect.Effect<void>
}

/** How many parts may wait unread before the provider is no longer asked for more. */
const maxWaiting = 1_024

/**
 * A queue that is filled from a `ReadableStream` and taken whole: what one packet from the network held is one chunk.
 * Takes fail with what `refail` makes of the stream's error, and with nothing at its end.
 */
export const make = <A>(source: ReadableStream<A>, refail: (error: unknown) => LLMError): Pump<A> => {
  const reader = source.getReader()
  let waiting: Array<A> = []
  let end: Option.Option<LLMError> | undefined
  let reading = false
  let wake: (() => void) | undefined

  const next = (): void => {
    if (reading || end !== undefined || waiting.length >= maxWaiting) return
    reading = true
    reader.read().then(
      ({ done, value }) => {
        reading = false
        if (done) end = Option.none()
        else waiting.push(value)
        wake?.()
        next()
      },
      (error: unknown) => {
        reading = false
        end = Option.some(refail(error))
        wake?.()
      }
    )
  }

  const take: Effect.Effect<ReadonlyArray<A>, Option.Option<LLMError>> = Effect.async((resume) => {
    const give = (): void => {
      if (waiting.length === 0) return resume(Effect.fail(end ?? Option.none()))
      const parts = waiting
      waiting = []
      next()
      resume(Effect.succeed(parts))
    }
    if (waiting.length > 0 || end !== undefined) return give()
    // Woken once the packet is read to its end, not at its first part.
    wake = () => {
      wake = undefined
      setImmediate(give)
    }
    next()
    return Effect.sync(() => {
      wake = undefined
    })
  })

  // Not waited for: the source may never answer.
  const cancel = Effect.sync(() => {
    reader.cancel().then(
      () => undefined,
      () => undefined
    )
  })
  return { take, cancel }
}
