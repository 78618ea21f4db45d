import { assert, describe, it } from "@effect/vitest"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Fiber, Layer, Schema, Stream, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import * as ArtifactState from "../../src/kernel/ArtifactState.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Window from "../../src/kernel/Window.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Wants from "../../src/programs/Wants.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import { failure } from "../../src/services/ArtifactStoreError.ts"
import * as MemoryArtifactStore from "../../src/services/MemoryArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Atelier from "./Atelier.ts"
import * as Desk from "./Desk.ts"
import * as Press from "./Press.ts"
import * as Shop from "./Shop.ts"

const never = `art_${"n".repeat(22)}`

const settledOf = (events: ReadonlyArray<Event.Event>, toolCallId: string): Event.ToolSettled | undefined =>
  events.find((event): event is Event.ToolSettled => event._tag === "ToolSettled" && event.toolCallId === toolCallId)

const refusals = (events: ReadonlyArray<Event.Event>) =>
  Atelier.artifactEvents(events).flatMap((event) =>
    event._tag === "ArtifactRefused" ? [`${event.op} ${event.argument}: ${event.reason}`] : []
  )

/** One call, then an answer. */
const one = (tool: string, args: object) => LLM.byPass([LLM.call(tool, args, "c"), "Done."])

const store = (
  kind: string,
  data: unknown,
  scope: Artifact.Scope = Press.scope,
  more: Partial<Artifact.PutInput> = {}
) =>
  Effect.flatMap(ArtifactStore.ArtifactStore, ({ put }) =>
    Effect.map(put(scope, { kind, mediaType: "application/json", data, ...more }), ({ meta }) => meta)
  )

describe("Wants", () => {
  it.effect("gives the handler what is stored in place of the ref, and its ticket", () =>
    Effect.gen(function* () {
      for (const [data, index] of [{ rows: [1] }, "a text", Uint8Array.of(0, 255), null].map(
        (data, index) => [data, index] as const
      )) {
        const given: Press.Given = []
        const table = yield* store("table/csv", data)
        const { events } = yield* Press.play(one("plot", { table: table.ref, title: "T" }), given).pipe(
          Effect.provide(Record.layerMemory)
        )
        assert.deepStrictEqual(
          given,
          [{ tool: "plot", args: { table: data, title: "T" }, wanted: { table } }],
          `${index}`
        )
        // The record has the ref alone, and tells of the read before what came of it.
        const at = events.findIndex(({ _tag }) => _tag === "ToolCalled")
        const [called, resolved, minted, settled] = events.slice(at)
        assert.deepInclude(called, { args: { table: table.ref, title: "T" } })
        assert.deepInclude(resolved, {
          _tag: "ArtifactResolved",
          toolCallId: "c",
          ref: table.ref,
          via: "get",
          kind: "table/csv",
          bytes: table.bytes,
          argument: "table"
        })
        assert.deepInclude(minted, { _tag: "ArtifactMinted", parentRefs: [table.ref] })
        assert.deepInclude(settled, { _tag: "ToolSettled", outcome: "ran-ok" })
        assert.deepStrictEqual(Run.fold(events).violations, [])
      }
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("derives what a call stores from all that it wanted, each once, beside the parents that it names", () =>
    Effect.gen(function* () {
      const [left, right] = [yield* store("table/csv", 1), yield* store("table/csv", 2)]
      const { events } = yield* Press.play(
        LLM.byPass([
          LLM.call("merge", { left: left.ref, right: right.ref }, "both"),
          LLM.call("merge", { left: left.ref, right: left.ref }, "same"),
          LLM.call("load", { kind: "none" }, "none"),
          "Done."
        ])
      )
      const parents = new Map(
        Atelier.artifactEvents(events).flatMap((event) =>
          event._tag === "ArtifactMinted" ? [[event.toolCallId, event.parentRefs]] : []
        )
      )
      assert.deepStrictEqual(parents.get("both"), [left.ref, right.ref])
      assert.deepStrictEqual(parents.get("same"), [left.ref])
      assert.isUndefined(parents.get("none"))
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("pins what was wanted: a child that does not fit beside its parents is refused, and they stay", () =>
    Effect.gen(function* () {
      const [left, right] = [yield* store("table/csv", "1"), yield* store("table/csv", "2")]
      const { events } = yield* Press.play(one("merge", { left: left.ref, right: right.ref }))
      assert.deepInclude(settledOf(events, "c"), { outcome: "ran-error" })
      assert.deepStrictEqual(refusals(events), ["put undefined: over-budget"])
      const { list } = yield* ArtifactStore.ArtifactStore
      assert.lengthOf((yield* list(Press.scope)).artifacts, 2)
    }).pipe(Effect.provide(Atelier.services({ maxCountPerScope: 2 })))
  )

  it.effect("judges all arguments before it answers: one refusal tells of each, and nothing runs", () =>
    Effect.gen(function* () {
      const given: Press.Given = []
      const note = yield* store("text/note", "n", Press.scope, { label: 'a "label"\n# of two lines' })
      const table = yield* store("table/csv", 1)
      const { events } = yield* Press.play(
        LLM.byPass([
          LLM.together(
            LLM.call("merge", { left: never, right: note.ref, note: " " }, "three"),
            LLM.call("merge", { left: table.ref, right: 7, note: null }, "types"),
            LLM.call("merge", { right: [] }, "absent"),
            LLM.call("plot", { table: never, count: "many", title: 7 }, "others"),
            LLM.call("plot", { table: table.ref, count: "many" }, "schema")
          ),
          "Done."
        ]),
        given
      )
      assert.deepStrictEqual(given, [])
      assert.isFalse(events.some(({ _tag }) => _tag === "ToolCalled"))
      assert.deepStrictEqual(refusals(events), [
        "dispatch left: missing-or-expired",
        "dispatch right: kind-mismatch",
        "dispatch note: invalid-input",
        "dispatch right: invalid-input",
        "dispatch note: invalid-input",
        "dispatch left: invalid-input",
        "dispatch right: invalid-input",
        "dispatch table: missing-or-expired"
      ])
      const told = (id: string) => {
        const { error, outcome, served = "" } = settledOf(events, id) ?? {}
        assert.strictEqual(outcome, "refused")
        assert.notMatch(served, /[\n\u2028]/)
        return { tag: error?.tag, what: error?.what ?? "", next: error?.next ?? "" }
      }
      const three = told("three")
      assert.strictEqual(three.tag, "WantUnmet")
      assert.include(three.what, `left: no artifact "${never}" was found`)
      assert.include(three.what, `right: "${note.ref}" was of kind "text/note", and "table/csv" is wanted`)
      assert.include(three.what, "note: it was a blank text, and not the ref of an artifact")
      assert.include(three.next, `Those of kind "table/csv" were then: ${table.ref}.`)
      assert.include(three.next, `Those of kind "text/note" were then: ${note.ref} ("a \\"label\\"`)
      const types = told("types").what
      assert.include(types, "right: it was a number")
      assert.include(types, "note: it was null")
      const absent = told("absent").what
      assert.include(absent, "left: it was nothing")
      assert.include(absent, "right: it was an array")
      const others = told("others").what
      assert.include(others, "table: no artifact")
      assert.include(others, "/count must be")
      assert.include(others, "/title must be")
      assert.strictEqual(told("schema").tag, "ToolArgsInvalid")
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("says the same of what is missing, expired, malformed, and another's", () =>
    Effect.gen(function* () {
      const foreign = yield* store("table/csv", "secret", { conversationId: "r", tenant: "acme" })
      const expired = yield* store("table/csv", 1, Press.scope, { expiresAt: 10 })
      yield* TestClock.adjust(10)
      const served = []
      for (const ref of [never, foreign.ref, expired.ref, "no ref at all"]) {
        const { events } = yield* Press.play(one("plot", { table: ref })).pipe(Effect.provide(Record.layerMemory))
        const [told] = Atelier.artifactEvents(events)
        assert.deepInclude(told, { _tag: "ArtifactRefused", op: "dispatch", reason: "missing-or-expired" })
        assert.notInclude(JSON.stringify(events), "acme")
        served.push(settledOf(events, "c")?.served.replace(ref, "REF"))
      }
      assert.strictEqual(new Set(served).size, 1, "nothing tells them apart")
      assert.include(served[0], 'There was none of kind \\"table/csv\\" then.')
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("lists at most ten of the kind, the newest first, of the newest two hundred", () =>
    Effect.gen(function* () {
      const old = yield* store("table/csv", "too old to be looked at")
      yield* TestClock.adjust(1)
      for (let n = 0; n < 190; n++) yield* store("text/note", n)
      yield* TestClock.adjust(1)
      const refs = []
      for (let n = 0; n < 12; n++) {
        refs.push((yield* store("table/csv", n)).ref)
        yield* TestClock.adjust(1)
      }
      const { events } = yield* Press.play(one("plot", { table: "x" }))
      const named = settledOf(events, "c")?.error?.next.match(/art_\w{22}/g) ?? []
      assert.deepStrictEqual(Array.from(named), refs.toReversed().slice(0, 10))
      const { list } = yield* ArtifactStore.ArtifactStore
      const notes = yield* Press.play(one("recite", { note: "x" })).pipe(Effect.provide(Record.layerMemory))
      assert.lengthOf(settledOf(notes.events, "c")?.error?.next.match(/art_\w{22}/g) ?? [], 10)
      for (const ref of refs.slice(0, 10))
        yield* Effect.flatMap(ArtifactStore.ArtifactStore, (s) => s.delete(Press.scope, ref))
      for (const ref of refs.slice(10))
        yield* Effect.flatMap(ArtifactStore.ArtifactStore, (s) => s.delete(Press.scope, ref))
      for (let n = 0; n < 10; n++) yield* store("text/note", n)
      assert.lengthOf((yield* list(Press.scope, { limit: 1_000 })).artifacts, 201)
      const late = yield* Press.play(one("plot", { table: "x" })).pipe(Effect.provide(Record.layerMemory))
      assert.notInclude(settledOf(late.events, "c")?.served, old.ref)
    }).pipe(Effect.provide(Atelier.services({ maxCountPerScope: 1_000 })))
  )

  it.effect("refuses data that the argument's schema does not take: a text is wanted, and it is none", () =>
    Effect.gen(function* () {
      const given: Press.Given = []
      const [text, json] = [yield* store("text/note", "to be or not"), yield* store("text/note", { a: 1 })]
      const { events } = yield* Press.play(
        LLM.byPass([
          LLM.together(LLM.call("recite", { note: text.ref }, "text"), LLM.call("recite", { note: json.ref }, "json")),
          "Done."
        ]),
        given
      )
      assert.deepStrictEqual(
        given.map(({ args }) => args),
        [{ note: "to be or not" }]
      )
      assert.deepInclude(settledOf(events, "text"), { outcome: "ran-ok", served: "to be or not" })
      assert.deepInclude(settledOf(events, "json"), { outcome: "refused" })
      assert.include(settledOf(events, "json")?.error?.what, "/note must be string; found object")
      assert.deepStrictEqual(refusals(events), ["dispatch note: invalid-input"])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("tells what cannot be read from what is not there, and lets no store fail the run", () =>
    Effect.gen(function* () {
      const memory = yield* MemoryArtifactStore.make()
      const { meta } = yield* memory.put(Press.scope, { kind: "table/csv", mediaType: "m", data: 1 })
      const { ref } = meta
      const get: ReadonlyArray<readonly [string, string, (typeof memory)["get"]]> = [
        ["digest-mismatch", "had been changed", () => failure("DigestMismatch", { what: "It was changed." })],
        ["unreadable", "could not be read", () => failure("Unreadable", { what: "It is torn." })],
        ["unavailable", "could not be read", () => failure("Unavailable", { what: "It is away." })],
        ["unavailable", "unexpected error", () => Effect.die("the store died")],
        ["unavailable", "did not answer within 120000 ms", () => Effect.never]
      ]
      for (const [reason, words, broken] of get) {
        const broke = Layer.succeed(ArtifactStore.ArtifactStore, {
          ...memory,
          get: broken,
          list: () => Effect.die("also")
        })
        const fiber = yield* Effect.fork(
          Press.play(one("plot", { table: ref })).pipe(Effect.provide([Record.layerMemory, broke]))
        )
        yield* TestClock.adjust("2 minutes")
        const { events, outcome } = yield* Fiber.join(fiber)
        assert.strictEqual(outcome.status, "answered")
        assert.deepStrictEqual(refusals(events), [`dispatch table: ${reason}`])
        assert.include(settledOf(events, "c")?.error?.what, words)
        assert.deepInclude(settledOf(events, "c"), { outcome: "refused" })
      }
    })
  )

  it.effect("depends on no other setting, and holds when the run is resumed", () =>
    Effect.gen(function* () {
      const table = yield* store("table/csv", 1)
      const script = LLM.byPass([
        LLM.call("plot", { table: table.ref }, "c"),
        LLM.call("plot", { table: never }, "d"),
        "Done."
      ])
      const { events } = yield* Press.play(script).pipe(Effect.provide(Record.layerMemory))
      const outline = (of: ReadonlyArray<Event.Event>) => of.map(({ _tag }) => _tag)
      for (let length = 1; length <= events.length; length++) {
        const given: Press.Given = []
        yield* Effect.gen(function* () {
          const record = yield* Record.Record
          yield* record.append("r", 0, events.slice(0, length))
          yield* Agent.resume(Press.agent, "r").pipe(Effect.provide([Press.handlers(given), LLM.layerScripted(script)]))
          const after = yield* Shop.events("r")
          assert.deepStrictEqual(Run.fold(after).violations, [])
          // What was told of a call that runs again is told again: it happened again.
          const again = outline(events.slice(0, length)).filter((tag) => tag.startsWith("Artifact")).length
          if (again === 0) assert.deepStrictEqual(outline(after), outline(events))
          assert.deepStrictEqual(settledOf(after, "d")?.outcome, "refused")
          for (const { args } of given) assert.deepStrictEqual(args, { table: 1 })
        }).pipe(Effect.provide(Record.layerMemory))
      }
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("judges what it can while the store does not answer, and does not wait for a list of what there was", () =>
    Effect.gen(function* () {
      const memory = yield* MemoryArtifactStore.make()
      const { meta } = yield* memory.put(Press.scope, { kind: "table/csv", mediaType: "m", data: 1 })
      const played = (store: Partial<typeof memory>, args: object) =>
        Effect.gen(function* () {
          const layer = Layer.succeed(ArtifactStore.ArtifactStore, { ...memory, ...store })
          const script = one("merge", args)
          const fiber = yield* Effect.fork(Press.play(script).pipe(Effect.provide([Record.layerMemory, layer])))
          // The tool may take two minutes, and so may the list after what it wants.
          yield* TestClock.adjust("2 minutes")
          yield* TestClock.adjust("2 minutes")
          return (yield* Fiber.join(fiber)).events
        })
      const silent = yield* played({ get: () => Effect.never, list: () => Effect.never }, { left: meta.ref, right: 7 })
      assert.deepStrictEqual(refusals(silent), ["dispatch left: unavailable", "dispatch right: invalid-input"])
      assert.include(settledOf(silent, "c")?.error?.next, "could not be listed")
      const unlisted = yield* played({ list: () => Effect.never }, { left: never, right: meta.ref })
      assert.deepStrictEqual(refusals(unlisted), ["dispatch left: missing-or-expired"])
    })
  )

  it.effect("waits for a store no longer than the run may take, and for a call that it cannot pay tells nothing", () =>
    Effect.gen(function* () {
      const memory = yield* MemoryArtifactStore.make()
      const { meta } = yield* memory.put(Press.scope, { kind: "table/csv", mediaType: "m", data: 1 })
      const settle = (budget: Agent.Limits, get: (typeof memory)["get"]) =>
        Effect.gen(function* () {
          const fiber = yield* Effect.fork(
            Agent.run(Press.agentOf({ budget }), "Go.", { runId: "r" }).pipe(
              Effect.zipRight(Shop.events("r")),
              Effect.provide([
                Press.handlers([]),
                LLM.layerScripted(one("plot", { table: meta.ref })),
                Record.layerMemory,
                Layer.succeed(ArtifactStore.ArtifactStore, { ...memory, get })
              ])
            )
          )
          yield* TestClock.adjust("1 second")
          return yield* Fiber.join(fiber)
        })
      const late = yield* settle({ wallTime: "1 second" }, () => Effect.never)
      assert.deepInclude(settledOf(late, "c"), { outcome: "aborted" })
      assert.deepInclude(late.at(-1), { _tag: "RunEnded", status: "stopped" })
      const poor = yield* settle({ toolCalls: 0 }, memory.get)
      assert.deepInclude(settledOf(poor, "c"), { outcome: "refused" })
      assert.strictEqual(settledOf(poor, "c")?.error?.tag, "BudgetExceeded")
      assert.deepStrictEqual(Atelier.artifactEvents(poor), [])
    })
  )

  it.effect("is the same on every door, whatever else an agent asks for", () =>
    Effect.gen(function* () {
      const table = yield* store("table/csv", 1)
      const settings = {
        nothing: {},
        findings: { findings: true },
        grounding: { grounding: "guard" },
        skills: { skills: [Desk.guide] },
        placement: { placement: { maxInlineChars: 1 }, present: true },
        window: { window: Window.keepLast(20) },
        "one at a time": { concurrency: 1, checks: "dev" }
      } as const
      const script = LLM.byPass([
        LLM.call("plot", { table: table.ref }, "good"),
        LLM.together(LLM.call("plot", { table: never }, "bad"), LLM.call("merge", { left: table.ref }, "worse")),
        "Done."
      ])
      const expected = ["plot ran-ok", "plot refused", "merge refused"]
      for (const [name, more] of Object.entries(settings)) {
        const one = Press.agentOf(more)
        const scope = Press.scope
        const given: Press.Given = []
        const came = (
          runId: string,
          door: Effect.Effect<unknown, unknown, Agent.Services | Agent.Handlers<typeof Press.toolkit.tools>>
        ) =>
          Effect.gen(function* () {
            given.length = 0
            yield* door
            const events = yield* Shop.events(runId)
            const settled = events.flatMap((event) =>
              event._tag === "ToolSettled" ? [`${event.toolName} ${event.outcome}`] : []
            )
            assert.deepStrictEqual(settled, expected, `${name}, ${runId}`)
            assert.deepStrictEqual(refusals(events), [
              "dispatch table: missing-or-expired",
              "dispatch right: invalid-input"
            ])
            assert.deepStrictEqual(
              given.map(({ args }) => args),
              [{ table: 1 }]
            )
            return events
          })
        yield* Effect.gen(function* () {
          const events = yield* came("run", Agent.run(one, "Go.", { runId: "run", scope }))
          yield* came("stream", Stream.runDrain(Agent.stream(one, "Go.", { runId: "stream", scope })))
          yield* came("later", Agent.followUp(one, "run", "More.", { runId: "later" }))
          const record = yield* Record.Record
          const begun = events.slice(
            0,
            events.findIndex(({ _tag }) => _tag === "ToolCalled")
          )
          yield* record.append(
            "resume",
            0,
            begun.map((event) => (event._tag === "RunStarted" ? { ...event, runId: "resume" } : event))
          )
          yield* came("resume", Agent.resume(one, "resume"))
        }).pipe(Effect.provide([Record.layerMemory, Press.handlers(given), LLM.layerScripted(script)]))
      }
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("does not say today that a call was refused which had been started: it is unknown what it did", () =>
    Effect.gen(function* () {
      const table = yield* store("table/csv", 1)
      const script = one("plot", { table: table.ref })
      const { events } = yield* Press.play(script).pipe(Effect.provide(Record.layerMemory))
      const at = events.findIndex(({ _tag }) => _tag === "ToolCalled")
      const artifacts = yield* ArtifactStore.ArtifactStore
      yield* artifacts.delete(Press.scope, table.ref)
      const record = yield* Record.Record
      yield* record.append("r", 0, events.slice(0, at + 1))
      const { pending } = yield* Agent.resume(Press.agent, "r").pipe(
        Effect.provide([Press.handlers([]), LLM.layerScripted(script)])
      )
      assert.lengthOf(pending, 1)
      const after = yield* Shop.events("r")
      assert.deepInclude(settledOf(after, "c"), { outcome: "unknown" })
      assert.deepStrictEqual(refusals(after), ["dispatch table: missing-or-expired"])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("hands every call the artifacts that it named, or runs none of it", () => {
    const names = ["left", "right", "note"] as const
    const choice = FastCheck.constantFrom("live", "foreign", "missing", "wrong kind", "blank", "number", "absent")
    const calls = FastCheck.array(FastCheck.tuple(choice, choice, choice), { minLength: 1, maxLength: 4 })
    const reasons: { readonly [what: string]: string } = {
      foreign: "missing-or-expired",
      missing: "missing-or-expired",
      "wrong kind": "kind-mismatch",
      blank: "invalid-input",
      number: "invalid-input",
      absent: "invalid-input"
    }
    return Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(calls, (chosen) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const kindOf = (name: string) => (name === "note" ? "text/note" : "table/csv")
              const refs = {
                live: { table: yield* store("table/csv", 1), note: yield* store("text/note", "n") },
                foreign: yield* store("table/csv", 1, { conversationId: "x" }),
                other: yield* store("other", 1)
              }
              const argumentOf = (what: string, name: string): unknown => {
                switch (what) {
                  case "live":
                    return name === "note" ? refs.live.note.ref : refs.live.table.ref
                  case "foreign":
                    return refs.foreign.ref
                  case "missing":
                    return never
                  case "wrong kind":
                    return refs.other.ref
                  case "blank":
                    return " "
                  default:
                    return what === "number" ? 1 : undefined
                }
              }
              const given: Press.Given = []
              const lines = chosen.map((whats, index) =>
                LLM.call(
                  "merge",
                  Object.fromEntries(
                    names.flatMap((name, at) => {
                      const value = argumentOf(whats[at] ?? "", name)
                      return value === undefined ? [] : [[name, value]]
                    })
                  ),
                  `c${index}`
                )
              )
              const { events } = yield* Press.play(LLM.byPass([LLM.together(...lines), "Done."]), given)
              let ran = 0
              for (const [index, whats] of chosen.entries()) {
                const bad = names.flatMap((name, at) => {
                  const what = whats[at] ?? ""
                  const isFine = what === "live" || (what === "absent" && name === "note")
                  return isFine ? [] : [`dispatch ${name}: ${reasons[what]}`]
                })
                const own = events.filter((event) => "toolCallId" in event && event.toolCallId === `c${index}`)
                assert.deepStrictEqual(refusals(own), bad)
                assert.strictEqual(settledOf(own, `c${index}`)?.outcome, bad.length === 0 ? "ran-ok" : "refused")
                if (bad.length > 0) continue
                const args = given[ran++]?.args ?? {}
                for (const name of names) {
                  const expected = kindOf(name) === "text/note" ? "n" : 1
                  if (name in args)
                    assert.deepStrictEqual(Object.entries(args).find(([key]) => key === name)?.[1], expected)
                }
              }
              assert.lengthOf(given, ran)
              const { artifacts = ArtifactState.initial } = Run.fold(events)
              for (const { minted, parentRefs } of ArtifactState.list(artifacts))
                if (minted !== undefined) assert.isAtLeast(parentRefs?.length ?? 0, 1)
            }).pipe(Effect.provide(Atelier.services()))
          )
        ),
        { numRuns: 40 }
      )
    )
  })
})

describe("An agent whose tools want artifacts", () => {
  const made = (wants: { readonly [argument: string]: string }) => {
    const parameters = {
      a: Schema.String,
      b: Schema.optional(Wants.Data),
      n: Schema.Number,
      e: Schema.NullOr(Schema.String),
      nonEmpty: Schema.NonEmptyString.annotations({ identifier: "Named" })
    }
    const toolkit = Toolkit.make(Tool.make("t", { parameters, success: Schema.String }).annotate(Wants.Wants, wants))
    return Agent.make({ name: "a", instructions: "Go.", toolkit }).problems
  }

  it("is refused for an annotation that names no text of the tool, or no kind", () => {
    assert.deepStrictEqual(made({ a: "k", b: "k", nonEmpty: "k" }), [])
    assert.lengthOf(made({}), 1)
    assert.match(made({ a: " " }).join(), /blank kind/)
    assert.match(made({ c: "k" }).join(), /no argument of it/)
    assert.match(made({ n: "k" }).join(), /no text/)
    assert.match(made({ e: "k" }).join(), /no text/)
    assert.lengthOf(made({ a: "", c: "k", n: "k" }), 3)
  })

  it.effect("does not start without a store", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Press.play(one("plot", { table: never })))
      assert.strictEqual(error._tag, "InvalidAgent")
      assert.include(error.message, '"plot" wants artifacts, and there is no store')
      assert.deepStrictEqual(yield* Effect.orElseSucceed(Shop.events("r"), () => []), [])
    }).pipe(Effect.provide([Record.layerMemory, ArtifactStore.layerNone]))
  )
})
