import { assert, describe, it } from "@effect/vitest"
import { Cause, Deferred, Effect, Either, Exit, Fiber, Option, TestClock } from "effect"
import * as FastCheck from "effect/FastCheck"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as ArtifactState from "../../src/kernel/ArtifactState.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Artifacts from "../../src/programs/Artifacts.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Atelier from "./Atelier.ts"
import * as Mortal from "./Mortal.ts"
import * as Shop from "./Shop.ts"

const own: Artifact.Scope = { conversationId: "r" }
const once = (tool = "make"): LLM.Chooser => LLM.byPass([LLM.call(tool, { what: "it" }, "c"), LLM.say("Done.")])

const all = (scope: Artifact.Scope) =>
  Effect.gen(function* () {
    const store = yield* ArtifactStore.ArtifactStore
    const found: Array<Artifact.Meta> = []
    let cursor: string | undefined
    do {
      const page = yield* store.list(scope, cursor === undefined ? {} : { cursor })
      found.push(...page.artifacts)
      cursor = page.cursor
    } while (cursor !== undefined)
    return found
  })

describe("Artifacts", () => {
  it.effect("that a handler stores are told with their call, before it is settled", () =>
    Effect.gen(function* () {
      const { events } = yield* Atelier.play(once(), () =>
        Effect.gen(function* () {
          const { isConfigured, put, wanted } = yield* Artifacts.Artifacts
          assert.isTrue(isConfigured)
          assert.isUndefined(wanted)
          // A tool that was written in another language may say where its artifact is from; nobody believes it.
          const forged = { ...Atelier.csv("a,b"), label: "one", origin: { runId: "another", toolCallId: "x" } }
          return (yield* Effect.orDie(put(forged))).meta.ref
        })
      )
      const at = events.findIndex(({ _tag }) => _tag === "ArtifactMinted")
      const minted = events[at]
      const [before, , after] = events.slice(at - 1, at + 2)
      assert.deepInclude(before, { _tag: "ToolCalled", toolCallId: "c" })
      assert.deepInclude(after, { _tag: "ToolSettled", toolCallId: "c", outcome: "ran-ok" })
      assert.deepInclude(minted, {
        iteration: 1,
        toolCallId: "c",
        toolName: "make",
        kind: "table/csv",
        bytes: 3,
        label: "one",
        origin: { runId: "r", toolCallId: "c" }
      })
      assert.notProperty(minted, "data")
      const state = Run.fold(events)
      assert.deepStrictEqual(state.violations, [])
      const [known] = ArtifactState.list(state.artifacts ?? ArtifactState.initial)
      assert.deepStrictEqual([known?.ticket], yield* all(own))
      assert.deepInclude(known?.minted, { seq: at, toolCallId: "c", iteration: 1 })
      assert.strictEqual(after?._tag === "ToolSettled" ? after.served : "", known?.ref)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("are those of the run: the type has no scope, and another one is refused as it runs", () =>
    Effect.gen(function* () {
      const store = yield* ArtifactStore.ArtifactStore
      const other = { conversationId: "r", tenant: "rival" }
      const theirs = (yield* store.put(other, Atelier.csv("secret"))).meta.ref
      const { events } = yield* Atelier.play(once(), () =>
        Effect.gen(function* () {
          const artifacts = yield* Artifacts.Artifacts
          // @ts-expect-error: there is no scope to give.
          assert.isTrue(Option.isNone(yield* Effect.orDie(artifacts.get(theirs, other))))
          // @ts-expect-error: a tool does not say where an artifact is from.
          const input: Artifacts.Input = { ...Atelier.csv("x"), origin: {} }
          assert.property(input, "origin")
          // The service of the application is within reach of a handler, and does no more for it.
          const reached = Option.getOrThrow(yield* Effect.serviceOption(ArtifactStore.ArtifactStore))
          const foreign: ReadonlyArray<Effect.Effect<unknown, ArtifactStore.ArtifactStoreError>> = [
            reached.put(other, Atelier.csv("x")),
            reached.head(other, theirs),
            reached.get(other, theirs),
            reached.delete(other, theirs),
            reached.list(other),
            reached.list({ conversationId: "R" }),
            reached.list({ conversationId: 1 as unknown as string })
          ]
          for (const one of foreign) {
            const { path, reason } = yield* Effect.flip(one)
            assert.deepStrictEqual([reason, path], ["InvalidInput", "scope"])
          }
          assert.notProperty(reached, "putStream")
          yield* reached.put(own, Atelier.csv("mine"))
          return (yield* reached.list({ ...own, tenant: "" })).artifacts.length
        }).pipe(Effect.orDie)
      )
      const told = Atelier.artifactEvents(events).map((event) =>
        event._tag === "ArtifactRefused" ? `${event.op}: ${event.reason}` : event._tag
      )
      assert.deepStrictEqual(told, [
        "get: missing-or-expired",
        "put: invalid-input",
        "head: invalid-input",
        "get: invalid-input",
        "delete: invalid-input",
        "list: invalid-input",
        "ArtifactMinted"
      ])
      assert.notInclude(JSON.stringify(events), "secret")
      assert.notInclude(JSON.stringify(events), "rival")
      assert.lengthOf(yield* all(other), 1)
      assert.lengthOf(yield* all(own), 1)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("are told of as the store holds them, whatever a handler does", () => {
    const ref = FastCheck.integer({ min: 0, max: 5 })
    const act = FastCheck.oneof(
      FastCheck.record({ act: FastCheck.constant("put" as const), data: FastCheck.string({ maxLength: 12 }) }),
      FastCheck.record({ act: FastCheck.constant("child" as const), of: ref }),
      FastCheck.record({ act: FastCheck.constantFrom("head" as const, "get" as const, "delete" as const), of: ref }),
      FastCheck.constant({ act: "big" as const })
    )
    const story = FastCheck.array(FastCheck.array(act, { maxLength: 8 }), { minLength: 1, maxLength: 4 })
    return Effect.promise(() =>
      FastCheck.assert(
        FastCheck.asyncProperty(story, (calls) =>
          Effect.runPromise(
            Effect.gen(function* () {
              const refs: Array<string> = []
              const named = (of: number) => refs[of] ?? `art_${"x".repeat(22)}`
              const script = LLM.byPass([
                LLM.together(...calls.map((_, index) => LLM.call("make", { what: `${index}` }, `c${index}`))),
                LLM.say("Done.")
              ])
              const { events } = yield* Atelier.play(script, (what) =>
                Effect.gen(function* () {
                  const artifacts = yield* Artifacts.Artifacts
                  for (const one of calls[Number(what)] ?? []) {
                    const isPut = one.act === "put" || one.act === "child" || one.act === "big"
                    if (!isPut) {
                      yield* Effect.ignore(artifacts[one.act](named(one.of)))
                      continue
                    }
                    const parents = one.act === "child" ? { parentRefs: [named(one.of)] } : {}
                    const data = one.act === "put" ? one.data : one.act === "big" ? "x".repeat(41) : "child"
                    const came = yield* Effect.either(artifacts.put({ ...Atelier.csv(data), ...parents }))
                    if (Either.isRight(came)) refs.push(came.right.meta.ref)
                  }
                })
              )
              const state = Run.fold(events)
              assert.deepStrictEqual(state.violations, [])
              const known = ArtifactState.list(state.artifacts ?? ArtifactState.initial)
              const live = known.flatMap(({ gone, ticket }) =>
                gone === undefined && ticket !== undefined ? [ticket] : []
              )
              const byRef = (a: Artifact.Meta, b: Artifact.Meta) => (a.ref < b.ref ? -1 : 1)
              assert.deepStrictEqual(live.toSorted(byRef), (yield* all(own)).toSorted(byRef))
            }).pipe(Effect.provide(Atelier.services({ maxBytesPerScope: 40, maxCountPerScope: 4 })))
          )
        ),
        { numRuns: 60 }
      )
    )
  })

  it.effect("refuse every verb where there is no store, and say so", () =>
    Effect.gen(function* () {
      const { events } = yield* Atelier.play(once(), () =>
        Effect.gen(function* () {
          const artifacts = yield* Artifacts.Artifacts
          assert.isFalse(artifacts.isConfigured)
          const verbs = [
            artifacts.put(Atelier.csv("a")),
            artifacts.put(Atelier.csv("a")),
            artifacts.head("art_x"),
            artifacts.get("art_x"),
            artifacts.delete("art_x"),
            artifacts.list()
          ]
          for (const verb of verbs)
            assert.strictEqual(
              (yield* Effect.flip<unknown, ArtifactStore.ArtifactStoreError, never>(verb)).reason,
              "NotConfigured"
            )
        }).pipe(Effect.orDie)
      )
      const told = Atelier.artifactEvents(events).flatMap((event) =>
        event._tag === "ArtifactRefused" ? [`${event.op}: ${event.reason}`] : []
      )
      assert.deepStrictEqual(
        told,
        ["put", "head", "get", "delete", "list"].map((op) => `${op}: no-store`)
      )
    }).pipe(Effect.provide([Record.layerMemory, ArtifactStore.layerNone]))
  )

  it.effect("are of no use outside of a call", () =>
    Effect.gen(function* () {
      const artifacts = yield* Artifacts.Artifacts
      assert.isFalse(artifacts.isConfigured)
      for (const verb of [
        artifacts.put(Atelier.csv("a")),
        artifacts.list(),
        artifacts.head("x"),
        artifacts.get("x"),
        artifacts.delete("x")
      ])
        assert.strictEqual(
          (yield* Effect.flip<unknown, ArtifactStore.ArtifactStoreError, never>(verb)).reason,
          "NotConfigured"
        )
    })
  )

  it.effect("are lent to one call: what is stored after it was settled is gone again, and not told", () =>
    Effect.gen(function* () {
      const go = yield* Deferred.make<void>()
      const late = yield* Deferred.make<Exit.Exit<unknown, ArtifactStore.ArtifactStoreError>>()
      const { events } = yield* Atelier.play(once(), () =>
        Effect.gen(function* () {
          const { put } = yield* Artifacts.Artifacts
          const left = Effect.zipRight(Deferred.await(go), put(Atelier.csv("late")))
          yield* Effect.forkDaemon(Effect.flatMap(Effect.exit(left), (exit) => Deferred.succeed(late, exit)))
          return "left something behind"
        })
      )
      yield* Deferred.succeed(go, undefined)
      const exit = yield* Deferred.await(late)
      assert.isTrue(Exit.isFailure(exit) && Cause.pretty(exit.cause).includes("has been settled"))
      assert.deepStrictEqual(Atelier.artifactEvents(events), [])
      assert.deepStrictEqual(yield* all(own), [])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("that were on their way to the store when the call was settled do not stay there", () =>
    Effect.gen(function* () {
      const memory = yield* ArtifactStore.ArtifactStore
      const [asked, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const late = yield* Deferred.make<Exit.Exit<unknown, ArtifactStore.ArtifactStoreError>>()
      const slow: typeof ArtifactStore.ArtifactStore.Service = {
        ...memory,
        put: (scope, input) =>
          Deferred.succeed(asked, undefined).pipe(
            Effect.zipRight(Deferred.await(go)),
            Effect.zipRight(memory.put(scope, input))
          )
      }
      const { events } = yield* Atelier.play(once(), () =>
        Effect.gen(function* () {
          const { put } = yield* Artifacts.Artifacts
          yield* Effect.forkDaemon(
            Effect.flatMap(Effect.exit(put(Atelier.csv("late"))), (exit) => Deferred.succeed(late, exit))
          )
          yield* Deferred.await(asked)
        })
      ).pipe(Effect.provideService(ArtifactStore.ArtifactStore, slow))
      yield* Deferred.succeed(go, undefined)
      assert.isTrue(Exit.isFailure(yield* Deferred.await(late)))
      assert.deepStrictEqual(Atelier.artifactEvents(events), [])
      assert.deepStrictEqual(yield* all(own), [])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("that were stored by a call which was then stopped are told all the same", () =>
    Effect.gen(function* () {
      for (const [tool, budget, outcome] of [
        ["hasty", {}, "ran-error"],
        ["make", { wallTime: "1 second" }, "aborted"]
      ] as const) {
        const one = Agent.make({ name: "a", instructions: "Go.", toolkit: Atelier.toolkit, budget })
        const fiber = yield* Effect.fork(
          Atelier.play(
            once(tool),
            () =>
              Effect.gen(function* () {
                const { put } = yield* Artifacts.Artifacts
                yield* Effect.orDie(put(Atelier.csv("done in time")))
                return yield* Effect.never
              }),
            { scope: { conversationId: tool } },
            one
          ).pipe(Effect.provide(Record.layerMemory))
        )
        yield* TestClock.adjust("2 seconds")
        const { events } = yield* Fiber.join(fiber)
        const [minted, settled] = events.slice(events.findIndex(({ _tag }) => _tag === "ArtifactMinted"))
        assert.deepInclude(minted, { _tag: "ArtifactMinted", toolCallId: "c" })
        assert.deepInclude(settled, { _tag: "ToolSettled", toolCallId: "c", outcome })
        assert.deepStrictEqual(Run.fold(events).violations, [])
      }
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("of calls that run together are told in the order of the calls, each with its own", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const script = LLM.byPass([
        LLM.together(LLM.call("look", { what: "slow" }, "a"), LLM.call("look", { what: "fast" }, "b")),
        LLM.say("Done.")
      ])
      const { events } = yield* Atelier.play(script, (what) =>
        Effect.gen(function* () {
          const { put } = yield* Artifacts.Artifacts
          if (what === "slow") yield* Deferred.await(gate)
          yield* Effect.orDie(put({ ...Atelier.csv(what), label: what }))
          if (what === "fast") yield* Deferred.succeed(gate, undefined)
        })
      )
      const told = events.flatMap((event) =>
        event._tag === "ArtifactMinted" || event._tag === "ToolSettled" ? [`${event._tag} ${event.toolCallId}`] : []
      )
      assert.deepStrictEqual(told, ["ArtifactMinted a", "ToolSettled a", "ArtifactMinted b", "ToolSettled b"])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("are those of a session, and of the run that is followed up, and of the record when it is resumed", () =>
    Effect.gen(function* () {
      const put = () => Effect.flatMap(Artifacts.Artifacts, ({ put }) => Effect.orDie(put(Atelier.csv("a"))))
      const live = [Atelier.handlers(put), LLM.layerScripted(once())] as const
      const scope = { conversationId: "session", tenant: "acme", principal: "" }
      const { events } = yield* Atelier.play(once(), put, { scope })
      assert.deepStrictEqual(events[0]?._tag === "RunStarted" ? events[0].manifest.artifacts : undefined, {
        scope: { conversationId: "session", tenant: "acme" }
      })
      yield* Agent.followUp(Atelier.agent, "r", "More.", { runId: "r2" }).pipe(Effect.provide(live))
      assert.lengthOf(yield* all(scope), 2)

      yield* Agent.run(Atelier.agent, "Go.", { runId: "anonymous" }).pipe(Effect.provide(live))
      yield* Agent.followUp(Atelier.agent, "anonymous", "More.", { runId: "anonymous2" }).pipe(Effect.provide(live))
      yield* Agent.followUp(Atelier.agent, "anonymous2", "More.", { runId: "named", scope }).pipe(Effect.provide(live))
      assert.lengthOf(yield* all({ conversationId: "anonymous" }), 2)
      assert.lengthOf(yield* all(scope), 3)

      yield* Effect.exit(Agent.run(Atelier.agent, "Go.", { runId: "died", scope })).pipe(
        Effect.provide(Mortal.layer({ at: 2, kept: "nothing" })),
        Effect.provide(live)
      )
      yield* Agent.resume(Atelier.agent, "died").pipe(Effect.provide(live))
      assert.lengthOf(yield* all(scope), 4)
      assert.lengthOf(yield* all({ conversationId: "died" }), 0)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("of a run that a handler starts are those of the run around it, and both records tell of them", () =>
    Effect.gen(function* () {
      const scope = { conversationId: "session", tenant: "acme" }
      const put = Effect.flatMap(Artifacts.Artifacts, ({ put }) => Effect.orDie(put(Atelier.csv("inner"))))
      const inner = Agent.run(Atelier.agent, "Go.", { runId: "inner" }).pipe(
        Effect.provide([Atelier.handlers(() => put), LLM.layerScripted(once())]),
        Effect.orDie
      )
      const { events } = yield* Atelier.play(
        once(),
        () =>
          Effect.gen(function* () {
            const store = Option.getOrThrow(yield* Effect.serviceOption(ArtifactStore.ArtifactStore))
            const record = Option.getOrThrow(yield* Effect.serviceOption(Record.Record))
            return yield* inner.pipe(
              Effect.provideService(ArtifactStore.ArtifactStore, store),
              Effect.provideService(Record.Record, record),
              Effect.map(({ status }) => status)
            )
          }),
        { scope }
      )
      const tags = (of: ReadonlyArray<Event.Event>) => Atelier.artifactEvents(of).map(({ _tag }) => _tag)
      assert.deepStrictEqual(tags(events), ["ArtifactMinted"])
      assert.deepStrictEqual(tags(yield* Shop.events("inner")), ["ArtifactMinted"])
      assert.lengthOf(yield* all(scope), 1)
      assert.lengthOf(yield* all({ conversationId: "inner" }), 0)
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("are on the record only if they are in the store, wherever its process dies", () =>
    Effect.gen(function* () {
      const script = LLM.byPass([
        LLM.together(LLM.call("look", { what: "a" }), LLM.call("look", { what: "b" })),
        LLM.call("hasty", { what: "c" }),
        LLM.say("Done.")
      ])
      const live = [
        Atelier.handlers((what) =>
          Effect.flatMap(Artifacts.Artifacts, ({ put }) => Effect.orDie(put({ ...Atelier.csv(what), label: what })))
        ),
        LLM.layerScripted(script)
      ] as const
      for (const kept of ["nothing", "all", 1, 2] as const) {
        for (let at = 1; ; at++) {
          const isOver = yield* Effect.gen(function* () {
            const exit = yield* Effect.exit(Agent.run(Atelier.agent, "Go.", { runId: "r" })).pipe(
              Effect.provide(Mortal.layer({ at, kept })),
              Effect.provide(live)
            )
            if (Exit.isSuccess(exit)) return true
            const prefix = yield* Shop.events("r").pipe(Effect.orElseSucceed(() => []))
            const again =
              prefix.length === 0 ? Agent.run(Atelier.agent, "Go.", { runId: "r" }) : Agent.resume(Atelier.agent, "r")
            yield* again.pipe(Effect.provide(live))
            const state = Run.fold(yield* Shop.events("r"))
            assert.deepStrictEqual(state.violations, [])
            const told = ArtifactState.list(state.artifacts ?? ArtifactState.initial).map(({ ticket }) => ticket)
            const held = yield* all(own)
            assert.includeDeepMembers(held, told)
            // Each call that was settled has stored what it says, once or more.
            assert.includeMembers(
              told.map((ticket) => ticket?.label),
              ["a", "b", "c"]
            )
            return false
          }).pipe(Effect.provide(Atelier.services()))
          if (isOver) break
        }
      }
    })
  )

  it.effect("have no scope that no store can keep: nothing starts, and its values are told to nobody", () =>
    Effect.gen(function* () {
      for (const scope of [
        { conversationId: " " },
        { conversationId: "c", tenant: "canary\ud800" },
        { conversationId: "canary", principal: 7 as unknown as string }
      ]) {
        const error = yield* Effect.flip(Atelier.play(once(), () => Effect.void, { scope }))
        assert.strictEqual(error._tag, "InvalidAgent")
        assert.include(error.message, "scope.")
        assert.notInclude(error.message, "canary")
        assert.deepStrictEqual(yield* Effect.orElseSucceed(Shop.events("r"), () => []), [])
      }
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("are not put for a tool that hands over no input, or one too large for an event", () =>
    Effect.gen(function* () {
      const long = "x".repeat(257)
      const inputs: ReadonlyArray<readonly [unknown, string]> = [
        [null, "input"],
        ["text", "input"],
        [undefined, "input"],
        [{ ...Atelier.csv(1), kind: long }, "kind"],
        [{ ...Atelier.csv(1), mediaType: long }, "mediaType"],
        [{ ...Atelier.csv(1), kind: 7 }, "kind"],
        [{ ...Atelier.csv(1), parentRefs: "x" }, "parentRefs"],
        [{ ...Atelier.csv(1), parentRefs: Array.from({ length: 1_001 }, (_, n) => `${n}`) }, "parentRefs"],
        [Atelier.csv(undefined), "data"]
      ]
      const { events } = yield* Atelier.play(once(), () =>
        Effect.gen(function* () {
          const { put } = yield* Artifacts.Artifacts
          for (const [input, at] of inputs) {
            const { path, reason } = yield* Effect.flip(put(input as Artifacts.Input))
            assert.deepStrictEqual([reason, path], ["InvalidInput", at])
          }
          const trap = { ...Atelier.csv(1) }
          Object.defineProperty(trap, "kind", {
            get() {
              throw new Error("a trap")
            }
          })
          assert.strictEqual((yield* Effect.flip(put(trap))).reason, "Unavailable")
        }).pipe(Effect.orDie)
      )
      assert.isTrue(events.some((event) => event._tag === "ToolSettled" && event.outcome === "ran-ok"))
      assert.isFalse(Atelier.artifactEvents(events).some(({ _tag }) => _tag !== "ArtifactRefused"))
      assert.deepStrictEqual(yield* all(own), [])
    }).pipe(Effect.provide(Atelier.services()))
  )

  it.effect("that take others' room say which went, and one that finds none is refused", () =>
    Effect.gen(function* () {
      const { events } = yield* Atelier.play(once(), () =>
        Effect.gen(function* () {
          const { put } = yield* Artifacts.Artifacts
          const first = yield* put(Atelier.csv("1"))
          yield* put(Atelier.csv("2"))
          const { reason } = yield* Effect.flip(put({ ...Atelier.csv("3"), label: "x".repeat(10_001) }))
          assert.strictEqual(reason, "InvalidInput")
          return (yield* Effect.flip(put(Atelier.csv("x".repeat(10))))).reason === "OverBudget" ? first.meta.ref : ""
        }).pipe(Effect.orDie)
      )
      const [first, second, expired, long, big] = Atelier.artifactEvents(events)
      assert.strictEqual(first?._tag, "ArtifactMinted")
      assert.strictEqual(second?._tag, "ArtifactMinted")
      const { ref } = first?._tag === "ArtifactMinted" ? first : { ref: "" }
      assert.deepInclude(expired, { _tag: "ArtifactExpired", ref, reason: "max-count", kind: "table/csv", bytes: 1 })
      assert.deepInclude(long, { _tag: "ArtifactRefused", op: "put", reason: "invalid-input" })
      assert.deepInclude(big, { _tag: "ArtifactRefused", op: "put", reason: "over-budget" })
      assert.deepStrictEqual(
        ArtifactState.get(Run.fold(events).artifacts ?? ArtifactState.initial, ref)?.gone?.reason,
        "max-count"
      )
    }).pipe(Effect.provide(Atelier.services({ maxCountPerScope: 1, maxBytesPerScope: 5 })))
  )
})
