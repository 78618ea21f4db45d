/**
 * A `CheckLedger` is what the checks of a run have come to: a row for each of them, from the start, so that a check
 * which never looked is seen not to have looked.
 *
 * @since 0.1.0
 */
import * as Check from "./Check.ts"
import type * as CheckEvent from "./CheckEvent.ts"
import * as ClaimCheck from "./ClaimCheck.ts"
import type * as Fault from "./Fault.ts"
import * as GroundCheck from "./GroundCheck.ts"
import * as ParkCheck from "./ParkCheck.ts"
import * as WireCheck from "./WireCheck.ts"

/** A check with its judgement of a planted fault, by the function that judges the real ones. */
export interface Registered extends Check.Check {
  readonly probe: () => Check.Verdict
}

export const registered: ReadonlyArray<Registered> = [
  { ...ParkCheck.check, probe: () => ParkCheck.judge(ParkCheck.canary) },
  { ...WireCheck.check, probe: () => WireCheck.judge(WireCheck.canary) },
  { ...GroundCheck.check, probe: () => GroundCheck.judge(GroundCheck.canary) },
  { ...ClaimCheck.check, probe: () => ClaimCheck.judge(ClaimCheck.canary) }
]

export interface CheckLedger {
  readonly posture: CheckEvent.Posture
  readonly rows: ReadonlyArray<CheckEvent.CheckReport>
}

const isSame = (self: Check.Check, that: Check.Check): boolean => self.check === that.check && self.seam === that.seam

const blank = ({ check, seam }: Check.Check): CheckEvent.CheckReport => ({
  check,
  seam,
  checked: 0,
  findings: 0,
  advisories: 0,
  notApplicable: 0,
  unreachable: 0,
  synthetic: 0
})

const count = (row: CheckEvent.CheckReport, filing: Check.Filing, iteration: number): CheckEvent.CheckReport => {
  switch (filing.disposition) {
    case "checked-pass":
      return { ...row, checked: row.checked + 1 }
    case "checked-fail":
      return filing.advisory === true
        ? { ...row, checked: row.checked + 1, advisories: row.advisories + 1 }
        : { ...row, checked: row.checked + 1, findings: row.findings + 1, lastFiredAt: iteration }
    case "not-applicable":
      return { ...row, notApplicable: row.notApplicable + 1 }
    case "unreachable":
      return { ...row, unreachable: row.unreachable + 1 }
  }
}

const add = (row: CheckEvent.CheckReport, verdict: Check.Verdict, iteration: number): CheckEvent.CheckReport => {
  if (verdict.synthetic === true) return { ...row, synthetic: row.synthetic + (verdict.faults.length > 0 ? 1 : 0) }
  return verdict.filings.reduce((row, filing) => count(row, filing, iteration), row)
}

/** The ledger with what a check said in a pass. What a planted fault came to is counted apart. */
export const file = (self: CheckLedger, verdict: Check.Verdict, iteration: number): CheckLedger => {
  const rows = self.rows.some((row) => isSame(row, verdict)) ? self.rows : [...self.rows, blank(verdict)]
  return { ...self, rows: rows.map((row) => (isSame(row, verdict) ? add(row, verdict, iteration) : row)) }
}

/** A new run: all checks are registered, those that are not armed have filed that they do not apply. */
export const open = (options: {
  readonly posture: CheckEvent.Posture
  readonly armed: ReadonlyArray<Check.Check>
  readonly checks?: ReadonlyArray<Registered>
}): CheckLedger => {
  const { armed, checks = registered, posture } = options
  const rows = checks.map((check): CheckEvent.CheckReport => {
    const row = armed.some((one) => isSame(one, check)) ? blank(check) : { ...blank(check), notApplicable: 1 }
    return posture === "dev" ? add(row, Check.synthetic(check.probe()), 1) : row
  })
  return { posture, rows }
}

/** What is filed when the run ends. `workExisted` comes from a signal that no check writes. */
export const close = ({ posture, rows }: CheckLedger, workExisted: boolean): CheckEvent.ChecksFiled => ({
  _tag: "ChecksFiled",
  posture,
  workExisted,
  rows
})

/** A check that cannot be relied on: it did not see a planted fault, or said nothing though there was work. */
export interface Blind extends Check.Check {
  readonly reason: "missed-canary" | "filed-nothing"
}

const filings = ({ checked, notApplicable, unreachable }: CheckEvent.CheckReport): number =>
  checked + notApplicable + unreachable

/** For what a finished run fails. Only a run in `dev` does; a check that has no row has missed its planted fault. */
export const blind = (
  { posture, rows, workExisted }: CheckEvent.ChecksFiled,
  checks: ReadonlyArray<Check.Check> = registered
): ReadonlyArray<Blind> => {
  if (posture !== "dev") return []
  return checks.flatMap(({ check, seam }): ReadonlyArray<Blind> => {
    const row = rows.find((row) => isSame(row, { check, seam })) ?? blank({ check, seam })
    return [
      ...(row.synthetic === 0 ? [{ check, seam, reason: "missed-canary" } as const] : []),
      ...(workExisted && filings(row) === 0 ? [{ check, seam, reason: "filed-nothing" } as const] : [])
    ]
  })
}

const name = ({ check, seam }: Check.Check): string => `${check} at ${seam}`

const gap = (row: CheckEvent.CheckReport): string => {
  if (row.unreachable > 0) return `${name(row)} (unreachable)`
  return `${name(row)} (${row.notApplicable > 0 ? "not applicable" : "filed nothing"})`
}

const many = (n: number, one: string, more: string): string => `${n} ${n === 1 ? one : more}`

/** What the rows amount to, in words. Green says that every check has checked something, and that nothing was found. */
export const headline = (
  filed: CheckEvent.ChecksFiled,
  checks: ReadonlyArray<Check.Check> = registered
): { readonly green: boolean; readonly text: string } => {
  const rows = checks.map((check) => filed.rows.find((row) => isSame(row, check)) ?? blank(check))
  const found = rows.filter(({ findings }) => findings > 0)
  const advisories = rows.reduce((sum, row) => sum + row.advisories, 0)
  const gaps = rows.filter(({ checked }) => checked === 0)
  const missed = blind(filed, checks).filter(({ reason }) => reason === "missed-canary")
  const sentences = [
    ...found.map((row) => `${many(row.findings, "finding", "findings")} of ${name(row)}.`),
    ...(advisories > 0 ? [`${many(advisories, "advisory", "advisories")}.`] : []),
    ...(gaps.length > 0 ? [`Nothing was checked by ${gaps.map(gap).join(", ")}.`] : []),
    ...(missed.length > 0 ? [`A planted fault was missed by ${missed.map(name).join(", ")}.`] : [])
  ]
  const green = found.length === 0 && gaps.length === 0 && missed.length === 0
  return { green, text: [...(green ? ["Every check looked and found nothing."] : []), ...sentences].join(" ") }
}

/** Whether faults of a kind were looked for in a run, in words. */
export const answer = (filed: CheckEvent.ChecksFiled, kind: Fault.Kind): string => {
  const checks = registered.filter(({ check }) => check === kind)
  return checks.length === 0 ? "Nothing looks for this." : headline(filed, checks).text
}
