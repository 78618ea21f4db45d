/**
 * `ShowCommand` shows a run: what was asked and answered, what that rests on, and each pass.
 */
import * as Effect from "effect/Effect"
import * as ScreenJudgement from "../programs/ScreenJudgement.ts"
import * as ScreenShelf from "../programs/ScreenShelf.ts"
import * as ScreenSummary from "../programs/ScreenSummary.ts"
import type * as ScreenVerdict from "../programs/ScreenVerdict.ts"
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

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const found = yield* Reference.read(session, session.arguments.positionals[0] ?? "@")
    Reference.notice(session, found)
    const { entries, runId } = found.reading
    const full = session.arguments.options.has("full")
    const room = full ? { ...terminal.room, full } : terminal.room
    const account = ScreenSummary.account(
      entries.map(({ event }) => event),
      room
    )
    const at = entries[0]?.at ?? 0
    if (json) {
      const { answered, ended, started } = account.ticker.state
      terminal.json({
        format: "wherefore.show/1",
        runId,
        at,
        agent: started?.agent,
        question: started?.input,
        status: ended?.status ?? "open",
        answer: answered?.content,
        reason: ended?.reason,
        totals: account.totals,
        ...ScreenShelf.toJson(account.ticker.state),
        ...ScreenJudgement.toJson(account.ticker.state, account.dropped)
      })
      for (const verdict of account.verdicts) terminal.json({ value: verdictJson(verdict) })
      for (const { at, event, seq } of entries) terminal.json({ seq, at, event })
      return 0
    }
    terminal.out(ScreenSummary.show(account, { room, name: found.name, at, full }))
    return 0
  })
