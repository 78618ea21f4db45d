/**
 * A `Dispatch` takes one planned call through the rest of the pipeline: arguments by schema, execution, result by schema,
 * and the text that the model is served. Whatever happens is a settlement: a call cannot fail the run.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Call from "../kernel/Call.ts"
import type * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import type * as Children from "../kernel/Children.ts"
import type * as Event from "../kernel/Event.ts"
import type * as Message from "../kernel/Message.ts"
import * as Present from "../kernel/Present.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Refusal from "../kernel/Refusal.ts"
import type * as WaitEvent from "../kernel/WaitEvent.ts"
import * as ApprovalGate from "./ApprovalGate.ts"
import * as ArtifactStore from "../services/ArtifactStore.ts"
import type * as ArtifactDesk from "./ArtifactDesk.ts"
import * as ArtifactLoan from "./ArtifactLoan.ts"
import * as Artifacts from "./Artifacts.ts"
import * as Child from "./Child.ts"
import * as CallProbe from "./CallProbe.ts"
import * as PresentCall from "./PresentCall.ts"
import type * as PreparedTool from "./PreparedTool.ts"
import * as Replay from "./Replay.ts"
import * as ServedResult from "./ServedResult.ts"
import * as WantedArguments from "./WantedArguments.ts"

export { definition, handlers, prepare } from "./PreparedTool.ts"
export type { Handlers, Prepared } from "./PreparedTool.ts"

export interface Options extends ServedResult.Serving {
  readonly runId: string
  readonly iteration: number
  readonly tools: ReadonlyMap<string, PreparedTool.Prepared>
  readonly handlers: PreparedTool.Handlers
  readonly desk: ArtifactDesk.Desk
  readonly gate: ApprovalGate.Gate
  /** The run that a call is to start, as the record has it. */
  readonly childOf: (toolCallId: string) => Children.Child | undefined
  /** The store as one call may use it. */
  readonly lend: (call: ArtifactEvent.Call) => ArtifactLoan.Loan
}

/** A call that is ready to run, with the tickets that its arguments named, or its refusal. */
export type Ready =
  | {
      readonly _tag: "Ready"
      readonly planned: Call.Planned & { readonly _tag: "Run" }
      readonly decoded: unknown
      readonly wanted?: ReadonlyMap<string, Artifact.Meta>
      /** What there is to show, if that is what the call is for. */
      readonly shown?: PresentCall.Shown
      /** What its tool found of a call that an earlier process ran. */
      readonly probed?: CallProbe.Found
    }
  /** It is not to run before a person has said so. */
  | {
      readonly _tag: "Asked"
      readonly planned: Call.Planned & { readonly _tag: "Run" }
      readonly event: WaitEvent.ApprovalAsked
    }
  | {
      readonly _tag: "Settled"
      readonly planned: Call.Planned
      readonly event: Event.ToolSettled
      readonly brought: ReadonlyArray<ArtifactEvent.ArtifactEvent | WaitEvent.CallProbed>
    }

/** Arguments longer than this are checked up to their first mistake only. */
const manyIssues = 16_384

const settle = (options: Options, call: Message.ToolCall, outcome: Message.Settlement, refusal: Refusal.Refusal) =>
  Call.settlement(options.iteration, { _tag: "Settle", call, outcome, refusal })

const settled = (
  { iteration }: Options,
  planned: Call.Planned & { readonly _tag: "Settle" },
  brought: ReadonlyArray<ArtifactEvent.ArtifactEvent | WaitEvent.CallProbed> = []
): Ready => ({ _tag: "Settled", planned, event: Call.settlement(iteration, planned), brought })

/** A call that is not to run after all. */
export const refused = (
  options: Options,
  call: Message.ToolCall,
  refusal: Refusal.Refusal,
  brought: ReadonlyArray<ArtifactEvent.ArtifactEvent> = []
): Ready => settled(options, { _tag: "Settle", call, outcome: "refused", refusal }, brought)

const sent = ({ iteration, runId }: Options, { toolCallId }: Message.ToolCall): Refusal.Sent => ({
  toolCallId,
  key: Call.key(runId, iteration, toolCallId)
})

const callOf = ({ iteration }: Options, { toolCallId, toolName }: Message.ToolCall): ArtifactEvent.Call => ({
  iteration,
  toolCallId,
  toolName
})

/** A call with what its arguments name, or why it is refused. */
const fetched = (
  options: Options,
  planned: Call.Planned & { readonly _tag: "Run" },
  tool: PreparedTool.Prepared,
  read: Either.Either<unknown, ReadonlyArray<string>>
): Effect.Effect<Either.Either<Ready & { readonly _tag: "Ready" }, WantedArguments.Unmet>> => {
  const { args, call } = planned
  if (tool.wants.length === 0) {
    return Effect.succeed(
      Either.mapBoth(read, {
        onLeft: (issues) => ({ refusal: Refusal.toolArgsInvalid(call.toolName, issues), refused: [] }),
        onRight: (decoded) => ({ _tag: "Ready" as const, planned, decoded })
      })
    )
  }
  return Effect.map(
    WantedArguments.resolve(options.desk, tool, callOf(options, call), args, read),
    Either.map(({ decoded, tickets }) => ({ _tag: "Ready" as const, planned, decoded, wanted: tickets }))
  )
}

/** Checks a planned call's arguments against the tool's schema, and fetches what they name. Nothing has run yet, or an earlier process ran it. */
export const check = (options: Options, planned: Call.Planned): Effect.Effect<Ready> => {
  if (planned._tag === "Settle") {
    return Effect.succeed(settled(options, planned))
  }
  const { args, call, own, started } = planned
  if (own !== undefined) return Effect.succeed({ _tag: "Ready", planned, decoded: args })
  // It is no refusal to find today that a call cannot be run which was running when its process was lost.
  const lose = (how: string, brought: (Ready & { readonly _tag: "Settled" })["brought"] = []): Ready => {
    const at = options.gate.state.startedCalls.find(({ toolCallId }) => toolCallId === call.toolCallId)?.seq
    const named = { ...sent(options, call), ...(at === undefined ? {} : { sentAt: `at event #${at}` }) }
    const refusal = Refusal.toolOutcomeUnknown(call.toolName, named, `was running when its process was lost${how}`)
    return settled(options, { _tag: "Settle", call, outcome: "unknown", refusal }, brought)
  }
  const cannot = ", and could not be run again"
  const refuse = (refusal: Refusal.Refusal, brought: ReadonlyArray<ArtifactEvent.ArtifactEvent> = []): Ready =>
    started ? lose(cannot, brought) : refused(options, call, refusal, brought)
  if (call.toolName === Present.toolName) {
    return Effect.map(
      PresentCall.judge(options.desk, callOf(options, call), args),
      Either.match({
        onLeft: ({ refusal, told }) => refused(options, call, refusal, told),
        onRight: (shown): Ready => ({ _tag: "Ready", planned, decoded: args, shown })
      })
    )
  }
  const tool = options.tools.get(call.toolName)
  if (tool === undefined) {
    return Effect.succeed(refuse(Refusal.unknownTool(call.toolName, Array.from(options.tools.keys()))))
  }
  return Effect.gen(function* () {
    const read = yield* Effect.either(tool.decode(args, call.args.length > manyIssues ? "first" : "all"))
    if (Either.isRight(read)) {
      const { runId, scope } = options.desk
      const verdict = yield* ApprovalGate.judge(options.gate, { runId, scope }, planned, tool, read.right)
      if (verdict._tag === "Ask") return started ? lose(cannot) : { _tag: "Asked", planned, event: verdict.asked }
      if (verdict._tag === "Denied") {
        const { refusal } = verdict
        return started ? lose(cannot) : settled(options, { _tag: "Settle", call, outcome: "denied", refusal })
      }
    }
    const ready = yield* fetched(options, planned, tool, read)
    if (Either.isLeft(ready)) return refuse(ready.left.refusal, ready.left.refused)
    if (!started || planned.replay !== "reconcile") return ready.right
    const named = callOf(options, call)
    const { probe } = tool
    if (probe === undefined) return lose("")
    const { key } = sent(options, call)
    const found = yield* CallProbe.run(probe, tool.timeout, named, ready.right.decoded, key)
    if (found._tag === "Unknown") return lose(found.why, [CallProbe.event(named, found)])
    return { ...ready.right, probed: found }
  })
}

/** What the record holds before a call runs: its intent, or what was found of one that had been started. */
export const begun = (
  options: Options,
  { planned, probed }: Ready & { readonly _tag: "Ready" }
): ReadonlyArray<Event.ToolCalled | WaitEvent.CallProbed> => [
  ...(planned.started ? [] : [called(options, planned)]),
  ...(probed === undefined ? [] : [CallProbe.event(callOf(options, planned.call), probed)])
]

const called = (
  options: Options,
  { args, call, owner, replay }: Call.Planned & { readonly _tag: "Run" }
): Event.ToolCalled => ({
  _tag: "ToolCalled",
  iteration: options.iteration,
  toolCallId: call.toolCallId,
  toolName: call.toolName,
  args,
  ...(owner === undefined ? {} : { owner }),
  replay
})

/** What a call came to, what it did with artifacts, and what its result declared of where the tool looked. */
export interface Executed extends ServedResult.Came {
  readonly brought: ReadonlyArray<ArtifactLoan.Told | WaitEvent.CallProbed>
}

const undeclared = (event: Event.ToolSettled): ServedResult.Came => ({ declared: [], event })

/** What a call came to that no handler ran for. */
export const only = (event: Event.ToolSettled, brought: Executed["brought"] = []): Executed => ({
  brought,
  declared: [],
  event
})

/** Runs a call that is ready, and says what it came to. */
export const execute = (
  options: Options,
  { decoded, planned, probed, shown, wanted = new Map() }: Ready & { readonly _tag: "Ready" }
): Effect.Effect<Executed> => {
  const { call, own, replay } = planned
  const named = callOf(options, call)
  if (own !== undefined) return Effect.succeed(only(ServedResult.returned(named, own.served)))
  if (shown !== undefined) return Effect.succeed(only(ServedResult.returned(named, shown.served), shown.told))
  const tool = options.tools.get(call.toolName)
  const handler = options.handlers.get(call.toolName)
  if (tool === undefined || handler === undefined) {
    return Effect.succeed(only(settle(options, call, "ran-error", Refusal.toolDied(call.toolName))))
  }
  const { key } = sent(options, call)
  const loan = options.lend(named)
  for (const [argument, meta] of wanted) loan.tell(ArtifactEvent.resolved(named, "get", meta, argument))
  loan.want(wanted)
  const handled = probed?._tag === "Applied" ? Effect.succeed(probed.result) : handler(decoded)
  const run = handled.pipe(
    Effect.provideService(Replay.Key, key),
    Effect.provideService(Artifacts.Artifacts, loan.bound),
    Effect.provideService(ArtifactStore.ArtifactStore, loan.store),
    Effect.provideService(ArtifactLoan.Enclosing, options.desk.scope),
    Effect.provideService(
      Child.Enclosing,
      Child.begetting(options.runId, named, options.childOf(call.toolCallId), loan.tell)
    ),
    Effect.exit,
    // A run has limits of its own, and ends on its record before its call does.
    tool.child === undefined ? within(tool.timeout) : Effect.asSome
  )
  return Effect.gen(function* () {
    const startedAt = yield* Clock.currentTimeMillis
    const exit = yield* run
    const settled = yield* Option.match(exit, {
      onNone: () =>
        Effect.succeed(undeclared(timedOut(options, call, replay, Duration.toMillis(tool.timeout), startedAt))),
      onSome: Exit.matchEffect({
        onFailure: (cause) => Effect.map(failed(options, tool, call, cause), undeclared),
        onSuccess: (value) => ServedResult.of(options, tool, named, loan, value)
      })
    })
    const durationMs = (yield* Clock.currentTimeMillis) - startedAt
    return { brought: loan.end(), declared: settled.declared, event: { ...settled.event, durationMs } }
  }).pipe(Effect.withSpan("Tool.call", { attributes: { tool: tool.declared.name }, captureStackTrace: false }))
}

/**
 * The result of an effect, or nothing if it takes longer than `limit`. An effect that does not let itself be interrupted
 * is left behind. One that is done at once, as most are, costs no timer.
 */
const within =
  (limit: Duration.Duration) =>
  <A>(effect: Effect.Effect<A>): Effect.Effect<Option.Option<A>> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(Effect.forkDaemon(restore(effect)), (fiber) => {
        const abandon = Fiber.interruptFork(fiber)
        const wait = Effect.flatMap(Effect.zipRight(Effect.yieldNow(), Fiber.poll(fiber)), (done) =>
          Option.isSome(done) ? Effect.asSome(done.value) : Effect.timeoutOption(Fiber.join(fiber), limit)
        )
        return restore(wait).pipe(
          Effect.onInterrupt(() => abandon),
          Effect.tap((result) => (Option.isNone(result) ? abandon : Effect.void))
        )
      })
    )

const timedOut = (
  options: Options,
  call: Message.ToolCall,
  replay: Event.ReplayClass,
  afterMs: number,
  startedAt: number
) =>
  replay === "pure" || replay === "idempotent"
    ? settle(options, call, "ran-error", Refusal.toolTimedOut(call.toolName, afterMs))
    : settle(
        options,
        call,
        "unknown",
        Refusal.toolOutcomeUnknown(
          call.toolName,
          { ...sent(options, call), sentAt: `at ${new Date(startedAt).toISOString()}` },
          `gave no result within ${afterMs} ms and was stopped`
        )
      )

const failed = (options: Options, tool: PreparedTool.Prepared, call: Message.ToolCall, cause: Cause.Cause<unknown>) =>
  Option.match(Cause.failureOption(cause), {
    onNone: () =>
      Effect.as(
        Effect.logWarning(`Tool ${Printable.quote(call.toolName)} died`, cause),
        settle(options, call, "ran-error", Refusal.toolDied(call.toolName))
      ),
    onSome: (error) =>
      tool.encodeFailure(error).pipe(
        Effect.map(ServedResult.textOf),
        Effect.flatMap(Effect.orElseSucceed(() => "its error could not be shown")),
        Effect.orElseSucceed(() => "its error does not fit its schema"),
        Effect.map((shown) => settle(options, call, "ran-error", Refusal.toolFailed(call.toolName, shown)))
      )
  })
