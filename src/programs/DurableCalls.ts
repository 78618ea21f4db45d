/**
 * `DurableCalls` are what is asked of durable runs from outside: any process can ask, and the engine and the record answer.
 *
 * @internal
 */
import * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type * as Decision from "../kernel/Decision.ts"
import type * as Event from "../kernel/Event.ts"
import * as Outcome from "../kernel/Outcome.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Run from "../kernel/Run.ts"
import type * as State from "../kernel/State.ts"
import * as Waiting from "../kernel/Waiting.ts"
import * as Record from "../services/Record.ts"
import * as RecordError from "../services/RecordError.ts"
import type * as Agent from "./Agent.ts"
import * as AgentDecisions from "./AgentDecisions.ts"
import type * as AgentOptions from "./AgentOptions.ts"
import * as AgentReview from "./AgentReview.ts"
import * as DurableError from "./DurableError.ts"
import * as DurableRun from "./DurableRun.ts"
import * as LoadedRun from "./LoadedRun.ts"
import * as RunId from "./RunId.ts"

export interface AwaitOptions {
  readonly until?: "ended" | "waiting"
}

type Services = WorkflowEngine.WorkflowEngine | Record.Record

const load = (runId: string) =>
  Effect.catchIf(
    Effect.asSome(Effect.map(LoadedRun.load(runId), ({ state }) => state)),
    ({ reason }) => reason === "RunNotFound",
    () => Effect.succeedNone
  )

const isValid = (runId: string): boolean => RecordError.runIdGrammar.test(runId)
const named = (runId: string) => (isValid(runId) ? Effect.void : DurableError.invalidRunId(runId))

const start = (
  agents: ReadonlyMap<string, Agent.Agent<unknown, unknown>>,
  agentName: string,
  input: string,
  options: Omit<AgentOptions.RunOptions, "steering"> = {}
) =>
  Effect.gen(function* () {
    const runId = options.runId ?? (yield* RunId.make)
    yield* named(runId)
    const agent = agents.get(agentName)
    if (agent === undefined) return yield* DurableError.unknownAgent(agentName, Array.from(agents.keys()))
    yield* AgentReview.validate(agent, input, options)
    const given = Printable.wellFormed(input)
    const started = Option.getOrUndefined(yield* load(runId))?.started
    if (started !== undefined && (started.agent !== agentName || started.input !== given)) {
      return yield* DurableError.otherRun(runId)
    }
    const { scope, tags } = options
    const more = { ...(tags === undefined ? {} : { tags }), ...(scope === undefined ? {} : { scope }) }
    yield* Effect.catchAll(
      DurableRun.workflow.execute({ runId, agent: agentName, input: given, ...more }, { discard: true }),
      () => Effect.void
    )
    return runId
  })

/** Wakes a run for what was added to its record from a place on. */
const wakeFrom = (runId: string, place: number, isNews: (event: Event.Event) => boolean) =>
  Effect.flatMap(Record.Record, (record) =>
    Stream.runForEach(record.read(runId, { from: place }), ({ event, seq }) =>
      isNews(event) ? DurableRun.wake(runId, seq) : Effect.void
    )
  )

/** By then a process that was to wake a run, and was lost before it had, is not waited for any more. */
const beforeLong = "10 seconds"

const signal = (runId: string, decision: Decision.Approval | Decision.Resolution) =>
  Effect.gen(function* () {
    yield* named(runId)
    const place = Option.match(yield* load(runId), { onNone: () => 0, onSome: ({ seq }) => seq })
    // The run looks at its record even if this process ends before it has woken it.
    if (place > 0) yield* DurableRun.wakeAfter(runId, `told/${place}`, beforeLong)
    const decided = yield* "ticket" in decision
      ? AgentDecisions.decide(runId, decision)
      : AgentDecisions.resolve(runId, decision)
    yield* wakeFrom(runId, place, ({ _tag }) => _tag === "ApprovalDecided" || _tag === "CallResolved")
    return decided
  })

const again = { times: 16, while: ({ _tag }: { readonly _tag: string }) => _tag === "RecordConflict" }

/** Asks for the end of a run, if it is there and has not ended, and of those that it started. Gives what it found. */
const askEnd = (
  runId: string,
  by: string
): Effect.Effect<State.State | undefined, Record.RecordError | Record.RecordConflict, Record.Record> =>
  Effect.gen(function* () {
    const { append } = yield* Record.Record
    const state = Option.getOrUndefined(yield* load(runId))
    if (state === undefined || state.ended !== undefined) return state
    if (state.cancelled === undefined) yield* append(runId, state.seq, [{ _tag: "CancelAsked", by }])
    for (const child of state.children ?? []) yield* Effect.retry(askEnd(child.runId, by), again)
    return state
  })

const cancel = (runId: string, by: string) =>
  Effect.gen(function* () {
    yield* named(runId)
    const place = Option.match(yield* load(runId), { onNone: () => 0, onSome: ({ seq }) => seq })
    // The run looks at its record even if this process ends before it has woken it.
    if (place > 0) yield* DurableRun.wakeAfter(runId, `told/${place}`, beforeLong)
    const state = yield* askEnd(runId, by)
    if (state === undefined) return yield* DurableError.notBegun(runId)
    yield* DurableRun.wake(runId, state.seq)
  }).pipe(Effect.retry(again))

const outcomeOf = (runId: string, state: State.State): Outcome.Outcome<unknown> =>
  state.ended === undefined
    ? Outcome.waiting(runId, state)
    : Outcome.of(runId, state, state.ended, state.answered?.value)

/** Fails with what has ended the workflow, if something has. */
const failure = (runId: string) =>
  Effect.gen(function* () {
    const polled = yield* Effect.exit(DurableRun.workflow.poll(yield* DurableRun.executionId(runId)))
    if (Exit.isFailure(polled) || polled.value?._tag !== "Complete") return
    yield* Effect.catchAllDefect(polled.value.exit, () => Effect.void)
  })

const awaited = (runId: string, { until = "waiting" }: AwaitOptions = {}) =>
  Effect.gen(function* () {
    yield* named(runId)
    const { tail } = yield* Record.Record
    const isThere = (state: State.State): boolean =>
      state.ended !== undefined || (until === "waiting" && Waiting.isWaiting(state))
    const begun = Effect.flatMap(load(runId), (found) =>
      Option.isSome(found) ? Effect.succeed(found.value) : DurableError.notBegun(runId)
    )
    const reached = Effect.gen(function* () {
      const now = yield* Effect.retry(begun, {
        schedule: Schedule.intersect(Schedule.spaced("200 millis"), Schedule.recurs(300)),
        while: ({ _tag }) => _tag === "DurableError"
      })
      if (isThere(now)) return now
      const then = yield* tail(runId, { from: now.seq }).pipe(
        Stream.mapAccum(now, (state, { event }) => {
          const next = Run.step(state, event)
          return [next, next]
        }),
        Stream.filter(isThere),
        Stream.runHead
      )
      return Option.getOrElse(then, () => now)
    })
    const watched = Effect.forever(Effect.zipRight(failure(runId), Effect.sleep("2 seconds")))
    return outcomeOf(runId, yield* Effect.raceFirst(reached, watched))
  })

/** What is asked, with the engine and the record that answer. */
export const make = (
  agents: ReadonlyMap<string, Agent.Agent<unknown, unknown>>,
  services: Context.Context<Services>
) => {
  const here = <A, E>(effect: Effect.Effect<A, E, Services>): Effect.Effect<A, E> => Effect.provide(effect, services)
  return {
    start: (agentName: string, input: string, options?: Omit<AgentOptions.RunOptions, "steering">) =>
      here(start(agents, agentName, input, options)),
    signal: (runId: string, decision: Decision.Approval | Decision.Resolution) => here(signal(runId, decision)),
    await: (runId: string, options?: AwaitOptions) => here(awaited(runId, options)),
    cancel: (runId: string, by: string) => here(cancel(runId, by))
  }
}
