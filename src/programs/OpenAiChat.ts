/**
 * An `OpenAiChat` is a conversation in the messages of OpenAI's chat API, as it was found: each message with its path,
 * its text, and its calls as the model wrote them. What the format calls optional may be absent or `null`; fields that
 * are not known here pass.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Event from "../kernel/Event.ts"
import * as Json from "../kernel/Json.ts"
import * as Printable from "../kernel/Printable.ts"
import type * as Wire from "../kernel/Wire.ts"
import * as ImportError from "./ImportError.ts"

/** A call of a reply. `id` is `""` if it has none. */
export interface Called {
  readonly id: string
  readonly toolName: string
  readonly args: string
}

interface Base {
  readonly path: string
  readonly content: string
}

export type Said =
  | (Base & { readonly role: "system" | "user" })
  | (Base & { readonly role: "assistant"; readonly reasoning?: string; readonly calls: ReadonlyArray<Called> })
  /** A result names its call by id; one without an id may name the tool. */
  | (Base & { readonly role: "tool"; readonly id: string; readonly toolName?: string })

/** What is absent is not told. `hasAttachments`: some parts were not text, and a note stands in their place. */
export interface Chat {
  readonly said: ReadonlyArray<Said>
  readonly tools?: ReadonlyArray<Wire.ToolPiece["tool"]>
  readonly model?: string
  readonly parameters?: Event.Parameters
  readonly hasAttachments: boolean
}

type Read<A> = Either.Either<A, ImportError.ImportError>
type Fields = { readonly [key: PropertyKey]: unknown }

const misfit = (path: string, expected: string, found: unknown): Read<never> =>
  Either.left(ImportError.misfit(path, expected, found))

const isAbsent = (value: unknown): value is null | undefined => value === undefined || value === null

const object = (path: string, value: unknown): Read<Fields> =>
  Predicate.isRecord(value) ? Either.right(value) : misfit(path, "an object", value)

const list = (path: string, value: unknown): Read<ReadonlyArray<unknown>> =>
  Array.isArray(value) ? Either.right(value) : misfit(path, "an array", value)

const string = (path: string, value: unknown): Read<string> =>
  typeof value === "string" ? Either.right(Printable.wellFormed(value)) : misfit(path, "a string", value)

const optionalString = (path: string, value: unknown): Read<string | undefined> =>
  isAbsent(value) ? Either.right(undefined) : string(path, value)

/** A text, and whether a note stands in it for something that was not text. */
interface Content {
  readonly text: string
  readonly noted: boolean
}

const part = (path: string, value: unknown): Read<Content> =>
  Either.gen(function* () {
    const fields = yield* object(path, value)
    const type = yield* string(`${path}/type`, fields["type"])
    if (type === "text" || type === "refusal") {
      return { text: yield* string(`${path}/${type}`, fields[type]), noted: false }
    }
    const size = JSON.stringify(fields).length
    return { text: `[${Printable.clip(Printable.line(type), 64)}, ${size} characters of JSON]`, noted: true }
  })

/** Parts stand on lines of their own, so that two values never become one. */
const content = (path: string, value: unknown): Read<Content> => {
  if (value === null) return Either.right({ text: "", noted: false })
  if (!Array.isArray(value)) {
    return typeof value === "string"
      ? Either.right({ text: Printable.wellFormed(value), noted: false })
      : misfit(path, "a string, an array of parts or null", value)
  }
  return Either.map(Either.all(value.map((one, index) => part(`${path}/${index}`, one))), (parts) => ({
    text: parts.map(({ text }) => text).join("\n"),
    noted: parts.some(({ noted }) => noted)
  }))
}

/** `function` calls carry JSON, `custom` ones any text. */
const call = (path: string, value: unknown): Read<Called> =>
  Either.gen(function* () {
    const fields = yield* object(path, value)
    const kind = isAbsent(fields["function"]) && !isAbsent(fields["custom"]) ? "custom" : "function"
    const id = (yield* optionalString(`${path}/id`, fields["id"])) ?? ""
    return { ...(yield* named(`${path}/${kind}`, fields[kind], kind === "custom" ? "input" : "arguments")), id }
  })

const named = (path: string, value: unknown, args: string): Read<Omit<Called, "id">> =>
  Either.gen(function* () {
    const fields = yield* object(path, value)
    const toolName = yield* string(`${path}/name`, fields["name"])
    return { toolName, args: yield* string(`${path}/${args}`, fields[args]) }
  })

const calls = (path: string, message: Fields): Read<ReadonlyArray<Called>> =>
  Either.gen(function* () {
    const { function_call: single, tool_calls: several } = message
    const all = isAbsent(several) ? [] : yield* list(`${path}/tool_calls`, several)
    const read = yield* Either.all(all.map((one, index) => call(`${path}/tool_calls/${index}`, one)))
    return isAbsent(single)
      ? read
      : [...read, { id: "", ...(yield* named(`${path}/function_call`, single, "arguments")) }]
  })

const roles: ReadonlyArray<unknown> = ["system", "developer", "user", "assistant", "tool", "function"]

const unknownRole = (path: string, role: unknown): Read<never> =>
  typeof role === "string"
    ? Either.left(
        ImportError.failure(`${path}/role`, {
          code: "WF-IMP-004",
          what: `A message has the role ${Printable.quote(role)}, which the format does not know.`,
          expected: roles.join(", "),
          next: "Correct the role, or convert the trace to this format first."
        })
      )
    : misfit(`${path}/role`, `a string, one of ${roles.join(", ")}`, role)

const message = (path: string, value: unknown): Read<{ readonly said: Said; readonly noted: boolean }> =>
  Either.gen(function* () {
    const fields = yield* object(path, value)
    const { role } = fields
    if (!roles.includes(role)) return yield* unknownRole(path, role)
    const bare = role === "assistant" && fields["content"] === undefined
    const { noted, text } = yield* content(`${path}/content`, bare ? null : fields["content"])
    const base = { path, content: text }
    switch (role) {
      case "assistant": {
        const made = yield* calls(path, fields)
        const refusal = text === "" ? yield* optionalString(`${path}/refusal`, fields["refusal"]) : undefined
        const reasoning = typeof fields["reasoning_content"] === "string" ? fields["reasoning_content"] : ""
        const thought = reasoning === "" ? {} : { reasoning: Printable.wellFormed(reasoning) }
        return { said: { ...base, role, content: refusal ?? text, ...thought, calls: made }, noted }
      }
      case "tool":
      case "function": {
        const id = (yield* optionalString(`${path}/tool_call_id`, fields["tool_call_id"])) ?? ""
        const toolName = id === "" ? yield* optionalString(`${path}/name`, fields["name"]) : undefined
        return { said: { ...base, role: "tool", id, ...(toolName === undefined ? {} : { toolName }) }, noted }
      }
      default:
        return { said: { ...base, role: role === "user" ? "user" : "system" }, noted }
    }
  })

const schemaLimits = { maxChars: 1_048_576, maxDepth: 64, maxKeys: 100_000 }

/** A schema is copied, so that it is JSON and stays what it is. */
const schema = (path: string, value: unknown): Read<unknown> =>
  Either.mapLeft(
    Either.flatMap(Json.canonical(value ?? {}), () => Json.parse(JSON.stringify(value ?? {}), schemaLimits)),
    ({ what }) => ImportError.failure(path, { code: "WF-IMP-003", what, next: "Correct the schema." })
  )

/** A tool's definition; those of kinds that have no name and no schema are not told. */
const tool = (path: string, value: unknown, kind: "function" | "custom"): Read<Wire.ToolPiece["tool"]> =>
  Either.gen(function* () {
    const fields = yield* object(path, value)
    const name = yield* string(`${path}/name`, fields["name"])
    if (name === "") return yield* misfit(`${path}/name`, "a name", name)
    const description = yield* optionalString(`${path}/description`, fields["description"])
    const key = kind === "custom" ? "format" : "parameters"
    return {
      name,
      ...(description === undefined ? {} : { description }),
      schema: yield* schema(`${path}/${key}`, fields[key])
    }
  })

const tools = (chat: Fields): Read<{ readonly tools?: ReadonlyArray<Wire.ToolPiece["tool"]> }> =>
  Either.gen(function* () {
    const { functions, tools: given } = chat
    if (isAbsent(given) && isAbsent(functions)) return {}
    const found: Array<Wire.ToolPiece["tool"]> = []
    const names = new Set<string>()
    let whole = true
    const add = (path: string, one: Wire.ToolPiece["tool"]): Read<void> => {
      if (names.has(one.name)) {
        const what = `Two tools are named ${Printable.quote(one.name)}.`
        return Either.left(ImportError.failure(path, { code: "WF-IMP-009", what, next: "Leave one of them out." }))
      }
      names.add(one.name)
      found.push(one)
      return Either.void
    }
    for (const [index, value] of (isAbsent(given) ? [] : yield* list("/tools", given)).entries()) {
      const path = `/tools/${index}`
      const fields = yield* object(path, value)
      const kind = isAbsent(fields["custom"]) ? "function" : "custom"
      if (isAbsent(fields[kind]) && fields["type"] !== "function") whole = false
      else yield* add(path, yield* tool(`${path}/${kind}`, fields[kind], kind))
    }
    for (const [index, value] of (isAbsent(functions) ? [] : yield* list("/functions", functions)).entries()) {
      yield* add(`/functions/${index}`, yield* tool(`/functions/${index}`, value, "function"))
    }
    return whole ? { tools: found } : {}
  })

const isParameters = Schema.is(Event.Parameters)
const names = [
  ["temperature", "temperature"],
  ["topP", "top_p"],
  ["maxOutputTokens", "max_tokens"],
  ["maxOutputTokens", "max_completion_tokens"],
  ["seed", "seed"],
  ["stopSequences", "stop"]
] as const

const parameters = (chat: Fields): Read<Event.Parameters | undefined> => {
  let found: Event.Parameters | undefined
  for (const [own, name] of names) {
    const given = chat[name]
    if (isAbsent(given)) continue
    const one = { [own]: name === "stop" && typeof given === "string" ? [given] : given }
    if (!isParameters(one)) return misfit(`/${name}`, "a value of this parameter of the chat API", given)
    found = { ...found, ...one }
  }
  return Either.right(found)
}

const said = (path: string, value: unknown): Read<Pick<Chat, "said" | "hasAttachments">> =>
  Either.gen(function* () {
    const all = yield* list(path, value)
    if (all.length === 0) {
      const what = "There are no messages."
      return yield* Either.left(ImportError.failure(path, { code: "WF-IMP-008", what, next: "Give at least one." }))
    }
    const read: Array<Said> = []
    let hasAttachments = false
    for (const [index, one] of all.entries()) {
      const { noted, said } = yield* message(`${path}/${index}`, one)
      read.push(said)
      hasAttachments ||= noted
    }
    return { said: read, hasAttachments }
  })

/** The conversation: an array of messages, or an object that has them and may have what they were sent with. */
export const read = (json: unknown): Read<Chat> =>
  Either.gen(function* () {
    if (Array.isArray(json)) return yield* said("", json)
    if (!Predicate.isRecord(json)) {
      return yield* misfit("", "an array of messages, or an object with messages", json)
    }
    const model = yield* optionalString("/model", json["model"])
    const sampled = yield* parameters(json)
    return {
      ...(yield* said("/messages", json["messages"])),
      ...(yield* tools(json)),
      ...(model === undefined ? {} : { model }),
      ...(sampled === undefined ? {} : { parameters: sampled })
    }
  })
