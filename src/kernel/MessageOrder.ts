/**
 * A `MessageOrder` is what a provider asks of the order of messages, as data. A request that breaks it is rejected whole, so
 * that what leaves a conversation has to leave it legal.
 *
 * @since 0.1.0
 */
import type * as Message from "./Message.ts"

/** A message as an order sees it: `reply` is one of the model that calls nothing, `calls` one that does. */
export type Kind = "user" | "reply" | "calls" | "result"

/** What may come first, what may come last when the model is asked, and what may follow what. */
export interface Law {
  readonly provider: string
  readonly starts: ReadonlyArray<Kind>
  readonly ends: ReadonlyArray<Kind>
  readonly follows: { readonly [K in Kind]: ReadonlyArray<Kind> }
}

/** For all of them, the results of a reply's calls follow it at once, one a call. */
const anything = ["user", "reply", "calls"] as const
const alternating = {
  starts: ["user"],
  ends: ["user", "result"],
  follows: { user: ["reply", "calls"], reply: ["user"], calls: ["result"], result: ["result", "reply", "calls"] }
} as const

/**
 * The laws of providers, as their servers enforce them. A result is sent as a part of a user message to some of them, so
 * that a person's message after it is a second one in a row.
 */
export const laws: ReadonlyArray<Law> = [
  {
    provider: "openai",
    starts: anything,
    ends: ["user", "result", "reply"],
    follows: { user: anything, reply: anything, calls: ["result"], result: ["result", ...anything] }
  },
  {
    // Messages of one role in a row are joined.
    provider: "anthropic",
    starts: ["user"],
    ends: ["user", "result"],
    follows: { user: anything, reply: anything, calls: ["result"], result: ["result", ...anything] }
  },
  {
    // A call stands right behind a message of the person or a result.
    provider: "google",
    starts: ["user"],
    ends: ["user", "result"],
    follows: { user: anything, reply: ["user", "reply"], calls: ["result"], result: ["result", ...anything] }
  },
  {
    // Nothing of the person stands right behind a result.
    provider: "mistral",
    starts: ["user"],
    ends: ["user", "result"],
    follows: { user: anything, reply: ["user", "reply"], calls: ["result"], result: ["result", "reply", "calls"] }
  },
  { provider: "bedrock", ...alternating },
  // Templates of open models, as llama.cpp and vLLM apply them.
  { provider: "chat-template", ...alternating }
]

export const kindOf = (message: Message.Message): Kind => {
  switch (message.role) {
    case "user":
      return "user"
    case "assistant":
      return message.toolCalls.length === 0 ? "reply" : "calls"
    case "tool":
      return "result"
  }
}

const all = (isLegal: (law: Law) => boolean): boolean => laws.every(isLegal)

/** Whether every provider takes a message of this kind first. */
export const startsEverywhere = (kind: Kind): boolean => all(({ starts }) => starts.includes(kind))

/** Whether every provider takes these in a row. */
export const followsEverywhere = (before: Kind, kind: Kind): boolean =>
  all(({ follows }) => follows[before].includes(kind))

/** The first message that breaks a law, and how. */
export interface Violation {
  readonly provider: string
  /** Position of the message; the number of messages if it is their end that is not legal. */
  readonly index: number
  readonly what: string
}

/** The first place where a request breaks a law, if it does. */
export const check = (law: Law, messages: ReadonlyArray<Message.Message>): Violation | undefined => {
  const { ends, follows, provider, starts } = law
  const broken = (index: number, what: string): Violation => ({ provider, index, what })
  let before: Kind | undefined
  let waiting: ReadonlyArray<string> = []
  for (const [index, message] of messages.entries()) {
    const kind = kindOf(message)
    if (before === undefined ? !starts.includes(kind) : !follows[before].includes(kind)) {
      return broken(index, before === undefined ? `${kind} comes first` : `${kind} follows ${before}`)
    }
    if (message.role === "tool") {
      if (!waiting.includes(message.toolCallId)) return broken(index, "a result without its call")
      waiting = waiting.filter((id) => id !== message.toolCallId)
    } else {
      if (waiting.length > 0) return broken(index, "a call without its result")
      waiting = message.role === "assistant" ? message.toolCalls.map(({ toolCallId }) => toolCallId) : []
    }
    before = kind
  }
  if (waiting.length > 0) return broken(messages.length, "a call without its result")
  return before === undefined || ends.includes(before) ? undefined : broken(messages.length, `${before} comes last`)
}
