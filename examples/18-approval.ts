/**
 * A payment waits for a person, and no process waits with it. What needs an approval is said by rules, which are data. A
 * decision names the ticket and the digest of what was shown: about anything else it is refused, and nothing runs.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, type Approval, ArtifactStore, Clock, LLM, type Outcome, Printable, Record } from "wherefore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Pay = Tool.make("pay", { parameters: { to: Schema.String, amount: Schema.Number }, success: Schema.String })
const toolkit = Toolkit.make(Pay)
const handlers = toolkit.toLayer({
  pay: ({ amount, to }) => Effect.sync(() => (console.log(`-- paid ${amount} to ${to}`), "paid"))
})

const model = LLM.layerScripted(({ iteration, messages }) =>
  iteration === 1
    ? LLM.together(
        LLM.call("pay", { to: "Ann", amount: 40 }, "small"),
        LLM.call("pay", { to: "Bob", amount: 900 }, "large"),
        LLM.call("pay", { to: "Cy", amount: 9_000 }, "huge"),
        LLM.call("pay", { to: "Eve\u202e", amount: 1 }, "odd")
      )
    : LLM.say(
        messages
          .flatMap(({ message }) => (message.role === "tool" ? `${message.toolCallId} ${message.outcome}` : []))
          .join(", ")
      )
)

const approval: ReadonlyArray<Approval.Rule> = [
  { name: "ceiling", tool: "pay", when: [{ field: "/amount", op: "gt", value: 5_000 }], verdict: "deny" },
  { tool: "pay", when: [{ field: "/to", op: "in", value: ["Ann", "Fay"] }], verdict: "allow" },
  { tool: "*", verdict: "ask" }
]
const agent = Agent.make({ name: "bookkeeper", instructions: "Pay the bills.", toolkit, approval })

const tell = ({ pending, status }: Outcome.Outcome) => {
  console.log(status)
  for (const one of pending)
    if (one.kind === "approval") console.log(Printable.exact(`   ${one.toolCallId} ${JSON.stringify(one.args)}`))
}

const program = Effect.gen(function* () {
  const waiting = yield* Agent.run(agent, "Pay what is due.", { runId: "bills" })
  tell(waiting)

  // Another day, another process: it needs the record, and nothing else of the run.
  const [bob, eve] = waiting.pending.flatMap((one) => (one.kind === "approval" ? [one] : []))
  if (bob === undefined || eve === undefined) return
  const yes = { ticket: bob.ticket, argsDigest: bob.argsDigest, verdict: "approve", by: "Dee" } as const
  const swapped = yield* Effect.either(Agent.decide("bills", { ...yes, argsDigest: eve.argsDigest }))
  if (Either.isLeft(swapped)) console.log(swapped.left.what)
  yield* Agent.decide("bills", yes)
  tell(yield* Agent.resume(agent, "bills"))

  const { argsDigest, ticket } = eve
  yield* Agent.decide("bills", { ticket, argsDigest, verdict: "deny", by: "Dee", note: "Who is that?" })
  console.log((yield* Agent.resume(agent, "bills")).answer)
})

const services = Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory())
const atOnce = Effect.provide(program, Clock.layerFixed(1_767_225_600_000))

Effect.runPromise(Effect.provide(atOnce, services)).catch(console.error)

// -- paid 40 to Ann
// waiting
//    large {"to":"Bob","amount":900}
//    odd {"to":"Eve\u202e","amount":1}
// The decision is about other arguments than those of the call "large" of "pay" in pass 1.
// -- paid 900 to Bob
// waiting
//    odd {"to":"Eve\u202e","amount":1}
// small ran-ok, large ran-ok, huge denied, odd denied
