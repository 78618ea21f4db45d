/**
 * `Riding` is what the pieces and tools of a pass come to as events.
 *
 * @internal
 */
import type * as Event from "./Event.ts"
import type * as State from "./State.ts"

/** What rides in a pass, whoever brought it. */
export interface Riding {
  readonly pieces: ReadonlyArray<Event.PieceDeclared>
  readonly tools: ReadonlyArray<Event.ToolDeclared>
  readonly skipped: ReadonlyArray<string>
}

/** The texts and tools that the record does not hold yet, and the selection if it is not the one that rides. */
export const select = ({ pieces, skipped, tools }: Riding, state: State.State): ReadonlyArray<Event.Event> => {
  const { selection } = state
  const same =
    selection.system.length === pieces.length &&
    selection.tools.length === tools.length &&
    pieces.every(
      ({ hash, id }, index) => selection.system[index]?.id === id && selection.system[index].hash === hash
    ) &&
    tools.every(({ hash }, index) => selection.tools[index]?.hash === hash)
  if (same) return []
  const isKnown = (event: Event.PieceDeclared | Event.ToolDeclared): boolean =>
    event._tag === "PieceDeclared"
      ? state.pieces.some(({ declared }) => declared.id === event.id && declared.hash === event.hash)
      : state.tools.some(({ declared }) => declared.name === event.name && declared.hash === event.hash)
  const fresh = [...pieces, ...tools].filter((event) => !isKnown(event))
  // A text that was declared before its id had another one is named by its hash.
  const texts = pieces.flatMap(({ hash, id }) => {
    const last = state.pieces.findLast(({ declared }) => declared.id === id)?.declared
    const isFresh = fresh.some((event) => event._tag === "PieceDeclared" && event.id === id)
    return isFresh || last === undefined || last.hash === hash ? [] : [{ id, hash }]
  })
  return [
    ...fresh,
    {
      _tag: "PiecesSelected",
      iteration: state.iteration + 1,
      activeIds: pieces.map(({ id }) => id),
      toolNames: tools.map(({ name }) => name),
      ...(texts.length === 0 ? {} : { texts }),
      ...(skipped.length === 0 ? {} : { skipped: skipped.map((id) => ({ id, reason: "parked" })) })
    }
  ]
}
