/**
 * Recorded exchanges with providers: a request holds the conversation so far, its response the next reply. Those whose
 * reply is an answer are conversations; of those that go on in a later exchange of the file, only the last is one.
 */
import { readFileSync } from "node:fs"
import { parse as parseYaml } from "yaml"
import * as Chat from "./Chat.ts"
import { type Fields, fields, files, isObject, objects, text } from "./Loose.ts"

/** The messages of a request, and the reply to it. */
interface Exchange {
  readonly asked: ReadonlyArray<object>
  readonly reply: ReadonlyArray<object>
}

/** Its name in the counts of what was not read, or the exchange. */
type Reading = string | Exchange

const parts = (content: unknown): string =>
  typeof content === "string"
    ? content
    : objects(content)
        .map((part) => text(part["text"] ?? part["title"] ?? ""))
        .join("\n")

/** The text of a streamed reply, if it made no calls. */
const streamed = (body: string): string | undefined => {
  const deltas = body
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .flatMap((line) => objects(fields(JSON.parse(line.slice(6)))["choices"]))
    .map(({ delta }) => fields(delta))
  if (deltas.some(({ tool_calls: calls }) => calls !== undefined)) return undefined
  return deltas.map(({ content }) => (typeof content === "string" ? content : "")).join("")
}

const openAiChat = (request: Fields, body: unknown, stream: unknown): Reading => {
  const asked = objects(request["messages"])
  if (typeof stream === "string") {
    const content = streamed(stream)
    return content === undefined ? "streams with calls" : { asked, reply: [Chat.said("assistant", content)] }
  }
  return {
    asked,
    reply: objects(fields(body)["choices"])
      .slice(0, 1)
      .map(({ message }) => fields(message))
  }
}

/** A reply in blocks is one message for each turn in it: its words and its calls, then the results the provider gave. */
const replied = (blocks: ReadonlyArray<Fields>): ReadonlyArray<object> => {
  const turns: Array<{ words: Array<string>; calls: Array<Chat.Call>; results: Array<object> }> = []
  for (const block of blocks) {
    const { id, input, name, tool_use_id: answers, type } = block
    if (typeof type !== "string" || type === "thinking") continue
    let turn = turns.at(-1)
    if (turn === undefined || (turn.results.length > 0 && answers === undefined)) {
      turn = { words: [], calls: [], results: [] }
      turns.push(turn)
    }
    if (type === "text") {
      turn.words.push(text(block["text"]))
      const cited = objects(block["citations"]).map((one) => text(one["cited_text"]))
      const before = turns.at(-2)?.results.at(-1)
      if (cited.length > 0 && before !== undefined && "content" in before) {
        turns.at(-2)?.results.splice(-1, 1, { ...before, content: [text(before.content), ...cited].join("\n") })
      }
    } else if (type.endsWith("_tool_result")) turn.results.push(Chat.returned(text(answers), block["content"]))
    else if (type.endsWith("tool_use")) turn.calls.push({ id: text(id), name: text(name), args: input })
  }
  return turns.flatMap(({ calls, results, words }) => [
    calls.length === 0 ? Chat.said("assistant", words.join("")) : Chat.called(calls, words.join("")),
    ...results
  ])
}

const anthropicMessage = ({ content, role }: Fields): ReadonlyArray<object> => {
  if (role === "assistant")
    return replied(typeof content === "string" ? [{ type: "text", text: content }] : objects(content))
  if (role === "system") return [Chat.said("system", parts(content))]
  const results = objects(content).filter(({ type }) => type === "tool_result")
  const words = typeof content === "string" ? content : parts(objects(content).filter(({ type }) => type === "text"))
  return [
    ...results.map(({ content: result, tool_use_id: id }) => Chat.returned(text(id), parts(result))),
    ...(words === "" ? [] : [Chat.said("user", words)])
  ]
}

const anthropic = (request: Fields, body: unknown): Reading => {
  if (!isObject(body)) return "streams of Anthropic messages"
  const system = parts(request["system"] ?? "")
  return {
    asked: [
      ...(system === "" ? [] : [Chat.said("system", system)]),
      ...objects(request["messages"]).flatMap(anthropicMessage)
    ],
    reply: replied(objects(body["content"]))
  }
}

/** A run of items of one reply is one message: its words, and its calls. */
const items = (all: ReadonlyArray<Fields>): ReadonlyArray<object> => {
  const out: Array<object> = []
  let calls: Array<Chat.Call> = []
  let words = ""
  const flush = (): void => {
    if (calls.length > 0) out.push(Chat.called(calls, words))
    else if (words !== "") out.push(Chat.said("assistant", words))
    calls = []
    words = ""
  }
  for (const { arguments: args, call_id: id, content, name, output, role, type } of all) {
    if (type === "function_call") calls.push({ id: text(id), name: text(name), args })
    else if (type === "function_call_output") {
      flush()
      out.push(Chat.returned(text(id), typeof output === "string" ? output : parts(output)))
    } else if (role === "assistant") {
      if (calls.length > 0) flush()
      words += parts(content)
    } else if (role !== undefined) {
      flush()
      out.push(Chat.said(role === "user" ? "user" : "system", parts(content)))
    }
  }
  flush()
  return out
}

const known = new Set(["message", "function_call", "function_call_output", "reasoning", undefined])

const responses = (request: Fields, body: unknown): Reading => {
  if (!isObject(body)) return "streams of Responses"
  const { conversation, input, instructions, previous_response_id: previous } = request
  if ((conversation ?? previous ?? null) !== null) return "Responses to a conversation that the provider holds"
  const asked = typeof input === "string" ? [{ role: "user", content: input }] : objects(input)
  const reply = objects(body["output"])
  if ([...asked, ...reply].some(({ type }) => type !== undefined && !known.has(text(type)))) {
    return "Responses with tools of the provider's"
  }
  const system = typeof instructions === "string" ? [Chat.said("system", instructions)] : []
  return { asked: [...system, ...items(asked)], reply: items(reply) }
}

const readingOf = (interaction: Fields): Reading | undefined => {
  const { method, parsed_body: asked, uri } = fields(interaction["request"])
  const { body, parsed_body: replied, status } = fields(interaction["response"])
  const path = text(uri).split("?")[0] ?? ""
  if (method !== "POST" || fields(status)["code"] !== 200 || !isObject(asked)) return undefined
  if (path.endsWith("/chat/completions")) return openAiChat(asked, replied, body)
  if (path.endsWith("anthropic.com/v1/messages")) return anthropic(asked, replied)
  if (path.endsWith("/v1/responses")) return responses(asked, replied)
  return path.includes("generateContent") || path.includes("bedrock") ? "exchanges with other providers" : undefined
}

const isBefore = (one: ReadonlyArray<object>, other: ReadonlyArray<object>): boolean =>
  one.length < other.length && JSON.stringify(one) === JSON.stringify(other.slice(0, one.length))

const isAnswer = ({ reply }: Exchange): boolean => {
  const last = fields(reply.at(-1))
  return last["role"] === "assistant" && objects(last["tool_calls"]).length === 0 && text(last["content"] ?? "") !== ""
}

export const read = (folder: string): Chat.Read => {
  const chats: Array<Chat.Chat> = []
  const unread = new Map<string, number>()
  for (const path of files(folder, ".yaml")) {
    const readings = objects(fields(parseYaml(readFileSync(path, "utf8")))["interactions"]).map(readingOf)
    const exchanges = readings.flatMap((one) => (typeof one === "object" ? [one] : []))
    for (const reason of readings) if (typeof reason === "string") unread.set(reason, (unread.get(reason) ?? 0) + 1)
    const last = exchanges.filter(({ asked }) => !exchanges.some((other) => isBefore(asked, other.asked)))
    chats.push(...last.filter(isAnswer).map(({ asked, reply }) => [...asked, ...reply]))
  }
  return { chats, unread: Array.from(unread, ([reason, count]) => `${count} ${reason}`) }
}
