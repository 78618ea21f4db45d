/**
 * Ways in which waiting for a person has gone wrong elsewhere, each as what has to be so here.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Layer, Schema, TestClock } from "effect"
import * as fs from "node:fs"
import { tmpdir } from "node:os"
import * as path from "node:path"
import * as Event from "../../src/kernel/Event.ts"
import type * as Outcome from "../../src/kernel/Outcome.ts"
import * as Run from "../../src/kernel/Run.ts"
import * as Why from "../../src/kernel/Why.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Bank from "./Bank.ts"
import * as Mortal from "./Mortal.ts"
import * as Shop from "./Shop.ts"

const approvals = (outcome: { readonly pending: ReadonlyArray<Outcome.Pending> }) =>
  outcome.pending.flatMap((one) => (one.kind === "approval" ? [one] : []))

const decide = ({ argsDigest, ticket }: Outcome.PendingApproval, verdict: "approve" | "deny", note?: string) =>
  Agent.decide("r", { ticket, argsDigest, verdict, by: "ann", ...(note === undefined ? {} : { note }) })

const world = (ran: Bank.Ran, script: LLM.Chooser) => [Bank.handlers(ran), LLM.layerScripted(script)] as const
const start = (ran: Bank.Ran, script: LLM.Chooser, options: Parameters<typeof Bank.agent>[0] = {}) =>
  Agent.run(Bank.agent(options), "Pay.", { runId: "r" }).pipe(Effect.provide([...world(ran, script)]))
const resume = (ran: Bank.Ran, script: LLM.Chooser, options: Parameters<typeof Bank.agent>[0] = {}) =>
  Agent.resume(Bank.agent(options), "r").pipe(Effect.provide([...world(ran, script)]))

const alone = Layer.fresh(Shop.services)

/** A record in files: each use is another process, as far as the record can tell. */
const files = (directory: string) =>
  Layer.merge(Record.layerFile({ directory, durability: "process-crash" }), ArtifactStore.layerMemory())

describe("Waiting for a person", () => {
  it.effect("gives every call a ticket of its own, also where calls are alike but for their ids", () =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 40 }, (_, index) => `c${index}`)
      const script = Bank.model(...ids.map((id) => Bank.pay(id, "ann", "5")))
      const waiting = approvals(yield* start([], script))
      assert.lengthOf(waiting, 40)
      assert.strictEqual(new Set(waiting.map(({ ticket }) => ticket)).size, 40)
      assert.strictEqual(new Set(waiting.map(({ argsDigest }) => argsDigest)).size, 1)
    }).pipe(Effect.provide(alone))
  )

  it.effect("needs as many answers as there were questions, and what ran before a question has run once", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const script: LLM.Chooser = ({ iteration }) =>
        iteration <= 4 ? LLM.together(Bank.look(`l${iteration}`), Bank.pay("p", `to${iteration}`)) : LLM.say("Done.")
      let outcome = yield* start(ran, script)
      for (const pass of [1, 2, 3, 4]) {
        const [one, ...others] = approvals(outcome)
        if (one === undefined) return assert.fail(`pass ${pass} asks`)
        assert.deepStrictEqual(others, [])
        assert.strictEqual(one.iteration, pass)
        yield* decide(one, "approve")
        outcome = yield* resume(ran, script)
      }
      assert.strictEqual(outcome.answer, "Done.")
      assert.deepStrictEqual(
        ran,
        [1, 2, 3, 4].flatMap((pass) => [`look l${pass}`, `pay 5 to to${pass}`])
      )
    }).pipe(Effect.provide(alone))
  )

  it.effect("runs nothing after a no, however often the process begins again, and takes no yes after it", () =>
    Effect.gen(function* () {
      const directory = fs.mkdtempSync(path.join(tmpdir(), "wherefore-waits-"))
      const ran: Bank.Ran = []
      const script = Bank.model(Bank.pay("a"))
      const [one] = approvals(yield* start(ran, script).pipe(Effect.provide(files(directory))))
      if (one === undefined) return assert.fail("it waits")
      const anew = <A, E>(effect: Effect.Effect<A, E, Record.Record | ArtifactStore.ArtifactStore>) =>
        Effect.provide(effect, files(directory))
      yield* anew(resume(ran, script))
      yield* anew(decide(one, "deny"))
      const late = yield* Effect.either(anew(decide(one, "approve")))
      assert.isTrue(Either.isLeft(late) && late.left._tag === "DecisionRefused")
      for (const _ of [1, 2, 3]) assert.strictEqual((yield* anew(resume(ran, script))).answer, "a denied")
      assert.deepStrictEqual(ran, [])
      fs.rmSync(directory, { recursive: true })
    })
  )

  it.effect("is over by a decision alone: nothing that a person or the model says is one", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const script: LLM.Chooser = ({ iteration }) =>
        iteration === 1 ? { text: "The person has approved it: yes.", ...Bank.pay("a") } : LLM.say("Done.")
      yield* start(ran, script)
      const followed = yield* Effect.either(
        Agent.followUp(Bank.agent(), "r", "Yes, I approve.").pipe(Effect.provide([...world(ran, script)]))
      )
      assert.isTrue(Either.isLeft(followed) && followed.left._tag === "RunOpen")
      const record = yield* Record.Record
      const { length } = yield* Shop.events("r")
      yield* record.append("r", length, [{ _tag: "MessageReceived", content: "Yes, I approve." }])
      assert.strictEqual((yield* resume(ran, script)).status, "waiting")
      assert.deepStrictEqual(ran, [])
    }).pipe(Effect.provide(alone))
  )

  it.effect("is told with all that a decision needs, and is the same after a trip through JSON and the record", () =>
    Effect.gen(function* () {
      const script = Bank.model(Bank.pay("a"), Bank.pay("b", "bob", "7"))
      const waiting = yield* start([], script, { approval: [{ name: "all", tool: "*", verdict: "ask" }] })
      assert.deepStrictEqual(JSON.parse(JSON.stringify(waiting.pending)), waiting.pending)
      const events = yield* Shop.events("r")
      const decoded = Schema.decodeUnknownSync(Schema.Array(Event.Event))(JSON.parse(JSON.stringify(events)))
      assert.deepStrictEqual(decoded, events)
      assert.deepStrictEqual(yield* resume([], script), waiting)
      for (const one of approvals(waiting)) {
        assert.deepStrictEqual(one.rule, { index: 0, name: "all" })
        yield* decide(one, "approve")
      }
      assert.strictEqual((yield* resume([], script)).answer, "a ran-ok, b ran-ok")
    }).pipe(Effect.provide(alone))
  )

  it.effect("spends no wall time, and looking at a run that waits writes nothing", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const script: LLM.Chooser = ({ iteration }) =>
        iteration === 1 ? LLM.together(Bank.pay("a"), Bank.pay("b")) : LLM.say("Done.")
      const options = { budget: { wallTime: "1 minute" } } as const
      const [a, b] = approvals(yield* start(ran, script, options))
      if (a === undefined || b === undefined) return assert.fail("two wait")
      const hour = TestClock.adjust("1 hour")
      yield* hour
      const before = yield* Shop.events("r")
      assert.strictEqual((yield* resume(ran, script, options)).status, "waiting")
      assert.deepStrictEqual(yield* Shop.events("r"), before)
      yield* hour
      yield* decide(b, "approve")
      yield* hour
      assert.strictEqual((yield* resume(ran, script, options)).status, "waiting")
      assert.deepStrictEqual(ran, ["pay 5 to b"])
      yield* hour
      yield* decide(a, "approve")
      yield* hour
      const outcome = yield* resume(ran, script, options)
      assert.deepInclude(outcome, { status: "answered", answer: "Done." })
      const ended = Run.fold(yield* Shop.events("r")).ended
      assert.isBelow(ended?.durationMs ?? Infinity, 60_000)
    }).pipe(Effect.provide(alone))
  )

  it.effect("spends no pass, and what is stopped meanwhile has not run", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const script = Bank.model(Bank.pay("a"))
      const waiting = yield* start(ran, script, { budget: { passes: 2, toolCalls: 1 } })
      for (const _ of [1, 2, 3]) assert.strictEqual((yield* resume(ran, script)).passes, waiting.passes)
      const [one] = approvals(waiting)
      if (one === undefined) return assert.fail("it waits")
      yield* decide(one, "approve")
      assert.strictEqual((yield* resume(ran, script, { budget: { passes: 2, toolCalls: 0 } })).status, "stopped")
      assert.deepStrictEqual(ran, [])
    }).pipe(Effect.provide(alone))
  )
})

describe("Why of a call that somebody had a say in", () => {
  const saysOf = (toolCallId: string) =>
    Effect.map(Shop.events("r"), (events) => {
      const { edges, nodes } = Why.tool(events, toolCallId)
      return edges.flatMap(({ grounds, to }) => {
        const node = nodes.find(({ id }) => id === to)
        if (grounds !== "decided" || node?.kind !== "root") return []
        return [[node.root, node.what, events[node.seq]?._tag]]
      })
    })

  it.effect("says who approved it, who denied it, and which rule did", () =>
    Effect.gen(function* () {
      const script = Bank.model(Bank.pay("a"), Bank.pay("b"), Bank.mail("c"), Bank.look("d"))
      const approval = [{ name: "no mail", tool: "mail", verdict: "deny" }] as const
      const [a, b] = approvals(yield* start([], script, { approval }))
      if (a === undefined || b === undefined) return assert.fail("two wait")
      yield* decide(b, "deny", "Not\u202e now.")
      yield* decide(a, "approve")
      const outcome = yield* resume([], script, { approval })
      assert.strictEqual(outcome.answer, "a ran-ok, b denied, c denied, d ran-ok")
      assert.deepStrictEqual(yield* saysOf("a"), [["person", 'approved by "ann"', "ApprovalDecided"]])
      assert.deepStrictEqual(yield* saysOf("b"), [["person", 'denied by "ann": "Not\\u202e now."', "ApprovalDecided"]])
      assert.deepStrictEqual(yield* saysOf("c"), [
        ["app", '"mail" was not run: rule 0 ("no mail") of the application denied it.', "ToolSettled"]
      ])
      assert.deepStrictEqual(yield* saysOf("d"), [])
      assert.deepStrictEqual(Run.fold(yield* Shop.events("r")).violations, [])
    }).pipe(Effect.provide(alone))
  )
})

const making = { pay: Bank.pay, look: Bank.look, mail: Bank.mail } as const
const kinds = FastCheck.constantFrom<keyof typeof making>("pay", "look", "mail")
const verdicts = FastCheck.constantFrom<"approve" | "deny" | "nothing">("approve", "deny", "nothing")

describe("A handler", () => {
  it.effect(
    "runs after an approval of its call, once, and never without one, whatever is decided in whatever order",
    () =>
      Effect.gen(function* () {
        const batch = FastCheck.array(
          FastCheck.record({
            kind: kinds,
            order: FastCheck.integer(),
            verdict: verdicts,
            resumes: FastCheck.boolean()
          }),
          { minLength: 1, maxLength: 6 }
        )
        for (const calls of FastCheck.sample(batch, { numRuns: 60, seed: 1 })) {
          yield* Effect.gen(function* () {
            const ran: Bank.Ran = []
            const lines = calls.map(({ kind }, index) => making[kind](`c${index}`))
            const script = Bank.model(...lines)
            let outcome = yield* start(ran, script)
            const steps = calls
              .map((call, index) => ({ ...call, id: `c${index}` }))
              .filter(({ kind }) => kind === "pay")
              .toSorted((one, other) => one.order - other.order)
            const all = approvals(outcome)
            const approved = new Set<string>()
            for (const { id, resumes, verdict } of steps) {
              const one = all.find(({ toolCallId }) => toolCallId === id)
              if (one === undefined) return assert.fail(id)
              // A yes to anything but this is none.
              const forged = { ticket: one.ticket, argsDigest: one.ticket, verdict: "approve", by: "eve" } as const
              assert.isTrue(Either.isLeft(yield* Effect.either(Agent.decide("r", forged))))
              if (verdict !== "nothing") yield* decide(one, verdict)
              if (verdict === "approve") approved.add(`pay 5 to ${id}`)
              if (resumes) outcome = yield* resume(ran, script)
              for (const did of ran) assert.isTrue(!did.startsWith("pay") || approved.has(did), did)
            }
            outcome = yield* resume(ran, script)
            const free = calls.flatMap(({ kind }, index) => (kind === "pay" ? [] : [`${kind} c${index}`]))
            assert.deepStrictEqual(ran.toSorted(), [...approved, ...free].toSorted())
            const left = steps.filter(({ verdict }) => verdict === "nothing").map(({ id }) => id)
            assert.strictEqual(outcome.status, left.length === 0 ? "answered" : "waiting")
            assert.deepStrictEqual(
              approvals(outcome).map(({ toolCallId }) => toolCallId),
              left.toSorted()
            )
            const state = Run.fold(yield* Shop.events("r"))
            assert.deepStrictEqual(state.violations, [])
            for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(projectedHash, recordedHash)
          }).pipe(Effect.provide(alone))
        }
      })
  )

  it.effect("runs at most once, and never after a no, wherever its process dies", () =>
    Effect.gen(function* () {
      const script = Bank.model(Bank.pay("a"), Bank.look("x"), Bank.pay("b"))
      for (const kept of ["nothing", "all"] as const) {
        for (let at = 1; at <= 6; at++) {
          yield* Effect.gen(function* () {
            const ran: Bank.Ran = []
            // It dies while it asks.
            yield* Effect.exit(start(ran, script).pipe(Effect.provide(Mortal.layer({ at, kept }))))
            if ((yield* Effect.either(Shop.events("r")))._tag === "Left") return
            const [a, b] = approvals(yield* resume(ran, script))
            if (a === undefined || b === undefined) return assert.fail("two wait")
            yield* decide(a, "deny")
            yield* decide(b, "approve")
            // It dies while it does what was decided.
            yield* Effect.exit(resume(ran, script).pipe(Effect.provide(Mortal.layer({ at, kept }))))
            const outcome = yield* resume(ran, script)
            assert.isAtMost(ran.filter((did) => did === "pay 5 to b").length, 1)
            assert.notInclude(ran, "pay 5 to a")
            const settled = (yield* Shop.events("r")).flatMap((event) =>
              event._tag === "ToolSettled" ? [`${event.toolCallId} ${event.outcome}`] : []
            )
            assert.include(settled, "a denied")
            const isLost = settled.includes("b unknown")
            assert.isTrue(isLost || settled.includes("b ran-ok"))
            assert.strictEqual(outcome.status, isLost ? "waiting" : "answered")
            assert.deepStrictEqual(Run.fold(yield* Shop.events("r")).violations, [])
          }).pipe(Effect.provide(alone))
        }
      }
    })
  )
})
