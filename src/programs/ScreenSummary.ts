/**
 * A `ScreenSummary` is what a run came to, for a person: the answer, what its values rest on, what it took, and what to
 * type next.
 *
 * @internal
 */
import type * as Chain from "../kernel/Chain.ts"
import type * as Cost from "../kernel/Cost.ts"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Sources from "../kernel/Sources.ts"
import * as Usage from "../kernel/Usage.ts"
import * as Why from "../kernel/Why.ts"
import * as WindowWire from "../kernel/WindowWire.ts"
import * as ScreenCost from "./ScreenCost.ts"
import * as ScreenEnd from "./ScreenEnd.ts"
import * as ScreenLine from "./ScreenLine.ts"
import * as ScreenJudgement from "./ScreenJudgement.ts"
import * as ScreenMaps from "./ScreenMaps.ts"
import * as ScreenShelf from "./ScreenShelf.ts"
import * as ScreenTicker from "./ScreenTicker.ts"
import * as ScreenVerdict from "./ScreenVerdict.ts"

export interface Options {
  readonly room: ScreenLine.Room
  /** How the run is written in a command to type next, as a shell reads it. */
  readonly name: string
  /** Whether the record was read again and found whole. Absent if nobody looked. */
  readonly whole?: boolean
  /** The run's start, in milliseconds since the epoch. */
  readonly at?: number
  /** What the run cost, if there was a table of prices. */
  readonly cost?: Cost.Cost
  /** Nothing is left out to save lines. */
  readonly full?: boolean
}

/** The room, where what is not left out is not cut either. */
const roomOf = ({ full = false, room }: Options): ScreenLine.Room => (full ? { ...room, full } : room)

/** What is counted of a run. */
export interface Totals {
  readonly passes: number
  readonly toolCalls: number
  readonly sentBytes: number
  readonly distinctBytes: number
  /** At least so many, if `tokensUntold`. */
  readonly tokens?: number
  readonly tokensUntold?: true
  readonly durationMs?: number
  readonly events: number
}

/** A run, folded for showing. `lines` are those of its passes. */
export interface Account {
  readonly ticker: ScreenTicker.Ticker
  readonly lines: ReadonlyArray<ScreenLine.Line>
  readonly chain: Chain.Chain
  readonly verdicts: ReadonlyArray<ScreenVerdict.Verdict>
  readonly totals: Totals
  readonly places: ScreenJudgement.Places
  /** How many entries of declarations were dropped. */
  readonly dropped: number
}

const margin = "         "

/** A value of one kind as it is seen once, with how often the answer says it. */
interface Row {
  readonly verdict: ScreenVerdict.Verdict
  readonly times: number
}

export const account = (events: ReadonlyArray<Event.Event>, room: ScreenLine.Room): Account => {
  let ticker = ScreenTicker.initial
  const lines: Array<ScreenLine.Line> = []
  const places = new Map<Event.Event["_tag"], number>()
  let dropped = 0
  events.forEach((event, seq) => {
    places.set(event._tag, seq)
    if (event._tag === "FindingRejected") dropped += event.count ?? 1
    const shown = ScreenTicker.step(ticker, seq, event, { room })
    ticker = shown.ticker
    // The opening says what the summary says itself.
    if (event._tag !== "ModelCalled") lines.push(...shown.lines)
  })
  const chain = Why.answer(events)
  const { state } = ticker
  const pieces = [
    ...state.pieces.map(({ declared }) => declared.text),
    ...state.tools.map(({ declared }) =>
      [declared.name, declared.description ?? "", JSON.stringify(declared.schema)]
        .filter((part) => part !== "")
        .join("\n")
    ),
    ...state.messages.slice(0, state.marks.at(-1)?.messages ?? 0).map(Sources.textOf)
  ]
  const tokens = Usage.total(state.spent.usage)
  const durationMs = state.ended?.durationMs
  return {
    ticker,
    lines,
    chain,
    verdicts: ScreenVerdict.of(chain),
    places,
    dropped,
    totals: {
      passes: state.spent.passes,
      toolCalls: state.spent.toolCalls,
      sentBytes: ticker.sent,
      distinctBytes: pieces.reduce((sum, text) => sum + ScreenLine.utf8(text), 0),
      ...(tokens === undefined ? {} : { tokens }),
      ...(Usage.isWhole(state.spent.usage) ? {} : { tokensUntold: true }),
      ...(durationMs === undefined ? {} : { durationMs }),
      events: events.length
    }
  }
}

/** A word as a shell reads it back. */
export const shell = (text: string): string =>
  /^[\w.,:@%/+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`

const optionText = (name: string, value: string): string =>
  ` --${name}${value.startsWith("-") ? "=" : " "}${shell(value)}`

/** The command that asks why of a value. */
const whyCommand = (name: string, value: string): string => `wherefore why ${name}${optionText("value", value)}`

/** The command that asks a question of a run, if it can be typed. */
export const command = (name: string, question: Chain.Question): string | undefined => {
  switch (question.kind) {
    case "answer":
      return `wherefore why ${name}`
    case "value":
      return isTypable(question.text) ? whyCommand(name, question.text) : undefined
    case "call":
      return `wherefore why ${name} --pass ${question.pass}`
    case "tool": {
      const { pass, toolCallId } = question
      if (Printable.line(toolCallId) !== toolCallId) return undefined
      return `wherefore why ${name}${optionText("call", toolCallId)}${pass === undefined ? "" : ` --pass ${pass}`}`
    }
  }
}

/** What to type next, one command a line. */
export const nextOf = (commands: ReadonlyArray<string>): ReadonlyArray<ScreenLine.Line> =>
  commands.map((command, index) => [
    ScreenLine.span(index === 0 ? "next     " : margin, "faint"),
    ScreenLine.span(command)
  ])

const styles: { readonly [W in ScreenVerdict.Word]: ScreenLine.Style } = {
  recorded: "good",
  tested: "good",
  elsewhere: "warn",
  likely: "warn",
  nowhere: "bad"
}

const sourceOf = (walk: ScreenVerdict.Graph, carrier: Chain.CarrierNode, room: ScreenLine.Room): string => {
  if (carrier.part === "ids") return "the id of a call"
  switch (carrier.role) {
    case "tool": {
      const call = ScreenVerdict.next(walk, carrier.id).find(({ node }) => node.kind === "call")?.node
      return call?.kind === "call"
        ? `${ScreenLine.brief(call.toolName, 32, room)}, pass ${call.pass}`
        : "a tool's result"
    }
    case "user":
      return carrier.origin === "runtime" ? "a notice of the runtime" : "the person"
    case "assistant":
      return "an earlier reply"
    case "system":
      if (carrier.pieceId === WindowWire.summaryId) return "a summary by the model"
      return `piece ${ScreenLine.brief(carrier.pieceId, 32, room)}`
    case "definition":
      return `definition of ${ScreenLine.brief(carrier.pieceId, 32, room)}`
  }
}

/** What a value rests on, in words, and the event to look at. */
const restsOn = (walk: ScreenVerdict.Graph, { by, node, word }: ScreenVerdict.Verdict, room: ScreenLine.Room) => {
  const first = by.find(({ role }) => role === "tool") ?? by[0]
  const derived = ScreenVerdict.next(walk, node.id).find(({ node }) => node.kind === "derivation")?.node
  if (first === undefined && derived?.kind === "derivation" && word !== "nowhere") {
    return { text: `${derived.op}: ${derived.formula}`, seq: node.seq }
  }
  if (first === undefined && word === "recorded") {
    const call = ScreenVerdict.next(walk, node.id).find(({ node }) => node.kind === "call")?.node
    const by = call?.kind === "call" ? `${ScreenLine.brief(call.toolName, 32, room)}, pass ${call.pass}` : "the runtime"
    return { text: by, seq: node.seq }
  }
  if (first === undefined) return { text: `nothing that pass ${node.pass} was sent`, seq: node.seq }
  const others = by.filter((one) => one !== first)
  const text = word === "elsewhere" ? "carried from another run" : sourceOf(walk, first, room)
  const rest =
    room.full === true
      ? others.map((one) => ` · ${sourceOf(walk, one, room)} #${one.seq}`).join("")
      : others.length === 0
        ? ""
        : ` · ${others.length} more`
  return { text: `${text}${rest}`, seq: first.seq }
}

const rank: { readonly [W in ScreenVerdict.Word]: number } = {
  nowhere: 0,
  likely: 1,
  elsewhere: 2,
  tested: 3,
  recorded: 4
}

/** Each value once, what is nowhere first. */
const rows = (verdicts: ReadonlyArray<ScreenVerdict.Verdict>): ReadonlyArray<Row> => {
  const seen = new Map<string, Row>()
  for (const verdict of verdicts) {
    const key = `${verdict.word} ${verdict.node.value}`
    seen.set(key, { verdict: seen.get(key)?.verdict ?? verdict, times: (seen.get(key)?.times ?? 0) + 1 })
  }
  return Array.from(seen.values()).sort((a, b) => rank[a.verdict.word] - rank[b.verdict.word])
}

const valueLines = ({ chain, verdicts }: Account, { full = false, room }: Options, most: number) => {
  const walk = ScreenVerdict.graph(chain)
  const all = rows(verdicts)
  const shown = full ? all : all.slice(0, most)
  const cell = shown.reduce(
    (widest, { verdict }) => Math.max(widest, Math.min(24, ScreenLine.width(verdict.node.value))),
    4
  )
  const lines = shown.map(({ times, verdict }, index): ScreenLine.Line => {
    const value = ScreenLine.brief(verdict.node.value, 24, room)
    const { seq, text } = restsOn(walk, verdict, room)
    const often = times === 1 ? "" : `, said ${times} times`
    const head = [
      ScreenLine.span(index === 0 ? "values   " : margin, "faint"),
      ScreenLine.span(ScreenLine.pad(value, cell), "strong"),
      ScreenLine.span("  "),
      ScreenLine.span(ScreenLine.pad(verdict.word, 9), styles[verdict.word]),
      ScreenLine.span("  ")
    ]
    const taken = ScreenLine.widthOf(head) + 8
    return ScreenLine.ending(
      [...head, ScreenLine.span(ScreenLine.fitIn(text + often, room, taken))],
      ScreenLine.span(`#${seq}`, "faint"),
      room
    )
  })
  const more = all.length - shown.length
  return more === 0
    ? lines
    : [...lines, [ScreenLine.span(`${margin}… ${ScreenLine.counted(more, "more value")}`, "faint")]]
}

const totalsText = ({ totals }: Account, { whole }: Options): string => {
  const { distinctBytes, durationMs, events, passes, sentBytes, tokens, tokensUntold = false, toolCalls } = totals
  const record = whole === undefined ? "" : whole ? "record whole, " : "record NOT whole, "
  return [
    ScreenLine.counted(passes, "pass", "passes"),
    ScreenLine.counted(toolCalls, "tool call"),
    `${ScreenLine.bytes(sentBytes)} sent, ${ScreenLine.bytes(distinctBytes)} distinct`,
    ...(tokens === undefined ? [] : [`${tokensUntold ? "at least " : ""}${ScreenLine.counted(tokens, "token")}`]),
    ...(durationMs === undefined ? [] : [ScreenLine.duration(durationMs)]),
    `${record}${ScreenLine.counted(events, "event")}`
  ].join(" · ")
}

const totalsLines = (run: Account, options: Options): ReadonlyArray<ScreenLine.Line> =>
  ScreenLine.paragraph(totalsText(run, options), options.room.width, 4).map((text) => [ScreenLine.span(text, "faint")])

/** What can be pasted into a shell as it is shown. */
const isTypable = (value: string): boolean => value.length <= 32 && Printable.line(value) === value

const nextLines = (run: Account, { name }: Options, more: ReadonlyArray<string>): ReadonlyArray<ScreenLine.Line> => {
  const first = rows(run.verdicts).find(({ verdict }) => isTypable(verdict.node.value))
  const { answered, calling, failure, iteration } = run.ticker.state
  const replied = calling === undefined && failure === undefined ? iteration : iteration - 1
  const ofValue = first === undefined ? `wherefore why ${name}` : whyCommand(name, first.verdict.node.value)
  const ofPass = replied === 0 ? [] : [`wherefore why ${name} --pass ${replied}`]
  const waits = ScreenEnd.commands(run.ticker.state, name)
  return nextOf([...waits, ...(answered === undefined ? ofPass : [ofValue]), ...more])
}

/** The answer, whole if three lines hold it, else cut to one. */
const answerLines = (content: string, room: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const text = ScreenLine.oneLine(content)
  const whole = ScreenLine.paragraph(text, room.width === undefined ? undefined : room.width - 9, Infinity)
  const shown = whole.length <= 3 ? whole : [ScreenLine.fitIn(text, room, 9)]
  return shown.map((part, index) => [
    ScreenLine.span(index === 0 ? "answer   " : margin, "strong"),
    ScreenLine.span(room.width === undefined ? ScreenLine.fitIn(part, room, 9) : part)
  ])
}

/** The last thing that `run` prints: twelve lines at most. */
export const final = (run: Account, options: Options): ReadonlyArray<ScreenLine.Line> => {
  const { answered } = run.ticker.state
  const { room } = options
  const answer = answered === undefined ? [] : answerLines(answered.content, room)
  const showed = ScreenShelf.presented(run.ticker.state, room, 1)
  const values = valueLines(run, options, 4 - showed.length)
  return [
    ...answer,
    ...showed,
    ...ScreenEnd.lines(run.ticker.state, options).slice(0, 4),
    ...(values.length === 0 ? [] : [[], ...values]),
    [],
    ...nextLines(run, options, answered === undefined ? [`wherefore show ${options.name}`] : []),
    [],
    ...totalsLines(run, options)
  ]
}

const minute = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")}Z`

export const when = (at: number): string => (Math.abs(at) < 8.64e15 ? minute(at) : "an impossible time")

/** The head of a list of lines and its tail, with what is between them counted. */
const folded = (lines: ReadonlyArray<ScreenLine.Line>, most: number): ReadonlyArray<ScreenLine.Line> => {
  if (lines.length <= most) return lines
  const head = Math.ceil(most / 2)
  const hidden = lines.length - most + 1
  const note = `${" ".repeat(14)}… ${ScreenLine.counted(hidden, "more line")} (--full)`
  return [...lines.slice(0, head), [ScreenLine.span(note, "faint")], ...lines.slice(head + hidden)]
}

/** A labelled text with the event that holds it, wrapped where there is a width. */
export const told = (label: string, text: string, seq: number, most: number, room: ScreenLine.Room) => {
  const max = room.width === undefined ? undefined : room.width - 9 - 7
  return ScreenLine.paragraph(text, max, most).map((part, index): ScreenLine.Line => {
    const head = [ScreenLine.span(index === 0 ? ScreenLine.pad(label, 9) : margin, "faint"), ScreenLine.span(part)]
    return index === 0 ? ScreenLine.ending(head, ScreenLine.span(`#${seq}`, "faint"), room) : head
  })
}

/** All of a run that fits on a screen: what was asked and answered, the values, the passes. */
export const show = (run: Account, options: Options): ReadonlyArray<ScreenLine.Line> => {
  const room = roomOf(options)
  return ScreenLine.wrap(shown(run, { ...options, room }), room)
}

const shown = (run: Account, options: Options): ReadonlyArray<ScreenLine.Line> => {
  const { full = false, name, room } = options
  const { state } = run.ticker
  const { answered, started } = state
  const head = [
    ...(options.at === undefined ? [] : [when(options.at)]),
    ScreenLine.brief(started?.agent ?? "", 24, room),
    [
      ScreenEnd.statusOf(state),
      ScreenLine.counted(run.totals.passes, "pass", "passes"),
      ScreenLine.counted(run.totals.events, "event")
    ].join(" · ")
  ].join("  ")
  const id = ScreenLine.span(ScreenLine.brief(started?.runId ?? "", 60, room), "strong")
  const isOneLine = room.width === undefined || ScreenLine.width(id.text) + 2 + ScreenLine.width(head) <= room.width
  const values = valueLines(run, options, 8)
  const words = (["recorded", "elsewhere", "nowhere"] as const).flatMap((word) => {
    const n = run.verdicts.filter((verdict) => verdict.word === word).length
    return n === 0 && word === "elsewhere" ? [] : [`${word} ${n}`]
  })
  return [
    ...(isOneLine
      ? [[id, ScreenLine.span(`  ${head}`)]]
      : [[id], ...ScreenLine.paragraph(head, room.width, full ? Infinity : 3).map(ScreenLine.plain)]),
    [],
    ...told("asked", started?.input ?? "", 0, full ? Infinity : 4, room),
    ...(answered === undefined ? [] : told("answer", answered.content, answerSeq(state), full ? Infinity : 10, room)),
    ...ScreenEnd.lines(state, options),
    ...(values.length === 0 ? [] : [[], ...values, [ScreenLine.span(`${margin}${words.join(" · ")}`, "faint")]]),
    ...ScreenMaps.standing(state, room),
    ...ScreenShelf.lines(state, room),
    ...ScreenJudgement.lines(state, { dropped: run.dropped, places: run.places, room }),
    [],
    ...(run.lines.length === 0
      ? []
      : [[ScreenLine.span("pass      sent  did", "faint")], ...(full ? run.lines : folded(run.lines, 30)), []]),
    ...totalsLines(run, options),
    ...(options.cost === undefined ? [] : ScreenCost.lines(options.cost, room)),
    ...nextLines(run, options, [
      ...(run.verdicts.some(({ node }) => isTypable(node.value)) ? [`wherefore why ${name}`] : []),
      ...(state.findings === undefined ? [] : [`wherefore findings ${name}`]),
      `wherefore verify ${name}`
    ])
  ]
}

/** The reply that the answer is. */
const answerSeq = (state: ScreenTicker.Ticker["state"]): number =>
  state.messages.findLast(({ message }) => message.role === "assistant")?.seq ?? 0
