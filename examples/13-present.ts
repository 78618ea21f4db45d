/**
 * A tool draws a chart and keeps it as an artifact; the model is told its ticket, and shows it to the person. The model
 * never reads the chart, and what can be said of it stays on the record when it is gone.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, Artifacts, ArtifactStore, Clock, Entropy, LLM, Record, Screen } from "wherefore"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Chart = Tool.make("chart", { parameters: { of: Schema.String }, success: Schema.String })
const toolkit = Toolkit.make(Chart)
const rain: ReadonlyArray<number> = [43, 12, 0, 7]

const handlers = toolkit.toLayer({
  chart: ({ of }) =>
    Effect.gen(function* () {
      const { put } = yield* Artifacts.Artifacts
      const bars = rain.map((mm, day) => `<rect x="${day * 10}" width="8" height="${mm}"/>`).join("")
      const data = `<svg xmlns="http://www.w3.org/2000/svg">${bars}</svg>`
      const { meta } = yield* Effect.orDie(
        put({ kind: "chart", mediaType: "image/svg+xml", label: `${of} by day`, data })
      )
      return meta.ref
    })
})

const model = LLM.layerScripted(({ iteration, messages }) => {
  const last = messages.at(-1)?.message.content ?? ""
  if (iteration === 1) return LLM.call("chart", { of: "rain" })
  if (iteration === 2)
    return LLM.together(
      LLM.call("present", { ref: last, as: "chart" }),
      LLM.call("present", { ref: "art_1", as: "chart" })
    )
  return LLM.say("That is the rain of four days.")
})

const agent = Agent.make({ name: "weather", instructions: "Show what is asked for.", toolkit, present: true })

const program = Effect.gen(function* () {
  const { presented } = yield* Agent.run(agent, "Draw me the rain.", { runId: "rain" })

  // The application shows the person what is stored: it has the store, and the scope of the run.
  const store = yield* ArtifactStore.ArtifactStore
  for (const { as, ref, snapshot } of presented) {
    const stored = Option.getOrThrow(yield* store.get({ conversationId: "rain" }, ref))
    console.log(`${as} "${snapshot.label}", ${snapshot.mediaType}: ${String(stored.data).slice(0, 42)}…\n`)
  }
  const record = yield* Record.Record
  const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read("rain")))
  for (const { event, seq } of entries) {
    if (event._tag === "ToolSettled" && event.outcome === "refused")
      console.log(`#${seq} ${event.error?.what} ${event.error?.next}\n`)
  }
  const account = Screen.account(
    entries.map(({ event }) => event),
    {}
  )
  process.stdout.write(Screen.print(account.lines, { colour: false }))
})

const services = Layer.mergeAll(
  model,
  handlers,
  Record.layerMemory,
  ArtifactStore.layerMemory(),
  Entropy.layerSeeded(13)
)

const atOnce = Effect.provide(program, Clock.layerFixed(1_767_225_600_000))

Effect.runPromise(Effect.provide(atOnce, services)).catch(console.error)

// chart "rain by day", image/svg+xml: <svg xmlns="http://www.w3.org/2000/svg"><r…
//
// #17 No artifact "art_1" was found when this call was made. The newest artifacts then: art_HzOkoV7m02grTvWxXQguqT ("chart", "rain by day").
//
//  1     625 B  stored    art_HzOkoV7m02grTvWxXQguqT chart · 187 B · "rain by day"  #8
//               called    chart rain → 26 B  0ms  #9
//  2     670 B  showed    art_HzOkoV7m02grTvWxXQguqT as chart · chart · 187 B · "rain by day"  #14
//               called    present art_HzOkoV7m02grTvWxXQguqT chart → 156 B  #15
//               missed    head: missing-or-expired  #16
//               refused   present art_1 chart → 207 B  #17
//                         No artifact "art_1" was found when this call was made.
//  3    1.1 KB  said      That is the rain of four days.  0ms  #19
