/**
 * A `Why` is a walk from something the model said back to what caused it: to a person's message, a piece of the
 * application, or the world behind a tool, or to the gap where the record can say no more.
 *
 * A value's causes are the pieces that were on the wire of the call that said it, and held it. What was not on that wire
 * is never a cause. Nothing here guesses: a link is in the record, or it is a gap.
 *
 * @since 0.1.0
 */
import * as Answering from "./Answering.ts"
import * as Boundary from "./Boundary.ts"
import type { Chain } from "./Chain.ts"
import type * as Event from "./Event.ts"
import type * as Message from "./Message.ts"
import * as Printable from "./Printable.ts"
import * as Sources from "./Sources.ts"
import * as Value from "./Value.ts"
import * as WhyBoundary from "./WhyBoundary.ts"
import * as WhyWalk from "./WhyWalk.ts"
import * as Written from "./Written.ts"

export type {
  ArtifactNode,
  CallNode,
  CarrierNode,
  Chain,
  DerivationNode,
  Edge,
  Gap,
  MapNode,
  Node,
  Question,
  RootNode,
  Span,
  ValueNode
} from "./Chain.ts"

export type Options = WhyWalk.Options

interface Said {
  readonly seq: number
  readonly pass: number
  readonly content: string
  /** What the answer was given with, after these words. */
  readonly boundary?: Boundary.Boundary
  /** The call that gave the answer, which is in its arguments. */
  readonly call?: Message.ToolCall
}

/** What the model said, newest first: the answer, then the replies before it. A reply may be empty. */
const replies = (walk: WhyWalk.Walk): ReadonlyArray<Said> =>
  walk.sources.events
    .flatMap((event, seq): ReadonlyArray<Said> =>
      event._tag === "ModelReplied" ? [{ seq, pass: event.iteration, content: event.content }] : []
    )
    .reverse()

const answerOf = (walk: WhyWalk.Walk): Said | undefined => {
  const { state } = walk.sources
  const said = state.answered && replies(walk).find(({ pass }) => pass === state.answered?.iteration)
  if (said === undefined) return undefined
  const boundary = Boundary.of(state)
  const reply = walk.sources.events[said.seq]
  const call =
    reply?._tag === "ModelReplied" && state.final?.given?.by === "call"
      ? reply.toolCalls.find(({ toolName }) => Answering.isTool(state.started, toolName))
      : undefined
  return { ...said, ...(boundary === undefined ? {} : { boundary }), ...(call === undefined ? {} : { call }) }
}

/** A value in the arguments of a call. */
const visitArgument = (walk: WhyWalk.Walk, { pass, seq }: Said, toolCallId: string, written: Written.Written): string =>
  WhyWalk.visitValue(walk, { seq, pass, place: "arguments", prefix: `:${Printable.line(toolCallId)}` }, written)

/** Why the answer says each value that it says. */
export const answer = (events: Iterable<Event.Event>, options?: Options): Chain => {
  const walk = WhyWalk.start(events, options)
  const said = answerOf(walk)
  if (said === undefined) WhyWalk.gap(walk, "no-answer", undefined, "The run has no answer. Ask why of a pass.")
  else visitReply(walk, said)
  return WhyWalk.chain(walk, { kind: "answer" })
}

const visitReply = (walk: WhyWalk.Walk, said: Said): void => {
  const { boundary, call, content, pass, seq } = said
  // The question's own values come first in the chain.
  for (const value of Written.inText(content)) WhyWalk.visitValue(walk, { seq, pass, place: "reply" }, value)
  if (call !== undefined) {
    for (const value of Written.inCall(call.args)) visitArgument(walk, said, call.toolCallId, value)
  }
  if (boundary === undefined) return
  for (const value of Written.inText(boundary.text)) WhyBoundary.visit(walk, boundary, value)
}

const matching = (content: string, text: string): Written.Written | undefined => {
  const token = Value.tokens(content).find((one) => Value.match(one.text, text) !== undefined)
  if (token !== undefined) return Written.ofToken(token)
  const at = Sources.find(content, text)
  return at === -1
    ? undefined
    : { text: content.slice(at, at + text.length), start: at, end: at + text.length, phrase: true }
}

const valuesOf = ({ call, content }: Said): ReadonlyArray<Written.Written> => [
  ...Written.inText(content),
  ...(call === undefined ? [] : Written.inCall(call.args))
]

const argued = (args: string, text: string): Written.Written | undefined =>
  Written.inCall(args).find((one) => Value.match(one.text, text) !== undefined || one.text === text)

/** Why the answer says `text`, or the last reply that says it. Any spelling of the same value will do. */
export const value = (events: Iterable<Event.Event>, text: string, options?: Options): Chain => {
  const walk = WhyWalk.start(events, options)
  const first = answerOf(walk)
  const said = [...(first === undefined ? [] : [first]), ...replies(walk)]
  for (const one of said) {
    const found = matching(one.content, text)
    const given = found === undefined && one.call !== undefined ? argued(one.call.args, text) : undefined
    const beyond = found === undefined && one.boundary !== undefined ? matching(one.boundary.text, text) : undefined
    if (found !== undefined) WhyWalk.visitValue(walk, { seq: one.seq, pass: one.pass, place: "reply" }, found)
    else if (one.call !== undefined && given !== undefined) visitArgument(walk, one, one.call.toolCallId, given)
    else if (beyond !== undefined && one.boundary !== undefined) WhyBoundary.visit(walk, one.boundary, beyond)
    else continue
    return WhyWalk.chain(walk, { kind: "value", text })
  }
  const values = first === undefined ? [] : valuesOf(first).map((one) => Printable.line(one.text))
  const known = values.length === 0 ? "It names no value." : `Its values: ${values.slice(0, 8).join(", ")}.`
  const whole = said.flatMap(({ content }) => Value.tokens(content)).find((one) => one.text.includes(text))
  const part = whole === undefined || text.trim() === "" ? "" : `; it is only part of ${Printable.quote(whole.text)}`
  const what = first === undefined ? "The run has no answer." : known
  WhyWalk.gap(walk, "not-found", undefined, `${Printable.quote(text)} is no value that the model said${part}. ${what}`)
  return WhyWalk.chain(walk, { kind: "value", text })
}

/**
 * Why the model said and asked for what it did in one pass: each value of its reply and of its calls' arguments; and for
 * each skill map, why it rode or did not, since when, and founded on what.
 */
export const call = (events: Iterable<Event.Event>, pass: number, options?: Options): Chain => {
  const walk = WhyWalk.start(events, options)
  const seq = walk.sources.events.findIndex((event) => event._tag === "ModelReplied" && event.iteration === pass)
  const reply = walk.sources.events[seq]
  if (reply?._tag !== "ModelReplied") {
    WhyWalk.gap(
      walk,
      "not-found",
      undefined,
      `The run has no reply in pass ${pass}; it has ${walk.sources.state.iteration} passes.`
    )
    return WhyWalk.chain(walk, { kind: "call", pass })
  }
  visitReply(walk, { seq, pass, content: reply.content })
  for (const { args, toolCallId } of reply.toolCalls) {
    for (const one of Written.inArguments(args)) visitArgument(walk, { seq, pass, content: "" }, toolCallId, one)
  }
  WhyWalk.visitMaps(walk, pass)
  return WhyWalk.chain(walk, { kind: "call", pass })
}

interface Settled {
  readonly event: Event.ToolSettled
  readonly seq: number
}

/** The calls of an id that were settled, oldest first. */
const settledBy = (walk: WhyWalk.Walk, toolCallId: string): ReadonlyArray<Settled> =>
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
 * Why a tool was called as it was: the origins of the call's arguments, and of the artifacts that it worked on. If replies of several passes used the id, it is the
 * call of `pass`, or else the newest with a gap that names the others.
 */
export const tool = (events: Iterable<Event.Event>, toolCallId: string, pass?: number, options?: Options): Chain => {
  const walk = WhyWalk.start(events, options)
  const question = { kind: "tool" as const, toolCallId, ...(pass === undefined ? {} : { pass }) }
  const all = settledBy(walk, toolCallId)
  const found = all.findLast(({ event }) => pass === undefined || event.iteration === pass)
  if (found === undefined) {
    const where = pass === undefined || all.length === 0 ? "" : ` in pass ${pass}; there is one in ${passesText(all)}`
    WhyWalk.gap(
      walk,
      "not-found",
      undefined,
      `No call with the id ${Printable.quote(toolCallId)} has been settled${where}.`
    )
    return WhyWalk.chain(walk, question)
  }
  const { event, seq } = found
  WhyWalk.visitSettled(walk, event, seq, WhyWalk.calledAt(walk, event, seq))
  const others = all.filter((one) => one.event.iteration !== event.iteration)
  if (pass === undefined && others.length > 0) {
    const what = `This is the call of pass ${event.iteration}; its id was also used in ${passesText(others)}: ask for those by their pass.`
    WhyWalk.gap(walk, "several", undefined, what)
  }
  return WhyWalk.chain(walk, question)
}
