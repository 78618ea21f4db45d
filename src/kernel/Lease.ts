/**
 * A `Lease` is what an engagement is made of, as plain data: the maps that may ride the wire, the facts of a pass, and
 * the record and the changes of each map.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as EvidenceStrength from "./EvidenceStrength.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const flag = optional(Schema.Literal(true))
const iteration = Schema.Positive.pipe(Schema.int())
const id = Schema.NonEmptyString

/**
 * A map as the lease sees it. `memberIds` are the pieces that a park suppresses, `toolNames` the tools they contribute;
 * `entryIds` are the members that a pick reaches while the map has no cursor.
 */
export const MountedMap = Schema.Struct({
  id: Schema.String,
  memberIds: Schema.Array(Schema.String),
  toolNames: Schema.Array(Schema.String),
  entryIds: optional(Schema.Array(Schema.String)),
  nonParkable: optional(Schema.Boolean)
})
export type MountedMap = typeof MountedMap.Type

/** `renewalGrace` is how many counted idle passes a tentative engagement survives, an integer of at least 1. */
export interface EngagementPlan {
  readonly maps: ReadonlyArray<MountedMap>
  readonly renewalGrace: number
}

export const defaultGrace = 3

/**
 * What is so of one map. Founding says why it takes part at all, `at` why the cursor is on this member, `by` why its
 * pieces ride now: none is answered from another. `since` is the pass in which the standing began, `idle` counts the
 * idle passes since the last evidence.
 */
export const MapEngagementRecord = Schema.Struct({
  mapId: id,
  standing: Schema.Literal("engaged", "parked"),
  by: EvidenceStrength.EvidenceStrength,
  since: iteration,
  idle: Schema.NonNegativeInt,
  foundedBy: EvidenceStrength.EvidenceStrength,
  foundedAt: iteration,
  foundedOn: optional(id),
  at: optional(id),
  atBy: optional(EvidenceStrength.EvidenceStrength),
  atSince: optional(iteration),
  witness: optional(Schema.NonEmptyString)
})
export type MapEngagementRecord = typeof MapEngagementRecord.Type

/** One record for each map that takes part, in plan order. */
export const MapEngagement = Schema.Array(MapEngagementRecord)
export type MapEngagement = typeof MapEngagement.Type

const change = { mapId: id, iteration, by: EvidenceStrength.EvidenceStrength, witness: optional(Schema.NonEmptyString) }

/** What changed, on the pass in which it did. Without a flag, an `engaged` is a founding. */
export const EngagementChange = Schema.Union(
  Schema.Struct({
    kind: Schema.Literal("engaged"),
    ...change,
    reengaged: flag,
    upgraded: flag,
    tenantChanged: flag,
    at: optional(id),
    foundedBy: optional(EvidenceStrength.EvidenceStrength)
  }),
  Schema.Struct({
    kind: Schema.Literal("parked"),
    ...change,
    idleCalls: Schema.NonNegativeInt,
    reason: optional(Schema.Literal("released"))
  })
)
export type EngagementChange = typeof EngagementChange.Type

/** The only facts that `advance` sees. `moveBy` is the clause of `CursorMove`. */
export interface EngagementPass {
  readonly iteration: number
  readonly currentNode?: string
  readonly moveBy?: string
  readonly witness?: string
  readonly toolResults: ReadonlyArray<{ readonly toolName: string }>
  readonly pendingSkillPick?: string
  readonly acceptedSkillPicks: ReadonlyArray<string>
  readonly servedLastPass: ReadonlyArray<string>
}

/** The parked lists are in plan order and hold all that the wire is to do without. */
export interface EngagementAdvance {
  readonly next: MapEngagement
  readonly parkedInjectionIds: ReadonlyArray<string>
  readonly parkedToolNames: ReadonlyArray<string>
  readonly changes: ReadonlyArray<EngagementChange>
}
