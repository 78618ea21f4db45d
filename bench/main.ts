/**
 * Runs the benchmarks that are named, or all of them: `npm run bench -- [NAME…] [--json]`. A table for people; with
 * `--json` one line a figure.
 */
import { parseArgs } from "node:util"
import { type Figure, table } from "./Figure.ts"

const benches = new Map<string, () => Promise<ReadonlyArray<Figure>>>([
  ["passes", async () => (await import("./passes.ts")).run()],
  ["stuck", async () => (await import("./stuck.ts")).run()],
  ["grounding", async () => (await import("./grounding.ts")).run()],
  ["why", async () => (await import("./why.ts")).run()],
  ["findings", async () => (await import("./findings.ts")).run()],
  ["placement", async () => (await import("./placement.ts")).run()],
  ["artifacts", async () => (await import("./artifacts.ts")).run()],
  ["records", async () => (await import("./records.ts")).run()],
  ["durable", async () => (await import("./durable.ts")).run()],
  ["deltas", async () => (await import("./deltas.ts")).run()],
  ["advance", async () => (await import("./advance.ts")).run()]
])

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean", default: false } }
})
const unknown = positionals.filter((name) => !benches.has(name))
if (unknown.length > 0) {
  console.error(`No benchmark is named ${unknown.join(", ")}. There are: ${Array.from(benches.keys()).join(", ")}.`)
  process.exit(2)
}
for (const [name, run] of benches) {
  if (positionals.length > 0 && !positionals.includes(name)) continue
  const figures = await run()
  console.log(values.json ? figures.map((figure) => JSON.stringify(figure)).join("\n") : table(figures))
}
