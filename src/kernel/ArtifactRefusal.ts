/**
 * An `ArtifactRefusal` is why a call did not get the artifacts that it named. What there was instead is told in the past
 * tense, since the model reads it again later.
 *
 * @internal
 */
import type * as Artifact from "./Artifact.ts"
import * as Printable from "./Printable.ts"
import type * as Refusal from "./Refusal.ts"
import * as SafeId from "./SafeId.ts"

/** A text that a model or a tool chose, as it stands in one of our sentences. */
export const spoken = (text: string): string => Printable.quote(text, 48)

/** How many tickets a refusal lists. */
export const listed = 10

const ticketText = ({ kind, label, ref }: Artifact.Meta, hasKind: boolean): string => {
  const told = [...(hasKind ? [spoken(kind)] : []), ...(label === undefined || label === "" ? [] : [spoken(label)])]
  return told.length === 0 ? ref : `${ref} (${told.join(", ")})`
}

const ticketsText = (tickets: ReadonlyArray<Artifact.Meta>, hasKind: boolean): string =>
  tickets
    .slice(0, listed)
    .map((ticket) => ticketText(ticket, hasKind))
    .join(", ")

/** The ref that was named is nobody's here: missing, expired, malformed and another scope's cannot be told apart. */
export const missing = (named: string, live: ReadonlyArray<Artifact.Meta> | undefined): Refusal.Refusal => ({
  tag: "ArtifactMissing",
  law: "An artifact that is not there is one that never was.",
  code: "WF-ART-010",
  what: `No artifact ${spoken(named)} was found when this call was made.`,
  next:
    live === undefined
      ? "Which artifacts there were could not be found out; go on without it."
      : live.length === 0
        ? "There was no artifact then: go on without it."
        : `The newest artifacts then: ${ticketsText(live, true)}.`,
  outcome: "not-applied",
  retry: "never"
})

/** The store did not answer. */
export const unavailable = (tool: string, what: string): Refusal.Refusal => ({
  tag: "ArtifactUnavailable",
  law: "A store that cannot be read is not an empty one.",
  code: "WF-ART-011",
  what: `${spoken(tool)} was not run: ${Printable.clip(Printable.line(what), 400)}`,
  next: "It may be called again later; go on without it.",
  outcome: "not-applied",
  retry: "safe-with-same-key"
})

/** What the live artifacts of a wanted kind were; absent if they could not be listed. */
export interface Offered {
  readonly kind: string
  readonly live?: ReadonlyArray<Artifact.Meta>
}

const offeredText = ({ kind, live }: Offered): string => {
  if (live === undefined) return `Those of kind ${spoken(kind)} could not be listed.`
  return live.length === 0
    ? `There was none of kind ${spoken(kind)} then.`
    : `Those of kind ${spoken(kind)} were then: ${ticketsText(live, false)}.`
}

const most = { failures: 16, kinds: 2 } as const

const some = (texts: ReadonlyArray<string>, max: number): string =>
  `${texts.slice(0, max).join("; ")}${texts.length > max ? ` and ${texts.length - max} more` : ""}`

/** Arguments did not name what the tool wants. `failures` and `issues` are sentence parts, all that was wrong among them. */
export const wantUnmet = (
  tool: string,
  failures: ReadonlyArray<string>,
  issues: ReadonlyArray<string>,
  offered: ReadonlyArray<Offered>
): Refusal.Refusal => ({
  tag: "WantUnmet",
  law: "A tool works on artifacts that are there, and of the kind that it wants.",
  code: "WF-ART-012",
  what: `${spoken(tool)} was not run: ${some([...failures, ...issues], most.failures)}.`,
  next: [
    ...offered.slice(0, most.kinds).map(offeredText),
    ...(offered.length > most.kinds ? [`There were ${offered.length - most.kinds} more kinds that it wanted.`] : []),
    "Call it again with refs that fit, or go on without it."
  ].join(" "),
  outcome: "not-applied",
  retry: "never"
})

/** An id of an argument as it stands at the begin of a part. */
export const argumentText = (argument: string): string => SafeId.print(argument)
