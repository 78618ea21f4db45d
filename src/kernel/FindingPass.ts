/**
 * A `FindingPass` is what a pass files and says of findings: what its reply declares and uses, and what the next wire is
 * served. Pure; made again from the same record, it is the same, less what is on the record already.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as Answering from "./Answering.ts"
import * as CallArguments from "./CallArguments.ts"
import * as Event from "./Event.ts"
import type * as FindingEvent from "./FindingEvent.ts"
import * as FindingFiling from "./FindingFiling.ts"
import * as FindingFold from "./FindingFold.ts"
import * as FindingRead from "./FindingRead.ts"
import type * as FindingRow from "./FindingRow.ts"
import * as FindingWire from "./FindingWire.ts"
import * as Json from "./Json.ts"
import type * as State from "./State.ts"
import type * as Value from "./Value.ts"
import type * as Wire from "./Wire.ts"

const valuesOf = new WeakMap<object, ReadonlySet<string>>()

/** The values of a text, read once for what holds it. */
const valuesIn = (holder: object, text: string): ReadonlySet<string> => {
  const known = valuesOf.get(holder) ?? FindingFiling.valuesOf(text)
  valuesOf.set(holder, known)
  return known
}

/** Whether a person or the application supplied a value. */
const isExempt =
  ({ messages, pieces }: State.State) =>
  (value: string): boolean =>
    messages.some(
      ({ message, origin }) =>
        message.role === "user" && Event.isAuthor(origin) && valuesIn(message, message.content).has(value)
    ) || pieces.some(({ declared }) => Event.isAuthor(declared.origin) && valuesIn(declared, declared.text).has(value))

/** A conflict names this many of the results that speak of it, so that its event has a bound. */
const mostWitnesses = 64

/** What has been filed of a reply so far, and the rows that it comes to. */
interface Filing {
  readonly events: Array<FindingEvent.Filed>
  readonly servedIds: ReadonlyArray<string>
  readonly ledger: Wire.Served["ledger"]
  count: number
  fold: FindingFold.Fold
  readonly conflicted: Set<string>
}

const begin = (state: State.State, { ledger }: Wire.Served): Filing => ({
  events: [],
  servedIds: FindingWire.servedIds(ledger),
  ledger,
  count: ledger.rows.length,
  fold: ledger.fold,
  // What a reply files is the same from every prefix of it: not what it has filed itself.
  conflicted: new Set(state.findings?.conflictedSent)
})

const add = (filing: Filing, rows: ReadonlyArray<FindingRow.Row>): void => {
  filing.count += rows.length
  for (const row of rows) filing.fold = FindingFold.step(filing.fold, row)
}

const placeOf = (filing: Filing, iteration: number, declaredOn: FindingRow.DeclaredOn): FindingFiling.Place => ({
  seq: filing.count,
  rowCount: filing.count,
  iteration,
  declaredOn,
  results: filing.ledger.results
})

const declare = (
  filing: Filing,
  iteration: number,
  declaredOn: FindingRow.DeclaredOn,
  { declared, rejected }: FindingRead.Read<unknown>
): void => {
  const filed = FindingFiling.file(declared, filing.servedIds, placeOf(filing, iteration, declaredOn))
  const [first, ...rest] = filed.rows
  add(filing, [...filed.rows, ...filed.unsettled])
  if (first !== undefined) {
    filing.events.push({ _tag: "FindingDeclared", iteration, declaredOn, rows: [first, ...rest] })
  }
  for (const one of [...rejected, ...filed.rejected]) {
    filing.events.push({ _tag: "FindingRejected", iteration, declaredOn, ...one })
  }
  for (const row of filed.unsettled) filing.events.push({ _tag: "UnsettledFiled", iteration, row })
  if (!filed.rows.some((row) => row.kind === "standing" && row.standing === "fact")) return
  for (const { assertions, key } of filing.fold.conflicts) {
    if (filing.conflicted.has(JSON.stringify(key))) continue
    filing.conflicted.add(JSON.stringify(key))
    const told = assertions.slice(0, mostWitnesses)
    filing.events.push({
      _tag: "FindingConflicted",
      iteration,
      key,
      witnesses: told.map(({ row, value }) => ({ toolCallId: row.toolCallId, value })),
      ...(told.length === assertions.length ? {} : { more: assertions.length - told.length })
    })
  }
}

const use = (
  filing: Filing,
  state: State.State,
  iteration: number,
  declaredOn: FindingRow.DeclaredOn,
  used: unknown,
  options: Value.Options | undefined
): void => {
  if (!filing.fold.hasStanding) return
  const { overflow, rows } = FindingFiling.contingent(used, {
    ...(options === undefined ? {} : { options }),
    ...placeOf(filing, iteration, declaredOn),
    fold: filing.fold,
    isExempt: isExempt(state)
  })
  add(filing, rows)
  for (const [at, row] of rows.entries()) {
    const isLast = at === rows.length - 1 && overflow > 0
    filing.events.push({
      _tag: "ContingencyFiled",
      iteration,
      declaredOn,
      row,
      ...(isLast ? { overflow } : {})
    })
  }
  if (rows.length === 0 && overflow > 0)
    filing.events.push({ _tag: "ContingencyFiled", iteration, declaredOn, overflow })
}

/**
 * What the calls of the open reply declare and use, in their order, as far as it is not on the record: all of it before
 * any of them runs, by the standings and the results of the wire that the reply answers.
 */
export const ofCalls = (
  state: State.State,
  known: CallArguments.Known,
  options?: Value.Options
): ReadonlyArray<FindingEvent.Filed> => {
  const base = state.marks.at(-1)?.findings
  const { open } = state.transcript
  // All of it is on the record before the first call is started or settled.
  const isFiled = open === undefined || open.settled.length > 0 || state.startedCalls.length > 0
  if (base === undefined || isFiled) return []
  const filing = begin(state, base)
  for (const call of open.calls) {
    const read = CallArguments.read(call.args)
    if (Either.isLeft(read)) continue
    const isAnswer = Answering.isTool(state.started, call.toolName)
    const declaredOn = isAnswer ? ("answer" as const) : { toolCallId: call.toolCallId }
    const own = CallArguments.findings(known, call.toolName, read.right)
    declare(filing, state.iteration, declaredOn, own)
    if (CallArguments.toolOf(known, call.toolName) !== undefined)
      use(filing, state, state.iteration, declaredOn, own.args, options)
  }
  return filing.events.slice(state.findings?.filed)
}

/**
 * What a reply that would be the answer declares, and its values that rest on what is no fact, as far as they are not on
 * the record. JSON declares and uses whatever becomes of it, as a call does; a text declares nothing, and a call has been
 * filed.
 */
export const ofAnswer = (
  state: State.State,
  final: State.Final,
  options?: Value.Options
): ReadonlyArray<FindingEvent.Filed> => {
  const mark = state.marks.at(-1)
  const base = mark?.findings
  if (base === undefined || final.given?.by === "call") return []
  const filing = begin(state, base)
  if (mark?.parameters.answerSchema === undefined) {
    use(filing, state, final.iteration, "answer", final.content, options)
  } else {
    const read = CallArguments.read(final.content)
    if (Either.isLeft(read)) return []
    const own = FindingRead.read(read.right)
    declare(filing, final.iteration, "answer", own)
    use(filing, state, final.iteration, "answer", own.args, options)
  }
  return filing.events.slice(state.findings?.filed)
}

const without = ({ text: _, ...block }: FindingEvent.Block & { readonly text: string }): FindingEvent.Block => block

/** How many of each a ledger holds. */
export const counts = (ledger: FindingWire.Ledger): FindingEvent.Counts => {
  const { fold, rows } = ledger
  const standings = fold.standings
  const are = (word: FindingRow.StandingWord) => standings.filter(({ standing }) => standing === word).length
  const ids = FindingWire.servedIds(ledger)
  return {
    facts: are("fact"),
    open: are("open"),
    ruledOut: are("ruled-out"),
    noise: are("noise"),
    undeclared: FindingFold.undeclared(ids, fold).length,
    conflicts: fold.conflicts.length,
    contingent: rows.filter(({ kind }) => kind === "contingent").length,
    unsettled: fold.unsettled.size
  }
}

/** What the next pass says that it serves, where that differs from the wire before. */
export const served = (state: State.State): ReadonlyArray<FindingEvent.Served> => {
  if (state.findings === undefined) return []
  const { config, decided, lastServed, ledger, tickets, ticketsSent } = state.findings
  const iteration = state.iteration + 1
  const { offer, piece } = FindingWire.blocks(ledger, config)
  const before = lastServed?.event
  const isSame = before?.piece?.hash === piece?.hash && before?.offer?.hash === offer?.hash
  const ids = Array.from(HashMap.keys(tickets)).filter((id) => !HashMap.has(ticketsSent, id))
  const [first, ...rest] = Array.from(HashMap.keys(ticketsSent)).filter((id) => !HashMap.has(tickets, id))
  const all: ReadonlyArray<FindingEvent.Served> = [
    ...(isSame
      ? []
      : [
          {
            _tag: "FindingsServed" as const,
            iteration,
            ...(piece === undefined ? {} : { piece: without(piece) }),
            ...(offer === undefined ? {} : { offer: without(offer) }),
            counts: counts(ledger)
          }
        ]),
    ...(ids.length === 0 && first === undefined
      ? []
      : [
          {
            _tag: "FindingsCollapsed" as const,
            iteration,
            ids: ids.toSorted(),
            ...(first === undefined ? {} : { restored: [first, ...rest] as const }),
            charsSaved: HashMap.reduce(tickets, 0, (sum, saved) => sum + saved)
          }
        ])
  ]
  return all.filter((event) => !decided.some((one) => Json.equal(one, event)))
}
