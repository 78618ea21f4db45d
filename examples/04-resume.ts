/** A process dies in the middle of a run; another one goes on where its record ends. The tool does not run again. */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { spawnSync } from "node:child_process"
import { appendFileSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const [, , given] = process.argv
const directory = given ?? mkdtempSync(join(tmpdir(), "wherefore-resume-"))
const orders = join(directory, "orders.txt")
const ordered = () => readFileSync(orders, "utf8").split("\n").length - 1

const Order = Tool.make("order", { parameters: { article: Schema.String }, success: Schema.String })
const toolkit = Toolkit.make(Order)
const agent = Agent.make({ name: "buyer", instructions: "Order what is asked for.", toolkit })
const handlers = toolkit.toLayer({
  order: ({ article }) =>
    Effect.sync(() => {
      appendFileSync(orders, `${article}\n`)
      return `order ${ordered()} placed`
    })
})
const services = Layer.mergeAll(Record.layerFile({ directory }), ArtifactStore.layerMemory(), handlers)

/** The first process: the model asks for an order, it is placed, and then the process is gone. */
const first = Agent.run(agent, "Order a lamp.", { runId: "lamp" }).pipe(
  Effect.provide(
    LLM.layerScripted((wire) => (wire.iteration === 2 ? process.exit(9) : LLM.call("order", { article: "lamp" })))
  )
)

/** The second process has the record, and another model. */
const second = Effect.gen(function* () {
  const { status } = spawnSync(process.execPath, [...process.execArgv, fileURLToPath(import.meta.url), directory])
  console.log(`the first process ended with ${status}, after ${ordered()} order`)
  const model = LLM.layerScripted((wire) => {
    const last = wire.messages.at(-1)?.message
    return LLM.say(`Done: ${last?.role === "tool" ? last.content : "nothing"}.`)
  })
  const { answer } = yield* Agent.resume(agent, "lamp").pipe(Effect.provide(model))
  console.log(answer)
  console.log(`after the resume: ${ordered()} order`)
})

Effect.runPromise(Effect.provide(given === undefined ? second : first, services)).catch(console.error)

// the first process ended with 9, after 1 order
// Done: order 1 placed.
// after the resume: 1 order
