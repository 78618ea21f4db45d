/**
 * `FindingConflicts` are what the current facts of a run say of each thing, kept so that one more row costs what the row
 * says, and asking for the conflicts costs what is contested.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import type * as FindingRow from "./FindingRow.ts"
import * as Json from "./Json.ts"

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

interface Placed {
  readonly witness: Witness
  /** The place of its result among all that were named, and its own in its row. */
  readonly at: number
  readonly index: number
}

interface Group {
  readonly byCall: HashMap.HashMap<string, ReadonlyArray<Placed>>
  /** How often each value is said. */
  readonly said: HashMap.HashMap<string, number>
}

export interface FindingConflicts {
  readonly groups: HashMap.HashMap<string, Group>
  readonly contested: HashSet.HashSet<string>
}

export const empty: FindingConflicts = { groups: HashMap.empty(), contested: HashSet.empty() }

const none: Group = { byCall: HashMap.empty(), said: HashMap.empty() }

const keyOf = ({ predicate, subject }: FindingRow.Assertion): Key => [subject.kind, subject.id, predicate, null]

const written = ({ value }: FindingRow.Assertion): string => Either.getOrElse(Json.canonical(value), () => "")

const groupOf = ({ groups }: FindingConflicts, key: string): Group =>
  Option.getOrElse(HashMap.get(groups, key), () => none)

const count = (said: Group["said"], value: string, by: 1 | -1): Group["said"] => {
  const left = Option.getOrElse(HashMap.get(said, value), () => 0) + by
  return left === 0 ? HashMap.remove(said, value) : HashMap.set(said, value, left)
}

const put = ({ contested, groups }: FindingConflicts, key: string, group: Group): FindingConflicts => ({
  groups: HashMap.isEmpty(group.byCall) ? HashMap.remove(groups, key) : HashMap.set(groups, key, group),
  contested: HashMap.size(group.said) > 1 ? HashSet.add(contested, key) : HashSet.remove(contested, key)
})

const assertionsOf = (row: FindingRow.Standing): ReadonlyArray<FindingRow.Assertion> =>
  row.standing === "fact" ? row.assertions : []

const without = (self: FindingConflicts, row: FindingRow.Standing): FindingConflicts =>
  assertionsOf(row).reduce((rest, assertion) => {
    const key = JSON.stringify(keyOf(assertion))
    const group = groupOf(rest, key)
    const byCall = HashMap.remove(group.byCall, row.toolCallId)
    return put(rest, key, { byCall, said: count(group.said, written(assertion), -1) })
  }, self)

/** What is said with one more row, in place of what its result had said before. `at` is the place of the result. */
export const step = (
  self: FindingConflicts,
  row: FindingRow.Standing,
  before: FindingRow.Standing | undefined,
  at: number
): FindingConflicts =>
  assertionsOf(row).reduce(
    (rest, assertion, index) => {
      const key = JSON.stringify(keyOf(assertion))
      const group = groupOf(rest, key)
      const own = Option.getOrElse(HashMap.get(group.byCall, row.toolCallId), (): ReadonlyArray<Placed> => [])
      const placed = { witness: { ...assertion, row }, at, index }
      const byCall = HashMap.set(group.byCall, row.toolCallId, [...own, placed])
      return put(rest, key, { byCall, said: count(group.said, written(assertion), 1) })
    },
    before === undefined ? self : without(self, before)
  )

const inOrder = (one: Placed, other: Placed): number =>
  one.witness.row.seq - other.witness.row.seq || one.at - other.at || one.index - other.index

/** The conflicts, in the order in which their keys first come. */
export const conflicts = (self: FindingConflicts): ReadonlyArray<Conflict> =>
  Array.from(self.contested)
    .flatMap((key) => {
      const all = Array.from(HashMap.values(groupOf(self, key).byCall))
        .flat()
        .toSorted(inOrder)
      const [first] = all
      return first === undefined ? [] : [{ first, all }]
    })
    .toSorted((one, other) => inOrder(one.first, other.first))
    .map(({ all, first }) => ({ key: keyOf(first.witness), assertions: all.map(({ witness }) => witness) }))
