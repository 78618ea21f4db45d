/**
 * What the runners of the benchmark of durable runs host: an agent whose model and tool take no time, so that a run costs what
 * it takes to drive it and to keep it.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Agent, LLM } from "wherefore"
import * as Durable from "wherefore/Durable"

const lookups = 4
const Lookup = Tool.make("lookup", {
  description: "Reads one row.",
  parameters: { n: Schema.Number },
  success: Schema.String
}).annotate(Tool.Readonly, true)
const toolkit = Toolkit.make(Lookup)

export const agent = Agent.make({ name: "bench", instructions: "Read the rows.", toolkit })

export const services = Layer.merge(
  toolkit.toLayer({ lookup: ({ n }) => Effect.succeed(`row ${n}`) }),
  LLM.layerScripted(({ iteration }) =>
    iteration <= lookups ? LLM.call("lookup", { n: iteration }) : LLM.say("All rows are read.")
  )
)

export default Durable.layer({ agents: [agent] }).pipe(Layer.provide(services))
