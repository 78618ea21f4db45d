/**
 * `Entropy` is where random bytes come from. It has a cryptographic source unless a test says otherwise, to get the same
 * refs each time.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export class Entropy extends Context.Reference<Entropy>()("wherefore/services/Entropy", {
  defaultValue: (): { readonly bytes: (count: number) => Effect.Effect<Uint8Array> } => ({
    bytes: (count) => Effect.sync(() => crypto.getRandomValues(new Uint8Array(count)))
  })
}) {}

/** The same bytes in the same order for the same seed: for tests, never for names that others must not guess. */
export const layerSeeded = (seed: number): Layer.Layer<never> =>
  Layer.suspend(() => {
    let state = seed >>> 0
    // SplitMix32.
    const next = (): number => {
      state = (state + 0x9e3779b9) >>> 0
      const a = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
      const b = Math.imul(a ^ (a >>> 13), 0xc2b2ae35)
      return ((b ^ (b >>> 16)) >>> 0) & 0xff
    }
    return Layer.succeed(Entropy, {
      bytes: (count) => Effect.sync(() => Uint8Array.from({ length: count }, next))
    })
  })
