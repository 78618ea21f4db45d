/**
 * A `SummaryWire` is the request for a summary: what is to leave, as lines of JSON in one message, and the summary before
 * it. It follows from the record, as every wire does.
 *
 * @internal
 */
import * as Digest from "./Digest.ts"
import type * as Message from "./Message.ts"
import * as MessageHash from "./MessageHash.ts"
import * as Printable from "./Printable.ts"
import * as Window from "./Window.ts"
import type * as WindowEvent from "./WindowEvent.ts"
import * as WindowWire from "./WindowWire.ts"
import type * as Wire from "./Wire.ts"

/** A text of a message is cut after so many characters, and the cut is stated: a summary has no use for more. */
const longest = 8_000

const clip = (text: string): string => Printable.clip(text, longest)

/** A message as far as a summary is made of it. */
export const clipped = (message: Message.Message): Message.Message => {
  const content = clip(message.content)
  return message.role === "assistant"
    ? { ...message, content, toolCalls: message.toolCalls.map((call) => ({ ...call, args: clip(call.args) })) }
    : { ...message, content }
}

const lineOf = (message: Message.Message): string => {
  const { content: text, role } = message
  if (role === "user") return JSON.stringify({ role, text })
  if (role === "tool") return JSON.stringify({ role, tool: message.toolName, text })
  const calls = message.toolCalls.map(({ args, toolName }) => ({ tool: toolName, args }))
  return JSON.stringify({ role, ...(text === "" ? {} : { text }), ...(calls.length === 0 ? {} : { calls }) })
}

/** What a summary is asked for: `messages` as they were sent, and the summary that stands for what had left before. */
export interface Asked {
  readonly iteration: number
  /** The event that asks. */
  readonly seq: number
  readonly messages: ReadonlyArray<Wire.MessagePiece>
  readonly before?: WindowWire.Summary
  readonly strategy: Extract<WindowEvent.Strategy, { readonly _tag: "SummarizeOldest" }>
}

/** The id of the piece that tells the model to write a summary. No other wire has it. */
export const instructionsId = "wherefore:summarize"

export const project = ({ before, iteration, messages, seq, strategy }: Asked): Wire.Wire => {
  const cause: Wire.Cause = { by: "trimmed", seq }
  const text = [
    ...(before === undefined ? [] : [WindowWire.quoted("summary of what was before", before.content)]),
    ...messages.map(({ message }) => lineOf(clipped(message)))
  ].join("\n")
  const message: Message.User = { role: "user", content: text }
  const { instructions, summaryTokens } = strategy
  return {
    iteration,
    system: [
      {
        id: instructionsId,
        slot: "system",
        origin: instructions === Window.instructions ? "runtime" : "app",
        seq: 0,
        cause,
        hash: Digest.of(instructions),
        text: instructions
      }
    ],
    messages: [
      {
        id: `summarize:${seq}`,
        slot: "messages",
        origin: "runtime",
        seq,
        cause,
        hash: MessageHash.of(message),
        message
      }
    ],
    tools: [],
    parameters: { maxOutputTokens: summaryTokens }
  }
}
