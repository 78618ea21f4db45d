/**
 * A `BudgetRefusal` is why a run stops that would have gone on for ever, or for more than can be reckoned.
 *
 * @internal
 */
import * as Printable from "./Printable.ts"
import type * as Refusal from "./Refusal.ts"

/** What was spent, or will be, cannot be said in money. `model` is who is asked, as far as that is known. */
export const costUnknown = (model: string | undefined, isUnpriced: boolean): Refusal.Refusal => ({
  tag: "CostUnknown",
  law: "A budget that cannot be kept is not pretended to be.",
  code: "WF-RUN-016",
  what: isUnpriced
    ? `The table of prices has no price of ${model === undefined ? "the model, which is not named" : Printable.quote(model)}, so the run's budget of money could not be kept.`
    : "What the model's replies took was not told in whole, or has no price, so the run's budget of money could not be kept.",
  next: isUnpriced
    ? "Give the table of budget.money.prices a price of the model, or limit tokens in place of money."
    : "Use a provider that reports usage, give prices of all that it reports, or limit passes in place of money.",
  outcome: "not-applied",
  retry: "after-human"
})

/** The same call came to the same result again and again, with nothing new in between, after the model was told so. */
export const noProgress = (tool: string, occurrences: number): Refusal.Refusal => ({
  tag: "NoProgress",
  law: "A run that learns nothing new ends.",
  code: "WF-RUN-017",
  what: `${Printable.quote(tool)} was called ${occurrences} times with the same arguments and came to the same result, with nothing new in between; the model had been told.`,
  next: "Say in the instructions what to do when a result does not change, annotate a tool that polls with Repeats, or ask for less.",
  outcome: "not-applied",
  retry: "after-human"
})

/** A call was to start a run, and there are too many, or too deep. */
export const childRefused = (why: string): Refusal.Refusal => ({
  tag: "ChildRefused",
  law: "What runs start is limited in number and in depth.",
  code: "WF-RUN-018",
  what: `No further run was started: ${why}`,
  next: "Go on without it. The agent's budget.children and budget.depth say how many there may be.",
  outcome: "not-applied",
  retry: "never"
})
