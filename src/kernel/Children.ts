/**
 * `Children` are the runs that calls of a run have started: what each may spend, and what it has. What one may spend is
 * taken from what is left before it starts, so that those which run at once cannot spend the same twice.
 *
 * @internal
 */
import * as BigDecimal from "effect/BigDecimal"
import * as Budget from "./Budget.ts"
import * as BudgetRefusal from "./BudgetRefusal.ts"
import type * as ChildEvent from "./ChildEvent.ts"
import * as Digest from "./Digest.ts"
import type * as Event from "./Event.ts"
import * as Law from "./Law.ts"
import * as Money from "./Money.ts"
import type * as Refusal from "./Refusal.ts"
import type * as State from "./State.ts"
import * as Usage from "./Usage.ts"

/** A run that a call of this one started. `spent` is there once it is settled. */
export interface Child extends Pick<ChildEvent.ChildStarted, "iteration" | "toolCallId" | "runId" | "limits"> {
  readonly spent?: ChildEvent.Spent
}

/** So deep children may have children, where the budget does not say. */
const standardDepth = 4
/** So many children a run may have, theirs included, where the budget does not say. */
const standardChildren = 32

/** The id of the run that a call starts: the same whenever the call is run again, and no other call's. */
export const idOf = (callKey: string): string => `child-${Digest.hex(callKey).slice(0, 32)}`

/** The child of a call, if it was started. */
export const of = (state: State.State, iteration: number, toolCallId: string): Child | undefined =>
  state.children?.find((child) => child.iteration === iteration && child.toolCallId === toolCallId)

/** Where to ask on about a call that started a run, in one line. */
export const told = (state: State.State, iteration: number, toolCallId: string): string | undefined => {
  const child = of(state, iteration, toolCallId)
  return child && `what the run ${child.runId} came to, which this call started: wherefore why ${child.runId}`
}

/** Why a call may start no child, if it may not. `more` children of the batch come before it. */
export const refusal = (limits: Event.Limits, { spent }: State.State, more: number): Refusal.Refusal | undefined => {
  const { children = standardChildren, depth = standardDepth } = limits
  if (depth < 1) return BudgetRefusal.childRefused("A run this deep may start no other.")
  return spent.children + more >= children
    ? BudgetRefusal.childRefused(`The run may start ${children} others, and has.`)
    : undefined
}

const least = (own: number | undefined, share: number | undefined): number | undefined =>
  own === undefined ? share : share === undefined ? own : Math.min(own, share)

const shareOf = (limit: number | undefined, spent: number, parts: number): number | undefined =>
  limit === undefined ? undefined : Math.max(0, Math.floor((limit - spent) / parts))

const moneyOf = (
  { money }: Event.Limits,
  spent: Budget.Spent,
  open: ReadonlyArray<Child>,
  parts: number
): Event.Limits["money"] => {
  if (money === undefined) return undefined
  const held = open.map(({ limits }) =>
    limits.money === undefined ? BigDecimal.fromBigInt(0n) : Money.limit(limits.money)
  )
  const taken = held.reduce(Money.sum, Money.spent(money, spent.models, spent.asked ?? {}).amount)
  const left = BigDecimal.subtract(Money.limit(money), taken)
  const none = BigDecimal.fromBigInt(0n)
  const millionths = BigDecimal.greaterThan(left, none) ? left : none
  // Whole millionths, rounded down: what is handed on is never more than what is left.
  const whole = BigDecimal.scale(millionths, 0).value / BigInt(parts)
  return { ...money, amount: Money.written(BigDecimal.fromBigInt(whole)) }
}

/**
 * What each of so many children may spend of what is left, of which the run keeps a pass to read what they came to. What
 * others that run may spend is not left.
 */
export const share = (
  limits: Event.Limits,
  { children: begun = [], spent }: State.State,
  elapsedMs: number,
  parts: number,
  own: Event.Limits
): Event.Limits => {
  const { bytes, children = standardChildren, closing, depth = standardDepth, passes, tokens, toolCalls } = limits
  const kept = closing === undefined ? 1 : 2
  const open = begun.filter((child) => child.spent === undefined)
  const held = (kind: "passes" | "toolCalls" | "tokens" | "bytes" | "children"): number =>
    open.reduce((sum, child) => sum + (child.limits[kind] ?? 0), 0)
  const money = moneyOf(limits, spent, open, parts) ?? own.money
  const of = {
    passes: least(own.passes, shareOf(passes, spent.passes + kept + held("passes"), parts)),
    toolCalls: least(own.toolCalls, shareOf(toolCalls, spent.toolCalls + held("toolCalls"), parts)),
    tokens: least(
      own.tokens,
      shareOf(tokens, (Usage.total(spent.usage) ?? 0) + (closing?.tokens ?? 0) + held("tokens"), parts)
    ),
    bytes: least(own.bytes, shareOf(bytes, (spent.bytes ?? 0) + held("bytes"), parts)),
    wallTimeMs: least(own.wallTimeMs, shareOf(limits.wallTimeMs, elapsedMs, 1))
  }
  return {
    ...(of.passes === undefined ? {} : { passes: of.passes }),
    ...(of.toolCalls === undefined ? {} : { toolCalls: of.toolCalls }),
    ...(of.tokens === undefined ? {} : { tokens: of.tokens }),
    ...(of.bytes === undefined ? {} : { bytes: of.bytes }),
    ...(of.wallTimeMs === undefined ? {} : { wallTimeMs: of.wallTimeMs }),
    ...(money === undefined ? {} : { money: lesser(own.money, money) }),
    ...(own.closing === undefined ? {} : { closing: own.closing }),
    depth: Math.min(own.depth ?? standardDepth, depth - 1),
    children: Math.min(
      own.children ?? standardChildren,
      Math.max(0, Math.floor((children - spent.children - held("children")) / parts) - 1)
    )
  }
}

/** The lesser of two, where they can be compared: what the parent has left rules otherwise. */
const lesser = (own: Event.Limits["money"], left: NonNullable<Event.Limits["money"]>) =>
  own !== undefined &&
  own.prices.currency === left.prices.currency &&
  BigDecimal.lessThan(Money.limit(own), Money.limit(left))
    ? { ...left, amount: own.amount }
    : left

/** What a run has spent, as its parent's record has it. */
export const spentOf = ({ spent }: State.State): ChildEvent.Spent => {
  const { bytes, children, models, passes, toolCalls, unmetered, usage } = spent
  return { passes, toolCalls, unmetered, children, ...(bytes === undefined ? {} : { bytes }), usage, models }
}

export const step = (state: State.State, event: ChildEvent.ChildEvent): State.State => {
  const { iteration, runId, toolCallId } = event
  const { children = [] } = state
  const at = children.findIndex((one) => one.iteration === iteration && one.toolCallId === toolCallId)
  const child = children[at]
  if (event._tag === "ChildStarted") {
    const isRunning = state.startedCalls.some((one) => one.toolCallId === toolCallId)
    if (child !== undefined || !isRunning) return Law.broken(state, "A child is started once, by a call that runs.")
    const spent = { ...state.spent, children: state.spent.children + 1 }
    return { ...state, spent, children: [...children, { iteration, toolCallId, runId, limits: event.limits }] }
  }
  if (child === undefined || child.runId !== runId || child.spent !== undefined) {
    return Law.broken(state, "A child is settled once, as the one that its call started.")
  }
  return {
    ...state,
    spent: Budget.and(state.spent, event.spent),
    children: children.with(at, { ...child, spent: event.spent })
  }
}
