/**
 * A `LanguageModelError` is whatever a layer of `@effect/ai` failed with. Its errors hold the request with its headers,
 * the key among them, so that nothing of them is kept but what is read out here.
 *
 * @internal
 */
import type * as AiError from "@effect/ai/AiError"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Json from "../kernel/Json.ts"
import * as AiSdkError from "./AiSdkError.ts"
import type * as LanguageModelPart from "./LanguageModelPart.ts"
import type { LLMError } from "./LLMError.ts"

const isAiError = (error: unknown): error is AiError.AiError =>
  Predicate.hasProperty(error, "_tag") && Predicate.hasProperty(error, "module") && error instanceof Error

const json = (body: string | undefined): unknown =>
  Either.getOrUndefined(Either.try((): unknown => JSON.parse(body ?? "")))

/** A body as it was sent. Where none could be read, a package writes the failure in its place, with the request's headers. */
const sent = (body: string | undefined): { readonly text?: string } =>
  body === undefined || body.includes("@effect/platform/HttpClient") ? {} : { text: body }

/** What a fetch of ours took for an error of the provider's: it has the body, and nothing of the request. */
const answer = (error: unknown): unknown => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  const isOurs = Predicate.hasProperty(cause, "name") && cause.name === "AI_InvalidResponseDataError"
  return isOurs || Predicate.hasProperty(cause, "responseBody") ? cause : undefined
}

/** An error of the network, of which only its codes are looked at. */
const caused = (cause: unknown): Error => Object.assign(new Error(""), { cause })

/** The error in the words in which errors are read here, without its request. */
const foreign = (error: unknown): unknown => {
  // An event without an end is no error of a package's: it dies of one.
  if (Predicate.isTagged(error, "SseError")) return { name: "AI_InvalidResponseDataError" }
  if (!isAiError(error)) return error
  switch (error._tag) {
    case "HttpRequestError": {
      const answered = answer(error.cause)
      if (answered !== undefined) return answered
      return error.reason === "Transport" ? caused(error.cause) : { name: "AI_InvalidArgumentError" }
    }
    case "HttpResponseError": {
      const { reason, response } = error
      const { headers, status } = response
      const body = sent(error.body)
      if (reason === "Decode") return Object.assign(caused(undefined), { statusCode: status })
      if (reason !== "StatusCode") return { name: "AI_InvalidResponseDataError", ...body }
      return { statusCode: status, responseHeaders: headers, ...body, data: json(body.text) }
    }
    case "MalformedOutput":
      return { name: "AI_TypeValidationError", cause: { name: "", message: "" } }
    case "MalformedInput":
      return { name: "AI_InvalidPromptError", message: error.description ?? "" }
    case "UnknownError":
      return error.cause === undefined ? { message: error.description ?? "" } : caused(error.cause)
  }
}

/** What an error comes to. `secrets` are the values that must appear nowhere. */
export const toLLMError = (error: unknown, at: Parameters<typeof AiSdkError.toLLMError>[1]): LLMError =>
  AiSdkError.toLLMError(foreign(error), at)

/** What was being decoded when it did not fit: the parts of one chunk, as the provider's layer wrote them. */
const chunkOf = ({ cause }: AiError.MalformedOutput): ReadonlyArray<unknown> => {
  if (!ParseResult.isParseError(cause)) return []
  const { actual } = cause.issue
  return Predicate.isIterable(actual) && !Predicate.isString(actual) ? Array.from(actual) : []
}

const isCall = (part: unknown): boolean => Predicate.isRecord(part) && part["type"] === "tool-call"

/** What arguments may hold that a package refuses to parse, as keys of objects or parts of an escape of them. */
const reserved = /__proto__|constructor|\\u00/i

/** Arguments that are no JSON, and would not be with more of them. */
const isSpoiled = (args: string): boolean => {
  const read = Json.parse(args)
  const isBegun = Either.isLeft(read) && read.left._tag === "MalformedJson" && read.left.offset >= args.length
  return !isBegun && (json(args) === undefined || reserved.test(args))
}

const ended = ({ id, name }: LanguageModelPart.Open) => ({ type: "tool-call", id, name, params: {} })

/** The calls without a name that Anthropic's package has no event for. */
const nameless = (chunk: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  chunk.flatMap((one) => {
    const event = Predicate.isString(one) ? json(one) : undefined
    const block = Predicate.isRecord(event) ? event["content_block"] : undefined
    if (!Predicate.isRecord(block) || block["type"] !== "tool_use") return []
    const { id, name } = block
    if (!Predicate.isString(id) || !Predicate.isString(name) || name.trim() !== "") return []
    return [ended({ id, name, args: "" })]
  })

/**
 * The parts that can be saved of a reply which failed for a mistake of the model's: a call of a tool that is not there,
 * for which the whole chunk fails, or arguments that are no JSON or name a reserved key. `open` are the calls whose
 * arguments were being written: those whose arguments are the mistake had come to their end. What came after is lost.
 * Such a mistake is the model's to correct, and no end of a run. Nothing if it failed for another reason.
 */
export const salvage = (
  error: unknown,
  open: ReadonlyArray<LanguageModelPart.Open>
): ReadonlyArray<unknown> | undefined => {
  if (!isAiError(error) || error._tag !== "MalformedOutput") return undefined
  const chunk = chunkOf(error)
  if (chunk.some(isCall)) return chunk
  const unnamed = nameless(chunk)
  if (unnamed.length > 0) return unnamed
  const spoiled = open.filter(({ args }) => args.trim() !== "" && isSpoiled(args))
  // A package parses no text at all for arguments that are none.
  const isOfCall = error.description?.includes("parse tool call parameters") === true
  const wrong = spoiled.length > 0 || !isOfCall ? spoiled : open.filter(({ args }) => args.trim() === "")
  const isBegun = open.some(({ args }) => args.trim() !== "" && json(args) === undefined)
  return wrong.length > 0 || isBegun || (isOfCall && open.length > 0) ? wrong.map(ended) : undefined
}
