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
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs"
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

interface Work {
  readonly run: () => Promise<unknown> | void
  /** What is not measured: it lets go of what the run has kept. */
  readonly end?: () => Promise<void>
}

/** One kind of run of one length, and what its passes cost: microseconds of the process's CPU time, a round each. */
interface Cell {
  readonly passes: number
  readonly kind: string
  readonly work: (index: number) => Work | Promise<Work>
  readonly spent: Array<number>
}

const rounds = 11
/** Passes of a cell in a round, so that short runs are measured as often as long ones. */
const passesInRound = 1_000

/** One round of a cell. */
const measure = async (cell: Cell, round: number): Promise<number> => {
  const times = passesInRound / cell.passes
  let spent = 0
  for (let index = 0; index < times; index++) {
    const { end, run } = await cell.work(round * times + index)
    const started = process.cpuUsage()
    await run()
    const { system, user } = process.cpuUsage(started)
    spent += user + system
    await end?.()
  }
  return spent / passesInRound
}

/** All cells take turns, so that what one does to the process is done to all; the first two rounds only warm up. */
const measureAll = async (cells: ReadonlyArray<Cell>): Promise<void> => {
  for (let round = 0; round < rounds + 2; round++) {
    for (const cell of cells) {
      const spent = await measure(cell, round)
      if (round >= 2) cell.spent.push(spent)
    }
  }
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

const against = { memory: "hand-written loop in memory", file: "hand-written loop that appends lines" }

const cellsOf = (passes: number): ReadonlyArray<Cell> => {
  const cell = (kind: string, work: Cell["work"]): Cell => ({ passes, kind, work, spent: [] })
  return [
    cell("hand memory", () => ({ run: () => byHand(passes, () => undefined) })),
    cell("hand file", () => {
      const log = join(directory, `hand-${passes}.ndjson`)
      rmSync(log, { force: true })
      const file = openSync(log, "a")
      return { run: () => byHand(passes, (line) => writeSync(file, line)), end: async () => closeSync(file) }
    }),
    cell("memory", (index) => driven(Record.layerMemory, passes, `memory-${passes}-${index}`)),
    cell("file", (index) =>
      driven(Record.layerFile({ directory, durability: "process-crash" }), passes, `file-${passes}-${index}`)
    )
  ]
}

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const cells = sizes.flatMap(cellsOf)
  try {
    await measureAll(cells)
    const cost = (passes: number, kind: string): number =>
      median(cells.find((cell) => cell.passes === passes && cell.kind === kind)?.spent ?? [])
    const [shortest = 0] = sizes
    const bytes = (n: number): number => statSync(join(directory, `file-${n}-0.ndjson`)).size / n
    const newBytes = (n: number): number => statSync(join(directory, `hand-${n}.ndjson`)).size / n
    const first = `the pass of a run of ${shortest}`
    return sizes.flatMap((n) => {
      const figure = (metric: string, value: number, unit: string, against: string, base: number): Figure => ({
        bench: "passes",
        n,
        metric,
        value,
        unit,
        against,
        ratio: value / base
      })
      const times = (["memory", "file"] as const).flatMap((kind) => {
        const value = cost(n, kind)
        const floor = cost(n, `hand ${kind}`)
        return [
          figure(`time a pass, record in ${kind}`, value, "µs CPU", against[kind], floor),
          figure(`passes a second, record in ${kind}`, 1e6 / value, "passes/s CPU", against[kind], 1e6 / floor),
          figure(`time a pass, record in ${kind}, growth`, value, "µs CPU", first, cost(shortest, kind))
        ]
      })
      return [
        ...times,
        figure("record a pass", bytes(n), "bytes", "the new messages as JSON lines", newBytes(n)),
        figure("record a pass, growth", bytes(n), "bytes", first, bytes(shortest))
      ]
    })
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
