/**
 * A `WhyThere` is what to ask of another run, to go on from a message that was carried from it.
 *
 * @internal
 */
import type { Question } from "./Chain.ts"
import * as Sources from "./Sources.ts"

/** What to ask of the run that a carried message comes from: of the value in a reply, or of the call. */
export const ask = ({ part, piece, text, tokens }: Sources.Found): Question | undefined => {
  const [first] = tokens
  if (piece.slot !== "messages" || first === undefined) return undefined
  const { message } = piece
  const { token } = first
  if (message.role === "tool") return { kind: "tool", toolCallId: message.toolCallId }
  if (message.role !== "assistant") return undefined
  const own = text.slice(token.start, token.end)
  if (part === "ids") {
    const named = message.toolCalls.find(({ toolCallId }) => Sources.find(toolCallId, own) !== -1)
    return named === undefined ? undefined : { kind: "tool", toolCallId: named.toolCallId }
  }
  const holding = Sources.partsOf(message).find(
    ({ offset, text }) => token.start >= offset && token.end <= offset + text.length
  )
  if (holding === undefined) return undefined
  const { call } = holding
  if (call === undefined) return { kind: "value", text: own }
  const named = message.toolCalls.find(({ toolCallId }) => call === toolCallId || call === `${toolCallId}:name`)
  return named === undefined ? undefined : { kind: "tool", toolCallId: named.toolCallId }
}
