/**
 * A long result is stored, and its ticket sent in its place: the wires stay small. The model hands the ticket to a tool that
 * wants it, and reads only what that finds. No route depends on it: here it is off, and then on.
 */
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { Agent, ArtifactStore, Clock, Entropy, LLM, Record, Screen, Wants } from "wherefore"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const Log = Tool.make("log", { parameters: { day: Schema.String }, success: Schema.String }).annotate(
  Tool.Readonly,
  true
)
const Grep = Tool.make("grep", { parameters: { log: Schema.String, word: Schema.String }, success: Schema.String })
  .annotate(Tool.Readonly, true)
  .annotate(Wants.Wants, { log: "tool-result/log" })
const toolkit = Toolkit.make(Log, Grep)

const lines = Array.from({ length: 500 }, (_, n) => `${n} ${n === 377 ? "error: the ferry is late" : "all is well"}`)
const handlers = toolkit.toLayer({
  log: () => Effect.succeed(lines.join("\n")),
  grep: ({ log, word }) =>
    Effect.succeed(
      log
        .split("\n")
        .filter((line) => line.includes(word))
        .join("\n")
    )
})

/** It looks for the ticket in what it was sent; without one it has read all of the log itself. */
const model = LLM.layerScripted(({ iteration, messages }) => {
  if (iteration === 1) return LLM.call("log", { day: "monday" })
  const [ref] = /art_\w+/.exec(messages.at(-1)?.message.content ?? "") ?? []
  return ref === undefined ? LLM.say("The ferry is late.") : LLM.call("grep", { log: ref, word: "error" })
})

const run = (runId: string, placement: { readonly placement?: { readonly maxInlineChars: number } }) =>
  Effect.gen(function* () {
    const agent = Agent.make({ name: "clerk", instructions: "Read the log.", toolkit, ...placement })
    yield* Agent.run(agent, "What went wrong on Monday?", { runId })
    const record = yield* Record.Record
    const entries = Chunk.toReadonlyArray(yield* Stream.runCollect(record.read(runId)))
    const { lines, totals } = Screen.account(
      entries.map(({ event }) => event),
      { width: 96 }
    )
    process.stdout.write(Screen.print(lines, { colour: false }))
    console.log(`${totals.sentBytes} bytes were sent`)
  })

const program = Effect.zipRight(run("inline", {}), run("placed", { placement: { maxInlineChars: 1_000 } }))

const services = Layer.mergeAll(
  model,
  handlers,
  Record.layerMemory,
  ArtifactStore.layerMemory(),
  Entropy.layerSeeded(15)
)

const atOnce = Effect.provide(program, Clock.layerFixed(1_767_225_600_000))

Effect.runPromise(Effect.provide(atOnce, services)).catch(console.error)

//  1     288 B  called    log monday → 7.9 KB                                            0ms    #8
//  2    8.2 KB  said      The ferry is late.                                             0ms   #10
// 8498 bytes were sent
//  1     288 B  stored    art_DVzcxJigMH9b4ivUHalwZK tool-resul… 14 more … · "result of log"    #8
//               called    log monday → stored (7.9 KB)                                   0ms    #9
//  2     511 B  read      art_DVzcxJigMH9b4ivUHalwZK tool-result/log · 7.9 KB                  #13
//               called    grep art_DVzcxJigMH9b4ivUHalwZK error → 28 B                   0ms   #14
//  3     595 B  said      The ferry is late.                                             0ms   #16
// 1394 bytes were sent
