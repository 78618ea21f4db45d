/**
 * An `AppendSize` is how much goes into one append of a run's record.
 *
 * @internal
 */
import type * as Event from "../kernel/Event.ts"

/** An append holds at most this many characters of text, so that it fits a record's line however it is escaped. */
export const maxAppendChars = 2_000_000

/** One event alone may take this many characters of JSON: a third of a line, since a character takes up to three bytes. */
export const maxEventChars = 5_000_000

/** About how many characters an event takes, of those that may be long. */
export const charsOf = (event: Event.Event): number => {
  switch (event._tag) {
    case "ModelReplied":
      return event.toolCalls.reduce(
        (sum, { args }) => sum + args.length,
        event.content.length +
          (event.reasoning?.length ?? 0) +
          (event.seal === undefined ? 0 : JSON.stringify(event.seal).length)
      )
    case "ToolCalled":
      return JSON.stringify(event.args).length
    case "ToolSettled":
      return event.served.length
    case "MessageCarried":
      return event.message.role === "assistant" ? JSON.stringify(event.message).length : event.message.content.length
    case "PieceDeclared":
      return event.text.length
    case "FindingDeclared":
    case "FindingConflicted":
    case "AbsenceDeclared":
    case "CoverageDeclared":
    case "SemanticsDeclared":
    case "ClaimsRead":
    case "ChildSettled":
    case "WindowTrimmed":
    case "SummaryAsked":
    case "SummaryReplied":
    case "ApprovalAsked":
    case "ArtifactMinted":
    case "ArtifactPresented":
      return JSON.stringify(event).length
    default:
      return 0
  }
}

/** How many of the events go into one append: as many as fit, and at least one. */
export const fitting = (events: ReadonlyArray<Event.Event>): number => {
  let chars = 0
  for (const [index, event] of events.entries()) {
    chars += charsOf(event) + 1_000
    if (chars > maxAppendChars && index > 0) return index
  }
  return events.length
}
