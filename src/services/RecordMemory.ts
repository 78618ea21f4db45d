/**
 * A `RecordMemory` is a record that ends with the program: for tests, examples and work that nobody asks about later.
 * Entries are kept as texts, so that nothing that a caller changes afterwards changes the past.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as EventText from "./EventText.ts"
import type * as Record from "./Record.ts"
import * as RecordChain from "./RecordChain.ts"
import * as RecordError from "./RecordError.ts"
import * as RecordInput from "./RecordInput.ts"
import * as RecordPage from "./RecordPage.ts"
import * as Wakeup from "./Wakeup.ts"

interface Kept {
  readonly at: number
  readonly text: string
  readonly hash: string
}

interface Run {
  readonly started: Event.RunStarted
  readonly kept: Array<Kept>
  readonly wakeup: Wakeup.Wakeup
  position: RecordChain.Position
  status?: Event.Status
}

/** How many entries a chunk has at most. */
const chunkSize = 1_024

const entryOf = (runId: string, seq: number, { at, hash, text }: Kept): Event.Entry => {
  const event: unknown = JSON.parse(text)
  return EventText.is(event) ? { runId, seq, at, event, hash } : absurd()
}

export const make = (): Context.Tag.Service<Record.Record> => {
  const runs = new Map<string, Run>()

  const entries = (run: Run, { from, to }: RecordInput.Range, live: boolean) =>
    Stream.unfoldChunkEffect(from, function next(at): Effect.Effect<Option.Option<readonly [Chunk.Chunk<Event.Entry>, number]>> {
      return Effect.suspend(() => {
      })
    })

  return {}
}
