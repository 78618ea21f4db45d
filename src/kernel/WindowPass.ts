/**
 * A `WindowPass` is what the pass to come lets go of the conversation, and the summary that it has the model asked for.
 *
 * @internal
 */
import * as CallOutcome from "./CallOutcome.ts"
import * as PieceText from "./PieceText.ts"
import type * as State from "./State.ts"
import * as SummaryWire from "./SummaryWire.ts"
import * as TokenCount from "./TokenCount.ts"
import * as Window from "./Window.ts"
import type * as WindowEvent from "./WindowEvent.ts"
import * as WindowState from "./WindowState.ts"
import * as WindowWire from "./WindowWire.ts"
import * as Wire from "./Wire.ts"

/** A closed unit of the conversation that is sent. */
interface Unit extends Omit<Window.Unit, "tokens"> {
  readonly id: string
  readonly from: number
  readonly pieces: ReadonlyArray<Wire.MessagePiece>
}

const unitsOf = ({ findings, messages, window }: State.State): ReadonlyArray<Unit> => {
  const sent = findings?.served ?? messages
  const units: Array<Unit & { readonly pieces: Array<Wire.MessagePiece> }> = []
  for (const [at, piece] of sent.entries()) {
    if (WindowWire.isGone(window?.view, at)) continue
    const { id, message, origin } = piece
    if (message.role === "tool") {
      units.at(-1)?.pieces.push(piece)
      continue
    }
    units.push({
      id,
      from: at,
      kind: message.role === "user" ? "said" : message.toolCalls.length === 0 ? "reply" : "calls",
      isRequest: message.role === "user" && origin === "person",
      pieces: [piece]
    })
  }
  return units
}

interface Left {
  readonly by: WindowEvent.WindowTrimmed["by"]
  readonly units: ReadonlyArray<Pick<Unit, "id" | "pieces">>
  readonly tokens?: WindowEvent.Count
  readonly summary?: WindowEvent.WindowTrimmed["summary"]
}

const trimmed = (
  state: Pick<State.State, "iteration">,
  { by, summary, tokens, units }: Left
): ReadonlyArray<WindowEvent.WindowTrimmed> => {
  const [first, ...rest] = units.map(({ id }) => id)
  if (first === undefined) return []
  const pieces = units.flatMap((unit) => unit.pieces)
  return [
    {
      _tag: "WindowTrimmed",
      iteration: state.iteration + 1,
      by,
      units: [first, ...rest],
      dropped: pieces.flatMap(({ message }) =>
        message.role === "tool" && CallOutcome.hasRun(message.outcome)
          ? [{ toolCallId: message.toolCallId, toolName: message.toolName }]
          : []
      ),
      chars: pieces.reduce((sum, piece) => sum + PieceText.of(piece).length, 0),
      ...(tokens === undefined ? {} : { tokens }),
      ...(summary === undefined ? {} : { summary })
    }
  ]
}

/** Answers that were not taken, once a later one was given: only the last is of use, and none beside one that was taken. */
const superseded = (state: State.State): ReadonlyArray<WindowEvent.WindowTrimmed> => {
  const ranges = state.notTaken?.superseded ?? []
  if (ranges.length === 0) return []
  const units = unitsOf(state).filter(({ from }) => ranges.some(([start, end]) => start <= from && from < end))
  return trimmed(state, { by: "superseded", units })
}

/** What a counter counts of the wire that the provider has counted. Results that were judged since count as they are sent now. */
const counted = (counter: TokenCount.Counter, { findings, marks, messages, metered }: State.State): number => {
  const mark = marks.findLast(({ iteration }) => iteration === metered?.iteration)
  if (mark === undefined) return 0
  const { selection, window } = mark
  const said = WindowWire.kept(window, (findings?.served ?? messages).slice(0, mark.messages))
  return TokenCount.ofAll(counter, [...selection.system, ...Wire.late(mark), ...said, ...selection.tools])
}

/** By what factor a counter is put right: that of what the provider counted last. Nothing if it has counted nothing. */
const correction = (counter: TokenCount.Counter, state: State.State): number | undefined => {
  const { metered } = state
  const before = counted(counter, state)
  return metered !== undefined && metered.tokens > 0 && before > 0 ? metered.tokens / before : undefined
}

/** How many tokens the wire of the pass to come has, and by what factor the counter is put right. */
const measure = (counter: TokenCount.Counter, state: State.State) => {
  const { messages, system, tools } = Wire.project(state)
  const conversation = TokenCount.ofAll(counter, messages)
  const other = TokenCount.ofAll(counter, [...system, ...tools])
  const factor = correction(counter, state)
  return { conversation, other, factor: factor ?? 1, by: factor === undefined ? counter.by : ("provider" as const) }
}

/** How many tokens a wire of the run is reckoned to have. */
export const reckon = (counter: TokenCount.Counter, state: State.State, wire: Wire.Wire): number => {
  const { messages, system, tools } = wire
  return Math.round(TokenCount.ofAll(counter, [...system, ...messages, ...tools]) * (correction(counter, state) ?? 1))
}

/** What a strategy lets go, and what was counted for it. */
const overdue = (
  counter: TokenCount.Counter,
  state: State.State,
  strategy: Window.Strategy
): { readonly units: ReadonlyArray<Unit>; readonly tokens?: WindowEvent.Count } => {
  const units = unitsOf(state)
  if (strategy._tag === "KeepLast") {
    if (!Window.isOver(strategy, { units: units.length, tokens: 0 })) return { units: [] }
    const sized = units.map((unit) => ({ ...unit, tokens: 0 }))
    return { units: pick(units, Window.cut(sized, Window.fitting(strategy, 0))) }
  }
  const { by, conversation, factor, other } = measure(counter, state)
  const before = Math.round((conversation + other) * factor)
  if (!Window.isOver(strategy, { units: units.length, tokens: before })) return { units: [] }
  const sized = units.map((unit) => ({ ...unit, tokens: TokenCount.ofAll(counter, unit.pieces) * factor }))
  const left = Window.cut(sized, Window.fitting(strategy, other * factor))
  const gone = left.reduce((sum, at) => sum + (sized[at]?.tokens ?? 0), 0)
  const after = Math.max(0, Math.round(before - gone))
  return { units: pick(units, left), tokens: { by, name: counter.name, before, after, limit: strategy.tokens } }
}

const pick = (units: ReadonlyArray<Unit>, at: ReadonlyArray<number>): ReadonlyArray<Unit> =>
  at.flatMap((index) => units[index] ?? [])

/** Who is asked in this pass. */
interface Asks {
  readonly provider?: string | undefined
  readonly model?: string | undefined
}

/** What of it is not as it was in the last pass. */
const differing = (
  last: Asks = {},
  { model, provider }: Asks
): Pick<WindowEvent.SummaryAsked, "provider" | "model"> => ({
  ...(provider === undefined || provider === last.provider ? {} : { provider }),
  ...(model === undefined || model === last.model ? {} : { model })
})

export interface Decision {
  readonly events: ReadonlyArray<WindowEvent.WindowEvent>
  /** The model is to be asked for a summary before anything else is decided. */
  readonly summarizes: boolean
}

/**
 * What leaves before the pass to come. `state` holds all else that the pass has decided, so that its whole wire is counted;
 * a request for a summary rests on none of that.
 */
export const decide = (counter: TokenCount.Counter, before: State.State, asks: Asks = {}): Decision => {
  const old = superseded(before)
  const state = old.reduce((state, event) => WindowState.step({ ...state, seq: state.seq + 1 }, event), before)
  const strategy = state.started?.manifest.window
  const nothing: Decision = { events: old, summarizes: false }
  if (strategy === undefined) return nothing
  const made = WindowState.settled(state)
  if (made?.outcome !== undefined) {
    const isHere = unitsOf(state).filter(({ id }) => made.units.includes(id))
    const summary = made.outcome._tag === "Made" ? "made" : "failed"
    const tokens = made.tokens === undefined ? {} : { tokens: made.tokens }
    return {
      events: [...old, ...trimmed(state, { by: strategy._tag, units: isHere, ...tokens, summary })],
      summarizes: false
    }
  }
  const { tokens, units } = overdue(counter, state, strategy)
  const [first, ...rest] = units.map(({ id }) => id)
  if (first === undefined) return nothing
  const count = tokens === undefined ? {} : { tokens }
  if (strategy._tag !== "SummarizeOldest") {
    return { events: [...old, ...trimmed(state, { by: strategy._tag, units, ...count })], summarizes: false }
  }
  const asked = WindowState.asked(state, [first, ...rest])
  if (asked === undefined) return nothing
  const event: WindowEvent.SummaryAsked = {
    _tag: "SummaryAsked",
    iteration: state.iteration + 1,
    wireHash: Wire.hash(SummaryWire.project(asked)),
    ...differing(state.marks.at(-1), asks),
    units: [first, ...rest],
    ...count
  }
  return { events: [...old, event], summarizes: true }
}

/**
 * What had left in a run that has ended, for the one that follows it up: its messages are carried from the event
 * `first` on, in their order. Answers that were not taken are left behind.
 */
export const carried = (runId: string, state: State.State, first: number): ReadonlyArray<WindowEvent.WindowTrimmed> => {
  const { view } = state.window ?? WindowState.none
  const over = [...view.gone, ...(state.notTaken?.superseded ?? [])]
  const pieces = state.messages.flatMap((piece, at) =>
    over.some(([from, to]) => from <= at && at < to) ? [{ ...piece, id: `carried:${first + at}` }] : []
  )
  const units = pieces.map((piece) => ({ id: piece.id, pieces: [piece] }))
  const [event] = trimmed({ iteration: 0 }, { by: "carried", units })
  if (event === undefined) return []
  const heads = pieces.flatMap(({ id, message }) => (message.role === "tool" ? [] : [id]))
  const [head = event.units[0], ...rest] = heads
  const { summary } = view
  const kept = summary && { from: summary.from ?? { runId, seq: summary.seq }, content: summary.content }
  return [{ ...event, units: [head, ...rest], ...(kept === undefined ? {} : { carried: kept }) }]
}
