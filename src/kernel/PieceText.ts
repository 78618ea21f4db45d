/**
 * A `PieceText` is exactly what the model reads in a piece of a wire.
 *
 * @internal
 */
import type * as Wire from "./Wire.ts"

export const join = (parts: ReadonlyArray<string>): string => parts.filter((part) => part !== "").join("\n")

/** A reply with calls is its text, then a line for each call. */
export const of = (piece: Wire.Piece): string => {
  switch (piece.slot) {
    case "system":
      return piece.text
    case "messages": {
      const { message } = piece
      if (message.role !== "assistant") return message.content
      const calls = message.toolCalls.map(({ args, toolName }) => `${toolName} ${args}`)
      return [...(message.content === "" ? [] : [message.content]), ...calls].join("\n")
    }
    case "tools":
      return join([piece.tool.name, piece.tool.description ?? "", JSON.stringify(piece.tool.schema)])
  }
}
