/**
 * An `AiSdkReader` reads the parts of a provider's stream, or of its whole reply, into ours.
 *
 * @internal
 */
import type { SharedV3ProviderMetadata } from "@ai-sdk/provider"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import type * as Usage from "../kernel/Usage.ts"
import type * as AiSdkModel from "./AiSdkModel.ts"
import type * as LLM from "./LLM.ts"
import * as LLMDraft from "./LLMDraft.ts"
import { failure, type LLMError } from "./LLMError.ts"
import * as ProviderUsage from "./ProviderUsage.ts"

export interface Options {
  /** Who is to be sent again what it sealed. */
  readonly provider: string
  readonly refail: (error: unknown) => LLMError
  readonly toolNames: ReadonlyArray<string> | undefined
  /** Reads what the provider's API reports; without it the words of the AI SDK are read. */
  readonly usage?: (raw: unknown) => Usage.Usage
  /** What a chunk, as the API sent it, says the call has taken so far. */
  readonly usageSoFar?: (chunk: unknown) => Usage.Usage | undefined
  /** What stands for a call's id and name in a stream, read back. */
  readonly unspelled?: (id: string, name: string) => { readonly id: string; readonly name: string }
  /** In whole replies arguments were put into a JSON string as they were written, where a package writes them anew. */
  readonly isQuoted?: true
}

/** Some parts of ours, and how the reply ended if it did. */
export interface Read {
  readonly parts: Array<LLM.Part>
  readonly end?: "finished" | LLMError
}

type Metadata = SharedV3ProviderMetadata

interface Input {
  readonly toolName: string
  args: string
}

/** What a provider gave for a block, as JSON; nothing if it gave nothing. */
const opaque = (metadata: Metadata | undefined): unknown => {
  const given = Object.entries(metadata ?? {}).filter(
    ([, value]) => Predicate.isRecord(value) && Object.values(value).some(Predicate.isNotNullable)
  )
  if (given.length === 0) return undefined
  const sound = (_: string, value: unknown): unknown =>
    Predicate.isString(value) ? Printable.wellFormed(value) : value
  return Either.getOrUndefined(Either.try((): unknown => JSON.parse(JSON.stringify(Object.fromEntries(given), sound))))
}

/** What the last of a block's parts say of a provider holds. */
const merged = (left: Metadata | undefined, right: Metadata | undefined): Metadata | undefined => {
  if (left === undefined || right === undefined) return right ?? left
  const both = { ...left }
  for (const [provider, value] of Object.entries(right)) both[provider] = { ...left[provider], ...value }
  return both
}

const stopReasons: { readonly [reason: string]: Event.StopReason } = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool-calls",
  "content-filter": "content-filter"
}

/** The end of a reply, or why it is none. */
const ended = (
  { provider, refail, toolNames, usage }: Options,
  model: string | undefined,
  finishReason: { readonly unified: string; readonly raw: string | undefined },
  reported: AiSdkModel.Usage
): { readonly finish: LLM.Part } | { readonly error: LLMError } => {
  const { raw, unified } = finishReason
  if (unified === "error") return { error: refail({ type: raw ?? "" }) }
  // Packages start from "other", and say so if the stream ends before the provider has told why.
  if (unified === "interrupted" || (unified === "other" && raw === undefined)) {
    return {
      error: failure("StreamBroken", { what: "The reply broke off before the provider said that it is complete." })
    }
  }
  return {
    finish: {
      _tag: "Finish",
      stopReason: Object.hasOwn(stopReasons, unified) ? (stopReasons[unified] ?? "other") : "other",
      usage: usage === undefined ? ProviderUsage.ofAiSdk(reported) : usage(reported.raw),
      provider,
      ...(model === undefined ? {} : { model }),
      ...(toolNames === undefined ? {} : { toolNames })
    }
  }
}

type Call = Extract<AiSdkModel.Part, { type: "tool-call" }>

const calls = ({ input, providerExecuted, providerMetadata, toolCallId, toolName }: Call): ReadonlyArray<LLM.Part> => {
  if (providerExecuted === true) return []
  const seal = opaque(providerMetadata)
  return [{ _tag: "ToolCall", toolCallId, toolName, args: input, ...(seal === undefined ? {} : { opaque: seal }) }]
}

/** What is in a JSON string, if the text is one. */
const unquoted = (text: string): string => {
  const value = text.startsWith('"') ? Either.getOrUndefined(Either.try((): unknown => JSON.parse(text))) : undefined
  return Predicate.isString(value) ? value : text
}

type Kind = "text" | "reasoning"

/** Writes blocks so that what one is sealed with is of it alone. */
const writer = () => {
  /** What was written since the last seal of its kind. */
  const unsealed = new Set<Kind>()
  return {
    begin: (kind: Kind): ReadonlyArray<LLM.Part> => (unsealed.delete(kind) ? [{ _tag: "Sealed", kind }] : []),
    delta: (kind: Kind, delta: string): ReadonlyArray<LLM.Part> => {
      if (delta === "") return []
      unsealed.add(kind)
      return [{ _tag: kind === "text" ? "Text" : "Reasoning", delta }]
    },
    end: (kind: Kind, metadata: Metadata | undefined): ReadonlyArray<LLM.Part> => {
      const sealed = opaque(metadata)
      if (sealed === undefined) return []
      unsealed.delete(kind)
      return [{ _tag: "Sealed", kind, opaque: sealed }]
    }
  }
}

/** A reader of one stream. */
export const stream = (options: Options): ((parts: Iterable<AiSdkModel.Part>) => Read) => {
  let model: string | undefined
  const blocks = new Map<string, Metadata | undefined>()
  /** Arguments that are being written. What the provider runs itself is none of ours. */
  const inputs = new Map<string, Input>()

  const note = (kind: Kind, id: string, metadata: Metadata | undefined): void => {
    if (metadata !== undefined) blocks.set(`${kind} ${id}`, merged(blocks.get(`${kind} ${id}`), metadata))
  }
  let writing = 0
  const write = writer()
  const read = options.unspelled ?? ((id: string, name: string) => ({ id, name }))

  return (foreign) => {
    const parts: Array<LLM.Part> = []
    for (const part of foreign) {
      switch (part.type) {
        case "text-start":
        case "reasoning-start": {
          const kind = part.type === "text-start" ? "text" : "reasoning"
          note(kind, part.id, part.providerMetadata)
          parts.push(...write.begin(kind))
          break
        }
        case "text-delta":
        case "reasoning-delta": {
          const kind = part.type === "text-delta" ? "text" : "reasoning"
          note(kind, part.id, part.providerMetadata)
          parts.push(...write.delta(kind, part.delta))
          break
        }
        case "text-end":
        case "reasoning-end": {
          const kind = part.type === "text-end" ? "text" : "reasoning"
          note(kind, part.id, part.providerMetadata)
          parts.push(...write.end(kind, blocks.get(`${kind} ${part.id}`)))
          blocks.delete(`${kind} ${part.id}`)
          break
        }
        case "tool-input-start":
        case "tool-input-delta": {
          if (part.type === "tool-input-start") {
            if (part.providerExecuted !== true) inputs.set(part.id, { toolName: part.toolName, args: "" })
            writing += LLMDraft.charsOfBlock
          } else {
            const input = inputs.get(part.id)
            if (input !== undefined) input.args += part.delta
            writing += part.delta.length
          }
          // Nothing of a call is in a draft before its end.
          const error = LLMDraft.beyond(writing)
          if (error !== undefined) return { parts, end: error }
          break
        }
        case "tool-input-end":
          break
        case "tool-call": {
          const { id: toolCallId, name: toolName } = read(part.toolCallId, part.toolName)
          parts.push(...calls({ ...part, toolCallId, toolName }))
          inputs.delete(part.toolCallId)
          break
        }
        case "response-metadata":
          model = part.modelId ?? model
          break
        case "raw": {
          const usage = options.usageSoFar?.(part.rawValue)
          if (usage !== undefined) parts.push({ _tag: "Usage", usage })
          break
        }
        case "error":
          return { parts, end: options.refail(part.error) }
        case "finish": {
          for (const [spelledId, { args, toolName: spelledName }] of inputs) {
            const { id: toolCallId, name: toolName } = read(spelledId, spelledName)
            parts.push({ _tag: "ToolCall", toolCallId, toolName, args, cut: true })
          }
          const end = ended(options, model, part.finishReason, part.usage)
          if ("error" in end) return { parts, end: end.error }
          parts.push(end.finish)
          return { parts, end: "finished" }
        }
      }
    }
    return { parts }
  }
}

/** The parts of a reply that came whole: those that a stream of it would have. */
export const whole = (
  options: Options,
  reply: {
    readonly content: Iterable<AiSdkModel.Content>
    readonly finishReason: { readonly unified: string; readonly raw: string | undefined }
    readonly usage: AiSdkModel.Usage
    readonly model: string | undefined
  }
): Read => {
  const parts: Array<LLM.Part> = []
  const write = writer()
  for (const part of reply.content) {
    if (part.type === "tool-call") {
      parts.push(...calls(options.isQuoted === true ? { ...part, input: unquoted(part.input) } : part))
    } else {
      const { providerMetadata, text, type } = part
      parts.push(...write.begin(type), ...write.delta(type, text), ...write.end(type, providerMetadata))
    }
  }
  const end = ended(options, reply.model, reply.finishReason, reply.usage)
  if ("error" in end) return { parts, end: end.error }
  return { parts: [...parts, end.finish], end: "finished" }
}
