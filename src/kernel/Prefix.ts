/**
 * A `Prefix` is how much of a wire the next wire of its run begins with. A provider that has read a prefix before reads it
 * again for less, so what stays stands first, what is said of one pass alone stands after the conversation, and a provider
 * that has to be told is told where to keep what it has read. The order is of the request: the wire and its hash have none
 * of it.
 *
 * @internal
 */
import type * as Message from "./Message.ts"
import * as SummaryWire from "./SummaryWire.ts"
import type * as Wire from "./Wire.ts"

/** Where a provider that has to be told keeps what it has read: never more than three places. */
export interface Marks {
  /** After the last tool: nothing that stays stands after it in the system slot. */
  readonly tools: boolean
  /** After the last of the stable texts. */
  readonly stable: boolean
  /** After the messages at these places: where the wire before this one ended, and where this one does. */
  readonly messages: ReadonlyArray<number>
}

export interface Prefix {
  /** The application's own texts, the same in every pass. */
  readonly stable: ReadonlyArray<Wire.SystemPiece>
  /** What stays until another skill rides, or more of the conversation is summarized. */
  readonly selected: ReadonlyArray<Wire.SystemPiece>
  /** What the runtime says of this pass. It stands after the last message. */
  readonly late: ReadonlyArray<Wire.SystemPiece>
  readonly marks: Marks
}

const unmarked: Marks = { tools: false, stable: false, messages: [] }

/** All of the system slot before the conversation, and no marks: for a provider that keeps nothing. */
export const whole = ({ system }: Wire.Wire): Prefix => ({ stable: system, selected: [], late: [], marks: unmarked })

const isSaid = (text: string): boolean => text.trim() !== ""

/** A mark stands on a text that is not blank, on a result, or on the calls of a reply; not on what a reply says. */
const takesMark = (message: Message.Message): boolean =>
  message.role === "assistant" ? message.toolCalls.length > 0 : isSaid(message.content)

type Messages = ReadonlyArray<Wire.MessagePiece>

/** Whether what is late is sent inside the last message, which the next wire then has in another form. */
export type Joins = (messages: Messages) => boolean

/** The last mark on a wire that ends so. */
const lastMark = (messages: Messages, isJoined: boolean): ReadonlyArray<number> => {
  const sure = isJoined ? messages.slice(0, -1) : messages
  const at = sure.findLastIndex(({ message }) => takesMark(message))
  return at === -1 ? [] : [at]
}

/** The prefix of a wire. Nothing follows the request for a summary, so nothing of it is kept. */
export const of = (wire: Wire.Wire, joins: Joins = () => false): Prefix => {
  const { messages, system, tools } = wire
  if (system.some(({ id }) => id === SummaryWire.instructionsId)) return whole(wire)
  const late = system.filter(({ origin }) => origin === "runtime")
  const early = system.filter(({ origin }) => origin !== "runtime")
  const stable = early.filter(({ origin, owner }) => origin === "app" && owner === undefined)
  const selected = early.filter((piece) => !stable.includes(piece))
  const isStable = stable.some(({ text }) => isSaid(text))
  const marksOf = (said: Messages) => lastMark(said, late.length > 0 && joins(said))
  const replied = messages.findLastIndex(({ message }) => message.role === "assistant")
  const before = replied === -1 ? [] : marksOf(messages.slice(0, replied))
  return {
    stable,
    selected,
    late,
    marks: {
      tools: !isStable && tools.length > 0,
      stable: isStable,
      messages: Array.from(new Set([...before, ...marksOf(messages)]))
    }
  }
}
