/**
 * A `ScreenExcerpt` is a part of what the model was sent, as it was sent, around a value that was asked about.
 *
 * @internal
 */
import type * as Chain from "../kernel/Chain.ts"
import * as ScreenLine from "./ScreenLine.ts"
import type { Options } from "./ScreenTrail.ts"
import * as ScreenVerdict from "./ScreenVerdict.ts"

/** A text around a place in it, the place marked. What is left out on both sides is counted. */
const around = (
  text: string,
  { end, start }: { readonly start: number; readonly end: number },
  cells: number
): ReadonlyArray<ScreenLine.Span> => {
  const value = ScreenLine.fit(text.slice(start, end), Math.max(8, Math.floor(cells / 2)))
  const whole = ScreenLine.width(text) + 2 <= cells
  const notes = whole ? 0 : 2 * (" more … ".length + ScreenLine.count(text.length).length)
  const side = whole ? cells : Math.max(4, Math.floor((cells - ScreenLine.width(value) - 2 - notes) / 2))
  const before = ScreenLine.last(text.slice(Math.max(0, start - 2 * side), start), side)
  const after = ScreenLine.first(text.slice(end, end + 2 * side), side)
  const cutBefore = start - before.chars
  const cutAfter = text.length - end - after.chars
  return [
    ScreenLine.span(cutBefore === 0 ? "" : `${ScreenLine.count(cutBefore)} more … `, "faint"),
    ScreenLine.span(before.text),
    ScreenLine.span(`«${value}»`, "mark"),
    ScreenLine.span(after.text),
    ScreenLine.span(cutAfter === 0 ? "" : ` … ${ScreenLine.count(cutAfter)} more`, "faint")
  ]
}

/** All of a text, the places in it marked. */
const whole = (text: string, spans: ReadonlyArray<{ readonly start: number; readonly end: number }>) => {
  let at = 0
  const parts = spans
    .toSorted((a, b) => a.start - b.start)
    .flatMap(({ end, start }): ReadonlyArray<ScreenLine.Span> => {
      if (start < at) return []
      const before = text.slice(at, start)
      at = end
      return [ScreenLine.span(before), ScreenLine.span(`«${text.slice(start, end)}»`, "mark")]
    })
  return [...parts, ScreenLine.span(text.slice(at))]
}

interface Place {
  readonly node: Chain.CarrierNode
  readonly span: Chain.Span
}

/** Where what was asked about is, each place once. */
const placesOf = (chain: Chain.Chain, most: number): ReadonlyArray<Place> => {
  const walk = ScreenVerdict.graph(chain)
  const seen = new Set<string>()
  return ScreenVerdict.of(chain).flatMap(({ node }) =>
    ScreenVerdict.next(walk, node.id).flatMap(({ node }) =>
      node.kind !== "carrier"
        ? []
        : node.spans.slice(0, most).flatMap((span) => {
            const key = `${node.pieceId}:${span.start}`
            if (seen.has(key)) return []
            seen.add(key)
            return [{ node, span }]
          })
    )
  )
}

const headOf = ({ pieceId }: Chain.CarrierNode, room: ScreenLine.Room): ScreenLine.Span =>
  ScreenLine.span(`  ${ScreenLine.brief(pieceId, 20, room)}  `, "faint")

const refOf = ({ seq }: Chain.CarrierNode): ScreenLine.Span => ScreenLine.span(`#${seq}`, "faint")

const title: ScreenLine.Line = [ScreenLine.span("what the model was sent, around each match", "faint")]

/** The pieces that hold what was asked about, whole. */
const pieces = (chain: Chain.Chain, given: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const room = { ...given, full: true }
  const groups = new Map<string, Array<Place>>()
  for (const place of placesOf(chain, Infinity)) {
    const group = groups.get(place.node.pieceId)
    if (group === undefined) groups.set(place.node.pieceId, [place])
    else group.push(place)
  }
  const lines = Array.from(groups.values()).flatMap((places) => {
    const [first] = places
    if (first === undefined) return []
    const { node } = first
    const spans = places.map(({ span }) => span)
    return [ScreenLine.ending([headOf(node, room), ...whole(node.text, spans)], refOf(node), room)]
  })
  return lines.length === 0 ? [] : ScreenLine.wrap([title, ...lines], room)
}

/** The exact text that the model was sent, around each match of what was asked about. */
export const sent = (chain: Chain.Chain, { full = false, room }: Options): ReadonlyArray<ScreenLine.Line> => {
  if (full) return pieces(chain, room)
  const places = placesOf(chain, 2)
  if (places.length === 0) return []
  const shown = places.slice(0, 8)
  const more = places.length - shown.length
  const lines = shown.map(({ node, span }) => {
    const head = headOf(node, room)
    const ref = refOf(node)
    const cells = room.width === undefined ? 160 : room.width - ScreenLine.widthOf([head, ref]) - 2
    return ScreenLine.ending([head, ...around(node.text, span, cells)], ref, room)
  })
  return [
    title,
    ...lines,
    ...(more === 0 ? [] : [[ScreenLine.span(`  … ${ScreenLine.counted(more, "more place")} (--full)`, "faint")]])
  ]
}
