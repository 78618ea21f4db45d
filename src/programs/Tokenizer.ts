/**
 * A `Tokenizer` counts tokens where no provider has counted them yet: with the package `gpt-tokenizer`, if it is installed,
 * and otherwise by the bytes of the text. The record says which.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as Event from "../kernel/Event.ts"
import * as TokenCount from "../kernel/TokenCount.ts"
import type * as Window from "../kernel/Window.ts"

/** The package's time grows with the square of a text that has no breaks, so that it is given this much at once. */
const slice = 1_024

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** The text in slices, none of which ends in half a character. */
const slices = (text: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  for (let from = 0; from < text.length;) {
    const end = from + slice
    const to = isHigh(text.charCodeAt(end - 1)) ? end + 1 : end
    parts.push(text.slice(from, to))
    from = to
  }
  return parts
}

/** What a text says is no special token, whatever it looks like. */
const asText = { disallowedSpecial: new Set<string>() }

/** A counter of its own, which keeps what it has counted. */
const load: Effect.Effect<TokenCount.Counter> = Effect.match(
  Effect.tryPromise(() => import("gpt-tokenizer/encoding/o200k_base")),
  {
    onFailure: () => ({ ...TokenCount.estimate }),
    onSuccess: ({ countTokens }) => ({
      by: "tokenizer" as const,
      name: "gpt-tokenizer o200k_base",
      count: (text: string) => slices(text).reduce((sum, part) => sum + countTokens(part, asText), 0)
    })
  }
)

/** The counter of a run, where its window or its budget goes by tokens. */
export const needed = (
  window: Window.Strategy | undefined,
  { money, tokens }: Event.Limits = {}
): Effect.Effect<{ readonly counter?: TokenCount.Counter }> =>
  (window === undefined || window._tag === "KeepLast") && money === undefined && tokens === undefined
    ? Effect.succeed({})
    : Effect.map(load, (counter) => ({ counter }))
