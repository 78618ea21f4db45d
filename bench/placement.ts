/**
 * What placement saves: the characters that the model is sent in a run with ten results of 40 KB, with their tickets in their
 * place against the same run without. All ten are asked for one after another, and ride on every wire after that.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record, Wire } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Figure } from "./Figure.ts"

const results = 10
const chars = 40_000
const maxInlineChars = 4_000

const Read = Tool.make("read", { parameters: { page: Schema.Number }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const toolkit = Toolkit.make(Read)

const textOf = (piece: Wire.Piece): string => {
  switch (piece.slot) {
    case "system":
      return piece.text
    case "messages":
      return piece.message.content
    case "tools":
      return JSON.stringify(piece.tool)
  }
}

const charsOf = ({ messages, system, tools }: Wire.Wire): number =>
  [...system, ...messages, ...tools].reduce((sum, piece) => sum + textOf(piece).length, 0)

/** The characters of each wire of a run. */
const wires = (placement: { readonly placement?: { readonly maxInlineChars: number } }) =>
  Effect.gen(function* () {
    const sent: Array<number> = []
    const agent = Agent.make({ name: "bench", instructions: "Read.", toolkit, ...placement })
    const model = LLM.layerScripted((wire) => {
      sent.push(charsOf(wire))
      return wire.iteration > results ? LLM.say("Done.") : LLM.call("read", { page: wire.iteration })
    })
    yield* Agent.run(agent, "Read all pages.").pipe(
      Effect.provide([Layer.mergeAll(model, Record.layerMemory, ArtifactStore.layerMemory())]),
      Effect.provide(
        toolkit.toLayer({ read: ({ page }) => Effect.succeed(`page ${page} `.repeat(chars).slice(0, chars)) })
      )
    )
    return sent
  })

const total = (sent: ReadonlyArray<number>): number => sent.reduce((sum, one) => sum + one, 0)

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const inline = await Effect.runPromise(wires({}))
  const placed = await Effect.runPromise(wires({ placement: { maxInlineChars } }))
  const figure = (metric: string, value: number, against: number): Figure => ({
    bench: "placement",
    n: results,
    metric,
    value,
    unit: "characters",
    against: `${against} without placement`,
    ratio: value / against
  })
  return [
    figure("last wire", placed.at(-1) ?? 0, inline.at(-1) ?? 0),
    figure("all wires", total(placed), total(inline)),
    figure("saved on all wires", total(inline) - total(placed), total(inline))
  ]
}
