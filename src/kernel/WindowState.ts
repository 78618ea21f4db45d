/**
 * A `WindowState` is where a run stands with its window: what has left, and the summary that is being made. A run from
 * which nothing has left has none.
 *
 * @internal
 */
import * as Budget from "./Budget.ts"
import * as Digest from "./Digest.ts"
import * as FindingState from "./FindingState.ts"
import * as Law from "./Law.ts"
import type * as State from "./State.ts"
import * as SummaryWire from "./SummaryWire.ts"
import type * as WindowEvent from "./WindowEvent.ts"
import * as WindowWire from "./WindowWire.ts"
import * as Wire from "./Wire.ts"

/** A model, as far as the record says which. */
export interface Asked {
  readonly provider?: string
  readonly model?: string
}

/** The model of a summary is the one of the last pass, unless it is said. */
const modelOf = (last: Asked | undefined, said: Asked): Asked => {
  const { model = last?.model, provider = last?.provider } = said
  return { ...(provider === undefined ? {} : { provider }), ...(model === undefined ? {} : { model }) }
}

/** Who was asked for the summary that was asked for last. */
export const askedOf = ({ window }: State.State): Asked | undefined => window?.summaries.at(-1)?.asked

/** A summary that was asked for: which messages it is of, as they were sent. */
export interface Mark extends SummaryWire.Asked {
  readonly units: WindowEvent.SummaryAsked["units"]
  readonly asked: Asked
  readonly ranges: ReadonlyArray<WindowWire.Range>
  readonly tokens?: WindowEvent.Count
  readonly recordedHash: string
  readonly projectedHash: string
  /** What came of it, once it is there. */
  readonly outcome?:
    | { readonly _tag: "Made"; readonly content: string; readonly seq: number }
    | { readonly _tag: "Failed" }
}

export interface WindowState {
  readonly view: WindowWire.View
  /** Summaries that were asked for, in order. */
  readonly summaries: ReadonlyArray<Mark>
}

export const none: WindowState = { view: WindowWire.whole, summaries: [] }

/** The wires of a run, each with its hash by the record and by the fold: those of the passes, then those of summaries. */
export const wires = ({
  marks,
  window
}: Pick<State.State, "marks" | "window">): ReadonlyArray<
  Pick<Wire.Mark, "iteration" | "seq" | "recordedHash" | "projectedHash">
> => (window === undefined ? marks : [...marks, ...window.summaries])

/** The summary that the model was asked for and has not given. */
export const asking = ({ window }: Pick<State.State, "window">): Mark | undefined => {
  const last = window?.summaries.at(-1)
  return last?.outcome === undefined ? last : undefined
}

/** The summary of the pass to come that has come to something, if it was asked for. */
export const settled = ({ iteration, window }: Pick<State.State, "iteration" | "window">): Mark | undefined => {
  const last = window?.summaries.at(-1)
  return last?.outcome !== undefined && last.iteration === iteration + 1 ? last : undefined
}

/** Each message as it would be sent if nothing had left. */
const asSent = ({ findings, messages }: State.State): ReadonlyArray<Wire.MessagePiece> => findings?.served ?? messages

/** The digest of the messages that are sent, once further ones are said. `findings` has them already. */
export const said = (
  { messages, messagesHash, window }: State.State,
  pieces: ReadonlyArray<Wire.MessagePiece>,
  findings: FindingState.FindingState | undefined
): string => {
  if (findings !== undefined && window === undefined) return findings.rolls.at(-1) ?? ""
  const sent = findings === undefined ? pieces : findings.served.slice(messages.length)
  return sent.reduce((rolled, { hash }) => Digest.roll(rolled, hash), messagesHash)
}

/** The state with the digest of the messages that are sent. */
export const rehash = (state: State.State): State.State => {
  const sent = WindowWire.kept(state.window?.view, asSent(state))
  return { ...state, messagesHash: sent.reduce((rolled, { hash }) => Digest.roll(rolled, hash), "") }
}

/** The units that are named, as positions: nothing if one of them is no unit that is sent. */
const rangesOf = (
  { messages, window }: State.State,
  units: ReadonlyArray<string>
): ReadonlyArray<WindowWire.Range> | undefined => {
  const wanted = new Set(units)
  const ranges: Array<WindowWire.Range> = []
  for (let from = 0; from < messages.length; from++) {
    const piece = messages[from]
    if (piece === undefined || !wanted.has(piece.id)) continue
    if (piece.message.role === "tool" || WindowWire.isGone(window?.view, from)) return undefined
    let to = from + 1
    while (messages[to]?.message.role === "tool") to++
    ranges.push([from, to])
  }
  return ranges.length === wanted.size && ranges.length === units.length ? ranges : undefined
}

const merged = (ranges: ReadonlyArray<WindowWire.Range>): ReadonlyArray<WindowWire.Range> => {
  const all: Array<WindowWire.Range> = []
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = all.at(-1)
    if (last !== undefined && last[1] === from) all[all.length - 1] = [last[0], to]
    else all.push([from, to])
  }
  return all
}

const isReply = ({ messages }: State.State, at: number): boolean => messages[at]?.message.role === "assistant"

const summaryOf = (
  { window }: State.State,
  { carried, summary }: WindowEvent.WindowTrimmed,
  seq: number
): Pick<WindowWire.View, "summary"> => {
  const outcome = window?.summaries.at(-1)?.outcome
  if (carried !== undefined) return { summary: { content: carried.content, seq, from: carried.from } }
  if (summary === "made" && outcome?._tag === "Made") return { summary: { content: outcome.content, seq: outcome.seq } }
  const before = window?.view.summary
  return before === undefined ? {} : { summary: before }
}

const trim = (state: State.State, event: WindowEvent.WindowTrimmed): State.State => {
  const ranges = rangesOf(state, event.units)
  if (ranges === undefined) return Law.broken(state, "What leaves the window is units that are in it.")
  const window = state.window ?? none
  const { view } = window
  const seq = state.seq - 1
  const { by, dropped, units } = event
  const next: WindowWire.View = {
    gone: merged([...view.gone, ...ranges]),
    units: view.units + (by === "superseded" ? 0 : units.length),
    answers: view.answers + (by === "superseded" ? ranges.filter(([from]) => isReply(state, from)).length : 0),
    calls: view.calls + dropped.length,
    recent: [...dropped.toReversed(), ...view.recent].slice(0, WindowWire.named),
    seq,
    ...summaryOf(state, event, seq)
  }
  const trimmed: State.State = { ...state, window: { ...window, view: next } }
  const { findings } = trimmed
  return rehash(findings === undefined ? trimmed : { ...trimmed, findings: FindingState.trim(findings, dropped) })
}

/** What a summary of units that are sent is asked with, `seq` being the event that asks. */
export const asked = (
  state: State.State,
  units: ReadonlyArray<string>,
  seq: number = state.seq
): (SummaryWire.Asked & Pick<Mark, "ranges">) | undefined => {
  const strategy = state.started?.manifest.window
  const ranges = rangesOf(state, units)
  if (strategy?._tag !== "SummarizeOldest" || ranges === undefined) return undefined
  const before = state.window?.view.summary
  const all = asSent(state)
  return {
    iteration: state.iteration + 1,
    seq,
    messages: ranges.flatMap(([from, to]) => all.slice(from, to)),
    ...(before === undefined ? {} : { before }),
    strategy,
    ranges
  }
}

const ask = (state: State.State, event: WindowEvent.SummaryAsked): State.State => {
  const request = asked(state, event.units, state.seq - 1)
  if (request === undefined || event.iteration !== request.iteration)
    return Law.broken(state, "A summary is of units that are in the window of the pass to come.")
  const window = state.window ?? none
  const { tokens } = event
  const mark: Mark = {
    ...request,
    units: event.units,
    asked: modelOf(state.marks.at(-1), event),
    ...(tokens === undefined ? {} : { tokens }),
    recordedHash: event.wireHash,
    projectedHash: Wire.hash(SummaryWire.project(request))
  }
  const spent = Budget.askedFor(state.spent, event)
  return { ...state, spent, window: { ...window, summaries: [...window.summaries, mark] } }
}

const settle = (state: State.State, outcome: NonNullable<Mark["outcome"]>, iteration: number): State.State => {
  const mark = asking(state)
  const { window } = state
  if (mark === undefined || window === undefined || mark.iteration !== iteration) {
    return Law.broken(state, "A summary comes when one is asked for.")
  }
  return { ...state, window: { ...window, summaries: [...window.summaries.slice(0, -1), { ...mark, outcome }] } }
}

/** The state after an event of the window. */
export const step = (state: State.State, event: WindowEvent.WindowEvent): State.State => {
  switch (event._tag) {
    case "WindowTrimmed":
      return event.iteration === state.iteration + 1
        ? trim(state, event)
        : Law.broken(state, "A decision is of the pass that it is made for.")
    case "SummaryAsked":
      return ask(state, event)
    case "SummaryReplied": {
      const spent = Budget.replied(state.spent, event.usage, event.by)
      return settle({ ...state, spent }, { _tag: "Made", content: event.content, seq: state.seq - 1 }, event.iteration)
    }
    case "SummaryFailed": {
      const spent = Budget.failed(state.spent, event.usage)
      return settle({ ...state, spent }, { _tag: "Failed" }, event.iteration)
    }
  }
}
