/**
 * `RunsCommand` lists the runs of a directory and, if it is asked to, proves of each that its record is whole.
 */
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import * as Printable from "../kernel/Printable.ts"
import * as ScreenEnd from "../programs/ScreenEnd.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import type * as Record from "../services/Record.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"
import * as VerifyCommand from "./VerifyCommand.ts"
import * as Waits from "./Waits.ts"

const most = 40

/** What a proof of a run's record came to, in a word or two. */
interface Standing {
  readonly whole: boolean
  readonly title: string
}

const standingOf = (session: Session.Session, runId: string): Effect.Effect<Standing> =>
  Reference.ofRun(session, runId).pipe(
    Effect.flatMap(({ record }) => VerifyCommand.prove(record, { runId })),
    Effect.match({
      onFailure: () => ({ whole: false, title: "UNREADABLE" }),
      onSuccess: ({ exit, title }) => ({ whole: exit === 0, title })
    })
  )

/** How many things a run waits for that has not ended; none, if it goes on or cannot be read. */
const waitsOf = (session: Session.Session, { runId, status }: Record.RunSummary): Effect.Effect<number> =>
  status !== undefined
    ? Effect.succeed(0)
    : Reference.read(session, runId).pipe(
        Effect.map(Waits.of),
        Effect.match({
          onFailure: () => 0,
          onSuccess: ({ pending, state }) => (ScreenEnd.statusOf(state) === "waiting" ? pending.length : 0)
        })
      )

/** The standing of each run that is shown, if it was asked for. */
type Standings = ReadonlyMap<string, Standing>

const standingSpan = ({ title, whole }: Standing, cells: number): ScreenLine.Span =>
  ScreenLine.span(`${ScreenLine.pad(title, cells)}  `, whole ? "good" : "bad")

/** What is proven of a run takes the place of its agent. */
const row =
  (room: ScreenLine.Room, id: number, agent: number, standings: Standings, waits: ReadonlyMap<string, number>) =>
  ({ entries, input, runId, startedAt, status, ...run }: Record.RunSummary): ScreenLine.Line => {
    const standing = standings.get(runId)
    const head = [
      ScreenLine.span(ScreenLine.pad(runId, id), "strong"),
      ScreenLine.span(`  ${ScreenSummary.when(startedAt)}  `, "faint"),
      standing === undefined
        ? ScreenLine.span(`${ScreenLine.pad(ScreenLine.fit(run.agent, agent), agent)}  `)
        : standingSpan(standing, agent),
      ScreenLine.span(
        `${ScreenLine.pad(status ?? (waits.has(runId) ? "waiting" : "open"), 8)}  `,
        status === "answered" ? "good" : "warn"
      )
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
    const { options } = session.arguments
    const { directory, shown: where } = session.archive
    if (options.has("dir") && directory !== undefined && !existsSync(directory)) {
      return yield* Effect.fail(
        Complaint.unreadable(
          `There is no directory ${Printable.quote(directory, 80)}.`,
          "Name the directory of the records with --dir."
        )
      )
    }
    const verify = options.has("verify")
    const full = json || options.has("full")
    const runs = yield* Reference.list(session, full || verify ? Infinity : most + 1)
    const shown = full ? runs : runs.slice(0, most)
    // A record whose first or last line is damaged is in no list.
    const listed = new Set(runs.map(({ runId }) => runId))
    const unlisted = verify ? (yield* Reference.ids(session)).filter((runId) => !listed.has(runId)) : []
    const standings = new Map<string, Standing>()
    const proven = verify ? [...shown.map(({ runId }) => runId), ...unlisted] : []
    for (const runId of proven) standings.set(runId, yield* standingOf(session, runId))
    const waits = new Map<string, number>()
    for (const run of shown) {
      const pending = yield* waitsOf(session, run)
      if (pending > 0) waits.set(run.runId, pending)
    }
    const exit = Array.from(standings.values()).every(({ whole }) => whole) ? 0 : 1
    if (json) {
      terminal.json({ format: "wherefore.runs/1", directory: where })
      for (const run of [...shown, ...unlisted.map((runId) => ({ runId }))]) {
        const standing = standings.get(run.runId)
        const pending = waits.get(run.runId)
        terminal.json({
          ...run,
          ...(pending === undefined ? {} : { status: "waiting", pending }),
          ...(standing === undefined ? {} : { whole: standing.whole, standing: standing.title })
        })
      }
      return exit
    }
    if (runs.length + unlisted.length === 0)
      terminal.progress([ScreenLine.plain(`No runs in ${where}. Make one: wherefore run FILE.ts`)])
    const widest = (texts: ReadonlyArray<string>): number =>
      texts.reduce((widest, text) => Math.max(widest, ScreenLine.width(text)), 0)
    const id = widest([...shown.map(({ runId }) => runId), ...unlisted])
    const titles = Array.from(standings.values(), ({ title }) => title)
    const second = verify ? widest(titles) : Math.min(14, widest(shown.map(({ agent }) => agent)))
    terminal.out([
      ...shown.map(row(terminal.room, id, second, standings, waits)),
      ...unlisted.map((runId) => {
        const standing = standings.get(runId)
        return [
          ScreenLine.span(`${ScreenLine.pad(runId, id)}  ${" ".repeat(17)}  `, "strong"),
          ...(standing === undefined ? [] : [standingSpan(standing, second)])
        ]
      })
    ])
    if (waits.size > 0) terminal.progress([ScreenLine.plain("What they wait for: wherefore approvals")])
    if (shown.length < runs.length) terminal.progress([ScreenLine.plain("There are more: wherefore runs --full")])
    return exit
  })
