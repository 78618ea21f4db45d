/**
 * What a pass costs: scripted runs of 10, 100 and 1,000 passes, one tool call a pass with a result of 2 KB, against a loop
 * written by hand that does the same work and appends the same messages to a log.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Figure, median } from "./Figure.ts"

const sizes = [10, 100, 1_000]
const row = (n: number): string => `row ${n}: `.padEnd(2_048, "measured value in a table, ")

const Lookup = Tool.make("lookup", {
  description: "Reads one row.",
  parameters: { n: Schema.Number },
  success: Schema.String
}).annotate(Tool.Readonly, true)
const toolkit = Toolkit.make(Lookup)
const agent = Agent.make({ name: "bench", instructions: "Read the rows.", toolkit, budget: { passes: 2_000 } })

/** Calls the tool in each of the first `passes` passes, then answers. */
const model = (passes: number) =>
  LLM.layerScripted(
    (wire) => (wire.iteration < passes ? LLM.call("lookup", { n: wire.iteration }) : LLM.say("All rows are read.")),
    { remember: 0 }
  )

/** The same loop by hand: a model, a tool, an array of messages, and a line a message appended to a log. */
const byHand = (passes: number, log: (line: string) => void): void => {
  const messages: Array<unknown> = []
  const say = (message: unknown) => {
    messages.push(message)
    log(`${JSON.stringify(message)}\n`)
  }
  const parameters = {
    type: "object",
    required: ["n"],
    properties: { n: { type: "number" } },
    additionalProperties: false
  }
  log(
    `${JSON.stringify({ type: "function", function: { name: "lookup", description: "Reads one row.", parameters } })}\n`
  )
  say({ role: "system", content: "Read the rows." })
  say({ role: "user", content: "Read the rows." })
  for (let pass = 1; pass < passes; pass++) {
    const id = `call-${pass}-0`
    const args = JSON.stringify({ n: pass })
    const call = { id, type: "function", function: { name: "lookup", arguments: args } }
    say({ role: "assistant", content: "", tool_calls: [call] })
    const { n } = JSON.parse(args)
    say({ role: "tool", tool_call_id: id, content: row(n) })
  }
  say({ role: "assistant", content: "All rows are read." })
}

/** Passes before a measurement, so that a short run is not measured while its code is still being compiled. */
const warmUp = 4_000

interface Work {
  readonly run: () => Promise<unknown> | void
  /** What is not measured: it lets go of what the run has kept. */
  readonly end?: () => Promise<void>
}

/** Microseconds a pass of the process's CPU time, the median of `times` runs after a warm-up. */
const cost = async (passes: number, times: number, work: (index: number) => Work | Promise<Work>): Promise<number> => {
  const spent: Array<number> = []
  const before = Math.ceil(warmUp / passes)
  for (let index = -before; index < times; index++) {
    const { end, run } = await work(index)
    const started = process.cpuUsage()
    await run()
    const { system, user } = process.cpuUsage(started)
    if (index >= 0) spent.push((user + system) / passes)
    await end?.()
  }
  return median(spent)
}

const directory = mkdtempSync(join(tmpdir(), "wherefore-bench-"))

/** A run with layers of its own, so that a measurement does not carry the records of those before it. */
const driven = async (
  record: Layer.Layer<Record.Record, Record.RecordError>,
  passes: number,
  runId: string
): Promise<Work> => {
  const handlers = toolkit.toLayer({ lookup: ({ n }) => Effect.succeed(row(n)) })
  const runtime = ManagedRuntime.make(Layer.mergeAll(record, model(passes), handlers, ArtifactStore.layerMemory()))
  await runtime.runtime()
  return {
    run: () => runtime.runPromise(Agent.run(agent, "Read the rows.", { runId })),
    end: () => runtime.dispose()
  }
}

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const figures: Array<Figure> = []
  const perPass = new Map<string, number>()
  const note = (n: number, metric: string, value: number, unit: string, against: string, base: number) =>
    figures.push({ bench: "passes", n, metric, value, unit, against, ratio: value / base })
  try {
    for (const n of sizes) {
      const times = Math.max(9, Math.round(1_000 / n))
      const hand = await cost(n, times, () => ({ run: () => byHand(n, () => undefined) }))
      const handLog = join(directory, `hand-${n}.ndjson`)
      const handFile = await cost(n, times, () => {
        rmSync(handLog, { force: true })
        const file = openSync(handLog, "a")
        return { run: () => byHand(n, (line) => writeSync(file, line)), end: async () => closeSync(file) }
      })
      const newBytes = statSync(handLog).size / n

      const layers = {
        memory: { layer: Record.layerMemory, floor: hand, against: "hand-written loop in memory" },
        file: {
          layer: Record.layerFile({ directory, durability: "process-crash" }),
          floor: handFile,
          against: "hand-written loop that appends lines"
        }
      }
      for (const [name, { against, floor, layer }] of Object.entries(layers)) {
        const value = await cost(n, times, (index) =>
          driven(layer, n, `${name}-${n}-${index < 0 ? `warm${-index}` : index}`)
        )
        note(n, `time a pass, record in ${name}`, value, "µs CPU", against, floor)
        note(n, `passes a second, record in ${name}`, 1e6 / value, "passes/s CPU", against, 1e6 / floor)
        const first = perPass.get(name) ?? value
        perPass.set(name, first)
        note(n, `time a pass, record in ${name}, growth`, value, "µs CPU", `the pass of a run of ${sizes[0]}`, first)
      }
      const bytes = readFileSync(join(directory, `file-${n}-0.ndjson`)).length / n
      note(n, "record a pass", bytes, "bytes", "the new messages as JSON lines", newBytes)
      const firstBytes = perPass.get("bytes") ?? bytes
      perPass.set("bytes", firstBytes)
      note(n, "record a pass, growth", bytes, "bytes", `the pass of a run of ${sizes[0]}`, firstBytes)
    }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
  return figures
}
