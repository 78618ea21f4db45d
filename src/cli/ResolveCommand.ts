/**
 * `ResolveCommand` puts on the record of a run what a person found out about a call that was lost.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as WaitEvent from "../kernel/WaitEvent.ts"
import * as Agent from "../programs/Agent.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"
import * as Waits from "./Waits.ts"

const isFound = Schema.is(WaitEvent.Found)

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const { options, positionals } = session.arguments
    const [word = "", toolCallId = "", verdict = ""] = positionals
    if (!isFound(verdict)) {
      const what = `${Reference.quote(verdict)} is nothing that can have become of a call.`
      return yield* Effect.fail(Complaint.usage(what, "Write applied or not-applied."))
    }
    const because = options.get("because")
    if (because === undefined) {
      return yield* Effect.fail(Complaint.usage("It has to be said how you know.", 'Write --because "…".'))
    }
    const pass = options.get("pass")
    if (pass !== undefined && !/^[1-9]\d{0,8}$/.test(pass)) {
      return yield* Effect.fail(
        Complaint.usage(`--pass needs a number from 1, not ${Reference.quote(pass)}.`, "Write --pass 3.")
      )
    }
    const waits = yield* Waits.here(session, word)
    const { runId } = waits
    const by = yield* Waits.by(session)
    const given = { toolCallId, verdict, by, because, ...(pass === undefined ? {} : { pass: Number(pass) }) }
    const { pending } = yield* Waits.record(session, Agent.resolve(runId, given))
    if (json) {
      terminal.json({ format: "wherefore.resolved/1", runId, ...given })
      for (const one of pending) terminal.json({ pending: one })
      return 0
    }
    terminal.out([[ScreenLine.span(`${toolCallId}: ${verdict}, says ${by}`, "good")]])
    Waits.onward(session, waits, pending)
    return 0
  })
