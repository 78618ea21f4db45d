/**
 * The `SentTools` are the names of the tools in a request's body as it was sent, read back from it.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

const Named = Schema.Struct({ name: Schema.String })
const Tool = Schema.Union(Schema.Struct({ function: Named }), Named)
const Body = Schema.Struct({ tools: Schema.optional(Schema.NullOr(Schema.Array(Tool))) })
const readText = Schema.decodeUnknownOption(Schema.parseJson(Body))
const readValue = Schema.decodeUnknownOption(Body)

/** Nothing if the body is absent or cannot be read; a body without tools has none. */
export const read = (body: unknown): ReadonlyArray<string> | undefined => {
  if (typeof body !== "string" && (typeof body !== "object" || body === null || Array.isArray(body))) return undefined
  // An object that computes can fail when it is looked at.
  const decoded = Either.getOrElse(
    Either.try(() => (typeof body === "string" ? readText(body) : readValue(body))),
    () => Option.none()
  )
  if (Option.isNone(decoded)) return undefined
  return (decoded.value.tools ?? []).map((tool) => ("function" in tool ? tool.function.name : tool.name))
}
