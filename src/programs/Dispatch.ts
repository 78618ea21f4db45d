/**
 * A `Dispatch` takes one planned call through the rest of the pipeline: arguments by schema, execution, result by schema,
 * and the text that the model is served. Whatever happens is a settlement: a call cannot fail the run.
 *
 * @internal
 */
import * as Tool from "@effect/ai/Tool"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as Call from "../kernel/Call.ts"
import type * as Artifact from "../kernel/Artifact.ts"
import * as ArtifactEvent from "../kernel/ArtifactEvent.ts"
import * as Declared from "../kernel/Declared.ts"
import type * as Event from "../kernel/Event.ts"
import * as Issues from "../kernel/Issues.ts"
import type * as Message from "../kernel/Message.ts"
import * as Present from "../kernel/Present.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Refusal from "../kernel/Refusal.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as ArgumentsFrom from "./ArgumentsFrom.ts"
import * as ArtifactStore from "../services/ArtifactStore.ts"
import type * as ArtifactDesk from "./ArtifactDesk.ts"
import * as ArtifactLoan from "./ArtifactLoan.ts"
import * as Artifacts from "./Artifacts.ts"
import * as PresentCall from "./PresentCall.ts"
import * as Replay from "./Replay.ts"
import * as ServedResult from "./ServedResult.ts"
import * as Timeout from "./Timeout.ts"
import * as WantedArguments from "./WantedArguments.ts"
import * as Wants from "./Wants.ts"

/** A tool with its schemas compiled once. */
export interface Prepared extends WantedArguments.Wanting {
  readonly declared: Event.ToolDeclared
  readonly id: string
  readonly decode: (args: unknown, errors: "first" | "all") => Effect.Effect<unknown, ReadonlyArray<string>>
  readonly encodeSuccess: (value: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
  readonly encodeFailure: (value: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
}

/** What runs a tool's call, from the layer that provides its handler. */
export type Handler = (args: unknown) => Effect.Effect<unknown, unknown>
export type Handlers = ReadonlyMap<string, Handler>

/** A schema that is known by its AST alone: its requirements are in the type of the agent that has the tool. */
const schemaOf = (ast: SchemaAST.AST): Schema.Schema<unknown, unknown> => Schema.make(ast)

/** What a model is told of a tool, or why its parameters have no JSON Schema. */
export const definition = (tool: Tool.Any): Either.Either<Wire.ToolPiece["tool"], string> =>
  Either.map(
    Either.try({
      try: () => Tool.getJsonSchemaFromSchemaAst(tool.parametersSchema.ast),
      catch: () => "its parameters have no JSON Schema. Give the schema a jsonSchema annotation."
    }),
    (schema) => {
      const description = tool.description ?? Tool.getDescriptionFromSchemaAst(tool.parametersSchema.ast)
      return { name: tool.name, ...(description === undefined ? {} : { description }), schema }
    }
  )

export const prepare = (tool: Tool.Any): Either.Either<Prepared, string> => {
  const parameters = schemaOf(tool.parametersSchema.ast)
  const decode = { first: Schema.decodeUnknown(parameters), all: Schema.decodeUnknown(parameters, { errors: "all" }) }
  const success = Schema.encodeUnknown(schemaOf(tool.successSchema.ast))
  const failure = Schema.encodeUnknown(schemaOf(tool.failureSchema.ast))
  const validate = Schema.validate(parameters)
  return Either.map(definition(tool), (described) => ({
    declared: Declared.tool(described, { replay: Replay.of(tool), ...ArgumentsFrom.of(tool) }),
    id: tool.id,
    timeout: Timeout.of(tool),
    wants: Wants.of(tool, described.schema),
    validate: (decoded) => Effect.mapError(validate(decoded), Issues.list),
    decode: (args, errors) => Effect.mapError(decode[errors](args), Issues.list),
    encodeSuccess: (value) => Effect.mapError(success(value), Issues.list),
    encodeFailure: (value) => Effect.mapError(failure(value), Issues.list)
  }))
}

/** The handlers of the tools, taken from the context of the run and bound to it. */
export const handlers = <R>(tools: ReadonlyArray<Prepared>): Effect.Effect<Handlers, never, R> =>
  Effect.map(Effect.context<R>(), (context) => {
    const found = new Map<string, Handler>()
    for (const { declared, id } of tools) {
      const tag = Context.GenericTag<Tool.Handler<string>>(id)
      const handler = Context.getOption(context, tag)
      if (Option.isNone(handler)) continue
      const run = handler.value.handler
      const given = Context.merge(context, handler.value.context)
      // What surrounds the call outranks it: its key and its span are not those of a call around the run.
      found.set(declared.name, (args) =>
        Effect.mapInputContext(
          Effect.suspend(() => run(args)),
          (around: Context.Context<never>) => Context.merge(given, around)
        )
      )
    }
    return found
  })

export interface Options extends ServedResult.Serving {
  readonly runId: string
  readonly iteration: number
  readonly tools: ReadonlyMap<string, Prepared>
  readonly handlers: Handlers
  readonly desk: ArtifactDesk.Desk
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
    }
  | {
      readonly _tag: "Settled"
      readonly planned: Call.Planned
      readonly event: Event.ToolSettled
      readonly brought: ReadonlyArray<ArtifactEvent.ArtifactEvent>
    }

/** Arguments longer than this are checked up to their first mistake only. */
const manyIssues = 16_384

const settle = (options: Options, call: Message.ToolCall, outcome: Message.Settlement, refusal: Refusal.Refusal) =>
  Call.settlement(options.iteration, { _tag: "Settle", call, outcome, refusal })

const settled = (
  { iteration }: Options,
  planned: Call.Planned & { readonly _tag: "Settle" },
  brought: ReadonlyArray<ArtifactEvent.ArtifactEvent> = []
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

/** Checks a planned call's arguments against the tool's schema, and fetches what they name. Nothing has run yet, or an earlier process ran it. */
export const check = (options: Options, planned: Call.Planned): Effect.Effect<Ready> => {
  if (planned._tag === "Settle") {
    return Effect.succeed(settled(options, planned))
  }
  const { args, call, own, started } = planned
  if (own !== undefined) return Effect.succeed({ _tag: "Ready", planned, decoded: args })
  const refuse = (refusal: Refusal.Refusal, brought: ReadonlyArray<ArtifactEvent.ArtifactEvent> = []): Ready => {
    if (!started) return refused(options, call, refusal, brought)
    // It is no refusal to find today that a call cannot be run which was running when its process was lost.
    const how = "was running when its process was lost, and could not be run again"
    const lost = Refusal.toolOutcomeUnknown(call.toolName, sent(options, call), how)
    return settled(options, { _tag: "Settle", call, outcome: "unknown", refusal: lost }, brought)
  }
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
    if (tool.wants.length === 0) {
      return Either.match(read, {
        onLeft: (issues) => refuse(Refusal.toolArgsInvalid(call.toolName, issues)),
        onRight: (decoded): Ready => ({ _tag: "Ready", planned, decoded })
      })
    }
    const wanted = yield* WantedArguments.resolve(options.desk, tool, callOf(options, call), args, read)
    return Either.match(wanted, {
      onLeft: ({ refusal, refused }) => refuse(refusal, refused),
      onRight: ({ decoded, tickets }): Ready => ({ _tag: "Ready", planned, decoded, wanted: tickets })
    })
  })
}

/** The intent, for the record, before the effect. */
export const called = (
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
  readonly brought: ReadonlyArray<ArtifactEvent.ArtifactEvent>
}

const undeclared = (event: Event.ToolSettled): ServedResult.Came => ({ declared: [], event })

/** What a call came to that no handler ran for. */
export const only = (event: Event.ToolSettled, brought: ReadonlyArray<ArtifactEvent.ArtifactEvent> = []): Executed => ({
  brought,
  declared: [],
  event
})

/** Runs a call that is ready, and says what it came to. */
export const execute = (
  options: Options,
  { decoded, planned, shown, wanted = new Map() }: Ready & { readonly _tag: "Ready" }
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
  const run = handler(decoded).pipe(
    Effect.provideService(Replay.Key, key),
    Effect.provideService(Artifacts.Artifacts, loan.bound),
    Effect.provideService(ArtifactStore.ArtifactStore, loan.store),
    Effect.provideService(ArtifactLoan.Enclosing, options.desk.scope),
    Effect.exit,
    within(tool.timeout)
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

const failed = (options: Options, tool: Prepared, call: Message.ToolCall, cause: Cause.Cause<unknown>) =>
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
