/**
 * An `AiSdkModel` is what is asked of a provider package of the AI SDK: the part of `LanguageModelV3` and of
 * `LanguageModelV4` that both have.
 *
 * @internal
 */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Content,
  LanguageModelV3FunctionTool,
  LanguageModelV3ReasoningPart,
  LanguageModelV3StreamPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  SharedV3ProviderOptions
} from "@ai-sdk/provider"

/** What a tool gave, as text. */
export interface ToolResultPart {
  type: "tool-result"
  toolCallId: string
  toolName: string
  output: { type: "text" | "error-text"; value: string }
}

interface Optional {
  providerOptions?: SharedV3ProviderOptions
}

type Said =
  | { role: "system"; content: string }
  | { role: "user"; content: Array<LanguageModelV3TextPart> }
  | {
      role: "assistant"
      content: Array<LanguageModelV3TextPart | LanguageModelV3ReasoningPart | LanguageModelV3ToolCallPart>
    }
  | { role: "tool"; content: Array<ToolResultPart> }

export type Message = Said & Optional

/** A request. */
export interface Call extends Omit<LanguageModelV3CallOptions, "prompt" | "tools"> {
  prompt: Array<Message>
  tools?: Array<LanguageModelV3FunctionTool>
}

/** A part of a stream, or of a whole reply, of which only the kind is sure. */
export interface Foreign {
  readonly type: string
}

interface Sent {
  readonly body?: unknown
}

/** What a package says of the tokens that a call took. `raw` is what the API said. */
export interface Usage {
  readonly inputTokens: {
    readonly total: number | undefined
    readonly noCache: number | undefined
    readonly cacheRead: number | undefined
    readonly cacheWrite: number | undefined
  }
  readonly outputTokens: { readonly total: number | undefined; readonly reasoning: number | undefined }
  readonly raw?: unknown
}

/** A model of a provider package. `doGenerate` is asked for only where replies are not streamed. */
export interface Model {
  readonly provider: string
  readonly modelId: string
  doStream(call: Call): PromiseLike<{ readonly stream: ReadableStream<Foreign>; readonly request?: Sent }>
  doGenerate?(call: Call): PromiseLike<{
    readonly content: ReadonlyArray<Foreign>
    readonly finishReason: { readonly unified: string; readonly raw: string | undefined }
    readonly usage: Usage
    readonly request?: Sent
    readonly response?: { readonly modelId?: string }
  }>
}

const read = [
  "text-start",
  "text-delta",
  "text-end",
  "reasoning-start",
  "reasoning-delta",
  "reasoning-end",
  "tool-input-start",
  "tool-input-delta",
  "tool-input-end",
  "tool-call",
  "response-metadata",
  "raw",
  "error",
  "finish"
] as const
type Read = (typeof read)[number]

/** A part of a stream that is read. Both versions of the interface write these alike. */
export type Part = Extract<LanguageModelV3StreamPart, { type: Read }>

const reads: ReadonlySet<string> = new Set(read)

export const isPart = (part: Foreign): part is Part => reads.has(part.type)

/** A part of a whole reply that is read. */
export type Content = Extract<LanguageModelV3Content, { type: "text" | "reasoning" | "tool-call" }>

export const isContent = (part: Foreign): part is Content =>
  part.type === "text" || part.type === "reasoning" || part.type === "tool-call"
