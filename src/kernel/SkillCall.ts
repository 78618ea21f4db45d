/**
 * A `SkillCall` is what a call of the framework's tools comes to. It is judged before anything runs, on the wire that the
 * model answered, and changes nothing itself: the next pass decides.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as CursorMove from "./CursorMove.ts"
import * as Engagement from "./Engagement.ts"
import * as FrameworkTool from "./FrameworkTool.ts"
import * as Gate from "./Gate.ts"
import type * as Message from "./Message.ts"
import * as Refusal from "./Refusal.ts"
import type * as Repertoire from "./Repertoire.ts"
import * as SafeId from "./SafeId.ts"
import * as Skill from "./Skill.ts"
import type * as SkillEvent from "./SkillEvent.ts"
import * as SkillState from "./SkillState.ts"

/** `served` is what an accepted call returns. `event` is its verdict for the record, if it has one. */
export type Verdict =
  | { readonly _tag: "Accepted"; readonly served: string; readonly event: SkillEvent.Judged }
  | {
      readonly _tag: "Refused"
      readonly outcome: Message.Settlement
      readonly refusal: Refusal.Refusal
      readonly event?: SkillEvent.Judged
    }

type Args = { readonly [name: string]: unknown }

const refused = (refusal: Refusal.Refusal): Verdict => ({ _tag: "Refused", outcome: "refused", refusal })

/** A text among the arguments that is no white space. */
const textOf = (args: Args, name: string): string | undefined => {
  const value = args[name]
  return typeof value === "string" && value.trim() !== "" ? value : undefined
}

const extra = (args: Args, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.keys(args)
    .filter((name) => !names.includes(name))
    .map((name) => `[${SafeId.literal(name)}] is no argument of it`)

const invalid = (toolName: string, issues: ReadonlyArray<string>): Verdict =>
  refused(Refusal.toolArgsInvalid(toolName, issues))

const pick = (
  { maps, policy }: Repertoire.Repertoire,
  { cursors, engagement, offerVersion, picked, volunteered }: SkillState.SkillState,
  call: { readonly iteration: number; readonly toolCallId: string; readonly toolName: string },
  skillId: string
): Verdict => {
  const {
    allowed = [],
    currentSkillId,
    intent,
    mapId,
    outcome,
    posture,
    reason,
    refusal,
    text
  } = Gate.pick(maps, engagement, cursors, skillId, offerVersion, policy)
  if (outcome === "accepted" && intent !== "deny" && intent !== "refuse") {
    const event = { _tag: "SkillPicked", ...call, skillId, ...(mapId === undefined ? {} : { mapId }), intent } as const
    const isNew = volunteered.some((one) => one.skillId === skillId) || !picked.includes(skillId)
    const isLoaded = intent === "open" && !isNew
    const served = isLoaded ? `The pick of ${SafeId.print(skillId)} changed nothing: it was active already.` : text
    return { _tag: "Accepted", served, event }
  }
  if (refusal === undefined || reason === undefined) return invalid(call.toolName, ["id must name a skill"])
  return {
    _tag: "Refused",
    outcome: outcome === "denied" ? "denied" : "refused",
    refusal,
    event: {
      _tag: "SkillRefused",
      ...call,
      requestedId: skillId,
      ...(currentSkillId === undefined ? {} : { currentSkillId }),
      allowed,
      reason,
      ...(posture === undefined ? {} : { posture })
    }
  }
}

const why: { readonly [reason in Engagement.Unreleasable]: string } = {
  "unknown-map": "there was no such map",
  "not-engaged": "it had not been engaged",
  parked: "it was parked already",
  "non-parkable": "it could not be parked"
}

const notReleased = (mapId: string, reason: string, others: ReadonlyArray<string>): Refusal.Refusal => ({
  tag: "MapNotReleased",
  law: "Only a map that rides can be given back.",
  code: "WF-SKILL-006",
  what: `The map ${SafeId.print(mapId)} was not given back: ${reason}.`,
  next: others.length === 0 ? "Go on without it." : `The maps that could be given back then: ${SafeId.list(others)}.`,
  outcome: "not-applied",
  retry: "never"
})

/** Why a map cannot be given back now, if it cannot. */
export const unreleasable = (
  { maps, plan }: Repertoire.Repertoire,
  { engagement }: SkillState.SkillState,
  mapId: string,
  mayNameMap: (mapId: string) => boolean = () => true
): Refusal.Refusal | undefined => {
  const known = plan ?? {
    maps: maps.map(({ id }) => ({ id, memberIds: [], toolNames: [], nonParkable: true })),
    renewalGrace: 1
  }
  const judge = (id: string) => (mayNameMap(id) ? Engagement.unreleasable(known, engagement, id) : "unknown-map")
  const reason = judge(mapId)
  if (reason === undefined) return undefined
  const others = maps.map(({ id }) => id).filter((id) => judge(id) === undefined)
  return notReleased(mapId, why[reason], others)
}

/** Why a map cannot be engaged, or the member that stands for it: that under its cursor, or its first entry. */
export const engageable = (
  { maps, plan }: Repertoire.Repertoire,
  { cursors }: SkillState.SkillState,
  mapId: string
): Either.Either<string, Refusal.Refusal> => {
  const map = plan === undefined ? undefined : maps.find(({ id }) => id === mapId)
  const memberId = CursorMove.get(cursors, mapId) ?? map?.entries[0]?.skillId
  if (map !== undefined && memberId !== undefined) return Either.right(memberId)
  return Either.left({
    tag: "MapNotEngaged",
    law: "Only a map that is mounted can be engaged.",
    code: "WF-SKILL-007",
    what: `The map ${SafeId.print(mapId)} was not engaged: ${plan === undefined ? "the agent has no engagement" : why["unknown-map"]}.`,
    next:
      maps.length === 0 ? "Give the agent maps." : `The maps of the agent: ${SafeId.list(maps.map(({ id }) => id))}.`,
    outcome: "not-applied",
    retry: "never"
  })
}

const notSkipped = (what: string, next: string): Verdict => refused({ ...Skill.noStep, what, next })

/** A step is left out by itself: what the same reply did about it is judged first. */
const skip = (
  { maps, policy: { mayName = () => true } }: Repertoire.Repertoire,
  state: SkillState.SkillState,
  call: { readonly iteration: number; readonly toolCallId: string; readonly toolName: string },
  before: ReadonlyArray<Message.ToolCall>,
  reason: string,
  skillId: string | undefined
): Verdict => {
  const at = maps.flatMap((map) => {
    const place = SkillState.stepOf(state, map.id)
    const skill = map.skills.find(({ id }) => id === place?.skillId)
    const step = place === undefined ? undefined : skill?.steps?.[place.step]
    const isRiding = SkillState.recordOf(state, map.id)?.standing !== "parked"
    return skill !== undefined && place !== undefined && step !== undefined && isRiding
      ? [{ mapId: map.id, skill, at: place.step, tool: step.toolName }]
      : []
  })
  const named = skillId === undefined ? at : at.filter(({ skill }) => skill.id === skillId)
  const [one] = named
  const ids = at.map(({ skill }) => skill.id).filter(mayName)
  if (named.length > 1) return invalid(call.toolName, [`skillId must be one of ${SafeId.list(ids)}`])
  if (one === undefined) {
    return skillId === undefined || ids.length === 0
      ? refused(Skill.noStep)
      : invalid(call.toolName, [`skillId must be one of ${SafeId.list(ids)}`])
  }
  if (before.some(({ toolName }) => toolName === call.toolName || toolName === one.tool)) {
    const what = "The step was not skipped: the same reply had called its tool, or had skipped one already."
    return notSkipped(what, "See what came of that first.")
  }
  const next = Skill.skip(one.skill, one.at, reason)
  if (Either.isLeft(next)) return refused(next.left)
  const { at: step, mapId, skill } = one
  const event = { _tag: "StepSkipped", ...call, mapId, skillId: skill.id, step, reason } as const
  const of = mayName(skill.id) ? ` of ${SafeId.print(skill.id)}` : ""
  return { _tag: "Accepted", served: `The step ${step + 1}${of} was left out.`, event }
}

/** What a call of one of our tools comes to, whose arguments are an object. `before` are the calls before it in its reply. */
export const judge = (
  repertoire: Repertoire.Repertoire,
  state: SkillState.SkillState,
  iteration: number,
  { toolCallId, toolName }: Message.ToolCall,
  before: ReadonlyArray<Message.ToolCall>,
  args: Args
): Verdict => {
  const call = { iteration, toolCallId, toolName }
  switch (toolName) {
    case "read_skill": {
      const skillId = textOf(args, "id")
      const issues = extra(args, ["id"])
      if (skillId !== undefined && issues.length === 0) return pick(repertoire, state, call, skillId)
      return invalid(toolName, skillId === undefined ? ["id must be a text that is not blank", ...issues] : issues)
    }
    case "release_map": {
      const mapId = textOf(args, "mapId")
      const issues = extra(args, ["mapId"])
      if (mapId === undefined || issues.length > 0) {
        return invalid(toolName, mapId === undefined ? ["mapId must be a text that is not blank", ...issues] : issues)
      }
      const refusal = unreleasable(repertoire, state, mapId, FrameworkTool.mayNameMap(repertoire))
      if (refusal !== undefined) return refused(refusal)
      const served = `The map ${SafeId.print(mapId)} was given back: it was not to ride from the next call on. Its cursor did not move.`
      return {
        _tag: "Accepted",
        served,
        event: { _tag: "MapSteered", iteration, mapId, verb: "release", by: "model", toolCallId }
      }
    }
    default: {
      const { reason, skillId } = args
      const issues = [
        ...(typeof reason === "string" ? [] : ["reason must be a text"]),
        ...(skillId === undefined || typeof skillId === "string" ? [] : ["skillId must be a text"]),
        ...extra(args, ["reason", "skillId"])
      ]
      if (typeof reason !== "string" || issues.length > 0) return invalid(toolName, issues)
      return skip(repertoire, state, call, before, reason, typeof skillId === "string" ? skillId : undefined)
    }
  }
}
