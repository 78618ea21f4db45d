/**
 * The model declares what each result was worth, in an argument that no tool sees, and its answer is judged: a number that
 * no result held is asked about once. `Why` says of a value what the model had called the result that it rests on.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record, Screen, Why } from "wherefore"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Stock = Tool.make("stock", { parameters: { of: Schema.String }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Stock)
const shelves: { readonly [of: string]: string } = {
  lamps: "4410 lamps were counted in the harbour store on 2013-09-27; the southern store was not counted.",
  chairs: "1875 chairs are kept in the southern store, all of them sold and waiting for the ferry to Hiiumaa."
}
const handlers = toolkit.toLayer({ stock: ({ of }) => Effect.succeed(shelves[of] ?? "Nothing is known of that.") })

/** A model that judges the results it was served, and at first answers with a number that it made up. */
const model = LLM.layerScripted(({ iteration, messages }) => {
  if (iteration === 1) return LLM.call("stock", { of: "chairs" })
  if (iteration === 2) {
    const _findings = { proposition: "lamps are in stock", previous: [{ toolCallId: "r1", standing: "noise" }] }
    return LLM.call("stock", { of: "lamps", _findings })
  }
  if (iteration === 3) {
    const previous = [{ toolCallId: "r2", standing: "open", settles: "a count of the southern store" }]
    return LLM.call("stock", { of: "lamps in the south", _findings: { previous } })
  }
  const isAsked = messages.at(-1)?.message.content.includes("without a source") === true
  return LLM.say(
    isAsked ? "There are 4410 lamps in the harbour store." : "There are 4410 lamps, and 5200 in the south."
  )
})

const agent = Agent.make({
  name: "clerk",
  instructions: "Say what is in stock.",
  toolkit,
  findings: true,
  grounding: "guard"
})

const program = Effect.gen(function* () {
  const { answer, grounding } = yield* Agent.run(agent, "How many lamps do we have?", { runId: "stock" })

  const record = yield* Record.Record
  const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read("stock")))
  for (const { event, seq } of entries) {
    if (event._tag === "FindingDeclared") {
      for (const row of event.rows) {
        if (row.kind === "standing")
          console.log(`#${seq} pass ${event.iteration}: ${row.toolCallId} is ${row.standing}`)
      }
    }
    if (event._tag === "FindingsCollapsed") {
      console.log(`#${seq} pass ${event.iteration}: ${event.ids.join()} is sent as a ticket`)
    }
    if (event._tag === "GroundingJudged") {
      const named = event.unsupported.map(({ value }) => value).join()
      console.log(`#${seq} pass ${event.iteration}: ${event.action}${named === "" ? "" : `, no source of ${named}`}`)
    }
    if (event._tag === "ContingencyFiled") console.log(`#${seq} ${event.row?.value} rests on no fact`)
  }
  console.log(`answer: ${answer} (${grounding?.action})\n`)
  const chain = Why.value(
    entries.map(({ event }) => event),
    "4410"
  )
  process.stdout.write(Screen.print(Screen.tree(chain, { room: { width: 80 } }), { colour: false }))
})

const services = Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory())

Effect.runPromise(Effect.provide(program, services)).catch(console.error)

// #11 pass 2: call-1-0 is noise
// #15 pass 3: call-1-0 is sent as a ticket
// #18 pass 3: call-2-0 is open
// #24 pass 4: revision-asked, no source of 5200
// #27 pass 5: grounded
// #28 4410 rests on no fact
// answer: There are 4410 lamps in the harbour store. (grounded)
//
// 4410            recorded  said in pass 5                                     #26
// ├─ 4410         recorded  result of stock lamps, pass 2, declared open       #13
// │  └─ "lamps"   argument  pass 2                                             #10
// │     └─ lamps  recorded  the person's message                                #0
// └─ 4410         said  an earlier reply of the model, pass 4                  #23
//    └─ 4410      recorded  result of stock lamps, pass 2, declared open       #13
//       └─ shown at #13
