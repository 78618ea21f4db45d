/**
 * A `SkillState` is where a run stands in its skills: the cursors, the lease, the steps, and what the last batch left to
 * decide on. Decisions of a pass count from its model call on, so that one which was interrupted is made again alike.
 *
 * @since 0.1.0
 */
import type * as CallOutcome from "./CallOutcome.ts"
import * as CursorMove from "./CursorMove.ts"
import type * as Engagement from "./Engagement.ts"
import * as PassFacts from "./PassFacts.ts"
import type * as SkillEvent from "./SkillEvent.ts"

/** The step at hand of the skill under a map's cursor, counted from 0. */
export interface StepPlace {
  readonly skillId: string
  readonly step: number
}

export interface SkillState {
  readonly cursors: CursorMove.ByMap<string>
  readonly engagement: Engagement.MapEngagement
  readonly steps: CursorMove.ByMap<StepPlace>
  /** Skills whose pick was accepted, in this run. */
  readonly picked: ReadonlyArray<string>
  /** What the last batch picked, each once. */
  readonly volunteered: ReadonlyArray<{ readonly skillId: string; readonly mapId?: string }>
  /** Where the model was reminded of steps that it left out. */
  readonly reminded: ReadonlyArray<{ readonly mapId: string; readonly skillId: string }>
  readonly facts: PassFacts.PassFacts
  readonly skips: ReadonlyArray<SkillEvent.StepSkipped>
  /** Calls of the open reply whose verdict is on the record. */
  readonly judged: ReadonlyArray<string>
  /** What the next pass has decided so far. */
  readonly decided: ReadonlyArray<SkillEvent.Decision>
  /** The version of the offer on the last wire that had one. */
  readonly offerVersion?: string
}

export const initial: SkillState = {
  cursors: {},
  engagement: [],
  steps: {},
  picked: [],
  volunteered: [],
  reminded: [],
  facts: PassFacts.none,
  skips: [],
  judged: [],
  decided: []
}

export const recordOf = (state: SkillState, mapId: string): Engagement.MapEngagementRecord | undefined =>
  state.engagement.find((record) => record.mapId === mapId)

const withRecord = (state: SkillState, next: Engagement.MapEngagementRecord): SkillState => {
  const isKnown = recordOf(state, next.mapId) !== undefined
  const engagement = isKnown
    ? state.engagement.map((record) => (record.mapId === next.mapId ? next : record))
    : [...state.engagement, next]
  return { ...state, engagement }
}

const decide = (state: SkillState, event: SkillEvent.Decision): SkillState => {
  switch (event._tag) {
    case "CursorMoved":
      return event.to === undefined ? state : { ...state, cursors: { ...state.cursors, [event.mapId]: event.to } }
    case "StepReached": {
      const { mapId, skillId, step } = event
      return { ...state, steps: { ...state.steps, [mapId]: { skillId, step } } }
    }
    case "MapEngaged":
    case "MapParked":
      return withRecord(state, event.record)
    case "MapsIdled": {
      const counts = new Map(event.counts.map(({ idle, mapId }) => [mapId, idle]))
      const engagement = state.engagement.map((record) => {
        const idle = counts.get(record.mapId)
        return idle === undefined ? record : { ...record, idle }
      })
      return { ...state, engagement }
    }
    case "RouteConflicted":
    case "SkillSuperseded":
      return state
  }
}

/** The state that decisions lead to. */
export const after = (state: SkillState, decisions: ReadonlyArray<SkillEvent.Decision>): SkillState =>
  decisions.reduce(decide, state)

/** The model is asked: what was decided counts, and the facts that it was decided on are spent. */
export const commit = (state: SkillState, offerVersion: string | undefined): SkillState => {
  if (state === initial) return state
  return {
    ...after(state, state.decided),
    facts: PassFacts.none,
    volunteered: [],
    skips: [],
    judged: [],
    decided: [],
    ...(offerVersion === undefined ? {} : { offerVersion })
  }
}

const judge = (state: SkillState, event: SkillEvent.Judged): SkillState => {
  const { facts } = state
  switch (event._tag) {
    case "SkillPicked": {
      const { intent, mapId, skillId } = event
      const pick = { skillId, ...(mapId === undefined ? {} : { mapId }), intent }
      const picked = state.picked.includes(skillId) ? state.picked : [...state.picked, skillId]
      const isNamed = state.volunteered.some((one) => one.skillId === skillId)
      const volunteered = isNamed ? state.volunteered : [...state.volunteered, pick]
      return { ...state, picked, volunteered, facts: { ...facts, picks: [...facts.picks, pick] } }
    }
    case "SkillRefused":
      return state
    case "StepSkipped":
      return { ...state, skips: [...state.skips, event] }
    case "MapSteered": {
      const { mapId, memberId, verb } = event
      if (verb === "release") return { ...state, facts: { ...facts, releases: [...facts.releases, { mapId }] } }
      if (memberId === undefined) return state
      const pick: PassFacts.AcceptedPick = { skillId: memberId, mapId, intent: "reengage" }
      return { ...state, facts: { ...facts, picks: [...facts.picks, pick] } }
    }
  }
}

/** The state after an event about skills. */
export const step = (state: SkillState, event: SkillEvent.SkillEvent): SkillState => {
  switch (event._tag) {
    case "SkillPicked":
    case "SkillRefused":
    case "StepSkipped":
    case "MapSteered": {
      const next = judge(state, event)
      return event.toolCallId === undefined ? next : { ...next, judged: [...next.judged, event.toolCallId] }
    }
    case "StepReminded": {
      const { mapId, skillId } = event
      return { ...state, reminded: [...state.reminded, { mapId, skillId }] }
    }
    default:
      return { ...state, decided: [...state.decided, event] }
  }
}

/** A call was settled: the next pass decides on what it came to. */
export const settle = (state: SkillState, outcome: CallOutcome.CallOutcome): SkillState => ({
  ...state,
  facts: { ...state.facts, outcomes: [...state.facts.outcomes, outcome] }
})

/** The step at hand of a map, if the cursor is on a skill that has one. */
export const stepOf = (state: SkillState, mapId: string): StepPlace | undefined => {
  const place = CursorMove.get(state.steps, mapId)
  return place?.skillId === CursorMove.get(state.cursors, mapId) ? place : undefined
}
