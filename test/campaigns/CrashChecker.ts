/**
 * A `CrashChecker` judges what a process left that was stopped, by the words of the format and the script alone: it shares
 * nothing with what writes and reads records.
 */
import { createHash } from "node:crypto"
import * as CrashScript from "./CrashScript.ts"

/** What the process was heard to say of a step. */
export interface Said {
  readonly word: string
  readonly step: number
  readonly rest: ReadonlyArray<string>
}

export const hear = (text: string): ReadonlyArray<Said> =>
  text
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const [word = "", step = "", ...rest] = line.split(" ")
      return { word, step: Number(step), rest }
    })

const sha256 = (text: string) => createHash("sha256").update(text).digest("base64url")

export interface Judged {
  readonly lost: ReadonlyArray<string>
  readonly phantom: ReadonlyArray<string>
  readonly wrong: ReadonlyArray<string>
}

/** The outcomes that steps have by what was said of them, and which may be there though nothing was said. */
const outcomes = (said: ReadonlyArray<Said>) => {
  const absent = new Set<number>()
  const wrong: Array<string> = []
  let last = -1
  for (const { rest, step, word } of said) {
    if (word === "defect") wrong.push(`a defect: ${rest.join(" ")}`)
    if (word === "unopened" && rest[1] === "undefined") wrong.push(`an error without an outcome: ${rest.join(" ")}`)
    if (word !== "ack" && word !== "error" && word !== "conflict") continue
    last = step
    const [, outcome] = rest
    if (word === "error" && outcome !== "not-applied" && outcome !== "unknown")
      wrong.push(`step ${step}: outcome ${outcome}`)
    if (word === "conflict" || (word === "error" && outcome === "not-applied")) absent.add(step)
  }
  return { absent, wrong, isEnded: said.at(-1)?.word === "done", last }
}

/** The lines of a run, each an append. A last line without its end is not there. */
export const judgeLines = (lines: ReadonlyArray<string>, said: ReadonlyArray<Said>, steps: number): Judged => {
  const { absent, isEnded, last, wrong } = outcomes(said)
  const phantom: Array<string> = []
  const script = CrashScript.appends(steps).map((events) => events.map((event) => JSON.stringify(event)))
  const found = new Map<number, { readonly seq: number; readonly hash: string }>()
  let hash = sha256("wherefore.record/1\nrun-1")
  let seq = 0
  let from = 0
  for (const [at, line] of lines.entries()) {
    const row = JSON.parse(line) as {
      readonly seq: number
      readonly at: number
      readonly hash: string
      readonly events: ReadonlyArray<unknown>
    }
    const texts = row.events.map((event) => JSON.stringify(event))
    if (row.seq !== seq) wrong.push(`line ${at}: entry ${row.seq} in place of ${seq}`)
    for (const text of texts) hash = sha256(`${hash}\n${seq++}\n${row.at}\n${text}`)
    if (hash !== row.hash) wrong.push(`line ${at}: another hash`)
    const step = script.findIndex(
      (events, index) => index >= from && events.length === texts.length && events.every((text, i) => text === texts[i])
    )
    if (step < 0) phantom.push(`line ${at}: no step, or a part of one`)
    else {
      from = step + 1
      found.set(step, { seq: seq - 1, hash: row.hash })
      if (absent.has(step)) wrong.push(`step ${step}: said not to be there, and is`)
      if (step > last + (isEnded ? 0 : 1)) phantom.push(`step ${step}: was not begun`)
    }
  }
  const lost = said.flatMap(({ rest, step, word }) => {
    if (word !== "ack") return []
    const there = found.get(step)
    return there?.seq === Number(rest[0]) && there.hash === rest[1] ? [] : [`step ${step}`]
  })
  return { lost, phantom, wrong }
}

/** The artifacts that are there: what has a ticket, with its bytes if they are. */
export const judgeArtifacts = (
  files: ReadonlyArray<{ readonly ref: string; readonly text: string | undefined }>,
  said: ReadonlyArray<Said>,
  steps: number
): Judged => {
  const { absent, isEnded, last, wrong } = outcomes(said)
  const script = CrashScript.artifacts(steps)
  const phantom: Array<string> = []
  const seen = new Set<number>()
  const found = new Map<string, number>()
  for (const { ref, text } of files) {
    const step = text === undefined ? -1 : script.indexOf(text)
    if (text === undefined) wrong.push(`${ref}: a ticket without bytes`)
    else if (step < 0 || seen.has(step) || step > last + (isEnded ? 0 : 1)) phantom.push(`${ref}: step ${step}`)
    if (absent.has(step)) wrong.push(`step ${step}: said not to be there, and is`)
    seen.add(step)
    found.set(ref, step)
  }
  const lost = said.flatMap(({ rest, step, word }) =>
    word === "ack" && found.get(rest[0] ?? "") !== step ? [`step ${step}`] : []
  )
  return { lost, phantom, wrong }
}
