/**
 * A `WhyUnread` says of each list that a chain passes what of it was read and what never was, where a tool declares that it
 * lists.
 *
 * @internal
 */
import type { ScopeNode } from "./Chain.ts"
import * as Listing from "./Listing.ts"
import * as Printable from "./Printable.ts"
import type * as WhyWalk from "./WhyWalk.ts"

/** What tools of the run declare, and what the question declares beside that. */
const declared = ({ options, sources }: WhyWalk.Walk): ReadonlyArray<Listing.Listing> => [
  ...sources.state.tools.flatMap(({ declared: { annotations, name } }) =>
    (annotations.lists ?? []).map((one) => ({ ...one, toolName: name }))
  ),
  ...(options.lists ?? [])
]

const shown = 12

const idsText = (ids: ReadonlyArray<string>): string => {
  const more = ids.length - shown
  return `${ids.slice(0, shown).map(Printable.line).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

/**
 * The lists at the calls of a chain. `checked` if anything is declared. A list of which nothing was read is no part of what
 * is asked.
 */
export const visit = (walk: WhyWalk.Walk): "checked" | "off" => {
  const listings = declared(walk)
  if (listings.length === 0) return "off"
  const { events } = walk.sources
  const nodes = Array.from(walk.nodes.values())
  const asked = nodes.find(({ kind }) => kind === "value" || kind === "call")?.seq ?? events.length
  const seen = new Set<string>()
  for (const call of nodes) {
    if (call.kind !== "call") continue
    const settled = events[Number(call.id.slice("call:".length))]
    if (settled?._tag !== "ToolSettled") continue
    for (const { field, of, readBy, toolName } of listings) {
      const ids = toolName === call.toolName ? Listing.idsIn(settled.served, field) : []
      const reads = Listing.readBefore(events, asked, readBy)
      const read = ids.filter((one) => reads.has(one))
      const unread = ids.filter((one) => !reads.has(one))
      const id = `scope:${call.id}:${field}`
      if (read.length === 0 || seen.has(id)) continue
      seen.add(id)
      const node: ScopeNode = { kind: "scope", id, pass: call.pass, seq: call.seq, toolName, field, of, read, unread }
      walk.nodes.set(id, node)
      walk.edges.push({ from: call.id, to: id, grounds: "listed", by: [] })
      if (unread.length === 0) continue
      const name = Printable.quote(toolName)
      const what = `${name} listed ${ids.length} of ${Printable.quote(of)}; ${unread.length} of them had not been read: ${idsText(unread)}.`
      walk.gaps.push({ kind: "unread", at: id, what })
    }
  }
  return "checked"
}
