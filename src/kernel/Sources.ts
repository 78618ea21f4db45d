/**
 * A `Sources` index says which pieces on the wire of a pass held a value. Each piece is read once, whatever is asked.
 *
 * @internal
 */
import type * as Event from "./Event.ts"
import * as Json from "./Json.ts"
import * as Either from "effect/Either"
import * as FindingWire from "./FindingWire.ts"
import type * as Message from "./Message.ts"
import * as Fold from "./Fold.ts"
import * as PieceText from "./PieceText.ts"
import * as SourcePart from "./SourcePart.ts"
import * as State from "./State.ts"
import * as Value from "./Value.ts"
import * as SummaryWire from "./SummaryWire.ts"
import * as WindowWire from "./WindowWire.ts"
import * as Wire from "./Wire.ts"

/** A place in a piece's text, with the keys under which it is found. */
interface Held {
  readonly piece: Wire.Piece
  /** Position of a message in the conversation; a piece of a selection has none. */
  readonly index: number
  readonly part: Part
  readonly token: Value.Token
  /** Of a value that is only a part of the token. */
  readonly of?: SourcePart.SourcePart
}

/** Where a piece holds a value: in its text, or only in the ids of its calls, which are sent beside it. */
export type Part = "text" | "ids"

type Index = Map<string, Array<Held>>

/** What a carrier holds: a piece, and where in its text. `text` is `textOf` the piece, or its `identifiedOf`. */
export interface Found {
  readonly piece: Wire.Piece
  readonly part: Part
  readonly text: string
  readonly tokens: ReadonlyArray<{ readonly token: Value.Token; readonly by: ReadonlyArray<string> }>
}

export interface Sources {
  readonly state: State.State
  readonly events: ReadonlyArray<Event.Event>
  readonly messages: Index
  readonly selections: Map<Wire.Selection, Index>
  /** What findings and windows put on wires beside a selection, read when it is first asked for. */
  readonly late: Map<FindingWire.Ledger | WindowWire.View, Index>
}

/** The parts of a reply's text that the model chose: its words, and the tool and the arguments of each call. `offset` is into `textOf`. */
export const partsOf = (
  reply: Message.Assistant
): ReadonlyArray<{ readonly text: string; readonly offset: number; readonly call?: string }> => {
  let at = reply.content === "" ? 0 : reply.content.length + 1
  const said = reply.content === "" ? [] : [{ text: reply.content, offset: 0 }]
  return [
    ...said,
    ...reply.toolCalls.flatMap(({ args, toolCallId, toolName }) => {
      const name = { text: toolName, offset: at, call: `${toolCallId}:name` }
      const offset = at + toolName.length + 1
      at = offset + args.length + 1
      return [name, { text: args, offset, call: toolCallId }]
    })
  ]
}

/** Exactly what the model reads in a piece: a reply with calls is its text, then a line for each call. */
export const textOf = PieceText.of

/** As `textOf`, with the id of each call before the call, or before its result, and where the ids stand. */
const identifiedOf = (
  piece: Wire.Piece
): { readonly text: string; readonly ids: ReadonlyArray<{ readonly text: string; readonly offset: number }> } => {
  if (piece.slot !== "messages" || piece.message.role === "user") return { text: textOf(piece), ids: [] }
  const { message } = piece
  if (message.role === "tool") {
    const { content, toolCallId } = message
    return { text: `${toolCallId} ${content}`, ids: [{ text: toolCallId, offset: 0 }] }
  }
  let text = message.content
  const ids = message.toolCalls.map(({ args, toolCallId, toolName }) => {
    if (text !== "") text += "\n"
    const offset = text.length
    text += `${toolCallId} ${toolName} ${args}`
    return { text: toolCallId, offset }
  })
  return { text, ids }
}

const blank = (part: string): string => " ".repeat(part.length)

/** JSON with its structure blanked out, and the escapes in its strings: offsets stay, and only what it says is left. */
const spoken = (json: string): string => {
  let isString = false
  return json.replace(/\\(?:u[0-9a-fA-F]{4}|[^])|[",:{}[\]]/g, (part) => {
    if (part === '"') isString = !isString
    else if (isString !== part.startsWith("\\")) return part
    return blank(part)
  })
}

const isJson = (text: string): boolean => {
  const first = text.trimStart().charAt(0)
  return (first === "{" || first === "[") && Either.isRight(Json.parse(text, limits))
}

/** A text as it is to be read: JSON, whole or on a line of its own, is blanked to what it says. Offsets stay. */
export const readable = (text: string): string => {
  if (isJson(text)) return spoken(text)
  return text
    .split("\n")
    .map((line) => (isJson(line) ? spoken(line) : line))
    .join("\n")
}

/** `textOf` with each of its parts made readable: what stands in JSON is read as JSON wherever it is sent. */
const readableOf = (piece: Wire.Piece): string => {
  switch (piece.slot) {
    case "system":
      return readable(piece.text)
    case "messages": {
      const { message } = piece
      if (message.role !== "assistant") return readable(message.content)
      const calls = message.toolCalls.map(({ args, toolName }) => `${toolName} ${readable(args)}`)
      return [...(message.content === "" ? [] : [readable(message.content)]), ...calls].join("\n")
    }
    case "tools": {
      const { description = "", name, schema } = piece.tool
      return PieceText.join([name, readable(description), readable(JSON.stringify(schema))])
    }
  }
}

/** Results may be as long as an application lets them be. */
export const limits: Json.Limits = { maxChars: 16_777_216, maxStringChars: 16_777_216, maxKeys: 1_000_000 }

const add = (index: Index, piece: Wire.Piece, at: number): void => {
  const text = readableOf(piece)
  const tokens = Value.tokens(text)
  addTokens(index, piece, at, "text", tokens)
  for (const of of SourcePart.of(text, tokens))
    hold(index, of.value, { piece, index: at, part: "text", token: of.token, of })
  addTokens(index, piece, at, "ids", identifiedOf(piece).ids.flatMap(idTokens))
}

const idTokens = ({ offset, text }: { readonly text: string; readonly offset: number }): ReadonlyArray<Value.Token> =>
  Value.tokens(text).map((token) => ({ ...token, start: offset + token.start, end: offset + token.end }))

const addTokens = (
  index: Index,
  piece: Wire.Piece,
  at: number,
  part: Part,
  tokens: ReadonlyArray<Value.Token>
): void => {
  for (const token of tokens) {
    for (const { value } of Value.keys(token.text)) hold(index, value, { piece, index: at, part, token })
  }
}

const hold = (index: Index, value: string, one: Held): void => {
  const held = index.get(value)
  if (held === undefined) index.set(value, [one])
  else if (held.at(-1)?.token !== one.token) held.push(one)
}

export const make = (events: ReadonlyArray<Event.Event>): Sources => {
  const state = events.reduce(Fold.step, State.initial)
  const messages: Index = new Map()
  state.messages.forEach((piece, index) => add(messages, piece, index))
  const selections = new Map<Wire.Selection, Index>()
  for (const { selection } of state.marks) {
    if (selections.has(selection)) continue
    const index: Index = new Map()
    for (const piece of [...selection.system, ...selection.tools]) add(index, piece, -1)
    selections.set(selection, index)
  }
  return { state, events, messages, selections, late: new Map() }
}

const indexOf = (pieces: ReadonlyArray<Wire.Piece>): Index => {
  const index: Index = new Map()
  for (const [at, piece] of pieces.entries()) add(index, piece, at)
  return index
}

/** What stood beside the selection of a pass. What a window or a ledger puts there is read once. */
const lateIndexes = ({ late }: Sources, { findings, window }: Wire.Mark): ReadonlyArray<Index> => {
  const once = (key: FindingWire.Ledger | WindowWire.View, pieces: () => ReadonlyArray<Wire.Piece>): Index => {
    const index = late.get(key) ?? indexOf(pieces())
    late.set(key, index)
    return index
  }
  return [
    ...(window === undefined ? [] : [once(window, () => Wire.late({ window }))]),
    ...(findings === undefined ? [] : [once(findings.ledger, () => Wire.late({ findings }))])
  ]
}

/** Whether a ticket was sent in place of a result: what the result says was not on that wire. */
const isCollapsed = ({ findings }: Wire.Mark, { message }: Wire.MessagePiece): boolean =>
  findings !== undefined && FindingWire.isCollapsed(findings.ledger, findings.config, message)

/** These can join what differs in the world: a value that is spelled more alike outranks them. */
const weak: ReadonlySet<string> = new Set<string>([
  ...(["sign dropped", "clock time"] satisfies ReadonlyArray<Value.Normalisation>),
  ...SourcePart.names
])

const selected = (index: Index | undefined, value: string): ReadonlyArray<Held> =>
  Value.keys(value).flatMap((key) => SourcePart.keysOf(key.value).flatMap((own) => index?.get(own) ?? []))

/** What is changed to make what is held one with a value: nothing comes of it if that is another value after all. */
const likeness = (value: string, { of, token }: Held): ReadonlyArray<string> | undefined => {
  if (of === undefined) return Value.match(value, token.text)
  const isOne = Value.keys(value).some((key) => SourcePart.keysOf(key.value).includes(of.value))
  return isOne ? [of.by] : undefined
}

const gather = (held: ReadonlyArray<Held>, value: string): ReadonlyArray<Found> => {
  const found = new Map<Wire.Piece, { readonly [P in Part]: Array<Found["tokens"][number]> }>()
  for (const one of held) {
    const { part, piece, token } = one
    const by = likeness(value, one)
    if (by === undefined) continue
    const inPiece = found.get(piece) ?? { text: [], ids: [] }
    if (!inPiece[part].some((other) => other.token.start === token.start)) inPiece[part].push({ token, by })
    found.set(piece, inPiece)
  }
  const isStrong = ({ by }: Found["tokens"][number]) => !by.some((name) => weak.has(name))
  const those = (isWanted: typeof isStrong) =>
    Array.from(found).flatMap(([piece, { ids, text }]): ReadonlyArray<Found> => {
      const said = text.filter(isWanted)
      if (said.length > 0) return [{ piece, part: "text", text: textOf(piece), tokens: said }]
      const named = ids.filter(isWanted)
      return named.length === 0 ? [] : [{ piece, part: "ids", text: identifiedOf(piece).text, tokens: named }]
    })
  const strong = those(isStrong)
  return strong.length > 0 ? strong : those(() => true)
}

/** The pieces on the wire of a pass that held a value, in wire order. A spelling that differs less outranks the others. */
export const carriers = (sources: Sources, pass: number, value: string): ReadonlyArray<Found> => {
  const mark = sources.state.marks.find(({ iteration }) => iteration === pass)
  if (mark === undefined) return []
  const select = (index: Index | undefined) => selected(index, value)
  const riding = select(sources.selections.get(mark.selection))
  const said = select(sources.messages)
    .filter(
      ({ index, part, piece }) =>
        index < mark.messages &&
        !WindowWire.isGone(mark.window, index) &&
        (part === "ids" || piece.slot !== "messages" || !isCollapsed(mark, piece))
    )
    .sort((a, b) => a.index - b.index)
  return gather(
    [
      ...riding.filter(({ piece }) => piece.slot === "system"),
      ...lateIndexes(sources, mark).flatMap(select),
      ...said,
      ...riding.filter(({ piece }) => piece.slot === "tools")
    ],
    value
  )
}

/** The pieces that a pass was sent, in wire order: of a result that was sent as a ticket, nothing. */
export const onWire = ({ state }: Sources, pass: number): ReadonlyArray<Wire.Piece> => {
  const mark = state.marks.find(({ iteration }) => iteration === pass)
  if (mark === undefined) return []
  const { selection } = mark
  const said = WindowWire.kept(mark.window, state.messages.slice(0, mark.messages))
  return [
    ...selection.system,
    ...Wire.late(mark),
    ...said.filter((piece) => !isCollapsed(mark, piece)),
    ...selection.tools
  ]
}

/** As `carriers`, for words that are no single value: the pieces whose text holds them, in any case. */
export const holders = (sources: Sources, pass: number, phrase: string): ReadonlyArray<Found> => {
  const mark = sources.state.marks.find(({ iteration }) => iteration === pass)
  if (mark === undefined) return []
  const { selection } = mark
  const said = WindowWire.kept(mark.window, sources.state.messages.slice(0, mark.messages))
  const pieces = [...selection.system, ...Wire.late(mark), ...said, ...selection.tools]
  return pieces.flatMap((piece) => held(piece, phrase, piece.slot === "messages" && isCollapsed(mark, piece)))
}

const held = (piece: Wire.Piece, phrase: string, isCollapsed = false): ReadonlyArray<Found> => {
  const text = textOf(piece)
  const said = isCollapsed ? -1 : find(text, phrase)
  if (said !== -1) return [foundAt(piece, "text", text, phrase, said)]
  const { ids, text: identified } = identifiedOf(piece)
  const named = ids.flatMap(({ offset, text }) => {
    const at = find(text, phrase)
    return at === -1 ? [] : [offset + at]
  })
  return named.slice(0, 1).map((at) => foundAt(piece, "ids", identified, phrase, at))
}

/** The messages that held a value, or words, and had left the window before a pass. */
export const departed = (sources: Sources, pass: number, text: string, phrase: boolean): ReadonlyArray<Found> => {
  const mark = sources.state.marks.find(({ iteration }) => iteration === pass)
  if (mark?.window === undefined) return []
  const { window } = mark
  const isGone = (index: number): boolean => index < mark.messages && WindowWire.isGone(window, index)
  if (phrase) return sources.state.messages.flatMap((piece, at) => (isGone(at) ? held(piece, text) : []))
  return gather(
    selected(sources.messages, text).filter(({ index }) => isGone(index)),
    text
  )
}

/** The results that held a value, or words, and of which a pass was sent a ticket. */
export const collapsed = (sources: Sources, pass: number, text: string, phrase: boolean): ReadonlyArray<Found> => {
  const mark = sources.state.marks.find(({ iteration }) => iteration === pass)
  if (mark === undefined) return []
  const isTicket = (piece: Wire.Piece, index: number): boolean =>
    index < mark.messages &&
    !WindowWire.isGone(mark.window, index) &&
    piece.slot === "messages" &&
    isCollapsed(mark, piece)
  if (phrase) return sources.state.messages.flatMap((piece, at) => (isTicket(piece, at) ? held(piece, text) : []))
  return gather(
    selected(sources.messages, text).filter(({ index, piece }) => isTicket(piece, index)),
    text
  )
}

/** What a summary was made of that held a value, or words. `seq` is the event that holds the summary. */
export const summarized = (sources: Sources, seq: number, text: string, phrase: boolean): ReadonlyArray<Found> => {
  const made = sources.state.window?.summaries.find(({ outcome }) => outcome?._tag === "Made" && outcome.seq === seq)
  if (made === undefined) return []
  const pieces: ReadonlyArray<Wire.Piece> = [
    ...(made.before === undefined ? [] : [WindowWire.summaryPiece(made.before)]),
    ...made.messages.map((piece) => ({ ...piece, message: SummaryWire.clipped(piece.message) }))
  ]
  return phrase ? pieces.flatMap((piece) => held(piece, text)) : gather(selected(indexOf(pieces), text), text)
}

const foundAt = (piece: Wire.Piece, part: Part, text: string, phrase: string, start: number): Found => {
  const end = start + phrase.length
  const own = text.slice(start, end)
  const token = { text: own, value: phrase.toLowerCase(), start, end }
  return { piece, part, text, tokens: [{ token, by: own === phrase ? [] : ["case"] }] }
}

/**
 * Where words stand in a text, in any case, and not as a part of a longer value: -1 if they do not. Lower case may change
 * a text's length; then only the exact spelling is looked for.
 */
export const find = (text: string, phrase: string): number => {
  if (phrase.trim() === "") return -1
  const lower = text.toLowerCase()
  const [within, wanted] = lower.length === text.length ? [lower, phrase.toLowerCase()] : [text, phrase]
  let tokens: ReadonlyArray<Value.Token> | undefined
  for (let at = within.indexOf(wanted); at !== -1; at = within.indexOf(wanted, at + 1)) {
    const end = at + wanted.length
    tokens ??= Value.tokens(text)
    const isPart = tokens.some((one) => (one.start < at && at < one.end) || (one.start < end && end < one.end))
    if (!isPart) return at
  }
  return -1
}
