import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import { assert, describe, it } from "@effect/vitest"
import { Either, Effect, Layer, Redacted } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import * as Piece from "../../src/kernel/Piece.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as SkillMap from "../../src/kernel/SkillMap.ts"
import * as Window from "../../src/kernel/Window.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as LLMSuite from "../../src/services/LLMSuite.ts"
import * as Desk from "../programs/Desk.ts"
import * as Shop from "../programs/Shop.ts"
import * as Dialects from "./Dialects.ts"
import { type Handler, serve } from "./ModelServer.ts"

type Json = { readonly [key: string]: unknown }

interface Api {
  readonly name: string
  readonly dialect: Dialects.Dialect
  readonly layer: (url: string) => Layer.Layer<LLM.LLM, LLM.LLMError>
  readonly takesMarks: boolean
  /** Notices are sent inside the last message. */
  readonly isJoined: boolean
  /** All texts are in one, so that the mark of what stays is lost with another skill. */
  readonly isOneText: boolean
}

const effectAnthropic = (url: string, more: LLM.LanguageModelOptions = {}) =>
  LLM.layerLanguageModel({ provider: "anthropic", ...more }).pipe(
    Layer.provide(AnthropicLanguageModel.layer({ model: "claude-sonnet-4-20250514" })),
    Layer.provide(AnthropicClient.layer({ apiKey: Redacted.make(Dialects.canary), apiUrl: url.replace(/\/v1$/, "") })),
    Layer.provide(FetchHttpClient.layer)
  )

const apis: ReadonlyArray<Api> = [
  ...Dialects.all.map((dialect) => ({
    name: dialect.name,
    dialect,
    layer: (url: string) => dialect.layer(url),
    takesMarks: dialect === Dialects.anthropic,
    isJoined: dialect === Dialects.compatible,
    isOneText: dialect !== Dialects.anthropic
  })),
  ...[false, true].map((isUnnamed) => ({
    name: `@effect/ai-anthropic, ${isUnnamed ? "under a name that says nothing" : "named"}`,
    dialect: Dialects.anthropic,
    layer: (url: string) => effectAnthropic(url, isUnnamed ? { provider: "acme" } : {}),
    takesMarks: true,
    isJoined: isUnnamed,
    isOneText: isUnnamed
  }))
]

// The run: tools, findings, a window, a map that parks and comes back, steps, and reasoning in the middle.

const passes = 20

/** Two skills about orders, the second with steps. */
const orders = Either.getOrThrow(
  SkillMap.make({
    ...Desk.orders,
    skills: Desk.orders.skills.map((skill) =>
      skill.id === "refund"
        ? {
            ...skill,
            tools: Desk.orders.skills.flatMap(({ tools }) => tools),
            steps: [
              { toolName: "zone", note: "Look first." },
              { toolName: "find_order", note: "" },
              { toolName: "refund", note: "" }
            ]
          }
        : skill
    )
  })
)

const fact = (handle: string, value: number) => ({
  toolCallId: handle,
  standing: "fact",
  assertions: [{ subject: { kind: "day", id: `d${value}` }, predicate: "degrees", value }]
})

type Called = readonly [tool: string, args?: Json]

/** What the model calls in a pass. */
const callsOf = (pass: number): ReadonlyArray<Called> => {
  switch (pass) {
    case 2:
      return [["weather"], ["clock"]]
    case 4:
      return [["weather", { _findings: { previous: [fact("r1", 4)] } }]]
    case 5:
      return [["read_skill", { id: "find" }]]
    case 6:
      return [["find_order"]]
    case 7:
      return [["zone", { _findings: { previous: [fact("r4", 7)] } }]]
    case 8:
      return [["find_order", { _findings: { previous: [{ toolCallId: "r2", standing: "noise" }] } }]]
    case 9:
      return [["weather"], ["clock"], ["weather"]]
    default:
      return [["weather", { _findings: { previous: [fact(`r${pass}`, pass)] } }]]
  }
}

/** Its answer comes while a step is open, and again when it was told so. */
const said = (pass: number, tokens: number): Dialects.Said => {
  const usage = { input: tokens, cacheRead: 0, cacheWrite: 0, output: 2 }
  if (pass >= passes - 1) return { deltas: ["Done."], stop: "stop", usage }
  return {
    usage,
    ...(pass >= 12 && pass <= 15 ? { reasoning: `Hm ${pass}.` } : {}),
    ...(pass % 3 === 0 ? { deltas: ["Let me ", "look."] } : {}),
    calls: callsOf(pass).map(([name, args], at) => ({
      id: `c${pass}-${at}`,
      name,
      deltas: [JSON.stringify(name === "read_skill" ? args : { of: `${pass}`, ...args })]
    })),
    stop: "tool-calls"
  }
}

const filler = "It rained, and then it did not, as on all days before. ".repeat(4)

const agent = Agent.make({
  name: "desk",
  instructions: "Help.",
  toolkit: Desk.toolkit,
  maps: [orders],
  pieces: [Piece.fact("house", "The house has two doors. ä€😀")],
  findings: true,
  window: Window.tokenBudget(4_600, { downTo: 3_600 })
})

const frame = (event: unknown) => {
  const type = typeof event === "object" && event !== null && "type" in event ? `event: ${String(event.type)}\n` : ""
  return `${type}data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`
}

const reply =
  ({ events }: Dialects.Dialect, pass: number): Handler =>
  ({ body, response }) => {
    const { end, said: before } = events(said(pass, Math.ceil(body.length / 4)))
    response.writeHead(200, { "content-type": "text/event-stream" }).end([...before, ...end].map(frame).join(""))
  }

/** What a provider caches of a request, item by item in the order in which it does, and after which of them it is told to. */
interface Sent {
  readonly items: ReadonlyArray<string>
  readonly marked: ReadonlyArray<number>
}

const list = (value: unknown): ReadonlyArray<Json> => (Array.isArray(value) ? value : [])

const read = (body: string): Sent => {
  const { input, messages, system, tools } = JSON.parse(body) as Json
  const blocks = list(messages).flatMap(({ content, role, ...more }) =>
    Array.isArray(content) && Object.keys(more).length === 0
      ? list(content).map((block): Json => ({ role, ...block }))
      : [{ role, content, ...more }]
  )
  const all = [...list(tools), ...list(system), ...blocks, ...list(input)]
  return {
    items: all.map(({ cache_control: _, ...item }) => JSON.stringify(item)),
    marked: all.flatMap(({ cache_control }, at) => (cache_control === undefined ? [] : [at]))
  }
}

const common = (left: string, right: string): number => {
  let at = 0
  while (at < left.length && left[at] === right[at]) at++
  return at
}

const play = ({ dialect, layer }: Pick<Api, "dialect" | "layer">) =>
  Effect.gen(function* () {
    const server = yield* serve(...Array.from({ length: passes }, (_, at) => reply(dialect, at + 1)))
    yield* Effect.provide(Agent.run(agent, "What of my order?", { runId: "r" }), layer(server.url))
    const events = yield* Shop.events("r")
    const state = Run.fold(events)
    assert.deepStrictEqual(state.violations, [])
    for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(projectedHash, recordedHash)
    assert.lengthOf(server.exchanges, passes)
    return {
      bodies: server.exchanges.map(({ body }) => body),
      wires: Array.from({ length: passes }, (_, at) => Wire.project(state, at + 1)),
      events
    }
  }).pipe(
    Effect.provide([
      Shop.services,
      Desk.handlers({ weather: filler, clock: filler, zone: filler, find_order: { status: "delivered", filler } })
    ]),
    Effect.scoped
  )

/** A blank line in JSON. */
const blank = "\\n\\n".length

const isNotice = ({ origin }: Wire.SystemPiece): boolean => origin === "runtime"

const same = (left: ReadonlyArray<Wire.Piece>, right: ReadonlyArray<Wire.Piece>): boolean =>
  left.length === right.length && left.every(({ hash, id }, at) => right[at]?.id === id && right[at]?.hash === hash)

/** What of a wire the next one has not: its prefix begins anew there. */
const restart = (before: Wire.Wire, after: Wire.Wire): "tools" | "system" | "messages" | undefined => {
  const early = ({ system }: Wire.Wire) => system.filter((piece) => !isNotice(piece))
  if (!same(before.tools, after.tools)) return "tools"
  if (!same(early(before), early(after))) return "system"
  return same(before.messages, after.messages.slice(0, before.messages.length)) ? undefined : "messages"
}

/** What may do that. */
const causes = {
  tools: ["PiecesSelected"],
  system: ["PiecesSelected", "WindowTrimmed"],
  messages: ["WindowTrimmed", "FindingsCollapsed"]
} as const satisfies { readonly [slot: string]: ReadonlyArray<Event.Event["_tag"]> }

const happened = (events: ReadonlyArray<Event.Event>, pass: number) =>
  events.flatMap((event) => ("iteration" in event && event.iteration === pass ? [event._tag] : []))

for (const api of apis) {
  describe(`The prefix of twenty passes, as ${api.name} is sent them,`, () => {
    it.live("only grows, but where a selection, a window or a judgement changes what was sent", () =>
      Effect.gen(function* () {
        const { bodies, events, wires } = yield* play(api)
        const seen = new Set<string>()
        let grown = 0
        for (const [at, body] of bodies.slice(0, -1).entries()) {
          const [wire, next] = [wires[at]!, wires[at + 1]!]
          const [before, after] = [read(body), read(bodies[at + 1]!)]
          const pass = `from pass ${at + 1}`
          const broken = restart(wire, next)
          const reasons = happened(events, at + 2)
          if (broken === undefined) {
            grown += 1
            if (reasons.includes("PiecesSelected")) seen.add("grows, with other notices")
          } else {
            const why = causes[broken].filter((one) => reasons.includes(one))
            assert.isNotEmpty(why, `${pass}: the ${broken} restart for no reason on the record`)
            for (const one of why) seen.add(`${broken}: ${one}`)
          }
          const opening = wire.tools.length + (wire.system.every(isNotice) ? 0 : 1)
          if (broken === "messages") {
            assert.deepStrictEqual(after.items.slice(0, opening), before.items.slice(0, opening), pass)
          }
          // No provider of a law of orders refuses what has no message more.
          if (api.dialect === Dialects.compatible) {
            assert.lengthOf(before.items, wire.tools.length + 1 + wire.messages.length, pass)
          }
          if (api.takesMarks) {
            assert.isAtMost(before.marked.length, 3, pass)
            const [first, last] = [before.marked[0]!, before.marked.at(-1)!]
            // What stays in every pass is read again, whatever became of the rest.
            assert.strictEqual(first, opening - 1, pass)
            const isLost = broken === "tools" || (api.isOneText && broken === "system")
            if (!isLost) assert.deepStrictEqual(after.items.slice(0, opening), before.items.slice(0, opening), pass)
            if (broken !== undefined) continue
            assert.deepStrictEqual(after.items.slice(0, last + 1), before.items.slice(0, last + 1), pass)
            // The provider need not look for what it had kept: that mark is there again, and one behind it.
            assert.include(after.marked, last, pass)
            assert.isAbove(after.marked.at(-1)!, last, pass)
          } else {
            assert.deepStrictEqual(before.marked, [], pass)
            if (broken !== undefined) continue
            const [left, right] = [before.items.join("\n"), after.items.join("\n")]
            const [notice] = wire.system.filter(isNotice)
            assert.isDefined(notice)
            const until = left.lastIndexOf(JSON.stringify(notice!.text).slice(1, -1))
            assert.isAbove(until, 0, pass)
            // A notice in a message of its own stands after what opens the message, and another after a blank line.
            const begun = api.isJoined ? blank : until - left.lastIndexOf("\n", until) - 1
            assert.isAtLeast(common(left, right), until - begun, pass)
          }
        }
        assert.isAtLeast(grown, 12)
        assert.sameMembers(Array.from(seen), [
          "tools: PiecesSelected",
          "messages: WindowTrimmed",
          "messages: FindingsCollapsed",
          "grows, with other notices"
        ])
      })
    )

    it.live("goes on in a run that follows it up", () =>
      Effect.gen(function* () {
        // Two calls and an answer; a question more, a call and an answer.
        const told = [7, 8, passes, 9, passes]
        const clerk = Agent.make({ name: "desk", instructions: "Help.", toolkit: Desk.toolkit })
        const server = yield* serve(...told.map((pass) => reply(api.dialect, pass)))
        yield* Effect.gen(function* () {
          yield* Agent.run(clerk, "What of my order?", { runId: "r" })
          yield* Agent.followUp(clerk, "r", "And now?", { runId: "s" })
        }).pipe(Effect.provide(api.layer(server.url)))
        const sent = server.exchanges.map(({ body }) => read(body))
        assert.lengthOf(sent, told.length)
        for (const [at, { items, marked }] of sent.slice(0, -1).entries()) {
          const next = sent[at + 1]!
          assert.deepStrictEqual(next.items.slice(0, items.length), items, `from request ${at + 1}`)
          // Without notices everything that was sent is there again.
          assert.deepStrictEqual(marked.slice(-1), api.takesMarks ? [items.length - 1] : [])
          if (api.takesMarks) assert.include(next.marked, items.length - 1)
        }
      }).pipe(Effect.provide([Shop.services, Desk.handlers()]), Effect.scoped)
    )

    it.live("holds every text of the wire once", () =>
      Effect.gen(function* () {
        const { bodies, wires } = yield* play(api)
        for (const [at, body] of bodies.entries()) {
          for (const { id, text } of wires[at]!.system) {
            const written = JSON.stringify(text).slice(1, -1)
            // One package sends results as JSON within JSON.
            const within = JSON.stringify(written).slice(1, -1)
            const found = Math.max(body.split(written).length, body.split(within).length) - 1
            assert.strictEqual(found, 1, `${id} in pass ${at + 1}`)
          }
        }
      })
    )
  })
}

describe("A request", () => {
  const noticed: Wire.Wire = {
    ...LLMSuite.wire,
    system: [
      ...LLMSuite.wire.system,
      { ...LLMSuite.wire.system[0]!, id: "skill:a", owner: { memberId: "a" }, text: "Be kind." },
      { ...LLMSuite.wire.system[0]!, id: "wherefore:offer", origin: "runtime", text: "[Notice]" }
    ],
    tools: ["look", "list"].map((name) => ({
      ...LLMSuite.wire.messages[0]!,
      id: `tool:${name}`,
      slot: "tools",
      tool: { name, schema: { type: "object", properties: {} } }
    }))
  }
  const answer =
    ({ events }: Dialects.Dialect): Handler =>
    ({ response }) => {
      const { end, said: before } = events({ deltas: ["Yes."], stop: "stop", usage: { input: 1, output: 1 } })
      response.writeHead(200, { "content-type": "text/event-stream" }).end([...before, ...end].map(frame).join(""))
    }
  const sent = (
    dialect: Dialects.Dialect,
    layer: (url: string) => Layer.Layer<LLM.LLM, LLM.LLMError>,
    wire: Wire.Wire = noticed
  ) =>
    Effect.gen(function* () {
      const server = yield* serve(answer(dialect))
      yield* Effect.provide(LLM.reply(wire), layer(server.url))
      return JSON.parse(server.exchanges[0]!.body) as Json
    }).pipe(Effect.scoped)
  const apiKey = Redacted.make(Dialects.canary)
  const ephemeral = { type: "ephemeral" }

  it.live("to Anthropic has its marks after what stays, and none where the layer is told so", () =>
    Effect.gen(function* () {
      const { anthropic } = Dialects
      const marked = yield* sent(anthropic, anthropic.layer)
      assert.deepStrictEqual(marked["system"], [
        { type: "text", text: "Be brief.", cache_control: ephemeral },
        { type: "text", text: "Be kind." }
      ])
      assert.deepStrictEqual(marked["messages"], [
        {
          role: "user",
          content: [
            { type: "text", text: "Which zone?", cache_control: ephemeral },
            { type: "text", text: "[Notice]" }
          ]
        }
      ])
      const bare = yield* sent(anthropic, anthropic.layer, { ...noticed, system: noticed.system.slice(2) })
      assert.deepStrictEqual(
        list(bare["tools"]).map(({ cache_control, name }) => [name, cache_control]),
        [
          ["look", undefined],
          ["list", ephemeral]
        ]
      )
      const off = yield* sent(anthropic, (url) =>
        LLM.layerAnthropic({ url, model: "claude-sonnet-4-5", apiKey, cache: false })
      )
      assert.notInclude(JSON.stringify(off), "cache_control")
      assert.deepStrictEqual(
        list(off["system"]).map(({ text }) => text),
        ["Be brief.\n\nBe kind.\n\n[Notice]"]
      )
    })
  )

  it.live("to others has notices last in the form that they take, and first where the layer is told so", () =>
    Effect.gen(function* () {
      const { chat, compatible, responses } = Dialects
      const first = "Be brief.\n\nBe kind."
      assert.deepStrictEqual((yield* sent(compatible, compatible.layer))["messages"], [
        { role: "system", content: first },
        { role: "user", content: "Which zone?\n\n[Notice]" }
      ])
      assert.deepStrictEqual((yield* sent(chat, chat.layer))["messages"], [
        { role: "developer", content: first },
        { role: "user", content: "Which zone?" },
        { role: "developer", content: "[Notice]" }
      ])
      assert.deepStrictEqual((yield* sent(responses, responses.layer))["input"], [
        { role: "developer", content: first },
        { role: "user", content: [{ type: "input_text", text: "Which zone?" }] },
        { role: "developer", content: "[Notice]" }
      ])
      const off = { apiKey, model: "gpt-5", cache: false } as const
      const all = `${first}\n\n[Notice]`
      const closed = [
        list((yield* sent(compatible, (url) => LLM.layerOpenAiCompatible({ url, ...off })))["messages"]),
        list((yield* sent(chat, (url) => LLM.layerOpenAi({ url, api: "chat", ...off })))["messages"]),
        list((yield* sent(responses, (url) => LLM.layerOpenAi({ url, ...off })))["input"])
      ]
      for (const messages of closed) {
        assert.lengthOf(messages, 2)
        assert.strictEqual(messages[0]?.["content"], all)
      }
      const effect = (more: LLM.LanguageModelOptions) =>
        Effect.map(
          sent(Dialects.anthropic, (url) => effectAnthropic(url, more)),
          ({ messages, system }) =>
            [system, list(messages)[0]?.["content"]].map((blocks) =>
              list(blocks).map(({ cache_control, text }) => [text, cache_control !== undefined])
            )
        )
      assert.deepStrictEqual(yield* effect({ cache: false }), [[[all, false]], [["Which zone?", false]]])
      assert.deepStrictEqual(yield* effect({}), [
        [
          ["Be brief.", true],
          ["Be kind.", false]
        ],
        [
          ["Which zone?", true],
          ["[Notice]", false]
        ]
      ])
      assert.deepStrictEqual(yield* effect({ provider: "acme" }), [
        [[first, true]],
        [["Which zone?\n\n[Notice]", false]]
      ])
    })
  )

  it.live("that ends in a result of the model's reasoning has its notices inside of that result", () =>
    Effect.gen(function* () {
      const { anthropic } = Dialects
      const [asked] = noticed.messages
      const reply = (sealedBy: string): Wire.MessagePiece => ({
        ...asked!,
        id: "r",
        message: {
          role: "assistant",
          content: "",
          toolCalls: [{ toolCallId: "c", toolName: "look", args: "{}" }],
          sealed: {
            provider: sealedBy,
            reasoning: "Hm.",
            blocks: [{ kind: "reasoning", chars: 3, opaque: { anthropic: { signature: "s" } } }, { kind: "call" }]
          }
        }
      })
      const result: Wire.MessagePiece = {
        ...asked!,
        id: "t",
        message: { role: "tool", toolCallId: "c", toolName: "look", outcome: "ran-ok", content: "" }
      }
      const last = (sealedBy: string) =>
        Effect.map(
          sent(anthropic, anthropic.layer, { ...noticed, messages: [asked!, reply(sealedBy), result] }),
          ({ messages }) => list(messages).slice(1)
        )
      const call = { type: "tool_use", id: "c", name: "look", input: {} }
      // Also where the model has not said more of what it thinks since.
      const more = [asked!, reply("anthropic.messages"), result, reply("other"), result]
      const { messages } = yield* sent(anthropic, anthropic.layer, { ...noticed, messages: more })
      assert.deepStrictEqual(list(messages).at(-1), {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "c", content: "[Notice]" }]
      })
      assert.deepStrictEqual(yield* last("anthropic.messages"), [
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "s" },
            { ...call, cache_control: ephemeral }
          ]
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "c", content: "[Notice]" }] }
      ])
      // What another provider sealed is not sent, and so is not interrupted. Nothing is marked that is empty.
      assert.deepStrictEqual(yield* last("other"), [
        { role: "assistant", content: [{ ...call, cache_control: ephemeral }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "c", content: "" },
            { type: "text", text: "[Notice]" }
          ]
        }
      ])
    })
  )
})
