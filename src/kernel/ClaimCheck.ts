/**
 * A `ClaimCheck` compares, at the claim seam, what an answer says with what tools have settled. It is the last judge of
 * an answer and reads the value that the answer's schema accepted, not its text.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Check from "./Check.ts"
import * as Claim from "./Claim.ts"
import type * as Fault from "./Fault.ts"
import * as Json from "./Json.ts"
import * as SafeId from "./SafeId.ts"

const id = Schema.NonEmptyString

/** The field of the answer at this path, one key or index a step, claims this field of this entity. */
export const DeclaredClaim = Schema.Struct({ answerField: Schema.NonEmptyArray(id), entity: id, field: id })
export type DeclaredClaim = typeof DeclaredClaim.Type

/** What a tool said of a field of an entity. `measuredAt` is in milliseconds since the epoch. */
export const ClaimLedgerRow = Schema.Struct({
  entity: id,
  field: id,
  value: Schema.Unknown,
  toolName: Schema.String,
  toolCallId: id,
  iteration: Schema.Positive.pipe(Schema.int()),
  measuredAt: Schema.optionalWith(Schema.Finite, { exact: true })
})
export type ClaimLedgerRow = typeof ClaimLedgerRow.Type

/** What an answer says where a claim points. It has no `value` if the answer says nothing there. */
export interface Claimed {
  readonly value?: unknown
}

/**
 * An answer that was denied claims nothing; one that its schema rejected has no value to read. One that was `read` says
 * these `values`, in the order of the claims.
 */
export type Answer =
  | { readonly status: "validated"; readonly value: unknown }
  | { readonly status: "read"; readonly values: ReadonlyArray<Claimed> }
  | { readonly status: "denied" }
  | { readonly status: "rejected" }

/** `ledger` is in the order of the record. */
export interface Input {
  readonly claims: ReadonlyArray<DeclaredClaim>
  readonly ledger: ReadonlyArray<ClaimLedgerRow>
  readonly answer: Answer
}

export const check = { check: "unsupported-claim", seam: "claim" } as const satisfies Check.Check

const index = /^(?:0|[1-9]\d*)$/

const member = (value: unknown, key: string): unknown => {
  if (typeof value !== "object" || value === null || (Array.isArray(value) && !index.test(key))) return undefined
  return Object.getOwnPropertyDescriptor(value, key)?.value
}

/** What stands at a path; nothing is read from prototypes or computed. A proxy can fail when it is looked at. */
const at = (value: unknown, path: ReadonlyArray<string>): unknown =>
  Either.getOrElse(
    Either.try(() => path.reduce(member, value)),
    () => undefined
  )

/** What an answer, accepted by its schema, says of each claim. */
export const read = (
  claims: ReadonlyArray<Pick<DeclaredClaim, "answerField">>,
  value: unknown
): ReadonlyArray<Claimed> =>
  claims.map(({ answerField }) => {
    const found = at(value, answerField)
    return found === undefined ? {} : { value: found }
  })

/** The newest row: the last one, unless its clock is behind that of one before it. */
const settledOf = (ledger: ReadonlyArray<ClaimLedgerRow>, claim: DeclaredClaim): ClaimLedgerRow | undefined =>
  ledger
    .filter(({ entity, field }) => entity === claim.entity && field === claim.field)
    .reduce<ClaimLedgerRow | undefined>((newest, row) => {
      if (newest?.measuredAt === undefined || row.measuredAt === undefined) return row
      return row.measuredAt < newest.measuredAt ? newest : row
    }, undefined)

const isDoubt = (value: unknown): boolean => value === null || value === "unknown" || Claim.is(value)

const decimal = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** The number in words of digits. Beyond 15 digits two texts can be read as one number, so it has to be written alike. */
const spells = (text: unknown, number: unknown): boolean =>
  typeof text === "string" &&
  typeof number === "number" &&
  decimal.test(text) &&
  Number(text) === number &&
  (text.replace(/\D/g, "").length <= 15 || text === String(number))

const show = (value: unknown): string => {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value)
  return SafeId.literal(typeof value === "string" ? value : Either.getOrElse(Json.canonical(value), () => ""))
}

const fault = (claim: DeclaredClaim, row: ClaimLedgerRow, claimed: unknown, settled: unknown): Fault.Fault => {
  const name = `${SafeId.print(claim.field)} of ${SafeId.print(claim.entity)}`
  const isAdvisory = isDoubt(claimed)
  return {
    kind: check.check,
    seam: check.seam,
    subjects: [{ kind: "entity", id: claim.entity }],
    witnesses: [row.toolCallId],
    predicate: claim.field,
    ...(row.measuredAt === undefined ? {} : { epoch: String(row.measuredAt) }),
    ...(isAdvisory ? { advisory: true } : {}),
    message: isAdvisory
      ? `The answer leaves ${name} open, and a tool had settled it as ${show(settled)}.`
      : `The answer says that ${name} is ${show(claimed)}, and a tool had settled it as ${show(settled)}.`
  }
}

interface Judged {
  readonly filing: Check.Filing
  readonly faults: ReadonlyArray<Fault.Fault>
}

const filed = (disposition: Check.Disposition): Judged => ({ filing: { disposition }, faults: [] })

const judgeOne = (claim: DeclaredClaim, ledger: ReadonlyArray<ClaimLedgerRow>, found: unknown): Judged => {
  if (found === undefined) return filed("not-applicable")
  const row = settledOf(ledger, claim)
  if (row === undefined) return filed("unreachable")
  const claimed = Claim.unwrap(found)
  const settled = Claim.unwrap(row.value)
  if (isDoubt(settled)) return filed(isDoubt(claimed) ? "checked-pass" : "unreachable")
  // What is outside the closed JSON domain equals nothing, so nothing can be said of it.
  if (Either.isLeft(Json.canonical(claimed)) || Either.isLeft(Json.canonical(settled))) return filed("unreachable")
  if (Json.equal(claimed, settled) || spells(claimed, settled)) return filed("checked-pass")
  return {
    filing: { disposition: "checked-fail", ...(isDoubt(claimed) ? { advisory: true } : {}) },
    faults: [fault(claim, row, claimed, settled)]
  }
}

/** One filing a claim. */
export const judge = ({ answer, claims, ledger }: Input): Check.Verdict => {
  if (claims.length === 0) return Check.verdict(check, "not-applicable")
  const judged = claims.map((claim, n) => {
    if (answer.status === "denied") return filed("not-applicable")
    if (answer.status === "rejected") return filed("unreachable")
    const found = answer.status === "read" ? answer.values[n] : read([claim], answer.value)[0]
    return judgeOne(claim, ledger, found?.value)
  })
  return { ...check, filings: judged.map(({ filing }) => filing), faults: judged.flatMap(({ faults }) => faults) }
}

/** Declarations as they are written, before anything is known of them. */
export interface Declared {
  readonly answerField: ReadonlyArray<string>
  readonly entity: string
  readonly field: string
}

const isBlank = (text: string): boolean => text.trim() === ""

/** What is wrong with the claims that an agent declares. Two of one field could not be told apart in a fault. */
export const review = (claims: ReadonlyArray<Declared>, hasAnswerSchema: boolean): ReadonlyArray<Check.Flaw> => {
  if (claims.length === 0) {
    return [{ where: "", what: "No claim is declared.", next: "Declare one, or leave the list out." }]
  }
  const seen = new Set<string>()
  const isAgain = (...parts: ReadonlyArray<unknown>): boolean => {
    const key = JSON.stringify(parts)
    return seen.has(key) || !seen.add(key)
  }
  const schema = { where: "", what: "The agent has no answer schema.", next: "Give it one, or declare no claims." }
  return [
    ...(hasAnswerSchema ? [] : [schema]),
    ...claims.flatMap(({ answerField, entity, field }, n): ReadonlyArray<Check.Flaw> => {
      const where = `/${n}`
      if (answerField.length === 0 || [...answerField, entity, field].some(isBlank)) {
        return [
          { where, what: "A part of the claim is blank.", next: "Name the answer's field, the entity and its field." }
        ]
      }
      const isField = isAgain("answer", answerField)
      return isAgain("claim", entity, field) || isField
        ? [{ where, what: "It is declared already.", next: "Declare each field of the answer and of an entity once." }]
        : []
    })
  ]
}

export const canary: Input = {
  claims: [{ answerField: ["canary"], entity: "canary", field: "alive" }],
  ledger: [{ entity: "canary", field: "alive", value: true, toolName: "canary", toolCallId: "canary", iteration: 1 }],
  answer: { status: "validated", value: { canary: false } }
}
