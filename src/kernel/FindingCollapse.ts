/**
 * A `FindingCollapse` is what a judged result is served as: a ticket that says how it was judged, in none of the model's
 * words. History keeps the result; a revised judgement brings it back.
 *
 * @internal
 */
import * as CallOutcome from "./CallOutcome.ts"
import type * as Event from "./Event.ts"
import * as FindingFold from "./FindingFold.ts"
import type * as FindingRow from "./FindingRow.ts"
import type * as Message from "./Message.ts"

const collapses = ({ standing, unknownId }: FindingRow.Standing, mode: Event.CollapseMode): boolean => {
  if (mode === "off" || unknownId === true || standing === "open") return false
  return mode === "ledger-only" || standing !== "fact"
}

const ticketOf = ({ ref, standing, toolCallId }: FindingRow.Standing): string =>
  JSON.stringify({ collapsed: true, standing, toolCallId, ...(ref === undefined ? {} : { ref }) })

/** How a result is sent: as a ticket if it is judged so and that is shorter. `saved` counts the characters it saves. */
export const form = (
  content: string,
  row: FindingRow.Standing | undefined,
  mode: Event.CollapseMode
): { readonly content: string; readonly saved: number } => {
  if (row === undefined || !collapses(row, mode)) return { content, saved: 0 }
  const ticket = ticketOf(row)
  const saved = content.length - ticket.length
  return saved > 0 ? { content: ticket, saved } : { content, saved: 0 }
}

/**
 * The messages with tickets for what is judged, where a ticket is shorter: the same array if there is none, and
 * otherwise new messages only for those, of which only `content` differs.
 */
export const collapse = (
  messages: ReadonlyArray<Message.Message>,
  rows: ReadonlyArray<FindingRow.Row> | undefined,
  mode: Event.CollapseMode = "judged"
): ReadonlyArray<Message.Message> => {
  if (rows === undefined || mode === "off") return messages
  const { hasStanding, standingOf } = FindingFold.fold(rows)
  if (!hasStanding) return messages
  const collapsed = messages.map((message) => {
    if (message.role !== "tool" || !CallOutcome.hasRun(message.outcome)) return message
    const { content, saved } = form(message.content, standingOf.get(message.toolCallId), mode)
    return saved > 0 ? { ...message, content } : message
  })
  return collapsed.some((message, at) => message !== messages[at]) ? collapsed : messages
}
