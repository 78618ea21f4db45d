/** A process dies in the middle of a run; another one goes on where its record ends. The tool does not run again. */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"

const Order = Tool.make("order", { parameters: { article: Schema.String }, success: Schema.String })
const toolkit = Toolkit.make(Order)
const agent = Agent.make({ name: "buyer", instructions: "Order what is asked for.", toolkit })

const ordered: Array<string> = []
const handlers = toolkit.toLayer({
  order: ({ article }) => Effect.sync(() => `order ${ordered.push(article)} placed`)
})

const program = Effect.gen(function* () {
  // The first process: the model asks for an order, it is placed, and then the process is gone.
  const crash = LLM.layerScripted((wire) => {
    if (wire.iteration === 2) throw new Error("the process dies here")
    return LLM.call("order", { article: "lamp" })
  })
  yield* Effect.exit(Agent.run(agent, "Order a lamp.", { runId: "lamp" }).pipe(Effect.provide(crash)))
  console.log("after the crash:", ordered.length, "order")

  // The second process has the record, and another model.
  const model = LLM.layerScripted((wire) => {
    const last = wire.messages.at(-1)?.message
    return LLM.say(`Done: ${last?.role === "tool" ? last.content : "nothing"}.`)
  })
  const { answer } = yield* Agent.resume(agent, "lamp").pipe(Effect.provide(model))
  console.log(answer)
  console.log("after the resume:", ordered.length, "order")
})

const services = Layer.mergeAll(Record.layerMemory, ArtifactStore.layerMemory(), handlers)
Effect.runPromise(program.pipe(Effect.provide(services))).catch(console.error)

// after the crash: 1 order
// Done: order 1 placed.
// after the resume: 1 order
