/**
 * An `AgentStream` is a run as it can be seen while it goes on.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import type * as Outcome from "../kernel/Outcome.ts"
import type * as AgentError from "./AgentError.ts"
import type * as Loop from "./Loop.ts"

export const of = <R>(
  start: (emit: Loop.Options["emit"]) => Effect.Effect<Outcome.Outcome<unknown>, AgentError.AgentError, R>
): Stream.Stream<Loop.Progress, AgentError.AgentError, R> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<Loop.Progress, AgentError.AgentError>()
      const emit: Loop.Options["emit"] = (progress) => Effect.asVoid(mailbox.offer(progress))
      yield* Effect.forkScoped(Mailbox.into(Effect.asVoid(start(emit)), mailbox))
      return Mailbox.toStream(mailbox)
    })
  )
