/**
 * A `Wire` is the request of one pass: every byte of context that the model is sent, in addressable pieces.
 *
 * `project` is the only place where one is built: live, in replay, and to answer "what did the model see".
 *
 * @since 0.1.0
 */
import type * as CallOutcome from "./CallOutcome.ts"
import * as Digest from "./Digest.ts"
import type * as Event from "./Event.ts"
import * as FindingWire from "./FindingWire.ts"
import type * as Message from "./Message.ts"
import type * as FindingState from "./FindingState.ts"
import type * as SkillState from "./SkillState.ts"
import type * as WindowState from "./WindowState.ts"
import * as WindowWire from "./WindowWire.ts"
import * as WireHash from "./WireHash.ts"

/** Why a piece rides: the verb, and the sequence number of the event that it names. */
export interface Cause {
  readonly by: "selected" | "asked" | "received" | "carried" | "replied" | "called" | "reminded" | "trimmed"
  readonly seq: number
}

interface Base {
  /** Unique on its wire, and the same on every wire of the run that holds it. */
  readonly id: string
  readonly origin: Event.Origin
  /** The event that brought the piece into the run. */
  readonly seq: number
  readonly cause: Cause
  /** The digest of what the model reads in it. */
  readonly hash: string
}

/** A text of the system slot. */
export interface SystemPiece extends Base {
  readonly slot: "system"
  readonly text: string
  /** The skill whose instructions it is. */
  readonly owner?: CallOutcome.Owner
}

/** A message of the conversation. */
export interface MessagePiece extends Base {
  readonly slot: "messages"
  readonly message: Message.Message
  /** Where a carried message was first recorded. */
  readonly from?: { readonly runId: string; readonly seq: number }
  /** Of a result that is kept as an artifact: the message is its ticket. */
  readonly placed?: CallOutcome.PlacedToolResult
}

/** A tool that the model may call. `schema` is JSON Schema for its arguments. */
export interface ToolPiece extends Base {
  readonly slot: "tools"
  readonly tool: { readonly name: string; readonly description?: string; readonly schema: unknown }
}

export type Piece = SystemPiece | MessagePiece | ToolPiece

export interface Wire {
  readonly iteration: number
  readonly system: ReadonlyArray<SystemPiece>
  readonly messages: ReadonlyArray<MessagePiece>
  readonly tools: ReadonlyArray<ToolPiece>
  readonly parameters: Event.Parameters
}

/** Which texts and tools ride, and the rolled digests of both lists. */
export interface Selection {
  readonly system: ReadonlyArray<SystemPiece>
  readonly tools: ReadonlyArray<ToolPiece>
  readonly systemHash: string
  readonly toolsHash: string
}

/** What findings put on a wire follows from this. */
export interface Served {
  readonly config: Event.Findings
  readonly ledger: FindingWire.Ledger
  /** The event that tells of the blocks. */
  readonly seq: number
}

/** What a past pass was sent: how much of the conversation, and which selection. */
export interface Mark {
  readonly iteration: number
  /** The sequence number of its `ModelCalled`. */
  readonly seq: number
  readonly messages: number
  readonly selection: Selection
  readonly parameters: Event.Parameters
  /** Where the skills stood. */
  readonly skills: SkillState.SkillState
  /** What of the findings the wire followed from; absent while they are off. */
  readonly findings?: Served
  /** What had left the conversation; absent while nothing had. */
  readonly window?: WindowWire.View
  /** Who was asked, if the record says so. */
  readonly provider?: string
  readonly model?: string
  /** The hash that the record holds, and the one that the fold computed. They differ only if the record drifted. */
  readonly recordedHash: string
  readonly projectedHash: string
}

/** What a wire is projected from: a run's state is one. */
export interface Source {
  readonly iteration: number
  readonly messages: ReadonlyArray<MessagePiece>
  readonly messagesHash: string
  readonly selection: Selection
  readonly marks: ReadonlyArray<Mark>
  /** Absent while findings are off. */
  readonly findings?: FindingState.FindingState
  /** Absent while nothing has left. */
  readonly window?: WindowState.WindowState
}

export const emptySelection: Selection = { system: [], tools: [], systemHash: "", toolsHash: "" }

export const combine = WireHash.combine
export const sameParameters = WireHash.sameParameters
export const systemHash = WireHash.ofText
export const messageHash = WireHash.ofMessage
export const toolHash = WireHash.ofTool

/** The hash of all that the model is sent, computed from its content alone. */
export const hash = WireHash.of

/** What the next wire owes to findings. */
export const now = ({ findings }: Pick<Source, "findings">): Served | undefined => {
  if (findings === undefined) return undefined
  const { config, lastServed, ledger } = findings
  return { config, ledger, seq: lastServed?.seq ?? 0 }
}

/** What stands after the selected texts: what has left, then the findings. */
export const late = ({ findings, window }: Pick<Mark, "findings" | "window">): ReadonlyArray<SystemPiece> => [
  ...WindowWire.pieces(window),
  ...(findings === undefined ? [] : FindingWire.pieces(findings.ledger, findings.config, findings.seq))
]

/** What a source would serve now, as a mark keeps it. */
const lateNow = (source: Pick<Source, "findings" | "window">): ReadonlyArray<SystemPiece> => {
  const findings = now(source)
  const { window } = source
  return late({
    ...(findings === undefined ? {} : { findings }),
    ...(window === undefined ? {} : { window: window.view })
  })
}

const system = (selection: Selection, late: ReadonlyArray<SystemPiece>): ReadonlyArray<SystemPiece> =>
  late.length === 0 ? selection.system : [...selection.system, ...late]

/** The rolled digests of the wire that would be sent now. */
export const rolled = (source: Pick<Source, "findings" | "messagesHash" | "selection" | "window">) => ({
  system: lateNow(source).reduce((rolled, { hash }) => Digest.roll(rolled, hash), source.selection.systemHash),
  messages: source.messagesHash,
  tools: source.selection.toolsHash
})

/**
 * What the model was sent in a pass that the run has reached; without a pass, or for one to come, what it would be sent
 * now with the provider's default parameters.
 */
export const project = (source: Source, pass?: number): Wire => {
  const mark = pass === undefined ? undefined : source.marks.find(({ iteration }) => iteration === pass)
  if (mark === undefined) {
    const { findings, messages, selection, window } = source
    return {
      iteration: source.iteration + 1,
      system: system(selection, lateNow(source)),
      messages: WindowWire.kept(window?.view, findings?.served ?? messages),
      tools: selection.tools,
      parameters: {}
    }
  }
  const { findings, window } = mark
  const said = WindowWire.kept(window, source.messages.slice(0, mark.messages))
  return {
    iteration: mark.iteration,
    system: system(mark.selection, late(mark)),
    messages: findings === undefined ? said : FindingWire.messages(findings.ledger, findings.config, said),
    tools: mark.selection.tools,
    parameters: mark.parameters
  }
}

/** The first place where two wires differ. `left` or `right` is absent where that wire has no piece there. */
export interface Drift {
  readonly slot: "system" | "messages" | "tools" | "parameters"
  readonly index: number
  readonly left?: { readonly id: string; readonly hash: string }
  readonly right?: { readonly id: string; readonly hash: string }
}

const name = (piece: Piece | undefined) =>
  piece === undefined ? undefined : { id: piece.id, hash: WireHash.ofPiece(piece) }

/** The first piece that the model would read differently, in the order that it reads them. */
export const diff = (left: Wire, right: Wire): Drift | undefined => {
  for (const slot of ["system", "messages", "tools"] as const) {
    const length = Math.max(left[slot].length, right[slot].length)
    for (let index = 0; index < length; index++) {
      const a = name(left[slot][index])
      const b = name(right[slot][index])
      if (a?.hash !== b?.hash) {
        return { slot, index, ...(a === undefined ? {} : { left: a }), ...(b === undefined ? {} : { right: b }) }
      }
    }
  }
  if (!sameParameters(left.parameters, right.parameters)) return { slot: "parameters", index: 0 }
  return undefined
}
