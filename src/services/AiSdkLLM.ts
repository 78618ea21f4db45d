/**
 * An `AiSdkLLM` is a model behind the provider interface of the AI SDK, for which some forty packages exist. Nothing else
 * of that SDK is used.
 *
 * @since 0.1.0
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Printable from "../kernel/Printable.ts"
import * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as AiSdkError from "./AiSdkError.ts"
import * as AiSdkModel from "./AiSdkModel.ts"
import * as AiSdkPrompt from "./AiSdkPrompt.ts"
import * as AiSdkReader from "./AiSdkReader.ts"
import * as LLM from "./LLM.ts"
import { failure, type LLMError } from "./LLMError.ts"
import * as Pump from "./Pump.ts"
import * as SentTools from "./SentTools.ts"
import * as Timeouts from "./Timeouts.ts"

/** A model of any provider package whose models are `LanguageModelV3` or `LanguageModelV4`. */
export type Model = AiSdkModel.Model

export interface Options extends Omit<AiSdkPrompt.Options, "provider"> {
  /** Values that no error may repeat: the key that the model was made with, for one. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
  /** `json`: the model takes the schema of an answer itself. Otherwise answers by a schema come by a call of a tool. */
  readonly answers?: "json"
  /** Ask for whole replies, of a server that cannot stream them. What comes of a reply is the same. */
  readonly streamed?: false
  /** How long the provider may be silent, and a call may take. No limits of ours unless given. */
  readonly timeouts?: Timeouts.Timeouts
}

/** How the API behind a package is read, where its package loses something. */
export type Reading = Pick<AiSdkReader.Options, "isQuoted" | "unspelled" | "usage" | "usageSoFar">

type Pull = Effect.Effect<Chunk.Chunk<LLM.Part>, Option.Option<LLMError>>

interface Asking {
  readonly model: Model
  readonly call: AiSdkModel.Call
  readonly reading: Reading
  readonly refail: (phase: AiSdkError.Phase) => (error: unknown) => LLMError
  readonly scope: Scope.Scope
  readonly watch: Timeouts.Watch
  /** Chunks are asked for as the API sent them, too. */
  readonly isCounted: boolean
}

const readerOf = ({ model, reading, refail }: Asking, body: unknown): AiSdkReader.Options => ({
  ...reading,
  provider: model.provider,
  refail: refail("stream"),
  toolNames: SentTools.read(body)
})

/** Pulls that give the parts as they come. Leaving early aborts the request. */
const streamed = (asking: Asking): Effect.Effect<Pull, Option.Option<LLMError>> =>
  Effect.gen(function* () {
    const { call, isCounted, model, refail, scope, watch } = asking
    const asked = Effect.tryPromise({
      try: () => model.doStream({ ...call, ...(isCounted ? { includeRawChunks: true } : {}) }),
      catch: (error) => Option.some(refail("request")(error))
    })
    const { request, stream } = yield* watch.waiting(asked)
    const pump = Effect.sync(() => Pump.make(stream, refail("stream")))
    const { take } = yield* Scope.extend(
      Effect.acquireRelease(pump, ({ cancel }) => cancel),
      scope
    )
    const read = AiSdkReader.stream(readerOf(asking, request?.body))
    let over: Option.Option<LLMError> | undefined
    return Effect.suspend(() => {
      if (over !== undefined) return Effect.fail(over)
      return Effect.map(watch.waiting(take), (foreign) => {
        if (foreign.some(({ type }) => type !== "stream-start")) watch.begun()
        const { end, parts } = read(foreign.filter(AiSdkModel.isPart))
        if (end !== undefined) over = end === "finished" ? Option.none() : Option.some(end)
        return Chunk.unsafeFromArray(parts)
      })
    })
  })

const unstreamed = (asking: Asking): Effect.Effect<Pull, Option.Option<LLMError>> =>
  Effect.gen(function* () {
    const { call, model, refail, watch } = asking
    const { doGenerate } = model
    if (doGenerate === undefined) {
      const error = failure("Misconfigured", { what: "The model has no way to give a whole reply." })
      return yield* Effect.fail(Option.some(error))
    }
    const asked = Effect.tryPromise({
      try: () => doGenerate.call(model, call),
      catch: (error) => Option.some(refail("request")(error))
    })
    const reply = yield* watch.waiting(asked)
    const { finishReason, request, response, usage } = reply
    const content = reply.content.filter(AiSdkModel.isContent)
    const whole = { content, finishReason, usage, model: response?.modelId }
    const { end, parts } = AiSdkReader.whole(readerOf(asking, request?.body), whole)
    let over: Option.Option<LLMError> | undefined
    return Effect.suspend(() => {
      if (over !== undefined) return Effect.fail(over)
      over = end === undefined || end === "finished" ? Option.none() : Option.some(end)
      return Effect.succeed(Chunk.unsafeFromArray(parts))
    })
  })

/** What is known of the usage before the provider has said anything. */
const asked: Pull = Effect.succeed(Chunk.of({ _tag: "Usage", usage: Usage.unknown("cut") }))

/** The service over a model whose API is read in a way of its own. */
export const read = (model: Model, options: Options, reading: Reading): typeof LLM.LLM.Service => {
  const { modelId, provider } = model
  const convert = AiSdkPrompt.make({ ...options, provider })
  const secrets = (options.secrets ?? []).map((secret) => Redacted.value(secret))
  const refail = (phase: AiSdkError.Phase) => (error: unknown) =>
    AiSdkError.toLLMError(error, { provider, modelId, phase, secrets })
  const begin = options.streamed === false ? unstreamed : streamed
  // The first of a whole reply that comes is all of it.
  const timeouts = options.streamed === false ? Timeouts.wholly(options.timeouts) : options.timeouts
  // Every chunk counts as a sign of life, also one that nothing is made of.
  const isCounted = reading.usageSoFar !== undefined || options.timeouts?.betweenChunks !== undefined
  const where = Printable.clip(Printable.line(`${provider} ${modelId}`), 120)

  const parts = (wire: Wire.Wire) =>
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const abort = yield* Effect.acquireRelease(
        Effect.sync(() => new AbortController()),
        (controller) => Effect.sync(() => controller.abort())
      )
      const call = { ...convert(wire), abortSignal: abort.signal }
      let pull: Pull | undefined
      const next: Pull = Effect.suspend(() => {
        if (pull !== undefined) return pull
        pull = Timeouts.watch(timeouts, where).pipe(
          Effect.flatMap((watch) => begin({ model, call, reading, refail, scope, watch, isCounted })),
          Effect.flatMap((begun) => {
            pull = begun
            return begun
          })
        )
        return asked
      })
      return Stream.repeatEffectChunkOption(next)
    })

  return LLM.LLM.of({
    model: { provider, id: modelId },
    ...(options.answers === undefined ? {} : { answers: options.answers }),
    stream: (wire) => Stream.unwrapScoped(parts(wire))
  })
}

/** The service over a model, for those who build a layer of their own. */
export const make = (model: Model, options: Options = {}): typeof LLM.LLM.Service => read(model, options, {})

/**
 * Asks a model of any provider package of the AI SDK. Whoever made the model gave it its `fetch`, and with it redirects: the
 * usual one follows them, and takes keys in headers such as `x-api-key` along to wherever they lead. One that follows none
 * is `(url, init) => fetch(url, { ...init, redirect: "manual" })`. Arguments are recorded as the package hands them on: with
 * `streamed: false` some packages write them anew, so that a long number loses digits, and a key that came twice its first value.
 */
export const layer = (model: Model, options?: Options): Layer.Layer<LLM.LLM> =>
  Layer.sync(LLM.LLM, () => make(model, options))
