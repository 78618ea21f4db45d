import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Layer, Schema } from "effect"
import * as Shop from "../programs/Shop.ts"

const Zone = Tool.make("zone", { parameters: { n: Schema.Number }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)

/** The tool of an agent for zones, and what its runs need beside a model. */
export const toolkit = Toolkit.make(Zone)

export const services = Layer.mergeAll(Shop.services, toolkit.toLayer({ zone: ({ n }) => Effect.succeed(`zone ${n}`) }))
