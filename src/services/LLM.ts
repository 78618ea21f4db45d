/**
 * An `LLM` is a model that reads a wire and streams a reply. This is the whole of what programs ask of one.
 *
 * @since 0.1.0
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import type * as Message from "../kernel/Message.ts"
import * as Printable from "../kernel/Printable.ts"
import type * as Seal from "../kernel/Seal.ts"
import type * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as AnthropicLLM from "./AnthropicLLM.ts"
import * as Instant from "./Instant.ts"
import { failure, type LLMError } from "./LLMError.ts"
import type * as CassetteLLM from "./CassetteLLM.ts"
import type * as OpenAiLLM from "./OpenAiLLM.ts"
import type * as OpenAiCompatibleLLM from "./OpenAiCompatibleLLM.ts"
import * as Retry from "./Retry.ts"
import * as ScriptedLLM from "./ScriptedLLM.ts"

export { failure, LLMError } from "./LLMError.ts"
export type { Details, Reason } from "./LLMError.ts"
export type { Mode as CassetteMode, Recording as CassetteRecording, Replay as CassetteReplay } from "./CassetteLLM.ts"
export type { Options as AnthropicOptions } from "./AnthropicLLM.ts"
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

/** A whole reply: the fold of its parts. */
export interface Reply {
  readonly content: string
  readonly reasoning?: string
  readonly toolCalls: ReadonlyArray<Omit<Message.ToolCall, "duplicateOf">>
  readonly stopReason: Event.StopReason
  readonly usage: Usage.Usage
  /** What the provider wants back with the reply. */
  readonly seal?: Seal.Seal
  /** Who answered, if not who was asked first. */
  readonly by?: Asked
  readonly model?: string
  readonly toolNames?: ReadonlyArray<string>
}

/** A reply that is still being written. `late` counts the parts that came after the first `Finish`. */
export interface Draft {
  readonly content: string
  readonly reasoning: string
  readonly toolCalls: Reply["toolCalls"]
  /** What was written before the block that is being written, in order. */
  readonly blocks: ReadonlyArray<Seal.Block>
  readonly open?: { readonly kind: "text" | "reasoning"; readonly chars: number }
  /** What the call is known to have taken, before its end or at it. */
  readonly usage?: Usage.Usage
  readonly finish?: Extract<Part, { readonly _tag: "Finish" }>
  readonly late: number
}

export const emptyDraft: Draft = { content: "", reasoning: "", toolCalls: [], blocks: [], late: 0 }

/** The blocks with the one that was being written. */
const closed = ({ blocks, open }: Draft): ReadonlyArray<Seal.Block> => (open === undefined ? blocks : [...blocks, open])

type Writing = Pick<Draft, "blocks" | "open">

const written = (draft: Draft, kind: "text" | "reasoning", chars: number): Writing => {
  const { blocks, open } = draft
  if (open?.kind === kind) return { blocks, open: { kind, chars: open.chars + chars } }
  return { blocks: closed(draft), open: { kind, chars } }
}

/** A seal belongs to the last block of its kind that has none; a block may be nothing but its seal. */
const sealed = (draft: Draft, { kind, opaque }: Part & { readonly _tag: "Sealed" }): ReadonlyArray<Seal.Block> => {
  const blocks = closed(draft)
  if (opaque === undefined) return blocks
  const at = blocks.findLastIndex((block) => block.kind === kind)
  const block = blocks[at]
  if (block === undefined || block.kind === "call" || block.opaque !== undefined) {
    return [...blocks, { kind, chars: 0, opaque }]
  }
  return blocks.with(at, { ...block, opaque })
}

/** The draft with one more part. */
export const step = (draft: Draft, part: Part): Draft => {
  if (draft.finish !== undefined) return { ...draft, late: draft.late + 1 }
  switch (part._tag) {
    case "Text":
      return { ...draft, content: draft.content + part.delta, ...written(draft, "text", part.delta.length) }
    case "Reasoning":
      return { ...draft, reasoning: draft.reasoning + part.delta, ...written(draft, "reasoning", part.delta.length) }
    case "Sealed": {
      const { open: _, ...rest } = draft
      return { ...rest, blocks: sealed(draft, part) }
    }
    case "ToolCall": {
      const { cut, opaque } = part
      const call = {
        toolCallId: Printable.wellFormed(part.toolCallId),
        toolName: Printable.wellFormed(part.toolName),
        args: Printable.wellFormed(part.args),
        ...(cut === undefined ? {} : { cut })
      }
      const { open: _, ...rest } = draft
      const block = { kind: "call", ...(opaque === undefined ? {} : { opaque }) } as const
      return { ...rest, toolCalls: [...draft.toolCalls, call], blocks: [...closed(draft), block] }
    }
    case "Usage":
      return { ...draft, usage: part.usage }
    case "Retried":
      return emptyDraft
    case "Finish":
      return { ...draft, finish: part, usage: part.usage }
  }
}

/** What a reply without text and without calls came to, if its stop reason says that it is no answer. */
const emptied = (stopReason: Event.StopReason): LLMError | undefined => {
  switch (stopReason) {
    case "stop":
      return undefined
    case "length":
      return failure("Rejected", {
        what: "The model used up its output tokens before it wrote anything.",
        next: "Raise maxOutputTokens, or shorten the conversation."
      })
    case "content-filter":
      return failure("Rejected", {
        what: "The provider's content filter withheld the whole reply.",
        next: "Change the wording of the request: the same one will be filtered again."
      })
    default:
      return failure("Protocol", { what: `The model stopped with "${stopReason}" and gave neither text nor a call.` })
  }
}

/** The reply that a draft came to. A draft without exactly one `Finish`, at its end, is none. */
export const finish = (draft: Draft): Either.Either<Reply, LLMError> => {
  const { content, finish, late, reasoning, toolCalls } = draft
  if (finish === undefined) {
    return Either.left(
      failure("Protocol", {
        what: "The stream ended without a finish.",
        expected: "one Finish part at the end",
        found: `none after ${content.length} characters of text and ${toolCalls.length} calls`
      })
    )
  }
  if (late > 0) {
    return Either.left(
      failure("Protocol", {
        what: "The stream went on after its finish.",
        expected: "one Finish part at the end",
        found: `${late} more parts`
      })
    )
  }
  const { by, model, provider, stopReason, toolNames, usage } = finish
  const blocks = closed(draft)
  const isSealed = provider !== undefined && blocks.some(({ opaque }) => opaque !== undefined)
  const nothing = toolCalls.length === 0 && content.trim() === "" ? emptied(stopReason) : undefined
  if (nothing !== undefined) return Either.left(nothing)
  return Either.right({
    content: Printable.wellFormed(content),
    ...(reasoning === "" ? {} : { reasoning: Printable.wellFormed(reasoning) }),
    toolCalls,
    stopReason,
    usage,
    ...(isSealed ? { seal: { provider, blocks } } : {}),
    ...(by === undefined ? {} : { by }),
    ...(model === undefined ? {} : { model }),
    ...(toolNames === undefined ? {} : { toolNames: toolNames.map(Printable.wellFormed) })
  })
}

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
    const see: See<E, R> = (parts) => {
      for (const part of parts) draft = step(draft, part)
      return onChunk === undefined ? Effect.void : onChunk(parts, draft)
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
