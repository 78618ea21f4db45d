import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Layer, Schema } from "effect"
import type * as ArtifactEvent from "../../src/kernel/ArtifactEvent.ts"
import type * as Event from "../../src/kernel/Event.ts"
import * as Agent from "../../src/programs/Agent.ts"
import type * as Artifacts from "../../src/programs/Artifacts.ts"
import * as Replay from "../../src/programs/Replay.ts"
import * as Timeout from "../../src/programs/Timeout.ts"
import * as ArtifactStore from "../../src/services/ArtifactStore.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Record from "../../src/services/Record.ts"
import * as Shop from "./Shop.ts"

/** Tools that do whatever a test has them do. `make` may act, `look` only reads, and `hasty` has no time. */
const Make = Tool.make("make", { parameters: { what: Schema.String }, success: Schema.Unknown })
const Look = Tool.make("look", { parameters: { what: Schema.String }, success: Schema.Unknown }).annotate(
  Tool.Readonly,
  true
)
const Hasty = Tool.make("hasty", { parameters: { what: Schema.String }, success: Schema.Unknown })
  .annotate(Timeout.Timeout, "1 second")
  .annotate(Replay.Replay, "idempotent")
export const toolkit = Toolkit.make(Make, Look, Hasty)

export const agent = Agent.make({ name: "atelier", instructions: "Make things.", toolkit, budget: { passes: 10 } })

export type Work = (what: string) => Effect.Effect<unknown>

export const handlers = (work: Work) =>
  toolkit.toLayer({
    make: ({ what }) => work(what),
    look: ({ what }) => work(what),
    hasty: ({ what }) => work(what)
  })

export const csv = (data: unknown): Artifacts.Input => ({ kind: "table/csv", mediaType: "text/csv", data })

export const artifactEvents = (events: ReadonlyArray<Event.Event>): ReadonlyArray<ArtifactEvent.ArtifactEvent> =>
  events.flatMap((event) =>
    event._tag === "ArtifactMinted" ||
    event._tag === "ArtifactResolved" ||
    event._tag === "ArtifactExpired" ||
    event._tag === "ArtifactDeleted" ||
    event._tag === "ArtifactRefused" ||
    event._tag === "ArtifactPresented"
      ? [event]
      : []
  )

/** Runs an agent over a script, and gives the outcome with the record. */
export const play = (
  script: LLM.Chooser | ReadonlyArray<LLM.Step>,
  work: Work,
  options: Agent.RunOptions = {},
  one: Agent.Agent<Agent.Handlers<typeof toolkit.tools>, undefined> = agent
) =>
  Effect.gen(function* () {
    const outcome = yield* Agent.run(one, "Go.", { runId: "r", ...options })
    return { outcome, events: yield* Shop.events("r") }
  }).pipe(Effect.provide([handlers(work), LLM.layerScripted(script)]))

export const services = (limits?: ArtifactStore.Limits) =>
  Layer.orDie(
    Layer.merge(
      Record.layerMemory,
      limits === undefined ? ArtifactStore.layerMemory() : ArtifactStore.layerMemory(limits)
    )
  )
