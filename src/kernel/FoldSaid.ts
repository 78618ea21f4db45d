/**
 * A `FoldSaid` is how what is said joins the conversation of a run.
 *
 * @internal
 */
import * as Either from "effect/Either"
import type * as Event from "./Event.ts"
import * as FindingState from "./FindingState.ts"
import * as Law from "./Law.ts"
import type * as Message from "./Message.ts"
import type * as State from "./State.ts"
import * as Transcript from "./Transcript.ts"
import * as WindowState from "./WindowState.ts"
import * as Wire from "./Wire.ts"

export type Said = Pick<Wire.MessagePiece, "id" | "origin" | "seq" | "cause" | "from" | "message" | "placed">

/** Closed messages join the conversation; the transcript keeps only what is open. */
export const say = (state: State.State, said: ReadonlyArray<Said>): State.State => {
  const pieces = said.map((one): Wire.MessagePiece => ({
    ...one,
    slot: "messages",
    hash: Wire.messageHash(one.message)
  }))
  const findings = state.findings === undefined ? undefined : FindingState.say(state.findings, pieces)
  return {
    ...state,
    transcript: state.transcript.open === undefined ? Transcript.empty : state.transcript,
    messages: [...state.messages, ...pieces],
    messagesHash: WindowState.said(state, pieces, findings),
    ...(findings === undefined ? {} : { findings })
  }
}

/** Something that a reply is expected to: the person's words, or ours in their place. */
export const hear = (
  state: State.State,
  content: string,
  by: Wire.Cause["by"],
  origin: Event.Origin = "person",
  seq: number = state.seq - 1
): State.State => {
  const next = Transcript.append(state.transcript, { role: "user", content })
  if (Either.isLeft(next)) return Law.broken(state, "Nothing is said while calls are open.")
  const { final: _, ...open } = state
  const message: Message.User = { role: "user", content }
  const heard = origin === "person" ? { ...open, heard: { content, seq } } : open
  return say(heard, [{ id: `message:${seq}`, origin, seq, cause: { by, seq }, message }])
}

/** Who wrote a message, as far as its role and outcome say. */
export const originOf = (message: Message.Message): Event.Origin =>
  message.role === "user" ? "person" : message.role === "assistant" ? "model" : wroteIt(message.outcome)

/** Who wrote the text of a settlement: the tool, or we in its place. */
const wroteIt = (outcome: Message.Settlement): Event.Origin =>
  outcome === "ran-ok" || outcome === "absent" || outcome === "ran-error" ? "tool" : "runtime"

/** Where a reply stands in the conversation. */
export const replyPlace = (state: State.State, seq: number): Omit<Said, "message"> => ({
  id: `reply:${seq}`,
  origin: "model",
  seq,
  cause: { by: "replied", seq: state.marks.at(-1)?.seq ?? seq }
})
