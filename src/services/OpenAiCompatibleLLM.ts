/**
 * An `OpenAiCompatibleLLM` is a server that speaks the chat-completions protocol: a hosted one, or llama.cpp, vLLM or
 * Ollama on the same machine.
 *
 * @internal
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Struct from "effect/Struct"
import * as AiSdkLLM from "./AiSdkLLM.ts"
import * as ChatFilter from "./ChatFilter.ts"
import * as Endpoint from "./Endpoint.ts"
import * as ProviderFetch from "./ProviderFetch.ts"
import * as ProviderUsage from "./ProviderUsage.ts"
import * as ReplyFilter from "./ReplyFilter.ts"
import * as LLM from "./LLM.ts"
import { failure, type LLMError } from "./LLMError.ts"

export interface Options extends Pick<AiSdkLLM.Options, "cache" | "providerOptions" | "streamed" | "timeouts"> {
  /** The base of the server's paths, without `/chat/completions`. */
  readonly url: string
  readonly model: string
  readonly apiKey?: Redacted.Redacted
  /** Sent with every request. A value that is secret is given as `Redacted`, and no error repeats any of them. */
  readonly headers?: { readonly [name: string]: string | Redacted.Redacted }
  /** Who answers, for the record; `openai-compatible` if absent. */
  readonly provider?: string
  /** `json`: the server takes `response_format` with a JSON Schema. Otherwise answers by a schema come by a call of a tool. */
  readonly answers?: "json"
}

const load = Endpoint.load("@ai-sdk/openai-compatible", 2, () => import("@ai-sdk/openai-compatible"))

/** A server that is told to counts as it goes. */
/** The schema of an answer is taken as it is: a strict server refuses one with a property that may be absent. */
const defaults = { strictJsonSchema: false }

const reading: AiSdkLLM.Reading = {
  usage: ProviderUsage.ofOpenAiChat,
  unspelled: ChatFilter.unspelled,
  usageSoFar: (chunk) =>
    Predicate.isRecord(chunk) && Predicate.isRecord(chunk["usage"])
      ? ProviderUsage.ofOpenAiChat(chunk["usage"])
      : undefined
}

export const layer = (
  given: Options,
  fetch: typeof globalThis.fetch = globalThis.fetch
): Layer.Layer<LLM.LLM, LLMError> =>
  Layer.effect(
    LLM.LLM,
    Effect.gen(function* () {
      const { answers, apiKey, headers = {}, model, provider, providerOptions = {}, url } = given
      const endpoint = yield* Endpoint.make({ url, headers, ...(apiKey === undefined ? {} : { apiKey }) })
      const { createOpenAICompatible } = yield* load
      const made = createOpenAICompatible({
        baseURL: url,
        name: provider ?? "openai-compatible",
        headers: endpoint.headers,
        fetch: ReplyFilter.fetching(
          ChatFilter.filter,
          ProviderFetch.make(fetch, given.streamed === false ? "whole" : "stream")
        ),
        includeUsage: true,
        supportsStructuredOutputs: answers === "json",
        ...(endpoint.key === "" ? {} : { apiKey: endpoint.key })
      })
      // This package sends arguments that are JSON as they are, and quotes the others.
      const options: AiSdkLLM.Options = {
        ...Struct.pick(given, "answers", "cache", "streamed", "timeouts"),
        providerOptions: {
          ...providerOptions,
          openaiCompatible: { ...defaults, ...providerOptions["openaiCompatible"] }
        },
        secrets: endpoint.secrets,
        verbatimArguments: true
      }
      return AiSdkLLM.read(made(model), options, reading)
    })
  )

/** The variables that a configuration error is about. */
const variables = (error: ConfigError.ConfigError): ReadonlyArray<string> =>
  error._op === "And" || error._op === "Or"
    ? [...variables(error.left), ...variables(error.right)]
    : [error.path.join("_")]

const config = Config.all({
  url: Config.nonEmptyString("WHEREFORE_MODEL_URL"),
  model: Config.nonEmptyString("WHEREFORE_MODEL"),
  apiKey: Config.option(Config.redacted("WHEREFORE_API_KEY"))
})

export const layerConfig: Layer.Layer<LLM.LLM, LLMError> = Layer.unwrapEffect(
  config.pipe(
    Effect.mapError((error) =>
      failure("Misconfigured", {
        what: "The environment does not say which model to ask.",
        where: variables(error).join(", "),
        expected: "a value that is not empty",
        next: "Set WHEREFORE_MODEL_URL and WHEREFORE_MODEL, and WHEREFORE_API_KEY if the server wants a key."
      })
    ),
    Effect.map(({ apiKey, model, url }) =>
      layer({ url, model, ...(Option.isNone(apiKey) ? {} : { apiKey: apiKey.value }) })
    )
  )
)
