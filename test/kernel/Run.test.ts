import { assert, describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { readdirSync, readFileSync } from "node:fs"
import * as Event from "../../src/kernel/Event.ts"
import * as Refusal from "../../src/kernel/Refusal.ts"
import * as Run from "../../src/kernel/Run.ts"
import type * as State from "../../src/kernel/State.ts"
import * as Transcript from "../../src/kernel/Transcript.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Either from "effect/Either"
import * as Script from "./Script.ts"

const transcripts = new URL("./transcripts/", import.meta.url).pathname
const readEvent = Schema.decodeUnknownSync(Schema.parseJson(Event.Event))

const Setting = Schema.parseJson(
  Schema.Struct({
    pieces: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Schema.String }), { exact: true }),
    tools: Schema.optionalWith(Schema.Record({ key: Schema.String, value: Event.ReplayClass }), { exact: true }),
    parameters: Schema.optionalWith(Event.Parameters, { exact: true }),
    limits: Schema.optionalWith(Event.Limits, { exact: true }),
    elapsedMs: Schema.optionalWith(Schema.Number, { exact: true }),
    provider: Schema.optionalWith(Schema.String, { exact: true }),
    model: Schema.optionalWith(Schema.String, { exact: true })
  })
)

const readSpec = (text: string): Partial<Run.Spec> => {
  const { pieces, tools, ...rest } = Schema.decodeUnknownSync(Setting)(text)
  return {
    ...rest,
    ...(pieces === undefined ? {} : { pieces: Object.entries(pieces).map(([id, text]) => Script.piece(id, text)) }),
    ...(tools === undefined ? {} : { tools: Object.entries(tools).map(([name, replay]) => Script.tool(name, replay)) })
  }
}

/** A command in which a wire is its pieces by name. */
const show = (command: Run.Command): string => {
  if (command._tag !== "CallModel") return JSON.stringify(command)
  const { iteration, messages, parameters, system, tools } = command.wire
  const ids = (pieces: ReadonlyArray<Wire.Piece>) => pieces.map(({ id }) => id)
  return JSON.stringify({
    _tag: "CallModel",
    wire: { iteration, system: ids(system), messages: ids(messages), tools: ids(tools), parameters }
  })
}

/**
 * Keeps a transcript's comments, its `spec` lines and its `<` events, and writes afresh what is decided after each `?` and
 * what an `abort` comes to. What is decided happens, as in a program.
 */
const replay = (transcript: string): string => {
  let spec = Script.spec()
  let state = Run.initial
  const happen = (events: ReadonlyArray<Event.Event>) => {
    for (const event of events) state = Run.step(state, event)
    return events.map((event) => `> ${JSON.stringify(event)}`)
  }
  const lines = transcript
    .trimEnd()
    .split("\n")
    .filter((line) => !line.startsWith(">"))
  const replayed = lines.flatMap((line) => {
    if (line.startsWith("spec ")) spec = { ...spec, ...readSpec(line.slice(5)) }
    if (line.startsWith("< ")) happen([readEvent(line.slice(2))])
    if (line.startsWith("abort ")) {
      return [line, ...happen(Run.abort(state, Refusal.interrupted, Number(line.slice(6))))]
    }
    if (line !== "?") return line
    const { command, events } = Run.decide(spec, state)
    return [line, ...happen(events), `> ${show(command)}`]
  })
  assert.deepStrictEqual(state.violations, [])
  return `${replayed.join("\n")}\n`
}

describe("Run.decide", () => {
  // If one of these fails, run `vitest -u` and read the diff. Commit it only if you can say why it changed.
  for (const file of readdirSync(transcripts).filter((file) => file.startsWith("run-"))) {
    it(file.replace(/^run-|\.txt$/g, "").replaceAll("-", " "), () =>
      expect(replay(readFileSync(transcripts + file, "utf8"))).toMatchFileSnapshot(transcripts + file)
    )
  }
})

const args = FastCheck.constantFrom("{}", "", '{"a":1}', "[]", "no", '{"__proto__":1}', "{")
const calls = FastCheck.array(
  FastCheck.record({
    toolCallId: FastCheck.constantFrom("a", "b", "c", ""),
    toolName: FastCheck.constantFrom("look", "note", "pay", "constructor", ""),
    args
  }),
  { maxLength: 5 }
)
const usage = FastCheck.constantFrom({}, { inputTokens: 3 }, { inputTokens: 1, outputTokens: 40 })
const replies: FastCheck.Arbitrary<Script.Reply> = FastCheck.record({
  content: FastCheck.string({ unit: "binary" }).map((text) => text.replace(/\p{Surrogate}/gu, "")),
  calls,
  more: FastCheck.record({ usage, stopReason: FastCheck.constantFrom("stop", "length", "tool-calls") })
})
const outcomes = FastCheck.constantFrom<Event.ToolSettled["outcome"]>("ran-ok", "ran-error", "absent", "unknown")

const tools = [Script.tool("look"), Script.tool("note", "idempotent"), Script.tool("pay", "never")]

/** What an agent may be in one pass or another. */
const agents: ReadonlyArray<Partial<Run.Spec>> = [
  { pieces: [Script.piece("one", "1"), Script.piece("two", "2")], tools, parameters: { temperature: 0 } },
  { pieces: [Script.piece("one", "1")], tools: tools.slice(1), parameters: {}, model: "m" },
  { pieces: [Script.piece("two", "2"), Script.piece("one", "another")], tools: [], parameters: { seed: 1 } }
]

/** Runs with random replies and outcomes, under all limits, of an agent that may change with each pass. */
const runs = FastCheck.record({
  passes: FastCheck.integer({ min: 1, max: 6 }),
  tokens: FastCheck.option(FastCheck.integer({ min: 0, max: 200 }), { nil: undefined }),
  agents: FastCheck.array(FastCheck.constantFrom(...agents), { minLength: 1, maxLength: 6 }),
  replies: FastCheck.infiniteStream(replies),
  outcomes: FastCheck.infiniteStream(outcomes)
}).map(({ agents, outcomes, passes, replies, tokens }) => {
  const limits = { passes, ...(tokens === undefined ? {} : { tokens }) }
  const specOf = ({ iteration }: State.State) => Script.spec({ ...agents[iteration % agents.length], limits })
  const played = Script.play(
    specOf,
    () => replies.next().value,
    () => ({ outcome: outcomes.next().value })
  )
  return { limits, specOf, played }
})

interface Ran {
  readonly limits: Event.Limits
  readonly specOf: (state: State.State) => Run.Spec
  readonly played: Script.Played
}

const each = (check: (run: Ran) => void) => FastCheck.assert(FastCheck.property(runs, check))

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe("Run, whatever the model says,", () => {
  it("ends within its limits, and ends once", () => {
    each(({ limits, played: { events, state } }) => {
      assert.isAtMost(state.spent.passes, limits.passes ?? 0)
      assert.strictEqual(events.filter(({ _tag }) => _tag === "RunEnded").length, 1)
      assert.strictEqual(events.at(-1)?._tag, "RunEnded")
      assert.isDefined(state.ended)
    })
  })

  it("breaks no law of its own", () => {
    each(({ played: { events, state } }) => {
      assert.deepStrictEqual(state.violations, [])
      for (const event of events) assert.isTrue(Schema.is(Event.Event)(event))
    })
  })

  it("sends only conversations in which each call has its one settlement", () => {
    each(({ played: { sent } }) => {
      for (const { messages } of sent) {
        const made = Transcript.make(messages.map(({ message }) => message))
        assert.isTrue(Either.isRight(made) && made.right.open === undefined)
      }
    })
  })

  it("names each wire by the hash that its content has", () => {
    each(({ played: { events, sent, state } }) => {
      const hashes = events.flatMap((event) => (event._tag === "ModelCalled" ? [event.wireHash] : []))
      assert.deepStrictEqual(hashes, sent.map(Wire.hash))
      assert.deepStrictEqual(
        state.marks.map(({ projectedHash }) => projectedHash),
        hashes
      )
      assert.deepStrictEqual(
        state.marks.map(({ recordedHash }) => recordedHash),
        hashes
      )
    })
  })

  it("projects the wire of each pass again from its last state, byte for byte", () => {
    each(({ played: { sent, state } }) => {
      for (const wire of sent) {
        assert.strictEqual(JSON.stringify(Wire.project(state, wire.iteration)), JSON.stringify(wire))
        assert.isUndefined(Wire.diff(Wire.project(state, wire.iteration), wire))
      }
    })
  })

  it("has a state that is plain data", () => {
    each(({ played: { states } }) => {
      for (const state of states) {
        assert.deepStrictEqual(structuredClone(state), state)
        assert.deepStrictEqual(json(state), state)
      }
    })
  })

  it("decides the same on a state that was stored and read back", () => {
    each(({ played: { states }, specOf }) => {
      for (const state of states) {
        const spec = specOf(state)
        const { events } = Run.decide(spec, state)
        const stored: State.State = structuredClone(state)
        assert.deepStrictEqual(Run.decide(spec, stored).command, Run.decide(spec, state).command)
        // A selection is compared by identity when it is written: a copy only says its sizes once more.
        assert.strictEqual(Run.decide(spec, stored).events.length, events.length)
      }
    })
  })

  it("gives each piece an id that no other piece of its wire has", () => {
    each(({ played: { sent } }) => {
      for (const { messages, system, tools } of sent) {
        const ids = [...system, ...messages, ...tools].map(({ id }) => id)
        assert.strictEqual(new Set(ids).size, ids.length)
      }
    })
  })

  it("can be stopped after any event, with every call settled and one end", () => {
    each(({ played: { states } }) => {
      for (const state of states) {
        const events = Run.abort(state, Refusal.interrupted, 1)
        const stopped = events.reduce(Run.step, state)
        assert.deepStrictEqual(stopped.violations, [])
        assert.isDefined(stopped.ended)
        assert.isUndefined(stopped.transcript.open)
        assert.deepStrictEqual(Run.abort(stopped, Refusal.interrupted, 1), [])
      }
    })
  })
})

describe("Run.step", () => {
  it("reads well both ways", () => {
    const event = Script.started()
    assert.deepStrictEqual(Run.step(event)(Run.initial), Run.step(Run.initial, event))
    assert.deepStrictEqual(Run.fold([event]), Run.step(Run.initial, event))
  })
})

describe("Run.abort", () => {
  it("does nothing to a run that has not started, or has ended", () => {
    assert.deepStrictEqual(Run.abort(Run.initial, Refusal.interrupted, 0), [])
    const ended = Script.play(Script.spec(), () => ({ content: "Done." })).state
    assert.deepStrictEqual(Run.abort(ended, Refusal.interrupted, 0), [])
  })

  it("keeps what finished calls came to, and aborts the others", () => {
    const state = Run.fold([
      Script.started(),
      { _tag: "ModelCalled", iteration: 1, wireHash: "h", messagesCount: 1 },
      Script.replied(1, { calls: [Script.call("a"), Script.call("b"), Script.call("c")] }),
      Script.called(1, "a"),
      Script.called(1, "b"),
      Script.settled(1, "a")
    ])
    const finished = new Map([["b", [Script.settled(1, "b")]]])
    const events = Run.abort(state, Refusal.interrupted, 7, finished)
    assert.deepStrictEqual(
      events.map((event) => (event._tag === "ToolSettled" ? [event.toolCallId, event.outcome] : event._tag)),
      [["b", "ran-ok"], ["c", "aborted"], "RunEnded"]
    )
    assert.deepInclude(events.at(-1), { status: "stopped", reason: Refusal.interrupted, durationMs: 7, passes: 1 })
    const [, aborted] = Run.abort(state, Refusal.interrupted, 7)
    assert.strictEqual(aborted?._tag === "ToolSettled" ? aborted.error?.outcome : undefined, "not-applied")
    const [running] = Run.abort(state, Refusal.interrupted, 7)
    assert.strictEqual(running?._tag === "ToolSettled" ? running.error?.outcome : undefined, "unknown")
  })
})
