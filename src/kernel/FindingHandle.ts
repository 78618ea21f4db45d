/**
 * A `FindingHandle` is the short name that the library gives a result, `r1` for the first of the run, in the order of
 * settlement. It stands in a line of its own before the result, on the wire only.
 *
 * @internal
 */
import * as CallOutcome from "./CallOutcome.ts"
import type * as Message from "./Message.ts"

/** Both ways between handles and call ids. A call id that came twice keeps its first handle, and answers to both. */
export interface Handles {
  readonly ofId: ReadonlyMap<string, string>
  readonly idOf: ReadonlyMap<string, string>
}

/** The handles of a run's results: their call ids in settlement order. */
export const handles = (resultIds: ReadonlyArray<string>): Handles => {
  const ofId = new Map<string, string>()
  const idOf = new Map<string, string>()
  for (const [at, id] of resultIds.entries()) {
    const handle = `r${at + 1}`
    idOf.set(handle, id)
    if (!ofId.has(id)) ofId.set(id, handle)
  }
  return { ofId, idOf }
}

const form = /^r[1-9][0-9]*$/

/** The call id that a model means: what has the form of a handle is one. An unknown handle stays as it was typed. */
export const resolve = ({ idOf }: Handles, typed: string): { readonly id: string; readonly isKnown: boolean } => {
  if (!form.test(typed)) return { id: typed, isKnown: true }
  const id = idOf.get(typed)
  return id === undefined ? { id: typed, isKnown: false } : { id, isKnown: true }
}

/** The messages with the handle before each result: the same array if there is none. To be done after collapsing. */
export const label = (messages: ReadonlyArray<Message.Message>, { ofId }: Handles): ReadonlyArray<Message.Message> => {
  const labelled = messages.map((message) => {
    if (message.role !== "tool" || !CallOutcome.hasRun(message.outcome)) return message
    const handle = ofId.get(message.toolCallId)
    return handle === undefined ? message : { ...message, content: `${handle}\n${message.content}` }
  })
  return labelled.some((message, at) => message !== messages[at]) ? labelled : messages
}
