/**
 * A `FindingOffer` is the block that tells the model which results it can judge, newest first.
 *
 * @internal
 */
import * as FindingFold from "./FindingFold.ts"
import * as FindingHandle from "./FindingHandle.ts"
import type * as FindingRow from "./FindingRow.ts"
import * as Notice from "./Notice.ts"
import * as SafeId from "./SafeId.ts"

const shown = 32

export interface OfferBlock {
  readonly rawContent: string
  readonly slot: "system"
  readonly source: "findings-offer"
}

/**
 * The block, or nothing if findings are off or nothing is offered. `results` are the run's, in settlement order: they
 * have the handles and the names.
 */
export const offer = (
  rows: ReadonlyArray<FindingRow.Row> | undefined,
  servedIds: ReadonlyArray<string>,
  results: ReadonlyArray<{ readonly toolCallId: string; readonly toolName: string }>
): OfferBlock | undefined => (rows === undefined ? undefined : offerOf(FindingFold.fold(rows), servedIds, results))

/** The same, of rows that are folded already. */
export const offerOf = (
  fold: FindingFold.Fold,
  servedIds: ReadonlyArray<string>,
  results: ReadonlyArray<{ readonly toolCallId: string; readonly toolName: string }>
): OfferBlock | undefined => {
  const ids = FindingFold.offered(servedIds, fold)
  if (ids.length === 0) return undefined
  const { ofId } = FindingHandle.handles(results.map(({ toolCallId }) => toolCallId))
  const nameOf = new Map(results.map(({ toolCallId, toolName }) => [toolCallId, toolName]))
  const lines = ids.slice(0, shown).map((id) => {
    const name = nameOf.get(id)
    return `- ${[ofId.get(id), SafeId.print(id), ...(name === undefined ? [] : [SafeId.print(name)])].filter((part) => part !== undefined).join(", ")}`
  })
  const rawContent = Notice.of("results that can be judged", [
    "In `_findings.previous` of a call, a result is named by its handle or its call id. Newest first: handle, call id, tool.",
    ...lines,
    ...(ids.length > shown ? [`+${ids.length - shown} more`] : [])
  ])
  return { rawContent, slot: "system", source: "findings-offer" }
}
