import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, FastCheck, Layer, ParseResult, Schema } from "effect"
import * as Event from "../../src/kernel/Event.ts"
import type * as Guard from "../../src/kernel/Guard.ts"
import type * as Outcome from "../../src/kernel/Outcome.ts"
import * as Refusal from "../../src/kernel/Refusal.ts"
import * as Run from "../../src/kernel/Run.ts"
import type * as WaitEvent from "../../src/kernel/WaitEvent.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Approval from "../../src/programs/Approval.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Bank from "./Bank.ts"
import * as Mortal from "./Mortal.ts"
import * as Shop from "./Shop.ts"

const approvals = (outcome: { readonly pending: ReadonlyArray<Outcome.Pending> }) =>
  outcome.pending.flatMap((one) => (one.kind === "approval" ? [one] : []))

/** The one approval that a run waits for. */
const only = (outcome: { readonly pending: ReadonlyArray<Outcome.Pending> }) => {
  const [one, ...others] = approvals(outcome)
  assert.deepStrictEqual(others, [])
  if (one === undefined) return assert.fail("nothing waits for approval")
  return one
}

const decision = (
  { argsDigest, ticket }: Outcome.PendingApproval,
  verdict: "approve" | "deny" = "approve",
  by = "ann"
) => ({ ticket, argsDigest, verdict, by })

const tags = (events: ReadonlyArray<Event.Event>) =>
  events.map((event) =>
    event._tag === "ToolSettled"
      ? `${event.toolCallId} ${event.outcome}`
      : "toolCallId" in event
        ? `${event._tag} ${event.toolCallId}`
        : event._tag
  )

/** What every record of a run keeps. */
const lawful = (events: ReadonlyArray<Event.Event>) => {
  const state = Run.fold(events)
  assert.deepStrictEqual(state.violations, [])
  if (state.transcript.open === undefined) assert.deepStrictEqual(state.waiting?.early ?? [], [])
  assert.isTrue(events.every(Schema.is(Event.Event)))
  for (const { projectedHash, recordedHash } of state.marks) assert.strictEqual(projectedHash, recordedHash)
}

const start = (agent: ReturnType<typeof Bank.agent>, ran: Bank.Ran, script: LLM.Chooser) =>
  Agent.run(agent, "Pay.", { runId: "r" }).pipe(Effect.provide([Bank.handlers(ran), LLM.layerScripted(script)]))

const goOn = (agent: ReturnType<typeof Bank.agent>, ran: Bank.Ran, script: LLM.Chooser) =>
  Agent.resume(agent, "r").pipe(Effect.provide([Bank.handlers(ran), LLM.layerScripted(script)]))

const refusal = <A, R>(effect: Effect.Effect<A, { readonly _tag: string }, R>) =>
  Effect.map(Effect.either(effect), (came) => {
    if (Either.isRight(came)) return assert.fail("it was taken")
    return came.left instanceof Agent.DecisionRefused ? came.left.reason : assert.fail(came.left._tag)
  })

const alone = Layer.fresh(Shop.services)

describe("A call that needs an approval", () => {
  const script = Bank.model(Bank.pay("a"))

  it.effect("waits without a process, and runs once when it is approved", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const waiting = yield* start(Bank.agent(), ran, script)
      assert.strictEqual(waiting.status, "waiting")
      const one = only(waiting)
      assert.deepInclude(one, { iteration: 1, toolCallId: "a", toolName: "pay", args: { to: "a", amount: "5" } })
      assert.deepStrictEqual(ran, [])
      // Nothing is decided yet: nothing happens, however often it is resumed.
      const before = yield* Shop.events("r")
      assert.strictEqual(before.at(-1)?._tag, "ApprovalAsked")
      assert.deepStrictEqual(yield* goOn(Bank.agent(), ran, script), waiting)
      assert.deepStrictEqual(yield* Shop.events("r"), before)
      assert.deepStrictEqual(yield* Agent.decide("r", decision(one)), { runId: "r", pending: [] })
      const outcome = yield* goOn(Bank.agent(), ran, script)
      assert.deepInclude(outcome, { status: "answered", answer: "a ran-ok", pending: [] })
      assert.deepStrictEqual(ran, ["pay 5 to a"])
      const events = yield* Shop.events("r")
      lawful(events)
      assert.includeMembers(tags(events), ["ApprovalAsked a", "ApprovalDecided a", "ToolCalled a", "a ran-ok"])
    }).pipe(Effect.provide(alone))
  )

  it.effect("is settled denied when it is declined, and its handler has run zero times", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const one = only(yield* start(Bank.agent(), ran, script))
      yield* Agent.decide("r", { ...decision(one, "deny"), note: "Not \u202eto them." })
      const outcome = yield* goOn(Bank.agent(), ran, script)
      assert.strictEqual(outcome.answer, "a denied")
      assert.deepStrictEqual(ran, [])
      const events = yield* Shop.events("r")
      lawful(events)
      assert.notInclude(tags(events), "ToolCalled a")
      const settled = events.find((event) => event._tag === "ToolSettled")
      assert.deepInclude(settled?.error, { tag: "ApprovalDeclined", outcome: "not-applied" })
      assert.include(settled?.error?.what, '"Not \\u202eto them."')
    }).pipe(Effect.provide(alone))
  )

  it.effect("does not hold up those of its reply that need none, and results keep the order of their calls", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const calls = Bank.model(Bank.look("x"), Bank.pay("a"), Bank.mail("y"), Bank.look("z"), LLM.call("none", {}, "n"))
      const one = only(yield* start(Bank.agent(), ran, calls))
      assert.deepStrictEqual(ran, ["look x", "mail y", "look z"])
      lawful(yield* Shop.events("r"))
      yield* Agent.decide("r", decision(one))
      const outcome = yield* goOn(Bank.agent(), ran, calls)
      assert.strictEqual(outcome.answer, "x ran-ok, a ran-ok, y ran-ok, z ran-ok, n refused")
      lawful(yield* Shop.events("r"))
    }).pipe(Effect.provide(alone))
  )

  it.effect("settles 40 that wait in whatever order they are decided", () =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 40 }, (_, index) => `c${index}`)
      const calls = Bank.model(...ids.map((id) => Bank.pay(id)))
      const order = FastCheck.sample(FastCheck.shuffledSubarray(ids, { minLength: 40, maxLength: 40 }), {
        seed: 7,
        numRuns: 2
      })
      for (const shuffled of order) {
        yield* Effect.gen(function* () {
          const ran: Bank.Ran = []
          let outcome = yield* start(Bank.agent(), ran, calls)
          const all = approvals(outcome)
          assert.lengthOf(all, 40)
          for (const [index, id] of shuffled.entries()) {
            const one = all.find(({ toolCallId }) => toolCallId === id)
            if (one === undefined) return assert.fail(id)
            const { pending } = yield* Agent.decide("r", decision(one, index % 3 === 0 ? "deny" : "approve"))
            assert.lengthOf(pending, 39 - index)
            // Resumed now and then, it runs what was decided, and waits on.
            if (index % 5 === 0) outcome = yield* goOn(Bank.agent(), ran, calls)
          }
          outcome = yield* goOn(Bank.agent(), ran, calls)
          const denied = new Set(shuffled.filter((_, index) => index % 3 === 0))
          const expected = ids.map((id) => `${id} ${denied.has(id) ? "denied" : "ran-ok"}`)
          assert.strictEqual(outcome.answer, expected.join(", "))
          assert.deepStrictEqual(
            ran.toSorted(),
            ids.flatMap((id) => (denied.has(id) ? [] : [`pay 5 to ${id}`])).toSorted()
          )
          lawful(yield* Shop.events("r"))
        }).pipe(Effect.provide(alone))
      }
    })
  )

  it.effect("can be decided while others of its reply run, and goes on in the same process", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const record = yield* Record.Record
      const handlers = Bank.toolkit.toLayer({
        look: () => Effect.die("not called"),
        pay: () =>
          Effect.as(
            Effect.sync(() => ran.push("pay")),
            "paid"
          ),
        mail: () =>
          Effect.gen(function* () {
            const { waiting } = Run.fold(yield* Shop.events("r"))
            const [ask] = waiting?.asks ?? []
            if (ask === undefined) return assert.fail("nothing was asked")
            const { argsDigest, ticket } = ask.asked
            yield* Agent.decide("r", { ticket, argsDigest, verdict: "approve", by: "ann" })
            return "sent"
          }).pipe(Effect.provideService(Record.Record, record), Effect.orDie)
      })
      const script = Bank.model(Bank.pay("a"), Bank.mail("b"))
      const outcome = yield* Agent.run(Bank.agent(), "Pay.", { runId: "r" }).pipe(
        Effect.provide([handlers, LLM.layerScripted(script)])
      )
      assert.strictEqual(outcome.answer, "a ran-ok, b ran-ok")
      assert.deepStrictEqual(ran, ["pay"])
      lawful(yield* Shop.events("r"))
    }).pipe(Effect.provide(alone))
  )
})

type World = "one process" | "after a resume"

/** What reviewers do with a run that waits for two calls, and what comes of it. */
interface Case {
  readonly name: string
  readonly act: (
    a: Outcome.PendingApproval,
    b: Outcome.PendingApproval
  ) => Effect.Effect<unknown, Agent.AgentError | Agent.DecisionRefused, Record.Record>
  /** What is left, or what ran in the end. */
  readonly comes: string
  readonly ran: ReadonlyArray<string>
}

const both = "a ran-ok, b ran-ok"
const cases: ReadonlyArray<Case> = [
  {
    name: "approve",
    act: (a, b) => Effect.all([Agent.decide("r", decision(a)), Agent.decide("r", decision(b))]),
    comes: both,
    ran: ["pay 5 to a", "pay 5 to b"]
  },
  {
    name: "deny",
    act: (a, b) => Effect.all([Agent.decide("r", decision(a, "deny")), Agent.decide("r", decision(b, "deny"))]),
    comes: "a denied, b denied",
    ran: []
  },
  {
    name: "the second before the first",
    act: (a, b) => Effect.all([Agent.decide("r", decision(b, "deny")), Agent.decide("r", decision(a))]),
    comes: "a ran-ok, b denied",
    ran: ["pay 5 to a"]
  },
  {
    name: "twice",
    act: (a, b) =>
      Effect.gen(function* () {
        yield* Agent.decide("r", decision(a))
        assert.strictEqual(yield* refusal(Agent.decide("r", decision(a, "approve", "bob"))), "doubled")
        yield* Agent.decide("r", decision(b, "deny"))
        assert.strictEqual(yield* refusal(Agent.decide("r", decision(b, "deny"))), "doubled")
      }),
    comes: "a ran-ok, b denied",
    ran: ["pay 5 to a"]
  },
  {
    name: "approve after deny, and deny after approve",
    act: (a, b) =>
      Effect.gen(function* () {
        yield* Agent.decide("r", decision(a, "deny"))
        assert.strictEqual(yield* refusal(Agent.decide("r", decision(a))), "contradicted")
        yield* Agent.decide("r", decision(b))
        assert.strictEqual(yield* refusal(Agent.decide("r", decision(b, "deny", "bob"))), "contradicted")
      }),
    comes: "a denied, b ran-ok",
    ran: ["pay 5 to b"]
  },
  {
    name: "other arguments",
    act: (a, b) =>
      Effect.gen(function* () {
        const other = { ...decision(a), argsDigest: b.argsDigest }
        assert.strictEqual(yield* refusal(Agent.decide("r", other)), "stale")
        assert.strictEqual(yield* refusal(Agent.decide("r", { ...decision(a), argsDigest: "" })), "stale")
      }),
    comes: "waiting a b",
    ran: []
  },
  {
    name: "a forged ticket",
    act: (a) =>
      Effect.gen(function* () {
        for (const ticket of ["", "x", `${a.ticket}x`, a.ticket.slice(1), a.toolCallId, "__proto__"]) {
          assert.strictEqual(yield* refusal(Agent.decide("r", { ...decision(a), ticket })), "unknown")
        }
      }),
    comes: "waiting a b",
    ran: []
  },
  {
    name: "another call's ticket",
    act: (a, b) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* refusal(Agent.decide("r", { ...decision(a), ticket: b.ticket })), "stale")
        assert.strictEqual(yield* refusal(Agent.decide("r", { ...decision(a), toolCallId: "b" })), "stale")
      }),
    comes: "waiting a b",
    ran: []
  },
  {
    name: "another run's ticket",
    act: (a) =>
      Effect.gen(function* () {
        assert.strictEqual(yield* refusal(Agent.decide("other", decision(a))), "no-run")
        const events = yield* Shop.events("r")
        const moved = events.map((event) =>
          event._tag === "RunStarted"
            ? { ...event, runId: "other" }
            : event._tag === "ApprovalAsked"
              ? undefined
              : event
        )
        yield* (yield* Record.Record).append(
          "other",
          0,
          moved.filter((event) => event !== undefined)
        )
        assert.strictEqual(yield* refusal(Agent.decide("other", decision(a))), "unknown")
      }),
    comes: "waiting a b",
    ran: []
  },
  {
    name: "nobody's name, and words that cannot be kept",
    act: (a) =>
      Effect.gen(function* () {
        for (const given of [
          { ...decision(a), by: " " },
          { ...decision(a), by: "\ud800" },
          { ...decision(a), note: "" },
          { ...decision(a), note: "x".repeat(5_000) }
        ]) {
          assert.strictEqual(yield* refusal(Agent.decide("r", given)), "invalid")
        }
      }),
    comes: "waiting a b",
    ran: []
  },
  {
    name: "two reviewers at once who agree",
    act: (a, b) =>
      Effect.gen(function* () {
        const racing = ["ann", "bob", "cy"].map((by) => Effect.either(Agent.decide("r", decision(a, "approve", by))))
        const came = yield* Effect.all(racing, { concurrency: "unbounded" })
        assert.lengthOf(came.filter(Either.isRight), 1)
        yield* Agent.decide("r", decision(b, "deny"))
      }),
    comes: "a ran-ok, b denied",
    ran: ["pay 5 to a"]
  },
  {
    name: "two reviewers at once who do not agree, on a record that somebody else is quicker on",
    act: (a, b) =>
      Effect.gen(function* () {
        const record = yield* Record.Record
        let first = true
        // Between what bob reads and what he writes, ann has decided.
        const slow = Record.Record.of({
          ...record,
          append: (runId, seq, events) =>
            Effect.suspend(() => {
              if (!first) return record.append(runId, seq, events)
              first = false
              const ann = Agent.decide("r", decision(a, "deny", "ann")).pipe(
                Effect.provideService(Record.Record, record),
                Effect.orDie
              )
              return Effect.zipRight(ann, record.append(runId, seq, events))
            })
        })
        const bob = Effect.provideService(Agent.decide("r", decision(a, "approve", "bob")), Record.Record, slow)
        assert.strictEqual(yield* refusal(bob), "contradicted")
        yield* Agent.decide("r", decision(b))
      }),
    comes: "a denied, b ran-ok",
    ran: ["pay 5 to b"]
  },
  { name: "never", act: () => Effect.void, comes: "waiting a b", ran: [] }
]

describe("A decision", () => {
  const script = Bank.model(Bank.pay("a"), Bank.pay("b"))

  for (const world of ["one process", "after a resume"] satisfies ReadonlyArray<World>) {
    for (const { act, comes, name, ran: expected } of cases) {
      it.effect(`of a person (${name}) in ${world} runs what was approved, and nothing else`, () =>
        Effect.gen(function* () {
          const ran: Bank.Ran = []
          let outcome = yield* start(Bank.agent(), ran, script)
          if (world === "after a resume") outcome = yield* goOn(Bank.agent(), ran, script)
          const [a, b] = approvals(outcome)
          if (a === undefined || b === undefined) return assert.fail("two calls wait")
          const before = (yield* Shop.events("r")).length
          yield* act(a, b)
          const decided = (yield* Shop.events("r")).slice(before)
          assert.isTrue(decided.every(({ _tag }) => _tag === "ApprovalDecided"))
          const last = yield* goOn(Bank.agent(), ran, script)
          const left = approvals(last).map(({ toolCallId }) => toolCallId)
          assert.strictEqual(last.status === "answered" ? last.answer : `${last.status} ${left.join(" ")}`, comes)
          assert.deepStrictEqual(ran, expected)
          lawful(yield* Shop.events("r"))
          if (last.status !== "answered") return
          // After the end it is late, or said already.
          for (const one of [a, b]) {
            const after = yield* refusal(Agent.decide("r", decision(one)))
            assert.include(["doubled", "contradicted"], after)
          }
          assert.strictEqual(yield* refusal(Agent.decide("r", { ...decision(a), ticket: "x" })), "unknown")
        }).pipe(Effect.provide(alone))
      )
    }
  }

  it.effect("is late once the run was stopped, which settles what waits and keeps what others came to", () =>
    Effect.gen(function* () {
      const calls = Bank.model(Bank.pay("a"), Bank.look("x"), Bank.pay("b"), Bank.mail("y"))
      const one = approvals(yield* start(Bank.agent(), [], calls))[0]
      if (one === undefined) return assert.fail("it waits")
      const record = yield* Record.Record
      const events = yield* Shop.events("r")
      const aborted = Run.abort(Run.fold(events), Refusal.interrupted, 1)
      yield* record.append("r", events.length, aborted)
      lawful(yield* Shop.events("r"))
      const results = Run.fold(yield* Shop.events("r")).messages.flatMap(({ message }) =>
        message.role === "tool" ? [`${message.toolCallId} ${message.outcome}`] : []
      )
      assert.deepStrictEqual(results, ["a aborted", "x ran-ok", "b aborted", "y ran-ok"])
      assert.strictEqual(yield* refusal(Agent.decide("r", decision(one))), "late")
    }).pipe(Effect.provide(alone))
  )
})

const Wire = Schema.Struct({ to: Schema.String, amount: Schema.NumberFromString })

const Cents = Schema.transform(Schema.String, Schema.Number, {
  strict: true,
  decode: (text) => Number(text) * 100,
  encode: (amount) => String(amount)
})
const OneWay = Schema.transformOrFail(Schema.Number, Schema.Number, {
  strict: true,
  decode: (n) => Effect.succeed(n),
  encode: (n, _, ast) => Effect.fail(new ParseResult.Forbidden(ast, n, "one way"))
})

describe("What was approved", () => {
  const script = Bank.model(Bank.pay("a"), Bank.look("b"))
  const payAs = (tool: Tool.Any): ReturnType<typeof Bank.agent> => {
    const changed = Agent.make({ name: "bank", instructions: "Pay what is due.", toolkit: Toolkit.make(tool) })
    const own = Bank.agent()
    return { ...own, tools: new Map([...own.tools, ...changed.tools]) }
  }
  const ask = { parameters: Wire.fields, success: Schema.String }
  const changes: ReadonlyArray<readonly [what: string, agent: ReturnType<typeof Bank.agent>]> = [
    [
      "its tool is described otherwise",
      payAs(Tool.make("pay", { ...ask, description: "Pays at once." }).annotate(Approval.Approval, "ask"))
    ],
    [
      "its tool takes something more",
      payAs(
        Tool.make("pay", { ...ask, parameters: { ...ask.parameters, now: Schema.optional(Schema.Boolean) } }).annotate(
          Approval.Approval,
          "ask"
        )
      )
    ],
    [
      "its arguments are read otherwise",
      payAs(
        Tool.make("pay", {
          ...ask,
          parameters: {
            ...ask.parameters,
            amount: Cents
          }
        }).annotate(Approval.Approval, "ask")
      )
    ]
  ]
  for (const [what, changed] of changes) {
    it.effect(`is asked for again, and not run, when ${what} by then`, () =>
      Effect.gen(function* () {
        const ran: Bank.Ran = []
        const first = only(yield* start(Bank.agent(), ran, script))
        yield* Agent.decide("r", decision(first))
        const again = yield* goOn(changed, ran, script)
        assert.strictEqual(again.status, "waiting")
        assert.deepStrictEqual(ran, ["look b"])
        const second = only(again)
        assert.notStrictEqual(second.ticket, first.ticket)
        const asked = (yield* Shop.events("r")).findLast((event) => event._tag === "ApprovalAsked")
        assert.strictEqual(asked?.replaces, first.ticket)
        // The old ticket is worth nothing, whoever holds it.
        assert.strictEqual(yield* refusal(Agent.decide("r", decision(first))), "stale")
        const swapped = { ...decision(second), ticket: first.ticket }
        assert.strictEqual(yield* refusal(Agent.decide("r", swapped)), "stale")
        yield* Agent.decide("r", decision(second))
        assert.strictEqual((yield* goOn(changed, ran, script)).answer, "a ran-ok, b ran-ok")
        assert.lengthOf(ran, 2)
        lawful(yield* Shop.events("r"))
      }).pipe(Effect.provide(alone))
    )
  }

  it.effect("is not run by a record that says it was decided, and is of something else", () =>
    Effect.gen(function* () {
      const ran: Bank.Ran = []
      const one = only(yield* start(Bank.agent(), ran, script))
      const record = yield* Record.Record
      const events = yield* Shop.events("r")
      const asked = events.findLast((event) => event._tag === "ApprovalAsked")
      if (asked === undefined) return assert.fail("it was asked for")
      const { iteration, seen, toolCallId, toolName } = asked
      const base = { _tag: "ApprovalDecided", iteration, toolCallId, toolName, verdict: "approve", by: "eve" } as const
      const { argsDigest, ticket } = one
      const forged: ReadonlyArray<WaitEvent.ApprovalDecided> = [
        { ...base, ticket: "x", argsDigest, seen },
        { ...base, ticket, argsDigest: "x", seen },
        { ...base, ticket, argsDigest, seen: "x" },
        { ...base, ticket, argsDigest, seen, toolCallId: "b" },
        { ...base, ticket, argsDigest, seen, iteration: 2 }
      ]
      yield* record.append("r", events.length, forged)
      const after = yield* goOn(Bank.agent(), ran, script)
      assert.strictEqual(after.status, "waiting")
      assert.deepStrictEqual(ran, ["look b"])
      assert.lengthOf(Run.fold(yield* Shop.events("r")).violations, forged.length)
    }).pipe(Effect.provide(alone))
  )
})

describe("A call that was approved and lost", () => {
  const script = Bank.model(Bank.pay("a"))
  const Pay = Tool.make("pay", {
    parameters: { to: Schema.String, amount: Schema.NumberFromString },
    success: Schema.String
  })
    .annotate(Tool.Idempotent, true)
    .annotate(Approval.Approval, "ask")
  const changedTo = (tool: Tool.Any): ReturnType<typeof Bank.agent> => {
    const own = Bank.agent()
    const changed = Agent.make({ name: "bank", instructions: "", toolkit: Toolkit.make(tool) })
    return { ...own, tools: new Map([...own.tools, ...changed.tools]) }
  }
  for (const [what, tool, ran, status] of [
    ["again, as what it was approved as", Pay, 2, "answered"],
    [
      "not as something else, whatever needs an approval today",
      Tool.make("pay", {
        description: "Pays at once.",
        parameters: Pay.parametersSchema.fields,
        success: Schema.String
      }),
      1,
      "waiting"
    ]
  ] as const) {
    it.effect(`runs ${what}`, () =>
      Effect.gen(function* () {
        const did: Bank.Ran = []
        const agent = changedTo(Pay)
        yield* Agent.decide("r", decision(only(yield* start(agent, did, script))))
        yield* Effect.exit(goOn(agent, did, script).pipe(Effect.provide(Mortal.layer({ at: 2, kept: "nothing" }))))
        assert.strictEqual((yield* Shop.events("r")).at(-1)?._tag, "ToolCalled")
        assert.strictEqual((yield* goOn(changedTo(tool), did, script)).status, status)
        assert.lengthOf(did, ran)
        lawful(yield* Shop.events("r"))
      }).pipe(Effect.provide(alone))
    )
  }
})

describe("The record of a run that waits", () => {
  const script = Bank.model(Bank.pay("a"))

  it.effect("breaks a law where it says that a call was decided twice, or began without its approval", () =>
    Effect.gen(function* () {
      const one = only(yield* start(Bank.agent(), [], script))
      const before = yield* Shop.events("r")
      yield* Agent.decide("r", decision(one, "deny"))
      const [denied] = (yield* Shop.events("r")).slice(before.length)
      if (denied?._tag !== "ApprovalDecided") return assert.fail("it was denied")
      const called: Event.Event = {
        _tag: "ToolCalled",
        iteration: 1,
        toolCallId: "a",
        toolName: "pay",
        args: {},
        replay: "never"
      }
      const approved = { ...denied, verdict: "approve" } as const
      const lawsOf = (...events: ReadonlyArray<Event.Event>) =>
        Run.fold([...before, ...events]).violations.map(({ law }) => law)
      assert.deepStrictEqual(lawsOf(approved, called), [])
      assert.deepStrictEqual(lawsOf(denied, approved), ["A decision is of a call that waits for it, once."])
      const early = "A call that needs an approval starts after it."
      assert.deepStrictEqual(lawsOf(called), [early])
      assert.deepStrictEqual(lawsOf(denied, called), [early])
      assert.deepStrictEqual(Run.fold([...before, denied, approved]).waiting?.asks[0]?.decided, denied)
    }).pipe(Effect.provide(alone))
  )
})

describe("A run that waits", () => {
  it.effect("comes to the same from every prefix of its record", () =>
    Effect.gen(function* () {
      const script = Bank.model(Bank.look("x"), Bank.pay("a"), Bank.look("y"), Bank.pay("b"), Bank.look("z"))
      // A payment that is lost may be repeated here: what is compared is the rest.
      const rules = [{ tool: "pay", verdict: "ask" }] as const
      const agent = { ...Bank.agent({ approval: rules }) }
      const pay = agent.tools.get("pay")
      if (pay === undefined) return assert.fail("there is a tool")
      const safe = {
        ...agent,
        tools: new Map([
          ...agent.tools,
          ["pay", { ...pay, declared: { ...pay.declared, annotations: { replay: "idempotent" as const } } }]
        ])
      }
      const through = Effect.gen(function* () {
        const ran: Bank.Ran = []
        const outcome = yield* start(safe, ran, script)
        const [a, b] = approvals(outcome)
        if (a === undefined || b === undefined) return assert.fail("two wait")
        yield* Agent.decide("r", decision(b))
        const waiting = yield* goOn(safe, ran, script)
        assert.strictEqual(waiting.status, "waiting")
        yield* Agent.decide("r", decision(a, "deny"))
        const last = yield* goOn(safe, ran, script)
        assert.strictEqual(last.answer, "x ran-ok, a denied, y ran-ok, b ran-ok, z ran-ok")
        return yield* Shop.events("r")
      })
      const whole = yield* Effect.provide(through, alone)
      lawful(whole)
      for (let length = 1; length <= whole.length; length++) {
        yield* Effect.gen(function* () {
          const record = yield* Record.Record
          yield* record.append("r", 0, whole.slice(0, length))
          // Each time it waits, what was decided then is decided.
          let outcome = yield* goOn(safe, [], script)
          for (let turn = 0; turn < 3 && outcome.status === "waiting"; turn++) {
            const events = yield* Shop.events("r")
            const next = whole[events.length]
            if (next?._tag !== "ApprovalDecided") return assert.fail(`after ${length}: ${tags(events).at(-1)}`)
            yield* Agent.decide("r", next)
            outcome = yield* goOn(safe, [], script)
          }
          assert.deepStrictEqual(yield* Shop.events("r"), whole, `after ${length}: ${whole[length - 1]?._tag}`)
        }).pipe(Effect.provide(alone))
      }
    })
  )
})

describe("What a call needs", () => {
  const needs = (
    tool: Tool.Any,
    approval: ReadonlyArray<Approval.Rule> = [],
    scope?: { readonly conversationId: string; readonly tenant?: string }
  ) =>
    Effect.gen(function* () {
      let ran = 0
      const toolkit: Toolkit.Toolkit<Record<string, Tool.Any>> = Toolkit.make(tool)
      const agent = Agent.make({ name: "a", instructions: "", toolkit, approval })
      const handlers = new Map([[tool.name, () => Effect.sync(() => void (ran += 1))]])
      const own = { ...agent, handlers: Effect.succeed(handlers) }
      const script = LLM.layerScripted([LLM.call(tool.name, { amount: 7, to: "ann" }, "c"), LLM.say("Done.")])
      const outcome = yield* Agent.run(own, "Go.", { runId: "r", ...(scope === undefined ? {} : { scope }) }).pipe(
        Effect.provide(script)
      )
      const events = yield* Shop.events("r")
      lawful(events)
      if (outcome.status === "waiting") {
        assert.strictEqual(ran, 0)
        const rule = only(outcome).rule
        return rule === undefined ? "ask" : `ask by ${rule.index}${rule.name === undefined ? "" : ` ${rule.name}`}`
      }
      const settled = events.find((event) => event._tag === "ToolSettled")
      assert.strictEqual(ran, settled?.outcome === "ran-ok" ? 1 : 0)
      return settled?.outcome === "ran-ok" ? "allow" : `${settled?.outcome} ${settled?.error?.tag}`
    }).pipe(Effect.provide(alone))

  const Act = Tool.make("act", {
    parameters: { amount: Schema.Number, to: Schema.String, more: Schema.optional(Schema.Number) },
    success: Schema.Unknown
  })
  const annotated: ReadonlyArray<readonly [what: string, tool: Tool.Any, needs: string]> = [
    ["nothing", Act, "allow"],
    ["Destructive", Act.annotate(Tool.Destructive, true), "ask"],
    ["not Destructive", Act.annotate(Tool.Destructive, false), "allow"],
    ["OpenWorld", Act.annotate(Tool.OpenWorld, true), "allow"],
    ["Readonly", Act.annotate(Tool.Readonly, true), "allow"],
    ["Destructive and Idempotent", Act.annotate(Tool.Destructive, true).annotate(Tool.Idempotent, true), "ask"],
    ["Destructive and allowed", Act.annotate(Tool.Destructive, true).annotate(Approval.Approval, "allow"), "allow"],
    ["ask", Act.annotate(Approval.Approval, "ask"), "ask"],
    ["deny", Act.annotate(Approval.Approval, "deny"), "denied PolicyDenied"]
  ]
  for (const [what, tool, comes] of annotated) {
    it.effect(`of a tool that says ${what} is: ${comes}`, () =>
      Effect.map(needs(tool), (came) => assert.strictEqual(came, comes))
    )
  }

  const when = (field: string, op: Guard.Op, value: unknown) => [{ field, op, value }]
  const ruled: ReadonlyArray<readonly [rules: ReadonlyArray<Approval.Rule>, needs: string]> = [
    [[{ tool: "act", verdict: "deny" }], "denied PolicyDenied"],
    [[{ tool: "act", verdict: "ask", name: "all" }], "ask by 0 all"],
    [[{ tool: "a*", verdict: "ask" }], "ask by 0"],
    [[{ tool: "*", verdict: "ask" }], "ask by 0"],
    [
      [
        { tool: "ac", verdict: "deny" },
        { tool: "act_", verdict: "deny" },
        { tool: "actx*", verdict: "deny" }
      ],
      "allow"
    ],
    [
      [
        { tool: "act", verdict: "allow" },
        { tool: "*", verdict: "deny" }
      ],
      "allow"
    ],
    [
      [
        { tool: "x", verdict: "allow" },
        { tool: "*", verdict: "ask" }
      ],
      "ask by 1"
    ],
    [[{ tool: "act", when: when("/amount", "gt", 6), verdict: "ask" }], "ask by 0"],
    [[{ tool: "act", when: when("/amount", "gt", 7), verdict: "ask" }], "allow"],
    [[{ tool: "act", when: when("/amount", "lte", 7), verdict: "deny" }], "denied PolicyDenied"],
    [[{ tool: "act", when: when("/to", "eq", "ann"), verdict: "deny" }], "denied PolicyDenied"],
    [[{ tool: "act", when: when("/to", "in", ["bob", "ann"]), verdict: "ask" }], "ask by 0"],
    [[{ tool: "act", when: when("/to", "in", ["bob"]), verdict: "ask" }], "allow"],
    [[{ tool: "act", when: [...when("/to", "eq", "ann"), ...when("/amount", "gt", 9)], verdict: "ask" }], "allow"],
    // Of what is not there no condition holds.
    [[{ tool: "act", when: when("/more", "gt", 1), verdict: "ask" }], "allow"],
    [[{ tool: "act", when: when("/__proto__", "ne", 1), verdict: "ask" }], "allow"],
    // What cannot be compared is unclear: not allowed.
    [[{ tool: "act", when: when("/to", "gt", 1), verdict: "ask" }], "ask by 0"],
    [[{ tool: "act", when: when("/to", "lt", 1), verdict: "deny" }], "denied PolicyDenied"],
    [
      [
        { tool: "act", when: when("/to", "gt", 1), verdict: "allow" },
        { tool: "*", verdict: "ask" }
      ],
      "ask by 1"
    ],
    [[{ tool: "act", scope: { tenant: "t" }, verdict: "ask" }], "ask by 0"],
    [[{ tool: "act", scope: { tenant: "u" }, verdict: "ask" }], "allow"],
    [[{ tool: "act", scope: { tenant: "t", principal: "p" }, verdict: "ask" }], "allow"],
    [[{ tool: "act", scope: { conversationId: "c" }, verdict: "ask" }], "ask by 0"]
  ]
  for (const [rules, comes] of ruled) {
    it.effect(`by ${JSON.stringify(rules)} is: ${comes}`, () =>
      Effect.map(needs(Act, rules, { conversationId: "c", tenant: "t" }), (came) => assert.strictEqual(came, comes))
    )
  }

  for (const [what, rules] of [
    ["is no list", JSON.parse("{}")],
    ["has no verdict", JSON.parse('[{"tool":"act"}]')],
    ["has another verdict", JSON.parse('[{"tool":"act","verdict":"maybe"}]')],
    ["has a word that nobody reads", JSON.parse('[{"tool":"act","verdict":"allow","unless":[]}]')],
    ["has a star inside", [{ tool: "a*t", verdict: "allow" }]],
    ["has a field that is no pointer", [{ tool: "act", when: when("amount", "eq", 1), verdict: "allow" }]],
    ["has a bound that is no number", [{ tool: "act", when: when("/amount", "gt", true), verdict: "allow" }]],
    ["judges the outcome", [{ tool: "act", when: when("outcome", "eq", "ran-ok"), verdict: "allow" }]]
  ] as const) {
    it.effect(`is not said by a rule that ${what}: the agent cannot be run`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(needs(Act, rules))
        assert.strictEqual(error._tag, "InvalidAgent")
      })
    )
  }

  it.effect("is not asked of a person if it cannot be written out, and it is not run", () => {
    const Odd = Tool.make("act", {
      parameters: {
        amount: OneWay
      },
      success: Schema.Unknown
    })
    return Effect.map(needs(Odd.annotate(Approval.Approval, "ask")), (came) =>
      assert.strictEqual(came, "denied PolicyDenied")
    )
  })
})
