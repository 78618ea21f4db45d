/**
 * A `WhyBoundary` is the way from what an answer was given with to the calls whose results declared it.
 *
 * @internal
 */
import type * as Boundary from "./Boundary.ts"
import type * as Coverage from "./Coverage.ts"
import * as Sources from "./Sources.ts"
import * as Value from "./Value.ts"
import * as WhyWalk from "./WhyWalk.ts"
import type * as Written from "./Written.ts"

const textsOf = ({ cannotCover, checked, notChecked }: Coverage.Coverage): ReadonlyArray<string> =>
  [...checked, ...notChecked, ...cannotCover].flatMap(({ what, why }) => (why === undefined ? [what] : [what, why]))

const holds = (text: string, { phrase, text: value }: Written.Written): boolean =>
  phrase
    ? Sources.find(text, value) !== -1
    : Value.tokens(text).some((token) => Value.match(token.text, value) !== undefined)

/** A value of a boundary, whose offsets are into its text. What no call declared is the runtime's own, as a heading is. */
export const visit = (walk: WhyWalk.Walk, boundary: Boundary.Boundary, value: Written.Written): void => {
  const { answered } = walk.sources.state
  if (answered === undefined) return
  const seq = walk.sources.events.indexOf(answered)
  const start = boundary.start + value.start
  const end = boundary.start + value.end
  const id = `value:${seq}:boundary:${start}-${end}`
  if (walk.nodes.has(id)) return
  const { iteration: pass } = answered
  walk.nodes.set(id, { kind: "value", id, value: value.text, pass, seq, place: "boundary", start, end })
  walk.waiting.push(() => {
    const declared = boundary.declared.filter((one) => textsOf(one).some((text) => holds(text, value)))
    if (declared.length === 0) WhyWalk.visitRoot(walk, id, "runtime", seq, "the runtime's own words, after the answer")
    for (const { iteration, toolCallId } of declared) {
      const settledSeq = walk.sources.events.findIndex(
        (event) => event._tag === "ToolSettled" && event.iteration === iteration && event.toolCallId === toolCallId
      )
      const settled = walk.sources.events[settledSeq]
      if (settled?._tag !== "ToolSettled") continue
      const call = WhyWalk.visitSettled(walk, settled, settledSeq, WhyWalk.calledAt(walk, settled, settledSeq))
      WhyWalk.edge(walk, id, call, "declared")
    }
  })
}
