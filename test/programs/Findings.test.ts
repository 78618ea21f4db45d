import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Either, Schema } from "effect"
import * as Coverage from "../../src/kernel/Coverage.ts"
import * as Event from "../../src/kernel/Event.ts"
import * as FindingPass from "../../src/kernel/FindingPass.ts"
import * as Findings from "../../src/kernel/Findings.ts"
import * as Run from "../../src/kernel/Run.ts"
import type * as State from "../../src/kernel/State.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as Wire from "../../src/kernel/Wire.ts"
import * as Written from "../../src/kernel/Written.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Screen from "../../src/programs/Screen.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

const Look = Tool.make("look", { parameters: { of: Schema.String }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Look)
const texts: { readonly [of: string]: string } = {
  order: "Order A-1001 costs 1859 and is paid by card 7447-22; nothing else is known of it at this time.",
  zone: "Zone Z-7710 covers the harbour and has 4410 parcels waiting, of which none is addressed to the person who asks.",
  stock: "Stock S-2020 says 5150 pieces are left in the southern store, counted on the first day of the month."
}
const handlers = (seen: Array<unknown> = []) =>
  toolkit.toLayer({
    look: (args) =>
      Effect.sync(() => {
        seen.push(args)
        return texts[args.of] ?? "nothing"
      })
  })
const agent = Agent.make({ name: "clerk", instructions: "Look.", toolkit, findings: true })

const fact = (id: string, subject: string, predicate: string, value: unknown) => ({
  toolCallId: id,
  standing: "fact",
  assertions: [{ subject: { kind: "order", id: subject }, predicate, value }]
})

/** Looks at three things under one call id, judging by handles, and answers with a value of an open result. */
const script: LLM.Chooser = ({ iteration }) => {
  switch (iteration) {
    case 1:
      return LLM.call("look", { of: "order" }, "x")
    case 2:
      return LLM.call(
        "look",
        {
          of: "zone",
          _findings: {
            proposition: "the zone waits",
            previous: [fact("r1", "A-1001", "costs", 1859), { toolCallId: 7 }]
          }
        },
        "x"
      )
    case 3:
      return LLM.together(
        LLM.call("look", { of: "stock", _findings: { previous: [{ toolCallId: "r2", standing: "noise" }] } }, "x"),
        LLM.call("look", { of: "A-1001", _findings: { previous: [fact("r1", "A-1001", "costs", 1860)] } }, "y")
      )
    case 4:
      return LLM.call(
        "look",
        { of: "Z-7710", _findings: { previous: [{ toolCallId: "r3", standing: "open", settles: "a count" }] } },
        "z"
      )
    default:
      return LLM.say("The order costs 1860, 5150 pieces are left, and 4410 wait.")
  }
}

const services = [Shop.services, handlers(), LLM.layerScripted(script)] as const

const played = Effect.gen(function* () {
  const outcome = yield* Agent.run(agent, "What of my order?", { runId: "r" })
  return { outcome, events: yield* Shop.events("r") }
})

describe("A run with findings", () => {
  it.effect("files what is declared, and never lets a tool see it", () => {
    const seen: Array<unknown> = []
    return Effect.gen(function* () {
      const { events, outcome } = yield* played
      assert.deepStrictEqual(Run.fold(events).violations, [])
      assert.deepStrictEqual(
        seen,
        ["order", "zone", "stock", "A-1001", "Z-7710"].map((of) => ({ of }))
      )
      const { standingOf } = Findings.fold(outcome.findings)
      const ids = events.flatMap((event) => (event._tag === "ToolSettled" ? [event.toolCallId] : []))
      assert.strictEqual(new Set(ids).size, 5)
      assert.deepStrictEqual(
        Array.from(standingOf.values(), ({ standing, toolCallId, unechoed }) => [
          ids.indexOf(toolCallId) + 1,
          standing,
          unechoed?.length ?? 0
        ]),
        [
          [1, "fact", 1],
          [2, "noise", 0],
          [3, "open", 0]
        ]
      )
      assert.deepInclude(
        events.filter((event) => event._tag === "FindingRejected"),
        { _tag: "FindingRejected", iteration: 2, declaredOn: { toolCallId: ids[1] ?? "" }, index: 1, code: "bad-id" }
      )
      // The zone was noise when its number was used in a call, the stock open when the answer used its.
      const used = outcome.findings.flatMap((row) =>
        row.kind === "contingent" ? [[row.value, row.carriers.map(({ standing }) => standing).join()]] : []
      )
      assert.deepStrictEqual(used, [
        ["z-7710", "noise"],
        ["5150", "open"],
        ["4410", "noise"]
      ])
    }).pipe(Effect.provide([Shop.services, handlers(seen), LLM.layerScripted(script)]))
  })

  it.effect("sends handles, tickets, the piece and the offer, and projects each wire again", () =>
    Effect.gen(function* () {
      const { events } = yield* played
      const state = Run.fold(events)
      for (const mark of state.marks) {
        assert.strictEqual(mark.projectedHash, mark.recordedHash)
        assert.strictEqual(Wire.hash(Wire.project(state, mark.iteration)), mark.recordedHash)
      }
      const told = (pass: number) =>
        Wire.project(state, pass).messages.flatMap(({ message }) => (message.role === "tool" ? [message.content] : []))
      assert.deepStrictEqual(told(2), [`r1\n${texts["order"]}`])
      assert.strictEqual(told(4)[1]?.startsWith('r2\n{"collapsed":true,"standing":"noise"'), true)
      assert.deepStrictEqual(told(4)[0], `r1\n${texts["order"]}`)
      const system = (pass: number) => Wire.project(state, pass).system.map(({ id }) => id)
      assert.deepStrictEqual(system(1), ["instructions"])
      assert.deepStrictEqual(system(2), ["instructions", "wherefore:findings-offer"])
      assert.deepStrictEqual(system(3), ["instructions", "wherefore:findings", "wherefore:findings-offer"])
      const tools = new Set(state.marks.map(({ iteration }) => JSON.stringify(Wire.project(state, iteration).tools)))
      assert.strictEqual(tools.size, 1)
      assert.include(Array.from(tools).join(""), "_findings")
      const collapsed = events.flatMap((event) => (event._tag === "FindingsCollapsed" ? [event.iteration] : []))
      assert.deepStrictEqual(collapsed, [4])
    }).pipe(Effect.provide(services))
  )

  it.effect("comes to the same from every prefix of its record", () =>
    Effect.gen(function* () {
      const base = yield* played.pipe(Effect.provide(services))
      for (let length = 1; length <= base.events.length; length++) {
        yield* Effect.gen(function* () {
          yield* (yield* Record.Record).append("r", 0, base.events.slice(0, length))
          const outcome = yield* Agent.resume(agent, "r")
          const events = yield* Shop.events("r")
          assert.deepStrictEqual(events, base.events, `after ${length}: ${base.events[length - 1]?._tag}`)
          assert.deepStrictEqual(outcome, base.outcome)
        }).pipe(Effect.provide(services))
      }
    })
  )

  it.effect("carries its conversation into a follow-up, with handles anew", () =>
    Effect.gen(function* () {
      yield* played
      yield* Agent.followUp(agent, "r", "And now?", { runId: "s" }).pipe(Effect.provide(LLM.layerScripted(() => "So.")))
      const state = Run.fold(yield* Shop.events("s"))
      assert.deepStrictEqual(state.violations, [])
      const first = Wire.project(state, 1).messages.find(({ message }) => message.role === "tool")?.message
      assert.strictEqual(first?.content, `r1\n${texts["order"]}`)
    }).pipe(Effect.provide(services))
  )

  it.effect("is off unless asked for: the same run sends what it always did", () =>
    Effect.gen(function* () {
      const plain = Agent.make({ name: "clerk", instructions: "Look.", toolkit })
      yield* Agent.run(plain, "What?", { runId: "p" })
      const events = yield* Shop.events("p")
      const kinds = new Set<string>(events.map(({ _tag }) => _tag))
      assert.isFalse(Array.from(kinds).some((tag) => tag.startsWith("Finding")))
      const state = Run.fold(events)
      assert.notInclude(JSON.stringify(Wire.project(state, 1).tools), "_findings")
      assert.notInclude(JSON.stringify(Wire.project(state, 2).messages), "r1\\n")
    }).pipe(
      Effect.provide([
        Shop.services,
        handlers(),
        LLM.layerScripted(({ iteration }) => (iteration === 1 ? LLM.call("look", { of: "order" }, "x") : "So."))
      ])
    )
  )

  it.effect("appends long declarations of one reply in several lines", () =>
    Effect.gen(function* () {
      const previous = Array.from({ length: 32 }, (_, n) => ({
        toolCallId: `c${n}`,
        standing: "fact",
        assertions: Array.from({ length: 16 }, (_, m) => ({
          subject: { kind: "order", id: `${n}-${m}` },
          predicate: "says",
          value: "x".repeat(1_900)
        }))
      }))
      const call = LLM.call("look", { of: "order", _findings: { previous } })
      const long: LLM.Chooser = ({ iteration }) => (iteration === 1 ? LLM.together(call, call, call) : LLM.say("So."))
      const record = yield* Record.Record
      const sizes: Array<number> = []
      const append: typeof record.append = (runId, seq, events) => {
        sizes.push(JSON.stringify(events).length)
        return record.append(runId, seq, events)
      }
      const { status } = yield* Agent.run(agent, "What?", { runId: "l" }).pipe(
        Effect.provide(LLM.layerScripted(long)),
        Effect.provideService(Record.Record, { ...record, append })
      )
      // The reply itself is one event of three million characters, and rides alone.
      const [, next = 0] = sizes.toSorted((one, other) => other - one)
      assert.isBelow(next, 2_200_000)
      assert.strictEqual(status, "answered")
      const rows = (yield* Shop.events("l")).flatMap((event) => (event._tag === "FindingDeclared" ? event.rows : []))
      assert.lengthOf(rows, 96)
    }).pipe(Effect.provide(services))
  )

  it("refuses a tool that has the argument itself", () => {
    const Own = Tool.make("own", { parameters: { _findings: Schema.String }, success: Schema.String })
    const made = Agent.make({ name: "a", instructions: "", toolkit: Toolkit.make(Own), findings: true })
    assert.match(made.problems.join(), /argument _findings/)
  })

  it.effect("shows of a value of the answer what the model had called its sources", () =>
    Effect.gen(function* () {
      const { events } = yield* played
      const [asked, ...rest] = Why.value(events, "5150").nodes
      assert.deepInclude(asked, { kind: "value", unestablished: true })
      assert.deepInclude(
        rest.find((node) => node.kind === "carrier" && node.role === "tool"),
        { standing: "open" }
      )
      // The model declared 1860 of a result that says 1859: the chain ends in its own words.
      const chain = Why.value(events, "1860")
      assert.include(
        chain.edges.map(({ grounds }) => grounds),
        "declared"
      )
      const ended = chain.nodes.filter((node) => node.kind === "root").map(({ root }) => root)
      assert.deepStrictEqual(ended, [])
      assert.include(
        chain.gaps.map(({ kind }) => kind),
        "nowhere"
      )
      const own = Why.value(events, "1860").nodes.filter((node) => node.kind === "value" && node.place === "arguments")
      assert.isNotEmpty(own)
      assert.isFalse(
        Why.answer(events).nodes.some(
          (node) => node.kind === "value" && node.value === "1860" && node.unestablished === true
        )
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("leaves what was declared out of the causes of a call, since no tool was sent it", () =>
    Effect.gen(function* () {
      const { events } = yield* played
      const second = events.flatMap((event) => (event._tag === "ToolSettled" ? [event.toolCallId] : []))[1] ?? ""
      const { nodes } = Why.tool(events, second)
      const own = nodes.filter((node) => node.kind === "value" && node.pass === 2)
      assert.deepStrictEqual(
        own.map((node) => node.kind === "value" && node.value),
        ["zone"]
      )
      assert.deepInclude(
        nodes.find((node) => node.kind === "call"),
        { args: '{"of":"zone"}' }
      )
    }).pipe(Effect.provide(services))
  )

  it("cuts a declaration out of arguments wherever it stands", () => {
    const declared = '"_findings" : { "previous": [ "a,}]\\"", { "_findings": 1 } ] }'
    const cut = [
      [`{${declared}}`, "{}"],
      [`{"a": 1, ${declared}}`, '{"a": 1}'],
      [`{${declared}, "b": "_findings"}`, '{"b": "_findings"}'],
      [`{"a": {"_findings": 2}, ${declared} , "b": 3}`, '{"a": {"_findings": 2}, "b": 3}'],
      ['{"a": 1}', '{"a": 1}'],
      ["no JSON", "no JSON"]
    ] as const
    for (const [args, expected] of cut) {
      assert.strictEqual(Written.withoutFindings(args), expected)
      const places = Written.inCall(args).map(({ end, start, text }) => args.slice(start, end) === text)
      assert.notInclude(places, false)
    }
  })

  it.effect("says in the terminal what a result had been called", () =>
    Effect.gen(function* () {
      const { events } = yield* played
      const chain = Why.value(events, "5150")
      const printed = Screen.print(Screen.tree(chain, { room: { width: 120 } }), { colour: false })
      assert.match(printed, /result of look .*, declared open/)
    }).pipe(Effect.provide(services))
  )

  it.effect("leaves out of a chain what was a ticket on the wire", () =>
    Effect.gen(function* () {
      const { events } = yield* played
      const pieces = (text: string) =>
        Why.value(events, text).nodes.flatMap((node) =>
          node.kind === "carrier" && node.slot === "messages" ? [node.seq] : []
        )
      assert.isNotEmpty(pieces("5150"))
      assert.isEmpty(pieces("4410"))
      assert.deepStrictEqual(
        Why.value(events, "4410").gaps.map(({ kind }) => kind),
        ["collapsed"]
      )
    }).pipe(Effect.provide(services))
  )

  /** A run that judges its first result three times, with options of the application's. */
  const judging = (options: Agent.Options<typeof toolkit.tools>["findings"]) =>
    Effect.gen(function* () {
      const own = Agent.make({
        name: "clerk",
        instructions: "Look.",
        toolkit,
        ...(options === undefined ? {} : { findings: options })
      })
      yield* Agent.run(own, "What?", { runId: "j" })
      const events = yield* Shop.events("j")
      const state = Run.fold(events)
      for (const mark of state.marks) {
        assert.strictEqual(Wire.hash(Wire.project(state, mark.iteration)), mark.recordedHash)
      }
      const sent = state.marks.map(({ iteration }) => {
        const { messages, system } = Wire.project(state, iteration)
        const first = messages.find(({ message }) => message.role === "tool")?.message.content ?? ""
        return {
          form: first.includes('"collapsed":true') ? "ticket" : first === "" ? "none" : "whole",
          quotes: system.some(({ text }) => text.includes("quote the facts"))
        }
      })
      return { events, forms: sent.map(({ form }) => form), quotes: sent.map(({ quotes }) => quotes) }
    }).pipe(
      Effect.provide([
        Shop.services,
        handlers(),
        LLM.layerScripted(({ iteration }) => {
          const standing = ["", "fact", "noise", "open"][iteration - 1]
          if (standing === undefined) return LLM.say("So.")
          const previous = standing === "" ? [] : [{ toolCallId: "r1", standing }]
          return LLM.call("look", { of: "order", _findings: { previous } }, "x")
        })
      ])
    )

  it.effect("sends a result again that was judged anew, and says so", () =>
    Effect.gen(function* () {
      const { events, forms } = yield* judging(true)
      assert.deepStrictEqual(forms, ["none", "whole", "whole", "ticket", "whole"])
      const told = events.flatMap((event) =>
        event._tag === "FindingsCollapsed"
          ? [[event.iteration, event.ids.length, event.restored?.length ?? 0, event.charsSaved > 0]]
          : []
      )
      assert.deepStrictEqual(told, [
        [4, 1, 0, true],
        [5, 0, 1, false]
      ])
    })
  )

  it.effect("takes its options from the application", () =>
    Effect.gen(function* () {
      const off = yield* judging({ collapse: "off" })
      assert.deepStrictEqual(off.forms, ["none", "whole", "whole", "whole", "whole"])
      const ledger = yield* judging({ collapse: "ledger-only", ask: "quote-facts" })
      assert.deepStrictEqual(ledger.forms, ["none", "whole", "ticket", "ticket", "whole"])
      assert.deepStrictEqual(off.quotes, [false, false, false, false, false])
      assert.deepStrictEqual(ledger.quotes, [false, false, true, true, true])
    })
  )

  it.effect("files what an absence left open when it is ruled out", () =>
    Effect.gen(function* () {
      const Find = Tool.make("find", { parameters: { of: Schema.String }, success: Coverage.Absence })
      const kit = Toolkit.make(Find)
      const absence = Either.getOrThrow(
        Coverage.absent({ what: "a lamp", checked: ["the shop"], notChecked: ["the store"], tryInstead: "ask Ann" })
      )
      const own = Agent.make({ name: "finder", instructions: "Find.", toolkit: kit, findings: true })
      const previous = [{ toolCallId: "r1", standing: "ruled-out", line: "no lamp in the shop" }]
      const finding: LLM.Chooser = ({ iteration }) =>
        iteration > 2
          ? LLM.say("None.")
          : LLM.call("find", { of: "lamp", ...(iteration === 1 ? {} : { _findings: { previous } }) }, `f${iteration}`)
      const { findings } = yield* Agent.run(own, "A lamp?", { runId: "f" }).pipe(
        Effect.provide([LLM.layerScripted(finding), kit.toLayer({ find: () => Effect.succeed(absence) })])
      )
      assert.deepStrictEqual(
        findings.filter(({ kind }) => kind === "unsettled"),
        [
          {
            kind: "unsettled",
            seq: 1,
            iteration: 2,
            toolCallId: "f1",
            notChecked: [{ what: "the store" }],
            tryInstead: "ask Ann"
          }
        ]
      )
      const system = Wire.project(Run.fold(yield* Shop.events("f")), 3).system.map(({ text }) => text)
      assert.include(system.join("\n"), 'not_checked: "the store"')
    }).pipe(Effect.provide(Shop.services))
  )

  it.effect("names a bounded number of those that speak in a conflict", () =>
    Effect.gen(function* () {
      const say = (at: number, value: number) => fact(`c${at}`, "A", "costs", value)
      const calls = [0, 1, 2].map((n) => ({
        previous: Array.from({ length: 32 }, (_, at) => say(n * 32 + at, n === 2 && at === 31 ? 2 : 1))
      }))
      const many: LLM.Chooser = ({ iteration }) =>
        iteration > 1
          ? LLM.say("So.")
          : LLM.together(...calls.map((_findings) => LLM.call("look", { of: "order", _findings })))
      yield* Agent.run(agent, "What?", { runId: "m" }).pipe(Effect.provide(LLM.layerScripted(many)))
      const conflicts = (yield* Shop.events("m")).flatMap((event) =>
        event._tag === "FindingConflicted" ? [[event.witnesses.length, event.more]] : []
      )
      assert.deepStrictEqual(conflicts, [[64, 32]])
    }).pipe(Effect.provide(services))
  )

  it.effect("files the rest of a reply from wherever its filing broke off", () => {
    const several: LLM.Chooser = ({ iteration }) => {
      if (iteration === 1) return LLM.together(LLM.call("look", { of: "order" }), LLM.call("look", { of: "zone" }))
      if (iteration > 2) return LLM.say("4410 wait, 5150 are left.")
      const both = [fact("r1", "A", "costs", 1859), fact("r2", "A", "costs", 1860)]
      return LLM.together(
        LLM.call("look", { of: "stock", _findings: { previous: both } }),
        LLM.call("look", { of: "order", _findings: { previous: [{ toolCallId: "r1", standing: "noise" }, 5] } }),
        LLM.call("look", { of: "Z-7710", _findings: { previous: [{ toolCallId: "r2", standing: "open" }, "x"] } })
      )
    }
    const severally = [Shop.services, handlers(), LLM.layerScripted(several)] as const
    return Effect.gen(function* () {
      const base = yield* played.pipe(Effect.provide(severally))
      const tags = base.events.map(({ _tag }) => _tag)
      assert.include(tags, "FindingConflicted")
      assert.lengthOf(
        tags.filter((tag) => tag === "FindingDeclared"),
        3
      )
      for (let length = 1; length <= base.events.length; length++) {
        yield* Effect.gen(function* () {
          yield* (yield* Record.Record).append("r", 0, base.events.slice(0, length))
          yield* Agent.resume(agent, "r")
          assert.deepStrictEqual(yield* Shop.events("r"), base.events, `after ${length}: ${tags[length - 1]}`)
        }).pipe(Effect.provide(severally))
      }
    })
  })

  it.effect("files a conflict once, however often it is stated again", () =>
    Effect.gen(function* () {
      const states: ReadonlyArray<ReadonlyArray<number>> = [[], [1, 2], [2], [1]]
      const again: LLM.Chooser = ({ iteration }) => {
        const values = states[iteration - 1]
        if (values === undefined) return LLM.say("So.")
        const previous = values.map((value, at) => fact(`r${at + 1}`, "A", "costs", value))
        const asked = { of: "order", _findings: { previous } }
        return LLM.together(LLM.call("look", asked), LLM.call("look", { of: "zone" }))
      }
      yield* Agent.run(agent, "What?", { runId: "c" }).pipe(Effect.provide(LLM.layerScripted(again)))
      const conflicts = (yield* Shop.events("c")).flatMap((event) =>
        event._tag === "FindingConflicted" ? [[event.iteration, event.key]] : []
      )
      assert.deepStrictEqual(conflicts, [[2, ["order", "A", "costs", null]]])
    }).pipe(Effect.provide(services))
  )

  it.effect("sends what it says it sends when results are judged in no order", () =>
    Effect.gen(function* () {
      const unordered: LLM.Chooser = ({ iteration }) => {
        if (iteration > 2) return LLM.say("So.")
        const noise = ["r3", "r1", "r2"].map((toolCallId) => ({ toolCallId, standing: "noise" }))
        const judged = iteration === 1 ? {} : { _findings: { previous: noise } }
        return LLM.together(...["order", "zone", "stock"].map((of) => LLM.call("look", { of, ...judged })))
      }
      yield* Agent.run(agent, "What?", { runId: "u" }).pipe(Effect.provide(LLM.layerScripted(unordered)))
      const state = Run.fold(yield* Shop.events("u"))
      assert.deepStrictEqual(state.violations, [])
      const tickets = Wire.project(state, 3).messages.filter(
        ({ message }) => message.role === "tool" && message.content.includes('"collapsed":true')
      )
      assert.lengthOf(tickets, 3)
      for (const { iteration, recordedHash } of state.marks) {
        assert.strictEqual(Wire.hash(Wire.project(state, iteration)), recordedHash)
      }
    }).pipe(Effect.provide(services))
  )

  it.effect("takes a value for given by what a person or the application wrote, and by nobody else", () =>
    Effect.gen(function* () {
      const { events } = yield* played
      const replied = events.map(({ _tag }) => _tag).lastIndexOf("ModelReplied")
      const state = Run.fold(events.slice(0, replied + 1))
      const [piece] = state.pieces
      const [person] = state.messages
      const { final } = state
      if (piece === undefined || person === undefined || final === undefined) return assert.fail("no answer")
      const filed = (more: Partial<State.State>) =>
        FindingPass.ofAnswer({ ...state, ...more }, final).flatMap((event) =>
          event._tag === "ContingencyFiled" && event.row !== undefined ? [event.row.value] : []
        )
      assert.deepStrictEqual(filed({}), ["5150", "4410"])
      for (const origin of Event.Origin.literals) {
        const expected = origin === "person" || origin === "app" ? ["4410"] : ["5150", "4410"]
        const declared = { ...piece.declared, id: "more", origin, text: "Count 5150." }
        assert.deepStrictEqual(filed({ pieces: [...state.pieces, { ...piece, declared }] }), expected, origin)
        const message = { role: "user" as const, content: "Count 5150." }
        const said = { ...person, origin, message }
        assert.deepStrictEqual(filed({ messages: [...state.messages, said] }), expected, origin)
      }
    }).pipe(Effect.provide(services))
  )

  it.effect("takes for data what the application does, in answers and in calls", () =>
    Effect.gen(function* () {
      const own = Agent.make({
        name: "clerk",
        instructions: "Look.",
        toolkit,
        findings: true,
        grounding: { posture: "assist", exempt: [/z-\d+/i, /5150/] }
      })
      const { findings } = yield* Agent.run(own, "What of my order?", { runId: "g" })
      assert.deepStrictEqual(
        findings.flatMap((row) => (row.kind === "contingent" ? [row.value] : [])),
        ["4410"]
      )
    }).pipe(Effect.provide(services))
  )

  it.effect("files nothing of a call that has been started, whatever its tool takes by now", () =>
    Effect.gen(function* () {
      const { events } = yield* played
      const filed = events.findIndex(({ _tag }) => _tag === "FindingDeclared")
      const started = events.findIndex(({ _tag }, at) => at > filed && _tag === "ToolCalled")
      const known = { tools: [] }
      const bare = events.slice(0, started + 1).filter((_, at) => at < filed || at === started)
      assert.isEmpty(FindingPass.ofCalls(Run.fold(bare), known))
      assert.isNotEmpty(FindingPass.ofCalls(Run.fold(bare.slice(0, -1)), known))
    }).pipe(Effect.provide(services))
  )
})
