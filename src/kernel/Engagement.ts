/**
 * An `Engagement` is the lease by which skill maps ride the wire: why each takes part, where its cursor was seen, and
 * whether its pieces and tools ride now.
 *
 *     none ──evidence or a cursor on a member──▶ engaged
 *     engaged ──idle for the grace, on tentative evidence──▶ parked
 *     engaged ──released──▶ parked
 *     parked ──firm evidence──▶ engaged
 *
 * A position belongs to its map and is only observed here: parking moves no cursor, so it is always reversible.
 *
 * @since 0.1.0
 */
import * as EvidenceStrength from "./EvidenceStrength.ts"
import type * as Lease from "./Lease.ts"
import * as Renewal from "./Renewal.ts"

export * from "./Lease.ts"

const witnessed = (witness: string | undefined) => (witness === undefined || witness === "" ? {} : { witness })

interface Judged {
  readonly record?: Lease.MapEngagementRecord
  readonly change?: Lease.EngagementChange
}

/** One map in one pass: the first law that fits. */
const judge = (
  map: Lease.MountedMap,
  prior: Lease.MapEngagementRecord | undefined,
  pass: Lease.EngagementPass,
  renewal: EvidenceStrength.EvidenceStrength | undefined,
  isIdle: () => boolean,
  grace: number
): Judged => {
  const { currentNode, iteration } = pass
  const here = currentNode !== undefined && map.memberIds.includes(currentNode) ? currentNode : undefined
  const clause = EvidenceStrength.ofClause(pass.moveBy)
  const position = here === undefined ? {} : { at: here, atBy: clause, atSince: iteration }
  const changed = { kind: "engaged", mapId: map.id, iteration } as const

  // L1, founding.
  if (prior === undefined) {
    if (here === undefined && renewal === undefined) return {}
    const by = renewal ?? clause
    const witness = witnessed(pass.witness)
    const founded = { foundedBy: by, foundedAt: iteration, ...(here === undefined ? {} : { foundedOn: here }) }
    return {
      record: {
        mapId: map.id,
        standing: "engaged",
        by,
        since: iteration,
        idle: 0,
        ...founded,
        ...position,
        ...witness
      },
      change: { ...changed, by, ...witness }
    }
  }

  const arrived = here !== undefined && here !== prior.at

  // L2, parked.
  if (prior.standing === "parked") {
    if (renewal === undefined || !EvidenceStrength.isFirm(renewal)) return { record: prior }
    const { witness: _before, ...kept } = prior
    const witness = witnessed(pass.witness)
    const observed = arrived ? position : {}
    return {
      record: { ...kept, ...observed, standing: "engaged", by: renewal, since: iteration, idle: 0, ...witness },
      change: { ...changed, by: renewal, reengaged: true, ...witness }
    }
  }

  // L3, tenant change.
  if (arrived) {
    const by = renewal === undefined ? clause : EvidenceStrength.stronger(clause, renewal)
    const { foundedBy } = prior
    return {
      record: { ...prior, ...position, by, idle: 0 },
      change: { ...changed, by, tenantChanged: true, at: here, foundedBy, ...witnessed(pass.witness) }
    }
  }

  // L4, renewal.
  if (renewal !== undefined) {
    const by = EvidenceStrength.stronger(prior.by, renewal)
    if (by === prior.by) return { record: prior.idle === 0 ? prior : { ...prior, idle: 0 } }
    const { foundedBy, witness } = prior
    return {
      record: { ...prior, by, idle: 0 },
      change: { ...changed, by, upgraded: true, foundedBy, ...witnessed(witness) }
    }
  }

  // L5, idle.
  if (!isIdle()) return { record: prior }
  // A damaged record may hold no count.
  const idle = Number.isInteger(prior.idle) ? prior.idle + 1 : 1

  // L6, park; L7, unless it may not be.
  if (idle >= grace && !EvidenceStrength.isFirm(prior.by) && map.nonParkable !== true) {
    return {
      record: { ...prior, standing: "parked", since: iteration, idle },
      change: { kind: "parked", mapId: map.id, iteration, by: prior.by, idleCalls: idle, ...witnessed(prior.witness) }
    }
  }
  return { record: { ...prior, idle } }
}

/** The first record of each map. */
export const byMap = (engagement: Lease.MapEngagement): ReadonlyMap<string, Lease.MapEngagementRecord> =>
  new Map([...engagement].reverse().map((record) => [record.mapId, record]))

/** The result with what the parked records hold off the wire. */
const withParked = (
  { maps }: Lease.EngagementPlan,
  next: Lease.MapEngagement,
  changes: ReadonlyArray<Lease.EngagementChange>
): Lease.EngagementAdvance => {
  const records = byMap(next)
  const parked = maps.filter(({ id }) => records.get(id)?.standing === "parked")
  return {
    next,
    parkedInjectionIds: parked.flatMap(({ memberIds }) => memberIds),
    parkedToolNames: parked.flatMap(({ toolNames }) => toolNames),
    changes
  }
}

/**
 * The engagement after a pass: total, and each map on its own. All maps of the plan share the pass's one position;
 * `Evidence.advance` gives each map its own.
 */
export const advance = (
  plan: Lease.EngagementPlan,
  prior: Lease.MapEngagement | undefined,
  pass: Lease.EngagementPass
): Lease.EngagementAdvance => {
  const records = byMap(prior ?? [])
  const renewals = Renewal.evidence(plan, pass)
  const served = new Set(pass.servedLastPass)
  const judged = plan.maps.map((map, at) => {
    const isIdle = () => pass.toolResults.length > 0 && map.memberIds.some((member) => served.has(member))
    return judge(map, records.get(map.id), pass, Renewal.strongest(renewals[at] ?? []), isIdle, plan.renewalGrace)
  })
  return withParked(
    plan,
    judged.flatMap(({ record }) => record ?? []),
    judged.flatMap(({ change }) => change ?? [])
  )
}

/** Why a map cannot be released, if it cannot. */
export type Unreleasable = "unknown-map" | "not-engaged" | "parked" | "non-parkable"

export const unreleasable = (
  { maps }: Lease.EngagementPlan,
  engagement: Lease.MapEngagement | undefined,
  mapId: string
): Unreleasable | undefined => {
  const map = maps.find(({ id }) => id === mapId)
  const record = engagement?.find((record) => record.mapId === mapId)
  if (map === undefined) return "unknown-map"
  if (record === undefined) return "not-engaged"
  if (record.standing === "parked") return "parked"
  return map.nonParkable === true ? "non-parkable" : undefined
}

/** Parks one map because the model or the application asks. What `unreleasable` names is left alone. */
export const release = (
  plan: Lease.EngagementPlan,
  prior: Lease.MapEngagement | undefined,
  mapId: string,
  iteration: number
): Lease.EngagementAdvance => {
  const records = prior ?? []
  const record = records.find((record) => record.mapId === mapId)
  if (record === undefined || unreleasable(plan, prior, mapId) !== undefined) return withParked(plan, records, [])
  const { by, idle: idleCalls, witness } = record
  return withParked(
    plan,
    records.map((other) => (other === record ? { ...record, standing: "parked" as const, since: iteration } : other)),
    [{ kind: "parked", mapId, iteration, by, idleCalls, ...witnessed(witness), reason: "released" }]
  )
}
