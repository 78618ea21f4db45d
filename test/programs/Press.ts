/**
 * A `Press` is an agent whose tools work on artifacts: `load` stores a table or a text, `plot` wants a table, `merge` wants
 * two, and `show` wants a text of which it reads nothing else.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Effect, Schema } from "effect"
import type * as Artifact from "../../src/kernel/Artifact.ts"
import * as Agent from "../../src/programs/Agent.ts"
import * as Artifacts from "../../src/programs/Artifacts.ts"
import * as Replay from "../../src/programs/Replay.ts"
import * as Wants from "../../src/programs/Wants.ts"
import * as LLM from "../../src/services/LLM.ts"
import * as Shop from "./Shop.ts"

const Load = Tool.make("load", { parameters: { kind: Schema.String }, success: Schema.String }).annotate(
  Replay.Replay,
  "idempotent"
)
const Plot = Tool.make("plot", {
  parameters: { table: Wants.Data, title: Schema.optional(Schema.String), count: Schema.optional(Schema.Number) },
  success: Schema.Unknown
})
  .annotate(Wants.Wants, { table: "table/csv" })
  .annotate(Replay.Replay, "idempotent")
const Merge = Tool.make("merge", {
  parameters: { left: Wants.Data, right: Wants.Data, note: Schema.optional(Schema.String) },
  success: Schema.String
})
  .annotate(Wants.Wants, { left: "table/csv", right: "table/csv", note: "text/note" })
  .annotate(Replay.Replay, "idempotent")
const Recite = Tool.make("recite", { parameters: { note: Schema.String }, success: Schema.String })
  .annotate(Wants.Wants, { note: "text/note" })
  .annotate(Tool.Readonly, true)

export const toolkit = Toolkit.make(Load, Plot, Merge, Recite)
type More = Partial<Parameters<typeof Agent.make<typeof toolkit.tools>>[0]>

export const agentOf = (more: More) =>
  Agent.make({ name: "press", instructions: "Print.", toolkit, budget: { passes: 12 }, ...more })

export const agent = agentOf({})

/** What handlers were given, in order. */
export type Given = Array<{ readonly tool: string; readonly args: object; readonly wanted: unknown }>

const put = (input: Artifacts.Input) =>
  Effect.flatMap(Artifacts.Artifacts, (artifacts) => Effect.orDie(artifacts.put(input)))

/** What `load` stores, by kind. */
const loads: { readonly [kind: string]: unknown } = {
  "table/csv": { rows: [[1, 2]] },
  "text/note": "a note",
  bytes: Uint8Array.of(0, 255)
}

export const handlers = (given: Given) => {
  const note = (tool: string, args: object) =>
    Effect.map(Artifacts.Artifacts, ({ wanted }) => void given.push({ tool, args, wanted }))
  const make = (kind: string, data: unknown) =>
    Effect.map(put({ kind, mediaType: "application/json", data }), ({ meta }) => meta.ref)
  return toolkit.toLayer({
    load: ({ kind }) => make(kind, loads[kind] ?? kind),
    plot: (args) => Effect.zipRight(note("plot", args), make("chart", "a chart")),
    merge: (args) => Effect.zipRight(note("merge", args), make("report", "a report")),
    recite: (args) => Effect.as(note("recite", args), args.note)
  })
}

export const play = (script: LLM.Steps, given: Given = [], options: Agent.RunOptions = {}) =>
  Effect.gen(function* () {
    const outcome = yield* Agent.run(agent, "Go.", { runId: "r", ...options })
    return { outcome, events: yield* Shop.events("r") }
  }).pipe(Effect.provide([handlers(given), LLM.layerScripted(script)]))

export const scope: Artifact.Scope = { conversationId: "r" }
