/**
 * A `ScreenMaps` is what a chain says of skill maps, as lines: each map, whether it rode, why, and what caused that.
 *
 * @internal
 */
import type * as Chain from "../kernel/Chain.ts"
import * as ScreenLine from "./ScreenLine.ts"
import * as ScreenTicker from "./ScreenTicker.ts"
import * as ScreenVerdict from "./ScreenVerdict.ts"

const causeText = (node: Chain.Node): string => {
  switch (node.kind) {
    case "call":
      return `${`${ScreenLine.fit(node.toolName, 32)} ${ScreenTicker.argumentsText(node.args)}`.trimEnd()}, pass ${node.pass}`
    case "root":
      return node.what
    default:
      return ""
  }
}

const isLease = ({ grounds }: Chain.Edge): boolean =>
  grounds === "founded" || grounds === "engaged" || grounds === "parked"

const mapLines = (
  walk: ScreenVerdict.Graph,
  node: Chain.MapNode,
  room: ScreenLine.Room
): ReadonlyArray<ScreenLine.Line> => {
  const head = [
    ScreenLine.span(`map ${ScreenLine.fit(node.mapId, 32)}`, "mark"),
    ScreenLine.span("  "),
    ScreenLine.span(node.rides ? "rode" : "did not ride", node.rides ? "good" : "warn"),
    ScreenLine.span(`  pass ${node.pass}`)
  ]
  const indent = "  "
  const width = room.width === undefined ? undefined : room.width - indent.length
  const said = ScreenLine.paragraph(node.what, width, Infinity).map((text) => [ScreenLine.span(indent + text)])
  const causes = ScreenVerdict.next(walk, node.id).flatMap(({ edge, node: cause }) => {
    if (!isLease(edge)) return []
    const ref = "seq" in cause ? ScreenLine.span(`#${cause.seq}`, "faint") : ScreenLine.span("")
    const label = `${indent}${edge.grounds} by  `
    const text = ScreenLine.fitIn(causeText(cause), room, ScreenLine.width(label) + ScreenLine.width(ref.text) + 2)
    return [ScreenLine.ending([ScreenLine.span(label, "faint"), ScreenLine.span(text)], ref, room)]
  })
  return [ScreenLine.ending(head, ScreenLine.span(`#${node.seq}`, "faint"), room), ...said, ...causes]
}

/** The maps of a chain, in their order. */
export const lines = (
  chain: Chain.Chain,
  { room }: { readonly room: ScreenLine.Room }
): ReadonlyArray<ScreenLine.Line> => {
  const walk = ScreenVerdict.graph(chain)
  return chain.nodes.flatMap((node) => (node.kind === "map" ? mapLines(walk, node, room) : []))
}
