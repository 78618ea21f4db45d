/**
 * A `ScreenDraft` is what has come of a reply that the model is still writing: the end of it, for the line that says what
 * goes on now.
 *
 * @internal
 */
import type * as LLM from "../services/LLM.ts"
import * as ScreenLine from "./ScreenLine.ts"

export interface Draft {
  readonly iteration: number
  readonly verb: "says" | "thinks" | "calls"
  /** The end of what came, in UTF-16 units as they came; `whole` if nothing was before it. */
  readonly end: string
  readonly whole: boolean
}

/** No terminal is wider than this, in UTF-16 units. */
const kept = 2_000

const verbs = { Text: "says", Reasoning: "thinks", ToolCall: "calls" } as const

type Shown = Extract<LLM.Part, { readonly _tag: keyof typeof verbs }>

const isShown = (part: LLM.Part): part is Shown => Object.hasOwn(verbs, part._tag)

const textOf = (part: Shown): string => (part._tag === "ToolCall" ? `${part.toolName} ${part.args}` : part.delta)

/** The draft with what came next. What is of another kind than what was there takes its place. */
export const add = (draft: Draft | undefined, iteration: number, parts: ReadonlyArray<LLM.Part>): Draft | undefined => {
  let next = draft?.iteration === iteration ? draft : undefined
  for (const part of parts) {
    if (!isShown(part)) continue
    const verb = verbs[part._tag]
    const before = next?.verb === verb && verb !== "calls" ? next : { end: "", whole: true }
    const text = before.end + textOf(part)
    next = { iteration, verb, end: text.slice(-kept), whole: before.whole && text.length <= kept }
  }
  return next
}

/** The end of a draft in one line of at most so many cells. */
export const line = ({ end, whole }: Draft, cells: number): string => {
  const text = end.trimStart().replaceAll(/\s+/g, " ")
  if (whole && ScreenLine.width(text) <= cells) return text
  return `…${ScreenLine.lastWhole(text, cells - 1, whole)}`
}
