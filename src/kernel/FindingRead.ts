/**
 * A `FindingRead` is what a call's arguments, or an answer's value, declare under `_findings`. It is taken out before
 * anything else looks at them, and read entry by entry: what is wrong is dropped by name, and fails nothing.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as FindingRow from "./FindingRow.ts"
import * as Json from "./Json.ts"

/** The name of the argument, reserved in every tool. */
export const argument = "_findings"

export const most = { entries: 32, assertions: 16, characters: 2_000 } as const

/** Why an entry was dropped. */
export const RejectionCode = Schema.Literal(
  "not-an-object",
  "bad-id",
  "bad-standing",
  "bad-assertion",
  "bad-text",
  "too-many",
  "too-long",
  "ledger-full"
)
export type RejectionCode = typeof RejectionCode.Type

/**
 * `index` is the entry's, counted from 0; without it, it was the declaration itself or one of its own two texts. `count`
 * is how many entries from `index` on went for the same reason.
 */
export const Rejection = Schema.Struct({
  index: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }),
  code: RejectionCode,
  count: Schema.optionalWith(Schema.NonNegativeInt, { exact: true })
})
export type Rejection = typeof Rejection.Type

/** A valid entry, as declared: `toolCallId` may be a handle. What its standing has no use for is left out. */
export interface Entry {
  readonly index: number
  readonly toolCallId: string
  readonly standing: FindingRow.StandingWord
  readonly assertions: ReadonlyArray<FindingRow.Assertion>
  readonly line?: string
  readonly settles?: string
}

export interface Declared {
  readonly proposition?: string
  readonly predicts?: string
  readonly previous: ReadonlyArray<Entry>
}

/** `args` without the declaration: the same instance, if there was none. */
export interface Read<A> {
  readonly args: A
  readonly declared: Declared
  readonly rejected: ReadonlyArray<Rejection>
}

const surrogate = /\p{Surrogate}/u
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f]/

type Checked<A> = Either.Either<A, RejectionCode>

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const own = (value: { readonly [key: string]: unknown }, key: string): unknown =>
  Object.hasOwn(value, key) ? value[key] : undefined

const isTooLong = (text: string): boolean =>
  text.length > most.characters && (text.length > 2 * most.characters || Array.from(text).length > most.characters)

/** A text that is well-formed; of a name also that it is there and has no control characters. */
const text = (value: unknown, code: RejectionCode, isName: boolean): Checked<string> => {
  if (typeof value !== "string") return Either.left(code)
  if (isTooLong(value)) return Either.left("too-long")
  const isBad = surrogate.test(value) || (isName && (value === "" || control.test(value)))
  return isBad ? Either.left(code) : Either.right(value)
}

/** A text that may be missing; an empty one is. */
const optionalText = (value: unknown): Checked<string | undefined> => {
  if (value === undefined || value === null || value === "") return Either.right(undefined)
  return text(value, "bad-text", false)
}

const valueOf = (value: unknown): Checked<unknown> => {
  if (typeof value === "string") return text(value, "bad-assertion", false)
  return Either.flatMap(
    Either.mapLeft(Json.canonical(value), (): RejectionCode => "bad-assertion"),
    (written) => (isTooLong(written) ? Either.left("too-long" as const) : Either.right(value))
  )
}

const assertion = (value: unknown): Checked<FindingRow.Assertion> =>
  Either.gen(function* () {
    if (!isObject(value)) return yield* Either.left("bad-assertion" as const)
    const subject = own(value, "subject")
    if (!isObject(subject)) return yield* Either.left("bad-assertion" as const)
    const kind = yield* text(own(subject, "kind"), "bad-assertion", true)
    const id = yield* text(own(subject, "id"), "bad-assertion", true)
    const predicate = yield* text(own(value, "predicate"), "bad-assertion", true)
    return { subject: { kind, id }, predicate, value: yield* valueOf(own(value, "value")) }
  })

const assertions = (value: unknown): Checked<ReadonlyArray<FindingRow.Assertion>> => {
  if (value === undefined || value === null) return Either.right([])
  if (!Array.isArray(value)) return Either.left("bad-assertion")
  return value.length > most.assertions ? Either.left("too-many") : Either.all(value.map(assertion))
}

const isStanding = Schema.is(FindingRow.StandingWord)

const entry = (value: unknown, index: number): Checked<Entry> =>
  Either.gen(function* () {
    if (!isObject(value)) return yield* Either.left("not-an-object" as const)
    const toolCallId = yield* text(own(value, "toolCallId"), "bad-id", true)
    const standing = own(value, "standing")
    if (!isStanding(standing)) return yield* Either.left("bad-standing" as const)
    const asserts = standing === "fact" || standing === "open"
    const asserted = asserts ? yield* assertions(own(value, "assertions")) : []
    const line = standing === "ruled-out" ? yield* optionalText(own(value, "line")) : undefined
    const settles = standing === "open" ? yield* optionalText(own(value, "settles")) : undefined
    return {
      index,
      toolCallId,
      standing,
      assertions: asserted,
      ...(line === undefined ? {} : { line }),
      ...(settles === undefined ? {} : { settles })
    }
  })

const declaredIn = (value: unknown): Omit<Read<unknown>, "args"> => {
  const rejected: Array<Rejection> = []
  if (!isObject(value)) return { declared: { previous: [] }, rejected: [{ code: "not-an-object" }] }
  const said = (key: string): string | undefined => {
    const checked = optionalText(own(value, key))
    if (Either.isRight(checked)) return checked.right
    rejected.push({ code: checked.left })
    return undefined
  }
  const proposition = said("proposition")
  const predicts = said("predicts")
  const listed: unknown = own(value, "previous") ?? []
  const entries: ReadonlyArray<unknown> = Array.isArray(listed) ? listed : []
  if (!Array.isArray(listed)) rejected.push({ code: "not-an-object" })
  const previous = entries.slice(0, most.entries).flatMap((one, index) => {
    const checked = entry(one, index)
    if (Either.isRight(checked)) return [checked.right]
    rejected.push({ index, code: checked.left })
    return []
  })
  const excess = entries.length - most.entries
  if (excess > 0) rejected.push({ index: most.entries, code: "too-many", count: excess })
  return {
    declared: {
      ...(proposition === undefined ? {} : { proposition }),
      ...(predicts === undefined ? {} : { predicts }),
      previous
    },
    rejected
  }
}

/** Takes `_findings` out of arguments or of an answer, and reads it. `null` is an absent field, but no declaration. */
export const read = (args: unknown): Read<unknown> => {
  if (!isObject(args) || !Object.hasOwn(args, argument)) return { args, declared: { previous: [] }, rejected: [] }
  const { [argument]: declaration, ...rest } = args
  return { args: rest, ...declaredIn(declaration) }
}

const string = (description: string) => ({ type: "string", description, maxLength: most.characters }) as const

/** The JSON Schema of the argument. It is the same in every tool and on every pass, and names no id. */
export const schema = {
  type: "object",
  description:
    "Optional, and never seen by the tool: what this call is for, and what earlier results turned out to be. It is served back to you later.",
  properties: {
    proposition: string("What this call tests, in one sentence."),
    predicts: string("What you expect it to return."),
    previous: {
      type: "array",
      description: "Your judgement of results that you were served before this call.",
      maxItems: most.entries,
      items: {
        type: "object",
        properties: {
          toolCallId: string("The result: its handle, such as r1, or the id of its call."),
          standing: {
            type: "string",
            enum: FindingRow.StandingWord.literals,
            description:
              "fact: it establishes the assertions. open: it bears on the question and settles nothing yet. ruled-out: what the call tested is excluded. noise: irrelevant."
          },
          assertions: {
            type: "array",
            description: "For fact and open: what the result says.",
            maxItems: most.assertions,
            items: {
              type: "object",
              properties: {
                subject: {
                  type: "object",
                  properties: { kind: { type: "string" }, id: { type: "string" } },
                  required: ["kind", "id"]
                },
                predicate: { type: "string" },
                value: { description: "As it stands in the result." }
              },
              required: ["subject", "predicate", "value"]
            }
          },
          line: string("For ruled-out: what is excluded, in one line."),
          settles: string("For open: what would settle it.")
        },
        required: ["toolCallId", "standing"]
      }
    }
  }
} as const

/** Why a tool is served without the argument: its schema has the name, or does not list its arguments. */
export type Unofferable = "owned" | "unlisted"

/** Where a schema may say more of its own arguments. */
const parts = ["allOf", "anyOf", "oneOf", "$defs", "definitions", "patternProperties", "dependentSchemas"]

const names = (toolSchema: { readonly [key: string]: unknown }): boolean =>
  parts.some((part) =>
    Json.leaves(own(toolSchema, part)).some(({ part, value }) => part === "key" && value === argument)
  )

/** Whether a tool's JSON Schema has the argument of ours. */
export const isOffered = (toolSchema: unknown): boolean => {
  const properties = isObject(toolSchema) ? own(toolSchema, "properties") : undefined
  return isObject(properties) && Json.equal(own(properties, argument), schema)
}

/** A tool's JSON Schema with the argument, after its own; otherwise unchanged. */
export const offerIn = (toolSchema: unknown): Either.Either<{ readonly [key: string]: unknown }, Unofferable> => {
  if (!isObject(toolSchema)) return Either.left("unlisted")
  const properties = own(toolSchema, "properties") ?? {}
  const required = own(toolSchema, "required")
  if (isObject(properties) && Object.hasOwn(properties, argument)) return Either.left("owned")
  if ((Array.isArray(required) && required.includes(argument)) || names(toolSchema)) return Either.left("owned")
  if (!isObject(properties) || own(toolSchema, "type") !== "object") return Either.left("unlisted")
  return Either.right({ ...toolSchema, properties: { ...properties, [argument]: schema } })
}
