/**
 * An `ArtifactTicket` is a ticket as durable media keep it: one line of text that proves itself. A line that was changed,
 * moved to another scope or put under another ref is known for it.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { createHash } from "node:crypto"
import * as Artifact from "../kernel/Artifact.ts"
import * as Payload from "../kernel/Payload.ts"
import type { Kept, Place } from "./ArtifactMedium.ts"

const Fields = Schema.Struct({
  format: Schema.Literal(1),
  order: Schema.NonNegativeInt,
  shape: Payload.Shape,
  hash: Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/)),
  meta: Artifact.Meta
})

const decodeFields = Schema.decodeUnknownEither(Fields)

const proof = ({ prefix }: Place, json: string): string =>
  createHash("sha256").update(`wherefore.ticket/1\n${prefix}\n${json}`).digest("hex")

/** The line, with its line feed: the proof, a space, and the ticket as JSON. */
export const encode = (place: Place, { hash, meta, order, shape }: Kept): string => {
  const json = JSON.stringify({ format: 1, order, shape, hash, meta })
  return `${proof(place, json)} ${json}\n`
}

/** What the line keeps, or why it is not that of this ref in this place. */
export const decode = (place: Place, ref: Artifact.Ref, line: string): Either.Either<Kept, string> => {
  const [, given, json] = /^([0-9a-f]{64}) ([^\n]*)\n$/.exec(line) ?? []
  if (json === undefined) return Either.left("its ticket is not a whole line")
  if (given !== proof(place, json)) return Either.left("its ticket was changed, or is another's")
  return Either.flatMap(
    Either.try({ try: (): unknown => JSON.parse(json), catch: () => "its ticket is not JSON" }),
    (value): Either.Either<Kept, string> => {
      if (Predicate.hasProperty(value, "format") && value.format !== 1) {
        return Either.left("its ticket was written by a later version")
      }
      const fields = Either.mapLeft(decodeFields(value), () => "its ticket has not the fields of one")
      return Either.flatMap(fields, ({ hash, meta, order, shape }) =>
        meta.ref === ref ? Either.right({ hash, meta, order, shape }) : Either.left("its ticket is another's")
      )
    }
  )
}
