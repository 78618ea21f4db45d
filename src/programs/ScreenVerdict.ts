/**
 * A `ScreenVerdict` is what a chain says of a value that was asked about: whether a cause of it is on the record.
 *
 * A value is `recorded` if a piece on the wire held it that the model did not write itself, or that it wrote in an earlier
 * reply where the value was recorded in turn, or if a call declared it. The findings are what the model wrote, and so is
 * what a notice quotes of it. A number is `recorded` too if it was derived, and all that it was derived of is. It is `likely`
 * if a derivation of several is asked for that fit as well, `tested` if a run without a piece said something else, and
 * `elsewhere` if the only piece that held it was carried from another run.
 *
 * @internal
 */
import type * as Chain from "../kernel/Chain.ts"
import * as FindingWire from "../kernel/FindingWire.ts"

export type Word = "recorded" | "tested" | "elsewhere" | "likely" | "nowhere"

export interface Verdict {
  readonly node: Chain.ValueNode
  readonly word: Word
  /** The pieces that the word rests on, in wire order. */
  readonly by: ReadonlyArray<Chain.CarrierNode>
}

/** A chain that can be walked: its nodes by id, the edges that leave each, and the gap at each. */
export interface Graph {
  readonly nodes: ReadonlyMap<string, Chain.Node>
  readonly from: ReadonlyMap<string, ReadonlyArray<Chain.Edge>>
  readonly gaps: ReadonlyMap<string, ReadonlyArray<Chain.Gap>>
  /** The nodes that the question is about. */
  readonly asked: ReadonlyArray<Chain.Node>
}

const grouped = <A>(
  items: ReadonlyArray<A>,
  keyOf: (item: A) => string | undefined
): ReadonlyMap<string, ReadonlyArray<A>> => {
  const groups = new Map<string, Array<A>>()
  for (const item of items) {
    const key = keyOf(item)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return groups
}

export const graph = ({ edges, gaps, nodes }: Chain.Chain): Graph => {
  const reached = new Set(edges.map(({ to }) => to))
  return {
    nodes: new Map(nodes.map((node) => [node.id, node])),
    from: grouped(edges, (edge) => edge.from),
    gaps: grouped(gaps, ({ at }) => at),
    asked: nodes.filter(({ id }) => !reached.has(id))
  }
}

/** The nodes that edges from `id` lead to, with the edge. */
export const next = (
  walk: Graph,
  id: string
): ReadonlyArray<{ readonly edge: Chain.Edge; readonly node: Chain.Node }> =>
  (walk.from.get(id) ?? []).flatMap((edge) => {
    const node = walk.nodes.get(edge.to)
    return node === undefined ? [] : [{ edge, node }]
  })

const rank: { readonly [W in Word]: number } = { recorded: 4, tested: 3, elsewhere: 2, likely: 1, nowhere: 0 }

const best = (words: ReadonlyArray<Word>): Word =>
  words.reduce<Word>((most, word) => (rank[word] > rank[most] ? word : most), "nowhere")

/** What is known of the value nodes that were walked. */
type Known = ReadonlyMap<string, Word>

const carriersOf = (walk: Graph, id: string): ReadonlyArray<Chain.CarrierNode> =>
  next(walk, id).flatMap(({ node }) => (node.kind === "carrier" ? [node] : []))

const carrierWord = (walk: Graph, carrier: Chain.CarrierNode, known: Known): Word => {
  if (walk.gaps.get(carrier.id)?.some(({ kind }) => kind === "elsewhere") === true) return "elsewhere"
  return best(
    next(walk, carrier.id).map(({ edge, node }) => {
      if (edge.grounds === "said" || edge.grounds === "declared") return known.get(node.id) ?? "nowhere"
      if (carrier.pieceId === FindingWire.pieceId) return "nowhere"
      return "recorded"
    })
  )
}

/** What a value rests on that no piece carries: a call that declared it, or the runtime that wrote it. */
const isTold = (walk: Graph, id: string): boolean =>
  next(walk, id).some(({ node }) => node.kind === "call" || node.kind === "root")

const least = (words: ReadonlyArray<Word>): Word =>
  words.reduce<Word>((least, word) => (rank[word] < rank[least] ? word : least), "recorded")

/** The derivations of a value: each is as good as the least of what it rests on. */
const derivedWords = (walk: Graph, id: string, known: Known): ReadonlyArray<Word> =>
  next(walk, id).flatMap(({ edge, node }): ReadonlyArray<Word> => {
    if (node.kind !== "derivation") return []
    const inputs = next(walk, node.id).map(({ node }) =>
      node.kind === "carrier" ? carrierWord(walk, node, known) : (known.get(node.id) ?? "nowhere")
    )
    const word = inputs.length === 0 ? "nowhere" : least(inputs)
    return [edge.grounds === "proximity" && word !== "nowhere" ? "likely" : word]
  })

/** What a value rests on was said before it, but for what it was derived of in one text: so many steps of that are walked. */
const steps = 4

/** The words of all values. What the model wrote goes back to earlier passes only, so the earliest come first. */
const words = (walk: Graph): Known => {
  const values = Array.from(walk.nodes.values()).flatMap((node) => (node.kind === "value" ? [node] : []))
  const known = new Map<string, Word>()
  // A summary is written before the pass that reads it.
  const turn = ({ pass, place }: Chain.ValueNode): number => pass - (place === "summary" ? 0.5 : 0)
  const turns = grouped(
    values.sort((a, b) => turn(a) - turn(b)),
    (node) => `${turn(node)}`
  )
  for (const turn of turns.values()) {
    const isDerived = turn.some(({ id }) => next(walk, id).some(({ node }) => node.kind === "derivation"))
    for (let step = 0; step < (isDerived ? steps : 1); step++) {
      for (const { id } of turn) {
        const carried = carriersOf(walk, id).map((carrier) => carrierWord(walk, carrier, known))
        known.set(id, isTold(walk, id) ? "recorded" : best([...carried, ...derivedWords(walk, id, known)]))
      }
    }
  }
  return known
}

/** The values that a question is about: those of a text, or the arguments of a call. */
const askedValues = (walk: Graph): ReadonlyArray<Chain.ValueNode> =>
  walk.asked.flatMap((node): ReadonlyArray<Chain.ValueNode> => {
    if (node.kind === "value") return [node]
    return next(walk, node.id).flatMap(({ node }) => (node.kind === "value" ? [node] : []))
  })

/** What a chain says of each value that its question is about, in the order in which they were written. */
export const of = (chain: Chain.Chain): ReadonlyArray<Verdict> => {
  const walk = graph(chain)
  const known = words(walk)
  return askedValues(walk).map((node) => {
    const word = known.get(node.id) ?? "nowhere"
    const by = carriersOf(walk, node.id).filter((carrier) => carrierWord(walk, carrier, known) === word)
    return { node, word, by: word === "nowhere" ? [] : by }
  })
}

/** Whether the question has a good answer: it was about something, the record holds together, and nothing is nowhere. */
export const supported = (chain: Chain.Chain): boolean =>
  of(chain).every(({ word }) => word !== "nowhere") &&
  !chain.gaps.some(
    ({ at, kind }) => kind === "drift" || (at === undefined && (kind === "not-found" || kind === "no-answer"))
  )
