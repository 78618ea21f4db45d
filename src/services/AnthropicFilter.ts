/**
 * An `AnthropicFilter` leaves of a reply of the Messages API what we read: text, thinking, calls of our tools, why it
 * stopped and what it took. What a conversation is cut to is ours to say: a summary that the API makes of it is no text of
 * the reply.
 *
 * @internal
 */
import * as Predicate from "effect/Predicate"
import * as JsonSpan from "./JsonSpan.ts"
import * as ReplyFilter from "./ReplyFilter.ts"

type Fields = ReplyFilter.Fields

const types: ReadonlySet<unknown> = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
  "ping",
  "error"
])
const blocks: ReadonlySet<unknown> = new Set(["text", "thinking", "redacted_thinking", "tool_use"])
const deltas: ReadonlySet<unknown> = new Set(["text_delta", "thinking_delta", "signature_delta", "input_json_delta"])
const rounds: ReadonlySet<unknown> = new Set(["message", "compaction", "advisor_message", "fallback_message"])
const calls: ReadonlySet<unknown> = new Set(["tool_use"])

const counts = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]

/** Stands where the package insists on a count that was not told: it is none, and no API tells it. */
export const untold = -1

/** The counts that the package reads, with those that it insists on. */
const usage = (given: Fields | undefined, needed: ReadonlyArray<string>): Fields => {
  const from = given ?? {}
  const told = Object.entries(ReplyFilter.pick(from, counts)).filter(([, count]) => Predicate.isNumber(count))
  const details = ReplyFilter.objectIn(from, "output_tokens_details")
  const iterations = ReplyFilter.typed(from, "iterations", rounds)
  return {
    ...Object.fromEntries(needed.map((name) => [name, untold])),
    ...Object.fromEntries(told),
    ...(details === undefined ? {} : { output_tokens_details: ReplyFilter.pick(details, ["thinking_tokens"]) }),
    ...(iterations.length === 0 ? {} : { iterations })
  }
}

const block = (given: Fields): Fields => (given["type"] === "text" ? ReplyFilter.pick(given, ["type", "text"]) : given)

/** The arguments of a call as they were written, in the text of its reply. */
const spelled = (text: string, span: JsonSpan.Span | undefined): string => {
  const input = span === undefined ? undefined : JsonSpan.at(text, ["input"], span.from)
  return input === undefined ? "{}" : text.slice(input.from, input.to)
}

/** The events of a call that a stream gives at once, with its arguments as they were written. */
const atOnce = (index: unknown, content_block: Fields, partial_json: string): ReadonlyArray<Fields> => [
  { type: "content_block_start", index, content_block: { ...content_block, input: {} } },
  { type: "content_block_delta", index, delta: { type: "input_json_delta", partial_json } }
]

const message = ["id", "type", "role", "model", "stop_reason", "stop_sequence"]

const events = (): ReplyFilter.Events => {
  /** The blocks of which nothing is left. */
  const passed = new Set<unknown>()
  return (event, text) => {
    const { index, type } = event
    if (!types.has(type)) return undefined
    switch (type) {
      case "message_start": {
        const given = ReplyFilter.objectIn(event, "message")
        if (given === undefined) return event
        const content = ReplyFilter.typed(given, "content", calls)
        const told = usage(ReplyFilter.objectIn(given, "usage"), ["input_tokens"])
        return { type, message: { ...ReplyFilter.pick(given, message), content, usage: told } }
      }
      case "content_block_start": {
        const given = ReplyFilter.objectIn(event, "content_block")
        if (given === undefined || blocks.has(given["type"])) {
          passed.delete(index)
          if (given === undefined) return event
          if (given["type"] !== "tool_use") return { type, index, content_block: block(given) }
          // Where there are none yet, they come in deltas.
          const args = spelled(text, JsonSpan.at(text, ["content_block"]))
          return /^\{\s*\}$/.test(args) ? { type, index, content_block: given } : atOnce(index, given, args)
        }
        passed.add(index)
        return undefined
      }
      case "content_block_delta": {
        const delta = ReplyFilter.objectIn(event, "delta")
        return passed.has(index) || (delta !== undefined && !deltas.has(delta["type"])) ? undefined : event
      }
      case "content_block_stop":
        return passed.has(index) ? undefined : event
      case "message_delta": {
        const delta = ReplyFilter.pick(ReplyFilter.objectIn(event, "delta") ?? {}, ["stop_reason", "stop_sequence"])
        return { type, delta, usage: usage(ReplyFilter.objectIn(event, "usage"), ["output_tokens"]) }
      }
      default:
        return event
    }
  }
}

/** A package writes arguments anew, but what is a string it hands on: there they are as they were written. */
const quoted = (given: Fields, text: string, span: JsonSpan.Span | undefined): Fields =>
  given["type"] === "tool_use" ? { ...given, input: spelled(text, span) } : block(given)

/** `answers`: calls of the tool `json` are the package's, and come to text. */
export const make = (answers: "json" | undefined): ReplyFilter.Filter => ({
  events,
  body: (body, text) => {
    const { content } = body
    if (body["type"] !== "message" || !Array.isArray(content)) return body
    const spans = JsonSpan.list(text, ["content"])
    const left = content.flatMap((one: unknown, at) => {
      if (!Predicate.isRecord(one) || !blocks.has(one["type"])) return []
      return [answers === "json" && one["name"] === "json" ? block(one) : quoted(one, text, spans[at])]
    })
    return {
      ...ReplyFilter.pick(body, message),
      content: left,
      usage: usage(ReplyFilter.objectIn(body, "usage"), ["input_tokens", "output_tokens"])
    }
  }
})
