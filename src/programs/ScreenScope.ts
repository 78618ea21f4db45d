/**
 * A `ScreenScope` is what a chain says of what was there and was not read, or was not sent: the lists that it passes, and what
 * a pass was not sent.
 *
 * @internal
 */
import type * as Chain from "../kernel/Chain.ts"
import * as ScreenLine from "./ScreenLine.ts"
import type { Options } from "./ScreenTrail.ts"

const most = 10

const idsOf = (label: string, ids: ReadonlyArray<string>, isBad: boolean, { full, room }: Options): ScreenLine.Line => {
  const shown = full === true ? ids : ids.slice(0, most)
  const more = ids.length - shown.length
  const text = `${shown.join(" ")}${more > 0 ? ` and ${more} more (--full)` : ""}`
  return [
    ScreenLine.span(`  ${ScreenLine.pad(label, 7)}`, isBad ? "bad" : "faint"),
    ScreenLine.span(
      full === true ? text : ScreenLine.brief(text, Math.max(12, (room.width ?? 120) - 10), room),
      isBad ? "bad" : undefined
    )
  ]
}

/** The lists of which some was read and some was not, or that nothing declares any. */
export const lines = (chain: Chain.Chain, options: Options): ReadonlyArray<ScreenLine.Line> => {
  const { room } = options
  const scopes = chain.nodes.flatMap((node) => (node.kind === "scope" ? [node] : []))
  if (chain.scope === "off" && chain.nodes.some(({ kind }) => kind === "call")) {
    const what = "scope    not checked: no tool declares what it lists (--lists)"
    return [[ScreenLine.span(ScreenLine.fitIn(what, room, 0), "faint")]]
  }
  return scopes.flatMap((scope) => {
    const head = [
      ScreenLine.span("scope    ", "faint"),
      ScreenLine.span(ScreenLine.brief(scope.toolName, 32, room)),
      ScreenLine.span(` listed ${scope.read.length + scope.unread.length} of ${ScreenLine.brief(scope.of, 24, room)}`)
    ]
    return [
      ScreenLine.ending(head, ScreenLine.span(`#${scope.seq}`, "faint"), room),
      idsOf("read", scope.read, false, options),
      ...(scope.unread.length === 0 ? [] : [idsOf("UNREAD", scope.unread, true, options)])
    ]
  })
}

/** What a pass was not sent, most needed first. */
export const missing = (chain: Chain.Chain, { full = false, room }: Options): ReadonlyArray<ScreenLine.Line> => {
  if (chain.question.kind !== "missing") return []
  const all = chain.nodes.flatMap((node) => (node.kind === "missing" ? [node] : []))
  const shown = full ? all : all.slice(0, most)
  const more = all.length - shown.length
  if (all.length === 0) return [[ScreenLine.span(`nothing that the run had was kept from pass ${chain.question.pass}`)]]
  return [
    ...shown.map(({ holds, pieceId, reason, seq, what }) => {
      const held = holds.length === 0 ? "" : `held ${holds.slice(0, 6).join(", ")}. `
      const head = [
        ScreenLine.span(ScreenLine.pad(reason, 13), "warn"),
        ScreenLine.span(ScreenLine.pad(ScreenLine.brief(pieceId, 24, room), 14))
      ]
      const left = (room.width ?? Infinity) - ScreenLine.widthOf(head) - 10
      const text = ScreenLine.brief(`${held}${what}`, Math.max(12, Math.min(left, 240)), room)
      return ScreenLine.ending([...head, ScreenLine.span(text)], ScreenLine.span(`#${seq}`, "faint"), room)
    }),
    ...(more === 0 ? [] : [[ScreenLine.span(`… ${more} more (--full)`, "faint")]])
  ]
}
