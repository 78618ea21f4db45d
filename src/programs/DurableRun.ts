/**
 * A `DurableRun` is a run as a workflow. Its memory is its record, so that the workflow has none of its own: whenever it is
 * executed, it reads the record and goes on from there. See `docs/decisions/0020-durable-runs.md`.
 *
 *     execute ──▶ drive ──ended──▶ done
 *                  ▲  └──waits for a person──▶ suspended ──a decision, or the timer──▶ execute
 *                  └── the record was away, or somebody else had it: after a pause
 *
 * @internal
 */
import * as DurableClock from "@effect/workflow/DurableClock"
import * as DurableDeferred from "@effect/workflow/DurableDeferred"
import * as Workflow from "@effect/workflow/Workflow"
import * as WorkflowEngine from "@effect/workflow/WorkflowEngine"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Artifact from "../kernel/Artifact.ts"
import * as Record from "../services/Record.ts"
import * as Agent from "./Agent.ts"
import * as Custody from "./Custody.ts"
import * as DurableError from "./DurableError.ts"
import * as LoadedRun from "./LoadedRun.ts"

const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Two that have one run id are one run. */
export const workflow = Workflow.make({
  name: "wherefore/run",
  payload: {
    runId: Schema.NonEmptyString,
    agent: Schema.String,
    input: Schema.String,
    tags: optional(Schema.Array(Schema.String)),
    scope: optional(Artifact.Scope)
  },
  error: DurableError.DurableError,
  idempotencyKey: ({ runId }) => runId
})

export type Task = typeof workflow.payloadSchema.Type

/** The name of a run among workflows. */
export const executionId = (runId: string): Effect.Effect<string> =>
  workflow.executionId({ runId, agent: "", input: "" })

/** What wakes a run that waits: that its record has an entry at a place. Named by the place, it can come before the wait. */
const news = (place: number) => DurableDeferred.make(`news/${place}`)

/** Wakes a run for the entry at a place of its record. */
export const wake = (runId: string, place: number): Effect.Effect<void, never, WorkflowEngine.WorkflowEngine> =>
  Effect.gen(function* () {
    const engine = yield* WorkflowEngine.WorkflowEngine
    const deferred = news(place)
    yield* engine.deferredDone(deferred, {
      workflowName: workflow.name,
      executionId: yield* executionId(runId),
      deferredName: deferred.name,
      exit: Exit.void
    })
  })

/** Has a run look at its record after a time, whatever becomes of the process. One of a name is set once. */
export const wakeAfter = (
  runId: string,
  name: string,
  duration: Duration.DurationInput
): Effect.Effect<void, never, WorkflowEngine.WorkflowEngine> =>
  Effect.gen(function* () {
    const engine = yield* WorkflowEngine.WorkflowEngine
    const clock = DurableClock.make({ name, duration })
    yield* engine.scheduleClock(workflow, { executionId: yield* executionId(runId), clock })
  })

const least = Duration.toMillis("30 seconds")
const most = Duration.toMillis("1 hour")

/**
 * A run that waits looks again by itself, after about as long as it has waited: for decisions of which nobody told it. The
 * name has the time in it, so that those who set it at once set one.
 */
const lookAgain = (runId: string, place: number, since: number) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const interval = Math.min(most, Math.max(least, now - since))
    return wakeAfter(runId, `look/${place}/${Math.ceil(now / interval)}/${interval}`, interval)
  })

/** Something stood in the way of the run, and may not any more. */
const patience = Schedule.exponential("200 millis", 2).pipe(Schedule.union(Schedule.spaced("10 seconds")))

/** How long whoever was fenced out keeps away: by then its engine has noticed, too, and stops it. */
const away = Duration.seconds(10)

const there = (runId: string) =>
  Effect.catchIf(
    Effect.asSome(LoadedRun.load(runId)),
    ({ reason }) => reason === "RunNotFound",
    () => Effect.succeedNone
  )

/** What it was tried for is not done, and may be if it is tried again. */
const again = { _tag: "Again" } as const
type Again = typeof again

/** What the failure of a drive means, where the run goes on nevertheless. */
const failed = (
  runId: string,
  cause: Cause.Cause<Agent.AgentError>
): Effect.Effect<never, Again | DurableError.DurableError> => {
  const failure = Option.getOrUndefined(Cause.failureOption(cause))
  const warned = (what: string) => Effect.logWarning(`Run ${runId} ${what}, and is tried again.`, cause)
  switch (failure?._tag) {
    case "FencedOut":
    case "RecordConflict":
    case "RunExists":
      return Effect.logDebug(`Run ${runId} is with another process.`, cause).pipe(
        Effect.zipRight(Effect.sleep(away)),
        Effect.zipRight(Effect.fail(again))
      )
    case "InvalidAgent":
      return DurableError.broken(runId, failure)
    case "RecordError":
      return failure.retry === "never"
        ? DurableError.broken(runId, failure)
        : Effect.zipRight(warned("cannot be recorded"), Effect.fail(again))
    default:
      return Effect.zipRight(warned("failed without an end"), Effect.fail(again))
  }
}

/**
 * Ends when somebody wants the run to end. It looks from a second on: most drives are over by then, and need not pay for it.
 */
const cancelAsked = (runId: string) =>
  Effect.flatMap(Record.Record, ({ tail }) =>
    tail(runId).pipe(
      Stream.filter(({ event }) => event._tag === "CancelAsked"),
      Stream.runHead,
      Effect.flatMap(Option.match({ onNone: () => Effect.never, onSome: () => Effect.void })),
      Effect.delay("1 second"),
      // It has not begun, or its record is away.
      Effect.retry(Schedule.forever)
    )
  )

/** The effect with custody of the run. It is interrupted, and ends the run, when somebody wants that. */
const inCustody = <A, E, R>(runId: string, by: string, onward: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let isCancelled = false
    const cut = Effect.map(cancelAsked(runId), () => {
      isCancelled = true
    })
    const held = Effect.provideService(onward, Custody.Custody, { by, isCancelled: () => isCancelled })
    return Effect.raceFirst(Effect.asVoid(held), cut)
  })

/** Drives it to where nothing can be done until somebody has said something, or to its end. */
const drive = <R>(agent: Agent.Agent<R, unknown>, task: Task, by: string) => {
  const { agent: _, input, runId, ...options } = task
  const onward = Effect.flatMap(there(runId), (found) =>
    Option.isSome(found) ? Agent.resume(agent, runId) : Agent.run(agent, input, { runId, ...options })
  )
  return inCustody(runId, by, onward).pipe(
    Effect.catchAllCause((cause) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
      // One that failed has ended all the same, and its record says of what.
      const ended = Effect.map(there(runId), (found) => Option.isSome(found) && found.value.state.ended !== undefined)
      return Effect.flatMap(
        Effect.orElseSucceed(ended, () => false),
        (isEnded) => (isEnded ? Effect.void : failed(runId, cause))
      )
    }),
    Effect.retry({ schedule: patience, while: (error) => error._tag === "Again" }),
    // The schedule has no end.
    Effect.catchTag("Again", () => Effect.void)
  )
}

const loaded = (runId: string) =>
  LoadedRun.load(runId).pipe(
    Effect.retry({ schedule: patience, while: ({ retry }) => retry !== "never" }),
    Effect.mapError((error) => DurableError.broken(runId, error))
  )

export interface Hosting<R> {
  readonly agents: ReadonlyMap<string, Agent.Agent<R, unknown>>
  /** The name of this process, for records. */
  readonly by: string
}

const suspend = Effect.flatMap(WorkflowEngine.WorkflowInstance, Workflow.suspend)

/** What a workflow does each time that it is executed. */
export const execute = <R>(hosting: Hosting<R>, task: Task) =>
  Effect.gen(function* () {
    const { runId } = task
    const agent = hosting.agents.get(task.agent)
    if (agent === undefined) {
      // Another runner may have it, or this one when it is started anew: the run is held, and not failed.
      yield* Effect.logWarning(`Run ${runId} waits for a runner that hosts its agent.`)
      yield* lookAgain(runId, 0, yield* Clock.currentTimeMillis)
      return yield* suspend
    }
    let looked = -1
    let woken = -1
    while (true) {
      yield* drive(agent, task, hosting.by)
      const { lastAt, state } = yield* loaded(runId)
      if (state.ended !== undefined) return
      // What is written between a drive and the look at what it left is seen by the next drive.
      if (state.seq !== looked) {
        looked = state.seq
        continue
      }
      yield* lookAgain(runId, looked, lastAt)
      if (woken === looked) return yield* suspend
      yield* DurableDeferred.await(news(looked))
      woken = looked
    }
  })
