/**
 * A `ScreenMaps` is what a chain says of skill maps, as lines: each map, whether it rode, why, and what caused that.
 *
 * @internal
 */
import type * as Chain from "../kernel/Chain.ts"
import * as CursorMove from "../kernel/CursorMove.ts"
import * as SkillState from "../kernel/SkillState.ts"
import type * as State from "../kernel/State.ts"
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

/** Where the maps of a run stood at its end: one line, or nothing if it had none. */
export const standing = (
  { skills, started }: Pick<State.State, "skills" | "started">,
  room: ScreenLine.Room
): ReadonlyArray<ScreenLine.Line> => {
  const { maps = [], renewalGrace } = started?.manifest.skills ?? {}
  const words = maps.map(({ id }) => {
    const lease = SkillState.recordOf(skills, id)
    const cursor = CursorMove.get(skills.cursors, id)
    const at = cursor === undefined ? "" : ` on ${ScreenLine.brief(cursor, 24, room)}`
    const word =
      lease === undefined
        ? renewalGrace === undefined
          ? "no lease"
          : "not engaged"
        : `${lease.standing} (pass ${lease.since})`
    return `${ScreenLine.brief(id, 24, room)} ${word}${at}`
  })
  if (words.length === 0) return []
  const indent = " ".repeat(9)
  const width = room.width === undefined ? undefined : room.width - indent.length
  return ScreenLine.paragraph(words.join(" · "), width, 6).map((text, index) => [
    ScreenLine.span(index === 0 ? "maps     " : indent, "faint"),
    ScreenLine.span(text)
  ])
}

/** The maps of a chain, in their order. */
export const lines = (
  chain: Chain.Chain,
  { room }: { readonly room: ScreenLine.Room }
): ReadonlyArray<ScreenLine.Line> => {
  const walk = ScreenVerdict.graph(chain)
  return chain.nodes.flatMap((node) => (node.kind === "map" ? mapLines(walk, node, room) : []))
}
