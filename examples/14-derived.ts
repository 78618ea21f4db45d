/**
 * Tools hand each other data by ticket: the model writes the refs of two tables, and the tool that wants them is handed what is
 * stored. What it stores is derived from both, so that `Why` leads from the report to its tables, and to who loaded them.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, Artifacts, ArtifactStore, Clock, Entropy, LLM, Record, Screen, Wants, Why } from "wherefore"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Load = Tool.make("load", { parameters: { table: Schema.String }, success: Schema.String })
const Report = Tool.make("report", {
  parameters: { sales: Schema.String, costs: Schema.String },
  success: Schema.Struct({ profit: Schema.Number, report: Schema.String })
}).annotate(Wants.Wants, { sales: "table/csv", costs: "table/csv" })
const toolkit = Toolkit.make(Load, Report)

const tables: { readonly [table: string]: string } = { sales: "may,4410\njune,5150", costs: "may,3925\njune,4004" }
const sum = (csv: string): number => csv.split("\n").reduce((total, row) => total + Number(row.split(",")[1]), 0)
const put = (kind: string, label: string, data: unknown) =>
  Effect.gen(function* () {
    const artifacts = yield* Artifacts.Artifacts
    const { meta } = yield* Effect.orDie(artifacts.put({ kind, mediaType: "text/plain", label, data }))
    return meta.ref
  })

const handlers = toolkit.toLayer({
  load: ({ table }) => put("table/csv", table, tables[table] ?? ""),
  // Each argument is the table itself, and not its ref.
  report: ({ costs, sales }) => {
    const profit = sum(sales) - sum(costs)
    return Effect.map(put("report", "profit", { profit }), (report) => ({ profit, report }))
  }
})

const model = LLM.layerScripted(({ iteration, messages }) => {
  const [sales, costs] = messages.flatMap(({ message }) => (message.role === "tool" ? [message.content] : []))
  if (iteration === 1) return LLM.together(LLM.call("load", { table: "sales" }), LLM.call("load", { table: "costs" }))
  return iteration === 2 ? LLM.call("report", { sales, costs }, "r") : LLM.say("The profit is 1631.")
})

const agent = Agent.make({ name: "books", instructions: "Keep the books.", toolkit })

const program = Effect.gen(function* () {
  yield* Agent.run(agent, "What is the profit?", { runId: "books" })
  const record = yield* Record.Record
  const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read("books")))
  const events = entries.map(({ event }) => event)
  for (const event of events) {
    if (event._tag === "ArtifactMinted" && event.parentRefs !== undefined) {
      console.log(`${event.kind} ${event.ref} is derived from ${event.parentRefs.join(" and ")}\n`)
    }
  }
  process.stdout.write(Screen.print(Screen.tree(Why.tool(events, "r"), { room: { width: 96 } }), { colour: false }))
})

const services = Layer.mergeAll(
  model,
  handlers,
  Record.layerMemory,
  ArtifactStore.layerMemory(),
  Entropy.layerSeeded(14)
)

const atOnce = Effect.provide(program, Clock.layerFixed(1_767_225_600_000))

Effect.runPromise(Effect.provide(atOnce, services)).catch(console.error)

// report art_S8vAEtc5aMrOObLrBVaQyC is derived from art_KkrFp8pcbipUEkzgkcq5Jh and art_vJ1zWEPUSibAow03CT7SOc
//
// report                            called  art_KkrFp8pcbipUEkzgkcq5Jh… 23 more …7SOc, pass 2  #15
// ├─ "art_KkrFp8pcbipUEkzgkcq5Jh"   argument  pass 2                                           #14
// │  └─ art_KkrFp8pcbipUEkzgkcq5Jh  recorded  result of load sales, pass 1                      #9
// │     └─ "sales"                  argument  pass 1                                            #6
// │        └─ sales ×2              recorded  the application's definition "tool:report"        #3
// ├─ "art_vJ1zWEPUSibAow03CT7SOc"   argument  pass 2                                           #14
// │  └─ art_vJ1zWEPUSibAow03CT7SOc  recorded  result of load costs, pass 1                     #12
// │     └─ "costs"                  argument  pass 1                                            #6
// │        └─ costs ×2              recorded  the application's definition "tool:report"        #3
// ├─ art_KkrFp8pcbipUEkzgkcq5Jh     read · sales  table/csv, 18 bytes, "sales"                  #8
// │  └─ stored                      recorded  by the result of load sales, pass 1               #7
// │     └─ shown at #9
// └─ art_vJ1zWEPUSibAow03CT7SOc     read · costs  table/csv, 18 bytes, "costs"                 #11
//    └─ stored                      recorded  by the result of load costs, pass 1              #10
//       └─ shown at #12
