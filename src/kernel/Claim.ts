/**
 * A `Claim` is a value with its standing: it is known, it is unknown, or the question does not apply. It is plain data
 * with a mark of its own, so that other data is never taken for one, whatever its fields are called.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import { dual } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Json from "./Json.ts"
import * as Printable from "./Printable.ts"

/** `evidence` says what the value rests on. */
export interface Known<A> {
  readonly wherefore_claim: "known"
  readonly value: A
  readonly evidence: string
}

export interface Unknown {
  readonly wherefore_claim: "unknown"
  readonly reason: string
  readonly evidence?: string
}

export interface NotApplicable {
  readonly wherefore_claim: "not-applicable"
  readonly evidence: string
}

export type Claim<A> = Known<A> | Unknown | NotApplicable

export const known = <A>(value: A, evidence: string): Known<A> => ({ wherefore_claim: "known", value, evidence })

export const unknown = (reason: string, evidence?: string): Unknown => ({
  wherefore_claim: "unknown",
  reason,
  ...(evidence === undefined ? {} : { evidence })
})

export const notApplicable = (evidence: string): NotApplicable => ({ wherefore_claim: "not-applicable", evidence })

const Marked = Schema.Union(
  Schema.Struct({ wherefore_claim: Schema.Literal("known"), value: Schema.Unknown, evidence: Schema.String }),
  Schema.Struct({
    wherefore_claim: Schema.Literal("unknown"),
    reason: Schema.String,
    evidence: Schema.optionalWith(Schema.String, { exact: true })
  }),
  Schema.Struct({ wherefore_claim: Schema.Literal("not-applicable"), evidence: Schema.String })
)

const isMarked = Schema.is(Marked, { onExcessProperty: "error", exact: true })

/** Whether it is a claim: its mark, its fields and no others, all in the closed JSON domain. */
export const is = (value: unknown): value is Claim<unknown> => Either.isRight(Json.canonical(value)) && isMarked(value)

/** The value of a claim that is known; else what stands in for it. */
export const getOrElse: {
  <B>(fallback: (claim: Unknown | NotApplicable) => B): <A>(self: Claim<A>) => A | B
  <A, B>(self: Claim<A>, fallback: (claim: Unknown | NotApplicable) => B): A | B
} = dual(2, <A, B>(self: Claim<A>, fallback: (claim: Unknown | NotApplicable) => B): A | B =>
  self.wherefore_claim === "known" ? self.value : fallback(self)
)

/** What is held at last when known claims are taken off: data, or a claim that is not known. */
export const unwrap = (value: unknown): unknown => {
  let held = value
  while (is(held) && held.wherefore_claim === "known") held = held.value
  return held
}

/** One printable line that begins with the standing, so that an unknown looks like no value. */
export const render = (claim: Claim<unknown>): string => {
  switch (claim.wherefore_claim) {
    case "known": {
      const text = Either.getOrElse(Json.canonical(claim.value), () => "a value that is not JSON")
      return Printable.line(`known: ${text} (${claim.evidence})`)
    }
    case "unknown":
      return Printable.line(`unknown: ${claim.reason}${claim.evidence === undefined ? "" : ` (${claim.evidence})`}`)
    case "not-applicable":
      return Printable.line(`not applicable: ${claim.evidence}`)
  }
}
