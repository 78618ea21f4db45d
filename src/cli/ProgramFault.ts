/**
 * A `ProgramFault` is what ended the user's own code, as a complaint.
 */
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Problem from "../kernel/Problem.ts"
import * as LLM from "../services/LLM.ts"
import * as RecordError from "../services/RecordError.ts"
import * as Complaint from "./Complaint.ts"
import * as Program from "./Program.ts"

/** The key of the service that a defect says is missing. */
const missingService = (defect: unknown): string | undefined =>
  defect instanceof Error ? /^Service not found: ([^\s(]+)/.exec(defect.message)?.[1] : undefined

const isProblem = Schema.is(Problem.Problem)

const isOfRecord = Schema.is(
  Schema.Struct({
    _tag: Schema.Literal("RecordError"),
    reason: RecordError.Reason,
    outcome: Problem.Outcome,
    runId: Schema.optionalWith(Schema.String, { exact: true })
  })
)
const isOfModel = Schema.is(Schema.Struct({ _tag: Schema.Literal("LLMError"), reason: Schema.String }))

/** What the record cannot keep or read is the archive's fault, and a model that is not set up the environment's. */
const exitOf = (failure: unknown): Complaint.Exit => {
  // By what they say: the file may have a copy of the library of its own.
  if (isOfRecord(failure)) return Complaint.exitOfRecord(failure)
  if (isOfModel(failure)) return failure.reason === "Misconfigured" ? 2 : 7
  return Predicate.isTagged(failure, "DecisionRefused") ? 5 : 1
}

export interface Advice {
  /** What to say if it is the model that is missing. */
  readonly missingModel: Complaint.Complaint
  readonly next: string
}

/** What ended a program that did not succeed. Nothing, if it was interrupted. */
export const complaintOf = (
  cause: Cause.Cause<unknown>,
  { missingModel, next }: Advice
): Complaint.Complaint | undefined => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  if (failure !== undefined) {
    if (isProblem(failure)) return Complaint.ofProblem(exitOf(failure), failure, cause)
    return Complaint.no(`The program failed: ${Program.reasonOf(failure)}`, next, { cause })
  }
  const defect = Option.getOrUndefined(Cause.dieOption(cause))
  if (defect === undefined) return undefined
  const service = missingService(defect)
  if (service === LLM.LLM.key) return { ...missingModel, cause }
  if (service !== undefined) {
    return Complaint.usage(
      `The program needs the service ${service}.`,
      "Provide its layer in the file: Effect.provide(program, layer).",
      { cause }
    )
  }
  return Complaint.no(`The program stopped with an unexpected error: ${Program.reasonOf(defect)}`, next, { cause })
}
