/**
 * A `WhyDecision` is why a pass chose what it did: what was offered, what rode, and where its arguments come from. It ends
 * where no record goes on: in the model.
 *
 * @internal
 */
import type { DecisionNode } from "./Chain.ts"
import type * as Event from "./Event.ts"
import * as Printable from "./Printable.ts"
import * as Sources from "./Sources.ts"
import * as WhyMap from "./WhyMap.ts"
import * as WhyWalk from "./WhyWalk.ts"

const counted = (names: ReadonlyArray<string>): string => `${names.length} ${names.length === 1 ? "tool" : "tools"}`

/** What a reply chose. */
export const visit = (walk: WhyWalk.Walk, seq: number, reply: Event.ModelReplied): void => {
  const { content, iteration: pass, toolCalls } = reply
  const { events, state } = walk.sources
  const mark = state.marks.find(({ iteration }) => iteration === pass)
  const offered = mark?.selection.tools ?? []
  const chose = toolCalls.map(({ toolName }) => toolName)
  const choice = chose.length === 0 ? "to answer" : `to call ${chose.map((name) => Printable.quote(name)).join(", ")}`
  const names = offered.map(({ tool }) => tool.name)
  const id = `decision:${pass}`
  const what = `it chose ${choice}, of ${counted(names)} on the wire`
  const node: DecisionNode = { kind: "decision", id, pass, seq, chose, offered: names, speaks: content !== "", what }
  walk.nodes.set(id, node)
  for (const { origin, seq, tool } of offered) {
    if (!chose.includes(tool.name)) continue
    const root = origin === "runtime" ? "runtime" : "app"
    const whose = root === "app" ? "the application's" : "the framework's"
    WhyWalk.visitRoot(walk, id, root, seq, `${whose} definition ${Printable.quote(`tool:${tool.name}`)}`, "offered")
  }
  for (const { toolCallId, toolName } of toolCalls) {
    const at = events.findIndex(
      (event) => event._tag === "ToolSettled" && event.iteration === pass && event.toolCallId === toolCallId
    )
    const settled = events[at]
    if (settled?._tag === "ToolSettled") {
      WhyWalk.edge(walk, id, WhyWalk.visitSettled(walk, settled, at, WhyWalk.calledAt(walk, settled, at)), "chose")
    } else WhyWalk.gap(walk, "unrecorded", id, `The call of ${Printable.quote(toolName)} has not been settled.`)
  }
  WhyWalk.visitMaps(walk, pass)
  for (const { id: mapId } of state.started?.manifest.skills?.maps ?? []) {
    const map = walk.nodes.get(WhyMap.idOf(pass, mapId))
    if (map?.kind === "map" && map.rides) WhyWalk.edge(walk, id, map.id, "rode")
  }
  const { untold = [] } = state.started?.manifest ?? {}
  const sent = Sources.onWire(walk.sources, pass).length
  WhyWalk.visitRoot(walk, id, "model", seq, "the model's own choice", "chose")
  const tools = untold.includes("tool-schemas") ? " The trace does not say which tools it could choose of." : ""
  const gap = `Which of the ${sent} pieces on the wire made the model choose this is not recorded: only a run without one of them can test it.${tools}`
  WhyWalk.gap(walk, "unrecorded", id, gap)
}
