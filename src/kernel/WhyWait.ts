/**
 * A `WhyWait` says who had a say in a call: a person who approved or denied it, a rule that denied it, or a person who found
 * out what became of it.
 *
 * @internal
 */
import type * as Event from "./Event.ts"
import * as Printable from "./Printable.ts"

interface Say {
  readonly root: "person" | "app"
  readonly what: string
  /** The event that says so, if it is not the settlement. */
  readonly seq?: number
}

const quoted = (text: string): string => Printable.quote(text, 200)

/** What a person found, in a line. */
export const found = (event: Event.Event | undefined): string | undefined =>
  event?._tag === "CallResolved" ? `found ${event.verdict} by ${quoted(event.by)}: ${quoted(event.because)}` : undefined

const decided = ({ by, note, verdict }: Event.Event & { readonly _tag: "ApprovalDecided" }): string =>
  `${verdict === "approve" ? "approved" : "denied"} by ${quoted(by)}${note === undefined ? "" : `: ${quoted(note)}`}`

/** Who had a say in a call, in the order of the record. */
export const of = (
  events: ReadonlyArray<Event.Event>,
  { error, iteration, outcome, toolCallId }: Event.ToolSettled
): ReadonlyArray<Say> => {
  const persons = events.flatMap((event, seq): ReadonlyArray<Say> => {
    if (event._tag !== "ApprovalDecided" && event._tag !== "CallResolved") return []
    if (event.iteration !== iteration || event.toolCallId !== toolCallId) return []
    const what = event._tag === "ApprovalDecided" ? decided(event) : found(event)
    return what === undefined ? [] : [{ root: "person", what, seq }]
  })
  const isRuled = outcome === "denied" && error?.tag === "PolicyDenied"
  return isRuled ? [...persons, { root: "app", what: Printable.line(error.what) }] : persons
}
