/**
 * Three maps in one run. Each has a cursor and a lease of its own: one is in use, one is only matched by a word, one is
 * not engaged at all. A tool that two maps share stays as long as one of them rides.
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
const Totals = reading("totals")
const Invoice = reading("invoice")
const Reset = reading("reset_password")
const Calendar = reading("calendar")
const toolkit = Toolkit.make(Totals, Invoice, Reset, Calendar)
const handlers = toolkit.toLayer({
  totals: ({ of }) => Effect.succeed(`${of}: 12 invoices, 4,210 EUR`),
  invoice: ({ of }) => Effect.succeed(`Invoice ${of} is paid.`),
  reset_password: ({ of }) => Effect.succeed(`A letter went to ${of}.`),
  calendar: ({ of }) => Effect.succeed(`${of} is free.`)
})

const oneSkill = (id: string, keyword: string, instructions: string, ...tools: ReadonlyArray<Tool.Any>) =>
  SkillMap.make({
    id,
    entries: [{ skillId: `${id}-skill`, keywords: [keyword] }],
    skills: [{ id: `${id}-skill`, instructions, tools: Agent.skillTools(Toolkit.make(...tools)) }],
    routes: []
  })

const program = Effect.gen(function* () {
  const maps = [
    yield* oneSkill("billing", "invoices", "Amounts are in EUR.", Totals, Invoice),
    yield* oneSkill("planning", "march", "Weeks begin on Monday.", Calendar, Totals),
    yield* oneSkill("accounts", "password", "Never tell a password.", Reset)
  ]
  const agent = Agent.make({ name: "office", instructions: "Help the office.", toolkit, maps })
  yield* Agent.run(agent, "What do our invoices of March come to?", { runId: "office" })

  for (const { iteration, system, tools } of yield* (yield* LLM.Script).calls) {
    const pieces = system.map(({ id }) => id).filter((id) => id.startsWith("skill:"))
    const own = tools.filter(({ origin }) => origin === "app").map(({ tool }) => tool.name)
    console.log(`pass ${iteration}: ${pieces.join(", ")}; ${own.join(", ")}`)
  }
  const record = yield* Record.Record
  const entries = yield* Stream.runCollect(record.read("office"))
  const chain = Why.call(
    Chunk.toReadonlyArray(entries).map(({ event }) => event),
    4
  )
  console.log()
  process.stdout.write(Screen.print(Screen.maps(chain, { room: { width: 80 } }), { colour: false }))
})

const model = LLM.layerScripted(({ iteration }) =>
  iteration < 4 ? LLM.call("totals", { of: `week ${iteration}` }) : "March comes to 4,210 EUR."
)
const services = Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory())

Effect.runPromise(Effect.provide(program, services)).catch(console.error)

// pass 1: skill:billing/billing-skill, skill:planning/planning-skill; totals, invoice, calendar
// pass 2: skill:billing/billing-skill, skill:planning/planning-skill; totals, invoice, calendar
// pass 3: skill:billing/billing-skill, skill:planning/planning-skill; totals, invoice, calendar
// pass 4: skill:billing/billing-skill; totals, invoice
//
// map billing  rode  pass 4                                                    #19
//   engaged since pass 1, on structural evidence of pass 2; founded in pass 1 on
//   lexical evidence at billing-skill, matched by the words "invoices"; its cursor
//   was on billing-skill
//   founded by  the person's message, by "invoices"                             #0
//   engaged by  totals "week 1", pass 1                                        #17
// map planning  did not ride  pass 4                                           #30
//   did not ride: parked in pass 4 after 3 passes without use, on lexical
//   evidence; founded in pass 1 on lexical evidence at planning-skill, matched by
//   the words "March"; its cursor was on planning-skill
//   founded by  the person's message, by "March"                                #0
// map accounts  did not ride  pass 4                                           #34
//   did not ride: nothing had engaged it, and it had no cursor
