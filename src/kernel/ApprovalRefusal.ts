/**
 * An `ApprovalRefusal` is why a call was not run that somebody had a say in: a person, or a rule of the application.
 *
 * @internal
 */
import * as Printable from "./Printable.ts"
import type * as Refusal from "./Refusal.ts"
import type * as WaitEvent from "./WaitEvent.ts"

/** A rule in words. */
const ruleText = ({ index, name }: WaitEvent.RuleRef): string =>
  `rule ${index}${name === undefined ? "" : ` (${Printable.quote(name)})`}`

/** A person said no. `note` is what they said with it. */
export const declined = (tool: string, toolCallId: string, note: string | undefined): Refusal.Refusal => ({
  tag: "ApprovalDeclined",
  law: "A gated call runs only after a person has approved it.",
  code: "WF-APR-001",
  what: `A person declined this call of ${Printable.quote(tool)}, and it was not run.${
    note === undefined || note.trim() === "" ? "" : ` They said: ${Printable.quote(note, 1_000)}`
  }`,
  where: `call ${Printable.quote(toolCallId)}`,
  next: "Go on without it, or say in the answer that it was declined. Only a person can approve a call, not the model.",
  outcome: "not-applied",
  retry: "never"
})

/** A rule said no, or the tool's own annotation did. */
export const policy = (tool: string, rule: WaitEvent.RuleRef | undefined): Refusal.Refusal => ({
  tag: "PolicyDenied",
  law: "What the application denies is not run.",
  code: "WF-APR-002",
  what: `${Printable.quote(tool)} was not run: ${
    rule === undefined ? "the application does not allow it" : `${ruleText(rule)} of the application denied it`
  }.`,
  next: "Go on without it, or say in the answer that it was not allowed.",
  outcome: "not-applied",
  retry: "never"
})

/** The call is gated, and what a person would have to approve cannot be written out. */
export const unwritable = (tool: string, why: ReadonlyArray<string>): Refusal.Refusal => ({
  tag: "PolicyDenied",
  law: "What cannot be shown to a person is not approved.",
  code: "WF-APR-003",
  what: `${Printable.quote(tool)} was not run: its arguments could not be written out for approval: ${Printable.clip(Printable.line(why.slice(0, 8).join(", ")), 400)}.`,
  next: "Give the tool parameters that can be encoded as JSON, or go on without it.",
  outcome: "not-applied",
  retry: "never"
})
