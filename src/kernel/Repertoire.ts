/**
 * A `Repertoire` is all the skills of an agent: its maps and the lease on them, the skills that are in no map, and who may
 * pick what. Texts and definitions are declared once, when it is made.
 *
 * @since 0.1.0
 */
import type * as CallOutcome from "./CallOutcome.ts"
import * as CursorMove from "./CursorMove.ts"
import * as Declared from "./Declared.ts"
import type * as Engagement from "./Engagement.ts"
import type * as Event from "./Event.ts"
import * as FrameworkTool from "./FrameworkTool.ts"
import type * as Gate from "./Gate.ts"
import type * as ServedRecord from "./ServedRecord.ts"
import type * as Skill from "./Skill.ts"
import type * as SkillMap from "./SkillMap.ts"
import * as SkillState from "./SkillState.ts"
import type * as Wire from "./Wire.ts"

/** A skill with the id of its piece, and who owns it. */
export interface Member {
  readonly skill: Skill.Skill
  readonly owner: CallOutcome.Owner
  /** What it sends, unless its instructions are blank. */
  readonly piece?: Event.PieceDeclared
}

export interface Repertoire {
  readonly maps: ReadonlyArray<SkillMap.SkillMap>
  /** Without a plan no map is ever parked. */
  readonly plan?: Engagement.EngagementPlan
  readonly open: ReadonlyArray<Skill.Skill>
  readonly policy: Gate.Policy
  readonly members: ReadonlyArray<Member>
  /** The tools that skills contribute, by name. */
  readonly tools: ReadonlyMap<string, Event.ToolDeclared>
  /** Ours, the same in every pass. */
  readonly framework: ReadonlyArray<Event.ToolDeclared>
}

export interface Options {
  readonly maps: ReadonlyArray<SkillMap.SkillMap>
  readonly plan?: Engagement.EngagementPlan
  readonly open: ReadonlyArray<Skill.Skill>
  readonly policy: Gate.Policy
  /** Definitions of all tools that a skill may name. */
  readonly tools: ReadonlyArray<Event.ToolDeclared>
}

/** The id of a skill's piece on the wire. */
export const pieceId = ({ mapId, memberId = "" }: CallOutcome.Owner): string =>
  mapId === undefined ? `skill:${memberId}` : `skill:${mapId}/${memberId}`

const member = (skill: Skill.Skill, owner: CallOutcome.Owner): Member => {
  const { instructions: text } = skill
  const base = { skill, owner }
  return text.trim() === "" ? base : { ...base, piece: Declared.piece({ id: pieceId(owner), text }, "app", owner) }
}

export const make = ({ maps, open, plan, policy, tools }: Options): Repertoire => {
  const members = [
    ...maps.flatMap(({ id: mapId, skills }) => skills.map((skill) => member(skill, { mapId, memberId: skill.id }))),
    ...open.map((skill) => member(skill, { memberId: skill.id }))
  ]
  const ownersOf = (name: string) =>
    members.flatMap(({ owner, skill }) => (skill.tools.some((tool) => tool.name === name) ? [owner] : []))
  return {
    maps,
    ...(plan === undefined ? {} : { plan }),
    open,
    policy: { ...policy, open: open.map(({ id }) => id) },
    members,
    tools: new Map(
      tools.flatMap((tool) => {
        const owners = ownersOf(tool.name)
        return owners.length === 0 ? [] : [[tool.name, { ...tool, owners }] as const]
      })
    ),
    framework: FrameworkTool.declared(maps, open, policy.mayName)
  }
}

/** The same skills without the instructions of some, named by the ids of their pieces. Their tools stay. */
export const without = (self: Repertoire, ids: ReadonlyArray<string>): Repertoire => ({
  ...self,
  members: self.members.map(({ piece, ...member }) =>
    piece === undefined || ids.includes(piece.id) ? member : { ...member, piece }
  )
})

/** The members that ride after a pass's decisions: under the cursors of maps that are not parked, then the open ones. */
export const riding = (self: Repertoire, state: SkillState.SkillState): ReadonlyArray<Member> => {
  const parked = new Set(state.engagement.flatMap(({ mapId, standing }) => (standing === "parked" ? [mapId] : [])))
  return self.members.filter(({ owner: { mapId }, skill }) =>
    mapId === undefined
      ? state.picked.includes(skill.id)
      : CursorMove.get(state.cursors, mapId) === skill.id && !parked.has(mapId)
  )
}

const contributes = (toolName: string) => (member: Member) => member.skill.tools.some(({ name }) => name === toolName)

/** Whose tool a call is: of who rides, else of a parked map's cursor, else of any skill that has it; the agent's last. */
export const ownerOf = (
  self: Repertoire,
  state: SkillState.SkillState,
  toolName: string
): CallOutcome.Owner | undefined => {
  const has = contributes(toolName)
  const found =
    riding(self, state).find(has) ??
    self.members.find((one) => has(one) && CursorMove.get(state.cursors, one.owner.mapId ?? "") === one.skill.id) ??
    self.members.find((one) => has(one) && SkillState.recordOf(state, one.owner.mapId ?? "") !== undefined) ??
    self.members.find(has)
  return found?.owner
}

/** What the wire of the last pass held, as its selection says. */
export const served = (
  self: Repertoire,
  state: SkillState.SkillState,
  selection: Wire.Selection
): ServedRecord.ServedRecord => {
  const rode = riding(self, state)
  return {
    pieces: selection.system.flatMap(({ id, owner }) => (owner === undefined ? [] : [{ id, owner }])),
    tools: selection.tools.map(({ tool: { name } }) => ({
      name,
      owners: rode.filter(contributes(name)).map(({ owner }) => owner)
    })),
    results: []
  }
}
