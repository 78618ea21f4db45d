/**
 * An `Evidence` is what the facts of a batch say about one map, in the terms that the lease judges: owners, outcomes
 * and other maps' cursors are left behind here.
 *
 * @since 0.1.0
 */
import * as CallOutcome from "./CallOutcome.ts"
import * as CursorMove from "./CursorMove.ts"
import * as Engagement from "./Engagement.ts"
import * as PassFacts from "./PassFacts.ts"
import * as ServedRecord from "./ServedRecord.ts"

/** What a pass knows. `moves` holds this pass's move of each map; `served` is the record of the wire before it. */
export interface Known {
  readonly iteration: number
  readonly facts?: PassFacts.PassFacts
  readonly moves: CursorMove.ByMap<CursorMove.CursorMove>
  readonly served: ServedRecord.ServedRecord
}

/** The map with what is lent to it for this pass, and the pass as that map sees it. */
export interface Evidence {
  readonly map: Engagement.MountedMap
  readonly pass: Engagement.EngagementPass
}

/** Whether an owner is a member of the map, or the map itself. A member's id without a map's is taken at its word. */
export const isOwn = (map: Engagement.MountedMap, members: ReadonlySet<string>, owner: CallOutcome.Owner): boolean => {
  if (owner.mapId !== undefined && owner.mapId !== map.id) return false
  return owner.memberId === undefined ? owner.mapId === map.id : members.has(owner.memberId)
}

/** A name that no tool can have, since `/` is not legal in one: it can never renew. */
const foreign = ({ mapId = "", memberId = "" }: CallOutcome.Owner, toolName: string): string =>
  `${mapId}/${memberId}/${toolName}`

/** The results as this map sees them, in call order. Framework tools are nobody's. */
const resultsOf = (
  map: Engagement.MountedMap,
  members: ReadonlySet<string>,
  outcomes: ReadonlyArray<CallOutcome.CallOutcome>
): ReadonlyArray<{ readonly toolName: string }> => {
  const names = new Set(map.toolNames)
  const seen = outcomes
    .filter(({ outcome, toolName }) => CallOutcome.hasRun(outcome) && !CallOutcome.isFramework(toolName))
    .map(({ outcome, owner, toolName }) => ({ outcome, owner, toolName, isOwn: isOwn(map, members, owner) }))
  const renews = seen.some(({ isOwn, outcome }) => isOwn && CallOutcome.succeeded(outcome))
  // A map whose own tool failed was of use, and gave no proof of it.
  if (!renews && seen.some(({ isOwn }) => isOwn)) return []
  return seen
    .filter(({ isOwn, outcome }) => !isOwn || CallOutcome.succeeded(outcome))
    .map(({ isOwn, owner, toolName }) => ({
      toolName: !isOwn && names.has(toolName) ? foreign(owner, toolName) : toolName
    }))
}

/** What `Engagement.advance` is given for one map whose record is `prior`. */
export const of = (
  map: Engagement.MountedMap,
  prior: Engagement.MapEngagementRecord | undefined,
  { facts = PassFacts.none, iteration, moves, served }: Known
): Evidence => {
  const members = new Set(map.memberIds)
  const isParked = prior?.standing === "parked"
  const lent = isParked
    ? facts.leases.flatMap(({ owner }) =>
        owner.memberId !== undefined && isOwn(map, members, owner) ? [`lease:${owner.memberId}`] : []
      )
    : []
  const leased = lent.length === 0 ? map : { ...map, toolNames: [...map.toolNames, ...lent] }
  const { by, to, witness } = CursorMove.get(moves, map.id) ?? {}
  const isHere = ({ mapId }: PassFacts.AcceptedPick) => mapId === undefined || mapId === map.id
  const pending = facts.picks.findLast(PassFacts.isHop)
  const onWire = ServedRecord.owners(served).filter((owner) => isOwn(map, members, owner))
  return {
    map: leased,
    pass: {
      iteration,
      ...(to === undefined ? {} : { currentNode: to }),
      ...(to === undefined || by === undefined ? {} : { moveBy: by }),
      ...(to === undefined || witness === undefined ? {} : { witness: witness.text }),
      toolResults: [...resultsOf(leased, members, facts.outcomes), ...lent.map((toolName) => ({ toolName }))],
      ...(pending === undefined || !isHere(pending) ? {} : { pendingSkillPick: pending.skillId }),
      acceptedSkillPicks: facts.picks.filter(isHere).map(({ skillId }) => skillId),
      servedLastPass: onWire.flatMap(({ memberId }) => memberId ?? [])
    }
  }
}

/** The part of a served record that can be of a map, without a look at the others' for each. */
const byOwner = ({ pieces, results, tools }: ServedRecord.ServedRecord) => {
  const mine = new Map<
    string | undefined,
    { pieces: Array<(typeof pieces)[number]>; tools: Array<(typeof tools)[number]> }
  >()
  const of = (mapId: string | undefined) => {
    const found = mine.get(mapId) ?? { pieces: [], tools: [] }
    mine.set(mapId, found)
    return found
  }
  for (const piece of pieces) of(piece.owner.mapId).pieces.push(piece)
  for (const { name, owners } of tools)
    for (const owner of owners) of(owner.mapId).tools.push({ name, owners: [owner] })
  const anyones = of(undefined)
  return (mapId: string): ServedRecord.ServedRecord => {
    const own = mine.get(mapId) ?? { pieces: [], tools: [] }
    return { pieces: [...own.pieces, ...anyones.pieces], tools: [...own.tools, ...anyones.tools], results }
  }
}

/** The engagement after a pass, before what was given back in it: each map judged on its own evidence. */
export const renew = (
  plan: Engagement.EngagementPlan,
  prior: Engagement.MapEngagement | undefined,
  known: Known
): Engagement.EngagementAdvance => {
  const records = Engagement.byMap(prior ?? [])
  const served = byOwner(known.served)
  const judged = plan.maps.map((map) => {
    const record = records.get(map.id)
    const evidence = of(map, record, { ...known, served: served(map.id) })
    return Engagement.advance({ ...plan, maps: [evidence.map] }, record === undefined ? [] : [record], evidence.pass)
  })
  return {
    next: judged.flatMap(({ next }) => next),
    parkedInjectionIds: judged.flatMap(({ parkedInjectionIds }) => parkedInjectionIds),
    parkedToolNames: judged.flatMap(({ parkedToolNames }) => parkedToolNames),
    changes: judged.flatMap(({ changes }) => changes)
  }
}

/** The engagement after what was given back in a pass, in which `renewed` was so before. */
export const release = (
  plan: Engagement.EngagementPlan,
  renewed: Engagement.EngagementAdvance,
  { facts = PassFacts.none, iteration }: Known
): Engagement.EngagementAdvance =>
  facts.releases.reduce<Engagement.EngagementAdvance>((before, { mapId }) => {
    const released = Engagement.release(plan, before.next, mapId, iteration)
    return { ...released, changes: [...before.changes, ...released.changes] }
  }, renewed)

/** The engagement after a pass: each map judged on its own evidence, then the releases. */
export const advance = (
  plan: Engagement.EngagementPlan,
  prior: Engagement.MapEngagement | undefined,
  known: Known
): Engagement.EngagementAdvance => release(plan, renew(plan, prior, known), known)
