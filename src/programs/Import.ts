/**
 * An `Import` is a trace of another framework read as the events of a run, so that the same questions can be asked of
 * it. What the trace does not tell is listed as untold and ends a chain in a gap; nothing is made up.
 *
 * The events are those of one run that has ended. `append` writes them to a record.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Call from "../kernel/Call.ts"
import * as Digest from "../kernel/Digest.ts"
import type * as Event from "../kernel/Event.ts"
import * as Json from "../kernel/Json.ts"
import * as Message from "../kernel/Message.ts"
import * as Problem from "../kernel/Problem.ts"
import * as Refusal from "../kernel/Refusal.ts"
import * as Run from "../kernel/Run.ts"
import * as Wire from "../kernel/Wire.ts"
import type * as Record from "../services/Record.ts"
import * as ImportAppends from "./ImportAppends.ts"
import * as ImportError from "./ImportError.ts"
import * as OpenAiChat from "./OpenAiChat.ts"

export type { Appended } from "./ImportAppends.ts"
export { ImportError } from "./ImportError.ts"

export interface Options {
  /** Without it, one is made from the conversation: the same conversation always has the same. */
  readonly runId?: string
  /** The agent's name, for lists of runs. */
  readonly agent?: string
}

type Chat = OpenAiChat.Chat
type Said<R> = Extract<OpenAiChat.Said, { readonly role: R }>

/** A reply whose calls do not all have their results yet. */
interface Open {
  readonly iteration: number
  readonly calls: ReadonlyArray<{ readonly call: Message.ToolCall; readonly id: string }>
  readonly results: Map<Message.ToolCall, string>
}

/** Lower case letters and digits, as a run id has them. */
const runIdOf = (chat: Chat): string => {
  const said = chat.said.map(({ path: _, ...rest }) => rest)
  const digest = Digest.of(JSON.stringify([said, chat.tools ?? null, chat.model ?? null, chat.parameters ?? null]))
  return `import-${digest
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")
    .slice(0, 16)}`
}

const untoldOf = (chat: Chat): ReadonlyArray<Event.Untold> => [
  ...(chat.tools === undefined ? ["tool-schemas" as const] : []),
  ...(chat.model === undefined ? ["model" as const] : []),
  ...(chat.parameters === undefined ? ["parameters" as const] : []),
  "usage",
  "times",
  "outcomes",
  ...(chat.hasAttachments ? ["attachments" as const] : [])
]

/** What the person said first, if they spoke first. */
const inputOf = (chat: Chat): Said<"system" | "user"> | undefined => {
  const first = chat.said.find(({ role }) => role !== "system")
  return first?.role === "user" && first.content !== "" ? first : undefined
}

/** The result of one call: the arguments as JSON if they are, and the text that the model was served. */
const settle = (iteration: number, call: Message.ToolCall, served: string | undefined): ReadonlyArray<Event.Event> => {
  const { args, toolCallId, toolName } = call
  if (served === undefined) {
    const refusal = Refusal.untold(toolName, toolCallId)
    return [Call.settlement(iteration, { _tag: "Settle", call, outcome: "unknown", refusal })]
  }
  const named = { iteration, toolCallId, toolName }
  const parsed = Either.getOrElse(Json.parse(args), () => args)
  return [
    { _tag: "ToolCalled", ...named, args: parsed, replay: "never" },
    { _tag: "ToolSettled", ...named, outcome: "ran-ok", served }
  ]
}

const orphan = (path: string): ImportError.ImportError =>
  ImportError.failure(path, {
    code: "WF-IMP-005",
    what: "A result names no call of the reply before it.",
    next: "Give it the id of its call, or leave it out."
  })

const repeated = (path: string): ImportError.ImportError =>
  ImportError.failure(path, {
    code: "WF-IMP-006",
    what: "A call has a second result.",
    next: "Leave one of the two out."
  })

const tooEarly = (path: string, open: Open): ImportError.ImportError =>
  ImportError.failure(path, {
    code: "WF-IMP-007",
    what: "A message stands before the results of all calls of the reply before it.",
    expected: `${open.calls.length} results`,
    found: `${open.results.size}`,
    next: "Put the missing results before it."
  })

/** The open reply with one more result, if it is that of one of its calls. */
const answer = (open: Open | undefined, said: Said<"tool">): Either.Either<Open, ImportError.ImportError> => {
  const { content, id, path, toolName } = said
  const named = open?.calls.filter(
    (one) => one.id === id && (toolName === undefined || id !== "" || one.call.toolName === toolName)
  )
  if (open === undefined || named === undefined || named.length === 0) return Either.left(orphan(path))
  const next = named.find(({ call }) => !open.results.has(call))
  if (next === undefined) return Either.left(repeated(path))
  open.results.set(next.call, content)
  return Either.right(open)
}

const convert = (
  chat: Chat,
  options: Options | undefined
): Either.Either<ReadonlyArray<Event.Event>, ImportError.ImportError> =>
  Either.gen(function* () {
    const { model, parameters, said, tools = [] } = chat
    const events: Array<Event.Event> = []
    let state = Run.initial
    const happen = (...happened: ReadonlyArray<Event.Event>): void => {
      for (const event of happened) {
        events.push(event)
        state = Run.step(state, event)
      }
    }

    const activeIds: Array<string> = []
    const toolNames = tools.map(({ name }) => name)
    let selected = tools.length === 0
    let open: Open | undefined
    const close = ({ calls, iteration, results }: Open): void => {
      for (const { call } of calls) happen(...settle(iteration, call, results.get(call)))
      open = undefined
    }

    const ask = (): number => {
      const iteration = state.iteration + 1
      if (!selected) happen({ _tag: "PiecesSelected", iteration, activeIds: [...activeIds], toolNames })
      selected = true
      const { marks, messages, messagesHash, selection } = state
      const rolled = { system: selection.systemHash, messages: messagesHash, tools: selection.toolsHash }
      const last = marks.at(-1)
      const isFirst = last === undefined
      const reselected = isFirst || last.selection !== selection
      happen({
        _tag: "ModelCalled",
        iteration,
        wireHash: Wire.combine(rolled, parameters ?? {}),
        ...(isFirst && model !== undefined ? { model } : {}),
        ...(isFirst && parameters !== undefined ? { parameters } : {}),
        ...(reselected ? { systemChars: selection.system.reduce((sum, { text }) => sum + text.length, 0) } : {}),
        messagesCount: messages.length,
        ...(reselected && chat.tools !== undefined ? { toolsCount: tools.length } : {})
      })
      return iteration
    }

    const reply = ({ calls, content, reasoning }: Said<"assistant">): number => {
      const iteration = ask()
      const identified = Message.identify(
        iteration,
        calls.map(({ args, id, toolName }) => ({ toolCallId: id, toolName, args }))
      )
      happen({
        _tag: "ModelReplied",
        iteration,
        content,
        ...(reasoning === undefined ? {} : { reasoning }),
        toolCalls: identified
      })
      if (identified.length > 0) {
        const pairs = identified.map((call, index) => ({ call, id: calls[index]?.id ?? "" }))
        open = { iteration, calls: pairs, results: new Map() }
      }
      return iteration
    }

    const input = inputOf(chat)
    const final = said.findLast(({ role }) => role === "assistant")
    const { agent = "", runId = runIdOf(chat) } = options ?? {}
    const manifest: Event.Manifest = { limits: {}, importedFrom: "openai-chat", untold: untoldOf(chat) }
    happen({ _tag: "RunStarted", runId, agent, manifest, input: input?.content ?? "" })
    happen(...tools.map((tool) => Run.declareTool(tool, "never")))

    for (const one of said) {
      if (one.role === "tool") {
        const answered = yield* answer(open, one)
        if (answered.results.size === answered.calls.length) close(answered)
        continue
      }
      if (open !== undefined && one.role !== "system") return yield* Either.left(tooEarly(one.path, open))
      switch (one.role) {
        case "system": {
          const id = activeIds.length === 0 ? "system" : `system:${activeIds.length + 1}`
          activeIds.push(id)
          selected = false
          happen(Run.declarePiece({ id, kind: "steering", text: one.content }))
          break
        }
        case "user":
          if (one !== input) happen({ _tag: "MessageReceived", content: one.content })
          break
        case "assistant": {
          const iteration = reply(one)
          if (one === final && one.calls.length === 0) happen({ _tag: "Answered", iteration, content: one.content })
          break
        }
      }
    }
    if (open !== undefined) close(open)
    const { passes, usage } = state.spent
    happen(
      state.answered === undefined
        ? { _tag: "RunEnded", status: "stopped", reason: Refusal.traceEnded, usage, passes }
        : { _tag: "RunEnded", status: "answered", usage, passes }
    )
    return events
  })

/** A getter or a proxy can fail when it is looked at. */
const unreadable = (): ImportError.ImportError =>
  ImportError.failure("", {
    code: "WF-IMP-002",
    what: "The trace could not be read.",
    expected: "plain data, as JSON has it",
    next: "Convert it to plain data first."
  })

/**
 * A conversation in the messages of OpenAI's chat API: an array of them, or an object with `messages` and, if it has
 * them, `model`, `tools` and the sampling parameters.
 *
 * A system message rides from where it stands; results are put into the order of their calls; calls that the end of the
 * trace leaves without a result are settled `unknown`. The answer is the last message of the assistant, if it calls
 * nothing.
 */
export const openAiChat = (
  json: unknown,
  options?: Options
): Effect.Effect<ReadonlyArray<Event.Event>, ImportError.ImportError> =>
  Effect.suspend(() =>
    Either.try({ try: () => OpenAiChat.read(json), catch: unreadable }).pipe(
      Either.flatMap((read) => read),
      Either.flatMap((chat) => convert(chat, options))
    )
  )

const limits: Json.Limits = {
  maxChars: 67_108_864,
  maxStringChars: 16_777_216,
  maxKeys: 1_000_000
}

/** As `openAiChat`, from the text of its JSON: 64 million characters at most. */
export const openAiChatText = (
  text: string,
  options?: Options
): Effect.Effect<ReadonlyArray<Event.Event>, ImportError.ImportError> =>
  Effect.suspend(() => {
    const parsed = Json.parse(text, limits)
    return Either.isRight(parsed)
      ? openAiChat(parsed.right, options)
      : ImportError.failure("path" in parsed.left ? parsed.left.path : "", {
          ...Problem.of(parsed.left),
          code: "WF-IMP-001"
        })
  })

/**
 * Writes the events of an import to the record, under the run id of their start: its declarations, then each reply with
 * what settles it. An import that was stopped on its way is completed; the same events once more change nothing. Fails
 * with `RecordConflict` if the record has another run of that id.
 */
export const append: (
  events: ReadonlyArray<Event.Event>
) => Effect.Effect<ImportAppends.Appended, Record.RecordError | Record.RecordConflict, Record.Record> =
  ImportAppends.write
