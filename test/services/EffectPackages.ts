import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as OpenAiClient from "@effect/ai-openai/OpenAiClient"
import * as OpenAiLanguageModel from "@effect/ai-openai/OpenAiLanguageModel"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { Layer, Predicate, Redacted } from "effect"
import type * as Usage from "../../src/kernel/Usage.ts"
import * as Dialects from "./Dialects.ts"
import type { Handler } from "./ModelServer.ts"

export type Fields = { readonly [key: string]: unknown }

export const list = (value: unknown): ReadonlyArray<Fields> => (Array.isArray(value) ? value : [])
export const inside = (value: unknown): Fields => (Predicate.isRecord(value) ? { ...value } : {})
const typeOf = ({ type }: Fields): string => (typeof type === "string" ? type : "")

const item = (given: Fields): Fields =>
  typeOf(given) === "message"
    ? { ...given, content: list(given["content"]).map((part) => ({ ...part, logprobs: [] })) }
    : given

/** An event with the fields that OpenAI's package wants of it, beside those that a reader needs. */
const filled = (event: Fields, sequence_number: number): Fields => {
  const response = inside(event["response"])
  const tokens = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }
  const whole = {
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    top_p: 1,
    tool_choice: "auto",
    tools: [],
    ...response,
    ...("output" in response ? { output: list(response["output"]).map(item) } : {}),
    ...("usage" in response ? { usage: { ...tokens, total_tokens: 0, ...inside(response["usage"]) } } : {})
  }
  const type = typeOf(event)
  return {
    ...event,
    sequence_number,
    ...(type.includes("delta") ? { logprobs: [] } : {}),
    ...(type.includes("summary_part") ? { part: { type: "summary_text", text: "" } } : {}),
    ...("item" in event ? { item: item(inside(event["item"])) } : {}),
    ...("response" in event ? { response: whole } : {})
  }
}

export const apiKey = Redacted.make(Dialects.canary)

export interface Package {
  readonly name: string
  readonly dialect: Dialects.Dialect
  readonly events: (said: Dialects.Said) => ReadonlyArray<Fields>
  readonly model: (url: string) => Layer.Layer<LanguageModel.LanguageModel>
  readonly usage: Usage.Usage
  /** What of the request goes back to the provider. */
  readonly seal: string
}

const streamOf = (dialect: Dialects.Dialect, said: Dialects.Said): ReadonlyArray<Fields> => {
  const { end, said: before } = dialect.events(said)
  return [...before, ...end].map(inside)
}

export const packages: ReadonlyArray<Package> = [
  {
    name: "@effect/ai-anthropic",
    dialect: Dialects.anthropic,
    events: (said) => streamOf(Dialects.anthropic, said),
    model: (url) =>
      AnthropicLanguageModel.layer({ model: "claude-sonnet-4-20250514" }).pipe(
        Layer.provide(AnthropicClient.layer({ apiKey, apiUrl: url.replace(/\/v1$/, "") })),
        Layer.provide(FetchHttpClient.layer)
      ),
    usage: {
      inputTokens: 20,
      cacheReadTokens: 10,
      cacheWriteTokens: 5,
      outputTokens: 9,
      unknown: { reasoningTokens: "uncounted" }
    },
    seal: "sig-1"
  },
  {
    name: "@effect/ai-openai",
    dialect: Dialects.responses,
    events: (said) => streamOf(Dialects.responses, said).map(filled),
    model: (url) =>
      OpenAiLanguageModel.layer({ model: "gpt-5", config: { strict: false } }).pipe(
        Layer.provide(OpenAiClient.layer({ apiKey, apiUrl: url })),
        Layer.provide(FetchHttpClient.layer)
      ),
    // The package has no word for what was written to the cache, so that it is part of what it calls the input.
    usage: {
      inputTokens: 25,
      cacheReadTokens: 10,
      outputTokens: 9,
      reasoningTokens: 4,
      unknown: { cacheWriteTokens: "uncounted" }
    },
    seal: "rs_1"
  }
]

export const frame = (event: Fields) => `event: ${typeOf(event)}\ndata: ${JSON.stringify(event)}\n\n`

export const stream =
  (events: ReadonlyArray<Fields>): Handler =>
  ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events.map(frame).join(""))
  }

/** Each event in a write of its own, as a server sends them. */
export const slowly =
  (events: ReadonlyArray<Fields>): Handler =>
  async ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const event of events) {
      response.write(frame(event))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    response.end()
  }

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))
  }
