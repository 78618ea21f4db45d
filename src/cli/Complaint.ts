/**
 * A `Complaint` is what the command says when it cannot do what it was asked: one sentence for what happened, one for what
 * to do. The cause is printed with `--debug` only.
 */
import type * as Problem from "../kernel/Problem.ts"

/** 1: an honest no. 2: it was asked for in a way that cannot be. 3: something could not be read. 5: it was refused. */
export type Exit = 1 | 2 | 3 | 5

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
