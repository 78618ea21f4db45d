/**
 * `ImportCommand` makes records of conversations that were had elsewhere. If one of them cannot be read, none is kept.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { basename } from "node:path"
import type * as Event from "../kernel/Event.ts"
import * as Printable from "../kernel/Printable.ts"
import type * as Problem from "../kernel/Problem.ts"
import * as Import from "../programs/Import.ts"
import * as ScreenLine from "../programs/ScreenLine.ts"
import * as Complaint from "./Complaint.ts"
import * as Conversations from "./Conversations.ts"
import * as Reference from "./Reference.ts"
import type * as Session from "./Session.ts"

const formats = ["openai-chat"]

const textOf = (bytes: Uint8Array): Effect.Effect<string, Complaint.Complaint> =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: (cause) => Complaint.unreadable("The file is not UTF-8.", "Save it as UTF-8 and import it again.", { cause })
  })

interface Fault {
  readonly at: string
  readonly problem: Problem.Problem
}

const placeOf = (name: string, { at, problem }: Fault): string => {
  const where = problem.where === undefined ? "" : ` at ${problem.where}`
  return `${name}${at === "" ? "" : `, ${at}`}${where}`
}

/** The first thing that is wrong is said whole, of the others where they are. */
const refuse = (file: string, faults: ReadonlyArray<Fault>): Complaint.Complaint => {
  const name = Printable.quote(file, 80)
  const [first, ...others] = faults
  if (first === undefined) return Complaint.unreadable(`${name} holds no conversation.`, "Name a file that holds one.")
  const { code, expected, found, next, what } = first.problem
  const pair = [
    ...(expected === undefined ? [] : [`expected ${expected}`]),
    ...(found === undefined ? [] : [`found ${found}`])
  ]
  const details = pair.length === 0 ? "" : ` (${pair.join("; ")})`
  const places = others
    .slice(0, 5)
    .map((one) => one.at || "the file")
    .join(", ")
  const more =
    others.length === 0 ? "" : ` Also wrong: ${places}${others.length > 5 ? ` and ${others.length - 5} more` : ""}.`
  return Complaint.unreadable(`${placeOf(name, first)}: ${what}${details}${more}`, `${next} Nothing was imported.`, {
    code,
    cause: faults
  })
}

/** The runs of all conversations, each once, or what is wrong with every one that is none. */
const convert = (conversations: ReadonlyArray<Conversations.Conversation>, agent: string, file: string) =>
  Effect.gen(function* () {
    const faults: Array<Fault> = []
    const runs = new Map<string, ReadonlyArray<Event.Event>>()
    for (const { at, value } of conversations) {
      const read = yield* Effect.either(Import.openAiChat(value, { agent }))
      if (Either.isLeft(read)) {
        faults.push({ at, problem: read.left })
        continue
      }
      const [started] = read.right
      if (started?._tag === "RunStarted") runs.set(started.runId, read.right)
    }
    if (faults.length > 0) return yield* Effect.fail(refuse(file, faults))
    return runs
  })

/** What is said of a run that is not new: the same conversation has the same id. */
const said: { readonly [A in Import.Appended]: string | undefined } = {
  new: undefined,
  there: "is here already, and stays as it was",
  completed: "was imported in part before, and is complete now"
}

export const run: Session.Command = (session) =>
  Effect.gen(function* () {
    const { json, terminal } = session
    const { options, positionals } = session.arguments
    const format = options.get("format") ?? "openai-chat"
    if (!formats.includes(format)) {
      const what = `${Printable.quote(format, 48)} is no format that can be imported.`
      return yield* Effect.fail(Complaint.usage(what, `Write --format ${formats.join(" or ")}, or leave it out.`))
    }
    const file = positionals[0] ?? "-"
    const bytes = file === "-" ? yield* Reference.readInput : yield* Reference.readFile(file)
    const text = yield* textOf(bytes)
    const name = file === "-" ? "standard input" : file
    const conversations = yield* Effect.mapError(Conversations.read(text), (faults) => refuse(name, faults))
    const runs = yield* convert(conversations, ScreenLine.fit(basename(name), 64), name)

    const write = Effect.gen(function* () {
      if (json)
        terminal.json({
          format: "wherefore.import/1",
          from: format,
          directory: session.archive.shown,
          conversations: conversations.length,
          runs: runs.size
        })
      for (const [runId, events] of runs) {
        const appended = yield* Import.append(events)
        if (json) terminal.json({ runId, events: events.length, new: appended === "new", appended })
        else terminal.out([ScreenLine.plain(runId)])
        const told = said[appended]
        if (!json && told !== undefined) terminal.progress([[ScreenLine.span(`${runId} ${told}`, "faint")]])
      }
      const doubled = conversations.length - runs.size
      if (!json && doubled > 0) {
        const told = `${ScreenLine.counted(doubled, "conversation")} stood in the file twice`
        terminal.progress([[ScreenLine.span(told, "faint")]])
      }
      return 0
    })
    const exit = yield* write.pipe(
      Effect.mapError((error) => Complaint.ofProblem(3, error, error)),
      Effect.provide(session.archive.record)
    )
    const [only] = runs.keys()
    const next =
      runs.size === 1 && only !== undefined ? `wherefore why ${Reference.named(session, only)}` : "wherefore runs"
    if (!json) terminal.progress([[ScreenLine.span(`next  ${next}`, "faint")]])
    return exit
  })
