/**
 * A `Declared` text or definition is one as the record holds it, under the digest of what the model reads in it.
 *
 * @internal
 */
import type * as CallOutcome from "./CallOutcome.ts"
import type * as Event from "./Event.ts"
import * as Wire from "./Wire.ts"

/** A text of the system slot. `owner` is the skill whose instructions it is. */
export const piece = (
  { id, text }: { readonly id: string; readonly text: string },
  origin: Event.Origin,
  owner?: CallOutcome.Owner
): Event.PieceDeclared => ({
  _tag: "PieceDeclared",
  hash: Wire.systemHash(text),
  id,
  slot: "system",
  origin,
  ...(owner === undefined ? {} : { owner }),
  text
})

export const tool = (
  definition: Wire.ToolPiece["tool"],
  annotations: Event.ToolDeclared["annotations"]
): Event.ToolDeclared => ({ _tag: "ToolDeclared", hash: Wire.toolHash(definition), ...definition, annotations })
