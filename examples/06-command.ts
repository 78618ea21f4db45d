/**
 * A program for the command line: `npx wherefore run examples/06-command.ts -- "Is the library open on Sunday?"`. The
 * command provides the record, the artifacts and, if the file leaves it open, the model of `WHEREFORE_MODEL_URL`; here the
 * file brings its own.
 */
import { Agent, LLM, Piece } from "wherefore"
import * as Effect from "effect/Effect"

const agent = Agent.make({
  name: "library",
  instructions: "Answer in one sentence.",
  pieces: [Piece.fact("opening-hours", "The library opens at 09:30 and closes at 17:00, Monday to Saturday.")]
})

const [, , question = "When does the library close?"] = process.argv
const model = LLM.layerScripted((wire) => {
  const hours = wire.system.map(({ text }) => text).join(" ")
  return LLM.say(`It closes at ${/closes at ([\d:]+)/.exec(hours)?.[1] ?? "a time that I was not told"}.`)
})

export default Agent.run(agent, question).pipe(Effect.provide(model))

// answer   It closes at 17:00.
//
// values   17:00  recorded   piece opening-hours  #2
//
// next     wherefore why ########## --value 17:00
//
// 1 pass · 0 tool calls · 118 B sent, 118 B distinct · 0s · record whole, 9 events
