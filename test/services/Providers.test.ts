import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Redacted, Stream } from "effect"
import type { ServerResponse } from "node:http"
import { inspect } from "node:util"
import { createOpenAICompatible } from "openai-compatible-v4"
import * as Usage from "../../src/kernel/Usage.ts"
import * as AiSdkLLM from "../../src/services/AiSdkLLM.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import * as Dialects from "./Dialects.ts"
import { type Handler, isClean, serve } from "./ModelServer.ts"

const { canary } = Dialects
const { wire } = LLMSuite

const event = (value: unknown) => `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`

const head = (response: ServerResponse) => response.writeHead(200, { "content-type": "text/event-stream" })

const sse =
  (...events: ReadonlyArray<unknown>): Handler =>
  ({ response }) => {
    head(response).end(events.map(event).join(""))
  }

const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(typeof body === "string" ? body : JSON.stringify(body))
  }

const yes: Dialects.Said = { deltas: ["Yes", "."], stop: "stop", usage: { input: 3, output: 2 } }

for (const dialect of Dialects.all) {
  const { events, layer, name } = dialect

  const streamOf = (said: Dialects.Said) => {
    const { end, said: before } = events(said)
    return [...before, ...end]
  }

  const ask = (handler: Handler, more?: { readonly streamed?: false }) =>
    Effect.gen(function* () {
      const server = yield* serve(handler)
      return yield* Effect.provide(LLM.reply(wire), layer(server.url, more))
    }).pipe(Effect.scoped)

  const refused = (handler: Handler, more?: { readonly streamed?: false }) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(ask(handler, more))
      isClean(exit, canary)
      return yield* Effect.flip(exit)
    })

  const said: Dialects.Said = {
    reasoning: "Hm.",
    deltas: ["Zo", "ne ä€😀", "."],
    calls: [
      { id: "c1", name: "read", deltas: ['{"n":', '1,"z":"ä', '€😀"}'] },
      { id: "c2", name: "read", deltas: ['{"n":', "2}"] },
      { id: "c3", name: "list", deltas: ["{}"] }
    ],
    stop: "tool-calls",
    usage: { input: 20, cacheRead: 10, cacheWrite: 5, output: 9, reasoning: 4 }
  }
  const expected = {
    content: "Zone ä€😀.",
    toolCalls: [
      { toolCallId: "c1", toolName: "read", args: '{"n":1,"z":"ä€😀"}' },
      { toolCallId: "c2", toolName: "read", args: '{"n":2}' },
      { toolCallId: "c3", toolName: "list", args: "{}" }
    ],
    stopReason: "tool-calls" as const,
    usage: { inputTokens: 20, cacheReadTokens: 10, cacheWriteTokens: 5, outputTokens: 9, reasoningTokens: 4 }
  }
  /** OpenAI's own package does not read the reasoning that some servers put into chat completions. */
  const reads = dialect === Dialects.chat ? {} : { reasoning: "Hm." }

  describe(name, () => {
    it.live("gives text, reasoning, parallel calls and every count, streamed or whole", () =>
      Effect.gen(function* () {
        const reply = yield* ask(sse(...streamOf(said)))
        const { model, seal: _, toolNames, ...streamed } = reply
        assert.deepStrictEqual(streamed, { ...expected, ...reads })
        assert.isDefined(model)
        assert.deepStrictEqual(toolNames, [])
        assert.deepStrictEqual(yield* ask(json(200, dialect.body(said)), { streamed: false }), reply)
      })
    )

    it.live("puts characters together that are split at every byte", () =>
      Effect.gen(function* () {
        const { content, toolCalls } = yield* ask(async ({ response }) => {
          head(response)
          for (const byte of Buffer.from(streamOf(said).map(event).join(""))) {
            response.write(Buffer.from([byte]))
            if (byte > 127) await new Promise((resolve) => setImmediate(resolve))
          }
          response.end()
        })
        assert.deepStrictEqual([content, toolCalls], [expected.content, expected.toolCalls])
      })
    )

    it.live("reads events however they are written: over several lines, with other line ends, names and comments", () =>
      Effect.gen(function* () {
        const all = streamOf(said)
        const plain = yield* ask(sse(...all))
        const written = (value: unknown, end: string) => {
          const text = typeof value === "string" ? value : JSON.stringify(value, null, 2)
          const lines = text.split("\n").map((line) => `data: ${line}`)
          return [": a comment", "event: novel", "id: 7", ...lines, "", ""].join(end)
        }
        for (const end of ["\n", "\r\n"]) {
          const texts = all.map((value) => written(value, end))
          assert.deepStrictEqual(yield* ask(({ response }) => void head(response).end(texts.join(""))), plain)
          // Only some packages read a last event that has no blank line after it.
          if (dialect === Dialects.compatible || dialect === Dialects.chat) continue
          const open = texts.join("").trimEnd()
          assert.deepStrictEqual(yield* ask(({ response }) => void head(response).end(open)), plain)
        }
      })
    )

    it.live("passes over fields, parts and events that nobody knows, wherever they are", () =>
      Effect.gen(function* () {
        const { end, said: before } = events(said)
        const all = [...before, ...end.slice(0, -1)]
        const plain = yield* ask(sse(...streamOf(said)))
        // The first event opens the stream.
        for (let at = 1; at <= all.length; at++) {
          const mixed = [...all.slice(0, at), ...dialect.novel, ...all.slice(at), ...end.slice(-1)]
          assert.deepStrictEqual(yield* ask(sse(...mixed)), plain)
        }
        const whole = yield* ask(json(200, dialect.novelBody(said)), { streamed: false })
        assert.deepStrictEqual(whole, plain)
      })
    )

    it.live("keeps a count absent that is not reported, and says why", () =>
      Effect.gen(function* () {
        const { usage: _, ...unmetered } = yes
        for (const { usage } of [
          yield* ask(sse(...streamOf(unmetered))),
          yield* ask(json(200, dialect.body(unmetered)), { streamed: false })
        ]) {
          for (const count of Usage.counts) assert.isUndefined(usage[count], count)
          assert.isFalse(Usage.isWhole(usage))
          assert.strictEqual(usage.unknown?.inputTokens, "unreported")
          assert.strictEqual(usage.unknown?.outputTokens, "unreported")
        }
        const { usage } = yield* ask(sse(...streamOf(yes)))
        const gap = (count: keyof Dialects.Counts) => (dialect.uncounted.includes(count) ? "uncounted" : "unreported")
        assert.deepStrictEqual(usage, {
          inputTokens: 3,
          outputTokens: 2,
          unknown: {
            cacheReadTokens: gap("cacheRead"),
            cacheWriteTokens: gap("cacheWrite"),
            reasoningTokens: gap("reasoning")
          }
        })
        const zero = yield* ask(
          sse(...streamOf({ ...yes, usage: { input: 3, cacheRead: 0, output: 0, reasoning: 0 } }))
        )
        assert.deepInclude(zero.usage, { cacheReadTokens: 0, outputTokens: 0, reasoningTokens: 0 })
      })
    )

    it.live("says how a reply stopped", () =>
      Effect.gen(function* () {
        for (const stop of ["stop", "length", "content-filter"] as const) {
          const reply = { ...yes, stop }
          assert.strictEqual((yield* ask(sse(...streamOf(reply)))).stopReason, stop)
          assert.strictEqual((yield* ask(json(200, dialect.body(reply)), { streamed: false })).stopReason, stop)
          if (stop !== "stop") {
            const empty = { stop, usage: { input: 3, output: 0 } }
            assert.strictEqual((yield* refused(sse(...streamOf(empty)))).reason, "Rejected", stop)
          }
        }
      })
    )

    it.live("hands arguments on that were cut, and never takes them for whole", () =>
      Effect.gen(function* () {
        for (const deltas of [['{"n":', " 1"], ['{"te'], []]) {
          const cut = { calls: [{ id: "c1", name: "read", deltas }], stop: "length" as const }
          const { stopReason, toolCalls } = yield* ask(sse(...streamOf(cut)))
          assert.deepStrictEqual([stopReason, toolCalls.map(({ args }) => args)], ["length", [deltas.join("") || "{}"]])
        }
      })
    )

    it.live("takes an error inside a stream for a failure, at its start and after some text", () =>
      Effect.gen(function* () {
        const { said: before } = events(yes)
        for (const [type, reason] of [
          ["overloaded_error", "Unavailable"],
          ["rate_limit_error", "Limited"],
          ["server_error", "Unavailable"],
          ["invalid_request_error", "Rejected"]
        ] as const) {
          const error = dialect.error(type, `No: ${canary} sk-abcdefghijkl`)
          for (const first of [[], before.slice(0, 1), before]) {
            const failed = yield* refused(sse(...first, error))
            // Anthropic's package gives every error that comes first but one the status 500.
            const early = dialect === Dialects.anthropic && first.length === 0 ? "Unavailable" : reason
            assert.strictEqual(failed.reason, early, `${type} after ${first.length}`)
          }
        }
      })
    )

    it.live("has a reason for every status, and waits as long as it is told to", () =>
      Effect.gen(function* () {
        const fail = (status: number, headers?: Record<string, string>) =>
          refused(json(status, dialect.fail("some_error", `No. ${canary}`), headers))
        for (const [status, reason] of [
          [400, "Rejected"],
          [401, "Auth"],
          [403, "Auth"],
          [404, "Rejected"],
          [408, "Timeout"],
          [413, "Rejected"],
          [429, "Limited"],
          [500, "Unavailable"],
          [503, "Unavailable"],
          [529, "Unavailable"]
        ] as const) {
          const error = yield* fail(status)
          assert.deepStrictEqual([error.reason, error.isRetryable], [reason, !["Rejected", "Auth"].includes(reason)])
          assert.strictEqual(error.outcome, reason === "Timeout" ? "unknown" : "not-applied")
          assert.strictEqual(
            (yield* refused(json(status, dialect.fail("e", "No."), {}), { streamed: false })).reason,
            reason
          )
          assert.strictEqual((yield* refused(json(status, "<html>no</html>"))).reason, reason)
        }
        const date = { date: "Thu, 01 Jan 2026 00:00:00 GMT", "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }
        for (const [headers, afterMs] of [
          [{ "retry-after": "7" }, 7_000],
          [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
          [date, 30_000]
        ] as const) {
          for (const status of [429, 503, 529]) {
            assert.deepStrictEqual((yield* fail(status, headers)).retry, { afterMs }, JSON.stringify(headers))
          }
        }
        assert.strictEqual((yield* fail(429)).retry, "safe-with-same-key")
      })
    )

    it.live("takes a stream that is cut for broken, whether the socket closes or the end is missing", () =>
      Effect.gen(function* () {
        const { end, said: before } = events(said)
        for (let at = 0; at < before.length; at++) {
          const some = before.slice(0, at).map(event).join("")
          const torn = yield* refused(({ response }) => {
            head(response).write(some, () => response.destroy())
          })
          assert.strictEqual(torn.reason, "StreamBroken")
          const ended = yield* refused(sse(...before.slice(0, at)))
          assert.include(["StreamBroken", "Protocol"], ended.reason)
          assert.isTrue(ended.isRetryable)
        }
        if (dialect === Dialects.anthropic) {
          assert.strictEqual((yield* refused(sse(...before, ...end.slice(0, -1)))).reason, "Protocol")
        }
      })
    )

    it.live("says where what was sent is not of the protocol, and keeps it out of every log", () =>
      Effect.gen(function* () {
        const { said: before } = events(yes)
        const broken = yield* refused(sse(...before, `{"not json ${canary}`))
        assert.strictEqual(broken.reason, "Protocol")
        assert.match(broken.found ?? "", /^\d+ characters with the hash [\w-]{12}$/)
        assert.strictEqual(broken.body && Redacted.value(broken.body), '{"not json [masked]')
        const odd = yield* refused(json(200, { type: "message", content: 7, output: 7, choices: 7 }), {
          streamed: false
        })
        assert.strictEqual(odd.reason, "Protocol")
        assert.match(odd.found ?? "", /something else at "\/(content|output|choices)"/)
        const empty = yield* refused(({ response }) => void head(response).end())
        assert.include(["Protocol", "StreamBroken"], empty.reason)
      })
    )

    it.scopedLive("ends the request when it is interrupted, before the first byte and between two", () =>
      Effect.gen(function* () {
        const { said: before } = events(yes)
        for (const first of ["", before.map(event).join("")]) {
          for (const more of [{}, { streamed: false as const }]) {
            const arrived = yield* Deferred.make<void>()
            const closed = yield* Deferred.make<void>()
            const server = yield* serve(({ response }) => {
              response.on("close", () => Effect.runFork(Deferred.succeed(closed, undefined)))
              if (first !== "") head(response).write(first)
              Effect.runFork(Deferred.succeed(arrived, undefined))
            })
            const fiber = yield* Effect.fork(Effect.provide(LLM.reply(wire), layer(server.url, more)))
            yield* Deferred.await(arrived)
            assert.isTrue(Exit.isInterrupted(yield* Fiber.interrupt(fiber)))
            yield* Effect.timeout(Deferred.await(closed), "5 seconds")
          }
        }
      })
    )

    it.scopedLive("sends the key where it belongs, and shows it nowhere", () =>
      Effect.gen(function* () {
        const logged: Array<string> = []
        const spans: Array<string> = []
        const server = yield* serve(sse(...streamOf(yes)), json(401, dialect.fail("auth", `Bad key ${canary}`)))
        const built = yield* Layer.build(layer(server.url))
        const run = Effect.gen(function* () {
          const llm = yield* LLM.LLM
          yield* Effect.logInfo(llm, built)
          const reply = yield* LLM.collect(llm.stream(wire))
          const error = yield* Effect.flip(LLM.collect(llm.stream(wire)))
          yield* Effect.logError(error, Cause.fail(error), reply)
          for (const value of [llm, built, reply, error]) {
            logged.push(
              inspect(value, { depth: Infinity, showHidden: true, getters: true }),
              JSON.stringify(value) ?? ""
            )
          }
          return error
        }).pipe(
          Effect.withSpan("call"),
          Effect.tapErrorCause((cause) => Effect.sync(() => logged.push(Cause.pretty(cause)))),
          Effect.provide(built),
          Effect.provide(
            Logger.replace(
              Logger.defaultLogger,
              Logger.make((entry) => logged.push(inspect(entry, { depth: 20 })))
            )
          ),
          Effect.withTracerTiming(true)
        )
        const error = yield* run
        spans.push(inspect(yield* Effect.currentSpan.pipe(Effect.option), { depth: 20 }))
        assert.strictEqual(error.reason, "Auth")
        assert.isUndefined(error.body)
        const sent = server.exchanges[0]!.request
        assert.strictEqual(sent.url, dialect.path)
        const key = dialect === Dialects.anthropic ? sent.headers["x-api-key"] : sent.headers.authorization
        assert.strictEqual(key, dialect === Dialects.anthropic ? canary : `Bearer ${canary}`)
        assert.notInclude(JSON.stringify([sent.rawHeaders, server.exchanges[0]!.body]), "traceparent")
        assert.isAbove(logged.length, 8)
        for (const text of [...logged, ...spans]) {
          for (const shown of [canary, Buffer.from(canary).toString("base64")]) assert.notInclude(text, shown)
        }
      })
    )
  })

  // The suite of every layer, streamed and whole.

  const play =
    (isWhole: boolean) =>
    (line: LLM.Line): Handler => {
      const { deltas, fault, stopReason, toolCalls = [], usage } = line
      if (line.delay !== undefined) return () => undefined
      if (fault !== undefined && "reason" in fault) {
        const afterMs = typeof fault.retry === "object" ? { "retry-after-ms": `${fault.retry.afterMs}` } : {}
        if (fault.reason === "Auth") return json(401, {})
        if (fault.reason === "Limited") return json(429, {}, afterMs as Record<string, string>)
        if (fault.reason === "Unavailable") return json(503, {})
        if (fault.reason === "Rejected") return json(400, {})
      }
      const text = deltas ?? (line.text === undefined ? undefined : [line.text])
      const reply: Dialects.Said = {
        ...(line.reasoning === undefined ? {} : { reasoning: line.reasoning }),
        ...(text === undefined ? {} : { deltas: text }),
        calls: toolCalls.map(({ rawArgs = "", toolCallId = "", toolName }) => ({
          id: toolCallId,
          name: toolName,
          deltas: rawArgs === "" ? [] : [rawArgs]
        })),
        stop:
          stopReason === "length" || stopReason === "content-filter"
            ? stopReason
            : toolCalls.length > 0
              ? "tool-calls"
              : "stop",
        ...(usage === undefined ? {} : { usage: { input: usage.inputTokens ?? 0, output: usage.outputTokens ?? 0 } })
      }
      if (fault !== undefined && "after" in fault) {
        const isDelta = (value: unknown) => /"(Zo|ne)"/.test(JSON.stringify(value))
        const before = events(reply).said
        const end = before.findLastIndex(isDelta)
        return ({ response }) => {
          head(response).write(
            before
              .slice(0, end + 1)
              .map(event)
              .join("")
          )
          setImmediate(() => response.destroy())
        }
      }
      return isWhole ? json(200, dialect.body(reply)) : sse(...streamOf(reply))
    }

  /** What a whole reply cannot be: broken in its middle, or written as deltas and as text that is no JSON. */
  const notWhole = /broke|order of parts|exactly one finish|malformed|cut on|empty/
  const notSaid = dialect === Dialects.chat ? /reasoning/ : /^$/
  /** Its whole replies have arguments as values, and not as text. */
  const notWritten = dialect === Dialects.anthropic ? /as written/ : /^$/

  for (const streamed of [undefined, false] as const) {
    const more = streamed === undefined ? {} : { streamed }
    const harness: LLMSuite.Harness<LLM.LLMError> = {
      layer: (replies) =>
        Layer.unwrapScoped(
          Effect.map(
            Effect.suspend(() => serve(...replies.map(play(streamed === false)))),
            ({ url }) => layer(url, more)
          )
        )
    }
    describe(`${name}, ${streamed === false ? "whole" : "streamed"}, as every layer`, () => {
      for (const { effect, name: promise } of LLMSuite.cases(harness)) {
        const isWhole = streamed === false && (notWhole.test(promise) || notWritten.test(promise))
        if (notSaid.test(promise) || isWhole) continue
        it.live(promise, () => Effect.timeout(effect, Duration.seconds(10)))
      }
    })
  }
}

describe("OpenAI Responses, as servers write it", () => {
  const { end, said } = Dialects.responses.events(yes)
  const ask = (...events: ReadonlyArray<unknown>) =>
    Effect.gen(function* () {
      const server = yield* serve(sse(...events))
      return yield* Effect.provide(LLM.reply(wire), Dialects.responses.layer(server.url))
    }).pipe(Effect.scoped)

  it.live("takes an error for one in whichever shape it comes", () =>
    Effect.gen(function* () {
      const inner = { type: "rate_limit_error", code: "rate_limit_exceeded", message: "Slow down." }
      for (const error of [
        { type: "error", code: "rate_limit_exceeded", message: "Slow down." },
        { type: "error", sequence_number: 1, error: inner },
        { type: "error", error: { ...inner, code: null } },
        { error: inner }
      ]) {
        for (const before of [[], said]) {
          const failed = yield* Effect.flip(ask(...before, error))
          assert.deepInclude(
            failed,
            { reason: "Limited", found: 'HTTP status 429, "Slow down."' },
            JSON.stringify(error)
          )
        }
      }
    })
  )

  it.live("keeps the reply where its usage is not whole, and knows none", () =>
    Effect.gen(function* () {
      for (const usage of [{ input_tokens: 5 }, { output_tokens: 5 }, { input_tokens: "5", output_tokens: 2 }, 7]) {
        const last = end.map((event) => {
          const { response } = event as { readonly response: object }
          return { ...(event as object), response: { ...response, usage } }
        })
        const reply = yield* ask(...said, ...last)
        assert.deepStrictEqual([reply.content, reply.usage], ["Yes.", Usage.unknown("unreported")])
      }
    })
  )
})

describe("What a provider sealed, over HTTP", () => {
  const first: Dialects.Said = {
    reasoning: "Hm.",
    deltas: ["Looking."],
    calls: [{ id: "c1", name: "read", deltas: ['{"n": 1}'] }],
    stop: "tool-calls",
    usage: { input: 3, output: 2 }
  }
  const expected = new Map<Dialects.Dialect, unknown>([
    [
      Dialects.anthropic,
      [
        { type: "thinking", thinking: "Hm.", signature: "sig-1" },
        { type: "text", text: "Looking." },
        { type: "tool_use", id: "c1", name: "read", input: { n: 1 } }
      ]
    ],
    [
      Dialects.responses,
      [
        { type: "reasoning", id: "rs_1", encrypted_content: "enc-1", summary: [{ type: "summary_text", text: "Hm." }] },
        { role: "assistant", id: "msg_1", content: [{ type: "output_text", text: "Looking." }] },
        { type: "function_call", call_id: "c1", name: "read", arguments: '{"n": 1}' }
      ]
    ]
  ])
  for (const [dialect, sealed] of expected) {
    it.scopedLive(`goes back as it was: ${dialect.name}`, () =>
      Effect.gen(function* () {
        const { end, said } = dialect.events(first)
        const answer = dialect.events(yes)
        const server = yield* serve(sse(...said, ...end), sse(...answer.said, ...answer.end))
        yield* Effect.gen(function* () {
          const { content, reasoning = "", seal, toolCalls } = yield* LLM.reply(wire)
          const message = {
            role: "assistant" as const,
            content,
            toolCalls,
            ...(seal === undefined ? {} : { sealed: { ...seal, reasoning } })
          }
          const result = {
            role: "tool" as const,
            toolCallId: "c1",
            toolName: "read",
            outcome: "ran-ok" as const,
            content: "1"
          }
          const [asked] = wire.messages
          yield* LLM.reply({
            ...wire,
            messages: [...wire.messages, { ...asked!, id: "a", message }, { ...asked!, id: "t", message: result }]
          })
        }).pipe(Effect.provide(dialect.layer(server.url)))
        assert.deepStrictEqual(dialect.seals(JSON.parse(server.exchanges[1]!.body)), sealed)
        if (dialect === Dialects.responses) {
          assert.include(JSON.parse(server.exchanges[0]!.body), { store: false })
          assert.deepInclude(JSON.parse(server.exchanges[0]!.body), { include: ["reasoning.encrypted_content"] })
        }
      })
    )
  }
})

describe("A provider's layer", () => {
  const built = (layer: Layer.Layer<LLM.LLM, LLM.LLMError>, env: ReadonlyArray<readonly [string, string]> = []) =>
    Effect.scoped(Layer.build(layer)).pipe(Effect.withConfigProvider(ConfigProvider.fromMap(new Map(env))))

  it.scopedLive("reads its key from the environment, and says which variable is missing", () =>
    Effect.gen(function* () {
      for (const [make, variable, dialect] of [
        [
          (url: string) => LLM.layerAnthropic({ model: "claude-sonnet-4-5", url }),
          "ANTHROPIC_API_KEY",
          Dialects.anthropic
        ],
        [(url: string) => LLM.layerOpenAi({ model: "gpt-5", url }), "OPENAI_API_KEY", Dialects.responses]
      ] as const) {
        const { end, said } = dialect.events(yes)
        const server = yield* serve(sse(...said, ...end))
        for (const env of [[], [[variable, ""]]] as const) {
          const error = yield* Effect.flip(built(make(server.url), env))
          assert.deepInclude(error, { reason: "Misconfigured", where: variable })
        }
        const asked = Effect.provide(LLM.reply(wire), make(server.url))
        yield* Effect.withConfigProvider(asked, ConfigProvider.fromMap(new Map([[variable, canary]])))
        assert.include(JSON.stringify(server.exchanges[0]!.request.headers), canary)
      }
    })
  )

  it.live("refuses a URL or a header that it cannot use, and shows neither", () =>
    Effect.gen(function* () {
      const apiKey = Redacted.make(canary)
      for (const layer of [
        LLM.layerAnthropic({ model: "m", apiKey, url: `https://u:${canary}@host/v1` }),
        LLM.layerOpenAi({ model: "m", apiKey, url: `ftp://${canary}` }),
        LLM.layerOpenAi({ model: "m", apiKey: Redacted.make(`${canary}\n`) }),
        LLM.layerAnthropic({ model: "m", apiKey, headers: { "x-more": Redacted.make(`${canary}\u0000`) } })
      ]) {
        const exit = yield* Effect.exit(built(layer))
        isClean(exit, canary)
        assert.strictEqual((yield* Effect.flip(exit)).reason, "Misconfigured")
      }
    })
  )

  it.scopedLive("sends what it is told to send with every request", () =>
    Effect.gen(function* () {
      const { end, said } = Dialects.anthropic.events(yes)
      const server = yield* serve(sse(...said, ...end))
      const thinking = { type: "enabled", budgetTokens: 1_024 }
      const layer = LLM.layerAnthropic({
        url: server.url,
        model: "claude-sonnet-4-5",
        apiKey: Redacted.make(canary),
        headers: { "x-team": "zones" },
        providerOptions: { anthropic: { thinking } }
      })
      yield* Effect.provide(LLM.reply(wire), layer)
      const [{ body, request }] = server.exchanges as [(typeof server.exchanges)[number]]
      assert.deepInclude(JSON.parse(body), { thinking: { type: "enabled", budget_tokens: 1_024 } })
      assert.strictEqual(request.headers["x-team"], "zones")
    })
  )

  it.scopedLive("tells what a message takes before it is written", () =>
    Effect.gen(function* () {
      const { said } = Dialects.anthropic.events({
        ...yes,
        usage: { input: 7, cacheRead: 2, cacheWrite: 1, output: 9 }
      })
      const server = yield* serve(({ response }) => {
        head(response).write(said.map(event).join(""), () => response.destroy())
      })
      const usages: Array<Usage.Usage> = []
      yield* LLM.LLM.pipe(
        Effect.flatMap(({ stream }) =>
          Stream.runForEach(stream(wire), (part) =>
            Effect.sync(() => void (part._tag === "Usage" && usages.push(part.usage)))
          )
        ),
        Effect.exit,
        Effect.provide(Dialects.anthropic.layer(server.url))
      )
      assert.deepStrictEqual(usages, [
        Usage.unknown("cut"),
        {
          inputTokens: 7,
          cacheReadTokens: 2,
          cacheWriteTokens: 1,
          outputTokens: 1,
          unknown: { outputTokens: "cut", reasoningTokens: "cut" }
        }
      ])
    })
  )
})

describe("AiSdkLLM.layer over a package of the next interface, LanguageModelV4", () => {
  const v4 = (url: string): AiSdkLLM.Model =>
    createOpenAICompatible({ baseURL: url, name: "v4", includeUsage: true })("m")

  it.scopedLive("reads the same reply, streamed and whole, and fails for the same reasons", () =>
    Effect.gen(function* () {
      assert.strictEqual(createOpenAICompatible({ baseURL: "http://h", name: "v4" })("m").specificationVersion, "v4")
      const said: Dialects.Said = {
        reasoning: "Hm.",
        deltas: ["Zo", "ne."],
        calls: [{ id: "c1", name: "read", deltas: ['{"n":', "1}"] }],
        stop: "tool-calls",
        usage: { input: 3, cacheRead: 4, output: 2, reasoning: 1 }
      }
      const { end, said: before } = Dialects.compatible.events(said)
      const server = yield* serve(
        sse(...before, ...end),
        json(200, Dialects.compatible.body(said)),
        sse(...before),
        json(429, {}, { "retry-after": "2" })
      )
      const ask = (streamed?: false) =>
        Effect.provide(LLM.reply(wire), AiSdkLLM.layer(v4(server.url), streamed === undefined ? {} : { streamed }))
      const reply = yield* ask()
      assert.deepInclude(reply, {
        content: "Zone.",
        reasoning: "Hm.",
        toolCalls: [{ toolCallId: "c1", toolName: "read", args: '{"n":1}' }],
        stopReason: "tool-calls"
      })
      assert.deepInclude(reply.usage, { inputTokens: 3, cacheReadTokens: 4, outputTokens: 2, reasoningTokens: 1 })
      assert.deepStrictEqual(yield* ask(false), reply)
      assert.isTrue((yield* Effect.flip(ask())).isRetryable)
      assert.deepInclude(yield* Effect.flip(ask()), { reason: "Limited", retry: { afterMs: 2_000 } })
    })
  )
})
