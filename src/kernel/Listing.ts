/**
 * A `Listing` declares that a field of a tool's results lists ids of a kind, and which argument of which tool reads one. What
 * was listed and never read is then known: `Why` says so.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type * as Event from "./Event.ts"
import * as Json from "./Json.ts"

/** A call that reads what an id names: the id is this argument of it. */
const Reader = Schema.Struct({ toolName: Schema.NonEmptyString, argument: Schema.NonEmptyString })
type Reader = typeof Reader.Type

/**
 * `field` is a JSON pointer into the result, in which `*` is any member: `/reservations/*`, `/orders/*\/id`. `of` is what
 * the ids are of, in a word.
 */
export const Listed = Schema.Struct({
  field: Schema.String.pipe(Schema.pattern(/^\//)),
  of: Schema.NonEmptyString,
  readBy: Schema.NonEmptyArray(Reader)
})
export type Listed = typeof Listed.Type

/** A `Listed` of the results of a tool. */
export interface Listing extends Listed {
  readonly toolName: string
}

const isId = (value: unknown): value is string | number =>
  (typeof value === "string" && value !== "") || typeof value === "number"

const members = (value: unknown): ReadonlyArray<unknown> =>
  Array.isArray(value) ? value : Predicate.isRecord(value) ? Object.values(value) : []

/** The ids that a result lists, each once, in its order. */
export const idsIn = (served: string, field: string): ReadonlyArray<string> => {
  const names = field
    .slice(1)
    .split("/")
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"))
  const found = names.reduce<ReadonlyArray<unknown>>(
    (values, name) =>
      values.flatMap((value) => {
        if (name === "*") return members(value)
        return Predicate.isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : []
      }),
    [Either.getOrUndefined(Json.parse(served, { maxKeys: 1_000_000, maxChars: 4_194_304 }))]
  )
  return Array.from(new Set(found.filter(isId).map(String)))
}

/** The id that a call reads, if it is one that reads. */
const readIn = ({ args, toolName }: Event.ToolCalled, readBy: Listed["readBy"]): ReadonlyArray<string> =>
  readBy.flatMap(({ argument, toolName: name }) => {
    const value =
      name === toolName && Predicate.isRecord(args) && Object.hasOwn(args, argument) ? args[argument] : undefined
    return isId(value) ? [String(value)] : []
  })

/** Which ids were read by calls before an event that came to something. */
export const readBefore = (
  events: ReadonlyArray<Event.Event>,
  before: number,
  readBy: Listed["readBy"]
): ReadonlySet<string> => {
  const open = new Map<string, ReadonlyArray<string>>()
  const read = new Set<string>()
  for (const event of events.slice(0, before)) {
    if (event._tag === "ToolCalled") open.set(event.toolCallId, readIn(event, readBy))
    if (event._tag !== "ToolSettled" || (event.outcome !== "ran-ok" && event.outcome !== "absent")) continue
    for (const id of open.get(event.toolCallId) ?? []) read.add(id)
  }
  return read
}
