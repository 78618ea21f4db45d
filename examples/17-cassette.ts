/**
 * Replies are recorded once and played back after that: the same run, without a network and without a key. A program that asks
 * something else fails, and is told which piece of its context is another one.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Agent, ArtifactStore, LLM, Piece, Record } from "wherefore"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const agent = (opening: string) =>
  Agent.make({ name: "shop", instructions: "Answer from the notes.", pieces: [Piece.fact("opening", opening)] })

/** In place of a provider, which would be asked over the network. It counts how often that is. */
const asked = { times: 0 }
const provider = LLM.layerScripted(({ system }) => {
  asked.times += 1
  return LLM.say(`${system.at(-1)?.text} Do come by.`)
})

const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = `${yield* fs.makeTempDirectoryScoped()}/shop.jsonl`
  const run = (opening: string, model: Layer.Layer<LLM.LLM, LLM.LLMError, FileSystem.FileSystem>) =>
    Agent.run(agent(opening), "When do you open?").pipe(
      Effect.map(({ answer }) => answer),
      Effect.catchTag("LLMError", ({ expected, found, reason, what }) =>
        Effect.succeed(`${reason}: ${what}\n  expected ${expected}\n  found ${found}`)
      ),
      Effect.provide(Layer.mergeAll(model, Record.layerMemory, ArtifactStore.layerMemory()))
    )

  // `auto` asks for what the cassette does not have, so that the second run asks nobody.
  const auto = LLM.layerCassette({ path, mode: "auto", model: provider })
  for (const _ of [1, 2]) console.log(`auto    ${yield* run("We open at 9.", auto)} (asked ${asked.times})`)

  const replay = LLM.layerCassette({ path, mode: "replay" })
  console.log(`replay  ${yield* run("We open at 9.", replay)}`)
  console.log(`replay  ${yield* run("We open at 10.", replay)}`)

  // A line for the model, and one for each exchange: what a wire was made of, by id and digest, and the reply.
  for (const line of (yield* fs.readFileString(path)).trimEnd().split("\n")) {
    console.log(line.replaceAll(/[\w-]{43}/g, (digest) => `${digest.slice(0, 4)}…`))
  }
})

Effect.runPromise(Effect.provide(Effect.scoped(program), NodeFileSystem.layer)).catch(console.error)

// auto    We open at 9. Do come by. (asked 1)
// auto    We open at 9. Do come by. (asked 1)
// replay  We open at 9. Do come by.
// replay  CassetteDrift: The cassette has no reply to the wire of pass 1. It differs from the nearest one first at system[1].
//   expected "opening" at system[1] of the wire in line 2, pass 1
//   found "opening" with other content
// {"cassette":1,"model":{"provider":"scripted","id":"script"}}
// {"wire":"dSaJ…","pass":1,"system":[["instructions","wC6R…"],["opening","yOEV…"]],"messages":[["message:0","CkQG…"]],"parameters":{},"reply":[{"text":["We open at 9. Do come by."]},{"_tag":"Finish","stopReason":"stop","usage":{}}]}
