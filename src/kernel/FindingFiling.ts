/**
 * A `FindingFiling` is the act of putting on the ledger what was declared or used: which result was meant, whether it
 * was served, and whether what it is said to establish occurs in it. It judges by the record alone.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as FindingFold from "./FindingFold.ts"
import * as FindingHandle from "./FindingHandle.ts"
import type * as FindingRead from "./FindingRead.ts"
import type * as FindingRow from "./FindingRow.ts"
import * as Json from "./Json.ts"
import * as Value from "./Value.ts"

/** How many rows a run's ledger holds, and how many contingent ones a use files. */
export const mostRows = 4_096
export const mostContingent = 64

/**
 * A result of the run: `values` are those of what was served, before any handle; `absence` is there if it was served as
 * one, with the limits of its typed outcome.
 */
export interface Result {
  readonly toolCallId: string
  readonly toolName: string
  readonly ref?: string
  readonly values: ReadonlySet<string>
  readonly absence?: FindingRow.Limits
}

/** Where rows are filed: after `rowCount` others, the next of which has `seq`. `results` are in settlement order. */
export interface Place {
  readonly seq: number
  readonly rowCount: number
  readonly iteration: number
  readonly declaredOn: FindingRow.DeclaredOn
  readonly results: ReadonlyArray<Result>
}

export interface Filed {
  readonly rows: ReadonlyArray<FindingRow.Basis | FindingRow.Standing>
  readonly unsettled: ReadonlyArray<FindingRow.Unsettled>
  readonly rejected: ReadonlyArray<FindingRead.Rejection>
}

const mostTokens = 200_000
/** A result may be as long as an application lets it be. */
export const limits: Json.Limits = { maxChars: 16_777_216, maxKeys: 1_000_000, maxStringChars: 16_777_216 }

/** The values of a text that was served, in every spelling that is surely the same: read as JSON too, if it is that. */
export const valuesOf = (served: string): ReadonlySet<string> => {
  const parsed = Json.parse(served, limits)
  const found: ReadonlyArray<{ readonly text: string }> = [
    ...Value.tokens(served, { limit: mostTokens }),
    ...(Either.isRight(parsed) ? Value.fromJson(parsed.right, { limit: mostTokens }) : [])
  ]
  const values = new Set<string>()
  for (const { text } of found) {
    // A key and its value in JSON without spaces, or a list, leaves marks before a token.
    for (const spelling of [text, text.replace(/^[:,/._-]+/, "")]) {
      for (const { value, weak } of Value.keys(spelling)) if (!weak) values.add(value)
    }
  }
  return values
}

/** The data in a value, as in an answer: distinct, in order. */
const dataOf = (value: unknown, options?: Value.Options): ReadonlyArray<string> => {
  const leaves = Json.leaves(value).filter((leaf) => leaf.value !== null)
  return Array.from(new Set(leaves.flatMap((leaf) => Value.extract(String(leaf.value), options).map((t) => t.value))))
}

const isUnechoed = ({ value }: FindingRow.Assertion, { values }: Result): boolean => {
  const data = dataOf(value)
  return data.length > 0 && !data.some((one) => values.has(one))
}

/** What a declaration adds to the ledger. `servedIds` are the results on the wire that it answers. */
export const file = (declared: FindingRead.Declared, servedIds: ReadonlyArray<string>, place: Place): Filed => {
  const { declaredOn, iteration, results } = place
  const handles = FindingHandle.handles(results.map(({ toolCallId }) => toolCallId))
  const byId = new Map(results.map((result) => [result.toolCallId, result]))
  const served = new Set(servedIds)
  const rows: Array<FindingRow.Basis | FindingRow.Standing> = []
  const rejected: Array<FindingRead.Rejection> = []
  const next = () => ({ seq: place.seq + rows.length, iteration })
  const isFull = () => place.rowCount + rows.length >= mostRows

  const { predicts, previous, proposition } = declared
  if (declaredOn !== "answer" && (proposition !== undefined || predicts !== undefined)) {
    const said = {
      ...(proposition === undefined ? {} : { proposition }),
      ...(predicts === undefined ? {} : { predicts })
    }
    if (isFull()) rejected.push({ code: "ledger-full" })
    else rows.push({ kind: "basis", ...next(), toolCallId: declaredOn.toolCallId, ...said })
  }
  for (const { assertions, index, line, settles, standing, toolCallId: typed } of previous) {
    if (isFull()) {
      rejected.push({ index, code: "ledger-full" })
      continue
    }
    const { id, isKnown } = FindingHandle.resolve(handles, typed)
    const result = isKnown && served.has(id) ? byId.get(id) : undefined
    const unechoed =
      result !== undefined && standing === "fact" ? assertions.filter((assertion) => isUnechoed(assertion, result)) : []
    rows.push({
      kind: "standing",
      ...next(),
      toolCallId: id,
      standing,
      assertions,
      ...(line === undefined ? {} : { line }),
      ...(settles === undefined ? {} : { settles }),
      ...(result === undefined ? { unknownId: true } : { toolName: result.toolName }),
      ...(result?.ref === undefined ? {} : { ref: result.ref }),
      ...(unechoed.length === 0 ? {} : { unechoed }),
      declaredOn
    })
  }

  const unsettled: Array<FindingRow.Unsettled> = []
  for (const row of rows) {
    if (row.kind !== "standing" || row.standing !== "ruled-out" || row.unknownId === true) continue
    const absence = byId.get(row.toolCallId)?.absence
    if (absence === undefined) continue
    if (place.rowCount + rows.length + unsettled.length >= mostRows) {
      rejected.push({ code: "ledger-full" })
      continue
    }
    const seq = place.seq + rows.length + unsettled.length
    unsettled.push({ kind: "unsettled", seq, iteration, toolCallId: row.toolCallId, ...absence })
  }
  return { rows, unsettled, rejected }
}

/** `overflow` counts what was not filed, by the limit of a use or of the ledger. */
export interface Contingencies {
  readonly rows: ReadonlyArray<FindingRow.Contingent>
  readonly overflow: number
}

/** What a use of values is to be compared with. `isExempt` says of a value that a person supplied it. */
export interface Use extends Place {
  readonly fold: FindingFold.Fold
  readonly options?: Value.Options
  readonly isExempt?: (value: string) => boolean
}

/**
 * The values of a use, the stripped arguments of a call or an answer, that rest on results none of which is a fact and
 * each of which has another standing.
 */
export const contingent = (used: unknown, use: Use): Contingencies => {
  const { declaredOn, fold, isExempt = () => false, iteration, results } = use
  const rows: Array<FindingRow.Contingent> = []
  let overflow = 0
  for (const value of dataOf(used, use.options)) {
    if (isExempt(value)) continue
    const ids = Array.from(
      new Set(results.flatMap(({ toolCallId, values }) => (values.has(value) ? [toolCallId] : [])))
    )
    const [first, ...rest] = ids.flatMap((toolCallId): ReadonlyArray<FindingRow.Carrier> => {
      const row = FindingFold.standing(fold, toolCallId)
      if (row === undefined || row.unknownId === true || row.standing === "fact") return []
      return [{ toolCallId, standing: row.standing }]
    })
    if (first === undefined || rest.length + 1 < ids.length) continue
    if (rows.length >= mostContingent || use.rowCount + rows.length >= mostRows) overflow++
    else
      rows.push({
        kind: "contingent",
        seq: use.seq + rows.length,
        iteration,
        declaredOn,
        value,
        carriers: [first, ...rest]
      })
  }
  return { rows, overflow }
}
