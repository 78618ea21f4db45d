/** The smallest agent: a question, an answer, and what the answer rests on. */
import { Agent, ArtifactStore, LLM, Piece, Record, Why } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const agent = Agent.make({
  name: "hello",
  instructions: "Answer in one sentence.",
  pieces: [Piece.fact("opening-hours", "The library opens at 09:30 and closes at 17:00.")]
})

const program = Effect.gen(function* () {
  const { answer, runId } = yield* Agent.run(agent, "When does the library open?")
  console.log(answer)
  const record = yield* Record.Record
  const entries = yield* Stream.runCollect(record.read(runId))
  const chain = Why.answer(Array.from(entries, ({ event }) => event))
  for (const node of chain.nodes) {
    if (node.kind === "value") console.log(`${node.value} is said in pass ${node.pass}`)
    if (node.kind === "carrier") console.log(`  it was on the wire, in the piece "${node.pieceId}": ${node.text}`)
    if (node.kind === "root") console.log(`  that is ${node.what}`)
  }
})

const model = LLM.layerScripted(["It opens at 09:30."])
Effect.runPromise(
  program.pipe(Effect.provide(Layer.mergeAll(model, Record.layerMemory, ArtifactStore.layerMemory())))
).catch(console.error)

// It opens at 09:30.
// 09:30 is said in pass 1
//   it was on the wire, in the piece "opening-hours": The library opens at 09:30 and closes at 17:00.
//   that is the application's piece "opening-hours"
