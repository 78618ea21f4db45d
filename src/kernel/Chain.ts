/**
 * A `Chain` is the answer to a "why?": nodes, the edges between them, and the gaps where it stops short.
 *
 * @internal
 */
import type * as ArtifactState from "./ArtifactState.ts"
import type * as Derivation from "./Derivation.ts"
import type * as Event from "./Event.ts"
import type * as FindingRow from "./FindingRow.ts"
import type * as Lease from "./Lease.ts"
import type * as Message from "./Message.ts"
import type * as Wire from "./Wire.ts"

/** Offsets, in UTF-16 units, into the text that holds the value. `by` names how the spellings differ, if they do. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly text: string
  readonly by: ReadonlyArray<string>
}

/** A value that the model wrote, in a reply or in the arguments of a call, or that its answer was given with. */
export interface ValueNode {
  readonly kind: "value"
  readonly id: string
  /** As it was written. */
  readonly value: string
  readonly pass: number
  /** The event that holds it. */
  readonly seq: number
  /** `boundary`: what the runtime told after the answer, of what tools had declared. `summary`: a model wrote it in place of what left. */
  readonly place: "reply" | "arguments" | "boundary" | "summary"
  readonly start: number
  readonly end: number
  /** Findings were on, and of all that held it there were only results that the model had not called facts. */
  readonly unestablished?: true
}

/**
 * A piece that was on the wire of `pass` and held the value. `text` is exactly what the model was sent in it: of a reply,
 * its words and then a line for each call. The ids of calls are sent beside that. If the value is in them alone, `part` is
 * `ids`, and `text` has the id of each call before the call, or before its result.
 */
export interface CarrierNode {
  readonly kind: "carrier"
  readonly id: string
  readonly pass: number
  readonly pieceId: string
  readonly slot: Wire.Piece["slot"]
  readonly origin: Event.Origin
  readonly role: "system" | "user" | "assistant" | "tool" | "definition"
  /** The event that brought the piece into the run. */
  readonly seq: number
  readonly part: "text" | "ids"
  readonly text: string
  readonly spans: ReadonlyArray<Span>
  /** Of a result, while findings were on: what the model had called it when it read it on this wire. */
  readonly standing?: FindingRow.StandingWord | "undeclared"
}

/** A tool call that made a result. */
export interface CallNode {
  readonly kind: "call"
  readonly id: string
  readonly pass: number
  readonly seq: number
  readonly toolCallId: string
  readonly toolName: string
  /** The arguments as the model wrote them, without what they declare of findings. */
  readonly args: string
  readonly outcome?: Message.Settlement
}

/** Where a chain ends well. `runtime`: the runtime's own words, or the id of a call, made by it or by the model's provider. */
export interface RootNode {
  readonly kind: "root"
  readonly id: string
  readonly root: "person" | "app" | "world" | "runtime"
  readonly seq: number
  /** One printable line. */
  readonly what: string
}

/** A skill map in a pass: whether its instructions were on the wire, and the line that says why. */
export interface MapNode {
  readonly kind: "map"
  readonly id: string
  readonly mapId: string
  readonly pass: number
  /** The event that changed its lease last, or the model call if none did. */
  readonly seq: number
  readonly rides: boolean
  /** What was so of it; nothing if it had never been engaged, or no lease is kept. */
  readonly lease?: Lease.MapEngagementRecord
  readonly cursor?: string
  /** One printable line. */
  readonly what: string
}

/** An artifact that a call worked on, or that another was derived from, as far as the record tells of it. */
export interface ArtifactNode {
  readonly kind: "artifact"
  readonly id: string
  readonly ref: string
  /** The event that tells of it first. */
  readonly seq: number
  readonly artifactKind?: string
  readonly bytes?: number
  /** Why it was gone at the end of the record. */
  readonly gone?: NonNullable<ArtifactState.Known["gone"]>["reason"]
  /** One printable line. */
  readonly what: string
}

/** How a number comes about that no piece held: of other values of the same text, and of numbers on the wire of its pass. */
export interface DerivationNode {
  readonly kind: "derivation"
  readonly id: string
  readonly pass: number
  /** The event that holds the number. */
  readonly seq: number
  readonly op: Derivation.Op
  readonly basis: Derivation.Basis
  /** As `1859 + 1679`: one printable line. */
  readonly formula: string
}

export type Node = ValueNode | CarrierNode | CallNode | RootNode | MapNode | ArtifactNode | DerivationNode

/**
 * `carried`: the piece held the value. `returned`: the call returned the result. `argued`: the call's arguments held the
 * value. `said`: the reply held it, and was itself written by the model, or a notice quoted one. `declared`: the findings
 * held it, and the model had declared it there; of a boundary, the result of the call declared it. `told`: a person or the application wrote it.
 * `observed`: the tool read or did it in the world. `rode`: the map's lease put the piece on the wire. `founded`: it is
 * why the map takes part at all. `engaged`, `parked`: it is what changed the map's lease last.
 * `decided`: a person or a rule of the application had a say in the call, or found out what became of it.
 * `read`: the call was given the artifact. `minted`: the call stored it. `derived`: what was stored has it as a parent, or
 * the number follows from others by the `formula`. `judged`: a run without it said something else. `proximity`: nothing
 * better was found; it is asked for by `likely`.
 */
export interface Edge {
  readonly from: string
  readonly to: string
  readonly grounds:
    | "carried"
    | "returned"
    | "argued"
    | "said"
    | "declared"
    | "told"
    | "observed"
    | "rode"
    | "founded"
    | "engaged"
    | "parked"
    | "read"
    | "minted"
    | "decided"
    | "derived"
    | "judged"
    | "proximity"
  readonly by: ReadonlyArray<string>
  /** How a number follows from what `to` stands on. */
  readonly formula?: string
}

/**
 * Where a chain stops short. `nowhere`: no piece on the wire held the value. `ambiguous`: nor does one derivation account for
 * it; several do, or one that fits no better than chance. `untold`: a foreign trace does not hold it.
 * `cut`: a message held it that had
 * left the window by then. `collapsed`: a result held it that was sent as a ticket by then. `summarized`: what held it is a summary, which a model wrote and which is no source.
 * `elsewhere`: the message was carried from another run, whose record goes on. `no-answer`, `not-found`: there is nothing to ask about. `several`: the id that was asked about names calls of other passes too. `drift`: the record's wire hash is not that of its events.
 * `unrecorded`: the record does not tell who stored an artifact. `limit`: the chain has more than it was allowed to show.
 */
export interface Gap {
  readonly kind:
    | "nowhere"
    | "ambiguous"
    | "cut"
    | "collapsed"
    | "summarized"
    | "untold"
    | "elsewhere"
    | "unrecorded"
    | "no-answer"
    | "not-found"
    | "several"
    | "drift"
    | "limit"
  /** The node at which it stops. Absent if it concerns the whole question. */
  readonly at?: string
  /** One printable line. */
  readonly what: string
  /** What to ask of which run to go on. */
  readonly next?: { readonly runId: string; readonly question: Question }
}

export type Question =
  | { readonly kind: "answer" }
  | { readonly kind: "value"; readonly text: string }
  | { readonly kind: "call"; readonly pass: number }
  | { readonly kind: "tool"; readonly toolCallId: string; readonly pass?: number }

export interface Chain {
  readonly question: Question
  /** The nodes that the question is about come first; the others as they are reached. */
  readonly nodes: ReadonlyArray<Node>
  readonly edges: ReadonlyArray<Edge>
  readonly gaps: ReadonlyArray<Gap>
}
