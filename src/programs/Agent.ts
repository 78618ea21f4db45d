/**
 * An `Agent` is a model with instructions, context and tools, and the budget it may spend on a task. Each of its runs is
 * an account on the record, from which every answer can be traced to what caused it.
 *
 * @since 0.1.0
 */
import type * as Tool from "@effect/ai/Tool"
import type * as Toolkit from "@effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type * as ClaimCheck from "../kernel/ClaimCheck.ts"
import type * as CheckEvent from "../kernel/CheckEvent.ts"
import type * as Event from "../kernel/Event.ts"
import * as FoldSaid from "../kernel/FoldSaid.ts"
import * as Outcome from "../kernel/Outcome.ts"
import * as Piece from "../kernel/Piece.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Repertoire from "../kernel/Repertoire.ts"
import * as Run from "../kernel/Run.ts"
import type * as Skill from "../kernel/Skill.ts"
import type * as State from "../kernel/State.ts"
import * as Window from "../kernel/Window.ts"
import * as WindowPass from "../kernel/WindowPass.ts"
import type * as ArtifactStore from "../services/ArtifactStore.ts"
import type * as LLM from "../services/LLM.ts"
import * as Record from "../services/Record.ts"
import * as AgentAnswer from "./AgentAnswer.ts"
import * as AgentArtifacts from "./AgentArtifacts.ts"
import * as AgentBudget from "./AgentBudget.ts"
import * as AgentError from "./AgentError.ts"
import * as AgentFindings from "./AgentFindings.ts"
import * as AgentGrounding from "./AgentGrounding.ts"
import * as AgentManifest from "./AgentManifest.ts"
import type * as AgentOptions from "./AgentOptions.ts"
import * as AgentReview from "./AgentReview.ts"
import * as AgentSkills from "./AgentSkills.ts"
import * as AgentSpec from "./AgentSpec.ts"
import * as AgentStream from "./AgentStream.ts"
import * as AgentTool from "./AgentTool.ts"
import * as Approval from "./Approval.ts"
import * as ArtifactLoan from "./ArtifactLoan.ts"
import * as Dispatch from "./Dispatch.ts"
import * as LoadedRun from "./LoadedRun.ts"
import * as Loop from "./Loop.ts"
import * as Onlooker from "./Onlooker.ts"
import * as RunId from "./RunId.ts"

export type { Handlers as BoundHandlers, Prepared } from "./Dispatch.ts"
export type { Progress } from "./Loop.ts"
export type { DriveOptions, Limits, Options, RunOptions } from "./AgentOptions.ts"

export { AnswerInvalid, AnswerUngrounded, ChecksBlind, InvalidAgent, RunExists, RunOpen } from "./AgentError.ts"
export { DecisionRefused } from "../kernel/Decision.ts"
export { FencedOut } from "./FencedOut.ts"
export { decide, resolve } from "./AgentDecisions.ts"
export type { Decided } from "./AgentDecisions.ts"
export type { AgentError } from "./AgentError.ts"

/** What a set of tools needs: their handlers, and what the handlers and the schemas need. */
export type Handlers<Tools extends Record<string, Tool.Any>> =
  | Tool.HandlersFor<Tools>
  | Tool.Requirements<Tools[keyof Tools]>

/** `R` is what its runs need beside `Services`, `A` the answers of its schema, or `undefined` without one. */
export interface Agent<out R = never, out A = unknown> extends AgentGrounding.Judged {
  readonly name: string
  readonly pieces: ReadonlyArray<Event.PieceDeclared>
  readonly tools: ReadonlyMap<string, Dispatch.Prepared>
  readonly repertoire?: Repertoire.Repertoire
  readonly findings?: Event.Findings
  readonly coverage?: Event.Coverage
  readonly artifacts?: AgentArtifacts.Options
  readonly window?: Window.Strategy
  readonly answer: AgentAnswer.Reader<A>
  readonly handlers: Effect.Effect<Dispatch.Handlers, never, R>
  readonly limits: Event.Limits
  readonly checks: CheckEvent.Posture
  readonly claims?: readonly [ClaimCheck.DeclaredClaim, ...Array<ClaimCheck.DeclaredClaim>]
  readonly parameters: Event.Parameters
  readonly approval: ReadonlyArray<Approval.Rule>
  readonly progress: "watched" | "unwatched"
  readonly unknown: NonNullable<AgentOptions.Options<{}>["unknown"]>
  readonly concurrency: number
  readonly maxResultChars: number
  readonly retry?: LLM.RetryPolicy
  /** What is wrong with the definition; a run of it fails with `InvalidAgent`. */
  readonly problems: ReadonlyArray<string>
}

/** The id of the piece that the instructions are. */
export const instructionsId = "instructions"

/** A toolkit's tools as a skill declares them. */
export const skillTools = <Tools extends Record<string, Tool.Any>>(
  toolkit: Toolkit.Toolkit<Tools>
): ReadonlyArray<Skill.SkillTool> =>
  Object.values<Tool.Any>(toolkit.tools).map((tool) =>
    Either.getOrElse(Dispatch.definition(tool), () => ({ name: tool.name, schema: {} }))
  )

/** An agent. What is wrong with the definition is reported, whole, by the first effect that uses it. */
export function make<Tools extends Record<string, Tool.Any> = {}, A = never, I = never, R = never>(
  options: AgentOptions.Options<Tools> & { readonly answer: Schema.Schema<A, I, R> }
): Agent<Handlers<Tools> | R, A>
export function make<Tools extends Record<string, Tool.Any> = {}>(
  options: AgentOptions.Options<Tools>
): Agent<Handlers<Tools>, undefined>
export function make(
  options: AgentOptions.Options<Record<string, Tool.Any>> & {
    readonly answer?: Schema.Schema<unknown, unknown, unknown>
  }
): Agent<unknown> {
  return assemble(options, options.answer === undefined ? AgentAnswer.text : AgentAnswer.make(options.answer))
}

const assemble = <A>(
  options: AgentOptions.Options<Record<string, Tool.Any>>,
  answer: AgentAnswer.Reader<A>
): Agent<unknown, A> => {
  const { concurrency = 4, maxResultChars = 262_144, name, parameters = {} } = options
  const limits = AgentBudget.limits(options.budget)
  const pieces = [Piece.steering(instructionsId, options.instructions), ...(options.pieces ?? [])]
  const tools: ReadonlyArray<Tool.Any> = options.toolkit === undefined ? [] : Object.values(options.toolkit.tools)
  const prepared = tools.flatMap((tool) =>
    Either.match(Dispatch.prepare(tool), { onLeft: () => [], onRight: (one) => [one] })
  )
  const told = [...prepared, ...(answer.asking === undefined ? [] : [answer.asking.tool])]
  const { findings, problems, tools: offered } = AgentFindings.make(options.findings, told)
  const skills = AgentSkills.make(options, prepared, offered)
  const judged = AgentGrounding.make(options.grounding, tools)
  const artifacts = AgentArtifacts.make(options)
  const approval = Approval.read(options.approval ?? [])
  return {
    name,
    ...judged,
    pieces: pieces.map((piece) => Run.declarePiece(piece)),
    tools: new Map(offered.map((tool) => [tool.declared.name, tool])),
    ...(findings === undefined ? {} : { findings }),
    ...(options.coverage?.inAnswer === true ? { coverage: { inAnswer: true } } : {}),
    ...artifacts,
    ...(options.window === undefined ? {} : { window: options.window }),
    ...(options.retry === undefined ? {} : { retry: options.retry }),
    answer,
    ...(skills.repertoire === undefined ? {} : { repertoire: skills.repertoire }),
    handlers: Dispatch.handlers(prepared),
    limits,
    checks: options.checks ?? "live",
    ...AgentReview.claims(options.claims),
    parameters,
    approval: approval.rules,
    progress: options.progress ?? "watched",
    unknown: options.unknown ?? "hold",
    concurrency,
    maxResultChars,
    problems: [
      ...AgentReview.review(name, pieces, tools, limits, concurrency, maxResultChars, parameters),
      ...problems,
      ...approval.problems,
      ...(options.window === undefined ? [] : Window.problems(options.window)),
      ...answer.problems,
      ...AgentReview.claimProblems(options.claims, answer.asking !== undefined),
      ...skills.problems,
      ...AgentGrounding.problems(judged),
      ...AgentArtifacts.problems(artifacts)
    ]
  }
}

/**
 * The agent without one or more of its pieces, the instructions of skills included: the same question can then be asked
 * without them. An id that no piece has is a fault of the definition, reported by the first effect that uses it.
 */
export const without = <R, A>(agent: Agent<R, A>, ...ids: ReadonlyArray<string>): Agent<R, A> => {
  const { pieces, problems, repertoire } = agent
  const known = [...pieces, ...(repertoire?.members ?? []).flatMap(({ piece }) => piece ?? [])].map(({ id }) => id)
  return {
    ...agent,
    pieces: pieces.filter(({ id }) => !ids.includes(id)),
    ...(repertoire === undefined ? {} : { repertoire: Repertoire.without(repertoire, ids) }),
    problems: [
      ...problems,
      ...ids
        .filter((id) => !known.includes(id))
        .map((id) => `The agent has no piece ${Printable.quote(id)} to do without.`)
    ]
  }
}

/** The services that every run uses. */
export type Services = LLM.LLM | ArtifactStore.ArtifactStore | Record.Record

type Emit = Loop.Options["emit"]
type Drive = AgentOptions.DriveOptions | undefined
const silent: Emit = () => Effect.void

const drive = <R, A>(
  agent: Agent<R, A>,
  runId: string,
  startedAt: number,
  listen: Emit,
  how: Drive,
  recorded: State.State,
  first: ReadonlyArray<Event.Event>
) =>
  Effect.gen(function* () {
    const { concurrency, maxResultChars, tools } = agent
    const handlers = AgentAnswer.handled(yield* agent.handlers, agent.answer.asking)
    const unhandled = Array.from(tools.keys()).filter((name) => !handlers.has(name))
    const missing = [
      ...unhandled.map((name) => `No layer provides the handler of ${Printable.quote(name)}.`),
      ...(yield* AgentArtifacts.storeProblems(agent))
    ]
    if (missing.length > 0) return yield* AgentError.invalid(agent.name, missing)
    const spec = yield* AgentSpec.of(agent, recorded.started?.manifest.window)
    const see = yield* Onlooker.Onlooker
    const emit: Emit =
      see === undefined
        ? listen
        : (progress) =>
            Effect.zipRight(
              Effect.sync(() => see(runId, progress)),
              listen(progress)
            )
    const { steering } = how ?? {}
    const begun = recorded.started ?? first.find((event) => event._tag === "RunStarted")
    const options: Loop.Options = {
      runId,
      startedAt,
      spec,
      tools,
      handlers,
      scope: AgentArtifacts.scopeOf(runId, begun),
      approval: agent.approval,
      concurrency,
      maxResultChars,
      ...(agent.artifacts?.placement === undefined ? {} : { placement: agent.artifacts.placement }),
      ...(agent.answer.asking === undefined ? {} : { answer: agent.answer.asking }),
      ...(agent.retry === undefined ? {} : { retry: agent.retry }),
      ...(steering === undefined ? {} : { steering }),
      emit
    }
    const { ended, state } = yield* Loop.drive(options, recorded, first)
    if (ended === undefined) return Outcome.waiting(runId, state)
    yield* AgentError.relied(runId, state)
    return Outcome.of(runId, state, ended, yield* valueOf(agent, runId, state))
  }).pipe(Effect.withSpan("Agent.run", { attributes: { agent: agent.name, runId }, captureStackTrace: false }))

/** The answer as a value, read from the record. */
const valueOf = <A>({ answer }: Agent<unknown, A>, runId: string, { answered }: State.State) =>
  Effect.mapError(answer.decode(answered?.value), (issues) => AgentError.unreadable(runId, issues))

const begin = <R, A>(agent: Agent<R, A>, input: string, options: AgentOptions.ChildOptions | undefined, emit: Emit) =>
  Effect.gen(function* () {
    yield* AgentReview.validate(agent, input, options)
    const runId = options?.runId ?? (yield* RunId.make)
    const startedAt = yield* Clock.currentTimeMillis
    const { parent, tags } = options ?? {}
    const started: Event.RunStarted = {
      _tag: "RunStarted",
      runId,
      agent: agent.name,
      manifest: AgentManifest.of(agent, options?.scope ?? (yield* ArtifactLoan.Enclosing)),
      input: Printable.wellFormed(input),
      ...(parent === undefined ? {} : { parent }),
      ...(tags === undefined ? {} : { tags })
    }
    return yield* AgentError.orExists(runId, drive(agent, runId, startedAt, emit, options, Run.initial, [started]))
  })

/** Works on `input` until there is an answer, a person is needed, a limit is reached, or something fails. */
export const run = <R, A>(
  agent: Agent<R, A>,
  input: string,
  options?: AgentOptions.RunOptions
): Effect.Effect<Outcome.Outcome<A>, AgentError.AgentError, Services | R> => begin(agent, input, options, silent)

/** As `run`, seen while it goes on. Ends after the terminal event, or when a person is waited for; stopping to listen interrupts the run. */
export const stream = <R, A>(
  agent: Agent<R, A>,
  input: string,
  options?: AgentOptions.RunOptions
): Stream.Stream<Loop.Progress, AgentError.AgentError, Services | R> =>
  AgentStream.of((emit) => begin(agent, input, options, emit))

const carryOn = <R, A>(agent: Agent<R, A>, runId: string, how: Drive, emit: Emit) =>
  Effect.gen(function* () {
    yield* AgentReview.validate(agent, "resumed")
    const { drivenSince, resumed, state } = yield* LoadedRun.resume(runId, agent.limits)
    return yield* drive(agent, runId, drivenSince, emit, how, state, resumed)
  })

/**
 * Goes on with a run that has no terminal event, after the last thing its record holds. A run that has ended, and one that
 * waits for a person who has said nothing yet, gives its outcome again and does nothing.
 */
export const resume = <R, A>(
  agent: Agent<R, A>,
  runId: string,
  options?: AgentOptions.DriveOptions
): Effect.Effect<Outcome.Outcome<A>, AgentError.AgentError, Services | R> => carryOn(agent, runId, options, silent)

/** As `resume`, seen while it goes on. */
export const resumeStream = <R, A>(
  agent: Agent<R, A>,
  runId: string,
  options?: AgentOptions.DriveOptions
): Stream.Stream<Loop.Progress, AgentError.AgentError, Services | R> =>
  AgentStream.of((emit) => carryOn(agent, runId, options, emit))

const goOn = <R, A>(
  agent: Agent<R, A>,
  runId: string,
  message: string,
  options: AgentOptions.RunOptions | undefined,
  emit: Emit
) =>
  Effect.gen(function* () {
    yield* AgentReview.validate(agent, message, options)
    const { state } = yield* LoadedRun.load(runId)
    if (state.ended === undefined) {
      return yield* AgentError.open(runId)
    }
    const ownId = options?.runId ?? (yield* RunId.make)
    const startedAt = yield* Clock.currentTimeMillis
    const input = Printable.wellFormed(message)
    const started: Event.RunStarted = {
      _tag: "RunStarted",
      runId: ownId,
      agent: agent.name,
      manifest: AgentManifest.of(agent, options?.scope ?? AgentArtifacts.scopeOf(runId, state.started)),
      input,
      followUpOf: runId,
      ...AgentSkills.places(agent.repertoire, state.skills),
      ...(options?.tags === undefined ? {} : { tags: options.tags })
    }
    const carried = state.messages.map(({ from, message, origin, seq }): Event.MessageCarried => ({
      _tag: "MessageCarried",
      from: from ?? { runId, seq },
      message,
      // Who wrote it, where its role does not say so.
      ...(origin === FoldSaid.originOf(message) ? {} : { origin })
    }))
    const received: Event.MessageReceived = { _tag: "MessageReceived", content: input }
    const first = [started, ...carried, ...WindowPass.carried(runId, state, 1), received]
    return yield* AgentError.orExists(ownId, drive(agent, ownId, startedAt, emit, options, Run.initial, first))
  })

/** A new run that goes on from the conversation of one that has ended, with a further message of the person. */
export const followUp = <R, A>(
  agent: Agent<R, A>,
  runId: string,
  message: string,
  options?: AgentOptions.RunOptions
): Effect.Effect<Outcome.Outcome<A>, AgentError.AgentError, Services | R> =>
  goOn(agent, runId, message, options, silent)

/** As `followUp`, seen while it goes on. */
export const followUpStream = <R, A>(
  agent: Agent<R, A>,
  runId: string,
  message: string,
  options?: AgentOptions.RunOptions
): Stream.Stream<Loop.Progress, AgentError.AgentError, Services | R> =>
  AgentStream.of((emit) => goOn(agent, runId, message, options, emit))

/**
 * An agent as a tool of another. Each call is a run with its own record, which both records name; it spends of what the run
 * that calls it has left, and is interrupted with it. Its outcome is the result of the call, and what goes wrong with it a
 * failure of the call. `layer` is the tool's handler, as that of any other tool: it has what the agent needs.
 */
export const toTool = <R, A, const Name extends string, Parameters extends Schema.Struct.Fields>(
  agent: Agent<R, A>,
  options: AgentTool.Options<Name, Parameters>
): AgentTool.AgentTool<Name, Parameters, Services | R> =>
  AgentTool.make<Name, Parameters, Services | R, A>(agent.limits, options, {
    begin: (limits, input, how) => begin({ ...agent, limits }, input, how, silent),
    resume: (limits, runId) => carryOn({ ...agent, limits }, runId, undefined, silent)
  })
