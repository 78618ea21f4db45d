/**
 * A `Why` is a walk from something the model said back to what caused it: to a person's message, a piece of the
 * application, or the world behind a tool, or to the gap where the record can say no more.
 *
 * A value's causes are the pieces that were on the wire of the call that said it, and held it. What was not on that wire
 * is never a cause. Nothing here guesses: a link is in the record, or it is a gap.
 *
 * @since 0.1.0
 */
import type { CarrierNode, Chain, Edge, Gap, Node, Question, RootNode, ValueNode } from "./Chain.ts"
import type * as Event from "./Event.ts"
import * as Printable from "./Printable.ts"
import * as Sources from "./Sources.ts"
import * as Value from "./Value.ts"
import type * as Wire from "./Wire.ts"
import * as Written from "./Written.ts"

export type { CallNode, CarrierNode, Chain, Edge, Gap, Node, Question, RootNode, Span, ValueNode } from "./Chain.ts"

/** A chain shows at most this many nodes; the rest is a gap. */
const mostNodes = 5_000

interface Walk {
  readonly sources: Sources.Sources
  readonly nodes: Map<string, Node>
  readonly edges: Array<Edge>
  readonly gaps: Array<Gap>
  /** Nodes whose causes are still to be looked for, so that a long chain needs no deep stack. */
  readonly waiting: Array<() => void>
}

const edge = (walk: Walk, from: string, to: string, grounds: Edge["grounds"], by: ReadonlyArray<string> = []): void => {
  walk.edges.push({ from, to, grounds, by })
}

const gap = (walk: Walk, kind: Gap["kind"], at: string | undefined, what: string, next?: Gap["next"]): void => {
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
const visitValue = (
  walk: Walk,
  place: { readonly seq: number; readonly pass: number; readonly place: ValueNode["place"]; readonly prefix?: string },
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
    const found = phrase ? Sources.holders(walk.sources, pass, text) : Sources.carriers(walk.sources, pass, text)
    if (found.length === 0) {
      const what = `No spelling of ${Printable.quote(text)} was on the wire of pass ${pass}.`
      gap(walk, "nowhere", id, what)
    }
    for (const one of found) visitCarrier(walk, id, pass, one)
  })
  return id
}

const roleOf = (piece: Wire.Piece): CarrierNode["role"] =>
  piece.slot === "system" ? "system" : piece.slot === "tools" ? "definition" : piece.message.role

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
    spans
  })
  edge(
    walk,
    from,
    id,
    "carried",
    spans.reduce<ReadonlyArray<string>>((least, { by }) => (by.length < least.length ? by : least), spans[0]?.by ?? [])
  )
  if (piece.slot !== "messages")
    return visitRoot(
      walk,
      id,
      "app",
      seq,
      `the application's ${piece.slot === "system" ? "piece" : "definition"} ${Printable.quote(piece.id)}`
    )
  const { message } = piece
  if (message.role === "user") return visitRoot(walk, id, "person", seq, "the person's message")
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

const visitRoot = (walk: Walk, from: string, root: RootNode["root"], seq: number, what: string): void => {
  const id = `${root}:${seq}:${what}`
  walk.nodes.set(id, { kind: "root", id, root, seq, what })
  edge(walk, from, id, root === "world" ? "observed" : "told")
}

/** The call that made a result, with the origins of its arguments. */
const visitCall = (walk: Walk, piece: Wire.MessagePiece): string | undefined => {
  const { message, seq } = piece
  if (message.role !== "tool") return undefined
  const settled = eventAt(walk, seq)
  if (settled?._tag !== "ToolSettled") return undefined
  return visitSettled(walk, settled, seq, piece.cause.seq)
}

const visitSettled = (walk: Walk, settled: Event.ToolSettled, settledSeq: number, calledSeq: number): string => {
  const { iteration, outcome, toolCallId, toolName } = settled
  const id = `call:${settledSeq}`
  if (walk.nodes.has(id)) return id
  const reply = walk.sources.events.findLast(
    (event, seq) => event._tag === "ModelReplied" && event.iteration === iteration && seq < settledSeq
  )
  const replySeq = reply === undefined ? calledSeq : walk.sources.events.lastIndexOf(reply)
  const call = reply?._tag === "ModelReplied" ? reply.toolCalls.find((one) => one.toolCallId === toolCallId) : undefined
  const args = call?.args ?? ""
  walk.nodes.set(id, { kind: "call", id, pass: iteration, seq: calledSeq, toolCallId, toolName, args, outcome })
  const { error } = settled
  const spoke = outcome === "ran-ok" || outcome === "absent" || (outcome === "ran-error" && error?.tag === "ToolFailed")
  if (spoke) visitRoot(walk, id, "world", settledSeq, `what ${Printable.quote(toolName)} found or did`)
  else visitRoot(walk, id, "runtime", settledSeq, `the runtime's own words: ${error?.tag ?? outcome}`)
  for (const value of Written.inArguments(args)) {
    const place = {
      seq: replySeq,
      pass: iteration,
      place: "arguments" as const,
      prefix: `:${Printable.line(toolCallId)}`
    }
    edge(walk, id, visitValue(walk, place, value), "argued")
  }
  return id
}

const start = (events: Iterable<Event.Event>): Walk => ({
  sources: Sources.make(Array.from(events)),
  nodes: new Map(),
  edges: [],
  gaps: [],
  waiting: []
})

const chain = (walk: Walk, question: Question): Chain => {
  // The list grows while it is read.
  for (let next = 0; next < walk.waiting.length; next++) walk.waiting[next]?.()
  const { state } = walk.sources
  const drifted = state.marks.find(({ projectedHash, recordedHash }) => projectedHash !== recordedHash)
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

interface Said {
  readonly seq: number
  readonly pass: number
  readonly content: string
}

/** What the model said, newest first: the answer, then the replies before it. A reply may be empty. */
const replies = (walk: Walk): ReadonlyArray<Said> =>
  walk.sources.events
    .flatMap((event, seq): ReadonlyArray<Said> =>
      event._tag === "ModelReplied" ? [{ seq, pass: event.iteration, content: event.content }] : []
    )
    .reverse()

const answerOf = (walk: Walk): Said | undefined => {
  const { answered } = walk.sources.state
  return answered === undefined ? undefined : replies(walk).find(({ pass }) => pass === answered.iteration)
}

/** Why the answer says each value that it says. */
export const answer = (events: Iterable<Event.Event>): Chain => {
  const walk = start(events)
  const said = answerOf(walk)
  if (said === undefined) gap(walk, "no-answer", undefined, "The run has no answer. Ask why of a pass.")
  else visitReply(walk, said)
  return chain(walk, { kind: "answer" })
}

const visitReply = (walk: Walk, { content, pass, seq }: Said): void => {
  // The question's own values come first in the chain.
  for (const value of Written.inText(content)) visitValue(walk, { seq, pass, place: "reply" }, value)
}

const matching = (content: string, text: string): Written.Written | undefined => {
  const token = Value.tokens(content).find((one) => Value.match(one.text, text) !== undefined)
  if (token !== undefined) return Written.ofToken(token)
  const at = Sources.find(content, text)
  return at === -1
    ? undefined
    : { text: content.slice(at, at + text.length), start: at, end: at + text.length, phrase: true }
}

/** Why the answer says `text`, or the last reply that says it. Any spelling of the same value will do. */
export const value = (events: Iterable<Event.Event>, text: string): Chain => {
  const walk = start(events)
  const first = answerOf(walk)
  const said = [...(first === undefined ? [] : [first]), ...replies(walk)]
  for (const one of said) {
    const found = matching(one.content, text)
    if (found === undefined) continue
    visitValue(walk, { seq: one.seq, pass: one.pass, place: "reply" }, found)
    return chain(walk, { kind: "value", text })
  }
  const values = first === undefined ? [] : Written.inText(first.content).map((one) => Printable.line(one.text))
  const known = values.length === 0 ? "It names no value." : `Its values: ${values.slice(0, 8).join(", ")}.`
  const whole = said.flatMap(({ content }) => Value.tokens(content)).find((one) => one.text.includes(text))
  const part = whole === undefined || text.trim() === "" ? "" : `; it is only part of ${Printable.quote(whole.text)}`
  const what = first === undefined ? "The run has no answer." : known
  gap(walk, "not-found", undefined, `${Printable.quote(text)} is no value that the model said${part}. ${what}`)
  return chain(walk, { kind: "value", text })
}

/** Why the model said and asked for what it did in one pass: each value of its reply and of its calls' arguments. */
export const call = (events: Iterable<Event.Event>, pass: number): Chain => {
  const walk = start(events)
  const seq = walk.sources.events.findIndex((event) => event._tag === "ModelReplied" && event.iteration === pass)
  const reply = walk.sources.events[seq]
  if (reply?._tag !== "ModelReplied") {
    gap(
      walk,
      "not-found",
      undefined,
      `The run has no reply in pass ${pass}; it has ${walk.sources.state.iteration} passes.`
    )
    return chain(walk, { kind: "call", pass })
  }
  visitReply(walk, { seq, pass, content: reply.content })
  for (const { args, toolCallId } of reply.toolCalls) {
    for (const one of Written.inArguments(args)) {
      visitValue(walk, { seq, pass, place: "arguments", prefix: `:${Printable.line(toolCallId)}` }, one)
    }
  }
  return chain(walk, { kind: "call", pass })
}

interface Settled {
  readonly event: Event.ToolSettled
  readonly seq: number
}

/** The calls of an id that were settled, oldest first. */
const settledBy = (walk: Walk, toolCallId: string): ReadonlyArray<Settled> =>
  walk.sources.events.flatMap((event, seq): ReadonlyArray<Settled> =>
    event._tag === "ToolSettled" && event.toolCallId === toolCallId ? [{ event, seq }] : []
  )

/** Some passes as words: the newest, if there are many. */
const passesText = (settled: ReadonlyArray<Settled>): string => {
  const passes = Array.from(new Set(settled.map(({ event }) => event.iteration)))
  const shown = passes.slice(-8).join(", ")
  const more = passes.length > 8 ? ` and ${passes.length - 8} before ${passes.length === 9 ? "that" : "those"}` : ""
  return `${passes.length === 1 ? "pass" : "passes"} ${shown}${more}`
}

/**
 * Why a tool was called as it was: the origins of the call's arguments. If replies of several passes used the id, it is the
 * call of `pass`, or else the newest with a gap that names the others.
 */
export const tool = (events: Iterable<Event.Event>, toolCallId: string, pass?: number): Chain => {
  const walk = start(events)
  const question = { kind: "tool" as const, toolCallId, ...(pass === undefined ? {} : { pass }) }
  const all = settledBy(walk, toolCallId)
  const found = all.findLast(({ event }) => pass === undefined || event.iteration === pass)
  if (found === undefined) {
    const where = pass === undefined || all.length === 0 ? "" : ` in pass ${pass}; there is one in ${passesText(all)}`
    gap(walk, "not-found", undefined, `No call with the id ${Printable.quote(toolCallId)} has been settled${where}.`)
    return chain(walk, question)
  }
  const { event, seq } = found
  const called = walk.sources.events.findLastIndex(
    (event, at) => event._tag === "ToolCalled" && event.toolCallId === toolCallId && at < seq
  )
  visitSettled(walk, event, seq, called === -1 ? seq : called)
  const others = all.filter((one) => one.event.iteration !== event.iteration)
  if (pass === undefined && others.length > 0) {
    const what = `This is the call of pass ${event.iteration}; its id was also used in ${passesText(others)}: ask for those by their pass.`
    gap(walk, "several", undefined, what)
  }
  return chain(walk, question)
}
