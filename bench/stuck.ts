/**
 * What a skill costs that one word in the question matched and that is never used: 30 calls of another tool, with a map
 * of 7,000 characters and four tools that nobody calls, served under the lease and without it.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, LLM, Record, SkillMap, type Wire } from "wherefore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { Figure } from "./Figure.ts"

const calls = 30
/** The instructions and the definitions of a map's skill come to this many characters. */
const mapChars = 7_000

const reading = (name: string, description: string) =>
  Tool.make(name, { description, parameters: { id: Schema.String }, success: Schema.String }).annotate(
    Tool.Readonly,
    true
  )
const Search = reading("search", "Finds pages by words.")
const Track = reading("track_parcel", "Where a parcel is, by its number.")
const Change = reading("change_address", "Sends a parcel to another address.")
const Claim = reading("claim_loss", "Opens a claim for a parcel that was lost.")
const Quote = reading("quote_price", "What it costs to send a parcel.")

const toolkit = Toolkit.make(Search, Track, Change, Claim, Quote)
const tools = Agent.skillTools(Toolkit.make(Track, Change, Claim, Quote))
const instructions = "Parcels are tracked by their number, claimed within 30 days, and priced by weight and zone. "
const defined = JSON.stringify(tools).length

const map = Either.getOrThrow(
  SkillMap.make({
    id: "parcels",
    entries: [{ skillId: "parcel", keywords: ["parcel"] }],
    skills: [
      {
        id: "parcel",
        description: "Parcels: where they are, and what to do about them.",
        instructions: instructions.repeat(100).slice(0, mapChars - defined),
        tools
      }
    ],
    routes: []
  })
)

const charsOf = (wire: Wire.Wire): number =>
  wire.system.reduce((sum, { text }) => sum + text.length, 0) +
  wire.messages.reduce((sum, { message }) => sum + JSON.stringify(message).length, 0) +
  wire.tools.reduce((sum, { tool }) => sum + JSON.stringify(tool).length, 0)

/** The characters of each wire of a run. */
const served = (engagement: { readonly renewalGrace: number } | false): Promise<ReadonlyArray<number>> => {
  const agent = Agent.make({ name: "stuck", instructions: "Answer from the pages.", toolkit, maps: [map], engagement })
  const page = (id: string) => Effect.succeed(`Page ${id}: ${"the words of the page. ".repeat(12)}`)
  const handlers = toolkit.toLayer({
    search: ({ id }) => page(id),
    track_parcel: ({ id }) => page(id),
    change_address: ({ id }) => page(id),
    claim_loss: ({ id }) => page(id),
    quote_price: ({ id }) => page(id)
  })
  const model = LLM.layerScripted((wire) =>
    wire.iteration < calls ? LLM.call("search", { id: `${wire.iteration}` }) : "Nobody knows."
  )
  return Effect.gen(function* () {
    yield* Agent.run(agent, "Who wrote that love is a parcel of forces?")
    return (yield* (yield* LLM.Script).calls).map(charsOf)
  }).pipe(
    Effect.provide(Layer.mergeAll(model, handlers, Record.layerMemory, ArtifactStore.layerMemory())),
    Effect.runPromise
  )
}

const tokensOf = (chars: number): number => Math.ceil(chars / 4)

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  const leased = await served({ renewalGrace: 3 })
  const free = await served(false)
  const sides = [
    { side: "with the lease", other: "without it", values: leased, base: free },
    { side: "without the lease", other: "with it", values: free, base: leased }
  ]
  const figures = (n: number, what: string, of: (values: ReadonlyArray<number>) => number): ReadonlyArray<Figure> =>
    sides.flatMap(({ base, other: against, side, values }) => {
      const [value, to] = [of(values), of(base)]
      const [tokens, toTokens] = [tokensOf(value), tokensOf(to)]
      const bench = "stuck"
      return [
        { bench, n, metric: `${what}, ${side}`, value, unit: "chars", against, ratio: value / to },
        {
          bench,
          n,
          metric: `${what}, ${side}, estimated`,
          value: tokens,
          unit: "tokens",
          against,
          ratio: tokens / toTokens
        }
      ]
    })
  return [
    ...leased.flatMap((_, index) => figures(index + 1, "served in call n", (values) => values[index] ?? Number.NaN)),
    ...figures(leased.length, "served in all n calls", (values) => values.reduce((sum, value) => sum + value, 0))
  ]
}
