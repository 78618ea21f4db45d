/**
 * A `Seal` is what a provider wants back with a reply that it wrote: signatures, ids and ciphertext, which mean something
 * to it alone. It says in which order the reply was written, too.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

const opaque = Schema.optionalWith(Schema.Unknown, { exact: true })

/**
 * A part of a reply: so many UTF-16 units more of its text or its reasoning, or its next call. `opaque` is JSON, as the
 * provider gave it.
 */
export const Block = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("text", "reasoning"), chars: Schema.NonNegativeInt, opaque }),
  Schema.Struct({ kind: Schema.Literal("call"), opaque })
)
export type Block = typeof Block.Type

/** `provider` is who is sent the blocks again, and nobody else. */
export const Seal = Schema.Struct({ provider: Schema.NonEmptyString, blocks: Schema.Array(Block) })
export type Seal = typeof Seal.Type

/** A seal with the reasoning that its blocks cut. */
export const Sealed = Schema.Struct({ ...Seal.fields, reasoning: Schema.String })
export type Sealed = typeof Sealed.Type

/** A part of a reply with its content. */
export type Part<C> =
  | { readonly kind: "text" | "reasoning"; readonly text: string; readonly opaque?: unknown }
  | { readonly kind: "call"; readonly call: C; readonly opaque?: unknown }

/** The parts of a reply, in the order in which they were written. What no block names comes last. */
export const parts = <C>(
  { blocks, reasoning }: Sealed,
  content: string,
  calls: ReadonlyArray<C>
): ReadonlyArray<Part<C>> => {
  const left = { text: content, reasoning }
  let called = 0
  const named = blocks.flatMap((block): ReadonlyArray<Part<C>> => {
    const sealed = block.opaque === undefined ? {} : { opaque: block.opaque }
    if (block.kind === "call") {
      const call = calls[called++]
      return call === undefined ? [] : [{ kind: "call", call, ...sealed }]
    }
    const text = left[block.kind].slice(0, block.chars)
    left[block.kind] = left[block.kind].slice(block.chars)
    return text === "" && block.opaque === undefined ? [] : [{ kind: block.kind, text, ...sealed }]
  })
  const rest: ReadonlyArray<Part<C>> = left.text === "" ? [] : [{ kind: "text", text: left.text }]
  return [...named, ...rest, ...calls.slice(called).map((call) => ({ kind: "call", call }) as const)]
}
