/**
 * A `ScreenJudgement` is what a run says of its own answer: a line each for its grounding, its checks, what its results
 * declared of where they looked, and its findings. What the record does not have has no line.
 *
 * @internal
 */
import * as CheckLedger from "../kernel/CheckLedger.ts"
import type * as CheckState from "../kernel/CheckState.ts"
import * as Coverage from "../kernel/Coverage.ts"
import type * as Event from "../kernel/Event.ts"
import * as FindingPass from "../kernel/FindingPass.ts"
import type * as GroundingEvent from "../kernel/GroundingEvent.ts"
import type * as State from "../kernel/State.ts"
import * as ScreenFiled from "./ScreenFiled.ts"
import * as ScreenFindings from "./ScreenFindings.ts"
import * as ScreenLine from "./ScreenLine.ts"

/** The last event of each kind, by its number. */
export type Places = ReadonlyMap<Event.Event["_tag"], number>

interface Told {
  readonly label: string
  readonly word: string
  readonly style?: ScreenLine.Style
  readonly text: string
  readonly seq?: number
}

const after = (action: Exclude<GroundingEvent.Action, "grounded">, isAnswered: boolean): string => {
  switch (action) {
    case "flagged":
      return "flagged, and given as it was"
    case "refused":
      return "refused: there is no answer"
    case "revision-asked":
      return isAnswered ? "sent back; what came then was not judged" : "sent back, and not answered again"
  }
}

const grounding = (event: GroundingEvent.GroundingJudged, isAnswered: boolean): Omit<Told, "label"> => {
  const { action, afterRevision, candidates, posture, truncated, unread } = event
  const notes = [
    ...(afterRevision ? ["sent back once"] : []),
    ...(unread === true ? ["the answer was not read to its end"] : []),
    ...(truncated === true && unread === undefined ? ["not all sources could be read"] : [])
  ]
  const say = (parts: ReadonlyArray<string>): string => [posture, ...parts, ...notes].join(" · ")
  if (action !== "grounded") {
    const missing = event.unsupported.length + (event.more ?? 0)
    const counts = `${missing} of ${ScreenLine.counted(candidates, "value")} without a source`
    const text = missing === 0 ? counts : `${counts}: ${ScreenFiled.unsupportedText(event)}`
    return { word: "no", style: "bad", text: say([text, after(action, isAnswered)]) }
  }
  return candidates === 0
    ? { word: "–", text: say(["the answer has no value to judge"]) }
    : { word: "yes", style: "good", text: say([ScreenFiled.sourced(candidates)]) }
}

/** What the checks came to: clean if each of them looked. */
const checked = ({ faults, filed }: CheckState.CheckState): Omit<Told, "label"> => {
  if (filed === undefined) {
    const found = ScreenLine.counted(faults.length, "fault")
    return { word: "not filed", style: "warn", text: `${found} on the record so far` }
  }
  const { green, text } = CheckLedger.headline(filed)
  if (green) return { word: "clean", style: "good", text }
  if (filed.rows.some(({ findings }) => findings > 0)) return { word: "FOUND", style: "bad", text }
  if (CheckLedger.blind(filed).length > 0) return { word: "BLIND", style: "bad", text }
  const looked = filed.rows.filter(({ checked }) => checked > 0).length
  const word = looked === 0 ? "nobody looked" : `${looked} of ${filed.rows.length} looked`
  return { word, style: "warn", text }
}

/** The names of checks are long: without more room, they have a line. */
const briefly = (told: Omit<Told, "label">, room: ScreenLine.Room): Omit<Told, "label"> =>
  room.width === undefined
    ? told
    : { ...told, text: ScreenLine.fitIn(told.text, room, margin.length + ScreenLine.width(told.word) + 3 + 7) }

const coverage = (declared: ReadonlyArray<Coverage.DeclaredCoverage>): Omit<Told, "label"> => {
  const absences = declared.filter(({ kind }) => kind === "absence").length
  const others = declared.length - absences
  const { cannotCover, checked, notChecked } = Coverage.merge(declared)
  const word = [
    ...(absences === 0 ? [] : [ScreenLine.counted(absences, "absence")]),
    ...(others === 0 ? [] : [`${ScreenLine.counted(others, "result")} with limits`])
  ].join(", ")
  const text = `checked ${checked.length} · not checked ${notChecked.length} · cannot cover ${cannotCover.length}`
  return { word, text }
}

/** How many entries of declarations were dropped, and what the ledger holds. */
const findings = (state: State.State, dropped: number): string | undefined =>
  state.findings === undefined
    ? undefined
    : ScreenFindings.countsText(FindingPass.counts(state.findings.ledger), dropped)

const all = (state: State.State, places: Places, dropped: number, room: ScreenLine.Room): ReadonlyArray<Told> => {
  const seqOf = (...kinds: ReadonlyArray<Event.Event["_tag"]>): Pick<Told, "seq"> => {
    const seq = Math.max(-1, ...kinds.map((kind) => places.get(kind) ?? -1))
    return seq < 0 ? {} : { seq }
  }
  const counts = findings(state, dropped)
  return [
    ...(state.grounding === undefined
      ? []
      : [
          {
            label: "grounded",
            ...grounding(state.grounding, state.answered !== undefined),
            ...seqOf("GroundingJudged")
          }
        ]),
    ...(state.checks === undefined
      ? []
      : [{ label: "checks", ...briefly(checked(state.checks), room), ...seqOf("ChecksFiled") }]),
    ...(state.coverage === undefined
      ? []
      : [{ label: "coverage", ...coverage(state.coverage), ...seqOf("AbsenceDeclared", "CoverageDeclared") }]),
    ...(counts === undefined ? [] : [{ label: "findings", word: "", text: counts }])
  ]
}

const margin = " ".repeat(9)

/** A line, or as few as it takes. */
const told = ({ label, seq, style, text, word }: Told, room: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const said = word === "" ? text : `${word} · ${text}`
  const width = room.width === undefined ? undefined : room.width - margin.length - 7
  return ScreenLine.paragraph(said, width, room.full === true ? Infinity : 3).map((part, index) => {
    if (index > 0) return [ScreenLine.span(margin), ScreenLine.span(part)]
    const head = part.startsWith(word) ? word : ""
    const own = [
      ScreenLine.span(ScreenLine.pad(label, margin.length), "faint"),
      ScreenLine.span(head, style),
      ScreenLine.span(part.slice(head.length))
    ]
    return seq === undefined ? own : ScreenLine.ending(own, ScreenLine.span(`#${seq}`, "faint"), room)
  })
}

/** What the run has of these. `dropped` counts entries of declarations that were. */
export const lines = (
  state: State.State,
  { dropped, places, room }: { readonly places: Places; readonly dropped: number; readonly room: ScreenLine.Room }
): ReadonlyArray<ScreenLine.Line> => all(state, places, dropped, room).flatMap((one) => told(one, room))

/** The same as data. */
export const toJson = (state: State.State, dropped: number) => {
  const { checks, coverage, findings, grounding, revised } = state
  return {
    ...(grounding === undefined ? {} : { grounding: { ...grounding, revised: revised === true } }),
    ...(checks === undefined
      ? {}
      : {
          checks: {
            word: checked(checks).word,
            ...(checks.filed === undefined ? {} : CheckLedger.headline(checks.filed)),
            faults: checks.faults
          }
        }),
    ...(coverage === undefined ? {} : { coverage }),
    ...(findings === undefined ? {} : { findings: { ...FindingPass.counts(findings.ledger), rejected: dropped } })
  }
}
