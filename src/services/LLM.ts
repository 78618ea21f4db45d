/**
 * An `LLM` is a model that reads a wire and streams a reply. This is the whole of what programs ask of one.
 *
 * @since 0.1.0
 */
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import type * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as AnthropicLLM from "./AnthropicLLM.ts"
import * as Instant from "./Instant.ts"
import { type Draft, emptyDraft, finish, type Reply, overlong, step } from "./LLMDraft.ts"
import type { LLMError } from "./LLMError.ts"
import type * as LanguageModelLLM from "./LanguageModelLLM.ts"
import type * as CassetteLLM from "./CassetteLLM.ts"
import type * as OpenAiLLM from "./OpenAiLLM.ts"
import type * as OpenAiCompatibleLLM from "./OpenAiCompatibleLLM.ts"
import * as Retry from "./Retry.ts"
import * as ScriptedLLM from "./ScriptedLLM.ts"

export { emptyDraft, finish, step } from "./LLMDraft.ts"
export type { Draft, Reply } from "./LLMDraft.ts"
export { failure, LLMError } from "./LLMError.ts"
export type { Details, Reason } from "./LLMError.ts"
export type { Mode as CassetteMode, Recording as CassetteRecording, Replay as CassetteReplay } from "./CassetteLLM.ts"
export type { Options as AnthropicOptions } from "./AnthropicLLM.ts"
export type { Options as LanguageModelOptions } from "./LanguageModelLLM.ts"
export type { Options as OpenAiOptions } from "./OpenAiLLM.ts"
export type { Policy as RetryPolicy } from "./Retry.ts"
export { retrying, standard as standardRetry } from "./Retry.ts"
export type { Options as OpenAiCompatibleOptions } from "./OpenAiCompatibleLLM.ts"
export type { Call, Chooser, Fault, Line, Options as ScriptedOptions, Step, Steps } from "./ScriptedLLM.ts"
export { byPass, call, fail, say, Script, ScriptIncomplete, together } from "./ScriptedLLM.ts"

/** A model that is asked: who has it, and its name there. */
export interface Asked {
  readonly provider: string
  readonly id: string
}

/**
 * A piece of a reply, as it arrives. Text comes in deltas; a call comes whole, its arguments as the model wrote them, once
 * they are at their end; `cut` ones never came to it. `opaque` is JSON that only the provider can read.
 */
export type Part =
  | { readonly _tag: "Text"; readonly delta: string }
  | { readonly _tag: "Reasoning"; readonly delta: string }
  /** Ends a block of text or of reasoning, which its provider wants back with what it gave for it, if it gave something. */
  | { readonly _tag: "Sealed"; readonly kind: "text" | "reasoning"; readonly opaque?: unknown }
  | {
      readonly _tag: "ToolCall"
      readonly toolCallId: string
      readonly toolName: string
      readonly args: string
      readonly cut?: true
      readonly opaque?: unknown
    }
  /** What the call has taken so far, in place of what an earlier one of these said. */
  | { readonly _tag: "Usage"; readonly usage: Usage.Usage }
  /**
   * An attempt failed, what came before is void, and the call is made again after `delayMs`: of `next`, if that is another
   * model. `partialChars` and `usage` are of the attempt.
   */
  | {
      readonly _tag: "Retried"
      readonly error: LLMError
      readonly delayMs: number
      readonly next?: Asked
      readonly partialChars?: number
      readonly usage?: Usage.Usage
    }
  | {
      readonly _tag: "Finish"
      readonly stopReason: Event.StopReason
      /** Absent counts were not reported. */
      readonly usage: Usage.Usage
      /** The model that answered, if the provider says so. */
      readonly model?: string
      /** Who answered, if not who was asked first. */
      readonly by?: Asked
      /** Who is sent again what it sealed. Without it, nobody is. */
      readonly provider?: string
      /** The tools in the request's body as it was sent, read back from it; absent if it could not be. */
      readonly toolNames?: ReadonlyArray<string>
    }

export class LLM extends Context.Tag("wherefore/services/LLM")<
  LLM,
  {
    /** Ends in exactly one `Finish`, or fails. Interrupting it ends the request. */
    readonly stream: (wire: Wire.Wire) => Stream.Stream<Part, LLMError>
    /** Who answers, for the record. */
    readonly model?: Asked
    /** `json`: a wire with `parameters.answerSchema` is answered in JSON of it, by the provider's own means. */
    readonly answers?: "json"
  }
>() {}

type OnChunk<E, R> = (parts: Chunk.Chunk<Part>, draft: Draft) => Effect.Effect<unknown, E, R>
type See<E, R> = (parts: Chunk.Chunk<Part>) => Effect.Effect<unknown, E, R>

/** Pulled by hand: the runners of `Stream` cost more before the first chunk. */
const pulled = <E, R>(
  stream: Stream.Stream<Part, LLMError>,
  onChunk: See<E, R>
): Effect.Effect<void, LLMError | E, R> =>
  Effect.scopedWith((scope) =>
    Effect.flatMap(Scope.extend(Stream.toPull(stream), scope), (pull) => {
      const loop: Effect.Effect<void, LLMError | E, R> = Effect.matchEffect(pull, {
        onSuccess: (parts) => Effect.zipRight(onChunk(parts), loop),
        onFailure: Option.match({ onNone: () => Effect.void, onSome: (error) => Effect.fail(error) })
      })
      return loop
    })
  )

const given = <E, R>(
  { delay, error, parts }: Instant.Given,
  onChunk: See<E, R>
): Effect.Effect<unknown, LLMError | E, R> => {
  const seen = parts.length === 0 ? Effect.void : onChunk(Chunk.unsafeFromArray(parts))
  const ended = error === undefined ? seen : Effect.zipRight(seen, Effect.fail(error))
  return delay === undefined ? ended : Effect.zipRight(Effect.sleep(delay), ended)
}

/**
 * The reply that a stream folds to. `onChunk` sees the parts as they arrive, in the chunks in which they arrive, and the
 * draft with them.
 */
export const collect = <E = never, R = never>(
  stream: Stream.Stream<Part, LLMError>,
  onChunk?: OnChunk<E, R>
): Effect.Effect<Reply, LLMError | E, R> =>
  Effect.suspend(() => {
    let draft = emptyDraft
    const see: See<LLMError | E, R> = (parts) => {
      for (const part of parts) draft = step(draft, part)
      const seen = onChunk === undefined ? Effect.void : onChunk(parts, draft)
      const error = draft.finish === undefined ? overlong(draft) : undefined
      return error === undefined ? seen : Effect.zipRight(seen, Effect.fail(error))
    }
    const read = Instant.find(stream)
    return Effect.flatMap(read === undefined ? pulled(stream, see) : given(read(), see), () => finish(draft))
  })

/** Asks the model and waits for the whole reply. */
export const reply = (wire: Wire.Wire): Effect.Effect<Reply, LLMError, LLM> =>
  Effect.flatMap(LLM, (llm) => collect(llm.stream(wire)))

/**
 * Answers from a script. A list is read from its start; `byPass` and functions answer by the wire, so that a run that is
 * resumed elsewhere goes on where it was. Asking for what the script does not have is an error.
 */
export const layerScripted = (
  script: ScriptedLLM.Steps,
  options?: ScriptedLLM.Options
): Layer.Layer<LLM | ScriptedLLM.Script> =>
  Layer.effectContext(
    Effect.map(ScriptedLLM.make(script, options), (made) =>
      Context.make(LLM, LLM.of(made.llm)).pipe(Context.add(ScriptedLLM.Script, made.script))
    )
  )

/** Plays replies back from a file, by the hash of the wire that they answer. A wire that it does not know is a `CassetteDrift`. */
export function layerCassette(options: CassetteLLM.Replay): Layer.Layer<LLM, LLMError, FileSystem.FileSystem>
/** Keeps the replies of `model` in a file, and plays them back: `record` asks each time, `auto` what is missing, `replay` never. */
export function layerCassette<E, R>(
  options: CassetteLLM.Recording<E, R>
): Layer.Layer<LLM, LLMError | E, FileSystem.FileSystem | Exclude<R, Scope.Scope>>
export function layerCassette<E, R>(
  options: CassetteLLM.Replay | CassetteLLM.Recording<E, R>
): Layer.Layer<LLM, LLMError | E, FileSystem.FileSystem | Exclude<R, Scope.Scope>> {
  return Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./CassetteLLM.ts")),
      ({ layer }) => layer(options)
    )
  )
}

/**
 * The script as a plain `LanguageModel` of `@effect/ai`, for programs that use one without an agent. A step that is a
 * function reads the prompt as a wire, whose pass is one more than the replies in it.
 */
export const layerScriptedLanguageModel = (
  script: ScriptedLLM.Steps,
  options?: ScriptedLLM.Options
): Layer.Layer<LanguageModel.LanguageModel | ScriptedLLM.Script> =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { LanguageModel } = yield* Effect.promise(() => import("@effect/ai/LanguageModel"))
      const scripted = yield* Effect.promise(() => import("./ScriptedLanguageModel.ts"))
      const made = yield* ScriptedLLM.make(script, options)
      const model = yield* scripted.make(made)
      return Context.make(LanguageModel, model).pipe(Context.add(ScriptedLLM.Script, made.script))
    })
  )

/**
 * Asks the first of these, each as often as the policy says, and after a failure the next. Not when the request itself was
 * rejected, unless `when` says so.
 */
export const layerFallback = <E, R>(
  layers: readonly [Layer.Layer<LLM, E, R>, ...ReadonlyArray<Layer.Layer<LLM, E, R>>],
  policy?: Retry.Policy,
  when: (error: LLMError) => boolean = Retry.isElsewhere
): Layer.Layer<LLM, E, R> =>
  Layer.scoped(
    LLM,
    Effect.map(
      Effect.forEach(layers, (layer) => Effect.map(Layer.build(layer), Context.get(LLM))),
      (services) => Retry.ordered(services, policy, when)
    )
  )

/**
 * Asks a model of Anthropic's. Needs the package `@ai-sdk/anthropic`, loaded when the layer is built; the key is read from
 * `ANTHROPIC_API_KEY` if none is given.
 */
export const layerAnthropic = (options: AnthropicLLM.Options): Layer.Layer<LLM, LLMError> =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./AnthropicLLM.ts")),
      ({ layer }) => layer(options)
    )
  )

/**
 * Asks a model of OpenAI's, and has nothing kept there. Needs the package `@ai-sdk/openai`, loaded when the layer is
 * built; the key is read from `OPENAI_API_KEY` if none is given.
 */
export const layerOpenAi = (options: OpenAiLLM.Options): Layer.Layer<LLM, LLMError> =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./OpenAiLLM.ts")),
      ({ layer }) => layer(options)
    )
  )

/**
 * Asks the `LanguageModel` of `@effect/ai` that the application has. A run needs no more of it than text, tools and how it
 * ends; what its packages lose or leak on the way is made good or told as an error. Its replies are streamed, and arguments
 * are as they were written. What comes after a call of a tool that is not there, or after arguments that are no JSON, is lost:
 * the packages end a reply there. Over `FetchHttpClient` no redirect is followed, and an error or a page with status 200 is
 * kept as `error.body`; another client follows redirects as it was told to, and keeps no such body.
 */
export const layerLanguageModel = (
  options?: LanguageModelLLM.Options
): Layer.Layer<LLM, never, LanguageModel.LanguageModel> =>
  Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./LanguageModelLLM.ts")),
      ({ layer }) => layer(options)
    )
  )

const openAiCompatible = Effect.promise(() => import("./OpenAiCompatibleLLM.ts"))

/**
 * Asks a server that speaks the chat-completions protocol. `url` is its base, ending in `/v1` for most. Needs the
 * package `@ai-sdk/openai-compatible`, loaded when the layer is built.
 */
export const layerOpenAiCompatible = (options: OpenAiCompatibleLLM.Options): Layer.Layer<LLM, LLMError> =>
  Layer.unwrapEffect(Effect.map(openAiCompatible, ({ layer }) => layer(options)))

/**
 * As `layerOpenAiCompatible`, from the environment: `WHEREFORE_MODEL_URL`, `WHEREFORE_MODEL` and, if the server wants
 * one, `WHEREFORE_API_KEY`.
 */
export const layerConfig: Layer.Layer<LLM, LLMError> = Layer.unwrapEffect(
  Effect.map(openAiCompatible, ({ layerConfig }) => layerConfig)
)
