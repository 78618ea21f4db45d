/**
 * A `Closing` is how a run that has come to a limit is asked for its answer, with what was kept for it.
 *
 * @internal
 */
import * as Answering from "./Answering.ts"
import * as Budget from "./Budget.ts"
import type * as BudgetEvent from "./BudgetEvent.ts"
import type * as Event from "./Event.ts"
import * as Notice from "./Notice.ts"
import type * as Refusal from "./Refusal.ts"
import type * as State from "./State.ts"

const askedFor = ({ started }: State.State, { what }: Refusal.Refusal): string =>
  Notice.of("the end of the work", [
    what,
    "No tool can be called any more. Give the best answer that what is there allows, and say what it leaves open.",
    ...(started?.manifest.answer === undefined
      ? []
      : [`The answer is given by a call of ${Answering.toolName}, if there is one.`])
  ])

/** The model is asked for its answer, where something was kept for that. */
export const ask = (
  limits: Event.Limits,
  state: State.State,
  reason: Refusal.Refusal
): BudgetEvent.ClosingAsked | undefined =>
  state.closing === undefined && Budget.mayClose(limits, reason)
    ? { _tag: "ClosingAsked", iteration: state.iteration + 1, reason, content: askedFor(state, reason) }
    : undefined

/** Whether the closing answer was asked for, and a reply came. */
export const isOver = ({ closing, iteration }: State.State): boolean =>
  closing !== undefined && iteration >= closing.iteration

/** What limits the pass to come. */
export const limitsOf = (limits: Event.Limits, { closing }: State.State): Event.Limits =>
  closing === undefined ? limits : Budget.forClosing(limits)

/** The tools that ride: of a run that closes, the one that gives the answer. */
export const tools = (
  { closing, started }: State.State,
  all: ReadonlyArray<Event.ToolDeclared>
): ReadonlyArray<Event.ToolDeclared> =>
  closing === undefined ? all : all.filter(({ name }) => Answering.isTool(started, name))
