import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Model from "@effect/ai/Model"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as OpenAiLanguageModel from "@effect/ai-openai/OpenAiLanguageModel"
import { assert, describe, it } from "@effect/vitest"
import { Chunk, Context, DateTime, Deferred, Effect, Fiber, Layer, Schema, Stream } from "effect"
import type * as Message from "../../src/kernel/Message.ts"
import * as Usage from "../../src/kernel/Usage.ts"
import type * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import * as Shop from "../programs/Shop.ts"
import * as Dialects from "./Dialects.ts"
import { apiKey, frame, inside, json, list, type Package, packages, slowly, stream } from "./EffectPackages.ts"
import { type Handler, isClean, serve } from "./ModelServer.ts"

const scripted = (replies: LLM.Steps) =>
  LLM.layerLanguageModel().pipe(Layer.provideMerge(LLM.layerScriptedLanguageModel(replies)))

describe("LLM.layerLanguageModel over a script", () => {
  for (const { effect, name } of LLMSuite.cases({ layer: scripted })) it.effect(name, () => effect)

  const Book = Tool.make("book", { parameters: { on: Schema.DateTimeUtc }, success: Schema.String })
  const toolkit = Toolkit.make(Book)

  it.effect("runs an agent whose tool decodes its arguments itself", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "clerk", instructions: "Book.", toolkit })
      const { answer } = yield* Agent.run(agent, "A table?", { runId: "r" })
      assert.strictEqual(answer, "Booked.")
      const settled = (yield* Shop.events("r")).flatMap((event) => (event._tag === "ToolSettled" ? [event.served] : []))
      assert.deepStrictEqual(settled, ["at 2026-01-01T00:00:00.000Z"])
    }).pipe(
      Effect.provide([
        Shop.services,
        toolkit.toLayer({ book: ({ on }) => Effect.succeed(`at ${DateTime.formatIso(on)}`) }),
        scripted(LLM.byPass([LLM.call("book", { on: "2026-01-01T00:00:00Z" }), "Booked."]))
      ])
    )
  )

  it.effect("goes on after a call of a tool that is not there, and after arguments that are no JSON", () =>
    Effect.gen(function* () {
      const agent = Agent.make({ name: "clerk", instructions: "Book.", toolkit })
      const outcome = yield* Agent.run(agent, "A table?", { runId: "r" })
      assert.strictEqual(outcome.answer, "No table.")
      const events = yield* Shop.events("r")
      const settled = events.flatMap((event) => (event._tag === "ToolSettled" ? [[event.toolName, event.outcome]] : []))
      assert.deepStrictEqual(settled, [
        ["bok", "refused"],
        ["book", "truncated"]
      ])
      const [first] = events.flatMap((event) => (event._tag === "ModelReplied" ? [event] : []))
      assert.strictEqual(first?.content, "I look.")
    }).pipe(
      Effect.provide([
        Shop.services,
        toolkit.toLayer({ book: () => Effect.succeed("") }),
        scripted(
          LLM.byPass([
            LLM.together("I look.", LLM.call("bok", { on: "2026-01-01T00:00:00Z" })),
            { toolCalls: [{ toolName: "book", rawArgs: '{"on": ' }] },
            "No table."
          ])
        )
      ])
    )
  )

  it.effect("is a model for any program of @effect/ai", () =>
    Effect.gen(function* () {
      const kit = Toolkit.make(Book)
      const handlers = kit.toLayer({ book: ({ on }) => Effect.succeed(DateTime.formatIso(on)) })
      const { text, toolResults, usage } = yield* LanguageModel.generateText({
        prompt: [
          { role: "system", content: "Be brief." },
          { role: "user", content: "A table?" }
        ],
        toolkit: kit
      }).pipe(Effect.provide(handlers))
      assert.strictEqual(text, "Zone a.")
      assert.deepStrictEqual(
        toolResults.map(({ result }) => result),
        ["2026-01-01T00:00:00.000Z"]
      )
      assert.deepStrictEqual([usage.inputTokens, usage.cachedInputTokens, usage.outputTokens], [12, 2, 3])
      const object = yield* LanguageModel.generateObject({ prompt: "?", schema: Schema.Struct({ n: Schema.Number }) })
      assert.deepStrictEqual(object.value, { n: 1 })
      const error = yield* Effect.flip(LanguageModel.generateText({ prompt: "?" }))
      assert.strictEqual(error._tag === "HttpResponseError" && error.response.status, 429)
      const { assertComplete, calls } = yield* LLM.Script
      yield* assertComplete
      const [wire] = yield* calls
      assert.deepStrictEqual(
        [wire?.iteration, wire?.system[0]?.text, wire?.messages[0]?.message.content, wire?.tools[0]?.tool.name],
        [1, "Be brief.", "A table?", "book"]
      )
    }).pipe(
      Effect.provide(
        LLM.layerScriptedLanguageModel([
          {
            deltas: ["Zone ", "a."],
            toolCalls: [{ toolName: "book", args: { on: "2026-01-01T00:00:00Z" } }],
            usage: { inputTokens: 10, cacheReadTokens: 2, outputTokens: 3 }
          },
          '{"n":1}',
          LLM.fail("Limited", { retry: { afterMs: 1_000 } })
        ])
      )
    )
  )

  it.effect("is asked by the name that its layer gives, or not by any", () =>
    Effect.gen(function* () {
      const named = Model.make("acme", LLM.layerScriptedLanguageModel(["a", "b"]))
      const finish = Effect.flatMap(LLM.LLM, ({ stream }) =>
        Effect.map(Stream.runCollect(stream(LLMSuite.wire)), (parts) => Chunk.toReadonlyArray(parts).at(-1))
      )
      const provider = (options?: LLM.LanguageModelOptions) =>
        finish.pipe(
          Effect.provide(Layer.provide(LLM.layerLanguageModel(options), named)),
          Effect.map((part) => part?._tag === "Finish" && part.provider)
        )
      assert.strictEqual(yield* provider(), "acme")
      assert.strictEqual(yield* provider({ provider: "own" }), "own")
    })
  )
})

// Over the packages themselves, whose servers are played here.

const piece = (id: string) => ({ id, origin: "app", seq: 0, cause: { by: "selected", seq: 0 }, hash: id }) as const

const message = (id: string, content: Message.Message): Wire.MessagePiece => ({
  ...piece(id),
  slot: "messages",
  message: content
})

const wire: Wire.Wire = {
  ...LLMSuite.wire,
  system: ["Be brief.", "Be kind."].map((text) => ({ ...piece(text), slot: "system", text })),
  tools: ["read", "list"].map((name) => ({
    ...piece(name),
    slot: "tools",
    tool: { name, description: "Reads.", schema: { type: "object", properties: { n: { type: "number" } } } }
  }))
}

const said: Dialects.Said = {
  reasoning: "Hm.",
  deltas: ["Zo", "ne ä€😀", "."],
  calls: [
    { id: "c1", name: "read", deltas: ['{"n": ', "1}"] },
    { id: "c2", name: "list", deltas: ["{}"] }
  ],
  stop: "tool-calls",
  usage: { input: 20, cacheRead: 10, cacheWrite: 5, output: 9, reasoning: 4 }
}

const yes: Dialects.Said = { deltas: ["Yes", "."], stop: "stop", usage: { input: 3, output: 2 } }

for (const { dialect, events, model, name, seal, usage } of packages) {
  const ask = (handler: Handler, options: LLM.LanguageModelOptions = {}, asked = wire) =>
    Effect.gen(function* () {
      const server = yield* serve(handler)
      const layer = LLM.layerLanguageModel({ provider: "p", ...options }).pipe(Layer.provide(model(server.url)))
      const exit = yield* Effect.exit(Effect.provide(LLM.reply(asked), layer))
      isClean(exit, Dialects.canary)
      return { exit, server, body: inside(JSON.parse(server.exchanges[0]?.body ?? "{}")) }
    }).pipe(Effect.scoped)

  const refused = (handler: Handler, options?: LLM.LanguageModelOptions, asked?: Wire.Wire) =>
    Effect.flatMap(ask(handler, options, asked), ({ exit }) => Effect.flip(exit))

  describe(`LLM.layerLanguageModel over ${name}`, () => {
    it.live("gives the reply with its arguments as written, its usage and its model", () =>
      Effect.gen(function* () {
        for (const handler of [stream(events(said)), slowly(events(said))]) {
          const { exit } = yield* ask(handler)
          const { model, seal: sealed, ...reply } = yield* exit
          assert.deepStrictEqual(reply, {
            content: "Zone ä€😀.",
            reasoning: "Hm.",
            toolCalls: [
              { toolCallId: "c1", toolName: "read", args: '{"n": 1}' },
              { toolCallId: "c2", toolName: "list", args: "{}" }
            ],
            stopReason: "tool-calls",
            usage
          })
          assert.include(["claude-x", "gpt-x"], model)
          assert.strictEqual(sealed?.provider, "p")
        }
      })
    )

    it.live("sends what the provider signed back to it, and to nobody else", () =>
      Effect.gen(function* () {
        const { exit } = yield* ask(stream(events(said)))
        const { content, reasoning = "", seal: sealed, toolCalls } = yield* exit
        assert.isDefined(sealed)
        if (sealed === undefined) return
        const again: Wire.Wire = {
          ...wire,
          messages: [
            ...wire.messages,
            message("a", { role: "assistant", content, toolCalls, sealed: { ...sealed, reasoning } }),
            ...toolCalls.map(({ toolCallId, toolName }) =>
              message(toolCallId, { role: "tool", toolCallId, toolName, content: '{"n":1}', outcome: "ran-ok" })
            )
          ]
        }
        const own = yield* ask(stream(events(yes)), {}, again)
        assert.include(JSON.stringify(own.body), seal)
        // A result that is JSON arrives as it is, and not as a text in JSON.
        assert.include(JSON.stringify(own.body), JSON.stringify('{"n":1}'))
        assert.notInclude(JSON.stringify(own.body), JSON.stringify(JSON.stringify('{"n":1}')))
        const other = yield* ask(stream(events(yes)), { provider: "q" }, again)
        assert.notInclude(JSON.stringify(other.body), seal)
        assert.include(JSON.stringify(other.body), "Zone ä€😀.")
      })
    )

    it.live("sends all of the system slot, the tools as they are, and no ids of our traces", () =>
      Effect.gen(function* () {
        const { body, server } = yield* Effect.withSpan(ask(stream(events(yes))), "outer")
        assert.include(JSON.stringify(body), "Be brief.\\n\\nBe kind.")
        const tools = list(body["tools"]).map((tool) => tool["input_schema"] ?? tool["parameters"])
        assert.deepStrictEqual(tools, [wire.tools[0]?.tool.schema, wire.tools[1]?.tool.schema])
        const headers = Object.keys(server.exchanges[0]?.request.headers ?? {})
        assert.deepStrictEqual(
          headers.filter((header) => header === "b3" || header === "traceparent"),
          []
        )
      })
    )

    it.live("keeps the key out of every failure, which says why and whether to try again", () =>
      Effect.gen(function* () {
        const told = `No. ${Dialects.canary}`
        const found: Array<unknown> = []
        for (const handler of [
          json(401, dialect.fail("authentication_error", told)),
          json(429, dialect.fail("rate_limit_error", told), { "retry-after": "2" }),
          json(500, dialect.fail("server_error", told)),
          json(400, dialect.fail("invalid_request_error", told)),
          ({ response }: { response: { destroy: () => void } }) => response.destroy()
        ]) {
          const { reason, retry } = yield* refused(handler, { secrets: [apiKey] })
          found.push([reason, retry])
        }
        assert.deepStrictEqual(found, [
          ["Auth", "never"],
          ["Limited", { afterMs: 2_000 }],
          ["Unavailable", "safe-with-same-key"],
          ["Rejected", "never"],
          ["Unavailable", "safe-with-same-key"]
        ])
      })
    )

    it.live("has a reason for every status, and waits as long as it is told to", () =>
      Effect.gen(function* () {
        for (const [status, headers, reason, retry] of [
          [429, {}, "Limited", "safe-with-same-key"],
          [429, { "retry-after": "7" }, "Limited", { afterMs: 7_000 }],
          [529, {}, "Unavailable", "safe-with-same-key"],
          [529, { "retry-after": "3" }, "Unavailable", { afterMs: 3_000 }],
          [503, {}, "Unavailable", "safe-with-same-key"],
          [404, {}, "Rejected", "never"],
          [403, {}, "Auth", "never"]
        ] as const) {
          const error = yield* refused(json(status, dialect.fail("some_error", "No."), headers))
          assert.deepStrictEqual([error.reason, error.retry], [reason, retry], `${status}`)
        }
      })
    )

    it.live("puts characters together that are split at every byte, and as many calls as there are", () =>
      Effect.gen(function* () {
        const calls = Array.from({ length: 40 }, (_, at) => ({
          id: `c${at}`,
          name: "read",
          deltas: ['{"n":', `${at}}`]
        }))
        const { exit } = yield* ask(async ({ response }) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          for (const byte of Buffer.from(
            events({ ...said, calls })
              .map(frame)
              .join("")
          )) {
            response.write(Buffer.from([byte]))
            if (byte > 127) await new Promise((resolve) => setImmediate(resolve))
          }
          response.end()
        })
        const { content, toolCalls } = yield* exit
        assert.strictEqual(content, "Zone ä€😀.")
        assert.deepStrictEqual(
          toolCalls.map(({ args, toolCallId }) => [toolCallId, args]),
          calls.map(({ deltas, id }) => [id, deltas.join("")])
        )
      })
    )

    it.live("takes a call of a tool that is not there for a call", () =>
      Effect.gen(function* () {
        const wrong = { ...said, calls: [{ id: "c9", name: "reed", deltas: ['{"n": 1}'] }] }
        for (const handler of [stream(events(wrong)), slowly(events(wrong))]) {
          const { exit } = yield* ask(handler)
          const { content, stopReason, toolCalls } = yield* exit
          assert.strictEqual(content, "Zone ä€😀.")
          assert.strictEqual(stopReason, "tool-calls")
          assert.deepStrictEqual(toolCalls, [{ toolCallId: "c9", toolName: "reed", args: '{"n": 1}' }])
        }
      })
    )

    it.live("takes a stream that failed for a failure, however it ended", () =>
      Effect.gen(function* () {
        const begun = events(yes).slice(0, -2)
        const error = inside(dialect.error("overloaded_error", "Overloaded"))
        const overloaded = yield* refused(stream([...begun, error]))
        assert.include(["Unavailable", "StreamBroken", "Protocol"], overloaded.reason)
        const cut = yield* refused(stream(begun))
        assert.include(["StreamBroken", "Protocol"], cut.reason)
      })
    )

    it.live("refuses parameters that it cannot send, and sends those that it can", () =>
      Effect.gen(function* () {
        const asked = { ...wire, parameters: { temperature: 0.5 } }
        const error = yield* refused(stream(events(yes)), {}, asked)
        assert.strictEqual(error.reason, "Misconfigured")
        assert.strictEqual(error.found, "temperature")
        const configure = ({ temperature = 1 }: { readonly temperature?: number }) =>
          name.endsWith("anthropic")
            ? Context.make(AnthropicLanguageModel.Config, { temperature })
            : Context.make(OpenAiLanguageModel.Config, { temperature })
        const { body } = yield* ask(stream(events(yes)), { configure }, asked)
        assert.strictEqual(body["temperature"], 0.5)
      })
    )

    it.live("ends the request when it is interrupted", () =>
      Effect.gen(function* () {
        const closed = yield* Deferred.make<void>()
        const begun = yield* Deferred.make<void>()
        const server = yield* serve(({ request, response }) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(frame(events(yes)[0] ?? {}))
          request.on("close", () => Deferred.unsafeDone(closed, Effect.void))
          Deferred.unsafeDone(begun, Effect.void)
        })
        const layer = LLM.layerLanguageModel().pipe(Layer.provide(model(server.url)))
        const fiber = yield* Effect.fork(Effect.provide(LLM.reply(wire), layer))
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        yield* Deferred.await(closed)
      }).pipe(Effect.scoped)
    )
  })
}

describe("LLM.layerLanguageModel, where a package loses something", () => {
  const [anthropic, openAi] = packages as [Package, Package]
  const ask = ({ model }: Package, handler: Handler) =>
    Effect.gen(function* () {
      const server = yield* serve(handler)
      const layer = LLM.layerLanguageModel().pipe(Layer.provide(model(server.url)))
      return yield* Effect.provide(LLM.reply(wire), layer)
    }).pipe(Effect.scoped)

  it.live("a response of OpenAI's that failed is no answer, whatever it had said", () =>
    Effect.gen(function* () {
      const failed = openAi.events(yes).map((event) =>
        event["type"] === "response.completed"
          ? {
              ...event,
              type: "response.failed",
              response: {
                ...inside(event["response"]),
                status: "failed",
                usage: null,
                error: { code: "server_error", message: "" }
              }
            }
          : event
      )
      const error = yield* Effect.flip(ask(openAi, stream(failed)))
      assert.strictEqual(error.reason, "Unavailable")
    })
  )

  it.live(
    "arguments of Anthropic's that are no JSON are those of a call, and cut where more could make them JSON",
    () =>
      Effect.gen(function* () {
        const bad = { ...said, calls: [{ id: "c1", name: "read", deltas: ['{"n": ', "oops"] }] }
        const { content, toolCalls, usage } = yield* ask(anthropic, slowly(anthropic.events(bad)))
        assert.strictEqual(content, "Zone ä€😀.")
        assert.deepStrictEqual(toolCalls, [{ toolCallId: "c1", toolName: "read", args: '{"n": oops' }])
        assert.deepStrictEqual(usage, Usage.unknown("cut"))
        const begun = { ...said, calls: [{ id: "c1", name: "read", deltas: ['{"n": ', '"oo'] }] }
        const cut = yield* ask(anthropic, slowly(anthropic.events(begun)))
        assert.deepStrictEqual(cut.toolCalls, [{ toolCallId: "c1", toolName: "read", args: '{"n": "oo', cut: true }])
      })
  )

  it.live("a call of OpenAI's without any arguments is a call, and no end of a run", () =>
    Effect.gen(function* () {
      const bare = { ...said, calls: [{ id: "c1", name: "list", deltas: [] }] }
      const { toolCalls } = yield* ask(openAi, slowly(openAi.events(bare)))
      assert.deepStrictEqual(toolCalls, [{ toolCallId: "c1", toolName: "list", args: "{}" }])
    })
  )

  it.live("an event that Anthropic's package does not know is a failure of the protocol, with its reason", () =>
    Effect.gen(function* () {
      const [first, ...rest] = anthropic.events(yes)
      const error = yield* Effect.flip(ask(anthropic, stream([first ?? {}, { type: "novel_event" }, ...rest])))
      assert.strictEqual(error.reason, "Protocol")
      assert.isTrue(error.isRetryable)
    })
  )
})
