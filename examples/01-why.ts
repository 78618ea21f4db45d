/**
 * An agent answers a question about a table of weather. One piece of its context is stale, so the answer reads well and
 * is wrong. The record says why; without the piece, the same question gets another answer.
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
  instructions: "You answer questions about daily weather in Seattle. Look up the day and the amount with the tools.",
  pieces: [Piece.fact("station-notes", "Note of January 2014: the table's latest full year is 2013.")],
  toolkit: Station.toolkit,
  budget: { passes: 8 }
})

const room = { width: 80 }
const { columns = 0, isTTY } = process.stdout
const colour = isTTY && process.env["NO_COLOR"] === undefined && process.env["TERM"] !== "dumb"
let standing = Screen.nothing
const print = (lines: ReadonlyArray<Screen.Line>, status?: Screen.Line) =>
  Effect.sync(() => {
    const next = Screen.over(standing, lines, colour ? status : undefined, { colour, columns })
    standing = next.standing
    process.stdout.write(next.text)
  })
const title = (text: string) => print([[], [{ text, style: "strong" }], []])

/** Runs an agent, shows its replies and passes as they come, and gives the events that its record holds. */
const live = <R>(asked: Agent.Agent<R>) =>
  Effect.gen(function* () {
    let ticker = Screen.initial
    let [began, drawn] = [Date.now(), 0]
    yield* Stream.runForEach(Agent.stream(asked, question), (progress) => {
      const shown = Screen.see(ticker, progress, { room })
      ticker = shown.ticker
      const now = Date.now()
      if (progress._tag === "Received" && now - drawn < 125) return Effect.void
      if (progress._tag === "Recorded") began = now
      drawn = now
      return print(shown.lines, Screen.status(ticker, now - began, Screen.statusRoom(columns)))
    })
    const record = yield* Record.Record
    const runId = ticker.state.started?.runId ?? ""
    const events = Array.from(yield* Stream.runCollect(record.read(runId)), ({ event }) => event)
    yield* print([[], ...Screen.final(Screen.account(events, room), { room, name: runId, whole: true })])
    return events
  })

const program = Effect.gen(function* () {
  yield* title("1. An agent answers a question about 1,461 days of weather")
  yield* print(Model.notice.map((text) => [{ text, style: "faint" }]))
  const events = yield* live(agent)

  yield* title("2. Why does it say so? Each value, back to what caused it")
  const chain = Why.answer(events)
  yield* print([...Screen.tree(chain, { room }), [], ...Screen.sent(chain, { room })])
  for (const node of chain.nodes) {
    if (node.kind !== "carrier" || node.role !== "system") continue
    yield* print([
      [],
      [{ text: `  the piece "${node.pieceId}", exactly as the model was sent it in pass ${node.pass}` }]
    ])
    yield* print([[{ text: "  " }, { text: node.text, style: "mark" }]])
  }

  yield* title('3. The same question without the piece "station-notes":')
  yield* live(Agent.without(agent, "station-notes"))
})

const layers = Layer.mergeAll(
  Model.layer,
  Record.layerFile({ directory: ".wherefore" }),
  ArtifactStore.layerMemory(),
  Station.layer
).pipe(Layer.provide(NodeContext.layer))

const main = Effect.catchAll(Effect.provide(program, layers), (error) => {
  process.exitCode = 1
  return print([[{ text: error.message, style: "bad" }]])
})
NodeRuntime.runMain(main)
