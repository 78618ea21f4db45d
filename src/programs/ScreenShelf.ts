/**
 * A `ScreenShelf` is what a run did with artifacts, for a person: what the model showed, and the tickets of what was stored,
 * read and lost.
 *
 * @internal
 */
import * as ArtifactState from "../kernel/ArtifactState.ts"
import type * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import * as SafeId from "../kernel/SafeId.ts"
import type * as State from "../kernel/State.ts"
import * as ScreenLine from "./ScreenLine.ts"

const named = (id: string): string => (SafeId.print(id) === id ? id : SafeId.literal(id, Infinity))

/** What may be told of an artifact: its kind, its size and its label. */
export const ticketText = ({
  bytes,
  kind,
  label
}: {
  readonly bytes?: number
  readonly kind?: string
  readonly label?: string
}): string =>
  [
    ...(kind === undefined ? [] : [kindText(kind)]),
    ...(bytes === undefined ? [] : [ScreenLine.bytes(bytes)]),
    ...(label === undefined || label.trim() === "" ? [] : [SafeId.literal(label, 200)])
  ].join(" · ")

/** A kind is bare if nothing in it could be taken for ours. */
const kindText = (kind: string): string => (/^[\w.:/+-]{1,64}$/.test(kind) ? kind : SafeId.literal(kind))

interface Filed {
  readonly verb: string
  readonly style?: ScreenLine.Style
  readonly text: string
}

const goneWords: { readonly [R in NonNullable<ArtifactState.Known["gone"]>["reason"]]: string } = {
  ttl: "its time was up",
  "max-bytes": "made room",
  "max-count": "made room",
  deleted: "deleted"
}

/** What an event says, in a few words for the live display. A look at a ticket is not shown. */
export const filed = (event: ArtifactEvent.ArtifactEvent): Filed | undefined => {
  switch (event._tag) {
    case "ArtifactMinted":
      return { verb: "stored", text: `${event.ref} ${ticketText(event)}` }
    case "ArtifactResolved":
      return event.via === "head" ? undefined : { verb: "read", text: `${event.ref} ${ticketText(event)}` }
    case "ArtifactExpired":
      return { verb: "expired", style: "warn", text: `${event.ref} ${ticketText(event)}: ${goneWords[event.reason]}` }
    case "ArtifactDeleted":
      return { verb: "deleted", text: event.ref }
    case "ArtifactRefused": {
      const { argument, op, reason, ref } = event
      const what = [op, ...(argument === undefined ? [] : [named(argument)]), ...(ref === undefined ? [] : [ref])]
      return { verb: "missed", style: "warn", text: `${what.join(" ")}: ${reason}` }
    }
    case "ArtifactPresented":
      return { verb: "showed", style: "good", text: presentedText(event) }
  }
}

const presentedText = ({ as: word, ref, snapshot }: Pick<ArtifactState.Presented, "as" | "ref" | "snapshot">) =>
  [ref, "as", named(word), "·", ticketText(snapshot)].join(" ")

const margin = " ".repeat(9)

const row = (
  label: string,
  text: string,
  seq: number,
  room: ScreenLine.Room,
  style?: ScreenLine.Style
): ScreenLine.Line => {
  const closing = `#${seq}`
  const fitted = ScreenLine.fitIn(text, room, margin.length + closing.length + 2)
  return ScreenLine.ending(
    [ScreenLine.span(ScreenLine.pad(label, margin.length), "faint"), ScreenLine.span(fitted, style)],
    ScreenLine.span(closing, "faint"),
    room
  )
}

const more = (hidden: number, what: string): ReadonlyArray<ScreenLine.Line> =>
  hidden <= 0 ? [] : [[ScreenLine.span(`${margin}… ${ScreenLine.counted(hidden, what)} (--full)`, "faint")]]

/** What the model showed. What has expired since is still told of, and said to be gone. */
export const presented = (
  { artifacts }: Pick<State.State, "artifacts">,
  room: ScreenLine.Room,
  most: number
): ReadonlyArray<ScreenLine.Line> => {
  if (artifacts === undefined) return []
  const all = artifacts.presented
  const shown = room.full === true ? all : all.slice(0, most)
  return [
    ...shown.map((one, index) => {
      const gone = ArtifactState.get(artifacts, one.ref)?.gone
      const isGone = gone !== undefined && gone.seq > one.seq
      const text = `${presentedText(one)}${isGone ? ` · gone since #${gone.seq}` : ""}`
      return row(index === 0 ? "showed" : "", text, one.seq, room, isGone ? "warn" : undefined)
    }),
    ...more(all.length - shown.length, "more that was shown")
  ]
}

const callsText = (verb: string, calls: ReadonlyArray<ArtifactState.Place>, room: ScreenLine.Room): string =>
  Array.from(
    new Set(calls.map(({ iteration, toolName }) => `${ScreenLine.brief(toolName, 24, room)}, pass ${iteration}`))
  )
    .map((by) => `${verb} ${by}`)
    .join(" · ")

const shelfText = (one: ArtifactState.Known, room: ScreenLine.Room): string => {
  const reads = one.reads.filter(({ via }) => via === "get")
  return [
    `${one.ref} ${ticketText({ ...one, ...one.ticket })}`.trimEnd(),
    one.minted === undefined ? "not stored in this run" : callsText("by", [one.minted], room),
    ...(reads.length === 0 ? [] : [callsText("read by", reads, room)]),
    ...(one.parentRefs === undefined ? [] : [`from ${one.parentRefs.join(", ")}`]),
    ...(one.gone === undefined ? [] : [`gone: ${goneWords[one.gone.reason]} (#${one.gone.seq})`])
  ].join(" · ")
}

/** What was shown, and the tickets of the run in the order in which its record tells of them. */
export const lines = (state: Pick<State.State, "artifacts">, room: ScreenLine.Room): ReadonlyArray<ScreenLine.Line> => {
  const { artifacts } = state
  if (artifacts === undefined) return []
  const all = ArtifactState.list(artifacts)
  const shown = room.full === true ? all : all.slice(0, 8)
  return [
    ...presented(state, room, 8),
    ...shown.map((one, index) => row(index === 0 ? "shelf" : "", shelfText(one, room), one.since, room)),
    ...more(all.length - shown.length, "more artifact")
  ]
}

/** The same as data. */
export const toJson = ({ artifacts }: Pick<State.State, "artifacts">) =>
  artifacts === undefined
    ? {}
    : { presented: artifacts.presented, artifacts: ArtifactState.list(artifacts), refused: artifacts.refused }
