/**
 * A `LanguageModelLLM` is a model behind the `LanguageModel` service of `@effect/ai`, whichever package provides it.
 *
 * @since 0.1.0
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Model from "@effect/ai/Model"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Chunk from "effect/Chunk"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import type * as AiSdkError from "./AiSdkError.ts"
import * as AiSdkReader from "./AiSdkReader.ts"
import * as LanguageModelError from "./LanguageModelError.ts"
import * as LanguageModelPart from "./LanguageModelPart.ts"
import * as LanguageModelPrompt from "./LanguageModelPrompt.ts"
import * as LLM from "./LLM.ts"
import { failure, type LLMError } from "./LLMError.ts"
import * as ProviderFetch from "./ProviderFetch.ts"
import * as SpanFilter from "./SpanFilter.ts"
import * as Timeouts from "./Timeouts.ts"

export interface Options {
  /** Who answers. Default: the name that the model's layer gives (`Model.make`). What a reply was sealed by goes back to it alone. */
  readonly provider?: string
  /** The model, for the record, until a reply names one. */
  readonly model?: string
  /** Values that no error may repeat: the key that the model was made with, for one. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted>
  /**
   * Sampling parameters as the model's package takes them: a context with its configuration. `@effect/ai` has no words of
   * its own for them, so that without it an agent that sets some cannot be asked.
   */
  readonly configure?: (parameters: Event.Parameters) => Context.Context<never>
  /** How long the provider may be silent, and a call may take. No limits of ours unless given. */
  readonly timeouts?: Timeouts.Timeouts
  /**
   * `false`: nothing is marked for Anthropic's cache, and notices stand before the conversation. Other packages read no
   * marks. Where the provider's name is `anthropic`, more of a request is kept than under a name that says nothing.
   */
  readonly cache?: false
}

type Pull = Effect.Effect<Chunk.Chunk<LLM.Part>, Option.Option<LLMError>>

const unnamed = "effect-ai"

const isConfigured = ({ configure }: Options, parameters: Event.Parameters): boolean =>
  configure !== undefined || Object.values(parameters).every((value) => value === undefined)

const unconfigured = (parameters: Event.Parameters): LLMError =>
  failure("Misconfigured", {
    what: "The agent sets parameters, and the layer does not know how to send them.",
    found: Object.keys(parameters).join(", "),
    next: "Give `configure` to LLM.layerLanguageModel, or leave the parameters out."
  })

/**
 * The context in which a model is asked. Over `fetch` no redirect is followed: a key would go along to where it leads.
 * And what is an error or a page although its status is that of a success is a failure that keeps it.
 */
const asking = (context: Context.Context<never>, configured: Context.Context<never>): Context.Context<never> => {
  const init = Option.getOrElse(Context.getOption(context, FetchHttpClient.RequestInit), () => ({}))
  const fetch = Option.getOrElse(Context.getOption(context, FetchHttpClient.Fetch), () => globalThis.fetch)
  return Context.merge(context, configured).pipe(
    Context.add(FetchHttpClient.RequestInit, { ...init, redirect: "manual" }),
    Context.add(FetchHttpClient.Fetch, ProviderFetch.make(fetch, "either"))
  )
}

/** The service over a model, for those who build a layer of their own. */
export const make = (
  service: LanguageModel.Service,
  options: Options & { readonly provider: string }
): typeof LLM.LLM.Service => {
  const { cache, configure, model, provider } = options
  const prompt = LanguageModelPrompt.make({ provider, ...(cache === undefined ? {} : { cache }) })
  const secrets = (options.secrets ?? []).map((secret) => Redacted.value(secret))
  const where = Printable.clip(Printable.line(`${provider} ${model ?? ""}`.trim()), 120)
  const refail = (phase: AiSdkError.Phase) => (error: unknown) =>
    LanguageModelError.toLLMError(error, { provider, modelId: model ?? "", phase, secrets })

  const parts = (wire: Wire.Wire) =>
    Effect.gen(function* () {
      if (!isConfigured(options, wire.parameters)) return yield* unconfigured(wire.parameters)
      const asked = service.streamText(prompt(wire))
      const configured = configure?.(wire.parameters) ?? Context.empty()
      const stream = Stream.mapInputContext(asked, (context: Context.Context<never>) => asking(context, configured))
      const tracer = yield* SpanFilter.make(refail("stream"))
      const opened = yield* Effect.withTracer(Stream.toPull(stream), tracer)
      // Where a package dies of what it was sent, a run does not.
      const pull = Effect.catchAllDefect(opened, (defect) => Effect.fail(Option.some<unknown>(defect)))
      const watch = yield* Timeouts.watch(options.timeouts, where)
      const read = AiSdkReader.stream({
        provider,
        refail: refail("stream"),
        toolNames: undefined,
        usage: LanguageModelPart.usage
      })
      const convert = LanguageModelPart.reader()
      let isBegun = false
      let over: Option.Option<LLMError> | undefined
      const take = (foreign: Iterable<unknown>): ReadonlyArray<LLM.Part> => {
        isBegun = true
        watch.begun()
        const { end, parts } = read(convert.read(foreign))
        if (end !== undefined) over = end === "finished" ? Option.none() : Option.some(end)
        return parts
      }
      const broken = (error: unknown): Pull =>
        Effect.suspend(() => {
          const salvaged = LanguageModelError.salvage(error, convert.open())
          if (salvaged === undefined) return Effect.fail(Option.some(refail(isBegun ? "stream" : "request")(error)))
          const parts = take(salvaged)
          const rest = over === undefined ? take([LanguageModelPart.brokenOff]) : []
          return Effect.succeed(Chunk.unsafeFromArray([...parts, ...rest]))
        })
      const next: Pull = Effect.suspend(() =>
        over === undefined
          ? Effect.matchEffect(pull, {
              onSuccess: (chunk) => Effect.sync(() => Chunk.unsafeFromArray([...take(chunk)])),
              onFailure: Option.match({ onNone: () => Effect.fail(Option.none()), onSome: broken })
            })
          : Effect.fail(over)
      )
      // The ids of our traces are nothing for a provider to know.
      const untraced = Effect.withTracer(
        Effect.locally(watch.waiting(next), HttpClient.currentTracerPropagation, false),
        tracer
      )
      return Stream.concat(
        Stream.make<[LLM.Part]>({ _tag: "Usage", usage: Usage.unknown("cut") }),
        Stream.repeatEffectChunkOption(untraced)
      )
    })

  return LLM.LLM.of({
    ...(model === undefined ? {} : { model: { provider, id: model } }),
    stream: (wire) => Stream.unwrapScoped(parts(wire))
  })
}

/** Asks whatever `LanguageModel` the application has. */
export const layer = (options: Options = {}): Layer.Layer<LLM.LLM, never, LanguageModel.LanguageModel> =>
  Layer.effect(
    LLM.LLM,
    Effect.gen(function* () {
      const service = yield* LanguageModel.LanguageModel
      const named = yield* Effect.serviceOption(Model.ProviderName)
      const provider = options.provider ?? Option.getOrElse(named, () => unnamed)
      return make(service, { ...options, provider })
    })
  )
