/**
 * A `Decoding` is a foreign value read by a schema of the application. The schema may run code of the application's, and
 * that code may die on a value that nobody thought of: such a value does not fit, and the run goes on.
 *
 * @internal
 */
import * as Effect from "effect/Effect"
import type * as ParseResult from "effect/ParseResult"
import * as Issues from "../kernel/Issues.ts"

const died: ReadonlyArray<string> = ["the value could not be read: the code of its schema died on it"]

/** What a value is read as, or what is wrong with it. */
export const read = <A>(
  decoding: () => Effect.Effect<A, ParseResult.ParseError>
): Effect.Effect<A, ReadonlyArray<string>> =>
  Effect.suspend(decoding).pipe(
    Effect.mapError(Issues.list),
    Effect.catchAllDefect(() => Effect.fail(died))
  )
