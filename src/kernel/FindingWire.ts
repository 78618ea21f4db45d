/**
 * A `FindingWire` is what findings put on a wire, from the ledger of its pass alone: handles, tickets, the piece and the
 * offer. None of it is on the record, since it follows from what is.
 *
 * @internal
 */
import * as HashSet from "effect/HashSet"
import * as CallOutcome from "./CallOutcome.ts"
import * as Digest from "./Digest.ts"
import type * as Event from "./Event.ts"
import * as FindingCollapse from "./FindingCollapse.ts"
import type * as FindingEvent from "./FindingEvent.ts"
import type * as FindingFiling from "./FindingFiling.ts"
import * as FindingFold from "./FindingFold.ts"
import * as FindingHandle from "./FindingHandle.ts"
import * as FindingOffer from "./FindingOffer.ts"
import * as FindingPiece from "./FindingPiece.ts"
import type * as FindingRow from "./FindingRow.ts"
import type * as Message from "./Message.ts"
import * as MessageHash from "./MessageHash.ts"
import type * as Wire from "./Wire.ts"

/** All that was filed, what it comes to, and the results that the model can be served, in settlement order. */
export interface Ledger {
  readonly rows: ReadonlyArray<FindingRow.Row>
  readonly fold: FindingFold.Fold
  readonly results: ReadonlyArray<FindingFiling.Result>
  /** The ids of results that have left the window. */
  readonly gone?: HashSet.HashSet<string>
}

/** The ids of the results that the model is served. */
export const servedIds = ({ gone, results }: Ledger): ReadonlyArray<string> => {
  const ids = results.map(({ toolCallId }) => toolCallId)
  return gone === undefined ? ids : ids.filter((id) => !HashSet.has(gone, id))
}

/** The ids of the pieces that findings put on a wire. */
export const pieceId = "wherefore:findings"
const offerId = "wherefore:findings-offer"

/** The blocks of a wire, in their order, with what the record is told of them. */
export interface Blocks {
  readonly piece?: FindingEvent.Block & { readonly text: string }
  readonly offer?: FindingEvent.Block & { readonly text: string }
}

const block = (rawContent: string) => ({ chars: rawContent.length, hash: Digest.of(rawContent), text: rawContent })

const composed = new WeakMap<Ledger, Blocks>()

/** The blocks that follow from a ledger, composed once. */
export const blocks = (ledger: Ledger, { ask }: Event.Findings): Blocks => {
  const known = composed.get(ledger)
  if (known !== undefined) return known
  const ids = servedIds(ledger)
  const piece = FindingPiece.pieceOf(ledger.fold, ledger.rows, ids, ask)
  const offer = FindingOffer.offerOf(ledger.fold, ids, ledger.results)
  const made: Blocks = {
    ...(piece === undefined ? {} : { piece: block(piece.rawContent) }),
    ...(offer === undefined ? {} : { offer: block(offer.rawContent) })
  }
  composed.set(ledger, made)
  return made
}

/** The blocks as pieces of a wire. `seq` is the event that says that they are served. */
export const pieces = (ledger: Ledger, config: Event.Findings, seq: number): ReadonlyArray<Wire.SystemPiece> => {
  const { offer, piece } = blocks(ledger, config)
  return [
    { id: pieceId, one: piece },
    { id: offerId, one: offer }
  ].flatMap(({ id, one }): ReadonlyArray<Wire.SystemPiece> =>
    one === undefined
      ? []
      : [{ id, slot: "system", origin: "runtime", seq, cause: { by: "selected", seq }, hash: one.hash, text: one.text }]
  )
}

/** A message as it is sent in place of the one of the record. */
export const withContent = (piece: Wire.MessagePiece, content: string): Wire.MessagePiece => {
  if (piece.message.role !== "tool" || piece.message.content === content) return piece
  const message: Message.Tool = { ...piece.message, content }
  return { ...piece, message, hash: MessageHash.of(message) }
}

/** A result as it is sent: its handle, and then the result or a ticket. `saved` counts the characters that a ticket saves. */
export const formed = (
  { fold }: Ledger,
  { collapse }: Event.Findings,
  { content, toolCallId }: Message.Tool,
  handle: string
): { readonly content: string; readonly saved: number } => {
  const form = FindingCollapse.form(content, FindingFold.standing(fold, toolCallId), collapse)
  return { content: `${handle}\n${form.content}`, saved: form.saved }
}

/** What a result had been called. */
export const standingOf = ({ fold }: Ledger, toolCallId: string): FindingRow.StandingWord | "undeclared" =>
  FindingFold.standing(fold, toolCallId)?.standing ?? "undeclared"

/** The calls and answers that declared what the piece shows, newest first. */
export const declarations = ({
  rows
}: Ledger): ReadonlyArray<{ readonly iteration: number; readonly toolCallId: string }> => {
  const found = new Map<string, { readonly iteration: number; readonly toolCallId: string }>()
  for (const row of rows.toReversed()) {
    if (row.kind === "basis") found.set(row.toolCallId, row)
    else if (row.kind === "standing" && row.declaredOn !== "answer") {
      const { toolCallId } = row.declaredOn
      found.set(toolCallId, { iteration: row.iteration, toolCallId })
    }
  }
  return Array.from(found.values())
}

/** Whether a ticket is sent in place of a result. */
export const isCollapsed = ({ fold }: Ledger, { collapse }: Event.Findings, message: Message.Message): boolean =>
  message.role === "tool" &&
  CallOutcome.hasRun(message.outcome) &&
  FindingCollapse.form(message.content, FindingFold.standing(fold, message.toolCallId), collapse).saved > 0

/** The conversation as it was sent when the ledger stood so. */
export const messages = (
  ledger: Ledger,
  config: Event.Findings,
  said: ReadonlyArray<Wire.MessagePiece>
): ReadonlyArray<Wire.MessagePiece> => {
  const { ofId } = FindingHandle.handles(ledger.results.map(({ toolCallId }) => toolCallId))
  return said.map((piece) => {
    const { message } = piece
    if (message.role !== "tool" || !CallOutcome.hasRun(message.outcome)) return piece
    const handle = ofId.get(message.toolCallId)
    return handle === undefined ? piece : withContent(piece, formed(ledger, config, message, handle).content)
  })
}
