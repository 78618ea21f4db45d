import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { gzipSync } from "node:zlib"
import * as Printable from "../../src/kernel/Printable.ts"
import * as Problem from "../../src/kernel/Problem.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import * as Dialects from "./Dialects.ts"
import { frame, inside, packages } from "./EffectPackages.ts"
import { type Handler, isClean, serve } from "./ModelServer.ts"

const { canary } = Dialects
const piece = { id: "t", origin: "app", seq: 0, cause: { by: "selected", seq: 0 }, hash: "t" } as const
const tool = { name: "zone", schema: { type: "object", properties: {} } }
const wire = { ...LLMSuite.wire, tools: [{ ...piece, slot: "tools" as const, tool }] }

const usage = { input: 3, cacheRead: 1, cacheWrite: 1, output: 2, reasoning: 1 }
const yes: Dialects.Said = { deltas: ["Yes."], stop: "stop", usage }

interface Over {
  readonly name: string
  readonly layer: (url: string) => Layer.Layer<LLM.LLM, LLM.LLMError>
  readonly events: (said: Dialects.Said) => ReadonlyArray<unknown>
  /** The reply as text, and its media type. */
  readonly written: (events: ReadonlyArray<unknown>) => string
  readonly type: string
}

const eventStream = "text/event-stream"
const written = (events: ReadonlyArray<unknown>) =>
  events.map((one) => (typeof one === "string" ? `data: ${one}\n\n` : frame(inside(one)))).join("")

const overs: ReadonlyArray<Over> = [
  ...Dialects.all.flatMap(({ body, events, layer, name }): ReadonlyArray<Over> => [
    {
      name: `${name}, streamed`,
      layer,
      events: (said) => [...events(said).said, ...events(said).end],
      written,
      type: eventStream
    },
    {
      name: `${name}, whole`,
      layer: (url) => layer(url, { streamed: false }),
      events: (said) => [body(said)],
      written: ([body]) => JSON.stringify(body),
      type: "application/json"
    }
  ]),
  ...packages.map(({ events, model, name }): Over => ({
    name,
    layer: (url) => LLM.layerLanguageModel({ secrets: [Redacted.make(canary)] }).pipe(Layer.provide(model(url))),
    events,
    written,
    type: eventStream
  }))
]

const isSound = (value: unknown): boolean => {
  if (typeof value === "string") return Printable.wellFormed(value) === value
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0
  return typeof value !== "object" || value === null || Object.entries(value).flat().every(isSound)
}

const isProblem = Schema.is(Problem.Problem)

/** What each outcome must be: a value that can be stored, or a typed error that is bounded, inert, clean and complete. */
const judge = (exit: Exit.Exit<LLM.Reply, unknown>, about: string) => {
  if (Exit.isSuccess(exit)) {
    const { seal: _, ...reply } = exit.value
    assert.isTrue(isSound(reply), about)
    return exit.value
  }
  assert.isTrue(Cause.isFailType(exit.cause), `${about}: ${Cause.pretty(exit.cause).slice(0, 500)}`)
  const error = Cause.squash(exit.cause)
  assert.instanceOf(error, LLM.LLMError, about)
  if (!(error instanceof LLM.LLMError)) return undefined
  isClean(exit, canary)
  assert.isTrue(isProblem(error), about)
  assert.match(error.code, /^WF-LLM-\d{3}$/)
  assert.isAtMost(error.message.length, 2_000, about)
  for (const text of [
    error.message,
    error.what,
    error.where ?? "",
    error.expected ?? "",
    error.found ?? "",
    error.next
  ])
    assert.strictEqual(text, Printable.line(text), about)
  const kept = error.body === undefined ? "" : Redacted.value(error.body)
  assert.isAtMost(kept.length, 65_536, about)
  assert.strictEqual(kept, Printable.wellFormed(kept), about)
  assert.notInclude(kept, canary, about)
  return error
}

const answer =
  (body: string | Uint8Array, type: string, status = 200, headers: Record<string, string> = {}): Handler =>
  ({ response }) => {
    response.writeHead(status, { "content-type": type, ...headers }).end(body)
  }

/** Asks over one server and one layer, as often as wanted: after each bad answer comes a good one, which is read. */
const asking = (over: Over) =>
  Effect.gen(function* () {
    let handler: Handler = () => undefined
    const { url } = yield* serve((exchange) => handler(exchange))
    const llm = yield* Layer.build(over.layer(url))
    const ask = (next: Handler) =>
      Effect.suspend(() => {
        handler = next
        return Effect.exit(
          Effect.timeoutFail(Effect.provide(LLM.reply(wire), llm), {
            duration: "20 seconds",
            onTimeout: () => "hangs"
          })
        )
      })
    const bad = (next: Handler, about: string) => Effect.map(ask(next), (exit) => judge(exit, `${over.name}: ${about}`))
    const good = (about: string) =>
      Effect.gen(function* () {
        const exit = yield* ask(answer(over.written(over.events(yes)), over.type))
        assert.strictEqual(Exit.isSuccess(exit) ? exit.value.content : exit.cause, "Yes.", `after ${about}`)
      })
    return { bad, good }
  })

/** What a terminal, a log, a header and a page would each take for more than text. */
const hostile = `\u0000\u001b[2J\u202e\u2066\u{e0041}\u200b\r\nevent: x\ud800 ${canary} `
const stored = Printable.wellFormed(hostile)
const deep = `{"n":${"[".repeat(20_000)}${"]".repeat(20_000)}}`

const call = (id: string, name: string, ...deltas: ReadonlyArray<string>) => ({ id, name, deltas })
const calling = (...calls: NonNullable<Dialects.Said["calls"]>): Dialects.Said => ({ calls, stop: "tool-calls", usage })
const argsOf = ({ toolCalls }: LLM.Reply) => toolCalls.map(({ args }) => args)

interface Case {
  readonly name: string
  readonly said: Dialects.Said
  /** What is read of it. */
  readonly read: (reply: LLM.Reply) => unknown
  readonly expected: unknown
  /** The package takes it for a breach of the protocol. */
  readonly refuses?: RegExp
  /** The API or the package has no words for it. */
  readonly skips?: RegExp
}

const models: ReadonlyArray<Case> = [
  {
    name: "controls, marks, tags and half characters in text",
    said: { ...yes, deltas: ["a", hostile, "\udc00"] },
    read: ({ content }) => content,
    expected: `a${stored}\ufffd`
  },
  {
    name: "the same in reasoning",
    said: { ...yes, reasoning: hostile },
    read: ({ reasoning }) => reasoning,
    expected: stored,
    skips: /OpenAI chat/
  },
  {
    name: "the same in a name and in arguments",
    said: calling(call("c1", hostile, JSON.stringify({ n: hostile }))),
    read: ({ toolCalls }) => toolCalls.map(({ args, toolName }) => [toolName, args]),
    expected: [[stored, JSON.stringify({ n: hostile })]]
  },
  {
    name: "the same in an id",
    said: calling(call(hostile, "zone", "{}")),
    read: ({ toolCalls }) => toolCalls.map(({ toolCallId }) => toolCallId),
    expected: [stored],
    refuses: /ai-anthropic/
  },
  {
    name: "one id twice",
    said: calling(call("c1", "zone", '{"n":1}'), call("c1", "zone", '{"n":2}')),
    read: argsOf,
    expected: ['{"n":1}', '{"n":2}']
  },
  { name: "no arguments", said: calling(call("c1", "zone")), read: argsOf, expected: ["{}"] },
  {
    name: "names of prototypes",
    said: calling(call("constructor", "__proto__", "{}")),
    read: ({ toolCalls }) => toolCalls,
    expected: [{ toolCallId: "constructor", toolName: "__proto__", args: "{}" }]
  },
  ...[
    ["reserved keys", '{"__proto__":{"x":1},"constructor":{"prototype":{}}}'],
    ["deep arguments", deep],
    ["large arguments", `{"n":"${"x".repeat(200_000)}"}`],
    ["numbers without end", '{"n":1e400,"m":123456789012345678901234567890,"n":-0}'],
    ["no JSON", "{n: oops}"]
  ].map(([name = "", args = ""]): Case => ({
    name,
    said: calling(call("c1", "zone", args)),
    read: argsOf,
    expected: [args],
    // Whose arguments are values, and not text, in the body of a reply.
    skips: /Messages, whole/
  })),
  {
    name: "an endless id and name",
    said: calling(call("i".repeat(100_000), "n".repeat(100_000), "{}")),
    read: ({ toolCalls }) => toolCalls.map(({ toolCallId, toolName }) => [toolCallId.length, toolName.length]),
    expected: [[100_000, 100_000]]
  }
]

const bomb = gzipSync(Buffer.from("x".repeat(1_000_000)))

const html = answer(`<html>${hostile}</html>`, "text/html")

type Reason = LLM.Reason | "value"
const protocol: ReadonlyArray<Reason> = ["Protocol"]
const broken: ReadonlyArray<Reason> = ["Protocol", "StreamBroken"]

/** Answers that are none, and what each may come to. */
const providers = (over: Over): ReadonlyArray<readonly [string, Handler, ReadonlyArray<Reason>]> => {
  const { type } = over
  const good = over.written(over.events(yes))
  const failed = (message: string, status: number, headers: Record<string, string> = {}) =>
    answer(JSON.stringify({ type: "error", error: { type: "e", message } }), "application/json", status, headers)
  return [
    ["a page", html, protocol],
    ["nothing", answer("", type), broken],
    ["nothing, as JSON", answer("", "application/json"), protocol],
    ...["null", "7", "[]", '"x"', "{}", '{"__proto__":{"x":1}}', deep].map(
      (body) => [`${body.slice(0, 30)}`, answer(body, "application/json"), broken] as const
    ),
    ["bytes that are no text", answer(Uint8Array.from([255, 254, 0, 128, 10, 10]), type), broken],
    ["a picture", answer(Uint8Array.from([137, 80, 78, 71]), "image/png"), broken],
    ["no content", answer("", type, 204), broken],
    [
      "gzip that is none",
      answer(good, type, 200, { "content-encoding": "gzip" }),
      ["StreamBroken", "Protocol", "Unavailable"]
    ],
    [
      "less than was promised",
      ({ response }) => {
        response.writeHead(200, { "content-type": type, "content-length": "100000" })
        response.write(good.slice(0, 40), () => response.destroy())
      },
      broken
    ],
    ["a redirect to inside", answer("", type, 302, { location: "http://169.254.169.254/" }), ["Misconfigured"]],
    [
      "endless headers",
      answer(good, type, 200, { "x-long": "x".repeat(20_000) }),
      ["Unavailable", "Protocol", "StreamBroken"]
    ],
    ["a hostile error", failed(hostile.repeat(1_000), 500), ["Unavailable"]],
    ["a hostile error for the credentials", failed(hostile, 401), ["Auth"]],
    ["a hostile error of the request", failed(hostile, 418), ["Rejected"]],
    ...["-5", "1e400", "NaN", "99999999999999", "Thu, 99 Foo", ""].map(
      (after) => [`to wait ${after}`, failed("Slow down.", 429, { "retry-after": after }), ["Limited"]] as const
    ),
    [
      "an error that is none",
      answer('{"error":{"message":{"toString":7},"type":[],"code":{}}}', "application/json", 500),
      ["Unavailable"]
    ]
  ]
}

/** What a bad provider may write in place of anything. */
const wrong: ReadonlyArray<unknown> = [
  null,
  -1,
  1.5,
  1e300,
  "",
  "\ud800\u001b",
  "__proto__",
  true,
  [],
  {},
  [null],
  { error: 7 }
]

/** Every copy of a value in which one of its parts is another. */
const spoiled = (value: unknown, instead: unknown): ReadonlyArray<unknown> => {
  if (typeof value !== "object" || value === null) return [instead]
  const parts = Object.entries(value).flatMap(([key, part]) =>
    spoiled(part, instead).map((other) =>
      Array.isArray(value) ? value.with(Number(key), other) : { ...value, [key]: other }
    )
  )
  return [...parts, instead]
}

for (const over of overs) {
  describe(`Bad input over ${over.name}`, () => {
    it.scopedLive("of a model is a value, or a failure that says so", () =>
      Effect.gen(function* () {
        const { bad, good } = yield* asking(over)
        for (const { expected, name, read, refuses, said, skips } of models) {
          if (skips?.test(over.name) === true) continue
          const outcome = yield* bad(answer(over.written(over.events(said)), over.type), name)
          yield* good(name)
          if (outcome instanceof LLM.LLMError) {
            assert.strictEqual(outcome.reason, "Protocol", `${name}: ${outcome.message}`)
            assert.match(over.name, refuses ?? /^$/, name)
          } else assert.deepStrictEqual(outcome && read(outcome), expected, name)
        }
      })
    )

    it.scopedLive("of a provider is a failure that says so", () =>
      Effect.gen(function* () {
        const { bad, good } = yield* asking(over)
        for (const [name, handler, reasons] of providers(over)) {
          const outcome = yield* bad(handler, name)
          yield* good(name)
          const reason = outcome instanceof LLM.LLMError ? outcome.reason : "value"
          assert.include(reasons, reason, name)
          if (!(outcome instanceof LLM.LLMError) || !name.startsWith("to wait")) continue
          assert.deepStrictEqual(outcome.retry, name.endsWith("9999") ? { afterMs: 86_400_000 } : "safe-with-same-key")
        }
      })
    )

    it.scopedLive("in any part of a reply is a value, or a failure that says so", () =>
      Effect.gen(function* () {
        const { bad, good } = yield* asking(over)
        const events = over.events({ ...yes, reasoning: "Hm.", calls: [call("c1", "zone", '{"n":', "1}")] })
        const all = events.flatMap((event, at) =>
          typeof event === "string" ? [] : spoiled(event, undefined).map((_, part) => ({ at, part }))
        )
        // Not all of them: some of each reply, and each of what may stand there as often as any other.
        const step = Math.ceil(all.length / 40)
        for (const [turn, { at, part }] of all.filter((_, n) => n % step === 0).entries()) {
          const other = spoiled(events[at], wrong[turn % wrong.length])[part]
          yield* bad(answer(over.written(events.with(at, other)), over.type), JSON.stringify(other))
        }
        yield* good("all of them")
      })
    )
  })
}

describe("A body that inflates without end", () => {
  for (const over of overs.filter(({ name }) => /^Anthropic.*streamed|compatible.*whole/.test(name))) {
    it.scopedLive(`is read no further than the longest reply: ${over.name}`, () =>
      Effect.gen(function* () {
        const { bad } = yield* asking(over)
        for (const status of [200, 500]) {
          let sent = 0
          const outcome = yield* bad(async ({ response }) => {
            response.writeHead(status, { "content-type": over.type, "content-encoding": "gzip" })
            for (; sent < 400 && !response.destroyed; sent++) {
              if (!response.write(bomb))
                await new Promise((resolve) => response.once("drain", resolve).once("close", resolve))
              await new Promise((resolve) => setImmediate(resolve))
            }
            response.end()
          }, "bomb")
          assert.include(["Protocol", "Unavailable"], outcome instanceof LLM.LLMError ? outcome.reason : "value")
        }
      })
    )
  }
})
