/**
 * A `WireHash` is the digest of what a model is sent: of a whole wire, or of a piece of it. It is computed from the content
 * alone, so that two wires with one hash read the same.
 *
 * @internal
 */
import * as Digest from "./Digest.ts"
import type * as Event from "./Event.ts"
import * as MessageHash from "./MessageHash.ts"
import type * as Wire from "./Wire.ts"

export const ofText = (text: string): string => Digest.of(text)

export const ofMessage = MessageHash.of

export const ofTool = (tool: Wire.ToolPiece["tool"]): string =>
  Digest.of(JSON.stringify([tool.name, tool.description ?? null, tool.schema]))

export const ofPiece = (piece: Wire.Piece): string => {
  switch (piece.slot) {
    case "system":
      return ofText(piece.text)
    case "messages":
      return ofMessage(piece.message)
    case "tools":
      return ofTool(piece.tool)
  }
}

const parametersText = (parameters: Event.Parameters): string =>
  JSON.stringify([
    parameters.temperature ?? null,
    parameters.topP ?? null,
    parameters.maxOutputTokens ?? null,
    parameters.seed ?? null,
    parameters.stopSequences ?? null,
    ...(parameters.answerSchema === undefined ? [] : [parameters.answerSchema])
  ])

export const sameParameters = (left: Event.Parameters, right: Event.Parameters): boolean =>
  left === right || parametersText(left) === parametersText(right)

/** The hash of a wire from the rolled digests of its three slots. */
export const combine = (
  rolled: { readonly system: string; readonly messages: string; readonly tools: string },
  parameters: Event.Parameters
): string => Digest.of(`${rolled.system}\n${rolled.messages}\n${rolled.tools}\n${parametersText(parameters)}`)

/** The hash of a wire whose pieces have these. */
export const ofHashes = (
  { messages, system, tools }: { readonly [S in Wire.Piece["slot"]]: ReadonlyArray<string> },
  parameters: Event.Parameters
): string => {
  const roll = (hashes: ReadonlyArray<string>): string => hashes.reduce((rolled, hash) => Digest.roll(rolled, hash), "")
  return combine({ system: roll(system), messages: roll(messages), tools: roll(tools) }, parameters)
}

export const of = ({ messages, parameters, system, tools }: Wire.Wire): string =>
  ofHashes({ system: system.map(ofPiece), messages: messages.map(ofPiece), tools: tools.map(ofPiece) }, parameters)
