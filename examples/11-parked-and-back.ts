/**
 * A parked map is brought back by the model. The card on the wire says how: one call of `read_skill`. It changes what
 * rides, not where the cursor stands, and the call is the cause that the record names.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record, Screen, SkillMap, Why } from "wherefore"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const reading = (name: string) =>
  Tool.make(name, { parameters: { of: Schema.String }, success: Schema.String }).annotate(Tool.Readonly, true)
const Weather = reading("weather")
const Ferry = reading("ferry")
const toolkit = Toolkit.make(Weather, Ferry)
const handlers = toolkit.toLayer({
  weather: ({ of }) => Effect.succeed(`${of}: wind 4`),
  ferry: ({ of }) => Effect.succeed(`The ferry to ${of} leaves at 14:20.`)
})

/** A model that reads its wire: it calls `ferry` when it is offered, and asks for the skill when the card names it. */
const model = LLM.layerScripted(({ iteration, messages, system, tools }) => {
  const result = messages.at(-1)?.message.content ?? ""
  if (iteration < 4) return LLM.call("weather", { of: `day ${iteration}` })
  const card = system.find(({ id }) => id === "wherefore:parked")
  const named = /with one of: (\w+)/.exec(card?.text ?? "")?.[1]
  if (named !== undefined) return LLM.call("read_skill", { id: named })
  const isOffered = tools.some(({ tool }) => tool.name === "ferry")
  return isOffered && !result.includes("leaves") ? LLM.call("ferry", { of: "Hiiumaa" }) : LLM.say(result)
})

const program = Effect.gen(function* () {
  const travel = yield* SkillMap.make({
    id: "travel",
    entries: [{ skillId: "ferries", keywords: ["ferry"] }],
    skills: [
      {
        id: "ferries",
        description: "Ferries and their times.",
        instructions: "Times are local.",
        tools: Agent.skillTools(Toolkit.make(Ferry))
      }
    ],
    routes: []
  })
  const agent = Agent.make({ name: "harbour", instructions: "Weather first, then the ferry.", toolkit, maps: [travel] })
  const { answer } = yield* Agent.run(agent, "When is the next ferry in good weather?", { runId: "harbour" })

  const record = yield* Record.Record
  const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read("harbour")))
  for (const { event, seq } of entries) {
    if (event._tag === "MapEngaged") {
      const how = event.reengaged === true ? "back" : event.upgraded === true ? "upgraded" : "engaged"
      console.log(`#${seq} pass ${event.iteration}: ${event.mapId} ${how}, ${event.by} evidence`)
    }
    if (event._tag === "MapParked") {
      console.log(`#${seq} pass ${event.iteration}: ${event.mapId} parked after ${event.idleCalls} idle passes`)
    }
    if (event._tag === "ToolSettled" && event.toolName === "read_skill") console.log(`#${seq} ${event.served}`)
  }
  console.log(`answer: ${answer}\n`)
  const chain = Why.call(
    entries.map(({ event }) => event),
    5
  )
  process.stdout.write(Screen.print(Screen.maps(chain, { room: { width: 80 } }), { colour: false }))
})

const services = Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory())

Effect.runPromise(Effect.provide(program, services)).catch(console.error)

// #2 pass 1: travel engaged, lexical evidence
// #24 pass 4: travel parked after 3 idle passes
// #32 Map travel was parked; this call brought it back for the next one. Its cursor did not move: it stayed on ferries.
// #33 pass 5: travel back, explicit evidence
// answer: The ferry to Hiiumaa leaves at 14:20.
//
// map travel  rode  pass 5                                                     #33
//   engaged since pass 5, on explicit evidence; founded in pass 1 on lexical
//   evidence at ferries; its cursor was on ferries
//   founded by  the person's message, by "ferry"                                #0
//   engaged by  read_skill ferries, pass 4                                     #30
