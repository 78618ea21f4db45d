/**
 * A `Budget` is what a run may spend. It is checked before anything is spent: passes and calls are never overshot, tokens by
 * one reply at most, since nobody knows what a reply takes before it is there.
 *
 * @since 0.1.0
 */
import type * as Event from "./Event.ts"
import * as Refusal from "./Refusal.ts"
import * as Usage from "./Usage.ts"

/** What a run has spent. `unmetered` counts the calls of the model that came without a token count. */
export interface Spent {
  readonly passes: number
  readonly toolCalls: number
  readonly usage: Usage.Usage
  readonly unmetered: number
}

export const nothing: Spent = { passes: 0, toolCalls: 0, usage: Usage.none, unmetered: 0 }

/** What is spent once a reply came: `usage` is what was reported of it. */
export const replied = (spent: Spent, usage: Usage.Usage | undefined): Spent => ({
  ...spent,
  usage: Usage.add(spent.usage, usage ?? Usage.none),
  unmetered: spent.unmetered + (usage === undefined || Usage.total(usage) === undefined ? 1 : 0)
})

/** What is spent once an attempt failed: one that took nothing was told without a usage. */
export const tried = (spent: Spent, usage: Usage.Usage | undefined): Spent =>
  usage === undefined ? spent : replied(spent, usage)

/** The limits of an agent that names none: enough for long work, an end to a loop. */
export const defaults: Event.Limits = { passes: 50 }

/** Why the next pass may not start, if it may not. `elapsedMs` is the wall time since the run started. */
export const pass = (limits: Event.Limits, spent: Spent, elapsedMs: number): Refusal.Refusal | undefined => {
  const { passes, tokens, wallTimeMs } = limits
  if (passes !== undefined && spent.passes >= passes) return Refusal.budgetExceeded("passes", passes, spent.passes)
  if (tokens !== undefined) {
    const total = Usage.total(spent.usage) ?? 0
    if (total >= tokens) return Refusal.budgetExceeded("tokens", tokens, total)
    if (spent.unmetered > 0) return Refusal.usageUnknown
  }
  if (wallTimeMs !== undefined && elapsedMs >= wallTimeMs) {
    return Refusal.budgetExceeded("wallTimeMs", wallTimeMs, elapsedMs)
  }
  return undefined
}

/** Why the next tool call may not run, if it may not. */
export const toolCall = (limits: Event.Limits, spent: Spent): Refusal.Refusal | undefined =>
  limits.toolCalls !== undefined && spent.toolCalls >= limits.toolCalls
    ? Refusal.budgetExceeded("toolCalls", limits.toolCalls, spent.toolCalls)
    : undefined
