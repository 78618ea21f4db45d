/**
 * `FindingsCommand` shows what the model declared of the results it had, and what follows from that by the record.
 */
import * as Effect from "effect/Effect"
import type * as Event from "../kernel/Event.ts"
import * as FindingsBoard from "../programs/FindingsBoard.ts"
import * as Printable from "../kernel/Printable.ts"
import * as ScreenFindings from "../programs/ScreenFindings.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

/** Why a run has no findings, and what to do about it. */
const off = (first: Event.Event | undefined): { readonly what: string; readonly next: string } => {
  const imported = first?._tag === "RunStarted" ? first.manifest.importedFrom : undefined
  return imported === undefined
    ? {
        what: "Findings were off in this run: the model was not asked what its results are worth.",
        next: "Turn them on: Agent.make({ …, findings: true })"
      }
    : {
        what: `This run was imported from ${Printable.quote(imported, 48)}, which knows no findings.`,
        next: "Runs of an agent have them with: Agent.make({ …, findings: true })"
      }
}

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const found = yield* Reference.read(session, session.arguments.positionals[0] ?? "@")
    Reference.notice(session, found)
    const { entries, runId } = found.reading
    const events = entries.map(({ event }) => event)
    const board = FindingsBoard.make(events)
    if (board === undefined) {
      const { next, what } = off(events[0])
      if (json) terminal.json({ format: "wherefore.findings/1", runId, on: false, what, next })
      else {
        const { width } = terminal.room
        terminal.out([
          ...ScreenLine.paragraph(what, width, Infinity).map((text) => [ScreenLine.span(text, "warn")]),
          ...ScreenLine.paragraph(next, width === undefined ? undefined : width - 2, Infinity).map((text) =>
            ScreenLine.plain(`  ${text}`)
          )
        ])
      }
      return 1
    }
    if (json) {
      const { config, counts } = board
      const rejected = FindingsBoard.dropped(board)
      terminal.json({ format: "wherefore.findings/1", runId, on: true, ...config, counts: { ...counts, rejected } })
      for (const row of FindingsBoard.toJson(board)) terminal.json(row)
      return 0
    }
    const full = session.arguments.options.has("full")
    terminal.out(ScreenFindings.board(board, { room: terminal.room, name: runId, full }))
    return 0
  })
