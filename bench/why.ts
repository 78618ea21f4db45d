/**
 * How many of the money, ids and times in real replies are traced to where the model read them, and how many of the others
 * to a derivation of what it read: each reply of each conversation of `../shared/data/tau-airline`. As a control, the last
 * digit of each amount is altered, one at a time: what is derived then was derived by chance.
 */
import { type Event, Import, Screen, Why } from "wherefore"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import * as TauAirline from "./conversations/TauAirline.ts"
import type { Figure } from "./Figure.ts"

const folder = "../shared/data/tau-airline"

type Kind = "money" | "time" | "id"

const kindOf = (text: string): Kind | undefined => {
  if (/^-?\$[\d,]+(?:\.\d+)?$/.test(text)) return "money"
  if (/^\d{1,2}:\d\d|^\d{4}-\d\d-\d\d/.test(text)) return "time"
  return /[a-z]/i.test(text) && /\d/.test(text) && text.length >= 5 ? "id" : undefined
}

const named = new Set<string>([
  "part of a timestamp",
  "part of an id",
  "part of an address",
  "day in words",
  "day in words, without its year",
  "hour in words",
  "number and unit"
])

/** How a value is accounted for: where it stands as it is written, by a derivation that has a name, or not. */
const accountOf = (chain: Why.Chain, { node, word }: Screen.Verdict): "read" | "derived" | "nowhere" => {
  if (word !== "recorded") return "nowhere"
  const edges = chain.edges.filter(({ from }) => from === node.id)
  const isDerived = edges.every(({ by, grounds }) => grounds === "derived" || by.some((name) => named.has(name)))
  return isDerived ? "derived" : "read"
}

/** The reply with another last digit in the value from `start` on. */
const altered = (content: string, { start, value }: Why.ValueNode): string => {
  const at = start + value.search(/\d(?=\D*$)/)
  return `${content.slice(0, at)}${(Number(content.charAt(at)) + 3) % 10}${content.slice(at + 1)}`
}

const derivedAt = (chain: Why.Chain, start: number): boolean => {
  const node = chain.nodes.find((one) => one.kind === "value" && one.place === "reply" && one.start === start)
  return chain.edges.some(({ from, grounds }) => from === node?.id && grounds === "derived")
}

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  if (!existsSync(folder)) {
    console.error(`why: ${folder} is not there`)
    return []
  }
  const kinds: ReadonlyArray<Kind> = ["money", "time", "id"]
  const counts = new Map(kinds.map((kind) => [kind, { read: 0, derived: 0, nowhere: 0 }]))
  const wrong = { values: 0, derived: 0 }
  const { chats } = TauAirline.read(folder)
  let asked = 0
  let elapsed = 0
  for (const chat of chats) {
    const events: ReadonlyArray<Event.Event> = Effect.runSync(Import.openAiChat(chat))
    for (const event of events) {
      if (event._tag !== "ModelReplied" || event.content === "") continue
      const started = performance.now()
      const chain = Why.call(events, event.iteration)
      elapsed += performance.now() - started
      asked++
      for (const verdict of Screen.verdicts(chain)) {
        const { node } = verdict
        const kind = kindOf(node.value)
        const count = kind === undefined || node.place !== "reply" ? undefined : counts.get(kind)
        if (count !== undefined) count[accountOf(chain, verdict)]++
        if (count === undefined || kind !== "money") continue
        const changed = events.map((one) => (one === event ? { ...event, content: altered(event.content, node) } : one))
        wrong.values++
        if (derivedAt(Why.call(changed, event.iteration), node.start)) wrong.derived++
      }
    }
  }
  const all = Array.from(counts.values()).reduce((sum, { derived, nowhere, read }) => ({
    read: sum.read + read,
    derived: sum.derived + derived,
    nowhere: sum.nowhere + nowhere
  }))
  const figure = (metric: string, value: number, unit: string, against: string, to: number): Figure => ({
    bench: "why",
    n: chats.length,
    metric,
    value,
    unit,
    against,
    ratio: to === 0 ? 0 : value / to
  })
  const rows = [...Array.from(counts), ["all", all] as const].flatMap(([kind, { derived, nowhere, read }]) => {
    const values = read + derived + nowhere
    return [
      figure(`${kind}: read on the wire`, read, "values", "said", values),
      figure(`${kind}: derived`, derived, "values", "of the others", derived + nowhere),
      figure(`${kind}: nowhere`, nowhere, "values", "said", values)
    ]
  })
  return [
    ...rows,
    figure("derived, of amounts with one digit altered", wrong.derived, "values", "altered", wrong.values),
    figure("time of a question", elapsed / asked, "ms", "questions", asked)
  ]
}
