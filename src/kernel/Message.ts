/**
 * A `Message` is something said in a conversation: by the person, by the model, or by a tool that the model called.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Seal from "./Seal.ts"

/** What became of a call. `unknown`: it was started, then lost, and may have acted. */
export const Settlement = Schema.Literal(
  "ran-ok",
  "ran-error",
  "absent",
  "refused",
  "denied",
  "aborted",
  "truncated",
  "unknown"
)
export type Settlement = typeof Settlement.Type

/**
 * A tool the model asked for. `args` is the text exactly as the model wrote it: JSON if all went well. `duplicateOf`
 * names the call of the same reply that already had the model's id; such a call is never run. `cut` says that the reply
 * ended before the arguments did.
 */
export const ToolCall = Schema.Struct({
  toolCallId: Schema.NonEmptyString,
  toolName: Schema.String,
  args: Schema.String,
  duplicateOf: Schema.optionalWith(Schema.NonEmptyString, { exact: true }),
  cut: Schema.optionalWith(Schema.Literal(true), { exact: true })
})
export type ToolCall = typeof ToolCall.Type

export const User = Schema.Struct({ role: Schema.Literal("user"), content: Schema.String })
export type User = typeof User.Type

/** `sealed` is for the provider that wrote it: others are not sent it, nor any reasoning. */
export const Assistant = Schema.Struct({
  role: Schema.Literal("assistant"),
  content: Schema.String,
  toolCalls: Schema.Array(ToolCall),
  sealed: Schema.optionalWith(Seal.Sealed, { exact: true })
})
export type Assistant = typeof Assistant.Type

/** What a call came to. `content` is what the model is served. */
export const Tool = Schema.Struct({
  role: Schema.Literal("tool"),
  toolCallId: Schema.NonEmptyString,
  toolName: Schema.String,
  outcome: Settlement,
  content: Schema.String
})
export type Tool = typeof Tool.Type

export const Message = Schema.Union(User, Assistant, Tool)
export type Message = typeof Message.Type

/**
 * The calls of a reply with ids that are present and unique: a missing id is made from the pass and the position; the
 * second call with an id gets one of its own and names the first. An id that `isTaken`, by an earlier reply, gives way to
 * one of its own too.
 */
export const identify = (
  iteration: number,
  calls: ReadonlyArray<Omit<ToolCall, "duplicateOf">>,
  isTaken: (toolCallId: string) => boolean = () => false
): ReadonlyArray<ToolCall> => {
  const given = new Set(calls.map((call) => call.toolCallId))
  const taken = new Set<string>()
  const fresh = (base: string): string => {
    for (let n = 0; ; n++) {
      const id = n === 0 ? base : `${base}.${n}`
      if (!taken.has(id) && !given.has(id) && !isTaken(id)) return id
    }
  }
  return calls.map(({ args, cut, toolCallId, toolName }, index): ToolCall => {
    const duplicate = taken.has(toolCallId)
    const own =
      toolCallId !== "" && !duplicate && !isTaken(toolCallId) ? toolCallId : fresh(`call-${iteration}-${index}`)
    taken.add(toolCallId)
    taken.add(own)
    return {
      toolCallId: own,
      toolName,
      args,
      ...(duplicate && toolCallId !== "" ? { duplicateOf: toolCallId } : {}),
      ...(cut === undefined ? {} : { cut })
    }
  })
}
