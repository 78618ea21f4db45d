/**
 * An `Instant` is a reply whose parts are known beforehand. Whoever folds it may read it as a function, which costs a
 * tenth of running it; to everyone else it is a stream like any other.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import type { Part } from "./LLM.ts"
import type { LLMError } from "./LLMError.ts"

/** All that a run of the stream gives: its parts, then the error that ends it if there is one; `delay` goes first. */
export interface Given {
  readonly delay?: Duration.DurationInput
  readonly parts: ReadonlyArray<Part>
  readonly error?: LLMError
}

const toStream = ({ delay, error, parts }: Given): Stream.Stream<Part, LLMError> => {
  const given = Stream.fromChunk(Chunk.unsafeFromArray(parts))
  const whole = error === undefined ? given : Stream.concat(given, Stream.fail(error))
  return delay === undefined ? whole : Stream.unwrap(Effect.as(Effect.sleep(delay), whole))
}

const known = new WeakMap<Stream.Stream<Part, LLMError>, () => Given>()

/** A stream of what `read` gives. It is called once for each run. */
export const make = (read: () => Given): Stream.Stream<Part, LLMError> => {
  const stream = Stream.suspend(() => toStream(read()))
  known.set(stream, read)
  return stream
}

/** The function behind a stream that was made here. */
export const find = (stream: Stream.Stream<Part, LLMError>): (() => Given) | undefined => known.get(stream)
