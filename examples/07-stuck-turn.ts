/**
 * One word of the question matches a skill that the question has no need of. The skill rides for three batches in which
 * nothing of it is used; then it is parked, its instructions and tools leave the wire, and the record says why.
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
const Verse = reading("verse")
const Track = reading("track_parcel")
const toolkit = Toolkit.make(Verse, Track)
const handlers = toolkit.toLayer({
  verse: ({ of }) => Effect.succeed(`Verse ${of}: nothing of the kind.`),
  track_parcel: ({ of }) => Effect.succeed(`Parcel ${of} is on its way.`)
})

const program = Effect.gen(function* () {
  const parcels = yield* SkillMap.make({
    id: "parcels",
    entries: [{ skillId: "track", keywords: ["parcel"] }],
    skills: [
      {
        id: "track",
        description: "Finds parcels.",
        instructions: "A parcel is found by its number, which has twelve digits.",
        tools: Agent.skillTools(Toolkit.make(Track))
      }
    ],
    routes: []
  })
  const agent = Agent.make({ name: "reader", instructions: "Look it up.", toolkit, maps: [parcels] })
  yield* Agent.run(agent, "Who called love a parcel of forces?", { runId: "stuck" })

  const wires = yield* (yield* LLM.Script).calls
  for (const { iteration, system, tools } of wires) {
    const pieces = system.slice(1).map(({ id }) => id)
    console.log(`pass ${iteration}: ${pieces.join(", ")}; ${tools.map(({ tool }) => tool.name).join(", ")}`)
  }
  const card = wires.at(-1)?.system.find(({ id }) => id === "wherefore:parked")
  console.log(`\n${card?.text}\n`)

  const record = yield* Record.Record
  const entries = yield* Stream.runCollect(record.read("stuck"))
  const events = Chunk.toReadonlyArray(entries).map(({ event }) => event)
  for (const pass of [3, 4]) {
    const lines = Screen.maps(Why.call(events, pass), { room: { width: 80 } })
    process.stdout.write(Screen.print(lines, { colour: false }))
  }
})

const model = LLM.layerScripted(({ iteration }) =>
  iteration < 5 ? LLM.call("verse", { of: `${iteration}` }) : "Nobody that I can find."
)
const services = Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory())

Effect.runPromise(Effect.provide(program, services)).catch(console.error)

// pass 1: skill:parcels/track; verse, read_skill, release_map, track_parcel
// pass 2: skill:parcels/track; verse, read_skill, release_map, track_parcel
// pass 3: skill:parcels/track; verse, read_skill, release_map, track_parcel
// pass 4: wherefore:parked, wherefore:offer; verse, read_skill, release_map
// pass 5: wherefore:parked, wherefore:offer; verse, read_skill, release_map
//
// [Notice from the framework, not part of the task: parked skill maps]
// - map: parcels; cursor: track, unchanged; engagement: parked; reason: its lease ended
//   back: call read_skill with one of: track
// Parking a map stops its instructions and tools from being sent. Calling read_skill as above brings the map back:
// that changes its engagement, not its position. A pick that also moves a cursor says so in its result.
// You may ignore this notice.
// [End of notice]
//
// map parcels  rode  pass 3                                                     #2
//   engaged since pass 1, on lexical evidence, 2 passes without use; founded in
//   pass 1 on lexical evidence at track, matched by the words "parcel"; its cursor
//   was on track
//   founded by  the person's message, by "parcel"                               #0
// map parcels  did not ride  pass 4                                            #24
//   did not ride: parked in pass 4 after 3 passes without use, on lexical
//   evidence; founded in pass 1 on lexical evidence at track, matched by the words
//   "parcel"; its cursor was on track
//   founded by  the person's message, by "parcel"                               #0
