/**
 * An `Assertion` is one thing that is said of one subject: a predicate with its value. What is on the wire now asserts;
 * what the transcript repeats is quoted, and competes with nothing.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Claim from "./Claim.ts"
import * as Json from "./Json.ts"
import type * as JsonProblem from "./JsonProblem.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const id = Schema.NonEmptyString

/** What something is said of. It is stamped where that is known, never inferred. */
export const SubjectRef = Schema.Struct({ kind: id, id: Schema.String })
export type SubjectRef = typeof SubjectRef.Type

/** `value` may be a claim. `epoch` is the time or the version that it is said of; `provenance` is what brought it. */
export const Assertion = Schema.Struct({
  subject: SubjectRef,
  predicate: id,
  value: Schema.Unknown,
  epoch: optional(id),
  stratum: Schema.Literal("asserted", "quoted"),
  provenance: id,
  origin: optional(id),
  synthetic: optional(Schema.Literal(true))
})
export type Assertion = typeof Assertion.Type

/** Assertions of one subject, predicate and epoch that do not all say the same. None of them is preferred. */
export interface Conflict {
  readonly key: string
  readonly assertions: ReadonlyArray<Assertion>
}

/** Its value was outside the closed JSON domain, so that it could not be compared. */
export interface Refused {
  readonly assertion: Assertion
  readonly problem: JsonProblem.NotJson
}

/** By UTF-16 code unit. */
export const compare = (self: string, that: string): number => (self < that ? -1 : self > that ? 1 : 0)

/** What competes has one key. A missing epoch is the key of no epoch; what is synthetic competes with its own kind. */
const keyOf = ({ epoch, predicate, subject, synthetic }: Assertion): string =>
  JSON.stringify([subject.kind, subject.id, predicate, epoch ?? null, synthetic === true])

/** The groups of one key whose members do not all say the same, in the order in which their keys first come. */
export const contested = <A>(
  all: Iterable<A>,
  keyOf: (one: A) => string,
  saidOf: (one: A) => string
): ReadonlyArray<{ readonly key: string; readonly group: readonly [A, ...Array<A>] }> => {
  const groups = new Map<string, [A, ...Array<A>]>()
  for (const one of all) {
    const key = keyOf(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return Array.from(groups, ([key, group]) => ({ key, group })).filter(({ group: [first, ...others] }) => {
    const said = others.length === 0 ? "" : saidOf(first)
    return others.some((one) => saidOf(one) !== said)
  })
}

/** Where an assertion stands among those of its key, whatever order they came in. */
interface Placed {
  readonly assertion: Assertion
  readonly key: string
  readonly said: string
  readonly place: string
}

/**
 * The conflicts among assertions, the same in whatever order they are given. A predicate holds one value unless it is
 * declared to hold several. Claims that are not known take no part, and what a known one holds stands for it.
 */
export const conflictsOf = (
  assertions: ReadonlyArray<Assertion>,
  options: { readonly multiValued?: ReadonlyArray<string> } = {}
): { readonly conflicts: ReadonlyArray<Conflict>; readonly refused: ReadonlyArray<Refused> } => {
  const several = new Set(options.multiValued)
  const placed: Array<Placed> = []
  const refused: Array<Refused> = []
  for (const assertion of assertions) {
    if (assertion.stratum === "quoted") continue
    const written = Json.canonical(assertion.value)
    if (Either.isLeft(written)) {
      refused.push({ assertion, problem: written.left })
      continue
    }
    const held = Claim.unwrap(assertion.value)
    const said = Json.canonical(held)
    if (several.has(assertion.predicate) || Claim.is(held) || Either.isLeft(said)) continue
    const place = JSON.stringify([said.right, assertion.provenance, assertion.origin ?? null, written.right])
    placed.push({ assertion, key: keyOf(assertion), said: said.right, place })
  }
  const conflicts = contested(
    placed,
    ({ key }) => key,
    ({ said }) => said
  )
    .toSorted((one, other) => compare(one.key, other.key))
    .map(({ group, key }) => ({
      key,
      assertions: group.toSorted((one, other) => compare(one.place, other.place)).map(({ assertion }) => assertion)
    }))
  return { conflicts, refused }
}
