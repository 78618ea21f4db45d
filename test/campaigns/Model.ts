/**
 * The `Model` of a simulated world: it calls tools for some passes and then answers, and does on the way all that models and
 * their providers do wrong.
 */
import { Effect, Stream } from "effect"
import { LLM, type Usage, type Wire } from "../../src/index.ts"
import type * as Dice from "./Dice.ts"
import type * as Faults from "./Faults.ts"
import type * as Machine from "./Machine.ts"
import type * as Story from "./Story.ts"
import type * as World from "./World.ts"

interface Call {
  readonly toolCallId: string
  readonly toolName: string
  readonly args: string
  readonly cut?: true
}

type Step =
  | { readonly _tag: "Parts"; readonly afterMs: number; readonly parts: ReadonlyArray<LLM.Part> }
  | { readonly _tag: "Fail"; readonly error: LLM.LLMError }
  | { readonly _tag: "Die" }
  | { readonly _tag: "Hang" }

export const odd = "a\u0000b \ud800 \udc00 \u202edesrever\u202c \u{e0041}\u{e007f} \u2028\u001b[31m"

/** What the model wants of a world. */
export interface Plan {
  /** After so many passes it answers. */
  readonly passes: number
  readonly tools: readonly [string, ...ReadonlyArray<string>]
  /** Whether a model that never answers is stopped by a limit. */
  readonly canHang: boolean
}

type Asked = Extract<Story.Happening, { what: "asked" }>["messages"]

const messagesOf = (wire: Wire.Wire): Asked =>
  wire.messages.flatMap(({ message }): Asked => {
    if (message.role === "tool") return [{ toolCallId: message.toolCallId, content: message.content }]
    return message.role === "assistant" ? [{ calls: message.toolCalls.map(({ toolCallId }) => toolCallId) }] : []
  })

const argsOf = (dice: Dice.Dice, toolName: string): object => ({
  to: dice.pick(["ann", "bob", "eve"]),
  n: toolName === "look" ? dice.int(1, 3) : dice.int(1, 99)
})

const callsOf = (faults: Faults.Faults, dice: Dice.Dice, plan: Plan, iteration: number): ReadonlyArray<Call> => {
  const hit = faults.hit
  const many = hit("model.parallel") ? dice.pick([5, 12, 40]) : dice.pick([1, 1, 1, 2, 3])
  const calls: Array<Call> = []
  for (let k = 0; k < many; k++) {
    const same = hit("model.same-call")
    const toolName = same
      ? "look"
      : hit("model.unknown-tool")
        ? dice.pick(["lookup", "", "LOOK", "look ", odd])
        : hit("model.prototype-name")
          ? dice.pick(["__proto__", "constructor", "toString", "hasOwnProperty", "prototype"])
          : dice.pick(plan.tools)
    const args = same ? { to: "ann", n: 1 } : argsOf(dice, toolName)
    const text = hit("model.bad-json")
      ? dice.pick(["{", '{"to":', "[1,2", "null", '"x"', "{'to':1}", "NaN", "{}{}", '{"to":"a","to":"b"}'])
      : hit("model.wrong-types")
        ? dice.pick(['{"to":1,"n":"x"}', "{}", '{"to":[],"n":{}}', '{"to":null,"n":null}', '{"to":"a","n":1.5}'])
        : hit("model.reserved-key")
          ? `{"to":"a","n":1,"__proto__":{"isAdmin":true}}`
          : hit("model.deep-args")
            ? `{"to":"a","n":${"[".repeat(200)}${"]".repeat(200)}}`
            : JSON.stringify(args)
    const before = calls[0]?.toolCallId
    const toolCallId =
      before !== undefined && hit("model.duplicate-id")
        ? before
        : iteration > 1 && hit("model.reused-id")
          ? "c1-0"
          : hit("model.no-id")
            ? ""
            : hit("model.odd-characters")
              ? `${odd}${iteration}-${k}`
              : `c${iteration}-${k}`
    calls.push({ toolCallId, toolName, args: text })
  }
  return calls
}

const usageOf = (faults: Faults.Faults, dice: Dice.Dice): Usage.Usage | undefined => {
  if (faults.hit("model.no-usage")) return undefined
  if (faults.hit("model.negative-usage")) return { inputTokens: -5, outputTokens: 7 }
  if (faults.hit("model.fractional-usage")) return { inputTokens: 5.5, outputTokens: Number.NaN }
  if (faults.hit("model.huge-usage")) return { inputTokens: Number.MAX_SAFE_INTEGER, outputTokens: 2 ** 53 }
  return { inputTokens: dice.int(10, 60), outputTokens: dice.int(1, 30) }
}

const deltasOf = (text: string, isSlow: boolean): ReadonlyArray<LLM.Part> =>
  (isSlow ? Array.from(text) : [text]).map((delta) => ({ _tag: "Text", delta }))

const stepsOf = (faults: Faults.Faults, dice: Dice.Dice, plan: Plan, wire: Wire.Wire): ReadonlyArray<Step> => {
  const { hit } = faults
  const { iteration } = wire
  const delay = hit("model.slow") ? dice.int(2_000, 9_000) : dice.int(1, 40)
  const fail = (reason: LLM.Reason, retry?: { readonly afterMs: number }): ReadonlyArray<Step> => [
    {
      _tag: "Fail",
      error: LLM.failure(reason, { what: "The provider did not answer.", ...(retry === undefined ? {} : { retry }) })
    }
  ]
  if (plan.canHang && hit("model.hang")) return [{ _tag: "Hang" }]
  if (hit("model.defect")) return [{ _tag: "Die" }]
  if (hit("model.timeout")) return fail("Timeout")
  if (hit("model.limited")) return fail("Limited")
  if (hit("model.limited-until")) return fail("Limited", { afterMs: dice.int(100, 20_000) })
  if (hit("model.unavailable")) return fail("Unavailable")
  const isAnswer = iteration > plan.passes
  const calls = isAnswer ? [] : callsOf(faults, dice, plan, iteration)
  const text = hit("model.huge-text")
    ? "lorem ".repeat(20_000)
    : hit("model.odd-characters")
      ? odd
      : isAnswer
        ? `All is done after ${iteration} passes.`
        : dice.pick(["", "I look.", "Now this."])
  const isEmpty = hit("model.empty")
  const isCut = !isEmpty && calls.length > 0 && hit("model.truncated-call")
  const isLong = !isCut && isAnswer && hit("model.truncated-text")
  const texts = deltasOf(isEmpty ? "" : text, hit("model.character-at-a-time") && text.length < 200)
  const parts: ReadonlyArray<LLM.Part> = isEmpty
    ? []
    : calls.map((call, index) => ({
        _tag: "ToolCall",
        ...call,
        ...(isCut && index === calls.length - 1 ? { args: call.args.slice(0, -2), cut: true } : {})
      }))
  const usage = usageOf(faults, dice)
  const stopReason = isCut || isLong ? "length" : parts.length > 0 ? "tool-calls" : "stop"
  const finish: LLM.Part = { _tag: "Finish", stopReason, usage: usage ?? {} }
  const begin: Step = { _tag: "Parts", afterMs: delay, parts: texts }
  if (hit("model.cut")) return [begin, ...fail("StreamBroken")]
  if (hit("model.error-inside")) return [begin, { _tag: "Parts", afterMs: 1, parts }, ...fail("Protocol")]
  const end: Step = {
    _tag: "Parts",
    afterMs: dice.int(0, 5),
    parts: [...parts, ...(hit("model.no-finish") ? [] : [finish])]
  }
  return hit("model.late-parts")
    ? [begin, end, { _tag: "Parts", afterMs: 0, parts: [{ _tag: "Text", delta: "more" }] }]
    : [begin, end]
}

/** What a defect says that was planted. */
export const planted = "the planted defect of a model"

/** The model as a process reaches it. */
export const make = (
  world: World.World,
  process: Machine.Process,
  runId: string,
  plan: Plan
): typeof LLM.LLM.Service => ({
  model: { provider: "sim", id: "sim-1" },
  stream: (wire) =>
    Stream.suspend(() => {
      const { dice, faults, tell } = world
      world.loading.delete(process)
      tell({
        what: "asked",
        process: process.name,
        runId,
        iteration: wire.iteration,
        hash: wire.messages.at(-1)?.hash ?? "",
        messages: messagesOf(wire)
      })
      const own = dice.of(`model ${runId} ${world.lines.length}`)
      const steps = stepsOf(faults, own, plan, wire)
      return Stream.flatMap(Stream.fromIterable(steps), (step): Stream.Stream<LLM.Part, LLM.LLMError> => {
        switch (step._tag) {
          case "Parts":
            return Stream.unwrap(Effect.as(Effect.sleep(step.afterMs), Stream.fromIterable(step.parts)))
          case "Fail":
            return Stream.unwrap(Effect.as(Effect.sleep(20), Stream.fail(step.error)))
          case "Die":
            return Stream.die(planted)
          case "Hang":
            return Stream.fromEffect(Effect.async<never>(() => {}))
        }
      })
    })
})
