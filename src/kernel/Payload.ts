/**
 * A `Payload` is data as it is stored: one sequence of bytes, and the shape that says what they are, since bytes alone
 * cannot tell `"7"` from `7`. Decoding gives back what was encoded, or the value is refused.
 *
 * @internal
 */
import { bytesToUtf8, utf8ToBytes } from "@noble/hashes/utils"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import * as Json from "./Json.ts"
import * as Printable from "./Printable.ts"

export const Shape = Schema.Literal("text", "bytes", "json")
export type Shape = typeof Shape.Type

export interface Payload {
  readonly shape: Shape
  readonly bytes: Uint8Array
}

/** Where a value is outside of what can be stored, as a path of keys, and why. It shows nothing of the value. */
export interface Unfaithful {
  readonly path: string
  readonly reason: string
}

/** A well-formed text, bytes, or a value of the closed JSON domain. The bytes are the payload's own. */
export const encode = (data: unknown): Either.Either<Payload, Unfaithful> => {
  if (data instanceof Uint8Array) return Either.right({ shape: "bytes", bytes: Uint8Array.from(data) })
  if (typeof data === "string") {
    return data === Printable.wellFormed(data)
      ? Either.right({ shape: "text", bytes: utf8ToBytes(data) })
      : Either.left({ path: "", reason: "it holds half a surrogate pair" })
  }
  return Either.mapBoth(Json.canonical(data), {
    onLeft: ({ path, reason }) => ({ path, reason }),
    onRight: (text): Payload => ({ shape: "json", bytes: utf8ToBytes(text) })
  })
}

/** The decoder takes a byte order mark for a sign and drops it; here it is a character. */
const toText = (bytes: Uint8Array): string => {
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return marked ? `\ufeff${bytesToUtf8(bytes)}` : bytesToUtf8(bytes)
}

/** What was encoded, detached from the bytes. Fails only for bytes that are no payload of that shape. */
export const decode = ({ bytes, shape }: Payload): Either.Either<unknown, Unfaithful> => {
  switch (shape) {
    case "bytes":
      return Either.right(Uint8Array.from(bytes))
    case "text":
      return Either.right(toText(bytes))
    case "json":
      return Either.try({
        try: (): unknown => JSON.parse(toText(bytes)),
        catch: () => ({ path: "", reason: "it is not JSON" })
      })
  }
}
