/**
 * A `Loop` drives one run: it asks the kernel what to do, appends the decision, does it, and tells what happened.
 *
 * No effect starts before the record holds the intent of it, and nothing is decided on what the record will not hold:
 * what happened and what was decided on it are appended together, before anything is done about it.
 *
 * @internal
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as HashSet from "effect/HashSet"
import * as Option from "effect/Option"
import type * as ApprovalRule from "../kernel/ApprovalRule.ts"
import type * as Artifact from "../kernel/Artifact.ts"
import type * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import type * as Event from "../kernel/Event.ts"
import * as Answering from "../kernel/Answering.ts"
import * as Call from "../kernel/Call.ts"
import * as Children from "../kernel/Children.ts"
import type * as Message from "../kernel/Message.ts"
import * as Refusal from "../kernel/Refusal.ts"
import * as Run from "../kernel/Run.ts"
import * as SkillMap from "../kernel/SkillMap.ts"
import type * as State from "../kernel/State.ts"
import * as WindowState from "../kernel/WindowState.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as ArtifactStore from "../services/ArtifactStore.ts"
import * as LLM from "../services/LLM.ts"
import * as Record from "../services/Record.ts"
import * as AgentAnswer from "./AgentAnswer.ts"
import type * as ArtifactDesk from "./ArtifactDesk.ts"
import * as AppendSize from "./AppendSize.ts"
import * as ArtifactLoan from "./ArtifactLoan.ts"
import * as Child from "./Child.ts"
import * as Custody from "./Custody.ts"
import * as Dispatch from "./Dispatch.ts"
import { FencedOut } from "./FencedOut.ts"
import * as Rebase from "./Rebase.ts"
import * as Reply from "./Reply.ts"
import type * as ServedResult from "./ServedResult.ts"
import * as Summary from "./Summary.ts"
import * as Wheel from "./Wheel.ts"

/** What can be seen of a run while it goes on: entries once they are on the record, and parts of a reply as they come. */
export type Progress =
  | { readonly _tag: "Recorded"; readonly seq: number; readonly event: Event.Event }
  | { readonly _tag: "Received"; readonly iteration: number; readonly parts: ReadonlyArray<LLM.Part> }

export interface Options {
  readonly runId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly spec: Omit<Run.Spec, "elapsedMs" | "provider" | "model">
  readonly tools: ReadonlyMap<string, Dispatch.Prepared>
  readonly handlers: Dispatch.Handlers
  /** Whose artifacts its tools work with. */
  readonly scope: Artifact.Scope
  /** Which calls need a person. */
  readonly approval: ReadonlyArray<ApprovalRule.ApprovalRule>
  readonly concurrency: number
  readonly maxResultChars: number
  readonly placement?: NonNullable<Event.Artifacts["placement"]>
  /** Reads the answers of an agent that has a schema for them. */
  readonly answer?: AgentAnswer.Asking
  readonly retry?: LLM.RetryPolicy
  readonly steering?: Wheel.Steering
  readonly emit: (progress: Progress) => Effect.Effect<void>
}

/** The first of what a call's result has settled: all of it is one event. */
const settledRows = ({ checks }: State.State, toolCallId: string) =>
  (checks?.claims?.ledger ?? []).filter((row) => row.toolCallId === toolCallId).slice(0, 1)

type Failure = LLM.LLMError | Record.RecordError | Record.RecordConflict | FencedOut

/** Drives a run from `state`, whose events are on the record, and the `first` that are not yet, to its terminal event, or until it waits for a person. */
export const drive = (
  options: Options,
  recorded: State.State,
  first: ReadonlyArray<Event.Event>
): Effect.Effect<
  { readonly state: State.State; readonly ended?: Event.RunEnded },
  Failure,
  ArtifactStore.ArtifactStore | LLM.LLM | Record.Record
> =>
  Effect.gen(function* () {
    const llm = yield* LLM.LLM
    const record = yield* Record.Record
    const { emit, runId, scope, startedAt } = options
    const desk: ArtifactDesk.Desk = { store: yield* ArtifactStore.ArtifactStore, scope, runId }
    const { limits } = options.spec

    let state = recorded
    let pending: ReadonlyArray<Event.Event> = []
    let failure: LLM.LLMError | undefined
    let died: Cause.Cause<never> | undefined
    /** What has come of the reply that is being written. */
    let partial: Reply.Partial = {}
    let attempts = 0
    const finished = new Map<string, ReadonlyArray<Event.Event>>()
    const loans = new Map<string, ArtifactLoan.Loan>()

    const happen = (events: ReadonlyArray<Event.Event>): void => {
      pending = [...pending, ...events]
      for (const event of events) state = Run.step(state, event)
    }
    /** Appends what is pending: at once, or, if that is more than one append takes, in several. */
    const commit: Effect.Effect<void, Failure> = Effect.suspend(() => {
      if (pending.length === 0) return Effect.void
      const from = state.seq - pending.length
      const events = pending.slice(0, AppendSize.fitting(pending))
      const appended = Effect.tap(record.append(runId, from, events), () => {
        pending = pending.slice(events.length)
      })
      /** A person has decided something meanwhile: what is pending comes after that. */
      const rebased = (conflict: Record.RecordConflict) =>
        Effect.flatMap(from === 0 ? Effect.succeedNone : Rebase.onto(record, runId, from, pending), (onto) => {
          if (Option.isNone(onto)) return Effect.fail(conflict)
          state = onto.value.state
          const shown = onto.value.decided.map(({ event, seq }) => emit({ _tag: "Recorded", seq, event }))
          return Effect.all(shown, { discard: true })
        })
      const shown = Effect.forEach(events, (event, index) => emit({ _tag: "Recorded", seq: from + index, event }), {
        discard: true
      })
      return Effect.uninterruptible(appended).pipe(
        Effect.zipRight(shown),
        Effect.catchTag("RecordConflict", rebased),
        Effect.zipRight(commit)
      )
    })
    const elapsed = Effect.map(Clock.currentTimeMillis, (now) => Math.max(0, now - startedAt))

    /** The effect, or nothing when the run's wall time is up before it ends. */
    const inTime = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<Option.Option<A>, E, R> => {
      const { wallTimeMs } = limits
      if (wallTimeMs === undefined) return Effect.asSome(effect)
      return Effect.flatMap(elapsed, (spent) =>
        Effect.timeoutOption(Effect.disconnect(effect), Math.max(0, wallTimeMs - spent))
      )
    }
    const stop = (reason: Refusal.Refusal) =>
      Effect.map(elapsed, (elapsedMs) => {
        const brought = new Map(Array.from(loans, ([toolCallId, loan]) => [toolCallId, loan.end()]))
        happen(Run.abort(state, reason, elapsedMs, finished, partial, brought))
      })
    const outOfTime = Effect.flatMap(elapsed, (spent) =>
      stop(Refusal.budgetExceeded("wallTimeMs", limits.wallTimeMs ?? spent, spent))
    )

    const streamed = (wire: Wire.Wire) => {
      attempts = 0
      return options.retry === undefined ? llm.stream(wire) : LLM.retrying(llm.stream(wire), options.retry)
    }
    /** An attempt that failed is on the record before the next one begins, which it does if there are tokens left for it. */
    const retried = (wire: Wire.Wire, parts: ReadonlyArray<LLM.Part>, of?: "summary") => {
      const events = parts.flatMap((part) =>
        part._tag === "Retried" ? [Reply.retried(wire.iteration, (attempts += 1), part, of)] : []
      )
      if (events.length === 0) return Effect.void
      happen(events)
      // Another attempt is another call, which the budget must have room for.
      const over = Run.again(options.spec, state, wire)
      return over === undefined ? commit : Effect.zipRight(commit, Effect.fail(new Reply.OverBudget({ reason: over })))
    }

    /** What a model's failure is told apart from the record's: that one ends the run here. */
    const answered = <A, E>(reply: Effect.Effect<A, E | Failure>) =>
      Effect.matchEffect(reply, {
        onSuccess: (one) => Effect.succeed(Either.right(one)),
        onFailure: (error) =>
          error instanceof Record.RecordError || error instanceof Record.RecordConflict || error instanceof FencedOut
            ? Effect.fail(error)
            : Effect.succeed(Either.left(error))
      })

    const askModel = (wire: Wire.Wire) =>
      Effect.gen(function* () {
        const { iteration } = wire
        const askedAt = yield* Clock.currentTimeMillis
        partial = {}
        const collected = LLM.collect(streamed(wire), (chunk, draft) => {
          partial = Reply.partial(draft)
          const parts = Array.from(chunk)
          return Effect.zipRight(retried(wire, parts), emit({ _tag: "Received", iteration, parts }))
        }).pipe(
          // The run ends on the record before the defect goes on to whoever runs it.
          Effect.catchAllDefect((defect) => {
            died = Cause.die(defect)
            return Effect.fail(Reply.layerDied)
          })
        )
        const reply = yield* answered(inTime(collected))
        if (Either.isLeft(reply)) {
          if (reply.left instanceof Reply.OverBudget) return yield* stop(reply.left.reason)
          if (reply.left instanceof LLM.LLMError) failure = new LLM.LLMError({ ...reply.left, runId })
          return happen([Reply.failed(iteration, reply.left, partial)])
        }
        if (Option.isNone(reply.right)) return yield* outOfTime
        const durationMs = (yield* Clock.currentTimeMillis) - askedAt
        const event = Reply.replied(
          wire,
          Reply.signed(reply.right.value, state.marks.at(-1), llm.model),
          durationMs,
          (id) => state.findings !== undefined && HashSet.has(state.findings.callIds, id)
        )
        // Only a reply that is long is written out to see how long it is.
        const chars = AppendSize.charsOf(event) <= AppendSize.maxAppendChars ? 0 : JSON.stringify(event).length
        if (chars <= AppendSize.maxEventChars) return happen([event])
        failure = new LLM.LLMError({ ...Reply.tooLong(chars), runId })
        return happen([Reply.failed(iteration, failure, partial)])
      }).pipe(Effect.withSpan("Model.call", { attributes: { iteration: wire.iteration }, captureStackTrace: false }))

    const askSummary = (wire: Wire.Wire) =>
      Effect.gen(function* () {
        const askedAt = yield* Clock.currentTimeMillis
        partial = {}
        const summary = LLM.collect(streamed(wire), (chunk, { usage }) => {
          partial = usage === undefined ? {} : { usage }
          return retried(wire, Array.from(chunk), "summary")
        })
        const collected = Effect.catchAllDefect(summary, () => Effect.fail(Reply.layerDied))
        const reply = yield* answered(inTime(collected))
        const durationMs = (yield* Clock.currentTimeMillis) - askedAt
        if (Either.isLeft(reply)) {
          if (reply.left instanceof Reply.OverBudget) return yield* stop(reply.left.reason)
          return happen([Summary.failed(wire.iteration, reply.left, partial.usage)])
        }
        if (Option.isNone(reply.right)) return yield* outOfTime
        const told = Reply.signed(reply.right.value, WindowState.askedOf(state), llm.model)
        happen([Summary.replied(wire, told, durationMs)])
      }).pipe(Effect.withSpan("Model.summarize", { captureStackTrace: false }))

    const runTools = (iteration: number, calls: ReadonlyArray<Call.Planned>) =>
      Effect.gen(function* () {
        const { maps = [] } = options.spec.skills ?? {}
        const fieldsOf: ServedResult.Serving["fieldsOf"] = (toolName, result, isText) =>
          SkillMap.fieldsOf(maps, toolName, result, isText)
        const lend = (call: ArtifactEvent.Call): ArtifactLoan.Loan => {
          const loan = ArtifactLoan.make(desk, call)
          loans.set(call.toolCallId, loan)
          return loan
        }
        const claims = state.checks?.claims
        const dispatch: Dispatch.Options = {
          ...options,
          iteration,
          fieldsOf,
          desk,
          gate: { rules: options.approval, state },
          lend,
          childOf: (toolCallId) => Children.of(state, iteration, toolCallId),
          ...(claims === undefined ? {} : { claims: claims.declared })
        }
        const judged = yield* inTime(Effect.forEach(calls, (call) => Dispatch.check(dispatch, call)))
        if (Option.isNone(judged)) return yield* outOfTime
        let more = 0
        let children = 0
        const childOf = ({ toolName }: Message.ToolCall) => options.tools.get(toolName)?.child
        const checked = judged.value.map((one): Dispatch.Ready => {
          if (one._tag === "Settled" || one.planned.started) return one
          if (Answering.isTool(state.started, one.planned.call.toolName)) return one
          const { call } = one.planned
          const isChild = one._tag === "Ready" && childOf(call) !== undefined
          const refusal =
            Call.unaffordable(state, limits, more) ?? (isChild ? Children.refusal(limits, state, children) : undefined)
          if (refusal === undefined && one._tag === "Ready") more += 1
          if (refusal === undefined && isChild) children += 1
          return refusal === undefined ? one : Dispatch.refused(dispatch, call, refusal)
        })
        const ready = checked.flatMap((one) => (one._tag === "Ready" ? [one] : []))
        happen(checked.flatMap((one) => (one._tag === "Asked" ? [one.event] : [])))
        if (ready.length > 0) {
          happen(ready.flatMap((one) => Dispatch.begun(dispatch, one)))
          happen(
            Child.started(
              state,
              limits,
              yield* elapsed,
              iteration,
              ready.map(({ planned }) => planned.call),
              childOf
            )
          )
          yield* commit
        }
        const settle = (one: Exclude<Dispatch.Ready, { readonly _tag: "Asked" }>) =>
          Effect.map(
            one._tag === "Settled"
              ? Effect.succeed(Dispatch.only(one.event, one.brought))
              : Dispatch.execute(dispatch, one),
            ({ brought, declared, event }) => {
              const { toolCallId } = event
              // A call that is run again declares what the record does not hold yet.
              const held = [...(state.coverage ?? []), ...settledRows(state, toolCallId)].filter(
                (was) => was.iteration === iteration && was.toolCallId === toolCallId
              ).length
              const events = [...Call.verdictOf(state, one.planned), ...brought, ...declared.slice(held), event]
              finished.set(toolCallId, events)
              return events
            }
          )
        const { concurrency } = options
        const going = checked.flatMap((one) => (one._tag === "Asked" ? [] : [one]))
        const settled = yield* inTime(Effect.forEach(going, settle, { concurrency }))
        if (Option.isNone(settled)) return yield* outOfTime
        happen(settled.value.flat())
        finished.clear()
        loans.clear()
      })

    const asked = AgentAnswer.asked(options.spec, options.answer, llm.answers === "json")
    const decided = Effect.map(elapsed, (elapsedMs) =>
      Run.decide(
        {
          ...asked,
          elapsedMs,
          ...(llm.model === undefined ? {} : { provider: llm.model.provider, model: llm.model.id })
        },
        state
      )
    )
    const custody = yield* Custody.Custody
    const onward = Effect.gen(function* () {
      const isCancelled = recorded.cancelled === true
      // One that still waits for a person is not driven: nothing is written of it.
      if (!isCancelled && recorded.started !== undefined && recorded.ended === undefined) {
        const { command, events } = yield* decided
        if (command._tag === "AwaitDecision" && events.length === 0) return { state }
      }
      const claim = Custody.claim(custody, recorded)
      happen([...claim, ...first])
      if (claim.length > 0) yield* commit
      while (true) {
        if (state.cancelled === true) yield* stop(Refusal.interrupted)
        const { command, events } = yield* decided
        happen(events)
        switch (command._tag) {
          case "CallModel":
            yield* commit
            yield* askModel(command.wire)
            break
          case "Summarize":
            yield* commit
            yield* askSummary(command.wire)
            break
          case "RunTools":
            yield* runTools(command.iteration, command.calls)
            break
          case "ReadAnswer": {
            const { answer } = options
            const { content, iteration } = command
            const isDeclaring = state.findings !== undefined
            happen([
              answer === undefined
                ? Answering.rejected(iteration, ["The agent has no schema for answers any more."])
                : yield* AgentAnswer.read(answer, iteration, content, isDeclaring)
            ])
            break
          }
          case "ReadClaims": {
            const { iteration, value } = command
            happen([yield* AgentAnswer.claims(options.answer, state.checks?.claims?.declared ?? [], iteration, value)])
            break
          }
          case "AwaitDecision": {
            const awaiting = state
            yield* commit
            // It may have come meanwhile.
            if (state === awaiting) return { state }
            break
          }
          case "Finish":
            yield* commit
            if (died !== undefined) return yield* Effect.failCause(died)
            if (failure !== undefined) return yield* failure
            return { state, ended: command.ended }
        }
      }
    })

    const isLeft = (): boolean => custody !== undefined && custody.isCancelled?.() !== true
    const driven = Effect.onInterrupt(onward, () =>
      isLeft() ? Effect.void : Effect.ignoreLogged(Effect.zipRight(stop(Refusal.interrupted), commit))
    )
    const { steering } = options
    if (steering === undefined) return yield* driven
    return yield* Wheel.attached(steering, { spec: options.spec, state: () => state, happen }, driven)
  })
