/**
 * A `Placement` is where the result of a call goes: to the model as it is, or, if it is long, to the store, and its ticket to
 * the model. The call stays what it was: routes, leases and steps judge what was read of the result before.
 *
 * @internal
 */
import type * as Artifact from "./Artifact.ts"
import type * as CallOutcome from "./CallOutcome.ts"

export interface Placement {
  /** In UTF-16 units of the text that the model would read. */
  readonly maxInlineChars: number
}

/** Whether a text is one to be stored. */
export const isOver = (placement: Placement | undefined, text: string): boolean =>
  placement !== undefined && text.length > placement.maxInlineChars

/** The exact text of a tool's result as it is stored. `isText`: it is the result itself, and not its JSON. */
export const input = (toolName: string, text: string, isText: boolean): Omit<Artifact.PutInput, "origin"> => ({
  kind: `tool-result/${toolName}`,
  mediaType: isText ? "text/plain" : "application/json",
  data: text,
  label: `result of ${toolName}`
})

/** What the model is served in place of a text of so many characters. */
export const placed = (
  { bytes, kind, mediaType, ref }: Artifact.Meta,
  chars: number,
  { maxInlineChars }: Placement
): CallOutcome.PlacedToolResult => ({
  placed: true,
  ref,
  kind,
  mediaType,
  bytes,
  reason: `The result had ${chars} characters, more than ${maxInlineChars}, and was stored under this ref.`
})
