/**
 * A `ProviderFetch` asks a provider over HTTP. It follows no redirect, since `fetch` takes keys in headers such as
 * `x-api-key` along to wherever one leads, and it hands on as a reply only what can be one.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

type Fetch = typeof globalThis.fetch

/** What a JSON body says of an error, although the status is that of a success. */
const told = (body: unknown): unknown => {
  if (!Predicate.isRecord(body) || !Object.hasOwn(body, "error")) return undefined
  const { error } = body
  if (Predicate.isString(error) && error !== "") return { error: { message: error } }
  return Predicate.isRecord(error) ? body : undefined
}

/** The failures are in the words of provider packages, which their reader knows. */
const read = (response: Response, text: string, isStreamAsked: boolean): Response | Promise<never> => {
  const { headers, status, statusText } = response
  const parsed = Either.try((): unknown => JSON.parse(text))
  const data = Either.isRight(parsed) ? told(parsed.right) : undefined
  const sent = { responseBody: text, responseHeaders: Object.fromEntries(headers) }
  if (data !== undefined) return Promise.reject({ data, ...sent })
  const isWhole = Either.isRight(parsed) || text.trim() === "" || (headers.get("content-type") ?? "").includes("html")
  if (!isStreamAsked || !isWhole) return new Response(text, { headers, status, statusText })
  return Promise.reject({ name: "AI_InvalidResponseDataError", issues: [{ path: [] }], ...sent })
}

/** A `fetch` of one provider's. `isStreamAsked`: its replies are asked for as streams of events. */
export const make =
  (fetch: Fetch, isStreamAsked: boolean): Fetch =>
  (input, init) =>
    fetch(input, { ...init, redirect: "manual" }).then((response) => {
      const type = (response.headers.get("content-type") ?? "").toLowerCase()
      if (!response.ok || response.body === null || !/json|html/.test(type)) return response
      return response.text().then((text) => read(response, text, isStreamAsked))
    })
