/**
 * An `AiSdkError` is whatever a provider package of the AI SDK threw or streamed. Here it becomes an `LLMError`: what is
 * worth knowing is read out of it, and the object itself, which may hold keys and headers, is let go.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Encoding from "effect/Encoding"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Digest from "../kernel/Digest.ts"
import * as Printable from "../kernel/Printable.ts"
import type * as Problem from "../kernel/Problem.ts"
import { type Details, failure, type LLMError, type Reason } from "./LLMError.ts"

/** When it happened: before the provider's answer began, or while it was being read. */
export type Phase = "request" | "stream"

/** A property of anything; a getter that throws has none. */
const property = (value: unknown, key: string): unknown =>
  Either.getOrUndefined(Either.try((): unknown => (Predicate.hasProperty(value, key) ? value[key] : undefined)))

const number = (value: unknown): number =>
  Predicate.isString(value) || Predicate.isNumber(value) ? Number(value) : NaN

const word = (value: unknown): string => (Predicate.isString(value) || Predicate.isNumber(value) ? `${value}` : "")

/** The provider's own account: in a body it is `{ error: { message, type, code } }`, in a stream often the inside alone. */
const account = (value: unknown): { readonly message: string; readonly words: string; readonly status: number } => {
  const inner = property(value, "error")
  const body = Predicate.isRecord(inner) ? inner : value
  const code = property(body, "code")
  return {
    message: Predicate.isString(value) ? value : word(property(body, "message")),
    words: `${word(property(body, "type"))} ${word(code)} ${word(property(body, "status"))}`.toLowerCase(),
    status: [code, property(body, "status"), property(body, "statusCode")].map(number).find(isStatus) ?? 0
  }
}

const isWell = (code: number): boolean => code >= 200 && code <= 299

const isStatus = (code: number): boolean => Number.isInteger(code) && code >= 400 && code <= 599

/** An error and its causes, the outermost first. */
const chain = (error: unknown): ReadonlyArray<unknown> => {
  const found: Array<unknown> = []
  for (let current = error; found.length < 8 && Predicate.isObject(current); current = property(current, "cause")) {
    found.push(current)
  }
  return found
}

/** The codes of an error and of its causes, as the operating system and the HTTP client give them. */
const codes = (error: unknown): ReadonlyArray<string> =>
  chain(error).flatMap((one) => {
    const code = property(one, "code")
    return Predicate.isString(code) && /^[A-Z][A-Z0-9_]{2,40}$/.test(code) ? [code] : []
  })

/** Where a server sends those who ask it. Nobody goes there: a key would go with them. */
const isRedirect = (status: number): boolean => status >= 300 && status <= 399

const byStatus = (status: number): Reason => {
  if (status === 401 || status === 403) return "Auth"
  if (status === 402 || status === 429) return "Limited"
  if (status === 408) return "Timeout"
  return status >= 500 ? "Unavailable" : "Rejected"
}

const byWords = (words: string): Reason | undefined => {
  if (/auth|permission|api_key/.test(words)) return "Auth"
  if (/rate_limit|too_many|quota|billing|credit|exhausted/.test(words)) return "Limited"
  if (/timeout|timed_out|deadline/.test(words)) return "Timeout"
  if (/overload|unavailable|server_error|internal|api_error|capacity/.test(words)) return "Unavailable"
  if (/invalid|not_found|context_length|unsupported|too_large|content_filter|policy/.test(words)) return "Rejected"
  return undefined
}

const byName: { readonly [name: string]: Reason } = {
  AI_JSONParseError: "Protocol",
  AI_TypeValidationError: "Protocol",
  AI_InvalidResponseDataError: "Protocol",
  AI_EmptyResponseBodyError: "Protocol",
  AI_NoContentGeneratedError: "Protocol",
  AI_LoadAPIKeyError: "Misconfigured",
  AI_LoadSettingError: "Misconfigured",
  AI_NoSuchModelError: "Misconfigured",
  AI_UnsupportedFunctionalityError: "Rejected",
  AI_InvalidPromptError: "Rejected",
  AI_InvalidArgumentError: "Rejected",
  TimeoutError: "Timeout"
}

const what: { readonly [R in Reason]: string } = {
  Auth: "The provider refused the credentials.",
  Limited: "The provider limits this account.",
  Unavailable: "The provider could not answer.",
  Timeout: "The provider did not answer in time.",
  Rejected: "The provider rejected the request.",
  StreamBroken: "The connection broke before the reply was complete.",
  Protocol: "The provider sent something that is not part of the protocol.",
  Misconfigured: "The provider package cannot work with the configuration that it was given.",
  Unscripted: "",
  CassetteDrift: ""
}

const dayMs = 86_400_000

/** What the provider asks for, in milliseconds. A date is read against the date of the answer, not against our clock. */
const retryAfter = (headers: unknown): number | undefined => {
  const after = word(property(headers, "retry-after")).trim()
  const exact = word(property(headers, "retry-after-ms")).trim()
  const date = Date.parse(after) - Date.parse(word(property(headers, "date")))
  const ms = exact !== "" ? Number(exact) : /^[\d.]+$/.test(after) ? Number(after) * 1_000 : date
  return Number.isFinite(ms) && ms >= 0 ? Math.min(Math.ceil(ms), dayMs) : undefined
}

/** The URLs, keys and tokens that a provider's sentence may repeat. */
const secretive =
  /\b\w+:\/\/\S+|\b(?:bearer|basic)\s+\S+|\b(?:sk|pk|rk|gsk|key|ghp|xai|xox\w)[-_][\w-]{6,}\S*|\bAIza[\w-]{8,}|[\w+/=-]{32,}/gi

/** A secret as it is written in texts of all kinds. */
const spellings = (secret: string): ReadonlyArray<string> => {
  const hex = Encoding.encodeHex(secret)
  return [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(Printable.wellFormed(secret)),
    Encoding.encodeBase64(secret),
    Encoding.encodeBase64(secret).replace(/=+$/, ""),
    Encoding.encodeBase64Url(secret),
    hex,
    hex.toUpperCase()
  ]
}

const masked = (text: string, secrets: ReadonlyArray<string>): string => {
  const longestFirst = secrets
    .filter((secret) => secret.length >= 4)
    .flatMap(spellings)
    .sort((a, b) => b.length - a.length)
  return longestFirst.reduce((rest, secret) => rest.replaceAll(secret, "[masked]"), text)
}

/** A foreign sentence: without the registered secrets and what looks like one, on one line, quoted and clipped. */
export const quote = (text: string, secrets: ReadonlyArray<string>): string =>
  Printable.quote(masked(text.slice(0, 10_000), secrets).replace(secretive, "[masked]"), 200)

/** Where in what was sent a schema did not fit, as a JSON pointer. */
const pathOf = (error: unknown): string | undefined => {
  for (const one of chain(error)) {
    const issues = property(one, "issues")
    const path = Array.isArray(issues) ? property(issues[0], "path") : undefined
    if (Array.isArray(path)) return path.length === 0 ? "the whole" : path.map((key) => `/${word(key)}`).join("")
  }
  return undefined
}

/** What was sent, as text. */
const bodyOf = (error: unknown): string | undefined => {
  for (const one of chain(error)) {
    const text = [property(one, "responseBody"), property(one, "text")].find(Predicate.isString)
    if (text !== undefined) return text
    const value = property(one, "value")
    const written = value === undefined ? undefined : Either.try(() => JSON.stringify(value))
    if (written !== undefined && Either.isRight(written)) return written.right
  }
  return undefined
}

const maxBody = 65_536

/** What is read beyond that, so that a key at the cut is seen whole. */
const maxSecret = 16_384

const classify = (error: unknown, phase: Phase): Reason => {
  const name = word(property(error, "name"))
  const status = number(property(error, "statusCode"))
  const told = account(property(error, "data") ?? error)
  const network = codes(error)
  if (isStatus(status)) return byStatus(status)
  if (isRedirect(status)) return "Misconfigured"
  if (Object.hasOwn(byName, name)) return byName[name] ?? "Protocol"
  const cause = word(property(property(error, "cause"), "name"))
  if (Object.hasOwn(byName, cause)) return byName[cause] ?? "Protocol"
  if (network.some((code) => /TIMEOUT|TIMEDOUT/.test(code))) return phase === "stream" ? "StreamBroken" : "Timeout"
  if (error instanceof Error) return phase === "stream" ? "StreamBroken" : "Unavailable"
  return told.status > 0 ? byStatus(told.status) : (byWords(told.words) ?? "Unavailable")
}

const retry = (reason: Reason, error: unknown, words: string): Problem.Retry | undefined => {
  if (reason !== "Limited" && reason !== "Unavailable") return undefined
  if (reason === "Limited" && (number(property(error, "statusCode")) === 402 || /quota|billing|credit/.test(words))) {
    return "after-human"
  }
  const afterMs = retryAfter(property(error, "responseHeaders"))
  return afterMs === undefined ? undefined : { afterMs }
}

/** What a foreign error comes to. `secrets` are the values that must appear nowhere. */
export const toLLMError = (
  error: unknown,
  at: {
    readonly provider: string
    readonly modelId: string
    readonly phase: Phase
    readonly secrets: ReadonlyArray<string>
  }
): LLMError => {
  // A failure to read an answer that began well is one of the stream, however early it is.
  const phase = chain(error).some((one) => isWell(number(property(one, "statusCode")))) ? "stream" : at.phase
  const reason = classify(error, phase)
  const status = number(property(error, "statusCode"))
  const { message, words } = account(property(error, "data") ?? (error instanceof Error ? undefined : error))
  const again = retry(reason, error, `${words} ${message.toLowerCase()}`)
  // An answer to bad credentials is where providers repeat them, in part and in ways that no mask knows.
  const says = message === "" || reason === "Auth" ? "" : quote(message, at.secrets)
  const path = reason === "Protocol" ? pathOf(error) : undefined
  const body = reason === "Auth" ? undefined : bodyOf(error)
  const found = [
    isStatus(status) || isRedirect(status) ? `HTTP status ${status}` : "",
    codes(error)[0] ?? "",
    says,
    path === undefined ? "" : `something else at ${Printable.quote(path, 200)}`,
    reason === "Protocol" && body !== undefined
      ? `${body.length} characters with the hash ${Digest.of(body).slice(0, 12)}`
      : ""
  ].filter((part) => part !== "")
  const details: Details = {
    what: what[reason],
    ...(isRedirect(status)
      ? {
          what: "The model server answers with a redirect, and none is followed: the key would go along.",
          next: "Give the layer the URL that it leads to, if that server may have the key."
        }
      : {}),
    where: Printable.clip(Printable.line(`${at.provider} ${at.modelId}`), 120),
    ...(found.length === 0 ? {} : { found: found.join(", ") }),
    ...(again === undefined ? {} : { retry: again }),
    ...(again === "after-human" ? { next: "Add credit or raise the quota of the account, then go on." } : {}),
    ...(phase === "stream" ? { outcome: "unknown" as const } : {}),
    ...(body === undefined
      ? {}
      : {
          body: Redacted.make(
            Printable.wellFormed(masked(body.slice(0, maxBody + maxSecret), at.secrets).slice(0, maxBody))
          )
        })
  }
  return failure(reason, details)
}
