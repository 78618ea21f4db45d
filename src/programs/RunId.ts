/**
 * A `RunId` is the name of a run that was given none.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"

const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

/** Fifty bits, in letters that cannot be mistaken for each other. */
export const make = Effect.map(Effect.replicateEffect(Random.nextIntBetween(0, alphabet.length), 10), (digits) =>
  digits.map((digit) => alphabet.charAt(digit)).join("")
)
