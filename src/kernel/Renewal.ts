/**
 * A `Renewal` is what a pass did for a map: the facts that count as evidence that the map is still of use.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as EvidenceStrength from "./EvidenceStrength.ts"
import type * as Lease from "./Lease.ts"

/** One fact of a pass that renews a map. Nothing else does. */
export const RenewalEvidence = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("owned-tool-called"), toolName: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("cursor-moved"), by: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("explicit-pick"), skillId: Schema.String }),
  Schema.Struct({ kind: Schema.Literal("member-activated"), skillId: Schema.String })
)
export type RenewalEvidence = typeof RenewalEvidence.Type

const strengthOf = (evidence: RenewalEvidence): EvidenceStrength.EvidenceStrength => {
  switch (evidence.kind) {
    case "owned-tool-called":
      return "structural"
    case "cursor-moved":
      return EvidenceStrength.ofClause(evidence.by)
    case "explicit-pick":
    case "member-activated":
      return "explicit"
  }
}

/** The best of what was found, if anything was. */
export const strongest = (evidence: ReadonlyArray<RenewalEvidence>): EvidenceStrength.EvidenceStrength | undefined =>
  evidence.length === 0 ? undefined : evidence.map(strengthOf).reduce(EvidenceStrength.stronger)

/** For each name, the maps that hold it, by their place in the plan. */
const holders = (lists: ReadonlyArray<ReadonlyArray<string>>): ReadonlyMap<string, ReadonlyArray<number>> => {
  const index = new Map<string, Array<number>>()
  lists.forEach((names, at) => {
    for (const name of new Set(names)) {
      const holding = index.get(name)
      if (holding === undefined) index.set(name, [at])
      else holding.push(at)
    }
  })
  return index
}

/** What renews each map of the plan in this pass, in plan order; of a name that occurs again, once. */
export const evidence = (
  { maps }: Lease.EngagementPlan,
  pass: Lease.EngagementPass
): ReadonlyArray<ReadonlyArray<RenewalEvidence>> => {
  const found = maps.map((): Array<RenewalEvidence> => [])
  const members = holders(maps.map(({ memberIds }) => memberIds))
  const tools = holders(maps.map(({ toolNames }) => toolNames))
  const file = (holding: ReadonlyArray<number> = [], evidence: RenewalEvidence): void => {
    for (const at of holding) found[at]?.push(evidence)
  }
  for (const toolName of new Set(pass.toolResults.map(({ toolName }) => toolName))) {
    file(tools.get(toolName), { kind: "owned-tool-called", toolName })
  }
  const { currentNode, moveBy: by, pendingSkillPick } = pass
  if (by !== undefined && by !== "stay" && by !== "none" && currentNode !== undefined) {
    file(members.get(currentNode), { kind: "cursor-moved", by })
  }
  if (pendingSkillPick !== undefined) {
    file(members.get(pendingSkillPick), { kind: "explicit-pick", skillId: pendingSkillPick })
  }
  for (const skillId of new Set(pass.acceptedSkillPicks)) {
    file(members.get(skillId), { kind: "member-activated", skillId })
  }
  return found
}
