/**
 * A `Watch` is a record that is looked at while it is written: each event is shown once it is on the record, and of a reply
 * that is still being written its end.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Event from "../kernel/Event.ts"
import type * as Onlooker from "../programs/Onlooker.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as ScreenTicker from "../programs/ScreenTicker.ts"
import type * as Record from "../services/Record.ts"
import type { Asked } from "./Session.ts"

export interface Watch {
  readonly record: Context.Tag.Service<Record.Record>
  readonly see: Onlooker.See
  /** The runs that were written to, in the order in which they began to be. */
  readonly runIds: () => ReadonlyArray<string>
  /** Ends the display. */
  readonly stop: () => void
}

/** `fileOf` says where a run is kept. */
export const make = (
  { json, terminal }: Asked,
  record: Context.Tag.Service<Record.Record>,
  fileOf: (runId: string) => string
): Watch => {
  const tickers = new Map<string, ScreenTicker.Ticker>()
  let current = ""
  let since = Date.now()

  const see = (runId: string, seq: number, event: Event.Event): void => {
    if (json) terminal.json({ runId, seq, event })
    const before = tickers.get(runId) ?? ScreenTicker.initial
    const options = { room: terminal.progressRoom, record: fileOf(runId) }
    const { lines, ticker } = ScreenTicker.step(before, seq, event, options)
    tickers.set(runId, ticker)
    if (lines.length === 0) return
    // Two runs at once: say whose lines these are.
    if (current !== "" && current !== runId) terminal.progress([[], [ScreenLine.span(`run ${runId}`, "faint")]])
    current = runId
    terminal.progress(lines)
  }

  const refresh = (): void => {
    const ticker = tickers.get(current) ?? Array.from(tickers.values()).at(-1)
    terminal.status(
      ticker === undefined ? undefined : ScreenTicker.status(ticker, Date.now() - since, terminal.statusRoom())
    )
  }
  const timer = setInterval(refresh, terminal.everyMs)
  timer.unref()

  return {
    record: {
      ...record,
      append: (runId, expectedSeq, events) =>
        Effect.tap(record.append(runId, expectedSeq, events), () =>
          Effect.sync(() => {
            since = Date.now()
            terminal.status(undefined)
            events.forEach((event, index) => see(runId, expectedSeq + index, event))
          })
        )
    },
    see: (runId, progress) => {
      const ticker = tickers.get(runId)
      if (ticker === undefined || progress._tag === "Recorded") return
      tickers.set(runId, ScreenTicker.see(ticker, progress, { room: terminal.progressRoom }).ticker)
    },
    runIds: () => Array.from(tickers.keys()),
    stop: () => {
      clearInterval(timer)
      terminal.status(undefined)
    }
  }
}
