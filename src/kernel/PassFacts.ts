/**
 * A `PassFacts` is what one batch of calls left for the next pass to decide on. It is read once: a pass that asks the
 * model again without a batch has none.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as CallOutcome from "./CallOutcome.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const id = Schema.NonEmptyString

/** What an accepted pick came to. Only hops move a cursor. */
export const AcceptedIntent = Schema.Literal("reengage", "reaffirm", "hop+reengage", "hop", "open")
export type AcceptedIntent = typeof AcceptedIntent.Type

/** A skill that the model picked, or the application engaged, and the gate accepted. */
export const AcceptedPick = Schema.Struct({ skillId: id, mapId: optional(id), intent: AcceptedIntent })
export type AcceptedPick = typeof AcceptedPick.Type

/** An instruction that a tool's result requires to ride: for one call, or until its skill is left. */
export const AcceptedLease = Schema.Struct({
  instructionId: id,
  owner: CallOutcome.Owner,
  lease: Schema.Literal("next-call", "until-skill-exit")
})
export type AcceptedLease = typeof AcceptedLease.Type

/** A move that a tool proposed, and that was accepted. */
export const Proposal = Schema.Struct({ skillId: id, toolCallId: optional(id) })
export type Proposal = typeof Proposal.Type

/** A map that the model or the application gave back. */
export const Release = Schema.Struct({ mapId: id })
export type Release = typeof Release.Type

/** All lists are in call order. */
export const PassFacts = Schema.Struct({
  outcomes: Schema.Array(CallOutcome.CallOutcome),
  picks: Schema.Array(AcceptedPick),
  proposal: optional(Proposal),
  leases: Schema.Array(AcceptedLease),
  releases: Schema.Array(Release)
})
export type PassFacts = typeof PassFacts.Type

/** The facts of a pass that follows no batch. */
export const none: PassFacts = { outcomes: [], picks: [], leases: [], releases: [] }

/** Whether an accepted pick moves a cursor. */
export const isHop = ({ intent }: AcceptedPick): boolean => intent === "hop" || intent === "hop+reengage"
