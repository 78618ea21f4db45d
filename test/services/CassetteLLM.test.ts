import { FileSystem } from "@effect/platform"
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import {
  Arbitrary,
  Chunk,
  Config,
  ConfigProvider,
  Effect,
  Either,
  FastCheck,
  Layer,
  Logger,
  Redacted,
  Stream
} from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import * as Usage from "../../src/kernel/Usage.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Cassette from "../../src/services/Cassette.ts"
import * as CassetteSecret from "../../src/services/CassetteSecret.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import * as Shop from "../programs/Shop.ts"
import * as ArtifactDirectory from "./ArtifactDirectory.ts"

const asking = (...texts: ReadonlyArray<string>): Wire.Wire => ({
  ...LLMSuite.wire,
  iteration: texts.length,
  messages: texts.map((content, at) => ({
    id: `message:${at}`,
    origin: "person",
    seq: at,
    cause: { by: "asked", seq: at },
    hash: "not read",
    slot: "messages",
    message: { role: "user", content }
  }))
})

const path = Effect.map(ArtifactDirectory.directory, (directory) => join(directory, "deep", "a.jsonl"))

const echo = LLM.layerScripted((wire) => LLM.say(`You said: ${wire.messages.at(-1)?.message.content}`))
const nobody = LLM.layerScripted([])

const use =
  (layer: Layer.Layer<LLM.LLM, LLM.LLMError, FileSystem.FileSystem>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.provide(effect, Layer.provide(layer, NodeFileSystem.layer))

const ask = (...texts: ReadonlyArray<string>) => Effect.map(LLM.reply(asking(...texts)), ({ content }) => content)

const text = (path: string): string => fs.readFileSync(path, "utf8")
const lines = (path: string): ReadonlyArray<string> => text(path).trimEnd().split("\n")

/** A model that answers with these parts and counts how often it is asked. */
const parted = (parts: ReadonlyArray<LLM.Part>, asked: { count: number } = { count: 0 }) =>
  Layer.succeed(LLM.LLM, {
    stream: () => {
      asked.count += 1
      return Stream.fromIterable(parts)
    }
  })

describe("A cassette that records", () => {
  for (const { effect, name } of LLMSuite.cases({
    layer: (replies) =>
      Layer.unwrapScoped(
        Effect.map(path, (path) => LLM.layerCassette({ path, mode: "record", model: LLM.layerScripted(replies) }))
      ).pipe(Layer.provide(NodeFileSystem.layer))
  })) {
    it.effect(name, () => effect)
  }
})

describe("A cassette", () => {
  it.scoped("plays back what was recorded, offline, and knows who answered", () =>
    Effect.gen(function* () {
      const file = yield* path
      const recorded = yield* Effect.all([ask("a"), ask("a", "b")]).pipe(
        use(LLM.layerCassette({ path: file, mode: "record", model: echo }))
      )
      assert.deepStrictEqual(recorded, ["You said: a", "You said: b"])
      const before = text(file)
      const replay = use(LLM.layerCassette({ path: file, mode: "replay" }))
      assert.deepStrictEqual(yield* replay(Effect.all([ask("a", "b"), ask("a"), ask("a")])), [
        "You said: b",
        "You said: a",
        "You said: a"
      ])
      assert.deepStrictEqual(yield* replay(Effect.map(LLM.LLM, ({ model }) => model)), {
        provider: "scripted",
        id: "script"
      })
      assert.strictEqual(text(file), before)
    })
  )

  it.scoped("keeps of a call that was made again what came of it in the end, and who answered", () =>
    Effect.gen(function* () {
      const file = yield* path
      const other = Layer.succeed(LLM.LLM, {
        model: { provider: "other", id: "o-1" },
        stream: () =>
          Stream.make<Array<LLM.Part>>(
            { _tag: "Text", delta: "Yes." },
            { _tag: "Finish", stopReason: "stop", usage: {} }
          )
      })
      const broken = LLM.fail("StreamBroken", { after: 1, deltas: ["half", " a"] })
      const model = LLM.layerFallback([LLM.layerScripted([broken]), other])
      const reply = LLM.reply(LLMSuite.wire)
      const recorded = yield* use(LLM.layerCassette({ path: file, mode: "record", model }))(reply)
      assert.deepInclude(recorded, { content: "Yes.", by: { provider: "other", id: "o-1" } })
      assert.notInclude(text(file), "half")
      assert.deepStrictEqual(yield* use(LLM.layerCassette({ path: file, mode: "replay" }))(reply), recorded)
    })
  )

  it.scoped("keeps the parts of a reply as they came, whatever they are", () =>
    Effect.gen(function* () {
      const delta = FastCheck.fullUnicodeString({ maxLength: 6 })
      const usage = Arbitrary.make(Usage.Usage)
      const opaque = FastCheck.option(FastCheck.jsonValue(), { nil: undefined })
      const sealed = (value: unknown) => (value === undefined ? {} : { opaque: value })
      const part: FastCheck.Arbitrary<LLM.Part> = FastCheck.oneof(
        FastCheck.record({ _tag: FastCheck.constant("Text" as const), delta }),
        FastCheck.record({ _tag: FastCheck.constant("Reasoning" as const), delta }),
        FastCheck.record({ _tag: FastCheck.constant("Usage" as const), usage }),
        FastCheck.tuple(FastCheck.constantFrom("text" as const, "reasoning" as const), opaque).map(([kind, value]) => ({
          _tag: "Sealed" as const,
          kind,
          ...sealed(value)
        })),
        FastCheck.tuple(delta, delta, delta, opaque).map(([toolCallId, toolName, args, value]) => ({
          _tag: "ToolCall" as const,
          toolCallId,
          toolName,
          args,
          ...sealed(value)
        }))
      )
      const finish = FastCheck.tuple(usage, delta).map(([usage, model]): LLM.Part => ({
        _tag: "Finish",
        stopReason: "stop",
        usage,
        model,
        toolNames: ["a"]
      }))
      const replies = FastCheck.tuple(FastCheck.array(part, { maxLength: 8 }), finish).map(([parts, end]) => [
        ...parts,
        end
      ])
      const parts = LLM.LLM.pipe(
        Effect.flatMap(({ stream }) => Stream.runCollect(stream(asking("a")))),
        Effect.map(Chunk.toReadonlyArray)
      )
      for (const reply of FastCheck.sample(replies, 40)) {
        const file = yield* path
        const recorded = yield* parts.pipe(use(LLM.layerCassette({ path: file, mode: "record", model: parted(reply) })))
        assert.deepStrictEqual(recorded, reply)
        const played = yield* parts.pipe(use(LLM.layerCassette({ path: file, mode: "replay" })))
        assert.strictEqual(JSON.stringify(played), JSON.stringify(reply))
      }
    })
  )

  it.scoped("keeps a reply of as many deltas as a model may send", () =>
    Effect.gen(function* () {
      const file = yield* path
      const deltas = Array.from({ length: 60_000 }, (_, at): LLM.Part => ({ _tag: "Text", delta: `${at % 10}` }))
      const model = parted([...deltas, { _tag: "Finish", stopReason: "stop", usage: {} }])
      const told = yield* ask("a").pipe(use(LLM.layerCassette({ path: file, mode: "record", model })))
      const again = yield* ask("a").pipe(use(LLM.layerCassette({ path: file, mode: "replay" })))
      assert.lengthOf(told, deltas.length)
      assert.isTrue(again === told)
    })
  )

  it.scoped("is keyed by the hash that the record of a run has of its wires", () =>
    Effect.gen(function* () {
      const file = yield* path
      const recorder = Layer.provide(
        LLM.layerCassette({ path: file, mode: "record", model: LLM.layerScripted(Shop.model) }),
        NodeFileSystem.layer
      )
      const run = (layer: Layer.Layer<LLM.LLM, LLM.LLMError>) =>
        Effect.zipRight(Agent.run(Shop.agent, "Lamps, please.", { runId: "r" }), Shop.events("r")).pipe(
          Effect.provide([Shop.services, Shop.handlers([]), layer])
        )
      const events = yield* run(recorder)
      const hashes = events.flatMap((event) => (event._tag === "ModelCalled" ? [event.wireHash] : []))
      assert.deepStrictEqual(
        lines(file)
          .slice(1)
          .map((line): unknown => JSON.parse(line).wire),
        hashes
      )
      const player = Layer.provide(LLM.layerCassette({ path: file, mode: "replay" }), NodeFileSystem.layer)
      assert.deepStrictEqual(yield* run(player), events)
    })
  )

  it.scoped("is small: a wire is written as what it has beyond the one before, and in the order of the run", () =>
    Effect.gen(function* () {
      const file = yield* path
      const long = "a long text ".repeat(1_000)
      const turns = Array.from({ length: 50 }, (_, at) => `${long}${at}`)
      yield* Effect.forEach(turns, (_, at) => ask(...turns.slice(0, at + 1))).pipe(
        use(LLM.layerCassette({ path: file, mode: "record", model: LLM.layerScripted(() => "ok") }))
      )
      const sizes = lines(file)
        .slice(1)
        .map((line) => line.length)
      assert.lengthOf(sizes, 50)
      assert.isBelow(Math.max(...sizes.slice(1)), 400)
      assert.notInclude(text(file), "a long text")
      const again = Either.getOrThrow(Cassette.parse(text(file)))
      assert.strictEqual(Cassette.print(again), text(file))
      assert.deepStrictEqual(
        again.exchanges.map(({ pieces }) => pieces.messages.length),
        turns.map((_, at) => at + 1)
      )
      assert.deepStrictEqual(
        again.exchanges.map(({ parameters, pass, pieces, wire }) => ({ parameters, pass, pieces, wire })),
        turns.map((_, at) => Cassette.names(asking(...turns.slice(0, at + 1))))
      )
    })
  )

  it.scoped("with auto asks for what is missing alone, and builds no model for what is there", () =>
    Effect.gen(function* () {
      const file = yield* path
      const asked = { count: 0 }
      let built = 0
      const model = Layer.unwrapEffect(
        Effect.sync(() => {
          built += 1
          return parted(
            [
              { _tag: "Text", delta: "new" },
              { _tag: "Finish", stopReason: "stop", usage: {} }
            ],
            asked
          )
        })
      )
      const auto = use(LLM.layerCassette({ path: file, mode: "auto", model }))
      assert.strictEqual(yield* auto(ask("a")), "new")
      assert.deepStrictEqual([asked.count, built], [1, 1])
      const first = text(file)
      assert.strictEqual(yield* auto(ask("a")), "new")
      assert.deepStrictEqual([asked.count, built], [1, 1])
      assert.strictEqual(text(file), first)
      assert.deepStrictEqual(yield* auto(Effect.all([ask("a"), ask("b"), ask("b")])), ["new", "new", "new"])
      assert.deepStrictEqual([asked.count, built], [2, 2])
      assert.isTrue(text(file).startsWith(first))
    })
  )

  it.scoped("with auto fails on a miss whose model cannot be built, and not before", () =>
    Effect.gen(function* () {
      const file = yield* path
      yield* ask("a").pipe(use(LLM.layerCassette({ path: file, mode: "record", model: echo })))
      const model = Layer.fail(LLM.failure("Auth", { what: "There is no key." }))
      const auto = use(LLM.layerCassette({ path: file, mode: "auto", model }))
      assert.strictEqual(yield* auto(ask("a")), "You said: a")
      assert.deepInclude(yield* Effect.flip(auto(ask("b"))), { reason: "Auth", what: "There is no key." })
    })
  )

  it.scoped("that is recorded again has each wire once, in its place", () =>
    Effect.gen(function* () {
      const file = yield* path
      const say = (word: string) => LLM.layerScripted(() => word)
      const record = (word: string, ...texts: ReadonlyArray<string>) =>
        Effect.forEach(texts, (one) => ask(one)).pipe(
          use(LLM.layerCassette({ path: file, mode: "record", model: say(word) }))
        )
      yield* record("old", "a", "b", "c")
      const before = lines(file)
      yield* record("new", "b")
      const after = lines(file)
      assert.lengthOf(after, 4)
      assert.deepStrictEqual(
        after.map((line, at) => line === before[at]),
        [true, true, false, true]
      )
      assert.deepStrictEqual(
        yield* Effect.all([ask("a"), ask("b"), ask("c")]).pipe(use(LLM.layerCassette({ path: file, mode: "replay" }))),
        ["old", "new", "old"]
      )
    })
  )

  it.scoped("says on its first line who answered last", () =>
    Effect.gen(function* () {
      const file = yield* path
      yield* ask("a").pipe(use(LLM.layerCassette({ path: file, mode: "record", model: echo })))
      const other = parted([
        { _tag: "Text", delta: "x" },
        { _tag: "Finish", stopReason: "stop", usage: {} }
      ])
      yield* ask("b").pipe(use(LLM.layerCassette({ path: file, mode: "record", model: other })))
      assert.strictEqual(lines(file)[0], JSON.stringify({ cassette: 1 }))
      assert.lengthOf(lines(file), 3)
    })
  )

  it.scoped("reads back each wire by its own names and parameters", () =>
    Effect.gen(function* () {
      const file = yield* path
      const { messages, ...wire } = { ...asking("a", "b"), parameters: { seed: 1, stopSequences: ["."] } }
      const renamed = messages.map((piece) => ({ ...piece, id: `other:${piece.id}` }))
      const wires: ReadonlyArray<Wire.Wire> = [
        { ...wire, messages: messages.slice(0, 1) },
        { ...wire, messages: [...renamed, ...messages.slice(0, 1)] },
        { ...wire, messages, parameters: { seed: 2 } },
        { ...wire, messages: [] }
      ]
      yield* Effect.forEach(wires, LLM.reply).pipe(
        use(LLM.layerCassette({ path: file, mode: "record", model: LLM.layerScripted(() => "ok") }))
      )
      assert.deepStrictEqual(
        Either.getOrThrow(Cassette.parse(text(file))).exchanges.map(({ reply: _, ...names }) => names),
        wires.map(Cassette.names)
      )
    })
  )

  it.scoped("keeps no reply that failed or broke off", () =>
    Effect.gen(function* () {
      const file = yield* path
      const steps = [LLM.fail("StreamBroken", { deltas: ["a", "b"], after: 1 }), "whole"]
      const recorder = use(LLM.layerCassette({ path: file, mode: "record", model: LLM.layerScripted(steps) }))
      yield* recorder(
        Effect.gen(function* () {
          assert.strictEqual((yield* Effect.flip(ask("a"))).reason, "StreamBroken")
          assert.isFalse(fs.existsSync(file))
          assert.strictEqual(yield* ask("a"), "whole")
        })
      )
      const broken = use(
        LLM.layerCassette({ path: `${file}2`, mode: "record", model: parted([{ _tag: "Text", delta: "a" }]) })
      )
      assert.strictEqual((yield* Effect.flip(broken(ask("a")))).reason, "Protocol")
      assert.isFalse(fs.existsSync(`${file}2`))
    })
  )
})

describe("CassetteDrift", () => {
  const recorded = Effect.gen(function* () {
    const file = yield* path
    yield* Effect.all([ask("a"), ask("a", "b"), ask("x", "y", "z")]).pipe(
      use(LLM.layerCassette({ path: file, mode: "record", model: echo }))
    )
    return file
  })
  const drift = (file: string, wire: Wire.Wire) =>
    Effect.flip(LLM.reply(wire)).pipe(use(LLM.layerCassette({ path: file, mode: "replay" })))

  it.scoped("names the first piece that differs from the nearest wire", () =>
    Effect.gen(function* () {
      const file = yield* recorded
      const { messages, ...wire } = asking("a", "c")
      const [system] = wire.system
      const cases: ReadonlyArray<readonly [Wire.Wire, string, string, string]> = [
        [
          asking("a", "c"),
          "messages[1]",
          '"message:1" at messages[1] of the wire in line 3, pass 2',
          '"message:1" with other content'
        ],
        [asking("a", "b", "c"), "messages[2]", "nothing at messages[2] of the wire in line 3, pass 2", '"message:2"'],
        [asking("x", "y"), "messages[2]", '"message:2" at messages[2] of the wire in line 4, pass 3', "nothing"],
        [
          { ...wire, messages, system: system === undefined ? [] : [{ ...system, id: "t", text: "Be long." }] },
          "system[0]",
          '"s" at system[0] of the wire in line 3, pass 2',
          '"t"'
        ],
        [
          { ...asking("a"), parameters: { seed: 1 } },
          "parameters",
          "the parameters of the wire in line 2, pass 1",
          "others"
        ]
      ]
      for (const [asked, place, expected, found] of cases) {
        const error = yield* drift(file, asked)
        assert.deepInclude(error, { reason: "CassetteDrift", code: "WF-LLM-011", retry: "never", expected, found })
        assert.include(error.what, `differs from the nearest one first at ${place}.`)
        assert.isFalse(error.isRetryable)
      }
    })
  )

  it.scoped("is told against the first of several that are as near", () =>
    Effect.gen(function* () {
      const file = yield* path
      yield* Effect.all([ask("a", "b"), ask("a", "c")]).pipe(
        use(LLM.layerCassette({ path: file, mode: "record", model: echo }))
      )
      assert.include((yield* drift(file, asking("a", "d"))).expected, "in line 2,")
    })
  )

  it.scoped("says that there is nothing at all", () =>
    Effect.gen(function* () {
      const file = yield* path
      const error = yield* Effect.flip(ask("a").pipe(use(LLM.layerCassette({ path: file, mode: "replay" }))))
      assert.deepInclude(error, { reason: "Misconfigured", what: "There is no cassette to play back." })
      yield* recorded
      fs.mkdirSync(join(file, ".."))
      fs.writeFileSync(file, `${JSON.stringify({ cassette: 1 })}\n`)
      assert.deepInclude(yield* drift(file, asking("a")), { reason: "CassetteDrift", found: "an empty cassette" })
    })
  )

  it.scoped("ends a run with the name of what differs", () =>
    Effect.gen(function* () {
      const file = yield* path
      const agent = (instructions: string) => Agent.make({ name: "a", instructions })
      const layer = LLM.layerCassette({ path: file, mode: "auto", model: echo })
      const run = (instructions: string, layer: Layer.Layer<LLM.LLM, LLM.LLMError, FileSystem.FileSystem>) =>
        Agent.run(agent(instructions), "Go.", { runId: instructions.toLowerCase() }).pipe(use(layer))
      yield* Effect.gen(function* () {
        yield* run("brief", layer)
        const error = yield* Effect.flip(run("long", LLM.layerCassette({ path: file, mode: "replay" })))
        assert.include(error.message, 'Expected "instructions" at system[0] of the wire in line 2, pass 1')
        assert.include(error.message, '"instructions" with other content')
        const events = yield* Shop.events("long")
        assert.strictEqual(
          events.flatMap((event) => (event._tag === "ModelFailed" ? [event.reason] : []))[0],
          "CassetteDrift"
        )
      }).pipe(Effect.provide(Shop.services))
    })
  )
})

describe("A damaged cassette", () => {
  const header = JSON.stringify({ cassette: 1 })
  const finish = { _tag: "Finish", stopReason: "stop", usage: {} }
  const line = (wire: string, more: object = {}) =>
    JSON.stringify({ wire, pass: 1, reply: [{ text: ["a"] }, finish], ...more })
  const like = { wire: "w1", system: 0, messages: 0, tools: 0 }

  for (const [what, content, at, part] of [
    ["is no JSON", `${header}\n${line("w1")}\n{"wire\n`, 3, "it is no JSON"],
    ["breaks off", `${header}\n${line("w1")}\n${line("w2").slice(0, 20)}`, 3, "does not end in a line feed"],
    ["is of another format", `${JSON.stringify({ cassette: 2 })}\n`, 1, "no line of a cassette of this version"],
    ["has no first line", "\n", 1, "it is no JSON"],
    ["is empty", "", 1, "it is no JSON"],
    ["begins with an exchange", `${line("w1")}\n`, 1, "no line of a cassette"],
    ["has an empty line", `${header}\n\n${line("w1")}\n`, 2, "it is no JSON"],
    ["holds what is no part", `${header}\n${line("w1", { reply: [{ _tag: "Later" }] })}\n`, 2, "no line of a cassette"],
    ["holds what is no whole reply", `${header}\n${line("w1", { reply: [{ text: ["a"] }] })}\n`, 2, "its one finish"],
    ["holds an empty reply", `${header}\n${line("w1", { reply: [] })}\n`, 2, "its one finish"],
    ["goes on after a finish", `${header}\n${line("w1", { reply: [finish, { text: ["a"] }] })}\n`, 2, "its one finish"],
    ["is like what is not there", `${header}\n${line("w2", { like })}\n`, 2, "like an exchange that is not above it"],
    [
      "is like more than there is",
      `${header}\n${line("w1")}\n${line("w2", { like: { ...like, tools: 1 } })}\n`,
      3,
      "more in common"
    ],
    ["has a wire twice", `${header}\n${line("w1")}\n${line("w1")}\n`, 3, "that of a line above it"]
  ] as const) {
    it.scoped(`that ${what} is named with its line`, () =>
      Effect.gen(function* () {
        const directory = yield* ArtifactDirectory.directory
        const file = join(directory, "a.jsonl")
        fs.writeFileSync(file, content)
        for (const layer of [
          LLM.layerCassette({ path: file, mode: "replay" }),
          LLM.layerCassette({ path: file, mode: "auto", model: nobody })
        ]) {
          const error = yield* Effect.flip(ask("a").pipe(use(layer)))
          assert.strictEqual(error.reason, "Misconfigured")
          assert.include(error.what, `The cassette is damaged in line ${at}: `)
          assert.include(error.what, part)
        }
        assert.strictEqual(text(file), content)
        assert.deepStrictEqual(fs.readdirSync(directory), ["a.jsonl"])
      })
    )
  }

  it.scoped("is told from one that cannot be read or written", () =>
    Effect.gen(function* () {
      const directory = yield* ArtifactDirectory.directory
      const error = yield* Effect.flip(ask("a").pipe(use(LLM.layerCassette({ path: directory, mode: "replay" }))))
      assert.deepInclude(error, { reason: "Misconfigured" })
      assert.include(error.what, "cannot be read")
      const file = join(directory, "file")
      fs.writeFileSync(file, "")
      const layer = LLM.layerCassette({ path: join(file, "a.jsonl"), mode: "record", model: echo })
      const unwritten = yield* Effect.flip(ask("a").pipe(use(layer)))
      assert.match(unwritten.what, /cannot be (read|written)/)
      // Its name is as long as one can be: there is none for its lock.
      const long = LLM.layerCassette({ path: join(directory, "a".repeat(253)), mode: "record", model: echo })
      const unlocked = yield* Effect.flip(ask("a").pipe(use(long)))
      assert.include(unlocked.what, "cannot be locked")
    })
  )
})

describe("A secret", () => {
  const canary = 'c4n4ry/Öß+"quoted"\\9f'
  const secrets = [Redacted.make(canary)]
  const encodings: { readonly [name: string]: (text: string) => string } = {
    plain: (text) => text,
    JSON: (text) => JSON.stringify({ key: text }),
    "JSON in JSON": (text) => JSON.stringify(JSON.stringify([text])),
    base64: (text) => Buffer.from(text).toString("base64"),
    "base64, one byte on": (text) => Buffer.from(`:${text}`).toString("base64"),
    "base64, in a header": (text) => Buffer.from(`user:${text}:x`).toString("base64"),
    base64url: (text) => Buffer.from(`a${text}bc`).toString("base64url"),
    hex: (text) => Buffer.from(text).toString("hex"),
    HEX: (text) => Buffer.from(text).toString("hex").toUpperCase(),
    URL: encodeURIComponent,
    "URL in URL": (text) => encodeURIComponent(encodeURIComponent(text)),
    "every byte in per cent": (text) =>
      Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join(""),
    "every unit escaped": (text) =>
      Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`).join(
        ""
      ),
    "some units escaped": (text) => JSON.stringify({ key: text }).replace("/", "\\/").replace("4", "\\u0034"),
    "some units escaped, JSON in JSON": (text) =>
      JSON.stringify(JSON.stringify([text]).replace("/", "\\/").replace("Ö", "\\u00D6")),
    reversed: (text) => Array.from(text).toReversed().join("")
  }

  for (const [name, encode] of Object.entries(encodings)) {
    it(`is found as ${name}, and nothing is found where it is not`, () => {
      const holds = CassetteSecret.finder(secrets)
      const shown = `Before ${encode(canary)} after.`
      assert.isTrue(holds(shown))
      assert.isTrue(holds(JSON.stringify({ reply: shown })) || name.endsWith("JSON in JSON"))
      assert.isFalse(holds(`Before ${encode(canary.slice(1))} after.`))
    })
  }

  for (const [name, key] of Object.entries({
    OpenAI: "sk-proj-abcdefghijklmnop1234",
    AWS: "AKIAIOSFODNN7EXAMPLE",
    Google: `AIza${"Sy0123456789abcdefghijklmnopqrstuvw"}`,
    GitHub: `ghp_${"a1".repeat(18)}`,
    Slack: "xoxb-1234567890-abcdef",
    "private key": "-----BEGIN RSA PRIVATE KEY-----",
    token: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.sig",
    header: "Authorization: bearer abcdefghijklmnopqrstuvwxyz"
  })) {
    it(`of a well-known shape is found without being named: ${name}`, () => {
      assert.isTrue(CassetteSecret.finder([])(`The key is ${key}.`))
    })
  }

  it("has no shape of common texts", () => {
    const holds = CassetteSecret.finder([Redacted.make("abc"), Redacted.make("")])
    for (const text of ["The desk-lamp is task-based.", "risk-averse", "bearer of news", "abc", Wire.systemHash("abc")])
      assert.isFalse(holds(text), text)
  })

  it.scoped("never reaches the file, wherever it stands and however it is cut, and the reply is passed on", () =>
    Effect.gen(function* () {
      const finish: LLM.Part = { _tag: "Finish", stopReason: "stop", usage: {} }
      const cuts = Array.from({ length: canary.length + 1 }, (_, at): ReadonlyArray<LLM.Part> => [
        { _tag: "Text", delta: `It is ${canary.slice(0, at)}` },
        { _tag: "Reasoning", delta: "hm" },
        { _tag: "Text", delta: `${canary.slice(at)}.` },
        finish
      ])
      const call = (args: string, toolName = "t", toolCallId = "c"): LLM.Part => ({
        _tag: "ToolCall",
        toolCallId,
        toolName,
        args
      })
      const replies: ReadonlyArray<ReadonlyArray<LLM.Part>> = [
        ...cuts,
        [{ _tag: "Reasoning", delta: canary }, finish],
        [call(JSON.stringify({ key: canary })), finish],
        [
          call(JSON.stringify({ key: canary }).replace("/", "\\/").replace("4", "\\u0034").replace('\\"q', "\\u0022q")),
          finish
        ],
        [call("{}", canary), finish],
        [call("{}", "t", canary), finish],
        [{ _tag: "Sealed", kind: "text", opaque: { token: canary } }, finish],
        [{ ...finish, model: canary }]
      ]
      const file = yield* path
      const warned: Array<string> = []
      const logger = Logger.replace(
        Logger.defaultLogger,
        Logger.make(({ message }) => void warned.push(String(message)))
      )
      for (const [at, reply] of replies.entries()) {
        const layer = LLM.layerCassette({ path: file, mode: "record", model: parted(reply), secrets })
        const seen = yield* LLM.LLM.pipe(
          Effect.flatMap(({ stream }) => Stream.runCollect(stream(asking(`${at}`)))),
          use(layer),
          Effect.provide(logger)
        )
        assert.deepStrictEqual(Chunk.toReadonlyArray(seen), reply)
      }
      assert.lengthOf(warned, replies.length)
      const written = text(file)
      const holds = CassetteSecret.finder(secrets)
      assert.isFalse(holds(written))
      for (const line of lines(file).slice(1)) assert.deepInclude(JSON.parse(line), { withheld: "secret" })
      const error = yield* Effect.flip(ask("0")).pipe(use(LLM.layerCassette({ path: file, mode: "replay", secrets })))
      assert.deepInclude(error, {
        reason: "CassetteDrift",
        what: "The reply to this wire was not kept: it held a secret."
      })
      // What was withheld is asked for again, and kept once it holds none.
      const auto = use(LLM.layerCassette({ path: file, mode: "auto", model: echo, secrets }))
      assert.strictEqual(yield* auto(ask("0")), "You said: 0")
      assert.strictEqual(
        yield* ask("0").pipe(use(LLM.layerCassette({ path: file, mode: "replay", secrets }))),
        "You said: 0"
      )
    })
  )

  it.scoped("of the wire, or of the layer that is recorded, is in no line", () =>
    Effect.gen(function* () {
      const file = yield* path
      const key = Config.redacted("KEY")
      const model = Layer.unwrapEffect(
        Effect.map(key, (key) => LLM.layerScripted((wire) => (Redacted.value(key) === "" ? "" : `${wire.iteration}`)))
      ).pipe(Layer.orDie)
      yield* ask(`My key is ${canary}.`).pipe(
        use(LLM.layerCassette({ path: file, mode: "record", model })),
        Effect.withConfigProvider(ConfigProvider.fromMap(new Map([["KEY", canary]])))
      )
      assert.lengthOf(lines(file), 2)
      assert.isFalse(CassetteSecret.finder(secrets)(text(file)))
    })
  )

  it.scoped("leaves a line that no other is like, and that nothing is near to", () =>
    Effect.gen(function* () {
      const file = yield* path
      const model = LLM.layerScripted((wire) => (wire.messages.length === 2 ? canary : "fine"))
      const record = <A, E>(effect: Effect.Effect<A, E, LLM.LLM>) =>
        effect.pipe(
          use(LLM.layerCassette({ path: file, mode: "record", model, secrets })),
          Effect.provide(Logger.remove(Logger.defaultLogger))
        )
      yield* record(ask("a", "b"))
      const error = yield* Effect.flip(ask("a")).pipe(use(LLM.layerCassette({ path: file, mode: "replay" })))
      assert.strictEqual(error.found, "an empty cassette")
      yield* record(Effect.all([ask("a"), ask("a", "c"), ask("a", "c", "d")]))
      const [, , first, , last] = lines(file).map((line) => JSON.parse(line))
      assert.deepInclude(last.like, { wire: first.wire, messages: 1 })
      // The same where the file is written anew.
      const before = text(file)
      assert.strictEqual(Cassette.print(Either.getOrThrow(Cassette.parse(before))), before)
    })
  )

  it.scoped("that is in the id of a piece keeps the line out", () =>
    Effect.gen(function* () {
      const file = yield* path
      const { messages, ...wire } = asking("a")
      const named = { ...wire, messages: messages.map((piece) => ({ ...piece, id: canary })) }
      yield* LLM.reply(named).pipe(
        use(LLM.layerCassette({ path: file, mode: "record", model: echo, secrets })),
        Effect.provide(Logger.remove(Logger.defaultLogger))
      )
      assert.isFalse(CassetteSecret.finder(secrets)(text(file)))
      assert.deepStrictEqual(JSON.parse(lines(file)[1] ?? ""), { wire: Wire.hash(named), withheld: "secret" })
    })
  )
})

describe("Several writers", () => {
  it.scoped("of one process keep the file whole", () =>
    Effect.gen(function* () {
      const file = yield* path
      const writer = (name: string) =>
        Effect.forEach(Array.from({ length: 20 }), (_, at) => ask(`${name} ${at}`), { concurrency: 5 }).pipe(
          use(LLM.layerCassette({ path: file, mode: "auto", model: echo }))
        )
      yield* Effect.all([writer("a"), writer("b"), writer("a")], { concurrency: "unbounded" })
      const cassette = Either.getOrThrow(Cassette.parse(text(file)))
      assert.lengthOf(cassette.exchanges, 40)
      assert.deepStrictEqual(fs.readdirSync(join(file, "..")), ["a.jsonl"])
    })
  )

  it.scoped("of several processes keep the file whole", () =>
    Effect.gen(function* () {
      const file = yield* path
      const child = new URL("./fixtures/cassettes.ts", import.meta.url).pathname
      const run = (name: string) =>
        Effect.promise(() => promisify(execFile)(process.execPath, ["--import", "tsx", child, file, name, "20"]))
      yield* Effect.all([run("a"), run("b")], { concurrency: "unbounded" })
      const cassette = Either.getOrThrow(Cassette.parse(text(file)))
      assert.lengthOf(cassette.exchanges, 40)
      assert.deepStrictEqual(fs.readdirSync(join(file, "..")), ["a.jsonl"])
    })
  )

  it.scoped("know what the others have recorded since, and keep what was there first", () =>
    Effect.gen(function* () {
      const file = yield* path
      const open = (name: string, before: Effect.Effect<void> = Effect.void) => {
        const model = Layer.succeed(LLM.LLM, {
          stream: () =>
            Stream.concat(
              Stream.drain(Stream.fromEffect(before)),
              Stream.fromIterable<LLM.Part>([
                { _tag: "Text", delta: name },
                { _tag: "Finish", stopReason: "stop", usage: {} }
              ])
            )
        })
        const layer = Layer.provide(LLM.layerCassette({ path: file, mode: "auto", model }), NodeFileSystem.layer)
        return Effect.map(Layer.build(layer), (built) => (text: string) => Effect.provide(ask(text), built))
      }
      const a = yield* open("a")
      const b = yield* open("b")
      const turns = [a("1"), b("2"), a("2"), b("1"), b("3"), a("4"), b("4"), a("3")]
      assert.deepStrictEqual(yield* Effect.all(turns), ["a", "b", "b", "a", "b", "a", "a", "b"])
      // Another records the same wire while this one waits for its model.
      const c = yield* open("c", Effect.asVoid(Effect.orDie(a("5"))))
      assert.strictEqual(yield* c("5"), "c")
      assert.deepStrictEqual(
        lines(file)
          .slice(1)
          .map((line): unknown => JSON.parse(line).reply[0].text[0]),
        ["a", "b", "b", "a", "a"]
      )
      assert.strictEqual(yield* c("5"), "a")
    })
  )

  it.scoped("do not wait for one that died with the lock", () =>
    Effect.gen(function* () {
      const file = yield* path
      fs.mkdirSync(join(file, ".."))
      const lock = `${file}.lock`
      fs.writeFileSync(lock, "")
      const old = Date.now() / 1_000 - 60
      fs.utimesSync(lock, old, old)
      assert.strictEqual(
        yield* ask("a").pipe(use(LLM.layerCassette({ path: file, mode: "record", model: echo }))),
        "You said: a"
      )
      assert.deepStrictEqual(fs.readdirSync(join(file, "..")), ["a.jsonl"])
      // One that died while it removed that of another is in nobody's way either.
      fs.writeFileSync(lock, "")
      fs.writeFileSync(`${lock}.break`, "")
      fs.utimesSync(lock, old, old)
      fs.utimesSync(`${lock}.break`, old, old)
      assert.strictEqual(
        yield* ask("b").pipe(use(LLM.layerCassette({ path: file, mode: "record", model: echo }))),
        "You said: b"
      )
      assert.deepStrictEqual(fs.readdirSync(join(file, "..")), ["a.jsonl"])
    })
  )
})
