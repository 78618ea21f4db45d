/**
 * An `AiSdkLLM` is a model behind the provider interface of the AI SDK, for which some forty packages exist. Nothing else
 * of that SDK is used.
 *
 * @since 0.1.0
 */
import type { LanguageModelV3, LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as AiSdkError from "./AiSdkError.ts"
import * as AiSdkPrompt from "./AiSdkPrompt.ts"
import * as LLM from "./LLM.ts"
import type { LLMError } from "./LLMError.ts"
import * as SentTools from "./SentTools.ts"

export interface Options extends AiSdkPrompt.Options {
  /** Values that no error may repeat: the key that the model was made with, for one. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
  /** `json`: the model takes the schema of an answer itself. Otherwise answers by a schema come by a call of a tool. */
  readonly answers?: "json"
}

/** What is asked of a provider's model. Parts of a kind that is not known here are passed over. */
export type Model = Pick<LanguageModelV3, "provider" | "modelId" | "doStream">

const count = (tokens: number | undefined): number | undefined =>
  tokens !== undefined && Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined

/** What was reported, and nothing else: some packages report a zero for what they were not told. */
const toUsage = ({ inputTokens, outputTokens }: LanguageModelV3Usage): Usage.Usage => {
  const cacheRead = count(inputTokens.cacheRead)
  const cacheWrite = count(inputTokens.cacheWrite)
  const total = count(inputTokens.total)
  const uncached = total === undefined ? undefined : count(total - (cacheRead ?? 0) - (cacheWrite ?? 0))
  const input = count(inputTokens.noCache) ?? uncached
  const output = count(outputTokens.total)
  const reasoning = count(outputTokens.reasoning)
  return {
    ...(input === undefined ? {} : { inputTokens: input }),
    ...(cacheRead === undefined ? {} : { cacheReadTokens: cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWriteTokens: cacheWrite }),
    ...(output === undefined ? {} : { outputTokens: output }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning })
  }
}

/** Some parts of ours, and how the reply ended if it did. */
interface Read {
  readonly parts: Array<LLM.Part>
  readonly end?: "finished" | LLMError
}

/** Reads foreign parts into ours; keeps the model's name for the finish. */
const reader = (refail: (error: unknown) => LLMError, toolNames: ReadonlyArray<string> | undefined) => {
  let model: string | undefined
  return (foreign: Iterable<LanguageModelV3StreamPart>): Read => {
    const parts: Array<LLM.Part> = []
    for (const part of foreign) {
      switch (part.type) {
        case "text-delta":
          if (part.delta !== "") parts.push({ _tag: "Text", delta: part.delta })
          break
        case "reasoning-delta":
          if (part.delta !== "") parts.push({ _tag: "Reasoning", delta: part.delta })
          break
        case "tool-call": {
          const { input, providerExecuted, toolCallId, toolName } = part
          if (providerExecuted !== true) parts.push({ _tag: "ToolCall", toolCallId, toolName, args: input })
          break
        }
        case "response-metadata":
          model = part.modelId ?? model
          break
        case "error":
          return { parts, end: refail(part.error) }
        case "finish": {
          const { finishReason, usage } = part
          if (finishReason.unified === "error") return { parts, end: refail({ type: finishReason.raw ?? "" }) }
          parts.push({
            _tag: "Finish",
            stopReason: finishReason.unified,
            usage: toUsage(usage),
            ...(model === undefined ? {} : { model }),
            ...(toolNames === undefined ? {} : { toolNames })
          })
          return { parts, end: "finished" }
        }
      }
    }
    return { parts }
  }
}

/** How many parts may wait unread before the provider is no longer asked for more. */
const maxWaiting = 1_024

/**
 * A queue that is filled from a `ReadableStream` and taken whole: what one packet from the network held is one chunk.
 * Takes fail with what `refail` makes of the stream's error, and with nothing at its end.
 */
const pump = <A>(source: ReadableStream<A>, refail: (error: unknown) => LLMError) => {
  const reader = source.getReader()
  let waiting: Array<A> = []
  let end: Option.Option<LLMError> | undefined
  let reading = false
  let wake: (() => void) | undefined

  const next = (): void => {
    if (reading || end !== undefined || waiting.length >= maxWaiting) return
    reading = true
    reader.read().then(
      ({ done, value }) => {
        reading = false
        if (done) end = Option.none()
        else waiting.push(value)
        wake?.()
        next()
      },
      (error: unknown) => {
        reading = false
        end = Option.some(refail(error))
        wake?.()
      }
    )
  }

  const take: Effect.Effect<ReadonlyArray<A>, Option.Option<LLMError>> = Effect.async((resume) => {
    const give = (): void => {
      if (waiting.length === 0) return resume(Effect.fail(end ?? Option.none()))
      const parts = waiting
      waiting = []
      next()
      resume(Effect.succeed(parts))
    }
    if (waiting.length > 0 || end !== undefined) return give()
    // Woken once the packet is read to its end, not at its first part.
    wake = () => {
      wake = undefined
      setImmediate(give)
    }
    next()
    return Effect.sync(() => {
      wake = undefined
    })
  })

  // Not waited for: the source may never answer.
  const cancel = Effect.sync(() => {
    reader.cancel().then(
      () => undefined,
      () => undefined
    )
  })
  return { take, cancel }
}

/** The parts of one call. Leaving the stream early aborts the request. */
const call = (
  model: Model,
  options: ReturnType<ReturnType<typeof AiSdkPrompt.make>>,
  secrets: ReadonlyArray<string>
): Effect.Effect<Stream.Stream<LLM.Part, LLMError>, LLMError, Scope.Scope> =>
  Effect.gen(function* () {
    const { modelId, provider } = model
    const refail = (phase: AiSdkError.Phase) => (error: unknown) =>
      AiSdkError.toLLMError(error, { provider, modelId, phase, secrets })
    const abort = yield* Effect.acquireRelease(
      Effect.sync(() => new AbortController()),
      (controller) => Effect.sync(() => controller.abort())
    )
    const { request, stream } = yield* Effect.tryPromise({
      try: () => model.doStream({ ...options, abortSignal: abort.signal }),
      catch: refail("request")
    })
    const { take } = yield* Effect.acquireRelease(
      Effect.sync(() => pump(stream, refail("stream"))),
      ({ cancel }) => cancel
    )
    const read = reader(refail("stream"), SentTools.read(request?.body))
    let over: Option.Option<LLMError> | undefined
    return Stream.repeatEffectChunkOption(
      Effect.suspend(() => {
        if (over !== undefined) return Effect.fail(over)
        return Effect.map(take, (foreign) => {
          const { end, parts } = read(foreign)
          if (end !== undefined) over = end === "finished" ? Option.none() : Option.some(end)
          return Chunk.unsafeFromArray(parts)
        })
      })
    )
  })

/** The service over a model, for those who build a layer of their own. */
export const make = (model: Model, options: Options = {}): typeof LLM.LLM.Service => {
  const convert = AiSdkPrompt.make(options)
  const secrets = (options.secrets ?? []).map((secret) => Redacted.value(secret))
  return LLM.LLM.of({
    model: { provider: model.provider, id: model.modelId },
    ...(options.answers === undefined ? {} : { answers: options.answers }),
    stream: (wire: Wire.Wire) => Stream.unwrapScoped(Effect.suspend(() => call(model, convert(wire), secrets)))
  })
}

/** Asks a model of any provider package that implements the AI SDK's `LanguageModelV3`. */
export const layer = (model: Model, options?: Options): Layer.Layer<LLM.LLM> =>
  Layer.sync(LLM.LLM, () => make(model, options))
