/**
 * An `AiSdkPrefix` is the prefix of a wire in the words of the AI SDK: where the texts of the system slot stand, and the
 * marks for a provider that takes them.
 *
 * @internal
 */
import type { LanguageModelV3FunctionTool, SharedV3ProviderOptions } from "@ai-sdk/provider"
import * as Prefix from "../kernel/Prefix.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as AiSdkModel from "./AiSdkModel.ts"

/**
 * How the runtime's notices of one pass are sent, which stand after the conversation so that a provider's cache of what is
 * before them stays good. `joined`: at the end of the last message, a form that every server takes. `message`: in a
 * message of the user's role; while the model's own reasoning waits for results they are joined to the last of those, since a
 * message of the user's would end what it was thinking. `system`: in a system message, for providers that take one there.
 */
export type Late = "joined" | "message" | "system"

export interface Options {
  /** `false`: notices stand in the system slot, before the conversation, and nothing is marked. */
  readonly cache?: false
  /** Default: `joined`. */
  readonly late?: Late
  /**
   * What a provider takes for "keep what you have read up to here", by the name under which its package reads it, such as
   * `{ bedrock: { cachePoint: { type: "default" } } }`. Nothing is marked without it.
   */
  readonly mark?: SharedV3ProviderOptions
}

export interface Rendered {
  readonly prompt: Array<AiSdkModel.Message>
  readonly tools: Array<LanguageModelV3FunctionTool>
}

const textOf = (pieces: ReadonlyArray<Wire.SystemPiece>): string => pieces.map(({ text }) => text).join("\n\n")

const system = (pieces: ReadonlyArray<Wire.SystemPiece>): ReadonlyArray<AiSdkModel.Message> =>
  pieces.length === 0 ? [] : [{ role: "system", content: textOf(pieces) }]

const marked =
  (mark: SharedV3ProviderOptions) =>
  <A extends { readonly providerOptions?: SharedV3ProviderOptions }>(one: A): A => ({ ...one, providerOptions: mark })

/** Whether the results at the end go back to reasoning that goes back with them. */
const isThinking = (messages: ReadonlyArray<Wire.MessagePiece>, provider: string): boolean => {
  if (messages.at(-1)?.message.role !== "tool") return false
  const heard = messages.findLastIndex(({ message }) => message.role === "user")
  return messages.slice(heard + 1).some(({ message }) => {
    const sealed = message.role === "assistant" ? message.sealed : undefined
    return sealed?.provider === provider && sealed.blocks.some(({ kind }) => kind === "reasoning")
  })
}

const add = (content: string, text: string): string => (content === "" ? text : `${content}\n\n${text}`)

const joined = (said: ReadonlyArray<AiSdkModel.Message>, text: string): Array<AiSdkModel.Message> => {
  const last = said.at(-1)
  const before = said.slice(0, -1)
  const part = last?.content[0]
  if (last?.role === "user" && typeof part === "object" && part.type === "text") {
    return [...before, { ...last, content: [{ type: "text", text: add(part.text, text) }] }]
  }
  if (last?.role === "tool") {
    const content = last.content.map((part) => ({
      ...part,
      output: { ...part.output, value: add(part.output.value, text) }
    }))
    return [...before, { ...last, content }]
  }
  return [...said, { role: "user", content: [{ type: "text", text }] }]
}

const closed = (said: ReadonlyArray<AiSdkModel.Message>, text: string, late: Late): Array<AiSdkModel.Message> => {
  switch (late) {
    case "joined":
      return joined(said, text)
    case "message":
      return [...said, { role: "user", content: [{ type: "text", text }] }]
    case "system":
      return [...said, { role: "system", content: text }]
  }
}

/** What stands before the conversation. */
const front = ({ marks, selected, stable }: Prefix.Prefix, mark: SharedV3ProviderOptions | undefined) => {
  if (mark === undefined) return system([...stable, ...selected])
  return [...(marks.stable ? system(stable).map(marked(mark)) : system(stable)), ...system(selected)]
}

/**
 * The prompt of a wire, whose messages and tools were converted as they are. The texts before the conversation become one
 * message with a blank line between them, since many servers take one system message and no more; two where one is marked.
 */
export const make = ({ cache, late = "joined", mark, provider }: Options & { readonly provider: string }) => {
  const joins: Prefix.Joins = (messages) => late === "joined" || (late === "message" && isThinking(messages, provider))
  const fronts = new WeakMap<ReadonlyArray<Wire.SystemPiece>, ReadonlyArray<AiSdkModel.Message>>()
  return (
    wire: Wire.Wire,
    said: ReadonlyArray<AiSdkModel.Message>,
    tools: Array<LanguageModelV3FunctionTool>
  ): Rendered => {
    const prefix = cache === false ? Prefix.whole(wire) : Prefix.of(wire, joins)
    const { marks } = prefix
    const first = fronts.get(wire.system) ?? front(prefix, mark)
    fronts.set(wire.system, first)
    const put = mark === undefined ? undefined : marked(mark)
    const messages = put === undefined ? said : said.map((one, at) => (marks.messages.includes(at) ? put(one) : one))
    const ended =
      prefix.late.length === 0
        ? messages
        : closed(messages, textOf(prefix.late), joins(wire.messages) ? "joined" : late)
    return {
      prompt: [...first, ...ended],
      tools:
        put === undefined || !marks.tools
          ? tools
          : tools.map((tool, at) => (at === tools.length - 1 ? put(tool) : tool))
    }
  }
}
