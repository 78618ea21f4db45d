/**
 * A `WhyMap` says of one skill map and one pass why it rode or did not: since when, on what evidence, and founded on what.
 *
 * @internal
 */
import type { Edge, MapNode } from "./Chain.ts"
import * as CallOutcome from "./CallOutcome.ts"
import * as CursorMove from "./CursorMove.ts"
import type * as Event from "./Event.ts"
import type * as Lease from "./Lease.ts"
import * as SafeId from "./SafeId.ts"
import type * as SkillEvent from "./SkillEvent.ts"
import * as SkillState from "./SkillState.ts"
import type * as State from "./State.ts"
import type * as Wire from "./Wire.ts"

/** What engaged or parked a map: a call, or somebody's words. The sequence numbers are those of the events. */
export type MapCause =
  | { readonly kind: "call"; readonly seq: number }
  | { readonly kind: "person" | "app"; readonly seq: number; readonly what: string }

export interface MapWhy {
  readonly node: MapNode
  readonly causes: ReadonlyArray<{ readonly grounds: Edge["grounds"]; readonly cause: MapCause }>
}

interface Record {
  readonly events: ReadonlyArray<Event.Event>
  readonly state: State.State
}

type Change = SkillEvent.MapEngaged | SkillEvent.MapParked

const passes = (count: number): string => `${count} ${count === 1 ? "pass" : "passes"}`

/** Where the settlements are of the batch that a pass decided on. */
const settled = (
  { events }: Record,
  iteration: number,
  is: (event: Event.ToolSettled) => boolean
): ReadonlyArray<MapCause> =>
  events.flatMap((event, seq): ReadonlyArray<MapCause> =>
    event._tag === "ToolSettled" && event.iteration === iteration - 1 && is(event) ? [{ kind: "call", seq }] : []
  )

const byId = (record: Record, iteration: number, toolCallId: string | undefined) =>
  settled(record, iteration, (event) => event.toolCallId === toolCallId)

/** What put the cursor where it was in a pass, if something did. */
const moved = (record: Record, mapId: string, iteration: number): ReadonlyArray<MapCause> => {
  const { events, state } = record
  const move = events.findLast(
    (event) => event._tag === "CursorMoved" && event.mapId === mapId && event.iteration === iteration
  )
  if (move?._tag !== "CursorMoved") return []
  if (move.by === "route") return byId(record, iteration, move.guard?.toolCallId)
  const { witness } = move
  if (move.by !== "entry" || witness === undefined) return []
  const said = state.messages.findLast(({ origin, seq }) => origin === "person" && seq < events.lastIndexOf(move))
  const word = SafeId.literal(witness.text, 200)
  if (witness.keyword === undefined) return [{ kind: "app", seq: 0, what: `the application's tag ${word}` }]
  return said === undefined ? [] : [{ kind: "person", seq: said.seq, what: `the person's message, by ${word}` }]
}

/** Picks and requests of the batch, as far as they are of the map. */
const asked = (record: Record, mapId: string, iteration: number, verb: "engage" | "release"): ReadonlyArray<MapCause> =>
  record.events.flatMap((event, seq): ReadonlyArray<MapCause> => {
    if (event._tag === "SkillPicked" && verb === "engage" && event.iteration === iteration - 1) {
      return event.mapId === mapId ? byId(record, iteration, event.toolCallId) : []
    }
    if (event._tag !== "MapSteered" || event.mapId !== mapId || event.verb !== verb) return []
    if (event.iteration !== iteration - 1) return []
    return event.by === "app"
      ? [{ kind: "app", seq, what: `the application asked for it: ${verb}` }]
      : byId(record, iteration, event.toolCallId)
  })

const isOwn = ({ id, memberIds }: Lease.MountedMap, owner: CallOutcome.Owner | undefined): boolean =>
  owner?.mapId === id && owner.memberId !== undefined && memberIds.includes(owner.memberId)

/** Calls of the map's own tools that succeeded. */
const used = (record: Record, map: Lease.MountedMap, iteration: number): ReadonlyArray<MapCause> => {
  const own = new Set(
    record.events.flatMap((event) =>
      event._tag === "ToolCalled" && event.iteration === iteration - 1 && isOwn(map, event.owner)
        ? [event.toolCallId]
        : []
    )
  )
  return settled(record, iteration, ({ outcome, toolCallId }) => own.has(toolCallId) && CallOutcome.succeeded(outcome))
}

const causesOf = (record: Record, map: Lease.MountedMap, change: Change): ReadonlyArray<MapCause> => {
  const { iteration, mapId } = change
  if (change._tag === "MapParked") {
    return change.reason === "released" ? asked(record, mapId, iteration, "release") : []
  }
  const all = [
    ...moved(record, mapId, iteration),
    ...used(record, map, iteration),
    ...asked(record, mapId, iteration, "engage")
  ]
  return all.filter(({ seq }, at) => all.findIndex((cause) => cause.seq === seq) === at)
}

const sinceOf = (record: Lease.MapEngagementRecord, change: Change | undefined): string => {
  const on = `on ${record.by} evidence`
  if (record.standing === "parked") {
    return change?._tag === "MapParked" && change.reason === "released"
      ? `did not ride: it was released in pass ${record.since}`
      : `did not ride: parked in pass ${record.since} after ${passes(record.idle)} without use, ${on}`
  }
  const idle = record.idle === 0 ? "" : `, ${passes(record.idle)} without use`
  return `engaged since pass ${record.since} ${on}${idle}`
}

const witnessOf = ({ witness }: Lease.MapEngagementRecord): string =>
  witness === undefined ? "" : `, by the words ${SafeId.literal(witness, 200)}`

/** The one line that says it. */
const lineOf = (
  record: Lease.MapEngagementRecord | undefined,
  change: Change | undefined,
  cursor: string | undefined,
  isLeased: boolean
): string => {
  const on = cursor === undefined ? "it had no cursor" : `its cursor was on ${SafeId.print(cursor)}`
  if (!isLeased) return `${cursor === undefined ? "did not ride" : "rode"}: no lease was kept, and ${on}`
  if (record === undefined) return `did not ride: nothing had engaged it, and ${on}`
  const founded = `founded in pass ${record.foundedAt} on ${record.foundedBy} evidence${
    record.foundedOn === undefined ? "" : ` at ${SafeId.print(record.foundedOn)}`
  }`
  return `${sinceOf(record, change)}${witnessOf(record)}; ${founded}; ${on}`
}

/** Why each map of a run rode in a pass or did not, in plan order. */
export const of = (record: Record, mark: Wire.Mark): ReadonlyArray<MapWhy> => {
  const { events, state } = record
  const { maps = [], renewalGrace } = state.started?.manifest.skills ?? {}
  const { iteration: pass, skills } = mark
  return maps.map((map): MapWhy => {
    const of = SkillState.recordOf(skills, map.id)
    const cursor = CursorMove.get(skills.cursors, map.id)
    const changes = events.flatMap((event, seq) =>
      (event._tag === "MapEngaged" || event._tag === "MapParked") && event.mapId === map.id && event.iteration <= pass
        ? [{ event, seq }]
        : []
    )
    const [first] = changes
    const last = changes.at(-1)
    const isRiding = mark.selection.system.some(({ owner }) => owner?.mapId === map.id)
    const node: MapNode = {
      kind: "map",
      id: `map:${pass}:${map.id}`,
      mapId: map.id,
      pass,
      seq: last?.seq ?? mark.seq,
      rides: isRiding,
      ...(of === undefined ? {} : { lease: of }),
      ...(cursor === undefined ? {} : { cursor }),
      what: lineOf(of, last?.event, cursor, renewalGrace !== undefined)
    }
    const caused = (grounds: Edge["grounds"], change: typeof first) =>
      change === undefined ? [] : causesOf(record, map, change.event).map((cause) => ({ grounds, cause }))
    const latest = last === first ? [] : caused(last?.event._tag === "MapParked" ? "parked" : "engaged", last)
    return { node, causes: [...caused("founded", first), ...latest] }
  })
}
