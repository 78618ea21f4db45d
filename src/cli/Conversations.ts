/**
 * `Conversations` are what a file of chat messages holds: one, a list of them, or one on each line.
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Json from "../kernel/Json.ts"
import type * as Problem from "../kernel/Problem.ts"

/** One conversation, and where it is in the file: empty if it is all of it. */
export interface Conversation {
  readonly at: string
  readonly value: unknown
}

/** Something that is no JSON, and where. */
export interface Fault {
  readonly at: string
  readonly problem: Problem.Problem
}

const limits: Json.Limits = { maxChars: 67_108_864, maxStringChars: 16_777_216, maxKeys: 1_000_000 }

const isMessage = (value: unknown): boolean => Predicate.hasProperty(value, "role")

const ofValue = (value: unknown): ReadonlyArray<Conversation> =>
  Array.isArray(value) && value.length > 0 && !value.every(isMessage)
    ? value.map((one: unknown, index) => ({ at: `conversation ${index + 1}`, value: one }))
    : [{ at: "", value }]

interface Line {
  readonly at: string
  readonly text: string
}

const ofLines = (lines: ReadonlyArray<Line>): Either.Either<ReadonlyArray<Conversation>, ReadonlyArray<Fault>> => {
  const faults: Array<Fault> = []
  const values: Array<Conversation> = []
  for (const { at, text } of lines) {
    const parsed = Json.parse(text, limits)
    if (Either.isLeft(parsed)) faults.push({ at, problem: parsed.left })
    else values.push({ at, value: parsed.right })
  }
  if (faults.length > 0) return Either.left(faults)
  // A message on each line is one conversation.
  return Either.right(
    values.every(({ value }) => isMessage(value)) ? [{ at: "", value: values.map(({ value }) => value) }] : values
  )
}

/** The conversations of a text, or everything in it that is no JSON. */
export const read = (text: string): Either.Either<ReadonlyArray<Conversation>, ReadonlyArray<Fault>> => {
  const whole = Json.parse(text, limits)
  if (Either.isRight(whole)) return Either.right(ofValue(whole.right))
  const lines = text
    .split("\n")
    .map((line, index) => ({ at: `line ${index + 1}`, text: line }))
    .filter((line) => line.text.trim() !== "")
  const [first] = lines
  const areLines = first !== undefined && lines.length > 1 && Either.isRight(Json.parse(first.text, limits))
  return areLines ? ofLines(lines) : Either.left([{ at: "", problem: whole.left }])
}
