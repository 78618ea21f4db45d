/**
 * A `WhyMissing` is what a run had and a pass was not sent, each with the reason, and which values of the pass's reply it
 * held.
 *
 * @internal
 */
import type { MissingNode } from "./Chain.ts"
import * as CursorMove from "./CursorMove.ts"
import type * as Event from "./Event.ts"
import * as FindingWire from "./FindingWire.ts"
import * as PieceText from "./PieceText.ts"
import * as Printable from "./Printable.ts"
import * as Sources from "./Sources.ts"
import * as SkillState from "./SkillState.ts"
import type * as State from "./State.ts"
import * as Value from "./Value.ts"
import * as WindowWire from "./WindowWire.ts"
import type * as WhyWalk from "./WhyWalk.ts"
import type * as Wire from "./Wire.ts"
import * as Written from "./Written.ts"

type Item = Omit<MissingNode, "kind" | "holds" | "pass" | "id"> & { readonly text: string }

interface Record {
  readonly events: ReadonlyArray<Event.Event>
  readonly state: State.State
}

const ofPiece = (piece: Wire.Piece, reason: MissingNode["reason"], what: string): Item => {
  const text = PieceText.of(piece)
  return { pieceId: piece.id, slot: piece.slot, seq: piece.seq, reason, chars: text.length, what, text }
}

/** Messages that had left, or that a ticket stood for. */
const messages = ({ state }: Record, mark: Wire.Mark): ReadonlyArray<Item> =>
  state.messages.slice(0, mark.messages).flatMap((piece, at): ReadonlyArray<Item> => {
    const { findings, window } = mark
    if (WindowWire.isGone(window, at)) return [ofPiece(piece, "trimmed", "It had left the window.")]
    if (findings !== undefined && FindingWire.isCollapsed(findings.ledger, findings.config, piece.message)) {
      return [ofPiece(piece, "collapsed", "A ticket was sent in its place, by what the model had called it.")]
    }
    if (piece.placed === undefined) return []
    return [{ ...ofPiece(piece, "placed", "It was stored, and its ticket sent in its place."), text: "" }]
  })

const declaredItem = (
  { declared, seq }: State.Declared<Event.PieceDeclared>,
  reason: MissingNode["reason"],
  what: string
): Item => ({
  pieceId: declared.id,
  slot: "system",
  seq,
  reason,
  chars: declared.text.length,
  what,
  text: declared.text
})

/** Instructions and tools of maps that were parked. */
const parked = ({ events, state }: Record, { selection, seq, skills }: Wire.Mark): ReadonlyArray<Item> => {
  const selected = events.slice(0, seq).findLast((event) => event._tag === "PiecesSelected")
  const skipped = selected?._tag === "PiecesSelected" ? (selected.skipped ?? []) : []
  const pieces = skipped.map(({ id }): Item => {
    const what = "Its map was parked."
    const known = state.pieces.findLast(({ declared }) => declared.id === id)
    return known === undefined
      ? { pieceId: id, slot: "system", seq, reason: "parked", what: `${what} No wire has held it.`, text: "" }
      : declaredItem(known, "parked", what)
  })
  const riding = new Set(selection.tools.map(({ tool }) => tool.name))
  const tools = state.tools.flatMap(
    ({ declared: { description = "", name, owners = [] }, seq }): ReadonlyArray<Item> => {
      const isParked = owners.some(
        ({ mapId }) => mapId !== undefined && SkillState.recordOf(skills, mapId)?.standing === "parked"
      )
      if (riding.has(name) || !isParked) return []
      const text = `${name} ${description}`
      return [{ pieceId: `tool:${name}`, slot: "tools", seq, reason: "parked", what: "Its map was parked.", text }]
    }
  )
  return [...pieces, ...tools]
}

/** Skills that a guard kept the cursor from, while it is where it was then. */
const guarded = ({ events, state }: Record, { seq, selection, skills }: Wire.Mark): ReadonlyArray<Item> => {
  const riding = new Set(selection.system.map(({ id }) => id))
  const last = new Map<string, number>()
  for (const [at, event] of events.slice(0, seq).entries()) if (event._tag === "CursorMoved") last.set(event.mapId, at)
  return Array.from(last).flatMap(([mapId, at]) => {
    const move = events[at]
    if (move?._tag !== "CursorMoved" || CursorMove.get(skills.cursors, mapId) !== move.to) return []
    return (move.guardsClosed ?? []).flatMap(({ from, to, toolName }): ReadonlyArray<Item> => {
      const what = `The guard from ${Printable.quote(from)} to ${Printable.quote(to)} was closed by the result of ${Printable.quote(toolName)}.`
      const known = state.pieces.findLast(({ declared: { owner } }) => owner?.mapId === mapId && owner.memberId === to)
      if (known === undefined) return [{ pieceId: to, slot: "system", seq: at, reason: "guard-closed", what, text: "" }]
      return riding.has(known.declared.id) ? [] : [declaredItem(known, "guard-closed", what)]
    })
  })
}

/** Skills that were asked for, and are hidden from the role. */
const hidden = ({ events }: Record, { seq }: Wire.Mark): ReadonlyArray<Item> => {
  const found = new Map<string, Item>()
  for (const [at, event] of events.slice(0, seq).entries()) {
    if (event._tag !== "SkillRefused" || event.reason !== "hidden") continue
    const pieceId = Printable.line(event.requestedId)
    const what = "It was asked for, and is hidden from the role."
    found.set(pieceId, { pieceId, slot: "system", seq: at, reason: "hidden", what, text: "" })
  }
  return Array.from(found.values())
}

const keysOf = (text: string): ReadonlySet<string> =>
  new Set(Value.tokens(text).flatMap(({ text }) => Value.keys(text).map(({ value }) => value)))

/** What of a reply is needed: how it is written, and whether the wire held none of it. */
interface Needed {
  readonly value: string
  readonly isNowhere: boolean
}

/**
 * What was there and was not sent: first what held most of the values that the wire did not hold, then most of the others,
 * then what came last.
 */
const of = (record: Record, mark: Wire.Mark, needed: ReadonlyArray<Needed>): ReadonlyArray<MissingNode> => {
  const items = [...messages(record, mark), ...parked(record, mark), ...guarded(record, mark), ...hidden(record, mark)]
  const ranked = items.map(({ text, ...item }) => {
    const keys = keysOf(text)
    const held = needed.filter(({ value }) => Value.keys(value).some((key) => keys.has(key.value)))
    const node: MissingNode = {
      kind: "missing",
      id: `missing:${mark.iteration}:${item.reason}:${item.slot}:${item.pieceId}`,
      pass: mark.iteration,
      ...item,
      holds: Array.from(new Set(held.map(({ value }) => value)))
    }
    return { node, wanted: held.filter(({ isNowhere }) => isNowhere).length }
  })
  return ranked
    .sort((a, b) => b.wanted - a.wanted || b.node.holds.length - a.node.holds.length || b.node.seq - a.node.seq)
    .map(({ node }) => node)
}

/** What was there and a pass was not sent, with the values of its reply that it held. */
export const visit = (walk: WhyWalk.Walk, seq: number, reply: Event.ModelReplied): void => {
  const { content, iteration: pass, toolCalls } = reply
  const mark = walk.sources.state.marks.find(({ iteration }) => iteration === pass)
  if (mark === undefined) return
  const written = [
    ...Written.inText(content).map((one) => ({ one, place: "reply" as const, prefix: "" })),
    ...toolCalls.flatMap(({ args, toolCallId }) =>
      Written.inCall(args).map((one) => ({
        one,
        place: "arguments" as const,
        prefix: `:${Printable.line(toolCallId)}`
      }))
    )
  ].filter(({ one }) => !one.phrase)
  const needed = written.map(({ one: { text } }) => ({
    value: text,
    isNowhere: Sources.carriers(walk.sources, pass, text).length === 0
  }))
  for (const node of of(walk.sources, mark, needed)) {
    walk.nodes.set(node.id, node)
    for (const { one, place, prefix } of written) {
      if (!node.holds.includes(one.text)) continue
      const { end, start, text } = one
      const id = `value:${seq}:${place}${prefix}:${start}-${end}`
      walk.nodes.set(id, { kind: "value", id, value: text, pass, seq, place, start, end })
      walk.edges.push({ from: id, to: node.id, grounds: "withheld", by: [] })
    }
  }
}
