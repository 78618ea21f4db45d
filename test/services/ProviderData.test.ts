import { assert, describe, it } from "@effect/vitest"
import { Effect, Either, Layer, Redacted } from "effect"
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join, relative } from "node:path"
import { parse } from "yaml"
import * as AnthropicLLM from "../../src/services/AnthropicLLM.ts"
import * as LLM from "../../src/services/LLM.ts"
import { wire } from "../../src/services/LLMSuite.ts"
import * as OpenAiCompatibleLLM from "../../src/services/OpenAiCompatibleLLM.ts"
import * as OpenAiLLM from "../../src/services/OpenAiLLM.ts"

const data = new URL("../../../shared/data", import.meta.url).pathname
const cassettes = join(data, "pydantic-ai-cassettes")
const fixtures = join(data, "ai-sdk-fixtures/packages")
const isHere = existsSync(cassettes) && existsSync(fixtures)

const apis = ["anthropic", "responses", "chat", "compatible"] as const
type Api = (typeof apis)[number]

/** An answer of a real provider. */
interface Answer {
  readonly name: string
  readonly apis: ReadonlyArray<Api>
  readonly status: number
  readonly isStream: boolean
  readonly body: string
}

const filesIn = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory).flatMap((name) => {
    const path = join(directory, name)
    return statSync(path).isDirectory() ? filesIn(path) : [path]
  })

const paths: { readonly [path: string]: ReadonlyArray<Api> } = {
  "/v1/messages": ["anthropic"],
  "/v1/responses": ["responses"],
  "/v1/chat/completions": ["chat", "compatible"]
}

interface Cassette {
  readonly interactions: ReadonlyArray<{
    readonly request: { readonly method: string; readonly uri: string }
    readonly response: {
      readonly status: { readonly code: number }
      readonly headers: { readonly [name: string]: ReadonlyArray<string> }
      readonly parsed_body?: unknown
      readonly body?: { readonly string: string }
    }
  }>
}

const recorded = (): ReadonlyArray<Answer> =>
  filesIn(cassettes)
    .filter((file) => file.endsWith(".yaml"))
    .flatMap((file) => {
      const { interactions }: Cassette = parse(readFileSync(file, "utf8"))
      return interactions.flatMap(({ request, response }, index): ReadonlyArray<Answer> => {
        const { hostname, pathname } = new URL(request.uri)
        const isAdapted = hostname === "api.openai.com" || hostname === "api.anthropic.com"
        if (request.method !== "POST" || !isAdapted || paths[pathname] === undefined) return []
        const [type = ""] = response.headers["content-type"] ?? []
        return [
          {
            name: `${relative(cassettes, file)}#${index}`,
            apis: paths[pathname],
            status: response.status.code,
            isStream: type.startsWith("text/event-stream"),
            body: response.body?.string ?? JSON.stringify(response.parsed_body)
          }
        ]
      })
    })

const apisOf = (file: string): ReadonlyArray<Api> => {
  if (/transcription|\/(skills|image|completion)\//.test(file)) return []
  if (file.startsWith("anthropic/")) return ["anthropic"]
  if (/^(openai|xai|open-responses)\/src\/responses\//.test(file)) return ["responses"]
  if (file.startsWith("openai/src/chat/")) return ["chat", "compatible"]
  return /^(openai-compatible|deepseek|groq|mistral|xai)\//.test(file) ? ["compatible"] : []
}

const collected = (): ReadonlyArray<Answer> =>
  filesIn(fixtures).flatMap((file): ReadonlyArray<Answer> => {
    const name = relative(fixtures, file)
    const text = readFileSync(file, "utf8")
    const all = apisOf(name)
    if (all.length === 0) return []
    const status = name.includes("error") ? 400 : 200
    if (!name.endsWith(".chunks.txt")) {
      return [{ name, apis: all, status, isStream: !name.endsWith(".json"), body: text }]
    }
    // Some files hold the messages of several requests.
    const messages = text.trim().split(/(?<="message_stop".*)\n/)
    return messages.map((message, index) => {
      const body = message.split("\n").map((line) => `data: ${line}\n\n`)
      return { name: `${name}#${index}`, apis: all, status, isStream: true, body: body.join("") }
    })
  })

/** The answer in pieces of so many bytes. */
const inPieces = (body: string, size: number): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(body)
  let at = 0
  return new ReadableStream({
    pull: (controller) => {
      // Several at once, as a socket has them.
      for (let n = 0; n < 64 && at < bytes.length; n++, at += size) controller.enqueue(bytes.slice(at, at + size))
      if (at >= bytes.length) controller.close()
    }
  })
}

const layerOf = (api: Api, { body, isStream, status }: Answer, size: number): Layer.Layer<LLM.LLM, LLM.LLMError> => {
  const headers = { "content-type": isStream ? "text/event-stream" : "application/json" }
  const fetch = () => Promise.resolve(new Response(inPieces(body, size), { status, headers }))
  const whole = isStream || status !== 200 ? {} : { streamed: false as const }
  const apiKey = Redacted.make("key")
  switch (api) {
    case "anthropic":
      return AnthropicLLM.layer({ model: "claude-sonnet-4-5", apiKey, ...whole }, fetch)
    case "responses":
      return OpenAiLLM.layer({ model: "gpt-5", apiKey, ...whole }, fetch)
    case "chat":
      return OpenAiLLM.layer({ model: "gpt-5", api: "chat", apiKey, ...whole }, fetch)
    case "compatible":
      return OpenAiCompatibleLLM.layer({ url: "http://127.0.0.1/v1", model: "m", ...whole }, fetch)
  }
}

const read = (api: Api, answer: Answer, size = 65_536) =>
  Effect.either(Effect.provide(LLM.reply(wire), layerOf(api, answer, size)))

// What was said, read out of an answer by hand.

type Json = { readonly [key: string]: Json } & ReadonlyArray<Json> & string

/** The text of an answer, and its calls: the name and the arguments of each. */
interface Said {
  text: string
  readonly calls: Array<{ readonly name: string; args: string }>
}

const textOf = (content: Json | undefined): string => {
  if (content === undefined || content === null) return ""
  return Array.isArray(content) ? content.map(wordsOf).join("") : content
}

const saidInBody = (api: Api, body: Json): Said => {
  if (api === "anthropic") {
    const of = (type: string) => body.content!.filter((block) => block.type === type)
    return {
      text: of("text").map(wordsOf).join(""),
      calls: of("tool_use").map(({ input, name }) => ({ name: name!, args: input! }))
    }
  }
  if (api === "responses") {
    const of = (type: string) => body.output!.filter((item) => item.type === type)
    return {
      text: of("message")
        .flatMap(({ content }) => content!.map(({ refusal, text }) => text ?? refusal ?? ""))
        .join(""),
      calls: of("function_call").map(({ arguments: args, name }) => ({ name: name!, args: args! }))
    }
  }
  const { content, refusal, tool_calls } = body.choices![0]!.message!
  const calls = (tool_calls ?? []).map((call) => ({ name: call.function!.name!, args: call.function!.arguments! }))
  return { text: textOf(content) + (refusal ?? ""), calls }
}

const wordsOf = ({ text }: Json): string => text ?? ""

const saidInStream = (api: Api, events: ReadonlyArray<Json>): Said => {
  const said: Said = { text: "", calls: [] }
  const open = new Map<unknown, { readonly name: string; args: string }>()
  for (const event of events) {
    const { content_block, delta, index, item, type } = event
    if (api === "anthropic") {
      if (content_block?.type === "tool_use") {
        const call = { name: content_block.name!, args: "" }
        open.set(index, call)
        said.calls.push(call)
      }
      if (delta?.type === "text_delta") said.text += delta.text
      const call = open.get(index)
      if (delta?.type === "input_json_delta" && call !== undefined) call.args += delta.partial_json
      if (type === "content_block_stop") open.delete(index)
    } else if (api === "responses") {
      if (type === "response.output_text.delta" || type === "response.refusal.delta") said.text += delta
      if (type === "response.output_item.done" && item?.type === "function_call") {
        said.calls.push({ name: item.name!, args: item.arguments! })
      }
    } else {
      const choice = event.choices?.[0]?.delta
      said.text += textOf(choice?.content) + (choice?.refusal ?? "")
      for (const call of choice?.tool_calls ?? []) {
        const key: unknown = call.index
        const known = open.get(key) ?? { name: call.function!.name!, args: "" }
        if (!open.has(key)) said.calls.push(known)
        open.set(key, known)
        known.args += call.function?.arguments ?? ""
      }
    }
  }
  return said
}

const said = (api: Api, { body, isStream }: Answer): Said =>
  isStream
    ? saidInStream(
        api,
        body
          .split("\n")
          .filter((line) => line.startsWith("data:") && !line.includes("[DONE]"))
          .map((line): Json => JSON.parse(line.slice(5)))
      )
    : saidInBody(api, JSON.parse(body))

const where = isHere ? "" : " (skipped: ../shared/data is absent)"

describe.skipIf(!isHere)(`Answers of real providers${where}`, () => {
  const answers = isHere ? [...recorded(), ...collected()] : []

  it.live(
    "are read, or fail for a reason that is told, with what was sent",
    () =>
      Effect.gen(function* () {
        const counts = new Map<string, number>()
        const unexplained: Array<string> = []
        for (const answer of answers) {
          for (const api of answer.apis) {
            const result = yield* read(api, answer)
            const failed = Either.isLeft(result) ? result.left : undefined
            const kind = `${api.padEnd(10)} ${answer.isStream ? "stream" : "body  "} ${answer.status} ${failed?.reason ?? "read"}`
            counts.set(kind, (counts.get(kind) ?? 0) + 1)
            if (Either.isRight(result)) {
              const { content, toolCalls, usage } = result.right
              // Arguments that are no text in the API are as its body has them.
              const isText = api !== "anthropic" || answer.isStream
              const calls = toolCalls.map(({ args, toolName }): Said["calls"][number] => {
                if (!isText) assert.include(answer.body, args, answer.name)
                return { name: toolName, args: isText ? args : JSON.parse(args) }
              })
              const { calls: expected, text } = said(api, answer)
              const whole = expected.map(({ args, name }) => ({ name, args: args === "" ? "{}" : args }))
              assert.deepStrictEqual({ text: content, calls }, { text, calls: whole }, answer.name)
              if (/"usage": ?\{/.test(answer.body)) assert.isDefined(usage.outputTokens, answer.name)
            } else if (answer.status === 200) {
              // The one refusal among them is a content filter's, and says nothing.
              if (failed?.reason !== "Rejected") unexplained.push(`${api} ${answer.name}: ${failed?.message}`)
            } else {
              assert.strictEqual(failed?.reason, "Rejected", answer.name)
              assert.include(failed?.found ?? "", `HTTP status ${answer.status}`)
              assert.strictEqual(failed?.body && Redacted.value(failed.body), answer.body)
            }
          }
        }
        const total = Array.from(counts.values()).reduce((sum, count) => sum + count, 0)
        const table = Array.from(counts)
          .toSorted()
          .map(([kind, count]) => `${`${count}`.padStart(5)} ${kind}`)
        console.log(
          [`${answers.length} answers, read ${total} times:`, ...table, `${unexplained.length} unexplained`].join("\n")
        )
        assert.deepStrictEqual(unexplained, [])
        assert.isAtLeast(answers.length, 490)
      }),
    60_000
  )

  it.live(
    "give the same parts however their bytes are cut",
    () =>
      Effect.gen(function* () {
        let streams = 0
        for (const answer of answers.filter(({ isStream }) => isStream)) {
          for (const api of answer.apis) {
            streams += 1
            const whole = yield* read(api, answer)
            for (const size of [1, 97, 4_096])
              assert.deepStrictEqual(yield* read(api, answer, size), whole, answer.name)
          }
        }
        console.log(`${streams} streams, each cut at 1, 97 and 4,096 bytes`)
        assert.isAtLeast(streams, 100)
      }),
    120_000
  )
})
