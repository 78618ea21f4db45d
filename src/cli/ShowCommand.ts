/**
 * `ShowCommand` shows a run: what was asked and answered, what that rests on, and each pass.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Cost from "../kernel/Cost.ts"
import * as Prices from "../kernel/Prices.ts"
import * as ScreenEnd from "../programs/ScreenEnd.ts"
import * as ScreenJudgement from "../programs/ScreenJudgement.ts"
import * as ScreenShelf from "../programs/ScreenShelf.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import type * as ScreenVerdict from "../programs/ScreenVerdict.ts"
import * as Complaint from "./Complaint.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

export const verdictJson = ({ by, node, word }: ScreenVerdict.Verdict): unknown => ({
  value: node.value,
  word,
  pass: node.pass,
  seq: node.seq,
  start: node.start,
  end: node.end,
  by: by.map(({ pieceId, seq }) => ({ pieceId, seq }))
})

/** The table of prices in a file that the user named. */
const pricesIn = (file: string): Effect.Effect<Prices.Prices, Complaint.Complaint> =>
  Effect.gen(function* () {
    const bytes = yield* Reference.readFile(file)
    const value = yield* Either.try({
      try: (): unknown => JSON.parse(new TextDecoder().decode(bytes)),
      catch: (cause) =>
        Complaint.unreadable(`${Reference.quote(file)} is not JSON.`, "See: wherefore show --help", { cause })
    })
    return yield* Either.mapLeft(Prices.read(value), (error) => Complaint.ofProblem(3, error, error))
  })

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const file = session.arguments.options.get("prices")
    const prices = file === undefined ? undefined : yield* pricesIn(file)
    const found = yield* Reference.read(session, session.arguments.positionals[0] ?? "@")
    Reference.notice(session, found)
    const { entries, runId } = found.reading
    const full = session.arguments.options.has("full")
    const room = full ? { ...terminal.room, full } : terminal.room
    const events = entries.map(({ event }) => event)
    const account = ScreenSummary.account(events, room)
    const cost = prices === undefined ? undefined : Cost.of(prices, events)
    const at = entries[0]?.at ?? 0
    if (json) {
      const { state } = account.ticker
      const { answered, ended, started } = state
      terminal.json({
        format: "wherefore.show/1",
        runId,
        at,
        agent: started?.agent,
        question: started?.input,
        status: ScreenEnd.statusOf(state),
        answer: answered?.content,
        reason: ended?.reason,
        ...ScreenEnd.toJson(state),
        totals: account.totals,
        cost,
        ...ScreenShelf.toJson(account.ticker.state),
        ...ScreenJudgement.toJson(account.ticker.state, account.dropped)
      })
      for (const verdict of account.verdicts) terminal.json({ value: verdictJson(verdict) })
      for (const { at, event, seq } of entries) terminal.json({ seq, at, event })
      return 0
    }
    terminal.out(
      ScreenSummary.show(account, { room, name: found.name, at, full, ...(cost === undefined ? {} : { cost }) })
    )
    return 0
  })
