import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as Call from "../../src/kernel/Call.ts"
import * as Event from "../../src/kernel/Event.ts"
import * as Refusal from "../../src/kernel/Refusal.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Script from "./Script.ts"

const { call, called, replied, settled, started } = Script
const tools = [
  Script.tool("look"),
  Script.tool("note", "idempotent"),
  Script.tool("ask", "reconcile"),
  Script.tool("pay", "never")
]

const offered: ReadonlyArray<Event.Event> = [
  ...tools,
  { _tag: "PiecesSelected", iteration: 1, activeIds: [], toolNames: tools.map(({ name }) => name) }
]
const asked: Event.ModelCalled = { _tag: "ModelCalled", iteration: 1, wireHash: "h", messagesCount: 1 }

/** What is planned for calls that the model makes, after what has happened to some of them. */
const plan = (
  calls: ReadonlyArray<readonly [toolName: string, args?: string]>,
  happened: ReadonlyArray<Event.Event> = [],
  more: Partial<Event.ModelReplied> = {}
) => {
  const made = calls.map(([toolName, args], index) => call(`c${index}`, toolName, args))
  return Call.plan(Run.fold([started(), ...offered, asked, replied(1, { calls: made, more }), ...happened]), { tools })
}

const brief = (planned: ReadonlyArray<Call.Planned>) =>
  planned.map((one) =>
    one._tag === "Run"
      ? `${one.call.toolCallId} ${one.started ? "again" : "run"} ${one.replay}`
      : `${one.call.toolCallId} ${one.outcome} ${one.refusal.tag}`
  )

const judged = (args: string, more: Partial<Event.ModelReplied> = {}) => {
  const [one] = plan([["look", args]], [], more)
  if (one?._tag === "Run") return one.args
  return one === undefined ? "nothing" : `${one.outcome} ${one.refusal.tag}`
}

describe("Call.plan", () => {
  it("plans nothing when no call is open", () => {
    assert.deepStrictEqual(Call.plan(Run.initial, { tools }), [])
  })

  it("lets reads run together and everything else alone", () => {
    assert.deepStrictEqual(brief(plan([["look"], ["look"], ["pay"], ["look"]])), ["c0 run pure", "c1 run pure"])
    assert.deepStrictEqual(brief(plan([["pay"], ["look"]])), ["c0 run never"])
    assert.deepStrictEqual(brief(plan([["note"], ["note"]])), ["c0 run idempotent"])
    assert.deepStrictEqual(brief(plan([["ask"], ["look"]])), ["c0 run reconcile"])
  })

  it("lets what is refused hold nothing up", () => {
    assert.deepStrictEqual(brief(plan([["no"], ["pay"], ["no"]])), ["c0 refused UnknownTool", "c1 run never"])
    assert.deepStrictEqual(brief(plan([["look"], ["no"], ["look"], ["pay"]])), [
      "c0 run pure",
      "c1 refused UnknownTool",
      "c2 run pure"
    ])
  })

  it("goes on after what is settled", () => {
    assert.deepStrictEqual(brief(plan([["look"], ["pay"]], [settled(1, "c0")])), ["c1 run never"])
  })

  for (const [replay, next] of [
    ["pure", "c0 again pure"],
    ["idempotent", "c0 again idempotent"],
    ["reconcile", "c0 again reconcile"],
    ["never", "c0 unknown ToolOutcomeUnknown"]
  ] as const) {
    it(`decides on a lost call by the class that it was started with: ${replay}`, () => {
      // The tool's own class is another one by now.
      const toolName = replay === "never" ? "look" : "pay"
      assert.deepStrictEqual(brief(plan([[toolName]], [called(1, "c0", { toolName, replay })])), [next])
    })
  }

  it("runs a lost call with the arguments that are on the record", () => {
    const [one] = plan([["look", '{"a":1}']], [called(1, "c0", { args: { a: "recorded" } })])
    assert.deepStrictEqual(one?._tag === "Run" ? one.args : undefined, { a: "recorded" })
  })

  it("settles a lost call that nobody may repeat alone, as it was started", () => {
    assert.deepStrictEqual(brief(plan([["no"], ["pay"], ["look"]], [called(1, "c1", { replay: "never" })])), [
      "c0 refused UnknownTool",
      "c1 unknown ToolOutcomeUnknown"
    ])
  })

  it("names a lost call by its key and the event that sent it, whatever its id is", () => {
    const lost = (id: string): string | undefined => {
      const happened = [started(), asked, replied(1, { calls: [call(id, "pay")] }), called(1, id, { replay: "never" })]
      const [one] = Call.plan(Run.fold(happened), { tools })
      return one?._tag === "Settle" ? one.refusal.where : undefined
    }
    assert.strictEqual(lost("a/1"), 'call "a/1", key ["r",1,"a/1"], sent at event #3')
    assert.notMatch(lost("\u001b[2J\u202e") ?? "", /[\p{Cc}\u202e]/u)
    assert.isAtMost(lost("x".repeat(100_000))?.length ?? Infinity, 1_000)
    assert.notStrictEqual(Call.key("r", 1, "1/a"), Call.key("r/1", 1, "a"))
  })

  it("says at which limit a reply was cut, if the model was sent one", () => {
    const cut = (parameters: Event.Parameters | undefined): string | undefined => {
      const sent = { ...asked, ...(parameters === undefined ? {} : { parameters }) }
      const reply = replied(1, { calls: [call("a", "look", "{")], more: { stopReason: "length" } })
      const [one] = Call.plan(Run.fold([started(), ...offered, sent, reply]), { tools })
      return one?._tag === "Settle" ? one.refusal.expected : undefined
    }
    assert.strictEqual(cut({ maxOutputTokens: 300 }), "a reply of at most 300 tokens (maxOutputTokens)")
    assert.isUndefined(cut({ temperature: 0 }))
    assert.isUndefined(cut(undefined))
  })

  it("refuses a duplicate whatever else is wrong with it", () => {
    const made = [call("a"), call("a", "no", "{")]
    const state = Run.fold([started(), ...offered, asked, replied(1, { calls: made })])
    assert.deepStrictEqual(brief(Call.plan(state, { tools })), ["a run pure", "call-1-1 refused DuplicateCallId"])
  })

  for (const name of [
    "constructor",
    "__proto__",
    "toString",
    "hasOwnProperty",
    "",
    "look ",
    "LOOK",
    "x".repeat(5_000),
    "a\u0000\u001b[31m\u202e\n"
  ]) {
    it(`knows no tool named ${JSON.stringify(name.slice(0, 20))}`, () => {
      const [one] = plan([[name]])
      assert.strictEqual(one?._tag, "Settle")
      if (one?._tag !== "Settle") return
      assert.strictEqual(one.refusal.tag, "UnknownTool")
      assert.notMatch(one.refusal.what, /[\u0000-\u001f\u007f-\u009f\u202e]/)
      assert.isAtMost(one.refusal.what.length, 200)
      assert.include(one.refusal.next, "look, note, ask, pay")
    })
  }

  it("reads one JSON object, and takes nothing at all for an empty one", () => {
    assert.deepStrictEqual(judged('{"a":[1,{"b":null}]}'), { a: [1, { b: null }] })
    assert.deepStrictEqual(judged(""), {})
    assert.deepStrictEqual(judged(" \n\t"), {})
  })

  for (const args of [
    "no",
    "{",
    '{"a":1} {"b":2}',
    "[]",
    "null",
    "7",
    '"text"',
    '{"__proto__":{}}',
    '{"a":{"constructor":1}}',
    '{"a":1,"a":2}',
    '{"a":-0}',
    '{"a":"\\ud800"}',
    '{"a":1e999}',
    `${'{"a":'.repeat(65)}1${"}".repeat(65)}`,
    `{"a":"${"x".repeat(2_000_000)}"}`
  ]) {
    it(`refuses the arguments ${args.slice(0, 24)}, whatever the reason that the reply stopped but its length`, () => {
      assert.strictEqual(judged(args), "refused ArgumentsMalformed")
      assert.strictEqual(judged(args, { stopReason: "tool-calls" }), "refused ArgumentsMalformed")
      assert.strictEqual(judged(args, { stopReason: "length" }), "truncated ReplyTruncated")
    })
  }

  it("runs a whole call of a reply that was cut", () => {
    assert.deepStrictEqual(judged('{"a":1}', { stopReason: "length" }), { a: 1 })
  })

  it("takes nothing at all for a beginning where the reply was cut at its last call", () => {
    for (const args of ["", " ", "{}", "{ } "]) {
      const calls = [["look", args] as const, ["look", args] as const]
      assert.deepStrictEqual(brief(plan(calls, [], { stopReason: "length" })), [
        "c0 run pure",
        "c1 truncated ReplyTruncated"
      ])
      assert.deepStrictEqual(brief(plan(calls)), ["c0 run pure", "c1 run pure"])
    }
  })

  it("does not run a call whose arguments did not come to their end, however whole they look", () => {
    const cut = { ...call("c0", "look", '{"a":1}'), cut: true } as const
    const of = (more: Partial<Event.ModelReplied>) => {
      const [one] = plan([], [], { toolCalls: [cut], ...more })
      return one?._tag === "Settle" ? [one.outcome, one.refusal.what, one.refusal.next] : one?._tag
    }
    assert.deepStrictEqual(of({ stopReason: "stop" }), [
      "truncated",
      'The reply ended inside the arguments of "look"; the call was not run.',
      "Make the call again."
    ])
    assert.deepStrictEqual(of({ stopReason: "length" })?.slice(0, 2), [
      "truncated",
      'The reply reached its token limit inside the arguments of "look"; the call was not run.'
    ])
  })
})

describe("Call.unaffordable", () => {
  it("counts the calls that are about to start with those that did", () => {
    const state = Run.fold([
      started(),
      ...offered,
      asked,
      replied(1, { calls: [call("a"), call("b")] }),
      called(1, "a")
    ])
    assert.isUndefined(Call.unaffordable(state, {}, 100))
    assert.isUndefined(Call.unaffordable(state, { toolCalls: 2 }, 0))
    assert.deepInclude(Call.unaffordable(state, { toolCalls: 2 }, 1), { tag: "BudgetExceeded", found: "2 spent" })
    assert.deepInclude(Call.unaffordable(state, { toolCalls: 0 }, 0), { tag: "BudgetExceeded" })
  })
})

describe("Call.settlement", () => {
  it("is an event that serves its refusal to the model", () => {
    const refusal = Refusal.unknownTool("x", [])
    const event = Call.settlement(3, { _tag: "Settle", call: call("a", "x"), outcome: "refused", refusal })
    assert.isTrue(Schema.is(Event.Event)(event))
    assert.deepInclude(event, { iteration: 3, toolCallId: "a", toolName: "x", outcome: "refused", error: refusal })
    assert.deepInclude(JSON.parse(event.served), { outcome: "refused", reason: "UnknownTool", what: refusal.what })
  })
})
