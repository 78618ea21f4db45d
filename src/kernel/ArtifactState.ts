/**
 * An `ArtifactState` is what a run knows of artifacts: those that its calls stored, read or lost, and those that were
 * shown to the person. It is the fold of its artifact events, and tells nothing of what the store holds beside them.
 *
 * @since 0.1.0
 */
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import type * as Artifact from "./Artifact.ts"
import * as ArtifactEvent from "./ArtifactEvent.ts"

/** Where the record tells something: the event, and the call that it is of. */
export interface Place extends ArtifactEvent.Call {
  readonly seq: number
}

export interface Read extends Place {
  readonly via: ArtifactEvent.ArtifactResolved["via"]
  /** The argument that named it; absent if the tool asked for it itself. */
  readonly argument?: string
}

/** An artifact as far as the record tells of it. `kind`, `bytes`, `origin` and `parentRefs` are those of its ticket. */
export interface Known {
  readonly ref: Artifact.Ref
  /** The event that told of it first. */
  readonly since: number
  readonly kind?: string
  readonly bytes?: number
  readonly origin?: Artifact.Origin
  readonly parentRefs?: ReadonlyArray<Artifact.Ref>
  /** The whole ticket, and the call that stored it, of an artifact of this run. */
  readonly ticket?: Artifact.Meta
  readonly minted?: Place
  readonly reads: ReadonlyArray<Read>
  readonly gone?: Place & { readonly reason: ArtifactEvent.ArtifactExpired["reason"] | "deleted" }
}

export interface Presented extends Place {
  readonly ref: Artifact.Ref
  readonly as: string
  readonly snapshot: ArtifactEvent.Snapshot
}

export interface ArtifactState {
  readonly known: HashMap.HashMap<string, Known>
  readonly presented: ReadonlyArray<Presented>
  /** How often a call did not get what it asked for. */
  readonly refused: number
}

export const initial: ArtifactState = { known: HashMap.empty(), presented: [], refused: 0 }

export const get = ({ known }: ArtifactState, ref: string): Known | undefined =>
  Option.getOrUndefined(HashMap.get(known, ref))

/** All that the record tells of, in the order in which it did. */
export const list = ({ known }: ArtifactState): ReadonlyArray<Known> =>
  Array.from(HashMap.values(known)).sort((a, b) => a.since - b.since)

const learn = (self: ArtifactState, ref: Artifact.Ref, seq: number, more: Partial<Known>): ArtifactState => {
  const before: Known = get(self, ref) ?? { ref, since: seq, reads: [] }
  return { ...self, known: HashMap.set(self.known, ref, { ...before, ...more }) }
}

/** The state after an event, which is the `seq`th of the record. */
export const step = (self: ArtifactState, event: ArtifactEvent.ArtifactEvent, seq: number): ArtifactState => {
  const { iteration, toolCallId, toolName } = event
  const place = { seq, iteration, toolCallId, toolName }
  switch (event._tag) {
    case "ArtifactMinted": {
      const ticket = ArtifactEvent.ticketOf(event)
      const { bytes, kind, origin, parentRefs, ref } = ticket
      return learn(self, ref, seq, {
        kind,
        bytes,
        ticket,
        minted: place,
        ...(origin === undefined ? {} : { origin }),
        ...(parentRefs === undefined ? {} : { parentRefs })
      })
    }
    case "ArtifactResolved": {
      const { argument, bytes, kind, origin, parentRefs, ref, via } = event
      const read: Read = { ...place, via, ...(argument === undefined ? {} : { argument }) }
      return learn(self, ref, seq, {
        kind,
        bytes,
        ...(origin === undefined ? {} : { origin }),
        ...(parentRefs === undefined ? {} : { parentRefs }),
        reads: [...(get(self, ref)?.reads ?? []), read]
      })
    }
    case "ArtifactExpired": {
      const { bytes, kind, reason, ref } = event
      return learn(self, ref, seq, { kind, bytes, gone: { ...place, reason } })
    }
    case "ArtifactDeleted":
      return learn(self, event.ref, seq, { gone: { ...place, reason: "deleted" } })
    case "ArtifactRefused":
      return { ...self, refused: self.refused + 1 }
    case "ArtifactPresented": {
      const { as, ref, snapshot } = event
      return { ...self, presented: [...self.presented, { ...place, ref, as, snapshot }] }
    }
  }
}
