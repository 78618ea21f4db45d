import { assert, describe, it } from "@effect/vitest"
import { Chunk, Effect, Either, Exit, FastCheck, Layer, Schema, Stream } from "effect"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Import from "../../src/programs/Import.ts"
import * as Record from "../../src/services/Record.ts"
import * as Mortal from "./Mortal.ts"

const system = (content: unknown) => ({ role: "system", content })
const user = (content: unknown) => ({ role: "user", content })
const say = (content: unknown) => ({ role: "assistant", content })
const called = (...calls: ReadonlyArray<readonly [id: string | undefined, name: string, args: string]>) => ({
  role: "assistant",
  content: null,
  tool_calls: calls.map(([id, name, args]) => ({ id, type: "function", function: { name, arguments: args } }))
})
const result = (tool_call_id: string | undefined, content: unknown) => ({ role: "tool", tool_call_id, content })

const read = (json: unknown, options?: Import.Options) =>
  Effect.runSync(Effect.either(Import.openAiChat(json, options)))

/** What is true of every import: its events are events, they fold without a violation, and each wire is the one named. */
const sound = (events: ReadonlyArray<Event.Event>) => {
  const state = Run.fold(events)
  assert.deepStrictEqual(state.violations, [])
  for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(recordedHash, projectedHash)
  assert.isTrue(events.every(Schema.is(Event.Event)))
  assert.strictEqual(events.filter(({ _tag }) => _tag === "RunEnded").length, 1)
  assert.strictEqual(events.at(-1)?._tag, "RunEnded")
  assert.isUndefined(state.transcript.open)
  return state
}

const imported = (json: unknown, options?: Import.Options) => {
  const events = Either.getOrThrow(read(json, options))
  return { events, state: sound(events) }
}

const refused = (json: unknown): Import.ImportError => {
  const error = read(json)
  assert.isTrue(Either.isLeft(error), "should be refused")
  return Either.getOrThrow(Either.flip(error))
}

/** An event in a few words. */
const brief = (event: Event.Event): string => {
  switch (event._tag) {
    case "RunStarted":
      return `started ${event.input}`
    case "MessageReceived":
      return `received ${event.content}`
    case "PieceDeclared":
      return `piece ${event.id}`
    case "ToolDeclared":
      return `tool ${event.name}`
    case "PiecesSelected":
      return `selected ${event.activeIds.join()} ${event.toolNames.join()}`
    case "ModelCalled":
      return `asked ${event.iteration}`
    case "ModelReplied":
      return `replied ${event.content}${event.toolCalls.map(({ toolCallId }) => ` ${toolCallId}`).join("")}`
    case "ToolCalled":
      return `called ${event.toolCallId}`
    case "ToolSettled":
      return `settled ${event.toolCallId} ${event.outcome} ${event.outcome === "ran-ok" ? event.served : ""}`.trimEnd()
    case "Answered":
      return `answered ${event.content}`
    case "RunEnded":
      return `ended ${event.status}${event.reason === undefined ? "" : ` ${event.reason.tag}`}`
    default:
      return event._tag
  }
}

const story = (json: unknown) => imported(json).events.map(brief)

/** What the model was sent in a pass, as roles and texts. */
const wire = (json: unknown, pass: number) => {
  const { messages, system } = Wire.project(imported(json).state, pass)
  return [
    ...system.map(({ id, text }) => `${id}: ${text}`),
    ...messages.map(({ message }) => `${message.role}: ${message.content}`)
  ]
}

describe("Import.openAiChat", () => {
  it("reads a conversation with calls as the events of a run", () => {
    const chat = [
      system("Be brief."),
      user("How many lamps?"),
      called(["c1", "stock", '{"article":"lamp"}']),
      result("c1", "12"),
      say("Twelve.")
    ]
    assert.deepStrictEqual(story(chat), [
      "started How many lamps?",
      "piece system",
      "selected system ",
      "asked 1",
      "replied  c1",
      "called c1",
      "settled c1 ran-ok 12",
      "asked 2",
      "replied Twelve.",
      "answered Twelve.",
      "ended answered"
    ])
    assert.deepStrictEqual(wire(chat, 2), ["system: Be brief.", "user: How many lamps?", "assistant: ", "tool: 12"])
  })

  it("reads an object as it reads the array of its messages, and lets unknown fields pass", () => {
    const messages = [user("Hello?"), { ...say("Hello."), annotations: [], audio: null }]
    const { events } = imported({ task: 1, reward: 0.5, messages })
    assert.deepStrictEqual(events, imported(messages).events)
  })

  it("says what a trace does not tell", () => {
    const untold = (json: unknown) => imported(json).state.started?.manifest.untold
    const messages = [user("Hello?"), say("Hello.")]
    assert.deepStrictEqual(untold(messages), ["tool-schemas", "model", "parameters", "usage", "times", "outcomes"])
    assert.deepStrictEqual(untold({ messages, model: "m", tools: [], temperature: 0 }), ["usage", "times", "outcomes"])
    assert.strictEqual(imported(messages).state.started?.manifest.importedFrom, "openai-chat")
  })

  it("takes the model, the parameters and the tools from an object that has them", () => {
    const lookup = {
      type: "function",
      function: { name: "look", description: "Looks.", parameters: { type: "object", properties: { z: {}, a: {} } } }
    }
    const { state } = imported({
      messages: [user("Hello?"), say("Hello."), user("More."), say("No.")],
      model: "m-1",
      tools: [lookup, { type: "function", function: { name: "bare" } }],
      functions: [{ name: "old", parameters: { type: "object" } }],
      temperature: 0.5,
      top_p: 1,
      max_completion_tokens: 100,
      seed: 7,
      stop: "END"
    })
    const sent = Wire.project(state, 2)
    assert.deepStrictEqual(
      sent.tools.map(({ tool }) => tool),
      [
        { name: "look", description: "Looks.", schema: lookup.function.parameters },
        { name: "bare", schema: {} },
        { name: "old", schema: { type: "object" } }
      ]
    )
    assert.deepStrictEqual(sent.parameters, {
      temperature: 0.5,
      topP: 1,
      maxOutputTokens: 100,
      seed: 7,
      stopSequences: ["END"]
    })
    assert.deepStrictEqual(
      state.marks.map(({ model }) => model),
      ["m-1", "m-1"]
    )
  })

  it("tells no tool schemas when one of the tools has none to tell", () => {
    const { state } = imported({ messages: [user("?"), say("!")], tools: [{ type: "web_search" }] })
    assert.include(state.started?.manifest.untold ?? [], "tool-schemas")
  })

  it("joins the parts of a text, and leaves a note for what is not text", () => {
    const image = { type: "image_url\u001b[31m", image_url: { url: `data:image/png;base64,${"A".repeat(1_000)}` } }
    const { state } = imported([
      user([{ type: "text", text: "What is 12" }, image, { type: "text", text: "34?" }]),
      say([{ type: "refusal", refusal: "I will not say." }])
    ])
    const note = `[image_url\\u001b[31m, ${JSON.stringify(image).length} characters of JSON]`
    assert.strictEqual(state.started?.input, `What is 12\n${note}\n34?`)
    assert.strictEqual(state.answered?.content, "I will not say.")
    assert.include(state.started?.manifest.untold ?? [], "attachments")
  })

  it("keeps a refusal and the reasoning of a reply", () => {
    const { events } = imported([
      user("Tell me."),
      { role: "assistant", content: null, refusal: "No.", reasoning_content: "It is a secret." }
    ])
    const reply = events.find(({ _tag }) => _tag === "ModelReplied")
    assert.deepInclude(reply, { content: "No.", reasoning: "It is a secret." })
  })

  it("lets a system message ride from where it stands", () => {
    const chat = [user("One?"), say("1"), { role: "developer", content: "Use words." }, user("Two?"), say("Two.")]
    assert.deepStrictEqual(wire(chat, 1), ["user: One?"])
    assert.deepStrictEqual(wire(chat, 2), ["system: Use words.", "user: One?", "assistant: 1", "user: Two?"])
    assert.deepStrictEqual(
      story([system("A"), user("?"), say("1"), system("B"), say("2")]).filter((line) => /piece|selected/.test(line)),
      ["piece system", "selected system ", "piece system:2", "selected system,system:2 "]
    )
  })

  it("puts nothing before the words of a model that spoke first", () => {
    const chat = [say("Welcome."), user("Hello?"), say("Hello.")]
    assert.deepStrictEqual(wire(chat, 1), [])
    assert.deepStrictEqual(wire(chat, 2), ["assistant: Welcome.", "user: Hello?"])
    assert.deepStrictEqual(story(chat).slice(0, 4), ["started ", "asked 1", "replied Welcome.", "received Hello?"])
  })

  it("keeps an empty first message as a message", () => {
    assert.deepStrictEqual(wire([user(""), say("Yes?")], 1), ["user: "])
  })

  it("takes several messages of one side in a row", () => {
    const chat = [user("One."), user("Two."), say("1"), say("2")]
    assert.deepStrictEqual(wire(chat, 2), ["user: One.", "user: Two.", "assistant: 1"])
    assert.strictEqual(imported(chat).state.answered?.content, "2")
  })

  it("answers with the last message of the assistant, also when the person spoke after it", () => {
    assert.deepStrictEqual(story([user("?"), say("42"), user("Thanks.")]).slice(-3), [
      "answered 42",
      "received Thanks.",
      "ended answered"
    ])
  })

  it("has no answer when the last message of the assistant calls a tool", () => {
    assert.deepStrictEqual(story([user("?"), say("Wait."), called(["a", "f", "{}"]), result("a", "1")]).slice(-2), [
      "settled a ran-ok 1",
      "ended stopped TraceEnded"
    ])
    assert.deepStrictEqual(story([user("?")]), ["started ?", "ended stopped TraceEnded"])
  })

  it("puts results into the order of their calls", () => {
    const chat = [user("?"), called(["a", "f", "{}"], ["b", "g", "{}"]), result("b", "2"), result("a", "1"), say("3")]
    assert.deepStrictEqual(story(chat).slice(2, 7), [
      "replied  a b",
      "called a",
      "settled a ran-ok 1",
      "called b",
      "settled b ran-ok 2"
    ])
  })

  it("settles what the end of the trace leaves open as unknown", () => {
    const { events, state } = imported([user("?"), called(["a", "f", "{}"], ["b", "g", "{}"]), result("b", "2")])
    assert.deepStrictEqual(events.map(brief).slice(-4), [
      "settled a unknown",
      "called b",
      "settled b ran-ok 2",
      "ended stopped TraceEnded"
    ])
    assert.deepStrictEqual(
      state.lost.map(({ reason }) => reason.code),
      ["WF-TOOL-013"]
    )
  })

  it("keeps the arguments as they were written, and as JSON where they are", () => {
    const texts = ['{"b": 1.0, "a": [] }', "", "not json", '{"a":1,"a":2}', "-0", "[1]"]
    const calls = texts.map((text, index) => [`c${index}`, "f", text] as const)
    const { events } = imported([user("?"), called(...calls), ...calls.map(([id]) => result(id, "ok"))])
    const reply = events.find((event) => event._tag === "ModelReplied")
    assert.deepStrictEqual(
      reply?.toolCalls.map(({ args }) => args),
      texts
    )
    const args = events.flatMap((event) => (event._tag === "ToolCalled" ? [event.args] : []))
    assert.deepStrictEqual(args, [{ b: 1, a: [] }, "", "not json", '{"a":1,"a":2}', "-0", [1]])
    assert.isTrue(events.every((event) => event._tag !== "ToolCalled" || event.replay === "never"))
  })

  it("tells the same id in two replies apart, and twice in one", () => {
    const again = [called(["a", "f", "{}"]), result("a", "1"), called(["a", "f", "{}"]), result("a", "2")]
    assert.deepStrictEqual(
      story([user("?"), ...again]).filter((line) => line.startsWith("settled")),
      ["settled a ran-ok 1", "settled a ran-ok 2"]
    )
    const twice = [called(["a", "f", "{}"], ["a", "f", "{}"]), result("a", "1"), result("a", "2")]
    assert.deepStrictEqual(
      story([user("?"), ...twice]).filter((line) => line.startsWith("settled")),
      ["settled a ran-ok 1", "settled call-1-1 ran-ok 2"]
    )
  })

  it("reads calls without ids, and the older function messages", () => {
    const nameless = [called([undefined, "f", "{}"], [undefined, "g", "{}"]), result(undefined, "1"), result("", "2")]
    assert.deepStrictEqual(
      story([user("?"), ...nameless]).filter((line) => line.startsWith("settled")),
      ["settled call-1-0 ran-ok 1", "settled call-1-1 ran-ok 2"]
    )
    const older = [
      { role: "assistant", content: null, function_call: { name: "f", arguments: "{}" } },
      { role: "function", name: "f", content: "1" },
      say("One.")
    ]
    assert.deepStrictEqual(story([user("?"), ...older]).slice(1, -2), [
      "asked 1",
      "replied  call-1-0",
      "called call-1-0",
      "settled call-1-0 ran-ok 1",
      "asked 2",
      "replied One."
    ])
    assert.strictEqual(refused([user("?"), older[0], { role: "function", name: "g", content: "1" }]).code, "WF-IMP-005")
  })

  it("reads a custom call with its text", () => {
    const custom = { id: "a", type: "custom", custom: { name: "run", input: "ls -l" } }
    const { events } = imported([user("?"), { role: "assistant", tool_calls: [custom] }, result("a", "")])
    assert.deepInclude(
      events.find(({ _tag }) => _tag === "ToolCalled"),
      { toolName: "run", args: "ls -l" }
    )
  })

  it("stores no half of a surrogate pair", () => {
    const { events } = imported([
      user("a\ud800"),
      called(["i\udc00", "f\ud800", "\ud800"]),
      result("i\udc00", "\ud800")
    ])
    assert.notMatch(JSON.stringify(events), /\\ud[89a-f]/)
    assert.deepInclude(events.at(-2), { outcome: "ran-ok", served: "\ufffd" })
  })

  it("names the run by its conversation, or as it is told", () => {
    const one = imported([user("1"), say("1")]).state.started?.runId
    assert.match(one ?? "", /^import-[a-z0-9]{16}$/)
    assert.strictEqual(imported([user("1"), say("1")]).state.started?.runId, one)
    assert.notStrictEqual(imported([user("1"), say("2")]).state.started?.runId, one)
    const named = imported([user("1")], { runId: "mine", agent: "theirs" }).state.started
    assert.deepInclude(named, { runId: "mine", agent: "theirs" })
  })

  const broken: ReadonlyArray<readonly [what: string, json: unknown, code: string, path: string]> = [
    ["no conversation", 7, "WF-IMP-003", ""],
    ["nothing", undefined, "WF-IMP-003", ""],
    ["an object without messages", {}, "WF-IMP-003", "/messages"],
    ["messages that are no array", { messages: {} }, "WF-IMP-003", "/messages"],
    ["no messages", [], "WF-IMP-008", ""],
    ["no messages in an object", { messages: [] }, "WF-IMP-008", "/messages"],
    ["a message that is no object", [user("?"), "hello"], "WF-IMP-003", "/1"],
    ["a message without a role", { messages: [{ content: "?" }] }, "WF-IMP-003", "/messages/0/role"],
    ["an unknown role", [{ role: "critic", content: "?" }], "WF-IMP-004", "/0/role"],
    ["a role that is no string", [{ role: ["user"], content: "?" }], "WF-IMP-003", "/0/role"],
    ["a message without content", [{ role: "user" }], "WF-IMP-003", "/0/content"],
    ["content of another kind", [user({ text: "?" })], "WF-IMP-003", "/0/content"],
    ["a part that is no object", [user(["?"])], "WF-IMP-003", "/0/content/0"],
    ["a part without a type", [user([{ text: "?" }])], "WF-IMP-003", "/0/content/0/type"],
    ["a text part without text", [user([{ type: "text" }])], "WF-IMP-003", "/0/content/0/text"],
    ["calls that are no array", [{ ...say(""), tool_calls: {} }], "WF-IMP-003", "/0/tool_calls"],
    ["a call that is no object", [{ ...say(""), tool_calls: [1] }], "WF-IMP-003", "/0/tool_calls/0"],
    ["a call without a function", [{ ...say(""), tool_calls: [{}] }], "WF-IMP-003", "/0/tool_calls/0/function"],
    [
      "a call without a name",
      { messages: [{ ...say(""), tool_calls: [{ id: "a", function: { arguments: "" } }] }] },
      "WF-IMP-003",
      "/messages/0/tool_calls/0/function/name"
    ],
    [
      "arguments that are no text",
      [{ ...say(""), tool_calls: [{ id: "a", function: { name: "f", arguments: {} } }] }],
      "WF-IMP-003",
      "/0/tool_calls/0/function/arguments"
    ],
    [
      "an id that is no string",
      [{ ...say(""), tool_calls: [{ id: 1, function: {} }] }],
      "WF-IMP-003",
      "/0/tool_calls/0/id"
    ],
    ["a result without its call", [user("?"), result("a", "1")], "WF-IMP-005", "/1"],
    [
      "a result of another reply",
      [called(["a", "f", "{}"]), result("a", "1"), say("1"), result("a", "1")],
      "WF-IMP-005",
      "/3"
    ],
    ["a result with a wrong id", [called(["a", "f", "{}"]), result("b", "1")], "WF-IMP-005", "/1"],
    ["a result without an id", [called(["a", "f", "{}"]), result(undefined, "1")], "WF-IMP-005", "/1"],
    [
      "a second result for one call",
      { messages: [called(["a", "f", "{}"], ["b", "f", "{}"]), result("a", "1"), result("a", "2")] },
      "WF-IMP-006",
      "/messages/2"
    ],
    [
      "a reply before all results",
      [called(["a", "f", "{}"], ["b", "f", "{}"]), result("a", "1"), say("1")],
      "WF-IMP-007",
      "/2"
    ],
    ["a person before all results", [called(["a", "f", "{}"]), user("?")], "WF-IMP-007", "/1"],
    ["a model that is no string", { messages: [user("?")], model: 4 }, "WF-IMP-003", "/model"],
    ["a parameter of another kind", { messages: [user("?")], top_p: "high" }, "WF-IMP-003", "/top_p"],
    ["tools that are no array", { messages: [user("?")], tools: {} }, "WF-IMP-003", "/tools"],
    [
      "a tool without a name",
      { messages: [user("?")], tools: [{ type: "function", function: {} }] },
      "WF-IMP-003",
      "/tools/0/function/name"
    ],
    [
      "a tool with an empty name",
      { messages: [user("?")], functions: [{ name: "" }] },
      "WF-IMP-003",
      "/functions/0/name"
    ],
    [
      "two tools of one name",
      { messages: [user("?")], tools: [{ function: { name: "f" } }], functions: [{ name: "f" }] },
      "WF-IMP-009",
      "/functions/0"
    ],
    [
      "a schema that is not JSON",
      { messages: [user("?")], tools: [{ function: { name: "f", parameters: { n: 1n } } }] },
      "WF-IMP-003",
      "/tools/0/function/parameters"
    ]
  ]
  for (const [what, json, code, path] of broken) {
    it(`refuses ${what} and says where`, () => {
      const error = refused(json)
      assert.deepStrictEqual({ code: error.code, path: error.path }, { code, path })
      assert.strictEqual(error.outcome, "not-applied")
      assert.isAtMost(error.message.length, 2_000)
    })
  }

  it("takes a system message between calls and their results", () => {
    const chat = [user("?"), called(["a", "f", "{}"]), system("Hurry."), result("a", "1"), say("1")]
    assert.deepStrictEqual(wire(chat, 1), ["user: ?"])
    assert.deepStrictEqual(wire(chat, 2), ["system: Hurry.", "user: ?", "assistant: ", "tool: 1"])
  })

  it("refuses what cannot be looked at", () => {
    const trap = {
      get messages() {
        throw new Error("trap")
      }
    }
    assert.strictEqual(refused(trap).code, "WF-IMP-002")
    assert.strictEqual(refused(Proxy.revocable({}, {}).proxy).code, "WF-IMP-003")
  })

  it("reads text as it reads the value, and says where text is not JSON", () => {
    const chat = { messages: [user("?"), say("!")] }
    const text = (text: string) => Effect.runSync(Effect.either(Import.openAiChatText(text)))
    assert.deepStrictEqual(text(JSON.stringify(chat)), read(chat))
    const refusal = (json: string) => Either.getOrThrow(Either.flip(text(json)))
    assert.strictEqual(refusal("[{]").code, "WF-IMP-001")
    assert.strictEqual(refusal("[{]").where, "character 2")
    assert.strictEqual(refusal('[{"__proto__":1}]').path, "/0/__proto__")
    assert.strictEqual(refusal("").code, "WF-IMP-001")
  })
})

const data = new URL("../../../shared/data/tau-airline/openai-chat.jsonl", import.meta.url).pathname
/** A record of files in a directory of its own. */
const inFiles = <A, E>(use: (directory: string) => Effect.Effect<A, E>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "wherefore-import-"))),
    use,
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
  )

const trace = {
  model: "m",
  tools: [{ type: "function", function: { name: "look", parameters: { type: "object" } } }],
  messages: [
    system("Be exact."),
    user("What?"),
    called(["a", "look", '{"of":"x"}'], ["b", "look", "{}"]),
    system("Be brief."),
    result("b", "2"),
    result("a", "1"),
    user("And?"),
    called(["c", "look", "{}"]),
    result("c", "4471"),
    say("It is 4471."),
    user("Thanks.")
  ]
}

const eventsOf = (runId: string) =>
  Effect.flatMap(Record.Record, (record) =>
    Effect.map(Stream.runCollect(record.read(runId)), (entries) => Array.from(entries, ({ event }) => event))
  )

describe("The record of an import", () => {
  const files = (directory: string) => Record.layerFile({ directory, durability: "process-crash" })
  const { events } = imported(trace, { runId: "r" })
  const write = (directory: string) =>
    Effect.zip(Import.append(events), eventsOf("r")).pipe(Effect.provide(files(directory)))
  const lines = (directory: string) => readFileSync(join(directory, "r.ndjson"), "utf8").trimEnd().split("\n")

  it.effect("holds the same events, in an append for the start and one for each reply", () =>
    inFiles((directory) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* write(directory), ["new", events])
        const tags: ReadonlyArray<ReadonlyArray<string>> = lines(directory).map((line) =>
          JSON.parse(line).events.map(({ _tag }: Event.Event) => _tag)
        )
        assert.deepStrictEqual(
          tags.map((tags) => tags.filter((tag) => tag === "ModelReplied" || tag === "ToolSettled").length),
          [0, 3, 2, 1, 0]
        )
        assert.deepStrictEqual(tags[0], ["RunStarted", "ToolDeclared", "PieceDeclared"])
        assert.deepStrictEqual(tags.at(-1), ["MessageReceived", "RunEnded"])
        assert.deepStrictEqual(yield* write(directory), ["there", events])
      })
    )
  )

  it.effect("is not begun if one of its events is longer than a record's line", () =>
    inFiles((directory) =>
      Effect.gen(function* () {
        const long = { _tag: "MessageReceived", content: "x".repeat(17_000_000) } as const
        const error = yield* Effect.flip(Import.append([...events.slice(0, -1), long, ...events.slice(-1)]))
        assert.deepInclude(error, { _tag: "RecordError", reason: "TooLarge", runId: "r" })
        const record = yield* Record.Record
        assert.deepStrictEqual((yield* record.list()).runs, [])
      }).pipe(Effect.provide(files(directory)))
    )
  )

  it.effect("names the append that was changed", () =>
    inFiles((directory) =>
      Effect.gen(function* () {
        yield* write(directory)
        const all = lines(directory)
        for (const [index, line] of all.entries()) {
          const { seq } = JSON.parse(line)
          const changed = all.with(index, line.replace(/"_tag":"(.)/, '"_tag":"X$1')).join("\n")
          const error = yield* Effect.flip(Record.fromText(new TextEncoder().encode(`${changed}\n`)))
          assert.strictEqual(error.seq, seq)
        }
      })
    )
  )

  it.effect("is completed by the next import, wherever the first one died", () =>
    Effect.gen(function* () {
      for (const at of [1, 2, 3, 4, 5]) {
        for (const kept of ["nothing", "all", 1] as const) {
          yield* inFiles((directory) =>
            Effect.gen(function* () {
              const died = Import.append(events).pipe(
                Effect.provide(Layer.provide(Mortal.layer({ at, kept }), files(directory)))
              )
              assert.isTrue(Exit.isFailure(yield* Effect.exit(died)))
              const isNew = at === 1 && kept === "nothing"
              const isThere = at === 5 && kept === "all"
              const expected = isNew ? "new" : isThere ? "there" : "completed"
              assert.deepStrictEqual(yield* write(directory), [expected, events])
            })
          )
        }
      }
    })
  )

  it.effect("may be written by two at once", () =>
    Effect.gen(function* () {
      const appended = yield* Effect.all([Import.append(events), Import.append(events)], { concurrency: 2 })
      assert.notDeepEqual(appended, ["new", "new"])
      assert.deepStrictEqual(yield* eventsOf("r"), events)
    }).pipe(Effect.provide(Record.layerMemory))
  )

  it.effect("is not written over another run, nor over one that says something else", () =>
    Effect.gen(function* () {
      yield* Import.append(events)
      const other = imported([user("Hi."), say("Hello.")], { runId: "r" }).events
      const error = yield* Effect.flip(Import.append(other))
      assert.strictEqual(error._tag, "RecordConflict")
      assert.match(error.message, /another run as "r"/)
      const renamed = imported(trace, { runId: "r", agent: "the same of another file" }).events
      assert.strictEqual(yield* Import.append(renamed), "there")
      assert.deepStrictEqual(yield* eventsOf("r"), events)
    }).pipe(Effect.provide(Record.layerMemory))
  )

  it.effect("takes a trace that is longer than a line of it", () =>
    Effect.gen(function* () {
      const calls = Array.from({ length: 12 }, (_, index) => [`c${index}`, "look", "{}"] as const)
      const results = calls.map(([id]) => result(id, "x".repeat(1_900_000)))
      const long = imported([user("What?"), called(...calls), ...results, say("Done.")], { runId: "r" }).events
      assert.strictEqual(yield* Import.append(long), "new")
      assert.deepStrictEqual(yield* eventsOf("r"), long)
    }).pipe(Effect.provide(Record.layerMemory))
  )
})

const conversations = existsSync(data) ? readFileSync(data, "utf8").trimEnd().split("\n") : []

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

describe("Import.openAiChat, whatever it is given,", () => {
  const soundOrRefused = (json: unknown) => {
    const events = read(json)
    if (Either.isRight(events)) return sound(events.right)
    assert.strictEqual(events.left._tag, "ImportError")
    assert.notStrictEqual(events.left.code, "WF-IMP-002", "JSON can always be looked at")
    assert.isAtMost(events.left.message.length, 2_000)
    return undefined
  }

  it("never dies of random JSON", () => {
    FastCheck.assert(FastCheck.property(FastCheck.jsonValue(), (json) => void soundOrRefused(json)))
    FastCheck.assert(FastCheck.property(FastCheck.array(FastCheck.jsonValue()), (json) => void soundOrRefused(json)))
  })

  it("never dies of random messages, and reads many", () => {
    const texts = FastCheck.oneof(FastCheck.string({ unit: "binary" }), FastCheck.constantFrom("a", "b", "", "{}"))
    const content = FastCheck.oneof(
      { weight: 6, arbitrary: texts },
      { weight: 2, arbitrary: FastCheck.constant(null) },
      { weight: 1, arbitrary: FastCheck.jsonValue() },
      { weight: 1, arbitrary: FastCheck.array(FastCheck.record({ type: texts, text: texts })) }
    )
    const id = FastCheck.constantFrom("a", "b", "c", "", undefined)
    const one = FastCheck.oneof(
      FastCheck.record({
        role: FastCheck.constantFrom("system", "developer", "user", "assistant"),
        content
      }),
      FastCheck.record({
        role: FastCheck.constant("assistant"),
        content,
        tool_calls: FastCheck.array(
          FastCheck.record({ id, function: FastCheck.record({ name: texts, arguments: texts }) }),
          { maxLength: 3 }
        )
      }),
      FastCheck.record({ role: FastCheck.constantFrom("tool", "function"), tool_call_id: id, name: texts, content })
    )
    let read = 0
    FastCheck.assert(
      FastCheck.property(FastCheck.array(one), (messages) => {
        if (soundOrRefused(messages) !== undefined) read += 1
      }),
      { numRuns: 500 }
    )
    assert.isAbove(read, 10)
  })

  it.skipIf(conversations.length === 0)("never dies of a real conversation with one thing changed", () => {
    const real = conversations.slice(0, 20).map((line): unknown => JSON.parse(line))
    /** The value with something else in one of its places; the numbers choose the place. */
    const change = (value: unknown, path: ReadonlyArray<number>, other: unknown): unknown => {
      const [step = 0, ...rest] = path
      if (path.length === 0) return other
      if (Array.isArray(value)) {
        const at = step % Math.max(1, value.length)
        if (rest.length === 0 && other === undefined) return value.filter((_, index) => index !== at)
        return value.map((one, index) => (index === at ? change(one, rest, other) : one))
      }
      if (typeof value !== "object" || value === null) return other
      const entries = Object.entries(value)
      return Object.fromEntries(
        entries.map(([key, one], index) => [key, index === step % entries.length ? change(one, rest, other) : one])
      )
    }
    // The messages are the last of four fields.
    const path = FastCheck.tuple(FastCheck.constant(3), FastCheck.nat(100), FastCheck.nat(5), FastCheck.nat(5)).chain(
      (steps) => FastCheck.integer({ min: 2, max: 4 }).map((length) => steps.slice(0, length))
    )
    FastCheck.assert(
      FastCheck.property(
        FastCheck.constantFrom(...real),
        path,
        FastCheck.oneof(FastCheck.jsonValue(), FastCheck.constant(undefined)),
        (conversation, path, other) => void soundOrRefused(change(conversation, path, other))
      ),
      { numRuns: 300 }
    )
  })
})

describe("Import.openAiChat, of 100 real conversations,", () => {
  if (conversations.length === 0) console.log(`skipped: ${data} is not there`)

  it.effect.skipIf(conversations.length === 0)(
    "gives records that verify and answer why",
    () =>
      Effect.gen(function* () {
        const record = yield* Record.Record
        const roots = new Map<string, number>()
        let values = 0
        let carried = 0
        let worked = 0
        let nowhere = 0
        for (const line of conversations) {
          const events = yield* Import.openAiChatText(line)
          const state = sound(events)
          const runId = state.started?.runId ?? ""
          yield* record.append(runId, 0, events)
          const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read(runId)))
          yield* Record.verify(entries)
          const recorded = entries.map(({ event }) => event)
          assert.deepStrictEqual(recorded, events)

          const passes = recorded.flatMap((event) =>
            event._tag === "ModelReplied" && event.content !== "" ? [event.iteration] : []
          )
          for (const chain of [...passes.map((pass) => Why.call(recorded, pass)), Why.answer(recorded)]) {
            const nodes = new Map(chain.nodes.map((node) => [node.id, node]))
            for (const node of chain.nodes) {
              if (node.kind === "root" && chain.question.kind === "call") {
                roots.set(node.root, (roots.get(node.root) ?? 0) + 1)
              }
              if (node.kind !== "value") continue
              const carriers = chain.edges.flatMap(({ from, to }) => {
                const found = nodes.get(to)
                return from === node.id && found?.kind === "carrier" ? [found] : []
              })
              const derived = chain.edges.some(
                ({ from, to }) => from === node.id && nodes.get(to)?.kind === "derivation"
              )
              const gaps = chain.gaps.filter(({ at }) => at === node.id)
              assert.isTrue(
                carriers.length > 0 || derived || gaps.length > 0,
                `${node.value} has neither a carrier nor a derivation nor a gap`
              )
              const { messages, system, tools } = Wire.project(state, node.pass)
              for (const carrier of carriers) {
                assert.strictEqual(carrier.pass, node.pass)
                const on = [...system, ...messages, ...tools].find(({ id }) => id === carrier.pieceId)
                const sent =
                  on === undefined
                    ? []
                    : on.slot === "system"
                      ? [on.text]
                      : on.slot === "tools"
                        ? [textOf(on.tool.description), textOf(on.tool.schema)]
                        : on.message.role === "assistant"
                          ? [
                              on.message.content,
                              ...on.message.toolCalls.flatMap(({ args, toolCallId, toolName }) => [
                                args,
                                toolName,
                                toolCallId
                              ])
                            ]
                          : on.message.role === "tool"
                            ? [on.message.content, on.message.toolCallId]
                            : [on.message.content]
                for (const { end, start, text } of carrier.spans) {
                  assert.isTrue(
                    sent.some((one) => one.includes(text)),
                    `${text} was not on the wire of ${node.pass}`
                  )
                  assert.strictEqual(carrier.text.slice(start, end), text)
                }
              }
              if (chain.question.kind !== "call" || node.pass !== chain.question.pass) continue
              values += 1
              if (carriers.length > 0) carried += 1
              else if (derived) worked += 1
              else nowhere += 1
            }
          }
        }
        const kinds = Array.from(roots, ([kind, count]) => `${kind} ${count}`)
          .sort()
          .join(", ")
        assert.lengthOf(conversations, 100)
        console.log(
          `${conversations.length} conversations: ${values} values, ${carried} carried, ${worked} derived, ${nowhere} nowhere; roots: ${kinds}`
        )
        assert.isAbove(carried / values, 0.85)
      }).pipe(Effect.provide(Record.layerMemory)),
    180_000
  )
})
