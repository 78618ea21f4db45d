/**
 * A `Gate` is what stands between the model's pick of a skill and what it does: it resolves a pick to one intent, and
 * only that intent's checks run. Every text about what can be picked follows from the same table.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Cursor from "./Cursor.ts"
import * as CursorMove from "./CursorMove.ts"
import * as Digest from "./Digest.ts"
import * as Engagement from "./Engagement.ts"
import * as GateText from "./GateText.ts"
import type * as PassFacts from "./PassFacts.ts"
import * as Refusal from "./Refusal.ts"
import type * as SkillMap from "./SkillMap.ts"

/** What a pick comes to. */
export const Intent = Schema.Literal("deny", "reengage", "reaffirm", "hop+reengage", "hop", "open", "refuse")
export type Intent = typeof Intent.Type

/** The row of the table that a pick falls under; a stale offer is judged before the table. */
export const Row = Schema.Literal("P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "stale")
export type Row = typeof Row.Type

/** Whether a pick may move a cursor: `rails` never, `guard` to what an outstanding menu offers, `assist` always. */
export const Posture = Schema.Literal("rails", "guard", "assist")
export type Posture = typeof Posture.Type

/**
 * What bears on picks beside the maps. `mayName` hides skills from a role; `open` are the skills in no map; `offered`
 * is the router's menu while it is outstanding: it offered ids, and nothing has moved since.
 */
export interface Policy {
  readonly mayName?: (id: string) => boolean
  readonly posture?: Posture
  readonly offered?: ReadonlyArray<string>
  readonly open?: ReadonlyArray<string>
  /** What is said of a skill that is hidden. */
  readonly denial?: string
}

/**
 * What became of a pick. `text` is what the model reads, and `moves` whether it is to move a cursor unless a declared
 * route wins. A pick that was not accepted has a `reason` and a `refusal`; `allowed` are the ids that were.
 */
export interface Pick {
  readonly row: Row
  readonly intent: Intent
  readonly outcome: "accepted" | "refused" | "denied"
  readonly skillId: string
  readonly mapId?: string
  readonly moves: boolean
  readonly text: string
  readonly reason?: "hidden" | "unreachable" | "posture" | "stale-offer"
  readonly posture?: Posture
  readonly currentSkillId?: string
  readonly allowed?: ReadonlyArray<string>
  readonly refusal?: Refusal.Refusal
}

/** A map as the gate sees it. */
interface Stand {
  readonly map: SkillMap.SkillMap
  readonly members: ReadonlySet<string>
  readonly isParked: boolean
  readonly cursor?: string
  readonly reachable: ReadonlyArray<string>
}

const stands = (
  maps: ReadonlyArray<SkillMap.SkillMap>,
  engagement: Engagement.MapEngagement | undefined,
  cursors: CursorMove.ByMap<string>
): ReadonlyArray<Stand> => {
  const records = Engagement.byMap(engagement ?? [])
  return maps.map((map) => {
    const cursor = Cursor.position(map, CursorMove.get(cursors, map.id))
    return {
      map,
      members: new Set(map.skills.map(({ id }) => id)),
      isParked: records.get(map.id)?.standing === "parked",
      ...(cursor === undefined ? {} : { cursor }),
      reachable: Cursor.reachable(map, cursor)
    }
  })
}

const permits = ({ offered = [], posture = "assist" }: Policy, id: string): boolean =>
  posture === "assist" || (posture === "guard" && offered.includes(id))

const has = ({ members }: Stand, id: string): boolean => members.has(id)

/** What a pick resolves to, before anything is said of it. */
interface Resolved {
  readonly row: Row
  readonly intent: Intent
  readonly stand?: Stand
  readonly isAccepted: boolean
}

/** The first row of the table that fits an id that is not hidden. */
const resolve = (stands: ReadonlyArray<Stand>, policy: Policy, id: string): Resolved => {
  const isPermitted = permits(policy, id)
  const asleep = stands.find(({ cursor, isParked }) => isParked && cursor === id)
  if (asleep !== undefined) return { row: "P2", intent: "reengage", stand: asleep, isAccepted: true }
  const active = stands.find(({ cursor, isParked }) => !isParked && cursor === id)
  if (active !== undefined) return { row: "P3", intent: "reaffirm", stand: active, isAccepted: true }
  const parkedHop = stands.find(({ isParked, reachable }) => isParked && reachable.includes(id))
  if (parkedHop !== undefined) {
    return { row: "P4", intent: isPermitted ? "hop+reengage" : "reengage", stand: parkedHop, isAccepted: true }
  }
  const hop = stands.find(({ isParked, reachable }) => !isParked && reachable.includes(id))
  if (hop !== undefined) return { row: "P5", intent: "hop", stand: hop, isAccepted: isPermitted }
  const isMember = stands.some((stand) => has(stand, id))
  if (!isMember && policy.open?.includes(id) === true) return { row: "P6", intent: "open", isAccepted: true }
  const far = stands.find((stand) => stand.isParked && stand.cursor !== undefined && has(stand, id))
  if (far !== undefined) return { row: "P7", intent: "reengage", stand: far, isAccepted: true }
  return { row: "P8", intent: "refuse", isAccepted: false }
}

/** The ids whose pick is accepted and is not of a skill that is active already. */
const allowedOf = (stands: ReadonlyArray<Stand>, policy: Policy): ReadonlyArray<string> => {
  const { mayName = () => true, open = [] } = policy
  const ids = stands.flatMap(({ cursor, isParked, members, reachable }) =>
    isParked ? [...(cursor === undefined ? [] : [cursor]), ...reachable, ...members] : reachable
  )
  return Array.from(new Set([...ids, ...open])).filter((id) => {
    if (!mayName(id)) return false
    const { intent, isAccepted } = resolve(stands, policy, id)
    return isAccepted && intent !== "reaffirm"
  })
}

/** Identifies the cursors and the parked maps that an offer was made from. */
export const offerVersion = (
  engagement: Engagement.MapEngagement | undefined,
  cursors: CursorMove.ByMap<string>
): string => {
  const parked = Array.from(Engagement.byMap(engagement ?? []).values()).filter(({ standing }) => standing === "parked")
  const places = Object.entries(cursors).map((entry) => JSON.stringify(entry))
  return Digest.of(JSON.stringify([places.sort(), parked.map(({ mapId }) => mapId).sort()])).slice(0, 12)
}

/** What can be picked now, with the version that a pick from it carries. */
export const offer = (
  maps: ReadonlyArray<SkillMap.SkillMap>,
  engagement: Engagement.MapEngagement | undefined,
  cursors: CursorMove.ByMap<string>,
  policy: Policy = {}
): { readonly offerVersion: string; readonly ids: ReadonlyArray<string> } => ({
  offerVersion: offerVersion(engagement, cursors),
  ids: allowedOf(stands(maps, engagement, cursors), policy)
})

/**
 * Resolves a pick on the engagement and the cursors of the wire that the model answered. `madeFrom` is the version of
 * the offer on that wire.
 */
export const pick = (
  maps: ReadonlyArray<SkillMap.SkillMap>,
  engagement: Engagement.MapEngagement | undefined,
  cursors: CursorMove.ByMap<string>,
  skillId: string,
  madeFrom?: string,
  policy: Policy = {}
): Pick => {
  const { mayName = () => true, open = [], posture = "assist" } = policy
  const all = stands(maps, engagement, cursors)
  const isSkill = (id: string) => open.includes(id) || all.some((stand) => has(stand, id))
  const say = GateText.make(
    (id) => mayName(id),
    (mapId) => mayName(mapId) || !isSkill(mapId)
  )
  const refuse = (
    row: Row,
    reason: Pick["reason"] & string,
    refusal: Refusal.Refusal,
    rest: Omit<Partial<Pick>, "outcome"> = {}
  ): Pick => {
    const outcome = reason === "hidden" ? "denied" : "refused"
    const current = all.find((stand) => has(stand, skillId))?.cursor
    return {
      row,
      intent: "refuse",
      outcome,
      skillId,
      moves: false,
      text: Refusal.served(refusal, outcome),
      reason,
      ...(current === undefined ? {} : { currentSkillId: current }),
      refusal,
      ...rest
    }
  }

  if (isSkill(skillId) && !mayName(skillId)) {
    return refuse("P1", "hidden", say.hidden(policy.denial), { intent: "deny" })
  }
  const allowed = allowedOf(all, policy)
  if (madeFrom !== undefined && madeFrom !== offerVersion(engagement, cursors)) {
    return refuse("stale", "stale-offer", say.stale(allowed), { allowed })
  }
  const { intent, isAccepted, row, stand } = resolve(all, policy, skillId)
  if (isAccepted) {
    const moves = intent === "hop" || intent === "hop+reengage"
    const text = say.accepted({ row, intent, skillId, mapId: stand?.map.id, cursor: stand?.cursor, posture })
    const mapId = stand === undefined ? {} : { mapId: stand.map.id }
    return { row, intent, outcome: "accepted", skillId, ...mapId, moves, text }
  }
  if (stand !== undefined) {
    const rest = { intent, mapId: stand.map.id, posture, allowed }
    return refuse(row, "posture", say.held(skillId, posture, allowed), rest)
  }
  const isTree = all.some(({ reachable }) => reachable.some((id) => mayName(id)))
  return refuse(row, "unreachable", say.unreachable(skillId, allowed, isTree), { allowed })
}

/** The pick as the next pass is told of it, if it was accepted. */
export const acceptedPick = ({ intent, mapId, outcome, skillId }: Pick): PassFacts.AcceptedPick | undefined =>
  outcome !== "accepted" || intent === "deny" || intent === "refuse"
    ? undefined
    : { skillId, ...(mapId === undefined ? {} : { mapId }), intent }
