/**
 * A `ServedRecord` is what the wire of a pass held, read off the wire itself. There is one for every pass, even if it
 * is empty.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as CallOutcome from "./CallOutcome.ts"

/** A tool may have several owners, of whom each counts. Results accumulate; `form` is how one was last served. */
export const ServedRecord = Schema.Struct({
  pieces: Schema.Array(Schema.Struct({ id: Schema.NonEmptyString, owner: CallOutcome.Owner })),
  tools: Schema.Array(Schema.Struct({ name: Schema.String, owners: Schema.Array(CallOutcome.Owner) })),
  results: Schema.Array(Schema.Struct({ toolCallId: Schema.NonEmptyString, form: Schema.String }))
})
export type ServedRecord = typeof ServedRecord.Type

export const empty: ServedRecord = { pieces: [], tools: [], results: [] }

/** Everyone who had a piece or a tool on the wire. */
export const owners = ({ pieces, tools }: ServedRecord): ReadonlyArray<CallOutcome.Owner> => [
  ...pieces.map(({ owner }) => owner),
  ...tools.flatMap(({ owners }) => owners)
]
