import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Chunk, Effect, Layer, Schema, Stream } from "effect"
import type * as Event from "../../src/kernel/Event.ts"
import type * as Wire from "../../src/kernel/Wire.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Replay from "../../src/programs/Replay.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"

export const Price = Tool.make("price", {
  description: "What an article costs.",
  parameters: { article: Schema.String },
  success: Schema.Struct({ article: Schema.String, price: Schema.Number })
}).annotate(Tool.Readonly, true)

const Note = Tool.make("note", { parameters: { text: Schema.String }, success: Schema.String }).annotate(
  Replay.Replay,
  "idempotent"
)

const Order = Tool.make("order", {
  parameters: { article: Schema.String, count: Schema.NumberFromString },
  success: Schema.String,
  failure: Schema.Struct({ reason: Schema.String })
})

export const toolkit = Toolkit.make(Price, Note, Order)

export const agent = Agent.make({
  name: "shop",
  instructions: "Sell lamps.",
  toolkit,
  budget: { passes: 10 },
  unknown: "tell"
})

/** What the handlers were asked, in order: the tool and the key of the call. */
export type Ran = Array<{ readonly tool: string; readonly key: string }>

export const handlers = (ran: Ran) => {
  const note = (tool: string) => Effect.map(Replay.Key, (key) => void ran.push({ tool, key }))
  return toolkit.toLayer({
    price: ({ article }) => Effect.as(note("price"), { article, price: article.length * 1_000 }),
    note: ({ text }) => Effect.as(note("note"), `noted ${text}`),
    order: ({ article, count }) =>
      count > 0
        ? Effect.as(note("order"), `ordered ${count * 2} halves of ${article}`)
        : Effect.zipRight(note("order"), Effect.fail({ reason: `${count} is not enough` }))
  })
}

const outcomes = (wire: Wire.Wire): string =>
  wire.messages.flatMap(({ message }) => (message.role === "tool" ? [message.outcome] : [])).join(" ")

const order = (article: string, count: unknown, id?: string) => LLM.call("order", { article, count }, id)

/** A model that is a function of what it is sent: reads together, refused calls among them, then what may act. */
export const model: LLM.Chooser = (wire) => {
  const last = wire.messages.at(-1)?.message
  switch (wire.iteration) {
    case 1:
      return LLM.together(
        LLM.call("price", { article: "lamp" }, "p"),
        LLM.call("constructor", {}, "x"),
        LLM.call("price", { article: "chair" }, "q"),
        LLM.call("price", { article: 1 }, "r")
      )
    case 2:
      return LLM.together(
        LLM.call("note", { text: outcomes(wire) }, "p"),
        order("lamp", "2", "o"),
        order("chair", "0", "o2"),
        LLM.call("price", { article: "bed" }, "o"),
        LLM.call("price", { article: "desk" })
      )
    case 3:
      return { text: "And one more.", ...order("bed", "3", "o"), usage: { inputTokens: 3, outputTokens: 4 } }
    default:
      return LLM.say(`${last?.role === "tool" ? last.content : "nothing"} after ${outcomes(wire)}`)
  }
}

export const events = (runId: string): Effect.Effect<ReadonlyArray<Event.Event>, Record.RecordError, Record.Record> =>
  Effect.gen(function* () {
    const record = yield* Record.Record
    const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read(runId)))
    return entries.map(({ event }) => event)
  })

export const services = Layer.merge(Record.layerMemory, ArtifactStore.layerMemory())
