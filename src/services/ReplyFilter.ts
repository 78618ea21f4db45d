/**
 * A `ReplyFilter` takes from a provider's reply what its package does not know and we do not read. Packages read closed
 * lists of parts: one of a kind that is newer than they are would fail the whole reply, or be lost without a word.
 *
 * @internal
 */
import { createParser } from "eventsource-parser"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"

/** A JSON object. */
export interface Fields {
  readonly [key: string]: unknown
}

/**
 * What is left of the events of one stream, in order: the event itself, others in its place, or nothing of it. `text` is
 * the event as it was written.
 */
export type Events = (event: Fields, text: string) => Fields | ReadonlyArray<Fields> | undefined

export interface Filter {
  readonly events: () => Events
  /** What is left of a reply that came whole. `text` is the body as it was written. */
  readonly body: (body: Fields, text: string) => Fields
}

const parsed = (text: string): Fields | undefined => {
  const value = Either.getOrUndefined(Either.try((): unknown => JSON.parse(text)))
  return Predicate.isRecord(value) ? value : undefined
}

const written = (data: string): string => `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`

const isList = (left: Fields | ReadonlyArray<Fields>): left is ReadonlyArray<Fields> => Array.isArray(left)

/** Text that is no JSON is left to the package, which knows what to say of it. */
const filtered = (data: string, events: Events): string => {
  const event = parsed(data)
  if (event === undefined) return written(data)
  const left = events(event, data)
  if (left === undefined) return ""
  if (left === event) return written(data)
  return (isList(left) ? left : [left]).map((one) => written(JSON.stringify(one))).join("")
}

/** No event is longer than the longest reply, however its characters are escaped. An endless one would take all memory. */
const maxChars = 50_000_000

/** In the words of provider packages, which their reader knows. */
const endless = { name: "AI_InvalidResponseDataError", message: "An event of the stream never ends." }

const transform = (events: Events): TransformStream<string, string> => {
  let out = ""
  let waiting = 0
  const parser = createParser({
    onEvent: ({ data }) => {
      waiting = 0
      out += filtered(data, events)
    },
    onComment: () => {
      waiting = 0
    }
  })
  const feed = (text: string, controller: TransformStreamDefaultController<string>): void => {
    waiting += text.length
    parser.feed(text)
    if (waiting > maxChars) controller.error(endless)
    if (out !== "") controller.enqueue(out)
    out = ""
  }
  return new TransformStream({
    transform: feed,
    // The last event of some servers has no blank line after it.
    flush: (controller) => feed("\n\n", controller)
  })
}

const isStream = (response: Response): boolean =>
  (response.headers.get("content-type") ?? "").toLowerCase().includes("text/event-stream")

/** What is too deep to be written again is no reply: packages die of it. */
const whole = ({ body }: Filter, response: Response, text: string): Response | Promise<never> => {
  const { headers, status, statusText } = response
  const value = parsed(text)
  const left = value === undefined ? Either.right(text) : Either.try(() => JSON.stringify(body(value, text)))
  const sent = { responseBody: text, responseHeaders: Object.fromEntries(headers) }
  return Either.isRight(left)
    ? new Response(left.right, { headers, status, statusText })
    : Promise.reject({ name: "AI_InvalidResponseDataError", issues: [{ path: [] }], ...sent })
}

const apply = (filter: Filter, response: Response): Response | Promise<Response> => {
  if (!response.ok || response.body === null) return response
  const { headers, status, statusText } = response
  if (!isStream(response)) return response.text().then((text) => whole(filter, response, text))
  const left = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(transform(filter.events()))
    .pipeThrough(new TextEncoderStream())
  return new Response(left, { headers, status, statusText })
}

/** A `fetch` whose replies are filtered. */
export const fetching =
  (filter: Filter, fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  (input, init) =>
    fetch(input, init).then((response) => apply(filter, response))

/** The object in a field. */
export const objectIn = (fields: Fields, key: string): Fields | undefined => {
  const value = Object.hasOwn(fields, key) ? fields[key] : undefined
  return Predicate.isRecord(value) ? value : undefined
}

/** The objects of the list in a field that are of one of these types. */
export const typed = (fields: Fields, key: string, types: ReadonlySet<unknown>): ReadonlyArray<Fields> => {
  const list = Object.hasOwn(fields, key) ? fields[key] : undefined
  return Array.isArray(list) ? list.filter((one) => Predicate.isRecord(one) && types.has(one["type"])) : []
}

/** The fields with these names that are there. */
export const pick = (fields: Fields, names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(names.flatMap((name) => (Object.hasOwn(fields, name) ? [[name, fields[name]]] : [])))
