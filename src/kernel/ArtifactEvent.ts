/**
 * An `ArtifactEvent` is what a call did with artifacts, or was refused: it carries tickets, and never what is stored.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Artifact from "./Artifact.ts"
import * as Printable from "./Printable.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const call = {
  iteration: Schema.Positive.pipe(Schema.int()),
  toolCallId: Schema.NonEmptyString,
  toolName: Schema.String
}

/** The call stored an artifact, which has this ticket. */
export const ArtifactMinted = Schema.TaggedStruct("ArtifactMinted", { ...call, ...Artifact.Meta.fields })
export type ArtifactMinted = typeof ArtifactMinted.Type

/**
 * The call was given an artifact: its ticket (`head`), or what is stored (`get`). `argument` is the one that named it.
 * `origin` and `parentRefs` are those of its ticket.
 */
export const ArtifactResolved = Schema.TaggedStruct("ArtifactResolved", {
  ...call,
  ref: Artifact.Ref,
  via: Schema.Literal("head", "get"),
  kind: Schema.NonEmptyString,
  bytes: Schema.NonNegativeInt,
  argument: optional(Schema.NonEmptyString),
  origin: optional(Artifact.Origin),
  parentRefs: optional(Schema.Array(Artifact.Ref))
})
export type ArtifactResolved = typeof ArtifactResolved.Type

/** An artifact had to go for one that the call stored. */
export const ArtifactExpired = Schema.TaggedStruct("ArtifactExpired", { ...call, ...Artifact.Swept.fields })
export type ArtifactExpired = typeof ArtifactExpired.Type

/** The call made sure that an artifact is gone, whether it was there or not. */
export const ArtifactDeleted = Schema.TaggedStruct("ArtifactDeleted", { ...call, ref: Artifact.Ref })
export type ArtifactDeleted = typeof ArtifactDeleted.Type

/** What was asked of the store. `dispatch`: an argument of the call named an artifact. */
export const Op = Schema.Literal("put", "head", "get", "delete", "list", "dispatch")
export type Op = typeof Op.Type

/** Missing, expired, malformed and another scope's are one reason, since nobody is told which it is. */
export const Reason = Schema.Literal(
  "no-store",
  "missing-or-expired",
  "unknown-parent",
  "digest-mismatch",
  "invalid-input",
  "kind-mismatch",
  "over-budget",
  "unreadable",
  "unavailable"
)
export type Reason = typeof Reason.Type

/** The call asked for what it did not get. `detail` is one printable line. */
export const ArtifactRefused = Schema.TaggedStruct("ArtifactRefused", {
  ...call,
  op: Op,
  reason: Reason,
  ref: optional(Artifact.Ref),
  argument: optional(Schema.NonEmptyString),
  detail: optional(Schema.String)
})
export type ArtifactRefused = typeof ArtifactRefused.Type

/** What can be said of an artifact when it is gone. */
export const Snapshot = Schema.Struct({
  kind: Schema.NonEmptyString,
  mediaType: Schema.NonEmptyString,
  bytes: Schema.NonNegativeInt,
  label: optional(Schema.String)
})
export type Snapshot = typeof Snapshot.Type

/** The model showed an artifact to the person, `as` what it calls it. */
export const ArtifactPresented = Schema.TaggedStruct("ArtifactPresented", {
  ...call,
  ref: Artifact.Ref,
  as: Schema.NonEmptyString,
  snapshot: Snapshot
})
export type ArtifactPresented = typeof ArtifactPresented.Type

export const ArtifactEvent = Schema.Union(
  ArtifactMinted,
  ArtifactResolved,
  ArtifactExpired,
  ArtifactDeleted,
  ArtifactRefused,
  ArtifactPresented
)
export type ArtifactEvent = typeof ArtifactEvent.Type

/** Whether an event of a run is about artifacts. */
export const isArtifactEvent = (event: { readonly _tag: string }): event is ArtifactEvent =>
  event._tag.startsWith("Artifact")

/** The call that an event is of. */
export type Call = Pick<ArtifactMinted, "iteration" | "toolCallId" | "toolName">

/** How long the words of a ticket may be that a call stores or is told of, in UTF-16 units, so that an event has a bound. */
export const most = { kind: 256, mediaType: 256, label: 10_000, detail: 1_000, parents: 1_000 } as const

export const minted = ({ iteration, toolCallId, toolName }: Call, meta: Artifact.Meta): ArtifactMinted => ({
  _tag: "ArtifactMinted",
  iteration,
  toolCallId,
  toolName,
  ...meta
})

/** A kind as an event tells it: whoever stored the artifact may have written more than an event has room for. */
export const kindOf = (kind: string): string => Printable.clip(kind, most.kind)

export const expired = (
  { iteration, toolCallId, toolName }: Call,
  { bytes, kind, reason, ref }: Artifact.Swept
): ArtifactExpired => ({
  _tag: "ArtifactExpired",
  iteration,
  toolCallId,
  toolName,
  ref,
  reason,
  kind: kindOf(kind),
  bytes
})

export const resolved = (
  { iteration, toolCallId, toolName }: Call,
  via: ArtifactResolved["via"],
  { bytes, kind, origin, parentRefs, ref }: Artifact.Meta,
  argument?: string
): ArtifactResolved => ({
  _tag: "ArtifactResolved",
  iteration,
  toolCallId,
  toolName,
  ref,
  via,
  kind: kindOf(kind),
  bytes,
  ...(argument === undefined ? {} : { argument }),
  ...(origin === undefined ? {} : { origin }),
  ...(parentRefs === undefined ? {} : { parentRefs: parentRefs.slice(0, most.parents) })
})

export const snapshot = ({ bytes, kind, mediaType }: Artifact.Meta, label: string): Snapshot => ({
  kind: kindOf(kind),
  mediaType: Printable.clip(mediaType, most.mediaType),
  bytes,
  ...(label === "" ? {} : { label: Printable.clip(label, most.label) })
})

/** The ticket that an event holds. */
export const ticketOf = ({
  _tag,
  iteration: _i,
  toolCallId: _c,
  toolName: _n,
  ...meta
}: ArtifactMinted): Artifact.Meta => meta
