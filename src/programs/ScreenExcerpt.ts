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

/** The exact text that the model was sent, around each match of what was asked about. */
export const sent = (chain: Chain.Chain, { full = false, room }: Options): ReadonlyArray<ScreenLine.Line> => {
  const walk = ScreenVerdict.graph(chain)
  const seen = new Set<string>()
  const places = ScreenVerdict.of(chain).flatMap(({ node }) =>
    ScreenVerdict.next(walk, node.id).flatMap(({ node }) =>
      node.kind !== "carrier"
        ? []
        : node.spans.slice(0, full ? Infinity : 2).flatMap((span) => {
            const key = `${node.pieceId}:${span.start}`
            if (seen.has(key)) return []
            seen.add(key)
            return [{ node, span }]
          })
    )
  )
  if (places.length === 0) return []
  const shown = full ? places : places.slice(0, 8)
  const more = places.length - shown.length
  const lines = shown.map(({ node, span }) => {
    const head = ScreenLine.span(`  ${ScreenLine.fit(node.pieceId, 20)}  `, "faint")
    const ref = ScreenLine.span(`#${node.seq}`, "faint")
    const cells = room.width === undefined ? 160 : room.width - ScreenLine.widthOf([head, ref]) - 2
    return ScreenLine.ending([head, ...around(node.text, span, cells)], ref, room)
  })
  return [
    [ScreenLine.span("what the model was sent, around each match", "faint")],
    ...lines,
    ...(more === 0 ? [] : [[ScreenLine.span(`  … ${ScreenLine.counted(more, "more place")} (--full)`, "faint")]])
  ]
}
