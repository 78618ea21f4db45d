/**
 * An `LLMSuite` is what every `LLM` layer promises, as cases that any test framework can run: a case is an effect that
 * fails if the promise is not kept.
 *
 * @internal
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Problem from "../kernel/Problem.ts"
import * as Usage from "../kernel/Usage.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as LLM from "./LLM.ts"

/** What a layer needs to be put to the test: a model behind it that gives these replies, one for each call. */
export interface Harness<E = never> {
  readonly layer: (replies: ReadonlyArray<LLM.Line>) => Layer.Layer<LLM.LLM, E>
}

/** A promise that was not kept. */
export class PromiseBroken extends Schema.TaggedError<PromiseBroken>()("PromiseBroken", Problem.fields) {
  override get message(): string {
    return Problem.render(this)
  }
}

export interface Case<E> {
  readonly name: string
  readonly effect: Effect.Effect<void, PromiseBroken | LLM.LLMError | E>
}

/** A request of one question, for those who write cases of their own. */
export const wire: Wire.Wire = {
  iteration: 1,
  system: [
    { id: "s", origin: "app", seq: 1, cause: { by: "selected", seq: 1 }, hash: "s", slot: "system", text: "Be brief." }
  ],
  messages: [
    {
      id: "m",
      origin: "person",
      seq: 0,
      cause: { by: "asked", seq: 0 },
      hash: "m",
      slot: "messages",
      message: { role: "user", content: "Which zone?" }
    }
  ],
  tools: [],
  parameters: {}
}

const same = (what: string, found: unknown, expected: unknown): Effect.Effect<void, PromiseBroken> =>
  JSON.stringify(found) === JSON.stringify(expected)
    ? Effect.void
    : new PromiseBroken({
        code: "WF-LLM-020",
        what: `The layer does not keep its promise: ${what}.`,
        expected: JSON.stringify(expected),
        found: JSON.stringify(found) ?? "nothing",
        next: "Correct the layer.",
        outcome: "not-applied",
        retry: "never"
      })

const call = (toolName: string, rawArgs: string, toolCallId: string): LLM.Call => ({ toolName, rawArgs, toolCallId })

const known = (usage: Usage.Usage) => Usage.counts.map((count) => usage[count] ?? null)

const argsOf = ({ toolCalls }: LLM.Reply) => toolCalls.map(({ args }) => args)

/** The error of an effect that has to fail. */
const failing = <E, R>(effect: Effect.Effect<LLM.Reply, E, R>): Effect.Effect<E, PromiseBroken, R> =>
  Effect.matchEffect(effect, {
    onFailure: Effect.succeed,
    onSuccess: () => Effect.flatMap(same("that this call fails", "a reply", "a failure"), () => Effect.never)
  })

/** A promise, and the replies of the model behind the layer. */
interface Promised {
  readonly name: string
  readonly replies: ReadonlyArray<LLM.Line>
  readonly kept: Effect.Effect<void, PromiseBroken | LLM.LLMError, LLM.LLM>
}

const promises: ReadonlyArray<Promised> = [
  {
    name: "joins the deltas of a text",
    replies: [{ deltas: ["Zone ", "a", "."] }],
    kept: Effect.flatMap(LLM.reply(wire), ({ content, toolCalls }) =>
      same("the text", [content, toolCalls], ["Zone a.", []])
    )
  },
  {
    name: "ends in exactly one finish",
    replies: [LLM.together({ deltas: ["Zo", "ne"] }, LLM.call("read", {}, "c1"))],
    kept: Effect.gen(function* () {
      const { stream } = yield* LLM.LLM
      const tags = Chunk.toReadonlyArray(yield* Stream.runCollect(stream(wire)))
        .map(({ _tag }) => _tag)
        .filter((tag) => tag !== "Usage" && tag !== "Sealed")
      yield* same("the order of parts", tags, ["Text", "Text", "ToolCall", "Finish"])
    })
  },
  {
    name: "gives every parallel call, in order, with its id and its arguments as written",
    replies: [
      {
        toolCalls: [
          call("read", '{"n":1, "zone": "ä€😀"}', "c1"),
          call("read", '{"n":2}', "c2"),
          call("list", "{}", "c3")
        ]
      }
    ],
    kept: Effect.flatMap(LLM.reply(wire), ({ stopReason, toolCalls }) =>
      same(
        "the calls",
        [stopReason, toolCalls],
        [
          "tool-calls",
          [
            { toolCallId: "c1", toolName: "read", args: '{"n":1, "zone": "ä€😀"}' },
            { toolCallId: "c2", toolName: "read", args: '{"n":2}' },
            { toolCallId: "c3", toolName: "list", args: "{}" }
          ]
        ]
      )
    )
  },
  {
    name: "hands malformed arguments on as text",
    replies: [{ toolCalls: [call("read", '{"n": 1, bad', "c1")] }],
    kept: Effect.flatMap(LLM.reply(wire), (reply) => same("the arguments", argsOf(reply), ['{"n": 1, bad']))
  },
  {
    name: "hands arguments that were cut on, and says that they were",
    replies: [{ toolCalls: [call("read", '{"n": 1, "te', "c1")], stopReason: "length" }],
    kept: Effect.flatMap(LLM.reply(wire), (reply) =>
      same("the cut", [argsOf(reply), reply.stopReason], [['{"n": 1, "te'], "length"])
    )
  },
  {
    name: "takes no arguments for an empty object",
    replies: [{ toolCalls: [call("list", "", "c1")] }],
    kept: Effect.flatMap(LLM.reply(wire), (reply) => same("the arguments", argsOf(reply), ["{}"]))
  },
  {
    name: "reports the usage that was reported",
    replies: [LLM.say("Yes.", { usage: { inputTokens: 12, outputTokens: 3 } })],
    kept: Effect.flatMap(LLM.reply(wire), ({ usage }) => same("the usage", known(usage), [12, null, null, 3, null]))
  },
  {
    name: "invents no usage",
    replies: [LLM.say("Yes.")],
    kept: Effect.flatMap(LLM.reply(wire), ({ usage }) =>
      same("the usage", known(usage), [null, null, null, null, null])
    )
  },
  {
    name: "keeps reasoning apart from text",
    replies: [LLM.say("Yes.", { reasoning: "It was asked twice." })],
    kept: Effect.flatMap(LLM.reply(wire), ({ content, reasoning }) =>
      same("the reasoning", [content, reasoning], ["Yes.", "It was asked twice."])
    )
  },
  {
    name: "fails when there is no reply and the reason is not an end",
    replies: [{ stopReason: "length" }, { stopReason: "content-filter" }],
    kept: Effect.gen(function* () {
      const length = yield* failing(LLM.reply(wire))
      const filtered = yield* failing(LLM.reply(wire))
      yield* same("the reasons", [length.reason, filtered.reason], ["Rejected", "Rejected"])
    })
  },
  {
    name: "asks nothing before it is run, and once for every run",
    replies: [LLM.say("one"), LLM.say("two")],
    kept: Effect.gen(function* () {
      const { stream } = yield* LLM.LLM
      const [, twice] = [stream(wire), stream(wire)]
      const contents = [(yield* LLM.collect(twice)).content, (yield* LLM.collect(twice)).content]
      yield* same("the runs", contents, ["one", "two"])
    })
  },
  {
    name: "fails with a reason, and says whether to try again",
    replies: [
      LLM.fail("Auth"),
      LLM.fail("Limited", { retry: { afterMs: 2_000 } }),
      LLM.fail("Unavailable"),
      LLM.fail("Rejected")
    ],
    kept: Effect.gen(function* () {
      const found: Array<unknown> = []
      for (let call = 0; call < 4; call++) {
        const { isRetryable, outcome, reason, retry } = yield* failing(LLM.reply(wire))
        found.push([reason, retry, isRetryable, outcome])
      }
      yield* same("the failures", found, [
        ["Auth", "never", false, "not-applied"],
        ["Limited", { afterMs: 2_000 }, true, "not-applied"],
        ["Unavailable", "safe-with-same-key", true, "not-applied"],
        ["Rejected", "never", false, "not-applied"]
      ])
    })
  },
  {
    name: "gives what came before the stream broke, and no finish",
    replies: [LLM.fail("StreamBroken", { after: 2, deltas: ["Zo", "ne", " a."] })],
    kept: Effect.gen(function* () {
      const { stream } = yield* LLM.LLM
      const seen: Array<LLM.Part> = []
      const error = yield* failing(LLM.collect(stream(wire), (parts) => Effect.sync(() => seen.push(...parts))))
      const text = seen.map((part) => (part._tag === "Text" ? part.delta : "")).join("")
      yield* same("the failure", [error.reason, error.isRetryable, error.outcome], ["StreamBroken", true, "unknown"])
      yield* same("the text so far", text, "Zone")
    })
  },
  {
    name: "can be interrupted while the model is silent",
    replies: [LLM.say("late", { delay: "1 hour" })],
    kept: Effect.gen(function* () {
      const { stream } = yield* LLM.LLM
      const fiber = yield* Effect.fork(LLM.collect(stream(wire)))
      yield* Effect.yieldNow()
      yield* same("that it was interrupted", Exit.isInterrupted(yield* Fiber.interrupt(fiber)), true)
    })
  }
]

/** The cases for one layer. Each builds the layer anew. */
export const cases = <E>({ layer }: Harness<E>): ReadonlyArray<Case<E>> =>
  promises.map(({ kept, name, replies }) => ({ name, effect: Effect.provide(kept, layer(replies)) }))
