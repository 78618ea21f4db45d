/**
 * A conversation that would grow without end is cut: what is older leaves in whole units, and the model writes a summary in
 * its place. The record keeps all of it, the summary grounds nothing, and `Why` goes through it to the result behind it.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record, Screen, Why, Window } from "wherefore"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Read = Tool.make("read_log", { parameters: { day: Schema.Number }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Read)
const calm = "The sea was calm and nothing was seen from the tower. ".repeat(12)
const handlers = toolkit.toLayer({
  read_log: ({ day }) =>
    Effect.succeed(day === 2 ? `Day 2: the brig Aurora passed at 14:35. ${calm}` : `Day ${day}. ${calm}`)
})

/** A model that reads a day a pass. Where it is asked for a summary, its wire has no tools. */
const model = LLM.layerScripted(({ iteration, tools }) => {
  if (tools.length === 0) return LLM.say("The brig Aurora passed on day 2 at 14:35; the other days were calm.")
  return iteration <= 6 ? LLM.call("read_log", { day: iteration }) : LLM.say("The Aurora passed on day 2, at 14:35.")
})

const agent = Agent.make({
  name: "keeper",
  instructions: "Read the log of the week and say when the Aurora passed.",
  toolkit,
  window: Window.summarizeOldest(700, { downTo: 500, summaryTokens: 60 }),
  grounding: "assist"
})

const program = Effect.gen(function* () {
  yield* Agent.run(agent, "When did the Aurora pass?", { runId: "log" })
  const record = yield* Record.Record
  const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read("log")))
  const events = entries.map(({ event }) => event)
  for (const { event, seq } of entries) {
    if (event._tag === "ModelCalled") console.log(`#${seq} pass ${event.iteration}: ${event.messagesCount} messages`)
    if (event._tag === "WindowTrimmed") {
      const { before, by, limit } = event.tokens ?? { before: 0, by: "", limit: 0 }
      console.log(
        `#${seq} ${before} tokens by the ${by}, of ${limit}: ${event.dropped.length} results left, ${event.summary}`
      )
    }
    if (event._tag === "GroundingJudged") console.log(`#${seq} ${event.action}: what left still grounds`)
  }
  console.log()
  const chain = Why.value(events, "14:35")
  process.stdout.write(Screen.print(Screen.tree(chain, { room: { width: 80 } }), { colour: false }))
})

const services = Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory())

Effect.runPromise(Effect.provide(program, services)).catch(console.error)

// #4 pass 1: 1 messages
// #8 pass 2: 3 messages
// #12 pass 3: 5 messages
// #16 pass 4: 7 messages
// #22 724 tokens by the tokenizer, of 700: 2 results left, made
// #23 pass 5: 5 messages
// #29 703 tokens by the tokenizer, of 700: 2 results left, made
// #30 pass 6: 3 messages
// #34 pass 7: 5 messages
// #36 grounded: what left still grounds
//
// 14:35            recorded  said in pass 7                                    #35
// └─ 14:35         said  a summary by the model, pass 6                        #28
//    ├─ 14:35      said  a summary by the model, pass 5                        #21
//    │  ├─ 14:35   recorded  result of read_log 2, pass 2                      #11
//    │  │  └─ "2"  argument  pass 2                                             #9
//    │  │     └─ nowhere  No spelling of "2" was on the wire of pass 2.
//    │  └─ summarized  A model wrote it of what had left; no source itself (#21).
//    └─ summarized  A model wrote it of what had left; no source itself (#28).
