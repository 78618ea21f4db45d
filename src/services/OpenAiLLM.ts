/**
 * An `OpenAiLLM` is a model of OpenAI's, by its Responses API or by chat completions.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import * as AiSdkLLM from "./AiSdkLLM.ts"
import * as ChatFilter from "./ChatFilter.ts"
import * as Endpoint from "./Endpoint.ts"
import * as LLM from "./LLM.ts"
import type { LLMError } from "./LLMError.ts"
import * as OpenAiFilter from "./OpenAiFilter.ts"
import * as ProviderFetch from "./ProviderFetch.ts"
import * as ProviderUsage from "./ProviderUsage.ts"
import * as ReplyFilter from "./ReplyFilter.ts"

export interface Options extends Pick<
  AiSdkLLM.Options,
  "answers" | "cache" | "providerOptions" | "streamed" | "timeouts"
> {
  readonly model: string
  /** `responses` if absent. */
  readonly api?: "responses" | "chat"
  /** Read from `OPENAI_API_KEY` if absent. */
  readonly apiKey?: Redacted.Redacted
  /** The base of the server's paths; OpenAI's own if absent. */
  readonly url?: string
  /** Sent with every request. A value that is secret is given as `Redacted`, and no error repeats any of them. */
  readonly headers?: { readonly [name: string]: string | Redacted.Redacted }
}

const load = Endpoint.load("@ai-sdk/openai", 3, () => import("@ai-sdk/openai"))

/**
 * Nothing is kept by the provider: what it wants back is in the record, encrypted, so that a request holds all that the
 * model is sent. The schema of an answer is taken as it is, optional properties too.
 */
const defaults = { store: false, strictJsonSchema: false }

export const layer = (
  given: Options,
  fetch: typeof globalThis.fetch = globalThis.fetch
): Layer.Layer<LLM.LLM, LLMError> =>
  Layer.effect(
    LLM.LLM,
    Effect.gen(function* () {
      const { api = "responses", headers = {}, model, providerOptions = {}, url = "https://api.openai.com/v1" } = given
      const apiKey = yield* Endpoint.key(given.apiKey, "OPENAI_API_KEY")
      const endpoint = yield* Endpoint.make({ url, apiKey, headers })
      const { createOpenAI } = yield* load
      const made = createOpenAI({
        baseURL: endpoint.url,
        apiKey: endpoint.key,
        headers: endpoint.headers,
        fetch: ReplyFilter.fetching(
          api === "chat" ? ChatFilter.filter : OpenAiFilter.filter,
          ProviderFetch.make(fetch, given.streamed === false ? "whole" : "stream")
        )
      })
      const options: AiSdkLLM.Options = {
        ...Struct.pick(given, "answers", "cache", "streamed", "timeouts"),
        secrets: endpoint.secrets,
        late: "system",
        verbatimArguments: true,
        providerOptions: { ...providerOptions, openai: { ...defaults, ...providerOptions["openai"] } }
      }
      return api === "chat"
        ? AiSdkLLM.read(made.chat(model), options, {
            usage: ProviderUsage.ofOpenAiChat,
            unspelled: ChatFilter.unspelled
          })
        : AiSdkLLM.read(made.responses(model), options, { usage: ProviderUsage.ofOpenAiResponses })
    })
  )
