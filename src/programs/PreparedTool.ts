/**
 * A `PreparedTool` is a tool of `@effect/ai` as calls are dispatched to it: its schemas compiled, its annotations read.
 *
 * @internal
 */
import * as Tool from "@effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import type * as ApprovalRule from "../kernel/ApprovalRule.ts"
import * as Declared from "../kernel/Declared.ts"
import type * as Event from "../kernel/Event.ts"
import * as Issues from "../kernel/Issues.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as Approval from "./Approval.ts"
import * as ArgumentsFrom from "./ArgumentsFrom.ts"
import * as Child from "./Child.ts"
import * as Decoding from "./Decoding.ts"
import * as Lists from "./Lists.ts"
import * as Repeats from "./Repeats.ts"
import * as Replay from "./Replay.ts"
import * as Timeout from "./Timeout.ts"
import type * as WantedArguments from "./WantedArguments.ts"
import * as Wants from "./Wants.ts"

/** A tool with its schemas compiled once. */
export interface Prepared extends WantedArguments.Wanting {
  readonly declared: Event.ToolDeclared
  readonly id: string
  readonly decode: (args: unknown, errors: "first" | "all") => Effect.Effect<unknown, ReadonlyArray<string>>
  readonly approval: ApprovalRule.Verdict
  /** The arguments as a person reads them. */
  readonly encodeArgs: (decoded: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
  /** The limits of the agent that it runs, if it runs one. */
  readonly child?: Event.Limits
  readonly probe?: Replay.Probe<unknown, unknown>
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
  const written = Schema.encodeUnknown(parameters)
  const probe = Replay.probeOf(tool)
  const success = Schema.encodeUnknown(schemaOf(tool.successSchema.ast))
  const failure = Schema.encodeUnknown(schemaOf(tool.failureSchema.ast))
  const validate = Schema.validate(parameters)
  return Either.map(definition(tool), (described) => ({
    declared: Declared.tool(described, {
      replay: Replay.of(tool),
      ...ArgumentsFrom.of(tool),
      ...Lists.of(tool),
      ...Repeats.of(tool)
    }),
    ...Child.of(tool),
    id: tool.id,
    timeout: Timeout.of(tool),
    approval: Approval.of(tool),
    encodeArgs: (decoded) => Decoding.read(() => written(decoded)),
    ...(probe === undefined ? {} : { probe }),
    wants: Wants.of(tool, described.schema),
    validate: (decoded) => Decoding.read(() => validate(decoded)),
    decode: (args, errors) => Decoding.read(() => decode[errors](args)),
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
