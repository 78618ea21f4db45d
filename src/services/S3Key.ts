/**
 * An `S3Key` is where an object store keeps a part of an artifact. A key holds no other characters than letters, digits
 * and `. - _ ~ /`, which every store takes and every signature writes alike. See
 * `docs/decisions/0010-artifacts-in-an-object-store.md`.
 *
 * @internal
 */
import * as Option from "effect/Option"
import * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactMedium from "./ArtifactMedium.ts"

/** Tickets are listed, so that their keys say what planning has to know; bytes are found by ref. */
export type Kind = "tickets" | "bytes"

/** What the key of a ticket says of it, beside its scope. */
export type Row = Pick<Artifact.Meta, "ref" | "createdAt" | "bytes" | "expiresAt"> & { readonly order: number }

const maxKey = 1_024

/** The longest of what follows a scope: a ref, four numbers, and what parts them. */
const maxName = 26 + 4 * 25

/** The longest segment that has a place under a root, so that three of them do. */
export const maxSegment = (root: string): number =>
  Math.floor((maxKey - root.length - "tickets/".length - 3 - maxName) / 3)

/** A segment has no dot, and nothing but hexadecimal digits after a percent sign. */
const written = (segment: string): string => segment.replaceAll("%", ".")

const read = (segment: string): string => segment.replaceAll(".", "%")

/** What the keys of a scope's tickets or bytes begin with, and no other scope's. */
export const folder = (root: string, kind: Kind, { segments }: ArtifactMedium.Place): string =>
  `${root}${kind}/${segments.map((segment) => `${written(segment)}/`).join("")}`

export const bytesKey = (root: string, place: ArtifactMedium.Place, ref: Artifact.Ref): string =>
  `${folder(root, "bytes", place)}${ref}`

/** What the keys of the tickets of a ref begin with. There is one at most. */
export const ticketPrefix = (root: string, place: ArtifactMedium.Place, ref: Artifact.Ref): string =>
  `${folder(root, "tickets", place)}${ref}_`

const numeral = (value: number): string => String(value).replace("+", "")

const nameOf = ({ bytes, createdAt, expiresAt, order, ref }: Row): string =>
  [ref, numeral(createdAt), numeral(order), numeral(bytes), expiresAt === undefined ? "" : numeral(expiresAt)].join("_")

export const rowOf = ({ meta: { bytes, createdAt, expiresAt, ref }, order }: ArtifactMedium.Kept): Row => ({
  ref,
  createdAt,
  bytes,
  order,
  ...(expiresAt === undefined ? {} : { expiresAt })
})

export const ticketKey = (root: string, place: ArtifactMedium.Place, row: Row): string =>
  `${folder(root, "tickets", place)}${nameOf(row)}`

/** The row that the last part of a ticket's key says, if it is one. */
export const rowIn = (name: string): Option.Option<Row> => {
  const parts = name.slice("art_".length).split("_")
  const [ref, createdAt, order, bytes] = [`art_${parts[0]}`, Number(parts[1]), Number(parts[2]), Number(parts[3])]
  const expiresAt = parts[4] === "" ? undefined : Number(parts[4])
  const row: Row = { ref, createdAt, order, bytes, ...(expiresAt === undefined ? {} : { expiresAt }) }
  const isRow = Artifact.isRef(ref) && [createdAt, order, bytes, expiresAt ?? 0].every(Number.isFinite)
  return isRow && nameOf(row) === name ? Option.some(row) : Option.none()
}

/** Whose artifact a key is a part of, and which part. */
export interface Part {
  readonly kind: Kind
  readonly place: ArtifactMedium.Place
  readonly name: string
}

/** The part that a key under the root is, if the store makes such a key. */
export const partOf = (root: string, key: string): Option.Option<Part> => {
  const [kind, ...rest] = key.slice(root.length).split("/")
  const name = rest.pop() ?? ""
  if ((kind !== "tickets" && kind !== "bytes") || rest.length !== 3) return Option.none()
  return Option.flatMap(Artifact.decodeScope(rest.map(read)), (scope) => {
    const place = ArtifactMedium.placeOf(scope)
    return folder(root, kind, place) + name === key ? Option.some({ kind, place, name }) : Option.none()
  })
}
