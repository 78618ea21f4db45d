/**
 * A `Model` for the weather examples: the one that `WHEREFORE_MODEL_URL` and `WHEREFORE_MODEL` name, or else a scripted one.
 *
 * The scripted model is no language model, and it reads its wire: each reply is a function of what it was sent. Without a
 * note that names the year, it asks the table.
 */
import type { Wire } from "wherefore"
import { LLM } from "wherefore"

/** What the last call of the tool returned, as far as it is on the wire. */
const resultOf = (wire: Wire.Wire, tool: string): string | undefined =>
  wire.messages
    .map(({ message }) => (message.role === "tool" && message.toolName === tool ? message.content : undefined))
    .findLast((content) => content !== undefined)

const text = (wire: Wire.Wire) => wire.system.map((piece) => piece.text).join("\n")

const usage = ({ messages, system, tools }: Wire.Wire) => {
  const texts = [...system.map(({ text }) => text), ...messages.map(({ message }) => message.content)]
  const chars = [...texts, ...tools.map(({ tool }) => JSON.stringify(tool))].join("").length
  return { inputTokens: Math.ceil(chars / 4), outputTokens: 20 }
}

const scripted = (wire: Wire.Wire): LLM.Line => {
  const wettest = resultOf(wire, "wettest_day")
  if (wettest !== undefined) {
    const { date, rain_mm } = JSON.parse(wettest)
    const deltas = ["The wettest day of the latest full year ", `was ${date}, `, `with ${rain_mm} mm of rain.`]
    return { deltas, usage: usage(wire) }
  }
  const noted = /latest full year is (\d{4})/.exec(text(wire))?.[1]
  const covered = /"last":"(\d{4})-12-31"/.exec(resultOf(wire, "coverage") ?? "")?.[1]
  const year = noted ?? covered
  const call = year === undefined ? LLM.call("coverage") : LLM.call("wettest_day", { year: Number(year) })
  return { ...call, usage: usage(wire) }
}

const isScripted = process.env["WHEREFORE_MODEL_URL"] === undefined

/** Said before a run, so that nobody takes the scripted model for what it is not. */
export const notice: ReadonlyArray<string> = isScripted
  ? [
      "The model here is a script, not a language model. It reads its wire: what it",
      "replies follows from what it is sent. It counts four characters as a token.",
      "With WHEREFORE_MODEL_URL and WHEREFORE_MODEL set, that model answers instead.",
      ""
    ]
  : [`The model is ${process.env["WHEREFORE_MODEL"] ?? "not named"}.`, ""]

export const layer = isScripted ? LLM.layerScripted(scripted) : LLM.layerConfig
