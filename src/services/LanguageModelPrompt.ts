/**
 * A `LanguageModelPrompt` is a wire in the words of `@effect/ai`. Of each list of tools it is converted once.
 *
 * @internal
 */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import * as Tool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Wire from "../kernel/Wire.ts"
import type * as AiSdkModel from "./AiSdkModel.ts"
import * as AiSdkPrompt from "./AiSdkPrompt.ts"

type Tools = Record<string, Tool.Any>

type Assistant = Extract<AiSdkModel.Message, { role: "assistant" }>["content"][number]

const part = (given: Assistant): Prompt.AssistantMessagePartEncoded => {
  const options = given.providerOptions === undefined ? {} : { options: given.providerOptions }
  if (given.type !== "tool-call") return { type: given.type, text: given.text, ...options }
  const { input, toolCallId: id, toolName: name } = given
  return { type: "tool-call", id, name, params: input, providerExecuted: false, ...options }
}

/** Layers send results as JSON, so that a text which is JSON as they would write it arrives as it is. */
const result = (text: string): unknown => {
  const value = Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))
  return value !== undefined && JSON.stringify(value) === text ? value : text
}

/** Some layers take one system message: of several, the last replaces the others, mark and all. */
const oneSystem = (given: ReadonlyArray<AiSdkModel.Message>): ReadonlyArray<AiSdkModel.Message> => {
  const texts = given.flatMap((one) => (one.role === "system" ? [one.content] : []))
  const options = given.find(({ role }) => role === "system")?.providerOptions
  const rest = given.filter(({ role }) => role !== "system")
  if (texts.length === 0) return rest
  const marked = options === undefined ? {} : { providerOptions: options }
  return [{ role: "system", content: texts.join("\n\n"), ...marked }, ...rest]
}

const message = (given: AiSdkModel.Message): Prompt.MessageEncoded => {
  const options = given.providerOptions === undefined ? {} : { options: given.providerOptions }
  switch (given.role) {
    case "system":
      return { role: "system", content: given.content, ...options }
    case "user":
      return { role: "user", content: given.content.map(({ text }) => ({ type: "text", text })), ...options }
    case "assistant":
      return { role: "assistant", content: given.content.map(part), ...options }
    case "tool":
      return {
        role: "tool",
        ...options,
        content: given.content.map(({ output, toolCallId: id, toolName: name }) => ({
          type: "tool-result",
          id,
          name,
          isFailure: output.type === "error-text",
          result: result(output.value),
          providerExecuted: false
        }))
      }
  }
}

/** A tool whose arguments are whatever the model writes but nothing: they are judged here, and not by the layer. */
const tool = ({ tool: { description, name, schema } }: Wire.ToolPiece): Tool.Any => {
  const jsonSchema = Predicate.isRecord(schema) ? { ...schema } : {}
  return Tool.make(name, {
    ...(description === undefined ? {} : { description }),
    success: Schema.Unknown,
    failure: Schema.Unknown
  }).setParameters(Schema.Struct({}).annotations({ jsonSchema }))
}

const kitOf = (pieces: ReadonlyArray<Wire.ToolPiece>): Toolkit.WithHandler<Tools> => ({
  tools: Object.fromEntries(pieces.map((piece) => [piece.tool.name, tool(piece)])),
  handle: () => Effect.dieMessage("tools are run by the loop")
})

/** The name under which Anthropic's package reads its marks, and calls itself. */
const anthropic = "anthropic"

/** What the package of no known provider is sent has the form that all of them take, and marks for one that reads them. */
export const make = ({ cache, provider }: Pick<AiSdkPrompt.Options, "cache" | "provider">) => {
  const isKnown = provider === anthropic
  const convert = AiSdkPrompt.make({
    provider,
    late: isKnown ? "message" : "joined",
    mark: { [anthropic]: { cacheControl: { type: "ephemeral" } } },
    ...(cache === undefined ? {} : { cache })
  })
  const promptOf = (wire: Wire.Wire) => (isKnown ? convert(wire).prompt : oneSystem(convert(wire).prompt))
  const kits = new WeakMap<ReadonlyArray<Wire.ToolPiece>, Toolkit.WithHandler<Tools>>()
  return (wire: Wire.Wire): LanguageModel.GenerateTextOptions<Tools> => {
    const toolkit = kits.get(wire.tools) ?? kitOf(wire.tools)
    kits.set(wire.tools, toolkit)
    return {
      prompt: promptOf(wire).map(message),
      disableToolCallResolution: true,
      ...(wire.tools.length === 0 ? {} : { toolkit })
    }
  }
}
