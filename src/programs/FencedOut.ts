/**
 * A `FencedOut` says that another process has taken a run over.
 *
 * @internal
 */
import * as Schema from "effect/Schema"
import type * as DriveEvent from "../kernel/DriveEvent.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"

/**
 * Another process has taken the run over, and goes on with it. Nothing was written, and no call was started; this is how a
 * process learns that it was paused or cut off for too long. `ordinal` is that of the take-over, `by` who it was.
 */
export class FencedOut extends Schema.TaggedError<FencedOut>()("FencedOut", {
  runId: Schema.String,
  by: Schema.String,
  ordinal: Schema.Positive.pipe(Schema.int()),
  ...Problem.fields
}) {
  override get message(): string {
    return Problem.render(this)
  }
}

export const by = (runId: string, { by, ordinal }: DriveEvent.RunClaimed): FencedOut =>
  new FencedOut({
    runId,
    by,
    ordinal,
    code: "WF-RUN-018",
    what: `Run ${Printable.quote(runId)} was taken over by another process.`,
    where: `run ${Printable.quote(runId)}`,
    found: `take-over ${ordinal}, by ${Printable.quote(by)}`,
    next: "Leave the run to it, or await its outcome.",
    outcome: "not-applied",
    retry: "never"
  })
