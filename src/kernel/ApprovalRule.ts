/**
 * An `ApprovalRule` says of some calls whether they are allowed, need a person, or are denied. Rules are data. The first
 * that matches a call decides; a call that no rule matches falls to the annotation of its tool.
 *
 * What is unclear is not allowed: a bound on a value that cannot be compared with it is taken to hold by a rule that asks or
 * denies, and not to hold by one that allows.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Guard from "./Guard.ts"
import * as Printable from "./Printable.ts"
import type * as WaitEvent from "./WaitEvent.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

export const Verdict = Schema.Literal("allow", "ask", "deny")
export type Verdict = typeof Verdict.Type

/**
 * `tool` is a name, or the start of one and then `*`. `when` are conditions that all have to hold of the arguments, decoded
 * and written out again: `field` is a JSON pointer (RFC 6901) into them, and of a value that is not there no condition
 * holds. `scope` are parts of the run's artifact scope that have to be equal.
 */
export const ApprovalRule = Schema.Struct({
  name: optional(Schema.NonEmptyString),
  tool: Schema.NonEmptyString,
  when: optional(Schema.Array(Guard.Condition)),
  scope: optional(
    Schema.Struct({
      conversationId: optional(Schema.String),
      tenant: optional(Schema.String),
      principal: optional(Schema.String)
    })
  ),
  verdict: Verdict
})
export type ApprovalRule = typeof ApprovalRule.Type

export interface Asked {
  readonly toolName: string
  /** The arguments as decoded and written out again. */
  readonly args: unknown
  readonly scope: { readonly conversationId?: string; readonly tenant?: string; readonly principal?: string }
}

export interface Judged {
  readonly verdict: Verdict
  /** Absent if no rule matched. */
  readonly rule?: WaitEvent.RuleRef
}

const matchesTool = (pattern: string, toolName: string): boolean =>
  pattern.endsWith("*") ? toolName.startsWith(pattern.slice(0, -1)) : pattern === toolName

const isOrder = (op: Guard.Op): boolean => op === "gt" || op === "gte" || op === "lt" || op === "lte"

const holds = ({ verdict, when = [] }: ApprovalRule, args: unknown): boolean => {
  const find = Guard.inside(args)
  return Guard.judge(when, find).every(({ field, holds, op, value }) => {
    if (holds || !isOrder(op)) return holds
    const found = find(field)
    const isUnclear = found !== undefined && typeof found.value !== typeof value
    return isUnclear && verdict !== "allow"
  })
}

const matches = (rule: ApprovalRule, { args, scope, toolName }: Asked): boolean => {
  const wanted = rule.scope ?? {}
  return (
    matchesTool(rule.tool, toolName) &&
    (wanted.conversationId === undefined || wanted.conversationId === scope.conversationId) &&
    (wanted.tenant === undefined || wanted.tenant === scope.tenant) &&
    (wanted.principal === undefined || wanted.principal === scope.principal) &&
    holds(rule, args)
  )
}

/** What becomes of a call. `otherwise` is what the tool's annotation says. */
export const judge = (rules: ReadonlyArray<ApprovalRule>, asked: Asked, otherwise: Verdict): Judged => {
  const index = rules.findIndex((rule) => matches(rule, asked))
  const rule = rules[index]
  if (rule === undefined) return { verdict: otherwise }
  return { verdict: rule.verdict, rule: { index, ...(rule.name === undefined ? {} : { name: rule.name }) } }
}

/** What is wrong with a rule as it is written. */
export const problems = (rules: ReadonlyArray<ApprovalRule>): ReadonlyArray<string> =>
  rules.flatMap(({ name, tool, when = [] }, index) => {
    const named = `approval rule ${index}${name === undefined ? "" : ` (${Printable.quote(name)})`}`
    return [
      ...(tool.slice(0, -1).includes("*") ? [`In ${named} "*" may only end the tool's name.`] : []),
      ...when.flatMap((condition) => {
        const fault = condition.field === "outcome" ? "its field is no JSON pointer" : Guard.malformed(condition)
        return fault === undefined ? [] : [`A condition of ${named} cannot be judged: ${fault}.`]
      })
    ]
  })
