import { AnthropicClient, AnthropicLanguageModel } from "@effect/ai-anthropic"
import { FetchHttpClient } from "@effect/platform"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Predicate, Redacted, Tracer } from "effect"
import { inspect } from "node:util"
import * as AiSdkError from "../../src/services/AiSdkError.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import * as Dialects from "./Dialects.ts"
import { type Handler, isClean, serve } from "./ModelServer.ts"

const { canary } = Dialects
const { wire } = LLMSuite

const answer =
  (status: number, type: string, body: string, headers: Record<string, string> = {}): Handler =>
  ({ response }) => {
    response.writeHead(status, { "content-type": type, ...headers }).end(body)
  }

const overEffectAi = (url: string, options: LLM.LanguageModelOptions = {}) =>
  LLM.layerLanguageModel({ provider: "p", ...options }).pipe(
    Layer.provide(AnthropicLanguageModel.layer({ model: "claude-sonnet-4-20250514" })),
    Layer.provide(AnthropicClient.layer({ apiKey: Redacted.make(canary), apiUrl: url.replace(/\/v1$/, "") })),
    Layer.provide(FetchHttpClient.layer)
  )

type LayerOf = (url: string, more?: { readonly streamed?: false }) => Layer.Layer<LLM.LLM, LLM.LLMError>

const refused = (layer: Layer.Layer<LLM.LLM, LLM.LLMError>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(Effect.timeout(Effect.provide(LLM.reply(wire), layer), "5 seconds"))
    isClean(exit, canary)
    const error = yield* Effect.flip(exit)
    assert.instanceOf(error, LLM.LLMError)
    return error
  })

const sentTo = (layerOf: LayerOf, handler: Handler, more?: { readonly streamed?: false }) =>
  Effect.flatMap(serve(handler), ({ url }) => refused(layerOf(url, more))).pipe(Effect.scoped)

describe("A redirect", () => {
  const layers: ReadonlyArray<readonly [name: string, layer: LayerOf]> = [
    ...Dialects.all.map(({ layer, name }) => [name, layer] as const),
    ["@effect/ai over fetch", (url) => overEffectAi(url)]
  ]
  for (const [name, layer] of layers) {
    it.scopedLive(`takes neither the key nor the conversation anywhere: ${name}`, () =>
      Effect.gen(function* () {
        for (const status of [301, 302, 307, 308]) {
          const other = yield* serve(answer(200, "text/event-stream", ""))
          const location = `${other.url.replace("127.0.0.1", "localhost")}/x`
          const error = yield* sentTo(layer, answer(status, "text/plain", "", { location }))
          assert.strictEqual(other.exchanges.length, 0)
          assert.deepStrictEqual([error.reason, error.retry, error.outcome], ["Misconfigured", "never", "not-applied"])
          assert.include(error.message, `HTTP status ${status}`)
          assert.include(error.message, "redirect")
        }
      })
    )
  }
})

for (const { body, events, fail, layer, name } of Dialects.all) {
  describe(`An answer with status 200: ${name}`, () => {
    it.live("is a failure with its reason where its body is an error", () =>
      Effect.gen(function* () {
        for (const more of [{}, { streamed: false }] as const) {
          for (const [type, reason] of [
            ["rate_limit_error", "Limited"],
            ["server_error", "Unavailable"],
            ["authentication_error", "Auth"],
            ["invalid_request_error", "Rejected"]
          ] as const) {
            const text = JSON.stringify(fail(type, `No: ${canary}`))
            const error = yield* sentTo(layer, answer(200, "application/json", text, { "retry-after": "7" }), more)
            assert.strictEqual(error.reason, reason)
            if (reason === "Limited") {
              assert.deepStrictEqual(error.retry, { afterMs: 7_000 })
              assert.include(error.found ?? "", "No: ")
              const kept = error.body === undefined ? "" : Redacted.value(error.body)
              assert.strictEqual(kept, text.replace(canary, "[masked]"))
            }
          }
          const said = yield* sentTo(layer, answer(200, "application/json", '{"error":"model not found"}'), more)
          assert.include(said.found ?? "", "model not found")
        }
      })
    )

    it.live("is kept for a person to look at where it is no stream, and one was asked for", () =>
      Effect.gen(function* () {
        const deep = `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`
        const whole = JSON.stringify(body({ deltas: ["Yes"], stop: "stop" }))
        for (const [type, text] of [
          ["text/html", "<html>Sign in</html>"],
          ["application/json", ""],
          ["application/json", "[]"],
          ["application/json", '{"__proto__":{"x":1}}'],
          ["application/json", deep],
          ["application/json; charset=utf-8", whole]
        ] as const) {
          const error = yield* sentTo(layer, answer(200, type, text))
          assert.strictEqual(error.reason, "Protocol", text.slice(0, 40))
          assert.strictEqual(error.body && Redacted.value(error.body), text)
          assert.include(error.message, `${text.length} characters`)
        }
      })
    )

    it.live("may be a stream under another name", () =>
      Effect.gen(function* () {
        const { end, said } = events({ deltas: ["Yes"], stop: "stop", usage: { input: 3, output: 2 } })
        const text = [...said, ...end]
          .map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`)
          .join("")
        const server = yield* serve(answer(200, "text/event-stream", text), answer(200, "application/json", text))
        const replies = yield* Effect.replicateEffect(Effect.provide(LLM.reply(wire), layer(server.url)), 2)
        assert.deepStrictEqual(
          replies.map(({ content }) => content),
          ["Yes", "Yes"]
        )
      }).pipe(Effect.scoped)
    )
  })
}

describe("LLM.layerLanguageModel and time", () => {
  it.scopedLive("fails a call whose provider is silent, before the first byte and between two", () =>
    Effect.gen(function* () {
      const { said } = Dialects.anthropic.events({ deltas: ["Yes"], stop: "stop", usage: { input: 3, output: 2 } })
      const frame = (event: unknown) => {
        const type = Predicate.hasProperty(event, "type") ? event.type : ""
        return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
      }
      const stalled: Handler = ({ response }) => {
        const text = said.slice(0, 3).map(frame)
        response.writeHead(200, { "content-type": "text/event-stream" }).write(text.join(""))
      }
      for (const [handler, timeouts, what] of [
        [() => undefined, { firstByte: "50 millis" }, "did not begin to answer within 50 ms"],
        [stalled, { betweenChunks: "50 millis" }, "was silent for 50 ms"],
        [stalled, { call: "150 millis" }, "did not end its reply within 150 ms"]
      ] as const) {
        const { url } = yield* serve(handler)
        const error = yield* refused(overEffectAi(url, { timeouts }))
        assert.strictEqual(error.reason, "Timeout", error.message)
        assert.include(error.message, what)
      }
    })
  )
})

describe("LLM.layerLanguageModel and spans", () => {
  it.live("ends the spans of a package without the key, whatever became of the request", () =>
    Effect.gen(function* () {
      const ended: Array<readonly [span: Tracer.Span, exit: Exit.Exit<unknown, unknown>]> = []
      const native = yield* Effect.tracer
      const tracer = Tracer.make({
        context: (run) => run(),
        span: (...given) => {
          const span = native.span(...given)
          const end = span.end.bind(span)
          span.end = (time, exit) => {
            ended.push([span, exit])
            end(time, exit)
          }
          return span
        }
      })
      const body = JSON.stringify({ error: { type: "x", message: `No: ${canary}` } })
      for (const status of [200, 401, 429, 500]) {
        const error = yield* sentTo((url) => overEffectAi(url), answer(status, "application/json", body)).pipe(
          Effect.withTracer(tracer)
        )
        assert.instanceOf(error, LLM.LLMError)
      }
      const gone = yield* refused(overEffectAi("http://127.0.0.1:1/v1")).pipe(Effect.withTracer(tracer))
      assert.strictEqual(gone.reason, "Unavailable")
      const failed = ended.filter(([, exit]) => Exit.isFailure(exit))
      assert.isAtLeast(failed.length, 4)
      for (const [span, exit] of ended) {
        isClean(exit, canary)
        assert.notInclude(inspect(span, { depth: 12, showHidden: true }), canary, span.name)
      }
    })
  )
})

describe("LLM.layerLanguageModel and what it keeps", () => {
  const frame = (event: unknown) => {
    const type = Predicate.hasProperty(event, "type") ? event.type : ""
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`
  }
  const usage = { input: 3, output: 2 }

  it.live("is what the provider sent, and never the request with its key", () =>
    Effect.gen(function* () {
      const { said } = Dialects.anthropic.events({ deltas: ["Yes"], stop: "stop", usage })
      for (let at = 0; at < said.length; at++) {
        const broken = yield* sentTo(
          (url) => overEffectAi(url),
          ({ response }) => {
            response.writeHead(200, { "content-type": "text/event-stream" })
            response.flushHeaders()
            response.write(`: begun\n\n${said.slice(0, at).map(frame).join("")}`, () => response.destroy())
          }
        )
        assert.deepStrictEqual([broken.reason, broken.outcome], ["StreamBroken", "unknown"], `${at}`)
        assert.notInclude(broken.body === undefined ? "" : Redacted.value(broken.body), canary)
      }
      for (const text of ["<html>", '{"error":', ""]) {
        const odd = yield* sentTo((url) => overEffectAi(url), answer(500, "application/json", text))
        assert.strictEqual(odd.reason, "Unavailable")
        assert.notInclude(odd.body === undefined ? "" : Redacted.value(odd.body), canary)
      }
      const told = yield* sentTo((url) => overEffectAi(url), answer(500, "text/plain", "Out of order."))
      assert.include(told.body === undefined ? "" : Redacted.value(told.body), "Out of order.")
    })
  )

  it.live("goes on after arguments with a reserved key, which no tool sees", () =>
    Effect.gen(function* () {
      for (const args of ['{"__proto__":{"x":1}}', '{"a":{"constructor":{"prototype":{}}}}', '{"\\u005f_proto__":1}']) {
        const calls = [{ id: "c1", name: "read", deltas: [args] }]
        const { end, said } = Dialects.anthropic.events({ calls, stop: "tool-calls", usage })
        const server = yield* serve(answer(200, "text/event-stream", [...said, ...end].map(frame).join("")))
        const tool = { name: "read", schema: { type: "object", properties: {} } }
        const piece = { id: "t", origin: "app", seq: 0, cause: { by: "selected", seq: 0 }, hash: "t" } as const
        const asked = { ...wire, tools: [{ ...piece, slot: "tools" as const, tool }] }
        const { toolCalls } = yield* Effect.provide(LLM.reply(asked), overEffectAi(server.url))
        assert.deepStrictEqual(
          toolCalls.map(({ args, toolName }) => [toolName, args]),
          [["read", args]]
        )
      }
    }).pipe(Effect.scoped)
  )
})

describe("A key that a provider repeats", () => {
  const at = { provider: "p", modelId: "m", phase: "request" } as const

  it("is masked in every spelling, wherever it is cut", () => {
    const key = 'k"ey/+ä1~~~'
    const bytes = Buffer.from(key)
    const spellings = [
      key,
      JSON.stringify(key).slice(1, -1),
      encodeURIComponent(key),
      bytes.toString("base64"),
      bytes.toString("base64url"),
      bytes.toString("hex"),
      bytes.toString("hex").toUpperCase()
    ]
    for (const spelled of spellings) {
      const { body, found } = AiSdkError.toLLMError(
        { statusCode: 400, data: { error: { message: `Not <${spelled}>.` } }, responseBody: `<${spelled}>` },
        { ...at, secrets: [key] }
      )
      assert.include(found ?? "", "Not <[masked]>.")
      assert.strictEqual(body && Redacted.value(body), "<[masked]>")
    }
    const long = "x".repeat(65_530) + "canary-0123456789"
    const { body } = AiSdkError.toLLMError(
      { statusCode: 400, responseBody: long },
      { ...at, secrets: ["canary-0123456789"] }
    )
    assert.notInclude(body === undefined ? "" : Redacted.value(body), "canary")
  })
})

describe("The name of the model that answered", () => {
  it.effect("is text that can be stored", () =>
    Effect.gen(function* () {
      const draft = LLM.step(LLM.step(LLM.emptyDraft, { _tag: "Text", delta: "Yes" }), {
        _tag: "Finish",
        stopReason: "stop",
        usage: {},
        model: "m\ud800"
      })
      const exit = yield* Effect.exit(LLM.finish(draft))
      assert.strictEqual(Exit.isSuccess(exit) ? exit.value.model : undefined, "m\ufffd")
    })
  )
})
