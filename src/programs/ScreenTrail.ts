/**
 * A `ScreenTrail` is a chain as a tree of lines: each value, under it what carried it, and under that what caused it in
 * turn. What was shown before is named by its event and not shown again.
 *
 * @internal
 */
import type * as Chain from "../kernel/Chain.ts"
import * as ScreenLine from "./ScreenLine.ts"
import * as ScreenTicker from "./ScreenTicker.ts"
import * as ScreenVerdict from "./ScreenVerdict.ts"

/** One thing on the way: what it is, the claim made of it, where it is, and its event. */
interface Step {
  readonly label: string
  readonly labelStyle?: ScreenLine.Style
  readonly claim: string
  readonly claimStyle?: ScreenLine.Style
  readonly where: string
  readonly seq?: number
  /** What is under it. Called once, when it is its turn to be shown. */
  readonly below: () => ReadonlyArray<Step>
}

const nothing = (): ReadonlyArray<Step> => []

interface Walk extends ScreenVerdict.Graph {
  readonly seen: Map<string, number>
  readonly depth: number
}

/** Deeper than this, a tree is wider than a screen. */
const deepest = 20

const recorded = (by: ReadonlyArray<string>): string => (by.length === 0 ? "recorded" : `recorded · ${by.join(", ")}`)

const gapSteps = (walk: Walk, id: string): ReadonlyArray<Step> =>
  (walk.gaps.get(id) ?? []).map(({ kind, what }) => ({
    label: kind,
    labelStyle: kind === "nowhere" ? ("bad" as const) : ("warn" as const),
    claim: "",
    where: what,
    below: nothing
  }))

const above = (seq: number): ReadonlyArray<Step> => [
  { label: `as above, at #${seq}`, labelStyle: "faint", claim: "", where: "", below: nothing }
]

/** What is under a node the first time, and a reference to it after that. */
const once = (walk: Walk, id: string, seq: number, below: (walk: Walk) => ReadonlyArray<Step>): ReadonlyArray<Step> => {
  if (walk.seen.has(id)) {
    const hidden = (walk.from.get(id) ?? []).length > 0 || walk.gaps.has(id)
    return hidden ? above(walk.seen.get(id) ?? seq) : []
  }
  if (walk.depth > deepest) {
    return [{ label: "deeper", labelStyle: "faint", claim: "", where: `it goes on from #${seq}`, seq, below: nothing }]
  }
  walk.seen.set(id, seq)
  return below({ ...walk, depth: walk.depth + 1 })
}

const valueBelow = (walk: Walk, node: Chain.ValueNode): ReadonlyArray<Step> =>
  once(walk, node.id, node.seq, (walk) => [
    ...ScreenVerdict.next(walk, node.id).flatMap(({ edge, node }) =>
      node.kind === "carrier" ? [carrierStep(walk, node, edge.by)] : []
    ),
    ...gapSteps(walk, node.id)
  ])

const argumentStep = (walk: Walk, node: Chain.ValueNode, toolName: string): Step => ({
  label: JSON.stringify(node.value),
  claim: "argument",
  claimStyle: "faint",
  where: `of ${ScreenLine.fit(toolName, 32)}, pass ${node.pass}`,
  seq: node.seq,
  below: () => valueBelow(walk, node)
})

/** `seq` is the event of the row that it is shown under. */
const callBelow = (walk: Walk, call: Chain.CallNode, seq: number): ReadonlyArray<Step> =>
  once(walk, call.id, seq, (walk) =>
    ScreenVerdict.next(walk, call.id).flatMap(({ node }) => (node.kind === "value" ? [argumentStep(walk, node, call.toolName)] : []))
  )

const callText = ({ args, outcome, pass, toolName }: Chain.CallNode): string => {
  const ended = outcome === undefined || outcome === "ran-ok" ? "result" : outcome
  return `${ended} of ${ScreenLine.fit(toolName, 32)} ${ScreenTicker.argumentsText(args)}, pass ${pass}`
}

const carrierStep = (walk: Walk, carrier: Chain.CarrierNode, by: ReadonlyArray<string>): Step => {
  const found = carrier.spans.find((span) => span.by.length === by.length) ?? carrier.spans[0]
  const times = carrier.spans.length === 1 ? "" : ` ×${carrier.spans.length}`
  const step = {
    label: `${ScreenLine.fit(found?.text ?? carrier.pieceId, 32)}${times}`,
    claim: recorded(by),
    claimStyle: "good" as const,
    seq: carrier.seq
  }
  const gaps = gapSteps(walk, carrier.id)
  const roots = ScreenVerdict.next(walk, carrier.id)
  const call = roots.find(({ node }) => node.kind === "call")?.node
  if (call?.kind === "call") return { ...step, where: callText(call), below: () => [...callBelow(walk, call, carrier.seq), ...gaps] }
  const root = roots.find(({ node }) => node.kind === "root")?.node
  if (root?.kind === "root") return { ...step, where: root.what, below: () => gaps }
  const said = roots.find(({ node }) => node.kind === "value")?.node
  if (said?.kind === "value") {
    const place = said.place === "reply" ? "an earlier reply of the model" : "the arguments of an earlier call"
    const claim = { claim: `said${by.length === 0 ? "" : ` · ${by.join(", ")}`}`, claimStyle: "faint" as const }
    return { ...step, ...claim, where: `${place}, pass ${said.pass}`, below: () => [...valueBelow(walk, said), ...gaps] }
  }
  return { ...step, where: `${carrier.role} piece ${ScreenLine.fit(carrier.pieceId, 48)}`, below: () => gaps }
}

const askedStep = (walk: Walk, node: Chain.Node, word: ScreenVerdict.Word | undefined): Step | undefined => {
  if (node.kind === "value") {
    return {
      label: ScreenLine.fit(node.value, 48),
      labelStyle: "mark",
      claim: word ?? "",
      claimStyle: word === "recorded" ? "good" : word === "nowhere" ? "bad" : "warn",
      where: `${node.place === "reply" ? "said" : "argued"} in pass ${node.pass}`,
      seq: node.seq,
      below: () => valueBelow(walk, node)
    }
  }
  if (node.kind !== "call") return undefined
  const { args, pass, seq, toolName } = node
  return { label: ScreenLine.fit(toolName, 48), labelStyle: "mark", claim: "called", where: `${ScreenTicker.argumentsText(args)}, pass ${pass}`, seq, below: () => callBelow(walk, node, seq) }
}

interface Row {
  readonly prefix: string
  /** The bars that go on under it. */
  readonly bars: string
  readonly step: Step
}

/** A step and all that is under it, in the order in which it is read. */
function* rowsOf(step: Step, prefix: string, under: string): Generator<Row> {
  const below = step.below()
  yield { prefix, bars: below.length === 0 ? under : `${under}│`, step }
  for (const [index, next] of below.entries()) {
    const last = index === below.length - 1
    yield* rowsOf(next, `${under}${last ? "└─ " : "├─ "}`, `${under}${last ? "   " : "│  "}`)
  }
}

/** One row, or two where its place does not fit beside the claim. */
const rowLines = ({ bars, prefix, step }: Row, cell: number, room: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const deep = ScreenLine.width(prefix)
  const { claim, claimStyle, label, labelStyle, seq, where } = step
  const narrow = room.width === undefined ? 64 : Math.max(12, room.width - deep - 24)
  const shown = ScreenLine.fit(label, narrow)
  const ref = seq === undefined ? undefined : ScreenLine.span(`#${seq}`, "faint")
  const closing = ref === undefined ? 0 : ScreenLine.width(ref.text) + 2
  const most = room.width ?? Infinity
  const padded = ScreenLine.pad(shown, claim === "" ? 0 : cell - deep)
  const isTight = deep + ScreenLine.width(padded) + 2 + ScreenLine.width(claim) + closing > most
  const own = isTight ? shown : padded
  const claimed = Math.min(240, Math.max(10, most - deep - ScreenLine.width(own) - 2 - closing))
  const named = [
    ScreenLine.span(prefix, "faint"),
    ScreenLine.span(own, labelStyle),
    ...(claim === "" ? [] : [ScreenLine.span("  "), ScreenLine.span(ScreenLine.fit(claim, claimed), claimStyle)])
  ]
  const closed = (line: ScreenLine.Line): ScreenLine.Line => (ref === undefined ? line : ScreenLine.ending(line, ref, room))
  if (where === "") return [closed(named)]
  const left = most - ScreenLine.widthOf(named) - 2 - closing
  const beside = ScreenLine.width(where) <= left || left >= 40
  if (beside) {
    const text = ScreenLine.fit(where, Math.min(left, 240))
    return [closed([...named, ScreenLine.span("  "), ScreenLine.span(text)])]
  }
  const indent = `${bars}  `
  const text = ScreenLine.fitIn(where, room, ScreenLine.width(indent))
  return [closed(named), [ScreenLine.span(indent, "faint"), ScreenLine.span(text)]]
}

/** The rows of a step, at most so many; what is not shown is counted, and does not count as shown. */
const treeLines = (walk: Walk, step: Step, room: ScreenLine.Room, most: number): ReadonlyArray<ScreenLine.Line> => {
  const rows: Array<Row> = []
  let more = 0
  let shown: ReadonlyMap<string, number> = walk.seen
  for (const row of rowsOf(step, "", "")) {
    if (rows.length < most) rows.push(row)
    else more++
    if (rows.length < most) continue
    if (more === 0) shown = new Map(walk.seen)
  }
  if (more > 0) {
    walk.seen.clear()
    for (const [id, seq] of shown) walk.seen.set(id, seq)
  }
  const limit = room.width === undefined ? 40 : Math.floor(room.width * 0.4)
  const cell = rows.reduce((widest, { prefix, step }) => {
    const own = ScreenLine.width(prefix) + ScreenLine.width(step.label)
    return step.claim === "" || own > limit ? widest : Math.max(widest, own)
  }, 8)
  const note = `   … ${ScreenLine.counted(more, "more step")} (--full)`
  return [...rows.flatMap((row) => rowLines(row, cell, room)), ...(more === 0 ? [] : [[ScreenLine.span(note, "faint")]])]
}

export interface Options {
  readonly room: ScreenLine.Room
  /** Everything; else some thirty rows. */
  readonly full?: boolean
}

const rowsInAll = 30

/** The tree of a chain. */
export const tree = (chain: Chain.Chain, { full = false, room }: Options): ReadonlyArray<ScreenLine.Line> => {
  const walk: Walk = { ...ScreenVerdict.graph(chain), seen: new Map(), depth: 0 }
  const words = new Map(ScreenVerdict.of(chain).map(({ node, word }) => [node.id, word]))
  const steps = walk.asked.flatMap((node) => askedStep(walk, node, words.get(node.id)) ?? [])
  const shown = full ? steps : steps.slice(0, 10)
  const most = full ? Infinity : Math.max(4, Math.floor(rowsInAll / Math.max(1, shown.length)))
  const more = steps.length - shown.length
  return [
    ...shown.flatMap((step) => treeLines(walk, step, room, most)),
    ...(more === 0 ? [] : [[ScreenLine.span(`… ${ScreenLine.counted(more, "more value")} (--full)`, "faint")]])
  ]
}

/** A text around a place in it, the place marked. What is left out on both sides is counted. */
const around = (text: string, { end, start }: { readonly start: number; readonly end: number }, cells: number): ReadonlyArray<ScreenLine.Span> => {
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

/** Gaps that concern the whole question. */
export const gaps = (chain: Chain.Chain, { room }: Options): ReadonlyArray<ScreenLine.Line> =>
  chain.gaps.flatMap(({ at, kind, what }) =>
    at !== undefined
      ? []
      : ScreenLine.paragraph(`${kind}: ${what}`, room.width, 4).map((text) => [ScreenLine.span(text, "warn")])
  )

/** The one line that says it all. */
export const conclusion = (chain: Chain.Chain): ScreenLine.Line => {
  const verdicts = ScreenVerdict.of(chain)
  const yes = ScreenVerdict.supported(chain)
  const say = (word: ScreenVerdict.Word) => {
    const n = verdicts.filter((verdict) => verdict.word === word).length
    return n === 0 ? [] : [`${n} ${word}`]
  }
  const words = [...say("recorded"), ...say("elsewhere"), ...say("nowhere")]
  const why = words.length > 0 ? words.join(", ") : yes ? "there is no value to trace" : "there is nothing to trace"
  return [
    ScreenLine.span("supported: "),
    ScreenLine.span(yes ? "yes" : "no", yes ? "good" : "bad"),
    ScreenLine.span(` · ${why}`)
  ]
}
