/**
 * A `SkillPass` is what a pass decides about skills: where the cursors are, which maps ride, and what that puts on the
 * wire and keeps off it. Pure; the facts of the last batch are judged here once.
 *
 * @internal
 */
import * as Cursor from "./Cursor.ts"
import * as CursorMove from "./CursorMove.ts"
import * as Declared from "./Declared.ts"
import * as Engagement from "./Engagement.ts"
import * as Entry from "./Entry.ts"
import type * as Event from "./Event.ts"
import * as Evidence from "./Evidence.ts"
import * as Gate from "./Gate.ts"
import * as Json from "./Json.ts"
import * as Offer from "./Offer.ts"
import * as ParkCard from "./ParkCard.ts"
import * as Renewal from "./Renewal.ts"
import * as Repertoire from "./Repertoire.ts"
import type * as SkillEvent from "./SkillEvent.ts"
import type * as SkillMap from "./SkillMap.ts"
import * as SkillState from "./SkillState.ts"
import type * as State from "./State.ts"
import * as Steps from "./Steps.ts"
import * as Wire from "./Wire.ts"

/** `decisions` are those that are not on the record yet. The lists join the agent's own, in this order. */
export interface SkillPass {
  readonly decisions: ReadonlyArray<SkillEvent.Decision>
  readonly pieces: ReadonlyArray<Event.PieceDeclared>
  readonly tools: ReadonlyArray<Event.ToolDeclared>
  /** Pieces that would ride if their map were not parked. */
  readonly skipped: ReadonlyArray<string>
  readonly offerVersion: string
}

type Moves = CursorMove.ByMap<CursorMove.CursorMove>

const resolve = ({ maps }: Repertoire.Repertoire, state: State.State): Moves => {
  const { heard, iteration, marks, skills, started } = state
  const facts: Cursor.Facts = {
    ...skills.facts,
    iteration: iteration + 1,
    // Words that a pass has judged lead nowhere else in a later one.
    ...(heard === undefined || heard.seq < (marks.at(-1)?.seq ?? 0) ? {} : { said: Entry.read(heard.content) }),
    ...(started?.tags === undefined ? {} : { tags: started.tags })
  }
  return Object.fromEntries(
    maps.map((map) => [map.id, Cursor.resolve(map, CursorMove.get(skills.cursors, map.id), facts)])
  )
}

const moved = (
  map: SkillMap.SkillMap,
  iteration: number,
  move: CursorMove.CursorMove
): ReadonlyArray<SkillEvent.Decision> => {
  const { by, conflict, from, guard, guardsClosed, to, witness } = move
  const place = from === undefined ? {} : { from }
  const isQuiet = from === to && guardsClosed === undefined && guard === undefined
  return [
    ...(isQuiet
      ? []
      : [
          {
            _tag: "CursorMoved" as const,
            iteration,
            mapId: map.id,
            ...place,
            ...(to === undefined ? {} : { to }),
            by,
            ...(from === to ? {} : { reachable: Cursor.reachable(map, to) }),
            ...(witness === undefined ? {} : { witness }),
            ...(guard === undefined ? {} : { guard }),
            ...(guardsClosed === undefined ? {} : { guardsClosed })
          }
        ]),
    ...(conflict === undefined
      ? []
      : [{ _tag: "RouteConflicted" as const, iteration, mapId: map.id, ...place, ...conflict }])
  ]
}

const stepped = (
  map: SkillMap.SkillMap,
  iteration: number,
  move: CursorMove.CursorMove,
  before: SkillState.SkillState
): ReadonlyArray<SkillEvent.Decision> => {
  const skill = map.skills.find(({ id }) => id === move.to)
  if (skill?.steps === undefined || skill.steps.length === 0) return []
  const step = Steps.place(skill, map.id, move, before)
  const prior = SkillState.stepOf(before, map.id)
  return prior?.skillId === skill.id && prior.step === step
    ? []
    : [{ _tag: "StepReached", iteration, mapId: map.id, skillId: skill.id, step }]
}

/** The lease after the pass, with what renewed each map that changed, and the counts that changed in silence. */
const engage = (
  { plan }: Repertoire.Repertoire,
  before: SkillState.SkillState,
  known: Evidence.Known
): ReadonlyArray<SkillEvent.Decision> => {
  if (plan === undefined) return []
  const { iteration } = known
  const first = Evidence.renew(plan, before.engagement, known)
  const advanced = Evidence.release(plan, first, known)
  const renewed = Engagement.byMap(first.next)
  const records = Engagement.byMap(advanced.next)
  const priors = Engagement.byMap(before.engagement)
  const changes = advanced.changes.flatMap((change): ReadonlyArray<SkillEvent.Decision> => {
    // What was renewed may have been given back in the same pass: each event has the record as it was then.
    const record = (change.kind === "parked" ? records : renewed).get(change.mapId)
    if (record === undefined) return []
    if (change.kind === "parked") {
      const { kind: _, ...told } = change
      return [{ _tag: "MapParked", ...told, record }]
    }
    const map = plan.maps.find(({ id }) => id === change.mapId)
    if (map === undefined) return []
    const { kind: _, ...told } = change
    const seen = Evidence.of(map, priors.get(map.id), known)
    const evidence = Renewal.evidence({ ...plan, maps: [seen.map] }, seen.pass).flat()
    return [{ _tag: "MapEngaged", ...told, ...(evidence.length === 0 ? {} : { evidence }), record }]
  })
  const changed = new Set(advanced.changes.map(({ mapId }) => mapId))
  const counts = advanced.next.flatMap(({ idle, mapId }) =>
    changed.has(mapId) || priors.get(mapId)?.idle === idle ? [] : [{ mapId, idle }]
  )
  return counts.length === 0 ? changes : [...changes, { _tag: "MapsIdled", iteration, counts }]
}

/** Picks that were accepted, and whose skill does not ride after all. */
const superseded = (
  iteration: number,
  moves: Moves,
  before: SkillState.SkillState,
  rides: ReadonlySet<string>
): ReadonlyArray<SkillEvent.Decision> =>
  before.volunteered.flatMap(({ mapId, skillId }): ReadonlyArray<SkillEvent.Decision> => {
    if (rides.has(skillId)) return []
    const move = CursorMove.get(moves, mapId ?? "")
    return [
      {
        _tag: "SkillSuperseded",
        iteration,
        volunteeredId: skillId,
        ...(move?.to === undefined || move.to === skillId ? {} : { wonId: move.to }),
        ...(move?.from === undefined ? {} : { fromSkillId: move.from }),
        ...(move === undefined ? {} : { source: move.by })
      }
    ]
  })

const notice = (id: string, text: string | undefined): ReadonlyArray<Event.PieceDeclared> =>
  text === undefined ? [] : [Declared.piece({ id, text }, "runtime")]

/** The steps at hand of the maps that ride. */
const steps = (
  { policy }: Repertoire.Repertoire,
  riding: ReadonlyArray<Repertoire.Member>,
  after: SkillState.SkillState
) =>
  riding.flatMap(({ owner: { mapId }, skill }) => {
    const place = mapId === undefined ? undefined : SkillState.stepOf(after, mapId)
    return mapId === undefined || place === undefined
      ? []
      : notice(Steps.pieceId(mapId), Steps.text(skill, place.step, policy.mayName))
  })

/** What the next pass decides about skills. Made again from the same record, it is the same. */
export const decide = (self: Repertoire.Repertoire, state: State.State): SkillPass => {
  const { framework, maps, plan, policy } = self
  const { skills: before } = state
  // The wire that was sent, and not a selection that an interrupted decision has recorded.
  const { selection = Wire.emptySelection } = state.marks.at(-1) ?? {}
  const iteration = state.iteration + 1
  const moves = resolve(self, state)
  const known: Evidence.Known = {
    iteration,
    facts: before.facts,
    moves,
    served: Repertoire.served(self, before, selection)
  }
  const decided = [
    ...maps.flatMap((map) => {
      const move = CursorMove.get(moves, map.id)
      return move === undefined ? [] : [...moved(map, iteration, move), ...stepped(map, iteration, move, before)]
    }),
    ...engage(self, before, known)
  ]
  const after = SkillState.after(before, decided)
  const riding = Repertoire.riding(self, after)
  const rides = new Set(riding.map(({ skill }) => skill.id))
  const all = [...decided, ...superseded(iteration, moves, before, rides)]
  const tools = new Map([
    ...framework.map((tool) => [tool.name, tool] as const),
    ...riding.flatMap(({ skill }) =>
      skill.tools.flatMap(({ name }) => {
        const tool = self.tools.get(name)
        return tool === undefined ? [] : [[name, tool] as const]
      })
    )
  ])
  const { ids, offerVersion } = Gate.offer(maps, after.engagement, after.cursors, policy)
  return {
    decisions: all.filter((event) => !before.decided.some((one) => Json.equal(one, event))),
    pieces: [
      ...riding.flatMap(({ piece }) => piece ?? []),
      ...steps(self, riding, after),
      ...notice(
        ParkCard.id,
        plan === undefined ? undefined : ParkCard.render(plan, after.engagement, policy.mayName, after.cursors)
      ),
      ...notice(
        Offer.id,
        Offer.render(
          offerVersion,
          ids.filter((id) => !rides.has(id))
        )
      )
    ],
    tools: Array.from(tools.values()),
    skipped: self.members.flatMap(({ owner: { mapId }, piece, skill }) =>
      mapId !== undefined &&
      piece !== undefined &&
      CursorMove.get(after.cursors, mapId) === skill.id &&
      !rides.has(skill.id)
        ? [piece.id]
        : []
    ),
    offerVersion
  }
}

/** What to say to a model that wants to answer while a step is open, unless it was said before. */
export const remind = (
  { maps, policy }: Repertoire.Repertoire,
  { iteration, skills }: State.State
): SkillEvent.StepReminded | undefined => {
  for (const map of maps) {
    const place = SkillState.stepOf(skills, map.id)
    const skill = map.skills.find(({ id }) => id === place?.skillId)
    if (place === undefined || skill === undefined) continue
    const isSaid = skills.reminded.some(({ mapId, skillId }) => mapId === map.id && skillId === skill.id)
    const isParked = SkillState.recordOf(skills, map.id)?.standing === "parked"
    const content = isSaid || isParked ? undefined : Steps.reminder(skill, place.step, policy.mayName)
    if (content === undefined) continue
    return { _tag: "StepReminded", iteration, mapId: map.id, skillId: skill.id, step: place.step, content }
  }
  return undefined
}
