/**
 * To `Present` is to show an artifact to the person: the model names a ticket, and the record keeps what can be said of it
 * when it is gone. The model is told that it was shown, and never what is stored.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import type * as Artifact from "./Artifact.ts"
import * as ArtifactEvent from "./ArtifactEvent.ts"
import * as ArtifactRefusal from "./ArtifactRefusal.ts"
import * as Declared from "./Declared.ts"
import type * as Event from "./Event.ts"
import * as Printable from "./Printable.ts"
import * as Refusal from "./Refusal.ts"

export const toolName = "present"

const text = (description: string) => ({ type: "string", description })

/** The tool as the model is told of it, the same in every pass. */
export const declared: Event.ToolDeclared = Declared.tool(
  {
    name: toolName,
    description:
      "Shows an artifact to the person, who sees what is stored. You are told that it was shown, and not what it holds.",
    schema: {
      type: "object",
      properties: {
        ref: text("The ref of the artifact, as its ticket has it."),
        as: text("What it is shown as, for example: chart, table, report."),
        label: text("What to call it, if its own label will not do.")
      },
      required: ["ref", "as"],
      additionalProperties: false
    }
  },
  { replay: "pure", by: "runtime" }
)

/** Whether it is our tool in a run: elsewhere the name is anybody's. */
export const isTool = (started: Event.RunStarted | undefined, name: string): boolean =>
  name === toolName && started?.manifest.artifacts?.present === true

export interface Asked {
  readonly ref: string
  readonly as: string
  readonly label?: string
}

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

/** What a call asks for, or why it cannot be looked for at all. */
export const read = (args: unknown): Either.Either<Asked, Refusal.Refusal> => {
  const given: { readonly [name: string]: unknown } = { ...(typeof args === "object" ? args : {}) }
  for (const name of ["ref", "as"]) {
    if (!isText(given[name])) {
      return Either.left(Refusal.toolArgsInvalid(toolName, [`${name} must be a text that is not blank`]))
    }
  }
  const { as: word, label, ref } = given
  return isText(ref) && isText(word)
    ? Either.right({
        ref,
        as: Printable.wellFormed(word),
        ...(isText(label) ? { label: Printable.wellFormed(label) } : {})
      })
    : Either.left(Refusal.toolArgsInvalid(toolName, ["ref and as must be texts"]))
}

/** What the model is told of what was shown, and what stays of it. */
export interface PresentedResult {
  readonly presented: true
  readonly ref: Artifact.Ref
  readonly as: string
  readonly snapshot: ArtifactEvent.Snapshot
}

export type Resolved =
  | { readonly ok: true; readonly result: PresentedResult }
  | { readonly ok: false; readonly refusal: Refusal.Refusal; readonly missedRef?: string }

/**
 * What a call comes to. `head` is the ticket that the store has under the ref, if it has one; `listing` the newest tickets
 * that were live then, or nothing if they could not be listed. It is read only if there is no ticket.
 */
export const resolve = (
  args: unknown,
  head: Artifact.Meta | undefined,
  listing: ReadonlyArray<Artifact.Meta> | undefined
): Resolved => {
  const asked = read(args)
  if (Either.isLeft(asked)) return { ok: false, refusal: asked.left }
  const { as: word, label, ref } = asked.right
  if (head === undefined) return { ok: false, refusal: ArtifactRefusal.missing(ref, listing), missedRef: ref }
  const { label: own = "" } = head
  const snapshot = ArtifactEvent.snapshot(head, label ?? own)
  return { ok: true, result: { presented: true, ref: head.ref, as: word, snapshot } }
}

/** A show as the record tells it. */
export const presented = (
  { iteration, toolCallId, toolName }: ArtifactEvent.Call,
  { as: word, ref, snapshot }: PresentedResult
): ArtifactEvent.ArtifactPresented => ({
  _tag: "ArtifactPresented",
  iteration,
  toolCallId,
  toolName,
  ref,
  as: word,
  snapshot
})
