/**
 * A `FindingState` is where a run stands with its findings: the ledger, and the conversation as the model reads it with
 * handles before results and tickets in place of judged ones. A run without findings has none.
 *
 * @internal
 */
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import * as CallOutcome from "./CallOutcome.ts"
import * as Digest from "./Digest.ts"
import type * as Event from "./Event.ts"
import type * as FindingEvent from "./FindingEvent.ts"
import * as FindingFold from "./FindingFold.ts"
import * as FindingResult from "./FindingResult.ts"
import type * as FindingRow from "./FindingRow.ts"
import * as FindingWire from "./FindingWire.ts"
import type * as Wire from "./Wire.ts"

/** Where a result stands in the conversation, and its name there. */
interface Place {
  readonly index: number
  readonly handle: string
}

export interface FindingState {
  readonly config: Event.Findings
  readonly ledger: FindingWire.Ledger
  /** Each message as it is sent, and the rolled digest of all up to it. */
  readonly served: ReadonlyArray<Wire.MessagePiece>
  readonly rolls: ReadonlyArray<string>
  readonly places: HashMap.HashMap<string, Place>
  /** The ids of all calls, of which none may come again. */
  readonly callIds: HashSet.HashSet<string>
  /** The characters that each ticket saves, now and on the wire that was sent last. */
  readonly tickets: HashMap.HashMap<string, number>
  readonly ticketsSent: HashMap.HashMap<string, number>
  /** The keys of the conflicts that are on the record, and of those that were when the wire was sent last. */
  readonly conflicted: HashSet.HashSet<string>
  readonly conflictedSent: HashSet.HashSet<string>
  /** How much of what the last reply declares and uses is on the record. */
  readonly filed: number
  /** What the next pass has said so far. */
  readonly decided: ReadonlyArray<FindingEvent.Served>
  readonly lastServed?: { readonly seq: number; readonly event: FindingEvent.FindingsServed }
}

export const open = (config: Event.Findings): FindingState => ({
  config,
  ledger: { rows: [], fold: FindingFold.empty, results: [] },
  served: [],
  rolls: [],
  places: HashMap.empty(),
  callIds: HashSet.empty(),
  tickets: HashMap.empty(),
  ticketsSent: HashMap.empty(),
  conflicted: HashSet.empty(),
  conflictedSent: HashSet.empty(),
  filed: 0,
  decided: []
})

const rolledFrom = (
  served: ReadonlyArray<Wire.MessagePiece>,
  rolls: ReadonlyArray<string>,
  from: number
): ReadonlyArray<string> => {
  const next = rolls.slice(0, from)
  let rolled = next.at(-1) ?? ""
  for (const { hash } of served.slice(from)) {
    rolled = Digest.roll(rolled, hash)
    next.push(rolled)
  }
  return next
}

/** Messages join the conversation: results get a handle, and are whole unless they were judged before they came. */
export const say = (self: FindingState, pieces: ReadonlyArray<Wire.MessagePiece>): FindingState => {
  const { config } = self
  const results = Array.from(self.ledger.results)
  let { callIds, places, tickets } = self
  const served = Array.from(self.served)
  for (const piece of pieces) {
    const { message } = piece
    if (message.role === "assistant") {
      for (const { toolCallId } of message.toolCalls) callIds = HashSet.add(callIds, toolCallId)
    }
    if (message.role !== "tool" || !CallOutcome.hasRun(message.outcome)) {
      served.push(piece)
      continue
    }
    const { toolCallId } = message
    results.push(FindingResult.make(message, piece))
    // An id that came twice, in what was carried, keeps its first handle.
    const handle = Option.getOrUndefined(HashMap.get(places, toolCallId))?.handle ?? `r${results.length}`
    places = HashMap.set(places, toolCallId, { index: served.length, handle })
    const form = FindingWire.formed(self.ledger, config, message, handle)
    if (form.saved > 0) tickets = HashMap.set(tickets, toolCallId, form.saved)
    served.push(FindingWire.withContent(piece, form.content))
  }
  const rolls = rolledFrom(served, self.rolls, self.served.length)
  return { ...self, ledger: { ...self.ledger, results }, served, rolls, places, callIds, tickets }
}

/** The last message, as it was given in the end. */
export const retell = (self: FindingState, piece: Wire.MessagePiece): FindingState => {
  const served = [...self.served.slice(0, -1), piece]
  return { ...self, served, rolls: rolledFrom(served, self.rolls, served.length - 1) }
}

/** Results leave the window: they are served no more, and no ticket is sent for them. */
export const trim = (self: FindingState, results: ReadonlyArray<{ readonly toolCallId: string }>): FindingState => {
  const before = self.ledger.gone ?? HashSet.empty()
  const gone = results.reduce((all, { toolCallId }) => HashSet.add(all, toolCallId), before)
  const isServed = (_: number, id: string): boolean => !HashSet.has(gone, id)
  return {
    ...self,
    ledger: { ...self.ledger, gone },
    tickets: HashMap.filter(self.tickets, isServed),
    ticketsSent: HashMap.filter(self.ticketsSent, isServed)
  }
}

/** The conversation after results were judged. `messages` are those of the record. */
const restyle = (
  self: FindingState,
  messages: ReadonlyArray<Wire.MessagePiece>,
  ids: ReadonlyArray<string>
): FindingState => {
  const { config, ledger, places } = self
  let { tickets } = self
  const served = Array.from(self.served)
  let from = served.length
  for (const id of ids) {
    const place = Option.getOrUndefined(HashMap.get(places, id))
    const piece = place === undefined ? undefined : messages[place.index]
    if (place === undefined || piece?.message.role !== "tool") continue
    const { content, saved } = FindingWire.formed(ledger, config, piece.message, place.handle)
    if (served[place.index]?.message.content === content) continue
    tickets = saved > 0 ? HashMap.set(tickets, id, saved) : HashMap.remove(tickets, id)
    served[place.index] = FindingWire.withContent(piece, content)
    from = Math.min(from, place.index)
  }
  if (from === served.length) return self
  return { ...self, served, rolls: rolledFrom(served, self.rolls, from), tickets }
}

const add = (self: FindingState, rows: ReadonlyArray<FindingRow.Row>): FindingState => ({
  ...self,
  ledger: {
    ...self.ledger,
    rows: [...self.ledger.rows, ...rows],
    fold: rows.reduce((fold, row) => FindingFold.step(fold, row), self.ledger.fold)
  }
})

const file = (
  self: FindingState,
  event: FindingEvent.Filed,
  messages: ReadonlyArray<Wire.MessagePiece>
): FindingState => {
  switch (event._tag) {
    case "FindingDeclared": {
      const ids = event.rows.flatMap((row) => (row.kind === "standing" ? [row.toolCallId] : []))
      return restyle(add(self, event.rows), messages, ids)
    }
    case "FindingRejected":
      return self
    case "FindingConflicted":
      return { ...self, conflicted: HashSet.add(self.conflicted, JSON.stringify(event.key)) }
    case "ContingencyFiled":
      return event.row === undefined ? self : add(self, [event.row])
    case "UnsettledFiled":
      return add(self, [event.row])
  }
}

/** The state after an event about findings, which is the `seq`th of the record. */
export const step = (
  self: FindingState,
  event: FindingEvent.FindingEvent,
  { messages, seq }: { readonly messages: ReadonlyArray<Wire.MessagePiece>; readonly seq: number }
): FindingState => {
  switch (event._tag) {
    case "FindingsServed":
      return { ...self, decided: [...self.decided, event], lastServed: { seq, event } }
    case "FindingsCollapsed":
      return { ...self, decided: [...self.decided, event] }
    default:
      return { ...file(self, event, messages), filed: self.filed + 1 }
  }
}

/** The model is asked: what it reads now is what its next declarations are about. */
export const commit = (self: FindingState): FindingState => ({
  ...self,
  ticketsSent: self.tickets,
  conflictedSent: self.conflicted,
  filed: 0,
  decided: []
})
