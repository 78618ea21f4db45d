/**
 * A `SkillEvent` is something that was decided or asked about skills in a run: where a cursor went, whether a map rides,
 * what was picked, and how far a skill's steps are.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as CursorMove from "./CursorMove.ts"
import * as EvidenceStrength from "./EvidenceStrength.ts"
import * as Lease from "./Lease.ts"
import * as PassFacts from "./PassFacts.ts"
import * as Renewal from "./Renewal.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const id = Schema.NonEmptyString
const iteration = Schema.Positive.pipe(Schema.int())
const call = { iteration, toolCallId: id, toolName: Schema.String }
const flag = optional(Schema.Literal(true))

/** A cursor was moved, or was put where it stays, or guards kept it. `reachable` is where a pick could take it from `to`. */
export const CursorMoved = Schema.TaggedStruct("CursorMoved", {
  iteration,
  mapId: id,
  from: optional(id),
  to: optional(id),
  by: id,
  reachable: optional(Schema.Array(id)),
  witness: optional(CursorMove.Witness),
  guard: optional(CursorMove.GuardEvaluation),
  guardsClosed: optional(Schema.Array(CursorMove.GuardEvaluation))
})
export type CursorMoved = typeof CursorMoved.Type

/** The calls of one batch led to different skills. The first in call order won. */
export const RouteConflicted = Schema.TaggedStruct("RouteConflicted", {
  iteration,
  mapId: id,
  from: optional(id),
  winner: CursorMove.RouteTarget,
  losers: Schema.Array(CursorMove.RouteTarget)
})
export type RouteConflicted = typeof RouteConflicted.Type

/**
 * A map's pieces and tools ride from this pass on, or ride for a better reason, or for another member. Without a flag
 * it was founded. `evidence` is what renewed it; `record` is all that is so of it since.
 */
export const MapEngaged = Schema.TaggedStruct("MapEngaged", {
  iteration,
  mapId: id,
  by: EvidenceStrength.EvidenceStrength,
  witness: optional(id),
  reengaged: flag,
  upgraded: flag,
  tenantChanged: flag,
  at: optional(id),
  foundedBy: optional(EvidenceStrength.EvidenceStrength),
  evidence: optional(Schema.Array(Renewal.RenewalEvidence)),
  record: Lease.MapEngagementRecord
})
export type MapEngaged = typeof MapEngaged.Type

/** A map's pieces and tools ride no more. `released`: it was asked for, by the model or the application. */
export const MapParked = Schema.TaggedStruct("MapParked", {
  iteration,
  mapId: id,
  by: EvidenceStrength.EvidenceStrength,
  idleCalls: Schema.NonNegativeInt,
  witness: optional(id),
  reason: optional(Schema.Literal("released")),
  record: Lease.MapEngagementRecord
})
export type MapParked = typeof MapParked.Type

/** For how many passes maps have been of no use, where that changed and nothing else did: 0 after one in which it was. */
export const MapsIdled = Schema.TaggedStruct("MapsIdled", {
  iteration,
  counts: Schema.Array(Schema.Struct({ mapId: id, idle: Schema.NonNegativeInt }))
})
export type MapsIdled = typeof MapsIdled.Type

/** The gate accepted a pick. */
export const SkillPicked = Schema.TaggedStruct("SkillPicked", {
  ...call,
  skillId: id,
  mapId: optional(id),
  intent: PassFacts.AcceptedIntent
})
export type SkillPicked = typeof SkillPicked.Type

/** The gate refused a pick. `allowed` are the ids that could be picked then. */
export const SkillRefused = Schema.TaggedStruct("SkillRefused", {
  ...call,
  requestedId: Schema.String,
  currentSkillId: optional(id),
  allowed: Schema.Array(id),
  reason: Schema.Literal("hidden", "unreachable", "posture", "stale-offer"),
  posture: optional(Schema.Literal("rails", "guard", "assist"))
})
export type SkillRefused = typeof SkillRefused.Type

/** A pick was accepted, and its skill does not ride in this pass. `source` is the clause by which `wonId` was reached. */
export const SkillSuperseded = Schema.TaggedStruct("SkillSuperseded", {
  iteration,
  volunteeredId: id,
  wonId: optional(id),
  fromSkillId: optional(id),
  source: optional(id)
})
export type SkillSuperseded = typeof SkillSuperseded.Type

/**
 * Somebody asked for a map to ride, or not to: the model, by its call, or the application. `iteration` is the pass in
 * which it was asked, 0 before the first; the next one judges it.
 */
export const MapSteered = Schema.TaggedStruct("MapSteered", {
  iteration: Schema.NonNegativeInt,
  mapId: id,
  verb: Schema.Literal("engage", "release"),
  by: Schema.Literal("model", "app"),
  /** The member that stands for the map as evidence: engaging moves no cursor. */
  memberId: optional(id),
  toolCallId: optional(id)
})
export type MapSteered = typeof MapSteered.Type

/** A skill's step at hand, counted from 0; the number of its steps when all are done. */
export const StepReached = Schema.TaggedStruct("StepReached", {
  iteration,
  mapId: id,
  skillId: id,
  step: Schema.NonNegativeInt
})
export type StepReached = typeof StepReached.Type

/** The model left the step at hand out, for a reason. */
export const StepSkipped = Schema.TaggedStruct("StepSkipped", {
  ...call,
  mapId: id,
  skillId: id,
  step: Schema.NonNegativeInt,
  reason: Schema.NonEmptyString
})
export type StepSkipped = typeof StepSkipped.Type

/** The model wanted to answer with steps undone, and was reminded, once for a skill. `content` is what it reads. */
export const StepReminded = Schema.TaggedStruct("StepReminded", {
  iteration,
  mapId: id,
  skillId: id,
  step: Schema.NonNegativeInt,
  content: Schema.String
})
export type StepReminded = typeof StepReminded.Type

/** What a pass decided of its skills, before the model is asked. */
export const Decision = Schema.Union(
  CursorMoved,
  RouteConflicted,
  StepReached,
  MapEngaged,
  MapParked,
  MapsIdled,
  SkillSuperseded
)
export type Decision = typeof Decision.Type

/** What a call of the framework's tools came to, beside its settlement. */
export const Judged = Schema.Union(SkillPicked, SkillRefused, StepSkipped, MapSteered)
export type Judged = typeof Judged.Type

export const SkillEvent = Schema.Union(...Decision.members, ...Judged.members, StepReminded)
export type SkillEvent = typeof SkillEvent.Type
