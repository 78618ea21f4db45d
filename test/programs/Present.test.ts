import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, TestClock } from "effect"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Run from "../../src/kernel/Run.ts"
import type * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Screen from "../../src/programs/Screen.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import { failure } from "../../src/services/ArtifactStoreError.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as MemoryArtifactStore from "../../src/services/MemoryArtifactStore.ts"
import * as Record from "../../src/services/Record.ts"
import * as Atelier from "./Atelier.ts"
import * as Desk from "./Desk.ts"
import * as Shop from "./Shop.ts"

const own: Artifact.Scope = { conversationId: "r" }
const presenter = (more: { readonly present?: boolean } = { present: true }) =>
  Agent.make({ name: "p", instructions: "Show.", toolkit: Atelier.toolkit, ...more })
const nothing = () => Effect.void
const show = (args: object, id = "c") => LLM.call("present", args, id)

const play = (script: LLM.Steps, options: Agent.RunOptions = {}) =>
  Atelier.play(Array.isArray(script) ? LLM.byPass(script) : (script as LLM.Chooser), nothing, options, presenter())

const put = (data: unknown, more: Partial<Artifact.PutInput> = {}) =>
  Effect.flatMap(ArtifactStore.ArtifactStore, (store) =>
    Effect.map(store.put(own, { kind: "chart", mediaType: "image/png", data, ...more }), ({ meta }) => meta)
  )

const settled = (events: ReadonlyArray<Event.Event>) =>
  events.flatMap((event) => (event._tag === "ToolSettled" ? [event] : []))

describe("present", () => {
  it.effect("shows what is stored to the person, and tells the model that it did", () =>
    Effect.gen(function* () {
      const meta = yield* put("the secret of the chart", { label: "Sales" })
      const { events, outcome } = yield* play([show({ ref: meta.ref, as: "chart" }), "Done."])
      const snapshot = { kind: "chart", mediaType: "image/png", bytes: meta.bytes, label: "Sales" }
      const at = events.findIndex(({ _tag }) => _tag === "ToolCalled")
      const [, resolved, presented, done] = events.slice(at)
      assert.deepInclude(resolved, { _tag: "ArtifactResolved", toolCallId: "c", ref: meta.ref, via: "head" })
      assert.deepInclude(presented, { _tag: "ArtifactPresented", ref: meta.ref, as: "chart", snapshot })
      const served = { presented: true, ref: meta.ref, as: "chart", snapshot }
      assert.deepStrictEqual(done?._tag === "ToolSettled" ? JSON.parse(done.served) : undefined, served)
      assert.deepStrictEqual(
        outcome.presented.map(({ as, iteration, ref, seq, snapshot, toolCallId, toolName }) => ({
          as,
          iteration,
          ref,
          seq,
          snapshot,
          toolCallId,
          toolName
        })),
        [{ as: "chart", iteration: 1, ref: meta.ref, seq: at + 2, snapshot, toolCallId: "c", toolName: "present" }]
      )
      assert.notInclude(JSON.stringify(events), "the secret")
      const state = Run.fold(events)
      assert.deepStrictEqual(state.violations, [])
      // What the model reads of it are words of ours: they are evidence of nothing.
      assert.strictEqual(state.messages.find(({ message }) => message.role === "tool")?.origin, "runtime")
      const room = { width: 100 }
      const final = Screen.print(Screen.final(Screen.account(events, room), { room, name: "r" }), { colour: false })
      assert.include(final, `showed   ${meta.ref} as chart · chart · 23 B · "Sales"`)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("never reads what is stored, and asks for nothing where there is no ref", () =>
    Effect.gen(function* () {
      const memory = yield* MemoryArtifactStore.make()
      const { meta } = yield* memory.put(own, { kind: "chart", mediaType: "m", data: 1 })
      const asked: Array<string> = []
      const ask = <A>(verb: string, effect: A): A => {
        asked.push(verb)
        return effect
      }
      const spying = Layer.succeed(ArtifactStore.ArtifactStore, {
        ...memory,
        get: (scope, ref) => ask("get", memory.get(scope, ref)),
        head: (scope, ref) => ask("head", memory.head(scope, ref)),
        list: (scope, options) => ask("list", memory.list(scope, options))
      })
      const lines = [
        show({ ref: meta.ref, as: "x" }, "a"),
        show({ ref: "gone", as: "x" }, "b"),
        show({ ref: 7, as: "x" }, "c"),
        show({ ref: meta.ref, as: " " }, "d")
      ]
      const { events } = yield* play([...lines, "Done."]).pipe(Effect.provide([Record.layerMemory, spying]))
      assert.deepStrictEqual(asked, ["head", "head", "list"])
      assert.deepStrictEqual(
        settled(events).map(({ outcome }) => outcome),
        ["ran-ok", "refused", "refused", "refused"]
      )
      // What was refused was never started.
      assert.lengthOf(
        events.filter(({ _tag }) => _tag === "ToolCalled"),
        1
      )
      assert.deepStrictEqual(
        Atelier.artifactEvents(events).map((event) =>
          event._tag === "ArtifactRefused" ? `${event.op}: ${event.reason}` : event._tag
        ),
        [
          "ArtifactResolved",
          "ArtifactPresented",
          "head: missing-or-expired",
          "dispatch: invalid-input",
          "dispatch: invalid-input"
        ]
      )
    })
  )

  it.effect("keeps an honest snapshot of what expired, and shows nothing of what was gone before", () =>
    Effect.gen(function* () {
      const meta = yield* put("x", { expiresAt: 1_000 })
      const wait: LLM.Line = { ...show({ ref: meta.ref, as: "chart" }, "late") }
      const script: LLM.Chooser = ({ iteration }) =>
        iteration === 1
          ? show({ ref: meta.ref, as: "chart" }, "early")
          : iteration === 2
            ? LLM.call("make", { what: "wait" })
            : iteration === 3
              ? wait
              : LLM.say("Done.")
      const { events, outcome } = yield* Atelier.play(script, () => TestClock.adjust(1_000), {}, presenter())
      assert.deepStrictEqual(
        settled(events).map(({ outcome, toolCallId }) => [toolCallId.slice(0, 5), outcome]),
        [
          ["early", "ran-ok"],
          ["call-", "ran-ok"],
          ["late", "refused"]
        ]
      )
      assert.lengthOf(outcome.presented, 1)
      const { artifacts } = yield* Effect.flatMap(ArtifactStore.ArtifactStore, ({ list }) => list(own))
      assert.deepStrictEqual(artifacts, [])
      assert.deepStrictEqual(outcome.presented[0]?.snapshot, { kind: "chart", mediaType: "image/png", bytes: 1 })
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("tells a store that cannot be read from one that is empty, and does not end the run", () =>
    Effect.gen(function* () {
      const memory = yield* MemoryArtifactStore.make()
      const broken = {
        unavailable: () => failure("Unavailable", { what: "It is away." }),
        died: () => Effect.die("the store died"),
        silent: () => Effect.never
      }
      for (const head of Object.values(broken)) {
        const store = Layer.succeed(ArtifactStore.ArtifactStore, { ...memory, head })
        const fiber = yield* Effect.fork(
          play([show({ ref: "x", as: "x" }), "Done."]).pipe(Effect.provide([Record.layerMemory, store]))
        )
        yield* TestClock.adjust("2 minutes")
        const { events, outcome } = yield* Fiber.join(fiber)
        assert.strictEqual(outcome.status, "answered")
        assert.strictEqual(settled(events)[0]?.error?.tag, "ArtifactUnavailable")
        assert.deepInclude(Atelier.artifactEvents(events)[0], { op: "head", reason: "unavailable" })
      }
    })
  )

  it.effect("is given to the model if the agent asks for it, and there is a store; its definition never changes", () =>
    Effect.gen(function* () {
      const wires: Array<Wire.Wire> = []
      const look = (line: LLM.Line | string) => (wire: Wire.Wire) => {
        wires.push(wire)
        return line
      }
      yield* play(LLM.byPass([look(LLM.call("make", { what: "x" })), look("Done.")]))
      const presents = wires.map(({ tools }) =>
        tools.filter(({ tool }) => tool.name === "present").map(({ hash }) => hash)
      )
      assert.lengthOf(presents, 2)
      assert.lengthOf(presents[0] ?? [], 1)
      assert.deepStrictEqual(presents[0], presents[1])
      const off = yield* Atelier.play(
        LLM.byPass([show({ ref: "x", as: "x" }), "Done."]),
        nothing,
        { runId: "off" },
        presenter({})
      ).pipe(Effect.zipRight(Shop.events("off")))
      assert.strictEqual(settled(off)[0]?.error?.tag, "UnknownTool")
      const none = yield* Effect.flip(play(["Done."])).pipe(
        Effect.provide([Record.layerMemory, ArtifactStore.layerNone])
      )
      assert.strictEqual(none._tag, "InvalidAgent")
      assert.include(none.message, "present is on, and there is no store")
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("is offered beside skills, which it neither moves nor renews", () =>
    Effect.gen(function* () {
      const meta = yield* put("x")
      const desk = Desk.agent({ present: true })
      const script = (shows: boolean) =>
        LLM.byPass([
          LLM.call("find_order", { of: "1" }),
          ...(shows ? [show({ ref: meta.ref, as: "chart" }), show({ ref: "gone", as: "chart" }, "d")] : []),
          "Done."
        ])
      const played = (shows: boolean) =>
        Agent.run(desk, "My order?", { runId: "r" }).pipe(
          Effect.zipRight(Shop.events("r")),
          Effect.provide([
            Record.layerMemory,
            Desk.handlers({ find_order: { status: "open" } }),
            LLM.layerScripted(script(shows))
          ])
        )
      const events = yield* played(true)
      assert.deepStrictEqual(
        settled(events).map(({ outcome, toolName }) => `${toolName} ${outcome}`),
        ["find_order ran-ok", "present ran-ok", "present refused"]
      )
      assert.deepStrictEqual(Desk.decisions(events), Desk.decisions(yield* played(false)))
      assert.deepStrictEqual(Run.fold(events).violations, [])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("comes to the same from every prefix of its record", () =>
    Effect.gen(function* () {
      const meta = yield* put("x")
      const script = LLM.byPass([
        LLM.together(show({ ref: meta.ref, as: "chart" }, "a"), show({ ref: "gone", as: "chart" }, "b")),
        "Done."
      ])
      const { events } = yield* play(script).pipe(Effect.provide(Record.layerMemory))
      for (let length = 1; length <= events.length; length++) {
        const prefix = events.slice(0, length)
        const last = prefix.at(-1)?._tag
        yield* Effect.gen(function* () {
          const record = yield* Record.Record
          yield* record.append("r", 0, prefix)
          const { presented } = yield* Agent.resume(presenter(), "r").pipe(
            Effect.provide([Atelier.handlers(nothing), LLM.layerScripted(script)])
          )
          const after = yield* Shop.events("r")
          assert.deepStrictEqual(Run.fold(after).violations, [])
          assert.deepStrictEqual(
            settled(after).map(({ outcome }) => outcome),
            ["ran-ok", "refused"]
          )
          // A record of single lines can end between what a call brought and its settlement: it is then shown again.
          const isBetween = last === "ArtifactResolved" || last === "ArtifactPresented" || last === "ArtifactRefused"
          if (isBetween) assert.isAtLeast(presented.length, 1)
          else assert.deepStrictEqual(after, events)
        }).pipe(Effect.provide(Record.layerMemory))
      }
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("is settled again, not lost, if its process died while it ran and the artifact has expired since", () =>
    Effect.gen(function* () {
      const meta = yield* put("x")
      const script = LLM.byPass([show({ ref: meta.ref, as: "chart" }), "Done."])
      const { events } = yield* play(script).pipe(Effect.provide(Record.layerMemory))
      const store = yield* ArtifactStore.ArtifactStore
      yield* store.delete(own, meta.ref)
      assert.isTrue(Option.isNone(yield* store.head(own, meta.ref)))
      const record = yield* Record.Record
      yield* record.append("r", 0, events.slice(0, events.findIndex(({ _tag }) => _tag === "ToolCalled") + 1))
      const { pending, presented } = yield* Agent.resume(presenter(), "r").pipe(
        Effect.provide([Atelier.handlers(nothing), LLM.layerScripted(script)])
      )
      assert.deepStrictEqual([pending, presented], [[], []])
      assert.deepStrictEqual(
        settled(yield* Shop.events("r")).map(({ outcome }) => outcome),
        ["refused"]
      )
    }).pipe(Effect.provide(Atelier.services()))
  )
})
