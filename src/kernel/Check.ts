/**
 * A `Check` looks for one kind of fault at one seam. It reports and decides nothing: no check blocks, re-routes or
 * rewrites. Each time it was to look it says what came of it, also where there was nothing to look at.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Fault from "./Fault.ts"

export const Disposition = Schema.Literal("checked-pass", "checked-fail", "not-applicable", "unreachable")
export type Disposition = typeof Disposition.Type

/** Which check it is: no two look for one kind at one seam. */
export interface Check {
  readonly check: Fault.Kind
  readonly seam: Fault.Seam
}

/** What came of one look. An advisory failed by a doubt alone. */
export interface Filing {
  readonly disposition: Disposition
  readonly advisory?: true
}

/** What a check has to say of one occasion. A synthetic one was of a planted fault. */
export interface Verdict extends Check {
  readonly filings: ReadonlyArray<Filing>
  readonly faults: ReadonlyArray<Fault.Fault>
  readonly synthetic?: true
}

/** Something wrong with a definition that a check is to go by. `where` is a JSON pointer into it. */
export interface Flaw {
  readonly where: string
  readonly what: string
  readonly next: string
}

/** A verdict of one look. */
export const verdict = (check: Check, disposition: Disposition, faults: ReadonlyArray<Fault.Fault> = []): Verdict => ({
  ...check,
  filings: [{ disposition }],
  faults
})

/** A look at something: it failed if there are faults. */
export const looked = (check: Check, faults: ReadonlyArray<Fault.Fault>): Verdict =>
  verdict(check, faults.length === 0 ? "checked-pass" : "checked-fail", faults)

/** The same verdict, marked as that of a planted fault. */
export const synthetic = (self: Verdict): Verdict => ({
  ...self,
  faults: self.faults.map((fault) => ({ ...fault, synthetic: true })),
  synthetic: true
})
