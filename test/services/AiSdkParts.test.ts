import type { LanguageModelV3Content, LanguageModelV3StreamPart, LanguageModelV3Usage } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Deferred, Stream } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import type * as Seal from "../../src/kernel/Seal.ts"
import * as Usage from "../../src/kernel/Usage.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as AiSdkLLM from "../../src/services/AiSdkLLM.ts"
import type * as AiSdkModel from "../../src/services/AiSdkModel.ts"
import * as LLM from "../../src/services/LLM.ts"
import { wire } from "../../src/services/LLMSuite.ts"
import * as Shop from "../programs/Shop.ts"
import { services, toolkit } from "./Zones.ts"

const usage: LanguageModelV3Usage = {
  inputTokens: { total: 10, noCache: 4, cacheRead: 5, cacheWrite: 1 },
  outputTokens: { total: 7, text: 5, reasoning: 2 }
}

const finished = (unified: "stop" | "length" | "tool-calls" | "other" = "stop"): LanguageModelV3StreamPart => ({
  type: "finish",
  finishReason: { unified, raw: unified },
  usage
})

/** A model that gives one reply after the other, streamed or whole, and keeps what it was asked. */
const model = (
  replies: ReadonlyArray<{
    readonly parts?: ReadonlyArray<LanguageModelV3StreamPart | Written>
    readonly content?: ReadonlyArray<LanguageModelV3Content>
    readonly unified?: string
    /** The stream stays open after its parts. */
    readonly open?: true
  }>,
  provider = "here"
) => {
  const asked: Array<AiSdkModel.Call> = []
  const next = (call: AiSdkModel.Call) => {
    asked.push(call)
    return replies[asked.length - 1] ?? { parts: [finished()] }
  }
  const made: AiSdkLLM.Model = {
    provider,
    modelId: "m",
    doStream: (call) => {
      const { open, parts = [] } = next(call)
      return Promise.resolve({
        stream: new ReadableStream({
          start: (controller) => {
            for (const part of parts) controller.enqueue(part)
            if (open === undefined) controller.close()
          }
        })
      })
    },
    doGenerate: (call) => {
      const { content = [], unified = "stop" } = next(call)
      return Promise.resolve({ content, finishReason: { unified, raw: unified }, usage, response: { modelId: "m-1" } })
    }
  }
  return { asked, made }
}

/** Parts as a package may write them, known or not. */
type Written = AiSdkModel.Foreign & { readonly [field: string]: unknown }

const replyOf = (parts: ReadonlyArray<LanguageModelV3StreamPart | Written>) =>
  Effect.provide(LLM.reply(wire), AiSdkLLM.layer(model([{ parts }]).made))

const signature = { here: { signature: "s1" } }

/** Reasoning that is signed, text in two blocks, a call with a mark of its own. */
const parts: ReadonlyArray<LanguageModelV3StreamPart> = [
  { type: "stream-start", warnings: [] },
  { type: "response-metadata", modelId: "m-1" },
  { type: "reasoning-start", id: "0" },
  { type: "reasoning-delta", id: "0", delta: "Hm" },
  { type: "reasoning-delta", id: "0", delta: ".", providerMetadata: { here: { part: 1 } } },
  { type: "reasoning-delta", id: "0", delta: "", providerMetadata: signature },
  { type: "reasoning-end", id: "0" },
  { type: "reasoning-start", id: "1", providerMetadata: { here: { redacted: "x" } } },
  { type: "reasoning-end", id: "1" },
  { type: "text-start", id: "2" },
  { type: "text-delta", id: "2", delta: "Zo" },
  { type: "text-delta", id: "2", delta: "ne" },
  { type: "text-end", id: "2" },
  { type: "text-start", id: "3", providerMetadata: { here: { itemId: "i3", none: null } } },
  { type: "text-delta", id: "3", delta: " a." },
  { type: "text-end", id: "3", providerMetadata: { here: { itemId: "i3" }, empty: {} } },
  { type: "tool-input-start", id: "c1", toolName: "zone" },
  { type: "tool-input-delta", id: "c1", delta: '{"n"' },
  { type: "tool-input-delta", id: "c1", delta: ": 1}" },
  { type: "tool-input-end", id: "c1" },
  { type: "tool-call", toolCallId: "c1", toolName: "zone", input: '{"n": 1}', providerMetadata: { here: { sign: 2 } } },
  finished("tool-calls")
]

const content: ReadonlyArray<LanguageModelV3Content> = [
  { type: "reasoning", text: "Hm.", providerMetadata: { here: { part: 1, signature: "s1" } } },
  { type: "reasoning", text: "", providerMetadata: { here: { redacted: "x" } } },
  { type: "text", text: "Zone" },
  { type: "text", text: " a.", providerMetadata: { here: { itemId: "i3", none: null } } },
  { type: "tool-call", toolCallId: "c1", toolName: "zone", input: '{"n": 1}', providerMetadata: { here: { sign: 2 } } }
]

const blocks: ReadonlyArray<Seal.Block> = [
  { kind: "reasoning", chars: 3, opaque: { here: { part: 1, signature: "s1" } } },
  { kind: "reasoning", chars: 0, opaque: { here: { redacted: "x" } } },
  { kind: "text", chars: 4 },
  { kind: "text", chars: 3, opaque: { here: { itemId: "i3", none: null } } },
  { kind: "call", opaque: { here: { sign: 2 } } }
]

describe("The parts of a provider's stream", () => {
  it.live("keep what the provider wants back, where it belongs", () =>
    Effect.gen(function* () {
      const reply = yield* replyOf(parts)
      assert.deepStrictEqual(reply, {
        content: "Zone a.",
        reasoning: "Hm.",
        toolCalls: [{ toolCallId: "c1", toolName: "zone", args: '{"n": 1}' }],
        stopReason: "tool-calls",
        usage: { inputTokens: 4, cacheReadTokens: 5, cacheWriteTokens: 1, outputTokens: 7, reasoningTokens: 2 },
        seal: { provider: "here", blocks },
        model: "m-1"
      })
    })
  )

  it.live("are the same where the reply comes whole", () =>
    Effect.gen(function* () {
      const { made } = model([{ content, unified: "tool-calls" }])
      const reply = yield* Effect.provide(LLM.reply(wire), AiSdkLLM.layer(made, { streamed: false }))
      assert.deepStrictEqual(reply, yield* replyOf(parts))
    })
  )

  it.live("put a seal that comes late on the block that it is of, and one without a block on a block of its own", () =>
    Effect.gen(function* () {
      const { seal } = yield* replyOf([
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "Zone" },
        { type: "reasoning-start", id: "r", providerMetadata: { here: { n: 1 } } },
        { type: "reasoning-delta", id: "r", delta: "Hm." },
        { type: "text-end", id: "t", providerMetadata: { here: { n: 2 } } },
        { type: "reasoning-end", id: "r" },
        finished()
      ])
      assert.deepStrictEqual(seal?.blocks, [
        { kind: "text", chars: 4, opaque: { here: { n: 2 } } },
        { kind: "reasoning", chars: 3, opaque: { here: { n: 1 } } }
      ])
    })
  )

  it.live("keep nothing where nothing was given, and store what was as JSON", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* replyOf([{ type: "text-delta", id: "t", delta: "Yes." }, finished()])).seal)
      const odd = { here: { half: "\ud800", gone: undefined, date: new Date(0), inner: { __proto__: null, a: 1 } } }
      const { seal } = yield* replyOf([
        { type: "text-start", id: "t", providerMetadata: odd },
        { type: "text-delta", id: "t", delta: "Yes." },
        { type: "text-end", id: "t" },
        finished()
      ])
      const opaque = { here: { half: "\ufffd", date: "1970-01-01T00:00:00.000Z", inner: { a: 1 } } }
      assert.deepStrictEqual(seal?.blocks, [{ kind: "text", chars: 4, opaque }])
    })
  )

  it.live("say of a call whose arguments never ended that it was cut, and keep what there is of them", () =>
    Effect.gen(function* () {
      const reply = yield* replyOf([
        { type: "tool-input-start", id: "c0", toolName: "search", providerExecuted: true },
        { type: "tool-input-delta", id: "c0", delta: "{" },
        { type: "tool-input-start", id: "c1", toolName: "zone" },
        { type: "tool-input-delta", id: "c1", delta: '{"n": 1' },
        { type: "tool-input-start", id: "c2", toolName: "list" },
        { type: "tool-input-end", id: "c2" },
        { type: "tool-call", toolCallId: "c2", toolName: "list", input: "" },
        finished("length")
      ])
      assert.deepStrictEqual(reply.toolCalls, [
        { toolCallId: "c2", toolName: "list", args: "{}" },
        { toolCallId: "c1", toolName: "zone", args: '{"n": 1', cut: true }
      ])
    })
  )

  it.live("end in a stop reason of a closed list, or in a failure", () =>
    Effect.gen(function* () {
      const of = (unified: string) =>
        replyOf([
          { type: "text-delta", id: "t", delta: "Yes." },
          { ...finished(), finishReason: { unified, raw: "x" } }
        ])
      for (const unified of ["stop", "length", "tool-calls", "content-filter", "other"]) {
        assert.strictEqual((yield* of(unified)).stopReason, unified)
      }
      for (const unified of ["novel", "toString", ""]) assert.strictEqual((yield* of(unified)).stopReason, "other")
      assert.strictEqual((yield* Effect.flip(of("interrupted"))).reason, "StreamBroken")
      assert.strictEqual((yield* Effect.flip(of("error"))).reason, "Unavailable")
    })
  )

  it.live("pass what is not known", () =>
    Effect.gen(function* () {
      const odd = ["ping", "novel", "source", "custom", "toString"].map((type) => ({ type, text: "?", id: "t" }))
      const reply = yield* replyOf([...odd, { type: "text-delta", id: "t", delta: "Yes." }, ...odd, finished()])
      assert.deepStrictEqual([reply.content, reply.toolCalls, reply.reasoning], ["Yes.", [], undefined])
    })
  )

  it.live("need a model that can give whole replies, if such are asked for", () =>
    Effect.gen(function* () {
      const { doGenerate: _, ...made } = model([]).made
      const error = yield* Effect.flip(Effect.provide(LLM.reply(wire), AiSdkLLM.layer(made, { streamed: false })))
      assert.strictEqual(error.reason, "Misconfigured")
    })
  )
})

// In a run.

const agent = Agent.make({ name: "zones", instructions: "Be brief.", toolkit })
const find = <T extends Event.Event["_tag"]>(all: ReadonlyArray<Event.Event>, tag: T) =>
  all.find((event): event is Extract<Event.Event, { readonly _tag: T }> => event._tag === tag)

const answer: ReadonlyArray<LanguageModelV3StreamPart> = [{ type: "text-delta", id: "t", delta: "Zone 1." }, finished()]

describe("What a provider sealed", () => {
  it.live("is on the record, goes back to it on the next pass, and to no other", () =>
    Effect.gen(function* () {
      const own = model([{ parts }, { parts: answer }, { parts: answer }])
      const other = model([{ parts: answer }], "there")
      yield* Effect.provide(Agent.run(agent, "Which?", { runId: "r" }), AiSdkLLM.layer(own.made))
      const recorded = yield* Shop.events("r")
      assert.deepStrictEqual(find(recorded, "ModelReplied")?.seal, { provider: "here", blocks })
      const sentBack: ReadonlyArray<unknown> = [
        { type: "reasoning", text: "Hm.", providerOptions: { here: { part: 1, signature: "s1" } } },
        { type: "reasoning", text: "", providerOptions: { here: { redacted: "x" } } },
        { type: "text", text: "Zone" },
        { type: "text", text: " a.", providerOptions: { here: { itemId: "i3", none: null } } },
        {
          type: "tool-call",
          toolCallId: "c1",
          toolName: "zone",
          input: { n: 1 },
          providerOptions: { here: { sign: 2 } }
        }
      ]
      const saidIn = (call: AiSdkModel.Call | undefined): unknown =>
        call?.prompt.find(({ role }) => role === "assistant")?.content
      assert.deepStrictEqual(saidIn(own.asked[1]), sentBack)
      // The wire that was sent is the wire that is projected from the record.
      const { marks, violations } = Run.fold(recorded)
      assert.deepStrictEqual(violations, [])
      for (const { projectedHash, recordedHash } of marks) assert.strictEqual(projectedHash, recordedHash)
      assert.lengthOf(marks, 2)
      const follow = (made: AiSdkLLM.Model) => Effect.provide(Agent.followUp(agent, "r", "Sure?"), AiSdkLLM.layer(made))
      yield* follow(own.made)
      assert.deepStrictEqual(saidIn(own.asked[2]), sentBack)
      yield* follow(other.made)
      assert.deepStrictEqual(saidIn(other.asked[0]), [
        { type: "text", text: "Zone a." },
        { type: "tool-call", toolCallId: "c1", toolName: "zone", input: { n: 1 } }
      ])
    }).pipe(Effect.provide(services))
  )

  it.live("makes the same record, streamed or whole", () =>
    Effect.gen(function* () {
      const whole = model([{ content, unified: "tool-calls" }, { content: [{ type: "text", text: "Zone 1." }] }])
      const streamed = model([{ parts }, { parts: answer }])
      yield* Effect.provide(
        Agent.run(agent, "Which?", { runId: "whole" }),
        AiSdkLLM.layer(whole.made, { streamed: false })
      )
      yield* Effect.provide(Agent.run(agent, "Which?", { runId: "streamed" }), AiSdkLLM.layer(streamed.made))
      const timeless = (all: ReadonlyArray<Event.Event>) => all.map((event) => ({ ...event, durationMs: 0, runId: "" }))
      assert.deepStrictEqual(timeless(yield* Shop.events("whole")), timeless(yield* Shop.events("streamed")))
      assert.strictEqual(
        Wire.hash(Wire.project(Run.fold(yield* Shop.events("whole")))),
        Wire.hash(Wire.project(Run.fold(yield* Shop.events("streamed"))))
      )
    }).pipe(Effect.provide(services))
  )
})

describe("Usage of a reply that does not come to its end", () => {
  const told = { inputTokens: 12, unknown: { outputTokens: "cut" } } as const
  const reading: AiSdkLLM.Reading = { usageSoFar: (chunk) => (chunk === "usage" ? told : undefined) }
  const raw = [
    { type: "raw", rawValue: "else" },
    { type: "raw", rawValue: "usage" },
    { type: "text-delta", id: "t", delta: "Zone" }
  ]
  const layer = (reply: Parameters<typeof model>[0][number]) =>
    Layer.succeed(LLM.LLM, AiSdkLLM.read(model([reply]).made, {}, reading))

  it.live("is on the record when the run is interrupted", () =>
    Effect.gen(function* () {
      const seen = yield* Deferred.make<void>()
      const watched = Stream.runForEach(Agent.stream(agent, "Which?", { runId: "r" }), (progress) =>
        progress._tag === "Received" && progress.parts.some(({ _tag }) => _tag === "Text")
          ? Deferred.succeed(seen, undefined)
          : Effect.void
      )
      const fiber = yield* Effect.fork(Effect.provide(watched, layer({ parts: raw, open: true })))
      yield* Deferred.await(seen)
      yield* Fiber.interrupt(fiber)
      const all = yield* Shop.events("r")
      assert.deepInclude(find(all, "ModelFailed"), { reason: "Interrupted", partialChars: 4, usage: told })
      assert.deepStrictEqual(find(all, "RunEnded")?.usage, told)
    }).pipe(Effect.provide(services))
  )

  it.live(
    "is on the record when it fails on the way, unknown where nothing was told, and none where nothing was done",
    () =>
      Effect.gen(function* () {
        const failed = (runId: string, reply: Parameters<typeof model>[0][number]) =>
          Effect.gen(function* () {
            yield* Effect.exit(Effect.provide(Agent.run(agent, "Which?", { runId }), layer(reply)))
            const all = yield* Shop.events(runId)
            return [find(all, "ModelFailed")?.usage, find(all, "RunEnded")?.usage]
          })
        assert.deepStrictEqual(yield* failed("told", { parts: [...raw, { type: "error", error: {} }] }), [told, told])
        const cut = Usage.unknown("cut")
        assert.deepStrictEqual(yield* failed("untold", { parts: [{ type: "error", error: {} }] }), [cut, cut])
        const refused = Layer.succeed(
          LLM.LLM,
          AiSdkLLM.make({ provider: "p", modelId: "m", doStream: () => Promise.reject({ statusCode: 401 }) })
        )
        yield* Effect.exit(Effect.provide(Agent.run(agent, "Which?", { runId: "refused" }), refused))
        assert.deepStrictEqual(find(yield* Shop.events("refused"), "RunEnded")?.usage, {})
      }).pipe(Effect.provide(services))
  )
})
