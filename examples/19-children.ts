/** An agent as a tool of another: each call is a run of its own, linked by id, out of one budget. */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record, Why } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Stock = Tool.make("stock", { parameters: { article: Schema.String }, success: Schema.String })
const stock = Toolkit.make(Stock)
const shop = stock.toLayer({ stock: ({ article }) => Effect.succeed(`14 of ${article} in aisle 7`) })

const clerk = Agent.make({ name: "clerk", instructions: "Look it up.", toolkit: stock })
const askClerk = Agent.toTool(clerk, {
  name: "ask_clerk",
  description: "Asks a clerk who can look into the stock.",
  parameters: { article: Schema.String },
  input: ({ article }) => `How many of ${article} are there?`
})
const manager = Agent.make({
  name: "manager",
  instructions: "Ask the clerk.",
  toolkit: Toolkit.make(askClerk.tool),
  budget: { passes: 10 }
})

/** Both are asked of the same script: what it says depends on what it is asked. */
const model = LLM.layerScripted((wire) => {
  const last = wire.messages.at(-1)?.message
  if (last?.role === "tool" && last.toolName === "stock") return `There are ${last.content}.`
  if (last?.role === "tool") return "We have 14 lamps."
  return LLM.call(wire.tools[0]?.tool.name ?? "", { article: "lamps" }, "c1")
})

const eventsOf = (runId: string) =>
  Effect.gen(function* () {
    const record = yield* Record.Record
    const entries = yield* Stream.runCollect(record.read(runId))
    return Array.from(entries, ({ event }) => event)
  })

const program = Effect.gen(function* () {
  const { answer, passes, runId } = yield* Agent.run(manager, "How many lamps?", { runId: "lamps" })
  console.log(`${answer} (${passes} passes in all)`)
  for (const event of yield* eventsOf(runId)) {
    if (event._tag !== "ChildStarted") continue
    console.log(`${event.toolName} ran as ${event.runId}, with ${event.limits.passes} passes at most`)
    const [started] = yield* eventsOf(event.runId)
    if (started?._tag === "RunStarted")
      console.log(`  its parent is ${started.parent?.runId}, call ${started.parent?.toolCallId}`)
  }
  for (const node of Why.tool(yield* eventsOf(runId), "c1").nodes) {
    if (node.kind === "root" && node.root === "world") console.log(node.what)
  }
})

Effect.runPromise(
  program.pipe(
    Effect.provide(askClerk.layer.pipe(Layer.provide(shop))),
    Effect.provide(Layer.mergeAll(model, Record.layerMemory, ArtifactStore.layerMemory()))
  )
).catch(console.error)

// We have 14 lamps. (4 passes in all)
// ask_clerk ran as child-065c1c57f89e6c0c3cde9e69d55d166d, with 8 passes at most
//   its parent is lamps, call c1
// what the run child-065c1c57f89e6c0c3cde9e69d55d166d came to, which this call started: wherefore why child-065c1c57f89e6c0c3cde9e69d55d166d
