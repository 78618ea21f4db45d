/** A `Chat` is a conversation in the messages of OpenAI's chat API, as `Import.openAiChat` takes it. */
import { text } from "./Loose.ts"

export type Chat = ReadonlyArray<unknown> | object

/** The conversations of a folder, and what there could not be read, each in a few words. */
export interface Read {
  readonly chats: ReadonlyArray<Chat>
  readonly unread: ReadonlyArray<string>
}

export interface Call {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

export const said = (role: "system" | "user" | "assistant", content: unknown) => ({ role, content: text(content) })

export const called = (calls: ReadonlyArray<Call>, content = "") => ({
  role: "assistant",
  content,
  tool_calls: calls.map(({ args, id, name }) => ({
    id,
    type: "function",
    function: { name, arguments: text(args) }
  }))
})

export const returned = (id: string, content: unknown) => ({ role: "tool", tool_call_id: id, content: text(content) })
