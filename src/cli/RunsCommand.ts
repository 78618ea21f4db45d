/**
 * `RunsCommand` lists the runs of a directory.
 */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import * as Printable from "../kernel/Printable.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import type * as Record from "../services/Record.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

const most = 40

const row =
  (room: ScreenLine.Room, id: number, agent: number) =>
  ({ entries, input, runId, startedAt, status, ...run }: Record.RunSummary): ScreenLine.Line => {
    const head = [
      ScreenLine.span(ScreenLine.pad(runId, id), "strong"),
      ScreenLine.span(`  ${ScreenSummary.when(startedAt)}  `, "faint"),
      ScreenLine.span(`${ScreenLine.pad(ScreenLine.fit(run.agent, agent), agent)}  `),
      ScreenLine.span(`${ScreenLine.pad(status ?? "open", 8)}  `, status === "answered" ? "good" : "warn")
    ]
    const ref = ScreenLine.span(`#${entries - 1}`, "faint")
    const taken = ScreenLine.widthOf(head) + ref.text.length + 2
    return ScreenLine.ending(
      [...head, ScreenLine.span(ScreenLine.fitIn(ScreenLine.oneLine(input), room, taken, 8))],
      ref,
      room
    )
  }

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const directory = Reference.directoryOf(session)
    if (session.arguments.options.has("dir") && !existsSync(directory)) {
      return yield* Effect.fail(
        Complaint.unreadable(
          `There is no directory ${Printable.quote(directory, 80)}.`,
          "Name the directory of the records with --dir."
        )
      )
    }
    const full = json || session.arguments.options.has("full")
    const runs = yield* Reference.list(session, full ? Infinity : most + 1)
    if (json) {
      terminal.json({ format: "wherefore.runs/1", directory })
      for (const run of runs) terminal.json(run)
      return 0
    }
    if (runs.length === 0)
      terminal.progress([ScreenLine.plain(`No runs in ${directory}. Make one: wherefore run FILE.ts`)])
    const shown = full ? runs : runs.slice(0, most)
    const id = shown.reduce((widest, { runId }) => Math.max(widest, runId.length), 0)
    const agent = Math.min(
      14,
      shown.reduce((widest, run) => Math.max(widest, ScreenLine.width(run.agent)), 0)
    )
    terminal.out(shown.map(row(terminal.room, id, agent)))
    if (shown.length < runs.length) terminal.progress([ScreenLine.plain("There are more: wherefore runs --full")])
    return 0
  })
