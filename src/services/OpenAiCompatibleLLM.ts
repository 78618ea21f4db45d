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
import * as Redacted from "effect/Redacted"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as AiSdkLLM from "./AiSdkLLM.ts"
import * as ProviderUsage from "./ProviderUsage.ts"
import * as LLM from "./LLM.ts"
import { failure, type LLMError } from "./LLMError.ts"

export interface Options {
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
  /** Ask for whole replies, of a server that cannot stream them. */
  readonly streamed?: false
}

/** What is wrong with a base URL. It is not repeated: it may hold credentials. */
const fault = (text: string): string | undefined => {
  if (!URL.canParse(text)) return "a text that is no URL"
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return `the scheme ${url.protocol}`
  if (url.username !== "" || url.password !== "") return "credentials in the URL"
  return url.search !== "" || url.hash !== "" ? "a query or a fragment in the URL" : undefined
}

const load = Effect.tryPromise({
  try: () => import("@ai-sdk/openai-compatible"),
  catch: () =>
    failure("Misconfigured", {
      what: "The package @ai-sdk/openai-compatible cannot be loaded.",
      next: "Install it: npm install @ai-sdk/openai-compatible@2"
    })
})

/** A server that is told to counts as it goes. */
const reading: AiSdkLLM.Reading = {
  usage: ProviderUsage.ofOpenAiChat,
  usageSoFar: (chunk) =>
    Predicate.isRecord(chunk) && Predicate.isRecord(chunk["usage"])
      ? ProviderUsage.ofOpenAiChat(chunk["usage"])
      : undefined
}

/** What a header's value may hold, without the spaces at its ends that are cut from it. */
const sendable = /^[\x21-\x7e]*(?:[\t\x20]+[\x21-\x7e]+)*$/

const plain = (value: string | Redacted.Redacted): string =>
  Redacted.isRedacted(value) ? Redacted.value(value) : value

export const layer = ({
  answers,
  apiKey,
  headers = {},
  model,
  provider,
  streamed,
  url
}: Options): Layer.Layer<LLM.LLM, LLMError> =>
  Layer.unwrapEffect(
    Effect.gen(function* () {
      const found = fault(url)
      if (found !== undefined) {
        return yield* failure("Misconfigured", {
          what: "The URL of the model server cannot be used.",
          expected: "an http or https URL such as http://127.0.0.1:8080/v1, with secrets in apiKey or headers",
          found
        })
      }
      const key = apiKey === undefined ? "" : Redacted.value(apiKey)
      const plainHeaders = Object.entries(headers).map(([name, value]) => [name, plain(value)] as const)
      const unsendable = [["apiKey", key] as const, ...plainHeaders].find(([, value]) => !sendable.test(value))
      if (unsendable !== undefined) {
        return yield* failure("Misconfigured", {
          what: "A key or a header of the model server cannot be sent.",
          where: Printable.clip(Printable.line(unsendable[0]), 64),
          expected: "printable ASCII without line breaks",
          found: Problem.kindOf(unsendable[1])
        })
      }
      const { createOpenAICompatible } = yield* load
      const made = createOpenAICompatible({
        baseURL: url,
        name: provider ?? "openai-compatible",
        headers: Object.fromEntries(plainHeaders),
        includeUsage: true,
        supportsStructuredOutputs: answers === "json",
        ...(key === "" ? {} : { apiKey: key })
      })
      const secrets = [key, ...plainHeaders.map(([, value]) => value)].map((value) => Redacted.make(value))
      // This package sends arguments that are JSON as they are, and quotes the others.
      const options: AiSdkLLM.Options = {
        secrets,
        verbatimArguments: true,
        ...(answers === undefined ? {} : { answers }),
        ...(streamed === undefined ? {} : { streamed })
      }
      return Layer.succeed(LLM.LLM, AiSdkLLM.read(made(model), options, reading))
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
