/**
 * A `WhyArtifact` leads from a call to the artifacts that it worked on, from each of those to the call that stored it and to
 * what it was derived from, and so on; or to the gap where the record does not tell.
 *
 * @internal
 */
import * as ArtifactState from "./ArtifactState.ts"
import type { ArtifactNode, Edge, Gap } from "./Chain.ts"
import * as Printable from "./Printable.ts"
import type * as WhyWalk from "./WhyWalk.ts"

type Walk = Pick<WhyWalk.Walk, "edges" | "gaps" | "nodes" | "sources" | "waiting">

/** Walks on to the call that an event is of. Nothing if it was never settled. */
export type VisitCall = (place: ArtifactState.Place) => string | undefined

/** What a call worked on, by `keyOf` the call. */
interface Index {
  readonly read: ReadonlyMap<string, ReadonlyArray<ArtifactState.Known>>
  readonly minted: ReadonlyMap<string, ReadonlyArray<ArtifactState.Known>>
}

const keyOf = ({ iteration, toolCallId }: Pick<ArtifactState.Place, "iteration" | "toolCallId">): string =>
  JSON.stringify([iteration, toolCallId])

const indexes = new WeakMap<ArtifactState.ArtifactState, Index>()

const indexOf = (state: ArtifactState.ArtifactState): Index => {
  const held = indexes.get(state)
  if (held !== undefined) return held
  const read = new Map<string, Array<ArtifactState.Known>>()
  const minted = new Map<string, Array<ArtifactState.Known>>()
  const add = (to: typeof read, place: ArtifactState.Place, known: ArtifactState.Known): void => {
    const all = to.get(keyOf(place)) ?? []
    if (!all.includes(known)) all.push(known)
    to.set(keyOf(place), all)
  }
  for (const known of ArtifactState.list(state)) {
    for (const place of known.reads) add(read, place, known)
    if (known.minted !== undefined) add(minted, known.minted, known)
  }
  const index = { read, minted }
  indexes.set(state, index)
  return index
}

const edge = (walk: Walk, from: string, to: string, grounds: Edge["grounds"], by: ReadonlyArray<string> = []): void => {
  walk.edges.push({ from, to, grounds, by })
}

const gap = (walk: Walk, kind: Gap["kind"], at: string, what: string, next?: Gap["next"]): void => {
  walk.gaps.push({ kind, at, what, ...(next === undefined ? {} : { next }) })
}

const whatOf = ({ bytes, gone, kind, ticket }: Partial<ArtifactState.Known>): string =>
  [
    kind === undefined ? "an artifact" : /^[\w.:/+-]{1,64}$/.test(kind) ? kind : Printable.quote(kind),
    ...(bytes === undefined ? [] : [`${bytes} bytes`]),
    ...(ticket?.label === undefined || ticket.label === "" ? [] : [Printable.quote(ticket.label)]),
    ...(gone === undefined ? [] : [`gone since #${gone.seq}`])
  ].join(", ")

const nodeOf = (id: string, ref: string, at: number, known: ArtifactState.Known | undefined): ArtifactNode => ({
  kind: "artifact",
  id,
  ref,
  seq: known?.since ?? at,
  ...(known?.kind === undefined ? {} : { artifactKind: known.kind }),
  ...(known?.bytes === undefined ? {} : { bytes: known.bytes }),
  ...(known?.gone === undefined ? {} : { gone: known.gone.reason }),
  what: whatOf(known ?? {})
})

/** Who stored an artifact, as far as the record tells. */
const visitOrigin = (walk: Walk, id: string, known: ArtifactState.Known | undefined, visitCall: VisitCall): void => {
  const { minted, origin } = known ?? {}
  if (minted !== undefined) {
    const call = visitCall(minted)
    if (call !== undefined) return edge(walk, id, call, "minted")
    return gap(walk, "unrecorded", id, "The call that stored it has not been settled.")
  }
  const { runId, toolCallId } = origin ?? {}
  if (runId !== undefined && runId !== walk.sources.state.started?.runId) {
    const what = `It was stored by the run ${Printable.quote(runId)}: ask there what caused it.`
    const next = toolCallId === undefined ? undefined : { runId, question: { kind: "tool" as const, toolCallId } }
    return gap(walk, "elsewhere", id, what, next)
  }
  const what =
    known?.kind === undefined
      ? "The record names it as a parent, and tells nothing of what it is or who stored it."
      : runId === undefined
        ? "The record does not tell who stored it: it was there before."
        : "It was stored by a call of this run that was lost before the record told of it."
  gap(walk, "unrecorded", id, what)
}

/** An artifact that something rests on. `at` is the event that names it. */
const visit = (
  walk: Walk,
  from: string,
  ref: string,
  at: number,
  grounds: Edge["grounds"],
  by: ReadonlyArray<string>,
  visitCall: VisitCall
): void => {
  const id = `artifact:${ref}`
  edge(walk, from, id, grounds, by)
  if (walk.nodes.has(id)) return
  const { artifacts = ArtifactState.initial } = walk.sources.state
  const known = ArtifactState.get(artifacts, ref)
  const node = nodeOf(id, ref, at, known)
  walk.nodes.set(id, node)
  walk.waiting.push(() => {
    visitOrigin(walk, id, known, visitCall)
    for (const parent of new Set(known?.parentRefs)) visit(walk, id, parent, node.seq, "derived", [], visitCall)
  })
}

/** What a call read, and what it said that its own artifacts are derived from. */
export const visitCall = (
  walk: Walk,
  from: string,
  call: Pick<ArtifactState.Place, "iteration" | "toolCallId">,
  calledSeq: number,
  visitCall: VisitCall
): void => {
  const { artifacts } = walk.sources.state
  if (artifacts === undefined) return
  const { minted, read } = indexOf(artifacts)
  const key = keyOf(call)
  const reads = read.get(key) ?? []
  for (const known of reads) {
    const own = known.reads.filter((place) => keyOf(place) === key)
    const isLook = own.every(({ via }) => via === "head")
    const named = Array.from(new Set(own.flatMap(({ argument }) => argument ?? []).map(Printable.line)))
    const by = isLook ? ["its ticket alone"] : named
    visit(walk, from, known.ref, own[0]?.seq ?? calledSeq, "read", by, visitCall)
  }
  const seen = new Set(reads.map(({ ref }) => ref))
  for (const { minted: place, parentRefs = [] } of minted.get(key) ?? []) {
    for (const ref of parentRefs) {
      if (seen.has(ref)) continue
      seen.add(ref)
      visit(walk, from, ref, place?.seq ?? calledSeq, "derived", [], visitCall)
    }
  }
}
