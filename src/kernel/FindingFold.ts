/**
 * A `FindingFold` is what a run's rows come to: the standing of each result now, where current facts contradict each
 * other, and what absences left unsettled.
 *
 * A step costs the same however many came before it, and a fold stays as it is when others follow from it: what is
 * asked of it is computed then, once.
 *
 * @internal
 */
import { dual } from "effect/Function"
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Assertion from "./Assertion.ts"
import * as CallOutcome from "./CallOutcome.ts"
import type * as FindingRow from "./FindingRow.ts"
import * as Json from "./Json.ts"
import type * as Message from "./Message.ts"

/** `epoch` is `null` while assertions have none. */
export type Key = readonly [kind: string, id: string, predicate: string, epoch: null]

/** An assertion with the row that has it. */
export interface Witness extends FindingRow.Assertion {
  readonly row: FindingRow.Standing
}

/** Current facts give one thing two or more values. All that speak of it are here, in row order; none is preferred. */
export interface Conflict {
  readonly key: Key
  readonly assertions: ReadonlyArray<Witness>
}

interface Named {
  readonly at: number
  readonly row: FindingRow.Standing
}

/** What steps build on. */
interface Kept {
  readonly standings: HashMap.HashMap<string, Named>
  readonly unsettled: HashMap.HashMap<string, FindingRow.Unsettled>
}

/** The maps go from call id to row, and iterate in the order in which results were first named. */
export interface Fold {
  readonly standingOf: ReadonlyMap<string, FindingRow.Standing>
  readonly hasStanding: boolean
  readonly conflicts: ReadonlyArray<Conflict>
  readonly unsettled: ReadonlyMap<string, FindingRow.Unsettled>
  readonly kept: Kept
}

const once = <A>(compute: () => A): (() => A) => {
  let computed: { readonly value: A } | undefined
  return () => (computed ??= { value: compute() }).value
}

const keyOf = ({ predicate, subject }: FindingRow.Assertion): Key => [subject.kind, subject.id, predicate, null]

const written = ({ value }: Witness): string => Either.getOrElse(Json.canonical(value), () => "")

const conflictsOf = (standings: Iterable<FindingRow.Standing>): ReadonlyArray<Conflict> => {
  const facts = Array.from(standings)
    .filter(({ standing }) => standing === "fact")
    .sort((one, other) => one.seq - other.seq)
  const witnesses = facts.flatMap((row) => row.assertions.map((assertion): Witness => ({ ...assertion, row })))
  return Assertion.contested(witnesses, (witness) => JSON.stringify(keyOf(witness)), written).map(({ group }) => ({
    key: keyOf(group[0]),
    assertions: group
  }))
}

const make = (kept: Kept): Fold => {
  const standingOf = once(() => {
    const named = Array.from(HashMap.values(kept.standings)).sort((one, other) => one.at - other.at)
    return new Map(named.map(({ row }) => [row.toolCallId, row]))
  })
  const conflicts = once(() => conflictsOf(standingOf().values()))
  const unsettled = once(
    () =>
      new Map(
        Array.from(standingOf().values()).flatMap(({ standing, toolCallId }) => {
          const row = HashMap.get(kept.unsettled, toolCallId)
          return standing === "ruled-out" && Option.isSome(row) ? [[toolCallId, row.value] as const] : []
        })
      )
  )
  return {
    get standingOf() {
      return standingOf()
    },
    hasStanding: !HashMap.isEmpty(kept.standings),
    get conflicts() {
      return conflicts()
    },
    get unsettled() {
      return unsettled()
    },
    kept
  }
}

export const empty: Fold = make({ standings: HashMap.empty(), unsettled: HashMap.empty() })

/** The fold with one more row. The latest standing of a result counts; contingent and basis rows change nothing. */
export const step: {
  (row: FindingRow.Row): (self: Fold) => Fold
  (self: Fold, row: FindingRow.Row): Fold
} = dual(2, (self: Fold, row: FindingRow.Row): Fold => {
  const { standings, unsettled } = self.kept
  switch (row.kind) {
    case "basis":
    case "contingent":
      return self
    case "standing": {
      const before = HashMap.get(standings, row.toolCallId)
      const at = Option.isSome(before) ? before.value.at : HashMap.size(standings)
      return make({ standings: HashMap.set(standings, row.toolCallId, { at, row }), unsettled })
    }
    case "unsettled":
      return make({ standings, unsettled: HashMap.set(unsettled, row.toolCallId, row) })
  }
})

/** The current standing of one result, at the cost of a lookup. */
export const standing = ({ kept }: Fold, toolCallId: string): FindingRow.Standing | undefined =>
  Option.getOrUndefined(HashMap.get(kept.standings, toolCallId))?.row

export const fold = (rows: Iterable<FindingRow.Row>): Fold => {
  let folded = empty
  for (const row of rows) folded = step(folded, row)
  return folded
}

/** The ids of the results in a conversation, each once, where it first stands. */
export const servedToolCallIds = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> => {
  const results = messages.flatMap((message) =>
    message.role === "tool" && CallOutcome.hasRun(message.outcome) ? [message.toolCallId] : []
  )
  return Array.from(new Set(results))
}

/** The served results that nobody named, in the order in which they are served. */
export const undeclared = (servedIds: ReadonlyArray<string>, { standingOf }: Fold): ReadonlyArray<string> =>
  Array.from(new Set(servedIds)).filter((id) => !standingOf.has(id))

/** The served results that default collapse leaves readable, newest first. */
export const offered = (servedIds: ReadonlyArray<string>, { standingOf }: Fold): ReadonlyArray<string> =>
  Array.from(new Set(servedIds))
    .filter((id) => {
      const row = standingOf.get(id)
      return row === undefined || row.standing === "fact" || row.standing === "open" || row.unknownId === true
    })
    .reverse()
