/**
 * An `OpenAiFilter` leaves of a reply of OpenAI's Responses API what we read: text, refusals, reasoning, and calls of our tools.
 * What the provider's own tools did, and citations, are not read.
 *
 * @internal
 */
import * as Predicate from "effect/Predicate"
import * as ReplyFilter from "./ReplyFilter.ts"

type Fields = ReplyFilter.Fields

const items: ReadonlySet<unknown> = new Set(["message", "reasoning", "function_call"])
const contents: ReadonlySet<unknown> = new Set(["output_text", "refusal"])
const summaries: ReadonlySet<unknown> = new Set(["summary_text"])

const phases: ReadonlySet<unknown> = new Set(["commentary", "final_answer"])

const call = (given: Fields): Fields => {
  const { call_id, id, status } = given
  return {
    ...ReplyFilter.pick(given, ["type", "call_id", "name", "arguments"]),
    id: Predicate.isString(id) ? id : call_id,
    status: status === "incomplete" || status === "in_progress" ? status : "completed"
  }
}

const content = (given: Fields): Fields =>
  given["type"] === "output_text" ? { type: "output_text", text: given["text"], annotations: [] } : given

const item = (given: Fields): Fields => {
  switch (given["type"]) {
    case "function_call":
      return call(given)
    case "message":
      return {
        ...ReplyFilter.pick(given, ["type", "role", "id", ...(phases.has(given["phase"]) ? ["phase"] : [])]),
        content: ReplyFilter.typed(given, "content", contents).map(content)
      }
    default:
      return {
        ...ReplyFilter.pick(given, ["type", "id", "encrypted_content"]),
        summary: ReplyFilter.typed(given, "summary", summaries)
      }
  }
}

/** A response as a whole, without its output. A usage that lacks its two totals is none. */
const response = (given: Fields): Fields => {
  const usage = ReplyFilter.objectIn(given, "usage")
  const isWhole = Predicate.isNumber(usage?.["input_tokens"]) && Predicate.isNumber(usage["output_tokens"])
  return ReplyFilter.pick(given, [
    "id",
    "created_at",
    "model",
    "error",
    "incomplete_details",
    ...(isWhole ? ["usage"] : [])
  ])
}

const word = (value: unknown): string => (Predicate.isString(value) || Predicate.isNumber(value) ? `${value}` : "")

/** An error as the package reads one, whichever way it is written. */
const fault = (event: Fields): Fields => {
  const { code, message, type } = ReplyFilter.objectIn(event, "error") ?? event
  return {
    type: "error",
    sequence_number: 0,
    code: word(code ?? (type === "error" ? undefined : type)),
    message: word(message)
  }
}

export const filter: ReplyFilter.Filter = {
  events: () => (event) => {
    const { type } = event
    if (type === "response.output_text.annotation.added") return undefined
    if (type === "error" || Predicate.isRecord(event["error"])) return fault(event)
    if (!Predicate.isString(type)) return undefined
    const given = ReplyFilter.objectIn(event, "item")
    if (given !== undefined) return items.has(given["type"]) ? { ...event, item: item(given) } : undefined
    const ended = type === "response.completed" || type === "response.incomplete" || type === "response.failed"
    const all = ended ? ReplyFilter.objectIn(event, "response") : undefined
    return all === undefined ? event : { ...event, response: response(all) }
  },
  body: (body) =>
    Array.isArray(body["output"])
      ? { ...response(body), output: ReplyFilter.typed(body, "output", items).map(item) }
      : // The package dies of a reply that has none.
        { ...body, output: body["output"] ?? null }
}
