/**
 * `DecideCommand` puts a person's yes or no to a call on the record of its run.
 */
import * as Effect from "effect/Effect"
import type * as Outcome from "../kernel/Outcome.ts"
import * as Agent from "../programs/Agent.ts"
import * as ScreenApprovals from "../programs/ScreenApprovals.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"
import * as Waits from "./Waits.ts"

/** A shorter start of a ticket could be anything. */
const shortest = 8

/** The approval that a word means, of those that were ever asked for: what it may still decide is judged later. */
const meant = (
  { name, pending, state }: Waits.Waits,
  word: string
): Effect.Effect<Pick<Outcome.PendingApproval, "argsDigest" | "ticket" | "toolCallId">, Complaint.Complaint> => {
  const isMeant = ({ ticket, toolCallId }: { readonly ticket: string; readonly toolCallId: string }): boolean =>
    toolCallId === word || (word.length >= shortest && ticket.startsWith(word))
  const waiting = pending.flatMap((one) => (one.kind === "approval" && isMeant(one) ? [one] : []))
  const [only, ...others] = waiting
  if (only !== undefined && others.length === 0) return Effect.succeed(only)
  const look = `See what it waits for: wherefore approvals ${name}`
  if (only !== undefined) {
    const tickets = waiting.map(({ ticket }) => ScreenApprovals.shortTicket(ticket)).join(", ")
    return Effect.fail(Complaint.refused(`${Reference.quote(word)} names ${waiting.length} calls: ${tickets}.`, look))
  }
  const before = (state.waiting?.asks ?? []).map(({ asked }) => asked).findLast(isMeant)
  if (before !== undefined) return Effect.succeed(before)
  return Effect.fail(Complaint.refused(`No call of the run waits as ${Reference.quote(word)}.`, look))
}

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const { options, positionals, verb } = session.arguments
    const [word = "", which = ""] = positionals
    const waits = yield* Waits.here(session, word)
    const { runId } = waits
    const { argsDigest, ticket, toolCallId } = yield* meant(waits, which)
    const note = options.get("note")
    const verdict = verb === "approve" ? ("approve" as const) : ("deny" as const)
    const by = yield* Waits.by(session)
    const given = { ticket, argsDigest, toolCallId, verdict, by, ...(note === undefined ? {} : { note }) }
    const { pending } = yield* Waits.record(session, Agent.decide(runId, given))
    if (json) {
      terminal.json({ format: "wherefore.decided/1", runId, ...given })
      for (const one of pending) terminal.json({ pending: one })
      return 0
    }
    const asked = waits.pending.find((one) => one.kind === "approval" && one.ticket === ticket)
    const did = verdict === "approve" ? "approved" : "denied"
    terminal.out([
      [ScreenLine.span(`${did} by ${by}`, verdict === "approve" ? "good" : "warn")],
      ...(asked === undefined ? [] : ScreenApprovals.what(asked, terminal.room))
    ])
    Waits.onward(session, waits, pending)
    return 0
  })
