/**
 * An `AiSdkPrompt` is a wire in the words of the AI SDK's provider interface. Each piece is converted once and kept for
 * as long as the piece is.
 *
 * @internal
 */
import type {
  LanguageModelV3FunctionTool,
  LanguageModelV3ToolCallPart,
  SharedV3ProviderOptions
} from "@ai-sdk/provider"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Message from "../kernel/Message.ts"
import * as Seal from "../kernel/Seal.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as AiSdkModel from "./AiSdkModel.ts"
import * as AiSdkPrefix from "./AiSdkPrefix.ts"

export interface Options extends AiSdkPrefix.Options {
  /** Who is asked: replies that it sealed go back with their seals, and with their reasoning. */
  readonly provider: string
  /** What is sent with every request, by the name under which the package reads it. */
  readonly providerOptions?: SharedV3ProviderOptions
  /**
   * Hand the arguments of past calls on as the model wrote them, for a provider package that takes JSON text for what it
   * is. Without it they are parsed, as most packages expect, and what is no object is wrapped in one.
   */
  readonly verbatimArguments?: boolean
}

/** A value that a `JSON.stringify` of the provider package can take: deeper ones overflow its stack. */
const maxDepth = 500

const depth = (json: string): number => {
  let deepest = 0
  let open = 0
  let quoted = false
  for (let at = 0; at < json.length; at++) {
    const c = json.charAt(at)
    if (quoted && c === "\\") at++
    else if (c === '"') quoted = !quoted
    else if (!quoted && (c === "[" || c === "{")) deepest = Math.max(deepest, ++open)
    else if (!quoted && (c === "]" || c === "}")) open--
  }
  return deepest
}

/** What is no object goes inside one: of two large providers one rejects a text here, and the other drops it. */
const parsed = (text: string): unknown => {
  const value = Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))
  return Predicate.isRecord(value) && depth(text) <= maxDepth ? value : { unparsed_arguments: text }
}

const input = (args: string, { verbatimArguments = false }: Options): unknown => {
  if (args.trim() === "") return verbatimArguments ? "{}" : {}
  return verbatimArguments ? args : parsed(args)
}

const outputType = (outcome: Message.Settlement): "text" | "error-text" =>
  outcome === "ran-ok" || outcome === "absent" ? "text" : "error-text"

const isOptions = (value: unknown): value is SharedV3ProviderOptions =>
  Predicate.isRecord(value) && Object.values(value).every(Predicate.isRecord)

const sealed = (opaque: unknown) => (isOptions(opaque) ? { providerOptions: opaque } : {})

const toMessage = (message: Message.Message, options: Options): AiSdkModel.Message => {
  switch (message.role) {
    case "user":
      return { role: "user", content: [{ type: "text", text: message.content }] }
    case "assistant": {
      const toCall = ({ args, toolCallId, toolName }: Message.ToolCall): LanguageModelV3ToolCallPart => ({
        type: "tool-call",
        toolCallId,
        toolName,
        input: input(args, options)
      })
      const { content, toolCalls } = message
      if (message.sealed?.provider === options.provider) {
        const parts = Seal.parts(message.sealed, content, toolCalls)
        return {
          role: "assistant",
          content: parts.map((part) =>
            part.kind === "call"
              ? { ...toCall(part.call), ...sealed(part.opaque) }
              : { type: part.kind, text: part.text, ...sealed(part.opaque) }
          )
        }
      }
      const calls = toolCalls.map(toCall)
      return { role: "assistant", content: content === "" ? calls : [{ type: "text", text: content }, ...calls] }
    }
    case "tool": {
      const { content, outcome, toolCallId, toolName } = message
      const output = { type: outputType(outcome), value: content }
      return { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] }
    }
  }
}

const isSchema = (schema: unknown): schema is LanguageModelV3FunctionTool["inputSchema"] => Predicate.isRecord(schema)

const toTool = ({ tool }: Wire.ToolPiece): LanguageModelV3FunctionTool => ({
  type: "function",
  name: tool.name,
  ...(tool.description === undefined ? {} : { description: tool.description }),
  inputSchema: isSchema(tool.schema) ? tool.schema : {}
})

/** `convert`, asked once for each key. */
const kept = <K extends object, V>(convert: (key: K) => V): ((key: K) => V) => {
  const values = new WeakMap<K, V>()
  return (key) => {
    const value = values.get(key) ?? convert(key)
    values.set(key, value)
    return value
  }
}

/** A converter of wires. */
export const make = (options: Options): ((wire: Wire.Wire) => AiSdkModel.Call) => {
  const message = kept((piece: Wire.MessagePiece) => toMessage(piece.message, options))
  const tools = kept((pieces: ReadonlyArray<Wire.ToolPiece>) => pieces.map(toTool))
  const render = AiSdkPrefix.make(options)
  return (wire) => {
    const { answerSchema, stopSequences, ...parameters } = wire.parameters
    const sent = render(wire, wire.messages.map(message), tools(wire.tools))
    return {
      prompt: sent.prompt,
      ...parameters,
      ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
      ...(isSchema(answerSchema) ? { responseFormat: { type: "json", schema: answerSchema, name: "answer" } } : {}),
      ...(wire.tools.length === 0 ? {} : { tools: sent.tools }),
      ...(options.providerOptions === undefined ? {} : { providerOptions: options.providerOptions })
    }
  }
}
