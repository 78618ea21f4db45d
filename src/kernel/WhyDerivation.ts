/**
 * A `WhyDerivation` leads from a number that no piece held to those that it was worked out of.
 *
 * @internal
 */
import type { DerivationNode, Gap, ValueNode } from "./Chain.ts"
import * as Derivation from "./Derivation.ts"
import * as PieceText from "./PieceText.ts"
import * as Printable from "./Printable.ts"
import * as Sources from "./Sources.ts"
import * as WhyDerived from "./WhyDerived.ts"
import type * as WhyWalk from "./WhyWalk.ts"
import * as Written from "./Written.ts"
import type * as WireNumber from "./WireNumber.ts"

/** Where the model wrote a value. */
export interface Place {
  readonly seq: number
  readonly pass: number
  readonly place: ValueNode["place"]
  readonly prefix?: string
}

type Walk = WhyWalk.Walk

/** The ways on. */
export interface Visits {
  readonly value: (walk: Walk, place: Place, written: Written.Written) => string
  readonly carrier: (walk: Walk, from: string, pass: number, found: Sources.Found) => void
}

/** The text that a place is in, as it is to be read. */
const textAt = ({ sources }: Walk, { place, prefix, seq }: Place): string | undefined => {
  const event = sources.events[seq]
  if (event?._tag !== "ModelReplied") return undefined
  if (place === "reply") return event.content
  if (place !== "arguments") return undefined
  const call = event.toolCalls.find(({ toolCallId }) => `:${Printable.line(toolCallId)}` === prefix)
  return call === undefined ? undefined : Sources.readable(call.args)
}

const accounts = new WeakMap<Sources.Sources, Map<string, WhyDerived.Account>>()

const accountOf = ({ sources }: Walk, { pass, place, prefix = "", seq }: Place, text: string): WhyDerived.Account => {
  const known = accounts.get(sources) ?? new Map<string, WhyDerived.Account>()
  accounts.set(sources, known)
  const key = `${seq}:${place}${prefix}`
  const account = known.get(key) ?? WhyDerived.of(sources, Sources.onWire(sources, pass), pass, text)
  known.set(key, account)
  return account
}

type Candidate = Derivation.Candidate<WhyDerived.Input>

/** The numbers of a piece that a derivation rests on, as a carrier of them. */
const foundOf = (numbers: ReadonlyArray<WireNumber.WireNumber>): ReadonlyArray<Sources.Found> => {
  const pieces = new Set(numbers.map(({ piece }) => piece))
  return Array.from(pieces).map((piece) => {
    const own = numbers.filter((one) => one.piece === piece)
    const tokens = own.map(({ end, start, text }) => ({ token: { text, value: text, start, end }, by: [] }))
    return { piece, part: "text", text: PieceText.of(piece), tokens }
  })
}

const visitCandidate = (
  walk: Walk,
  from: string,
  place: Place,
  candidate: Candidate,
  grounds: "derived" | "proximity",
  visits: Visits
): void => {
  const { basis, op, terms } = candidate
  const formula = Printable.line(Derivation.formula(candidate))
  const id = `${from}=${op}:${formula}`
  const node: DerivationNode = { kind: "derivation", id, pass: place.pass, seq: place.seq, op, basis, formula }
  if (walk.nodes.has(id)) return
  walk.nodes.set(id, node)
  walk.edges.push({ from, to: id, grounds, by: [op], formula })
  for (const { of } of terms) {
    if (of.kind === "wire" || !/\d/.test(of.said.token.value)) continue
    walk.edges.push({
      from: id,
      to: visits.value(walk, place, Written.ofToken(of.said.token)),
      grounds: "said",
      by: []
    })
  }
  const numbers = terms.flatMap(({ of }) => (of.kind === "wire" ? [of.number] : []))
  for (const found of foundOf(numbers)) visits.carrier(walk, id, place.pass, found)
}

const mostTold = 3

const ambiguous = (walk: Walk, at: string, outcome: WhyDerived.Derived, value: string, pass: number): void => {
  if (outcome._tag !== "Ambiguous" && outcome._tag !== "Chance") return
  const formulas = outcome.candidates.map((one) => Printable.line(Derivation.formula(one)))
  const more = formulas.length - mostTold
  const told = `${formulas.slice(0, mostTold).join(", or ")}${more > 0 ? `, or ${more} more` : ""}`
  const why =
    outcome._tag === "Ambiguous"
      ? "nothing tells which"
      : "so many others could be made of what was there that this may be chance"
  const what = `No spelling of ${Printable.quote(value)} was on the wire of pass ${pass}. It could be ${told}: ${why}.`
  const gap: Gap = { kind: "ambiguous", at, what }
  walk.gaps.push(gap)
}

/** Whether anything is told of how a number comes about that no piece held. */
export const visit = (
  walk: Walk,
  id: string,
  place: Place,
  { start, text }: { readonly text: string; readonly start: number },
  visits: Visits
): boolean => {
  const whole = textAt(walk, place)
  if (whole === undefined || !/\d/.test(text)) return false
  const { derived, isCut } = accountOf(walk, place, whole)
  const outcome = derived.get(start)
  if (isCut && outcome?._tag !== "Found") {
    const what = "There is more that this number could be worked out of than is tried: not all of it was."
    walk.gaps.push({ kind: "limit", at: id, what })
  }
  switch (outcome?._tag) {
    case "Found":
      visitCandidate(walk, id, place, outcome.candidate, "derived", visits)
      return true
    case "Ambiguous":
    case "Chance":
      ambiguous(walk, id, outcome, text, place.pass)
      if (walk.options.likely === true) {
        for (const one of outcome.candidates.slice(0, mostTold))
          visitCandidate(walk, id, place, one, "proximity", visits)
      }
      return true
    default:
      return false
  }
}
