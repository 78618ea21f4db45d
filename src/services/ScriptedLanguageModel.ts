/**
 * A `ScriptedLanguageModel` is a script as a plain `LanguageModel` of `@effect/ai`, so that any application that uses one
 * can be tested with it.
 *
 * @internal
 */
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Prompt from "@effect/ai/Prompt"
import type * as Response from "@effect/ai/Response"
import * as Tool from "@effect/ai/Tool"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Digest from "../kernel/Digest.ts"
import type * as Message from "../kernel/Message.ts"
import type * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as LLM from "./LLM.ts"
import type { LLMError } from "./LLMError.ts"
import type * as ScriptedLLM from "./ScriptedLLM.ts"

const module = "ScriptedLanguageModel"

const statuses: { readonly [reason: string]: number } = { Auth: 401, Limited: 429, Unavailable: 503, Rejected: 400 }

/** A failure as a provider's layer would tell it. */
const toAiError =
  (method: string) =>
  (error: LLMError): AiError.AiError => {
    const status = statuses[error.reason]
    const description = error.message
    if (status === undefined) return new AiError.UnknownError({ module, method, description, cause: error })
    const wait: Record<string, string> =
      typeof error.retry === "string" ? {} : { "retry-after-ms": String(error.retry.afterMs) }
    return new AiError.HttpResponseError({
      module,
      method,
      description,
      reason: "StatusCode",
      request: { method: "POST", url: "scripted:", urlParams: [], hash: Option.none(), headers: {} },
      response: { status, headers: wait }
    })
  }

const textOf = (content: ReadonlyArray<{ readonly type: string }>): string =>
  content
    .flatMap((part) => ("text" in part && part.type === "text" && typeof part.text === "string" ? [part.text] : []))
    .join("")

const said = (message: Prompt.Message): ReadonlyArray<Message.Message> => {
  switch (message.role) {
    case "system":
      return []
    case "user":
      return [{ role: "user", content: textOf(message.content) }]
    case "assistant": {
      const toolCalls = message.content.flatMap((part) =>
        part.type === "tool-call"
          ? [{ toolCallId: part.id, toolName: part.name, args: JSON.stringify(part.params) ?? "" }]
          : []
      )
      return [{ role: "assistant", content: textOf(message.content), toolCalls }]
    }
    case "tool":
      return message.content.map(({ id, isFailure, name, result }) => ({
        role: "tool",
        toolCallId: id,
        toolName: name,
        content: typeof result === "string" ? result : (JSON.stringify(result) ?? ""),
        outcome: isFailure ? "ran-error" : "ran-ok"
      }))
  }
}

const placed = (id: string, seq: number) => ({ id, seq, hash: Digest.of(id), cause: { by: "asked", seq } }) as const

/** What is asked, as a wire: a step that is a function reads it. The pass is one more than the replies so far. */
const wireOf = ({ prompt, tools }: LanguageModel.ProviderOptions): Wire.Wire => {
  const { content } = prompt
  return {
    iteration: 1 + content.filter(({ role }) => role === "assistant").length,
    system: content.flatMap((message, at) =>
      message.role === "system"
        ? [{ ...placed(`system:${at}`, at), origin: "app", slot: "system", text: message.content } as const]
        : []
    ),
    messages: content.flatMap(said).map(
      (message, at) =>
        ({
          ...placed(`message:${at}`, at),
          origin: message.role === "user" ? "person" : message.role === "tool" ? "tool" : "model",
          slot: "messages",
          message
        }) as const
    ),
    tools: tools.map((tool, at) => ({
      ...placed(`tool:${tool.name}`, at),
      origin: "app",
      slot: "tools",
      tool: {
        name: tool.name,
        ...(tool.description === undefined ? {} : { description: tool.description }),
        schema: { ...Tool.getJsonSchemaFromSchemaAst(tool.parametersSchema.ast) }
      }
    })),
    parameters: {}
  }
}

const usageOf = (usage: Usage.Usage) => {
  const { cacheReadTokens, cacheWriteTokens = 0, inputTokens, outputTokens, reasoningTokens } = usage
  const input = inputTokens === undefined ? undefined : inputTokens + (cacheReadTokens ?? 0) + cacheWriteTokens
  return {
    inputTokens: input,
    outputTokens,
    totalTokens: input === undefined || outputTokens === undefined ? undefined : input + outputTokens,
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(cacheReadTokens === undefined ? {} : { cachedInputTokens: cacheReadTokens })
  }
}

const paramsOf = (args: string): Either.Either<unknown, unknown> =>
  args.trim() === "" ? Either.right({}) : Either.try((): unknown => JSON.parse(args))

const malformed = (method: string, toolName: string) =>
  new AiError.MalformedOutput({ module, method, description: `The arguments of ${toolName} are no JSON.` })

const ended = ({ model, stopReason, usage }: LLM.Part & { readonly _tag: "Finish" }) =>
  [
    ...(model === undefined ? [] : [{ type: "response-metadata", modelId: model } as const]),
    { type: "finish", reason: stopReason, usage: usageOf(usage) }
  ] as const

type Written = Effect.Effect<ReadonlyArray<Response.StreamPartEncoded>, AiError.AiError>

/** The parts of a stream that a part of a script is. Arguments that broke off begin and never become a call. */
const streamed = (part: LLM.Part, isCut: boolean): Written => {
  switch (part._tag) {
    case "Text":
      return Effect.succeed([{ type: "text-delta", id: "text", delta: part.delta }])
    case "Reasoning":
      return Effect.succeed([{ type: "reasoning-delta", id: "reasoning", delta: part.delta }])
    case "ToolCall": {
      const { args, toolCallId: id, toolName: name } = part
      const begun = [
        { type: "tool-params-start", id, name },
        { type: "tool-params-delta", id, delta: args }
      ] as const
      return Either.match(paramsOf(args), {
        onLeft: () => (isCut ? Effect.succeed(begun) : Effect.fail(malformed("streamText", name))),
        onRight: (params) =>
          Effect.succeed([...begun, { type: "tool-params-end", id }, { type: "tool-call", id, name, params }])
      })
    }
    case "Finish":
      return Effect.succeed(ended(part))
    default:
      return Effect.succeed([])
  }
}

const isCutBy = (parts: Chunk.Chunk<LLM.Part>): boolean =>
  Chunk.some(parts, (part) => part._tag === "Finish" && part.stopReason !== "tool-calls")

/** Arguments that are no JSON are begun before they fail the stream, as a provider's layer would have it. */
const chunked = (parts: Chunk.Chunk<LLM.Part>): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> =>
  Stream.flatMap(Stream.fromChunk(parts), (part) => {
    const whole = Stream.fromIterableEffect(streamed(part, isCutBy(parts)))
    if (part._tag !== "ToolCall" || Either.isRight(paramsOf(part.args)) || isCutBy(parts)) return whole
    return Stream.concat(Stream.fromIterableEffect(streamed(part, true)), whole)
  }).pipe(Stream.rechunk(Number.MAX_SAFE_INTEGER))

const whole = (reply: ReadonlyArray<LLM.Part>): Effect.Effect<Array<Response.PartEncoded>, AiError.AiError> =>
  Effect.map(
    Effect.forEach(reply, (part): Effect.Effect<ReadonlyArray<Response.PartEncoded>, AiError.AiError> => {
      switch (part._tag) {
        case "Text":
          return Effect.succeed([{ type: "text", text: part.delta }])
        case "Reasoning":
          return Effect.succeed([{ type: "reasoning", text: part.delta }])
        case "ToolCall": {
          const { args, toolCallId: id, toolName: name } = part
          return Either.match(paramsOf(args), {
            onLeft: () => Effect.fail(malformed("generateText", name)),
            onRight: (params) => Effect.succeed([{ type: "tool-call", id, name, params }])
          })
        }
        case "Finish":
          return Effect.succeed(ended(part))
        default:
          return Effect.succeed([])
      }
    }),
    (parts) => parts.flat()
  )

/** The model that answers from a script. */
export const make = ({ llm }: ScriptedLLM.Scripted): Effect.Effect<LanguageModel.Service> =>
  LanguageModel.make({
    generateText: (options) =>
      Stream.runCollect(llm.stream(wireOf(options))).pipe(
        Effect.mapError(toAiError("generateText")),
        Effect.flatMap((parts) => whole(Chunk.toReadonlyArray(parts)))
      ),
    streamText: (options) =>
      llm.stream(wireOf(options)).pipe(Stream.mapError(toAiError("streamText")), Stream.chunks, Stream.flatMap(chunked))
  })
