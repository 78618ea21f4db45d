/**
 * A `Budget` is what a run may spend. It is checked before anything is spent, with what the next call is reckoned to take:
 * passes and calls are never overshot; tokens and money by one reply at most, where the agent sets no `maxOutputTokens`;
 * bytes by what one reply and its calls append.
 *
 * @since 0.1.0
 */
import * as BudgetRefusal from "./BudgetRefusal.ts"
import type * as ChildEvent from "./ChildEvent.ts"
import type * as Cost from "./Cost.ts"
import type * as Event from "./Event.ts"
import * as Money from "./Money.ts"
import * as Refusal from "./Refusal.ts"
import * as Usage from "./Usage.ts"

/**
 * What a run has spent. `unmetered` counts the calls of the model that came without a token count; `models` is the usage by
 * who took it. `bytes` is absent where they are not counted.
 */
export interface Spent {
  readonly passes: number
  readonly toolCalls: number
  readonly usage: Usage.Usage
  readonly unmetered: number
  readonly models: ReadonlyArray<Money.Taken>
  /** Runs that were started, and those that they started. */
  readonly children: number
  readonly bytes?: number
  /** Who is asked, and who was turned to since, if that is another. */
  readonly asked?: Cost.Asked
  readonly trying?: Cost.Asked
}

export const nothing: Spent = { passes: 0, toolCalls: 0, usage: Usage.none, unmetered: 0, models: [], children: 0 }

/** Who it is, as plain data: what is not known is absent. */
const known = ({ model, provider }: Cost.Asked): Omit<Money.Taken, "usage"> => ({
  ...(provider === undefined ? {} : { provider }),
  ...(model === undefined ? {} : { model })
})

/** The model is asked: a pass more. */
export const called = ({ trying: _, ...spent }: Spent, asked: Cost.Asked): Spent => ({
  ...spent,
  passes: spent.passes + 1,
  asked: known(asked)
})

/** A model is asked for something else than a pass. Who it is is told if that is not who was asked for the last one. */
export const askedFor = (spent: Spent, { model, provider }: Cost.Asked): Spent =>
  provider === undefined && model === undefined
    ? spent
    : { ...spent, trying: known({ provider: provider ?? spent.asked?.provider, model: model ?? spent.asked?.model }) }

const take = (models: Spent["models"], asked: Cost.Asked, usage: Usage.Usage | undefined): Spent["models"] => {
  const at = models.findIndex((one) => one.model === asked.model && one.provider === asked.provider)
  const more = usage ?? Usage.unknown("unreported")
  const taken = models[at]
  if (taken === undefined) return [...models, { ...known(asked), usage: more }]
  return models.with(at, { ...taken, usage: Usage.add(taken.usage, more) })
}

/** What is spent once a reply came: `usage` is what was reported of it, `by` who gave it, if that is told. */
export const replied = (spent: Spent, usage: Usage.Usage | undefined, by?: Cost.Asked): Spent => {
  const { trying, ...rest } = spent
  const who = by ?? trying ?? spent.asked ?? {}
  return {
    ...rest,
    usage: Usage.add(spent.usage, usage ?? Usage.none),
    unmetered: spent.unmetered + (usage === undefined || Usage.total(usage) === undefined ? 1 : 0),
    models: take(spent.models, who, usage)
  }
}

/** What is spent once an attempt failed: one that took nothing was told without a usage. `next` is who is turned to then. */
export const tried = (spent: Spent, usage: Usage.Usage | undefined, next?: Cost.Asked): Spent => {
  const after = usage === undefined ? spent : replied(spent, usage)
  const trying = next ?? spent.trying
  return trying === undefined ? after : { ...after, trying }
}

/** What is spent once a call of the model failed for good. */
export const failed = (spent: Spent, usage: Usage.Usage | undefined): Spent => {
  if (usage !== undefined) return replied(spent, usage)
  const { trying: _, ...rest } = spent
  return rest
}

/** What is spent once what a child has spent is known. */
export const and = (spent: Spent, more: ChildEvent.Spent): Spent => ({
  ...spent,
  passes: spent.passes + more.passes,
  toolCalls: spent.toolCalls + more.toolCalls,
  usage: Usage.add(spent.usage, more.usage),
  unmetered: spent.unmetered + more.unmetered,
  children: spent.children + more.children,
  models: more.models.reduce((models, one) => take(models, one, one.usage), spent.models),
  ...(spent.bytes === undefined ? {} : { bytes: spent.bytes + (more.bytes ?? 0) })
})

/** The limits of an agent that names none: enough for long work, an end to a loop. */
export const defaults: Event.Limits = { passes: 50 }

/** What the next call of the model is reckoned to take, in tokens, and who would be asked. */
export interface Need {
  readonly input: number
  /** The most that its reply may take, if it has a most. */
  readonly output?: number
  readonly asked: Cost.Asked
}

const closingTokens = ({ closing }: Event.Limits, needed: number): number =>
  closing === undefined ? 0 : (closing.tokens ?? needed)

const kept = (amount: number | string, { closing }: Event.Limits): Refusal.Met =>
  closing === undefined || Number(amount) === 0 ? {} : { kept: amount }

const ofTokens = (limits: Event.Limits, spent: Spent, need: Need | undefined): Refusal.Refusal | undefined => {
  const { tokens } = limits
  if (tokens === undefined) return undefined
  const total = Usage.total(spent.usage) ?? 0
  // A reply has at least one token.
  const next = need === undefined ? 0 : need.input + (need.output ?? 1)
  const held = closingTokens(limits, next)
  if (total >= tokens - held && next === 0) return Refusal.budgetExceeded("tokens", tokens, total, kept(held, limits))
  if (total >= tokens) return Refusal.budgetExceeded("tokens", tokens, total)
  if (spent.unmetered > 0) return Refusal.usageUnknown
  if (total + next + held > tokens) {
    return Refusal.budgetExceeded("tokens", tokens, total, { next, ...kept(held, limits) })
  }
  return undefined
}

const ofMoney = (limits: Event.Limits, spent: Spent, need: Need | undefined): Refusal.Refusal | undefined => {
  const { closing, money } = limits
  if (money === undefined) return undefined
  const { amount, isWhole } = Money.spent(money, spent.models, need?.asked ?? spent.asked ?? {})
  const [most, unit] = [Money.limit(money), money.prices.currency]
  const over = (met: Refusal.Met = {}) =>
    Refusal.budgetExceeded("money", money.amount, Money.written(amount), { unit, ...met })
  if (!Money.isMore(most, amount)) return over()
  if (!isWhole) return BudgetRefusal.costUnknown(undefined, false)
  if (need === undefined) return undefined
  const { asked, input, output = 1 } = need
  const next = Money.atMost(money, asked, { input, output })
  const closingOutput = closing?.tokens
  const held = closingOutput === undefined ? next : Money.atMost(money, asked, { input: 0, output: closingOutput })
  if (next === undefined || held === undefined) return BudgetRefusal.costUnknown(asked.model, true)
  const wanted = Money.sum(amount, closing === undefined ? next : Money.sum(next, held))
  return Money.isMore(wanted, most)
    ? over({ next: Money.written(next), ...(closing === undefined ? {} : { kept: Money.written(held) }) })
    : undefined
}

/**
 * Why the next pass may not start, if it may not. `elapsedMs` is the time for which the run has been driven; `need` is what
 * the call is reckoned to take, where that is known.
 */
export const pass = (
  limits: Event.Limits,
  spent: Spent,
  elapsedMs: number,
  need?: Need
): Refusal.Refusal | undefined => {
  const { bytes, closing, passes, wallTimeMs } = limits
  const held = closing === undefined ? 0 : 1
  if (passes !== undefined && spent.passes >= passes - held) {
    return Refusal.budgetExceeded("passes", passes, spent.passes, spent.passes < passes ? { kept: held } : {})
  }
  const over = more(limits, spent, need)
  if (over !== undefined) return over
  if (wallTimeMs !== undefined && elapsedMs >= wallTimeMs) {
    return Refusal.budgetExceeded("wallTimeMs", wallTimeMs, elapsedMs)
  }
  const appended = spent.bytes ?? 0
  return bytes !== undefined && appended >= bytes ? Refusal.budgetExceeded("bytes", bytes, appended) : undefined
}

/** Why no further call of the model may be made in a pass that has begun, such as another attempt, if none may. */
export const more = (limits: Event.Limits, spent: Spent, need?: Need): Refusal.Refusal | undefined =>
  ofTokens(limits, spent, need) ?? ofMoney(limits, spent, need)

/** The limits of the closing answer: what was kept for it may be spent. */
export const forClosing = ({ closing: _, ...limits }: Event.Limits): Event.Limits => limits

/** Whether a run that is stopped for this may be closed with an answer. */
export const mayClose = (limits: Event.Limits, { budget, tag }: Refusal.Refusal): boolean =>
  limits.closing !== undefined &&
  (tag === "NoProgress" || (tag === "BudgetExceeded" && budget?.kind !== "wallTimeMs" && budget?.kind !== "bytes"))

/** Why the next tool call may not run, if it may not. */
export const toolCall = (limits: Event.Limits, spent: Spent): Refusal.Refusal | undefined => {
  const { bytes, toolCalls } = limits
  if (toolCalls !== undefined && spent.toolCalls >= toolCalls) {
    return Refusal.budgetExceeded("toolCalls", toolCalls, spent.toolCalls)
  }
  const appended = spent.bytes ?? 0
  return bytes !== undefined && appended >= bytes ? Refusal.budgetExceeded("bytes", bytes, appended) : undefined
}
