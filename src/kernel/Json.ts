/**
 * A `Json` is a value of the closed JSON domain: `null`, booleans, finite numbers other than `-0`, well-formed strings,
 * lists without holes, and plain objects. Writing such a value and reading it back changes nothing.
 *
 * Every walk keeps a stack of its own: no function here recurses with the depth of its input, and none throws.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import * as Problem from "./JsonProblem.ts"

export { JsonProblem, NotJson } from "./JsonProblem.ts"
export { defaults, type Limits, parse } from "./JsonText.ts"

const surrogate = /\p{Surrogate}/u

const isScalar = (value: unknown): value is Leaf["value"] =>
  value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** Why a scalar is outside the domain. */
const scalarFault = (value: unknown): string | undefined => {
  if (value === null || typeof value === "boolean") return undefined
  if (typeof value === "string") return surrogate.test(value) ? "it holds half a surrogate pair" : undefined
  if (typeof value !== "number") return value === undefined ? "it is undefined" : `it is a ${typeof value}`
  if (!Number.isFinite(value)) return "it is not a finite number"
  return Object.is(value, -0) ? "it is negative zero" : undefined
}

/** A container with its members in order, and how far a walk has come. `keys` is absent for a list. */
interface Opened {
  readonly value: object
  readonly keys?: ReadonlyArray<string>
  readonly members: ReadonlyArray<unknown>
  next: number
}

interface Fault {
  readonly reason: string
  readonly key?: string
}

const memberOf = (value: object, key: string): { readonly member: unknown } | Fault => {
  const property = Object.getOwnPropertyDescriptor(value, key)
  if (property === undefined) return { key, reason: "it cannot be read" }
  if (!("value" in property)) return { key, reason: "it is computed by an accessor" }
  if (property.enumerable !== true) return { key, reason: "the property is hidden" }
  if (key === "toJSON" && typeof property.value === "function") return { reason: "it has a toJSON method" }
  return { member: property.value }
}

const read = (value: object, sorted: boolean): Opened | Fault => {
  const isList = Array.isArray(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  const isPlain = isList ? prototype === Array.prototype : prototype === Object.prototype || prototype === null
  if (!isPlain) return { reason: "it is not a plain object or list" }
  const own = Reflect.ownKeys(value)
  const keys = own.filter((key) => typeof key === "string")
  if (keys.length < own.length) return { reason: "it has a symbol for a key" }
  if (isList) {
    // In a list without holes the keys are the indices in order, and `length`.
    const wrong = keys.findIndex((key, index) => key !== (index < value.length ? String(index) : "length"))
    if (wrong >= 0 && wrong < value.length) return { key: String(wrong), reason: "the list has a hole" }
    if (wrong >= 0) return { reason: "the list has other members than its items" }
  } else if (sorted) keys.sort()
  const members: Array<unknown> = []
  for (const key of isList ? keys.slice(0, -1) : keys) {
    const own = memberOf(value, key)
    if ("reason" in own) return own
    members.push(own.member)
  }
  return isList ? { value, members, next: 0 } : { value, keys, members, next: 0 }
}

/** A proxy can fail when it is looked at. */
const open = (value: object, sorted: boolean): Opened | Fault =>
  Either.getOrElse(
    Either.try(() => read(value, sorted)),
    () => ({ reason: "it cannot be read" })
  )

const nameOf = (opened: Opened, index: number): string => opened.keys?.[index] ?? String(index)

/** The longest text that `canonical` writes: what is shared inside a value is written each time. */
const maxChars = 268_435_456

/**
 * Canonical JSON, as RFC 8785 writes it: no white space, keys sorted by UTF-16 code unit. A value outside the domain is
 * refused at its first fault. Wider than `parse`: NUL and reserved keys are data here.
 */
export const canonical = (
  value: unknown,
  limits: { readonly maxChars?: number } = {}
): Either.Either<string, Problem.NotJson> => {
  const limit = limits.maxChars ?? maxChars
  const stack: Array<Opened> = []
  const ancestors = new Set<object>()
  let text = ""
  let member = value
  const refuse = (fault: Fault) =>
    Either.left(
      Problem.notJson(
        [...stack.map((opened) => nameOf(opened, opened.next - 1)), ...(fault.key === undefined ? [] : [fault.key])],
        fault.reason
      )
    )
  for (;;) {
    if (typeof member === "object" && member !== null) {
      if (ancestors.has(member)) return refuse({ reason: "it contains itself" })
      const opened = open(member, true)
      if ("reason" in opened) return refuse(opened)
      stack.push(opened)
      ancestors.add(member)
      text += opened.keys === undefined ? "[" : "{"
    } else {
      const reason = scalarFault(member)
      if (reason !== undefined) return refuse({ reason })
      text += JSON.stringify(member)
    }
    for (;;) {
      if (text.length > limit) return refuse({ reason: `its text is longer than ${limit} characters` })
      const opened = stack.at(-1)
      if (opened === undefined) return Either.right(text)
      if (opened.next < opened.members.length) {
        if (opened.next > 0) text += ","
        const key = opened.keys?.[opened.next]
        member = opened.members[opened.next++]
        if (key !== undefined) {
          const reason = scalarFault(key)
          if (reason !== undefined) return refuse({ reason: "a key holds half a surrogate pair" })
          text += `${JSON.stringify(key)}:`
        }
        break
      }
      text += opened.keys === undefined ? "]" : "}"
      ancestors.delete(opened.value)
      stack.pop()
    }
  }
}

/** Whether both are in the domain and have the same canonical JSON: `1` is not `"1"`, and the order of keys is free. */
export const equal: {
  (that: unknown): (self: unknown) => boolean
  (self: unknown, that: unknown): boolean
} = dual(2, (self: unknown, that: unknown): boolean => {
  const left = canonical(self)
  const right = canonical(that)
  return Either.isRight(left) && Either.isRight(right) && left.right === right.right
})

/**
 * A key of an object, or a scalar. `pointer` is the JSON pointer (RFC 6901) of the scalar, or of the member that has
 * the key; it is exact.
 */
export interface Leaf {
  readonly part: "key" | "value"
  readonly pointer: string
  readonly value: string | number | boolean | null
}

/**
 * All keys and scalars of a value in its own order, each key before what it holds. What is outside the domain, or holds
 * itself, has no leaves.
 */
export const leaves = (value: unknown): ReadonlyArray<Leaf> => {
  const found: Array<Leaf> = []
  const stack: Array<Opened & { readonly pointer: string }> = []
  const ancestors = new Set<object>()
  let member = value
  let pointer = ""
  for (;;) {
    if (typeof member === "object" && member !== null) {
      const opened = ancestors.has(member) ? undefined : open(member, false)
      if (opened !== undefined && !("reason" in opened)) {
        stack.push({ ...opened, pointer })
        ancestors.add(member)
      }
    } else if (scalarFault(member) === undefined && isScalar(member)) {
      found.push({ part: "value", pointer, value: member })
    }
    for (;;) {
      const opened = stack.at(-1)
      if (opened === undefined) return found
      if (opened.next < opened.members.length) {
        const name = nameOf(opened, opened.next)
        pointer = `${opened.pointer}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`
        if (opened.keys !== undefined && scalarFault(name) === undefined)
          found.push({ part: "key", pointer, value: name })
        member = opened.members[opened.next++]
        break
      }
      ancestors.delete(opened.value)
      stack.pop()
    }
  }
}
