/**
 * An `EventText` is the one exact text of an event: written once, hashed as it is, stored as it is. What JSON would change
 * on the way is refused before anything is written.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"

/** Where a value is that cannot be kept, and what it is. */
export interface Unfaithful {
  readonly path: string
  readonly expected: string
  readonly found: string
}

/** Deeper values overflow the stack of those who walk them later. */
const maxDepth = 128

const kept = "a value that JSON gives back as it is"

const under = (key: string | number, { path, ...rest }: Unfaithful): Unfaithful => {
  if (typeof key === "number") return { path: `[${key}]${path}`, ...rest }
  return { path: /^[A-Za-z_]\w{0,63}$/.test(key) ? `.${key}${path}` : `[${Printable.quote(key)}]${path}`, ...rest }
}

const here = (found: string, expected = kept): Unfaithful => ({ path: "", expected, found })

/** Strings are looked into only when `surrogates` says so: the text of the whole event tells whether there is need. */
const walk = (value: unknown, surrogates: boolean, depth: number): Unfaithful | undefined => {
  if (typeof value === "string") {
    return surrogates && Printable.wellFormed(value) !== value ? here("half of a surrogate pair") : undefined
  }
  if (typeof value === "boolean" || value === null) return undefined
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return here("a number that is not finite")
    return Object.is(value, -0) ? here("negative zero") : undefined
  }
  if (depth >= maxDepth) return here("deeper nesting", `at most ${maxDepth} levels`)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = walk(value[i], surrogates, depth + 1)
      if (found !== undefined) return under(i, found)
    }
    return Object.keys(value).length === value.length ? undefined : here("an array with named properties")
  }
  if (!Predicate.isRecord(value)) return here(Problem.kindOf(value))
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return here("an instance of a class")
  if (Object.getOwnPropertySymbols(value).length > 0) return here("an object with a symbol for a key")
  for (const key of Object.keys(value)) {
    if (key === "__proto__") return under(key, here("a reserved key", "another key"))
    const found = walk(value[key], surrogates, depth + 1)
    if (found !== undefined) return under(key, found)
    if (surrogates && Printable.wellFormed(key) !== key) return under(key, here("half of a surrogate pair in the key"))
  }
  return undefined
}

/** JSON writes half a surrogate pair as an escape, and nothing else as one that begins so. */
const half = /(?<!\\)(?:\\\\)*\\ud[89a-f]/

const halves = (text: string): boolean => text.includes("\\ud") && half.test(text)

/** The text of a value that JSON gives back as it is. Each string is read once, by the encoder. */
export const ofValue = (value: unknown): Either.Either<string, Unfaithful> => {
  const found = walk(value, false, 0)
  if (found !== undefined) return Either.left(found)
  const text = JSON.stringify(value)
  if (!halves(text)) return Either.right(text)
  return Either.left(walk(value, true, 0) ?? here("half of a surrogate pair"))
}

export const is = Schema.is(Event.Event)
const validate = ParseResult.validateEither(Event.Event)

/** Where a value is not an event. The value itself is not told. */
const misfit = (value: unknown): Unfaithful =>
  Either.match(validate(value), {
    onLeft: (error) => {
      const path = ParseResult.ArrayFormatter.formatIssueSync(error)[0]?.path ?? []
      return path.reduceRight<Unfaithful>(
        (inner, key) => under(typeof key === "number" ? key : String(key), inner),
        here("something else", "what the schema of the event says")
      )
    },
    onRight: () => here("something else", "an event")
  })

/** The text of an event. */
export const of = (event: Event.Event): Either.Either<string, Unfaithful> => {
  const text = ofValue(event)
  return Either.isLeft(text) || is(event) ? text : Either.left(misfit(event))
}

const tags = new Set(
  Event.Event.members.map(({ fields }) => {
    const { ast } = fields._tag
    return ast._tag === "PropertySignatureDeclaration" && AST.isLiteral(ast.type) ? ast.type.literal : undefined
  })
)

/** Whether a value says to be an event of a kind that a later version added. */
export const isForeign = (value: unknown): boolean =>
  Predicate.hasProperty(value, "_tag") && typeof value._tag === "string" && !tags.has(value._tag)
