/**
 * A `WhyQuote` is a value in the runtime's own text that the model had written: in the findings, which are what it
 * declared, or in a notice that quotes its reply. Such a text is no source, so that a why goes on where the model wrote it.
 *
 * @internal
 */
import type { ValueNode } from "./Chain.ts"
import type * as Event from "./Event.ts"
import * as FindingWire from "./FindingWire.ts"
import * as Printable from "./Printable.ts"
import * as Sources from "./Sources.ts"
import * as Value from "./Value.ts"
import * as Written from "./Written.ts"

/** Where the model wrote it. */
export interface Quoted {
  readonly place: {
    readonly seq: number
    readonly pass: number
    readonly place: ValueNode["place"]
    readonly prefix?: string
  }
  readonly written: Written.Written
}

/** Where a text holds a value: as one of its tokens, or else as words. */
export const within = (
  text: string,
  tokens: ReadonlyArray<Written.Written>,
  value: string
): Written.Written | undefined => {
  const token = tokens.find((one) => Value.match(one.text, value) !== undefined)
  if (token !== undefined) return token
  const start = Sources.find(text, value)
  const end = start + value.length
  return start === -1 ? undefined : { text: text.slice(start, end), start, end, phrase: true }
}

const inCall = (seq: number, pass: number, call: Event.ModelReplied["toolCalls"][number], value: string) => {
  const written = within(call.args, Written.inArguments(call.args), value)
  if (written === undefined) return undefined
  return { place: { seq, pass, place: "arguments", prefix: `:${Printable.line(call.toolCallId)}` }, written } as const
}

/** The last reply before an event that holds the value, in its text or in a call. */
export const before = ({ events }: Sources.Sources, end: number, value: string): Quoted | undefined => {
  for (let seq = end - 1; seq >= 0; seq--) {
    const event = events[seq]
    if (event?._tag !== "ModelReplied") continue
    const { content, iteration: pass, toolCalls } = event
    const written = within(content, Value.tokens(content).map(Written.ofToken), value)
    if (written !== undefined) return { place: { seq, pass, place: "reply" }, written }
    for (const call of toolCalls) {
      const found = inCall(seq, pass, call, value)
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** Where the model declared a value of the findings that a pass was sent, the last time. */
export const declared = (sources: Sources.Sources, pass: number, value: string): Quoted | undefined => {
  const findings = sources.state.marks.find(({ iteration }) => iteration === pass)?.findings
  for (const { iteration, toolCallId } of findings === undefined ? [] : FindingWire.declarations(findings.ledger)) {
    const seq = sources.events.findIndex((event) => event._tag === "ModelReplied" && event.iteration === iteration)
    const reply = sources.events[seq]
    const call =
      reply?._tag === "ModelReplied" ? reply.toolCalls.find((one) => one.toolCallId === toolCallId) : undefined
    const found = call === undefined ? undefined : inCall(seq, iteration, call, value)
    if (found !== undefined) return found
  }
  return undefined
}
