/**
 * A `Complaint` is what the command says when it cannot do what it was asked: one sentence for what happened, one for what
 * to do. The cause is printed with `--debug` only.
 */
import type * as Problem from "../kernel/Problem.ts"
import type * as RecordError from "../services/RecordError.ts"

/**
 * 1: an honest no. 2: it was asked for in a way that cannot be. 3: something could not be read. 4: a record is damaged.
 * 5: it was refused. 6: a budget is spent. 7: the model's provider failed. 8: nobody knows whether something was done.
 */
export type Exit = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8

export interface Complaint {
  readonly _tag: "Complaint"
  readonly exit: Exit
  readonly what: string
  readonly next: string
  readonly code?: string
  readonly cause?: unknown
}

interface More {
  readonly code?: string
  readonly cause?: unknown
}

const make =
  (exit: Exit) =>
  (what: string, next: string, more: More = {}): Complaint => ({ _tag: "Complaint", exit, what, next, ...more })

export const no = make(1)
export const usage = make(2)
export const unreadable = make(3)
export const refused = make(5)

/** How the command ends for a failure of a record. What was damaged is not what could never be read. */
export const exitOfRecord = ({
  outcome,
  reason,
  runId
}: Partial<Pick<RecordError.RecordError, "outcome" | "reason" | "runId">>): Exit => {
  if (reason === "Corrupt") return runId === undefined ? 3 : 4
  return outcome === "unknown" ? 8 : 3
}

export const ofRecord = (error: RecordError.RecordError): Complaint => ofProblem(exitOfRecord(error), error, error)

/** A problem of the library, as the command's user reads it. */
export const ofProblem = (exit: Exit, problem: Problem.Problem, cause: unknown): Complaint => {
  const { code, expected, found, next, what, where } = problem
  const place = where === undefined ? "" : ` At ${where}.`
  const pair = [
    ...(expected === undefined ? [] : [`expected ${expected}`]),
    ...(found === undefined ? [] : [`found ${found}`])
  ]
  const details = pair.length === 0 ? "" : ` (${pair.join("; ")})`
  return make(exit)(`${what}${place}${details}`, next, { code, cause })
}
