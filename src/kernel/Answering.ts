/**
 * `Answering` is how a run whose answers have a schema comes to one: by a call of a tool of ours, or, of a model that is
 * sent the schema itself, by a reply that is JSON of it.
 *
 * @internal
 */
import * as Predicate from "effect/Predicate"
import type * as AnswerEvent from "./AnswerEvent.ts"
import * as Declared from "./Declared.ts"
import type * as Event from "./Event.ts"
import * as Json from "./Json.ts"
import * as Notice from "./Notice.ts"
import * as Refusal from "./Refusal.ts"
import type * as State from "./State.ts"

export const toolName = "final_answer"

/** So often an answer may be sent back in a run. */
export const corrections = 2

const description = [
  "Gives the answer, which ends the task. Call it alone, once every result that the answer needs is there.",
  "What is not given by this call is not read as the answer."
].join(" ")

/** The tool as the model is told of it. */
export const declared = (schema: unknown): Event.ToolDeclared =>
  Declared.tool({ name: toolName, description, schema }, { replay: "pure", by: "runtime" })

export const taken = "The answer was taken."

/** Whether it is our tool in a run: without a schema the name is anybody's. */
export const isTool = (started: Event.RunStarted | undefined, name: string): boolean =>
  name === toolName && started?.manifest.answer !== undefined

type Given = NonNullable<State.Final["given"]>

/** The answer in what was given: itself, or what its one property holds. */
export const valueIn = (started: Event.RunStarted | undefined, given: unknown): unknown => {
  const inside = started?.manifest.answer?.inside
  return inside === undefined || !Predicate.hasProperty(given, inside) ? given : given[inside]
}

/** The answer as a text: the reply's own words, or the JSON of what fits the schema. */
export const textOf = ({ content, given }: State.Final): string =>
  given === undefined ? content : (JSON.stringify(given.value) ?? "null")

/** What of an answer is judged: its words, or the values of its JSON, whose keys are not the model's. */
export const judgedOf = ({ content, given }: State.Final): string => (given === undefined ? content : leavesOf(given))

const leavesOf = ({ value }: Given): string =>
  Json.leaves(value)
    .flatMap(({ part, value }) => (part === "key" ? [] : [String(value)]))
    .join("\n")

const shown = 8

const asked = (issues: ReadonlyArray<string>): string =>
  Notice.of("no answer yet", [
    "The last reply was not taken as the answer:",
    ...issues.slice(0, shown).map((issue) => `- ${issue}`),
    ...(issues.length > shown ? [`- ${issues.length - shown} more`] : []),
    "Give the whole answer again, mended."
  ])

export const rejected = (iteration: number, issues: ReadonlyArray<string>): AnswerEvent.AnswerRejected => {
  const [first = "It is no JSON of the schema.", ...rest] = issues
  return { _tag: "AnswerRejected", iteration, issues: [first, ...rest], asked: asked([first, ...rest]) }
}

/** Words in place of a call. */
export const notCalled = (iteration: number): AnswerEvent.AnswerRejected =>
  rejected(iteration, [`It was text. The answer is given by a call of ${toolName}.`])

/** Why no further answer is asked for. */
export const over = ({ answering, started }: State.State): Refusal.Refusal | undefined => {
  const allowed = started?.manifest.answer?.corrections
  return allowed === undefined || answering === undefined || answering.rejected <= allowed
    ? undefined
    : Refusal.answerInvalid(answering.issues, answering.rejected)
}

/** The messages from `from` on are an answer that was not taken, and what was said of it. */
export const notTaken = (state: State.State, from: number): State.State => {
  const { superseded = [] } = supersede(state).notTaken ?? {}
  return { ...state, notTaken: { superseded, last: [from, state.messages.length] } }
}

/** A later answer is in place of all that were not taken. */
export const supersede = (state: State.State): State.State => {
  const { last, superseded = [] } = state.notTaken ?? {}
  return last === undefined ? state : { ...state, notTaken: { superseded: [...superseded, last] } }
}
