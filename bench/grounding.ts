/**
 * How many values of real answers have a source, judged as an agent's answers are: each reply that ends a turn, on the
 * record up to it. The conversations are in `../shared/data`; what is not there, or cannot be read, is said so.
 */
import { Grounding, Import, type Event, Json, Value } from "wherefore"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
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
  /** The conversations in the messages of OpenAI's chat API, and how many things there could not be read. */
  readonly read: (folder: string) => { readonly chats: ReadonlyArray<unknown>; readonly unread: number }
}

type Fields = { readonly [key: string]: unknown }

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const fields = (value: unknown): Fields => (isObject(value) ? value : {})
const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const text = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value)

const files = (folder: string, ending: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => join(folder, name))

const parse = (path: string): unknown => JSON.parse(readFileSync(path, "utf8"))

const called = (id: string, name: string, args: unknown, content = "") => ({
  role: "assistant",
  content,
  tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(args) } }]
})

/** Thought, action, observation: an action is a call of a shell; its observation is the result. */
const sweAgent = (path: string): unknown => {
  const { history, trajectory } = fields(parse(path))
  const said = list(history)
    .map(fields)
    .filter(({ role }, index) => (role === "system" || role === "user") && index < 3)
    .map(({ content, role }) => ({ role, content: text(content) }))
  const steps = list(trajectory)
    .map(fields)
    .flatMap(({ action, observation, thought }, index) => [
      called(`step-${index}`, "shell", { command: action }, text(thought)),
      { role: "tool", tool_call_id: `step-${index}`, content: text(observation) }
    ])
  return [...said, ...steps]
}

/** A chain of calls of a search tree, down to the answer it gave. */
const toolBench = (path: string): unknown => {
  const { answer_generation: generation } = fields(parse(path))
  const { query, train_messages: trains } = fields(generation)
  const train = list(trains).at(-1)
  let calls = 0
  const messages = list(train)
    .map(fields)
    .flatMap((message): ReadonlyArray<unknown> => {
      const { content, function_call: call, role } = message
      if (role === "assistant" && isObject(call)) {
        calls++
        const { arguments: args, name } = call
        if (name === "Finish") {
          const { final_answer: answer } = fields(Either.getOrElse(Json.parse(text(args)), () => ({})))
          return [{ role, content: text(answer) }]
        }
        return [called(`call-${calls}`, text(name), args, text(content ?? ""))]
      }
      return role === "function"
        ? [{ role: "tool", tool_call_id: `call-${calls}`, content: text(content) }]
        : [{ role, content: text(content) }]
    })
  return messages.length === 0 ? [{ role: "user", content: text(query) }] : messages
}

/** The conversations of a log's samples. */
const inspect = (path: string): ReadonlyArray<unknown> =>
  list(fields(parse(path))["samples"])
    .map(fields)
    .map(({ messages }) =>
      list(messages)
        .map(fields)
        .map(({ content, role, tool_call_id: id, tool_calls: calls }) => ({
          role,
          content: content ?? "",
          ...(id === undefined ? {} : { tool_call_id: id }),
          ...(role === "assistant" && calls !== undefined && calls !== null
            ? {
                tool_calls: list(calls)
                  .map(fields)
                  .map(({ arguments: args, function: name, id: callId }) => ({
                    id: callId,
                    type: "function",
                    function: { name, arguments: text(args) }
                  }))
              }
            : {})
        }))
    )

const sources: ReadonlyArray<Source> = [
  {
    name: "tau-airline",
    folder: "tau-airline",
    read: (folder) => ({
      chats: readFileSync(join(folder, "openai-chat.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
      unread: 0
    })
  },
  {
    name: "swe-agent, thoughts",
    hasNoAnswers: true,
    folder: "swe-agent",
    read: (folder) => ({ chats: files(folder, ".traj").map(sweAgent), unread: 0 })
  },
  {
    name: "toolbench",
    folder: "toolbench/answer",
    read: (folder) => ({ chats: files(folder, ".json").map(toolBench), unread: 0 })
  },
  {
    name: "inspect-logs",
    folder: "inspect-logs",
    read: (folder) => ({ chats: files(folder, ".json").flatMap(inspect), unread: files(folder, ".eval").length })
  }
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
    const problems: Array<string> = unread === 0 ? [] : [`${unread} files of another format were not read`]
    for (const [index, chat] of chats.entries()) {
      const events = Effect.runSync(Effect.either(Import.openAiChat(chat)))
      if (Either.isLeft(events)) problems.push(`${index}: ${events.left.what}`)
      else answers.push(...answersOf(`${name}-${index}`, events.right, hasNoAnswers))
    }
    return { name, answers, problems }
  })

const unreadSets = ["pydantic-ai-cassettes", "ai-sdk-fixtures", "langfuse-framework-traces"]

export const run = async (): Promise<ReadonlyArray<Figure>> => {
  console.error(`Not read, as no reader here knows their format: ${unreadSets.join(", ")}.`)
  return read().flatMap(({ answers, name, problems }) => {
    for (const problem of problems) console.error(`${name}: ${problem}.`)
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
