/**
 * A `LanguageModelPart` is a part of a reply as `@effect/ai` streams it, in the words in which parts are read here.
 *
 * @internal
 */
import type { JSONObject, SharedV3ProviderMetadata } from "@ai-sdk/provider"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Usage from "../kernel/Usage.ts"
import type * as AiSdkModel from "./AiSdkModel.ts"
import * as ProviderUsage from "./ProviderUsage.ts"

type Foreign = { readonly [key: string]: unknown }

/** Parts come decoded, with what may be absent in an `Option`, or as the provider's layer wrote them. */
const text = (value: unknown): string | undefined => {
  const bare = Option.isOption(value) ? Option.getOrUndefined(value) : value
  return Predicate.isString(bare) ? bare : undefined
}

const isMetadata = (value: unknown): value is SharedV3ProviderMetadata =>
  Predicate.isRecord(value) && Object.values(value).every(Predicate.isRecord)

const metadata = (part: Foreign) => {
  // The name of a provider with nothing under it is no metadata.
  const given = Predicate.isRecord(part["metadata"])
    ? Object.fromEntries(Object.entries(part["metadata"]).filter(([, value]) => Predicate.isRecord(value)))
    : {}
  return isMetadata(given) && Object.keys(given).length > 0 ? { providerMetadata: given } : {}
}

const json = (value: unknown): string =>
  Either.getOrElse(
    Either.try(() => JSON.stringify(value) ?? ""),
    () => ""
  )

interface Reported {
  readonly usage: Foreign
  readonly metadata: Foreign
}

const isReported = (raw: unknown): raw is Reported => Predicate.isRecord(raw) && Predicate.isRecord(raw["usage"])

const under = (value: unknown, key: string): Foreign | undefined => {
  const inner = Predicate.isRecord(value) ? value[key] : undefined
  return Predicate.isRecord(inner) ? inner : undefined
}

/**
 * What a call took. Of Anthropic's replies the API's own account is in the metadata, of which the output is only the
 * beginning; in everybody else's the input holds what the cache held.
 */
export const usage = (raw: unknown): Usage.Usage => {
  if (!isReported(raw)) return Usage.unknown("cut")
  const { cachedInputTokens, inputTokens, outputTokens, reasoningTokens } = raw.usage
  const anthropic = under(under(raw.metadata, "anthropic"), "usage")
  return anthropic === undefined
    ? ProviderUsage.ofOpenAiResponses({
        input_tokens: inputTokens,
        input_tokens_details: { cached_tokens: cachedInputTokens },
        output_tokens: outputTokens,
        output_tokens_details: { reasoning_tokens: reasoningTokens }
      })
    : ProviderUsage.ofAnthropic({ ...anthropic, output_tokens: outputTokens })
}

/** OpenAI's layer lets a failed response end like any other; but one that was completed has a usage. */
const isFailed = (reported: Reported): boolean =>
  under(reported.metadata, "openai") !== undefined && reported.usage["inputTokens"] === undefined

const isJson = (raw: unknown): raw is JSONObject => Predicate.isRecord(raw)

const untold = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }

const finished = (unified: "stop" | "length" | "tool-calls" | "content-filter" | "error" | "other", raw: unknown) =>
  ({
    type: "finish",
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: untold,
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
      ...(isJson(raw) ? { raw } : {})
    }
  }) as const

const finish = (part: Foreign) => {
  const reported = {
    usage: Predicate.isRecord(part["usage"]) ? part["usage"] : {},
    metadata: Predicate.isRecord(part["metadata"]) ? part["metadata"] : {}
  }
  if (isFailed(reported)) return finished("error", undefined)
  switch (part["reason"]) {
    case "stop":
    case "length":
    case "tool-calls":
    case "content-filter":
    case "error":
      return finished(part["reason"], reported)
    default:
      return finished("other", reported)
  }
}

/** Ends a reply whose rest is lost: what it had called by then is to be run, and what it took is not known. */
export const brokenOff = { type: "finish", reason: "tool-calls", isBrokenOff: true } as const

/** A call whose arguments are being written. */
export interface Open {
  readonly id: string
  readonly name: string
  readonly args: string
}

/** A reader of one stream. */
export const reader = () => {
  const inputs = new Map<string, Open>()

  const one = (part: unknown): ReadonlyArray<AiSdkModel.Part> => {
    if (!Predicate.isRecord(part)) return []
    const id = text(part["id"]) ?? ""
    const name = text(part["name"]) ?? ""
    const delta = text(part["delta"]) ?? ""
    const byProvider = part["providerExecuted"] === true ? { providerExecuted: true } : {}
    switch (part["type"]) {
      case "text-start":
      case "text-end":
      case "reasoning-start":
      case "reasoning-end":
        return [{ type: part["type"], id, ...metadata(part) }]
      case "text-delta":
      case "reasoning-delta":
        return [{ type: part["type"], id, delta, ...metadata(part) }]
      case "tool-params-start":
        inputs.set(id, { id, name, args: "" })
        return [{ type: "tool-input-start", id, toolName: name, ...byProvider }]
      case "tool-params-delta": {
        const open = inputs.get(id)
        if (open !== undefined) inputs.set(id, { ...open, args: open.args + delta })
        return [{ type: "tool-input-delta", id, delta }]
      }
      case "tool-call": {
        const written = inputs.get(id)?.args ?? ""
        inputs.delete(id)
        const input = written === "" ? json(part["params"]) : written
        return [{ type: "tool-call", toolCallId: id, toolName: name, input, ...byProvider, ...metadata(part) }]
      }
      case "response-metadata": {
        const modelId = text(part["modelId"])
        return modelId === undefined ? [] : [{ type: "response-metadata", modelId }]
      }
      case "error":
        return [{ type: "error", error: part["error"] }]
      case "finish":
        return [part["isBrokenOff"] === true ? finished("tool-calls", undefined) : finish(part)]
      default:
        return []
    }
  }

  return {
    read: (parts: Iterable<unknown>): ReadonlyArray<AiSdkModel.Part> => Array.from(parts).flatMap(one),
    open: (): ReadonlyArray<Open> => Array.from(inputs.values())
  }
}
