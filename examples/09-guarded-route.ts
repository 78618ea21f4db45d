/**
 * A route with a guard: the result of a tool leads on to another skill only if it says the right thing. The event of the
 * move holds the conditions and the values that they judged, whether the guard was open or closed.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record, SkillMap } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Order = Tool.make("order", {
  parameters: { id: Schema.String },
  success: Schema.Struct({ id: Schema.String, status: Schema.String, total: Schema.Number })
}).annotate(Tool.Readonly, true)
const Refund = Tool.make("refund", { parameters: { id: Schema.String }, success: Schema.String })
const toolkit = Toolkit.make(Order, Refund)
const statuses: ReadonlyMap<string, string> = new Map([["A-1", "on its way"]])
const handlers = toolkit.toLayer({
  order: ({ id }) => Effect.succeed({ id, status: statuses.get(id) ?? "delivered", total: 80 }),
  refund: ({ id }) => Effect.succeed(`${id} is refunded.`)
})

const program = Effect.gen(function* () {
  const orders = yield* SkillMap.make({
    id: "orders",
    entries: [{ skillId: "find", keywords: ["order", "refund"] }],
    skills: [
      { id: "find", instructions: "Find the order first.", tools: Agent.skillTools(Toolkit.make(Order)) },
      { id: "pay-back", instructions: "Refund what was delivered.", tools: Agent.skillTools(Toolkit.make(Refund)) }
    ],
    routes: [
      {
        from: "find",
        to: "pay-back",
        tool: "order",
        when: [
          { field: "/status", op: "eq", value: "delivered" },
          { field: "/total", op: "lte", value: 100 }
        ]
      }
    ]
  })
  console.log(SkillMap.toMermaid(orders))

  const agent = Agent.make({ name: "desk", instructions: "Help.", toolkit, maps: [orders] })
  yield* Agent.run(agent, "Refund my order A-1 or A-2.", { runId: "desk" })
  const record = yield* Record.Record
  yield* Stream.runForEach(record.read("desk"), ({ event, seq }) => {
    if (event._tag !== "CursorMoved") return Effect.void
    const { by, from = "nowhere", guard, guardsClosed = [], iteration, to } = event
    console.log(`#${seq} pass ${iteration}: ${from} to ${to}, by ${by}`)
    for (const { conditions, toolCallId } of [...guardsClosed, ...(guard === undefined ? [] : [guard])]) {
      for (const { field, found, holds, op, value } of conditions) {
        const judged = `${field} ${op} ${JSON.stringify(value)}, found ${JSON.stringify(found)}`
        console.log(`   ${toolCallId}  ${holds ? "holds" : "fails"}  ${judged}`)
      }
    }
    return Effect.void
  })
  console.log(
    `tools of the last wire: ${(yield* (yield* LLM.Script).calls).at(-1)?.tools.map(({ tool }) => tool.name)}`
  )
})

const model = LLM.layerScripted([
  LLM.call("order", { id: "A-1" }, "first"),
  LLM.call("order", { id: "A-2" }, "second"),
  LLM.call("refund", { id: "A-2" }, "third"),
  "A-2 is refunded; A-1 has not come yet."
])
const services = Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory())

Effect.runPromise(Effect.provide(program, services)).catch(console.error)

// flowchart TD
//   entry(["orders"])
//   s0["find"]
//   s1["pay-back"]
//   entry -->|"order, refund"| s0
//   s0 -->|"order, /status = #34;delivered#34;, /total #8804; 100"| s1
// #1 pass 1: nowhere to find, by entry
// #14 pass 2: find to find, by stay
//    first  holds  outcome in ["ran-ok","absent"], found "ran-ok"
//    first  fails  /status eq "delivered", found "on its way"
//    first  holds  /total lte 100, found 80
// #20 pass 3: find to pay-back, by route
//    second  holds  outcome in ["ran-ok","absent"], found "ran-ok"
//    second  holds  /status eq "delivered", found "delivered"
//    second  holds  /total lte 100, found 80
// tools of the last wire: read_skill,release_map,refund
