/** A test of an agent: four layers are swapped, and every run of it gives the same record, hashes included. */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, Clock, LLM, Record } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Stock = Tool.make("stock", {
  description: "How many of an article are left.",
  parameters: { article: Schema.String },
  success: Schema.Int
}).annotate(Tool.Readonly, true)
const toolkit = Toolkit.make(Stock)

const agent = Agent.make({ name: "shop", instructions: "Answer from the stock.", toolkit })

const test = Effect.gen(function* () {
  const { status } = yield* Agent.run(agent, "Are there any lamps left?", { runId: "lamps" })
  const script = yield* LLM.Script
  yield* script.assertComplete

  const record = yield* Record.Record
  const entries = yield* Stream.runCollect(record.read("lamps"))
  for (const { at, event, hash, seq } of entries) console.log(seq, at, event._tag, hash.slice(0, 8))
  const { hash } = yield* Record.verify(entries)
  console.log(status, hash.slice(0, 8))
})

const layers = Layer.mergeAll(
  LLM.layerScripted([LLM.call("stock", { article: "lamp" }), LLM.say("Yes, 1204 lamps are left.")]),
  Record.layerMemory,
  ArtifactStore.layerMemory(),
  toolkit.toLayer({ stock: () => Effect.succeed(1204) })
)
Effect.runPromise(test.pipe(Effect.provide(layers), Effect.provide(Clock.layerFixed(1_767_225_600_000)))).catch(
  console.error
)

// 0 1767225600000 RunStarted _W8vrtUL
// 1 1767225600000 PieceDeclared _cfCAEXe
// 2 1767225600000 ToolDeclared RQynR69V
// 3 1767225600000 PiecesSelected SsTNuSAe
// 4 1767225600000 ModelCalled 0nD2JhhT
// 5 1767225600000 ModelReplied 5fB9IbAC
// 6 1767225600000 ToolCalled V2KrGLho
// 7 1767225600000 ToolSettled cjMleMhc
// 8 1767225600000 ModelCalled KzNgojqq
// 9 1767225600000 ModelReplied uZCnNRb3
// 10 1767225600000 Answered Mg4ZvC7Q
// 11 1767225600000 ChecksFiled -Yt1e9_g
// 12 1767225600000 RunEnded ScyVt6GP
// answered ScyVt6GP
