/**
 * A `SpanFilter` lets a package trace what it does, and keeps what its spans end in from a tracer: a foreign error, or
 * a response, holds the headers of its request, with the key among them.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Tracer from "effect/Tracer"

/** The exit of a span without what it gave, and with an error of ours in place of a foreign one. */
const told = (exit: Exit.Exit<unknown, unknown>, refail: (error: unknown) => unknown): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) return Exit.void
  return Cause.isInterruptedOnly(exit.cause) ? exit : Exit.fail(refail(Cause.squash(exit.cause)))
}

/** The tracer of an effect, where the spans of a package end in what `refail` makes of their errors. */
export const make = (refail: (error: unknown) => unknown): Effect.Effect<Tracer.Tracer> =>
  Effect.map(Effect.tracer, (tracer) =>
    Tracer.make({
      context: (run, fiber) => tracer.context(run, fiber),
      span: (...given) => {
        const span = tracer.span(...given)
        const end = span.end.bind(span)
        span.end = (time, exit) => end(time, told(exit, refail))
        return span
      }
    })
  )
