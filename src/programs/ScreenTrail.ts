/**
 * A `ScreenTrail` is a chain as a tree of lines: each value, under it what carried it, and under that what caused it in
 * turn. What was shown before is named by its event and not shown again.
 *
 * @internal
 */
import type * as Chain from "../kernel/Chain.ts"
import * as FindingWire from "../kernel/FindingWire.ts"
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
  readonly room: ScreenLine.Room
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

const shownAt = (seq: number): ReadonlyArray<Step> => [
  { label: `shown at #${seq}`, labelStyle: "faint", claim: "", where: "", below: nothing }
]

/** What is under a node the first time, and a reference to it after that. */
const once = (walk: Walk, id: string, seq: number, below: (walk: Walk) => ReadonlyArray<Step>): ReadonlyArray<Step> => {
  if (walk.seen.has(id)) {
    const hidden = (walk.from.get(id) ?? []).length > 0 || walk.gaps.has(id)
    return hidden ? shownAt(walk.seen.get(id) ?? seq) : []
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
      node.kind === "carrier"
        ? [carrierStep(walk, node, edge.by)]
        : node.kind === "derivation"
          ? [derivationStep(walk, node, edge)]
          : toldStep(walk, node)
    ),
    ...gapSteps(walk, node.id)
  ])

const bases: { readonly [B in Chain.DerivationNode["basis"]]: string } = {
  written: "the reply writes it out",
  listed: "the amounts listed before it",
  said: "amounts that the reply names",
  column: "all of a list",
  rows: "rows that the reply names",
  counted: "counted in the reply",
  likeness: "the same number, said otherwise"
}

/** How a number was worked out, and under it what of. */
const derivationStep = (walk: Walk, node: Chain.DerivationNode, { grounds }: Chain.Edge): Step => {
  const isLikely = grounds === "proximity"
  return {
    label: node.formula,
    claim: `${isLikely ? "likely" : "recorded"} · ${node.op}`,
    claimStyle: isLikely ? "warn" : "good",
    where: bases[node.basis],
    seq: node.seq,
    below: () =>
      once(walk, node.id, node.seq, (walk) =>
        ScreenVerdict.next(walk, node.id).flatMap(({ node }): ReadonlyArray<Step> => {
          if (node.kind === "carrier") return [inputStep(walk, node)]
          return node.kind === "value"
            ? [argumentStep(walk, node, node.place === "reply" ? "said beside it" : "argument")]
            : []
        })
      )
  }
}

/** A piece that holds several inputs is one row, and names them all. */
const inputStep = (walk: Walk, carrier: Chain.CarrierNode): Step => {
  const step = carrierStep(walk, carrier, [])
  const shown = carrier.spans.slice(0, 6).map(({ text }) => text)
  const more = carrier.spans.length - shown.length
  return { ...step, label: `${shown.join(", ")}${more > 0 ? `, … ${more} more` : ""}` }
}

/** What a boundary rests on. */
const toldStep = (walk: Walk, node: Chain.Node): ReadonlyArray<Step> => {
  if (node.kind === "root") return [{ label: "", claim: recorded([]), where: node.what, seq: node.seq, below: nothing }]
  if (node.kind !== "call") return []
  const { seq } = node
  const where = `by the ${callText(node, walk.room)}`
  return [{ label: "declared", claim: recorded([]), where, seq, below: () => callBelow(walk, node, seq) }]
}

const argumentStep = (walk: Walk, node: Chain.ValueNode, claim = "argument"): Step => ({
  label: JSON.stringify(node.value),
  claim,
  claimStyle: "faint",
  where: `pass ${node.pass}`,
  seq: node.seq,
  below: () => valueBelow(walk, node)
})

/** `seq` is the event of the row that it is shown under. */
const callBelow = (walk: Walk, call: Chain.CallNode, seq: number): ReadonlyArray<Step> =>
  once(walk, call.id, seq, (walk) =>
    ScreenVerdict.next(walk, call.id).flatMap(({ edge, node }) => {
      if (node.kind === "artifact") return [artifactStep(walk, node, edge)]
      if (node.kind === "root" && edge.grounds === "decided") {
        return [{ label: "decided", claim: node.root, where: node.what, seq: node.seq, below: nothing }]
      }
      return node.kind === "value" ? [argumentStep(walk, node)] : []
    })
  )

/** What a call or an artifact rests on: what is stored under a ref, with its ticket. */
const artifactStep = (walk: Walk, node: Chain.ArtifactNode, { by, grounds }: Chain.Edge): Step => ({
  label: node.ref,
  claim: [grounds === "derived" ? "derived from" : "read", ...by].join(" · "),
  claimStyle: "good",
  where: node.what,
  seq: node.seq,
  below: () =>
    once(walk, node.id, node.seq, (walk) => [
      ...ScreenVerdict.next(walk, node.id).flatMap(({ edge, node: next }): ReadonlyArray<Step> => {
        if (next.kind === "artifact") return [artifactStep(walk, next, edge)]
        if (next.kind !== "call") return []
        const where = `by the ${callText(next, walk.room)}`
        const below = () => callBelow(walk, next, next.seq)
        return [{ label: "stored", claim: recorded([]), where, seq: next.seq, below }]
      }),
      ...gapSteps(walk, node.id)
    ])
})

const callText = ({ args, outcome, pass, toolName }: Chain.CallNode, room: ScreenLine.Room): string => {
  const ended = outcome === undefined || outcome === "ran-ok" ? "result" : outcome
  return `${`${ended} of ${ScreenLine.brief(toolName, 32, room)} ${ScreenTicker.argumentsText(args)}`.trimEnd()}, pass ${pass}`
}

/** What the model had called a result, where it had not called it a fact. */
const standingText = ({ standing }: Chain.CarrierNode): string =>
  standing === undefined || standing === "fact"
    ? ""
    : `, ${standing === "undeclared" ? "not declared" : `declared ${standing}`}`

const carrierStep = (walk: Walk, carrier: Chain.CarrierNode, by: ReadonlyArray<string>): Step => {
  const found = carrier.spans.find((span) => span.by.length === by.length) ?? carrier.spans[0]
  const times = carrier.spans.length === 1 ? "" : ` ×${carrier.spans.length}`
  const step = {
    label: `${ScreenLine.brief(found?.text ?? carrier.pieceId, 32, walk.room)}${times}`,
    claim: recorded(by),
    claimStyle: "good" as const,
    seq: carrier.seq
  }
  const gaps = gapSteps(walk, carrier.id)
  const roots = ScreenVerdict.next(walk, carrier.id)
  const call = roots.find(({ node }) => node.kind === "call")?.node
  if (call?.kind === "call")
    return {
      ...step,
      where: `${callText(call, walk.room)}${standingText(carrier)}`,
      below: () => [...callBelow(walk, call, carrier.seq), ...gaps]
    }
  const root = roots.find(({ node }) => node.kind === "root")?.node
  if (root?.kind === "root") {
    const own = carrier.pieceId === FindingWire.pieceId ? { claim: "no source", claimStyle: "warn" as const } : {}
    return { ...step, ...own, where: root.what, below: () => gaps }
  }
  const said = roots.find(({ node }) => node.kind === "value")?.node
  if (said?.kind === "value") {
    const place = quotedIn(carrier) ?? saidIn[said.place]
    const word = carrier.pieceId === FindingWire.pieceId ? "declared" : "said"
    const claim = { claim: `${word}${by.length === 0 ? "" : ` · ${by.join(", ")}`}`, claimStyle: "faint" as const }
    return {
      ...step,
      ...claim,
      where: `${place}, pass ${said.pass}`,
      below: () => [...valueBelow(walk, said), ...gaps]
    }
  }
  return {
    ...step,
    where: `${carrier.role} piece ${ScreenLine.brief(carrier.pieceId, 48, walk.room)}`,
    below: () => gaps
  }
}

/** What quotes the model, which is no source. */
const quotedIn = ({ origin, pieceId, role }: Chain.CarrierNode): string | undefined => {
  if (pieceId === FindingWire.pieceId) return "the findings, as the model declared them"
  return role === "user" && origin === "runtime" ? "a notice that quotes the model" : undefined
}

const saidIn = {
  reply: "an earlier reply of the model",
  arguments: "the arguments of an earlier call",
  boundary: "an earlier answer",
  summary: "a summary by the model"
} as const

const placed = { reply: "said", arguments: "argued", boundary: "told after the answer", summary: "summarized" } as const

const askedStep = (walk: Walk, node: Chain.Node, word: ScreenVerdict.Word | undefined): Step | undefined => {
  if (node.kind === "value") {
    return {
      label: ScreenLine.brief(node.value, 48, walk.room),
      labelStyle: "mark",
      claim: word ?? "",
      claimStyle: word === "recorded" ? "good" : word === "nowhere" ? "bad" : "warn",
      where: `${placed[node.place]} in pass ${node.pass}`,
      seq: node.seq,
      below: () => valueBelow(walk, node)
    }
  }
  if (node.kind !== "call") return undefined
  const { args, pass, seq, toolName } = node
  return {
    label: ScreenLine.brief(toolName, 48, walk.room),
    labelStyle: "mark",
    claim: "called",
    where: [ScreenTicker.argumentsText(args), `pass ${pass}`].filter((part) => part !== "").join(", "),
    seq,
    below: () => callBelow(walk, node, seq)
  }
}

/** A step with what of it is shown. */
interface Tree {
  readonly step: Step
  readonly below: Array<Tree>
}

interface Row {
  readonly prefix: string
  /** The bars that go on under it. */
  readonly bars: string
  readonly step: Step
}

/** How many steps are under a step, where it is not shown. */
const countBelow = (step: Step): number => {
  let count = 0
  const waiting = [...step.below()]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    count++
    waiting.push(...next.below())
  }
  return count
}

/** Grows a step's tree level by level, so that what is near comes first; what is left over is counted. */
const grow = (walk: Walk, step: Step, most: number): { readonly tree: Tree; readonly more: number } => {
  const tree: Tree = { step, below: [] }
  const level = [tree]
  const left: Array<Step> = []
  let rows = 1
  for (const one of level) {
    const before = most === Infinity ? undefined : new Map(walk.seen)
    const below = left.length > 0 ? [] : one.step.below()
    if (left.length > 0 || rows + below.length > most) {
      restore(walk, before)
      left.push(one.step)
      continue
    }
    rows += below.length
    one.below.push(...below.map((step) => ({ step, below: [] })))
    level.push(...one.below)
  }
  const shown = new Map(walk.seen)
  const more = left.reduce((sum, step) => sum + countBelow(step), 0)
  restore(walk, shown)
  return { tree, more }
}

/** What is not shown does not count as shown. */
const restore = ({ seen }: Walk, before: ReadonlyMap<string, number> | undefined): void => {
  if (before === undefined) return
  seen.clear()
  for (const [id, seq] of before) seen.set(id, seq)
}

/** A tree in the order in which it is read. */
const rowsOf = ({ below, step }: Tree, prefix: string, under: string): ReadonlyArray<Row> => [
  { prefix, bars: below.length === 0 ? under : `${under}│`, step },
  ...below.flatMap((tree, index) => {
    const last = index === below.length - 1
    return rowsOf(tree, `${under}${last ? "└─ " : "├─ "}`, `${under}${last ? "   " : "│  "}`)
  })
]

/** One row, or two where its place does not fit beside the claim. */
const rowLines = ({ bars, prefix, step }: Row, cell: number, room: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const deep = ScreenLine.width(prefix)
  const { claim, claimStyle, label, labelStyle, seq, where } = step
  const narrow = room.width === undefined ? 64 : Math.max(12, room.width - deep - 24)
  const shown = ScreenLine.brief(label, narrow, room)
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
    ...(claim === ""
      ? []
      : [ScreenLine.span("  "), ScreenLine.span(ScreenLine.brief(claim, claimed, room), claimStyle)])
  ]
  const closed = (line: ScreenLine.Line): ScreenLine.Line =>
    ref === undefined ? line : ScreenLine.ending(line, ref, room)
  if (where === "") return [closed(named)]
  const left = most - ScreenLine.widthOf(named) - 2 - closing
  const beside = ScreenLine.width(where) <= left || left >= 40
  if (beside) {
    const text = ScreenLine.brief(where, Math.min(left, 240), room)
    return [closed([...named, ScreenLine.span("  "), ScreenLine.span(text)])]
  }
  const indent = `${bars}  `
  const text = ScreenLine.fitIn(where, room, ScreenLine.width(indent))
  return [closed(named), [ScreenLine.span(indent, "faint"), ScreenLine.span(text)]]
}

/** The lines of a step's tree, of at most so many rows. */
const treeLines = (walk: Walk, step: Step, most: number): ReadonlyArray<ScreenLine.Line> => {
  const { room } = walk
  const { more, tree } = grow(walk, step, most)
  const rows = rowsOf(tree, "", "")
  const limit = room.width === undefined ? 40 : Math.floor(room.width * 0.4)
  const cell = rows.reduce((widest, { prefix, step }) => {
    const own = ScreenLine.width(prefix) + ScreenLine.width(step.label)
    return step.claim === "" || own > limit ? widest : Math.max(widest, own)
  }, 8)
  const note = `   … ${ScreenLine.counted(more, "more step")} (--full)`
  return [
    ...rows.flatMap((row) => rowLines(row, cell, room)),
    ...(more === 0 ? [] : [[ScreenLine.span(note, "faint")]])
  ]
}

export interface Options {
  readonly room: ScreenLine.Room
  /** Everything; else what fits on a screen or two. */
  readonly full?: boolean
}

const rowsInAll = 24
const mostValues = 10

/** The tree of a chain. */
export const tree = (chain: Chain.Chain, { full = false, room }: Options): ReadonlyArray<ScreenLine.Line> => {
  const given = full ? { ...room, full } : room
  const walk: Walk = { ...ScreenVerdict.graph(chain), seen: new Map(), depth: 0, room: given }
  const words = new Map(ScreenVerdict.of(chain).map(({ node, word }) => [node.id, word]))
  const asked = walk.asked.flatMap((node) => {
    const word = words.get(node.id)
    const step = askedStep(walk, node, word)
    return step === undefined ? [] : [{ step, isNowhere: word === "nowhere" }]
  })
  // What is nowhere is not among what is left out.
  const urgent = [...asked.filter(({ isNowhere }) => isNowhere), ...asked.filter(({ isNowhere }) => !isNowhere)]
  const steps = (full || asked.length <= mostValues ? asked : urgent).map(({ step }) => step)
  const shown = full ? steps : steps.slice(0, mostValues)
  const most = full ? Infinity : Math.max(4, Math.floor(rowsInAll / Math.max(1, shown.length)))
  const more = steps.length - shown.length
  const lines = shown.flatMap((step) => treeLines(walk, step, most))
  return [
    ...(full ? ScreenLine.wrap(lines, room) : lines),
    ...(more === 0 ? [] : [[ScreenLine.span(`… ${ScreenLine.counted(more, "more value")} (--full)`, "faint")]])
  ]
}

/** Gaps that concern the whole question. */
export const gaps = (chain: Chain.Chain, { full = false, room }: Options): ReadonlyArray<ScreenLine.Line> =>
  chain.gaps.flatMap(({ at, kind, what }) =>
    at !== undefined
      ? []
      : ScreenLine.paragraph(`${kind}: ${what}`, room.width, full ? Infinity : 4).map((text) => [
          ScreenLine.span(text, "warn")
        ])
  )

/** The one line that says it all. */
export const conclusion = (chain: Chain.Chain): ScreenLine.Line => {
  const verdicts = ScreenVerdict.of(chain)
  const yes = ScreenVerdict.supported(chain)
  const say = (word: ScreenVerdict.Word) => {
    const n = verdicts.filter((verdict) => verdict.word === word).length
    return n === 0 ? [] : [`${n} ${word}`]
  }
  const words = [...say("recorded"), ...say("tested"), ...say("elsewhere"), ...say("likely"), ...say("nowhere")]
  const asked = new Set(verdicts.map(({ node }) => node.id))
  const deeper = chain.gaps.filter(({ at, kind }) => kind === "nowhere" && at !== undefined && !asked.has(at)).length
  if (deeper > 0) words.push(`${ScreenLine.counted(deeper, "value")} on the way ${deeper === 1 ? "is" : "are"} nowhere`)
  const why = words.length > 0 ? words.join(", ") : yes ? "there is no value to trace" : "there is nothing to trace"
  return [
    ScreenLine.span("supported: "),
    ScreenLine.span(yes ? "yes" : "no", yes ? "good" : "bad"),
    ScreenLine.span(` · ${why}`)
  ]
}
