/**
 * A `CheckEvent` is what checks report: each fault once a run, and at the end of the run what each of them came to.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Fault from "./Fault.ts"

const count = Schema.NonNegativeInt
const iteration = Schema.Positive.pipe(Schema.int())

/** In `dev`, checks are tried on planted faults, and a run that shows one of them blind is to fail. */
export const Posture = Schema.Literal("dev", "live")
export type Posture = typeof Posture.Type

/**
 * How often a check looked and what came of it. `checked` counts the looks that passed or failed, `findings` those that
 * failed, `advisories` those that failed by a doubt and are no findings, `synthetic` the planted faults that it caught
 * and that count nowhere else. `lastFiredAt` is the pass of its last finding.
 */
export const CheckReport = Schema.Struct({
  check: Fault.Kind,
  seam: Fault.Seam,
  checked: count,
  findings: count,
  advisories: count,
  notApplicable: count,
  unreachable: count,
  lastFiredAt: Schema.optionalWith(iteration, { exact: true }),
  synthetic: count
}).pipe(
  Schema.filter(({ advisories, checked, findings }) => findings + advisories <= checked, {
    message: () => "a check finds no more than it has checked"
  })
)
export type CheckReport = typeof CheckReport.Type

export const FaultFound = Schema.TaggedStruct("FaultFound", { iteration, ...Fault.Fault.fields })
export type FaultFound = typeof FaultFound.Type

/** Exactly one a run, however it ended. `workExisted` is not for the checks to say. */
export const ChecksFiled = Schema.TaggedStruct("ChecksFiled", {
  posture: Posture,
  workExisted: Schema.Boolean,
  rows: Schema.Array(CheckReport)
})
export type ChecksFiled = typeof ChecksFiled.Type

export const CheckEvent = Schema.Union(FaultFound, ChecksFiled)
export type CheckEvent = typeof CheckEvent.Type
