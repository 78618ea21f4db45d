import * as Chat from "./Chat.ts"
import { fields, files, inner, isObject, list, objects, parse, text } from "./Loose.ts"

/** A chain of calls of a search tree, down to the answer it gave. */
const chatOf = (path: string): Chat.Chat => {
  const { answer_generation: generation } = fields(parse(path))
  const { query, train_messages: trains } = fields(generation)
  let calls = 0
  const messages = objects(list(trains).at(-1)).flatMap((message): ReadonlyArray<object> => {
    const { content, function_call: call, role } = message
    if (role === "assistant" && isObject(call)) {
      calls++
      const { arguments: args, name } = call
      if (name === "Finish") return [{ role, content: text(fields(inner(text(args)))["final_answer"]) }]
      return [Chat.called([{ id: `call-${calls}`, name: text(name), args: JSON.stringify(args) }], text(content ?? ""))]
    }
    return role === "function" ? [Chat.returned(`call-${calls}`, content)] : [{ role, content: text(content) }]
  })
  return messages.length === 0 ? [Chat.said("user", query)] : messages
}

export const read = (folder: string): Chat.Read => ({ chats: files(folder, ".json").map(chatOf), unread: [] })
