/**
 * A `JsonProblem` is why a text from outside was refused as JSON, or a value as a value of the closed JSON domain. It
 * says where and which rule, and shows nothing of the content but its keys.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Digest from "./Digest.ts"
import * as Printable from "./Printable.ts"
import * as Problem from "./Problem.ts"

const count = Schema.NonNegativeInt

/** The text, or one string in it, is too long. Sizes are in UTF-16 code units. */
export const InputTooLarge = Schema.TaggedStruct("InputTooLarge", { ...Problem.fields, limit: count, got: count })
export type InputTooLarge = typeof InputTooLarge.Type

/** `offset` is where the container opens that is one too deep. */
export const InputTooDeep = Schema.TaggedStruct("InputTooDeep", { ...Problem.fields, limit: count, offset: count })
export type InputTooDeep = typeof InputTooDeep.Type

/** All objects of the text together have too many members. */
export const InputTooWide = Schema.TaggedStruct("InputTooWide", { ...Problem.fields, limit: count })
export type InputTooWide = typeof InputTooWide.Type

/** `offset` counts UTF-16 code units from 0; `line` and `column` from 1, a line ending at LF, CR or CR LF. */
export const MalformedJson = Schema.TaggedStruct("MalformedJson", {
  ...Problem.fields,
  offset: count,
  line: count,
  column: count,
  expected: Schema.String
})
export type MalformedJson = typeof MalformedJson.Type

export const ForbiddenKey = Schema.TaggedStruct("ForbiddenKey", { ...Problem.fields, path: Schema.String })
export type ForbiddenKey = typeof ForbiddenKey.Type

/** What JSON allows and readers of it disagree about, or cannot store. */
export const Rule = Schema.Literal("duplicate key", "lone surrogate", "NUL", "number out of range", "negative zero")
export type Rule = typeof Rule.Type

export const NotCanonicalJson = Schema.TaggedStruct("NotCanonicalJson", {
  ...Problem.fields,
  path: Schema.String,
  reason: Rule
})
export type NotCanonicalJson = typeof NotCanonicalJson.Type

export const JsonProblem = Schema.Union(
  InputTooLarge,
  InputTooDeep,
  InputTooWide,
  MalformedJson,
  ForbiddenKey,
  NotCanonicalJson
)
export type JsonProblem = typeof JsonProblem.Type

/** A value of the program that is outside the domain, so that writing it as JSON would change it. */
export const NotJson = Schema.TaggedStruct("NotJson", {
  ...Problem.fields,
  path: Schema.String,
  reason: Schema.String
})
export type NotJson = typeof NotJson.Type

const never = { outcome: "not-applied", retry: "never" } as const

const longest = 64

const shorten = (key: string): string =>
  key.length <= longest ? key : `${key.slice(0, 16)}…${key.length} characters, sha256 ${Digest.of(key).slice(0, 16)}`

const number = (n: number): string => String(n).replace(/\B(?=(?:\d{3})+$)/g, ",")

/**
 * A JSON pointer for people: printable, a key over 64 characters cut to 16 with its length and digest, and of a path
 * of more than 64 steps the first 32 and the last 32. `""` is the whole text.
 */
const path = (keys: ReadonlyArray<string>): string => {
  const steps = keys.length <= longest ? keys : [...keys.slice(0, 32), "…", ...keys.slice(-32)]
  return steps.map((key) => `/${Printable.line(shorten(key)).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")
}

const place = (where: string): string => (where === "" ? "the top level" : where)

export const tooLarge = (limit: number, got: number, keys?: ReadonlyArray<string>): InputTooLarge => ({
  _tag: "InputTooLarge",
  code: "WF-JSON-001",
  what: `The ${keys === undefined ? "text" : "string"} has ${number(got)} characters; the limit is ${number(limit)}.`,
  ...(keys === undefined ? {} : { where: place(path(keys)) }),
  next: "Store large content as an artifact and pass its reference.",
  ...never,
  limit,
  got
})

export const tooDeep = (limit: number, offset: number): InputTooDeep => ({
  _tag: "InputTooDeep",
  code: "WF-JSON-002",
  what: `JSON nesting passes ${number(limit)} levels at character ${number(offset)}.`,
  next: "Flatten the value or store it as an artifact.",
  ...never,
  limit,
  offset
})

export const tooWide = (limit: number): InputTooWide => ({
  _tag: "InputTooWide",
  code: "WF-JSON-003",
  what: `The objects of the JSON text have more than ${number(limit)} members.`,
  next: "Send fewer members, or store the value as an artifact.",
  ...never,
  limit
})

/** What stands at an offset, by class: a mark of JSON is named, content is not. */
const classAt = (text: string, offset: number): string => {
  const character = text.charAt(offset)
  if (character === "") return "the end of the text"
  if (/[{}[\]:,"]/.test(character)) return character
  if (/[0-9]/.test(character)) return "a digit"
  if (/[A-Za-z]/.test(character)) return "a letter"
  return character < " " ? "a control character" : "another character"
}

export const malformed = (text: string, offset: number, expected: string): MalformedJson => {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/)
  const line = lines.length
  const column = (lines.at(-1) ?? "").length + 1
  return {
    _tag: "MalformedJson",
    code: "WF-JSON-004",
    what: `The text is not JSON: line ${number(line)}, column ${number(column)} should be ${expected}.`,
    where: `character ${number(offset)}`,
    found: classAt(text, offset),
    next: "Correct the text at that place.",
    ...never,
    offset,
    line,
    column,
    expected
  }
}

export const forbiddenKey = (keys: ReadonlyArray<string>): ForbiddenKey => ({
  _tag: "ForbiddenKey",
  code: "WF-JSON-005",
  what: `Key at ${path(keys)} is reserved and is not accepted.`,
  where: path(keys),
  next: "Use another key.",
  ...never,
  path: path(keys)
})

const rules: { readonly [reason in Rule]: readonly [what: string, next: string] } = {
  "duplicate key": ["occurs twice in its object", "Keep one of the two."],
  "lone surrogate": ["holds half a surrogate pair", "Write whole characters, or U+FFFD where one was cut."],
  NUL: ["holds the character U+0000", "Leave that character out."],
  "number out of range": ["is a number that is too large or has too many digits", "Send it as a string."],
  "negative zero": ["is negative zero", "Write 0."]
}

export const notCanonical = (keys: ReadonlyArray<string>, reason: Rule): NotCanonicalJson => ({
  _tag: "NotCanonicalJson",
  code: "WF-JSON-006",
  what: `${reason === "duplicate key" ? "Key" : "Value"} at ${place(path(keys))} ${rules[reason][0]}.`,
  where: place(path(keys)),
  next: rules[reason][1],
  ...never,
  path: path(keys),
  reason
})

export const notJson = (keys: ReadonlyArray<string>, reason: string): NotJson => ({
  _tag: "NotJson",
  code: "WF-JSON-007",
  what: `The value at ${place(path(keys))} is not JSON: ${reason}.`,
  where: place(path(keys)),
  expected: "null, a boolean, a finite number, a well-formed string, a list or a plain object",
  next: "Convert it before it is handed over.",
  ...never,
  path: path(keys),
  reason
})
