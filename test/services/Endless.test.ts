import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import type { ServerResponse } from "node:http"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import * as Dialects from "./Dialects.ts"
import { frame, inside, packages } from "./EffectPackages.ts"
import { serve } from "./ModelServer.ts"

/** Writes for as long as somebody reads. */
const forever = async (response: ServerResponse, piece: string, sent: { chars: number }): Promise<void> => {
  let wake = () => {}
  response.on("drain", () => wake()).on("close", () => wake())
  while (!response.destroyed && !response.closed) {
    sent.chars += piece.length
    if (!response.write(piece)) await new Promise<void>((resolve) => (wake = resolve))
  }
}

type LayerOf = (url: string, more?: { readonly streamed?: false }) => Layer.Layer<LLM.LLM, LLM.LLMError>

/** What a reply fails with that begins so and goes on with more of the same, and how much was sent of it. */
const failing = (
  layer: LayerOf,
  begin: { readonly status?: number; readonly type: string; readonly text: string },
  piece: string,
  more?: { readonly streamed?: false }
) =>
  Effect.gen(function* () {
    const sent = { chars: 0 }
    const { url } = yield* serve(async ({ response }) => {
      response.writeHead(begin.status ?? 200, { "content-type": begin.type })
      response.write(begin.text)
      await forever(response, piece, sent)
    })
    const error = yield* Effect.flip(Effect.provide(LLM.reply(LLMSuite.wire), layer(url, more)))
    return { error, sent: sent.chars }
  }).pipe(Effect.scoped)

const text = "x".repeat(60_000)
const usage = { input: 3, cacheRead: 1, cacheWrite: 1, output: 2, reasoning: 1 }

/** What comes before a part of a stream, and that part, which is repeated. */
const split = (events: ReadonlyArray<unknown>, isPart: (text: string) => boolean) => {
  const frames = events.map((event) => frame(inside(event)))
  const at = frames.findIndex(isPart)
  return { before: frames.slice(0, at).join(""), part: frames[at] ?? "" }
}

const parts: ReadonlyArray<readonly [name: string, said: Dialects.Said]> = [
  ["text", { deltas: [text], stop: "stop", usage }],
  ["reasoning", { reasoning: text, deltas: ["Yes."], stop: "stop", usage }],
  ["arguments", { calls: [{ id: "c1", name: "zone", deltas: [text] }], stop: "tool-calls", usage }]
]

interface Over {
  readonly name: string
  readonly layer: LayerOf
  readonly events: (said: Dialects.Said) => ReadonlyArray<unknown>
}

const overs: ReadonlyArray<Over> = [
  ...Dialects.all.map(({ events, layer, name }) => ({
    name,
    layer,
    events: (said: Dialects.Said) => events(said).said
  })),
  ...packages.map(({ events, model, name }) => ({
    name,
    layer: (url: string) => LLM.layerLanguageModel().pipe(Layer.provide(model(url))),
    events
  }))
]

describe("A reply that never ends", () => {
  for (const { events, layer, name } of overs) {
    for (const [what, said] of parts) {
      // OpenAI's own package reads no reasoning of chat completions.
      if (name === Dialects.chat.name && what === "reasoning") continue
      it.live(`is a failure, and no more is read of it: ${what} of ${name}`, () =>
        Effect.gen(function* () {
          const { before, part } = split(events(said), (frame) => frame.includes(text))
          const { error, sent } = yield* failing(layer, { type: "text/event-stream", text: before }, part)
          assert.strictEqual(error.reason, "Protocol")
          assert.strictEqual(error.retry, "never")
          assert.include(error.message, "longer than a record can hold")
          assert.isBelow(sent, 60_000_000)
        })
      )
    }

    it.live(`is a failure where it is one line, or one body: ${name}`, () =>
      Effect.gen(function* () {
        const line = yield* failing(layer, { type: "text/event-stream", text: 'data: {"a":"' }, text)
        assert.strictEqual(line.error.reason, "Protocol")
        assert.isBelow(line.sent, 80_000_000)
        const body = yield* failing(layer, { type: "application/json", text: '{"a":"' }, text)
        assert.strictEqual(body.error.reason, "Protocol")
        assert.isBelow(body.sent, 80_000_000)
        const refused = yield* failing(layer, { status: 500, type: "application/json", text: '{"a":"' }, text)
        assert.include(["Unavailable", "Protocol"], refused.error.reason)
        assert.isBelow(refused.sent, 80_000_000)
      })
    )
  }

  for (const { layer, name } of Dialects.all) {
    it.live(`is a failure where it is one event of many lines, or comes whole: ${name}`, () =>
      Effect.gen(function* () {
        const lines = yield* failing(layer, { type: "text/event-stream", text: "" }, `data: "${text}\n`)
        assert.strictEqual(lines.error.reason, "Protocol")
        assert.isBelow(lines.sent, 80_000_000)
        const whole = yield* failing(layer, { type: "application/json", text: '{"a":"' }, text, { streamed: false })
        assert.strictEqual(whole.error.reason, "Protocol")
        assert.isBelow(whole.sent, 80_000_000)
      })
    )
  }

  it.live("is one of calls without arguments as well", () =>
    Effect.gen(function* () {
      const event = (index: number) =>
        `data: ${JSON.stringify({
          id: "chat-1",
          model: "m",
          choices: [{ index: 0, delta: { tool_calls: [{ index, id: `c${index}`, function: { name: "zone" } }] } }]
        })}\n\n`
      const many = Array.from({ length: 5_000 }, (_, index) => event(index)).join("")
      const layer = (url: string) => LLM.layerOpenAiCompatible({ url, model: "m", apiKey: Redacted.make("k") })
      const { error } = yield* failing(layer, { type: "text/event-stream", text: many }, ": still here\n\n")
      assert.include(error.message, "longer than a record can hold")
    })
  )
})
