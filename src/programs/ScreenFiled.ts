/**
 * A `ScreenFiled` is what an event says of a retry, findings, coverage, grounding, faults or artifacts, in a few words for
 * the live display.
 *
 * @internal
 */
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import type * as CoverageEvent from "../kernel/CoverageEvent.ts"
import type * as Event from "../kernel/Event.ts"
import type * as FindingEvent from "../kernel/FindingEvent.ts"
import type * as FindingRow from "../kernel/FindingRow.ts"
import type * as GroundingEvent from "../kernel/GroundingEvent.ts"
import * as SafeId from "../kernel/SafeId.ts"
import type * as State from "../kernel/State.ts"
import type * as WindowEvent from "../kernel/WindowEvent.ts"
import * as ScreenLine from "./ScreenLine.ts"
import * as ScreenShelf from "./ScreenShelf.ts"

export interface Filed {
  readonly verb: string
  readonly style?: ScreenLine.Style
  readonly text: string
}

/** A name as it was, bare if it is plain; the line that it stands in cuts it. */
export const named = (id: string): string => (SafeId.print(id) === id ? id : SafeId.literal(id, Infinity))

export const standingWords: { readonly [W in FindingRow.StandingWord]: string } = {
  fact: "fact",
  open: "open",
  "ruled-out": "ruled out",
  noise: "noise"
}

/** What a conflict is about. */
export const keyText = ([kind, id, predicate]: FindingEvent.FindingConflicted["key"]): string =>
  `${named(kind)}/${named(id)} · ${named(predicate)}`

/** Where in a declaration something was dropped, and why. */
export const rejectionText = ({ code, count, index }: FindingEvent.FindingRejected): string => {
  const place = index === undefined ? "_findings" : `previous[${index}]`
  const more = count === undefined || count < 2 ? "" : ` and ${ScreenLine.count(count - 1)} after it`
  return `${place}${more}: ${code}`
}

type HandleOf = (toolCallId: string) => string

/** The name of a result on the wire, or the id of a call that has none. */
const handlesOf =
  ({ findings }: State.State): HandleOf =>
  (toolCallId) => {
    const place = findings === undefined ? undefined : Option.getOrUndefined(HashMap.get(findings.places, toolCallId))
    return place?.handle ?? named(toolCallId)
  }

const rowText = (row: FindingRow.Basis | FindingRow.Standing, handleOf: HandleOf): string => {
  if (row.kind === "standing") {
    const unknown = row.unknownId === true ? " (unknown id)" : ""
    return `${standingWords[row.standing]} ${handleOf(row.toolCallId)}${unknown}`
  }
  return row.proposition === undefined ? "predicts" : `tests ${JSON.stringify(row.proposition)}`
}

/** The values of an answer without a source, as far as they are listed. */
export const unsupportedText = ({ more = 0, unsupported }: GroundingEvent.GroundingJudged): string =>
  `${unsupported.map(({ value }) => value).join(", ")}${more === 0 ? "" : ` and ${more} more`}`

const judgedText = (event: GroundingEvent.GroundingJudged): Filed => {
  const { action, candidates } = event
  const without = `no source of ${unsupportedText(event)}`
  switch (action) {
    case "grounded":
      return candidates === 0
        ? { verb: "judged", text: "there was no value to judge" }
        : { verb: "judged", style: "good", text: `grounded: ${sourced(candidates)}` }
    case "flagged":
      return { verb: "judged", style: "warn", text: `flagged: ${without}` }
    case "revision-asked":
      return { verb: "judged", style: "warn", text: `sent back: ${without}` }
    case "refused":
      return { verb: "judged", style: "bad", text: `refused: ${without}` }
  }
}

/** Of so many values, all. */
export const sourced = (candidates: number): string =>
  candidates === 1 ? "1 value has a source" : `all ${candidates} values have a source`

const lengths = (lists: { readonly [what: string]: ReadonlyArray<unknown> | undefined }): string =>
  Object.entries(lists)
    .flatMap(([what, list = []]) => (list.length === 0 ? [] : [`${what} ${list.length}`]))
    .join(", ")

const coverageText = (event: CoverageEvent.CoverageEvent): string => {
  const { cannotCover, checked, more = 0, notChecked, toolName } = event
  const lists = lengths({ checked, not: notChecked, cannot: cannotCover })
  const many = more === 0 ? "" : `, ${more} more`
  const found = event._tag === "CoverageDeclared" ? "" : ` · no ${JSON.stringify(event.lookedFor ?? "result")}`
  return `${named(toolName)}: ${lists}${many}${found}`
}

const leftBy: { readonly [B in WindowEvent.WindowTrimmed["by"]]: string } = {
  KeepLast: "the window keeps the last",
  TokenBudget: "the window has a budget",
  SummarizeOldest: "the window has a budget",
  superseded: "answers that were not taken",
  carried: "as in the run before"
}

const leftText = ({ by, dropped, summary, tokens, units }: WindowEvent.WindowTrimmed): string =>
  [
    `${ScreenLine.counted(units.length, "part")} with ${ScreenLine.counted(dropped.length, "result")}: ${leftBy[by]}`,
    ...(tokens === undefined
      ? []
      : [`${ScreenLine.count(tokens.before)} tok → ${ScreenLine.count(tokens.after)} by ${tokens.by}`]),
    ...(summary === undefined ? [] : [summary === "made" ? "summarized" : "without a summary"])
  ].join(" · ")

/** What an event filed, or nothing if it is of another kind or shown elsewhere. `state` is that after the event. */
export const of = (event: Event.Event, state: State.State): Filed | undefined => {
  const handleOf = handlesOf(state)
  switch (event._tag) {
    case "ModelRetried": {
      const who = event.next === undefined ? "Again" : `Then ${named(event.next.model)}`
      const when = event.delayMs === 0 ? "at once" : `in ${ScreenLine.duration(event.delayMs)}`
      return { verb: "retried", style: "warn", text: `${event.problem.what} ${who} ${when}.` }
    }
    case "FindingDeclared": {
      // What was judged comes first: it is short.
      const rows = event.rows.toSorted((a, b) => Number(a.kind === "basis") - Number(b.kind === "basis"))
      return { verb: "filed", text: rows.map((row) => rowText(row, handleOf)).join(" · ") }
    }
    case "FindingRejected":
      return { verb: "dropped", style: "warn", text: rejectionText(event) }
    case "FindingConflicted": {
      const { key, more = 0, witnesses } = event
      const who = witnesses.map(({ toolCallId }) => handleOf(toolCallId)).join(", ")
      const text = `${keyText(key)} by ${who}${more === 0 ? "" : ` and ${more} more`}`
      return { verb: "conflict", style: "warn", text }
    }
    case "ContingencyFiled": {
      const { overflow = 0, row } = event
      const many = overflow === 0 ? "" : `${overflow} more uses were not filed`
      if (row === undefined) return { verb: "filed", text: `contingent: ${many}` }
      const from = row.carriers.map(
        ({ standing, toolCallId }) => `${handleOf(toolCallId)} (${standingWords[standing]})`
      )
      const text = `contingent: ${named(row.value)} from ${from.join(", ")}`
      return { verb: "filed", text: many === "" ? text : `${text}; ${many}` }
    }
    case "UnsettledFiled": {
      const { cannotCover, notChecked, toolCallId } = event.row
      const left = lengths({ "not checked": notChecked, "cannot cover": cannotCover })
      return { verb: "filed", text: [`unsettled: ${handleOf(toolCallId)}`, ...(left === "" ? [] : [left])].join(", ") }
    }
    case "AbsenceDeclared":
    case "CoverageDeclared":
      return { verb: "coverage", text: coverageText(event) }
    case "SemanticsDeclared": {
      const { rows, toolName } = event
      return { verb: "settled", text: `${named(toolName)}: ${rows.length} of what the answer is to claim` }
    }
    case "ClaimsRead": {
      const left = event.values.filter((claimed) => !("value" in claimed)).length
      return { verb: "claims", text: `${event.values.length} read${left === 0 ? "" : `, ${left} left out`}` }
    }
    case "GroundingJudged":
      return judgedText(event)
    case "FaultFound": {
      const { advisory, kind, message, seam, synthetic } = event
      const planted = synthetic === true ? "planted, " : ""
      const text = `${planted}${kind} at ${seam}: ${message}`
      return advisory === true ? { verb: "doubt", style: "warn", text } : { verb: "fault", style: "bad", text }
    }
    case "ClosingAsked":
      return { verb: "closing", style: "warn", text: event.reason.what }
    case "CallRepeated":
      return {
        verb: "repeats",
        style: "warn",
        text: `${named(event.toolName)} came to the same ${event.occurrences} times`
      }
    case "ChildStarted":
      return { verb: "child", text: `${named(event.toolName)} runs as ${named(event.runId)}` }
    case "ChildSettled": {
      const { runId, spent, status } = event
      return {
        verb: "child",
        text: `${named(runId)} ${status} after ${ScreenLine.counted(spent.passes, "pass", "passes")}`
      }
    }
    case "RunResumed":
      return { verb: "resumed", text: `after ${ScreenLine.duration(event.idleMs)}` }
    case "RunClaimed":
      return { verb: "claimed", text: `by ${ScreenLine.oneLine(event.by)}, take-over ${event.ordinal}` }
    case "CancelAsked":
      return { verb: "cancel", style: "warn", text: `asked by ${ScreenLine.oneLine(event.by)}` }
    case "ApprovalAsked": {
      const again = event.replaces === undefined ? "" : ", again: it had changed"
      return {
        verb: "waits",
        style: "warn",
        text: `${named(event.toolName)} (${named(event.toolCallId)}) for an approval${again}`
      }
    }
    case "ApprovalDecided": {
      const { by, note, toolCallId, toolName, verdict } = event
      const why = note === undefined ? "" : `: ${note}`
      const text = `${named(toolName)} (${named(toolCallId)}) by ${named(by)}${why}`
      return verdict === "approve" ? { verb: "approved", style: "good", text } : { verb: "denied", style: "warn", text }
    }
    case "CallProbed":
      return { verb: "probed", text: `${named(event.toolName)} (${named(event.toolCallId)}): ${event.verdict}` }
    case "CallResolved": {
      const { because, by, toolCallId, toolName, verdict } = event
      return {
        verb: "found",
        text: `${named(toolName)} (${named(toolCallId)}) ${verdict}, by ${named(by)}: ${because}`
      }
    }
    case "WindowTrimmed":
      return { verb: "left", text: leftText(event) }
    case "SummaryReplied":
      return { verb: "summed", text: ScreenLine.oneLine(event.content) }
    case "SummaryFailed":
      return { verb: "failed", style: "warn", text: `no summary: ${event.problem.what}` }
    case "ArtifactMinted":
    case "ArtifactResolved":
    case "ArtifactExpired":
    case "ArtifactDeleted":
    case "ArtifactRefused":
    case "ArtifactPresented":
      return ScreenShelf.filed(event)
    default:
      return undefined
  }
}
