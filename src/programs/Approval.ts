/**
 * An `Approval` is whether a tool's calls need a person's yes before they run. Without an annotation, a tool that says of
 * itself that it is `Destructive` does; rules of the agent (`Agent.make({ approval })`) come before the annotation.
 *
 * @since 0.1.0
 */
import * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ApprovalRule from "../kernel/ApprovalRule.ts"
import * as Issues from "../kernel/Issues.ts"

/** Annotates a tool: `tool.annotate(Approval.Approval, "ask")`. `deny`: it is offered, and never run. */
export class Approval extends Context.Tag("wherefore/programs/Approval")<Approval, ApprovalRule.Verdict>() {}

/** A rule of an agent, as data. */
export type Rule = ApprovalRule.ApprovalRule

/**
 * What a tool declares, or what its annotations imply: `ask` if it was annotated as `Destructive`, else `allow`. A tool that
 * was not is destructive by default to `@effect/ai`, and that says nothing.
 */
export const of = (tool: Tool.Any): ApprovalRule.Verdict => {
  const declared = Context.getOption(tool.annotations, Approval)
  if (Option.isSome(declared)) return declared.value
  const isDestructive =
    tool.annotations.unsafeMap.has(Tool.Destructive.key) && Context.get(tool.annotations, Tool.Destructive)
  return isDestructive ? "ask" : "allow"
}

const decode = Schema.decodeUnknownEither(Schema.Array(ApprovalRule.ApprovalRule), {
  errors: "all",
  onExcessProperty: "error"
})

/** The rules, and what is wrong with them. With a rule that cannot be read there are none, and the agent cannot be run. */
export const read = (
  rules: unknown
): { readonly rules: ReadonlyArray<Rule>; readonly problems: ReadonlyArray<string> } =>
  Either.match(decode(rules), {
    onLeft: (error) => ({
      rules: [],
      problems: Issues.list(error).map((issue) => `approval cannot be read: ${issue}.`)
    }),
    onRight: (rules) => ({ rules, problems: ApprovalRule.problems(rules) })
  })
