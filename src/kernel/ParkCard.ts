/**
 * A `ParkCard` is the one piece that tells the model which skill maps are parked, what that stops, and how to bring one
 * back. It stands after every other piece of its pass, belongs to no map and never counts as served.
 *
 * @since 0.1.0
 */
import * as CursorMove from "./CursorMove.ts"
import * as Engagement from "./Engagement.ts"
import * as Notice from "./Notice.ts"
import * as SafeId from "./SafeId.ts"

/** The id of the piece, reserved. */
export const id = "wherefore:parked"

/** Neither a bare id nor a literal, so no id reads like it. */
const unknown = "(unknown)"

const all = (): boolean => true

/** Ids whose pick the next pass would honour: any member of a map with a cursor, and otherwise its entries. */
const honoured = (map: Engagement.MountedMap, cursor: string | undefined): ReadonlyArray<string> =>
  cursor === undefined && map.entryIds !== undefined
    ? map.memberIds.filter((member) => map.entryIds?.includes(member))
    : map.memberIds

const lineOf = (
  map: Engagement.MountedMap,
  record: Engagement.MapEngagementRecord,
  mayName: (id: string) => boolean,
  positions: CursorMove.ByMap<string>,
  isSkill: (id: string) => boolean
): ReadonlyArray<string> => {
  const position = CursorMove.get(positions, map.id) ?? record.at
  const cursor = position !== undefined && map.memberIds.includes(position) ? position : undefined
  const ids = Array.from(new Set(honoured(map, cursor))).filter(mayName)
  if (ids.length === 0) return []
  const isNamed = cursor !== undefined && mayName(cursor)
  // A map may share its id with a skill that may not be named.
  const name = isSkill(map.id) && !mayName(map.id) ? unknown : SafeId.print(map.id)
  const reason = record.by === "assumed" ? "its lease ended, and had no cause on record" : "its lease ended"
  return [
    `- map: ${name}; cursor: ${isNamed ? SafeId.print(cursor) : unknown}, unchanged; engagement: parked; reason: ${reason}`,
    `  back: call read_skill with one of: ${SafeId.list(ids)}`
  ]
}

/**
 * The card of a pass, or nothing if no parked map has a member that may be named. Its bytes follow from the plan, the
 * parked records' map, position and reason, the filter and the live positions alone.
 */
export const render = (
  plan: Engagement.EngagementPlan,
  engagement: Engagement.MapEngagement | undefined,
  mayName: (id: string) => boolean = all,
  positions: CursorMove.ByMap<string> = {}
): string | undefined => {
  const records = Engagement.byMap(engagement ?? [])
  const members = new Set(plan.maps.flatMap(({ memberIds }) => memberIds))
  const isSkill = (id: string) => members.has(id)
  const lines = plan.maps.flatMap((map) => {
    const record = records.get(map.id)
    return record?.standing === "parked" ? lineOf(map, record, mayName, positions, isSkill) : []
  })
  if (lines.length === 0) return undefined
  return Notice.of("parked skill maps", [
    ...lines,
    "Parking a map stops its instructions and tools from being sent. Calling read_skill as above brings the map back:",
    "that changes its engagement, not its position. A pick that also moves a cursor says so in its result.",
    "You may ignore this notice."
  ])
}
