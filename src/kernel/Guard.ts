/**
 * A `Guard` is a list of conditions on one call, all of which have to hold: on its outcome, and on values inside its
 * result. It is data, so it can be recorded with what it judged.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as CallOutcome from "./CallOutcome.ts"
import * as Json from "./Json.ts"
import * as Printable from "./Printable.ts"
import * as Problem from "./Problem.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/**
 * `in` and `notIn` take a list. Values are equal as JSON is; numbers are ordered by size, texts by UTF-16 code unit, and
 * nothing else is.
 */
export const Op = Schema.Literal("eq", "ne", "gt", "gte", "lt", "lte", "in", "notIn")
export type Op = typeof Op.Type

/** `field` is `outcome`, or the JSON pointer (RFC 6901) of a value in the result; `""` is the whole result. */
export const Condition = Schema.Struct({ field: Schema.String, op: Op, value: Schema.Unknown })
export type Condition = typeof Condition.Type

/**
 * A condition and what it judged. A value that is no scalar, or is long, is told by kind in `foundKind`. With neither
 * there was no value, and of that no condition holds.
 */
export const Verdict = Schema.Struct({
  ...Condition.fields,
  holds: Schema.Boolean,
  found: optional(Schema.Union(Schema.String, Schema.JsonNumber, Schema.Boolean, Schema.Null)),
  foundKind: optional(Schema.String)
})
export type Verdict = typeof Verdict.Type

/** A value that was looked up, or the absence of one. */
export type Lookup = { readonly value: unknown } | undefined

const steps = (pointer: string): ReadonlyArray<string> =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))

const isPointer = (text: string): boolean => /^(?:\/(?:[^~/]|~[01])*)*$/u.test(text)

const own = (value: unknown, step: string): Lookup => {
  if (typeof value !== "object" || value === null) return undefined
  if (Array.isArray(value) && !/^(?:0|[1-9]\d*)$/.test(step)) return undefined
  const property = Object.getOwnPropertyDescriptor(value, step)
  return property !== undefined && "value" in property ? { value: property.value } : undefined
}

const read = (value: unknown, pointer: string): Lookup =>
  steps(pointer).reduce<Lookup>((at, step) => (at === undefined ? undefined : own(at.value, step)), { value })

/** The values that conditions judge in a result, to be kept with its outcome before it is placed or decorated. */
export const fieldsOf = (conditions: ReadonlyArray<Condition>, result: unknown): ReadonlyArray<CallOutcome.Field> =>
  Array.from(new Set(conditions.map(({ field }) => field)))
    .filter((field) => field !== "outcome" && isPointer(field))
    .flatMap((pointer) => {
      const found = read(result, pointer)
      return found === undefined || !isKept(found.value, 0) ? [] : [{ pointer, value: found.value }]
    })

const deepest = 64

/** Whether a record can hold a value. */
const isKept = (value: unknown, depth: number): boolean => {
  if (typeof value === "string") return Printable.wellFormed(value) === value
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value === "boolean" || value === null) return true
  if (typeof value !== "object" || depth >= deepest) return false
  if (Array.isArray(value)) return value.every((item) => isKept(item, depth + 1))
  return Object.entries(value).every(
    ([key, item]) => key !== "__proto__" && Printable.wellFormed(key) === key && isKept(item, depth + 1)
  )
}

/** How to look up a field of a call: as it was kept, or else in the text that was served, read once. */
export const lookup = (call: CallOutcome.CallOutcome): ((field: string) => Lookup) => {
  let parsed: Lookup
  const served = (): Lookup => {
    // Of a call that failed we wrote the text ourselves, and it is nothing to be judged.
    if (call.placed !== undefined || !CallOutcome.succeeded(call.outcome)) return undefined
    parsed ??= { value: Either.getOrElse(Json.parse(call.served), () => call.served) }
    return parsed
  }
  return (field) => {
    if (field === "outcome") return { value: call.outcome }
    if (call.fields !== undefined) return call.fields.find(({ pointer }) => pointer === field)
    const result = isPointer(field) ? served() : undefined
    return result === undefined ? undefined : read(result.value, field)
  }
}

/** How to look up a field in a value. */
export const inside =
  (value: unknown): ((field: string) => Lookup) =>
  (field) =>
    isPointer(field) ? read(value, field) : undefined

const ordered = (found: unknown, value: unknown, holds: (order: number) => boolean): boolean => {
  if (typeof found === "number" && typeof value === "number") return holds(found - value)
  if (typeof found === "string" && typeof value === "string") return holds(found < value ? -1 : found > value ? 1 : 0)
  return false
}

const holds = (op: Op, value: unknown, found: unknown): boolean => {
  const isIn = () => Array.isArray(value) && value.some((item) => Json.equal(found, item))
  switch (op) {
    case "eq":
      return Json.equal(found, value)
    case "ne":
      return !Json.equal(found, value)
    case "gt":
      return ordered(found, value, (order) => order > 0)
    case "gte":
      return ordered(found, value, (order) => order >= 0)
    case "lt":
      return ordered(found, value, (order) => order < 0)
    case "lte":
      return ordered(found, value, (order) => order <= 0)
    case "in":
      return isIn()
    case "notIn":
      return Array.isArray(value) && !isIn()
  }
}

const longest = 200

const shown = (value: unknown): Pick<Verdict, "found" | "foundKind"> => {
  if (typeof value === "string" && value.length <= longest) return { found: value }
  if (value === null || typeof value === "boolean") return { found: value }
  return typeof value === "number" && Number.isFinite(value) ? { found: value } : { foundKind: Problem.kindOf(value) }
}

/** Every condition with the value that it judged. The guard is open if all of them hold. */
export const judge = (conditions: ReadonlyArray<Condition>, find: (field: string) => Lookup): ReadonlyArray<Verdict> =>
  conditions.map(({ field, op, value }) => {
    const found = find(field)
    return found === undefined
      ? { field, op, value, holds: false }
      : { field, op, value, holds: holds(op, value, found.value), ...shown(found.value) }
  })

/** What is wrong with a condition as it is written, if something is. */
export const malformed = ({ field, op, value }: Condition): string | undefined => {
  if (field !== "outcome" && !isPointer(field)) return "its field is neither `outcome` nor a JSON pointer"
  if (Either.isLeft(Json.canonical(value))) return "its value is no JSON value"
  if (op === "in" || op === "notIn") return Array.isArray(value) ? undefined : `\`${op}\` needs a list`
  const isOrder = op !== "eq" && op !== "ne"
  return isOrder && typeof value !== "number" && typeof value !== "string"
    ? `\`${op}\` compares numbers or texts`
    : undefined
}

/** The values that a field is confined to by an `eq` or an `in`, or because it is the outcome. */
const candidates = (field: string, conditions: ReadonlyArray<Condition>): ReadonlyArray<unknown> | undefined => {
  if (field === "outcome") return CallOutcome.Ran.literals
  const { op, value } = conditions.find(({ op }) => op === "eq" || op === "in") ?? {}
  return op === undefined ? undefined : op === "in" && Array.isArray(value) ? value : [value]
}

interface Bound {
  readonly value: unknown
  readonly isStrict: boolean
}

/** Whether no value is above all lower bounds, below all upper ones, and unlike all that is excluded. */
const isEmptyRange = (conditions: ReadonlyArray<Condition>): boolean => {
  const bounds = (strict: Op, loose: Op): ReadonlyArray<Bound> =>
    conditions.flatMap(({ op, value }) => (op === strict || op === loose ? [{ value, isStrict: op === strict }] : []))
  const lower = bounds("gt", "gte")
  const upper = bounds("lt", "lte")
  if (new Set([...lower, ...upper].map(({ value }) => typeof value)).size > 1) return true
  if (lower.some(({ isStrict, value }) => isStrict && value === Number.MAX_VALUE)) return true
  if (upper.some(({ isStrict, value }) => isStrict && (value === "" || value === -Number.MAX_VALUE))) return true
  const excluded = conditions.flatMap(({ op, value }) =>
    op === "ne" ? [value] : op === "notIn" && Array.isArray(value) ? value : []
  )
  return lower.some((low) =>
    upper.some((high) => {
      if (ordered(low.value, high.value, (order) => order < 0)) return false
      if (!Json.equal(low.value, high.value)) return true
      return low.isStrict || high.isStrict || excluded.some((value) => Json.equal(value, low.value))
    })
  )
}

/** The field on which well-formed conditions contradict each other, so that no call opens the guard. */
export const contradiction = (conditions: ReadonlyArray<Condition>): string | undefined =>
  Array.from(new Set(conditions.map(({ field }) => field))).find((field) => {
    const here = conditions.filter((condition) => condition.field === field)
    const among = candidates(field, here)
    if (among === undefined) return isEmptyRange(here)
    const within = conditions.filter(
      (condition) => condition.field === field || (field !== "outcome" && condition.field.startsWith(`${field}/`))
    )
    return !among.some((value) =>
      within.every((condition) => {
        const found = read(value, field === "outcome" ? "" : condition.field.slice(field.length))
        return found !== undefined && holds(condition.op, condition.value, found.value)
      })
    )
  })
