/**
 * A `Skill` is a unit of instructions with the tools that go with them, and optionally the steps in which they are
 * used. It is plain data: handlers are found by name when a call is dispatched.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as CallOutcome from "./CallOutcome.ts"
import type * as Refusal from "./Refusal.ts"
import * as SafeId from "./SafeId.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** A tool that a skill contributes. `schema` is JSON Schema. */
export const SkillTool = Schema.Struct({
  name: Schema.String,
  description: optional(Schema.String),
  schema: Schema.Unknown
})
export type SkillTool = typeof SkillTool.Type

/** A tool to call, and what to see to when it is called. */
export const Step = Schema.Struct({ toolName: Schema.String, note: Schema.String })
export type Step = typeof Step.Type

export const Skill = Schema.Struct({
  id: Schema.String,
  description: optional(Schema.String),
  instructions: Schema.String,
  tools: Schema.Array(SkillTool),
  steps: optional(Schema.Array(Step))
})
export type Skill = typeof Skill.Type

/** The first step that is not done after a batch: each success of the tool of the step at hand does it. */
export const stepAfter = (skill: Skill, at: number, outcomes: ReadonlyArray<CallOutcome.CallOutcome>): number =>
  outcomes.reduce(
    (at, { outcome, toolName }) =>
      CallOutcome.succeeded(outcome) && skill.steps?.[at]?.toolName === toolName ? at + 1 : at,
    at
  )

const refuse = (what: string, next: string): Refusal.Refusal => ({
  tag: "StepNotSkipped",
  law: "A step is done, or skipped for a reason that is on the record.",
  code: "WF-SKILL-005",
  what,
  next,
  outcome: "not-applied",
  retry: "never"
})

/** There is nothing to skip. */
export const noStep: Refusal.Refusal = refuse(
  "No step was open when this call was made.",
  "Go on without skipping a step."
)

/** The step after the one at hand, which is left out for a reason. */
export const skip = (skill: Skill, at: number, reason: string): Either.Either<number, Refusal.Refusal> => {
  const step = skill.steps?.[at]
  if (step === undefined) return Either.left(noStep)
  if (reason.trim() === "") {
    const what = `The step that calls ${SafeId.print(step.toolName)} was not skipped: the call gave no reason.`
    return Either.left(refuse(what, "Call skip_step again with the reason, or do the step."))
  }
  return Either.right(at + 1)
}
