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

// 0 1767225600000 RunStarted -fN80rF-
// 1 1767225600000 PieceDeclared ymBtQstt
// 2 1767225600000 ToolDeclared Nua5muFQ
// 3 1767225600000 PiecesSelected 650sQMtQ
// 4 1767225600000 ModelCalled xZWCcMr0
// 5 1767225600000 ModelReplied NIh6CURV
// 6 1767225600000 ToolCalled npCxZiaT
// 7 1767225600000 ToolSettled 9WUkMzwe
// 8 1767225600000 ModelCalled AIuOc_WU
// 9 1767225600000 ModelReplied 7ra19XUW
// 10 1767225600000 Answered eWrm6qC2
// 11 1767225600000 RunEnded 6dJSbBql
// answered 6dJSbBql
