/**
 * A `FoldSelection` is how events of texts and tools change what rides on the wire.
 *
 * @internal
 */
import type * as Event from "./Event.ts"
import * as Digest from "./Digest.ts"
import * as Law from "./Law.ts"
import type * as State from "./State.ts"
import * as Wire from "./Wire.ts"

export const declarePiece = (state: State.State, event: Event.PieceDeclared): State.State =>
  event.hash === Wire.systemHash(event.text)
    ? { ...state, pieces: [...state.pieces, { seq: state.seq - 1, declared: event }] }
    : Law.broken(state, "A declared text has the hash it names.")

export const declareTool = (state: State.State, event: Event.ToolDeclared): State.State =>
  event.hash === Wire.toolHash(event)
    ? { ...state, tools: [...state.tools, { seq: state.seq - 1, declared: event }] }
    : Law.broken(state, "A declared tool has the hash it names.")

export const select = (state: State.State, event: Event.PiecesSelected): State.State => {
  const cause: Wire.Cause = { by: "selected", seq: state.seq - 1 }
  const system = event.activeIds.flatMap((id): ReadonlyArray<Wire.SystemPiece> => {
    const named = event.texts?.find((one) => one.id === id)?.hash
    const found = state.pieces.findLast(
      ({ declared }) => declared.id === id && (named === undefined || declared.hash === named)
    )
    if (found === undefined) return []
    const { hash, origin, owner, text } = found.declared
    const base = { id, slot: "system", origin, seq: found.seq, cause, hash, text } as const
    return [owner === undefined ? base : { ...base, owner }]
  })
  const tools = event.toolNames.flatMap((name): ReadonlyArray<Wire.ToolPiece> => {
    const found = state.tools.findLast(({ declared }) => declared.name === name)
    if (found === undefined) return []
    const { annotations, description, hash, schema } = found.declared
    const tool = { name, ...(description === undefined ? {} : { description }), schema }
    const origin = annotations.by === "runtime" ? "runtime" : "app"
    return [{ id: `tool:${name}`, slot: "tools", origin, seq: found.seq, cause, hash, tool }]
  })
  const selection: Wire.Selection = {
    system,
    tools,
    systemHash: system.reduce((rolled, { hash }) => Digest.roll(rolled, hash), ""),
    toolsHash: tools.reduce((rolled, { hash }) => Digest.roll(rolled, hash), "")
  }
  const complete = system.length === event.activeIds.length && tools.length === event.toolNames.length
  const next = { ...state, selection }
  return complete ? next : Law.broken(next, "Only what was declared can be selected.")
}
