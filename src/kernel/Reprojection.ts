/**
 * A `Reprojection` is the wires of a recorded run, made once more by the code of now: from the record alone, or as an agent
 * composes them. Where one is not what the record says was sent, that is a drift.
 *
 * @since 0.1.0
 */
import type * as Event from "./Event.ts"
import * as Run from "./Run.ts"
import type * as State from "./State.ts"
import * as SummaryWire from "./SummaryWire.ts"
import * as WindowState from "./WindowState.ts"
import * as Wire from "./Wire.ts"
import * as WireHash from "./WireHash.ts"

/** A piece as one side has it. */
export interface Side {
  readonly id: string
  readonly hash: string
  /** The event that brought it in. */
  readonly seq: number
}

/**
 * The first pass that is not what it was. `seq` is the event that says what was sent, or, where the agent of now goes
 * another way, what was done.
 *
 * - `changed`: the record's events make another wire than it says was sent. `suspects` are the pieces that may be why.
 * - `composed`: the agent composes another wire. `recorded` and `now` are what stands in the first place that differs; of
 *   a `parameters` slot there is neither.
 * - `went`: the agent does not do what was done there. `now` is absent, `instead` is what it would do.
 */
export interface PassDrift {
  readonly kind: "changed" | "composed" | "went"
  readonly pass: number
  readonly seq: number
  readonly recordedHash?: string
  readonly projectedHash?: string
  readonly slot?: Wire.Drift["slot"]
  /** Its place in the slot, from 0. */
  readonly index?: number
  readonly recorded?: Side
  readonly now?: Side
  readonly suspects: ReadonlyArray<string>
  readonly instead?: Run.Command["_tag"]
}

export interface Reprojected {
  readonly state: State.State
  /** Wires that were made again, up to the first that drifted: those of passes and those of summaries. */
  readonly wires: number
  readonly drift?: PassDrift
}

const sideOf = (piece: Wire.Piece | undefined): Side | undefined =>
  piece === undefined ? undefined : { id: piece.id, hash: WireHash.ofPiece(piece), seq: piece.seq }

const piecesOf = ({ messages, system, tools }: Wire.Wire): ReadonlyArray<Wire.Piece> => [
  ...system,
  ...messages,
  ...tools
]

/** The pieces of a wire that the record may be wrong about: those whose own hash does not hold, or else those that came since `before`. */
const suspectsOf = (wire: Wire.Wire, before: Wire.Wire | undefined): ReadonlyArray<Wire.Piece> => {
  const pieces = piecesOf(wire)
  const broken = pieces.filter((piece) => piece.hash !== WireHash.ofPiece(piece))
  if (broken.length > 0) return broken
  const known = new Set(before === undefined ? [] : piecesOf(before).map(({ hash, id }) => `${id} ${hash}`))
  return pieces.filter(({ hash, id }) => !known.has(`${id} ${hash}`))
}

/** A declaration before `seq` that is not what its hash says: it is on no wire. */
const lawless = (
  { violations }: State.State,
  events: ReadonlyArray<Event.Event>,
  before: number
): Pick<PassDrift, "slot" | "suspects"> | undefined => {
  for (const { seq } of violations) {
    const event = seq < before ? events[seq] : undefined
    if (event?._tag === "PieceDeclared") return { slot: "system", suspects: [event.id] }
    if (event?._tag === "ToolDeclared") return { slot: "tools", suspects: [`tool:${event.name}`] }
  }
  return undefined
}

/** Hashes wires, and each of their pieces once. */
const hashing = () => {
  const known = new Map<Wire.Piece, string>()
  const of = (piece: Wire.Piece): string => {
    const found = known.get(piece) ?? WireHash.ofPiece(piece)
    known.set(piece, found)
    return found
  }
  return ({ messages, parameters, system, tools }: Wire.Wire): string =>
    WireHash.ofHashes({ system: system.map(of), messages: messages.map(of), tools: tools.map(of) }, parameters)
}

/** Each wire from its events, by the projection of now, against the hash that the record has of it. */
export const ofRecord = (events: ReadonlyArray<Event.Event>): Reprojected => {
  const state = Run.fold(events)
  const hash = hashing()
  let before: Wire.Wire | undefined
  let wires = 0
  for (const mark of WindowState.wires(state).toSorted((a, b) => a.seq - b.seq)) {
    const { iteration, recordedHash, seq } = mark
    const summary = state.window?.summaries.find((one) => one.seq === seq)
    const wire = summary === undefined ? Wire.project(state, iteration) : SummaryWire.project(summary)
    const projectedHash = hash(wire)
    if (projectedHash !== recordedHash || mark.projectedHash !== recordedHash) {
      const suspects = suspectsOf(wire, summary === undefined ? before : undefined)
      const [only] = suspects.length === 1 ? suspects : []
      const now = sideOf(only)
      const named = lawless(state, events, seq) ?? {
        ...(only === undefined ? {} : { slot: only.slot }),
        ...(now === undefined ? {} : { now }),
        suspects: suspects.map(({ id }) => id)
      }
      const found = projectedHash === recordedHash ? mark.projectedHash : projectedHash
      const drift: PassDrift = { kind: "changed", pass: iteration, seq, recordedHash, projectedHash: found, ...named }
      return { state, wires, drift }
    }
    wires++
    if (summary === undefined) before = wire
  }
  return { state, wires }
}

/** What a decision of a pass is written with, before the model is asked. */
const composing: ReadonlySet<Event.Event["_tag"]> = new Set<Event.Event["_tag"]>([
  "PieceDeclared",
  "ToolDeclared",
  "PiecesSelected",
  "CursorMoved",
  "RouteConflicted",
  "StepReached",
  "MapEngaged",
  "MapParked",
  "MapsIdled",
  "SkillSuperseded",
  "WindowTrimmed",
  "FindingsServed",
  "FindingsCollapsed",
  "FaultFound"
])

/** Where a pass was composed, and the events it was composed with: a run that is cut there goes on with the pass. */
export interface Composed {
  readonly pass: number
  /** How many events stand before it. */
  readonly events: number
  readonly state: State.State
}

/** Every pass with the state that it was composed from, in order. */
export const composed = (events: ReadonlyArray<Event.Event>): ReadonlyArray<Composed> => {
  const all: Array<Composed> = []
  let state = Run.initial
  let base: Omit<Composed, "pass"> = { events: 0, state }
  for (const [index, event] of events.entries()) {
    if (event._tag === "ModelCalled") all.push({ pass: event.iteration, ...base })
    state = Run.step(state, event)
    if (!composing.has(event._tag)) base = { events: index + 1, state }
  }
  return all
}

/** How an agent decides, where its model took the schema of answers with the parameters that are given, or did not. */
export type Decider = (parameters: Event.Parameters) => Omit<Run.Spec, "elapsedMs" | "limits" | "provider" | "model">

/**
 * What the agent does at a place of the run, of which the record says `wanted`. What stopped the run, or did not, is a fact of
 * it and no question of how it is composed: time is not looked at, and limits as far as they come to what is wanted.
 */
const decided = (
  decider: Decider,
  base: State.State,
  parameters: Event.Parameters,
  wanted: (command: Run.Command) => boolean
): Run.Decision => {
  const { wallTimeMs: _, ...limits } = base.started?.manifest.limits ?? {}
  const spec = { ...decider(parameters), elapsedMs: 0 }
  const limited = Run.decide({ ...spec, limits }, base)
  return wanted(limited.command) ? limited : Run.decide({ ...spec, limits: {} }, base)
}

const went = (decision: Run.Decision, pass: number, seq: number, recordedHash?: string): PassDrift => ({
  kind: "went",
  pass,
  seq,
  ...(recordedHash === undefined ? {} : { recordedHash }),
  suspects: [],
  instead: decision.command._tag
})

const differing = (
  recorded: Wire.Wire,
  now: Wire.Wire,
  at: Pick<PassDrift, "pass" | "seq" | "recordedHash" | "projectedHash">
): PassDrift => {
  const found = Wire.diff(recorded, now)
  const sides = (wire: Wire.Wire): Side | undefined =>
    found === undefined || found.slot === "parameters" ? undefined : sideOf(wire[found.slot][found.index])
  const [left, right] = [sides(recorded), sides(now)]
  return {
    kind: "composed",
    ...at,
    ...(found === undefined ? {} : { slot: found.slot, index: found.index }),
    ...(left === undefined ? {} : { recorded: left }),
    ...(right === undefined ? {} : { now: right }),
    suspects: [right?.id ?? left?.id ?? []].flat()
  }
}

/**
 * Each pass as the agent of now composes it from what the record holds up to there, against what was sent; and whether it
 * takes the answer that was taken. Decides only: nothing is called.
 */
export const ofAgent = (decider: Decider, events: ReadonlyArray<Event.Event>): Reprojected => {
  const alone = ofRecord(events)
  let state = Run.initial
  let base = state
  let wires = 0
  const over = (drift: PassDrift): Reprojected => ({ state: alone.state, wires, drift })
  for (const [seq, event] of events.entries()) {
    const pass = base.iteration + 1
    const before = base
    state = Run.step(state, event)
    if (!composing.has(event._tag)) base = state
    if (alone.drift !== undefined && seq >= alone.drift.seq) return over(alone.drift)
    if (event._tag === "ModelCalled") {
      const { iteration, wireHash: recordedHash } = event
      const recorded = Wire.project(state, iteration)
      const isCall = ({ _tag }: Run.Command): boolean => _tag === "CallModel"
      const decision = decided(decider, before, recorded.parameters, isCall)
      const { command } = decision
      if (command._tag !== "CallModel") return over(went(decision, pass, seq, recordedHash))
      const projectedHash = Wire.hash(command.wire)
      if (projectedHash !== recordedHash) {
        return over(differing(recorded, command.wire, { pass, seq, recordedHash, projectedHash }))
      }
      wires++
    }
    if (event._tag === "SummaryAsked") {
      const { wireHash: recordedHash } = event
      const parameters = before.marks.at(-1)?.parameters ?? {}
      const decision = decided(decider, before, parameters, ({ _tag }) => _tag === "Summarize")
      const { command } = decision
      if (command._tag !== "Summarize") return over(went(decision, pass, seq, recordedHash))
      const projectedHash = Wire.hash(command.wire)
      const asked = WindowState.asking(state)
      if (projectedHash !== recordedHash && asked !== undefined) {
        return over(differing(SummaryWire.project(asked), command.wire, { pass, seq, recordedHash, projectedHash }))
      }
      wires++
    }
    if (event._tag === "Answered") {
      const parameters = before.marks.at(-1)?.parameters ?? {}
      const isTaken = ({ _tag }: Run.Command) => _tag === "Finish" || _tag === "ReadAnswer" || _tag === "ReadClaims"
      const decision = decided(decider, before, parameters, isTaken)
      if (!isTaken(decision.command)) return over(went(decision, event.iteration, seq))
    }
  }
  return { state: alone.state, wires }
}
