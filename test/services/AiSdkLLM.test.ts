import type { LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider"
import { assert, describe, it, vi } from "@effect/vitest"
import { Chunk, ConfigProvider, Deferred, Duration, Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import type { ServerResponse } from "node:http"
import type * as Wire from "../../src/kernel/Wire.ts"
import * as Usage from "../../src/kernel/Usage.ts"
import * as AiSdkError from "../../src/services/AiSdkError.ts"
import * as AiSdkLLM from "../../src/services/AiSdkLLM.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import { type Handler, isClean, serve } from "./ModelServer.ts"

const canary = "sk-canary-7Qm2xV9tR4bN8wLzKd31"

const chunk = (delta: unknown, more: object = {}) => ({
  id: "chat-1",
  object: "chat.completion.chunk",
  model: "zone-7b",
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more
})

const done = (finish_reason: string, usage?: unknown) => [
  chunk({}, { choices: [{ index: 0, delta: {}, finish_reason }] }),
  ...(usage === undefined ? [] : [{ id: "chat-1", model: "zone-7b", choices: [], usage }])
]

const event = (value: unknown) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`

const head = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })

const sse =
  (...events: ReadonlyArray<unknown>): Handler =>
  ({ response }) => {
    head(response).end([...events, "[DONE]"].map(event).join(""))
  }

const fails =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(typeof body === "string" ? body : JSON.stringify(body))
  }

const text = (...deltas: ReadonlyArray<string>) => deltas.map((content) => chunk({ content }))

const toolCall = (index: number, id: string, name: string, args: string) =>
  chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }] })

const more = (index: number, args: string) => chunk({ tool_calls: [{ index, function: { arguments: args } }] })

// The wire.

const piece = (id: string) => ({ id, origin: "app", seq: 0, cause: { by: "selected", seq: 0 }, hash: id }) as const

const message = (id: string, content: Wire.MessagePiece["message"]): Wire.MessagePiece => ({
  ...piece(id),
  slot: "messages",
  message: content
})

const wire: Wire.Wire = {
  iteration: 3,
  system: [
    { ...piece("s1"), slot: "system", text: "Be brief." },
    { ...piece("s2"), slot: "system", text: "Zones are lettered. ä€😀" }
  ],
  messages: [
    message("m1", { role: "user", content: "Which zone?" }),
    message("m2", {
      role: "assistant",
      content: "",
      toolCalls: [
        { toolCallId: "c1", toolName: "zone", args: '{"n": 1.0, "deep": {"b": [1]}}' },
        { toolCallId: "c2", toolName: "zone", args: '{"n": 1, bad' },
        { toolCallId: "c3", toolName: "list", args: "{}" },
        { toolCallId: "c4", toolName: "list", args: '{"__proto__": {"admin": true}}' }
      ]
    }),
    message("m3", { role: "tool", toolCallId: "c1", toolName: "zone", outcome: "ran-ok", content: "Zone a." }),
    message("m4", { role: "tool", toolCallId: "c2", toolName: "zone", outcome: "refused", content: "Not JSON." }),
    message("m5", { role: "tool", toolCallId: "c3", toolName: "list", outcome: "absent", content: "None." }),
    message("m6", { role: "tool", toolCallId: "c4", toolName: "list", outcome: "ran-error", content: "Failed." }),
    message("m7", { role: "assistant", content: "Zone a.", toolCalls: [] }),
    message("m8", { role: "user", content: "Sure?" })
  ],
  tools: [
    {
      ...piece("t1"),
      slot: "tools",
      tool: {
        name: "zone",
        description: "Tells the zone.",
        schema: { type: "object", properties: { n: { type: "number" } }, required: ["n"], additionalProperties: false }
      }
    },
    { ...piece("t2"), slot: "tools", tool: { name: "list", schema: { type: "object", properties: {} } } }
  ],
  parameters: { temperature: 0.2, topP: 0.9, maxOutputTokens: 500, seed: 7, stopSequences: ["END"] }
}

const layer = (url: string) => LLM.layerOpenAiCompatible({ url, model: "zone-7b", apiKey: Redacted.make(canary) })

const ask = (...handlers: ReadonlyArray<Handler>) =>
  Effect.gen(function* () {
    const server = yield* serve(...handlers)
    return yield* Effect.provide(LLM.reply(wire), layer(server.url))
  }).pipe(Effect.scoped)

const refused = (...handlers: ReadonlyArray<Handler>) =>
  Effect.gen(function* () {
    const exit = yield* Effect.exit(ask(...handlers))
    isClean(exit, canary)
    return yield* Effect.flip(exit)
  })

describe("AiSdkLLM over HTTP", () => {
  it.scopedLive("sends the schema of an answer by the provider's own means, where it is said to take one", () =>
    Effect.gen(function* () {
      const zone = { type: "string" }
      const schema = { type: "object", properties: { zone, note: zone }, required: ["zone"] }
      const asked = { ...wire, parameters: { answerSchema: schema } }
      for (const [answers, strict] of [["json", false], ["json", true], [undefined]] as const) {
        const server = yield* serve(sse(...text('{"zone":"a"}'), ...done("stop")))
        const model = LLM.layerOpenAiCompatible({
          url: `${server.url}/`,
          model: "zone-7b",
          ...(answers === undefined ? {} : { answers }),
          ...(strict === true ? { providerOptions: { openaiCompatible: { strictJsonSchema: strict } } } : {})
        })
        const said = yield* Effect.provide(
          Effect.map(LLM.LLM, (llm) => llm.answers),
          model
        )
        assert.strictEqual(said, answers)
        yield* Effect.provide(LLM.reply(answers === undefined ? wire : asked), model)
        const format = JSON.parse(server.exchanges[0]!.body).response_format
        if (answers === undefined) assert.isUndefined(format)
        else {
          assert.deepNestedInclude(format, {
            type: "json_schema",
            "json_schema.schema": schema,
            "json_schema.strict": strict
          })
        }
      }
    })
  )

  it.scopedLive("sends the wire as it is, in the words of the protocol", () =>
    Effect.gen(function* () {
      const server = yield* serve(sse(...text("Yes."), ...done("stop")))
      yield* Effect.provide(LLM.reply(wire), layer(`${server.url}/`))
      const { body, request } = server.exchanges[0]!
      assert.strictEqual(request.url, "/v1/chat/completions")
      assert.strictEqual(request.headers.authorization, `Bearer ${canary}`)
      assert.deepStrictEqual(JSON.parse(body), {
        model: "zone-7b",
        max_tokens: 500,
        temperature: 0.2,
        top_p: 0.9,
        seed: 7,
        stop: ["END"],
        stream: true,
        stream_options: { include_usage: true },
        messages: [
          { role: "system", content: "Be brief.\n\nZones are lettered. ä€😀" },
          { role: "user", content: "Which zone?" },
          {
            role: "assistant",
            content: null,
            tool_calls: [
              // What the model wrote goes back byte for byte; what is not JSON goes back as a JSON string of it.
              { id: "c1", type: "function", function: { name: "zone", arguments: '{"n": 1.0, "deep": {"b": [1]}}' } },
              { id: "c2", type: "function", function: { name: "zone", arguments: '"{\\"n\\": 1, bad"' } },
              { id: "c3", type: "function", function: { name: "list", arguments: "{}" } },
              {
                id: "c4",
                type: "function",
                function: { name: "list", arguments: '"{\\"__proto__\\": {\\"admin\\": true}}"' }
              }
            ]
          },
          { role: "tool", tool_call_id: "c1", content: "Zone a." },
          { role: "tool", tool_call_id: "c2", content: "Not JSON." },
          { role: "tool", tool_call_id: "c3", content: "None." },
          { role: "tool", tool_call_id: "c4", content: "Failed." },
          { role: "assistant", content: "Zone a." },
          { role: "user", content: "Sure?" }
        ],
        tools: [
          {
            type: "function",
            function: {
              name: "zone",
              description: "Tells the zone.",
              parameters: {
                type: "object",
                properties: { n: { type: "number" } },
                required: ["n"],
                additionalProperties: false
              }
            }
          },
          { type: "function", function: { name: "list", parameters: { type: "object", properties: {} } } }
        ]
      })
    })
  )

  it.scopedLive("sends nothing that the wire does not hold", () =>
    Effect.gen(function* () {
      const server = yield* serve(sse(...text("Yes."), ...done("stop")))
      const bare = { ...wire, system: [], tools: [], parameters: {}, messages: wire.messages.slice(0, 1) }
      yield* Effect.provide(
        LLM.reply(bare),
        LLM.layerOpenAiCompatible({ url: server.url, model: "m", headers: { "x-a": "b" } })
      )
      const { body, request } = server.exchanges[0]!
      assert.isUndefined(request.headers.authorization)
      assert.strictEqual(request.headers["x-a"], "b")
      assert.deepStrictEqual(Object.keys(JSON.parse(body)).sort(), ["messages", "model", "stream", "stream_options"])
    })
  )

  it.live("reads text, the model's name, and the usage that was reported", () =>
    Effect.gen(function* () {
      const usage = {
        prompt_tokens: 30,
        completion_tokens: 9,
        total_tokens: 39,
        prompt_tokens_details: { cached_tokens: 10 },
        completion_tokens_details: { reasoning_tokens: 4 }
      }
      const reply = yield* ask(sse(chunk({ reasoning_content: "Hm." }), ...text("Zone", " a."), ...done("stop", usage)))
      assert.deepStrictEqual(reply, {
        content: "Zone a.",
        reasoning: "Hm.",
        toolCalls: [],
        stopReason: "stop",
        usage: {
          inputTokens: 20,
          cacheReadTokens: 10,
          outputTokens: 9,
          reasoningTokens: 4,
          unknown: { cacheWriteTokens: "uncounted" }
        },
        model: "zone-7b",
        toolNames: ["zone", "list"]
      })
    })
  )

  it.live("keeps a count absent that was not reported, or that cannot be one", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* ask(sse(...text("Yes."), ...done("stop")))).usage, Usage.unknown("unreported"))
      const partly = yield* ask(sse(...text("Yes."), ...done("stop", { prompt_tokens: 5 })))
      const uncounted = {
        cacheReadTokens: "uncounted",
        cacheWriteTokens: "uncounted",
        reasoningTokens: "uncounted"
      } as const
      assert.deepStrictEqual(partly.usage, { inputTokens: 5, unknown: { ...uncounted, outputTokens: "unreported" } })
      const absurd = { prompt_tokens: -1, completion_tokens: 1.5, prompt_tokens_details: { cached_tokens: 1e300 } }
      assert.deepStrictEqual((yield* ask(sse(...text("Yes."), ...done("stop", absurd)))).usage, {
        unknown: { ...uncounted, inputTokens: "malformed", cacheReadTokens: "malformed", outputTokens: "malformed" }
      })
    })
  )

  it.live("puts parallel calls together from deltas that are split anywhere", () =>
    Effect.gen(function* () {
      const reply = yield* ask(async ({ response }) => {
        head(response)
        const bytes = Buffer.from(
          [
            toolCall(0, "c1", "zone", ""),
            more(0, '{"n": 1, "na'),
            toolCall(1, "c2", "zone", '{"n"'),
            more(0, 'me": "ä€😀"'),
            more(1, ": 2}"),
            more(0, "}"),
            ...done("tool_calls"),
            "[DONE]"
          ]
            .map(event)
            .join("")
        )
        // Every byte in a write of its own, so that characters and lines are cut wherever they can be.
        for (const byte of bytes) {
          response.write(Buffer.from([byte]))
          if (byte > 127) await new Promise((resolve) => setImmediate(resolve))
        }
        response.end()
      })
      assert.deepStrictEqual(reply.toolCalls, [
        { toolCallId: "c1", toolName: "zone", args: '{"n": 1, "name": "ä€😀"}' },
        { toolCallId: "c2", toolName: "zone", args: '{"n": 2}' }
      ])
      assert.strictEqual(reply.stopReason, "tool-calls")
    })
  )

  it.live("hands arguments on, malformed, cut, empty or reserved", () =>
    Effect.gen(function* () {
      const args = ['{"n": 1, bad', '{"n": 1, "te', "", '{"__proto__": 1}', "[".repeat(20_000)]
      for (const written of args) {
        const reply = yield* ask(sse(toolCall(0, "c1", "constructor", written), ...done("length")))
        assert.deepStrictEqual(reply.toolCalls, [{ toolCallId: "c1", toolName: "constructor", args: written || "{}" }])
        assert.strictEqual(reply.stopReason, "length")
      }
    })
  )

  it.live("passes over fields, parts and chunks that it does not know", () =>
    Effect.gen(function* () {
      const reply = yield* ask(
        sse(
          { id: "x", choices: [], prompt_filter_results: [{ severity: "safe" }] },
          chunk(
            { role: "assistant", content: "", audio: null, novel: { deep: [1] } },
            { service_tier: "flex", x: null }
          ),
          chunk({ content: [{ type: "novel" }, { type: "text", text: "Yes." }] }),
          ...done("novel_reason")
        )
      )
      assert.deepStrictEqual(
        [reply.content, reply.stopReason, reply.usage],
        ["Yes.", "other", Usage.unknown("unreported")]
      )
    })
  )

  it.live("an error inside a stream is a failure, whatever came before it", () =>
    Effect.gen(function* () {
      const kinds: ReadonlyArray<readonly [unknown, LLM.Reason]> = [
        [{ message: "Overloaded", type: "overloaded_error" }, "Unavailable"],
        [{ message: "Slow down", code: 429 }, "Limited"],
        [{ message: "You exceeded your current quota", code: "insufficient_quota" }, "Limited"],
        [{ message: "Too long", code: "context_length_exceeded" }, "Rejected"],
        [{ message: "No" }, "Unavailable"]
      ]
      const found: Array<unknown> = []
      for (const [error, reason] of kinds) {
        const failure = yield* refused(sse(...text("Zone"), { error }, ...done("stop")))
        assert.deepInclude(failure, { reason, outcome: "unknown" })
        found.push(failure.retry)
      }
      assert.deepStrictEqual(found, [
        "safe-with-same-key",
        "safe-with-same-key",
        "after-human",
        "never",
        "safe-with-same-key"
      ])
    })
  )

  it.live("a refusal by status has the reason of that status", () =>
    Effect.gen(function* () {
      const body = { error: { message: "The model's own words.", type: "x", code: null } }
      const found: Array<string> = []
      for (const status of [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 529]) {
        const { found: says, reason } = yield* refused(fails(status, body))
        found.push(`${status} ${reason}`)
        assert.include(says, `HTTP status ${status}`)
        if (reason !== "Auth") assert.include(says, "The model's own words.")
      }
      assert.deepStrictEqual(found, [
        "400 Rejected",
        "401 Auth",
        "402 Limited",
        "403 Auth",
        "404 Rejected",
        "408 Timeout",
        "409 Rejected",
        "413 Rejected",
        "422 Rejected",
        "429 Limited",
        "500 Unavailable",
        "502 Unavailable",
        "503 Unavailable",
        "529 Unavailable"
      ])
    })
  )

  it.live("waits as long as the provider asks, and for a person when the quota is spent", () =>
    Effect.gen(function* () {
      const slow = { error: { message: "Rate limit reached." } }
      const spent = { error: { message: "No.", type: "insufficient_quota", code: "insufficient_quota" } }
      const date = "Wed, 21 Oct 2026 07:28:00 GMT"
      const retries = [
        fails(429, slow, { "retry-after": "3" }),
        fails(429, slow, { "retry-after": "0.25" }),
        fails(429, slow, { "retry-after-ms": "40", "retry-after": "1" }),
        fails(429, slow, { "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date }),
        fails(503, slow, { "retry-after": "7" }),
        fails(429, slow),
        fails(429, slow, { "retry-after": "soon" }),
        fails(429, slow, { "retry-after": "-5" }),
        fails(429, spent, { "retry-after": "3" })
      ]
      const found = yield* Effect.forEach(retries, (handler) => Effect.map(refused(handler), ({ retry }) => retry))
      assert.deepStrictEqual(found, [
        { afterMs: 3_000 },
        { afterMs: 250 },
        { afterMs: 40 },
        { afterMs: 30_000 },
        { afterMs: 7_000 },
        "safe-with-same-key",
        "safe-with-same-key",
        "safe-with-same-key",
        "after-human"
      ])
    })
  )

  it.live("a connection that breaks is unknown for billing and gives no reply", () =>
    Effect.gen(function* () {
      const cut = yield* refused(({ response }) => {
        head(response).write(event(text("Zone")[0]))
        setImmediate(() => response.destroy())
      })
      assert.deepInclude(cut, { reason: "StreamBroken", outcome: "unknown", retry: "safe-with-same-key" })
      const unanswered = yield* refused(({ response }) => void response.destroy())
      assert.deepInclude(unanswered, { reason: "Unavailable", isRetryable: true })
      const nobody = yield* Effect.flip(Effect.provide(LLM.reply(wire), layer("http://127.0.0.1:1/v1")))
      assert.deepInclude(nobody, { reason: "Unavailable" })
    })
  )

  it.live("a stream without an end, or with something else in it, does not speak the protocol", () =>
    Effect.gen(function* () {
      const handlers = [
        sse(...text("Zone a.")),
        sse(...text("Zone"), "{not json", ...done("stop")),
        sse(...text("Zone"), { novel: true }, ...done("stop")),
        sse(),
        fails(200, "<html>hello</html>", { "content-type": "text/html" })
      ]
      for (const handler of handlers) {
        assert.deepInclude(yield* refused(handler), { reason: "Protocol", code: "WF-LLM-007" })
      }
    })
  )

  it.live("an empty reply with an odd end is no answer", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* refused(sse(...done("length")))).reason, "Rejected")
      assert.strictEqual((yield* refused(sse(...done("content_filter")))).reason, "Rejected")
      assert.strictEqual((yield* refused(sse(...done("novel_reason")))).reason, "Protocol")
      assert.strictEqual((yield* ask(sse(...done("stop")))).content, "")
    })
  )

  it.scopedLive("interrupting a silent stream closes the socket", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const seen = yield* Deferred.make<string>()
      const server = yield* serve(({ response }) => {
        head(response).write(event(text("Zone")[0]))
        response.on("close", () => Effect.runFork(Deferred.succeed(closed, undefined)))
      })
      yield* Effect.gen(function* () {
        const { stream } = yield* LLM.LLM
        const fiber = yield* Effect.fork(
          LLM.collect(stream(wire), (_, { content }) =>
            content === "" ? Effect.void : Deferred.succeed(seen, content)
          )
        )
        assert.strictEqual(yield* Deferred.await(seen), "Zone")
        assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
        yield* Effect.timeout(Deferred.await(closed), "5 seconds")
      }).pipe(Effect.provide(layer(server.url)))
    })
  )

  it.scopedLive("interrupting a request that is not answered yet closes the socket, and so does leaving early", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const closed = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
      const server = yield* serve(
        ({ response }) => {
          response.on("close", () => Effect.runFork(Deferred.succeed(closed[0], undefined)))
          Effect.runFork(Deferred.succeed(asked, undefined))
        },
        ({ response }) => {
          head(response).write(text("Zone", " a").map(event).join(""))
          response.on("close", () => Effect.runFork(Deferred.succeed(closed[1], undefined)))
        }
      )
      yield* Effect.gen(function* () {
        const { stream } = yield* LLM.LLM
        const fiber = yield* Effect.fork(LLM.reply(wire))
        yield* Deferred.await(asked)
        yield* Fiber.interrupt(fiber)
        yield* Effect.timeout(Deferred.await(closed[0]), "5 seconds")
        const isText = ({ _tag }: LLM.Part) => _tag === "Text"
        assert.strictEqual(Chunk.size(yield* Stream.runCollect(Stream.take(Stream.filter(stream(wire), isText), 1))), 1)
        yield* Effect.timeout(Deferred.await(closed[1]), "5 seconds")
      }).pipe(Effect.provide(layer(server.url)))
    })
  )

  it.live("keeps what one packet held in one chunk", () =>
    Effect.gen(function* () {
      const server = yield* serve(sse(...text(...Array.from({ length: 2_000 }, (_, n) => `t${n} `)), ...done("stop")))
      const sizes: Array<number> = []
      const started = process.cpuUsage()
      const reply = yield* Effect.flatMap(LLM.LLM, ({ stream }) =>
        LLM.collect(stream(wire), (parts) => Effect.sync(() => sizes.push(Chunk.size(parts))))
      ).pipe(Effect.provide(layer(server.url)))
      const { system, user } = process.cpuUsage(started)
      assert.strictEqual(reply.content.split(" ").length, 2_001)
      assert.isBelow(sizes.length, 400, `${sizes.length} chunks, ${(system + user) / 2_000} microseconds a delta`)
    }).pipe(Effect.scoped)
  )
})

describe("AiSdkLLM and secrets", () => {
  it.live("no failure repeats the key, wherever the provider put it", () =>
    Effect.gen(function* () {
      const body = {
        error: { message: `Bad key ${canary} at http://u:${canary}@host/?key=${canary}`, code: canary, type: canary }
      }
      for (const status of [400, 401, 403, 429, 500]) {
        const error = yield* refused(fails(status, body, { "x-request-key": canary, "retry-after": canary }))
        assert.strictEqual(error.found?.includes("[masked]"), status !== 401 && status !== 403)
      }
      yield* refused(sse(...text(canary), { error: body.error }))
      yield* refused(sse(`{"broken": "${canary}`))
      yield* refused(fails(200, `Bearer ${canary}`))
      yield* refused(fails(500, `Bearer ${canary}`))
      const encoded = `${Buffer.from(canary).toString("base64")} ${Buffer.from(canary).toString("hex")}`
      yield* refused(fails(400, { error: { message: encoded } }))
    })
  )

  it.live("no failure repeats a secret header, a key that no header can hold, or a URL", () =>
    Effect.gen(function* () {
      const server = yield* serve(fails(400, { error: { message: `x-goog-api-key ${canary} is odd` } }))
      const header = { "x-goog-api-key": Redacted.make(canary) }
      const options = { url: server.url, model: "m" }
      const attempts = [
        LLM.layerOpenAiCompatible({ ...options, headers: header }),
        LLM.layerOpenAiCompatible({ ...options, apiKey: Redacted.make(`${canary}\n${canary}`) }),
        LLM.layerOpenAiCompatible({ ...options, url: `http://user:${canary}@127.0.0.1:1/v1` }),
        LLM.layerOpenAiCompatible({ ...options, url: `http://127.0.0.1:1/v1?key=${canary}` }),
        LLM.layerOpenAiCompatible({ ...options, url: `http//${canary}` }),
        LLM.layerOpenAiCompatible({ ...options, url: `file:///${canary}` })
      ]
      const reasons: Array<string> = []
      for (const attempt of attempts) {
        const exit = yield* Effect.exit(Effect.provide(LLM.reply(wire), attempt))
        isClean(exit, canary)
        reasons.push((yield* Effect.flip(exit)).reason)
      }
      assert.deepStrictEqual(reasons, ["Rejected", ...Array.from({ length: 5 }, () => "Misconfigured")])
    }).pipe(Effect.scoped)
  )

  it("a foreign sentence is one short printable line", () => {
    const said = AiSdkError.quote(`a\n\u001b[31m"b" ${"long ".repeat(100)}`, [])
    // eslint-disable-next-line no-control-regex
    assert.notMatch(said, /[\u0000-\u001f]/)
    assert.isBelow(said.length, 230)
  })

  it("whatever is thrown becomes an error of ours", () => {
    const circular: Record<string, unknown> = { name: 7, message: {}, code: Symbol("x") }
    circular["cause"] = circular
    const hostile = Object.defineProperty({}, "message", {
      get: () => {
        throw new Error("no")
      }
    })
    const thrown = [
      hostile,
      undefined,
      null,
      0,
      "down",
      Symbol("s"),
      [],
      {},
      circular,
      new Error("x", { cause: circular }),
      new Date(NaN)
    ]
    for (const error of thrown) {
      const at = { provider: "p\n", modelId: "m", phase: "request", secrets: [] } as const
      const made = AiSdkError.toLLMError(error, at)
      assert.strictEqual(made.reason, "Unavailable")
      assert.isBelow(made.message.length, 2_001)
    }
  })
})

describe("LLM.layerConfig", () => {
  const from = (entries: ReadonlyArray<readonly [string, string]>) =>
    Effect.exit(LLM.reply(wire)).pipe(
      Effect.provide(LLM.layerConfig),
      Effect.withConfigProvider(ConfigProvider.fromMap(new Map(entries))),
      Effect.flatten
    )

  it.scopedLive("reads the server, the model and the key from the environment", () =>
    Effect.gen(function* () {
      const server = yield* serve(sse(...text("Yes."), ...done("stop")))
      const entries = [
        ["WHEREFORE_MODEL_URL", server.url],
        ["WHEREFORE_MODEL", "zone-7b"]
      ] as const
      assert.strictEqual((yield* from([...entries, ["WHEREFORE_API_KEY", canary]])).content, "Yes.")
      yield* from([...entries, ["WHEREFORE_API_KEY", ""]])
      yield* from(entries)
      assert.deepStrictEqual(
        server.exchanges.map(({ request }) => request.headers.authorization),
        [`Bearer ${canary}`, undefined, undefined]
      )
    })
  )

  it.live("names the variables that are missing", () =>
    Effect.gen(function* () {
      const none = yield* Effect.flip(from([["WHEREFORE_API_KEY", canary]]))
      assert.deepInclude(none, {
        reason: "Misconfigured",
        code: "WF-LLM-008",
        where: "WHEREFORE_MODEL_URL, WHEREFORE_MODEL"
      })
      const half = yield* Effect.flip(
        from([
          ["WHEREFORE_MODEL_URL", "http://127.0.0.1:1/v1"],
          ["WHEREFORE_MODEL", ""]
        ])
      )
      assert.strictEqual(half.where, "WHEREFORE_MODEL")
    })
  )

  it.live("says which package to install when it is not there", () =>
    Effect.gen(function* () {
      vi.doMock("@ai-sdk/openai-compatible", () => {
        throw new Error("Cannot find package")
      })
      const error = yield* Effect.flip(Effect.provide(LLM.reply(wire), layer("http://127.0.0.1:1/v1")))
      assert.deepInclude(error, {
        reason: "Misconfigured",
        what: "The package @ai-sdk/openai-compatible cannot be loaded."
      })
      assert.include(error.next, "npm install @ai-sdk/openai-compatible")
    }).pipe(Effect.ensuring(Effect.sync(() => vi.doUnmock("@ai-sdk/openai-compatible"))))
  )
})

describe("AiSdkLLM.layer", () => {
  /** A provider's model that is all here: it keeps what it was asked, and streams the parts that it was given. */
  const model = (parts: ReadonlyArray<LanguageModelV3StreamPart>, asked: Array<LanguageModelV3CallOptions> = []) => ({
    provider: "here",
    modelId: "m",
    doStream: (options: LanguageModelV3CallOptions) => {
      asked.push(options)
      const stream = new ReadableStream<LanguageModelV3StreamPart>({
        start: (controller) => {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        }
      })
      return Promise.resolve({ stream })
    }
  })

  const usage = (input: object, output: object) => ({
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined, ...input },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined, ...output }
  })

  const finished = (unified: "stop" | "error", of = usage({}, {})): LanguageModelV3StreamPart => ({
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: of
  })

  const replyOf = (parts: ReadonlyArray<LanguageModelV3StreamPart>, asked?: Array<LanguageModelV3CallOptions>) =>
    Effect.provide(LLM.reply(wire), AiSdkLLM.layer(model(parts, asked)))

  it.live("converts each piece once", () =>
    Effect.gen(function* () {
      const asked: Array<LanguageModelV3CallOptions> = []
      const longer = { ...wire, messages: [...wire.messages, message("m9", { role: "user", content: "And now?" })] }
      yield* Effect.provide(
        Effect.zipRight(LLM.reply(wire), LLM.reply(longer)),
        AiSdkLLM.layer(model([{ type: "text-delta", id: "1", delta: "Yes." }, finished("stop")], asked))
      )
      const [first, second] = asked
      assert.strictEqual(second!.prompt.length, first!.prompt.length + 1)
      for (const [index, converted] of first!.prompt.entries()) assert.strictEqual(second!.prompt[index], converted)
      assert.strictEqual(second!.tools, first!.tools)
    })
  )

  it.live("sends the marks of any package that takes some, by the name under which that reads them", () =>
    Effect.gen(function* () {
      const asked: Array<LanguageModelV3CallOptions> = []
      const mark = { bedrock: { cachePoint: { type: "default" } } }
      const parts: ReadonlyArray<LanguageModelV3StreamPart> = [
        { type: "text-delta", id: "1", delta: "Yes." },
        finished("stop")
      ]
      yield* Effect.provide(LLM.reply(wire), AiSdkLLM.layer(model(parts, asked), { mark }))
      yield* Effect.provide(LLM.reply(wire), AiSdkLLM.layer(model(parts, asked), { mark, cache: false }))
      const places = asked.map(({ prompt }) =>
        prompt.flatMap(({ providerOptions }, at) => (providerOptions === mark ? [at] : []))
      )
      // The system message, the last result before the last reply, and the end.
      assert.deepStrictEqual(places, [[0, 6, 8], []])
    })
  )

  it.live("parses past arguments, and wraps what is no object, for providers that want one", () =>
    Effect.gen(function* () {
      const asked: Array<LanguageModelV3CallOptions> = []
      const brackets = '[\\"'.repeat(600)
      const calls = [
        '{"n": 1}',
        '{"n": 1, bad',
        "",
        "[1]",
        "7",
        JSON.stringify({ s: brackets }),
        `{"a":${"[".repeat(9_000)}${"]".repeat(9_000)}}`
      ]
      const deep = {
        ...wire,
        messages: [
          message("d", {
            role: "assistant",
            content: "Looking.",
            toolCalls: calls.map((args, index) => ({ toolCallId: `c${index}`, toolName: "t", args }))
          })
        ]
      }
      yield* Effect.provide(LLM.reply(deep), AiSdkLLM.layer(model([finished("stop")], asked)))
      const content = asked[0]!.prompt[1]!.content
      const inputs = (typeof content === "string" ? [] : content).flatMap((part) =>
        part.type === "tool-call" ? [part.input] : []
      )
      const wrapped = (text: string | undefined) => ({ unparsed_arguments: text })
      assert.deepStrictEqual(inputs, [
        { n: 1 },
        wrapped('{"n": 1, bad'),
        {},
        wrapped("[1]"),
        wrapped("7"),
        { s: brackets },
        wrapped(calls[6])
      ])
    })
  )

  it.live("says of a tool result whether it is one", () =>
    Effect.gen(function* () {
      const asked: Array<LanguageModelV3CallOptions> = []
      yield* replyOf([finished("stop")], asked)
      const types = asked[0]!.prompt.flatMap(({ content, role }) =>
        role === "tool" ? content.flatMap((part) => (part.type === "tool-result" ? [part.output.type] : [])) : []
      )
      assert.deepStrictEqual(types, ["text", "error-text", "text", "error-text"])
    })
  )

  it.live("maps usage, and the input without what the cache held", () =>
    Effect.gen(function* () {
      const [cacheWriteTokens, outputTokens, reasoningTokens] = ["unreported", "unreported", "unreported"] as const
      const cases = [
        [
          usage({ total: 10, noCache: 4, cacheRead: 5, cacheWrite: 1 }, { total: 7, reasoning: 2 }),
          {
            inputTokens: 4,
            cacheReadTokens: 5,
            cacheWriteTokens: 1,
            outputTokens: 7,
            reasoningTokens: 2
          }
        ],
        [
          usage({ total: 10, cacheRead: 4 }, {}),
          { inputTokens: 6, cacheReadTokens: 4, unknown: { cacheWriteTokens, outputTokens, reasoningTokens } }
        ],
        [
          usage({ total: 3, cacheRead: 4, noCache: -1 }, { total: NaN }),
          {
            cacheReadTokens: 4,
            unknown: { inputTokens: "malformed", cacheWriteTokens, outputTokens: "malformed", reasoningTokens }
          }
        ],
        [usage({}, {}), Usage.unknown("unreported")]
      ] as const
      for (const [reported, expected] of cases) {
        assert.deepStrictEqual((yield* replyOf([finished("stop", reported)])).usage, expected)
      }
    })
  )

  it.live("takes an error part, an errored finish and a missing finish for failures", () =>
    Effect.gen(function* () {
      const delta: LanguageModelV3StreamPart = { type: "text-delta", id: "1", delta: "Zone" }
      assert.strictEqual(
        (yield* Effect.flip(replyOf([delta, { type: "error", error: "down" }, finished("stop")]))).reason,
        "Unavailable"
      )
      assert.strictEqual((yield* Effect.flip(replyOf([delta, finished("error")]))).reason, "Unavailable")
      assert.strictEqual((yield* Effect.flip(replyOf([delta]))).reason, "Protocol")
    })
  )

  it.live("reads nothing after the finish, and no call that the provider ran itself", () =>
    Effect.gen(function* () {
      const reply = yield* replyOf([
        { type: "tool-call", toolCallId: "c0", toolName: "search", input: "{}", providerExecuted: true },
        { type: "text-delta", id: "1", delta: "Zone a." },
        finished("stop"),
        { type: "error", error: "late" }
      ])
      assert.deepStrictEqual([reply.content, reply.toolCalls], ["Zone a.", []])
    })
  )

  it.live("a model that throws, or rejects, fails the call", () =>
    Effect.gen(function* () {
      for (const doStream of [
        () => {
          throw new TypeError("odd")
        },
        () => Promise.reject(new DOMException("late", "TimeoutError"))
      ]) {
        const error = yield* Effect.flip(
          Effect.provide(LLM.reply(wire), AiSdkLLM.layer({ provider: "p", modelId: "m", doStream }))
        )
        assert.oneOf(error.reason, ["Unavailable", "Timeout"])
      }
    })
  )
})

describe("LLMSuite", () => {
  const play = (line: LLM.Line): Handler => {
    const { deltas, fault, reasoning, stopReason, toolCalls = [], usage } = line
    if (line.delay !== undefined) return () => undefined
    if (fault !== undefined && "reason" in fault) {
      const afterMs = typeof fault.retry === "object" ? { "retry-after-ms": `${fault.retry.afterMs}` } : {}
      if (fault.reason === "Auth") return fails(401, {})
      if (fault.reason === "Limited") return fails(429, {}, afterMs as Record<string, string>)
      if (fault.reason === "Unavailable") return fails(503, {})
      if (fault.reason === "Rejected") return fails(400, {})
    }
    const events: Array<unknown> = [
      ...(reasoning === undefined ? [] : [chunk({ reasoning_content: reasoning })]),
      ...text(...(deltas ?? (line.text === undefined ? [] : [line.text])))
    ]
    if (fault !== undefined && "after" in fault) {
      return ({ response }) => {
        head(response).write(events.slice(0, fault.after).map(event).join(""))
        setImmediate(() => response.destroy())
      }
    }
    events.push(
      ...toolCalls.map(({ args, rawArgs, toolCallId = "", toolName }, index) =>
        toolCall(index, toolCallId, toolName, rawArgs ?? JSON.stringify(args))
      )
    )
    const finish = stopReason ?? (toolCalls.length > 0 ? "tool-calls" : "stop")
    const counts = usage && { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens }
    return sse(...events, ...done(finish.replace("-", "_"), counts))
  }

  const harness: LLMSuite.Harness<LLM.LLMError> = {
    layer: (replies) => Layer.unwrapScoped(Effect.map(serve(...replies.map(play)), ({ url }) => layer(url)))
  }

  for (const { effect, name } of LLMSuite.cases(harness)) {
    it.live(`AI SDK: ${name}`, () => Effect.timeout(effect, Duration.seconds(10)))
  }

  it.live("sees through a layer that keeps no promise", () =>
    Effect.gen(function* () {
      const layer = () =>
        Layer.succeed(LLM.LLM, { stream: () => Stream.make<[LLM.Part]>({ _tag: "Text", delta: "x" }) })
      const silent = () =>
        Layer.succeed(LLM.LLM, {
          stream: () => Stream.make<[LLM.Part]>({ _tag: "Finish", stopReason: "stop", usage: { inputTokens: 0 } })
        })
      for (const liar of [layer, silent]) {
        const exits = yield* Effect.forEach(LLMSuite.cases({ layer: liar }), ({ effect }) =>
          Effect.exit(Effect.timeout(effect, "1 second"))
        )
        assert.isAtLeast(exits.filter(Exit.isFailure).length, 10)
      }
    })
  )
})
