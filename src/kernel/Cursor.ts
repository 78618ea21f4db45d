/**
 * A `Cursor` is where a run stands in a skill map. Declared things move it first: the verdict at the start of a run,
 * then entries and routes; then what a tool proposed, and last what the model picked.
 *
 * @since 0.1.0
 */
import * as CallOutcome from "./CallOutcome.ts"
import type * as CursorMove from "./CursorMove.ts"
import * as Entry from "./Entry.ts"
import * as Guard from "./Guard.ts"
import * as PassFacts from "./PassFacts.ts"
import * as Route from "./Route.ts"
import type * as SkillMap from "./SkillMap.ts"

/** What the router said of one map at the start of a run. Without `chosen` it offered a menu, or left things alone. */
export interface Verdict {
  readonly by: string
  readonly chosen?: string
  readonly offered?: ReadonlyArray<string>
}

/** The menu that is still open: the verdict offered ids, and nothing has moved since. */
export const outstanding = (verdict: Verdict | undefined, hasMoved: boolean): ReadonlyArray<string> =>
  hasMoved || verdict?.chosen !== undefined ? [] : (verdict?.offered ?? [])

/**
 * What a pass resolves on: the facts of a batch, if there was one, and what is so of the run. `said` are the person's
 * words, `tags` the application's for this run, `activated` the skills that are active without a cursor on them.
 */
export interface Facts extends Partial<PassFacts.PassFacts> {
  readonly iteration: number
  readonly verdict?: Verdict
  readonly said?: string | Entry.Said
  readonly tags?: ReadonlyArray<string>
  readonly activated?: ReadonlyArray<string>
}

/** The skill a cursor is on: a cursor that is on no skill of the map is none. */
export const position = ({ skills }: SkillMap.SkillMap, cursor: string | undefined): string | undefined =>
  skills.some(({ id }) => id === cursor) ? cursor : undefined

/** Where a pick can move a cursor: declared successors over any edge, then entries; without a cursor, the entries. */
export const reachable = (map: SkillMap.SkillMap, cursor: string | undefined): ReadonlyArray<string> => {
  const from = position(map, cursor)
  const successors = from === undefined ? [] : map.routes.filter((route) => route.from === from).map(({ to }) => to)
  const ids = new Set([...successors, ...map.entries.map(({ skillId }) => skillId)])
  return Array.from(ids).filter((id) => id !== from && position(map, id) !== undefined)
}

/** A tool that the map contributes is read only when it is the map's own; one that it does not, whoever's it is. */
const reads = (map: SkillMap.SkillMap) => {
  const own = new Set(map.skills.flatMap(({ tools }) => tools.map(({ name }) => name)))
  return ({ owner, toolName }: CallOutcome.CallOutcome): boolean => {
    if (!own.has(toolName)) return true
    return owner.mapId === map.id || (owner.mapId === undefined && position(map, owner.memberId) !== undefined)
  }
}

interface Routed {
  readonly target?: CursorMove.RouteTarget
  readonly guard?: CursorMove.GuardEvaluation
  readonly closed: ReadonlyArray<CursorMove.GuardEvaluation>
}

/** The first edge that fires on one call, and the guards before it that refused. */
const fire = (routes: ReadonlyArray<Route.Route>, call: CallOutcome.CallOutcome): Routed => {
  const { outcome, toolCallId, toolName } = call
  const closed: Array<CursorMove.GuardEvaluation> = []
  if (!CallOutcome.hasRun(outcome)) return { closed }
  const find = Guard.lookup(call)
  for (const route of routes) {
    if (route.tool !== undefined && route.tool !== toolName) continue
    const conditions = Guard.judge(Route.conditions(route), find)
    const guard = { from: route.from, to: route.to, toolCallId, toolName, outcome, conditions }
    if (conditions.every(({ holds }) => holds)) {
      return { target: { toolCallId, toolName, target: route.to }, guard, closed }
    }
    closed.push(guard)
  }
  return { closed }
}

/** What the declared edges make of a batch: the first call with a target wins. */
const route = (map: SkillMap.SkillMap, from: string, outcomes: ReadonlyArray<CallOutcome.CallOutcome>) => {
  const routes = map.routes.filter((route) => route.from === from && position(map, route.to) !== undefined)
  const routed = routes.length === 0 ? [] : outcomes.filter(reads(map)).map((call) => fire(routes, call))
  const targets = routed.flatMap(({ target }) => target ?? [])
  const [winner] = targets
  const losers = targets.filter(({ target }) => target !== winner?.target)
  const guard = routed.find(({ target }) => target !== undefined)?.guard
  const guardsClosed = routed.flatMap(({ closed }) => closed)
  return {
    winner,
    told: {
      ...(guard === undefined ? {} : { guard }),
      ...(guardsClosed.length === 0 ? {} : { guardsClosed }),
      ...(winner === undefined || losers.length === 0 ? {} : { conflict: { winner, losers } })
    }
  }
}

/** The first declared entry that the person's words or the application's tags lead to. */
const enter = ({ entries }: SkillMap.SkillMap, { said = "", tags = [] }: Facts): CursorMove.CursorMove | undefined => {
  const words = typeof said === "string" ? Entry.read(said) : said
  const given = new Set(tags)
  for (const entry of entries) {
    const witness = Entry.match(entry, words, given)
    if (witness !== undefined) return { to: entry.skillId, by: "entry", witness }
  }
  return undefined
}

/** Where the cursor is in this pass, and why. */
export const resolve = (map: SkillMap.SkillMap, cursor: string | undefined, facts: Facts): CursorMove.CursorMove => {
  const { activated = [], iteration, outcomes = [], picks = [], proposal, verdict } = facts
  const from = position(map, cursor)
  const picked = picks.findLast(
    (pick) =>
      PassFacts.isHop(pick) &&
      (pick.mapId === undefined || pick.mapId === map.id) &&
      position(map, pick.skillId) !== undefined
  )?.skillId
  const proposed = position(map, proposal?.skillId)

  const chosen = position(map, verdict?.chosen)
  if (iteration === 1 && verdict !== undefined) {
    if (chosen !== undefined) return { ...(from === undefined ? {} : { from }), to: chosen, by: verdict.by }
    return from === undefined ? { by: "none" } : { from, to: from, by: "stay" }
  }

  if (from === undefined) {
    const entered = verdict === undefined ? enter(map, facts) : undefined
    if (entered !== undefined && position(map, entered.to) !== undefined) return entered
    const isEntry = (id: string | undefined) => map.entries.some(({ skillId }) => skillId === id)
    if (proposed !== undefined && isEntry(proposed)) return { to: proposed, by: "tool-proposal" }
    if (picked !== undefined && isEntry(picked)) return { to: picked, by: "model-pick" }
    const active = map.entries.find(({ skillId }) => activated.includes(skillId))?.skillId
    return active === undefined || position(map, active) === undefined
      ? { by: "none" }
      : { to: active, by: "activated" }
  }

  const { told, winner } = route(map, from, outcomes)
  if (winner !== undefined) return { from, to: winner.target, by: "route", ...told }
  if (proposed !== undefined && proposed !== from) return { from, to: proposed, by: "tool-proposal", ...told }
  if (picked !== undefined && picked !== from) return { from, to: picked, by: "model-pick", ...told }
  return { from, to: from, by: "stay", ...told }
}
