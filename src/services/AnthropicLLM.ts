/**
 * An `AnthropicLLM` is a model of Anthropic's Messages API, or of a server that speaks it.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import type * as Usage from "../kernel/Usage.ts"
import * as AiSdkLLM from "./AiSdkLLM.ts"
import * as AnthropicFilter from "./AnthropicFilter.ts"
import * as Endpoint from "./Endpoint.ts"
import * as LLM from "./LLM.ts"
import type { LLMError } from "./LLMError.ts"
import * as ProviderFetch from "./ProviderFetch.ts"
import * as ProviderUsage from "./ProviderUsage.ts"
import * as ReplyFilter from "./ReplyFilter.ts"

export interface Options extends Pick<AiSdkLLM.Options, "answers" | "providerOptions" | "streamed" | "timeouts"> {
  readonly model: string
  /** Read from `ANTHROPIC_API_KEY` if absent. */
  readonly apiKey?: Redacted.Redacted
  /** The base of the server's paths, without `/messages`; Anthropic's own if absent. */
  readonly url?: string
  /** Sent with every request. A value that is secret is given as `Redacted`, and no error repeats any of them. */
  readonly headers?: { readonly [name: string]: string | Redacted.Redacted }
  /**
   * Three of the four cache marks that a request can have are ours: after what stays in every pass, and after the
   * conversation of this pass and of the one before. `false`: none is set, and notices stand in the system prompt.
   */
  readonly cache?: false
}

const load = Endpoint.load("@ai-sdk/anthropic", 3, () => import("@ai-sdk/anthropic"))

/** The input is told when a message starts, long before its end. */
const usageSoFar = (chunk: unknown): Usage.Usage | undefined => {
  if (!Predicate.isRecord(chunk) || chunk["type"] !== "message_start") return undefined
  const message = chunk["message"]
  return Predicate.isRecord(message) ? ProviderUsage.begun(ProviderUsage.ofAnthropic(message["usage"])) : undefined
}

export const layer = (
  given: Options,
  fetch: typeof globalThis.fetch = globalThis.fetch
): Layer.Layer<LLM.LLM, LLMError> =>
  Layer.effect(
    LLM.LLM,
    Effect.gen(function* () {
      const { headers = {}, model, url = "https://api.anthropic.com/v1" } = given
      const apiKey = yield* Endpoint.key(given.apiKey, "ANTHROPIC_API_KEY")
      const endpoint = yield* Endpoint.make({ url, apiKey, headers })
      const { createAnthropic } = yield* load
      const made = createAnthropic({
        baseURL: endpoint.url,
        apiKey: endpoint.key,
        headers: endpoint.headers,
        fetch: ReplyFilter.fetching(
          AnthropicFilter.make(given.answers),
          ProviderFetch.make(fetch, given.streamed === false ? "whole" : "stream")
        )
      })
      const options: AiSdkLLM.Options = {
        ...Struct.pick(given, "answers", "cache", "providerOptions", "streamed", "timeouts"),
        secrets: endpoint.secrets,
        late: "message",
        mark: { anthropic: { cacheControl: { type: "ephemeral" } } }
      }
      return AiSdkLLM.read(made(model), options, { usage: ProviderUsage.ofAnthropic, usageSoFar, isQuoted: true })
    })
  )
