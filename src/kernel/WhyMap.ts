/**
 * A `WhyMap` says of one skill map and one pass why it rode or did not: since when, on what evidence, and founded on what.
 *
 * @internal
 */
import type { Edge, MapNode } from "./Chain.ts"
import * as CallOutcome from "./CallOutcome.ts"
import * as CursorMove from "./CursorMove.ts"
import type * as Event from "./Event.ts"
import * as Evidence from "./Evidence.ts"
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
  /** The run whose record says how its cursor came where it was when it was founded. */
  readonly carriedFrom?: string
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

/** Calls of the map's own tools that succeeded. */
const used = (record: Record, map: Lease.MountedMap, iteration: number): ReadonlyArray<MapCause> => {
  const members = new Set(map.memberIds)
  const own = new Set(
    record.events.flatMap((event) =>
      event._tag === "ToolCalled" &&
      event.iteration === iteration - 1 &&
      event.owner !== undefined &&
      Evidence.isOwn(map, members, event.owner)
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

/** What is so of a lease, and where the record says that it came about. */
interface Story {
  readonly lease: Lease.MapEngagementRecord
  readonly last?: Change
  /** The pass in which its evidence was last the reason of a change. */
  readonly ratedIn: number
  readonly byTag: boolean
}

const standingOf = ({ last, lease, ratedIn }: Story): string => {
  const { by, idle, since, standing } = lease
  if (standing === "parked") {
    return last?._tag === "MapParked" && last.reason === "released"
      ? `did not ride: it was released in pass ${since}`
      : `did not ride: parked in pass ${since} after ${passes(idle)} without use, on ${by} evidence`
  }
  const rated = ratedIn === since ? `on ${by} evidence` : `on ${by} evidence of pass ${ratedIn}`
  return `engaged since pass ${since}, ${rated}${idle === 0 ? "" : `, ${passes(idle)} without use`}`
}

/** The words that matched are of the founding, or of the engagement after a park: they are a match, and no choice. */
const foundedOf = ({ byTag, lease }: Story): string => {
  const { foundedAt, foundedBy, foundedOn, witness } = lease
  const at = foundedOn === undefined ? "" : ` at ${SafeId.print(foundedOn)}`
  const matched =
    witness === undefined ? "" : `, matched by the ${byTag ? "tag" : "words"} ${SafeId.literal(witness, 200)}`
  return `founded in pass ${foundedAt} on ${foundedBy} evidence${at}${matched}`
}

/** The one line that says it. */
const lineOf = (story: Story | undefined, cursor: string | undefined, isLeased: boolean): string => {
  const on = cursor === undefined ? "it had no cursor" : `its cursor was on ${SafeId.print(cursor)}`
  if (!isLeased) return `${cursor === undefined ? "did not ride" : "rode"}: no lease was kept, and ${on}`
  if (story === undefined) return `did not ride: nothing had engaged it, and ${on}`
  return `${standingOf(story)}; ${foundedOf(story)}; ${on}`
}

const isLeaseOf =
  (mapId: string, pass: number) =>
  (event: Event.Event): event is Change =>
    (event._tag === "MapEngaged" || event._tag === "MapParked") && event.mapId === mapId && event.iteration <= pass

/** Whether a piece or a tool of the member under the cursor was on the wire. */
const rode = ({ state }: Record, { selection }: Wire.Mark, mapId: string, cursor: string | undefined): boolean => {
  if (selection.system.some(({ owner }) => owner?.mapId === mapId)) return true
  const names = new Set(selection.tools.map(({ tool }) => tool.name))
  return state.tools.some(
    ({ declared: { name, owners = [] } }) =>
      names.has(name) && owners.some((owner) => owner.mapId === mapId && owner.memberId === cursor)
  )
}

const why = (record: Record, mark: Wire.Mark, map: Lease.MountedMap, isLeased: boolean): MapWhy => {
  const { events, state } = record
  const { iteration: pass, skills } = mark
  const lease = SkillState.recordOf(skills, map.id)
  const cursor = CursorMove.get(skills.cursors, map.id)
  const isChange = isLeaseOf(map.id, pass)
  const changes = events.flatMap((event, seq) => (isChange(event) ? [{ event, seq }] : []))
  const [first] = changes
  const last = changes.at(-1)
  const rated = changes.findLast(({ event }) => event._tag === "MapEngaged")?.event.iteration
  const byTag = events.some(
    (event) =>
      event._tag === "CursorMoved" &&
      event.mapId === map.id &&
      event.witness?.text === lease?.witness &&
      event.witness !== undefined &&
      event.witness.keyword === undefined
  )
  const story =
    lease === undefined
      ? undefined
      : { lease, ...(last === undefined ? {} : { last: last.event }), ratedIn: rated ?? lease.since, byTag }
  const node: MapNode = {
    kind: "map",
    id: idOf(pass, map.id),
    mapId: map.id,
    pass,
    seq: last?.seq ?? mark.seq,
    rides: lease?.standing !== "parked" && rode(record, mark, map.id, cursor),
    ...(lease === undefined ? {} : { lease }),
    ...(cursor === undefined ? {} : { cursor }),
    what: lineOf(story, cursor, isLeased)
  }
  const caused = (grounds: Edge["grounds"], change: typeof first) =>
    change === undefined ? [] : causesOf(record, map, change.event).map((cause) => ({ grounds, cause }))
  const latest = last === first ? [] : caused(last?.event._tag === "MapParked" ? "parked" : "engaged", last)
  const causes = [...caused("founded", first), ...latest]
  const { cursors, followUpOf } = state.started ?? {}
  const isCarried =
    followUpOf !== undefined &&
    first?.event.iteration === 1 &&
    CursorMove.get(cursors ?? {}, map.id) === lease?.foundedOn
  return { node, causes, ...(isCarried && causes.length === 0 ? { carriedFrom: followUpOf } : {}) }
}

export const idOf = (pass: number, mapId: string): string => `map:${pass}:${mapId}`

/** Why each map of a run, or one of them, rode in a pass or did not, in plan order. */
export const of = (record: Record, mark: Wire.Mark, mapId?: string): ReadonlyArray<MapWhy> => {
  const { maps = [], renewalGrace } = record.state.started?.manifest.skills ?? {}
  return maps
    .filter(({ id }) => mapId === undefined || id === mapId)
    .map((map) => why(record, mark, map, renewalGrace !== undefined))
}
