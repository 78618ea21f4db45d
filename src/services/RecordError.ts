/**
 * A `RecordError` says why a record could not do what it was asked. It holds sentences of ours: never an entry's content,
 * never the path of a file.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"

export const Reason = Schema.Literal(
  "InvalidRunId",
  "RunNotFound",
  "Corrupt",
  "UnsupportedFormat",
  "WriteFailed",
  "Full",
  "Unavailable",
  "TooLarge",
  "InvalidInput"
)
export type Reason = typeof Reason.Type

/** What kind of damage: in how a line is written, its place, its run, its hash, what its events say, or its end. */
export const Damage = Schema.Literal("format", "seq", "run-id", "hash", "event", "tail")
export type Damage = typeof Damage.Type

/**
 * The record could not do what it was asked. After `WriteFailed`, and in a file after `Full`, the run is read-only until the
 * layer is built again. `Corrupt` names the first entry of the append that is damaged; what is before it can be read with `to`.
 */
export class RecordError extends Schema.TaggedError<RecordError>()("RecordError", {
  reason: Reason,
  ...Problem.fields,
  /** The run and the entry that it is about, where there is one. */
  runId: Schema.optionalWith(Schema.String, { exact: true }),
  seq: Schema.optionalWith(Schema.NonNegativeInt, { exact: true }),
  /** Of `Corrupt`: the kind of damage, and the last entry before it, if there is one. */
  kind: Schema.optionalWith(Damage, { exact: true }),
  lastGood: Schema.optionalWith(Schema.NonNegativeInt, { exact: true })
}) {
  override get message(): string {
    return Problem.render(this)
  }
  get isRetryable(): boolean {
    return this.retry !== "never" && this.retry !== "after-human"
  }
}

/** Someone else appended first. Nothing was written: read again, and decide again. */
export class RecordConflict extends Schema.TaggedError<RecordConflict>()("RecordConflict", {
  ...Problem.fields,
  runId: Schema.String,
  expectedSeq: Schema.NonNegativeInt,
  actualSeq: Schema.NonNegativeInt
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

const usual: { readonly [R in Reason]: Omit<Problem.Problem, "what"> } = {
  InvalidRunId: {
    code: "WF-REC-001",
    expected: "1 to 64 of a-z, 0-9, _ and -, the first a letter or a digit",
    next: "Use another run id.",
    outcome: "not-applied",
    retry: "never"
  },
  RunNotFound: {
    code: "WF-REC-002",
    next: "List the runs to see which there are.",
    outcome: "not-applied",
    retry: "never"
  },
  Corrupt: {
    code: "WF-REC-003",
    next: "Restore the run from a copy; until then nothing can be appended to it.",
    outcome: "not-applied",
    retry: "never"
  },
  UnsupportedFormat: {
    code: "WF-REC-004",
    next: "Read it with the version that wrote it, or a newer one.",
    outcome: "not-applied",
    retry: "never"
  },
  WriteFailed: {
    code: "WF-REC-005",
    next: "Correct what the storage reports, then build the layer again.",
    outcome: "not-applied",
    retry: "after-human"
  },
  Full: {
    code: "WF-REC-006",
    next: "Free some space, then build the layer again.",
    outcome: "not-applied",
    retry: "after-human"
  },
  Unavailable: {
    code: "WF-REC-007",
    next: "Try again in a second.",
    outcome: "not-applied",
    retry: { afterMs: 1_000 }
  },
  TooLarge: {
    code: "WF-REC-008",
    next: "Keep the large part as an artifact and record its ref.",
    outcome: "not-applied",
    retry: "never"
  },
  InvalidInput: {
    code: "WF-REC-009",
    next: "Correct the call.",
    outcome: "not-applied",
    retry: "never"
  }
}

/** What a failure says beyond its reason; the rest is usual for the reason. */
export type Details = Pick<Problem.Problem, "what"> &
  Partial<Omit<Problem.Problem, "code" | "what">> & {
    readonly runId?: string
    readonly seq?: number
    readonly kind?: Damage
    readonly lastGood?: number
  }

/** An error with the code of its reason, and what is usual for it unless `details` say otherwise. */
export const failure = (reason: Reason, details: Details): RecordError =>
  new RecordError({ reason, ...usual[reason], ...details })

export const conflict = (runId: string, expectedSeq: number, actualSeq: number): RecordConflict =>
  new RecordConflict({
    code: "WF-REC-010",
    what: `Someone else appended to run ${Printable.quote(runId)} first.`,
    expected: `entry ${expectedSeq} to be the next`,
    found: `that entry ${actualSeq} is`,
    next: "Read the run again, and decide again.",
    outcome: "not-applied",
    retry: "never",
    runId,
    expectedSeq,
    actualSeq
  })

/** The run was there neither for a read nor for a tail. */
export const notFound = (runId: string): RecordError =>
  failure("RunNotFound", { what: `There is no run ${Printable.quote(runId)}.`, runId })

/** The grammar of run ids: none of them can name another file, a device or an option. */
export const runIdGrammar = /^[a-z0-9][a-z0-9_-]{0,63}$/

export const invalidRunId = (runId: string): RecordError =>
  failure("InvalidRunId", {
    what: "This is no run id.",
    found: `${Problem.kindOf(runId)} that does not fit`
  })

/** An option of a read or a list that is not a number of the kind that it has to be. */
export const invalidOption = (name: string, expected: string, value: unknown): RecordError =>
  failure("InvalidInput", {
    what: `The option ${name} cannot be used.`,
    where: name,
    expected,
    found: Problem.kindOf(value)
  })
