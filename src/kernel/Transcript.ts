/**
 * A `Transcript` is a conversation in closed units. A reply that calls tools is one unit with all its settlements, so
 * that no call can lack its settlement, and no settlement its call, however the conversation is cut.
 *
 * While the calls of the last reply are being settled they are `open`, and no part of the conversation yet.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Message from "./Message.ts"
import * as Problem from "./Problem.ts"
import type * as Seal from "./Seal.ts"

/** A call and what it came to. */
export interface Settled {
  readonly call: Message.ToolCall
  readonly settlement: Message.Tool
}

interface Replied {
  readonly content: string
  readonly sealed?: Seal.Sealed
}

/** The smallest part of a conversation that can be kept or dropped. */
export type Unit =
  | { readonly kind: "said"; readonly content: string }
  | (Replied & { readonly kind: "replied"; readonly settled: ReadonlyArray<Settled> })

/** A reply whose calls are not all settled. `settled` holds those that are, in the order of `calls`. */
export interface Open extends Replied {
  readonly calls: ReadonlyArray<Message.ToolCall>
  readonly settled: ReadonlyArray<Settled>
}

export interface Transcript {
  readonly units: ReadonlyArray<Unit>
  readonly open?: Open
}

/** The conversation would no longer be one that a model can be sent. */
export class TranscriptError extends Schema.TaggedError<TranscriptError>()("TranscriptError", {
  reason: Schema.Literal("OrphanSettlement", "SettledTwice", "OpenCalls", "OutOfOrder"),
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

const problem = (
  reason: TranscriptError["reason"],
  code: string,
  what: string,
  next: string
): Either.Either<never, TranscriptError> =>
  Either.left(new TranscriptError({ reason, code, what, next, outcome: "not-applied", retry: "never" }))

export const empty: Transcript = { units: [] }

const repliedOf = ({ content, sealed }: Replied): Replied => ({ content, ...(sealed === undefined ? {} : { sealed }) })

/** Adds what the person or the model said. A reply with calls is open until each of them is settled. */
export const append: {
  (message: Message.User | Message.Assistant): (self: Transcript) => Either.Either<Transcript, TranscriptError>
  (self: Transcript, message: Message.User | Message.Assistant): Either.Either<Transcript, TranscriptError>
} = dual(2, (self: Transcript, message: Message.User | Message.Assistant) => {
  if (self.open !== undefined) {
    const missing = self.open.calls.length - self.open.settled.length
    return problem("OpenCalls", "WF-MSG-001", `${missing} calls have no result yet.`, "Settle them first.")
  }
  if (message.role === "user")
    return Either.right({ units: [...self.units, { kind: "said", content: message.content }] })
  const { toolCalls } = message
  const replied = repliedOf(message)
  if (toolCalls.length === 0)
    return Either.right({ units: [...self.units, { kind: "replied", ...replied, settled: [] }] })
  return Either.right({ units: self.units, open: { ...replied, calls: toolCalls, settled: [] } })
})

/** Settles the next open call. Settlements come in the order of their calls; the last one closes the unit. */
export const settle: {
  (settlement: Message.Tool): (self: Transcript) => Either.Either<Transcript, TranscriptError>
  (self: Transcript, settlement: Message.Tool): Either.Either<Transcript, TranscriptError>
} = dual(2, (self: Transcript, settlement: Message.Tool): Either.Either<Transcript, TranscriptError> => {
  const { open } = self
  const known = open?.calls.some((call) => call.toolCallId === settlement.toolCallId) === true
  if (open === undefined || !known) {
    const next = "Give each result the id of a call of the reply before it."
    return problem("OrphanSettlement", "WF-MSG-002", "A result names no open call.", next)
  }
  const call = open.calls[open.settled.length]
  if (call === undefined || call.toolCallId !== settlement.toolCallId) {
    const twice = open.settled.some((one) => one.call.toolCallId === settlement.toolCallId)
    return twice
      ? problem("SettledTwice", "WF-MSG-003", "A call has two results.", "Keep the first one.")
      : problem("OutOfOrder", "WF-MSG-004", "A result came before that of an earlier call.", "Keep the calls' order.")
  }
  const settled = [...open.settled, { call, settlement }]
  if (settled.length < open.calls.length) return Either.right({ units: self.units, open: { ...open, settled } })
  return Either.right({ units: [...self.units, { kind: "replied", ...repliedOf(open), settled }] })
})

/** The transcript of a list of messages, or the first thing that is wrong with it. */
export const make = (messages: Iterable<Message.Message>): Either.Either<Transcript, TranscriptError> => {
  let self = empty
  for (const message of messages) {
    const next = message.role === "tool" ? settle(self, message) : append(self, message)
    if (Either.isLeft(next)) return next
    self = next.right
  }
  return Either.right(self)
}

/** The messages of one unit, in the order that a model reads them. */
export const unitMessages = (unit: Unit): ReadonlyArray<Message.Message> =>
  unit.kind === "said"
    ? [{ role: "user", content: unit.content }]
    : [
        { role: "assistant", ...repliedOf(unit), toolCalls: unit.settled.map(({ call }) => call) },
        ...unit.settled.map(({ settlement }) => settlement)
      ]

/** All closed messages. */
export const messages = (self: Transcript): ReadonlyArray<Message.Message> => self.units.flatMap(unitMessages)
