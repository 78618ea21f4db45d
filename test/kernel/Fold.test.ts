import { assert, describe, it, vi } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import type * as Event from "../../src/kernel/Event.ts"
import * as Refusal from "../../src/kernel/Refusal.ts"
import * as Usage from "../../src/kernel/Usage.ts"
import * as Run from "../../src/kernel/Run.ts"
import type * as State from "../../src/kernel/State.ts"
import * as Script from "./Script.ts"

const asked = (iteration: number, more: Partial<Event.ModelCalled> = {}): Event.ModelCalled => ({
  _tag: "ModelCalled",
  iteration,
  wireHash: "h",
  messagesCount: 1,
  ...more
})
const ended: Event.RunEnded = { _tag: "RunEnded", status: "stopped", usage: {}, passes: 0 }
const received: Event.MessageReceived = { _tag: "MessageReceived", content: "More." }
const selected = (activeIds: ReadonlyArray<string>, toolNames: ReadonlyArray<string> = []): Event.PiecesSelected => ({
  _tag: "PiecesSelected",
  iteration: 1,
  activeIds,
  toolNames
})
const carried = (message: Event.MessageCarried["message"], seq = 0): Event.MessageCarried => ({
  _tag: "MessageCarried",
  from: { runId: "q", seq },
  message
})
const { call, called, replied, settled, started } = Script
const failed = (iteration: number): Event.ModelFailed => ({
  _tag: "ModelFailed",
  iteration,
  reason: "Timeout",
  problem: { code: "c", what: "w", next: "n", outcome: "unknown", retry: "never" }
})

const open = [started(), asked(1), replied(1, { calls: [call("a"), call("b")] })]

/** Each law, and the shortest record that breaks it: the last event does. */
const broken: ReadonlyArray<readonly [law: RegExp, events: ReadonlyArray<Event.Event>]> = [
  [/starts with RunStarted/, [asked(1)]],
  [/starts once/, [started(), started()]],
  [/follows the terminal event/, [started(), ended, received]],
  [/follows the terminal event/, [started(), ended, ended]],
  [/said while calls are open/, [...open, received]],
  [/has the hash it names/, [started(), { ...Script.piece("p", "text"), hash: "other" }]],
  [/tool has the hash it names/, [started(), { ...Script.tool("t"), hash: "other" }]],
  [/declared can be selected/, [started(), selected(["p"])]],
  [/declared can be selected/, [started(), selected([], ["t"])]],
  [/counted from 1/, [started(), asked(2)]],
  [/counted from 1/, [started(), asked(1), replied(1, {}), asked(1)]],
  [/No pass starts while calls are open/, [...open, asked(2)]],
  [/answers the pass/, [started(), replied(1, {})]],
  [/answers the pass/, [started(), asked(1), replied(2, {})]],
  [/answers the pass/, [started(), asked(1), replied(1, {}), replied(1, {})]],
  [/when no call is open/, [...open, replied(1, {})]],
  [/what the last reply said/, [started(), { _tag: "Answered", iteration: 1, content: "x" }]],
  [
    /what the last reply said/,
    [started(), asked(1), replied(1, {}), { _tag: "Answered", iteration: 1, content: "other" }]
  ],
  [/what the last reply said/, [started(), asked(1), replied(1, {}), { _tag: "Answered", iteration: 2, content: "" }]],
  [/ends the pass/, [started(), failed(1)]],
  [/ends the pass/, [started(), asked(1), failed(2)]],
  [/call of the open reply/, [started(), called(1, "a")]],
  [/call of the open reply/, [...open, called(1, "c")]],
  [/call of the open reply/, [...open, settled(1, "a"), called(1, "a")]],
  [/started once/, [...open, called(1, "a"), called(1, "a")]],
  [/exactly one settlement/, [started(), settled(1, "a")]],
  [/exactly one settlement/, [...open, settled(1, "b")]],
  [/exactly one settlement/, [...open, settled(1, "a"), settled(1, "a")]],
  [
    /continue the conversation/,
    [started(), carried({ role: "tool", toolCallId: "a", toolName: "t", outcome: "ran-ok", content: "" })]
  ],
  [/every call settled/, [...open, ended]]
]

describe("Fold.step", () => {
  for (const [law, events] of broken) {
    it(`keeps a breach of "${law.source}" by ${events.at(-1)?._tag} as a violation`, () => {
      assert.deepStrictEqual(Run.fold(events.slice(0, -1)).violations, [])
      const { seq, violations } = Run.fold(events)
      assert.strictEqual(seq, events.length)
      assert.deepStrictEqual(
        violations.map(({ seq }) => seq),
        [events.length - 1]
      )
      assert.match(violations[0]?.law ?? "", law)
    })
  }

  it("gives every piece of the conversation its origin and its cause", () => {
    const { messages } = Run.fold([
      started("Look.", { followUpOf: "q" }),
      carried({ role: "user", content: "Before." }, 3),
      carried({ role: "assistant", content: "", toolCalls: [call("z")] }),
      carried({ role: "tool", toolCallId: "z", toolName: "look", outcome: "denied", content: "no" }),
      received,
      asked(1),
      replied(1, { calls: [call("a"), call("b"), call("c")] }),
      called(1, "a"),
      settled(1, "a"),
      settled(1, "b", { outcome: "refused" }),
      called(1, "c"),
      settled(1, "c", { outcome: "ran-error" }),
      asked(2),
      replied(2, { content: "Done." })
    ])
    assert.deepStrictEqual(
      messages.map(({ cause, from, id, origin, seq }) => [id, origin, seq, `${cause.by} ${cause.seq}`, from?.seq]),
      [
        ["carried:1", "person", 1, "carried 1", 3],
        ["carried:2", "model", 2, "carried 2", 0],
        ["carried:3", "runtime", 3, "carried 3", 0],
        ["message:4", "person", 4, "received 4", undefined],
        ["reply:6", "model", 6, "replied 5", undefined],
        ["result:8", "tool", 8, "called 7", undefined],
        ["result:9", "runtime", 9, "called 6", undefined],
        ["result:11", "tool", 11, "called 10", undefined],
        ["reply:13", "model", 13, "replied 12", undefined]
      ]
    )
  })

  it("names the event that selected a text and the one that declared it", () => {
    const { selection } = Run.fold([started(), Script.piece("p", "1"), Script.tool("t"), selected(["p"], ["t"])])
    assert.deepInclude(selection.system[0], { id: "p", seq: 1, origin: "app", cause: { by: "selected", seq: 3 } })
    assert.deepInclude(selection.tools[0], { id: "tool:t", seq: 2, origin: "app", cause: { by: "selected", seq: 3 } })
  })

  it("lets an open call be no part of the conversation until all its siblings are settled", () => {
    const before = Run.fold([...open, settled(1, "a")])
    assert.lengthOf(before.messages, 1)
    const after = Run.step(before, settled(1, "b"))
    assert.deepStrictEqual(
      after.messages.map(({ message }) => message.role),
      ["user", "assistant", "tool", "tool"]
    )
    assert.deepStrictEqual(after.transcript, { units: [] })
  })

  it("counts what is spent", () => {
    const { spent } = Run.fold([
      ...open,
      called(1, "a"),
      settled(1, "a"),
      settled(1, "b", { outcome: "refused" }),
      asked(2),
      replied(2, { more: { usage: { inputTokens: 2 } } }),
      asked(3),
      replied(3, { more: { usage: { reasoningTokens: 9 } } }),
      asked(4),
      { _tag: "ModelFailed", iteration: 4, reason: "r", problem: Refusal.interrupted, usage: { inputTokens: 5 } }
    ])
    // A reply that reports no count that can be added up is not metered.
    assert.deepStrictEqual(spent, {
      passes: 4,
      toolCalls: 1,
      usage: { inputTokens: 7, reasoningTokens: 9 },
      unmetered: 2,
      children: 0,
      asked: {},
      // What the first reply took was not told at all.
      models: [{ usage: { inputTokens: 7, reasoningTokens: 9, unknown: { ...Usage.unknown("unreported").unknown } } }]
    })
  })

  it("remembers the calls that only a person can find out about", () => {
    const reason = Refusal.toolOutcomeUnknown("look", { toolCallId: "a", key: "k" }, "was lost")
    const { lost } = Run.fold([...open, settled(1, "a", { outcome: "unknown", error: reason }), settled(1, "b")])
    assert.deepStrictEqual(lost, [{ kind: "unknown", iteration: 1, toolCallId: "a", toolName: "look", reason }])
  })

  it("remembers that a call could not be afforded, and nothing else that was refused", () => {
    const refusal = (error: Refusal.Refusal) =>
      Run.fold([...open, settled(1, "a", { outcome: "refused", error })]).exhausted
    assert.isUndefined(refusal(Refusal.unknownTool("a", [])))
    const budget = Refusal.budgetExceeded("toolCalls", 1, 1)
    assert.deepStrictEqual(refusal(budget), budget)
  })

  it("takes what a pass does not say from the pass before", () => {
    const { marks } = Run.fold([
      started(),
      asked(1, { provider: "p", model: "m", parameters: { seed: 1 } }),
      replied(1, {}),
      asked(2),
      replied(2, {}),
      asked(3, { model: "n", parameters: {} })
    ])
    assert.deepStrictEqual(
      marks.map(({ messages, model, parameters, provider, seq }) => ({ messages, model, parameters, provider, seq })),
      [
        { messages: 1, model: "m", parameters: { seed: 1 }, provider: "p", seq: 1 },
        { messages: 2, model: "m", parameters: { seed: 1 }, provider: "p", seq: 3 },
        { messages: 3, model: "n", parameters: {}, provider: "p", seq: 5 }
      ]
    )
  })

  it("shows a record whose wire is not the one that it names", () => {
    const [mark] = Run.fold([started(), asked(1, { wireHash: "another" })]).marks
    assert.strictEqual(mark?.recordedHash, "another")
    assert.notStrictEqual(mark?.projectedHash, "another")
  })

  it("hears nothing in an input that is empty", () => {
    assert.deepStrictEqual(Run.fold([started("")]).messages, [])
    assert.lengthOf(Run.fold([started(" ")]).messages, 1)
  })
})

const id = FastCheck.constantFrom("a", "b", "c")
const iteration = FastCheck.integer({ min: 1, max: 4 })
const outcome = FastCheck.constantFrom<Event.ToolSettled["outcome"]>("ran-ok", "unknown", "refused", "aborted")
const toolCalls = FastCheck.array(
  id.map((toolCallId) => call(toolCallId)),
  { maxLength: 3 }
)
const message: FastCheck.Arbitrary<Event.MessageCarried["message"]> = FastCheck.oneof(
  FastCheck.constant({ role: "user", content: "u" } as const),
  toolCalls.map((toolCalls) => ({ role: "assistant", content: "", toolCalls }) as const),
  FastCheck.tuple(id, outcome).map(
    ([toolCallId, outcome]) => ({ role: "tool", toolCallId, toolName: "t", outcome, content: "" }) as const
  )
)
const error = FastCheck.constantFrom(Refusal.interrupted, Refusal.budgetExceeded("toolCalls", 1, 1))

/** Events with few names, so that they often fit to each other, and as often do not. */
const event: FastCheck.Arbitrary<Event.Event> = FastCheck.oneof(
  FastCheck.constantFrom(started(), started("", { followUpOf: "q" }), received),
  message.map((message) => carried(message)),
  FastCheck.tuple(id, FastCheck.constantFrom("1", "2")).map(([id, text]) => Script.piece(id, text)),
  id.map((id) => ({ ...Script.piece(id, "1"), hash: "other" })),
  id.map((id) => Script.tool(id)),
  id.map((id) => ({ ...Script.tool(id), hash: "other" })),
  FastCheck.tuple(FastCheck.array(id), FastCheck.array(id)).map(([ids, names]) => selected(ids, names)),
  { arbitrary: iteration.map((iteration) => asked(iteration)), weight: 3 },
  {
    arbitrary: FastCheck.tuple(iteration, toolCalls).map(([iteration, calls]) => replied(iteration, { calls })),
    weight: 3
  },
  iteration.map(
    (iteration) => ({ _tag: "ModelFailed", iteration, reason: "r", problem: Refusal.interrupted }) as const
  ),
  FastCheck.tuple(iteration, id).map(([iteration, id]) => called(iteration, id)),
  {
    arbitrary: FastCheck.tuple(iteration, id, outcome, FastCheck.option(error, { nil: undefined })).map(
      ([iteration, id, outcome, error]) =>
        settled(iteration, id, { outcome, ...(error === undefined ? {} : { error }) })
    ),
    weight: 3
  },
  iteration.map((iteration) => ({ _tag: "Answered", iteration, content: "" }) as const),
  { arbitrary: FastCheck.constant(ended), weight: 0 }
)
const history = FastCheck.tuple(
  FastCheck.boolean(),
  FastCheck.array(event, { maxLength: 60 }),
  FastCheck.constantFrom([], [ended])
).map(([begun, events, end]): ReadonlyArray<Event.Event> => [...(begun ? [started()] : []), ...events, ...end])

const specs = Script.spec({ tools: [Script.tool("look")], pieces: [Script.piece("a", "1")], limits: { passes: 9 } })

describe("Fold, whatever happened,", () => {
  it("is total, counts each event, and leaves a state that can be decided on and stored", () => {
    FastCheck.assert(
      FastCheck.property(history, (events) => {
        let state = Run.initial
        for (const event of events) {
          const before = state
          state = Run.step(before, event)
          assert.strictEqual(state.seq, before.seq + 1)
          assert.isAtMost(state.violations.length, before.violations.length + 1)
          Run.decide(specs, state)
          Run.abort(state, Refusal.interrupted, 0)
        }
        assert.deepStrictEqual(JSON.parse(JSON.stringify(state)), state)
      }),
      { numRuns: 300 }
    )
  })

  it("never changes a state that it was given", () => {
    const freeze = <A>(value: A): A => {
      if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
        Object.freeze(value)
        Object.values(value).forEach(freeze)
      }
      return value
    }
    FastCheck.assert(
      FastCheck.property(history, (events) => {
        events.reduce<State.State>((state, event) => freeze(Run.step(state, event)), freeze(Run.initial))
      })
    )
  })
})

describe("The cost of an event", () => {
  /** How many characters are hashed while a run of some passes is folded, event by event. */
  const hashed = (passes: number): ReadonlyArray<number> => {
    const { events } = Script.play(
      Script.spec({
        tools: [Script.tool("look")],
        pieces: [Script.piece("p", "x".repeat(1_000))],
        limits: { passes }
      }),
      () => ({ calls: [call("a", "look", '{"of":"the same size"}')] })
    )
    const encode = vi.spyOn(TextEncoder.prototype, "encode")
    try {
      let state = Run.initial
      return events.map((event) => {
        encode.mockClear()
        state = Run.step(state, event)
        return encode.mock.calls.reduce((sum, [text]) => sum + (text?.length ?? 0), 0)
      })
    } finally {
      encode.mockRestore()
    }
  }

  it("does not grow with the run: the last pass hashes what the second did", () => {
    const costs = hashed(200)
    // A pass is four events; the run's end is one.
    const second = costs.slice(costs.length - 1 - 199 * 4, costs.length - 1 - 198 * 4)
    assert.deepStrictEqual(costs.slice(-5, -1), second)
    assert.isAbove(Math.max(...second), 0)
  })

  it("leaves what was said before as it is, the same object", () => {
    const { states } = Script.play(Script.spec({ tools: [Script.tool("look")], limits: { passes: 20 } }), () => ({
      calls: [call("a")]
    }))
    states.reduce((before, after) => {
      before.messages.forEach((piece, index) => assert.strictEqual(after.messages[index], piece))
      before.marks.forEach((mark, index) => assert.strictEqual(after.marks[index], mark))
      assert.isAtMost(after.transcript.units.length, 1, "the conversation is kept once")
      return after
    })
  })
})
