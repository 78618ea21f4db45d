/**
 * A `WhyWalk` is the way from what was said to what caused it, one node after another.
 *
 * @internal
 */
import type { CarrierNode, Chain, Edge, Gap, Node, Question, RootNode, ValueNode } from "./Chain.ts"
import * as Children from "./Children.ts"
import type * as Event from "./Event.ts"
import * as FindingWire from "./FindingWire.ts"
import * as Printable from "./Printable.ts"
import * as Sources from "./Sources.ts"
import * as State from "./State.ts"
import * as Value from "./Value.ts"
import * as WhyArtifact from "./WhyArtifact.ts"
import * as WhyDerivation from "./WhyDerivation.ts"
import * as WhyMap from "./WhyMap.ts"
import * as WhyQuote from "./WhyQuote.ts"
import * as WhyWait from "./WhyWait.ts"
import * as WindowState from "./WindowState.ts"
import * as WindowWire from "./WindowWire.ts"
import type * as Wire from "./Wire.ts"
import * as Written from "./Written.ts"

/** A chain shows at most this many nodes; the rest is a gap. */
const mostNodes = 5_000

export interface Walk {
  readonly sources: Sources.Sources
  readonly nodes: Map<string, Node>
  readonly edges: Array<Edge>
  readonly gaps: Array<Gap>
  /** Nodes whose causes are still to be looked for, so that a long chain needs no deep stack. */
  readonly waiting: Array<() => void>
  readonly options: Options
}

export interface Options {
  /** What is only likely is told too: as `proximity`, and never as recorded. */
  readonly likely?: boolean
}

export const edge = (
  walk: Walk,
  from: string,
  to: string,
  grounds: Edge["grounds"],
  by: ReadonlyArray<string> = [],
  formula?: string
): void => {
  walk.edges.push({ from, to, grounds, by, ...(formula === undefined ? {} : { formula }) })
}

export const gap = (walk: Walk, kind: Gap["kind"], at: string | undefined, what: string, next?: Gap["next"]): void => {
  walk.gaps.push({ kind, ...(at === undefined ? {} : { at }), what, ...(next === undefined ? {} : { next }) })
}

/** What to ask of the run that a carried message comes from: of the value in a reply, or of the call. */
const askThere = ({ part, piece, text, tokens }: Sources.Found): Question | undefined => {
  const [first] = tokens
  if (piece.slot !== "messages" || first === undefined) return undefined
  const { message } = piece
  const { token } = first
  if (message.role === "tool") return { kind: "tool", toolCallId: message.toolCallId }
  if (message.role !== "assistant") return undefined
  const own = text.slice(token.start, token.end)
  if (part === "ids") {
    const named = message.toolCalls.find(({ toolCallId }) => Sources.find(toolCallId, own) !== -1)
    return named === undefined ? undefined : { kind: "tool", toolCallId: named.toolCallId }
  }
  const holding = Sources.partsOf(message).find(
    ({ offset, text }) => token.start >= offset && token.end <= offset + text.length
  )
  if (holding === undefined) return undefined
  const { call } = holding
  if (call === undefined) return { kind: "value", text: own }
  const named = message.toolCalls.find(({ toolCallId }) => call === toolCallId || call === `${toolCallId}:name`)
  return named === undefined ? undefined : { kind: "tool", toolCallId: named.toolCallId }
}

const eventAt = (walk: Walk, seq: number): Event.Event | undefined => walk.sources.events[seq]

/** A value in a reply or in a call's arguments, walked once however often it is reached. */
export const visitValue = (
  walk: Walk,
  place: WhyDerivation.Place,
  { end, phrase, start, text }: Written.Written
): string => {
  const id = `value:${place.seq}:${place.place}${place.prefix ?? ""}:${start}-${end}`
  if (walk.nodes.has(id)) return id
  const { pass, seq } = place
  walk.nodes.set(id, { kind: "value", id, value: text, pass, seq, place: place.place, start, end })
  walk.waiting.push(() => {
    if (walk.nodes.size > mostNodes) {
      return gap(walk, "limit", id, `The chain has more than ${mostNodes} nodes and is cut here.`)
    }
    const found = lookFor(walk, place, text, phrase)
    if (found.length === 0 && !WhyDerivation.visit(walk, id, place, { text, start }, visits)) {
      missing(walk, id, place, text, phrase)
    }
    const node = walk.nodes.get(id)
    if (node?.kind === "value" && isUnestablished(walk, pass, found))
      walk.nodes.set(id, { ...node, unestablished: true })
    for (const one of found) visitCarrier(walk, id, pass, one)
  })
  return id
}

/** What a derivation goes on with. */
const visits: WhyDerivation.Visits = {
  value: (walk, place, written) => visitValue(walk, place, written),
  carrier: (walk, from, pass, found) => visitCarrier(walk, from, pass, found)
}

const lookFor = (
  { sources }: Walk,
  { pass, place, seq }: Pick<ValueNode, "pass" | "place" | "seq">,
  text: string,
  phrase: boolean
): ReadonlyArray<Sources.Found> => {
  if (place === "summary") return Sources.summarized(sources, seq, text, phrase)
  return phrase ? Sources.holders(sources, pass, text) : Sources.carriers(sources, pass, text)
}

/** Nothing that the model read held a value: whether something had, before it left. */
const missing = (
  walk: Walk,
  id: string,
  { pass, place }: Pick<ValueNode, "pass" | "place">,
  text: string,
  phrase: boolean
): void => {
  const value = Printable.quote(text)
  if (place === "summary") {
    return gap(walk, "nowhere", id, `No spelling of ${value} was in what the summary of pass ${pass} was made of.`)
  }
  const nowhere = `No spelling of ${value} was on the wire of pass ${pass}`
  const [left] = Sources.departed(walk.sources, pass, text, phrase)
  const [ticket] = left === undefined ? Sources.collapsed(walk.sources, pass, text, phrase) : []
  if (ticket !== undefined) {
    const { standing = "undeclared" } = standingIn(walk, pass, ticket.piece)
    const held = `${Printable.quote(ticket.piece.id)} held it, which the model had called ${standing}`
    return gap(walk, "collapsed", id, `${nowhere}: ${held}, so that a ticket was sent in its place.`)
  }
  if (left === undefined) return gap(walk, "nowhere", id, `${nowhere}.`)
  gap(walk, "cut", id, `${nowhere}: ${Printable.quote(left.piece.id)} held it, and had left the window by then.`)
}

/** A summary is the model's own: a value of it goes on in what the summary was made of. */
const visitSummary = (walk: Walk, id: string, seq: number, text: string): void => {
  const event = eventAt(walk, seq)
  if (event?._tag === "WindowTrimmed" && event.carried !== undefined) {
    const { runId, seq } = event.carried.from
    const what = `This summary was carried from the run ${Printable.quote(runId)} #${seq}: a model wrote it there.`
    return gap(walk, "elsewhere", id, what)
  }
  if (event?._tag !== "SummaryReplied") return
  gap(walk, "summarized", id, `A model wrote it of what had left; no source itself (#${seq}).`)
  const written = WhyQuote.within(event.content, Value.tokens(event.content).map(Written.ofToken), text)
  if (written === undefined) return
  const { iteration: pass } = event
  edge(walk, id, visitValue(walk, { seq, pass, place: "summary" }, written), "said")
}

const roleOf = (piece: Wire.Piece): CarrierNode["role"] =>
  piece.slot === "system" ? "system" : piece.slot === "tools" ? "definition" : piece.message.role

const findingsOf = (walk: Walk, pass: number) =>
  walk.sources.state.marks.find(({ iteration }) => iteration === pass)?.findings

const standingIn = (walk: Walk, pass: number, piece: Wire.Piece): Pick<CarrierNode, "standing"> => {
  const findings = findingsOf(walk, pass)
  if (findings === undefined || piece.slot !== "messages" || piece.message.role !== "tool") return {}
  return { standing: FindingWire.standingOf(findings.ledger, piece.message.toolCallId) }
}

/** What the model wrote itself, and what the runtime says of it, is no source beside the results. */
const isUnestablished = (walk: Walk, pass: number, found: ReadonlyArray<Sources.Found>): boolean => {
  const standings = found.flatMap(({ piece }) => {
    if (piece.origin === "runtime" || piece.origin === "model") return []
    return [standingIn(walk, pass, piece).standing ?? "fact"]
  })
  return standings.length > 0 && !standings.includes("fact")
}

/** What quotes the model is no source: a why goes on where the model wrote it. */
const visitQuoted = (walk: Walk, quoted: WhyQuote.Quoted | undefined): string | undefined =>
  quoted === undefined ? undefined : visitValue(walk, quoted.place, quoted.written)

const visitCarrier = (walk: Walk, from: string, pass: number, found: Sources.Found): void => {
  const { part, piece, text, tokens } = found
  const id = `${from}<${piece.slot}:${piece.id}`
  const spans = tokens.map(({ by, token }) => ({ start: token.start, end: token.end, text: token.text, by }))
  const { origin, seq, slot } = piece
  walk.nodes.set(id, {
    kind: "carrier",
    id,
    pass,
    pieceId: piece.id,
    slot,
    origin,
    role: roleOf(piece),
    seq,
    part,
    text,
    spans,
    ...standingIn(walk, pass, piece)
  })
  edge(
    walk,
    from,
    id,
    "carried",
    spans.reduce<ReadonlyArray<string>>((least, { by }) => (by.length < least.length ? by : least), spans[0]?.by ?? [])
  )
  if (piece.id === WindowWire.summaryId) return visitSummary(walk, id, seq, spans[0]?.text ?? "")
  if (piece.slot !== "messages") {
    const what = `${piece.slot === "system" ? "piece" : "definition"} ${Printable.quote(piece.id)}`
    const isFindings = piece.id === FindingWire.pieceId
    const quoted = isFindings ? WhyQuote.declared(walk.sources, pass, spans[0]?.text ?? "") : undefined
    const declared = visitQuoted(walk, quoted)
    if (declared !== undefined) return edge(walk, id, declared, "declared")
    if (origin === "runtime") return visitRoot(walk, id, "runtime", seq, `the framework's ${what}`)
    visitRoot(walk, id, "app", seq, `the application's ${what}`)
    const mapId = piece.slot === "system" ? piece.owner?.mapId : undefined
    return mapId === undefined ? undefined : visitMaps(walk, pass, mapId, id)
  }
  const { message } = piece
  if (message.role === "user") {
    if (origin !== "runtime") return visitRoot(walk, id, "person", seq, "the person's message")
    const quoted = visitQuoted(walk, WhyQuote.before(walk.sources, seq, spans[0]?.text ?? ""))
    if (quoted !== undefined) return edge(walk, id, quoted, "said")
    const found = WhyWait.found(eventAt(walk, seq))
    if (found !== undefined) return visitRoot(walk, id, "person", seq, found)
    return visitRoot(walk, id, "runtime", seq, "the runtime's own words: a reminder")
  }
  if (piece.from !== undefined) {
    const where = `${Printable.quote(piece.from.runId)} #${piece.from.seq}`
    const question = askThere(found)
    const next = question === undefined ? undefined : { runId: piece.from.runId, question }
    return gap(walk, "elsewhere", id, `This was carried from the run ${where}: ask there what caused it.`, next)
  }
  if (part === "ids") {
    return visitRoot(walk, id, "runtime", seq, "the id of a call, made by the model's provider or the runtime")
  }
  if (message.role === "tool") {
    const call = visitCall(walk, piece)
    return call === undefined ? undefined : edge(walk, id, call, "returned")
  }
  // The model's own earlier words: go on with the same value where it wrote them.
  const reply = eventAt(walk, seq)
  if (reply?._tag !== "ModelReplied") return
  const [span] = spans
  if (span === undefined) return
  const phrase = Value.tokens(span.text).length !== 1
  for (const { call, offset, text: whole } of Sources.partsOf(message)) {
    if (span.start < offset || span.end > offset + whole.length) continue
    const start = span.start - offset
    const at = { text: span.text, start, end: start + span.text.length, phrase }
    const place =
      call === undefined
        ? { place: "reply" as const }
        : { place: "arguments" as const, prefix: `:${Printable.line(call)}` }
    return edge(walk, id, visitValue(walk, { seq, pass: reply.iteration, ...place }, at), "said")
  }
  gap(walk, "nowhere", id, "It stands across parts of a reply, so that it is no value of any of them.")
}

export const visitRoot = (
  walk: Walk,
  from: string,
  root: RootNode["root"],
  seq: number,
  what: string,
  grounds: Edge["grounds"] = root === "world" ? "observed" : "told"
): void => {
  const id = `${root}:${seq}:${what}`
  walk.nodes.set(id, { kind: "root", id, root, seq, what })
  edge(walk, from, id, grounds)
}

/** The maps of a pass, or the one that put a piece on its wire: why each rode or did not. */
export const visitMaps = (walk: Walk, pass: number, mapId?: string, from?: string): void => {
  const { events, state } = walk.sources
  const mark = state.marks.find(({ iteration }) => iteration === pass)
  if (mark === undefined) return
  if (mapId !== undefined && from !== undefined) {
    edge(walk, from, WhyMap.idOf(pass, mapId), "rode")
    if (walk.nodes.has(WhyMap.idOf(pass, mapId))) return
  }
  for (const { carriedFrom, causes, node } of WhyMap.of({ events, state }, mark, mapId)) {
    if (walk.nodes.has(node.id)) continue
    walk.nodes.set(node.id, node)
    if (carriedFrom !== undefined) {
      const what = `Its cursor was carried from the run ${Printable.quote(carriedFrom)}: ask there what moved it.`
      gap(walk, "elsewhere", node.id, what)
    }
    for (const { cause, grounds } of causes) {
      if (cause.kind !== "call") {
        visitRoot(walk, node.id, cause.kind, cause.seq, cause.what, grounds)
        continue
      }
      const settled = eventAt(walk, cause.seq)
      if (settled?._tag !== "ToolSettled") continue
      edge(walk, node.id, visitSettled(walk, settled, cause.seq, calledAt(walk, settled, cause.seq)), grounds)
    }
  }
}

/** Where a settled call was started, or settled if it never was. */
export const calledAt = (walk: Walk, { toolCallId }: Event.ToolSettled, settledSeq: number): number => {
  const at = walk.sources.events.findLastIndex(
    (event, seq) => event._tag === "ToolCalled" && event.toolCallId === toolCallId && seq < settledSeq
  )
  return at === -1 ? settledSeq : at
}

/** The call that made a result, with the origins of its arguments. */
const visitCall = (walk: Walk, piece: Wire.MessagePiece): string | undefined => {
  const { message, seq } = piece
  if (message.role !== "tool") return undefined
  const settled = eventAt(walk, seq)
  if (settled?._tag !== "ToolSettled") return undefined
  return visitSettled(walk, settled, seq, piece.cause.seq)
}

export const visitSettled = (walk: Walk, settled: Event.ToolSettled, settledSeq: number, calledSeq: number): string => {
  const { iteration, outcome, toolCallId, toolName } = settled
  const id = `call:${settledSeq}`
  if (walk.nodes.has(id)) return id
  const reply = walk.sources.events.findLast(
    (event, seq) => event._tag === "ModelReplied" && event.iteration === iteration && seq < settledSeq
  )
  const replySeq = reply === undefined ? calledSeq : walk.sources.events.lastIndexOf(reply)
  const call = reply?._tag === "ModelReplied" ? reply.toolCalls.find((one) => one.toolCallId === toolCallId) : undefined
  const written = call?.args ?? ""
  const declares = walk.sources.state.findings !== undefined
  const args = declares ? Written.withoutFindings(written) : written
  walk.nodes.set(id, { kind: "call", id, pass: iteration, seq: calledSeq, toolCallId, toolName, args, outcome })
  const { error } = settled
  const isOurs = State.isOurs(walk.sources.state.started, toolName)
  const spoke = outcome === "ran-ok" || outcome === "absent" || (outcome === "ran-error" && error?.tag === "ToolFailed")
  const did =
    Children.told(walk.sources.state, iteration, toolCallId) ?? `what ${Printable.quote(toolName)} found or did`
  if (spoke && !isOurs) visitRoot(walk, id, "world", settledSeq, did)
  else visitRoot(walk, id, "runtime", settledSeq, `the runtime's own words: ${error?.tag ?? outcome}`)
  for (const value of declares ? Written.inCall(written) : Written.inArguments(written)) {
    const place = {
      seq: replySeq,
      pass: iteration,
      place: "arguments" as const,
      prefix: `:${Printable.line(toolCallId)}`
    }
    edge(walk, id, visitValue(walk, place, value), "argued")
  }
  for (const one of WhyWait.of(walk.sources.events, settled)) {
    visitRoot(walk, id, one.root, one.seq ?? settledSeq, one.what, "decided")
  }
  WhyArtifact.visitCall(walk, id, settled, calledSeq, (place) => visitMinting(walk, place))
  return id
}

/** The call that stored an artifact. */
const visitMinting = (walk: Walk, { seq, toolCallId }: { readonly seq: number; readonly toolCallId: string }) => {
  const at = walk.sources.events.findIndex(
    (event, after) => after > seq && event._tag === "ToolSettled" && event.toolCallId === toolCallId
  )
  const settled = eventAt(walk, at)
  return settled?._tag === "ToolSettled" ? visitSettled(walk, settled, at, calledAt(walk, settled, at)) : undefined
}

export const start = (events: Iterable<Event.Event>, options: Options = {}): Walk => ({
  options,
  sources: Sources.make(Array.from(events)),
  nodes: new Map(),
  edges: [],
  gaps: [],
  waiting: []
})

export const chain = (walk: Walk, question: Question): Chain => {
  // The list grows while it is read.
  for (let next = 0; next < walk.waiting.length; next++) walk.waiting[next]?.()
  const { state } = walk.sources
  const drifted = WindowState.wires(state).find(({ projectedHash, recordedHash }) => projectedHash !== recordedHash)
  if (drifted !== undefined) {
    gap(
      walk,
      "drift",
      undefined,
      `The wire of pass ${drifted.iteration} is not the one that the record names (#${drifted.seq}).`
    )
  }
  const { untold = [] } = state.started?.manifest ?? {}
  if (untold.includes("outcomes") && Array.from(walk.nodes.values()).some(({ kind }) => kind === "call")) {
    gap(
      walk,
      "untold",
      undefined,
      "The imported trace does not say which calls failed: each is taken to have returned."
    )
  }
  if (untold.includes("tool-schemas")) {
    gap(walk, "untold", undefined, "The imported trace does not hold the tool definitions that the model was sent.")
  }
  return { question, nodes: Array.from(walk.nodes.values()), edges: walk.edges, gaps: walk.gaps }
}
