/**
 * `ApprovalsCommand` shows what runs wait for from a person.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ScreenApprovals from "../programs/ScreenApprovals.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import type * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"
import * as Waits from "./Waits.ts"

/** The runs here that have not ended and wait for something; those that cannot be read are said, and left out. */
const all = (session: Session.Session): Effect.Effect<ReadonlyArray<Waits.Waits>, Complaint.Complaint> =>
  Effect.gen(function* () {
    const open = (yield* Reference.list(session, Infinity)).filter(({ status }) => status === undefined)
    const found: Array<Waits.Waits> = []
    for (const { runId } of open) {
      const read = yield* Effect.either(Reference.read(session, runId))
      if (Either.isRight(read)) found.push(Waits.of(read.right))
      else session.terminal.progress([[ScreenLine.span(`${runId} could not be read: ${read.left.what}`, "warn")]])
    }
    return found.filter(({ pending }) => pending.length > 0)
  })

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const [word] = session.arguments.positionals
    const waits = word === undefined ? yield* all(session) : [Waits.of(yield* Reference.read(session, word))]
    if (json) {
      terminal.json({ format: "wherefore.approvals/1", directory: session.archive.shown })
      for (const { pending, runId } of waits) for (const one of pending) terminal.json({ runId, ...one })
      return 0
    }
    const { room } = terminal
    const blocks = waits.flatMap(({ name, pending, runId, state }) =>
      pending.map((one) => [
        [
          ScreenLine.span(runId, "strong"),
          ScreenLine.span(
            `  ${ScreenLine.fitIn(ScreenLine.oneLine(state.started?.input ?? ""), room, runId.length + 2)}`
          )
        ],
        ...ScreenApprovals.lines(one, name, room)
      ])
    )
    terminal.out(blocks.flatMap((lines, index) => (index === 0 ? lines : [[], ...lines])))
    if (blocks.length === 0) {
      terminal.progress([
        ScreenLine.plain(word === undefined ? "No run here waits for a person." : "It waits for nobody.")
      ])
    }
    return 0
  })
