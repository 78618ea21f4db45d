/**
 * A `RecordCase` is one promise of a `Record` layer, and what cases are made of.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Problem from "../kernel/Problem.ts"
import * as Record from "./Record.ts"

/** A promise that was not kept. */
export class CaseFailed extends Schema.TaggedError<CaseFailed>()("CaseFailed", Problem.fields) {
  override get message(): string {
    return Problem.render(this)
  }
}

export type Failure = CaseFailed | Record.RecordError | Record.RecordConflict | Record.Tampered

export interface Case {
  readonly name: string
  readonly effect: Effect.Effect<void, Failure, Record.Record>
}

/** A run's first event. */
export const started = (runId: string): Event.RunStarted => ({
  _tag: "RunStarted",
  runId,
  agent: "clerk",
  manifest: { limits: { passes: 3 } },
  input: "Which zone?"
})

/** A call of a tool. */
export const called = (iteration: number, args: unknown): Event.ToolCalled => ({
  _tag: "ToolCalled",
  iteration,
  toolCallId: `call-${iteration}`,
  toolName: "zone",
  args,
  replay: "pure"
})

/** What the person said more. */
export const received = (content: string): Event.MessageReceived => ({ _tag: "MessageReceived", content })

/** A run's last event. */
export const ended: Event.RunEnded = { _tag: "RunEnded", status: "answered", usage: { inputTokens: 7 }, passes: 1 }

const clip = (value: unknown) => Printable.clip(Printable.line(JSON.stringify(value) ?? "nothing"), 400)

export const same = (what: string, found: unknown, expected: unknown): Effect.Effect<void, CaseFailed> =>
  JSON.stringify(found) === JSON.stringify(expected)
    ? Effect.void
    : new CaseFailed({
        code: "WF-REC-020",
        what: `The layer does not keep its promise: ${what}.`,
        expected: clip(expected),
        found: clip(found),
        next: "Correct the layer.",
        outcome: "not-applied",
        retry: "never"
      })

export const append = (runId: string, seq: number, ...events: ReadonlyArray<Event.Event>) =>
  Effect.flatMap(Record.Record, (record) => record.append(runId, seq, events))

export const read = (runId: string, options?: { readonly from?: number; readonly to?: number }) =>
  Effect.flatMap(Record.Record, (record) => Stream.runCollect(record.read(runId, options))).pipe(
    Effect.map(Chunk.toReadonlyArray)
  )

export const tail = (runId: string, options?: { readonly from?: number }) =>
  Effect.flatMap(Record.Record, (record) => Stream.runCollect(record.tail(runId, options))).pipe(
    Effect.map(Chunk.toReadonlyArray)
  )

export const seqs = (entries: ReadonlyArray<Event.Entry>) => entries.map(({ seq }) => seq)
export const events = (entries: ReadonlyArray<Event.Entry>) => entries.map(({ event }) => event)

/** How an effect that has to fail fails. */
export const failure = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<E, CaseFailed, R> =>
  Effect.matchEffect(effect, {
    onFailure: Effect.succeed,
    onSuccess: () => Effect.flatMap(same("that this fails", "a success", "a failure"), () => Effect.never)
  })

/** Fails as it has to, with nothing applied, and says what to do next. */
export const refused = <A, R>(
  what: string,
  effect: Effect.Effect<A, Record.RecordError | Record.RecordConflict, R>,
  expected: Record.RecordError["reason"] | "RecordConflict"
) =>
  Effect.flatMap(failure(effect), (error) =>
    same(
      what,
      [error._tag === "RecordError" ? error.reason : error._tag, error.outcome, error.next === ""],
      [expected, "not-applied", false]
    )
  )

/** The program's clock, standing still. */
export const at =
  (ms: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const real = Clock.make()
    return Effect.withClock(effect, {
      [Clock.ClockTypeId]: Clock.ClockTypeId,
      unsafeCurrentTimeMillis: () => ms,
      currentTimeMillis: Effect.succeed(ms),
      unsafeCurrentTimeNanos: () => BigInt(ms) * 1_000_000n,
      currentTimeNanos: Effect.succeed(BigInt(ms) * 1_000_000n),
      sleep: (duration) => real.sleep(duration)
    })
  }
