/**
 * How many values of real answers have a source, judged as an agent's answers are: each reply that ends a turn, on the
 * record up to it. The conversations are in `../shared/data`; what is not there, or cannot be read, is said so.
 */
import { Grounding, Import, type Event, Value } from "wherefore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { existsSync } from "node:fs"
import { join } from "node:path"
import type * as Chat from "./conversations/Chat.ts"
import * as InspectLogs from "./conversations/InspectLogs.ts"
import * as Langfuse from "./conversations/Langfuse.ts"
import * as PydanticAi from "./conversations/PydanticAi.ts"
import * as SweAgent from "./conversations/SweAgent.ts"
import * as TauAirline from "./conversations/TauAirline.ts"
import * as ToolBench from "./conversations/ToolBench.ts"
import type { Figure } from "./Figure.ts"

const root = "../shared/data"

/** An answer of a run, and the events before it. */
export interface Answer {
  readonly run: string
  readonly content: string
  readonly before: ReadonlyArray<Event.Event>
}

interface Source {
  readonly name: string
  /** Its replies all go on with a call: what they say before it is judged as an answer would be. */
  readonly hasNoAnswers?: true
  readonly folder: string
  readonly read: (folder: string) => Chat.Read
}

const sources: ReadonlyArray<Source> = [
  { name: "tau-airline", folder: "tau-airline", read: TauAirline.read },
  { name: "swe-agent, thoughts", hasNoAnswers: true, folder: "swe-agent", read: SweAgent.read },
  { name: "toolbench", folder: "toolbench/answer", read: ToolBench.read },
  { name: "inspect-logs", folder: "inspect-logs", read: InspectLogs.read },
  { name: "langfuse-framework-traces", folder: "langfuse-framework-traces", read: Langfuse.read },
  { name: "pydantic-ai-cassettes", folder: "pydantic-ai-cassettes", read: PydanticAi.read }
]

/** Where a reply ends a turn, with words and no calls, or has words. */
const answersOf = (run: string, events: ReadonlyArray<Event.Event>, all: boolean): ReadonlyArray<Answer> =>
  events.flatMap((event, index) =>
    event._tag === "ModelReplied" && (all || event.toolCalls.length === 0) && event.content.trim() !== ""
      ? [{ run, content: event.content, before: events.slice(0, index) }]
      : []
  )

export interface Read {
  readonly name: string
  readonly answers: ReadonlyArray<Answer>
  readonly problems: ReadonlyArray<string>
}

/** The answer with another digit in each value that `Value.extract` finds, and how many those are. */
const altered = (answer: string): { readonly text: string; readonly count: number } => {
  const tokens = Value.extract(answer)
  let text = ""
  let from = 0
  for (const { end, start, text: token } of tokens) {
    const at = start + token.search(/\d(?=\D*$)/)
    text += `${answer.slice(from, at)}${(Number(answer.charAt(at)) + 3) % 10}`
    from = Math.min(at + 1, end)
  }
  return { text: text + answer.slice(from), count: tokens.length }
}

/** The answers of each set that is there, and what could not be read. */
export const read = (): ReadonlyArray<Read> =>
  sources.map(({ folder, hasNoAnswers = false, name, read: readFolder }) => {
    const path = join(root, folder)
    if (!existsSync(path)) return { name, answers: [], problems: [`${path} is not there`] }
    const { chats, unread } = readFolder(path)
    const answers: Array<Answer> = []
    const problems: Array<string> = unread.map((what) => `not read: ${what}`)
    for (const [index, chat] of chats.entries()) {
      const events = Effect.runSync(Effect.either(Import.openAiChat(chat)))
      if (Either.isLeft(events)) problems.push(`not read: conversation ${index}. ${events.left.what}`)
      else answers.push(...answersOf(`${name}-${index}`, events.right, hasNoAnswers))
    }
    return { name, answers, problems }
  })

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  console.error("ai-sdk-fixtures: not read, as they are responses without what was asked.")
  return read().flatMap(({ answers, name, problems }) => {
    for (const problem of problems) console.error(`${name}: ${problem}`)
    if (answers.length === 0) return []
    const counts = { judged: 0, ungrounded: 0, flagged: 0, truncated: 0 }
    const started = performance.now()
    for (const { before, content } of answers) {
      const verdict = Grounding.judge({ answer: content, ...Grounding.corpus(before) })
      counts.judged += verdict.candidates
      counts.ungrounded += verdict.unsupported.length + (verdict.more ?? 0)
      if (verdict.truncated) counts.truncated++
      const action = Grounding.action({ posture: "assist", verdict, revised: false, limited: false })
      if (action === "flagged") counts.flagged++
    }
    const elapsed = performance.now() - started
    const wrong = { values: 0, named: 0 }
    for (const { before, content } of answers) {
      const { count, text } = altered(content)
      const verdict = Grounding.judge({ answer: text, ...Grounding.corpus(before) })
      wrong.values += count
      wrong.named += verdict.unsupported.length + (verdict.more ?? 0)
    }
    const n = answers.length
    const figure = (metric: string, value: number, unit: string, against: string, to: number): Figure => ({
      bench: "grounding",
      n,
      metric: `${name}: ${metric}`,
      value,
      unit,
      against,
      ratio: to === 0 ? 0 : value / to
    })
    return [
      figure("answers", n, "answers", "answers", n),
      figure("answers flagged", counts.flagged, "answers", "answers", n),
      figure("sources cut short", counts.truncated, "answers", "answers", n),
      figure("values judged", counts.judged, "values", "answers", n),
      figure("values grounded", counts.judged - counts.ungrounded, "values", "judged", counts.judged),
      figure("values named ungrounded", counts.ungrounded, "values", "judged", counts.judged),
      figure("named, of values with one digit altered", wrong.named, "values", "altered", wrong.values),
      figure("time of a judgement", elapsed / n, "ms", "answers", n)
    ]
  })
}
