/**
 * A `MessageHash` is the digest of what the model reads in a message.
 *
 * @internal
 */
import * as Digest from "./Digest.ts"
import type * as Message from "./Message.ts"

export const of = (message: Message.Message): string => {
  switch (message.role) {
    case "user":
      return Digest.of(JSON.stringify([message.role, message.content]))
    case "assistant":
      return Digest.of(
        JSON.stringify([
          message.role,
          message.content,
          message.toolCalls.map((call) => [call.toolCallId, call.toolName, call.args]),
          ...(message.sealed === undefined
            ? []
            : [[message.sealed.provider, message.sealed.reasoning, message.sealed.blocks]])
        ])
      )
    case "tool":
      return Digest.of(
        JSON.stringify([message.role, message.toolCallId, message.toolName, message.outcome, message.content])
      )
  }
}
