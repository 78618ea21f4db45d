/**
 * A `ProviderFetch` asks a provider over HTTP. It follows no redirect, since `fetch` takes keys in headers such as
 * `x-api-key` along to wherever one leads, and it hands on as a reply only what can be one.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

type Fetch = typeof globalThis.fetch

/** What replies are asked for as: streams of events, JSON as a whole, or one or the other. */
export type Asked = "stream" | "whole" | "either"

/** What a JSON body says of an error, although the status is that of a success. */
const told = (body: unknown): unknown => {
  if (!Predicate.isRecord(body) || !Object.hasOwn(body, "error")) return undefined
  const { error } = body
  if (Predicate.isString(error) && error !== "") return { error: { message: error } }
  return Predicate.isRecord(error) ? body : undefined
}

/** The failures are in the words of provider packages, which their reader knows. */
const read = (response: Response, text: string, asked: Asked): Response | Promise<never> => {
  const { headers, status, statusText } = response
  const parsed = Either.try((): unknown => JSON.parse(text))
  const data = Either.isRight(parsed) ? told(parsed.right) : undefined
  const sent = { responseBody: text, responseHeaders: Object.fromEntries(headers) }
  if (data !== undefined) return Promise.reject({ data, ...sent })
  const isHtml = (headers.get("content-type") ?? "").includes("html")
  const isOdd = asked === "stream" && (Either.isRight(parsed) || text.trim() === "" || isHtml)
  if (!isOdd && !(asked === "either" && isHtml)) return new Response(text, { headers, status, statusText })
  return Promise.reject({ name: "AI_InvalidResponseDataError", issues: [{ path: [] }], ...sent })
}

/** More bytes than the longest reply has, however it is written. */
const maxBytes = 50_000_000

const newline = 10

/** A body that never ends, or of a stream a line that never does, would take all memory there is. */
const limited = (response: Response): Response => {
  const { body, headers, status, statusText } = response
  if (body === null) return response
  const isStream = (headers.get("content-type") ?? "").toLowerCase().includes("text/event-stream")
  let waiting = 0
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      waiting = isStream && chunk.includes(newline) ? 0 : waiting + chunk.length
      if (waiting <= maxBytes) controller.enqueue(chunk)
      else controller.error({ name: "AI_InvalidResponseDataError", message: "The answer never ends." })
    }
  })
  return new Response(body.pipeThrough(limit), { headers, status, statusText })
}

/** A body that breaks off belongs to an answer that had begun: the call may have been billed. */
const cut = (statusCode: number) => (cause: unknown) =>
  Promise.reject(cause instanceof Error ? Object.assign(new Error(""), { cause, statusCode }) : cause)

/** A `fetch` of one provider's. */
export const make =
  (fetch: Fetch, asked: Asked): Fetch =>
  (input, init) =>
    fetch(input, { ...init, redirect: "manual" }).then((answered) => {
      // Nothing is read of where a redirect leads, and no other answer can be made of it.
      if (answered.status < 200 || answered.status > 599) return answered
      const response = limited(answered)
      const type = (response.headers.get("content-type") ?? "").toLowerCase()
      if (!response.ok || response.body === null || !/json|html/.test(type)) return response
      return response.text().then((text) => read(response, text, asked), cut(response.status))
    })
