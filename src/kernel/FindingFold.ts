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
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as CallOutcome from "./CallOutcome.ts"
import * as FindingConflicts from "./FindingConflicts.ts"
import type * as FindingRow from "./FindingRow.ts"
import type * as Message from "./Message.ts"

export type { Conflict, Key, Witness } from "./FindingConflicts.ts"

interface Named {
  readonly at: number
  readonly row: FindingRow.Standing
}

/** What steps build on. */
interface Kept {
  readonly standings: HashMap.HashMap<string, Named>
  readonly unsettled: HashMap.HashMap<string, FindingRow.Unsettled>
  readonly said: FindingConflicts.FindingConflicts
}

/** The maps go from call id to row; they and the list are in the order in which results were first named. */
export interface Fold {
  readonly standings: ReadonlyArray<FindingRow.Standing>
  readonly standingOf: ReadonlyMap<string, FindingRow.Standing>
  readonly hasStanding: boolean
  readonly conflicts: ReadonlyArray<FindingConflicts.Conflict>
  readonly unsettled: ReadonlyMap<string, FindingRow.Unsettled>
  readonly kept: Kept
}

const once = <A>(compute: () => A): (() => A) => {
  let computed: { readonly value: A } | undefined
  return () => (computed ??= { value: compute() }).value
}

const make = (kept: Kept): Fold => {
  const standings = once(() => {
    const named: Array<FindingRow.Standing> = []
    HashMap.forEach(kept.standings, ({ at, row }) => {
      named[at] = row
    })
    return named
  })
  const standingOf = once(() => {
    return new Map(standings().map((row) => [row.toolCallId, row]))
  })
  const conflicts = once(() => FindingConflicts.conflicts(kept.said))
  const unsettled = once(
    () =>
      new Map(
        standings().flatMap(({ standing, toolCallId }) => {
          const row = HashMap.get(kept.unsettled, toolCallId)
          return standing === "ruled-out" && Option.isSome(row) ? [[toolCallId, row.value] as const] : []
        })
      )
  )
  return {
    get standings() {
      return standings()
    },
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

export const empty: Fold = make({
  standings: HashMap.empty(),
  unsettled: HashMap.empty(),
  said: FindingConflicts.empty
})

/** The fold with one more row. The latest standing of a result counts; contingent and basis rows change nothing. */
export const step: {
  (row: FindingRow.Row): (self: Fold) => Fold
  (self: Fold, row: FindingRow.Row): Fold
} = dual(2, (self: Fold, row: FindingRow.Row): Fold => {
  const { said, standings, unsettled } = self.kept
  switch (row.kind) {
    case "basis":
    case "contingent":
      return self
    case "standing": {
      const before = HashMap.get(standings, row.toolCallId)
      const known = Option.getOrUndefined(before)
      const at = known?.at ?? HashMap.size(standings)
      return make({
        standings: HashMap.set(standings, row.toolCallId, { at, row }),
        unsettled,
        said: FindingConflicts.step(said, row, known?.row, at)
      })
    }
    case "unsettled":
      return make({ standings, unsettled: HashMap.set(unsettled, row.toolCallId, row), said })
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
export const undeclared = (servedIds: ReadonlyArray<string>, self: Fold): ReadonlyArray<string> =>
  Array.from(new Set(servedIds)).filter((id) => standing(self, id) === undefined)

/** The served results that default collapse leaves readable, newest first. */
export const offered = (servedIds: ReadonlyArray<string>, self: Fold): ReadonlyArray<string> =>
  Array.from(new Set(servedIds))
    .filter((id) => {
      const row = standing(self, id)
      return row === undefined || row.standing === "fact" || row.standing === "open" || row.unknownId === true
    })
    .reverse()
