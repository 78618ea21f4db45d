/**
 * A `FoldArtifact` is how an event about artifacts changes the state of a run, and which laws it can break.
 *
 * @internal
 */
import type * as ArtifactEvent from "./ArtifactEvent.ts"
import * as ArtifactState from "./ArtifactState.ts"
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
