/**
 * What it costs to read the deltas of a streamed reply: one of 2,000 deltas, and 200 of 100 deltas at once, each through the
 * layer of the protocol, against reading the same stream with `fetch` and the barest parser. The server is a process of its
 * own; what counts is the CPU of this one.
 */
import * as Effect from "effect/Effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { LLM } from "wherefore"
import { LLMSuite } from "wherefore/testing"
import { type Figure, median } from "./Figure.ts"

const rounds = 7

const serving = async () => {
  const program = new URL("./deltaServer.ts", import.meta.url).pathname
  const server = spawn(process.execPath, ["--import", "tsx", program], { stdio: ["ignore", "pipe", "inherit"] })
  const [port] = await once(server.stdout, "data")
  const close = async () => {
    server.kill()
    await once(server, "exit")
  }
  return { url: `http://127.0.0.1:${String(port).trim()}`, close }
}

/** Lines of data, each a JSON object, the text of each delta joined. */
const bare = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/chat/completions`, { method: "POST", body: "{}" })
  const decoder = new TextDecoder()
  let text = ""
  let rest = ""
  for await (const bytes of response.body ?? []) {
    const events = (rest + decoder.decode(bytes, { stream: true })).split("\n\n")
    rest = events.pop() ?? ""
    for (const event of events) {
      const data = event.slice("data: ".length)
      if (data === "[DONE]") continue
      text += JSON.parse(data).choices[0]?.delta.content ?? ""
    }
  }
  return text
}

const layered = (url: string): Promise<string> =>
  Effect.runPromise(
    LLM.reply(LLMSuite.wire).pipe(
      Effect.map(({ content }) => content),
      Effect.provide(LLM.layerOpenAiCompatible({ url, model: "m" }))
    )
  )

/** Microseconds of CPU that `streams` replies take, read at once. */
const cpu = async (read: (url: string) => Promise<string>, url: string, streams: number): Promise<number> => {
  const before = process.cpuUsage()
  const texts = await Promise.all(Array.from({ length: streams }, () => read(url)))
  const { system, user } = process.cpuUsage(before)
  if (new Set(texts).size !== 1 || texts[0] === "") throw new Error("The replies differ.")
  return system + user
}

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const { close, url } = await serving()
  const figures: Array<Figure> = []
  for (const { deltas, streams } of [
    { deltas: 2_000, streams: 1 },
    { deltas: 100, streams: 200 }
  ]) {
    const ours: Array<number> = []
    const theirs: Array<number> = []
    // The first round of each is of a program that is not warm yet.
    for (let round = -1; round < rounds; round++) {
      const own = await cpu(layered, `${url}/${deltas}`, streams)
      const least = await cpu(bare, `${url}/${deltas}`, streams)
      if (round >= 0) {
        ours.push(own)
        theirs.push(least)
      }
    }
    const all = deltas * streams
    figures.push({
      bench: "deltas",
      n: all,
      metric: streams === 1 ? "CPU of a delta" : `CPU of a delta, ${streams} streams at once`,
      value: median(ours) / all,
      unit: "us",
      against: "fetch and a bare parser",
      ratio: median(ours) / median(theirs)
    })
  }
  await close()
  return figures
}
