/**
 * A `RecordMemory` is a record that ends with the program: for tests, examples and work that nobody asks about later.
 * Entries are kept as texts, so that nothing that a caller changes afterwards changes the past.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
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
  readonly agent: string
  readonly input: string
  readonly kept: Array<Kept>
  readonly wakeup: Wakeup.Wakeup
  position: RecordChain.Position
  /** The number of the first terminal event. */
  ended?: number
}

/** How many entries a chunk has at most. */
const chunkSize = 1_024

const unreadable = (runId: string, seq: number) =>
  RecordChain.failure(runId, { kind: "event", seq, good: seq, expected: "an event", found: "something else" })

/** The entries from `from` on, up to but not including `to`. */
const slice = (
  run: Run,
  from: number,
  to: number
): Either.Either<Chunk.Chunk<Event.Entry>, RecordError.RecordError> => {
  const { runId } = run.position
  const entries: Array<Event.Entry> = []
  for (const { at, hash, text } of run.kept.slice(from, to)) {
    const seq = from + entries.length
    const event: unknown = JSON.parse(text)
    if (!EventText.is(event)) return Either.left(unreadable(runId, seq))
    entries.push({ runId, seq, at, event, hash })
  }
  return Either.right(Chunk.unsafeFromArray(entries))
}

const entries = (
  run: Run,
  { from, to }: RecordInput.Range,
  live: boolean
): Stream.Stream<Event.Entry, RecordError.RecordError> => {
  type Next = Effect.Effect<Option.Option<readonly [Chunk.Chunk<Event.Entry>, number]>, RecordError.RecordError>
  const next = (at: number): Next =>
    Effect.suspend((): Next => {
      const last = live && run.ended !== undefined ? run.ended + 1 : Infinity
      const end = Math.min(to, last, run.kept.length, at + chunkSize)
      if (at < end) return Effect.map(slice(run, at, end), (chunk) => Option.some([chunk, end]))
      if (!live || at >= last) return Effect.succeedNone
      return Effect.zipRight(Wakeup.after(run.wakeup, run.wakeup.count), next(at))
    })
  return Stream.unfoldChunkEffect(from, next)
}

const summary = ({ agent, input, kept, position }: Run): Record.RunSummary => {
  const last = kept.at(-1)
  const event: unknown = last === undefined ? undefined : JSON.parse(last.text)
  return {
    runId: position.runId,
    agent,
    input,
    startedAt: kept[0]?.at ?? 0,
    lastAt: last?.at ?? 0,
    entries: kept.length,
    ...(EventText.is(event) && event._tag === "RunEnded" ? { status: event.status } : {})
  }
}

const keyOf = (run: Run) => ({ runId: run.position.runId, startedAt: run.kept[0]?.at ?? 0, run })

const begin = ({ agent, input, runId }: Event.RunStarted): Run => ({
  agent,
  input,
  kept: [],
  wakeup: Wakeup.make(),
  position: RecordChain.start(runId)
})

const add = (run: Run, at: number, { ended, texts }: RecordInput.Draft): void => {
  const before = run.position
  const hashes = RecordChain.links(before, at, texts)
  for (const [index, text] of texts.entries()) run.kept.push({ at, text, hash: hashes[index] ?? "" })
  if (ended !== undefined) run.ended ??= before.seq + ended.index
  run.position = { runId: before.runId, seq: before.seq + texts.length, hash: hashes.at(-1) ?? before.hash }
  Wakeup.notify(run.wakeup)
}

type Service = Context.Tag.Service<Record.Record>

export const make = (): Service => {
  const runs = new Map<string, Run>()

  const read = (runId: string, range: Either.Either<RecordInput.Range, RecordError.RecordError>, live: boolean) =>
    Stream.suspend(() => {
      if (Either.isLeft(range)) return Stream.fail(range.left)
      const run = runs.get(runId)
      return run === undefined ? Stream.fail(RecordError.notFound(runId)) : entries(run, range.right, live)
    })

  return {
    append: (runId, expectedSeq, events) =>
      Effect.flatMap(RecordInput.now, (at): ReturnType<Service["append"]> => {
        const draft = RecordInput.append(runId, expectedSeq, events)
        if (Either.isLeft(draft)) return draft.left
        const { started } = draft.right
        const run = runs.get(runId) ?? (started === undefined ? undefined : begin(started))
        const actual = run?.position.seq ?? 0
        if (run === undefined || actual !== expectedSeq) return RecordError.conflict(runId, expectedSeq, actual)
        runs.set(runId, run)
        add(run, at, draft.right)
        return Effect.succeed({ seq: run.position.seq - 1, hash: run.position.hash })
      }),
    read: (runId, options) => read(runId, RecordInput.range(runId, options), false),
    tail: (runId, options) => read(runId, RecordInput.range(runId, options), true),
    list: (options) =>
      Effect.suspend(() =>
        Either.map(RecordPage.of(Array.from(runs.values(), keyOf), options), ({ cursor, rows }) => ({
          runs: rows.map(({ run }) => summary(run)),
          ...(cursor === undefined ? {} : { cursor })
        }))
      )
  }
}
