/**
 * A `ScreenTicker` shows a run while it goes on: a line for each thing that a pass came to, as soon as it is recorded.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Event from "../kernel/Event.ts"
import * as Json from "../kernel/Json.ts"
import * as Run from "../kernel/Run.ts"
import * as Sources from "../kernel/Sources.ts"
import * as State from "../kernel/State.ts"
import * as WindowState from "../kernel/WindowState.ts"
import * as Wire from "../kernel/Wire.ts"
import * as Written from "../kernel/Written.ts"
import * as Usage from "../kernel/Usage.ts"
import type * as Loop from "./Loop.ts"
import * as ScreenDraft from "./ScreenDraft.ts"
import * as ScreenFiled from "./ScreenFiled.ts"
import * as ScreenLine from "./ScreenLine.ts"

/** Where a display is: the state of the run so far, and what was counted of it. */
export interface Ticker {
  readonly state: State.State
  /** Tokens of the last reply, if it says so. */
  readonly tokens?: number
  /** Bytes of the first `messages` messages. */
  readonly messages: number
  readonly messageBytes: number
  /** Bytes of the texts and tools that ride. */
  readonly selection?: Wire.Selection
  readonly selectionBytes: number
  /** Bytes of the wire of the current pass. */
  readonly wire: number
  /** Bytes of each wire, added up. */
  readonly sent: number
  /** The pass whose first line was shown. */
  readonly shown: number
  /** What has come of the reply that is being written. */
  readonly draft?: ScreenDraft.Draft
}

export const initial: Ticker = {
  state: Run.initial,
  messages: 0,
  messageBytes: 0,
  selectionBytes: 0,
  wire: 0,
  sent: 0,
  shown: 0
}

export interface Options {
  readonly room: ScreenLine.Room
  /** Where the record is kept, if it is said. */
  readonly record?: string
}

export interface Shown {
  readonly ticker: Ticker
  readonly lines: ReadonlyArray<ScreenLine.Line>
}

const bytesOf = (pieces: ReadonlyArray<Wire.Piece>): number =>
  pieces.reduce((sum, piece) => sum + ScreenLine.utf8(Sources.textOf(piece)), 0)

/** Counts what the fold has added to the wire. */
const counted = (ticker: Ticker, state: State.State): Ticker => {
  const { messages, selection } = state
  const same = selection === ticker.selection
  return {
    ...ticker,
    state,
    messages: messages.length,
    messageBytes: ticker.messageBytes + bytesOf(messages.slice(ticker.messages)),
    selection,
    selectionBytes: same ? ticker.selectionBytes : bytesOf([...selection.system, ...selection.tools])
  }
}

/** Bytes of the wire that would be sent now. With a window, not all ride; with findings, results ride with their names or as tickets, and blocks beside them. */
const wireBytes = ({ messageBytes, selectionBytes, state }: Ticker): number => {
  if (state.findings === undefined && state.window === undefined) return messageBytes + selectionBytes
  const { messages, system, tools } = Wire.project(state)
  return bytesOf([...system, ...messages, ...tools])
}

/** The arguments of a call as a person would read them out: plain values, or the JSON as it was written. */
export const argumentsText = (args: string): string => {
  if (args.length > 2_000) return args
  const parsed = Json.parse(args)
  if (Either.isLeft(parsed)) return args
  const { right } = parsed
  if (typeof right !== "object" || right === null || Array.isArray(right)) return args
  const values: ReadonlyArray<unknown> = Object.values(right)
  if (values.length > 4) return args
  const shown = values.flatMap((value) => {
    if (typeof value === "string") return [/[\s"]|^$/.test(value) ? JSON.stringify(value) : value]
    return typeof value === "number" || typeof value === "boolean" ? [String(value)] : []
  })
  return shown.length === values.length ? shown.join(" ") : args
}

const verbs: { readonly [O in Event.ToolSettled["outcome"]]: string } = {
  "ran-ok": "called",
  "ran-error": "failed",
  absent: "absent",
  refused: "refused",
  denied: "denied",
  aborted: "aborted",
  truncated: "cut",
  unknown: "lost"
}

interface Row {
  readonly verb: string
  readonly style?: ScreenLine.Style
  readonly text: string
  readonly tail?: string
  readonly ms?: number
  readonly seq: number
}

/** One line; the pass and what it was sent are on the first line of the pass only. */
const row = (ticker: Ticker, { ms, seq, style, tail = "", text, verb }: Row, { room }: Options): Shown => {
  const { iteration } = ticker.state
  const first = ticker.shown !== iteration && iteration > 0
  const pass = first ? String(iteration) : ""
  const size = first ? ScreenLine.bytes(ticker.wire) : ""
  const opening = `${ScreenLine.padLeft(pass, 2)}  ${ScreenLine.padLeft(size, 8)}  `
  const label = ScreenLine.pad(verb, 8)
  const time = ms === undefined ? "" : ScreenLine.duration(ms)
  const tokens = first && ticker.tokens !== undefined ? `${ScreenLine.count(ticker.tokens)} tok  ` : ""
  const closing =
    room.width === undefined
      ? `${tokens}${time === "" ? "" : `${time}  `}#${seq}`
      : `${tokens}${time === "" ? "" : `${ScreenLine.padLeft(time, 6)}  `}${ScreenLine.padLeft(`#${seq}`, 4)}`
  const taken = opening.length + label.length + 2 + ScreenLine.width(tail) + closing.length + 2
  const line = [
    ScreenLine.span(opening, "faint"),
    ScreenLine.span(`${label}  `, style),
    ScreenLine.span(ScreenLine.fitIn(text, room, taken, 8)),
    ScreenLine.span(tail)
  ]
  return {
    ticker: { ...ticker, shown: iteration },
    lines: [ScreenLine.ending(line, ScreenLine.span(closing, "faint"), room)]
  }
}

const opening = ({ state }: Ticker, called: Event.ModelCalled | undefined, { record, room }: Options) => {
  const { started } = state
  if (started === undefined) return []
  const { limits } = started.manifest
  const budget = [
    ...(limits.passes === undefined ? [] : [ScreenLine.counted(limits.passes, "pass", "passes")]),
    ...(limits.toolCalls === undefined ? [] : [ScreenLine.counted(limits.toolCalls, "tool call")]),
    ...(limits.tokens === undefined ? [] : [ScreenLine.counted(limits.tokens, "token")]),
    ...(limits.money === undefined ? [] : [`${limits.money.amount} ${limits.money.prices.currency}`]),
    ...(limits.wallTimeMs === undefined ? [] : [ScreenLine.duration(limits.wallTimeMs)]),
    ...(limits.bytes === undefined ? [] : [ScreenLine.counted(limits.bytes, "byte")])
  ]
  const parts = [
    `run ${ScreenLine.fit(started.runId, 64)}`,
    `agent ${ScreenLine.fit(started.agent, 24)}`,
    ...(called?.model === undefined ? [] : [`model ${ScreenLine.fit(called.model, 28)}`]),
    ...(budget.length === 0 ? [] : [`at most ${budget.join(", ")}`])
  ]
  return [
    ...ScreenLine.paragraph(parts.join(" · "), room.width, 4).map((text) => [ScreenLine.span(text, "faint")]),
    ...(record === undefined ? [] : [[ScreenLine.span(`record ${ScreenLine.fitIn(record, room, 7)}`, "faint")]]),
    [
      ScreenLine.span("asked  ", "faint"),
      ScreenLine.span(ScreenLine.fitIn(ScreenLine.oneLine(started.input), room, 7))
    ],
    []
  ]
}

/** A result that can be shown whole, or its size. */
const resultText = (served: string, { full = false, width = 80 }: ScreenLine.Room): string => {
  if (full && served !== "") return ` → ${ScreenLine.oneLine(served)}`
  const most = width < 80 ? 8 : 24
  const isShort = served.length <= most && ScreenLine.width(served) <= most
  return ` → ${served === "" ? '""' : isShort ? served : ScreenLine.bytes(ScreenLine.utf8(served))}`
}

const settled = (before: Ticker, ticker: Ticker, event: Event.ToolSettled, seq: number, options: Options): Shown => {
  const { durationMs, error, outcome, placed, served, toolCallId, toolName } = event
  const call = before.state.transcript.open?.calls.find((one) => one.toolCallId === toolCallId)
  const name = ScreenLine.brief(toolName, 32, options.room)
  const written = call?.args ?? ""
  const args = ticker.state.findings === undefined ? written : Written.withoutFindings(written)
  const text = call === undefined ? name : `${name} ${argumentsText(args)}`.trimEnd()
  const ms = durationMs === undefined ? {} : { ms: durationMs }
  const ok = outcome === "ran-ok"
  const shown = row(
    ticker,
    {
      verb: verbs[outcome],
      ...(ok ? {} : { style: "warn" as const }),
      text,
      tail: placed === undefined ? resultText(served, options.room) : ` → stored (${ScreenLine.bytes(placed.bytes)})`,
      ...ms,
      seq
    },
    options
  )
  const why =
    error === undefined
      ? []
      : [[ScreenLine.span(`${" ".repeat(24)}${ScreenLine.fitIn(error.what, options.room, 24)}`, "faint")]]
  return { ticker: shown.ticker, lines: [...shown.lines, ...why] }
}

/** What one more event of the run shows. */
export const step = (ticker: Ticker, seq: number, event: Event.Event, options: Options): Shown => {
  // What is on the record is shown as it is there.
  const { draft: _, ...before } = ticker
  return recorded(before, seq, event, options)
}

/** What one more thing that can be seen of the run shows: of a reply that is being written, nothing but in the status. */
export const see = (ticker: Ticker, progress: Loop.Progress, options: Options): Shown => {
  if (progress._tag === "Recorded") return step(ticker, progress.seq, progress.event, options)
  const draft = ScreenDraft.add(ticker.draft, progress.iteration, progress.parts)
  return { ticker: draft === undefined ? ticker : { ...ticker, draft }, lines: [] }
}

const recorded = (before: Ticker, seq: number, event: Event.Event, options: Options): Shown => {
  const state = Run.step(before.state, event)
  const ticker = counted(before, state)
  const silent: Shown = { ticker, lines: [] }
  switch (event._tag) {
    case "ModelCalled": {
      const { tokens: _, ...rest } = ticker
      const wire = wireBytes(ticker)
      const sent: Ticker = { ...rest, wire, sent: ticker.sent + wire }
      return { ticker: sent, lines: event.iteration === 1 ? opening(ticker, event, options) : [] }
    }
    case "ModelReplied": {
      const tokens = event.usage === undefined ? undefined : Usage.total(event.usage)
      const metered = tokens === undefined ? {} : { tokens }
      if (event.content === "" && event.toolCalls.length > 0) return { ticker: { ...ticker, ...metered }, lines: [] }
      const ms = event.durationMs === undefined ? {} : { ms: event.durationMs }
      const shown = row(
        { ...ticker, ...metered },
        { verb: "said", text: ScreenLine.oneLine(event.content), ...ms, seq },
        options
      )
      return shown
    }
    case "ModelFailed": {
      const shown = row(ticker, { verb: "failed", style: "bad", text: event.problem.what, seq }, options)
      return { ticker: shown.ticker, lines: shown.lines }
    }
    case "ToolSettled":
      return settled(before, ticker, event, seq, options)
    case "RunEnded": {
      const first = state.marks.length === 0 ? opening(ticker, undefined, options) : []
      // What failed has been said already.
      if (event.reason === undefined || state.failure !== undefined) return { ticker, lines: first }
      const shown = row(ticker, { verb: event.status, style: "warn", text: event.reason.what, seq }, options)
      return { ticker: shown.ticker, lines: [...first, ...shown.lines] }
    }
    default: {
      const filed = ScreenFiled.of(event, state)
      return filed === undefined ? silent : row(ticker, { ...filed, seq }, options)
    }
  }
}

/** What the run is doing now, in one line: what it waits for, or the end of what the model has written. */
export const status = (
  { draft, state, ...ticker }: Ticker,
  sinceMs: number,
  { width = 80 }: ScreenLine.Room = {}
): ScreenLine.Line | undefined => {
  const size = ScreenLine.bytes(ticker.wire)
  const time = `${(sinceMs / 1_000).toFixed(1)}s`
  const line = (text: string): ScreenLine.Line => [ScreenLine.span(ScreenLine.fit(text, width), "faint")]
  if (state.ended !== undefined) return undefined
  if (state.calling !== undefined) {
    if (draft === undefined) return line(`▸ pass ${state.calling} · asking the model · ${size} · ${time}`)
    const head = `▸ pass ${draft.iteration} · ${draft.verb} · ${time} · `
    const left = width - ScreenLine.width(head)
    return left < 2 ? line(head) : [ScreenLine.span(head, "faint"), ScreenLine.span(ScreenDraft.line(draft, left))]
  }
  const summary = WindowState.asking(state)
  if (summary !== undefined) return line(`▸ pass ${summary.iteration} · asking for a summary · ${time}`)
  const { transcript } = state
  const open = new Set(State.unsettled(state).map(({ toolCallId }) => toolCallId))
  const startedCalls = state.startedCalls.filter(({ toolCallId }) => open.has(toolCallId))
  const [running] = startedCalls
  const name = transcript.open?.calls.find(({ toolCallId }) => toolCallId === running?.toolCallId)?.toolName
  if (name === undefined) return undefined
  const others = startedCalls.length > 1 ? ` and ${startedCalls.length - 1} more` : ""
  return line(`▸ pass ${state.iteration} · running ${ScreenLine.fit(name, 32)}${others} · ${time}`)
}
