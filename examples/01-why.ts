/**
 * An agent answers a question about a table of weather. One piece of its context is stale, so the answer reads well and
 * is wrong. The record says why; without the piece, the answer is another.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Agent, ArtifactStore, Piece, Record, Screen, Why } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Model from "./weather/Model.ts"
import * as Station from "./weather/Station.ts"

const question = "How much rain fell on the wettest day of the latest full year, and when was that?"

const agent = Agent.make({
  name: "weather",
  instructions: "You answer questions about daily weather in Seattle. Use the tools; name the day and the amount.",
  pieces: [Piece.fact("station-notes", "Station notes, January 2014: the table grows once a year. Its latest full year is 2013.")],
  toolkit: Station.toolkit,
  budget: { passes: 8 }
})

const say = (text: string) => Effect.sync(() => console.log(text))
