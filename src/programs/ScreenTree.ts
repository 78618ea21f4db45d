/**
 * A `ScreenTree` is steps under steps as lines: what is near comes first, and what is left over is counted.
 *
 * @internal
 */
import * as ScreenLine from "./ScreenLine.ts"

/** One thing on the way: what it is, the claim made of it, where it is, and its event. */
export interface Step {
  readonly label: string
  readonly labelStyle?: ScreenLine.Style
  readonly claim: string
  readonly claimStyle?: ScreenLine.Style
  readonly where: string
  readonly seq?: number
  /** What is under it. Called once, when it is its turn to be shown. */
  readonly below: () => ReadonlyArray<Step>
}

/** What has been shown, by what is under it, and the room that there is. */
export interface Growing {
  readonly seen: Map<string, number>
  readonly room: ScreenLine.Room
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
const grow = (walk: Growing, step: Step, most: number): { readonly tree: Tree; readonly more: number } => {
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
const restore = ({ seen }: Growing, before: ReadonlyMap<string, number> | undefined): void => {
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
export const lines = (walk: Growing, step: Step, most: number): ReadonlyArray<ScreenLine.Line> => {
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
