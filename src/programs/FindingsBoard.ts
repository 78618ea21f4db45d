/**
 * A `FindingsBoard` is a run's ledger of findings as a person reads it: each row with the event that holds it, the result
 * that it is about, and the call that declared it. All of it is on the record or follows from its fold.
 *
 * @internal
 */
import type * as Event from "../kernel/Event.ts"
import type * as FindingEvent from "../kernel/FindingEvent.ts"
import * as FindingFold from "../kernel/FindingFold.ts"
import * as FindingHandle from "../kernel/FindingHandle.ts"
import * as FindingPass from "../kernel/FindingPass.ts"
import type * as FindingRow from "../kernel/FindingRow.ts"
import * as Run from "../kernel/Run.ts"
import * as Written from "../kernel/Written.ts"

/** Something with the event that holds it. */
export interface At<A> {
  readonly seq: number
  readonly it: A
}

/** A call, and its result if there is one. What the record does not know of it is absent. */
export interface Thing {
  readonly toolCallId: string
  readonly handle?: string
  readonly toolName?: string
  /** As the model wrote them, without what they declare. */
  readonly args?: string
  /** The pass that called it. A call that was carried from another run has none. */
  readonly pass?: number
  /** The event that holds the result. */
  readonly resultSeq?: number
}

export type Where = Thing | "answer"

/** The standing of a result now, and those that it had before. */
export interface Judged {
  readonly thing: Thing
  readonly declared: At<FindingRow.Standing>
  readonly on: Where
  readonly basis?: At<FindingRow.Basis>
  readonly before: ReadonlyArray<At<FindingRow.Standing>>
  /** The pass from which on a ticket was sent in its place, if the last wire had one. */
  readonly ticket?: At<number>
}

export interface Used {
  readonly row: At<FindingRow.Contingent>
  readonly on: Where
  readonly carriers: ReadonlyArray<{ readonly thing: Thing; readonly standing: FindingRow.StandingWord }>
}

export interface Left {
  readonly thing: Thing
  readonly row: At<FindingRow.Unsettled>
}

/** Facts that give one thing two values. `since` is the event that says so. */
export interface Contest {
  readonly key: FindingFold.Key
  readonly since?: At<number>
  readonly witnesses: ReadonlyArray<{ readonly thing: Thing; readonly value: unknown }>
}

export interface Dropped {
  readonly event: At<FindingEvent.FindingRejected>
  readonly on: Where
}

/** What a call was made for. */
export interface Tested {
  readonly thing: Thing
  readonly basis?: At<FindingRow.Basis>
}

export interface Board {
  readonly config: Event.Findings
  readonly counts: FindingEvent.Counts
  readonly judged: { readonly [W in FindingRow.StandingWord]: ReadonlyArray<Judged> }
  readonly contingent: ReadonlyArray<Used>
  /** How many uses were too many to be filed. */
  readonly overflow: number
  readonly unsettled: ReadonlyArray<Left>
  readonly conflicts: ReadonlyArray<Contest>
  /** Conflicts on the record that current facts do not have any more. */
  readonly resolved: ReadonlyArray<At<FindingEvent.FindingConflicted>>
  readonly rejected: ReadonlyArray<Dropped>
  readonly undeclared: ReadonlyArray<Tested>
  /** Calls that were made for something, and have no result. */
  readonly bases: ReadonlyArray<Tested>
  readonly served: ReadonlyArray<At<FindingEvent.Served>>
}

/** What is read off the events, one by one. */
interface Read {
  readonly things: Map<string, Omit<Thing, "toolCallId">>
  /** From the number of a row to the event that has it. */
  readonly seqOf: Map<number, number>
  readonly bases: Map<string, At<FindingRow.Basis>>
  readonly standings: Map<string, Array<At<FindingRow.Standing>>>
  readonly conflicted: Map<string, At<FindingEvent.FindingConflicted>>
  readonly rejected: Array<At<FindingEvent.FindingRejected>>
  readonly served: Array<At<FindingEvent.Served>>
  readonly tickets: Map<string, At<number>>
  overflow: number
}

const know = ({ things }: Read, toolCallId: string, thing: Omit<Thing, "toolCallId">): void => {
  things.set(toolCallId, { ...things.get(toolCallId), ...thing })
}

const declare = (read: Read, { rows }: FindingEvent.FindingDeclared, seq: number): void => {
  for (const row of rows) {
    read.seqOf.set(row.seq, seq)
    if (row.kind === "basis") {
      read.bases.set(row.toolCallId, { seq, it: row })
      continue
    }
    const standings = read.standings.get(row.toolCallId) ?? []
    standings.push({ seq, it: row })
    read.standings.set(row.toolCallId, standings)
  }
}

const readOne = (read: Read, event: Event.Event, seq: number): void => {
  switch (event._tag) {
    case "ModelReplied": {
      for (const { args, toolCallId, toolName } of event.toolCalls) {
        know(read, toolCallId, { toolName, args: Written.withoutFindings(args), pass: event.iteration })
      }
      return
    }
    case "MessageCarried": {
      const { message } = event
      if (message.role === "tool") know(read, message.toolCallId, { toolName: message.toolName, resultSeq: seq })
      if (message.role !== "assistant") return
      for (const { args, toolCallId, toolName } of message.toolCalls) {
        know(read, toolCallId, { toolName, args: Written.withoutFindings(args) })
      }
      return
    }
    case "ToolSettled":
      return know(read, event.toolCallId, { toolName: event.toolName, pass: event.iteration, resultSeq: seq })
    case "FindingDeclared":
      return declare(read, event, seq)
    case "FindingRejected":
      return void read.rejected.push({ seq, it: event })
    case "FindingConflicted":
      return void read.conflicted.set(JSON.stringify(event.key), { seq, it: event })
    case "ContingencyFiled":
      read.overflow += event.overflow ?? 0
      return event.row === undefined ? undefined : void read.seqOf.set(event.row.seq, seq)
    case "UnsettledFiled":
      return void read.seqOf.set(event.row.seq, seq)
    case "FindingsServed":
      return void read.served.push({ seq, it: event })
    case "FindingsCollapsed": {
      for (const id of event.ids) read.tickets.set(id, { seq, it: event.iteration })
      for (const id of event.restored ?? []) read.tickets.delete(id)
      return void read.served.push({ seq, it: event })
    }
  }
}

const readAll = (events: ReadonlyArray<Event.Event>): Read => {
  const read: Read = {
    things: new Map(),
    seqOf: new Map(),
    bases: new Map(),
    standings: new Map(),
    conflicted: new Map(),
    rejected: [],
    served: [],
    tickets: new Map(),
    overflow: 0
  }
  events.forEach((event, seq) => readOne(read, event, seq))
  return read
}

/** The board of a run, or nothing if its findings are off. */
export const make = (events: ReadonlyArray<Event.Event>): Board | undefined => {
  const { findings } = Run.fold(events)
  if (findings === undefined) return undefined
  const { config, ledger } = findings
  const { fold, rows } = ledger
  const ids = ledger.results.map(({ toolCallId }) => toolCallId)
  const { ofId } = FindingHandle.handles(ids)
  const read = readAll(events)

  const thingOf = (toolCallId: string): Thing => {
    const handle = ofId.get(toolCallId)
    return { toolCallId, ...(handle === undefined ? {} : { handle }), ...read.things.get(toolCallId) }
  }
  const whereOf = (on: FindingRow.DeclaredOn): Where => (on === "answer" ? on : thingOf(on.toolCallId))
  const at = <R extends FindingRow.Row>(row: R): At<R> => ({ seq: read.seqOf.get(row.seq) ?? 0, it: row })
  const testedBy = (toolCallId: string): Tested => {
    const basis = read.bases.get(toolCallId)
    return { thing: thingOf(toolCallId), ...(basis === undefined ? {} : { basis }) }
  }
  const judged = Array.from(fold.standingOf.values(), (row): Judged => {
    const { toolCallId } = row
    const ticket = read.tickets.get(toolCallId)
    return {
      ...testedBy(toolCallId),
      declared: at(row),
      on: whereOf(row.declaredOn),
      before: (read.standings.get(toolCallId) ?? []).slice(0, -1),
      ...(ticket === undefined ? {} : { ticket })
    }
  })
  const are = (word: FindingRow.StandingWord) => judged.filter(({ declared }) => declared.it.standing === word)
  const current = new Set(fold.conflicts.map(({ key }) => JSON.stringify(key)))
  const results = new Set(ids)

  return {
    config,
    counts: FindingPass.counts(ledger),
    judged: { fact: are("fact"), open: are("open"), "ruled-out": are("ruled-out"), noise: are("noise") },
    contingent: rows.flatMap((row): ReadonlyArray<Used> =>
      row.kind !== "contingent"
        ? []
        : [
            {
              row: at(row),
              on: whereOf(row.declaredOn),
              carriers: row.carriers.map(({ standing, toolCallId }) => ({ thing: thingOf(toolCallId), standing }))
            }
          ]
    ),
    overflow: read.overflow,
    unsettled: Array.from(fold.unsettled.values(), (row) => ({ thing: thingOf(row.toolCallId), row: at(row) })),
    conflicts: fold.conflicts.map(({ assertions, key }): Contest => {
      const said = read.conflicted.get(JSON.stringify(key))
      return {
        key,
        ...(said === undefined ? {} : { since: { seq: said.seq, it: said.it.iteration } }),
        witnesses: assertions.map(({ row, value }) => ({ thing: thingOf(row.toolCallId), value }))
      }
    }),
    resolved: Array.from(read.conflicted).flatMap(([key, event]) => (current.has(key) ? [] : [event])),
    rejected: read.rejected.map((event) => ({ event, on: whereOf(event.it.declaredOn) })),
    undeclared: FindingFold.undeclared(ids, fold).map(testedBy),
    bases: Array.from(read.bases.keys()).flatMap((id) =>
      results.has(id) || fold.standingOf.has(id) ? [] : [testedBy(id)]
    ),
    served: read.served
  }
}

/** How many entries of declarations were dropped. */
export const dropped = ({ rejected }: Pick<Board, "rejected">): number =>
  rejected.reduce((sum, { event }) => sum + (event.it.count ?? 1), 0)

/** The rows of the board, each as plain data that names its section. */
export const toJson = (board: Board): ReadonlyArray<unknown> => [
  ...Object.entries(board.judged).flatMap(([section, all]) =>
    all.map(({ basis, before, declared, on, thing, ticket }) => ({
      section,
      seq: declared.seq,
      of: thing,
      on,
      row: declared.it,
      ...(basis === undefined ? {} : { basis: { seq: basis.seq, row: basis.it } }),
      ...(before.length === 0 ? {} : { before: before.map(({ it, seq }) => ({ seq, row: it })) }),
      ...(ticket === undefined ? {} : { ticket: { seq: ticket.seq, pass: ticket.it } })
    }))
  ),
  ...board.contingent.map(({ carriers, on, row }) => ({
    section: "contingent",
    seq: row.seq,
    on,
    row: row.it,
    carriers: carriers.map(({ standing, thing }) => ({ of: thing, standing }))
  })),
  ...board.unsettled.map(({ row, thing }) => ({ section: "unsettled", seq: row.seq, of: thing, row: row.it })),
  ...board.conflicts.map(({ key, since, witnesses }) => ({
    section: "conflict",
    ...(since === undefined ? {} : { seq: since.seq, pass: since.it }),
    key,
    witnesses: witnesses.map(({ thing, value }) => ({ of: thing, value }))
  })),
  ...board.resolved.map(({ it, seq }) => ({ section: "resolved", seq, event: it })),
  ...board.rejected.map(({ event, on }) => ({ section: "rejected", seq: event.seq, on, event: event.it })),
  ...board.undeclared.map(({ basis, thing }) => ({
    section: "undeclared",
    of: thing,
    ...(basis === undefined ? {} : { basis: { seq: basis.seq, row: basis.it } })
  })),
  ...board.bases.map(({ basis, thing }) => ({
    section: "tested",
    of: thing,
    ...(basis === undefined ? {} : { basis: { seq: basis.seq, row: basis.it } })
  })),
  ...board.served.map(({ it, seq }) => ({ section: "served", seq, event: it }))
]
