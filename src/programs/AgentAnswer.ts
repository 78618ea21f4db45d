/**
 * An `AgentAnswer` is how answers are read by the schema that an agent has for them.
 *
 * @internal
 */
import * as Tool from "@effect/ai/Tool"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as ClaimCheck from "../kernel/ClaimCheck.ts"
import type * as ClaimEvent from "../kernel/ClaimEvent.ts"
import type * as AnswerEvent from "../kernel/AnswerEvent.ts"
import * as Answering from "../kernel/Answering.ts"
import type * as Event from "../kernel/Event.ts"
import * as FindingRead from "../kernel/FindingRead.ts"
import * as Json from "../kernel/Json.ts"
import type * as Run from "../kernel/Run.ts"
import * as Decoding from "./Decoding.ts"
import type * as Dispatch from "./Dispatch.ts"

/** Limits of the text of an answer. */
const limits = { maxChars: 1_048_576, maxDepth: 64 }

/** How answers come that have a schema. */
export interface Asking {
  readonly manifest: Event.Answer
  /** What the model calls to give an answer, unless it is sent the schema itself. */
  readonly tool: Dispatch.Prepared
  /** An answer, without what it may stand in, decoded. */
  readonly decode: (value: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
}

export interface Reader<out A> {
  readonly asking?: Asking
  /** An answer of the record, decoded; or what is wrong with it. */
  readonly decode: (value: unknown) => Effect.Effect<A, ReadonlyArray<string>>
  readonly problems: ReadonlyArray<string>
}

/** An answer without a schema is a text, and no value. */
export const text: Reader<undefined> = { decode: () => Effect.succeed(undefined), problems: [] }

const inside = "answer"

const jsonSchema = (schema: Schema.Schema.All): Either.Either<{ readonly [key: string]: unknown }, string> =>
  Either.try({
    try: () => ({ ...Tool.getJsonSchemaFromSchemaAst(schema.ast) }),
    catch: () => "The schema of the answer has no JSON Schema. Give it a jsonSchema annotation."
  })

const prepared = (
  schema: { readonly [key: string]: unknown },
  decode: (given: unknown, errors: "first" | "all") => Effect.Effect<unknown, ReadonlyArray<string>>
): Dispatch.Prepared => ({
  declared: Answering.declared(schema),
  id: `wherefore/${Answering.toolName}`,
  timeout: Duration.minutes(1),
  wants: [],
  validate: Effect.succeed,
  decode,
  approval: "allow",
  encodeArgs: Effect.succeed,
  encodeSuccess: Effect.succeed,
  encodeFailure: Effect.succeed
})

/** The reader of answers by a schema; what is no JSON object stands in a property of one. */
export const make = <A, I, R>(schema: Schema.Schema<A, I, R>): Reader<A> => {
  const own = Schema.make<A, unknown>(schema.ast)
  const held = Schema.Struct({ [inside]: own })
  const decodeOwn = Schema.decodeUnknown(own)
  const decode = (value: unknown) => Decoding.read(() => decodeOwn(value))
  return Either.match(Either.all({ bare: jsonSchema(own), wrapped: jsonSchema(held) }), {
    onLeft: (problem) => ({ decode, problems: [problem] }),
    onRight: ({ bare, wrapped }) => {
      const isObject = bare["type"] === "object"
      const given = isObject ? decodeGiven(own) : decodeGiven(held)
      return {
        decode,
        problems: [],
        asking: {
          manifest: { corrections: Answering.corrections, ...(isObject ? {} : { inside }) },
          tool: prepared(isObject ? bare : wrapped, given),
          decode
        }
      }
    }
  })
}

const decodeGiven = <A, I>(schema: Schema.Schema<A, I>) => {
  const all = Schema.decodeUnknown(schema, { errors: "all" })
  const first = Schema.decodeUnknown(schema)
  return (value: unknown, errors: "first" | "all"): Effect.Effect<unknown, ReadonlyArray<string>> =>
    Decoding.read(() => (errors === "all" ? all(value) : first(value)))
}

/** What the model's words come to as an answer. `findings`: what they declare of those is not part of it. */
export const read = (
  { tool }: Asking,
  iteration: number,
  content: string,
  findings: boolean
): Effect.Effect<AnswerEvent.AnswerRead | AnswerEvent.AnswerRejected> => {
  const parsed = Json.parse(content, limits)
  if (Either.isLeft(parsed)) return Effect.succeed(Answering.rejected(iteration, [parsed.left.what]))
  const isDeclaring = findings && Predicate.isRecord(parsed.right)
  const value = isDeclaring ? FindingRead.read(parsed.right).args : parsed.right
  return Effect.match(tool.decode(value, "all"), {
    onFailure: (issues) => Answering.rejected(iteration, issues),
    onSuccess: () => ({ _tag: "AnswerRead", iteration, value })
  })
}

/**
 * What an answer says of each claim, where the schema's decoding has put it. A value that is no JSON then is told as it
 * was written.
 */
export const claims = (
  asking: Asking | undefined,
  declared: ReadonlyArray<ClaimCheck.DeclaredClaim>,
  iteration: number,
  value: unknown
): Effect.Effect<ClaimEvent.ClaimsRead> =>
  Effect.map(
    Effect.orElseSucceed(asking === undefined ? Effect.succeed(value) : asking.decode(value), () => value),
    (decoded) => {
      const written = ClaimCheck.read(declared, value)
      const values = ClaimCheck.read(declared, decoded).map((claimed, n) =>
        claimed.value === undefined || Either.isRight(Json.canonical(claimed.value)) ? claimed : (written[n] ?? {})
      )
      return { _tag: "ClaimsRead", iteration, values }
    }
  )

/** The handlers with the one that takes an answer. */
export const handled = (handlers: Dispatch.Handlers, asking: Asking | undefined): Dispatch.Handlers =>
  asking === undefined ? handlers : new Map([...handlers, [Answering.toolName, () => Effect.succeed(Answering.taken)]])

/** How the model is asked: it is sent the schema, if its layer can do that, or else the tool. */
export const asked = <Spec extends Pick<Run.Spec, "parameters" | "tools">>(
  spec: Spec,
  asking: Asking | undefined,
  isJson: boolean
): Spec =>
  asking === undefined || !isJson
    ? spec
    : {
        ...spec,
        tools: spec.tools.filter(({ name }) => name !== Answering.toolName),
        parameters: { ...spec.parameters, answerSchema: asking.tool.declared.schema }
      }
