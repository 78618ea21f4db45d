/**
 * What it costs to store and to read an artifact of 1 KB, 1 MB and 100 MB in each layer, against the least that could be done
 * instead in the same run; and how much memory a process needs above what it has idle to store a stream of 100 MB, in a
 * process of its own.
 */
import * as Effect from "effect/Effect"
import { execFileSync } from "node:child_process"
import { type Kept, type Row, rows } from "./ArtifactLayers.ts"
import { type Figure, median } from "./Figure.ts"

const sizes = [
  { bytes: 1_000, rounds: 25, name: "1 KB" },
  { bytes: 1_000_000, rounds: 5, name: "1 MB" },
  { bytes: 100_000_000, rounds: 1, name: "100 MB" }
]

const scope = { conversationId: "bench" }

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const started = process.hrtime.bigint()
  await work()
  return Number(process.hrtime.bigint() - started) / 1e6
}

/** Each round measures the layer and its floor, one after the other, so that both meet the same machine. */
const measure = async ({ name }: Row, { floor, store }: Kept): Promise<ReadonlyArray<Figure>> => {
  const figures: Array<Figure> = []
  for (const { bytes, name: size, rounds } of sizes) {
    const data = new Uint8Array(bytes).map((_, n) => (n * 2_654_435_761) >>> 13)
    const input = { kind: "bench", mediaType: "application/octet-stream", data }
    const times: Record<"put" | "get" | "floorPut" | "floorGet", Array<number>> = {
      put: [],
      get: [],
      floorPut: [],
      floorGet: []
    }
    // The first round of a small size is of a program that is not warm yet.
    for (let round = rounds === 1 ? 0 : -1; round < rounds; round++) {
      let ref = ""
      const put = async () => {
        ref = (await Effect.runPromise(store.put(scope, input))).meta.ref
      }
      const taken = {
        floorPut: await timed(() => floor.put(data)),
        put: await timed(put),
        floorGet: await timed(floor.get),
        get: await timed(() => Effect.runPromise(store.get(scope, ref)))
      }
      await Effect.runPromise(store.delete(scope, ref))
      if (round >= 0) for (const key of ["put", "get", "floorPut", "floorGet"] as const) times[key].push(taken[key])
    }
    for (const [verb, least] of [
      ["put", "floorPut"],
      ["get", "floorGet"]
    ] as const) {
      const value = median(times[verb])
      figures.push({
        bench: "artifacts",
        n: bytes,
        metric: `${verb} ${size}, ${name}`,
        value,
        unit: "ms",
        against: verb === "put" ? floor.name : floor.reading,
        ratio: value / median(times[least])
      })
    }
  }
  return figures
}

/** How much a stream may need, in mebibytes. */
const goal = 32

const peak = (name: string): Figure => {
  const child = new URL("./streamed.ts", import.meta.url).pathname
  const said = execFileSync(process.execPath, ["--expose-gc", "--import", "tsx", child, name], { encoding: "utf8" })
  const value = Number(said)
  return {
    bench: "artifacts",
    n: 100_000_000,
    metric: `memory of a streamed put, ${name}`,
    value,
    unit: "MiB",
    against: `the goal of ${goal} MiB`,
    ratio: value / goal
  }
}

const isThere = (row: Row): Promise<boolean> =>
  row
    .use(async () => true)
    .catch(() => {
      console.error(`The layer ${row.name} is left out: what it needs is not there.`)
      return false
    })

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const figures: Array<Figure> = []
  for (const row of rows) {
    if (!(await isThere(row))) continue
    const streams = await row.use(async (kept) => {
      figures.push(...(await measure(row, kept)))
      return kept.store.putStream !== undefined
    })
    if (streams) figures.push(peak(row.name))
  }
  return figures
}
