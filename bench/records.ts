/**
 * What it costs to append to a record and to go on with one, in each layer: appends of one event and of ten, flushed, against
 * the least that could be done instead in the same run; the bytes that they take; and a run of 1,000 passes taken up again.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Agent, ArtifactStore, type Event, LLM, Record } from "wherefore"
import { type Figure, median } from "./Figure.ts"
import { type Kept, rows } from "./RecordLayers.ts"

const rounds = 7
/** Appends in a round, and events in an append. */
const shapes = [
  { appends: 100, events: 1 },
  { appends: 50, events: 10 }
]

const event = (n: number): Event.Event => ({
  _tag: "MessageReceived",
  content: `message ${n}: `.padEnd(300, "as long as a paragraph is, ")
})

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = process.hrtime.bigint()
  await work()
  return Number(process.hrtime.bigint() - started) / 1e6
}

/** Each round measures the layer and its floor, one after the other, so that both meet the same machine. */
const appending = async (name: string, { floor, layer, size }: Kept): Promise<ReadonlyArray<Figure>> => {
  const figures: Array<Figure> = []
  let [all, run] = [0, 0]
  for (const { appends, events } of shapes) {
    const times: Record<"layer" | "floor", Array<number>> = { layer: [], floor: [] }
    for (let round = -1; round < rounds; round++) {
      const batch = Array.from({ length: events }, (_, n) => event(n))
      const text = JSON.stringify(batch)
      const runId = `run-${run++}`
      const program = Effect.gen(function* () {
        const record = yield* Record.Record
        yield* record.append(runId, 0, [
          { _tag: "RunStarted", runId, agent: "bench", manifest: { limits: {} }, input: "" }
        ])
        return yield* Effect.promise(() =>
          timed(async () => {
            for (let n = 0; n < appends; n++) await Effect.runPromise(record.append(runId, 1 + n * events, batch))
          })
        )
      })
      const floored = await timed(async () => {
        for (let n = 0; n < appends; n++) await floor.add(text)
      })
      const taken = await Effect.runPromise(Effect.provide(program, layer))
      all += appends * events
      if (round < 0) continue
      times.floor.push(floored)
      times.layer.push(taken)
    }
    const rate = (ms: number) => (1_000 * appends * events) / ms
    const value = rate(median(times.layer))
    figures.push({
      bench: "records",
      n: appends,
      metric: `events a second, ${events} an append, ${name}`,
      value,
      unit: "events/s",
      against: floor.name,
      ratio: value / rate(median(times.floor))
    })
  }
  const bytes = await size()
  if (Number.isNaN(bytes)) return figures
  const [value, base] = [bytes / all, (await floor.size()) / all]
  return [
    ...figures,
    {
      bench: "records",
      n: all,
      metric: `bytes an event, ${name}`,
      value,
      unit: "bytes",
      against: floor.name,
      ratio: value / base
    }
  ]
}

const passes = 1_000
const Lookup = Tool.make("lookup", {
  description: "Reads one row.",
  parameters: { n: Schema.Number },
  success: Schema.String
}).annotate(Tool.Readonly, true)
const toolkit = Toolkit.make(Lookup)
const agent = Agent.make({ name: "bench", instructions: "Read the rows.", toolkit, budget: { passes: 2 * passes } })
const others = Layer.mergeAll(
  LLM.layerScripted(
    (wire) => (wire.iteration < passes ? LLM.call("lookup", { n: wire.iteration }) : LLM.say("All rows are read.")),
    { remember: 0 }
  ),
  toolkit.toLayer({ lookup: ({ n }) => Effect.succeed(`row ${n}: `.padEnd(2_048, "measured value in a table, ")) }),
  ArtifactStore.layerMemory()
)

/** The events of a run up to its last pass, an append each as it was. */
const long = Effect.gen(function* () {
  const record = yield* Record.Record
  yield* Agent.run(agent, "Read the rows.", { runId: "long" })
  const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read("long")))
  return entries.map(({ event }) => event).filter(({ _tag }) => _tag !== "RunEnded")
}).pipe(Effect.provide(Layer.merge(others, Record.layerMemory)))

/** How long it takes to go on with a run that somebody else began: to read it, prove it, fold it and end it. */
const resuming = async ({ layer }: Kept, events: ReadonlyArray<Event.Event>): Promise<number> => {
  const times: Array<number> = []
  for (let round = 0; round < 4; round++) {
    const runId = `long-${round}`
    const own = events.map((event) => (event._tag === "RunStarted" ? { ...event, runId } : event))
    const write = Effect.gen(function* () {
      const record = yield* Record.Record
      for (let seq = 0; seq < own.length; seq += 500) yield* record.append(runId, seq, own.slice(seq, seq + 500))
    })
    await Effect.runPromise(Effect.provide(write, layer))
    const taken = await timed(() =>
      Effect.runPromise(Effect.provide(Agent.resume(agent, runId), Layer.merge(layer, others)))
    )
    if (round > 0) times.push(taken)
  }
  return median(times)
}

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const events = await Effect.runPromise(long)
  const figures: Array<Figure> = []
  let base: number | undefined
  for (const { name, use } of rows) {
    try {
      figures.push(
        ...(await use(async (kept) => {
          const appended = await appending(name, kept)
          const value = await resuming(kept, events)
          base ??= value
          const figure = { bench: "records", n: passes, metric: `time to resume, ${name}`, value, unit: "ms" }
          return [...appended, { ...figure, against: "in memory", ratio: value / base }]
        }))
      )
    } catch (error) {
      console.error(`${name} is left out: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return figures
}
