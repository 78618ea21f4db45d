/**
 * A `Boundary` is what an answer is given with, where the agent asks for it: what the tools of the run declared of where
 * they looked. It is the runtime's text, after the model's.
 *
 * @internal
 */
import * as Answering from "./Answering.ts"
import * as Coverage from "./Coverage.ts"
import * as Digest from "./Digest.ts"
import * as FindingState from "./FindingState.ts"
import * as MessageHash from "./MessageHash.ts"
import type * as State from "./State.ts"
import * as WindowState from "./WindowState.ts"

/** The answer that a reply becomes: the reply, and the boundary after it if there is one. JSON has none. */
export const compose = ({ coverage = [], started }: State.State, final: State.Final): string => {
  const text = Answering.textOf(final)
  return started?.manifest.coverage?.inAnswer === true && final.given === undefined
    ? Coverage.compose(text, coverage)
    : text
}

/** The conversation ends with the answer as it was given. `seq` is the event that gave it. */
export const tell = (state: State.State, content: string, seq: number): State.State => {
  const last = state.messages.at(-1)
  if (last?.message.role !== "assistant" || last.message.content === content) return state
  const message = { ...last.message, content }
  const given = { ...last, seq, message, hash: MessageHash.of(message) }
  const messages = [...state.messages.slice(0, -1), given]
  if (state.window !== undefined) {
    const { findings } = state
    const told = findings === undefined ? {} : { findings: FindingState.retell(findings, given) }
    return WindowState.rehash({ ...state, messages, ...told })
  }
  if (state.findings === undefined) {
    return { ...state, messages, messagesHash: messages.reduce((rolled, { hash }) => Digest.roll(rolled, hash), "") }
  }
  const findings = FindingState.retell(state.findings, given)
  return { ...state, messages, findings, messagesHash: findings.rolls.at(-1) ?? "" }
}

/** Where the boundary of an answer begins, and who declared what stands there. */
export interface Boundary {
  readonly text: string
  readonly start: number
  readonly declared: ReadonlyArray<Coverage.DeclaredCoverage>
}

export const of = ({ answered, coverage = [], final }: State.State): Boundary | undefined => {
  if (answered === undefined || final === undefined || final.given !== undefined) return undefined
  if (answered.content.length <= final.content.length) return undefined
  const start = final.content.length
  return { text: answered.content.slice(start), start, declared: coverage }
}
