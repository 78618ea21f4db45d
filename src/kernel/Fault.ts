/**
 * A `Fault` is something that a check found in what we made or in what was answered: of what kind, at which seam, about
 * whom. It is reported, and changes nothing.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Assertion from "./Assertion.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })
const flag = optional(Schema.Literal(true))

export const Kind = Schema.Literal(
  "invariant-violation",
  "unsupported-argument",
  "dangling-reference",
  "duplicate-execution",
  "unsupported-claim"
)
export type Kind = typeof Kind.Type

/** Where it was found: what is written, composed, on the wire, chosen or claimed. */
export const Seam = Schema.Literal("write", "compose", "wire", "choice", "claim")
export type Seam = typeof Seam.Type

/** `witnesses` are what shows it, as ids of the record. An advisory is a doubt, not a contradiction. */
export const Fault = Schema.Struct({
  kind: Kind,
  seam: Seam,
  subjects: Schema.Array(Assertion.SubjectRef),
  witnesses: Schema.Array(Schema.String),
  predicate: optional(Schema.NonEmptyString),
  epoch: optional(Schema.NonEmptyString),
  synthetic: flag,
  advisory: flag,
  message: Schema.String
})
export type Fault = typeof Fault.Type

/** What makes two faults one. The order of subjects, the epoch, the witnesses and the message are left out. */
export const identity = ({ advisory, kind, predicate, seam, subjects }: Fault): string => {
  const sorted = subjects.map((subject) => JSON.stringify([subject.kind, subject.id])).sort(Assertion.compare)
  return JSON.stringify([kind, seam, sorted, predicate ?? null, advisory === true])
}

/** A planted fault and a real one are two, whatever they are about. */
const keyOf = (fault: Fault): string => JSON.stringify([identity(fault), fault.synthetic === true])

/** The faults that are not among those of the run so far, each identity once: one is reported once a run. */
export const once = (known: ReadonlyArray<Fault>, faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> => {
  const seen = new Set(known.map(keyOf))
  return faults.filter((fault) => {
    const key = keyOf(fault)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
