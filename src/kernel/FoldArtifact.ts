/**
 * A `FoldArtifact` is how an event about artifacts changes the state of a run, and which laws it can break.
 *
 * @internal
 */
import type * as ArtifactEvent from "./ArtifactEvent.ts"
import * as ArtifactState from "./ArtifactState.ts"
import type * as Event from "./Event.ts"
import * as Law from "./Law.ts"
import * as State from "./State.ts"

const lawBroken = (
  before: State.State,
  event: ArtifactEvent.ArtifactEvent,
  artifacts: ArtifactState.ArtifactState
): string | undefined => {
  if (!State.unsettled(before).some(({ toolCallId }) => toolCallId === event.toolCallId)) {
    return "Only a call that is open does something with artifacts."
  }
  if (event._tag === "ArtifactMinted") {
    return ArtifactState.get(artifacts, event.ref)?.minted === undefined ? undefined : "An artifact is stored once."
  }
  if (event._tag !== "ArtifactPresented") return undefined
  const isLookedUp = ArtifactState.get(artifacts, event.ref)?.reads.some(
    ({ toolCallId, via }) => toolCallId === event.toolCallId && via === "head"
  )
  return isLookedUp === true ? undefined : "What is presented was found by the call that presents it."
}

/** The state after the event. */
export const step = (state: State.State, event: ArtifactEvent.ArtifactEvent): State.State => {
  const before = state.artifacts ?? ArtifactState.initial
  const law = lawBroken(state, event, before)
  const next = { ...state, artifacts: ArtifactState.step(before, event, state.seq - 1) }
  return law === undefined ? next : Law.broken(next, law)
}

/** The state before a settlement: the ticket that stands for a result is that of an artifact which its call stored. */
export const placed = (
  state: State.State,
  { iteration, placed, toolCallId }: Pick<Event.ToolSettled, "iteration" | "placed" | "toolCallId">
): State.State => {
  if (placed === undefined) return state
  const { minted } = ArtifactState.get(state.artifacts ?? ArtifactState.initial, placed.ref) ?? {}
  return minted?.toolCallId === toolCallId && minted.iteration === iteration
    ? state
    : Law.broken(state, "A result that is placed was stored by its call.")
}
