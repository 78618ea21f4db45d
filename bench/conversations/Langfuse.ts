/**
 * Traces of agent frameworks. What a trace holds of a conversation differs with the framework: here is a reader of each
 * shape, and the first that finds an answer gives the conversation.
 */
import { basename } from "node:path"
import * as Chat from "./Chat.ts"
import { type Fields, fields, files, inner, isObject, list, objects, parse, text } from "./Loose.ts"

interface Generation {
  readonly input: unknown
  readonly output: unknown
  /** The spans that have both, as a tool has its arguments and its result. */
  readonly spans: ReadonlyArray<Fields>
}

type Reader = (generation: Generation) => Chat.Chat | undefined

const parts = (content: unknown): string =>
  typeof content === "string"
    ? content
    : objects(content)
        .map((part) => text(part["text"]))
        .join("\n")

const acted = /^(Thought:[^]*?)\nFunction Name: *(.*)\n(?:Function Input: *([^]*?)\n)?Function Output: *([^]*)$/

/** A thought with its action and its observation in one text, else a reply. */
const replied = (content: string, index: number): ReadonlyArray<object> => {
  const [isAct, thought = "", name = "", args = "{}", result = ""] = acted.exec(content) ?? []
  if (isAct === undefined) return [Chat.said("assistant", content)]
  const id = `act-${index}`
  return [Chat.called([{ id, name, args }], thought), Chat.returned(id, result)]
}

const answerOf = (output: unknown): string =>
  typeof output === "string"
    ? output
    : objects(output)
        .map(({ content }) => parts(content))
        .join("\n")

/** Messages; calls may be told as a message of the tool's, with the result in the next. */
const messages: Reader = ({ input, output }) => {
  if (!Array.isArray(input)) return undefined
  const said = objects(input).flatMap((message, index): ReadonlyArray<object> => {
    const { content, role } = message
    if (role === "tool") {
      const call = objects(content)[0]
      if (call === undefined) return []
      const { arguments: args, name } = fields(call["function"])
      const id = text(call["id"])
      const result = objects(input)[index + 1]?.["content"]
      return [Chat.called([{ id, name: text(name), args }]), Chat.returned(id, result)]
    }
    const own = "text" in message ? text(message["text"]) : parts(content)
    if (role === "assistant") return replied(own, index)
    return [Chat.said(role === "system" ? "system" : "user", own)]
  })
  const last = fields(objects(input).at(-1))
  const answer = answerOf(output)
  if (answer !== "") return [...said, Chat.said("assistant", answer)]
  return last["role"] === "assistant" && "text" in last ? said : undefined
}

const roles = /^(developer|user|assistant|tool): /gm

/** One text, with the role before each message. */
const transcript: Reader = ({ input, output, spans }) => {
  if (typeof input !== "string" || typeof output !== "string" || output === "None") return undefined
  const starts = Array.from(input.matchAll(roles))
  const said = starts.flatMap(([before, role], index) => {
    const content = input.slice(starts[index]?.index ?? 0, starts[index + 1]?.index).slice(before.length)
    return role === "developer" || role === "user" ? [Chat.said(role === "user" ? "user" : "system", content)] : []
  })
  const tools = spans.flatMap(({ input: args, name, output: result }, index) => [
    Chat.called([{ id: `span-${index}`, name: text(name), args: inner(args) }]),
    Chat.returned(`span-${index}`, result)
  ])
  return said.length === 0 ? undefined : [...said, ...tools, Chat.said("assistant", output)]
}

/** A question and an answer, as arguments of a call and its return. */
const single: Reader = ({ input, output }) => {
  const { args, contents } = fields(input)
  const question = text(contents ?? list(args)[0])
  const candidate = fields(fields(objects(fields(output)["candidates"])[0])["content"])
  const answer = typeof output === "string" ? output : parts(candidate["parts"])
  return question === "" || answer === "" ? undefined : [Chat.said("user", question), Chat.said("assistant", answer)]
}

const chatOf = (trace: unknown): Chat.Chat | undefined => {
  const observations = objects(fields(trace)["observations"])
    .toSorted((a, b) => text(a["startTime"]).localeCompare(text(b["startTime"])))
    .map((one): Fields => ({ ...one, input: inner(one["input"]), output: inner(one["output"]) }))
  const spans = observations.filter(
    ({ input, output, parentObservationId: parent, type }) =>
      type === "SPAN" && parent !== null && isObject(input) && output !== null
  )
  for (const { input, output } of observations.toReversed()) {
    for (const reader of [messages, transcript, single]) {
      const chat = reader({ input, output: output ?? "", spans })
      if (chat !== undefined) return chat
    }
  }
  return undefined
}

export const read = (folder: string): Chat.Read => {
  const found = files(folder, ".json").map((path) => ({ name: basename(path), chat: chatOf(parse(path)) }))
  return {
    chats: found.flatMap(({ chat }) => (chat === undefined ? [] : [chat])),
    unread: found.flatMap(({ chat, name }) => (chat === undefined ? [`${name} holds no conversation`] : []))
  }
}
